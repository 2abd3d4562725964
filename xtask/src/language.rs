//! Words that no file of the project may contain.

use std::path::Path;

use crate::workspace::Workspace;

/// A rule: which files it applies to, which words they may not contain, and why.
struct Rule {
    files: fn(&str) -> bool,
    words: Vec<String>,
    why: &'static str,
}

fn rules(root: &Path) -> Vec<Rule> {
    let any = |path: &str| path != "Cargo.lock";
    let home = std::env::var("HOME").unwrap_or_default();
    // Short home paths, such as `/root` or `/`, do not identify a person.
    let mut somebodys = vec!["/home/".to_owned(), "/Users/".to_owned(), root.display().to_string()];
    somebodys.extend(Some(home).filter(|home| home.len() > "/root".len()));
    vec![
        Rule { files: any, words: somebodys, why: "a path of somebody's machine" },
        Rule { files: any, words: vec!["<<<<<<< ".into(), ">>>>>>> ".into()], why: "a merge that was not finished" },
        Rule {
            files: |path| path.ends_with(".rs") || path.ends_with(".mjs"),
            words: vec!["// TODO".into(), "TODO:".into(), "FIXME".into()],
            why: "do it, or leave it out and say so in the docs",
        },
        Rule {
            files: |path| path.ends_with("package-lock.json"),
            words: vec!["\"resolved\"".into()],
            why: "the lock file names a host: write it with omit-lockfile-registry-resolved",
        },
    ]
}

/// Every violation of a rule, as `file:line: why: the line`.
pub(crate) fn broken_rules(workspace: &Workspace) -> Result<Vec<String>, String> {
    let rules = rules(&workspace.root);
    let mut faults = Vec::new();
    for path in workspace.files(".")? {
        // This file has to contain the words.
        if path == "xtask/src/language.rs" {
            continue;
        }
        // Files that are not text are skipped.
        let Ok(text) = std::fs::read_to_string(workspace.root.join(&path)) else { continue };
        for rule in rules.iter().filter(|rule| (rule.files)(&path)) {
            let lines = text.lines().enumerate();
            let bad = lines.filter(|(_, line)| rule.words.iter().any(|word| line.contains(word.as_str())));
            faults.extend(bad.map(|(n, line)| format!("{path}:{}: {}: {}", n + 1, rule.why, line.trim())));
        }
    }
    Ok(faults)
}
