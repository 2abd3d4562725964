//! The parts of a section: its code, and its Markdown with everything taken out that is not for reading.

use std::ops::Range;

use crate::page::CodeBlock;
use crate::parse_blocks::Source;
use crate::parse_tags::{Tag, TagKind};

/// A code block by the info of its fence and its text.
pub(crate) fn code_block(info: &str, text: String) -> CodeBlock {
    let language = info
        .split(|c: char| c.is_whitespace() || c == '{' || c == ',')
        .next()
        .map(|word| word.trim_start_matches('.').to_owned())
        .filter(|word| !word.is_empty() && !word.contains('='));
    CodeBlock { file: file_name(info, language.is_some()), language, text }
}

/// `title="a.ts"`, `file=a.ts`, or a bare word with a dot after the language.
fn file_name(info: &str, after_language: bool) -> Option<String> {
    for key in ["title=", "filename=", "file="] {
        let Some((_, rest)) = info.split_once(key) else { continue };
        let value = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next(),
            _ => rest.split_whitespace().next(),
        };
        return value.map(str::to_owned).filter(|value| !value.is_empty());
    }
    let rest = if after_language { info.split_once(char::is_whitespace)?.1 } else { info };
    rest.split_whitespace().find(|word| word.contains('.') && !word.contains(['{', '='])).map(str::to_owned)
}

/// A range of the page as Markdown for reading: module statements, comments, expressions and tags gone, the title of a
/// component kept in bold, and what stood indented inside of components moved to the margin.
pub(crate) fn cleaned(source: &Source<'_>, range: Range<usize>, code: &[Range<usize>]) -> String {
    if source.taken.is_empty() {
        return without_comments(&source.text[range]).trim().to_owned();
    }
    let mut out = String::with_capacity(range.len());
    let mut chunk: Vec<Line<'_>> = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let end = source.text[at..range.end].find('\n').map_or(range.end, |length| at + length + 1);
        let line = read_line(source, at..end, code);
        at = end;
        match line {
            Line::Plain(_) => chunk.push(line),
            Line::Mixed(_) | Line::Constructs(_) => {
                flush(&mut chunk, &mut out);
                chunk.push(line);
                flush(&mut chunk, &mut out);
            }
        }
    }
    flush(&mut chunk, &mut out);
    out.trim().to_owned()
}

/// A line for reading. Where a construct stands on a line, what the lines after it are indented in may change.
enum Line<'t> {
    Plain(&'t str),
    /// Words, and constructs that were taken out from between them.
    Mixed(String),
    /// Nothing but constructs; what is left of them is their titles.
    Constructs(String),
}

fn read_line<'t>(source: &Source<'t>, line: Range<usize>, code: &[Range<usize>]) -> Line<'t> {
    let raw = source.text[line.clone()].trim_end_matches(['\n', '\r']);
    let first = source.taken.partition_point(|taken| taken.end <= line.start);
    let taken: Vec<&Range<usize>> = source.taken[first..].iter().take_while(|taken| taken.start < line.end).collect();
    let before = code.partition_point(|code| code.start < line.start);
    let in_code = before > 0 && line.start < code[before - 1].end;
    if taken.is_empty() || in_code {
        return Line::Plain(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut at = line.start;
    let stop = line.start + raw.len();
    let mut words = false;
    let mut push = |text: &mut String, piece: &str| {
        words |= !piece.trim().is_empty();
        // What was taken from between two spaces leaves one.
        text.push_str(if text.ends_with(' ') { piece.trim_start_matches(' ') } else { piece });
    };
    for range in taken {
        if range.start > at {
            push(&mut text, &source.text[at..range.start.min(stop)]);
        }
        if range.start >= line.start
            && let Some(title) = title_of(source, range.start)
        {
            text.push_str(&title);
        }
        at = range.end.max(at);
    }
    if at < stop {
        push(&mut text, &source.text[at..stop]);
    }
    if words { Line::Mixed(text) } else { Line::Constructs(text) }
}

/// The bold title of the component that starts at `at`.
fn title_of(source: &Source<'_>, at: usize) -> Option<String> {
    let tag: &Tag = source.tags.binary_search_by_key(&at, |tag| tag.span.start).ok().map(|ix| &source.tags[ix])?;
    if tag.kind == TagKind::Close || !tag.is_component() {
        return None;
    }
    let title =
        ["title", "label", "path", "query", "body", "name"].iter().find_map(|name| tag.value(source.text, name))?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then(|| format!("**{title}** "))
}

fn flush(chunk: &mut Vec<Line<'_>>, out: &mut String) {
    let text = |line: &Line<'_>| match line {
        Line::Plain(text) => (*text).to_owned(),
        Line::Mixed(text) | Line::Constructs(text) => text.clone(),
    };
    let lines: Vec<(bool, String)> =
        chunk.drain(..).map(|line| (matches!(line, Line::Constructs(_)), text(&line).trim_end().to_owned())).collect();
    let indent = lines
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(_, text)| text.len() - text.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    for (apart, text) in lines {
        let text = text.get(indent..).unwrap_or_default();
        if apart || text.is_empty() {
            blank_line(out);
        }
        if !text.is_empty() {
            out.push_str(text);
            out.push('\n');
        }
        if apart {
            blank_line(out);
        }
    }
}

fn blank_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("<!--") {
        let Some(length) = rest[start..].find("-->") else { break };
        out.push_str(&rest[..start]);
        rest = &rest[start + length + 3..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_says_language_and_file() {
        for (info, language, file) in [
            ("ts title=\"a b.ts\" {1,3}", Some("ts"), Some("a b.ts")),
            ("bash", Some("bash"), None),
            ("js src/app.js", Some("js"), Some("src/app.js")),
            ("", None, None),
            ("{.python}", None, None),
            ("json file=x.json", Some("json"), Some("x.json")),
            ("title='x'", None, Some("x")),
        ] {
            let block = code_block(info, String::new());
            assert_eq!((block.language.as_deref(), block.file.as_deref()), (language, file), "{info}");
        }
    }
}
