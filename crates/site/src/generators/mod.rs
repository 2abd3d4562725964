//! The generators that are known, one file or folder each with its [`Rules`]. [`rules()`] is the table of them; which
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

/// Whether the tree has a file.
type HasFile<'a> = dyn Fn(&str) -> bool + 'a;

/// The bytes of a file, which are read when they are asked for.
type FileBytes<'a> = dyn Fn() -> Vec<u8> + 'a;

/// What sets one generator apart from the others.
pub(crate) struct Rules {
    /// The layout of a tree that this generator builds, by its configuration in the folder `home`. `has` tells whether the
    /// tree has a file that [`Layout::files`] names.
    pub(crate) read: fn(tree: &dyn Tree, home: &str, has: &HasFile<'_>) -> Option<Layout>,
    /// Where a page is served, without leading slash and as a directory without trailing one: `""` is the first page.
    /// `inside` is the file's path in the root's folder. Pages of [`RootKind::Pages`] are not asked for.
    pub(crate) address: fn(root: &Root, inside: &str, front: &FrontMatter) -> String,
    /// The file that names the pages, where the configuration does not.
    pub(crate) summary: fn(layout: &Layout) -> Option<String>,
    /// Whether front matter may choose a page's address, so that all of it has to be read to know the site.
    pub(crate) reads_front_matter: bool,
    /// The front matter that a page's address is made of, where not all front matter is read.
    pub(crate) read_front_matter: fn(root: &Root, inside: &str, bytes: &FileBytes<'_>) -> Option<FrontMatter>,
    /// Whether front matter is taken off a page. Where it is not, readers see it as text.
    pub(crate) takes_front_matter: bool,
    /// Whether pages are made of what is written in a language.
    pub(crate) reads: fn(format: Format) -> bool,
    /// Reads a page, where the generator's Markdown has more that leads elsewhere than the parser knows.
    pub(crate) parse: fn(file: &str, bytes: &[u8]) -> Option<Page>,
    /// How the headings of notebooks get their anchors, where not as those of other pages.
    pub(crate) notebook_anchors: fn(layout: &Layout) -> Option<AnchorStyle>,
    /// Which of the options decide how a page is read, to be compared with those of another layout.
    pub(crate) reading: fn(layout: &Layout) -> String,
    /// The attributes that a page of AsciiDoc is read with; `root` is the docs root in its repository.
    pub(crate) attributes: fn(layout: &Layout, root: &str, file: &str) -> Option<AdocAttributes>,
    /// What the generator makes of a page beyond what its text says; `text` is what was parsed.
    pub(crate) complete: fn(layout: &Layout, text: &str, page: &mut Page),
    /// Whether a file in the folder of a root makes no page, by its path in it.
    pub(crate) hides: fn(root: &Root, inside: &str) -> bool,
    /// Files that name pages by their ids, each with the navigation ([`Root::navigation`]) that it is.
    pub(crate) sidebars: fn(layout: &Layout) -> &[(String, String)],
    /// Why a file makes no page, where [`Rules::hides`] says that it makes none.
    pub(crate) why_hidden: fn(root: &Root, inside: &str) -> SkipReason,
    /// Why a file of the site makes no page, where the options say so.
    pub(crate) skips: fn(layout: &Layout, file: &str) -> Option<SkipReason>,
    /// Whether a file in the folder of a root makes a page once all is published; drafts do not. `has` tells which files
    /// there are.
    pub(crate) builds: fn(root: &Root, inside: &str, front: &FrontMatter, has: &HasFile<'_>) -> bool,
    /// Whether a page's own URL ends in a slash where the configuration leaves that to the page.
    pub(crate) is_directory: fn(root: &Root, inside: &str, front: &FrontMatter) -> bool,
    /// Addresses from which a page's front matter redirects to it, without leading slash.
    pub(crate) aliases: fn(root: &Root, file: &str, front: &FrontMatter, address: &str) -> Vec<String>,
    /// The field of a page's front matter that sends readers of an address to the page, and the address as it is written
    /// there. `file` is the page that is served at the address now.
    pub(crate) alias: fn(root: &Root, file: &str, address: &str) -> Option<(&'static str, String)>,
    /// Whether a file's name says that it is a piece of other pages.
    pub(crate) is_part: fn(file: &str) -> bool,
    /// Whether an anchor alone (`#name`) that stands in a file of this format may name something else than a place on the page,
    /// such as a label on any page, so that only a build knows where it leads.
    pub(crate) is_label: fn(format: Format, anchor: &str) -> bool,
    /// The names by which other pages may refer to places on a page, each with its anchor.
    pub(crate) labels: fn(format: Format, text: &str) -> Vec<(String, String)>,
    /// Whether all pages have to be read for their labels.
    pub(crate) reads_labels: bool,
    /// Where pages and source code refer to what a page alone documents, by a name that is followed from anywhere.
    pub(crate) referring: fn(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference>,
    /// Where source code, whose docstrings are shown on pages, names a page or a label of it.
    pub(crate) named_in_sources: fn(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference>,
    /// What a target leads to that stands in AsciiDoc and is a name there; `None` where it is an address like any other.
    pub(crate) name: fn(site: &Site, from: &str, target: &str, syntax: LinkSyntax) -> Option<Target>,
    /// What a link leads to, as this generator and then a browser read it.
    pub(crate) follow: fn(site: &Site, link: &Written<'_>) -> Target,
    /// The anchor that a link leads to once the page is built.
    pub(crate) anchor: fn(written: String, syntax: LinkSyntax) -> String,
    /// What a target that holds a template or an expression leads to.
    pub(crate) expression: fn(site: &Site, from: &str, target: &str) -> Target,
    /// A link as this site writes it. What `like` is to say: the style of a link that stood there before.
    pub(crate) write: fn(site: &Site, wanted: &Wanted<'_>) -> String,
}

impl Rules {
    /// The rules of a generator that does the rest as most do.
    const fn of(
        read: fn(&dyn Tree, &str, &HasFile<'_>) -> Option<Layout>,
        address: fn(&Root, &str, &FrontMatter) -> String,
        follow: fn(&Site, &Written<'_>) -> Target,
        write: fn(&Site, &Wanted<'_>) -> String,
    ) -> Self {
        Self {
            read,
            address,
            summary: |_| None,
            reads_front_matter: false,
            read_front_matter: |_, _, _| None,
            takes_front_matter: true,
            reads: |format| format.is_markdown(),
            parse: |_, _| None,
            notebook_anchors: |_| None,
            reading: |_| String::new(),
            attributes: |_, _, _| None,
            complete: |_, _, _| {},
            hides: |_, _| false,
            sidebars: |_| &[],
            why_hidden: |_, inside| {
                let is_usual = is_markdown(inside) && Format::of(inside) == Format::Markdown;
                if is_usual { SkipReason::Excluded } else { SkipReason::Unsupported }
            },
            skips: |_, _| None,
            builds: |_, _, _, _| true,
            is_directory: |_, _, _| false,
            aliases: |_, _, _, _| Vec::new(),
            alias: |_, _, _| None,
            is_part: is_partial,
            is_label: |_, _| false,
            labels: |_, _| Vec::new(),
            reads_labels: false,
            referring: |_, _, _| Vec::new(),
            named_in_sources: |_, _, _| Vec::new(),
            name: |_, from, target, syntax| {
                let (before, rest) = target.split_once(':')?;
                let is_name = Format::of(from) == Format::Adoc
                    && syntax != LinkSyntax::Html
                    && !rest.starts_with("//")
                    && !["mailto", "data", "tel"].contains(&before);
                is_name.then_some(Target::NotUnderstood)
            },
            follow,
            anchor: |written, _| written,
            expression: |_, _, _| Target::NotUnderstood,
            write,
        }
    }
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
pub(crate) fn rules(generator: Generator) -> &'static Rules {
    match generator {
        Generator::Plain => &plain::RULES,
        Generator::Mintlify => &mintlify::RULES,
        Generator::Docusaurus => &docusaurus::RULES,
        Generator::VitePress => &vitepress::RULES,
        Generator::MkDocs => &mkdocs::RULES,
        Generator::MdBook => &mdbook::RULES,
        Generator::Starlight => &starlight::RULES,
        Generator::Fumadocs => &fumadocs::RULES,
        Generator::Nextra => &nextra::RULES,
        Generator::Hugo => &hugo::RULES,
        Generator::Sphinx => &sphinx::RULES,
        Generator::GitBook => &gitbook::RULES,
        Generator::Docfx => &docfx::RULES,
        Generator::Jekyll => &jekyll::RULES,
        Generator::Antora => &antora::RULES,
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

pub(crate) use docent_markdown::yaml;
pub(crate) use docusaurus::{is_category, without_configuration};
pub(crate) use fumadocs::is_of_application;
pub(crate) use patterns::globs;

pub(crate) use modules::ENDINGS as SCRIPTS;
