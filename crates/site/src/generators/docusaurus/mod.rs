//! Docusaurus sites, configured in `docusaurus.config.*`, with sidebars, versions and translations.

mod addresses;
mod links;

use std::collections::{HashMap, HashSet};

use docent_markdown::{AnchorStyle, Depth, FrontMatter, file_name};

pub(crate) use self::addresses::{id, without_number};
use super::modules::{Modules, SCRIPT_EXTENSIONS, find_script, is_script};
use super::roots::id_key;
use super::script_value::ScriptValue;
use super::vitepress::unwrapped;
use super::yaml;
use super::{Facts, Root, RootKind, RootOptions, Rules};
use crate::glob::Globs;
use crate::groups::{self, Groups};
use crate::layout::{Generator, Layout, PageEntries, PageEntry, below};
use crate::tree::{Tree, from_config_folder, joined_in};
use crate::variants::Stage;

/// Maximum nesting depth of a sidebar.
const MAX_DEPTH: usize = 32;

/// Maximum number of versions that are read, the newest ones, and of languages: each version has folders in each language.
const MAX_VERSIONS: usize = 200;
const MAX_LANGUAGES: usize = 200;

/// The kinds of content plug-ins, as options of a preset name them, in the order in which their folders are added.
const KINDS: [&str; 3] = ["docs", "blog", "pages"];

/// Files that are no pages unless the option `exclude` says otherwise.
const DEFAULT_EXCLUDES: [&str; 4] =
    ["**/_*.{js,jsx,ts,tsx,md,mdx}", "**/_*/**", "**/*.test.{js,jsx,ts,tsx}", "**/__tests__/**"];

/// Whether a file sets the label of a folder of pages.
pub(crate) fn is_category(name: &str) -> bool {
    matches!(name, "_category_.json" | "_category_.yml" | "_category_.yaml")
}

pub(super) struct Docusaurus;

impl Rules for Docusaurus {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| is_script(name, "docusaurus.config")),
            reads_front_matter: true,
            reads_markdown_as_mdx: true,
            has_plain_underscore_folders: true,
            inert_fields: "\
                title_meta sidebar_label sidebar_position sidebar_class_name sidebar_key sidebar_custom_props.* \
                displayed_sidebar hide_title hide_table_of_contents toc_min_heading_level toc_max_heading_level \
                pagination_label pagination_next pagination_prev parse_number_prefixes custom_edit_url \
                last_update.date last_update.author authors[].name authors[].title authors[].url authors[].image_url \
                authors[].email authors[].key author_title author_url author_image_url tags[].label tags[].permalink",
            components: "Fragment",
            program_folders: &["plugins", "src/theme"],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = find_script(tree, home, "docusaurus.config", has)?;
        let mut modules = Modules::new(tree, has);
        let config = modules.default_export(&file).map_or(ScriptValue::Computed, unwrapped);
        let mut reader = ConfigReader {
            tree,
            home,
            file: &file,
            modules,
            layout: Layout::of(Generator::Docusaurus, home, Vec::new()),
            languages: Vec::new(),
            default_language: None,
            entries: PageEntries::default(),
            is_computed: false,
        };
        reader.read_languages(&config);
        reader.read_settings(&config);
        reader.read_plugins(&config);
        let ConfigReader { mut layout, entries, is_computed, .. } = reader;
        layout.entries = entries.by_key;
        layout.anchors = AnchorStyle::Docusaurus;
        let anchors = config.get("markdown").and_then(|markdown| markdown.get("anchors"));
        layout.anchors_computed =
            anchors.and_then(|anchors| anchors.get("maintainCase")).is_some_and(|option| !option.is("false"));
        label_folders(tree, &mut layout);
        if is_computed {
            layout.problem(
                &file,
                "the configuration is computed in part; what it does not say in so many words is taken to be as usual",
            );
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> String {
        addresses::address(root, relative_path, front)
    }

    fn is_published(&self, root: &Root, relative_path: &str, front: &FrontMatter, has: &dyn Fn(&str) -> bool) -> bool {
        // A translated file without an original is ignored.
        let original = root.options.docusaurus.folders.last().filter(|original| **original != root.folder);
        !front.flag("draft") && original.is_none_or(|original| has(&below(original, relative_path)))
    }

    fn is_directory(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> bool {
        addresses::is_directory(root, relative_path, front)
    }
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
    generated_index_pages: HashSet<String>,
    /// Sidebar files, each with the key of its navigation ([`Root::navigation`]).
    pub(crate) sidebars: Vec<(String, String)>,
    redirects_are_computed: bool,
    /// Whether there are plug-ins unknown to these rules, which may add pages.
    has_other_plugins: bool,
}

/// The instance of a content plug-in that a folder of pages belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct PluginInstance {
    pub(super) name: String,
    /// Folders in which linked files are looked up: that of the translation first, the untranslated one last.
    pub(super) folders: Vec<String>,
    /// Whether number prefixes of names stay in addresses.
    pub(super) keeps_numbers: bool,
}

/// The layout of a folder of pages whose configuration is elsewhere, recognised by its `_category_` files.
pub(crate) fn without_configuration(tree: &dyn Tree, configurations: &[&str]) -> Option<Layout> {
    configurations.iter().any(|file| is_category(file_name(file))).then_some(())?;
    let root = Root { generator: Generator::Docusaurus, excluded: Globs::known(&DEFAULT_EXCLUDES), ..Root::default() };
    let mut layout = Layout::of(Generator::Docusaurus, "", vec![root]);
    label_folders(tree, &mut layout);
    Some(layout)
}

/// Reads the display names of folders from their `_category_` files.
fn label_folders(tree: &dyn Tree, layout: &mut Layout) {
    let mut labels: HashMap<String, String> = HashMap::new();
    for file in tree.paths().into_iter().filter(|file| is_category(file_name(file))) {
        let Some(text) = tree.text(&file) else { continue };
        match yaml::read(&text) {
            Ok(category) => {
                if let Some(label) = category.text_of("label") {
                    labels.insert(docent_markdown::folder(&file).to_owned(), groups::label(label));
                }
            }
            Err(message) => layout.problem(&file, format!("this file cannot be read: {message}")),
        }
    }
    for root in layout.roots.iter_mut().filter(|root| root.kind == RootKind::Docs) {
        let labels_inside = labels
            .iter()
            .filter(|(folder, _)| root.folder.is_empty() || folder.starts_with(&format!("{}/", root.folder)));
        root.labels = labels_inside.map(|(folder, label)| (folder.clone(), label.clone())).collect();
    }
}

struct ConfigReader<'t> {
    tree: &'t dyn Tree,
    home: &'t str,
    /// The configuration.
    file: &'t str,
    modules: Modules<'t>,
    layout: Layout,
    /// Languages besides the default one.
    languages: Vec<String>,
    default_language: Option<String>,
    entries: PageEntries,
    is_computed: bool,
}

impl ConfigReader<'_> {
    fn read_languages(&mut self, config: &ScriptValue) {
        let Some(options) = config.get("i18n") else { return };
        let default = options.text_of("defaultLocale");
        self.languages = match options.get("locales") {
            Some(ScriptValue::List(names)) => {
                let names = names.iter().filter_map(ScriptValue::text).filter(|name| Some(*name) != default);
                names.map(str::to_owned).take(MAX_LANGUAGES).collect()
            }
            Some(_) => {
                self.is_computed = true;
                Vec::new()
            }
            None => Vec::new(),
        };
        self.default_language = default.filter(|_| !self.languages.is_empty()).map(str::to_owned);
        self.layout.declared.language.clone_from(&self.default_language);
    }

    fn read_settings(&mut self, config: &ScriptValue) {
        let folders = match config.get("staticDirectories") {
            Some(ScriptValue::List(folders)) => {
                folders.iter().filter_map(ScriptValue::text).map(str::to_owned).collect()
            }
            _ => vec!["static".to_owned()],
        };
        let folders = folders.iter().filter_map(|folder| joined_in(self.tree.root(), self.home, folder)).collect();
        self.layout.options.docusaurus = DocusaurusSettings {
            base: config.text_of("baseUrl").map(|base| base.trim_matches('/').to_owned()),
            trailing_slash: config.get("trailingSlash").and_then(|flag| match flag {
                ScriptValue::Word(word) if word == "true" => Some(true),
                ScriptValue::Word(word) if word == "false" => Some(false),
                _ => None,
            }),
            languages: self.languages.clone(),
            static_folders: folders,
            ..DocusaurusSettings::default()
        };
    }

    fn read_plugins(&mut self, config: &ScriptValue) {
        let presets = config.list_of("presets");
        // The options of the instances of each kind.
        let mut instances: [Vec<ScriptValue>; 3] = Default::default();
        let default_options = || ScriptValue::Object(Vec::new());
        for preset in presets {
            let Some((name, options)) = name_and_options(preset) else {
                self.is_computed = true;
                continue;
            };
            let is_classic = name.ends_with("classic");
            self.layout.options.docusaurus.has_other_plugins |= !is_classic;
            for (kind, instances) in KINDS.iter().zip(&mut instances) {
                instances.extend(options.get(kind).cloned().or_else(|| is_classic.then(default_options)));
            }
        }
        for plugin in config.list_of("plugins") {
            let Some((name, options)) = name_and_options(plugin) else {
                self.layout.options.docusaurus.has_other_plugins = true;
                continue;
            };
            let kind = KINDS.iter().position(|kind| name.ends_with(&format!("content-{kind}")));
            match kind {
                Some(kind) => instances[kind].push(options),
                None if name.ends_with("client-redirects") => self.add_redirects(&options),
                None => self.layout.options.docusaurus.has_other_plugins |= !adds_no_pages(&name),
            }
        }
        if presets.is_empty() && instances[0].is_empty() {
            // Presets are missing or cannot be read: assume the default folders.
            self.is_computed = true;
            instances.iter_mut().for_each(|instances| instances.push(default_options()));
        }
        for (kind, instances) in KINDS.iter().zip(&instances) {
            for options in instances.iter().filter(|options| !options.is("false")) {
                match *kind {
                    "docs" => self.add_docs(options),
                    "blog" => self.add_pages(kind, RootKind::Blog, "blog", "blog", options),
                    _ => self.add_pages(kind, RootKind::Pages, "src/pages", "", options),
                }
            }
        }
    }

    fn add_redirects(&mut self, options: &ScriptValue) {
        let is_written_out = match options.get("redirects") {
            Some(ScriptValue::List(redirects)) => {
                redirects.iter().all(|redirect| matches!(redirect, ScriptValue::Object(_)))
            }
            Some(_) => false,
            None => true,
        };
        self.layout.options.docusaurus.redirects_are_computed |=
            !is_written_out || options.get("createRedirects").is_some();
        for redirect in options.list_of("redirects") {
            let Some(to) = redirect.text_of("to") else { continue };
            let from = redirect.get("from");
            let sources = from
                .and_then(ScriptValue::text)
                .into_iter()
                .chain(from.map(ScriptValue::list).unwrap_or_default().iter().filter_map(ScriptValue::text));
            self.layout.redirects.extend(sources.map(|from| (from.to_owned(), to.to_owned())));
        }
    }

    fn add_pages(&mut self, name: &str, kind: RootKind, folder: &str, base_path: &str, options: &ScriptValue) {
        let folder = options.text_of("path").unwrap_or(folder);
        let base_path = options.text_of("routeBasePath").unwrap_or(base_path).trim_matches('/');
        let root = Root { kind, excluded: self.exclude_globs(options), ..Root::default() };
        let plugin = translation_folder(name, options);
        self.add_roots(&plugin, &plugin, folder, &root, base_path);
    }

    /// Adds the folders of pages of a plug-in in each language. Pages can link by file to pages of the same `plugin`
    /// only.
    fn add_roots(&mut self, plugin: &str, translations_folder: &str, folder: &str, root: &Root, base_path: &str) {
        let content_folders = self.content_folders(translations_folder, folder);
        let Some((_, original)) = content_folders.first().cloned() else { return };
        for (language, content_folder) in content_folders {
            let prefix = self.prefix(language.as_deref());
            let mut folders = vec![content_folder.clone()];
            folders.extend((content_folder != original).then(|| original.clone()));
            self.layout.roots.push(Root {
                folder: content_folder,
                base_path: below(&prefix, base_path),
                generator: Generator::Docusaurus,
                language,
                options: RootOptions {
                    docusaurus: PluginInstance { name: plugin.to_owned(), folders, ..root.options.docusaurus.clone() },
                    ..RootOptions::default()
                },
                ..root.clone()
            });
        }
    }

    /// The folders of a plug-in's pages: that of the default language first, then those of the others.
    fn content_folders(&self, translations_folder: &str, folder: &str) -> Vec<(Option<String>, String)> {
        let Some(original) = joined_in(self.tree.root(), self.home, folder) else { return Vec::new() };
        let translations = self.languages.iter().map(|language| {
            (
                Some(language.clone()),
                from_config_folder(self.tree, self.home, &format!("i18n/{language}/{translations_folder}")),
            )
        });
        std::iter::once((self.default_language.clone(), original)).chain(translations).collect()
    }

    fn prefix(&self, language: Option<&str>) -> String {
        language.filter(|language| self.default_language.as_deref() != Some(language)).unwrap_or_default().to_owned()
    }

    fn add_docs(&mut self, options: &ScriptValue) {
        let folder = options.text_of("path").unwrap_or("docs");
        let base_path = options.text_of("routeBasePath").unwrap_or("docs").trim_matches('/').to_owned();
        let id = options.text_of("id").unwrap_or("default").to_owned();
        let included = match options.get("include") {
            Some(ScriptValue::List(patterns)) => {
                Some(Globs::of(self.file, patterns.iter().filter_map(ScriptValue::text)))
            }
            _ => None,
        };
        let keeps_numbers = options.get("numberPrefixParser").is_some_and(|parser| parser.is("false"));
        let plugin = translation_folder("docs", options);
        let versions = self.read_versions(&id, options);
        for version in &versions {
            let (docs_folder, translations) = match &version.name {
                Some(name) => {
                    let versioned = of_instance(&id, "versioned_docs");
                    (format!("{versioned}/version-{name}"), format!("{plugin}/version-{name}"))
                }
                None => (folder.to_owned(), format!("{plugin}/current")),
            };
            let navigation = format!("{id} {}", version.name.as_deref().unwrap_or_default());
            let root = Root {
                version: version.label.clone(),
                navigation: navigation.clone(),
                excluded: self.exclude_globs(options),
                included: included.clone(),
                options: RootOptions {
                    docusaurus: PluginInstance { keeps_numbers, ..PluginInstance::default() },
                    ..RootOptions::default()
                },
                ..Root::default()
            };
            self.add_roots(&plugin, &translations, &docs_folder, &root, &below(&base_path, &version.path));
            self.read_sidebars(&id, version, options, &navigation, &below(&base_path, &version.path));
        }
    }

    fn read_versions(&mut self, id: &str, options: &ScriptValue) -> Vec<Version> {
        let read = self.tree.read(&from_config_folder(self.tree, self.home, &of_instance(id, "versions.json")));
        let mut names: Vec<String> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        names.truncate(MAX_VERSIONS);
        if names.is_empty() {
            return vec![Version { name: None, label: None, path: String::new() }];
        }
        let last = options.text_of("lastVersion").map_or_else(|| names[0].clone(), str::to_owned);
        let version_option = |name: &str, member: &str| {
            options.get("versions").and_then(|versions| versions.get(name)?.text_of(member)).map(str::to_owned)
        };
        let version = |name: Option<&String>| {
            let key = name.map_or("current", String::as_str);
            let default_path = if key == last { "" } else { name.map_or("next", String::as_str) };
            Version {
                name: name.cloned(),
                label: Some(
                    version_option(key, "label").unwrap_or_else(|| name.map_or("Next", String::as_str).to_owned()),
                ),
                path: version_option(key, "path").unwrap_or_else(|| default_path.to_owned()),
            }
        };
        let includes_current = !options.get("includeCurrentVersion").is_some_and(|flag| flag.is("false"));
        let only_versions = options.list_of("onlyIncludeVersions");
        let is_wanted =
            |name: &str| only_versions.is_empty() || only_versions.iter().any(|known| known.text() == Some(name));
        let released = names.iter().filter(|name| is_wanted(name)).map(|name| version(Some(name)));
        let current = (includes_current && is_wanted("current")).then(|| version(None));
        let versions: Vec<Version> = released.chain(current).collect();
        let current_position = names.iter().position(|name| *name == last);
        for version in &versions {
            let position = version.name.as_ref().and_then(|name| names.iter().position(|known| known == name));
            let is_last = version.name.as_deref().unwrap_or("current") == last;
            let stage = match position {
                _ if is_last => Stage::Current,
                Some(position) if current_position.is_none_or(|current_position| position > current_position) => {
                    Stage::Older
                }
                _ => Stage::Preview,
            };
            version.label.iter().for_each(|label| self.layout.declared.add(label, stage));
        }
        versions
    }

    fn read_sidebars(&mut self, id: &str, version: &Version, options: &ScriptValue, navigation: &str, base_path: &str) {
        let file = match &version.name {
            Some(name) => {
                let folder = of_instance(id, "versioned_sidebars");
                Some(from_config_folder(self.tree, self.home, &format!("{folder}/version-{name}-sidebars.json")))
            }
            None => self.current_sidebars(options),
        };
        let Some(file) = file else { return };
        let Some(script) = self.modules.default_export(&file) else { return };
        self.layout.options.docusaurus.sidebars.push((file, navigation.to_owned()));
        let mut reader =
            SidebarReader { entries: &mut self.entries, navigation, is_computed: false, generated_slugs: Vec::new() };
        for (_, sidebar) in script.members() {
            reader.items(sidebar, &Groups::default(), Depth::of(MAX_DEPTH));
        }
        let generated = reader.generated_slugs.iter().map(|slug| below(base_path, slug));
        self.layout.options.docusaurus.generated_index_pages.extend(generated);
        self.is_computed |= reader.is_computed || matches!(script, ScriptValue::Computed);
    }

    /// The sidebar file of the current, unreleased version; the configuration may omit its extension.
    fn current_sidebars(&mut self, options: &ScriptValue) -> Option<String> {
        let configured_path = match options.get("sidebarPath") {
            Some(ScriptValue::Text(path)) => Some(path.clone()),
            Some(ScriptValue::Call(_, arguments)) => {
                arguments.iter().rev().find_map(ScriptValue::text).map(str::to_owned)
            }
            Some(ScriptValue::Word(_)) => return None,
            _ => None,
        };
        let file = configured_path.and_then(|path| joined_in(self.tree.root(), self.home, &path));
        let stem = file.clone().unwrap_or_else(|| from_config_folder(self.tree, self.home, "sidebars"));
        let endings = SCRIPT_EXTENSIONS.iter().chain(&["json"]).map(|ending| format!("{stem}.{ending}"));
        file.into_iter().chain(endings).find(|file| self.modules.script(file).is_some())
    }

    /// Files that are no pages: those of the option `exclude`, or the default ones.
    fn exclude_globs(&self, options: &ScriptValue) -> Globs {
        match options.get("exclude") {
            Some(ScriptValue::List(patterns)) => Globs::of(self.file, patterns.iter().filter_map(ScriptValue::text)),
            _ => Globs::known(&DEFAULT_EXCLUDES),
        }
    }
}

/// Whether a plug-in is known to add no pages.
fn adds_no_pages(name: &str) -> bool {
    const KNOWN: &str = "google-gtag google-analytics google-tag-manager vercel-analytics sitemap pwa ideal-image \
        svgr debug css-cascade-layers rsdoctor sass image-zoom zooming hotjar search-local";
    KNOWN.split(' ').any(|known| name.ends_with(known))
}

/// The name of a file or folder that each instance of the plug-in has; that of the default instance has no prefix.
fn of_instance(id: &str, name: &str) -> String {
    if id == "default" { name.to_owned() } else { format!("{id}_{name}") }
}

/// The folder of a plug-in's translations.
fn translation_folder(kind: &str, options: &ScriptValue) -> String {
    match options.text_of("id").filter(|id| *id != "default") {
        Some(id) => format!("docusaurus-plugin-content-{kind}-{id}"),
        None => format!("docusaurus-plugin-content-{kind}"),
    }
}

/// The name and the options of a preset or plug-in. The name may be in a call: `require.resolve('…')`.
fn name_and_options(script: &ScriptValue) -> Option<(String, ScriptValue)> {
    let name_of = |script: &ScriptValue| match script {
        ScriptValue::Text(name) => Some(name.clone()),
        ScriptValue::Call(_, arguments) => arguments.first().and_then(ScriptValue::text).map(str::to_owned),
        _ => None,
    };
    match script {
        ScriptValue::List(items) => {
            let options = items.get(1).cloned().unwrap_or(ScriptValue::Object(Vec::new()));
            Some((name_of(items.first()?)?, options))
        }
        other => Some((name_of(other)?, ScriptValue::Object(Vec::new()))),
    }
}

struct Version {
    /// `None` for the current, unreleased version.
    name: Option<String>,
    label: Option<String>,
    path: String,
}

struct SidebarReader<'e> {
    entries: &'e mut PageEntries,
    navigation: &'e str,
    is_computed: bool,
    /// Slugs of generated index pages, which have no file.
    generated_slugs: Vec<String>,
}

impl SidebarReader<'_> {
    fn items(&mut self, node: &ScriptValue, groups: &Groups, depth: Depth) {
        let Some(depth) = depth.inside() else { return };
        match node {
            ScriptValue::List(items) => {
                for item in items {
                    self.items(item, groups, depth);
                }
            }
            ScriptValue::Text(id) => self.page(id, None, groups),
            ScriptValue::Object(members) => match node.text_of("type") {
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
                        let inner_groups = groups::inside(groups, [label.as_str()]);
                        self.items(inner, &inner_groups, depth);
                    }
                }
            },
            _ => self.is_computed = true,
        }
    }

    fn category(&mut self, node: &ScriptValue, groups: &Groups, depth: Depth) {
        let label = node.text_of("label");
        if let Some(id) = node.get("link").and_then(|link| link.text_of("id")) {
            self.page(id, label, groups);
        }
        let link = node.get("link").filter(|link| link.text_of("type") == Some("generated-index"));
        self.generated_slugs.extend(link.and_then(|link| link.text_of("slug")).map(str::to_owned));
        let inner_groups = groups::inside(groups, label);
        if let Some(items) = node.get("items") {
            self.items(items, &inner_groups, depth);
        }
    }

    fn page(&mut self, id: &str, title: Option<&str>, groups: &Groups) {
        self.entries.add(id_key(self.navigation, id), PageEntry::named(title.map(str::to_owned), groups));
    }
}

#[cfg(test)]
mod tests;
