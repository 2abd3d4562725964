//! `.vitepress/config.*`.

use docent_markdown::{AnchorStyle, FrontMatter, stem};

use super::Rules;
use super::modules::{ENDINGS, Modules};
use super::patterns::globs;
use super::roots::{Root, index_path};
use super::script::Script;
use crate::follow::is_external;
use crate::layout::{Entries, Entry, Generator, Layout, below, is_configuration};
use crate::tree::{Tree, at_home, joined_in};

/// How deep a sidebar may nest.
const DEEPEST: usize = 32;

#[derive(Debug)]
pub(crate) struct VitePress;

impl Rules for VitePress {
    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        read(tree, home, has)
    }

    fn address(&self, root: &Root, inside: &str, _front: &FrontMatter) -> String {
        let rewritten = root.rewritten(inside);
        below(&root.served, &index_path(stem(&rewritten).unwrap_or(&rewritten), &["index"]))
    }

    // A page of every value of a parameter: there is none to read.
    fn hides(&self, inside: &str) -> bool {
        inside.contains('[')
    }
}

/// Reads the layout, if the folder has such a configuration.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file = ENDINGS
        .iter()
        .flat_map(|ending| [format!(".vitepress/config.{ending}"), format!(".vitepress/config/index.{ending}")])
        .map(|name| at_home(tree, home, &name))
        .find(|file| has(file))?;
    let mut modules = Modules::new(tree, is_configuration);
    let config = modules.default_export(&file).map_or(Script::Computed, unwrapped);
    let themed = |config: &Script, name: &str| config.get("themeConfig").and_then(|theme| theme.get(name)).cloned();

    let source = config
        .text_of("srcDir")
        .and_then(|folder| joined_in(tree.root(), home, folder))
        .unwrap_or_else(|| home.to_owned());
    let excluded = config.get("srcExclude").map(Script::list).unwrap_or_default();
    let rewrites = config.get("rewrites").map(Script::members).unwrap_or_default();
    let mut root = Root {
        folder: source.clone(),
        generator: Generator::VitePress,
        excluded: globs(excluded.iter().filter_map(Script::text)),
        rewrites: rewrites.iter().filter_map(|(from, to)| Some((from.clone(), to.text()?.to_owned()))).collect(),
        language: config.text_of("lang").map(str::to_owned),
        ..Root::default()
    };

    let locales = config.get("locales").cloned();
    let mut roots = Vec::new();
    let mut sidebars = vec![themed(&config, "sidebar")];
    for (name, locale) in locales.iter().flat_map(Script::members) {
        let language = locale.text_of("lang").unwrap_or(name).to_owned();
        sidebars.push(themed(locale, "sidebar"));
        if name == "root" {
            if locale.text_of("lang").is_some() {
                root.language = Some(language);
            }
        } else if !is_external(name) {
            let name = name.trim_matches('/');
            roots.push(Root {
                folder: below(&source, name),
                served: name.to_owned(),
                language: Some(language),
                ..root.clone()
            });
        }
    }
    // Rules that name whole paths hold for the folder they are written for.
    for locale in &mut roots {
        locale.rewrites = Vec::new();
    }
    roots.push(root);

    let mut layout = Layout::of(Generator::VitePress, home, roots);
    layout.anchors = AnchorStyle::VitePress;
    layout.snippets = vec![source];
    let mut walk = Walk { entries: Entries::default(), computed: matches!(config, Script::Computed) };
    for sidebar in sidebars.iter().flatten() {
        walk.sidebar(sidebar);
    }
    layout.entries = walk.entries.by_key;
    if walk.computed {
        layout.problem(
            &file,
            "the sidebar is computed in part; pages that it does not name in so many words go without their group",
        );
    }
    Some(layout)
}

/// The object inside of the calls around it: `defineConfig({…})`, `withPlugin({…})`.
pub(crate) fn unwrapped(script: Script) -> Script {
    match script {
        Script::Call(_, arguments) => {
            let object = arguments.into_iter().map(unwrapped).find(|argument| matches!(argument, Script::Object(_)));
            object.unwrap_or(Script::Computed)
        }
        other => other,
    }
}

struct Walk {
    entries: Entries,
    computed: bool,
}

impl Walk {
    /// A list for all pages, or one for each path.
    fn sidebar(&mut self, sidebar: &Script) {
        match sidebar {
            Script::List(items) => self.items(items, "", &[], 0),
            Script::Object(members) => {
                for (_, part) in members {
                    match part {
                        Script::List(items) => self.items(items, "", &[], 0),
                        Script::Object(_) => {
                            let base = part.text_of("base").unwrap_or_default().to_owned();
                            self.items(part.get("items").map(Script::list).unwrap_or_default(), &base, &[], 0);
                        }
                        _ => self.computed = true,
                    }
                }
            }
            Script::Word(_) => {}
            _ => self.computed = true,
        }
    }

    fn items(&mut self, items: &[Script], base: &str, groups: &[String], depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for item in items {
            if !matches!(item, Script::Object(_)) {
                self.computed = true;
                continue;
            }
            let text = item.text_of("text").map(str::to_owned);
            let base = item.text_of("base").unwrap_or(base);
            if let Some(link) = item.text_of("link").filter(|link| !is_external(link)) {
                let link = link.split(['#', '?']).next().unwrap_or(link);
                let entry = Entry { title: text.clone(), groups: groups.into(), ..Entry::default() };
                self.entries.add(site_path_of(&below(base, link)), entry);
            }
            match item.get("items") {
                Some(Script::List(inner)) => {
                    let mut inside = groups.to_vec();
                    inside.extend(text);
                    self.items(inner, base, &inside, depth + 1);
                }
                Some(_) => self.computed = true,
                None => {}
            }
        }
    }
}

/// A link of a navigation as a site path.
pub(crate) fn site_path_of(link: &str) -> String {
    let link = link.trim_matches('/');
    let stem = [".md", ".html"].iter().find_map(|ending| link.strip_suffix(ending)).unwrap_or(link);
    match stem.rsplit_once('/') {
        Some((folder, "index")) => folder.to_owned(),
        None if stem == "index" => String::new(),
        _ => stem.to_owned(),
    }
}
