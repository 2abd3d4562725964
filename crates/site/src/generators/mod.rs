//! The supported generators, one folder each with its [`Rules`]. [`rules()`] looks up the rules of a generator;
//! `configured` detects which generator a tree has.

pub(crate) mod antora;
mod browser;
pub(crate) mod by_names;
pub(crate) mod configured;
pub(crate) mod docfx;
pub(crate) mod docusaurus;
mod front_links;
mod fumadocs;
pub(crate) mod gitbook;
pub(crate) mod hugo;
pub(crate) mod jekyll;
pub(crate) mod mdbook;
pub(crate) mod mintlify;
pub(crate) mod mkdocs;
mod modules;
pub(crate) mod next;
mod nextra;
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

use crate::follow::{LinkRequest, LinkSyntax, ParsedLink};
use crate::glob::Globs;
use crate::layout::{Generator, Layout};
use crate::model::{Site, Target};
use crate::skip_reason::SkipReason;
use crate::tree::Tree;

/// A folder of pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    /// `""` for the whole tree.
    pub(crate) folder: String,
    /// The site path that its pages are served below.
    pub(crate) base_path: String,
    pub(crate) generator: Generator,
    pub(crate) kind: RootKind,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
    /// Key of the navigation that names its pages by id; empty if pages are named by path.
    pub(crate) navigation: String,
    /// Files that are no pages, relative to the folder.
    pub(crate) excluded: Globs,
    /// If set, only these files are pages.
    pub(crate) included: Option<Globs>,
    /// Display names of its folders, by their path in the tree.
    pub(crate) labels: HashMap<String, String>,
    /// Rewrites of file paths, relative to the folder: from, to.
    pub(crate) rewrites: Vec<(String, String)>,
    /// Site paths, each with the language of what is served below it.
    pub(crate) languages: Vec<(String, String)>,
    /// Languages that file names may end in (`page.fr.md`), the default one first.
    pub(crate) language_suffixes: Vec<String>,
    /// Options that are specific to its generator.
    pub(crate) options: RootOptions,
}

/// The kind of pages in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RootKind {
    #[default]
    Docs,
    /// Posts, whose names begin with a date.
    Blog,
    /// Pages beside the docs; only a file named `index` is served at the path of its folder.
    Pages,
}

/// Options of a folder of pages that are specific to one generator.
#[derive(Debug, Clone, Default)]
pub(crate) struct RootOptions {
    antora: Option<antora::Module>,
    /// Blogs of MkDocs.
    blogs: Vec<mkdocs::Blog>,
    docfx: Option<Arc<docfx::Content>>,
    docusaurus: docusaurus::PluginInstance,
    hugo: Option<Arc<hugo::HugoSettings>>,
    jekyll: Option<Arc<jekyll::JekyllSettings>>,
}

/// Options of a configuration that are specific to one generator.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayoutOptions {
    antora: Arc<antora::AntoraOptions>,
    docfx: docfx::DocfxOptions,
    docusaurus: docusaurus::DocusaurusSettings,
    gitbook: gitbook::GitBookOptions,
    mdbook: mdbook::MdBookOptions,
    pub(crate) mkdocs: mkdocs::MkDocsOptions,
    next: next::config::NextSettings,
    sphinx: sphinx::SphinxOptions,
    starlight: starlight::StarlightOptions,
    vitepress: vitepress::VitePressOptions,
}

/// A reference, by name, to something that a page documents or labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub name: String,
}

/// Whether the tree has a file.
type HasFile<'a> = dyn Fn(&str) -> bool + 'a;

/// The bytes of a file, read on demand.
type FileBytes<'a> = dyn Fn() -> Vec<u8> + 'a;

/// The rules of one generator.
pub(crate) struct Rules {
    /// Reads the layout of a tree that this generator builds, from its configuration in the folder `home`. `has` tells
    /// whether the tree has a file that [`Layout::files`] names.
    pub(crate) read: fn(tree: &dyn Tree, home: &str, has: &HasFile<'_>) -> Option<Layout>,
    /// The address of a page, without leading and trailing slash; `""` is the home page. `relative_path` is the path of
    /// the file relative to the folder of the root. Called for pages of [`RootKind::Pages`] only if the generator is
    /// Docusaurus.
    pub(crate) address: fn(root: &Root, relative_path: &str, front: &FrontMatter) -> String,
    /// The file that lists the pages, if that is not the configuration.
    pub(crate) summary: fn(layout: &Layout) -> Option<String>,
    /// Whether front matter may set the address of a page, so that all of it has to be read to know the site.
    pub(crate) reads_front_matter: bool,
    /// Reads the front matter that the address of a page depends on, where not all front matter is read.
    pub(crate) read_front_matter: fn(root: &Root, relative_path: &str, bytes: &FileBytes<'_>) -> Option<FrontMatter>,
    /// Whether the generator removes front matter from pages. Otherwise, readers see it as text.
    pub(crate) strips_front_matter: bool,
    /// Whether files of a format become pages.
    pub(crate) reads: fn(format: Format) -> bool,
    /// Parses a page, if the generator's Markdown has links that the common parser does not know.
    pub(crate) parse: fn(file: &str, bytes: &[u8]) -> Option<Page>,
    /// The anchor style of notebooks, if it is not that of other pages.
    pub(crate) notebook_anchors: fn(layout: &Layout) -> Option<AnchorStyle>,
    /// The options that affect how pages are parsed, as text to be compared with those of another layout.
    pub(crate) parse_options_key: fn(layout: &Layout) -> String,
    /// The attributes that an AsciiDoc page is parsed with; `root` is the path of the docs root in its repository.
    pub(crate) attributes: fn(layout: &Layout, root: &str, file: &str) -> Option<AdocAttributes>,
    /// Corrects a parsed page by rules of the generator: adds links that only it reads, and clears anchors that only a
    /// build knows. `text` is the source that was parsed.
    pub(crate) post_process: fn(layout: &Layout, text: &str, page: &mut Page),
    /// Whether a file in the folder of a root is no page; `relative_path` is its path relative to that folder.
    pub(crate) hides: fn(root: &Root, relative_path: &str) -> bool,
    /// Sidebar files that name pages by id, each with the key of its navigation ([`Root::navigation`]).
    pub(crate) sidebars: fn(layout: &Layout) -> &[(String, String)],
    /// Why a file is no page, if [`Rules::hides`] says that it is none.
    pub(crate) why_hidden: fn(root: &Root, relative_path: &str) -> SkipReason,
    /// Why the options exclude a file of the site from its pages, if they do.
    pub(crate) skips: fn(layout: &Layout, file: &str) -> Option<SkipReason>,
    /// Whether a file in the folder of a root is a page of the published site; drafts are not. `has` tells whether a
    /// file exists.
    pub(crate) is_published: fn(root: &Root, relative_path: &str, front: &FrontMatter, has: &HasFile<'_>) -> bool,
    /// Whether the URL of a page ends in a slash, where the configuration leaves that to the page.
    pub(crate) is_directory: fn(root: &Root, relative_path: &str, front: &FrontMatter) -> bool,
    /// Addresses from which a page's front matter redirects to it, without leading slash.
    pub(crate) aliases: fn(root: &Root, file: &str, front: &FrontMatter, address: &str) -> Vec<String>,
    /// The front matter field of a page that redirects an address to that page, and the address in the form of that
    /// field. `file` is the page that is served at the address now.
    pub(crate) alias: fn(root: &Root, file: &str, address: &str) -> Option<(&'static str, String)>,
    /// Whether a file is a partial, which other pages include, judged by its name.
    pub(crate) is_partial: fn(file: &str) -> bool,
    /// Whether a link that is only an anchor (`#name`), in a file of this format, may refer to something other than a
    /// place on its page, such as a label on any page, so that only a build can resolve it.
    pub(crate) is_label: fn(format: Format, anchor: &str) -> bool,
    /// The labels by which other pages may refer to places on a page, each with its anchor.
    pub(crate) labels: fn(format: Format, text: &str) -> Vec<(String, String)>,
    /// Whether all pages have to be read for their labels.
    pub(crate) reads_labels: bool,
    /// References in pages and source code to names that only this page documents and that resolve from anywhere.
    pub(crate) references_to_page: fn(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference>,
    /// References in source code, whose docstrings are shown on pages, to a page or to one of its labels.
    pub(crate) named_in_sources: fn(tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference>,
    /// Resolves a target in AsciiDoc that is a name; `None` if it is a URL like any other.
    pub(crate) resolve_name: fn(site: &Site, from: &str, target: &str, syntax: LinkSyntax) -> Option<Target>,
    /// Resolves a link as this generator does, and then a browser.
    pub(crate) follow: fn(site: &Site, link: &ParsedLink<'_>) -> Target,
    /// The anchor of a link after the build, made from the anchor in the source.
    pub(crate) anchor: fn(layout: &Layout, written: String, syntax: LinkSyntax) -> String,
    /// Resolves a target that contains a template or an expression.
    pub(crate) resolve_template: fn(site: &Site, from: &str, target: &str) -> Target,
    /// Writes a link in the style of the site. [`Wanted::like`] is the link that it replaces, whose style it takes.
    pub(crate) write: fn(site: &Site, wanted: &LinkRequest<'_>) -> String,
}

impl Rules {
    /// The rules of a generator: these functions, and for everything else what most generators do.
    const fn of(
        read: fn(&dyn Tree, &str, &HasFile<'_>) -> Option<Layout>,
        address: fn(&Root, &str, &FrontMatter) -> String,
        follow: fn(&Site, &ParsedLink<'_>) -> Target,
        write: fn(&Site, &LinkRequest<'_>) -> String,
    ) -> Self {
        Self {
            read,
            address,
            summary: |_| None,
            reads_front_matter: false,
            read_front_matter: |_, _, _| None,
            strips_front_matter: true,
            reads: |format| format.is_markdown(),
            parse: |_, _| None,
            notebook_anchors: |_| None,
            parse_options_key: |_| String::new(),
            attributes: |_, _, _| None,
            post_process: |_, _, _| {},
            hides: |_, _| false,
            sidebars: |_| &[],
            why_hidden: |_, relative_path| {
                let is_usual = is_markdown(relative_path) && Format::of(relative_path) == Format::Markdown;
                if is_usual { SkipReason::Excluded } else { SkipReason::Unsupported }
            },
            skips: |_, _| None,
            is_published: |_, _, _, _| true,
            is_directory: |_, _, _| false,
            aliases: |_, _, _, _| Vec::new(),
            alias: |_, _, _| None,
            is_partial,
            is_label: |_, _| false,
            labels: |_, _| Vec::new(),
            reads_labels: false,
            references_to_page: |_, _, _| Vec::new(),
            named_in_sources: |_, _, _| Vec::new(),
            resolve_name: |_, from, target, syntax| {
                let (before, rest) = target.split_once(':')?;
                let is_name = Format::of(from) == Format::Adoc
                    && syntax != LinkSyntax::Html
                    && !rest.starts_with("//")
                    && !["mailto", "data", "tel"].contains(&before);
                is_name.then_some(Target::NotUnderstood)
            },
            follow,
            anchor: |_, written, _| written,
            resolve_template: |_, _, _| Target::NotUnderstood,
            write,
        }
    }
}

/// The generators, in the order in which their configurations are looked for. Jekyll comes later, see `configured`.
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

/// Whether a file is the main configuration of a generator; `folder` is relative to the folder of the site.
pub(crate) fn is_main_configuration(generator: Generator, folder: &str, name: &str) -> bool {
    let script = |stem: &str| {
        name.strip_prefix(stem)
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|ending| SCRIPT_EXTENSIONS.contains(&ending))
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

pub(crate) use modules::SCRIPT_EXTENSIONS;
