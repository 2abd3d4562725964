//! Reads directives: those that show code, those that link elsewhere, and those that contain prose.

use std::ops::Range;

use super::{PageParser, Place};
use crate::page::{Link, LinkKind};
use crate::page_builder::Line;
use crate::words::has_word;

/// Directives whose content is displayed verbatim, or rendered by a program.
const CODE: &str = "code code-block sourcecode highlight-block parsed-literal math raw doctest testcode testoutput \
    testsetup testcleanup productionlist graphviz graph digraph mermaid uml plantuml plot prompt console ipython \
    jinja";

/// Directives that display nothing of their content.
const SILENT: &str = "contents index meta highlight default-role role sectnum module currentmodule default-domain \
    tabularcolumns unicode date sectionauthor codeauthor autosummary";

/// Directives whose argument is prose.
const TITLED: &str = "admonition attention caution centered danger deprecated dropdown error figure hint important \
    list-table note replace rubric seealso sidebar table tab tip todo topic versionadded versionchanged \
    versionremoved warning";

/// Directives about versions, with what stands before the version.
const VERSIONS: [(&str, &str); 4] = [
    ("deprecated", "Deprecated since version"),
    ("versionadded", "Added in version"),
    ("versionchanged", "Changed in version"),
    ("versionremoved", "Removed in version"),
];

impl PageParser<'_> {
    /// Reads a directive; `None` if there is none. With `is_substitution`, it defines a substitution and is not
    /// displayed where it is written.
    pub(super) fn directive(&mut self, place: Place, is_substitution: bool) -> Option<usize> {
        let line = self.lines[place.line];
        let words = &self.text[place.start..line.end()];
        let (name, argument) = words.split_once("::")?;
        let name = name.trim_end();
        let is_name = name.starts_with(|c: char| c.is_alphanumeric())
            && name.chars().all(|c| c.is_alphanumeric() || "-._+:".contains(c));
        if !is_name || !(argument.is_empty() || argument.starts_with([' ', '\t'])) {
            return None;
        }
        let argument = argument.trim();
        let argument = line.end() - argument.len()..line.end();
        let name = name.to_ascii_lowercase();
        let last = name.rsplit(':').next().unwrap_or(&name).to_owned();
        let content = self.options_end(place);
        self.options(&last, place.line + 1..content);
        let end = |parser: &Self| parser.block_end(place.line + 1, place.column);
        Some(match last.as_str() {
            "toctree" => {
                let end = end(self);
                self.toctree(content..end);
                end
            }
            "image" => {
                self.file_link(argument, &last, place.line + 1..content);
                if is_substitution { end(self) } else { content }
            }
            "figure" => {
                self.file_link(argument, &last, place.line + 1..content);
                content
            }
            "include" | "literalinclude" => {
                self.file_link(argument, &last, place.line + 1..content);
                end(self)
            }
            _ if has_word(CODE, &last) => {
                let end = end(self);
                let language = self.text[argument].split_whitespace().next().map(str::to_owned);
                // Without options and a blank line, the argument of other directives may be the first line of their
                // content.
                let language = language.filter(|_| ["code", "code-block", "sourcecode"].contains(&last.as_str()));
                if !matches!(last.as_str(), "raw" | "testsetup" | "testcleanup") {
                    self.code_lines(language, content.min(end), end);
                } else if let Some(first) = self.lines[content.min(end)..end].first().copied() {
                    self.page.code(first.start..self.lines[end - 1].end());
                }
                end
            }
            _ if has_word(SILENT, &last) => end(self),
            _ if is_substitution && last != "replace" => end(self),
            _ if has_word(TITLED, &last) => {
                let (words, markdown) = self.marked_words(argument);
                let markdown =
                    VERSIONS.iter().find(|(name, _)| *name == last).map_or(markdown.clone(), |(_, since)| {
                        let (version, about) = markdown.split_once(' ').unwrap_or((&markdown, ""));
                        let colon = if about.is_empty() { "" } else { ": " };
                        format!("{since} {version}{colon}{about}")
                    });
                self.page.marked_paragraph("", &words, &markdown);
                content
            }
            // The argument may be a signature or the name of a command, which may not be edited as prose.
            _ => {
                let words = self.text[argument.clone()].to_owned();
                self.page.paragraph("", &words);
                self.page.code(argument);
                content
            }
        })
    }

    /// The line after the options of a directive.
    fn options_end(&self, place: Place) -> usize {
        let mut at = place.line + 1;
        while let Some(line) = self.lines.get(at)
            && !line.is_blank()
            && line.indent > place.column
            && (line.words().starts_with(':') && super::field_end(line.words()).is_some()
                || (at > place.line + 1 && line.indent > self.lines[place.line + 1].indent))
        {
            at += 1;
        }
        at
    }

    /// Records the options that are links: the target of an image, and the file of a CSV table or of raw content.
    fn options(&mut self, directive: &str, lines: Range<usize>) {
        for at in lines {
            let line = self.lines[at];
            let Some((name, value)) = line.words().strip_prefix(':').and_then(|rest| rest.split_once(": ")) else {
                continue;
            };
            let value = value.trim();
            let is_link = matches!((directive, name), ("image" | "figure", "target") | ("csv-table" | "raw", "file"));
            if is_link && !value.is_empty() && !value.ends_with('_') {
                let dest = line.end() - value.len()..line.end();
                self.attribute(directive, name, dest);
            }
        }
    }

    fn attribute(&mut self, element: &str, attribute: &str, dest: Range<usize>) {
        let kind = LinkKind::Attribute { element: element.to_owned(), attribute: attribute.to_owned() };
        self.page.link(Link::of(self.text[dest.clone()].to_owned(), dest, kind));
    }

    /// Records the link to a file whose content a directive displays.
    fn file_link(&mut self, dest: Range<usize>, directive: &str, options: Range<usize>) {
        if dest.is_empty() || self.text[dest.clone()].starts_with('<') {
            return;
        }
        if !matches!(directive, "image" | "figure") {
            self.attribute(directive, "file", dest);
            return;
        }
        let alt = |line: &Line<'_>| line.words().strip_prefix(":alt:").map(|alt| alt.trim().to_owned());
        let text = self.lines[options].iter().find_map(alt).unwrap_or_default();
        let target = self.text[dest.clone()].to_owned();
        self.page.link(Link { target, span: dest.clone(), dest_span: dest, text, kind: LinkKind::Image });
    }

    /// The entries of a table of contents.
    fn toctree(&mut self, lines: Range<usize>) {
        for at in lines {
            let line = self.lines[at];
            let words = line.words();
            let (text, path) = match words.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')) {
                Some((text, path)) => (text.trim(), path.trim()),
                None => ("", words),
            };
            if path.is_empty() || path == "self" || path.contains(['*', '?', '[']) {
                continue;
            }
            let start = line.end() - words.len() + words.rfind(path).unwrap_or(0);
            self.page.link(Link {
                target: path.to_owned(),
                dest_span: start..start + path.len(),
                span: line.words_start()..line.end(),
                text: text.to_owned(),
                kind: LinkKind::Attribute { element: "toctree".to_owned(), attribute: "entry".to_owned() },
            });
        }
    }
}
