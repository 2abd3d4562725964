//! The data model of a parsed page.

use std::ops::Range;
use std::sync::Arc;

use crate::front_matter::FrontMatter;
use crate::problem::Problem;

/// The markup format of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// CommonMark with the usual extensions; HTML is allowed.
    Markdown,
    /// Markdown with JSX, expressions and imports.
    Mdx,
    /// reStructuredText, as docutils and Sphinx read it.
    Rst,
    /// AsciiDoc, as Asciidoctor reads it.
    Adoc,
    /// A Jupyter notebook: JSON with cells of Markdown and of code.
    Notebook,
}

impl Format {
    /// The format of a file, by its extension.
    pub fn of(path: &str) -> Self {
        let ending = path.rsplit('.').next().unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "mdx" => Self::Mdx,
            "rst" => Self::Rst,
            "adoc" | "asciidoc" => Self::Adoc,
            "ipynb" => Self::Notebook,
            _ => Self::Markdown,
        }
    }

    /// Whether the format is Markdown or MDX: such pages may have front matter, and a chore may write them.
    pub fn is_markdown(self) -> bool {
        matches!(self, Self::Markdown | Self::Mdx)
    }
}

/// One page of a docs tree. Spans are byte ranges of the file, on character boundaries of the text that
/// [`crate::text_of`] makes of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file, relative to the docs root, for example `guides/retries.mdx`.
    pub path: String,
    pub format: Format,
    pub front_matter: FrontMatter,
    /// The front matter's title, else the first level-one heading. In reStructuredText and AsciiDoc, the first heading
    /// of any level.
    pub title: Option<String>,
    /// All headings in order.
    pub headings: Vec<Heading>,
    /// All links and images in order, including those in JSX and HTML attributes, but none from code. In AsciiDoc,
    /// macros apply in code too.
    pub links: Vec<Link>,
    /// Anchors that do not belong to headings: `id` and `name` attributes in JSX or HTML, and those that components
    /// such as accordions, steps and tabs derive from their titles. In order. Explicit heading ids (`{#id}`) are in
    /// [`Heading::anchor`].
    pub ids: Vec<String>,
    /// The page split at its headings, in order. Sections without text and code are left out; in reStructuredText and
    /// AsciiDoc, only those before the first heading.
    pub sections: Vec<Section>,
    /// Byte ranges of the prose: text of paragraphs, headings, table cells. No code, no destinations, no attributes, no
    /// front matter. In order, not overlapping.
    pub prose: Vec<Range<usize>>,
    /// Byte ranges of code blocks and code spans, fences included. In order.
    pub code: Vec<Range<usize>>,
    /// What could not be parsed as intended, in order of line.
    pub problems: Vec<Problem>,
}

impl Page {
    /// Every anchor that a link to this page may name: headings first, then [`Page::ids`].
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        let headings = self.headings.iter().map(|heading| heading.anchor.as_str());
        headings.filter(|anchor| !anchor.is_empty()).chain(self.ids.iter().map(String::as_str))
    }

    /// Whether `anchor` (without `#`) is on this page. Compared case-insensitively as well, because sites differ in
    /// that.
    pub fn has_anchor(&self, anchor: &str) -> bool {
        self.anchors().any(|known| known == anchor || known.to_lowercase() == anchor.to_lowercase())
    }
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The text, without markup.
    pub text: String,
    /// The anchor without `#`; unique on the page except by GitBook's and kramdown's rules. Empty where the generator
    /// gives the heading none.
    pub anchor: String,
    /// The whole heading, markup included.
    pub span: Range<usize>,
}

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The destination as Markdown resolves it: escapes and entities decoded.
    pub target: String,
    /// The destination verbatim in the file, without `<>`, quotes or parentheses. For a reference link, the one in its
    /// definition (so several links may share it).
    pub dest_span: Range<usize>,
    /// The whole link.
    pub span: Range<usize>,
    /// The link text, or the alternative text of an image. Empty for an attribute.
    pub text: String,
    pub kind: LinkKind,
}

impl Link {
    /// A link without text of which only the destination is known.
    pub fn of(target: String, dest_span: Range<usize>, kind: LinkKind) -> Self {
        Self { target, span: dest_span.clone(), dest_span, text: String::new(), kind }
    }
}

/// How a link is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkKind {
    /// `[text](target)`
    Inline,
    /// `[text][label]` with a definition elsewhere in the file.
    Reference,
    /// A frontmatter field that names pages, by the rules of the generator that reads it.
    Field,
    /// `<https://…>`
    Autolink,
    /// `![alt](target)`, also by reference.
    Image,
    /// An attribute of a JSX or HTML element: `href`, `src` and similar. In reStructuredText, a file that a directive
    /// names (`include`), and an entry of a `toctree`. In AsciiDoc, the file of `include` and the target of `link:`.
    Attribute { element: String, attribute: String },
}

/// The content under one heading, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The enclosing headings, outermost first, the section's own last. Empty before the first heading. Sections share
    /// the texts of the headings around them.
    pub headings: Vec<Arc<str>>,
    /// The anchor of the section's own heading; `None` before the first heading.
    pub anchor: Option<String>,
    /// The level of the section's own heading; 0 before the first heading.
    pub level: u8,
    /// The prose as displayed: JSX children and readable attributes such as `title` kept, imports, exports and code
    /// blocks removed. Paragraphs are separated by blank lines.
    pub text: String,
    /// Code blocks in order.
    pub code: Vec<CodeBlock>,
    /// The section as Markdown for reading, without its own heading: imports, comments, expressions and tags removed,
    /// component titles kept in bold, code and tables unchanged.
    pub markdown: String,
    /// The byte range of the section in the file, its heading included.
    pub markdown_span: Range<usize>,
}

/// A code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// The first word of the fence's info string, for example `rust`.
    pub language: Option<String>,
    /// The file name or title in the fence's info string, if any.
    pub file: Option<String>,
    pub text: String,
}
