//! Expands the includes of pages.
//!
//! Every generator has its own include syntax: an imported page as a component, `<Snippet file>`, a comment with
//! `@include`, `<<<` for code, `--8<--`, `{% include %}`, directives. Each names a file of the tree, and is replaced by that
//! file with its own includes expanded. Depth, number and size are limited, and an include that would contain itself is
//! dropped with a problem.

pub(crate) mod adoc;
mod adoc_parts;
mod directives;
pub(crate) mod markdown;
mod parts;
pub(crate) mod rst;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use adoc_parts::CutFile;
use docent_markdown::{Composed, Lines, Problem, each_line, file_name, line_start, longest_run, text_of};
use parts::Part;

use crate::layout::Layout;
use crate::link_target::has_markdown_ending;
use crate::tree::{Tree, joined_in};

/// Maximum nesting depth of includes.
const MAX_DEPTH: usize = 8;

/// Maximum number of includes in one page, missing files counted.
const MAX_INCLUDES: usize = 500;

/// Maximum number of bytes that are searched for parts of files.
const MAX_SEARCHED_BYTES: usize = 8 << 20;

/// Maximum total size of the files included in one page, in bytes.
const MAX_INCLUDED_BYTES: usize = 2 << 20;

/// A page with its includes expanded.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) composed: Composed,
    /// The included files, in order and without duplicates; missing files are listed, too.
    pub(crate) included: Vec<String>,
    /// Line numbers refer to the page.
    pub(crate) problems: Vec<Problem>,
}

struct Work<'w> {
    layout: &'w Layout,
    tree: &'w dyn Tree,
    out: Expanded,
    /// The stack of files being included, the page first.
    open: Vec<String>,
    bytes_left: usize,
    include_count: usize,
    searched_bytes: usize,
    /// Failed tag scans of names that looked like includes.
    failed_tag_scans: usize,
    /// The contents of all requested files; `None` for missing ones.
    contents: HashMap<String, Option<Arc<[u8]>>>,
    /// The same of files that AsciiDoc includes.
    cut_files: HashMap<String, Option<Rc<CutFile>>>,
    recorded: HashSet<String>,
}

/// A requested include.
struct IncludeRequest<'t> {
    /// Files that it may refer to, the likeliest first.
    candidates: Vec<String>,
    part: Part<'t>,
    form: Form,
    /// Values of the placeholders in braces.
    values: Vec<(String, String)>,
    /// Whether it is certainly an include: if not, a missing file is no problem.
    is_certain: bool,
}

impl<'t> IncludeRequest<'t> {
    fn new(candidates: Vec<String>, part: Part<'t>, form: Form) -> Self {
        Self { candidates, part, form, values: Vec::new(), is_certain: true }
    }
}

enum Form {
    Page,
    /// As a code block, with the language and the name of the file.
    Code {
        language: String,
        name: String,
    },
    /// Verbatim: the include is inside a code block.
    Verbatim,
    Rst,
    /// As a code block of reStructuredText, with the language.
    RstCode(String),
}

impl Form {
    fn code(language: &str, path: &str) -> Self {
        let name = file_name(path);
        Self::Code { language: language.to_owned(), name: name.replace('"', "'") }
    }
}

impl<'w> Work<'w> {
    fn new(layout: &'w Layout, file: &str, tree: &'w dyn Tree) -> Self {
        Self {
            layout,
            tree,
            out: Expanded::default(),
            open: vec![file.to_owned()],
            bytes_left: MAX_INCLUDED_BYTES,
            include_count: 0,
            searched_bytes: 0,
            failed_tag_scans: 0,
            contents: HashMap::new(),
            cut_files: HashMap::new(),
            recorded: HashSet::new(),
        }
    }

    fn line(&mut self, line: &str, origin: usize, indent: &str) {
        if self.out.composed.at_line_start() && !line.trim().is_empty() {
            self.out.composed.push(indent, origin);
        }
        self.out.composed.push(line, origin);
    }

    /// The last, unfinished line of the output.
    fn open_line(&self) -> &str {
        let text = &self.out.composed.text;
        &text[line_start(text, text.len())..]
    }

    /// Joins a path to a folder. The file may be outside of the docs root.
    fn joined(&self, folder: &str, path: &str) -> Option<String> {
        joined_in(self.tree.root(), folder, path)
    }

    /// The bytes of a file of the tree, each file read once.
    fn file(&mut self, file: &str) -> Option<Arc<[u8]>> {
        if let Some(read) = self.contents.get(file) {
            return read.clone();
        }
        let read: Option<Arc<[u8]>> = self.tree.read(file).map(Into::into);
        self.contents.insert(file.to_owned(), read.clone());
        read
    }

    /// The first of these files that exists.
    fn first_of(&mut self, candidates: &[String]) -> Option<(String, Arc<[u8]>)> {
        candidates.iter().find_map(|file| Some((file.clone(), self.file(file)?)))
    }

    /// Appends the contents of an include, or reports why it cannot be included.
    fn insert(&mut self, request: &IncludeRequest<'_>, origin: usize, indent: &str) {
        self.include_count += 1;
        if self.include_count > MAX_INCLUDES {
            if let Some(file) = request.candidates.first() {
                self.problem(origin, || over_limit_message(file));
            }
            return;
        }
        let Some((file, bytes)) = self.first_of(&request.candidates) else {
            if let Some(file) = request.candidates.first().filter(|_| request.is_certain) {
                self.record(file);
                self.problem(origin, || format!("this uses `{file}`, and there is no such file"));
            }
            return;
        };
        self.record(&file);
        if self.open.contains(&file) {
            return self.problem(origin, || format!("`{file}` comes to contain itself; it is left out here"));
        }
        if request.part != Part::Whole {
            self.searched_bytes += bytes.len() * request.part.passes(has_markdown_ending(&file));
        }
        let is_over_limit = bytes.len() > self.bytes_left || self.searched_bytes > MAX_SEARCHED_BYTES;
        if self.open.len() > MAX_DEPTH || is_over_limit {
            return self.problem(origin, || over_limit_message(&file));
        }
        let text = text_of(&bytes);
        let text = request.part.of(&text, has_markdown_ending(&file));
        let Some(text) = text else {
            return self
                .problem(origin, || format!("`{file}` has no part of this name or these lines; it is left out here"));
        };
        self.bytes_left -= text.len().min(self.bytes_left);
        match &request.form {
            Form::Verbatim => {
                for line in each_line(&text) {
                    self.line(line, origin, indent);
                }
                self.end_line(origin);
            }
            Form::Code { language, name } => {
                let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
                let code =
                    format!("\n{fence}{language} title=\"{name}\"\n{}\n{fence}\n\n", text.trim_end_matches('\n'));
                self.end_line(origin);
                for line in each_line(&code) {
                    self.line(line, origin, indent);
                }
            }
            Form::Page => self.page(&file, &text, &request.values, origin, indent),
            Form::Rst => {
                self.end_line(origin);
                self.open.push(file);
                self.put_rst(&text, Some(origin), indent);
                self.open.pop();
                self.end_line(origin);
            }
            Form::RstCode(language) => {
                self.end_line(origin);
                self.line(&format!("\n{indent}.. code-block:: {language}\n\n"), origin, "");
                for line in each_line(&text) {
                    self.line(line, origin, &format!("{indent}   "));
                }
                self.end_line(origin);
                self.line("\n", origin, "");
            }
        }
    }

    fn page(&mut self, file: &str, text: &str, values: &[(String, String)], origin: usize, indent: &str) {
        let (front, _) = docent_markdown::read_front_matter(text, &Lines::of(text));
        let body = &text[front.span.map_or(0, |span| span.end)..];
        let mut body = body.trim_matches(['\n', '\r', '\u{feff}']).to_owned();
        for (name, value) in values {
            for name in [format!("{{{name}}}"), format!("{{props.{name}}}")] {
                let uses = body.matches(&name).count();
                if uses * value.len() > self.bytes_left {
                    self.problem(origin, || over_limit_message(file));
                } else if uses > 0 {
                    self.bytes_left -= uses * value.len();
                    body = body.replace(&name, value);
                }
            }
        }
        let alone = self.open_line().trim().is_empty();
        // A single line within other text stays inline.
        let inline = !alone && !body.contains('\n');
        if alone && !self.out.composed.at_line_start() {
            let indent_length = self.open_line().len();
            let text = &mut self.out.composed.text;
            text.truncate(text.len() - indent_length);
        }
        if !inline {
            self.end_line(origin);
            self.out.composed.push("\n", origin);
        }
        self.open.push(file.to_owned());
        self.put(file, &body, Some(origin), indent);
        self.open.pop();
        if !inline {
            self.end_line(origin);
            self.out.composed.push("\n", origin);
        }
    }

    fn end_line(&mut self, origin: usize) {
        if !self.out.composed.at_line_start() {
            self.out.composed.push("\n", origin);
        }
    }

    fn record(&mut self, file: &str) {
        if self.recorded.insert(file.to_owned()) {
            self.out.included.push(file.to_owned());
        }
    }

    fn problem(&mut self, line: usize, message: impl FnOnce() -> String) {
        if self.out.problems.len() < 100 {
            self.out.problems.push(Problem { line, message: message() });
        }
    }
}

fn over_limit_message(file: &str) -> String {
    format!("`{file}` is left out here: the page uses too much of other files")
}

/// The indentation of a line added to an outer indentation.
fn deeper(indent: &str, line: &str) -> String {
    let own = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    format!("{indent}{own}")
}

#[cfg(test)]
mod tests;
