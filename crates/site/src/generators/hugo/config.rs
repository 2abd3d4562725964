//! Reads the configuration of Hugo: one file or a folder of files, in TOML, YAML or JSON, with case-insensitive keys.

use crate::generators::yaml::Yaml;
use crate::settings;
use crate::tree::{Tree, from_config_folder};

const CONFIG_STEMS: [&str; 2] = ["hugo", "config"];
const CONFIG_EXTENSIONS: [&str; 4] = ["toml", "yaml", "yml", "json"];
const CONFIG_FOLDER: &str = "config/_default";

/// Keys that only the configuration of Hugo has.
const HUGO_KEYS: &str = "baseurl languages defaultcontentlanguage module markup permalinks contentdir outputs menu";

/// Whether a file may belong to the configuration; `folder` is relative to the folder of the configuration.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    CONFIG_EXTENSIONS.contains(&ending)
        && (folder == CONFIG_FOLDER || folder.is_empty() && CONFIG_STEMS.contains(&stem))
}

/// The merged configuration, and each file that could not be parsed with its error.
pub(super) struct ParsedConfig {
    pub(super) config: Yaml,
    pub(super) errors: Vec<(String, String)>,
}

/// Reads Hugo's configuration, if the folder has one.
pub(super) fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<ParsedConfig> {
    let main = |folder: &str| {
        let mut names = CONFIG_STEMS
            .iter()
            .flat_map(|name| CONFIG_EXTENSIONS.iter().map(move |ending| format!("{folder}{name}.{ending}")));
        names.find(|name| has(&from_config_folder(tree, home, name)))
    };
    let single = main("");
    let shared = main(&format!("{CONFIG_FOLDER}/"));
    let name = single.clone().or(shared.clone())?;
    let mut read = ParsedConfig { config: Yaml::Map(Vec::new()), errors: Vec::new() };
    for (name, key) in single.into_iter().chain(shared).map(|name| (name, None)).chain(key_files(tree, home)) {
        let file = from_config_folder(tree, home, &name);
        let Some(text) = tree.text(&file) else { continue };
        match settings::parse(&name, &text) {
            Ok(value) => read.config.merge(wrapped(lowered(value), key.as_deref())),
            Err(message) => read.errors.push((file, message)),
        }
    }
    let is_named_hugo = name.contains("hugo.");
    let has_hugo_keys = HUGO_KEYS.split(' ').any(|key| read.config.get(key).is_some());
    let content = from_config_folder(tree, home, "content/");
    let has_content = || tree.all_paths().iter().any(|path| path.starts_with(&content));
    (is_named_hugo || has_hugo_keys && (has_content() || read.config.get("baseurl").is_some())).then_some(read)
}

/// The files in the configuration folder that set the key they are named after; dots separate nested keys
/// (`languages.fr.toml`).
fn key_files(tree: &dyn Tree, home: &str) -> Vec<(String, Option<String>)> {
    let folder = format!("{}/", from_config_folder(tree, home, CONFIG_FOLDER));
    let paths = tree.all_paths();
    let names = paths.iter().filter_map(|path| path.strip_prefix(folder.as_str()));
    let mut files: Vec<(String, Option<String>)> = names
        .filter(|name| is_file(CONFIG_FOLDER, name))
        .filter_map(|name| {
            let (stem, _) = name.rsplit_once('.')?;
            (!CONFIG_STEMS.contains(&stem)).then(|| (format!("{CONFIG_FOLDER}/{name}"), Some(stem.to_lowercase())))
        })
        .collect();
    files.sort();
    files
}

/// Nests a value under a dotted key.
fn wrapped(value: Yaml, key: Option<&str>) -> Yaml {
    match key {
        None => value,
        Some(key) => key.rsplit('.').fold(value, |value, name| Yaml::Map(vec![(name.to_owned(), value)])),
    }
}

fn lowered(value: Yaml) -> Yaml {
    match value {
        Yaml::Map(members) => {
            Yaml::Map(members.into_iter().map(|(key, value)| (key.to_lowercase(), lowered(value))).collect())
        }
        Yaml::List(items) => Yaml::List(items.into_iter().map(lowered).collect()),
        single => single,
    }
}
