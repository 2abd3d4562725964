//! Finds directives and roles of MyST, which are written in braces in Markdown, that do more than lay out words.

use std::ops::Range;

use super::rst::names;
use crate::parse_lines::{each_line, line_end};
use crate::regex;

regex!(DIRECTIVE, r"(?m)^[ \t>*+.)0-9-]*(`{3,}|~{3,}|:{3,})[ \t]*\{([^}\n]*)\}[ \t]*([^\n]*)");
regex!(ROLE, r"\{([A-Za-z][\w+:.-]*)\}(`+)");
regex!(OPTION, r"(?m)^[ \t>]*:([\w-]+):[ \t]*(.*)$");

/// Most lines of options that a directive has.
const MAX_OPTION_LINES: usize = 40;

/// The active directives and roles outside of `plain` code, each with its key. `is_inside` tells whether a path leads to a
/// file of the docs.
pub(super) fn constructs(
    text: &str,
    body: usize,
    plain: &[Range<usize>],
    is_inside: &dyn Fn(&str) -> bool,
) -> Vec<(Range<usize>, String)> {
    let is_shown = |at: usize| super::plain::holds(plain, at);
    let mut found = Vec::new();
    // What stands in an active directive is a part of it.
    let mut end = body;
    for directive in DIRECTIVE.captures_iter(&text[body..]) {
        let whole = directive.get_match();
        let (start, line_end) = (body + whole.start(), body + whole.end());
        if start < end || is_shown(start) {
            continue;
        }
        let options = &text[line_end..options_end(text, line_end)];
        if !is_plain(&directive[2].trim().to_lowercase(), directive[3].trim(), options, is_inside) {
            end = super::block_end(text, start, &directive[1]);
            found.push((start..end, format!("directive {}", super::tidied(&text[start..end]))));
        }
    }
    for role in ROLE.captures_iter(&text[body..]) {
        let (start, behind) = (body + role.get_match().start(), body + role.get_match().end());
        let content = text[behind..].split(&role[2]).next().unwrap_or_default();
        let end = (behind + content.len() + role[2].len()).min(line_end(text, behind)).max(behind);
        let name = role[1].to_lowercase();
        let path = content.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')).map_or(content, |(_, path)| path);
        let is_plain = match names::plain(&name) {
            "download" => is_inside_docs(path.trim(), is_inside),
            "raw" => false,
            _ => names::is_role(&name),
        };
        if !is_shown(start) && !is_plain {
            found.push((start..end, format!("role {}", &text[start..end])));
        }
    }
    found
}

/// Whether a directive lays out words, by its name in small letters, its argument and the lines of its options.
fn is_plain(name: &str, argument: &str, options: &str, is_inside: &dyn Fn(&str) -> bool) -> bool {
    let has = |names: &[&str]| {
        OPTION.captures_iter(options).any(|option| names.contains(&&option[1].to_ascii_lowercase()[..]))
    };
    // Options may also be written as a block of YAML.
    if options.trim_start().starts_with("---") {
        return false;
    }
    match names::plain(name) {
        "include" | "literalinclude" => is_inside_docs(argument, is_inside) && !has(&["parser", "diff", "encoding"]),
        "image" | "figure" => is_inside_docs(argument, is_inside) || argument.starts_with("https://"),
        "csv-table" => !has(&["file", "url", "delim", "escape", "quote"]),
        // A default role or a role of the page's own changes what the rest of the page means.
        "role" | "default-role" | "only" => false,
        _ => names::is_directive(name) && !has(&["file", "url", "module"]),
    }
}

fn is_inside_docs(path: &str, is_inside: &dyn Fn(&str) -> bool) -> bool {
    !path.is_empty() && is_inside(path.strip_prefix('/').unwrap_or(path)) && !path.starts_with("//")
}

/// The end of the lines up to the next blank one.
fn options_end(text: &str, at: usize) -> usize {
    let first = line_end(text, at);
    let lines = each_line(&text[first..]).take(MAX_OPTION_LINES).take_while(|line| !line.trim().is_empty());
    first + lines.map(str::len).sum::<usize>()
}
