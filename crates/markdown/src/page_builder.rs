//! Builds a page in document order, for the formats that are parsed line by line (reStructuredText, AsciiDoc).

use std::ops::Range;
use std::sync::Arc;

use crate::front_matter::FrontMatter;
use crate::heading_path::{HeadingPath, MOST_HEADINGS, excess_heading};
use crate::page::{CodeBlock, Format, Heading, Link, Page, Section};
use crate::parse_lines::{Lines, columns, lines_after};
use crate::problem::Problem;

/// The page as parsed so far.
pub(crate) struct PageBuilder<'t> {
    text: &'t str,
    front_matter: FrontMatter,
    headings: Vec<Heading>,
    links: Vec<Link>,
    ids: Vec<String>,
    sections: Vec<Section>,
    prose: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    /// The enclosing headings, outermost first.
    path: HeadingPath,
    section: Section,
    /// The byte offset of the first heading beyond [`MOST_HEADINGS`].
    first_excess_heading: Option<usize>,
}

impl<'t> PageBuilder<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self {
            text,
            front_matter: FrontMatter::default(),
            headings: Vec::new(),
            links: Vec::new(),
            ids: Vec::new(),
            sections: Vec::new(),
            prose: Vec::new(),
            code: Vec::new(),
            path: HeadingPath::default(),
            section: section(Vec::new(), None, 0, 0),
            first_excess_heading: None,
        }
    }

    /// Sets the metadata of a page, in formats that have a place for it.
    pub(crate) fn front_matter(&mut self, front_matter: FrontMatter) {
        self.front_matter = front_matter;
    }

    pub(crate) fn heading(&mut self, level: u8, words: String, anchor: String, span: Range<usize>) {
        if self.headings.len() >= MOST_HEADINGS {
            self.first_excess_heading.get_or_insert(span.start);
            return self.paragraph("", &words);
        }
        self.close(span.start);
        self.path.enter(level, &words);
        self.section = section(self.path.texts(), Some(anchor.clone()), level, span.start);
        self.headings.push(Heading { level, text: words, anchor, span });
    }

    /// Adds a paragraph of displayed text; `mark` is its list marker in Markdown.
    pub(crate) fn paragraph(&mut self, mark: &str, words: &str) {
        self.marked_paragraph(mark, words, words);
    }

    /// Adds a paragraph of displayed text, and the same as Markdown.
    pub(crate) fn marked_paragraph(&mut self, mark: &str, words: &str, markdown: &str) {
        if words.is_empty() {
            return;
        }
        let parts = [(&mut self.section.text, "", words), (&mut self.section.markdown, mark, markdown)];
        for (out, mark, words) in parts {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(mark);
            out.push_str(words);
        }
    }

    pub(crate) fn code_block(&mut self, language: Option<String>, text: String, range: Range<usize>) {
        let fence = if text.contains("```") { "~~~~" } else { "```" };
        let markdown = &mut self.section.markdown;
        if !markdown.is_empty() {
            markdown.push_str("\n\n");
        }
        markdown.push_str(&format!("{fence}{}\n{text}\n{fence}", language.as_deref().unwrap_or_default()));
        self.section.code.push(CodeBlock { language, file: None, text });
        self.code.push(range);
    }

    pub(crate) fn code(&mut self, range: Range<usize>) {
        self.code.push(range);
    }

    pub(crate) fn prose(&mut self, range: Range<usize>) {
        self.prose.push(range);
    }

    pub(crate) fn link(&mut self, link: Link) {
        self.links.push(link);
    }

    pub(crate) fn id(&mut self, id: String) {
        self.ids.push(id);
    }

    fn close(&mut self, end: usize) {
        let next = section(Vec::new(), None, 0, end);
        let mut section = std::mem::replace(&mut self.section, next);
        section.markdown_span.end = end;
        if section.level > 0 || !section.markdown.is_empty() {
            self.sections.push(section);
        }
    }

    pub(crate) fn finish(mut self, path: &str, format: Format, mut problems: Vec<Problem>) -> Page {
        self.close(self.text.len());
        problems.extend(self.first_excess_heading.map(|at| excess_heading(&Lines::of(self.text), at)));
        self.links.sort_by_key(|link| (link.span.start, link.dest_span.start));
        for ranges in [&mut self.prose, &mut self.code] {
            ranges.retain(|range| !range.is_empty());
            ranges.sort_by_key(|range| range.start);
        }
        let title = self.headings.first().map(|heading| heading.text.clone()).filter(|title| !title.is_empty());
        Page {
            path: path.to_owned(),
            format,
            front_matter: self.front_matter,
            title,
            headings: self.headings,
            links: self.links,
            ids: self.ids,
            sections: self.sections,
            prose: self.prose,
            code: self.code,
            problems,
        }
    }
}

fn section(headings: Vec<Arc<str>>, anchor: Option<String>, level: u8, start: usize) -> Section {
    Section {
        headings,
        anchor,
        level,
        text: String::new(),
        code: Vec::new(),
        markdown: String::new(),
        markdown_span: start..start,
    }
}

/// One line of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'t> {
    /// The byte offset at which the line begins.
    pub(crate) start: usize,
    /// The line without its line break and trailing whitespace.
    pub(crate) text: &'t str,
    /// The indentation in columns; a tab advances to the next multiple of eight.
    pub(crate) indent: usize,
}

impl<'t> Line<'t> {
    pub(crate) fn all(text: &'t str) -> Vec<Self> {
        let first = text.len() - text.trim_start_matches('\u{feff}').len();
        let line = |(start, line): (usize, &'t str)| {
            let text = line.trim_end();
            Self { start, text, indent: columns(text, 8) }
        };
        lines_after(text, first).map(line).collect()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    /// The line without its indentation.
    pub(crate) fn words(&self) -> &'t str {
        self.text.trim_start_matches([' ', '\t'])
    }

    /// The byte offset of the first character after the indentation.
    pub(crate) fn words_start(&self) -> usize {
        self.start + self.text.len() - self.words().len()
    }

    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The lines without their common indentation, and without blank lines at both ends.
pub(crate) fn dedented(lines: &[Line<'_>]) -> String {
    let indent = lines.iter().filter(|line| !line.is_blank()).map(|line| line.indent).min().unwrap_or(0);
    let mut out = String::new();
    for line in lines {
        if !line.is_blank() {
            out.extend(std::iter::repeat_n(' ', line.indent - indent));
            out.push_str(line.words());
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    let blank = out.len() - out.trim_start_matches('\n').len();
    out.split_off(blank)
}
