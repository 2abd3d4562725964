//! Finds code in reStructuredText: directives that run programs, read files of the build machine, or output HTML.
//!
//! Extensions add directives and roles, so a list of those that are code cannot be complete: the harmless ones are
//! listed, and all others are code. Where docutils recognizes markup depends on the lists, tables and quotations around
//! it, so markup is searched for wherever it may be, even in displayed code. What is neither certainly harmless nor
//! certainly code counts as code, because a page may keep the code it has.

mod addresses;
mod lines;
pub(super) mod names;
mod roles;

use std::collections::HashSet;

use self::lines::{Blocks, Continues};
use super::{Code, Found, runs_script};
use crate::anchors::AnchorStyle;
use crate::page::Format;
use crate::parse::parse_as;
use crate::parse_lines::Lines;
use crate::regex;
use crate::site_paths::{folder, joined};
use crate::text::text_of;

// The beginning of a substitution definition, or of a directive with its name.
regex!(MARK, r"\.\. +(?:\||([^\s|][^\s]*?) ?::)");
regex!(SUBSTITUTION, r"\A\.\. +\|[^|\\\s](?:[^|\\\n]*[^|\\\s])?\| +([a-z]+)::(?: |\n|\z)");
regex!(CODING, r"coding[:=]\s*([-\w.]+)");

/// Whether a formula has TeX commands that do more than typeset it.
pub(super) fn has_tex_commands(formula: &str) -> bool {
    addresses::commands(formula).next().is_some()
}

/// The kind of source that a text is.
#[derive(Debug, Clone, Copy)]
pub(super) enum SourceKind<'f> {
    /// A page, with its path.
    Page(&'f str),
    /// A text that pages include, whole or in part.
    Part,
    /// The content of a table, with the path of its page.
    Cells(&'f str),
}

/// The code of a page, or of a text that pages include.
pub(super) fn code_of(source_kind: SourceKind<'_>, bytes: &[u8]) -> Vec<Code> {
    match std::str::from_utf8(bytes) {
        Ok(text) => code_of_text(source_kind, text),
        // docutils may decode it in another encoding.
        Err(_) => {
            let text = text_of(bytes);
            let mut found = Found { text: &text, lines: Lines::of(&text), file: "", code: Vec::new() };
            found.add("unread", 0..text.len());
            found.code
        }
    }
}

fn code_of_text(source_kind: SourceKind<'_>, written: &str) -> Vec<Code> {
    let text = lines::plain(written);
    let file = match source_kind {
        SourceKind::Page(file) | SourceKind::Cells(file) => file,
        SourceKind::Part => "",
    };
    let mut reading = Reading {
        found: Found { text: &text, lines: Lines::of(&text), file, code: Vec::new() },
        blocks: Blocks::of(&text),
        seen: HashSet::new(),
        source_kind,
    };
    if text.contains('\0') || has_other_coding(&text) {
        reading.found.add("unread", 0..text.len());
        return reading.found.code;
    }
    reading.directives();
    reading.roles();
    reading.addresses();
    let page = parse_as(file, text.as_bytes(), Format::Rst, AnchorStyle::Docutils);
    for link in page.links.iter().filter(|link| runs_script(&link.target)) {
        reading.paragraph("link", link.span.start);
    }
    // Some generators expand templates in pages.
    reading.found.templates(0, &page.code, super::Templates::Braces);
    reading.found.code
}

/// Whether the first two lines of a text declare an encoding other than UTF-8, which docutils may use.
fn has_other_coding(text: &str) -> bool {
    let named = text.lines().take(2).filter_map(|line| CODING.captures(line));
    named.into_iter().any(|found| !["utf-8", "utf8"].contains(&found[1].to_ascii_lowercase().as_str()))
}

struct Reading<'t> {
    found: Found<'t>,
    blocks: Blocks<'t>,
    /// The paragraphs already recorded as code: the kind of code, and their start.
    seen: HashSet<(&'static str, usize)>,
    source_kind: SourceKind<'t>,
}

impl Reading<'_> {
    fn directives(&mut self) {
        let text = self.found.text;
        let (mut at, mut read_as_table, mut options_read) = (0, 0, 0);
        while let Some(found) = MARK.captures_at(text, at) {
            let mark_range = found.get_match().range();
            at = mark_range.end;
            let (name, end) = match found.get(1) {
                Some(name) => (names::plain(&name.as_str().to_lowercase()).to_owned(), mark_range.end),
                None => match SUBSTITUTION.captures(&text[mark_range.start..]) {
                    Some(found) => {
                        (found[1].to_owned(), mark_range.start + found.get(1).map_or(0, |name| name.end()) + 2)
                    }
                    None => (String::new(), mark_range.end),
                },
            };
            at = at.max(end);
            let is_known = match found.get(1) {
                Some(name) => names::is_directive(&name.as_str().to_lowercase()),
                None => names::SUBSTITUTIONS.contains(&name.as_str()),
            };
            let paragraph = self.blocks.paragraph(mark_range.start);
            let has_options = options_read < paragraph.end;
            options_read = options_read.max(paragraph.end);
            let mut code_kind = match name.as_str() {
                _ if !is_known => Some("directive"),
                "include" | "literalinclude" | "image" | "figure"
                    if !self.has_good_path(&name, mark_range.start, end) =>
                {
                    Some("file")
                }
                "role" if !self.defines_plain_role(end) => Some("directive"),
                "default-role" if !self.names_plain_role(mark_range.start, end) => Some("unread"),
                "include" if self.cuts(mark_range.start, paragraph.end) => Some("file"),
                _ if has_options && self.has_bad_option(mark_range.start, paragraph.end) => Some("directive"),
                _ => None,
            };
            if code_kind.is_none()
                && name == "csv-table"
                && !matches!(self.source_kind, SourceKind::Cells(_))
                && read_as_table <= mark_range.start
            {
                read_as_table = self.blocks.block_end(mark_range.start);
                let rest = &text[end..read_as_table];
                code_kind = hides_code(self.found.file, rest).then_some("directive");
            }
            match code_kind {
                // This one directive decides the meaning of all text in single backticks.
                Some("unread") => return self.found.add("unread", 0..text.len()),
                Some(kind) => at = at.max(self.block(kind, mark_range.start, end)),
                None => {}
            }
        }
    }

    /// Adds all that may belong to a directive, and returns its end.
    fn block(&mut self, kind: &str, start: usize, name_end: usize) -> usize {
        let text = self.found.text;
        let end = self.blocks.block_end(start);
        let path_end = text[name_end..].find('\n').map_or(text.len(), |length| name_end + length);
        let key = match kind {
            // Keyed by the path from the docs root, because the relative path differs between folders.
            "file" if !self.goes_on(start, path_end) => {
                let path = self.path_in_docs(text[name_end..path_end].trim());
                format!("file {} {path}{}", &text[start..name_end], lines::dedented(&text[path_end..end]))
            }
            // An option may have a relative path, so the key has the folder.
            kind if kind == "file" || text[start..end].contains("../") => {
                format!("{kind} in {} {}", folder(self.found.file), lines::dedented(&text[start..end]))
            }
            kind => format!("{kind} {}", lines::dedented(&text[start..end])),
        };
        self.found.add_as(start..end, key);
        end
    }

    /// A path relative to the docs root.
    fn path_in_docs(&self, path: &str) -> String {
        if path.starts_with(['/', '<']) || path.contains(':') {
            return path.to_owned();
        }
        let mut parts: Vec<&str> = folder(self.found.file).split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
            match part {
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// Whether the argument of a directive may continue after its line.
    fn goes_on(&self, start: usize, line_end: usize) -> bool {
        match self.blocks.goes_on(start) {
            Continues::No => false,
            Continues::Yes => !self.begins_option(line_end),
            Continues::Unknown => true,
        }
    }

    /// Adds the paragraph that contains a byte, once for each kind.
    fn paragraph(&mut self, kind: &'static str, at: usize) {
        let paragraph = self.blocks.paragraph(at);
        if self.seen.insert((kind, paragraph.start)) {
            let key = format!("{kind} {}", &self.found.text[paragraph.clone()]);
            self.found.add_as(at..paragraph.end.max(at), key);
        }
    }

    fn addresses(&mut self) {
        for at in addresses::scripts(self.found.text, &self.blocks) {
            self.paragraph("link", at);
        }
        for at in addresses::commands(self.found.text).collect::<Vec<_>>() {
            self.paragraph("formula", at);
        }
    }

    /// Whether anything between two bytes that may be an option is not a known harmless one.
    fn has_bad_option(&self, start: usize, end: usize) -> bool {
        let text = self.found.text;
        let is_table = self.blocks.may_be_in_table(self.blocks.number(start));
        let mut at = start;
        while let Some(colon) = text[at..end].find(':').map(|length| at + length) {
            at = colon + 1;
            let before = text[start..colon].trim_end_matches(' ');
            let is_first = before.ends_with(['\n', '"', ',']) || before.ends_with("::");
            let may_begin = is_first || (is_table && (before.ends_with(['|', '+']) || text[..colon].ends_with(' ')));
            if !may_begin || colon == start || text[start..colon].ends_with(':') {
                continue;
            }
            let Some(name) = field_name(&text[at..end]) else { continue };
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            if !is_plain || !names::is_option(name) {
                return true;
            }
        }
        false
    }

    /// Whether the argument of a directive is one acceptable file and nothing else: a file in the docs, for an include
    /// also one of docutils' own files, and for an image also a URL. The directive begins at `start`, and its name ends
    /// at `end`.
    fn has_good_path(&self, directive: &str, start: usize, end: usize) -> bool {
        let text = self.found.text;
        let line_end = text[end..].find('\n').map_or(text.len(), |length| end + length);
        let written = text[end..line_end].trim();
        if written.is_empty() || written.starts_with(':') || self.goes_on(start, line_end) {
            return false;
        }
        let is_picture = matches!(directive, "image" | "figure");
        let own = folder(self.found.file);
        match directive {
            "include" => {
                let is_of_docutils = written.strip_prefix('<').and_then(|rest| rest.strip_suffix(".txt>"));
                let reads_as_page = joined(own, written).is_some_and(|path| {
                    // Paths in the included file are relative to this page's folder.
                    Format::of(&path) == Format::Rst && depth(folder(&path)) <= depth(own)
                });
                is_of_docutils.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
                    || (reads_as_page && !written.starts_with('/') && self.is_of_docs(written))
            }
            _ if is_picture => {
                // docutils removes whitespace from image paths.
                let path: String = written.split_whitespace().collect();
                let is_url = ["http://", "https://"].iter().any(|scheme| path.to_ascii_lowercase().starts_with(scheme));
                is_url || path.to_ascii_lowercase().starts_with("data:image/") || self.is_of_docs(&path)
            }
            _ => !written.starts_with('/') && self.is_of_docs(written),
        }
    }

    /// Whether the line after `line_end` begins with an option name.
    fn begins_option(&self, line_end: usize) -> bool {
        let next = self.found.text[line_end..].trim_start();
        next.strip_prefix(':').and_then(field_name).is_some_and(|name| !name.contains(char::is_whitespace))
    }

    /// Whether a path is inside the docs.
    fn is_of_docs(&self, path: &str) -> bool {
        let is_odd = path.starts_with("//") || path.contains('\\') || path.contains(':');
        let relative = path.strip_prefix('/');
        let is_inside = match relative {
            Some(path) => joined("", path).is_some(),
            None => joined(folder(self.found.file), path).is_some(),
        };
        !is_odd && is_inside && self.found.may_include(relative.unwrap_or(path))
    }

    /// Whether an include may use only part of its file. That part may depend on definitions in another part.
    fn cuts(&self, start: usize, end: usize) -> bool {
        [":start-", ":end-"].iter().any(|option| self.found.text[start..end].contains(option))
    }
}

/// In bytes: how far the end of a field name is searched for, so that time stays linear.
const LONGEST_NAME: usize = 200;

/// Whether a CSV table contains code, with or without the quotes of its cells. Roles that are keyed by name alone do
/// not count.
fn hides_code(file: &str, table: &str) -> bool {
    let cells = table.replace(['"', '\\'], "");
    let is_role = |code: &Code| code.key.starts_with("role ") && !code.key.contains('`');
    [table, &cells].iter().any(|text| code_of_text(SourceKind::Cells(file), text).iter().any(|code| !is_role(code)))
}

/// The name of a field, after its first colon.
fn field_name(text: &str) -> Option<&str> {
    let mut chars = text.char_indices().peekable();
    if text.starts_with([':', ' ', '\n']) {
        return None;
    }
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => return None,
            // Longer than any known name, so it counts as unknown.
            _ if at > LONGEST_NAME => return Some(&text[..at]),
            '\\' => {
                chars.next_if(|(_, next)| *next != '\n');
            }
            ':' => match chars.peek() {
                None | Some((_, ' ' | '\n' | '|')) => return (!text[..at].ends_with(' ')).then_some(&text[..at]),
                Some((_, '`')) => return None,
                Some(_) => {}
            },
            _ => {}
        }
    }
    None
}

fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

#[cfg(test)]
mod tests;
