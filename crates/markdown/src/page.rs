//! One page, read.

use std::ops::Range;

use crate::front_matter::FrontMatter;
use crate::problem::Problem;
use crate::site_paths::{site_path, slugged};

/// The language a page is written in.
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
    /// The format of a file, by its ending.
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

    /// Whether it is Markdown of some kind: what begins with front matter, and may be written by a chore.
    pub fn is_markdown(self) -> bool {
        matches!(self, Self::Markdown | Self::Mdx)
    }
}

/// One page of a docs tree. Spans are byte ranges of the file, on character boundaries of [`crate::text_of`] its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file, relative to the docs root, for example `guides/retries.mdx`.
    pub path: String,
    pub format: Format,
    pub front_matter: FrontMatter,
    /// The front matter's title, else the first heading of level one.
    pub title: Option<String>,
    /// All headings in order.
    pub headings: Vec<Heading>,
    /// All links and images in order, those in JSX and HTML attributes included; nothing out of code.
    pub links: Vec<Link>,
    /// Anchors that are no heading's: `id` and `name` attributes in JSX or HTML, and those that components such as
    /// accordions, steps and tabs make of their titles. In order. Ids of headings (`{#id}`) are in
    /// [`Heading::anchor`].
    pub ids: Vec<String>,
    /// The page cut at its headings, in order, empty sections left out.
    pub sections: Vec<Section>,
    /// Where the words a reader reads stand in the file: text of paragraphs, headings, table cells. No code, no
    /// destinations, no attributes, no front matter. In order, not overlapping.
    pub prose: Vec<Range<usize>>,
    /// Where code blocks and code spans stand in the file, fences included. In order.
    pub code: Vec<Range<usize>>,
    /// What could not be read as it was meant, in order of line.
    pub problems: Vec<Problem>,
}

impl Page {
    /// Every anchor a link to this page may name: headings first, then explicit ids.
    pub fn anchors(&self) -> impl Iterator<Item = &str> {
        let headings = self.headings.iter().map(|heading| heading.anchor.as_str());
        headings.filter(|anchor| !anchor.is_empty()).chain(self.ids.iter().map(String::as_str))
    }

    /// Whether `anchor` (without `#`) is somewhere on this page. Compared as written and without regard to case, as
    /// sites differ in which they do.
    pub fn has_anchor(&self, anchor: &str) -> bool {
        self.anchors().any(|known| known == anchor || known.to_lowercase() == anchor.to_lowercase())
    }

    /// Where the page is served in a tree without configuration, without a leading slash: its `slug` if it has one, else
    /// by its file. In a site of a generator, `docent_site::Layout` knows.
    pub fn site_path(&self) -> String {
        match self.front_matter.slug() {
            Some(slug) => slugged(&self.path, slug),
            None => site_path(&self.path),
        }
    }
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The words, without markup.
    pub text: String,
    /// The anchor links name, without `#`; unique on the page. Empty where the generator gives the heading none.
    pub anchor: String,
    /// The whole heading, marks included.
    pub span: Range<usize>,
}

/// A link or an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The destination as a reader of Markdown understands it: escapes and entities resolved.
    pub target: String,
    /// The destination as it stands in the file, without `<>`, quotes or parentheses. For a reference link, where its
    /// definition has it (so several links may share one).
    pub dest_span: Range<usize>,
    /// The whole link.
    pub span: Range<usize>,
    /// The words of the link, or the alternative text of an image. Empty for an attribute.
    pub text: String,
    pub kind: LinkKind,
}

/// How a link is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkKind {
    /// `[text](target)`
    Inline,
    /// `[text][label]` with a definition elsewhere in the file.
    Reference,
    /// A field of the front matter that names pages, by the rules of the generator that reads it.
    Field,
    /// `<https://…>`
    Autolink,
    /// `![alt](target)`, by reference too.
    Image,
    /// An attribute of a JSX or HTML element: `href`, `src` and their like. Of reStructuredText, a file that a directive
    /// names (`include`), and an entry of a `toctree`. Of AsciiDoc, `include` and the address of `link:`.
    Attribute { element: String, attribute: String },
}

/// What stands under one heading, up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The headings above the text, outermost first, its own last. Empty before the first heading.
    pub headings: Vec<String>,
    /// The anchor of its own heading; `None` before the first heading.
    pub anchor: Option<String>,
    /// The level of its own heading; 0 before the first heading.
    pub level: u8,
    /// The prose as read: JSX children and readable attributes such as `title` kept, imports, exports and code blocks
    /// gone. Paragraphs are separated by blank lines.
    pub text: String,
    /// Code blocks in order.
    pub code: Vec<CodeBlock>,
    /// The section as Markdown for reading, without its own heading: imports, comments, expressions and tags gone, the
    /// titles of components kept in bold, code and tables as they are.
    pub markdown: String,
    /// The section in the file, its heading included.
    pub markdown_span: Range<usize>,
}

/// A block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// The first word of the fence's info, for example `rust`.
    pub language: Option<String>,
    /// The file name or title the fence's info gives, if any.
    pub file: Option<String>,
    pub text: String,
}
