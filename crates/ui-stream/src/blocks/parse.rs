//! Markdown as blocks of vetted nodes.
//!
//! HTML is text. Definitions of links are text too: they would change blocks that were sent already.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, LinkType, Options, Parser, Tag};

use super::node::{Align, Element, ElementKind, Node};

/// How deep quotes, lists and inline elements may be inside one another. What is deeper stands in what contains it.
const DEEPEST: usize = 16;

/// A block at the top level.
pub(super) struct TopBlock {
    /// The beginning of its first line.
    pub(super) start: usize,
    pub(super) block: Element,
}

pub(super) fn parse(text: &str) -> Vec<TopBlock> {
    let options = Options::ENABLE_TABLES;
    let parser = Parser::new_ext(text, options);
    if parser.reference_definitions().iter().next().is_none() {
        return blocks(text, parser.into_offset_iter());
    }
    // An escaped colon looks the same and defines nothing. In code and HTML the escape would be seen.
    let verbatim = |(event, range)| {
        let is_one =
            matches!(event, Event::Code(_) | Event::InlineHtml(_) | Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock));
        is_one.then_some(range)
    };
    let verbatim: Vec<Range<usize>> = parser.into_offset_iter().filter_map(verbatim).collect();
    let colons = text.match_indices("]:").map(|(at, _)| at + 1);
    let colons: Vec<usize> = colons.filter(|at| !is_in(&verbatim, *at)).collect();
    let mut escaped = String::with_capacity(text.len() + colons.len());
    let mut from = 0;
    for at in &colons {
        escaped.push_str(&text[from..*at]);
        escaped.push('\\');
        from = *at;
    }
    escaped.push_str(&text[from..]);
    let mut found = blocks(&escaped, Parser::new_ext(&escaped, options).into_offset_iter());
    for top in &mut found {
        let position = top.start;
        top.start -= (0..).zip(&colons).take_while(|(before, at)| **at + before < position).count();
    }
    found
}

/// Whether a position is in one of these ranges, which are in order and apart.
fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= at);
    ranges.get(next).is_some_and(|range| range.contains(&at))
}

fn blocks<'a>(text: &str, events: impl Iterator<Item = (Event<'a>, Range<usize>)>) -> Vec<TopBlock> {
    let mut builder = Builder::default();
    for (event, range) in events {
        if builder.open.is_empty() {
            builder.start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
        }
        builder.take(event);
    }
    builder.blocks
}

#[derive(Default)]
struct Builder {
    blocks: Vec<TopBlock>,
    start: usize,
    open: Vec<Open>,
    /// How many of the open elements are counted against [`DEEPEST`].
    depth: usize,
}

enum Open {
    Element(Element),
    /// An image with this source, and what makes its alternative text.
    Image(String, Element),
    /// Its children are those of what contains it.
    Transparent,
}

impl Builder {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => {
                let opened = self.opened(tag);
                self.depth += usize::from(is_counted(&opened));
                self.open.push(opened);
            }
            Event::End(_) => self.end(),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.add(Node::Text(text.into_string())),
            Event::Code(text) => {
                let children = vec![Node::Text(text.into_string())];
                self.add(Node::Element(Element { kind: ElementKind::Code, children }));
            }
            Event::SoftBreak => self.add(Node::Text(" ".to_owned())),
            Event::HardBreak => self.add(Node::Element(Element::new(ElementKind::Break))),
            Event::Rule => self.add(Node::Element(Element::new(ElementKind::Rule))),
            // Only with options that are not set.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn opened(&self, tag: Tag<'_>) -> Open {
        let kind = match tag {
            Tag::Paragraph | Tag::HtmlBlock => ElementKind::Paragraph,
            Tag::Heading { level, .. } => ElementKind::Heading { level: level as u8 },
            Tag::CodeBlock(CodeBlockKind::Indented) => ElementKind::CodeBlock { language: String::new() },
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => {
                ElementKind::CodeBlock { language: info.split_whitespace().next().unwrap_or_default().to_owned() }
            }
            Tag::Table(alignments) => ElementKind::Table { align: alignments.into_iter().map(align).collect() },
            Tag::TableHead | Tag::TableRow => ElementKind::Row,
            Tag::TableCell => ElementKind::Cell,
            Tag::Item if matches!(self.open.last(), Some(Open::Transparent)) => return Open::Transparent,
            Tag::Item => ElementKind::Item,
            Tag::Image { dest_url, .. } => {
                return Open::Image(dest_url.into_string(), Element::new(ElementKind::Paragraph));
            }
            _ if self.depth >= DEEPEST => return Open::Transparent,
            Tag::BlockQuote(_) => ElementKind::Quote,
            Tag::List(start) => ElementKind::List { start },
            Tag::Emphasis => ElementKind::Emphasis,
            Tag::Strong => ElementKind::Strong,
            Tag::Link { link_type, dest_url, .. } => {
                let href = match link_type {
                    LinkType::Inline | LinkType::Autolink => vetted(&dest_url),
                    LinkType::Email => vetted(&format!("mailto:{dest_url}")),
                    _ => None,
                };
                match href {
                    Some(href) if !self.is_in_link() => ElementKind::Link { href },
                    _ => return Open::Transparent,
                }
            }
            _ => return Open::Transparent,
        };
        Open::Element(Element::new(kind))
    }

    fn end(&mut self) {
        let Some(ended) = self.open.pop() else { return };
        self.depth -= usize::from(is_counted(&ended));
        match ended {
            Open::Element(element) => self.add(Node::Element(element)),
            Open::Image(src, content) => {
                let image = self.image(&src, content.plain_text());
                self.add(image);
            }
            Open::Transparent => {}
        }
    }

    /// An image of the docs' own site. One of another site is a link to it.
    fn image(&self, src: &str, alt: String) -> Node {
        let Some(src) = vetted(src) else { return Node::Text(alt) };
        if scheme(&src).is_none() {
            return Node::Element(Element::new(ElementKind::Image { src, alt }));
        }
        if self.is_in_link() || src.starts_with("mailto:") {
            return Node::Text(alt);
        }
        let text = if alt.is_empty() { src.clone() } else { alt };
        Node::Element(Element { kind: ElementKind::Link { href: src }, children: vec![Node::Text(text)] })
    }

    fn is_in_link(&self) -> bool {
        let is_link = |open: &Open| matches!(open, Open::Element(Element { kind: ElementKind::Link { .. }, .. }));
        self.open.iter().any(is_link)
    }

    fn add(&mut self, node: Node) {
        let parent = self.open.iter_mut().rev().find_map(|open| match open {
            Open::Element(element) | Open::Image(_, element) => Some(element),
            Open::Transparent => None,
        });
        match (parent, node) {
            (Some(parent), node) => parent.add(node),
            (None, Node::Element(block)) => self.blocks.push(TopBlock { start: self.start, block }),
            (None, Node::Text(_)) => {}
        }
    }
}

const fn is_counted(open: &Open) -> bool {
    let Open::Element(Element { kind, .. }) = open else { return false };
    matches!(
        kind,
        ElementKind::Quote
            | ElementKind::List { .. }
            | ElementKind::Emphasis
            | ElementKind::Strong
            | ElementKind::Link { .. }
    )
}

const fn align(alignment: Alignment) -> Align {
    match alignment {
        Alignment::None => Align::Start,
        Alignment::Left => Align::Left,
        Alignment::Center => Align::Center,
        Alignment::Right => Align::Right,
    }
}

/// The address, if it is relative to the site, or one of the web or of a mailbox.
fn vetted(address: &str) -> Option<String> {
    let is_odd = |c: char| c <= ' ' || c == '\\' || c.is_control();
    if address.is_empty() || address.contains(is_odd) || address.starts_with("//") {
        return None;
    }
    let is_known = |scheme: &str| ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    scheme(address).is_none_or(is_known).then(|| address.to_owned())
}

/// What stands before a colon that is not behind a slash, a question mark or a number sign.
fn scheme(address: &str) -> Option<&str> {
    let head = address.split(['/', '?', '#']).next()?;
    head.split_once(':').map(|(scheme, _)| scheme)
}
