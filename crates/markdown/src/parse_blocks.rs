//! Turns the events of the parser into the parts of a page: headings, links, sections, prose.

use std::collections::HashMap;
use std::ops::Range;

use satteri_pulldown_cmark::{
    CodeBlockKind, Event, HeadingLevel, LinkType, Tag as Start, TagEnd, decode_html_entities,
};

use crate::anchors::{AnchorStyle, Anchors};
use crate::anchors_hugo::HugoWords;
use crate::anchors_kramdown;
use crate::heading_path::{HeadingPath, MOST_HEADINGS};
use crate::heading_words::{
    code_inside, explicit_id, expression_content, id_in_comment, with_edge_spaces, with_own_spaces, without_attributes,
};
use crate::page::{CodeBlock, Heading, Link, LinkKind, Section};
use crate::parse_components::{is_inline, is_readable};
use crate::parse_destination::{definition_destination, definition_lines, inline_destination, last_definitions};
use crate::parse_html::{Piece, pieces};
use crate::parse_markdown::{Definition, Events};
use crate::parse_tags::{Dialect, Tag, TagKind, scan_tag};
use crate::sections::{Instead, SourceText, cleaned, code_block, fenced};
use crate::words::on_one_line;

/// A tag with this many bytes or more before it on its line does not begin the line.
const DEEPEST_INDENT: usize = 1_000;

/// The parts of a page.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link>,
    pub(crate) ids: Vec<String>,
    pub(crate) sections: Vec<Section>,
    pub(crate) prose: Vec<Range<usize>>,
    pub(crate) code: Vec<Range<usize>>,
    /// The byte offset of the first heading beyond [`MOST_HEADINGS`].
    pub(crate) first_excess_heading: Option<usize>,
}

/// Reads the events of a page.
pub(crate) fn blocks(
    source: SourceText<'_>,
    definitions: Vec<Definition>,
    events: Events<'_, '_>,
    anchors: AnchorStyle,
) -> Blocks {
    let mut unread: Vec<Instead> =
        definitions.iter().map(|definition| Instead { range: definition.span.clone(), text: String::new() }).collect();
    unread.sort_by_key(|definition| definition.range.start);
    let definitions = definitions
        .into_iter()
        .map(|definition| {
            let span = definition_destination(source.parsed, definition.span);
            (label(&definition.label), (definition.target, span))
        })
        .collect();
    let mut parser = BlockParser {
        source,
        definitions,
        instead: Vec::new(),
        blocks: Blocks::default(),
        anchors: Anchors::of(anchors),
        path: HeadingPath::default(),
        section: OpenSection {
            anchor: None,
            level: 0,
            start: source.body,
            body: source.body,
            text: String::new(),
            code: Vec::new(),
        },
        heading: None,
        verbatim: String::new(),
        links: Vec::new(),
        code: None,
        html_until: 0,
        next_tag: 0,
        next_literal: 0,
        next_blanked: 0,
        elements: Vec::new(),
        pictures: Vec::new(),
        hugo_words: None,
    };
    for (event, range) in events {
        parser.tags_before(range.start);
        parser.event(event, range);
    }
    parser.tags_before(source.text.len() + 1);
    parser.close_section(source.text.len());
    let mut blocks = parser.blocks;
    if parser.anchors.style.is_python_markdown() {
        let firsts = parser.definitions.iter().map(|(label, (_, span))| (label.as_str(), span.start));
        let last = last_definitions(parser.source.parsed, &firsts.collect(), &blocks.code);
        for link in blocks.links.iter_mut().filter(|link| matches!(link.kind, LinkKind::Reference | LinkKind::Image)) {
            if let Some(span) = last.get(&link.dest_span.start) {
                link.dest_span = span.clone();
                link.target = parser.source.text[span.clone()].to_owned();
            }
        }
    }
    blocks.links.sort_by_key(|link| (link.span.start, link.dest_span.start));
    blocks.prose.retain(|range| !range.is_empty());
    blocks.prose.sort_by_key(|range| range.start);
    blocks
}

/// A target as an inline link has it: `(target)`.
fn inline_target(target: &str) -> Option<String> {
    match target.contains(['<', '>', '\n', '\\']) {
        true => None,
        false if target.is_empty() || target.contains([' ', '(', ')']) => Some(format!("(<{target}>)")),
        false => Some(format!("({target})")),
    }
}

/// A reference label, normalized as CommonMark compares it.
pub(crate) fn label(text: &str) -> String {
    on_one_line(text).to_lowercase()
}

struct OpenSection {
    anchor: Option<String>,
    level: u8,
    start: usize,
    /// Where the section's own heading ends.
    body: usize,
    text: String,
    code: Vec<CodeBlock>,
}

struct OpenLink {
    target: String,
    label: String,
    link_type: LinkType,
    image: bool,
    /// Where the link text begins in the section's text.
    words: usize,
    inner_end: usize,
}

struct BlockParser<'t> {
    source: SourceText<'t>,
    definitions: HashMap<String, (String, Range<usize>)>,
    /// The target of each reference link of the open section in place of its label, and code in fences in place of indented code.
    instead: Vec<Instead>,
    blocks: Blocks,
    anchors: Anchors,
    path: HeadingPath,
    section: OpenSection,
    /// Where the open heading begins in the section's text.
    heading: Option<usize>,
    /// The text of the open heading with every space, and with expressions verbatim.
    verbatim: String,
    links: Vec<OpenLink>,
    /// The open code block: the info string of its fence, and its text so far.
    code: Option<(String, String)>,
    /// Text events before this byte are part of an HTML block that was already read.
    html_until: usize,
    next_tag: usize,
    next_literal: usize,
    next_blanked: usize,
    /// The open elements that have a `markdown` attribute, and the open elements inside them.
    elements: Vec<String>,
    /// The alternative texts of images in the open heading, as ranges of the section's text.
    pictures: Vec<Range<usize>>,
    /// The text of the open heading by Hugo's anchor rules.
    hugo_words: Option<HugoWords>,
}

impl BlockParser<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        // The parser may split masked text anywhere, but a span never starts or ends inside a character.
        let text = self.source.text;
        let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
        if !matches!(event, Event::End(_))
            && let Some(link) = self.links.last_mut()
        {
            link.inner_end = link.inner_end.max(range.end);
        }
        if let Some(words) = &mut self.hugo_words {
            words.event(&event, &text[range.clone()]);
        }
        match event {
            Event::Start(start) => self.start(start, range),
            Event::End(end) => self.end(end, range),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => {
                    let words = original(self.source.text, &text, &range);
                    code.push_str(&words);
                }
                None => self.text(&text, range),
            },
            Event::Code(_) => {
                self.words(code_inside(&text[range.clone()]));
                self.blocks.code.push(range);
            }
            Event::InlineHtml(_) => {
                if let Some(tag) = scan_tag(self.source.text, range.start, Dialect::Html) {
                    self.tag(&tag);
                }
            }
            Event::SoftBreak => self.space(),
            Event::HardBreak => self.line(),
            Event::Rule => self.paragraph(),
            _ => {}
        }
    }

    fn start(&mut self, start: Start<'_>, range: Range<usize>) {
        match start {
            Start::Heading { .. } if self.blocks.headings.len() >= MOST_HEADINGS => {
                self.blocks.first_excess_heading.get_or_insert(range.start);
                self.paragraph();
            }
            Start::Heading { .. } => {
                self.close_section(range.start);
                self.heading = Some(self.section.text.len());
                self.hugo_words = self.anchors.hugo_words();
                self.verbatim.clear();
            }
            Start::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => original(self.source.text, &info, &range).into_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.blocks.code.push(range);
                self.code = Some((info, String::new()));
            }
            Start::HtmlBlock => {
                self.paragraph();
                self.html(range.clone());
                self.html_until = range.end;
            }
            Start::Item => {
                self.line();
                self.section.text.push_str("- ");
            }
            Start::Paragraph
            | Start::List(..)
            | Start::Table(_)
            | Start::BlockQuote(_)
            | Start::FootnoteDefinition(_)
                if !self.section.text.ends_with("- ") =>
            {
                self.paragraph();
            }
            Start::TableHead | Start::TableRow => self.line(),
            Start::Link { link_type, dest_url, id, .. } => {
                self.open_link(link_type, &dest_url, &id, false, range.start);
            }
            Start::Image { link_type, dest_url, id, .. } => {
                self.open_link(link_type, &dest_url, &id, true, range.start);
            }
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd, range: Range<usize>) {
        match end {
            TagEnd::Heading(level) => self.close_heading(level, range),
            TagEnd::CodeBlock => {
                if let Some((info, text)) = self.code.take() {
                    self.instead.extend(fenced(self.source.text, range, &text));
                    self.section.code.push(code_block(&info, text));
                }
            }
            TagEnd::Paragraph | TagEnd::List(_) | TagEnd::Table | TagEnd::BlockQuote(_) | TagEnd::HtmlBlock => {
                self.paragraph();
            }
            TagEnd::TableCell => self.section.text.push_str(" | "),
            TagEnd::TableHead | TagEnd::TableRow => {
                let trimmed = self.section.text.trim_end_matches([' ', '|']).len();
                self.section.text.truncate(trimmed);
                self.line();
            }
            TagEnd::Link | TagEnd::Image => self.close_link(range),
            _ => {}
        }
    }

    fn close_heading(&mut self, level: HeadingLevel, range: Range<usize>) {
        let Some(words) = self.heading.take() else { return self.paragraph() };
        let hugo_words = self.hugo_words.take().map(HugoWords::words);
        let raw = self.source.text[range.clone()].lines().next().unwrap_or_default();
        let delimiters = self.anchors.explicit_id_delimiters();
        let start = words.min(self.section.text.len());
        let mut text = self.section.text.split_off(start);
        let shown = self.anchors.reads_ids_of_shown_text().then(|| text.clone());
        let id = match self.anchors.is_kramdown() {
            true => anchors_kramdown::own_id(raw)
                .or_else(|| anchors_kramdown::id_below(&self.source.text[range.end..]))
                .or_else(|| anchors_kramdown::id_above(&self.source.text[..range.start])),
            false => delimiters
                .and_then(|(open, close)| {
                    let in_shown = shown.as_deref().and_then(|shown| explicit_id(shown, open, close));
                    in_shown.or_else(|| explicit_id(raw, open, close))
                })
                .or_else(|| self.anchors.reads_comments().then(|| id_in_comment(raw)).flatten()),
        };
        let open = delimiters.map_or('{', |(open, _)| open);
        let pictures = std::mem::take(&mut self.pictures);
        let without_pictures = (!pictures.is_empty()).then(|| {
            let mut text = text.clone();
            pictures.iter().rev().for_each(|alt| text.replace_range(alt.start - start..alt.end - start, ""));
            text
        });
        if let Some(id) = id
            && let Some(cut) = text.rfind(open).filter(|at| text[*at..].contains(id))
        {
            text.truncate(cut);
        } else if id.is_none() && self.anchors.reads_attributes() {
            text.truncate(without_attributes(&text).len());
        }
        let words = match self.anchors.counts_every_space() {
            true => with_edge_spaces(&self.source, &self.verbatim, range.start, raw),
            false => with_own_spaces(raw, text.clone()),
        };
        let text = on_one_line(&text);
        let level = level as u8;
        let anchor = match (id, self.anchors.docfx_special_anchor(raw, &words)) {
            (_, Some(anchor)) => anchor,
            (Some(id), None) => self.anchors.explicit(id),
            (None, None) => {
                let in_html = (!self.elements.is_empty()).then(|| self.anchors.for_heading_in_html(raw)).flatten();
                let words = without_pictures.as_deref().unwrap_or(&words);
                in_html.unwrap_or_else(|| match hugo_words {
                    Some(words) => match without_attributes(&words) {
                        cut if cut.len() < words.len() => self.anchors.for_heading(cut.trim_end()),
                        whole => self.anchors.for_heading(whole),
                    },
                    None => self.anchors.for_heading_of(level, words, &text, raw),
                })
            }
        };
        self.path.enter(level, &text);
        self.section.level = level;
        self.section.anchor = Some(anchor.clone()).filter(|anchor| !anchor.is_empty());
        self.section.start = range.start;
        self.section.body = range.end;
        self.blocks.headings.push(Heading { level, text, anchor, span: range });
    }

    fn close_section(&mut self, end: usize) {
        let next = OpenSection { anchor: None, level: 0, start: end, body: end, text: String::new(), code: Vec::new() };
        let section = std::mem::replace(&mut self.section, next);
        let mut instead = std::mem::take(&mut self.instead);
        let text = section.text.trim();
        if text.is_empty() && section.code.is_empty() {
            return;
        }
        if !self.definitions.is_empty() {
            let defined = definition_lines(self.source.parsed, section.body..end, &self.blocks.code);
            let defined = defined.filter(|(label, _)| self.definitions.contains_key(label));
            instead.extend(defined.map(|(_, range)| Instead { range, text: String::new() }));
        }
        instead.sort_by_key(|part| (part.range.start, part.range.end));
        self.blocks.sections.push(Section {
            headings: self.path.texts(),
            anchor: section.anchor,
            level: section.level,
            text: text.to_owned(),
            code: section.code,
            markdown: cleaned(&self.source, section.body..end, &self.blocks.code, &instead),
            markdown_span: section.start..end,
        });
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        if range.end <= self.html_until {
            return;
        }
        if text.len() != range.len() {
            // An escape or an entity: the text differs from the source bytes.
            let words = original(self.source.text, text, &range).into_owned();
            self.words(&words);
            self.blocks.prose.push(range);
            return;
        }
        let mut at = range.start;
        while at < range.end {
            while self.source.blanked.get(self.next_blanked).is_some_and(|span| span.end <= at) {
                self.next_blanked += 1;
            }
            let construct = self.source.blanked.get(self.next_blanked).filter(|span| span.start < range.end);
            let stop = construct.map_or(range.end, |span| span.start.max(at));
            if stop > at {
                let words = &self.source.text[at..stop];
                let is_escaped = self.source.text[..at].ends_with('\\');
                self.push_verbatim(&self.anchors.without_directives(words, is_escaped));
                self.push_collapsing_spaces(words);
                if !self.links.last().is_some_and(|link| link.link_type == LinkType::Autolink) {
                    self.blocks.prose.push(at..stop);
                }
            }
            if let Some(construct) = construct {
                self.push_verbatim(expression_content(self.source.text, construct));
            }
            at = construct.map_or(range.end, |span| span.end);
            self.tags_before(at);
        }
    }

    fn words(&mut self, words: &str) {
        self.push_verbatim(words);
        self.push_collapsing_spaces(words);
    }

    fn push_verbatim(&mut self, words: &str) {
        let is_left_out = self.anchors.leaves_out_pictures() && self.links.iter().any(|link| link.image);
        if self.heading.is_some() && !is_left_out {
            self.verbatim.push_str(words);
        }
    }

    fn push_collapsing_spaces(&mut self, words: &str) {
        let out = &mut self.section.text;
        for c in words.chars() {
            if !c.is_whitespace() {
                out.push(c);
            } else if !out.ends_with(char::is_whitespace) && !out.is_empty() {
                out.push(' ');
            }
        }
    }

    fn open_link(&mut self, link_type: LinkType, target: &str, label: &str, image: bool, start: usize) {
        self.links.push(OpenLink {
            target: target.to_owned(),
            label: label.to_owned(),
            link_type,
            image,
            words: self.section.text.len(),
            inner_end: start + 1 + usize::from(image),
        });
    }

    fn close_link(&mut self, range: Range<usize>) {
        let Some(link) = self.links.pop() else { return };
        // Not a link for readers: it only carries an id (`[](){#id}`).
        if self.source.text.get(range.clone()) == Some("[]()") {
            return;
        }
        if let Some(outer) = self.links.last_mut() {
            outer.inner_end = outer.inner_end.max(range.end);
        }
        let (kind, dest_span) = match link.link_type {
            LinkType::Inline => (LinkKind::Inline, inline_destination(self.source.parsed, link.inner_end, range.end)),
            LinkType::Autolink | LinkType::Email => {
                let raw = &self.source.text[range.clone()];
                let bracketed = usize::from(raw.starts_with('<') && raw.ends_with('>'));
                (LinkKind::Autolink, Some(range.start + bracketed..range.end - bracketed))
            }
            _ => {
                let definition = self.definitions.get(&self::label(&link.label));
                let text_end = link.inner_end..range.end;
                if let Some((target, span)) = definition
                    && let Some(inline) = inline_target(self.source.text.get(span.clone()).unwrap_or(target))
                    && self.source.text.get(text_end.clone()).is_some_and(|rest| rest.starts_with(']'))
                {
                    // The range of `[text][]` ends in front of its empty label.
                    let is_collapsed = link.link_type == LinkType::Collapsed;
                    let has_more = is_collapsed && self.source.text[text_end.end..].starts_with("[]");
                    let end = text_end.end + if has_more { 2 } else { 0 };
                    self.instead.push(Instead { range: text_end.start + 1..end, text: inline });
                }
                (LinkKind::Reference, definition.map(|(_, span)| span.clone()))
            }
        };
        let Some(dest_span) = dest_span else { return };
        let target = match link.link_type {
            LinkType::Email if !link.target.starts_with("mailto:") => format!("mailto:{}", link.target),
            // The parser returns masked text; a destination without escapes is taken from the file.
            _ if link.target.len() == dest_span.len() => self.source.text[dest_span.clone()].to_owned(),
            _ => link.target,
        };
        let text = self.section.text.get(link.words..).unwrap_or_default().trim().to_owned();
        if link.image
            && self.heading.is_some()
            && self.anchors.leaves_out_pictures()
            && !self.anchors.counts_every_space()
        {
            self.pictures.push(link.words..self.section.text.len().max(link.words));
        }
        let kind = if link.image { LinkKind::Image } else { kind };
        self.blocks.links.push(Link { target, dest_span, span: range, text, kind });
    }

    /// Reads the string-literal expressions before `at` that were not read yet.
    fn literals_before(&mut self, at: usize) {
        while let Some(literal) = self.source.literals.get(self.next_literal).filter(|literal| literal.start < at) {
            self.next_literal += 1;
            self.push_collapsing_spaces(&self.source.text[literal.clone()]);
            self.blocks.prose.push(literal.clone());
        }
    }

    /// Reads the JSX tags and string-literal expressions before `at` that were not read yet.
    fn tags_before(&mut self, at: usize) {
        let tags = self.source.tags;
        while let Some(tag) = tags.get(self.next_tag).filter(|tag| tag.span.start < at) {
            self.next_tag += 1;
            self.literals_before(tag.span.start);
            let alone = self.stands_alone(&tag.span);
            if alone {
                self.paragraph();
            }
            self.tag(tag);
            if alone {
                self.paragraph();
            }
        }
        self.literals_before(at);
    }

    /// Whether only whitespace and other constructs precede a tag on its line: then it makes a block.
    fn stands_alone(&self, span: &Range<usize>) -> bool {
        let before = &self.source.parsed.as_bytes()[span.start.saturating_sub(DEEPEST_INDENT)..span.start];
        let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        line.len() < DEEPEST_INDENT && line.iter().all(u8::is_ascii_whitespace)
    }

    fn tag(&mut self, tag: &Tag) {
        if tag.kind == TagKind::Close {
            if let Some(open) = self.elements.iter().rposition(|element| *element == tag.name) {
                self.elements.truncate(open);
            }
            return;
        }
        let is_markdown = || tag.attributes.iter().any(|attribute| attribute.name == "markdown");
        if tag.kind == TagKind::Open && (!self.elements.is_empty() || is_markdown()) {
            self.elements.push(tag.name.clone());
        }
        let text = self.source.text;
        for attribute in &tag.attributes {
            let Some(span) = attribute.value.clone() else { continue };
            let value = decode_html_entities(&text[span.clone()]).into_owned();
            match attribute.name.as_str() {
                "id" => self.blocks.ids.push(value),
                "name" if tag.name == "a" => self.blocks.ids.push(value),
                "href" | "src" | "to" | "link" | "img" | "poster" => self.blocks.links.push(Link {
                    target: value,
                    dest_span: span,
                    span: tag.span.clone(),
                    text: String::new(),
                    kind: LinkKind::Attribute { element: tag.name.clone(), attribute: attribute.name.clone() },
                }),
                // The text of a badge in a heading is not part of the heading.
                name if is_readable(tag, name) && self.heading.is_none() => {
                    self.space();
                    self.words(&value);
                    self.space();
                }
                _ => {}
            }
        }
        if let Some(anchor) = self.anchors.for_component(tag, text) {
            self.blocks.ids.push(anchor);
        }
    }

    /// Reads a block of HTML: its tags, and the text between them.
    fn html(&mut self, range: Range<usize>) {
        for piece in pieces(self.source.text, range) {
            match piece {
                Piece::Tag(tag) => {
                    if !is_inline(&tag.name) {
                        self.line();
                    }
                    self.tag(&tag);
                }
                Piece::Words(words) => {
                    let decoded = decode_html_entities(&self.source.text[words.clone()]).into_owned();
                    self.words(&decoded);
                    self.blocks.prose.push(words);
                }
            }
        }
    }

    fn space(&mut self) {
        if !self.section.text.is_empty() && !self.section.text.ends_with(char::is_whitespace) {
            self.section.text.push(' ');
        }
    }

    fn line(&mut self) {
        self.separate("\n");
    }

    fn paragraph(&mut self) {
        self.separate("\n\n");
    }

    fn separate(&mut self, separator: &str) {
        let out = &mut self.section.text;
        let floor = self.heading.or(self.links.last().map(|link| link.words)).unwrap_or(0);
        if self.heading.is_some() || !self.links.is_empty() {
            // The text of a heading or a link stays on one line.
            if out.len() > floor && !out.ends_with(char::is_whitespace) {
                out.push(' ');
            }
            return;
        }
        let trimmed = out.trim_end_matches([' ', '\t']).len();
        out.truncate(trimmed);
        if out.is_empty() {
            return;
        }
        while !out.ends_with(separator) {
            out.push('\n');
        }
    }
}

/// The text of an event: from the file where the lengths match, else the parser's text without its masking bytes.
fn original<'a>(text: &'a str, words: &'a str, range: &Range<usize>) -> std::borrow::Cow<'a, str> {
    if words.len() == range.len() {
        return text[range.clone()].into();
    }
    if !words.contains('\u{1a}') {
        return words.into();
    }
    // Code spans and fences are narrower than their range: look in it for the same text, masking bytes aside.
    let raw = &text[range.clone()];
    let matches = |at: usize| {
        raw.get(at..at + words.len()).is_some_and(|candidate| {
            candidate.bytes().zip(words.bytes()).all(|(file, parsed)| file == parsed || parsed == 0x1a)
        })
    };
    match (0..raw.len().min(64)).find(|at| matches(*at)) {
        Some(at) => raw[at..at + words.len()].into(),
        None => words.replace('\u{1a}', "").into(),
    }
}
