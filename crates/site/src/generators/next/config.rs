//! Reads what the configuration and the routes of a Next.js application say about its URLs.

use super::is_group;
use crate::generators::modules::Modules;
use crate::generators::script_value::{ScriptValue, returned_at, value_at};
use crate::layout::{Layout, below};
use crate::model::{Site, redirects};
use crate::paths::path_in;
use crate::script::Script;
use crate::tree::{Tree, from_config_folder};

/// Settings of a Next.js application that its URLs depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct NextSettings {
    /// Whether URLs of pages end in a slash.
    pub(crate) trailing_slash: bool,
    /// Whether redirects or rewrites are computed, so that any address may lead somewhere.
    pub(crate) has_computed_routes: bool,
    /// Base paths below which there may be pages without a file.
    pub(crate) dynamic_base_paths: Vec<String>,
    /// Rewrites: the pattern of an address that something else is served at, and the extension of such addresses.
    pub(crate) rewrites: Vec<(String, String)>,
    /// Whether file links that begin with `./` are resolved.
    pub(crate) resolves_files: bool,
    pub(crate) languages: Languages,
}

/// The languages that URLs may begin with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Languages {
    pub(crate) names: Vec<String>,
    /// The language of pages that replace missing translations.
    pub(crate) default: String,
    /// Whether URLs in the default language omit it.
    pub(crate) hides_default: bool,
    /// Whether a page that is not translated is shown in the default language.
    pub(crate) falls_back_to_default: bool,
}

impl Languages {
    /// The language at the start of an address, and the rest of it.
    pub(crate) fn split<'a>(&self, address: &'a str) -> Option<(&str, &'a str)> {
        let (first, rest) = address.split_once('/').unwrap_or((address, ""));
        let name = self.names.iter().find(|name| *name == first)?;
        Some((name, rest))
    }

    /// The address of a path in a language.
    pub(crate) fn address(&self, language: &str, rest: &str) -> String {
        if self.hides_default && language == self.default { rest.to_owned() } else { below(language, rest) }
    }
}

/// File extensions of `next.config.*`.
const CONFIG_EXTENSIONS: [&str; 5] = ["js", "mjs", "cjs", "ts", "mts"];

/// The name and the text of `next.config.*`, if the folder has one.
pub(crate) fn configuration(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
    let mut files =
        CONFIG_EXTENSIONS.iter().map(|ending| from_config_folder(tree, home, &format!("next.config.{ending}")));
    let file = files.find(|file| has(file))?;
    let text = String::from_utf8_lossy(&tree.read(&file)?).into_owned();
    Some((file, text))
}

/// Adds the literal settings in `next.config.*` to a layout.
pub(crate) fn read(tree: &dyn Tree, file: &str, text: &str, has: &dyn Fn(&str) -> bool, layout: &mut Layout) {
    let script = Script::of(text);
    layout.options.next.trailing_slash =
        script.named().any(|(at, name)| &text[name] == "trailingSlash" && script.is(at + 2, "true"));
    let mut modules = Modules::new(tree, has);
    for item in returned_items(&mut modules, file, &script, "redirects")
        .unwrap_or_else(|| mark_computed(&mut layout.options.next))
    {
        match (item.text_of("source"), item.text_of("destination")) {
            (Some(source), Some(to)) if applies_unconditionally(&item) => {
                layout.redirects.push((pattern(source), to.to_owned()));
            }
            (Some(_), Some(_)) => {}
            _ => layout.options.next.has_computed_routes = true,
        }
    }
    for item in returned_items(&mut modules, file, &script, "rewrites")
        .unwrap_or_else(|| mark_computed(&mut layout.options.next))
    {
        match item.text_of("source") {
            Some(source) => {
                let ending = source.rsplit_once("*.").map(|(_, ending)| format!(".{ending}")).unwrap_or_default();
                layout.options.next.rewrites.push((pattern(source), ending));
            }
            None => layout.options.next.has_computed_routes = true,
        }
    }
}

fn mark_computed(settings: &mut NextSettings) -> Vec<ScriptValue> {
    settings.has_computed_routes = true;
    Vec::new()
}

/// The list that a function of the configuration returns; `None` when it is computed.
fn returned_items(modules: &mut Modules<'_>, file: &str, script: &Script, name: &str) -> Option<Vec<ScriptValue>> {
    let mut named = (0..script.tokens.len()).filter(|at| script.is(*at, name));
    if !script.text.contains(name) {
        return Some(Vec::new());
    }
    let value = named.find_map(|at| match script.is(at + 1, ":") {
        true => Some(value_at(script, at + 2).0),
        false => script.is(at + 1, "(").then(|| returned_at(script, at + 1)).flatten(),
    });
    let lists = match modules.resolve_names(value?, file) {
        ScriptValue::List(items) => vec![ScriptValue::List(items)],
        // Rewrites may be an object of lists, one for each phase in which they apply (such as `beforeFiles`).
        ScriptValue::Object(members) => members.into_iter().map(|(_, list)| list).collect(),
        _ => return None,
    };
    lists.iter().all(|list| matches!(list, ScriptValue::List(_))).then_some(())?;
    Some(lists.iter().flat_map(|list| list.list().iter().cloned()).collect())
}

/// Whether a redirect applies to its path in general, rather than for another host or a query only.
fn applies_unconditionally(item: &ScriptValue) -> bool {
    let is_other = |condition: &ScriptValue| matches!(condition.text_of("type"), Some("host" | "query"));
    item.get("has").is_none_or(|conditions| !conditions.list().iter().any(is_other))
}

/// Converts the `source` of a redirect or rewrite into a pattern of Docent's; what a placeholder may match is not
/// restricted.
fn pattern(source: &str) -> String {
    let parts = source.trim_matches('/').split('/').map(|part| match part {
        part if part.contains('*') || part.contains(".+") => "*",
        part if part.contains([':', '(']) => ":part",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Whether the application serves something at an address that is no page of the docs: by a route of its own, or by a
/// rewrite.
pub(crate) fn is_served_by_application(site: &Site, address: &str) -> bool {
    let settings = &site.layout().options.next;
    settings.rewrites.iter().any(|(pattern, ending)| address.ends_with(ending.as_str()) && redirects(pattern, address))
        || settings.dynamic_base_paths.iter().any(|base_path| path_in(base_path, address).is_some())
        || site.all_files().filter_map(|file| route(site, file)).any(|route| {
            // A catch-all route may match its own folder, too.
            redirects(&route, address) || route.strip_suffix("/*").is_some_and(|folder| redirects(folder, address))
        })
}

/// The address pattern of a route of the application; `None` if the file is no route, or the route of the docs.
fn route(site: &Site, file: &str) -> Option<String> {
    let home = crate::tree::joined_in(site.root(), site.layout().home(), "")?;
    let path_in_home = if home.is_empty() { file } else { file.strip_prefix(home.as_str())?.strip_prefix('/')? };
    let path_in_home = path_in_home.strip_prefix("src/").unwrap_or(path_in_home);
    let (path, ending) = path_in_home.rsplit_once('.')?;
    let is_script = ["tsx", "ts", "jsx", "js"].contains(&ending);
    let parts: Vec<&str> = match (path.strip_prefix("app/"), path.strip_prefix("pages/")) {
        (Some(path), _) => {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            (is_script && ["page", "route"].contains(&name)).then_some(())?;
            folder.split('/').filter(|part| !part.is_empty() && !is_group(part) && !part.starts_with('@')).collect()
        }
        (_, Some(path)) => {
            (is_script && !path.starts_with("_")).then_some(())?;
            path.split('/').filter(|part| *part != "index").collect()
        }
        _ => return None,
    };
    let names = &site.layout().options.next.languages.names;
    let parts = match parts.split_first() {
        Some((first, rest)) if !names.is_empty() && first.starts_with('[') && !first.contains("...") => rest,
        _ => &parts,
    };
    let pattern: Vec<&str> = parts
        .iter()
        .map(|part| match part {
            part if part.contains("[...") => "*",
            part if part.starts_with('[') => ":part",
            part => part,
        })
        .collect();
    let pattern = pattern.join("/");
    let folder = pattern.strip_suffix('*').map(|folder| folder.trim_end_matches('/'));
    let is_of_docs = folder.is_some_and(|folder| site.layout().roots.iter().any(|root| root.base_path == folder));
    (!is_of_docs).then_some(pattern)
}
