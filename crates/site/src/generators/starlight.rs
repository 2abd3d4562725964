//! `astro.config.*`, for Starlight.

use docent_markdown::{FrontMatter, slug, stem};

use super::Rules;
use super::modules::{ENDINGS, Modules};
use super::roots::{Root, RootKind, index_path};
use super::script::Script;
use super::vitepress::{site_path_of, unwrapped};
use crate::follow::is_external;
use crate::layout::{Entries, Entry, Generator, Layout, below, is_configuration};
use crate::tree::{Tree, at_home};

/// How deep a sidebar may nest.
const DEEPEST: usize = 32;

#[derive(Debug)]
pub(crate) struct Starlight;

impl Rules for Starlight {
    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        read(tree, home, has)
    }

    fn address(&self, root: &Root, inside: &str, front: &FrontMatter) -> String {
        if let Some(slug) = front.slug() {
            return slug.trim_matches('/').to_owned();
        }
        let parts: Vec<String> = stem(inside).unwrap_or(inside).split('/').map(slug).collect();
        below(&root.served, &index_path(&parts.join("/"), &["index"]))
    }

    fn reads_front_matter(&self) -> bool {
        true
    }
}

/// Reads the layout, if the folder has such a configuration.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let file =
        ENDINGS.iter().map(|ending| at_home(tree, home, &format!("astro.config.{ending}"))).find(|file| has(file))?;
    let mut modules = Modules::new(tree, is_configuration);
    let config = modules.default_export(&file).map_or(Script::Computed, unwrapped);
    // The call may stand where the configuration is computed; it is what counts.
    let starlight = modules.argument_of(&file, "starlight").unwrap_or(Script::Computed);

    let content = at_home(tree, home, "src/content/docs");
    let mut roots = Vec::new();
    let mut languages = Vec::new();
    let mut language = None;
    for (name, locale) in starlight.get("locales").map(Script::members).unwrap_or_default() {
        let own = locale.text_of("lang").unwrap_or(name).to_owned();
        if name == "root" {
            language = Some(own);
        } else {
            languages.push(name.clone());
            roots.push(Root {
                folder: below(&content, name),
                served: name.clone(),
                generator: Generator::Starlight,
                language: Some(own),
                ..Root::default()
            });
        }
    }
    roots.push(Root { folder: content, generator: Generator::Starlight, language, ..Root::default() });
    roots.push(Root { folder: at_home(tree, home, "src/pages"), kind: RootKind::Pages, ..Root::default() });
    let mut layout = Layout::of(Generator::Starlight, home, roots);

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

struct Walk<'l> {
    entries: Entries,
    folders: Vec<(String, Vec<String>)>,
    /// The folders of other languages: a page stands for its translations too.
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
