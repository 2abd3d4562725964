//! Checks the dependencies between crates: compares the tables of `docs/ARCHITECTURE.md` with the crates' manifests.
//!
//! Two tables are read. The one that begins `| crate | one line |` has a column `uses`, which must list exactly the
//! workspace crates that a crate depends on. The one that begins `| dependency | only in |` names the heavy third-party
//! crates and the few crates that may depend on them.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{Package, Workspace, short};
use crate::{cycles, module_files, symbols};

const PAGE: &str = "docs/ARCHITECTURE.md";

/// Every difference between the page and the manifests.
pub(crate) fn disagreements(workspace: &Workspace) -> Result<Vec<String>, String> {
    let page = workspace.read_file(PAGE)?;
    let drawn = column(&page, "| crate | one line |", "uses")?;
    let homes = column(&page, "| dependency | only in |", "only in")?;
    let mut faults = arrow_faults(&drawn, &workspace.packages);
    faults.extend(home_faults(&homes, &workspace.packages));
    faults.extend(cycles::faults(&workspace.root.join("crates"))?);
    faults.extend(symbols::faults(workspace)?);
    faults.extend(module_files::faults(workspace)?);
    Ok(faults)
}

type Names = BTreeSet<String>;

fn arrow_faults(drawn: &BTreeMap<String, Names>, packages: &[Package]) -> Vec<String> {
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut faults = Vec::new();
    for package in packages {
        let name = package.short_name();
        let Some(may_use) = drawn.get(name) else {
            faults.push(format!("`{name}` has no row in {PAGE}: say there what it is and what it refuses to know"));
            continue;
        };
        let uses: Names =
            package.uses().into_iter().filter(|used| ours.contains(used)).map(|used| short(used).into()).collect();
        for used in uses.difference(may_use) {
            faults.push(format!(
                "`{name}` uses `{used}`, an arrow {PAGE} does not draw: drop it, or draw it and say why"
            ));
        }
        for missing in may_use.difference(&uses) {
            faults.push(format!("{PAGE} draws `{name}` → `{missing}`, which is not in the manifest: erase the arrow"));
        }
    }
    let known: BTreeSet<&str> = packages.iter().map(Package::short_name).collect();
    faults.extend(
        drawn
            .keys()
            .filter(|name| !known.contains(name.as_str()))
            .map(|name| format!("{PAGE} tells of `{name}`, which is no crate")),
    );
    faults
}

fn home_faults(homes: &BTreeMap<String, Names>, packages: &[Package]) -> Vec<String> {
    let mut faults = Vec::new();
    for (dependency, allowed) in homes {
        let users = packages.iter().filter(|package| package.uses().contains(dependency.as_str()));
        let users: Names = users.map(|package| package.short_name().to_owned()).collect();
        for user in users.difference(allowed) {
            faults.push(format!("`{user}` depends on {dependency}, which {PAGE} keeps to other crates"));
        }
        for absent in allowed.difference(&users) {
            faults.push(format!("{PAGE} says `{absent}` depends on {dependency}, which it does not"));
        }
    }
    faults
}

/// The table that begins with `head`: for each row, its first cell's name and the names in the named column.
fn column(page: &str, head: &str, name: &str) -> Result<BTreeMap<String, Names>, String> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with(head));
    let header = lines.next().ok_or_else(|| format!("{PAGE} has no table that begins `{head}`"))?;
    let at = cells(header)
        .iter()
        .position(|cell| *cell == name)
        .ok_or_else(|| format!("the table `{head}` of {PAGE} has no column `{name}`"))?;
    let mut rows = BTreeMap::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells = cells(line);
        let used = cells.get(at).map(|cell| names(cell)).unwrap_or_default();
        for crate_name in cells.first().map(|cell| names(cell)).unwrap_or_default() {
            rows.insert(crate_name, used.clone());
        }
    }
    Ok(rows)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// The names between backquotes.
fn names(cell: &str) -> Names {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifests_are_as_the_architecture_draws_them() {
        let workspace = Workspace::read().expect("cargo knows the workspace");
        let faults = disagreements(&workspace).expect("the page has its tables");
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }

    #[test]
    fn an_arrow_nobody_drew_and_one_nobody_uses_are_both_found() {
        let page =
            "| crate | one line | uses |\n|---|---|---|\n| `a` | x | `b` |\n| `b` | y | – |\n| `ghost` | z | |\n";
        let drawn = column(page, "| crate | one line |", "uses").expect("a table");
        let packages: Vec<Package> = serde_json::from_str(
            r#"[{"name":"docent-a","dependencies":[],"targets":[],"metadata":null},
                {"name":"docent-b","dependencies":[{"name":"docent-a","kind":null}],"targets":[],"metadata":null},
                {"name":"docent-c","dependencies":[],"targets":[],"metadata":null}]"#,
        )
        .expect("packages");
        let faults = arrow_faults(&drawn, &packages).join("\n");
        for expected in ["`b` uses `a`", "`a` → `b`", "`c` has no row", "`ghost`, which is no crate"] {
            assert!(faults.contains(expected), "{expected} not in:\n{faults}");
        }
    }

    #[test]
    fn a_heavy_dependency_away_from_home_is_found_and_a_test_may_have_it() {
        let page = "| dependency | only in |\n|---|---|\n| `gix` | `a` |\n";
        let homes = column(page, "| dependency | only in |", "only in").expect("a table");
        let packages: Vec<Package> = serde_json::from_str(
            r#"[{"name":"docent-a","dependencies":[{"name":"gix","kind":"dev"}],"targets":[],"metadata":null},
                {"name":"docent-b","dependencies":[{"name":"gix","kind":null}],"targets":[],"metadata":null}]"#,
        )
        .expect("packages");
        let faults = home_faults(&homes, &packages).join("\n");
        assert!(
            faults.contains("`b` depends on gix") && faults.contains("`a` depends on gix, which it does not"),
            "{faults}"
        );
    }
}
