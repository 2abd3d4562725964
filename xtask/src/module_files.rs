//! Checks the files of crates: each is a module, and the tests of a module are at the end of its file, or in `tests.rs`
//! in its folder (`docs/STYLE.md`).

use std::collections::BTreeMap;

use crate::workspace::Workspace;

/// A sentence for each test file in another place, and for each file that no `mod` line names.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut sources = BTreeMap::new();
    for path in workspace.files("crates/*/src/*.rs")? {
        let text = workspace.read_file(&path)?;
        sources.insert(path, text);
    }
    let mut faults = orphans(&sources);
    faults.extend(sources.iter().filter_map(|(path, text)| fault(path, text)));
    Ok(faults)
}

/// Files that no `mod` line names: the compiler never reads them.
fn orphans(sources: &BTreeMap<String, String>) -> Vec<String> {
    let is_named = |path: &str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
        let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
        let parents = ["/lib.rs", "/main.rs", "/mod.rs", ".rs"].map(|end| format!("{folder}{end}"));
        let line = format!("mod {name};");
        parents.iter().filter_map(|parent| sources.get(parent)).any(|text| text.contains(&line))
    };
    let roots = ["/src/lib.rs", "/src/main.rs"];
    let orphans = sources.keys().filter(|path| !roots.iter().any(|root| path.ends_with(root)) && !is_named(path));
    orphans.map(|path| format!("{path} is not a module of its crate: add its `mod` line, or delete it")).collect()
}

fn fault(path: &str, text: &str) -> Option<String> {
    if path.ends_with("_tests.rs") || path.ends_with("/tests/mod.rs") {
        return Some(format!("{path}: tests of a module are in its file, or in `tests.rs` in its folder"));
    }
    let line = text.lines().position(|line| line.trim_start().starts_with("#[path"))?;
    Some(format!("{path}:{}: a module is found by its name, without `#[path]`", line + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_module_names_is_found() {
        let files =
            [("lib.rs", "mod a;\n"), ("a/mod.rs", "mod b;\n"), ("a/b.rs", "mod c;\n"), ("a/b/c.rs", ""), ("d.rs", "")];
        let sources = files.map(|(name, text)| (format!("crates/x/src/{name}"), text.to_owned())).into();
        let orphans = orphans(&sources);
        assert!(orphans.len() == 1 && orphans[0].starts_with("crates/x/src/d.rs "), "{orphans:?}");
    }

    #[test]
    fn tests_beside_their_module_and_modules_by_path_are_refused() {
        assert_eq!(fault("crates/a/src/b/tests.rs", "mod c;\n"), None);
        assert_eq!(fault("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;\n"), None);
        for (path, text) in [
            ("crates/a/src/b_tests.rs", ""),
            ("crates/a/src/tests/mod.rs", ""),
            ("crates/a/src/b.rs", "#[cfg(test)]\n#[path = \"c.rs\"]\nmod tests;\n"),
        ] {
            assert!(fault(path, text).is_some(), "{path}");
        }
    }
}
