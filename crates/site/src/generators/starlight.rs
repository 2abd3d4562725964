//! Starlight sites, configured in `astro.config.*`.
//!
//! A link is a plain URL: relative to that of its page, which ends in a slash unless configured otherwise, or absolute
//! including the base path.

mod links;

use docent_markdown::{AnchorStyle, FrontMatter, slug, stem};

use super::modules::{ENDINGS, Modules};
use super::script::Script;
use super::vitepress::{site_path_of, unwrapped};
use super::{Root, RootKind, Rules};
use crate::follow::is_external;
use crate::layout::{Entries, Entry, Generator, Layout, below};
use crate::model::Site;
use crate::paths::{index_path, path_in};
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder};

/// Maximum nesting depth of a sidebar.
const DEEPEST: usize = 32;

/// Scripts that define the collections of pages, without extension.
pub(crate) const COLLECTIONS: [&str; 2] = ["src/content.config", "src/content/config"];

/// Integrations and plugins that neither add pages nor change links.
const HARMLESS: [&str; 18] = [
    "starlight",
    "sitemap",
    "mdx",
    "markdoc",
    "tailwind",
    "react",
    "vue",
    "svelte",
    "preact",
    "solid",
    "solidJs",
    "alpinejs",
    "partytown",
    "icon",
    "robotsTxt",
    "starlightLinksValidator",
    "starlightLlmsTxt",
    "starlightImageZoom",
];

/// Settings that addresses and links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct StarlightOptions {
    /// Base path of the site, without leading and trailing slash; `None` if it is computed.
    base: Option<String>,
    slashes: Slashes,
    /// Whether pages are built as files rather than as folders.
    builds_files: bool,
    /// Whether addresses are computed, so that only the build knows them.
    addresses_computed: bool,
    /// Whether the site adds plugins of its own to the Markdown parser.
    has_plugins_of_its_own: bool,
    /// Whether a plugin may rewrite the links of a page.
    changes_links: bool,
    /// Whether an integration may add pages.
    adds_pages: bool,
    /// Folders of the languages. `default_language` is that of the default one, whose pages replace missing
    /// translations.
    languages: Vec<String>,
    default_language: String,
}

/// How URLs of pages end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Slashes {
    Always,
    Never,
    /// Served as folders; URLs work with and without the trailing slash.
    #[default]
    Either,
}

pub(super) const RULES: Rules = Rules {
    reads_front_matter: true,
    hides: |_, inside| inside.rsplit('/').next().is_some_and(|name| name.starts_with('_')),
    why_hidden: |_, _| SkipReason::Partial,
    builds: |_, _, front, _| front.get("draft") != Some("true"),
    ..Rules::of(read, address, links::follow, links::write)
};

fn address(_root: &Root, inside: &str, front: &FrontMatter) -> String {
    if let Some(slug) = front.slug() {
        return index_path(slug.trim_matches('/'), &["index"]);
    }
    let parts: Vec<String> = stem(inside).unwrap_or(inside).split('/').map(slug).collect();
    index_path(&parts.join("/"), &["index"])
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

/// Reads the layout, if the folder has a configuration of Starlight.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file = ENDINGS
        .iter()
        .map(|ending| from_config_folder(tree, home, &format!("astro.config.{ending}")))
        .find(|file| has(file))?;
    let mut modules = Modules::new(tree, has);
    let config = modules.default_export(&file).map_or(Script::Computed, unwrapped);
    // The call of `starlight` is read wherever it is, as the configuration around it may be computed.
    let starlight = modules.argument_of(&file, "starlight").unwrap_or(Script::Computed);

    let content = from_config_folder(tree, home, "src/content/docs");
    let mut root = Root { folder: content, generator: Generator::Starlight, ..Root::default() };
    for (name, locale) in starlight.get("locales").map(Script::members).unwrap_or_default() {
        let language = locale.text_of("lang").unwrap_or(name).to_owned();
        if name == "root" {
            root.language = Some(language);
        } else {
            root.languages.push((name.clone(), language));
        }
    }
    let languages: Vec<String> = root.languages.iter().map(|(name, _)| name.clone()).collect();
    let pages = Root { folder: from_config_folder(tree, home, "src/pages"), kind: RootKind::Pages, ..Root::default() };
    let mut layout = Layout::of(Generator::Starlight, home, vec![root, pages]);
    layout.options.starlight = options(&config, &starlight, &languages);
    // A Markdown plugin of the site may support `{#id}`.
    let is_alone = !layout.options.starlight.has_plugins_of_its_own;
    layout.anchors = if is_alone { AnchorStyle::Starlight } else { AnchorStyle::GithubSlugger };
    let collections = COLLECTIONS
        .iter()
        .flat_map(|name| ENDINGS.map(|ending| from_config_folder(tree, home, &format!("{name}.{ending}"))));
    layout.options.starlight.addresses_computed = collections
        .filter(|file| has(file))
        .filter_map(|file| tree.text(&file))
        .any(|text| text.contains("generateId"));
    if layout.options.starlight.addresses_computed {
        layout.problem(&file, "the addresses of pages are computed; they are taken to be those of their files");
    }

    let mut walk = Walk { entries: Entries::default(), folders: Vec::new(), languages: &languages, computed: false };
    match starlight.get("sidebar") {
        Some(Script::List(items)) => walk.items(items, &[], 0),
        Some(_) => walk.computed = true,
        None => walk.computed = matches!(starlight, Script::Computed),
    }
    let computed = walk.computed;
    (layout.entries, layout.folders) = (walk.entries.by_key, walk.folders);
    for (from, to) in config.get("redirects").map(Script::members).unwrap_or_default() {
        if let Some(to) = to.text().or_else(|| to.text_of("destination")) {
            layout.redirects.push((from.clone(), to.to_owned()));
        }
    }
    if computed {
        layout.problem(
            &file,
            "the sidebar is computed in part; pages that it does not name in so many words go without their group",
        );
    }
    Some(layout)
}

fn options(config: &Script, starlight: &Script, languages: &[String]) -> StarlightOptions {
    let is_computed = matches!(config, Script::Computed);
    let harmless = |plugin: &Script| match plugin {
        Script::Call(name, _) => HARMLESS.contains(&name.as_str()),
        other => other.is("null") || other.is("false") || other.is("undefined"),
    };
    let all_harmless = |list: Option<&Script>| match list {
        None => true,
        Some(Script::List(items)) => items.iter().all(harmless),
        Some(_) => false,
    };
    let plain = |list: Option<&Script>| list.is_none_or(|list| matches!(list, Script::List(items) if items.is_empty()));
    let markdown = config.get("markdown");
    let own = ["remarkPlugins", "rehypePlugins", "processor"];
    let has_own = markdown.is_some_and(|markdown| {
        !matches!(markdown, Script::Object(_)) || own.iter().any(|name| !plain(markdown.get(name)))
    });
    let adds_pages =
        is_computed || !all_harmless(config.get("integrations")) || !all_harmless(starlight.get("plugins"));
    StarlightOptions {
        base: match config.get("base") {
            None if is_computed => None,
            None => Some(String::new()),
            Some(base) => base.text().map(|base| base.trim_matches('/').to_owned()),
        },
        slashes: match config.text_of("trailingSlash") {
            Some("always") => Slashes::Always,
            Some("never") => Slashes::Never,
            _ => Slashes::Either,
        },
        builds_files: config.get("build").and_then(|build| build.text_of("format")) == Some("file"),
        addresses_computed: false,
        has_plugins_of_its_own: has_own,
        changes_links: has_own || adds_pages,
        adds_pages,
        languages: languages.to_vec(),
        default_language: match starlight.text_of("defaultLocale") {
            None | Some("root") => String::new(),
            Some(name) => name.to_owned(),
        },
    }
}

struct Walk<'l> {
    entries: Entries,
    folders: Vec<(String, Vec<String>)>,
    /// Folders of the other languages: an entry names the translations of its page, too.
    languages: &'l [String],
    computed: bool,
}

impl Walk<'_> {
    fn items(&mut self, items: &[Script], groups: &[String], depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for item in items {
            match item {
                Script::Text(slug) => self.page(slug, None, groups),
                Script::Object(_) => self.item(item, groups, depth),
                // A group made by a function of the project's own: its name is computed, its pages are not.
                Script::Call(_, arguments) => {
                    self.computed = true;
                    if let Some(options) = arguments.iter().rev().find(|argument| argument.get("items").is_some()) {
                        self.items(options.get("items").map(Script::list).unwrap_or_default(), groups, depth + 1);
                    }
                }
                _ => self.computed = true,
            }
        }
    }

    fn item(&mut self, item: &Script, groups: &[String], depth: usize) {
        let label = item.text_of("label").map(str::to_owned);
        if let Some(slug) = item.text_of("slug") {
            self.page(slug, label.clone(), groups);
        }
        if let Some(link) = item.text_of("link").filter(|link| !is_external(link)) {
            self.page(&site_path_of(link), label.clone(), groups);
        }
        let mut inside = groups.to_vec();
        inside.extend(label);
        match item.get("items") {
            Some(Script::List(items)) => self.items(items, &inside, depth + 1),
            Some(_) => self.computed = true,
            None => {}
        }
        match item.get("autogenerate").map(|options| options.text_of("directory")) {
            Some(Some(directory)) => {
                let directory = directory.trim_matches('/');
                self.folders.push((directory.to_owned(), inside.clone()));
                self.folders.extend(self.languages.iter().map(|language| (below(language, directory), inside.clone())));
            }
            Some(None) => self.computed = true,
            None => {}
        }
    }

    fn page(&mut self, slug: &str, title: Option<String>, groups: &[String]) {
        let path = site_path_of(slug);
        let entry = Entry { title, groups: groups.into(), ..Entry::default() };
        self.entries.add(path.clone(), entry.clone());
        // In another language the page has a title of its own.
        let order = self.entries.next;
        for language in self.languages {
            self.entries.add(below(language, &path), Entry { title: None, ..entry.clone() });
        }
        self.entries.next = order;
    }
}
