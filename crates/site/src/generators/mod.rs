//! The supported generators, one folder each with its [`Rules`]. [`rules()`] looks up the rules of a generator;
//! `detection` detects which generator a tree has.

pub(crate) mod antora;
mod built_site;
pub(crate) mod current_version;
pub(crate) mod detection;
pub(crate) mod docfx;
pub(crate) mod docusaurus;
pub(crate) mod fallback_links;
pub(crate) mod front_links;
mod fumadocs;
mod generated_pages;
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
pub(crate) mod roots;
mod script_value;
pub(crate) mod sphinx;
pub(crate) mod starlight;
pub(crate) mod vitepress;

use std::collections::HashMap;
use std::sync::Arc;

use docent_markdown::{ActiveTokens, AdocAttributes, Format, FrontMatter, Page, is_markdown};

use crate::glob::Globs;
use crate::layout::{Generator, Layout};
use crate::link_target::{LinkRequest, LinkSyntax, ParsedLink, retargeted_link};
use crate::model::{Site, Target};
use crate::skip_reason::SkipReason;
use crate::tree::Tree;
use roots::by_stem;

/// A folder of pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    /// `""` for the whole tree.
    pub(crate) folder: String,
    /// The docs root, relative to the site's folder of pages, where the docs root is inside of it. `folder` is then `""`.
    pub(crate) narrowed_to: String,
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
    /// Whether each page of Nextra is a folder below `app`.
    is_app_directory: bool,
}

/// Options of a configuration that are specific to one generator.
#[derive(Debug, Clone, Default)]
pub(crate) struct LayoutOptions {
    antora: Arc<antora::AntoraOptions>,
    docfx: docfx::DocfxOptions,
    pub(crate) docusaurus: docusaurus::DocusaurusSettings,
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

/// What is fixed about a generator, whatever its sites configure.
#[derive(Default)]
pub(crate) struct Facts {
    /// Whether a file is the main configuration. The folder is relative to that of the site.
    pub(crate) is_main_configuration: Option<fn(folder: &str, name: &str) -> bool>,
    /// Whether front matter may set the address of a page, so that all of it has to be read to know the site.
    pub(crate) reads_front_matter: bool,
    /// The formats of pages, if they are not those of Markdown.
    pub(crate) formats: &'static [Format],
    /// Whether the links in front matter that [`front_links`] knows are shown.
    pub(crate) shows_front_links: bool,
    /// Whether readers see front matter as text. Otherwise, it is removed from pages.
    pub(crate) shows_front_matter: bool,
    /// Whether no name marks a file as a partial, which other pages include.
    pub(crate) has_no_partials: bool,
    /// Whether a script or the generator may find ids on pages in Markdown in any letter case. Otherwise, case counts,
    /// as browsers compare ids.
    pub(crate) ids_in_any_case: bool,
    /// Whether files behind symbolic links are files like others.
    pub(crate) follows_links: bool,
    /// Whether pages that look like MDX are read as MDX, whatever their extension.
    pub(crate) reads_markdown_as_mdx: bool,
    /// Whether `{: #id }` behind an element of Markdown sets its attributes.
    pub(crate) reads_attribute_lists: bool,
    /// Whether a `README.md` beside an `index.md` is skipped, and the page `guide.md` overwritten with the index of the
    /// folder `guide/`.
    pub(crate) index_replaces_page: bool,
    /// The folder in which pages for the operations of an API are served, if it is always the same.
    pub(crate) api_folder: Option<&'static str>,
    /// Inert fields of front matter, beyond those that all generators have in common. `[]` is an item of a list, `*` any
    /// name, and behind `=` are the only inert values.
    pub(crate) inert_fields: &'static str,
    /// Components that every site has, and that lay out words.
    pub(crate) components: &'static str,
    /// What is acted on in Markdown.
    pub(crate) active_tokens: ActiveTokens,
    /// Folders whose files are all templates, even those with the ending of a picture, relative to the folder of the
    /// configuration.
    pub(crate) template_folders: &'static [&'static str],
    /// Other folders of templates, themes and data.
    pub(crate) program_folders: &'static [&'static str],
    /// Whether `_includes`, `_data` and their like, anywhere in a site, are folders like any other.
    pub(crate) has_plain_underscore_folders: bool,
    /// Extensions of pages that are expanded as templates but judged without templates.
    pub(crate) template_extensions: &'static [&'static str],
}

/// How one generator reads a tree: its configuration, which files are its pages, and where it serves them. What has a
/// default is so for most generators.
pub(crate) trait Rules: LinkRules {
    fn facts(&self) -> Facts;

    /// Reads the layout of a tree that this generator builds, from its configuration in the folder `home`. `has` tells
    /// whether the tree has a file that [`Layout::files`] names.
    fn read(&self, tree: &dyn Tree, home: &str, has: &HasFile<'_>) -> Option<Layout>;

    /// The address of a page, without leading and trailing slash; `""` is the home page. Whether its URL ends in `.html`
    /// is told by [`Rules::has_html_urls`]. `relative_path` is the path of the file relative to the folder of the root.
    /// Called for pages of [`RootKind::Pages`] only if the generator is Docusaurus.
    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        by_stem(root, relative_path)
    }

    /// Reads the front matter that the address of a page depends on, where not all front matter is read.
    fn read_front_matter(&self, _root: &Root, _relative_path: &str, _bytes: &FileBytes<'_>) -> Option<FrontMatter> {
        None
    }

    /// Why a file in the folder of a root is no page, judged by its path relative to that folder; `None` if it is one.
    fn skips_path(&self, _root: &Root, _relative_path: &str) -> Option<SkipReason> {
        None
    }

    /// Why the options exclude a file of the site from its pages, if they do.
    fn skips(&self, _layout: &Layout, _file: &str) -> Option<SkipReason> {
        None
    }

    /// Whether a file in the folder of a root is a page of the published site; drafts are not. `has` tells whether a
    /// file exists.
    fn is_published(&self, _root: &Root, _relative_path: &str, _front: &FrontMatter, _has: &HasFile<'_>) -> bool {
        true
    }

    /// Whether pages are served as files, so that their URLs end in `.html`, where addresses do not have that ending.
    fn has_html_urls(&self, _layout: &Layout) -> bool {
        false
    }

    /// Whether the URL of a page ends in a slash, where the configuration leaves that to the page.
    fn is_directory(&self, _root: &Root, _relative_path: &str, _front: &FrontMatter) -> bool {
        false
    }

    /// Addresses from which a page's front matter redirects to it, without leading slash.
    fn aliases(&self, _root: &Root, _file: &str, _front: &FrontMatter, _address: &str) -> Vec<String> {
        Vec::new()
    }

    /// The front matter field of a page that redirects an address to that page, and the address in the form of that
    /// field. `file` is the page that is served at the address now.
    fn alias(&self, _root: &Root, _file: &str, _address: &str) -> Option<(&'static str, String)> {
        None
    }

    /// Parses a page, if the generator's Markdown has links that the common parser does not know.
    fn parse(&self, _file: &str, _bytes: &[u8]) -> Option<Page> {
        None
    }

    /// The options that affect how pages are parsed, as text to be compared with those of another layout.
    fn parse_options_key(&self, layout: &Layout) -> String {
        layout.notebook_anchors.map_or_else(String::new, |style| format!("{style:?}"))
    }

    /// The attributes that an AsciiDoc page is parsed with; `root` is the path of the docs root in its repository.
    fn attributes(&self, _layout: &Layout, _root: &str, _file: &str) -> Option<AdocAttributes> {
        None
    }

    /// Corrects a parsed page by rules of the generator: adds links that only it reads, and clears anchors that only a
    /// build knows. `text` is the source that was parsed.
    fn post_process(&self, _layout: &Layout, _text: &str, _page: &mut Page) {}

    /// The labels by which other pages may refer to places on a page, each with its anchor. `text` reads the page.
    fn labels(&self, _format: Format, _text: &dyn Fn() -> String) -> Vec<(String, String)> {
        Vec::new()
    }

    /// References in pages and source code to names that only this page documents and that resolve from anywhere.
    fn references_to_page(&self, _tree: &dyn Tree, _site: &Site, _file: &str) -> Vec<Reference> {
        Vec::new()
    }

    /// References in source code, whose docstrings are shown on pages, to a page or to one of its labels.
    fn named_in_sources(&self, _tree: &dyn Tree, _site: &Site, _file: &str) -> Vec<Reference> {
        Vec::new()
    }
}

/// How one generator resolves links, and how links are written for it.
pub(crate) trait LinkRules {
    /// Resolves a link as this generator does, and then a browser.
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target;

    /// The ways to write a link in the style of the site and of [`LinkRequest::like`], the link that it replaces: the
    /// closest first, and last the one to take where none leads to the target.
    fn forms(&self, _site: &Site, _wanted: &LinkRequest<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Writes a link in the first of these forms that leads to the target; without any, by the paths of the files.
    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let mut forms = self.forms(site, wanted);
        let found = forms.iter().position(|form| site.leads_there(wanted, form));
        match found.or(forms.len().checked_sub(1)) {
            Some(at) => forms.swap_remove(at),
            None => retargeted_link(like, from, to, anchor),
        }
    }

    /// Resolves a target in AsciiDoc that is a name; `None` if it is a URL like any other.
    fn resolve_name(&self, _site: &Site, from: &str, target: &str, syntax: LinkSyntax) -> Option<Target> {
        let (before, rest) = target.split_once(':')?;
        let is_name = Format::of(from) == Format::Adoc
            && syntax != LinkSyntax::Html
            && !rest.starts_with("//")
            && !["mailto", "data", "tel"].contains(&before);
        is_name.then_some(Target::NotUnderstood)
    }

    /// Resolves a target that contains a template or an expression.
    fn resolve_template(&self, _site: &Site, _from: &str, _target: &str) -> Target {
        Target::NotUnderstood
    }

    /// Whether a link that is only an anchor (`#name`), in a file of this format, may refer to something other than a
    /// place on its page, such as a label on any page, so that only a build can resolve it.
    fn is_label(&self, _format: Format, _anchor: &str) -> bool {
        false
    }

    /// The anchor of a link after the build, made from the anchor in the source.
    fn anchor(&self, _layout: &Layout, written: String, _syntax: LinkSyntax) -> String {
        written
    }
}

impl Facts {
    /// Whether files of a format become pages.
    pub(crate) fn reads(&self, format: Format) -> bool {
        if self.formats.is_empty() { format.is_markdown() } else { self.formats.contains(&format) }
    }
}

/// Why a file that a generator does not read is no page.
fn excluded(relative_path: &str) -> SkipReason {
    match is_markdown(relative_path) && Format::of(relative_path) == Format::Markdown {
        true => SkipReason::Excluded,
        false => SkipReason::Unsupported,
    }
}

/// The generators, in the order in which their configurations are looked for. Jekyll comes later, see `detection`.
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

pub(crate) use built_site::is_index;
pub(crate) use docent_markdown::yaml;
pub(crate) use docusaurus::{is_category, without_configuration};
pub(crate) use fumadocs::is_of_application;

pub(crate) use modules::SCRIPT_EXTENSIONS;
