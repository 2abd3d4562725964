//! Finds the lines of AsciiDoc that are certainly shown as they are: those in plain fences.
//!
//! A plain fence is a listing, a literal block or a comment whose lines begin in column 0, outside of tables, quotations
//! and open blocks. No line in it looks like the border of any block, and no line above it could move where blocks begin
//! and end: Asciidoctor finds the end of an outer block before it reads the inner ones. After the first doubtful line of a
//! page, nothing counts as shown.

use super::names;
use crate::regex;

regex!(PREPROCESSOR, r"\A\\?(?:include|ifdef|ifndef|ifeval|endif)::");
regex!(STYLE, r"\A([A-Za-z][\w -]*)?(?:[#.%][\w-]+)*\z");
regex!(POSITIONAL, r#"\A(?:[\w .,/#+@?!()%*-]*|"[\w .,/#+@?!()%*:;-]*")\z"#);
regex!(NAMED, r#"\A([\w-]+)\s*=\s*(?:"[^"'{}<>&\\]*"|[^"'{}<>&\\,]*)\z"#);
regex!(ANCHOR, r"\A\[\[[\w:.-]+(?:,[\w .,()-]*)?\]\]\z");

/// How certainly a line is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Live,
    /// Shown as it is.
    Shown,
    /// The border of a formula, which would otherwise be that of a passthrough.
    Formula,
}

/// What is certain of each line.
pub(super) fn shown(lines: &[&str]) -> Vec<Line> {
    let mut shown = vec![Line::Live; lines.len()];
    let mut outer: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        let is_odd = line.starts_with('[') && line.ends_with(']') && !is_plain_attributes(line);
        if PREPROCESSOR.is_match(line) || is_odd {
            break;
        }
        if !is_delimiter(line) {
            at += 1;
            continue;
        }
        if let Some(depth) = outer.iter().position(|open| *open == line) {
            outer.truncate(depth);
            at += 1;
            continue;
        }
        // Asciidoctor knows a fence of three backticks alone.
        let is_long_fence = line.strip_prefix("```").is_some_and(|info| info.contains('`'));
        if is_long_fence || !may_open(lines, at) {
            break;
        }
        if line.starts_with(['=', '*']) {
            if outer.len() > MAX_DEPTH {
                break;
            }
            outer.push(line);
            at += 1;
            continue;
        }
        let close = if line.starts_with("```") { "```" } else { line };
        let Some(length) = lines[at + 1..].iter().position(|other| *other == close) else { break };
        let inside = at + 1..at + 1 + length;
        let is_formula = is_raw(line) && at > 0 && FORMULAS.contains(&lines[at - 1]);
        let is_verbatim = line.starts_with(['-', '.', '/', '`']) && line.len() > 2;
        let is_doubtful = |line: &&str| {
            PREPROCESSOR.is_match(line)
                || if is_verbatim || is_formula { is_delimiter(line) } else { outer.contains(line) }
        };
        if lines[inside.clone()].iter().any(is_doubtful) {
            break;
        }
        if is_formula {
            (shown[at], shown[inside.end]) = (Line::Formula, Line::Formula);
        }
        at = inside.end + 1;
        if is_verbatim {
            shown[inside].fill(Line::Shown);
        }
    }
    shown
}

/// Lines above the border of a formula.
const FORMULAS: [&str; 3] = ["[stem]", "[latexmath]", "[asciimath]"];

/// How deep blocks are followed.
const MAX_DEPTH: usize = 32;

/// Whether a line may be the border of a block.
pub(super) fn is_delimiter(line: &str) -> bool {
    let is_run = |c: char| line.len() >= 4 && line.chars().all(|other| other == c);
    line == "--"
        || line.starts_with("```")
        || "-.=*_+/~".chars().any(is_run)
        || (line.len() >= 4 && line.starts_with(['|', '!', ',', ':']) && line[1..].bytes().all(|byte| byte == b'='))
}

pub(super) fn is_raw(line: &str) -> bool {
    line.len() >= 4 && line.bytes().all(|byte| byte == b'+')
}

/// Whether a line that may be a border begins a block for certain: the text before would have it as its underline.
fn may_open(lines: &[&str], at: usize) -> bool {
    let is_listing = |line: &&str| match line.strip_prefix('[') {
        Some(rest) => {
            is_plain_attributes(line)
                && (rest.starts_with(['[', ',', '#', '.', '%', ']'])
                    || ["source", "listing", "literal"].iter().any(|style| rest.starts_with(style))
                    || !lines[at].starts_with(['-', '.', '`']))
        }
        None => line.starts_with('.') && line.len() > 1 && !line[1..].starts_with(['.', ' ']),
    };
    let attributes = lines[..at].iter().rev().take(8).take_while(|line| is_listing(line)).count();
    match lines[..at - attributes].last() {
        None => true,
        Some(before) => before.is_empty() || *before == "+" || is_delimiter(before),
    }
}

/// Whether a line in brackets holds nothing but known attributes of a block with plain values.
pub(super) fn is_plain_attributes(line: &str) -> bool {
    if ANCHOR.is_match(line) {
        return true;
    }
    let Some(inside) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else { return false };
    let mut items = Vec::new();
    let (mut start, mut is_quoted) = (0, false);
    for (at, c) in inside.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => {
                items.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&inside[start..]);
    !is_quoted
        && items.iter().enumerate().all(|(position, item)| {
            let item = item.trim();
            match NAMED.captures(item) {
                Some(found) => names::is_block_attribute(&found[1]),
                None if position == 0 => STYLE
                    .captures(item)
                    .is_some_and(|found| found.get(1).is_none_or(|style| names::is_style(style.as_str()))),
                None => POSITIONAL.is_match(item),
            }
        })
}
