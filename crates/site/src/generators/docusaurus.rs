//! `docusaurus.config.*` with its sidebars, versions and translations.

use std::collections::HashMap;

use docent_markdown::{FrontMatter, stem, text_of};

use super::Rules;
use super::modules::{ENDINGS, Modules};
use super::patterns::globs;
use super::roots::{Root, RootKind, id_key};
use super::script::Script;
use super::vitepress::unwrapped;
use super::yaml::{self, Yaml};
use crate::layout::{Entries, Entry, Generator, Layout, below, is_configuration};
use crate::tree::{Tree, at_home, joined_in};

/// How deep a sidebar may nest.
const DEEPEST: usize = 32;

/// Files that are no pages wherever they are.
const NEVER: [&str; 4] = ["**/_*.{js,jsx,ts,tsx,md,mdx}", "**/_*/**", "**/*.test.{js,jsx,ts,tsx}", "**/__tests__/**"];

/// Whether a file names a folder of pages.
pub(crate) fn is_category(name: &str) -> bool {
    matches!(name, "_category_.json" | "_category_.yml" | "_category_.yaml")
}

#[derive(Debug)]
pub(crate) struct Docusaurus;

impl Rules for Docusaurus {
    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        read(tree, home, has)
    }

    fn address(&self, root: &Root, inside: &str, front: &FrontMatter) -> String {
        address(root, inside, front)
    }

    fn reads_front_matter(&self) -> bool {
        true
    }
}

/// Reads the layout, if the folder has such a configuration.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file = ENDINGS
        .iter()
        .map(|ending| at_home(tree, home, &format!("docusaurus.config.{ending}")))
        .find(|file| has(file))?;
    let mut modules = Modules::new(tree, is_configuration);
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
    site.plugins_of(&config);
    let Site { mut layout, entries, computed, languages, .. } = site;
    layout.entries = entries.by_key;
    let pages = |served: &str, folder: String, language: Option<String>| Root {
        folder,
        served: served.to_owned(),
        generator: Generator::Docusaurus,
        kind: RootKind::Pages,
        language,
        excluded: globs(NEVER.into_iter()),
        ..Root::default()
    };
    layout.roots.push(pages("", at_home(tree, home, "src/pages"), None));
    for language in languages {
        let folder = at_home(tree, home, &format!("i18n/{language}/docusaurus-plugin-content-pages"));
        layout.roots.push(pages(&language, folder, Some(language.clone())));
    }
    label_folders(tree, &mut layout);
    if computed {
        layout.problem(
            &file,
            "the configuration is computed in part; what it does not say in so many words is taken to be as usual",
        );
    }
    Some(layout)
}

/// The layout of a folder of pages whose configuration is elsewhere: what names its folders tells whose it is.
pub(crate) fn without_configuration(tree: &dyn Tree, configurations: &[&str]) -> Option<Layout> {
    configurations.iter().any(|file| is_category(name_of(file))).then_some(())?;
    let root = Root { generator: Generator::Docusaurus, excluded: globs(NEVER.into_iter()), ..Root::default() };
    let mut layout = Layout::of(Generator::Docusaurus, "", vec![root]);
    label_folders(tree, &mut layout);
    Some(layout)
}

/// Where a page is served.
fn address(root: &Root, inside: &str, front: &FrontMatter) -> String {
    let blog = root.kind == RootKind::Blog;
    let whole = id(inside, None);
    let id = if blog { dated(&whole) } else { whole };
    let (folder, name) = id.rsplit_once('/').unwrap_or(("", &id));
    let named = match (front.slug(), front.get("id")) {
        (Some(slug), _) if slug.starts_with('/') || blog => slug.to_owned(),
        (Some(slug), _) => docent_markdown::joined(folder, slug).unwrap_or_else(|| slug.to_owned()),
        (None, Some(id)) if !blog => below(folder, id),
        _ => {
            let above = folder.rsplit('/').next().unwrap_or_default();
            let is_folder = ["index", "readme"].iter().any(|known| name.eq_ignore_ascii_case(known))
                || (!folder.is_empty() && name.eq_ignore_ascii_case(above) && !blog);
            if is_folder { folder.to_owned() } else { id.clone() }
        }
    };
    below(&root.served, &named)
}

/// The id of a page: its path without ending and without the numbers that only order it.
pub(crate) fn id(inside: &str, own: Option<&str>) -> String {
    let parts: Vec<&str> = stem(inside).unwrap_or(inside).split('/').map(without_number).collect();
    let id = parts.join("/");
    match own {
        Some(own) => below(id.rsplit_once('/').map_or("", |(folder, _)| folder), own),
        None => id,
    }
}

/// `01-intro` and `1. intro` without their number. Dates and versions keep theirs.
pub(crate) fn without_number(name: &str) -> &str {
    let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = &name[digits..];
    let after = rest.trim_start();
    let Some(separator) = after.chars().next().filter(|c| digits > 0 && "-_.".contains(*c)) else { return name };
    let named = after[separator.len_utf8()..].trim_start();
    // `7.0-notes` and `2021-11-foo` are a version and a date.
    let more_digits = named.len() - named.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let looks_like_version =
        more_digits > 0 && named[more_digits..].starts_with(['-', '_', '.']) || named.len() == more_digits;
    if named.is_empty() || looks_like_version { name } else { named }
}

/// `2021-08-26-welcome` as `2021/08/26/welcome`.
fn dated(id: &str) -> String {
    let id = id.strip_suffix("/index").unwrap_or(id);
    let bytes = id.as_bytes();
    let is_date = bytes.len() > 11
        && bytes[..11].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 | 10 => matches!(byte, b'-' | b'/'),
            _ => byte.is_ascii_digit(),
        });
    if is_date { format!("{}/{}/{}/{}", &id[..4], &id[5..7], &id[8..10], &id[11..]) } else { id.to_owned() }
}

fn name_of(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Reads the names that folders have for readers.
fn label_folders(tree: &dyn Tree, layout: &mut Layout) {
    let mut labels: HashMap<String, String> = HashMap::new();
    for file in tree.paths().into_iter().filter(|file| is_category(name_of(file))) {
        let Some(bytes) = tree.read(&file) else { continue };
        match yaml::read(&text_of(&bytes)) {
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
    }

    fn plugins_of(&mut self, config: &Script) {
        let presets = config.get("presets").map(Script::list).unwrap_or_default();
        let (mut docs, mut blog) = (Vec::new(), Vec::new());
        for preset in presets {
            match named(preset) {
                Some((_, options)) => {
                    docs.push(options.get("docs").cloned().unwrap_or(Script::Object(Vec::new())));
                    blog.push(options.get("blog").cloned().unwrap_or(Script::Object(Vec::new())));
                }
                None => self.computed = true,
            }
        }
        for plugin in config.get("plugins").map(Script::list).unwrap_or_default() {
            match named(plugin) {
                Some((name, options)) if name.ends_with("content-docs") => docs.push(options),
                Some((name, options)) if name.ends_with("content-blog") => blog.push(options),
                Some((name, options)) if name.ends_with("client-redirects") => self.redirects(&options),
                _ => {}
            }
        }
        if presets.is_empty() && docs.is_empty() {
            // Nothing says otherwise, or what does cannot be read: the usual places.
            self.computed = true;
            docs.push(Script::Object(Vec::new()));
            blog.push(Script::Object(Vec::new()));
        }
        for options in docs.iter().filter(|options| !options.is("false")) {
            self.docs(options);
        }
        for options in blog.iter().filter(|options| !options.is("false")) {
            self.blog(options);
        }
    }

    fn redirects(&mut self, options: &Script) {
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
        let root = Root {
            generator: Generator::Docusaurus,
            kind: RootKind::Blog,
            excluded: globs(NEVER.into_iter()),
            ..Root::default()
        };
        let plugin = translated("blog", options);
        for (language, home) in self.homes(&plugin, folder) {
            let prefix = self.prefix(language.as_deref());
            self.layout.roots.push(Root { folder: home, served: below(&prefix, served), language, ..root.clone() });
        }
    }

    /// Where a plug-in's pages are in the default language and in the others.
    fn homes(&self, plugin: &str, folder: &str) -> Vec<(Option<String>, String)> {
        let own = joined_in(self.tree.root(), self.home, folder).map(|folder| (self.default.clone(), folder));
        let others = self.languages.iter().map(|language| {
            (Some(language.clone()), at_home(self.tree, self.home, &format!("i18n/{language}/{plugin}")))
        });
        own.into_iter().chain(others).collect()
    }

    fn prefix(&self, language: Option<&str>) -> String {
        language.filter(|language| self.default.as_deref() != Some(language)).unwrap_or_default().to_owned()
    }

    fn docs(&mut self, options: &Script) {
        let folder = options.text_of("path").unwrap_or("docs");
        let served = options.text_of("routeBasePath").unwrap_or("docs").trim_matches('/').to_owned();
        let id = options.text_of("id").unwrap_or("default").to_owned();
        let excluded = match options.get("exclude") {
            Some(Script::List(patterns)) => globs(patterns.iter().filter_map(Script::text)),
            _ => globs(NEVER.into_iter()),
        };
        let included = match options.get("include") {
            Some(Script::List(patterns)) => Some(globs(patterns.iter().filter_map(Script::text))),
            _ => None,
        };
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
            for (language, home) in self.homes(&in_translation, &own) {
                let prefix = self.prefix(language.as_deref());
                self.layout.roots.push(Root {
                    folder: home,
                    served: below(&below(&prefix, &served), &version.path),
                    generator: Generator::Docusaurus,
                    version: version.label.clone(),
                    language,
                    navigation: navigation.clone(),
                    excluded: excluded.clone(),
                    included: included.clone(),
                    ..Root::default()
                });
            }
            self.sidebars(&id, version, options, &navigation);
        }
    }

    fn versions(&mut self, id: &str, options: &Script) -> Vec<Version> {
        let file = if id == "default" { "versions.json".to_owned() } else { format!("{id}_versions.json") };
        let read = self.tree.read(&at_home(self.tree, self.home, &file));
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
        released.chain(current).collect()
    }

    fn sidebars(&mut self, id: &str, version: &Version, options: &Script, navigation: &str) {
        let script = match &version.name {
            Some(name) => {
                let folder =
                    if id == "default" { "versioned_sidebars".to_owned() } else { format!("{id}_versioned_sidebars") };
                self.modules.default_export(&at_home(
                    self.tree,
                    self.home,
                    &format!("{folder}/version-{name}-sidebars.json"),
                ))
            }
            None => self.current_sidebars(options),
        };
        let Some(script) = script else { return };
        let mut walk = Walk { entries: &mut self.entries, navigation, computed: false };
        for (_, sidebar) in script.members() {
            walk.items(sidebar, &[], 0);
        }
        self.computed |= walk.computed || matches!(script, Script::Computed);
    }

    fn current_sidebars(&mut self, options: &Script) -> Option<Script> {
        let named = match options.get("sidebarPath") {
            Some(Script::Text(path)) => Some(path.clone()),
            Some(Script::Call(_, arguments)) => arguments.iter().rev().find_map(Script::text).map(str::to_owned),
            Some(Script::Word(_)) => return None,
            _ => None,
        };
        if let Some(file) = named.and_then(|path| joined_in(self.tree.root(), self.home, &path)) {
            return self.modules.default_export(&file);
        }
        ENDINGS.iter().find_map(|ending| {
            self.modules.default_export(&at_home(self.tree, self.home, &format!("sidebars.{ending}")))
        })
    }
}

/// The folder of a plug-in's translations.
fn translated(kind: &str, options: &Script) -> String {
    match options.text_of("id").filter(|id| *id != "default") {
        Some(id) => format!("docusaurus-plugin-content-{kind}-{id}"),
        None => format!("docusaurus-plugin-content-{kind}"),
    }
}

/// A preset or plug-in: its name and its options. The name may be found by the program: `require.resolve('…')`.
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
    /// `None` for the pages under work.
    name: Option<String>,
    label: Option<String>,
    path: String,
}

struct Walk<'e> {
    entries: &'e mut Entries,
    navigation: &'e str,
    computed: bool,
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
                // Folders and files tell the rest.
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
mod tests {
    use super::*;

    #[test]
    fn numbers_that_order_go_and_others_stay() {
        for (name, without) in [
            ("01-intro", "intro"),
            ("1. intro", "intro"),
            ("2_a", "a"),
            ("10 - b", "b"),
            ("7.0-notes", "7.0-notes"),
            ("2021-11-foo", "2021-11-foo"),
            ("2021-11-02-foo", "2021-11-02-foo"),
            ("404", "404"),
            ("3d", "3d"),
            ("1-", "1-"),
        ] {
            assert_eq!(without_number(name), without, "{name}");
        }
    }

    #[test]
    fn blog_posts_are_served_by_their_date() {
        assert_eq!(dated("2021-08-26-welcome/index"), "2021/08/26/welcome");
        assert_eq!(dated("2021-08-26-welcome"), "2021/08/26/welcome");
        assert_eq!(dated("a/2021"), "a/2021");
    }
}
