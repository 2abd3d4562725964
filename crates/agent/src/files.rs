//! The files an agent works on.

use std::collections::{BTreeMap, BTreeSet};

use docent_refactor::History;
use docent_site::Tree;
use thiserror::Error;

/// A docs tree that can be written, and read from several threads at once. Paths are relative to the docs root,
/// `/`-separated, without a leading slash.
pub trait EditableTree: Tree + History + Sync {
    /// The tree before any change.
    fn base(&self) -> &dyn Tree;

    /// The tree that the changes will be merged into: without the changes of earlier turns, which the base contains.
    fn origin(&self) -> &dyn Tree {
        self.base()
    }

    /// The paths written or deleted so far whose bytes differ from the base, in order.
    fn changed(&self) -> Vec<String>;

    /// Makes all of these changes, or none if one is refused. Each is for a different file: its new bytes, or `None` to
    /// remove it. Removals come first, so that a file can be replaced by a folder of its name. Removing a missing file
    /// is not an error.
    fn change(&mut self, changes: Vec<(String, Option<Vec<u8>>)>) -> Result<(), Refused>;
}

/// A change was refused. The sentence is written for a model: it names the file and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Files in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles {
    base: BTreeMap<String, Vec<u8>>,
    now: BTreeMap<String, Vec<u8>>,
}

impl MemoryFiles {
    pub fn new(base: BTreeMap<String, Vec<u8>>) -> Self {
        Self { now: base.clone(), base }
    }

    /// Files from paths and texts.
    pub fn from_texts<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::new(files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect())
    }

    /// The current files.
    pub fn now(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.now
    }

    /// A file as text, if it exists and is text.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.now.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

impl Tree for MemoryFiles {
    fn paths(&self) -> Vec<String> {
        self.now.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.now.get(path).cloned()
    }
}

impl History for MemoryFiles {}

impl EditableTree for MemoryFiles {
    fn base(&self) -> &dyn Tree {
        &self.base
    }

    fn changed(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.base.keys().chain(self.now.keys()).collect();
        all.into_iter().filter(|path| self.base.get(*path) != self.now.get(*path)).cloned().collect()
    }

    fn change(&mut self, changes: Vec<(String, Option<Vec<u8>>)>) -> Result<(), Refused> {
        let mut now = self.now.clone();
        let (removed, written): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, bytes)| bytes.is_none());
        for (path, _) in removed {
            now.remove(&path);
        }
        for (path, bytes) in written {
            if let Some((file, _)) =
                path.match_indices('/').map(|(end, _)| path.split_at(end)).find(|(folder, _)| now.contains_key(*folder))
            {
                return Err(Refused(format!("`{path}` cannot be used: `{file}` is a file and no folder")));
            }
            let folder = format!("{path}/");
            if now.range(folder.clone()..).next().is_some_and(|(below, _)| below.starts_with(&folder)) {
                return Err(Refused(format!("`{path}` cannot be used: it is a folder")));
            }
            now.insert(path, bytes.unwrap_or_default());
        }
        self.now = now;
        Ok(())
    }
}
