//! Parses AsciiDoc as Asciidoctor does.
//!
//! A page is parsed line by line. Only prose, code and links have to be told apart: lists, quotations and notes are
//! prose like any other. Conditional directives are evaluated first (see `conditions`).
//!
//! | written | link |
//! |---|---|
//! | `xref:page.adoc#id[words]`, `<<id,words>>` | the target verbatim, `#id` for an anchor on the page |
//! | `image:file[]`, `image::file[]` | an image |
//! | `include::file[]` | the attribute `file` of an element `include` |
//! | `link:path[words]` | the attribute `href` of an element `a`: a URL, which is left to the browser |
//! | `https://…`, `https://…[words]` | the URL |
//!
//! Attributes that the page, a site or a forge sets are expanded in targets and text. Others stay verbatim, in braces.

mod attributes;
mod conditions;
mod enclosed;
mod headings;
mod inline;
mod lines;
mod tables;

use std::collections::HashMap;
use std::ops::Range;

pub use attributes::AdocAttributes;
pub(crate) use attributes::slug;
use attributes::{Attributes, PageIds, entry, front_matter_of, unwrapped};
use inline::Inline;
use lines::{BlockAttributes, Delimiter, Marker};
use tables::Table;

use crate::anchors::AnchorStyle;
use crate::front_matter::FrontMatter;
use crate::page::{Format, Link, Page};
use crate::page_builder::{Line, PageBuilder};
use crate::problem::Problem;
use crate::text::text_of;

/// Parses one AsciiDoc page with attributes that its site sets. Never fails and never panics.
pub fn parse(path: &str, bytes: &[u8], anchors: AnchorStyle, given: &AdocAttributes) -> Page {
    let text = text_of(bytes);
    let mut parser = PageParser::of(&text, anchors, given);
    parser.blocks();
    parser.resolve();
    let mut problems = Vec::from_iter(Problem::of_encoding(bytes));
    if parser.attributes.is_exhausted() {
        let message = "the attributes of this page insert too much text; further references to them are read as text";
        problems.push(Problem { line: 1, message: message.to_owned() });
    }
    parser.page.finish(path, Format::Adoc, problems)
}

/// The attributes in the header of a page, as front matter: `description`, `keywords`, `nav_title` and `page-aliases`.
pub fn adoc_header(text: &str) -> FrontMatter {
    let given = AdocAttributes::default();
    // A header ends at the first blank line after the title, so the first 16 KiB of the text are enough.
    let mut parser = PageParser::of(&text[..text.floor_char_boundary(16_384)], AnchorStyle::Asciidoctor, &given);
    parser.header();
    front_matter_of(&parser.attributes)
}

/// The paragraph being read, which grows line by line.
#[derive(Debug)]
struct OpenParagraph {
    range: Range<usize>,
    /// Its list marker or label in Markdown.
    mark: &'static str,
    is_item: bool,
}

struct PageParser<'t> {
    text: &'t str,
    lines: Vec<Line<'t>>,
    page: PageBuilder<'t>,
    attributes: Attributes<'t>,
    /// The default prefix and separator of heading ids, unless attributes set others.
    defaults: (&'static str, &'static str),
    ids: PageIds,
    /// The attributes of the next block.
    pending: BlockAttributes,
    /// The delimiters of the open blocks.
    open: Vec<&'t str>,
    tables: Vec<Table>,
    paragraph: Option<OpenParagraph>,
    links: Vec<Link>,
    /// The ids of headings by their text, and of anchors by their reference text.
    titles: HashMap<String, String>,
}

impl<'t> PageParser<'t> {
    fn of(text: &'t str, anchors: AnchorStyle, given: &'t AdocAttributes) -> Self {
        Self {
            text,
            lines: conditions::active_lines(text, given),
            page: PageBuilder::of(text),
            attributes: Attributes::of(given, text.len()),
            defaults: if anchors == AnchorStyle::Asciidoctor { ("_", "_") } else { ("", "-") },
            ids: PageIds::default(),
            pending: BlockAttributes::default(),
            open: Vec::new(),
            tables: Vec::new(),
            paragraph: None,
            links: Vec::new(),
            titles: HashMap::new(),
        }
    }

    fn blocks(&mut self) {
        let mut at = self.header();
        self.page.front_matter(front_matter_of(&self.attributes));
        while at < self.lines.len() {
            at = self.line(at);
        }
        self.flush();
    }

    /// Reads the title, author, revision and attributes of the page; returns the line after them.
    fn header(&mut self) -> usize {
        let mut at = 0;
        let mut has_title = false;
        while let Some(line) = self.lines.get(at).copied() {
            let words = line.text;
            if lines::delimiter(words) == Some(Delimiter::Comment) {
                at = self.enclosed(at).1;
            } else if words.starts_with("//") && !words.starts_with("///") {
                at += 1;
            } else if let Some(next) = self.entry(at) {
                at = next;
            } else if has_title {
                if line.is_blank() || self.lines.get(at - 1).is_none_or(Line::is_blank) {
                    return at;
                }
                // The author or the revision.
                at += 1;
            } else if line.is_blank() {
                at += 1;
            } else if let Some(next) = self.block_attributes(at) {
                at = next;
            } else if let Some((1, words)) = lines::heading(words) {
                self.title(line, words..line.text.len(), line.start..line.end());
                has_title = true;
                at += 1;
            } else if let Some(under) =
                self.lines.get(at + 1).filter(|under| lines::underlined(words, under.text) == Some(1))
            {
                let span = line.start..under.end();
                self.title(line, 0..line.text.len(), span);
                has_title = true;
                at += 2;
            } else {
                return at;
            }
        }
        at
    }

    /// Reads one line, or the block that it begins; returns the line after it.
    fn line(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if line.is_blank() {
            self.flush();
            return at + 1;
        }
        let words = line.text;
        let kind = lines::delimiter(words);
        if words.starts_with("//") && kind != Some(Delimiter::Comment) && !words.starts_with("///") {
            return at + 1;
        }
        if self.include(line) {
            self.flush();
            return at + 1;
        }
        if let Some(next) = self.table_line(at, kind) {
            return next;
        }
        if let Some(kind) = kind {
            self.flush();
            return self.delimited(at, kind);
        }
        if let Some(next) = self.block_attributes(at) {
            return next;
        }
        if words.trim_start() == "+" {
            self.flush();
            return at + 1;
        }
        match &self.paragraph {
            Some(paragraph) if !paragraph.is_item || lines::marker(line.words()).is_none() => {
                self.extend(line);
                at + 1
            }
            Some(_) => {
                self.flush();
                self.item(line);
                at + 1
            }
            None => self.begin(at),
        }
    }

    /// Reads a line at which a block begins; returns the line after the part that was read.
    fn begin(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if line.indent == 0 {
            if let Some(next) = self.entry(at).or_else(|| self.heading(at)) {
                return next;
            }
            let title = line.text.strip_prefix('.').filter(|words| !words.is_empty());
            if title.is_some_and(|words| !words.starts_with(['.', ' ', '\t'])) {
                self.words(line.start + 1..line.end(), "");
                return at + 1;
            }
            if ["'''", "<<<", "---", "***", "- - -", "* * *"].contains(&line.text) {
                return at + 1;
            }
            if self.block_macro(line) {
                return at + 1;
            }
        }
        let styled = std::mem::take(&mut self.pending);
        if let Some(id) = styled.id.clone() {
            self.anchor(id, styled.words.clone());
        }
        if enclosed::is_shown(&styled) {
            let end = self.paragraph_end(at);
            return self.shown(&styled, at..end, line.start..self.lines[end - 1].end(), end);
        }
        if self.item(line) {
            return at + 1;
        }
        if line.indent > 0 {
            let end = self.paragraph_end(at);
            let literal = BlockAttributes { style: Some("literal".to_owned()), ..BlockAttributes::default() };
            return self.shown(&literal, at..end, line.start..self.lines[end - 1].end(), end);
        }
        let label = ["NOTE: ", "TIP: ", "IMPORTANT: ", "WARNING: ", "CAUTION: "]
            .iter()
            .find(|label| line.text.starts_with(**label));
        let start = line.start + label.map_or(0, |label| label.len());
        self.paragraph =
            Some(OpenParagraph { range: start..line.end(), mark: label.copied().unwrap_or_default(), is_item: false });
        at + 1
    }

    fn paragraph_end(&self, at: usize) -> usize {
        let of_block = self.lines[at + 1..].iter();
        let more =
            of_block.take_while(|line| !line.is_blank() && line.text != "+" && lines::delimiter(line.text).is_none());
        at + 1 + more.count()
    }

    /// Reads `:name: value`, which may continue below; returns the line after it.
    fn entry(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        let (name, value) = entry(line.text)?;
        let mut next = at + 1;
        let mut full_value = value.unwrap_or_default().to_owned();
        while full_value.ends_with(" \\") && next < self.lines.len() {
            full_value.truncate(full_value.len() - 2);
            full_value.push(' ');
            full_value.push_str(self.lines[next].text.trim());
            next += 1;
        }
        if let Some(value) = value.filter(|value| value.contains('[') || value.contains("<<")) {
            // The value may contain a link, which is then used by the name of the attribute.
            let start = line.end() - value.len();
            let read = inline::read(self.text, start..line.end(), &mut self.attributes);
            self.links.extend(read.links);
        }
        self.attributes.set(&name, value.map(|_| unwrapped(&full_value)));
        Some(next)
    }

    /// Reads a line of block attributes, `[[id]]` or `[style,…]`; returns the line after it.
    fn block_attributes(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        if line.indent > 0 || !line.text.starts_with('[') {
            return None;
        }
        let found = lines::block_attributes(line.text)?;
        self.flush();
        if found.id.is_some()
            && let Some(id) = self.pending.id.take()
        {
            self.anchor(id, None);
        }
        self.pending.add(found);
        Some(at + 1)
    }

    fn anchor(&mut self, id: String, words: Option<String>) {
        self.ids.take(&id);
        if let Some(words) = words {
            self.titles.entry(words).or_insert_with(|| id.clone());
        }
        self.page.id(id);
    }

    /// Begins a list item, if the line is one.
    fn item(&mut self, line: Line<'t>) -> bool {
        let start = line.words_start();
        let (mark, from) = match lines::marker(line.words()) {
            None => return false,
            Some(Marker::Bullet(length)) => ("- ", start + length),
            Some(Marker::Number(length)) => ("1. ", start + length),
            Some(Marker::Term { end, rest }) => {
                self.words(start..start + end, "");
                if start + rest >= line.end() {
                    // The description may follow on the next line.
                    self.paragraph = Some(OpenParagraph { range: line.end()..line.end(), mark: "", is_item: true });
                    return true;
                }
                ("", start + rest)
            }
        };
        let rest = &self.text[from..line.end()];
        let box_length =
            ["[ ] ", "[x] ", "[*] "].iter().find(|sign| rest.starts_with(**sign)).map_or(0, |sign| sign.len());
        self.paragraph = Some(OpenParagraph { range: from + box_length..line.end(), mark, is_item: true });
        true
    }

    /// Adds a line to the current paragraph.
    fn extend(&mut self, line: Line<'t>) {
        let Some(paragraph) = &mut self.paragraph else { return };
        let is_next = self.text[paragraph.range.end..line.start].bytes().filter(|byte| *byte == b'\n').count() <= 1;
        if is_next {
            paragraph.range.end = line.end();
            return;
        }
        let (mark, is_item) = ("", paragraph.is_item);
        self.flush();
        self.paragraph = Some(OpenParagraph { range: line.words_start()..line.end(), mark, is_item });
    }

    fn flush(&mut self) {
        if let Some(paragraph) = self.paragraph.take() {
            self.words(paragraph.range, paragraph.mark);
        }
    }

    fn words(&mut self, range: Range<usize>, mark: &str) {
        let read = inline::read(self.text, range, &mut self.attributes);
        self.page.marked_paragraph(mark, &tidied(&read.text), &tidied(&read.markdown));
        self.take(read);
    }

    fn take(&mut self, read: Inline) {
        read.prose.into_iter().for_each(|range| self.page.prose(range));
        read.code.into_iter().for_each(|range| self.page.code(range));
        for id in read.ids {
            self.anchor(id, None);
        }
        self.links.extend(read.links);
    }

    /// Resolves cross-references that name a heading by its text instead of its id, and records all links.
    fn resolve(&mut self) {
        if let Some(id) = self.pending.id.take() {
            self.anchor(id, None);
        }
        for mut link in std::mem::take(&mut self.links) {
            if let Some(name) = link.target.strip_prefix('#').filter(|name| !self.ids.has(name))
                && name.contains(|c: char| c == ' ' || c.is_uppercase())
                && let Some(id) = self.titles.get(name)
            {
                link.target = format!("#{id}");
            }
            self.page.link(link);
        }
    }
}

/// A text without characters that only affect layout (zero-width space, word joiner).
fn tidied(words: &str) -> String {
    if words.is_ascii() { words.to_owned() } else { words.replace(['\u{200b}', '\u{2060}'], "") }
}

#[cfg(test)]
mod tests;
