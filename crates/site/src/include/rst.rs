//! Expands the includes of pages in reStructuredText.

use docent_markdown::{folder, line_end};

use super::{Expanded, Form, IncludeRequest, Work, deeper, directives};
use crate::layout::Layout;
use crate::tree::Tree;

/// Expands the includes of a page in reStructuredText; `None` if it has none.
pub(crate) fn expand(layout: &Layout, file: &str, text: &str, tree: &dyn Tree) -> Option<Expanded> {
    text.contains("include::").then_some(())?;
    let mut work = Work::new(layout, file, tree);
    work.put_rst(text, None, "");
    Some(work.out)
}

impl Work<'_> {
    /// Appends a text in reStructuredText. `origin` is the line of the page whose include it replaces.
    pub(super) fn put_rst(&mut self, text: &str, origin: Option<usize>, indent: &str) {
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
    pub(super) fn sphinx_relative(&self, file: &str, path: &str) -> Vec<String> {
        match path.strip_prefix('/') {
            Some(path) => self.joined(self.layout.home(), path).into_iter().collect(),
            None => self.joined(folder(file), path).into_iter().collect(),
        }
    }
}
