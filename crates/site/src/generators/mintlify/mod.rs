//! Mintlify sites, configured in `docs.json` or `mint.json`.

mod links;

use std::cmp::Ordering;
use std::collections::HashSet;

use docent_markdown::{AnchorStyle, stem};

use super::{Facts, Root, Rules};
use crate::api_description::METHODS;
use crate::glob::Globs;
use crate::layout::{Generator, Layout, Operations, PageEntries, PageEntry};
use crate::link_target::is_external;
use crate::navigation::{Around, Navigation};
use crate::navigation_json::{Json, Value};
use crate::navigation_refs::resolved;
use crate::paths::index_path;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};
use crate::variants::Stage;
use crate::version_names::{NameKind, VersionName};

/// Names of the configuration file; the first one that exists wins.
pub(crate) const FILES: [&str; 2] = Navigation::FILES;

/// Whether a file may belong to a configuration: one of [`FILES`], `.mintignore`, or JSON data that the configuration
/// may refer to.
pub(crate) fn is_configuration(folder: &str, name: &str) -> bool {
    let data_folders = ["navigation", "nav", "config", "docs-config", ".mintlify"];
    FILES.contains(&name)
        || name == ".mintignore"
        || name.ends_with(".json") && folder.split('/').any(|part| data_folders.contains(&part))
}

/// Maximum length of a path in bytes; longer text names no file or folder.
const MAX_PATH_BYTES: usize = 512;

/// Paths that Mintlify always ignores, in the syntax of `.gitignore`.
const ALWAYS_IGNORED: &str = ".git\n.github\n.claude\n.agents\n.idea\n.vscode\n.cursor\nnode_modules\nREADME.md\nLICENSE.md\nCHANGELOG.md\nCONTRIBUTING.md\n";

pub(super) struct Mintlify;

impl Rules for Mintlify {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| ["docs.json", "mint.json"].contains(&name)),
            ids_in_any_case: true,
            reads_markdown_as_mdx: true,
            api_folder: Some("api-reference"),
            has_plain_underscore_folders: true,
            inert_fields: "\
                sidebarTitle iconType url openapi asyncapi api contentType deprecated hideFooterPagination \
                hideApiMarker noindex timestamp boost related og:title og:description og:image og:url og:type \
                twitter:title twitter:description twitter:image twitter:card twitter:site rss playground authMethod",
            components: "\
                Accordion AccordionGroup Badge Banner Callout Card CardGroup Check CodeBlock CodeGroup Color Column \
                Columns Danger Expandable Frame Icon Info Latex Note Panel Param ParamField Prompt RequestExample \
                ResponseExample ResponseField Step Steps Tab Tabs Tile Tiles Tip Tooltip Tree Tree.File Tree.Folder \
                Update View Visibility Warning",
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, _has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let resolved = FILES.iter().find_map(|name| resolved(tree, home, name))?;
        let root = resolved.root.as_ref();
        let is_mintlify = root.is_some_and(|root| {
            let schema = root.text_of("$schema");
            root.get("navigation").is_some() || schema.is_some_and(|schema| schema.contains("mintlify"))
        });
        // In a subfolder, a file with this name may belong to another tool.
        if !home.is_empty() && !is_mintlify {
            return None;
        }
        let navigation = Navigation::of(&resolved);
        let mut layout = Layout::of(Generator::Mintlify, home, vec![content_root(tree, home)]);
        layout.anchors = AnchorStyle::Mintlify;
        if !home.is_empty() {
            layout.snippets = vec![home.to_owned()];
        }
        let mut entries = PageEntries::default();
        for entry in navigation.entries {
            let (groups, version, language) = (entry.groups, entry.version, entry.language);
            let key = index_path(stem(&entry.page).unwrap_or(&entry.page), &["index"]);
            entries.add(key, PageEntry { groups, version, language, ..PageEntry::default() });
        }
        layout.entries = entries.by_key;
        layout.redirects =
            navigation.redirects.into_iter().map(|redirect| (redirect.source, redirect.destination)).collect();
        layout.problems = resolved.problems.clone();
        if let Some(contents) = root.and_then(|root| root.get("navigation")) {
            let versions = Choices::of(contents, "version");
            for (at, name) in versions.names.iter().enumerate() {
                let is_unreleased = VersionName::of_label(name).kind == NameKind::Unreleased;
                let stage = match at.cmp(&versions.default_index) {
                    Ordering::Equal => Stage::Current,
                    Ordering::Greater if !is_unreleased => Stage::Older,
                    _ => Stage::Preview,
                };
                layout.declared.add(name, stage);
            }
            let mut languages = Choices::of(contents, "language");
            if !languages.names.is_empty() {
                layout.declared.language = Some(languages.names.swap_remove(languages.default_index));
            }
        }
        if let Some(root) = root {
            let openapi = root.get("api").and_then(|api| api.get("openapi")).or_else(|| root.get("openapi"));
            let descriptions = openapi.map(files_of).unwrap_or_default();
            let mut reader =
                NavigationReader { tree, home, operations: Vec::new(), descriptions, visible_pages: HashSet::new() };
            if let Some(contents) = root.get("navigation") {
                reader.walk_node(contents, &InheritedContext::default());
            }
            layout.operations = reader.operations;
            // Pages that the navigation hides or does not name are reachable by address only, unless `seo.indexing` is
            // `all`.
            let indexing = root.get("seo").and_then(|seo| seo.get("indexing")).and_then(Json::text);
            if indexing != Some("all") && !layout.entries.is_empty() {
                layout.shown = Some(reader.visible_pages);
            }
            reader.descriptions.dedup();
            for address in reader.descriptions.iter().filter(|file| is_external(file)) {
                layout.problem(
                    address,
                    format!("`{address}` is elsewhere and is not read: put the description of the API into the docs"),
                );
            }
            let local_files = reader.descriptions.iter().filter(|file| !is_external(file));
            layout.descriptions = local_files.filter_map(|file| joined_in(tree.root(), home, file)).collect();
        }
        Some(layout)
    }

    /// Files in these top-level folders are included in pages and are not pages themselves.
    fn skips_path(&self, root: &Root, relative_path: &str) -> Option<SkipReason> {
        let is_snippet = ["snippets/", "_snippets/"].iter().any(|folder| relative_path.starts_with(folder));
        (root.base_path.is_empty() && is_snippet).then_some(SkipReason::Partial)
    }
}

/// The versions or languages that readers choose from, in order.
struct Choices {
    names: Vec<String>,
    /// Index of the version or language that readers get by default.
    default_index: usize,
}

impl Choices {
    fn of(contents: &Json, member: &str) -> Self {
        let mut choices = Self { names: Vec::new(), default_index: 0 };
        choices.reader(contents, member);
        choices
    }

    fn reader(&mut self, node: &Json, member: &str) {
        match &node.value {
            Value::List(items) => items.iter().for_each(|item| self.reader(item, member)),
            Value::Object(members) => {
                if let Some(name) = Navigation::name(node, member).filter(|name| !self.names.contains(name)) {
                    if node.get("default").is_some_and(|flag| flag.value == Value::Other("true".to_owned())) {
                        self.default_index = self.names.len();
                    }
                    self.names.push(name);
                }
                let children = members.iter().filter(|(name, _)| Navigation::is_holder(name));
                children.for_each(|(_, value)| self.reader(value, member));
            }
            Value::Text(_) | Value::Other(_) => {}
        }
    }
}

/// The folder of pages of a site that is configured in `home`, which may be above the docs root.
fn content_root(tree: &dyn Tree, home: &str) -> Root {
    let above = home.split('/').filter(|part| *part == "..").count();
    let ignoring = from_config_folder(tree, home, ".mintignore");
    let ignored = tree.text(&ignoring).unwrap_or_default();
    let root: Vec<&str> = tree.root().split('/').filter(|part| !part.is_empty()).collect();
    Root {
        folder: if above > 0 { String::new() } else { home.to_owned() },
        base_path: root[root.len() - above.min(root.len())..].join("/"),
        generator: Generator::Mintlify,
        excluded: Globs::ignored(&ignoring, &format!("{ALWAYS_IGNORED}{ignored}")),
        ..Root::default()
    }
}

/// The files that a value of `openapi` names: a string, a list of strings, or an object with a `source`.
fn files_of(json: &Json) -> Vec<String> {
    let file = json.text().or_else(|| json.text_of("source"));
    file.into_iter().chain(json.list().iter().filter_map(Json::text)).map(str::to_owned).collect()
}

/// What a node of the navigation inherits from the nodes around it.
#[derive(Debug, Clone, Default)]
struct InheritedContext {
    file: Option<String>,
    directory: Option<String>,
    around: Around,
    /// Whether a node around it is `hidden` and not `searchable`.
    is_hidden: bool,
}

struct NavigationReader<'t> {
    tree: &'t dyn Tree,
    home: &'t str,
    operations: Vec<Operations>,
    /// Pages that are named outside of hidden nodes.
    visible_pages: HashSet<String>,
    descriptions: Vec<String>,
}

impl NavigationReader<'_> {
    /// Converts the path of a file in the navigation into one relative to the docs root.
    fn docs_path(&self, file: &str) -> Option<String> {
        joined_in(self.tree.root(), self.home, file)
    }

    fn walk_node(&mut self, node: &Json, context: &InheritedContext) {
        for item in node.list() {
            match item.text() {
                Some(page) => self.add_page(page, context),
                None => self.walk_node(item, context),
            }
        }
        let Value::Object(members) = &node.value else { return };
        let text = |name: &str| node.text_of(name).map(str::to_owned);
        let mut inherited = context.clone();
        inherited.around = context.around.inside(node);
        inherited.is_hidden |= is_true(node, "hidden") && !is_true(node, "searchable");
        if let Some(page) = text("root") {
            self.add_page(&page, &inherited);
        }
        let description_files = node.get("openapi").map(files_of).unwrap_or_default();
        self.descriptions.extend(description_files.iter().cloned());
        let directory = node.get("openapi").and_then(|openapi| openapi.get("directory")).and_then(Json::text);
        if let Some(directory) = directory.filter(|directory| directory.len() <= MAX_PATH_BYTES) {
            inherited.directory = Some(directory.to_owned());
        }
        let children: Vec<&Json> =
            members.iter().filter(|(name, _)| Navigation::is_holder(name)).map(|(_, value)| value).collect();
        if children.is_empty() {
            // A description without a list of operations stands for all of them.
            for file in description_files.iter().filter(|file| !is_external(file)) {
                self.add_operation(self.docs_path(file), None, &inherited);
            }
            return;
        }
        if let [file] = description_files.as_slice() {
            inherited.file = self.docs_path(file).filter(|file| file.len() <= MAX_PATH_BYTES);
        }
        for value in children {
            self.walk_node(value, &inherited);
        }
    }

    /// Adds a page, or an operation: `GET /users`, or `api.json GET /users`.
    fn add_page(&mut self, page: &str, context: &InheritedContext) {
        let words: Vec<&str> = page.split_whitespace().collect();
        match words.as_slice() {
            [method, path] if is_operation(method) => {
                self.add_operation(context.file.clone(), Some(format!("{} {path}", method.to_uppercase())), context);
            }
            [file, method, path] if is_operation(method) => {
                self.add_operation(self.docs_path(file), Some(format!("{} {path}", method.to_uppercase())), context);
            }
            _ if !context.is_hidden => {
                let page = page.trim_matches('/');
                self.visible_pages.insert(index_path(stem(page).unwrap_or(page), &["index"]));
            }
            _ => {}
        }
    }

    fn add_operation(&mut self, file: Option<String>, operation: Option<String>, context: &InheritedContext) {
        let Around { groups, version, language } = context.around.clone();
        self.operations.push(Operations {
            file,
            operation,
            directory: context.directory.clone(),
            groups,
            version,
            language,
        });
    }
}

/// Whether a member of a node is `true`.
fn is_true(node: &Json, name: &str) -> bool {
    matches!(node.get(name).map(|json| &json.value), Some(Value::Other(value)) if value == "true")
}

fn is_operation(word: &str) -> bool {
    word.eq_ignore_ascii_case("webhook") || METHODS.iter().any(|method| word.eq_ignore_ascii_case(method))
}

#[cfg(test)]
mod tests;
