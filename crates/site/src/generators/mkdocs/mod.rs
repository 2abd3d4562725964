//! MkDocs sites, configured in `mkdocs.yml`.

mod blog;
pub(crate) mod folders;
mod generated;
mod links;
mod names;

use std::borrow::Cow;

use docent_markdown::{ActiveTokens, AnchorStyle, Depth, Field, FieldValue, FrontMatter, Page, folder, regex};
use toml::de::{DeTable, DeValue};

pub(super) use self::blog::Blog;
use self::folders::FolderNavigation;
use super::generated_pages::GeneratedPages;
use super::yaml::{self, Yaml};
use super::{Facts, Reference, Root, Rules, excluded};
use crate::glob::Globs;
use crate::groups::{self, Groups};
use crate::layout::{Generator, Layout, PageEntries, PageEntry, below};
use crate::model::{Site, front_matter};
use crate::paths::index_path;
use crate::settings;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};

pub(crate) const FILES: [&str; 2] = ["mkdocs.yml", "mkdocs.yaml"];

/// The configuration of Zensical, which reads the pages of a site and the settings of MkDocs, in TOML.
pub(crate) const ZENSICAL: &str = "zensical.toml";

/// Whether a file may be a configuration, or one that a configuration inherits from.
pub(crate) fn is_file(name: &str) -> bool {
    let ending = name.ends_with(".yml") || name.ends_with(".yaml");
    name == ZENSICAL || ending && name.strip_prefix("mkdocs").is_some_and(|rest| rest.starts_with(['.', '-', '_']))
}

/// Maximum nesting depth of the navigation, and of inherited configurations.
const MAX_DEPTH: usize = 32;

/// Settings that links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct MkDocsOptions {
    /// The folder of the pages and assets.
    pub(crate) docs: String,
    /// Base path of the site, without leading and trailing slash.
    pub(crate) base: String,
    /// Whether pages are served as files (`a.html`) rather than as folders (`a/`).
    pub(crate) file_urls: bool,
    /// Whether absolute links are file paths, relative to the docs folder.
    pub(crate) absolute_from_docs: bool,
    /// Where plug-ins make pages without a source file.
    pub(super) generated: GeneratedPages,
    /// Whether a plug-in may make the page `tags.md`.
    pub(crate) lists_tags: bool,
    /// Whether there are hooks: scripts of the site that may change pages before they are built.
    pub(crate) has_hooks: bool,
    /// The plug-in that reads the order of pages from files in their folders, if any.
    pub(crate) folder_navigation: Option<FolderNavigation>,
}

pub(super) struct MkDocs;

impl Rules for MkDocs {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| is_file(name)),
            reads_attribute_lists: true,
            index_replaces_page: true,
            follows_links: true,
            inert_fields: "\
                hide hide[] nav_title search.exclude search.boost subtitle social.cards date.created date.updated \
                readtime pin links[] links[].title slug show_root_toc_entry revision_date",
            active_tokens: ActiveTokens { attribute_lists: true, python_blocks: true, ..ActiveTokens::default() },
            program_folders: &["overrides", "theme", "hooks"],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let names = FILES.iter().chain([&ZENSICAL]);
        let file = names.map(|name| from_config_folder(tree, home, name)).find(|file| has(file))?;
        let mut text = tree.text(&file)?;
        let read = match file.ends_with(ZENSICAL) {
            true => zensical(&text),
            false => {
                yaml::read(&without_tags(&text)).map_err(|message| format!("the configuration is not YAML: {message}"))
            }
        };
        let (config, error) = match read {
            Ok(config) => (with_inherited(tree, home, config, &mut text, Depth::of(MAX_DEPTH)), None),
            Err(message) => (Yaml::Empty, Some(message)),
        };
        let docs = config.text_of("docs_dir").unwrap_or("docs");
        let folder = joined_in(tree.root(), home, docs).unwrap_or_default();
        let mut root = Root { folder: folder.clone(), generator: Generator::MkDocs, ..Root::default() };
        root.excluded = exclude_globs(&file, &config);
        let (suffixes, languages) = languages(&config);
        root.language_suffixes = suffixes;
        root.options.blogs = blog::blogs(&config);

        let mut roots = vec![root];
        for (language, is_default) in languages {
            let base_path = if is_default { String::new() } else { language.clone() };
            let folder = below(&folder, &language);
            roots.push(Root {
                folder,
                base_path,
                language: Some(language),
                generator: Generator::MkDocs,
                ..roots[0].clone()
            });
        }
        let mut layout = Layout::of(Generator::MkDocs, home, roots);
        layout.anchors = anchors(&config, &text);
        layout.options.mkdocs = MkDocsOptions {
            docs: folder.clone(),
            generated: generated::generated_pages(tree, home, &config),
            ..options(&config)
        };
        layout.templates_in_code = has_plugin(&config, "macros");
        layout.snippets = snippets(tree, &config, home, &folder);
        let folder_navigation = layout.options.mkdocs.folder_navigation.clone();
        let mut entries = PageEntries::default();
        if let Some(nav) =
            config.get("nav").filter(|_| folder_navigation.as_ref().is_none_or(FolderNavigation::keeps_nav))
        {
            let mut reader = NavReader { layout: &layout, entries };
            reader.items(nav, None, &Groups::default(), Depth::of(MAX_DEPTH));
            entries = reader.entries;
        }
        if let Some(navigation) = folder_navigation {
            folders::read(tree, &layout, &navigation, &mut entries, has);
        }
        layout.entries = entries.by_key;
        layout.redirects = redirects(&config, &layout, &folder);
        if let Some(message) = error {
            layout.problem(&file, message);
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> String {
        let mut blogs = root.options.blogs.iter();
        if let Some(address) =
            blogs.find(|blog| blog.holds(relative_path)).and_then(|blog| blog.address(relative_path, front))
        {
            return below(&root.base_path, &address);
        }
        let (stem, language) = root.without_language(relative_path);
        let path = index_path(stem, &["index", "README"]);
        let prefix = language.filter(|language| root.language_suffixes.first() != Some(language));
        below(&root.base_path, &below(prefix.map_or("", String::as_str), &path))
    }

    fn has_html_urls(&self, layout: &Layout) -> bool {
        layout.options.mkdocs.file_urls
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        let is_markdown = relative_path.ends_with(".md") || relative_path.ends_with(".markdown");
        (!is_markdown).then(|| excluded(relative_path))
    }

    fn read_front_matter(&self, root: &Root, relative_path: &str, bytes: &dyn Fn() -> Vec<u8>) -> Option<FrontMatter> {
        root.options
            .blogs
            .iter()
            .any(|blog| blog.holds(relative_path))
            .then(|| front_matter_of_post(relative_path, &bytes()))
    }

    fn is_published(&self, root: &Root, relative_path: &str, front: &FrontMatter, _has: &dyn Fn(&str) -> bool) -> bool {
        let blog = root.options.blogs.iter().find(|blog| blog.holds(relative_path));
        blog.is_none_or(|blog| !front.flag("draft") && blog.address(relative_path, front).is_some())
    }

    fn post_process(&self, layout: &Layout, text: &str, page: &mut Page) {
        if layout.options.mkdocs.has_hooks {
            // A heading without text gets its text from a hook, so its anchor is unknown.
            page.headings.iter_mut().filter(|heading| heading.text.is_empty()).for_each(|h| h.anchor.clear());
            page.links.extend(links::unused_definitions(text, page));
            page.links.sort_by_key(|link| (link.span.start, link.dest_span.start));
        }
        let post = layout.root(&page.path).and_then(|root| Some((root, root.relative_path(&page.path)?)));
        if post.is_some_and(|(root, relative_path)| root.options.blogs.iter().any(|blog| blog.holds(relative_path))) {
            page.links.splice(0..0, blog::links(text, &page.front_matter));
        }
    }

    fn references_to_page(&self, tree: &dyn Tree, site: &Site, file: &str) -> Vec<Reference> {
        names::references_to_page(tree, site, file)
    }
}

/// The settings of a `zensical.toml` as MkDocs has them: tables of extensions and plug-ins are lists.
fn zensical(text: &str) -> Result<Yaml, String> {
    let config = settings::parse(ZENSICAL, text)?;
    let Yaml::Map(members) = config.get("project").cloned().unwrap_or(config) else { return Ok(Yaml::Empty) };
    let members = members.into_iter().map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("markdown_extensions" | "plugins", Yaml::Map(members)) => {
                // A name with a dot is a table in a table.
                let parts = members.into_iter().flat_map(|(name, value)| match value {
                    Yaml::Map(inner) if ["pymdownx", "markdown", "zensical"].contains(&name.as_str()) => {
                        inner.into_iter().map(|(inner, value)| (format!("{name}.{inner}"), value)).collect()
                    }
                    value => vec![(name, value)],
                });
                Yaml::List(parts.map(|member| Yaml::Map(vec![member])).collect())
            }
            (_, value) => value,
        };
        (name, value)
    });
    Ok(Yaml::Map(members.collect()))
}

/// The navigation of a `zensical.toml`.
pub(crate) fn zensical_nav<'t>(table: &'t DeTable<'t>) -> Option<&'t toml::Spanned<DeValue<'t>>> {
    table.get("project").and_then(|project| project.get_ref().as_table()).unwrap_or(table).get("nav")
}

/// The front matter of a post, with a title derived from the post if it sets none.
fn front_matter_of_post(file: &str, bytes: &[u8]) -> FrontMatter {
    let mut front = front_matter(bytes);
    if front.title().is_none() {
        let value = FieldValue::Text(blog::title(file, bytes));
        front.fields.push(Field { name: "title".to_owned(), value });
    }
    front
}

/// A configuration merged with the one it inherits from (`INHERIT`). The text of the inherited file is appended to
/// `text`.
fn with_inherited(tree: &dyn Tree, home: &str, config: Yaml, text: &mut String, depth: Depth) -> Yaml {
    let parent = config.text_of("INHERIT").and_then(|path| joined_in(tree.root(), home, path));
    let Some((file, depth)) = parent.zip(depth.inside()) else { return config };
    let Some(parent_text) = tree.text(&file) else { return config };
    let Ok(parent) = yaml::read(&without_tags(&parent_text)) else { return config };
    text.push('\n');
    text.push_str(&parent_text);
    let mut merged = with_inherited(tree, folder(&file), parent, text, depth);
    merged.merge(config);
    merged
}

fn options(config: &Yaml) -> MkDocsOptions {
    let validation = config.get("validation");
    let links = validation.and_then(|validation| validation.get("links"));
    let absolute = [links, validation].into_iter().flatten().find_map(|part| part.get("absolute_links"));
    let url = config.text_of("site_url").unwrap_or_default();
    let path = url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
    MkDocsOptions {
        docs: String::new(),
        base: path.split(['?', '#']).next().unwrap_or_default().trim_matches('/').to_owned(),
        file_urls: config.text_of("use_directory_urls") == Some("false"),
        absolute_from_docs: absolute.and_then(Yaml::text) == Some("relative_to_docs"),
        has_hooks: config.get("hooks").is_some(),
        lists_tags: has_plugin(config, "tags"),
        generated: GeneratedPages::default(),
        folder_navigation: FolderNavigation::of(config),
    }
}

/// Removes YAML tags that only the generator understands (`!!python/name:…`, `!ENV`).
fn without_tags(text: &str) -> Cow<'_, str> {
    regex!(TAG, r"(?m)((?::|-|\[|,)[ \t]+)!+[A-Za-z][^\s\[\],]*");
    TAG.replace_all(text, "$1")
}

fn exclude_globs(file: &str, config: &Yaml) -> Globs {
    let lines = ["exclude_docs", "draft_docs"].iter().filter_map(|name| config.get(name)?.text());
    // Theme templates in the docs folder are no pages.
    let mut lines: Vec<String> = std::iter::once("/templates/").chain(lines).map(str::to_owned).collect();
    // The plug-in `exclude` compares whole paths, and its `*` matches slashes, too.
    let globs = plugin(config, "exclude").and_then(|options| options.get("glob"));
    let globs = globs.into_iter().flat_map(Yaml::texts);
    lines.extend(globs.map(|glob| match glob.contains('/') {
        true => format!("/{}", glob.replace("**", "*").replace('*', "**")),
        false => glob.to_owned(),
    }));
    Globs::ignored(file, &lines.join("\n"))
}

/// The options of a plug-in, if the configuration lists it with options.
pub(super) fn plugin<'y>(config: &'y Yaml, wanted: &str) -> Option<&'y Yaml> {
    let plugins = config.get("plugins")?;
    let listed = plugins.list().iter().find_map(|item| item.get(wanted));
    listed.or_else(|| plugins.get(wanted))
}

/// Whether the configuration lists a plug-in, with or without options.
pub(super) fn has_plugin(config: &Yaml, wanted: &str) -> bool {
    let plugins = config.list_of("plugins");
    let is = |name: &str| name == wanted || name.strip_prefix("material/") == Some(wanted);
    plugin(config, wanted).is_some() || plugins.iter().any(|item| item.text().is_some_and(is))
}

/// Languages in file name suffixes, the default one first; and languages in folders, each with whether it is the
/// default.
fn languages(config: &Yaml) -> (Vec<String>, Vec<(String, bool)>) {
    let Some(options) = plugin(config, "i18n") else { return Default::default() };
    let listed = options.list_of("languages");
    let mut languages: Vec<(String, bool)> = listed
        .iter()
        .filter_map(|language| {
            let is_default = language.text_of("default") == Some("true");
            Some((language.get("locale")?.text()?.to_owned(), is_default))
        })
        .collect();
    languages.sort_by_key(|(_, is_default)| !is_default);
    match options.text_of("docs_structure") {
        Some("folder") => (Vec::new(), languages),
        _ => (languages.into_iter().map(|(language, _)| language).collect(), Vec::new()),
    }
}

/// The style of heading anchors. YAML tags are removed before parsing, so the function in the tag of `slugify` is
/// looked up in the text.
fn anchors(config: &Yaml, text: &str) -> AnchorStyle {
    regex!(SLUGIFY, r"toc\s*:[^\n]*\n(?:[^\n]*\n){0,12}?\s*slugify\s*:\s*!!python/\S+?:([\w.]+)");
    let extensions = config.get("markdown_extensions");
    let listed = extensions.into_iter().flat_map(Yaml::list).find_map(|item| item.get("toc"));
    let toc = listed.or_else(|| extensions.and_then(|extensions| extensions.get("toc")));
    let Some(slugify) = toc.and_then(|toc| toc.get("slugify")) else { return AnchorStyle::Python };
    let name = SLUGIFY.captures(text).and_then(|found| found.get(1)).map_or("", |name| name.as_str());
    let case = slugify.get("kwds").and_then(|options| options.get("case")).and_then(Yaml::text);
    match (name, case) {
        ("pymdownx.slugs.slugify", None | Some("none")) | ("pymdownx.slugs.uslugify_cased", _) => {
            AnchorStyle::PymdownCased
        }
        (name, _) if name.starts_with("pymdownx.slugs.") => AnchorStyle::Pymdown,
        ("markdown.extensions.toc.slugify_unicode", _) => AnchorStyle::PythonUnicode,
        _ => AnchorStyle::Python,
    }
}

fn snippets(tree: &dyn Tree, config: &Yaml, home: &str, docs: &str) -> Vec<String> {
    let extensions = config.list_of("markdown_extensions");
    let base_paths = extensions.iter().find_map(|item| item.get("pymdownx.snippets")?.get("base_path"));
    let mut folders: Vec<String> = base_paths
        .into_iter()
        .flat_map(Yaml::texts)
        .filter_map(|path| joined_in(tree.root(), home, path.trim_start_matches("!relative ")))
        .collect();
    folders.extend([home.to_owned(), docs.to_owned()]);
    folders.dedup();
    folders
}

struct NavReader<'l> {
    layout: &'l Layout,
    entries: PageEntries,
}

impl NavReader<'_> {
    fn items(&mut self, node: &Yaml, title: Option<&str>, groups: &Groups, depth: Depth) {
        let Some(depth) = depth.inside() else { return };
        match node {
            Yaml::Text(path) => self.page(path, title, groups),
            Yaml::List(items) => {
                let inner_groups = groups::inside(groups, title);
                for item in items {
                    self.items(item, None, &inner_groups, depth);
                }
            }
            Yaml::Map(members) => {
                for (title, node) in members {
                    self.items(node, Some(title), groups, depth);
                }
            }
            Yaml::Empty => {}
        }
    }

    fn page(&mut self, path: &str, title: Option<&str>, groups: &Groups) {
        if crate::link_target::is_external(path) || !crate::link_target::has_page_ending(path) {
            return;
        }
        // With a folder per language, the path names a page in each.
        for folder in self.layout.folders() {
            let file = below(folder, path.trim_start_matches("./"));
            let Some(root) = self.layout.root(&file) else { continue };
            let key = root.path(&file, &FrontMatter::default());
            self.entries.add(key, PageEntry::named(title.map(str::to_owned), groups));
        }
    }
}

/// The redirects of the plug-in `redirects`, which maps old files to new ones.
fn redirects(config: &Yaml, layout: &Layout, folder: &str) -> Vec<(String, String)> {
    let Some(map) = plugin(config, "redirects").and_then(|options| options.get("redirect_maps")) else {
        return Vec::new();
    };
    // The plug-in derives addresses from file names alone, even in the folder of a language.
    let root = layout.roots.iter().find(|root| root.folder == folder);
    let path = |file: &str| {
        let file = below(folder, file.split('#').next().unwrap_or(file));
        root.map_or_else(String::new, |root| root.path(&file, &FrontMatter::default()))
    };
    map.members()
        .iter()
        .filter_map(|(from, to)| {
            let to = to.text()?;
            let destination = match crate::link_target::is_external(to) {
                true => to.to_owned(),
                false => {
                    let anchor = to.find('#').map_or("", |at| &to[at..]);
                    format!("/{}{anchor}", path(to))
                }
            };
            Some((format!("/{}", path(from)), destination))
        })
        .collect()
}

#[cfg(test)]
mod tests;
