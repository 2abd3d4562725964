//! The tree of a block, and how it is written: `["a",{"href":"/x"},"See ",["em","this"]]`, an element's name as in HTML, its
//! attributes if it has any, and its children, which are texts and elements.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// An element, or text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Text(String),
    Element(Element),
}

/// An element with what stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    pub kind: ElementKind,
    pub children: Vec<Node>,
}

/// What an element is. Addresses are relative to the docs' site, or of the schemes `http`, `https` and `mailto`; an image's are
/// relative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementKind {
    Paragraph,
    Heading {
        level: u8,
    },
    /// Its children are items. One with a `start` is numbered.
    List {
        start: Option<u64>,
    },
    /// Its children are blocks.
    Item,
    /// Its children are rows, the first of which is the head.
    Table {
        align: Vec<Align>,
    },
    /// Its children are cells.
    Row,
    Cell,
    /// Its only child is text.
    CodeBlock {
        language: String,
    },
    /// Its children are blocks.
    Quote,
    Rule,
    Strong,
    Emphasis,
    /// Its only child is text.
    Code,
    Link {
        href: String,
    },
    Image {
        src: String,
        alt: String,
    },
    Break,
}

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Start,
    Left,
    Center,
    Right,
}

impl ElementKind {
    const fn name(&self) -> &'static str {
        match self {
            Self::Paragraph => "p",
            Self::Heading { level: 0 | 1 } => "h1",
            Self::Heading { level: 2 } => "h2",
            Self::Heading { level: 3 } => "h3",
            Self::Heading { level: 4 } => "h4",
            Self::Heading { level: 5 } => "h5",
            Self::Heading { .. } => "h6",
            Self::List { start: None } => "ul",
            Self::List { start: Some(_) } => "ol",
            Self::Item => "li",
            Self::Table { .. } => "table",
            Self::Row => "tr",
            Self::Cell => "td",
            Self::CodeBlock { .. } => "pre",
            Self::Quote => "blockquote",
            Self::Rule => "hr",
            Self::Strong => "strong",
            Self::Emphasis => "em",
            Self::Code => "code",
            Self::Link { .. } => "a",
            Self::Image { .. } => "img",
            Self::Break => "br",
        }
    }

    /// As their names are in HTML; `language` is that of a `pre`, and `align` has a word for each column of a table.
    fn attributes(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::List { start: Some(start) } if *start != 1 => vec![("start", start.to_string())],
            Self::Table { align } if align.iter().any(|align| *align != Align::Start) => {
                let words: Vec<&str> = align.iter().map(|align| align.word()).collect();
                vec![("align", words.join(" "))]
            }
            Self::CodeBlock { language } if !language.is_empty() => vec![("language", language.clone())],
            Self::Link { href } => vec![("href", href.clone())],
            Self::Image { src, alt } => vec![("src", src.clone()), ("alt", alt.clone())],
            _ => Vec::new(),
        }
    }

    /// Whether it stands in a line of text.
    pub(super) const fn is_inline(&self) -> bool {
        matches!(
            self,
            Self::Strong | Self::Emphasis | Self::Code | Self::Link { .. } | Self::Image { .. } | Self::Break
        )
    }

    /// Whether its children are blocks.
    const fn holds_blocks(&self) -> bool {
        matches!(self, Self::Item | Self::Quote)
    }
}

impl Align {
    const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Left => "left",
            Self::Center => "center",
            Self::Right => "right",
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Element(element) => element.serialize(serializer),
        }
    }
}

impl Serialize for Element {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        seq.serialize_element(self.kind.name())?;
        let attributes = self.kind.attributes();
        if !attributes.is_empty() {
            seq.serialize_element(&Attributes(&attributes))?;
        }
        self.children.iter().try_for_each(|child| seq.serialize_element(child))?;
        seq.end()
    }
}

struct Attributes<'a>(&'a [(&'static str, String)]);

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl Element {
    pub(super) const fn new(kind: ElementKind) -> Self {
        Self { kind, children: Vec::new() }
    }

    /// Adds a child. Adjacent texts become one; a text or inline element among blocks gets a paragraph.
    pub(super) fn add(&mut self, child: Node) {
        if self.kind.holds_blocks() && child.is_inline() {
            if !matches!(self.children.last(), Some(Node::Element(Self { kind: ElementKind::Paragraph, .. }))) {
                self.children.push(Node::Element(Self::new(ElementKind::Paragraph)));
            }
            if let Some(Node::Element(paragraph)) = self.children.last_mut() {
                paragraph.add(child);
            }
            return;
        }
        match (child, self.children.last_mut()) {
            (Node::Text(text), _) if text.is_empty() => {}
            (Node::Text(text), Some(Node::Text(last))) => last.push_str(&text),
            (child, _) => self.children.push(child),
        }
    }

    /// Its text without any structure.
    pub fn plain_text(&self) -> String {
        let text = |child: &Node| match child {
            Node::Text(text) => text.clone(),
            Node::Element(Self { kind: ElementKind::Image { alt, .. }, .. }) => alt.clone(),
            Node::Element(Self { kind: ElementKind::Break, .. }) => " ".to_owned(),
            Node::Element(element) => element.plain_text(),
        };
        self.children.iter().map(text).collect()
    }
}

impl Node {
    fn is_inline(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Element(element) => element.kind.is_inline(),
        }
    }
}
