//! Reads the current version from `_config.yml` and similar files (`versions: {stable: v2}`), as Jekyll sites declare
//! it. Used where the generator's own configuration declares no versions.

use super::yaml;
use crate::layout::Layout;
use crate::tree::Tree;
use crate::variants::Stage;

/// A `_config*.yml` this many folders deep, or deeper, does not configure the site.
const DEPTH_LIMIT: usize = 3;
/// Keys that name the current version: those inside `versions`, and (`TOP_LEVEL_CURRENT_KEYS`) those at the top level.
pub(super) const CURRENT_KEYS: [&str; 3] = ["stable", "latest", "current"];
const TOP_LEVEL_CURRENT_KEYS: [&str; 4] = ["stable_version", "latest_version", "current_version", "latest"];

/// Whether a file may declare the current version.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    let depth = folder.split('/').filter(|part| !part.is_empty()).count();
    let is_yaml = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
    depth < DEPTH_LIMIT && is_yaml.is_some_and(|stem| stem == "_config" || stem.starts_with("_config_"))
}

/// Adds the current version declared in these files to a layout, unless the generator's configuration declares
/// versions.
pub(crate) fn read(tree: &dyn Tree, configurations: &[&str], layout: &mut Layout) {
    if !layout.declared.versions.is_empty() {
        return;
    }
    let is_version_file = |file: &&&str| {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        is_file(folder, name)
    };
    let mut files: Vec<&str> = configurations.iter().filter(is_version_file).copied().collect();
    files.sort_unstable();
    for file in files {
        let Some(config) = tree.text(file).and_then(|text| yaml::read(&text).ok()) else { continue };
        let versions = config.get("versions");
        let in_versions = CURRENT_KEYS.iter().filter_map(|name| versions?.get(name)?.text());
        let top_level = TOP_LEVEL_CURRENT_KEYS.iter().filter_map(|name| config.get(name)?.text());
        if let Some(current) = in_versions.chain(top_level).next() {
            layout.declared.add(current, Stage::Current);
            return;
        }
    }
}
