//! Where the tests of a module are: at the end of its file, or in `tests.rs` in its folder (`docs/STYLE.md`).

use crate::workspace::Workspace;

/// Crates with test files elsewhere, from before this was looked at.
const ELSEWHERE: [&str; 1] = ["site"];

/// A sentence for each file of tests that has another place.
pub(crate) fn faults(workspace: &Workspace) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for path in workspace.files("crates/*/src/*.rs")? {
        if ELSEWHERE.iter().any(|name| path.starts_with(&format!("crates/{name}/"))) {
            continue;
        }
        faults.extend(fault(&path, &workspace.read_file(&path)?));
    }
    Ok(faults)
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
