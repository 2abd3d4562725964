//! The generators that are known, one file or folder each behind the trait [`Rules`]. [`rules()`] is the table of them; which
//! of them a tree has is decided in `configured`.

pub(crate) mod antora;
mod browser;
pub(crate) mod by_names;
pub(crate) mod configured;
pub(crate) mod docfx;
mod docfx_links;
pub(crate) mod docusaurus;
mod fumadocs;
pub(crate) mod gitbook;
mod gitbook_links;
pub(crate) mod hugo;
pub(crate) mod jekyll;
pub(crate) mod mdbook;
pub(crate) mod mintlify;
mod mintlify_links;
pub(crate) mod mkdocs;
mod mkdocs_blog;
pub(crate) mod mkdocs_folders;
mod mkdocs_links;
mod mkdocs_names;
mod modules;
pub(crate) mod next;
pub(crate) mod next_config;
mod nextra;
pub(crate) mod patterns;
mod plain;
pub(crate) mod redirects;
pub(crate) mod released;
pub(crate) mod roots;
mod script;
pub(crate) mod sphinx;
pub(crate) mod starlight;
pub(crate) mod vitepress;
pub(crate) mod yaml;

use std::collections::HashMap;
use std::sync::Arc;

use docent_markdown::{AdocAttributes, AnchorStyle, Format, FrontMatter, Page, is_markdown, is_partial};
use globset::GlobSet;

use crate::follow::{LinkSyntax, Wanted, Written};
use crate::layout::{Generator, Layout};
use crate::model::{Site, Target};
use crate::skip_reason::SkipReason;
use crate::tree::Tree;

/// A folder of pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    /// `""` for the whole tree.
    pub(crate) folder: String,
    /// The site path its pages are below.
    pub(crate) served: String,
    pub(crate) generator: Generator,
    pub(crate) kind: RootKind,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
    /// Which navigation its pages are named in, where they are named by an id and not by their path.
    pub(crate) navigation: String,
    /// Files that are no pages, relative to the folder.
    pub(crate) excluded: GlobSet,
    /// The only files that are pages, if so.
    pub(crate) included: Option<GlobSet>,
    /// Names of its folders for readers, by their path in the tree.
    pub(crate) labels: HashMap<String, String>,
    /// Paths of files that are served elsewhere: from, to, relative to the folder.
    pub(crate) rewrites: Vec<(String, String)>,
    /// Languages of what is served below a path, and that path.
    pub(crate) languages: Vec<(String, String)>,
    /// Languages that file names may end in (`page.fr.md`), the default one first.
    pub(crate) suffixes: Vec<String>,
    /// What its generator alone knows of it.
    pub(crate) options: RootOptions,
}

/// What the pages of a folder are to their generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RootKind {
    #[default]
    Docs,
    /// Posts, whose names begin with a date.
    Blog,
    /// Pages beside the docs: only `index` is its folder.
    Pages,
}

/// What one generator alone knows of a folder of pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct RootOptions {
    antora: Option<antora::Module>,
    /// Blogs of MkDocs.
    blogs: Vec<mkdocs_blog::Blog>,
    docfx: Option<Arc<docfx::Content>>,
    docusaurus: docusaurus::Instance,
    hugo: Option<Arc<hugo::HugoSettings>>,
    jekyll: Option<Arc<jekyll::JekyllSettings>>,
}

/// What a configuration says that one generator alone understands.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayoutOptions {
    antora: Arc<antora::AntoraOptions>,
    docfx: docfx::DocfxOptions,
    docusaurus: docusaurus::DocusaurusSettings,
    gitbook: gitbook::GitBookOptions,
    mdbook: mdbook::MdBookOptions,
    pub(crate) mkdocs: mkdocs::MkDocsOptions,
    next: next_config::NextSettings,
    sphinx: sphinx::SphinxOptions,
    starlight: starlight::StarlightOptions,
    vitepress: vitepress::VitePressOptions,
}

/// A place that refers to a page by a name which the page gives to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub name: String,
}

/// What sets one generator apart from the others.
pub(crate) trait Rules: Sync {
    /// The layout of a tree that this generator builds, by its configuration in the folder `home`. `has` tells whether the
    /// tree has a file that [`Layout::files`] names.
    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout>;

    /// Where a page is served, without leading slash and as a directory without trailing one: `""` is the first page.
    /// `inside` is the file's path in the root's folder. Pages of [`RootKind::Pages`] are not asked for.
    fn address(&self, root: &Root, inside: &str, front: &FrontMatter) -> String;

    /// The file that names the pages, where the configuration does not.
    fn summary(&self, _layout: &Layout) -> Option<String> {
        None
    }

    /// Whether front matter may choose a page's address, so that all of it has to be read to know the site.
    fn reads_front_matter(&self) -> bool {
        false
    }

    /// The front matter that a page's address is made of, where not all front matter is read.
    fn read_front_matter(&self, _root: &Root, _inside: &str, _bytes: &dyn Fn() -> Vec<u8>) -> Option<FrontMatter> {
        None
    }

    /// Whether front matter is taken off a page. Where it is not, readers see it as text.
    fn takes_front_matter(&self) -> bool {
        true
    }

    /// Whether pages are made of what is written in a language.
    fn reads(&self, format: Format) -> bool {
        format.is_markdown()
    }

    /// Reads a page, where the generator's Markdown has more that leads elsewhere than the parser knows.
    fn parse(&self, _file: &str, _bytes: &[u8]) -> Option<Page> {
        None
    }

    /// How the headings of notebooks get their anchors, where not as those of other pages.
    fn notebook_anchors(&self, _layout: &Layout) -> Option<AnchorStyle> {
        None
    }

    /// Which of the options decide how a page is read, to be compared with those of another layout.
    fn reading(&self, _layout: &Layout) -> String {
        String::new()
    }

    /// The attributes that a page of AsciiDoc is read with; `root` is the docs root in its repository.
    fn attributes(&self, _layout: &Layout, _root: &str, _file: &str) -> Option<AdocAttributes> {
        None
    }

    /// What the generator makes of a page beyond what its text says; `text` is what was parsed.
    fn complete(&self, _layout: &Layout, _text: &str, _page: &mut Page) {}

    /// Whether a file in the folder of a root makes no page, by its path in it.
    fn hides(&self, _root: &Root, _inside: &str) -> bool {
        false
    }

    /// Files that name pages by their ids, each with the navigation ([`Root::navigation`]) that it is.
    fn sidebars<'a>(&self, _layout: &'a Layout) -> &'a [(String, String)] {
        &[]
    }

    /// Why a file makes no page, where [`Rules::hides`] says that it makes none.
    fn why_hidden(&self, _root: &Root, inside: &str) -> SkipReason {
        let is_usual = is_markdown(inside) && Format::of(inside) == Format::Markdown;
        if is_usual { SkipReason::Excluded } else { SkipReason::Unsupported }
    }

    /// Why a file of the site makes no page, where the options say so.
    fn skips(&self, _layout: &Layout, _file: &str) -> Option<SkipReason> {
        None
    }

    /// Whether a file in the folder of a root makes a page once all is published; drafts do not. `has` tells which files
    /// there are.
    fn builds(&self, _root: &Root, _inside: &str, _front: &FrontMatter, _has: &dyn Fn(&str) -> bool) -> bool {
        true
    }

    /// Whether a page's own URL ends in a slash where the configuration leaves that to the page.
    fn is_directory(&self, _root: &Root, _inside: &str, _front: &FrontMatter) -> bool {
        false
    }

    /// Addresses from which a page's front matter redirects to it, without leading slash.
    fn aliases(&self, _root: &Root, _file: &str, _front: &FrontMatter, _address: &str) -> Vec<String> {
        Vec::new()
    }

    /// The field of a page's front matter that sends readers of an address to the page, and the address as it is written
    /// there. `file` is the page that is served at the address now.
    fn alias(&self, _root: &Root, _file: &str, _address: &str) -> Option<(&'static str, String)> {
        None
    }

    /// Whether a file's name says that it is a piece of other pages.
    fn is_part(&self, file: &str) -> bool {
        is_partial(file)
    }

    /// Whether an anchor alone (`#name`) that stands in a file of this format may name something else than a place on the page,
    /// such as a label on any page, so that only a build knows where it leads.
    fn is_label(&self, _format: Format, _anchor: &str) -> bool {
        false
    }

    /// The names by which other pages may refer to places on a page, each with its anchor.
    fn labels(&self, _format: Format, _text: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Whether all pages have to be read for their labels.
    fn reads_labels(&self) -> bool {
        false
    }

    /// Where pages and source code refer to what a page alone documents, by a name that is followed from anywhere.
    fn referring(&self, _tree: &dyn Tree, _site: &Site, _file: &str) -> Vec<Reference> {
        Vec::new()
    }

    /// Where source code, whose docstrings are shown on pages, names a page or a label of it.
    fn named_in_sources(&self, _tree: &dyn Tree, _site: &Site, _file: &str) -> Vec<Reference> {
        Vec::new()
    }

    /// What a target leads to that stands in AsciiDoc and is a name there; `None` where it is an address like any other.
    fn name(&self, _site: &Site, from: &str, target: &str, syntax: LinkSyntax) -> Option<Target> {
        let (before, rest) = target.split_once(':')?;
        let is_name = Format::of(from) == Format::Adoc
            && syntax != LinkSyntax::Html
            && !rest.starts_with("//")
            && !["mailto", "data", "tel"].contains(&before);
        is_name.then_some(Target::NotUnderstood)
    }

    /// What a link leads to, as this generator and then a browser read it.
    fn follow(&self, site: &Site, link: &Written<'_>) -> Target;

    /// The anchor that a link leads to once the page is built.
    fn anchor(&self, written: String, _syntax: LinkSyntax) -> String {
        written
    }

    /// What a target that holds a template or an expression leads to.
    fn expression(&self, _site: &Site, _from: &str, _target: &str) -> Target {
        Target::NotUnderstood
    }

    /// A link as this site writes it. What `like` is to say: the style of a link that stood there before.
    fn write(&self, site: &Site, wanted: &Wanted<'_>) -> String;
}

/// In the order in which their configurations are looked for.
pub(crate) const ALL: [Generator; 13] = [
    Generator::Mintlify,
    Generator::Docusaurus,
    Generator::VitePress,
    Generator::MkDocs,
    Generator::MdBook,
    Generator::Starlight,
    Generator::Fumadocs,
    Generator::Nextra,
    Generator::Hugo,
    Generator::Sphinx,
    Generator::Docfx,
    Generator::GitBook,
    Generator::Antora,
];

/// The rules of a generator.
pub(crate) fn rules(generator: Generator) -> &'static dyn Rules {
    match generator {
        Generator::Plain => &plain::Plain,
        Generator::Mintlify => &mintlify::Mintlify,
        Generator::Docusaurus => &docusaurus::Docusaurus,
        Generator::VitePress => &vitepress::VitePress,
        Generator::MkDocs => &mkdocs::MkDocs,
        Generator::MdBook => &mdbook::MdBook,
        Generator::Starlight => &starlight::Starlight,
        Generator::Fumadocs => &fumadocs::Fumadocs,
        Generator::Nextra => &nextra::Nextra,
        Generator::Hugo => &hugo::Hugo,
        Generator::Sphinx => &sphinx::Sphinx,
        Generator::GitBook => &gitbook::GitBook,
        Generator::Docfx => &docfx::Docfx,
        Generator::Jekyll => &jekyll::Jekyll,
        Generator::Antora => &antora::Antora,
    }
}

/// Whether a file is where a generator is told of pages, by its folder in the home of the site.
pub(crate) fn is_main_configuration(generator: Generator, folder: &str, name: &str) -> bool {
    let script = |stem: &str| {
        name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.')).is_some_and(|ending| SCRIPTS.contains(&ending))
    };
    match generator {
        Generator::Plain => false,
        Generator::Mintlify => docent_markdown::folder(name).is_empty() && ["docs.json", "mint.json"].contains(&name),
        Generator::Docusaurus => script("docusaurus.config"),
        Generator::VitePress => folder == ".vitepress" && script("config"),
        Generator::MkDocs => mkdocs::is_file(name),
        Generator::MdBook => name == "book.toml",
        Generator::Starlight => script("astro.config") || script("src/content.config"),
        Generator::Fumadocs => script("source.config"),
        Generator::Nextra => script("next.config"),
        Generator::Hugo => hugo::config::is_file(folder, name),
        Generator::Sphinx => sphinx::is_file(folder, name),
        Generator::GitBook => [".gitbook.yaml", "book.json", "book.js"].contains(&name),
        Generator::Docfx => name == "docfx.json",
        Generator::Antora => name == "antora.yml",
        Generator::Jekyll => jekyll::config::is_file(folder, name),
    }
}

pub(crate) use docusaurus::{is_category, without_configuration};
pub(crate) use fumadocs::is_of_application;
pub(crate) use patterns::globs;

pub(crate) use modules::ENDINGS as SCRIPTS;
