//! Starlight sites, configured in `astro.config.*`.
//!
//! A link is a plain URL: relative to that of its page, which ends in a slash unless configured otherwise, or absolute
//! including the base path.

mod links;

use docent_markdown::{AnchorStyle, Depth, FrontMatter, has_word, slug, stem};

use super::modules::{Modules, SCRIPT_EXTENSIONS, find_script, is_script};
use super::script_value::ScriptValue;
use super::vitepress::{site_path_of, unwrapped};
use super::{Facts, HasFile, Root, RootKind, Rules};
use crate::groups::{self, Groups};
use crate::layout::{Generator, Layout, PageEntries, PageEntry, below};
use crate::link_target::is_external;
use crate::model::Site;
use crate::paths::{index_path, path_in};
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder};

/// Maximum nesting depth of a sidebar.
const MAX_DEPTH: usize = 32;

/// Scripts that define the collections of pages, without extension.
pub(crate) const COLLECTIONS: [&str; 2] = ["src/content.config", "src/content/config"];

/// Integrations and plugins that neither add pages nor change links.
const HARMLESS_PLUGINS: &str = "starlight sitemap mdx markdoc tailwind react vue svelte preact solid solidJs alpinejs \
    partytown icon robotsTxt mermaid astroMermaid d2 astroD2 serviceWorker expressiveCode astroExpressiveCode compress \
    starlightLinksValidator starlightLlmsTxt starlightImageZoom starlightUtils starlightSidebarTopics \
    starlightHeadingBadges starlightScrollToTop";

/// Settings that addresses and links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct StarlightOptions {
    /// Base path of the site, without leading and trailing slash; `None` if it is computed.
    base: Option<String>,
    trailing_slash: TrailingSlash,
    /// Whether pages are built as files rather than as folders.
    builds_files: bool,
    /// Whether addresses are computed, so that only the build knows them.
    addresses_computed: bool,
    /// Whether the site adds plugins of its own to the Markdown parser.
    has_custom_parser_plugins: bool,
    /// Whether a plugin may rewrite the links of a page.
    changes_links: bool,
    /// Whether an integration may add pages anywhere.
    adds_pages: bool,
    /// Site paths below which plugins add pages, in each language.
    plugin_paths: Vec<String>,
    /// Folders of the languages. `default_language` is that of the default one, whose pages replace missing
    /// translations.
    languages: Vec<String>,
    default_language: String,
}

/// How URLs of pages end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TrailingSlash {
    Always,
    Never,
    /// Served as folders; URLs work with and without the trailing slash.
    #[default]
    Either,
}

pub(super) struct Starlight;

impl Rules for Starlight {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| is_script(name, "astro.config")),
            reads_front_matter: true,
            has_plain_underscore_folders: true,
            inert_fields: "\
                template=doc|splash editUrl lastUpdated tableOfContents tableOfContents.minHeadingLevel \
                tableOfContents.maxHeadingLevel sidebar.label sidebar.order sidebar.hidden sidebar.badge \
                sidebar.badge.text sidebar.badge.variant prev prev.link prev.label next next.link next.label \
                banner.content hero.title hero.tagline hero.image.file hero.image.alt hero.image.dark hero.image.light \
                hero.actions[].text hero.actions[].link hero.actions[].icon hero.actions[].variant",
            components: "Fragment",
            program_folders: &["src/layouts", "src/components"],
            shows_front_links: true,
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = find_script(tree, home, "astro.config", has)?;
        let mut modules = Modules::new(tree, has);
        let config = modules.default_export(&file).map_or(ScriptValue::Computed, unwrapped);
        // The call of `starlight` is read wherever it is, as the configuration around it may be computed.
        let starlight = modules.argument_of(&file, "starlight").unwrap_or(ScriptValue::Computed);

        let content = from_config_folder(tree, home, "src/content/docs");
        let mut root = Root { folder: content, generator: Generator::Starlight, ..Root::default() };
        for (name, locale) in starlight.members_of("locales") {
            let language = locale.text_of("lang").unwrap_or(name).to_owned();
            if name == "root" {
                root.language = Some(language);
            } else {
                root.languages.push((name.clone(), language));
            }
        }
        let languages: Vec<String> = root.languages.iter().map(|(name, _)| name.clone()).collect();
        let pages =
            Root { folder: from_config_folder(tree, home, "src/pages"), kind: RootKind::Pages, ..Root::default() };
        let mut layout = Layout::of(Generator::Starlight, home, vec![root, pages]);
        layout.options.starlight = options(&config, &starlight, &languages);
        // A Markdown plugin of the site may support `{#id}`.
        let has_default_parser = !layout.options.starlight.has_custom_parser_plugins;
        layout.anchors = if has_default_parser { AnchorStyle::Starlight } else { AnchorStyle::GithubSlugger };
        let collections = COLLECTIONS.iter().flat_map(|name| {
            SCRIPT_EXTENSIONS.map(|ending| from_config_folder(tree, home, &format!("{name}.{ending}")))
        });
        layout.options.starlight.addresses_computed = collections
            .filter(|file| has(file))
            .filter_map(|file| tree.text(&file))
            // Other collections may compute their ids where that of the docs is loaded as usual.
            .any(|text| text.contains("generateId") && !text.contains("docsLoader()"));
        if layout.options.starlight.addresses_computed {
            layout.problem(&file, "the addresses of pages are computed; they are taken to be those of their files");
        }

        let mut reader = SidebarReader {
            entries: PageEntries::default(),
            folders: Vec::new(),
            languages: &languages,
            is_computed: false,
        };
        match starlight.get("sidebar") {
            Some(ScriptValue::List(items)) => reader.items(items, &Groups::default(), Depth::of(MAX_DEPTH)),
            Some(_) => reader.is_computed = true,
            None => reader.is_computed = matches!(starlight, ScriptValue::Computed),
        }
        let is_computed = reader.is_computed;
        (layout.entries, layout.folders) = (reader.entries.by_key, reader.folders);
        for (from, to) in config.members_of("redirects") {
            if let Some(to) = to.text().or_else(|| to.text_of("destination")) {
                layout.redirects.push((from.clone(), to.to_owned()));
            }
        }
        if is_computed {
            layout.problem(
                &file,
                "the sidebar is computed in part; pages that it does not name in so many words go without their group",
            );
        }
        Some(layout)
    }

    fn address(&self, _root: &Root, relative_path: &str, front: &FrontMatter) -> String {
        if let Some(slug) = front.slug() {
            return index_path(slug.trim_matches('/'), &["index"]);
        }
        let parts: Vec<String> = stem(relative_path).unwrap_or(relative_path).split('/').map(slug).collect();
        index_path(&parts.join("/"), &["index"])
    }

    fn has_html_urls(&self, layout: &Layout) -> bool {
        layout.options.starlight.builds_files
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        let is_partial = relative_path.rsplit('/').next().is_some_and(|name| name.starts_with('_'));
        is_partial.then_some(SkipReason::Partial)
    }

    fn is_published(&self, _root: &Root, _relative_path: &str, front: &FrontMatter, _has: &HasFile<'_>) -> bool {
        front.get("draft") != Some("true")
    }
}

/// The page that a sidebar entry names. The entry is a path relative to the base path, without a language folder, and
/// counts for every language.
pub(crate) fn page_of_entry<'s>(site: &'s Site, written: &str) -> Option<&'s str> {
    let is_path = !is_external(written) && !written.starts_with('.') && !written.contains(['#', '?']);
    let options = &site.layout().options.starlight;
    is_path.then(|| site.file_at(&below(&options.default_language, &site_path_of(written))))?
}

/// The sidebar entry that names a page, in the style of another entry. Only pages in the default language have entries.
pub(crate) fn entry_of_page(site: &Site, page: &str, like: &str) -> Option<String> {
    let (address, language) = (site.address(page)?, site.layout().options.starlight.default_language.as_str());
    let path = path_in(language, address)?;
    let entry = match (like.starts_with('/'), path) {
        (true, "") => "/".to_owned(),
        (true, path) => format!("/{path}{}", if like.ends_with('/') { "/" } else { "" }),
        (false, "") => "index".to_owned(),
        (false, path) => path.to_owned(),
    };
    let is_plain = !entry.contains(['"', '\'', '\\', '\n']);
    (is_plain && page_of_entry(site, &entry) == Some(page)).then_some(entry)
}

fn options(config: &ScriptValue, starlight: &ScriptValue, languages: &[String]) -> StarlightOptions {
    let is_computed = matches!(config, ScriptValue::Computed);
    let is_harmless = |plugin: &ScriptValue| match plugin {
        ScriptValue::Call(name, _) => has_word(HARMLESS_PLUGINS, name) || paths_of_plugin(plugin).is_some(),
        other => other.is("null") || other.is("false") || other.is("undefined"),
    };
    let are_harmless = |list: Option<&ScriptValue>| match list {
        None => true,
        Some(ScriptValue::List(items)) => items.iter().all(is_harmless),
        Some(_) => false,
    };
    let is_empty = |list: Option<&ScriptValue>| {
        list.is_none_or(|list| matches!(list, ScriptValue::List(items) if items.is_empty()))
    };
    let markdown = config.get("markdown");
    let parser_options = ["remarkPlugins", "rehypePlugins", "processor"];
    let has_custom_parser_plugins = markdown.is_some_and(|markdown| {
        !matches!(markdown, ScriptValue::Object(_)) || parser_options.iter().any(|name| !is_empty(markdown.get(name)))
    });
    let adds_pages =
        is_computed || !are_harmless(config.get("integrations")) || !are_harmless(starlight.get("plugins"));
    StarlightOptions {
        base: match config.get("base") {
            None if is_computed => None,
            None => Some(String::new()),
            Some(base) => base.text().map(|base| base.trim_matches('/').to_owned()),
        },
        trailing_slash: match config.text_of("trailingSlash") {
            Some("always") => TrailingSlash::Always,
            Some("never") => TrailingSlash::Never,
            _ => TrailingSlash::Either,
        },
        builds_files: config.get("build").and_then(|build| build.text_of("format")) == Some("file"),
        addresses_computed: false,
        has_custom_parser_plugins,
        changes_links: has_custom_parser_plugins || adds_pages,
        adds_pages,
        plugin_paths: starlight.list_of("plugins").iter().filter_map(paths_of_plugin).flatten().collect(),
        languages: languages.to_vec(),
        default_language: match starlight.text_of("defaultLocale") {
            None | Some("root") => String::new(),
            Some(name) => name.to_owned(),
        },
    }
}

/// The site paths below which a plugin adds pages, if it is one that says where.
fn paths_of_plugin(plugin: &ScriptValue) -> Option<Vec<String>> {
    let ScriptValue::Call(name, arguments) = plugin else { return None };
    let options = arguments.first();
    let path = |path: Option<&str>| Some(path?.trim_matches('/').to_owned()).filter(|path| !path.is_empty());
    match name.as_str() {
        "starlightBlog" => {
            let prefix = options.and_then(|options| options.get("prefix"));
            Some(vec![path(prefix.map_or(Some("blog"), ScriptValue::text))?])
        }
        "starlightOpenAPI" => options?.list().iter().map(|schema| path(schema.text_of("base"))).collect(),
        _ => None,
    }
}

struct SidebarReader<'l> {
    entries: PageEntries,
    folders: Vec<(String, Vec<String>)>,
    /// Folders of the other languages: an entry names the translations of its page, too.
    languages: &'l [String],
    is_computed: bool,
}

impl SidebarReader<'_> {
    fn items(&mut self, items: &[ScriptValue], groups: &Groups, depth: Depth) {
        let Some(depth) = depth.inside() else { return };
        for item in items {
            match item {
                ScriptValue::Text(slug) => self.page(slug, None, groups),
                ScriptValue::Object(_) => self.item(item, groups, depth),
                // A group made by a function of the project's own: its name is computed, its pages are not.
                ScriptValue::Call(_, arguments) => {
                    self.is_computed = true;
                    if let Some(options) = arguments.iter().rev().find(|argument| argument.get("items").is_some()) {
                        self.items(options.list_of("items"), groups, depth);
                    }
                }
                _ => self.is_computed = true,
            }
        }
    }

    fn item(&mut self, item: &ScriptValue, groups: &Groups, depth: Depth) {
        let label = item.text_of("label").map(str::to_owned);
        if let Some(slug) = item.text_of("slug") {
            self.page(slug, label.clone(), groups);
        }
        if let Some(link) = item.text_of("link").filter(|link| !is_external(link)) {
            self.page(&site_path_of(link), label.clone(), groups);
        }
        let inner_groups = groups::inside(groups, label.as_deref());
        match item.get("items") {
            Some(ScriptValue::List(items)) => self.items(items, &inner_groups, depth),
            Some(_) => self.is_computed = true,
            None => {}
        }
        match item.get("autogenerate").map(|options| options.text_of("directory")) {
            Some(Some(directory)) => {
                let directory = directory.trim_matches('/');
                self.folders.push((directory.to_owned(), inner_groups.to_vec()));
                self.folders
                    .extend(self.languages.iter().map(|language| (below(language, directory), inner_groups.to_vec())));
            }
            Some(None) => self.is_computed = true,
            None => {}
        }
    }

    fn page(&mut self, slug: &str, title: Option<String>, groups: &Groups) {
        let path = site_path_of(slug);
        let entry = PageEntry::named(title, groups);
        self.entries.add(path.clone(), entry.clone());
        // In another language the page has a title of its own.
        let order = self.entries.next;
        for language in self.languages {
            self.entries.add(below(language, &path), PageEntry { title: None, ..entry.clone() });
        }
        self.entries.next = order;
    }
}

#[cfg(test)]
mod tests;
