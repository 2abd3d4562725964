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

use self::lines::Blocks;
use super::{Code, Found};
use crate::anchors::AnchorStyle;
use crate::page::Format;
use crate::parse::parse_as;
use crate::parse_lines::Lines;
use crate::regex;
use crate::site_paths::{folder, joined};
use crate::text::text_of;

// The beginning of a substitution definition (plain with the name of its directive), or of a directive with its name.
regex!(MARK, r"\.\. +(?:(\|)(?:[^|\\\s](?:[^|\\\n]*[^|\\\s])?\| +([a-z]+)::(?: |\n|\z))?|([^\s|][^\s]*?) ?::)");
regex!(CODING, r"coding[:=]\s*([-\w.]+)");

/// Whether a formula has TeX commands that do more than typeset it.
pub(super) fn has_tex_commands(formula: &str) -> bool {
    addresses::commands(formula).next().is_some()
}

/// The code of a page, or of a text that pages include (`file` is empty).
pub(super) fn code_of(file: &str, bytes: &[u8]) -> Vec<Code> {
    match std::str::from_utf8(bytes) {
        Ok(text) => code_of_text(file, text, false),
        // docutils may decode it in another encoding.
        Err(_) => code_of_text(file, &format!("\0{}", text_of(bytes)), false),
    }
}

/// `is_cells`: the text is the content of a table.
fn code_of_text(file: &str, written: &str, is_cells: bool) -> Vec<Code> {
    let text = lines::plain(written);
    let found = Found { text: &text, lines: Lines::of(&text), file, code: Vec::new() };
    let mut finder = CodeFinder { found, blocks: Blocks::of(&text), seen: HashSet::new(), is_cells };
    if text.contains('\0') || has_other_coding(&text) {
        finder.found.add("unread", 0..text.len());
        return finder.found.code;
    }
    finder.directives();
    finder.roles();
    for at in addresses::scripts(&text, &finder.blocks) {
        finder.paragraph("link", at);
    }
    addresses::commands(&text).for_each(|at| finder.paragraph("formula", at));
    // Some generators expand templates in pages.
    let page = parse_as(file, text.as_bytes(), Format::Rst, AnchorStyle::Docutils);
    finder.found.templates(0, &page.code, super::Templates::Braces);
    finder.found.code
}

/// Whether the first two lines of a text declare an encoding other than UTF-8, which docutils may use.
fn has_other_coding(text: &str) -> bool {
    let named = text.lines().take(2).filter_map(|line| CODING.captures(line));
    named.into_iter().any(|found| !["utf-8", "utf8"].contains(&found[1].to_ascii_lowercase().as_str()))
}

struct CodeFinder<'t> {
    found: Found<'t>,
    blocks: Blocks<'t>,
    /// The paragraphs already recorded as code: the kind of code, and their start.
    seen: HashSet<(&'static str, usize)>,
    is_cells: bool,
}

impl CodeFinder<'_> {
    fn directives(&mut self) {
        let text = self.found.text;
        let (mut at, mut read_as_table, mut options_read) = (0, 0, 0);
        while let Some(found) = MARK.captures_at(text, at) {
            let start = found.get_match().start();
            let end = found.get(2).map_or(found.get_match().end(), |name| name.end() + "::".len());
            let whole_name = found.get(2).or(found.get(3)).map_or(String::new(), |name| name.as_str().to_lowercase());
            let name = names::plain(&whole_name);
            at = end;
            let is_known = match found.get(1) {
                Some(_) => names::SUBSTITUTIONS.contains(&name),
                None => names::is_directive(&whole_name),
            };
            let paragraph = self.blocks.paragraph(start);
            let has_options = options_read < paragraph.end;
            options_read = options_read.max(paragraph.end);
            // A part of a file may depend on definitions in another part.
            let cuts = || [":start-", ":end-"].iter().any(|option| text[start..paragraph.end].contains(option));
            let has_odd_options = has_options && self.has_bad_option(start, paragraph.end);
            // An unknown option of one of these may decide how the text behind the options is read.
            let is_whole =
                ["csv-table", "include", "literalinclude"].contains(&name) || text[end..paragraph.end].contains("::");
            let code_kind = match name {
                _ if !is_known => Some("directive"),
                "include" | "literalinclude" | "image" | "figure" if !self.has_good_path(name, start, end) => {
                    Some("file")
                }
                "role" if !self.defines_plain_role(end) => Some("directive"),
                // This one directive decides the meaning of all text in single backticks.
                "default-role" if !self.names_plain_role(start, end) => return self.found.add("unread", 0..text.len()),
                "include" if cuts() => Some("file"),
                _ if has_odd_options && is_whole => Some("directive"),
                "csv-table" if !self.is_cells && read_as_table <= start => {
                    read_as_table = self.blocks.block_end(start);
                    hides_code(self.found.file, &text[end..read_as_table]).then_some("directive")
                }
                _ => None,
            };
            if let Some(kind) = code_kind {
                let block_end = self.blocks.block_end(start);
                self.add(kind, start, end, block_end);
                at = at.max(block_end);
            } else if has_odd_options {
                self.add("directive", start, end, paragraph.end);
            }
        }
    }

    /// Adds a directive up to a byte.
    fn add(&mut self, kind: &str, start: usize, name_end: usize, end: usize) {
        let text = self.found.text;
        let key = match self.argument(start, name_end) {
            // Keyed by the path from the docs root, because the relative path differs between folders.
            Some(path) if kind == "file" => {
                let path_end = text[name_end..end].find('\n').map_or(end, |length| name_end + length);
                let (mark, rest) = (&text[start..name_end], lines::dedented(&text[path_end..end]));
                format!("file {mark} {}{rest}", self.path_in_docs(path))
            }
            // An option may have a relative path, so the key has the folder.
            _ => {
                let place = if text[start..end].contains("../") { folder(self.found.file) } else { "" };
                format!("{kind} in {place} {}", lines::dedented(&text[start..end]))
            }
        };
        self.found.add_as(start..end, key);
    }

    /// The argument of a directive; `None` if it may continue after its line.
    fn argument(&self, start: usize, name_end: usize) -> Option<&str> {
        let line = self.found.text[name_end..].lines().next().unwrap_or_default();
        (!self.blocks.goes_on(start)).then(|| line.trim())
    }

    /// A path relative to the docs root, if it leads to a place in the docs.
    fn path_in_docs(&self, path: &str) -> String {
        match joined(folder(self.found.file), path) {
            _ if path.starts_with(['/', '<']) || path.contains(':') => path.to_owned(),
            Some(path) => path,
            None => format!("{path} in {}", folder(self.found.file)),
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

    /// Whether anything between two bytes that may be an option is not a known harmless one.
    fn has_bad_option(&self, start: usize, end: usize) -> bool {
        let text = &self.found.text[start..end];
        let is_table = self.blocks.may_be_in_table(start);
        text.match_indices(':').any(|(colon, _)| {
            let before = text[..colon].trim_end_matches(' ');
            let is_first = before.ends_with(['\n', '"', ',']) || before.ends_with("::");
            let is_in_cell = is_table && (before.ends_with(['|', '+']) || text[..colon].ends_with(' '));
            (is_first || is_in_cell) && !text[..colon].ends_with(':') && is_bad_field(&text[colon + 1..])
        })
    }

    /// Whether the argument of a directive is one acceptable file and nothing else: a file in the docs, for an include
    /// also one of docutils' own files, and for an image also a URL. The directive begins at `start`, and its name ends
    /// at `end`.
    fn has_good_path(&self, directive: &str, start: usize, end: usize) -> bool {
        let own = folder(self.found.file);
        match (directive, self.argument(start, end)) {
            (_, None | Some("")) => false,
            (_, Some(written)) if written.starts_with(':') => false,
            ("include", Some(written)) => {
                let is_of_docutils = written.strip_prefix('<').and_then(|rest| rest.strip_suffix(".txt>"));
                let reads_as_page = joined(own, written).is_some_and(|path| {
                    // Paths in the included file are relative to this page's folder.
                    Format::of(&path) == Format::Rst && depth(folder(&path)) <= depth(own)
                });
                is_of_docutils.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
                    || (reads_as_page && !written.starts_with('/') && self.is_of_docs(written))
            }
            ("literalinclude", Some(written)) => !written.starts_with('/') && self.is_of_docs(written),
            (_, Some(written)) => {
                // docutils removes whitespace from image paths.
                let path: String = written.split_whitespace().collect();
                let address = path.to_ascii_lowercase();
                ["http://", "https://", "data:image/"].iter().any(|scheme| address.starts_with(scheme))
                    || self.is_of_docs(&path)
            }
        }
    }

    /// Whether a path is inside the docs.
    fn is_of_docs(&self, path: &str) -> bool {
        let is_odd = path.starts_with("//") || path.contains(['\\', ':']);
        let (from, relative) = match path.strip_prefix('/') {
            Some(path) => ("", path),
            None => (folder(self.found.file), path),
        };
        !is_odd && joined(from, relative).is_some() && self.found.may_include(relative)
    }
}

/// In bytes: how far the end of a field name is searched for, so that time stays linear.
const LONGEST_NAME: usize = 200;

/// Whether what follows a colon is a field with any name but that of a harmless option. A longer one counts as unknown.
fn is_bad_field(text: &str) -> bool {
    let line = text[..text.floor_char_boundary(LONGEST_NAME)].split('\n').next().unwrap_or_default();
    let ends = |at: usize| matches!(text[at + 1..].bytes().next(), None | Some(b' ' | b'\n' | b'|' | b'`'));
    match line.match_indices(':').map(|(at, _)| at).find(|at| ends(*at)) {
        _ if line.is_empty() || line.starts_with([' ', ':']) => false,
        // A role.
        Some(at) if text[at + 1..].starts_with('`') => false,
        Some(at) => !line[..at].ends_with(' ') && !names::is_option(&line[..at]),
        None => line.len() < text.len() && !text[line.len()..].starts_with('\n'),
    }
}

/// Whether a CSV table contains code, with or without the quotes of its cells. Roles that are keyed by name alone do
/// not count.
fn hides_code(file: &str, table: &str) -> bool {
    let cells = table.replace(['"', '\\'], "");
    let is_role = |code: &Code| code.key.starts_with("role ") && !code.key.contains('`');
    [table, &cells].iter().any(|text| code_of_text(file, text, true).iter().any(|code| !is_role(code)))
}

fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

#[cfg(test)]
mod tests;
