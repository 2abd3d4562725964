//! AsciiDoc, as Asciidoctor reads it.
//!
//! A page is read line by line. What has to be told apart is what a reader reads, what is code, and what leads elsewhere;
//! lists, quotations and notes are words like any other. What a preprocessor decides comes first (see `conditions`).
//!
//! | written | link |
//! |---|---|
//! | `xref:page.adoc#id[words]`, `<<id,words>>` | the target as it stands there, `#id` for a place on the page |
//! | `image:file[]`, `image::file[]` | a picture |
//! | `include::file[]` | the attribute `file` of an element `include` |
//! | `link:path[words]` | the attribute `href` of an element `a`: an address, which is left to the browser |
//! | `https://…`, `https://…[words]` | the address |
//!
//! Attributes that the page, a site or a forge sets are put into targets and words. Others stay as they are written, in
//! braces.

mod attributes;
mod conditions;
mod inline;
mod lines;
mod tables;

use std::collections::HashMap;
use std::ops::Range;

pub use attributes::AdocAttributes;
pub(crate) use attributes::slug;
use attributes::{Attributes, Ids, described, entry, unwrapped};
use inline::Inline;
use lines::{Delimiter, Described, Marker};
use tables::Table;

use crate::anchors::AnchorStyle;
use crate::front_matter::FrontMatter;
use crate::page::{Format, Link, LinkKind, Page};
use crate::page_builder::{Line, PageBuilder, problems_of};
use crate::parse::text_of;

/// How deep blocks may stand in each other.
const DEEPEST: usize = 50;

/// Styles whose blocks show what they hold as it is written.
const VERBATIM: [&str; 4] = ["source", "listing", "literal", "prompt"];

/// Styles whose blocks hold what no one reads as it is written.
const RAW: [&str; 14] = [
    "pass",
    "stem",
    "latexmath",
    "asciimath",
    "comment",
    "plantuml",
    "ditaa",
    "graphviz",
    "mermaid",
    "kroki",
    "vega",
    "vegalite",
    "svgbob",
    "blockdiag",
];

/// Reads one page. Never fails and never panics.
pub(crate) fn parse(path: &str, bytes: &[u8], anchors: AnchorStyle, given: &AdocAttributes) -> Page {
    let text = text_of(bytes);
    let mut reading = Reading::of(&text, anchors, given);
    reading.blocks();
    reading.resolve();
    reading.page.finish(path, Format::Adoc, problems_of(bytes))
}

/// What the header of a page says of it, as front matter would: `description`, `keywords`, `nav_title` and `page-aliases`.
pub fn adoc_header(text: &str) -> FrontMatter {
    let given = AdocAttributes::default();
    // A header ends with the first blank line behind the title.
    let mut reading = Reading::of(&text[..text.floor_char_boundary(16_384)], AnchorStyle::Asciidoctor, &given);
    reading.header();
    described(&reading.attributes)
}

/// Words that are being read: they go on while line follows line.
#[derive(Debug)]
struct Run {
    range: Range<usize>,
    /// Which mark they have in Markdown.
    mark: &'static str,
    is_item: bool,
}

struct Reading<'t> {
    text: &'t str,
    lines: Vec<Line<'t>>,
    page: PageBuilder<'t>,
    attributes: Attributes<'t>,
    /// What ids of headings begin with, and what stands between their words, unless an attribute says otherwise.
    defaults: (&'static str, &'static str),
    ids: Ids,
    /// What was said of the block that is to come.
    pending: Described,
    /// Delimiters of the blocks around.
    open: Vec<&'t str>,
    tables: Vec<Table>,
    run: Option<Run>,
    links: Vec<Link>,
    /// The ids of headings by their words, and those that have words of their own.
    titles: HashMap<String, String>,
}

impl<'t> Reading<'t> {
    fn of(text: &'t str, anchors: AnchorStyle, given: &'t AdocAttributes) -> Self {
        Self {
            text,
            lines: conditions::taken(text, given),
            page: PageBuilder::of(text),
            attributes: Attributes::of(given),
            defaults: if anchors == AnchorStyle::Asciidoctor { ("_", "_") } else { ("", "-") },
            ids: Ids::default(),
            pending: Described::default(),
            open: Vec::new(),
            tables: Vec::new(),
            run: None,
            links: Vec::new(),
            titles: HashMap::new(),
        }
    }

    fn blocks(&mut self) {
        let mut at = self.header();
        self.page.front_matter(described(&self.attributes));
        while at < self.lines.len() {
            at = self.line(at);
        }
        self.flush();
    }

    /// The title, the author, the revision and the attributes of the page: the line behind them.
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
                // An author, a revision.
                at += 1;
            } else if line.is_blank() {
                at += 1;
            } else if let Some(next) = self.described(at) {
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

    /// The title of the page, which has an id only where a forge gives it one.
    fn title(&mut self, line: Line<'t>, words: Range<usize>, span: Range<usize>) {
        let pending = std::mem::take(&mut self.pending);
        let read = inline::read(self.text, line.start + words.start..line.start + words.end, &mut self.attributes);
        let own = if self.defaults.0 == "_" { String::new() } else { crate::anchors::slug(&read.text) };
        if let Some(id) = &pending.id {
            self.ids.take(id);
            self.page.id(id.clone());
        }
        self.attributes.set("doctitle", Some(&read.text));
        self.page.heading(1, tidied(&read.text), own, span);
        self.take(read);
    }

    /// One line, or the block that it begins: the line behind it.
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
        if let Some(next) = self.described(at) {
            return next;
        }
        if words.trim_start() == "+" {
            self.flush();
            return at + 1;
        }
        match &self.run {
            Some(run) if !run.is_item || lines::marker(line.words()).is_none() => {
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

    /// A line where a block begins.
    fn begin(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        if line.indent == 0 {
            if let Some(next) = self.entry(at).or_else(|| self.heading(at)) {
                return next;
            }
            if let Some(words) =
                line.text.strip_prefix('.').filter(|words| !words.starts_with(['.', ' ', '\t']) && !words.is_empty())
            {
                self.words(line.start + 1..line.end(), "");
                let _ = words;
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
        if styled.is_style(&VERBATIM) || styled.is_style(&RAW) {
            let end = self.paragraph_end(at);
            return self.shown(&styled, at..end, line.start..self.lines[end - 1].end(), end);
        }
        if self.item(line) {
            return at + 1;
        }
        if line.indent > 0 {
            let end = self.paragraph_end(at);
            let literal = Described { style: Some("literal".to_owned()), ..Described::default() };
            return self.shown(&literal, at..end, line.start..self.lines[end - 1].end(), end);
        }
        let label = ["NOTE: ", "TIP: ", "IMPORTANT: ", "WARNING: ", "CAUTION: "]
            .iter()
            .find(|label| line.text.starts_with(**label));
        let start = line.start + label.map_or(0, |label| label.len());
        self.run = Some(Run { range: start..line.end(), mark: label.copied().unwrap_or_default(), is_item: false });
        at + 1
    }

    fn paragraph_end(&self, at: usize) -> usize {
        let of_block = self.lines[at + 1..].iter();
        let more =
            of_block.take_while(|line| !line.is_blank() && line.text != "+" && lines::delimiter(line.text).is_none());
        at + 1 + more.count()
    }

    /// `:name: value`, which may go on below: the line behind it.
    fn entry(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        let (name, value) = entry(line.text)?;
        let mut next = at + 1;
        let mut whole = value.unwrap_or_default().to_owned();
        while whole.ends_with(" \\") && next < self.lines.len() {
            whole.truncate(whole.len() - 2);
            whole.push(' ');
            whole.push_str(self.lines[next].text.trim());
            next += 1;
        }
        if let Some(value) = value.filter(|value| value.contains('[') || value.contains("<<")) {
            // A link that is written out once and used by its name.
            let start = line.end() - value.len();
            let read = inline::read(self.text, start..line.end(), &mut self.attributes);
            self.links.extend(read.links);
        }
        self.attributes.set(&name, value.map(|_| unwrapped(&whole)));
        Some(next)
    }

    /// `[[id]]`, `[style,…]`: the line behind it.
    fn described(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        if line.indent > 0 || !line.text.starts_with('[') {
            return None;
        }
        let found = lines::described(line.text)?;
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

    fn heading(&mut self, at: usize) -> Option<usize> {
        let line = self.lines[at];
        let (level, words, span, next) = match lines::heading(line.text) {
            Some((level, start)) => {
                let sign = &line.text[..1];
                let words = line.text[start..].trim_end();
                let closed = words.trim_end_matches(sign);
                let is_closed = words.len() - closed.len() == usize::from(level) && closed.ends_with(' ');
                let words = if is_closed { closed.trim_end() } else { words };
                (level, line.start + start..line.start + start + words.len(), line.start..line.end(), at + 1)
            }
            None => {
                let under = self.lines.get(at + 1)?;
                let level = lines::underlined(line.text, under.text)?;
                (level, line.start..line.end(), line.start..under.end(), at + 2)
            }
        };
        let is_discrete = self.pending.is_style(&["discrete", "float"]);
        if !self.open.is_empty() && !is_discrete {
            return None;
        }
        let pending = std::mem::take(&mut self.pending);
        let offset: i32 =
            self.attributes.get("leveloffset").and_then(|by| by.trim_start_matches('+').parse().ok()).unwrap_or(0);
        let level = (i32::from(level).saturating_add(offset)).clamp(1, 6) as u8;
        let (words, own) = trailing_anchor(self.text, words);
        let read = inline::read(self.text, words, &mut self.attributes);
        let words = tidied(&read.text);
        let id = pending.id.or(own);
        let anchor = match id {
            Some(id) => {
                self.ids.take(&id);
                id
            }
            None => self.made_id(&read.text),
        };
        if let Some(words) = pending.words {
            self.titles.entry(words).or_insert_with(|| anchor.clone());
        }
        self.titles.entry(words.clone()).or_insert_with(|| anchor.clone());
        self.page.heading(level, words, anchor, span);
        self.take(read);
        Some(next)
    }

    /// The id that is made of the words of a heading; none where that is switched off, or where the words name an attribute
    /// that is not known.
    fn made_id(&mut self, words: &str) -> String {
        if self.attributes.known("sectids") == Some(None) || names_attribute(words) {
            return String::new();
        }
        let prefix = self.attributes.known("idprefix").flatten().unwrap_or(self.defaults.0).to_owned();
        let separator = self.attributes.known("idseparator").flatten().unwrap_or(self.defaults.1);
        let separator = separator.chars().next().map(String::from).unwrap_or_default();
        self.ids.of_heading(&replacements(words), &prefix, &separator)
    }

    /// An item of a list begins.
    fn item(&mut self, line: Line<'t>) -> bool {
        let start = line.words_start();
        let (mark, from) = match lines::marker(line.words()) {
            None => return false,
            Some(Marker::Bullet(length)) => ("- ", start + length),
            Some(Marker::Number(length)) => ("1. ", start + length),
            Some(Marker::Term { end, rest }) => {
                self.words(start..start + end, "");
                if start + rest >= line.end() {
                    // Words may follow on the next line.
                    self.run = Some(Run { range: line.end()..line.end(), mark: "", is_item: true });
                    return true;
                }
                ("", start + rest)
            }
        };
        let rest = &self.text[from..line.end()];
        let box_length =
            ["[ ] ", "[x] ", "[*] "].iter().find(|sign| rest.starts_with(**sign)).map_or(0, |sign| sign.len());
        self.run = Some(Run { range: from + box_length..line.end(), mark, is_item: true });
        true
    }

    /// A line goes on with the words before it.
    fn extend(&mut self, line: Line<'t>) {
        let Some(run) = &mut self.run else { return };
        let is_next = self.text[run.range.end..line.start].bytes().filter(|byte| *byte == b'\n').count() <= 1;
        if is_next {
            run.range.end = line.end();
            return;
        }
        let (mark, is_item) = ("", run.is_item);
        self.flush();
        self.run = Some(Run { range: line.words_start()..line.end(), mark, is_item });
    }

    fn flush(&mut self) {
        if let Some(run) = self.run.take() {
            self.words(run.range, run.mark);
        }
    }

    fn words(&mut self, range: Range<usize>, mark: &str) {
        let read = inline::read(self.text, range, &mut self.attributes);
        self.page.paragraph(mark, &tidied(&read.text));
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

    /// A block between two lines that are the same.
    fn delimited(&mut self, at: usize, kind: Delimiter) -> usize {
        let line = self.lines[at];
        if let Some(depth) = self.open.iter().rposition(|open| *open == line.text) {
            self.open.truncate(depth);
            self.tables.retain(|table| table.depth <= depth);
            self.pending = Described::default();
            return at + 1;
        }
        let styled = std::mem::take(&mut self.pending);
        if let Some(id) = styled.id.clone() {
            self.anchor(id, styled.words.clone());
        }
        let is_shown = styled.is_style(&VERBATIM) || styled.is_style(&RAW);
        match kind {
            Delimiter::Open if is_shown => {}
            Delimiter::Open | Delimiter::Blocks if self.open.len() < DEEPEST => {
                self.open.push(line.text);
                return at + 1;
            }
            Delimiter::Open | Delimiter::Blocks => return at + 1,
            Delimiter::Table(separator) => {
                self.open.push(line.text);
                self.tables.push(Table::of(&styled, separator, self.open.len()));
                return at + 1;
            }
            Delimiter::Comment | Delimiter::Verbatim | Delimiter::Passthrough => {}
        }
        let (end, next) = self.enclosed(at);
        let span = line.start..self.lines[next - 1].end();
        let styled = match kind {
            Delimiter::Comment => return next,
            Delimiter::Passthrough => Described { style: Some("pass".to_owned()), ..Described::default() },
            _ if line.text.starts_with("```") => {
                let language =
                    line.text[3..].split([',', ' ']).next().filter(|name| !name.is_empty()).map(str::to_owned);
                Described { style: Some("source".to_owned()), second: language, ..styled }
            }
            _ => styled,
        };
        self.shown(&styled, at + 1..end, span, next)
    }

    /// The line that ends what one line encloses, and the line behind it.
    fn enclosed(&self, at: usize) -> (usize, usize) {
        let delimiter = self.lines[at].text;
        let closes = if delimiter.starts_with("```") { "```" } else { delimiter };
        for (ix, line) in self.lines.iter().enumerate().skip(at + 1) {
            if line.text == closes {
                return (ix, ix + 1);
            }
            if !self.open.is_empty() && self.open.contains(&line.text) {
                return (ix, ix);
            }
        }
        (self.lines.len(), self.lines.len())
    }

    /// Lines that are shown as they are written: the line behind the block.
    fn shown(&mut self, styled: &Described, lines: Range<usize>, span: Range<usize>, next: usize) -> usize {
        let lines = lines.start.min(lines.end)..lines.end;
        for at in lines.clone() {
            self.include(self.lines[at]);
        }
        if styled.is_style(&RAW) {
            self.page.code(span);
            return next;
        }
        let subs = styled.named("subs").unwrap_or_default();
        if subs.contains("macros") || subs.contains("normal") {
            for at in lines.clone() {
                let line = self.lines[at];
                let read = inline::read(self.text, line.start..line.end(), &mut self.attributes);
                self.links.extend(read.links);
            }
        }
        let language = styled.second.clone().or_else(|| styled.named("language").map(str::to_owned));
        let language = language.filter(|_| styled.is_style(&["source"]));
        let mut text = String::new();
        for line in &self.lines[lines] {
            text.push_str(line.text);
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        self.page.code_block(language, text, span);
        next
    }

    /// `include::file[]`
    fn include(&mut self, line: Line<'t>) -> bool {
        let Some(rest) = line.text.strip_prefix("include::") else { return false };
        let Some(open) = rest.find('[').filter(|open| *open > 0 && rest.ends_with(']')) else { return false };
        let start = line.start + "include::".len();
        let dest = start..start + open;
        self.links.push(Link {
            target: self.attributes.replaced(&rest[..open]),
            span: line.start..line.end(),
            dest_span: dest,
            text: String::new(),
            kind: LinkKind::Attribute { element: "include".to_owned(), attribute: "file".to_owned() },
        });
        true
    }

    /// A macro on a line of its own: a picture, a film, or one of an extension.
    fn block_macro(&mut self, line: Line<'t>) -> bool {
        let Some((name, target, list)) = lines::block_macro(line.text) else { return false };
        let pending = std::mem::take(&mut self.pending);
        let inside = &line.text[list..line.text.len() - 1];
        let attributes = lines::attribute_list(inside);
        for id in [pending.id, attributes.named("id").map(str::to_owned), attributes.id].into_iter().flatten() {
            self.anchor(id, pending.words.clone());
        }
        let dest = line.start + target..line.start + list - 1;
        if name == "image" && !dest.is_empty() {
            self.links.push(Link {
                target: self.attributes.replaced(&self.text[dest.clone()]),
                span: line.start..line.end(),
                dest_span: dest,
                text: attributes.style.unwrap_or_default(),
                kind: LinkKind::Image,
            });
            let link = inline::attribute_link(inside, line.start + list, &mut self.attributes);
            self.links.extend(link);
        }
        self.page.code(line.start..line.end());
        true
    }

    /// Cross-references that name a heading by its words become those that name its id.
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

/// Whether words name an attribute that is not known.
fn names_attribute(words: &str) -> bool {
    words.match_indices('{').take(20).any(|(at, _)| attributes::reference(&words[at..]).is_some())
}

/// `Words [[id]]`
fn trailing_anchor(text: &str, words: Range<usize>) -> (Range<usize>, Option<String>) {
    let written = &text[words.clone()];
    let found = written.strip_suffix("]]").and_then(|rest| rest.rsplit_once("[["));
    match found {
        Some((before, anchor)) if !before.is_empty() && !anchor.contains([']', '[']) && !before.ends_with('\\') => {
            let id = anchor.split(',').next().unwrap_or(anchor).to_owned();
            (words.start..words.start + before.trim_end().len(), Some(id))
        }
        _ => (words, None),
    }
}

/// Signs that Asciidoctor puts in place of others, with the narrow spaces around them that are none in an id.
fn replacements(words: &str) -> String {
    if !words.contains(['-', '.', '(', '&']) {
        return words.to_owned();
    }
    let mut out = words.replace(" -- ", "\u{2009}—\u{2009}").replace("...", "…");
    for (sign, by) in [("(C)", "©"), ("(R)", "®"), ("(TM)", "™"), ("->", "→"), ("<-", "←")] {
        out = out.replace(sign, by);
    }
    out
}

/// Words without signs that only lay them out.
fn tidied(words: &str) -> String {
    if words.is_ascii() { words.to_owned() } else { words.replace(['\u{200b}', '\u{2060}'], "") }
}

#[cfg(test)]
mod tests;
