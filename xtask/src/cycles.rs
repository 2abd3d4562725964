//! Module cycles: files of one crate that depend on each other in a cycle cannot be read, tested or moved separately.
//!
//! Cycles of at most three files are allowed. The dependencies of a file are read from the paths in it that begin with
//! `crate`, `super` or `self`, outside of its tests. A file may name the files of its own folder by their bare names
//! (`mod part;` and `use part::Part;`): a parent module knows its children.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// Maximum number of files in a cycle.
const MOST: usize = 3;

type Module = Vec<String>;
type Needs = BTreeMap<Module, BTreeSet<Module>>;

/// A sentence for each cycle that has too many files, in the crates below a folder.
pub(crate) fn faults(crates: &Path) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for folder in entries(crates)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sources = BTreeMap::new();
        read(&folder.join("src"), &mut Vec::new(), &mut sources)?;
        for cycle in cycles(&needs(&sources)).into_iter().filter(|cycle| cycle.len() > MOST) {
            let files: Vec<String> = cycle.iter().map(|module| module.join("::")).collect();
            faults.push(format!(
                "`{name}` has a circle of {} files that need each other, {MOST} are the most: {}",
                files.len(),
                files.join(", ")
            ));
        }
    }
    Ok(faults)
}

fn entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let failed = |error| format!("could not list {}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// The text of each module, without its tests.
fn read(folder: &Path, at: &mut Module, sources: &mut BTreeMap<Module, String>) -> Result<(), String> {
    if !folder.is_dir() {
        return Ok(());
    }
    for path in entries(folder)? {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem.contains("test") {
            continue;
        }
        if path.is_dir() {
            at.push(stem);
            read(&path, at, sources)?;
            at.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).map_err(|error| format!("could not read {}: {error}", path.display()))?;
            let module = match stem.as_str() {
                "lib" | "main" if at.is_empty() => continue,
                "mod" => at.clone(),
                _ => at.iter().cloned().chain([stem]).collect(),
            };
            sources.insert(module, without_tests(&text));
        }
    }
    Ok(())
}

fn without_tests(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn needs(sources: &BTreeMap<Module, String>) -> Needs {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").expect("a pattern"));
    static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\buse ([^;]*);").expect("a pattern"));
    let module_of =
        |path: &[String]| (1..=path.len()).rev().map(|end| path[..end].to_vec()).find(|m| sources.contains_key(m));
    let mut needs = Needs::new();
    for (module, text) in sources {
        let mut paths = Vec::new();
        USE.captures_iter(text).for_each(|found| write_out("", &found[1], &mut paths));
        let others = USE.replace_all(text, "");
        paths.extend(PATH.find_iter(&others).map(|found| found.as_str().to_owned()));
        let mut named: BTreeSet<Module> =
            paths.iter().filter_map(|path| module_of(&from_root(module, path)?)).collect();
        named.remove(module);
        needs.insert(module.clone(), named);
    }
    needs
}

/// Expands the groups of a `use` into paths.
fn write_out(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((path, group)) = tree.split_once('{') else {
        return paths.push(format!("{prefix}{}", tree.trim()));
    };
    let prefix = format!("{prefix}{}", path.trim());
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                write_out(&prefix, &group[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    write_out(&prefix, &group[start..], paths);
}

/// The path of a module relative to the crate root; `None` for one of another crate or of the module's own folder.
fn from_root(module: &[String], path: &str) -> Option<Module> {
    let mut parts = path.split("::").peekable();
    let mut from = match parts.next()? {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => module[..module.len() - 1].to_vec(),
        _ => return None,
    };
    while parts.next_if_eq(&"super").is_some() {
        from.pop();
    }
    from.extend(parts.map(|part| part.split_whitespace().next().unwrap_or_default().to_owned()));
    Some(from)
}

/// The strongly connected components: groups of modules each of which depends on all others of its group.
fn cycles(needs: &Needs) -> Vec<Vec<Module>> {
    let reached = |from: &Module| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(needs.get(module).into_iter().flatten().filter(|needed| reached.insert((*needed).clone())));
        }
        reached
    };
    let reach: BTreeMap<&Module, BTreeSet<Module>> = needs.keys().map(|module| (module, reached(module))).collect();
    let mut groups: BTreeSet<Vec<Module>> = BTreeSet::new();
    for (module, reached) in &reach {
        if reached.contains(*module) {
            groups.insert(reached.iter().filter(|other| reach[other].contains(*module)).cloned().collect());
        }
    }
    groups.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let module = |name: &str| name.split("::").map(str::to_owned).collect::<Module>();
        let sources = files.iter().map(|(name, text)| (module(name), without_tests(text))).collect();
        let shown = |cycle: Vec<Module>| cycle.iter().map(|module| module.join("::")).collect();
        cycles(&needs(&sources)).into_iter().map(shown).collect()
    }

    #[test]
    fn files_that_need_each_other_are_found_however_the_path_is_written() {
        let files = [
            ("a", "use crate::{b, other::Thing};\nfn x() {}"),
            ("b", "fn y(c: crate::deep::c::C) {}"),
            ("deep", "mod c;"),
            ("deep::c", "use super::{d::D, X as Y};"),
            ("deep::d", "use crate::deep::{e::{self, E}, f as g};"),
            ("deep::e", "fn z() { super::super::a::f() }"),
            ("deep::f", ""),
            ("other", "use crate::b::B;"),
            ("apart", "use crate::a::A;"),
        ];
        assert_eq!(of(&files), [["a", "b", "deep::c", "deep::d", "deep::e", "other"]]);
    }

    #[test]
    fn tests_and_comments_make_no_circle() {
        let files = [
            ("a", "use crate::b::B; // see crate::c"),
            ("b", "fn y() {}\n#[cfg(test)]\nmod tests {\n use crate::a::A;\n}"),
            ("c", "use crate::a::A;"),
        ];
        assert!(of(&files).is_empty());
    }
}
