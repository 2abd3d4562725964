//! Breaks what forges, build services and git parse in plain text: mentions, references to issues and the like,
//! instructions to skip checks, trailers. Each is broken by a zero-width character, or by `%` escapes in an address.

use std::fmt::Write as _;

/// The word joiner, which breaks a reference: it is invisible, and part of no name, number or entity.
pub(super) const JOINER: char = '\u{2060}';

/// Named entities that cannot decode to a part of a reference.
const HARMLESS_ENTITIES: [&str; 14] =
    ["amp", "lt", "gt", "quot", "apos", "nbsp", "hellip", "mdash", "ndash", "copy", "reg", "times", "rarr", "larr"];

/// Path segments of a forge before the number of an issue, a pull request or the like.
const NUMBERED_PATHS: [&str; 8] =
    ["/issues/", "/issue/", "/pull/", "/pulls/", "/merge_requests/", "/discussions/", "/epics/", "/work_items/"];

/// Characters that may not occur in an address, or end one in running text.
fn ends_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '"' | '`' | '[' | ']')
}

/// Breaks mentions and references: `@name`, `#1`, `!1`, `GH-1`, `%milestone`, `~label`, `&1`, addresses of issues, and
/// entities that could stand for any of these.
pub(super) fn break_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Where the current word began, which could be an address.
    let mut word = 0;
    let mut is_address = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let next = rest.chars().next().filter(|next| !next.is_whitespace());
        let starts_number = next.is_some_and(|next| next.is_ascii_digit());
        if ends_address(c) {
            (word, is_address) = (at + c.len_utf8(), false);
        } else if c == '/' && text[word..at].ends_with(":/") {
            is_address = true;
        }
        let is_word = before.is_ascii_alphanumeric() || before == '_';
        match c {
            '@' if is_address && before == '/' && next.is_some() => out.push_str("%40"),
            // After a letter it belongs to an e-mail address.
            '@' if next.is_some() && !is_word => push_broken(&mut out, c),
            c if is_address && c.is_ascii_digit() && names_number(&text[word..at]) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{:02X}", u32::from(c));
            }
            '#' | '!' if starts_number && !is_address => push_broken(&mut out, c),
            '%' | '~' if !is_address && next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '"') => {
                push_broken(&mut out, c);
            }
            '&' if !is_address && (starts_number || is_entity(rest)) => push_broken(&mut out, c),
            '&' if is_address && is_entity(rest) => out.push_str("&amp;"),
            '-' if starts_number && is_prefix(&text[..at]) => push_broken(&mut out, c),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

fn push_broken(out: &mut String, c: char) {
    out.push(c);
    out.push(JOINER);
}

/// Whether this part of an address precedes the number of an issue, a pull request or the like on a forge.
fn names_number(address: &str) -> bool {
    address.ends_with('#') || NUMBERED_PATHS.iter().any(|part| address.ends_with(part))
}

/// Whether the text ends with the `GH` or `GL` of a reference such as `GH-1`.
fn is_prefix(before: &str) -> bool {
    let Some((rest, prefix)) = before.split_at_checked(before.len().saturating_sub(2)) else { return false };
    let is_free = !rest.ends_with(|c: char| c.is_ascii_alphanumeric());
    is_free && ["GH", "GL"].iter().any(|known| prefix.eq_ignore_ascii_case(known))
}

/// Whether what follows an `&` is an entity that could decode to a part of a reference.
fn is_entity(rest: &str) -> bool {
    if rest.starts_with('#') {
        return true;
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    end > 0 && rest[end..].starts_with(';') && !HARMLESS_ENTITIES.contains(&&rest[..end])
}

/// Breaks what build services and git look for in any text, including code: `[skip ci]` and its variants,
/// `***NO_CI***`, `skip-checks: true`, and trailers that attest something (`Signed-off-by: …`).
pub(super) fn without_directives(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| break_trailer(&break_skip_directives(line))).collect();
    lines.join("\n")
}

fn break_skip_directives(line: &str) -> String {
    const LONGEST: usize = 60;
    let mut out = String::with_capacity(line.len());
    for (at, c) in line.char_indices() {
        let rest = &line[at..];
        let short = &rest[c.len_utf8()..rest.floor_char_boundary(LONGEST.max(c.len_utf8()))];
        let starts = |word: &str| rest.get(..word.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(word));
        out.push(c);
        let skips = match c {
            '[' => short.split_once(']').is_some_and(|(inner, _)| names_skip(inner)),
            '*' => starts("*NO_CI*"),
            'p' | 'P' => starts("p-checks") && line[..at].to_ascii_lowercase().ends_with("ski"),
            _ => false,
        };
        if skips {
            out.push(JOINER);
        }
    }
    out
}

fn names_skip(inner: &str) -> bool {
    let inner = inner.to_ascii_lowercase();
    let mut words: Vec<&str> =
        inner.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    inner.contains("skip") || words == ["ci", "no"]
}

/// The line; broken if it is a trailer that attests something, or one of our own.
fn break_trailer(line: &str) -> String {
    let Some((key, value)) = line.split_once(':') else { return line.to_owned() };
    let name = key.trim().to_ascii_lowercase();
    let attests = name.ends_with("-by") || name == "docent-job";
    let is_key = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if attests && is_key { format!("{key}{JOINER}:{value}") } else { line.to_owned() }
}

/// The title, broken where forges would take it for a draft's, or git for a fixup's.
pub(super) fn without_draft_mark(title: &str) -> String {
    let opened = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    for word in ["draft", "wip", "fixup!", "squash!", "amend!"] {
        let Some(after) = opened.get(..word.len()).filter(|found| found.eq_ignore_ascii_case(word)) else { continue };
        let rest = opened[after.len()..].trim_start();
        if word.ends_with('!') || rest.is_empty() || rest.starts_with([':', ']', ')', '>', '-', '–', '—']) {
            let at = title.len() - opened.len() + 1;
            return format!("{}{JOINER}{}", &title[..at], &title[at..]);
        }
    }
    title.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with each joiner shown as `|`.
    fn seen(text: &str) -> String {
        text.replace(JOINER, "|")
    }

    #[test]
    fn mentions_and_references_are_broken_and_words_stay() {
        for (given, expected) in [
            ("Thanks to @ann, (@bob) and é@eve", "Thanks to @|ann, (@|bob) and é@|eve"),
            ("Write to ann@example.com, 5 @ 3.", "Write to ann@example.com, 5 @ 3."),
            ("&#64;ann &#x40;ann &commat;ann @&#97;nn", "&|#|64;ann &|#x40;ann &|commat;ann @|&|#|97;nn"),
            ("AT&T &amp; R&D, a &lt; b&nbsp;c, x && y", "AT&T &amp; R&D, a &lt; b&nbsp;c, x && y"),
            ("Closes #1, fixes acme/docs#2 and gh-3", "Closes #|1, fixes acme/docs#|2 and gh-|3"),
            ("group/project!12 %v2 %\"v 2\" ~bug ~\"a b\" &7", "group/project!|12 %|v2 %|\"v 2\" ~|bug ~|\"a b\" &|7"),
            ("# Title, C#, 50 % of it, ~/.config, high-5", "# Title, C#, 50 % of it, ~/.config, high-5"),
            ("See https://a.example/@ann/x#1.", "See https://a.example/%40ann/x#%31."),
            (
                "Fixes https://github.com/a/b/issues/2 and https://x.example/~me?a=1&b=%20#top",
                "Fixes https://github.com/a/b/issues/%32 and https://x.example/~me?a=1&b=%20#top",
            ),
            ("[x](https://g.example/a/b/-/merge_requests/3)#4", "[x](https://g.example/a/b/-/merge_requests/%33)#|4"),
        ] {
            assert_eq!(seen(&break_references(given)), expected, "{given}");
        }
    }

    #[test]
    fn no_words_skip_checks_or_attest_anything() {
        for (given, expected) in [
            ("Update [skip ci] and [CI Skip]", "Update [|skip ci] and [|CI Skip]"),
            ("[no ci] [ci-skip] [skip azp] [[vercel skip]]", "[|no ci] [|ci-skip] [|skip azp] [|[|vercel skip]]"),
            ("***NO_CI***", "***|NO_CI***"),
            ("text\n\nskip-checks: true\nSkip-Checks:true", "text\n\nskip|-checks: true\nSkip|-Checks:true"),
            ("Signed-off-by: A <a@b.c>\nco-authored-by: B", "Signed-off-by|: A <a@b.c>\nco-authored-by|: B"),
            ("Docent-Job: 7", "Docent-Job|: 7"),
            ("[noci](x), [a page] and a link: ok", "[noci](x), [a page] and a link: ok"),
        ] {
            assert_eq!(seen(&without_directives(given)), expected, "{given}");
        }
    }

    #[test]
    fn no_title_makes_a_draft() {
        for title in ["Draft: a", "[Draft] a", "(draft) a", "WIP: a", "[WIP] a", "wip - a", "Draft", "fixup! a"] {
            let quiet = without_draft_mark(title);
            assert_ne!(quiet, title);
            assert_eq!(quiet.replace(JOINER, ""), title);
        }
        for title in ["Draft the guide on retries", "Drafts are kept", "Wiping a disk", "Say what a draft: is"] {
            assert_eq!(without_draft_mark(title), title);
        }
    }
}
