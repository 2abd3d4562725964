//! `docs.json` and `mint.json`.

use std::collections::HashSet;
use std::sync::Arc;

use docent_markdown::{FrontMatter, joined, site_path, slugged, text_of};

use super::Rules;
use super::roots::Root;
use crate::follow::is_external;
use crate::layout::{Entries, Entry, FileProblem, Generator, Layout, below};
use crate::navigation::Navigation;
use crate::navigation_json::{self, Json, Value};
use crate::openapi::METHODS;
use crate::tree::Tree;

/// The files a configuration is looked for in, first one wins.
pub(crate) const FILES: [&str; 2] = Navigation::FILES;

/// What is longer, in bytes, names no file or folder.
const LONGEST_PATH: usize = 512;

/// Operations of an API that the navigation shows without a page of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operations {
    /// The description of the API; `None` for whichever has the operation.
    pub(crate) file: Option<String>,
    /// `GET /users`; `None` for all of them.
    pub(crate) operation: Option<String>,
    /// The folder their pages are served in, if the navigation chooses one.
    pub(crate) directory: Option<String>,
    pub(crate) groups: Arc<[String]>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Mintlify;

impl Rules for Mintlify {
    fn read(&self, tree: &dyn Tree, home: &str, _has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        home.is_empty().then(|| read(tree)).flatten()
    }

    fn address(&self, root: &Root, inside: &str, front: &FrontMatter) -> String {
        match front.slug() {
            Some(slug) => below(&root.served, &slugged(inside, slug)),
            None => below(&root.served, &site_path(inside)),
        }
    }
}

/// Reads the layout of a tree, if it has such a file.
fn read(tree: &dyn Tree) -> Option<Layout> {
    let (file, bytes) = FILES.iter().find_map(|file| Some((*file, tree.read(file)?)))?;
    let navigation = Navigation::parse(file, &bytes);
    let mut layout = Layout::of(Generator::Mintlify, "", vec![Root::default()]);
    let mut entries = Entries::default();
    for entry in navigation.entries {
        let (groups, version, language) = (entry.groups, entry.version, entry.language);
        entries.add(entry.page, Entry { groups, version, language, ..Entry::default() });
    }
    layout.entries = entries.by_key;
    layout.redirects =
        navigation.redirects.into_iter().map(|redirect| (redirect.source, redirect.destination)).collect();
    layout.problems =
        navigation.problems.into_iter().map(|problem| FileProblem { file: file.to_owned(), problem }).collect();
    if let Ok(root) = navigation_json::read(&text_of(&bytes)) {
        let named = root.get("api").and_then(|api| api.get("openapi")).or_else(|| root.get("openapi"));
        let descriptions = named.map(files_of).unwrap_or_default();
        let mut walk = Walk { operations: Vec::new(), descriptions, shown: HashSet::new() };
        if let Some(contents) = root.get("navigation") {
            walk.node(contents, &Around::default());
        }
        layout.operations = walk.operations;
        // What it does not name, or hides, is reached by its address alone, unless the site wants all of it found.
        let indexing = root.get("seo").and_then(|seo| seo.get("indexing")).and_then(Json::text);
        if indexing != Some("all") && !layout.entries.is_empty() {
            layout.shown = Some(walk.shown);
        }
        walk.descriptions.dedup();
        for address in walk.descriptions.iter().filter(|file| is_external(file)) {
            layout.problem(
                file,
                format!("`{address}` is elsewhere and is not read: put the description of the API into the docs"),
            );
        }
        layout.descriptions =
            walk.descriptions.iter().filter(|file| !is_external(file)).filter_map(|file| joined("", file)).collect();
    }
    Some(layout)
}

/// The files that an `openapi` names: a text, a list of them, or an object with a `source`.
fn files_of(json: &Json) -> Vec<String> {
    let own = json.text().or_else(|| json.get("source").and_then(Json::text));
    own.into_iter().chain(json.list().iter().filter_map(Json::text)).map(str::to_owned).collect()
}

/// What is around a node of the navigation.
#[derive(Debug, Clone, Default)]
struct Around {
    file: Option<String>,
    directory: Option<String>,
    groups: Arc<[String]>,
    version: Option<String>,
    language: Option<String>,
    /// Whether something around is hidden, and not searchable all the same.
    is_hidden: bool,
}

struct Walk {
    operations: Vec<Operations>,
    /// Pages that are named where nothing is hidden.
    shown: HashSet<String>,
    descriptions: Vec<String>,
}

impl Walk {
    fn node(&mut self, node: &Json, around: &Around) {
        for item in node.list() {
            match item.text() {
                Some(page) => self.page(page, around),
                None => self.node(item, around),
            }
        }
        let Value::Object(members) = &node.value else { return };
        let text = |name: &str| node.get(name).and_then(Json::text).map(str::to_owned);
        let mut inside = around.clone();
        inside.groups = Navigation::groups(&inside.groups, node);
        inside.version = Navigation::name(node, "version").or(inside.version);
        inside.language = Navigation::name(node, "language").or(inside.language);
        inside.is_hidden |= says(node, "hidden") && !says(node, "searchable");
        if let Some(page) = text("root") {
            self.page(&page, &inside);
        }
        let named = node.get("openapi").map(files_of).unwrap_or_default();
        self.descriptions.extend(named.iter().cloned());
        let directory = node.get("openapi").and_then(|openapi| openapi.get("directory")).and_then(Json::text);
        if let Some(directory) = directory.filter(|directory| directory.len() <= LONGEST_PATH) {
            inside.directory = Some(directory.to_owned());
        }
        let inner: Vec<&Json> = members
            .iter()
            .filter(|(name, _)| Navigation::HOLDERS.contains(&name.as_str()))
            .map(|(_, value)| value)
            .collect();
        if inner.is_empty() {
            // Named and nothing said of its operations: all of them.
            for file in named.iter().filter(|file| !is_external(file)) {
                self.add(joined("", file), None, &inside);
            }
            return;
        }
        if let [file] = named.as_slice() {
            inside.file = joined("", file).filter(|file| file.len() <= LONGEST_PATH);
        }
        for value in inner {
            self.node(value, &inside);
        }
    }

    /// `GET /users`, or `api.json GET /users`.
    fn page(&mut self, page: &str, around: &Around) {
        let words: Vec<&str> = page.split_whitespace().collect();
        match words.as_slice() {
            [method, path] if is_operation(method) => {
                self.add(around.file.clone(), Some(format!("{} {path}", method.to_uppercase())), around);
            }
            [file, method, path] if is_operation(method) => {
                self.add(joined("", file), Some(format!("{} {path}", method.to_uppercase())), around);
            }
            _ if !around.is_hidden => drop(self.shown.insert(page.trim_matches('/').to_owned())),
            _ => {}
        }
    }

    fn add(&mut self, file: Option<String>, operation: Option<String>, around: &Around) {
        self.operations.push(Operations {
            file,
            operation,
            directory: around.directory.clone(),
            groups: around.groups.clone(),
            version: around.version.clone(),
            language: around.language.clone(),
        });
    }
}

/// Whether a member of a node is `true`.
fn says(node: &Json, name: &str) -> bool {
    matches!(node.get(name).map(|json| &json.value), Some(Value::Other(value)) if value == "true")
}

fn is_operation(word: &str) -> bool {
    word.eq_ignore_ascii_case("webhook") || METHODS.iter().any(|method| word.eq_ignore_ascii_case(method))
}
