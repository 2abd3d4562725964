//! A tree as it was before files moved.

use std::collections::BTreeMap;

use docent_site::Tree;

/// A tree in which files that moved are still where they were, too. A link that leads to one of them here, and is not understood
/// where they are gone, led there.
pub(super) struct Restored<'a> {
    pub(super) tree: &'a dyn Tree,
    /// Paths that are gone, and those that their files have now.
    pub(super) moved: &'a BTreeMap<String, String>,
}

impl Tree for Restored<'_> {
    fn paths(&self) -> Vec<String> {
        self.tree.paths().into_iter().chain(self.moved.keys().cloned()).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.tree.read(path).or_else(|| self.tree.read(self.moved.get(path)?))
    }

    fn root(&self) -> &str {
        self.tree.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.tree.paths_outside()
    }
}
