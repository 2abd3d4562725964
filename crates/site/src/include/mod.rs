//! Expands the includes of pages.
//!
//! Every generator has its own include syntax: an imported page as a component, `<Snippet file>`, a comment with
//! `@include`, `<<<` for code, `--8<--`, `{% include %}`, directives. Each names a file of the tree, and is replaced by that
//! file with its own includes expanded. Depth, number and size are limited, and an include that would contain itself is
//! dropped with a problem.

pub(crate) mod adoc;
mod adoc_parts;
mod directives;
mod parts;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docent_markdown::{
    Composed, Dialect, Fence, FenceLine, Lines, Problem, Tag, TagKind, each_line, folder, joined, line_end, regex,
    scan_tag, text_of,
};
use memchr::memmem;
use parts::Part;

use crate::layout::{Generator, Layout};
use crate::link_target::has_markdown_ending;
use crate::tree::Tree;

/// Maximum nesting depth of includes.
const MAX_DEPTH: usize = 8;

/// Maximum number of includes in one page, missing files counted.
const MAX_INCLUDES: usize = 500;

/// Maximum number of bytes that are searched for parts of files.
const MAX_SEARCHED_BYTES: usize = 8 << 20;

/// Maximum total size of the files included in one page, in bytes.
const MAX_INCLUDED_BYTES: usize = 2 << 20;

/// Maximum length of a template whose end is searched for, in bytes.
const MAX_TEMPLATE_BYTES: usize = 1_000;

/// Maximum number of failed tag scans in one page; further tags are left as text. A scan costs up to the maximum length
/// of a tag.
const MAX_FAILED_TAG_SCANS: usize = 100;

/// A page with its includes expanded.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) composed: Composed,
    /// The included files, in order and without duplicates; missing files are listed, too.
    pub(crate) included: Vec<String>,
    /// Line numbers refer to the page.
    pub(crate) problems: Vec<Problem>,
}

/// Expands the includes of a page; `None` if it has none.
pub(crate) fn expand(layout: &Layout, file: &str, text: &str, tree: &dyn Tree) -> Option<Expanded> {
    (INCLUDE_SIGN.is_match(text) || imports(text).next().is_some()).then_some(())?;
    let mut work = Work::new(layout, file, tree);
    work.put(file, text, None, "");
    Some(work.out)
}

/// Expands the includes of a page in reStructuredText; `None` if it has none.
pub(crate) fn expand_rst(layout: &Layout, file: &str, text: &str, tree: &dyn Tree) -> Option<Expanded> {
    text.contains("include::").then_some(())?;
    let mut work = Work::new(layout, file, tree);
    work.put_rst(text, None, "");
    Some(work.out)
}

// Every include except an import contains one of these. The regular expression searches for all of them at once.
regex!(
    INCLUDE_SIGN,
    r"(?i)<Snippet|@include:|<<<|8<-|\{%|\{\{\s*#|<include|\[!(?:include|code)|include\}|\{\{<\s*(?:include|readfile)"
);

// An import of a page at the beginning of a text.
regex!(IMPORT, r#"\Aimport\s+(?:\*\s+as\s+)?([\w$]+)\s*(?:,[^'"\n]*)?from\s*['"]([^'"\n]+\.(?i:md|mdx|markdown))['"]"#);

/// The pages that a text imports: the local name and the path of each. Only lines that begin with `import` are matched
/// against the pattern: most texts have none, and most imports are not pages.
fn imports(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let first = text.starts_with("import").then_some(0);
    let others = memmem::find_iter(text.as_bytes(), "\nimport").map(|at| at + 1);
    let import = |at: usize| {
        let found = IMPORT.captures(&text[at..])?;
        Some((found.get(1)?.as_str(), found.get(2)?.as_str()))
    };
    first.into_iter().chain(others).filter_map(import)
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
        let name = path.rsplit('/').next().unwrap_or(path);
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
            recorded: HashSet::new(),
        }
    }

    /// Appends a text. `origin` is the line of the page whose include it replaces, `None` for the page itself; each
    /// line is prefixed with `indent`.
    fn put(&mut self, file: &str, text: &str, origin: Option<usize>, indent: &str) {
        let imports: HashMap<&str, &str> = imports(text).collect();
        let mut fence = Fence::default();
        let mut in_block = false;
        let mut at = 0;
        let mut number = 0;
        // Each step resumes where the last tag ended, so that one long line of tags is not rescanned for every tag.
        while at < text.len() {
            number += 1;
            let origin = origin.unwrap_or(number);
            let end = line_end(text, at);
            let line = &text[at..end];
            if let Some((request, length)) = self.block(file, &text[at..], line, fence.is_open()) {
                self.insert(&request, origin, &deeper(indent, line));
                number += text[at..at + length].matches('\n').count().saturating_sub(1);
                at += length;
                continue;
            }
            let inside = fence.line(line) == FenceLine::Inside;
            if self.layout.generator() == Generator::MdBook && line.contains("{{") {
                self.commands(file, line, inside, origin, indent);
                at = end;
                continue;
            }
            if let Some(snippet) = parts::snippet_line(line) {
                match snippet {
                    parts::SnippetLine::BlockDelimiter => in_block = !in_block,
                    parts::SnippetLine::File(named) => self.snippet(file, named, line, inside, origin, indent),
                    parts::SnippetLine::RegionMarker => {}
                }
                at = end;
                continue;
            }
            if in_block {
                if !line.trim().is_empty() {
                    self.snippet(file, line.trim(), line, inside, origin, indent);
                }
                at = end;
                continue;
            }
            if inside {
                self.line(line, origin, indent);
                at = end;
                continue;
            }
            if let Some(request) = self.code_of(file, line) {
                self.insert(&request, origin, &deeper(indent, line));
                at = end;
                continue;
            }
            let stop = self.tags(file, text, at..end, &imports, origin, indent);
            number += text[end.min(stop)..stop].matches('\n').count();
            at = stop;
        }
    }

    /// The include that begins on a line and may have several, with its length. `text` begins with the line.
    fn block<'t>(
        &mut self,
        file: &str,
        text: &'t str,
        line: &str,
        is_in_fence: bool,
    ) -> Option<(IncludeRequest<'t>, usize)> {
        if is_in_fence {
            return None;
        }
        if self.layout.generator() == Generator::Sphinx && line.contains("include}") {
            let include = directives::myst_include(text)?;
            let form = match include.code {
                Some(language) => Form::code(language, include.path),
                None => Form::Page,
            };
            let candidates = self.sphinx_relative(file, include.path);
            return Some((IncludeRequest::new(candidates, include.part, form), include.length));
        }
        if !line.trim_start().starts_with("{%") || line.contains("%}") {
            return None;
        }
        let end = text[..text.floor_char_boundary(MAX_TEMPLATE_BYTES)].find("%}")?;
        let length = line_end(text, end);
        Some((self.code_of(file, &text[..length])?, length))
    }

    /// Appends a line with the commands of mdBook on it replaced, which it does in code, too.
    fn commands(&mut self, file: &str, line: &str, inside: bool, origin: usize, indent: &str) {
        let mut from = 0;
        for (path, part, range) in directives::commands(line) {
            let alone = line[..range.start].trim().is_empty();
            let indent = if alone { deeper(indent, line) } else { indent.to_owned() };
            if !alone {
                self.line(&line[from..range.start], origin, &indent);
            }
            let form = if inside { Form::Verbatim } else { Form::Page };
            let candidates = joined(folder(file), path).into_iter().collect();
            self.insert(&IncludeRequest::new(candidates, part, form), origin, &indent);
            from = range.end;
        }
        let rest = &line[from..];
        if from == 0 || !rest.trim().is_empty() || !self.out.composed.at_line_start() {
            self.line(rest, origin, indent);
        }
    }

    /// Appends a text in reStructuredText. `origin` is the line of the page whose include it replaces.
    fn put_rst(&mut self, text: &str, origin: Option<usize>, indent: &str) {
        let (mut at, mut number) = (0, 0);
        while at < text.len() {
            number += 1;
            let origin = origin.unwrap_or(number);
            let end = line_end(text, at);
            let line = &text[at..end];
            let include = if line.contains("include::") { directives::rst_include(&text[at..]) } else { None };
            let Some(include) = include else {
                self.line(line, origin, indent);
                at = end;
                continue;
            };
            let page = self.open.first().cloned().unwrap_or_default();
            let candidates = self.sphinx_relative(&page, include.path);
            if self.first_of(&candidates).is_none() {
                // What it names, as a page of its own or a file of the toolchain, may still be a link.
                self.line(&text[at..at + include.length], origin, indent);
            }
            let form = include.code.map_or(Form::Rst, |language| Form::RstCode(language.to_owned()));
            let request = IncludeRequest { is_certain: false, ..IncludeRequest::new(candidates, include.part, form) };
            self.insert(&request, origin, &deeper(indent, line));
            number += text[at..at + include.length].matches('\n').count().saturating_sub(1);
            at += include.length;
        }
    }

    /// The files that a path of Sphinx may refer to: `/` is the source folder.
    fn sphinx_relative(&self, file: &str, path: &str) -> Vec<String> {
        match path.strip_prefix('/') {
            Some(path) => joined(self.layout.home(), path).into_iter().collect(),
            None => joined(folder(file), path).into_iter().collect(),
        }
    }

    fn line(&mut self, line: &str, origin: usize, indent: &str) {
        if self.out.composed.at_line_start() && !line.trim().is_empty() {
            self.out.composed.push(indent, origin);
        }
        self.out.composed.push(line, origin);
    }

    fn snippet(&mut self, file: &str, named: &str, line: &str, inside: bool, origin: usize, indent: &str) {
        let (path, part) = parts::snippet(named);
        let mut candidates: Vec<String> = self.layout.snippets.iter().filter_map(|base| joined(base, path)).collect();
        candidates.extend([folder(file), "", "docs", "includes"].iter().filter_map(|base| joined(base, path)));
        let form = if inside { Form::Verbatim } else { Form::Page };
        let is_certain = !path.contains("://");
        self.insert(
            &IncludeRequest { candidates, part, form, values: Vec::new(), is_certain },
            origin,
            &deeper(indent, line),
        );
    }

    /// The include of a line that consists only of it: `<<< file` or `{% include %}`.
    fn code_of<'t>(&mut self, file: &str, line: &'t str) -> Option<IncludeRequest<'t>> {
        regex!(
            LIQUID,
            r#"^\s*\{%-?\s*(?:include|include-markdown|include_relative|include_cached)\s+["']?([^"'\s%]+)["']?[^%]*%\}\s*$"#
        );
        if let Some(import) = parts::code_import(line) {
            let candidates = self.page_relative(file, import.path);
            let form = Form::Code { language: import.language, name: import.name };
            return Some(IncludeRequest { candidates, part: import.part, form, values: Vec::new(), is_certain: true });
        }
        if self.layout.generator() == Generator::Docfx
            && let Some((path, part, code, range)) = directives::docfx_include(line)
            && line[..range.start].trim().is_empty()
            && line[range.end..].trim().is_empty()
        {
            let candidates = match path.strip_prefix("~/") {
                Some(path) => joined(self.layout.home(), path),
                None => joined(folder(file), path),
            };
            let form = code.map_or(Form::Page, |language| Form::code(language, path));
            return Some(IncludeRequest::new(candidates.into_iter().collect(), part, form));
        }
        if self.layout.generator() == Generator::Hugo
            && let Some(path) = directives::shortcode_include(line).filter(|path| has_markdown_ending(path))
        {
            let content = format!("{}/content", self.layout.home());
            let bases = [folder(file), content.trim_start_matches('/'), self.layout.home()];
            let candidates: Vec<String> =
                bases.into_iter().filter_map(|base| joined(base, path.trim_start_matches('/'))).collect();
            // The shortcode is the site's own: what it does with other names is not known.
            self.first_of(&candidates)?;
            return Some(IncludeRequest::new(candidates, Part::Whole, Form::Page));
        }
        line.trim_start().starts_with("{%").then_some(())?;
        let path = LIQUID.captures(line)?.get(1)?.as_str();
        let bases = [folder(file), "_includes", "docs/_includes", "includes"];
        let candidates: Vec<String> = bases
            .into_iter()
            .chain(self.layout.snippets.iter().map(String::as_str))
            .filter_map(|base| joined(base, path))
            .collect();
        let form = Form::Page;
        let is_there =
            self.include_count < MAX_INCLUDES && has_markdown_ending(path) && self.first_of(&candidates).is_some();
        is_there.then_some(IncludeRequest {
            candidates,
            part: Part::Whole,
            form,
            values: Vec::new(),
            is_certain: false,
        })
    }

    /// Appends a line (and the rest of a tag that begins on it) with its include tags and comments expanded. Returns
    /// the end of the text that was consumed.
    fn tags(
        &mut self,
        file: &str,
        text: &str,
        line: std::ops::Range<usize>,
        imports: &HashMap<&str, &str>,
        origin: usize,
        indent: &str,
    ) -> usize {
        let mut from = line.start;
        let mut at = line.start;
        let mut end = line.end;
        while let Some(next) = text[at..end].find(['<', '`']).map(|length| at + length) {
            if text.as_bytes()[next] == b'`' {
                at = docent_markdown::code_span_end(text, next, end);
                continue;
            }
            let Some((request, stop)) = self.tag_at(file, text, next, imports) else {
                at = next + 1;
                continue;
            };
            self.line(&text[from..next], origin, indent);
            if let Some(request) = request {
                let alone = text[line.start..next].trim().is_empty();
                let indent = if alone { deeper("", self.open_line()) } else { indent.to_owned() };
                self.insert(&request, origin, &indent);
            }
            (from, at) = (stop, stop);
            if stop > end {
                end = line_end(text, stop);
            }
        }
        let rest = &text[from..end];
        // If a line consists only of includes, no empty line is left.
        if !(self.out.composed.at_line_start() && from > line.start && rest.trim().is_empty()) {
            self.line(rest, origin, indent);
        }
        end
    }

    /// The last, unfinished line of the output.
    fn open_line(&self) -> &str {
        let text = &self.out.composed.text;
        &text[text.rfind('\n').map_or(0, |at| at + 1)..]
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

    /// The include at the tag or comment at `at`, and the end of the tag; `None` if it is not an include. The include
    /// is `None` for a closing tag, which is dropped.
    fn tag_at<'t>(
        &mut self,
        file: &str,
        text: &'t str,
        at: usize,
        imports: &HashMap<&str, &str>,
    ) -> Option<(Option<IncludeRequest<'t>>, usize)> {
        let rest = &text[at..];
        if let Some((path, part, length)) = parts::comment_include(rest) {
            let candidates = self.page_relative(file, path);
            let request = IncludeRequest { candidates, part, form: Form::Page, values: Vec::new(), is_certain: true };
            return Some((Some(request), at + length));
        }
        if self.layout.generator() == Generator::Fumadocs
            && let Some((path, part, length)) = directives::element_include(rest)
        {
            let bases = [folder(file), self.layout.home()];
            let candidates = bases.into_iter().filter_map(|base| joined(base, path)).collect();
            let is_page = has_markdown_ending(path);
            let form = if is_page { Form::Page } else { Form::code(directives::ending(path), path) };
            return Some((Some(IncludeRequest::new(candidates, part, form)), at + length));
        }
        let name: &str =
            rest[1..].trim_start_matches('/').split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).next()?;
        let import = imports.get(name);
        if name != "Snippet" && import.is_none() {
            return None;
        }
        if self.failed_tag_scans >= MAX_FAILED_TAG_SCANS {
            return None;
        }
        let Some(tag) = scan_tag(text, at, Dialect::Jsx) else {
            self.failed_tag_scans += 1;
            return None;
        };
        if tag.kind == TagKind::Close {
            // The opening tag was replaced by the include.
            return import.map(|_| (None, tag.span.end));
        }
        let candidates = match import {
            Some(path) => self.imported(file, path),
            None => {
                let path = tag.value(text, "file")?;
                ["snippets", "_snippets", ""].iter().filter_map(|base| joined(base, path)).collect()
            }
        };
        let values = values_of(&tag, text);
        let end = tag.span.end;
        Some((Some(IncludeRequest { candidates, part: Part::Whole, form: Form::Page, values, is_certain: true }), end))
    }

    /// The files that a VitePress path may refer to: `@/` and `/` are the folder of the pages.
    fn page_relative(&self, file: &str, path: &str) -> Vec<String> {
        let source = self.layout.snippets.first().map_or("", String::as_str);
        let from_source =
            path.strip_prefix("@/").or_else(|| path.strip_prefix("@").filter(|rest| rest.starts_with('/')));
        match from_source.or_else(|| path.strip_prefix('/')) {
            Some(path) => [joined(source, path), joined(self.layout.home(), path)].into_iter().flatten().collect(),
            None => joined(folder(file), path).into_iter().collect(),
        }
    }

    /// The files that an import path may refer to.
    fn imported(&self, file: &str, path: &str) -> Vec<String> {
        let home = self.layout.home();
        let below = |base: &str, path: &str| joined(base, path);
        let source = format!("{home}/src");
        let found = if path.starts_with('.') {
            vec![below(folder(file), path)]
        } else if let Some(path) = path.strip_prefix("@site/") {
            vec![below(home, path)]
        } else if let Some(path) = path.strip_prefix("@/").or_else(|| path.strip_prefix("~/")) {
            vec![below(&source, path), below(home, path), below("", path)]
        } else if let Some(path) = path.strip_prefix('/') {
            vec![below("", path), below(home, path)]
        } else {
            // An alias that the project's own tools resolve: the likely locations are tried.
            let rest = path.trim_start_matches(['@', '~', '#', '$']);
            vec![below("", path), below(&source, rest), below(home, rest)]
        };
        found.into_iter().flatten().collect()
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
                let fence = "`".repeat(longest_run(&text).max(2) + 1);
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

/// The literal attribute values of a tag, by name.
fn values_of(tag: &Tag, text: &str) -> Vec<(String, String)> {
    let attributes = tag.attributes.iter().take(32);
    attributes
        .filter_map(|attribute| Some((attribute.name.clone(), text.get(attribute.value.clone()?)?.to_owned())))
        .collect()
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
