//! Tells what people wrote from what they pasted: fenced code, output of programs, JSON, quoted mail.

use std::borrow::Cow;

use super::{begins_asking, words};

/// Most lines of pasted text that count, and most characters of each.
const MOST_ERRORS: usize = 2;
const LONGEST_ERROR: usize = 200;

/// The text that people wrote, and the lines of pasted text that tell an error, or the first line if none does and there
/// is no other text.
pub(super) fn without_pasted(text: &str) -> (String, Vec<String>) {
    let (mut prose, mut pasted) = (String::new(), Vec::new());
    let fences = text.matches("```").count();
    for (number, piece) in text.split("```").enumerate() {
        // What stands behind a last fence that does not end is text again after its last blank line, if it asks.
        let (code, rest) = match number % 2 == 1 {
            false => ("", piece),
            true if number == fences => {
                piece.rsplit_once("\n\n").filter(|(_, rest)| rest.contains(['?', '\u{ff1f}'])).unwrap_or((piece, ""))
            }
            true => (piece, ""),
        };
        pasted.extend(code.lines().skip(usize::from(number % 2 == 1 && code.contains('\n'))).map(str::to_owned));
        for line in rest.lines() {
            let (written, data) = without_data(&without_tags(line));
            pasted.extend(data);
            if is_output(&written) {
                pasted.push(written);
            } else {
                prose.push_str(&written);
            }
            prose.push('\n');
        }
    }
    let tells = |line: &&String| tells_error(&line.to_lowercase());
    // Quotes in it are those of a program, and no phrases.
    let short = |line: &String| without_fields(line).replace('"', " ").chars().take(LONGEST_ERROR).collect::<String>();
    let mut errors: Vec<String> = pasted.iter().filter(tells).take(MOST_ERRORS).map(short).collect();
    if errors.is_empty() && prose.trim().is_empty() {
        errors.extend(pasted.iter().find(|line| line.contains(char::is_alphabetic)).map(short));
    }
    (prose, errors)
}

const ERRORS: &str = "error|exception|fail|fatal|panic|denied|refused|cannot|can't|could not|couldn't|unable|not found|invalid|\
    timeout|timed out|no such|unexpected|undefined|missing";

/// Whether a line in lower case tells an error.
fn tells_error(lower: &str) -> bool {
    ERRORS.split('|').any(|word| lower.contains(word))
}

/// Whether a word is `key=value`, as programs print details; not `--key=value` and `key="the words`.
fn is_field(word: &str) -> bool {
    let is_key = |key: &str| {
        key.starts_with(char::is_alphabetic) && key.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
    };
    word.split_once('=').is_some_and(|(key, value)| is_key(key) && !value.starts_with(['"', '\'', '=']))
}

/// An error without the details that differ each time; as it is, if hardly anything is left.
fn without_fields(line: &str) -> String {
    let rest: Vec<&str> = line.split_whitespace().filter(|word| !is_field(word)).collect();
    if rest.len() < 2 { line.trim().to_owned() } else { rest.join(" ") }
}

/// Whether a line is what a program printed, a line of code, or quoted from another message.
fn is_output(line: &str) -> bool {
    const STARTS: &str = ">|< |$ |traceback (|file \"|goroutine |caused by:|panic:|fatal:|error:|warning:|thread '|<?";
    let text = line.trim();
    let lower = text.to_lowercase();
    let bytes = text.as_bytes();
    let first_word = text.split(|c: char| c.is_whitespace() || c == ':').next().unwrap_or_default();
    let is_clock = |at: usize| {
        bytes.get(at..at + 8).is_some_and(|clock| {
            clock
                .iter()
                .zip(b"00:00:00")
                .all(|(byte, like)| if *like == b':' { byte == like } else { byte.is_ascii_digit() })
        })
    };
    let has_time = (0..text.len().min(24)).any(is_clock);
    let is_frame = lower.starts_with("at ") && (text.ends_with(')') || ends_in_line_number(text));
    let is_exception =
        ["Error", "Exception"].iter().any(|end| first_word.ends_with(end)) && first_word.len() < text.len();
    let is_member = text.starts_with('"') && text.contains("\":") && !text.ends_with(['?', '\u{ff1f}']);
    let is_markup = is_member
        || text.starts_with(['{', '}', '[', ']', '<'])
            && (text.ends_with(['}', ']', '>', ',', '{', '[']) || text.contains("\":"));
    let is_code = text.ends_with([';', '{', '}']) && text.contains(['(', '=', ':']);
    let symbols = text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
    let is_dense = text.len() >= 24 && symbols * 10 >= text.chars().count() * 3;
    let fields = text.split_whitespace().filter(|word| is_field(word)).count();
    STARTS.split('|').any(|start| lower.starts_with(start))
        || has_time
        || (fields > 1 && tells_error(&lower) && !begins_asking(text))
        || is_frame
        || is_exception
        || is_markup
        || ((is_code || is_dense) && !begins_asking(text))
        || (lower.ends_with("wrote:") && lower.starts_with("on "))
}

fn ends_in_line_number(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A line without the HTML tags around the words in it; as it is, if there are hardly any.
fn without_tags(line: &str) -> Cow<'_, str> {
    if !line.trim_start().starts_with('<') || !line.contains('>') {
        return Cow::Borrowed(line);
    }
    let outside = line.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, behind)| behind));
    let outside = outside.collect::<Vec<_>>().join(" ");
    if words(&outside).len() < 3 { Cow::Borrowed(line) } else { Cow::Owned(outside) }
}

/// A line without the JSON objects in it.
fn without_data(line: &str) -> (String, Vec<String>) {
    let (mut written, mut data, mut rest) = (String::new(), Vec::new(), line);
    while let Some(open) = rest.find('{') {
        let is_data = rest[open + 1..].trim_start().starts_with(['"', '\'']);
        let mut depth = 0_usize;
        let end = rest[open..].char_indices().find(|(_, c)| {
            depth = match c {
                '{' => depth + 1,
                '}' => depth.saturating_sub(1),
                _ => depth,
            };
            depth == 0
        });
        let end = end.map_or(rest.len(), |(length, _)| open + length + 1);
        written.push_str(&rest[..if is_data { open } else { end }]);
        if is_data {
            data.push(rest[open..end].to_owned());
        }
        rest = &rest[end..];
    }
    written.push_str(rest);
    (written, data)
}
