//! Checks symbols: those named in the project's documentation exist, and no type name is used for many types.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::workspace::Workspace;

/// Maximum number of crate-visible types with the same name. An associated type of a trait is one of them.
const SAME_NAME: usize = 2;

/// Definitions of a crate that a page can name: items, modules and variants.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?m)\b(?:fn|struct|enum|trait|type|mod|const|static)\s+([A-Za-z_]\w*)|^\s+([A-Z]\w*)\s*(?:[,({=]|$)")
});
/// Types that are visible beyond their module.
static TYPE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^ *pub(?:\([a-z]+\))? (?:struct|enum|trait|type) ([A-Z]\w*)"));
/// Code spans on one line.
static CODE: LazyLock<Regex> = LazyLock::new(|| regex("`([^`\n]+)`"));
/// `Type::item`, `module::Type`, `docent_crate::item`, with or without arguments.
static PATH: LazyLock<Regex> = LazyLock::new(|| regex(r"^[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Every symbol and file of the project that a page names and that does not exist, and every type name that is used too
/// often.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>, String> {
    let crates = crates(workspace)?;
    let symbols = crates.iter().map(|(name, files)| (name.as_str(), defined(files))).collect();
    let mut faults = Vec::new();
    for page in pages(workspace)? {
        let text = workspace.read_file(&page)?;
        let unknown = CODE
            .captures_iter(&text)
            .map(|code| code[1].to_owned())
            .filter(|code| is_missing_symbol(code, &symbols) || is_missing_file(code, &workspace.root));
        faults.extend(unknown.map(|code| format!("{page} names `{code}`, which does not exist")));
    }
    faults.extend(missing_modules(&crates, &workspace.root));
    faults.extend(common_names(&crates));
    Ok(faults)
}

/// Files that the documentation of a crate lists but that do not exist.
fn missing_modules(crates: &Crates, root: &Path) -> Vec<String> {
    let libs = crates.values().flatten().filter(|(path, _)| path.ends_with("/src/lib.rs"));
    let listed = libs.flat_map(|(path, text)| {
        let rows = text.lines().filter(|line| line.starts_with("//! |"));
        let names = rows.flat_map(|row| CODE.captures_iter(row)).map(|code| code[1].to_owned());
        names.filter(|name| name.ends_with(".rs")).map(move |name| (path, name))
    });
    let missing = listed.filter(|(path, name)| !root.join(path).with_file_name(name).exists());
    missing.map(|(path, name)| format!("{path} lists `{name}`, which does not exist")).collect()
}

/// The files of each crate with their code, keyed by the crate's name in code (`docent_site`).
type Crates = BTreeMap<String, BTreeMap<String, String>>;

fn crates(workspace: &Workspace) -> Result<Crates, String> {
    let mut crates = Crates::new();
    for path in workspace.files("crates/*/src/*.rs")? {
        let Some((name, file)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else { continue };
        if file.contains("test") {
            continue;
        }
        let text = workspace.read_file(&path)?;
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        crates.entry(format!("docent_{}", name.replace('-', "_"))).or_default().insert(path, text);
    }
    Ok(crates)
}

/// The project's own Markdown pages, without the sites under `tests/sites`.
fn pages(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut pages = workspace.files("*.md")?;
    // The changelog also names removed symbols.
    pages.retain(|page| !page.starts_with("tests/sites/") && page != "CHANGELOG.md");
    Ok(pages)
}

/// The names defined in each crate.
type Symbols<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn defined(files: &BTreeMap<String, String>) -> BTreeSet<&str> {
    let found = files.values().flat_map(|text| DEFINED.captures_iter(text));
    found.filter_map(|found| found.get(1).or(found.get(2))).map(|name| name.as_str()).collect()
}

/// Whether the code is a path that begins with a symbol of the project and continues with one that does not exist.
fn is_missing_symbol(code: &str, symbols: &Symbols<'_>) -> bool {
    let Some(path) = PATH.find(code) else { return false };
    let mut parts = path.as_str().split("::");
    let first = parts.next().unwrap_or_default();
    if first.starts_with("docent_") {
        return symbols.get(first).is_none_or(|defined| parts.any(|part| !defined.contains(part)));
    }
    let is_defined = |part: &str| symbols.values().any(|defined| defined.contains(part));
    // Other paths are those of third-party crates, such as `std::fs`.
    let is_ours = is_defined(first) || symbols.contains_key(format!("docent_{first}").as_str());
    is_ours && parts.any(|part| !is_defined(part))
}

fn is_missing_file(code: &str, root: &Path) -> bool {
    let of_ours =
        ["crates/", "xtask/", "tests/", "sim/", "fuzz/", "docs/"].iter().any(|folder| code.starts_with(folder));
    of_ours && !code.contains(['*', ' ', '{', '<']) && !root.join(code).exists()
}

/// A sentence for each name that more than two crate-visible types have.
fn common_names(crates: &Crates) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, text) in crates.values().flatten() {
        for name in TYPE.captures_iter(text).filter_map(|found| found.get(1)) {
            places.entry(name.as_str()).or_default().push(path);
        }
    }
    let common = places.into_iter().filter(|(_, places)| places.len() > SAME_NAME);
    common.map(|(name, places)| format!("`{name}` is {} types: {}", places.len(), places.join(", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Crates {
        let file = |path: &str, text: &str| BTreeMap::from([(path.to_owned(), text.to_owned())]);
        let (site, index) = (
            "pub struct Site;\nimpl Site { pub fn read() {} }\npub enum Kind {\n    Page,\n}\n",
            "pub(crate) enum Kind {}\npub mod disk {\n    pub type Kind = u8;\n}\n",
        );
        Crates::from([
            ("docent_site".to_owned(), file("site.rs", site)),
            ("docent_search".to_owned(), file("search.rs", index)),
        ])
    }

    #[test]
    fn a_page_names_what_exists() {
        let crates = sample();
        let symbols = crates.iter().map(|(name, files)| (name.as_str(), defined(files))).collect();
        for there in ["Site::read", "Site::read(tree)", "Kind::Page", "docent_site::Site", "std::fs", "read", "a: b"] {
            assert!(!is_missing_symbol(there, &symbols), "{there}");
        }
        for missing in ["Site::write", "docent_site::Disk", "docent_sight::Site", "Kind::Draft"] {
            assert!(is_missing_symbol(missing, &symbols), "{missing}");
        }
    }

    #[test]
    fn a_name_of_many_types_is_told() {
        let many: String = (0..=SAME_NAME).map(|_| "pub struct Place;\n").collect();
        let files = BTreeMap::from([("a.rs".to_owned(), many), ("b.rs".to_owned(), "pub struct Site;\n".to_owned())]);
        let faults = common_names(&Crates::from([("docent_site".to_owned(), files)])).join("\n");
        assert!(faults.contains("`Place` is ") && !faults.contains("Site"), "{faults}");
    }
}
