//! The workspace, as cargo describes it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The workspace as `cargo metadata` describes it, without third-party crates.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
    metadata: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Workspace {
    pub(crate) fn read() -> Result<Self, String> {
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .map_err(|error| format!("could not run cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("could not read cargo metadata: {error}"))
    }

    /// The path of the server in the dev profile.
    pub(crate) fn server(&self) -> PathBuf {
        self.target.join("debug/docent")
    }

    /// `$DOCENT_CACHE`, the folder for what does not follow from the commit.
    pub(crate) fn cache(&self) -> Option<PathBuf> {
        let folder = std::env::var_os("DOCENT_CACHE").filter(|folder| !folder.is_empty())?;
        // Relative to the workspace, because tools run in other folders.
        Some(self.root.join(folder))
    }

    /// The folder for the tools that `--install` installs.
    pub(crate) fn tools(&self) -> PathBuf {
        self.cache().unwrap_or_else(|| self.target.clone()).join("tools")
    }

    pub(crate) fn sdk(&self) -> PathBuf {
        self.root.join("tests/sdk")
    }

    /// The files below a path or that match a git pathspec: tracked ones, and untracked ones that are not ignored.
    pub(crate) fn files(&self, pattern: &str) -> Result<Vec<String>, String> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern])
            .current_dir(&self.root)
            .output()
            .map_err(|error| format!("could not run git: {error}"))?;
        if !output.status.success() {
            return Err(format!("git could not list the files: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let listed = String::from_utf8_lossy(&output.stdout);
        let there = listed.split('\0').filter(|path| !path.is_empty() && self.root.join(path).is_file());
        Ok(there.map(str::to_owned).collect())
    }

    pub(crate) fn read_file(&self, path: impl AsRef<Path>) -> Result<String, String> {
        let path = self.root.join(path);
        std::fs::read_to_string(&path).map_err(|error| format!("could not read {}: {error}", path.display()))
    }
}

impl Package {
    /// The name without the prefix `docent-`.
    pub(crate) fn short_name(&self) -> &str {
        short(&self.name)
    }

    /// The package's dependencies by name, without dev-dependencies.
    pub(crate) fn uses(&self) -> BTreeSet<&str> {
        let needed = self.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
        needed.map(|dependency| dependency.name.as_str()).collect()
    }

    /// The examples that run to completion without input: `package.metadata.docent.runnable-examples`.
    pub(crate) fn runnable_examples(&self) -> Vec<String> {
        let declared = self.metadata.as_ref().map(|metadata| &metadata["docent"]["runnable-examples"]);
        let names = declared.and_then(serde_json::Value::as_array).into_iter().flatten();
        names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
    }

    pub(crate) fn has_example(&self, name: &str) -> bool {
        self.targets.iter().any(|target| target.name == name && target.kind.iter().any(|kind| kind == "example"))
    }
}

pub(crate) fn short(name: &str) -> &str {
    name.strip_prefix("docent-").unwrap_or(name)
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
