//! Docusaurus sites, configured in `docusaurus.config.*`, with sidebars, versions and translations.

mod addresses;
mod links;

use std::collections::{HashMap, HashSet};

use docent_markdown::{AnchorStyle, FrontMatter};

pub(crate) use self::addresses::{id, without_number};
use super::modules::{ENDINGS, Modules};
use super::patterns::globs;
use super::roots::id_key;
use super::script::Script;
use super::vitepress::unwrapped;
use super::yaml::{self, Yaml};
use super::{Root, RootKind, RootOptions, Rules};
use crate::layout::{Entries, Entry, Generator, Layout, below};
use crate::tree::{Tree, from_config_folder, joined_in};
use crate::variants::Stage;

/// Maximum nesting depth of a sidebar.
const DEEPEST: usize = 32;

/// Files that are no pages unless the option `exclude` says otherwise.
const NEVER: [&str; 4] = ["**/_*.{js,jsx,ts,tsx,md,mdx}", "**/_*/**", "**/*.test.{js,jsx,ts,tsx}", "**/__tests__/**"];

/// Whether a file sets the label of a folder of pages.
pub(crate) fn is_category(name: &str) -> bool {
    matches!(name, "_category_.json" | "_category_.yml" | "_category_.yaml")
}

pub(super) const RULES: Rules = Rules {
    reads_front_matter: true,
    builds,
    is_directory: addresses::is_directory,
    sidebars: |layout| &layout.options.docusaurus.sidebars,
    ..Rules::of(read, addresses::address, links::follow, links::write)
};

fn builds(root: &Root, inside: &str, front: &FrontMatter, has: &dyn Fn(&str) -> bool) -> bool {
    // A translated file without an original is ignored.
    let original = root.options.docusaurus.folders.last().filter(|original| **original != root.folder);
    !front.flag("draft") && original.is_none_or(|original| has(&below(original, inside)))
}

/// Settings of the whole site.
#[derive(Debug, Clone, Default)]
pub(crate) struct DocusaurusSettings {
    /// Base path of the site, without leading and trailing slash; `None` if it is computed.
    base: Option<String>,
    /// Whether URLs of pages end in a slash; `None` leaves that to the pages.
    trailing_slash: Option<bool>,
    /// Languages besides the default one.
    languages: Vec<String>,
    /// Folders whose files are served unchanged.
    static_folders: Vec<String>,
    /// Addresses of generated index pages, which have no file.
    generated: HashSet<String>,
    /// Sidebar files, each with the key of its navigation ([`Root::navigation`]).
    sidebars: Vec<(String, String)>,
    redirects_are_computed: bool,
    /// Whether there are plug-ins unknown to these rules, which may add pages.
    has_other_plugins: bool,
}

/// The instance of a content plug-in that a folder of pages belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Instance {
    pub(super) name: String,
    /// Folders in which linked files are looked up: that of the translation first, the untranslated one last.
    pub(super) folders: Vec<String>,
    /// Whether number prefixes of names stay in addresses.
    pub(super) keeps_numbers: bool,
}

/// Reads the layout, if the folder has a configuration of Docusaurus.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file = ENDINGS
        .iter()
        .map(|ending| from_config_folder(tree, home, &format!("docusaurus.config.{ending}")))
        .find(|file| has(file))?;
    let mut modules = Modules::new(tree, has);
    let config = modules.default_export(&file).map_or(Script::Computed, unwrapped);
    let mut site = Site {
        tree,
        home,
        modules,
        layout: Layout::of(Generator::Docusaurus, home, Vec::new()),
        languages: Vec::new(),
        default: None,
        entries: Entries::default(),
        computed: false,
    };
    site.languages_of(&config);
    site.settings_of(&config);
    site.plugins_of(&config);
    let Site { mut layout, entries, computed, .. } = site;
    layout.entries = entries.by_key;
    layout.anchors = AnchorStyle::Docusaurus;
    let anchors = config.get("markdown").and_then(|markdown| markdown.get("anchors"));
    layout.anchors_computed =
        anchors.and_then(|anchors| anchors.get("maintainCase")).is_some_and(|option| !option.is("false"));
    label_folders(tree, &mut layout);
    if computed {
        layout.problem(
            &file,
            "the configuration is computed in part; what it does not say in so many words is taken to be as usual",
        );
    }
    Some(layout)
}

/// The layout of a folder of pages whose configuration is elsewhere, recognised by its `_category_` files.
pub(crate) fn without_configuration(tree: &dyn Tree, configurations: &[&str]) -> Option<Layout> {
    configurations.iter().any(|file| is_category(name_of(file))).then_some(())?;
    let root = Root { generator: Generator::Docusaurus, excluded: globs(NEVER.into_iter()), ..Root::default() };
    let mut layout = Layout::of(Generator::Docusaurus, "", vec![root]);
    label_folders(tree, &mut layout);
    Some(layout)
}

fn name_of(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Reads the display names of folders from their `_category_` files.
fn label_folders(tree: &dyn Tree, layout: &mut Layout) {
    let mut labels: HashMap<String, String> = HashMap::new();
    for file in tree.paths().into_iter().filter(|file| is_category(name_of(file))) {
        let Some(text) = tree.text(&file) else { continue };
        match yaml::read(&text) {
            Ok(category) => {
                if let Some(label) = category.get("label").and_then(Yaml::text) {
                    labels.insert(docent_markdown::folder(&file).to_owned(), label.to_owned());
                }
            }
            Err(message) => layout.problem(&file, format!("this file cannot be read: {message}")),
        }
    }
    for root in layout.roots.iter_mut().filter(|root| root.kind == RootKind::Docs) {
        let inside = labels
            .iter()
            .filter(|(folder, _)| root.folder.is_empty() || folder.starts_with(&format!("{}/", root.folder)));
        root.labels = inside.map(|(folder, label)| (folder.clone(), label.clone())).collect();
    }
}

struct Site<'t> {
    tree: &'t dyn Tree,
    home: &'t str,
    modules: Modules<'t>,
    layout: Layout,
    /// Languages besides the default one.
    languages: Vec<String>,
    default: Option<String>,
    entries: Entries,
    computed: bool,
}

impl Site<'_> {
    fn languages_of(&mut self, config: &Script) {
        let Some(options) = config.get("i18n") else { return };
        let default = options.text_of("defaultLocale");
        self.languages = match options.get("locales") {
            Some(Script::List(names)) => {
                let names = names.iter().filter_map(Script::text).filter(|name| Some(*name) != default);
                names.map(str::to_owned).collect()
            }
            Some(_) => {
                self.computed = true;
                Vec::new()
            }
            None => Vec::new(),
        };
        self.default = default.filter(|_| !self.languages.is_empty()).map(str::to_owned);
        self.layout.declared.language.clone_from(&self.default);
    }

    fn settings_of(&mut self, config: &Script) {
        let folders = match config.get("staticDirectories") {
            Some(Script::List(folders)) => folders.iter().filter_map(Script::text).map(str::to_owned).collect(),
            _ => vec!["static".to_owned()],
        };
        let folders = folders.iter().filter_map(|folder| joined_in(self.tree.root(), self.home, folder)).collect();
        self.layout.options.docusaurus = DocusaurusSettings {
            base: config.text_of("baseUrl").map(|base| base.trim_matches('/').to_owned()),
            trailing_slash: config.get("trailingSlash").and_then(|flag| match flag {
                Script::Word(word) if word == "true" => Some(true),
                Script::Word(word) if word == "false" => Some(false),
                _ => None,
            }),
            languages: self.languages.clone(),
            static_folders: folders,
            ..DocusaurusSettings::default()
        };
    }

    fn plugins_of(&mut self, config: &Script) {
        let presets = config.get("presets").map(Script::list).unwrap_or_default();
        let (mut docs, mut blog, mut pages) = (Vec::new(), Vec::new(), Vec::new());
        let usual = || Script::Object(Vec::new());
        for preset in presets {
            match named(preset) {
                Some((name, options)) if name.ends_with("classic") => {
                    docs.push(options.get("docs").cloned().unwrap_or_else(usual));
                    blog.push(options.get("blog").cloned().unwrap_or_else(usual));
                    pages.push(options.get("pages").cloned().unwrap_or_else(usual));
                }
                Some((_, options)) => {
                    self.layout.options.docusaurus.has_other_plugins = true;
                    docs.extend(options.get("docs").cloned());
                    blog.extend(options.get("blog").cloned());
                    pages.extend(options.get("pages").cloned());
                }
                None => self.computed = true,
            }
        }
        for plugin in config.get("plugins").map(Script::list).unwrap_or_default() {
            match named(plugin) {
                Some((name, options)) if name.ends_with("content-docs") => docs.push(options),
                Some((name, options)) if name.ends_with("content-blog") => blog.push(options),
                Some((name, options)) if name.ends_with("content-pages") => pages.push(options),
                Some((name, options)) if name.ends_with("client-redirects") => self.redirects(&options),
                Some((name, _)) if adds_no_pages(&name) => {}
                _ => self.layout.options.docusaurus.has_other_plugins = true,
            }
        }
        if presets.is_empty() && docs.is_empty() {
            // Presets are missing or cannot be read: assume the default folders.
            self.computed = true;
            docs.push(usual());
            blog.push(usual());
            pages.push(usual());
        }
        for options in docs.iter().filter(|options| !options.is("false")) {
            self.docs(options);
        }
        for options in blog.iter().filter(|options| !options.is("false")) {
            self.blog(options);
        }
        for options in pages.iter().filter(|options| !options.is("false")) {
            self.pages(options);
        }
    }

    fn redirects(&mut self, options: &Script) {
        let is_written_out = match options.get("redirects") {
            Some(Script::List(redirects)) => redirects.iter().all(|redirect| matches!(redirect, Script::Object(_))),
            Some(_) => false,
            None => true,
        };
        self.layout.options.docusaurus.redirects_are_computed |=
            !is_written_out || options.get("createRedirects").is_some() || options.get("fromExtensions").is_some();
        for redirect in options.get("redirects").map(Script::list).unwrap_or_default() {
            let Some(to) = redirect.text_of("to") else { continue };
            let from = redirect.get("from");
            let sources = from
                .and_then(Script::text)
                .into_iter()
                .chain(from.map(Script::list).unwrap_or_default().iter().filter_map(Script::text));
            self.layout.redirects.extend(sources.map(|from| (from.to_owned(), to.to_owned())));
        }
    }

    fn blog(&mut self, options: &Script) {
        let folder = options.text_of("path").unwrap_or("blog");
        let served = options.text_of("routeBasePath").unwrap_or("blog").trim_matches('/');
        let root = Root { kind: RootKind::Blog, excluded: excluded(options), ..Root::default() };
        let plugin = translated("blog", options);
        self.roots(&plugin, &plugin, folder, &root, served);
    }

    fn pages(&mut self, options: &Script) {
        let folder = options.text_of("path").unwrap_or("src/pages");
        let served = options.text_of("routeBasePath").unwrap_or_default().trim_matches('/');
        let root = Root { kind: RootKind::Pages, excluded: excluded(options), ..Root::default() };
        let plugin = translated("pages", options);
        self.roots(&plugin, &plugin, folder, &root, served);
    }

    /// Adds the folders of pages of a plug-in in each language. Pages can link by file to pages of the same `plugin`
    /// only.
    fn roots(&mut self, plugin: &str, in_translation: &str, folder: &str, root: &Root, served: &str) {
        let homes = self.homes(in_translation, folder);
        let Some((_, original)) = homes.first().cloned() else { return };
        for (language, home) in homes {
            let prefix = self.prefix(language.as_deref());
            let mut folders = vec![home.clone()];
            folders.extend((home != original).then(|| original.clone()));
            self.layout.roots.push(Root {
                folder: home,
                served: below(&prefix, served),
                generator: Generator::Docusaurus,
                language,
                options: RootOptions {
                    docusaurus: Instance { name: plugin.to_owned(), folders, ..root.options.docusaurus.clone() },
                    ..RootOptions::default()
                },
                ..root.clone()
            });
        }
    }

    /// The folders of a plug-in's pages: that of the default language first, then those of the others.
    fn homes(&self, plugin: &str, folder: &str) -> Vec<(Option<String>, String)> {
        let Some(own) = joined_in(self.tree.root(), self.home, folder) else { return Vec::new() };
        let others = self.languages.iter().map(|language| {
            (Some(language.clone()), from_config_folder(self.tree, self.home, &format!("i18n/{language}/{plugin}")))
        });
        std::iter::once((self.default.clone(), own)).chain(others).collect()
    }

    fn prefix(&self, language: Option<&str>) -> String {
        language.filter(|language| self.default.as_deref() != Some(language)).unwrap_or_default().to_owned()
    }

    fn docs(&mut self, options: &Script) {
        let folder = options.text_of("path").unwrap_or("docs");
        let served = options.text_of("routeBasePath").unwrap_or("docs").trim_matches('/').to_owned();
        let id = options.text_of("id").unwrap_or("default").to_owned();
        let included = match options.get("include") {
            Some(Script::List(patterns)) => Some(globs(patterns.iter().filter_map(Script::text))),
            _ => None,
        };
        let keeps_numbers = options.get("numberPrefixParser").is_some_and(|parser| parser.is("false"));
        let plugin = translated("docs", options);
        let versions = self.versions(&id, options);
        for version in &versions {
            let (own, in_translation) = match &version.name {
                Some(name) => {
                    let versioned =
                        if id == "default" { "versioned_docs".to_owned() } else { format!("{id}_versioned_docs") };
                    (format!("{versioned}/version-{name}"), format!("{plugin}/version-{name}"))
                }
                None => (folder.to_owned(), format!("{plugin}/current")),
            };
            let navigation = format!("{id} {}", version.name.as_deref().unwrap_or_default());
            let root = Root {
                version: version.label.clone(),
                navigation: navigation.clone(),
                excluded: excluded(options),
                included: included.clone(),
                options: RootOptions {
                    docusaurus: Instance { keeps_numbers, ..Instance::default() },
                    ..RootOptions::default()
                },
                ..Root::default()
            };
            self.roots(&plugin, &in_translation, &own, &root, &below(&served, &version.path));
            self.sidebars(&id, version, options, &navigation, &below(&served, &version.path));
        }
    }

    fn versions(&mut self, id: &str, options: &Script) -> Vec<Version> {
        let file = if id == "default" { "versions.json".to_owned() } else { format!("{id}_versions.json") };
        let read = self.tree.read(&from_config_folder(self.tree, self.home, &file));
        let names: Vec<String> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        if names.is_empty() {
            return vec![Version { name: None, label: None, path: String::new() }];
        }
        let last = options.text_of("lastVersion").map_or_else(|| names[0].clone(), str::to_owned);
        let set = |name: &str, member: &str| {
            options.get("versions").and_then(|versions| versions.get(name)?.text_of(member)).map(str::to_owned)
        };
        let version = |name: Option<&String>| {
            let key = name.map_or("current", String::as_str);
            let usual = if key == last { "" } else { name.map_or("next", String::as_str) };
            Version {
                name: name.cloned(),
                label: Some(set(key, "label").unwrap_or_else(|| name.map_or("Next", String::as_str).to_owned())),
                path: set(key, "path").unwrap_or_else(|| usual.to_owned()),
            }
        };
        let with_current = !options.get("includeCurrentVersion").is_some_and(|flag| flag.is("false"));
        let only = options.get("onlyIncludeVersions").map(Script::list).unwrap_or_default();
        let is_wanted = |name: &str| only.is_empty() || only.iter().any(|known| known.text() == Some(name));
        let released = names.iter().filter(|name| is_wanted(name)).map(|name| version(Some(name)));
        let current = (with_current && is_wanted("current")).then(|| version(None));
        let versions: Vec<Version> = released.chain(current).collect();
        let newest = names.iter().position(|name| *name == last);
        for version in &versions {
            let place = version.name.as_ref().and_then(|name| names.iter().position(|known| known == name));
            let is_last = version.name.as_deref().unwrap_or("current") == last;
            let stage = match place {
                _ if is_last => Stage::Current,
                Some(place) if newest.is_none_or(|newest| place > newest) => Stage::Older,
                _ => Stage::Preview,
            };
            version.label.iter().for_each(|label| self.layout.declared.add(label, stage));
        }
        versions
    }

    fn sidebars(&mut self, id: &str, version: &Version, options: &Script, navigation: &str, served: &str) {
        let file = match &version.name {
            Some(name) => {
                let folder =
                    if id == "default" { "versioned_sidebars".to_owned() } else { format!("{id}_versioned_sidebars") };
                Some(from_config_folder(self.tree, self.home, &format!("{folder}/version-{name}-sidebars.json")))
            }
            None => self.current_sidebars(options),
        };
        let Some(file) = file else { return };
        let Some(script) = self.modules.default_export(&file) else { return };
        self.layout.options.docusaurus.sidebars.push((file, navigation.to_owned()));
        let mut walk = Walk { entries: &mut self.entries, navigation, computed: false, generated: Vec::new() };
        for (_, sidebar) in script.members() {
            walk.items(sidebar, &[], 0);
        }
        let generated = walk.generated.iter().map(|slug| below(served, slug));
        self.layout.options.docusaurus.generated.extend(generated);
        self.computed |= walk.computed || matches!(script, Script::Computed);
    }

    /// The sidebar file of the current, unreleased version; the configuration may omit its extension.
    fn current_sidebars(&mut self, options: &Script) -> Option<String> {
        let named = match options.get("sidebarPath") {
            Some(Script::Text(path)) => Some(path.clone()),
            Some(Script::Call(_, arguments)) => arguments.iter().rev().find_map(Script::text).map(str::to_owned),
            Some(Script::Word(_)) => return None,
            _ => None,
        };
        let file = named.and_then(|path| joined_in(self.tree.root(), self.home, &path));
        let stem = file.clone().unwrap_or_else(|| from_config_folder(self.tree, self.home, "sidebars"));
        let endings = ENDINGS.iter().chain(&["json"]).map(|ending| format!("{stem}.{ending}"));
        file.into_iter().chain(endings).find(|file| self.modules.text(file).is_some())
    }
}

/// Files that are no pages: those of the option `exclude`, or the default ones.
fn excluded(options: &Script) -> globset::GlobSet {
    match options.get("exclude") {
        Some(Script::List(patterns)) => globs(patterns.iter().filter_map(Script::text)),
        _ => globs(NEVER.into_iter()),
    }
}

/// Whether a plug-in is known to add no pages.
fn adds_no_pages(name: &str) -> bool {
    const KNOWN: [&str; 16] = [
        "google-gtag",
        "google-analytics",
        "google-tag-manager",
        "vercel-analytics",
        "sitemap",
        "pwa",
        "ideal-image",
        "svgr",
        "debug",
        "css-cascade-layers",
        "rsdoctor",
        "sass",
        "image-zoom",
        "zooming",
        "hotjar",
        "search-local",
    ];
    KNOWN.iter().any(|known| name.ends_with(known))
}

/// The folder of a plug-in's translations.
fn translated(kind: &str, options: &Script) -> String {
    match options.text_of("id").filter(|id| *id != "default") {
        Some(id) => format!("docusaurus-plugin-content-{kind}-{id}"),
        None => format!("docusaurus-plugin-content-{kind}"),
    }
}

/// The name and the options of a preset or plug-in. The name may be in a call: `require.resolve('…')`.
fn named(script: &Script) -> Option<(String, Script)> {
    let name_of = |script: &Script| match script {
        Script::Text(name) => Some(name.clone()),
        Script::Call(_, arguments) => arguments.first().and_then(Script::text).map(str::to_owned),
        _ => None,
    };
    match script {
        Script::List(items) => {
            let options = items.get(1).cloned().unwrap_or(Script::Object(Vec::new()));
            Some((name_of(items.first()?)?, options))
        }
        other => Some((name_of(other)?, Script::Object(Vec::new()))),
    }
}

struct Version {
    /// `None` for the current, unreleased version.
    name: Option<String>,
    label: Option<String>,
    path: String,
}

struct Walk<'e> {
    entries: &'e mut Entries,
    navigation: &'e str,
    computed: bool,
    /// Slugs of generated index pages, which have no file.
    generated: Vec<String>,
}

impl Walk<'_> {
    fn items(&mut self, node: &Script, groups: &[String], depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match node {
            Script::List(items) => {
                for item in items {
                    self.items(item, groups, depth + 1);
                }
            }
            Script::Text(id) => self.page(id, None, groups),
            Script::Object(members) => match node.text_of("type") {
                Some("doc" | "ref") => {
                    if let Some(id) = node.text_of("id") {
                        self.page(id, node.text_of("label"), groups);
                    }
                }
                Some("category") => self.category(node, groups, depth),
                // Autogenerated items follow from folders and files; other types name no pages.
                Some(_) => {}
                None => {
                    for (label, inner) in members {
                        let mut inside = groups.to_vec();
                        inside.push(label.clone());
                        self.items(inner, &inside, depth + 1);
                    }
                }
            },
            _ => self.computed = true,
        }
    }

    fn category(&mut self, node: &Script, groups: &[String], depth: usize) {
        let label = node.text_of("label");
        if let Some(id) = node.get("link").and_then(|link| link.text_of("id")) {
            self.page(id, label, groups);
        }
        let link = node.get("link").filter(|link| link.text_of("type") == Some("generated-index"));
        self.generated.extend(link.and_then(|link| link.text_of("slug")).map(str::to_owned));
        let mut inside = groups.to_vec();
        inside.extend(label.map(str::to_owned));
        if let Some(items) = node.get("items") {
            self.items(items, &inside, depth + 1);
        }
    }

    fn page(&mut self, id: &str, title: Option<&str>, groups: &[String]) {
        let entry = Entry { title: title.map(str::to_owned), groups: groups.into(), ..Entry::default() };
        self.entries.add(id_key(self.navigation, id), entry);
    }
}

#[cfg(test)]
mod tests;
