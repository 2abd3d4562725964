//! The files an agent works on.

use std::collections::{BTreeMap, BTreeSet};

use docent_pages::Tree;
use thiserror::Error;

/// A docs tree that can be written, and read from several threads at once. Paths are relative to the docs root, `/`-separated, without a leading slash.
pub trait Files: Tree + Sync {
    /// The tree before any change.
    fn base(&self) -> &dyn Tree;

    /// The paths written or deleted so far whose bytes differ from the base, in order.
    fn changed(&self) -> Vec<String>;

    /// Makes or replaces a file.
    fn write(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Refused>;

    /// Removes a file. Removing what is not there is no error.
    fn delete(&mut self, path: &str) -> Result<(), Refused>;
}

/// The files said no. The sentence is fit for a model: it says why, and what to do instead.
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

    /// The files as they are now.
    pub fn now(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.now
    }

    /// A file as text, if it is there and is text.
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

impl Files for MemoryFiles {
    fn base(&self) -> &dyn Tree {
        &self.base
    }

    fn changed(&self) -> Vec<String> {
        let all: BTreeSet<&String> = self.base.keys().chain(self.now.keys()).collect();
        all.into_iter().filter(|path| self.base.get(*path) != self.now.get(*path)).cloned().collect()
    }

    fn write(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Refused> {
        self.now.insert(path.to_owned(), bytes);
        Ok(())
    }

    fn delete(&mut self, path: &str) -> Result<(), Refused> {
        self.now.remove(path);
        Ok(())
    }
}
