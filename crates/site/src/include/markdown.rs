//! Expands the includes of Markdown and MDX pages.

use std::collections::HashMap;

use docent_markdown::{Dialect, Fence, FenceLine, Tag, TagKind, folder, line_end, regex, scan_tag};
use memchr::memmem;

use super::parts::Part;
use super::{Expanded, Form, IncludeRequest, MAX_INCLUDES, Work, deeper, directives, parts};
use crate::layout::{Generator, Layout};
use crate::link_target::has_markdown_ending;
use crate::paths::below;
use crate::tree::Tree;

/// Maximum length of a template whose end is searched for, in bytes.
const MAX_TEMPLATE_BYTES: usize = 1_000;

/// Maximum number of failed tag scans in one page; further tags are left as text. A scan costs up to the maximum length
/// of a tag.
const MAX_FAILED_TAG_SCANS: usize = 100;

/// Expands the includes of a page; `None` if it has none.
pub(crate) fn expand(layout: &Layout, file: &str, text: &str, tree: &dyn Tree) -> Option<Expanded> {
    (INCLUDE_SIGN.is_match(text) || imports(text).next().is_some()).then_some(())?;
    let mut work = Work::new(layout, file, tree);
    work.put(file, text, None, "");
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

impl Work<'_> {
    /// Appends a text. `origin` is the line of the page whose include it replaces, `None` for the page itself; each
    /// line is prefixed with `indent`.
    pub(super) fn put(&mut self, file: &str, text: &str, origin: Option<usize>, indent: &str) {
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
            let candidates = self.joined(folder(file), path).into_iter().collect();
            self.insert(&IncludeRequest::new(candidates, part, form), origin, &indent);
            from = range.end;
        }
        let rest = &line[from..];
        if from == 0 || !rest.trim().is_empty() || !self.out.composed.at_line_start() {
            self.line(rest, origin, indent);
        }
    }

    fn snippet(&mut self, file: &str, named: &str, line: &str, inside: bool, origin: usize, indent: &str) {
        let (path, part) = parts::snippet(named);
        let mut candidates: Vec<String> =
            self.layout.snippets.iter().filter_map(|base| self.joined(base, path)).collect();
        candidates.extend(self.joined(folder(file), path));
        candidates.extend(self.in_folders(&["", "docs", "includes"], path));
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
            return Some(IncludeRequest::new(candidates, import.part, form));
        }
        if self.layout.generator() == Generator::Docfx
            && let Some((path, part, code, range)) = directives::docfx_include(line)
            && line[..range.start].trim().is_empty()
            && line[range.end..].trim().is_empty()
        {
            let candidates = match path.strip_prefix("~/") {
                Some(path) => self.joined(self.layout.home(), path),
                None => self.joined(folder(file), path),
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
                bases.into_iter().filter_map(|base| self.joined(base, path.trim_start_matches('/'))).collect();
            // The shortcode is the site's own: what it does with other names is not known.
            self.first_of(&candidates)?;
            return Some(IncludeRequest::new(candidates, Part::Whole, Form::Page));
        }
        line.trim_start().starts_with("{%").then_some(())?;
        let path = LIQUID.captures(line)?.get(1)?.as_str();
        let mut candidates: Vec<String> = self.joined(folder(file), path).into_iter().collect();
        candidates.extend(self.in_folders(&["_includes", "docs/_includes", "includes"], path));
        candidates.extend(self.layout.snippets.iter().filter_map(|base| self.joined(base, path)));
        let is_there =
            self.include_count < MAX_INCLUDES && has_markdown_ending(path) && self.first_of(&candidates).is_some();
        is_there
            .then(|| IncludeRequest { is_certain: false, ..IncludeRequest::new(candidates, Part::Whole, Form::Page) })
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
            return Some((Some(IncludeRequest::new(candidates, part, Form::Page)), at + length));
        }
        if self.layout.generator() == Generator::Fumadocs
            && let Some((path, part, length)) = directives::element_include(rest)
        {
            let bases = [folder(file), self.layout.home()];
            let candidates = bases.into_iter().filter_map(|base| self.joined(base, path)).collect();
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
                self.in_folders(&["snippets", "_snippets", ""], path).collect()
            }
        };
        let request = IncludeRequest::new(candidates, Part::Whole, Form::Page);
        Some((Some(IncludeRequest { values: values_of(&tag, text), ..request }), tag.span.end))
    }

    /// The files that a VitePress path may refer to: `@/` and `/` are the folder of the pages.
    fn page_relative(&self, file: &str, path: &str) -> Vec<String> {
        let source = self.layout.snippets.first().map_or("", String::as_str);
        let from_source =
            path.strip_prefix("@/").or_else(|| path.strip_prefix("@").filter(|rest| rest.starts_with('/')));
        match from_source.or_else(|| path.strip_prefix('/')) {
            Some(path) => {
                [self.joined(source, path), self.joined(self.layout.home(), path)].into_iter().flatten().collect()
            }
            None => self.joined(folder(file), path).into_iter().collect(),
        }
    }

    /// The files at a path in folders beside the configuration.
    fn in_folders(&self, folders: &[&str], path: &str) -> impl Iterator<Item = String> {
        let home = self.layout.home();
        folders.iter().filter_map(move |folder| self.joined(&below(home, folder), path))
    }

    /// The files that an import path may refer to.
    fn imported(&self, file: &str, path: &str) -> Vec<String> {
        let home = self.layout.home();
        let joined = |base: &str, path: &str| self.joined(base, path);
        let source = format!("{home}/src");
        let found = if path.starts_with('.') {
            vec![joined(folder(file), path)]
        } else if let Some(path) = path.strip_prefix("@site/") {
            vec![joined(home, path)]
        } else if let Some(path) = path.strip_prefix("@/").or_else(|| path.strip_prefix("~/")) {
            vec![joined(&source, path), joined(home, path), joined("", path)]
        } else if let Some(path) = path.strip_prefix('/') {
            vec![joined("", path), joined(home, path)]
        } else {
            // An alias that the project's own tools resolve: the likely locations are tried.
            let rest = path.trim_start_matches(['@', '~', '#', '$']);
            vec![joined("", path), joined(&source, rest), joined(home, rest)]
        };
        found.into_iter().flatten().collect()
    }
}

/// The literal attribute values of a tag, by name.
fn values_of(tag: &Tag, text: &str) -> Vec<(String, String)> {
    let attributes = tag.attributes.iter().take(32);
    attributes
        .filter_map(|attribute| Some((attribute.name.clone(), text.get(attribute.value.clone()?)?.to_owned())))
        .collect()
}
