//! Marks what an update reads, so that a file that ends the process is not read by the next one.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use docent_quarantine::{Mark, Quarantine, Subject};
use docent_site::Tree;

use crate::index::update_plan::Listing;
use crate::source::SourceFile;

/// The quarantine, and what tells the docs that are read from those of others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Safeguard {
    pub(crate) quarantine: Quarantine,
    pub(crate) scope: String,
}

impl Safeguard {
    /// The blob ids, and the keys of configurations, that are set aside.
    pub(crate) fn set_aside(&self) -> HashSet<String> {
        self.quarantine.list().into_iter().map(|record| record.subject.key).collect()
    }

    pub(crate) fn read_file<T>(&self, file: &SourceFile, read: impl FnOnce() -> T) -> T {
        self.quarantine.run(&self.subject(file), |_| read())
    }

    /// Reads the configuration of a tree. What is marked is the file that was read last: it is the one that is being
    /// understood.
    pub(crate) fn read_configuration<T>(
        &self,
        listing: &Listing<'_>,
        inputs: &[(String, String)],
        read: impl FnOnce(&dyn Tree) -> T,
    ) -> T {
        let whole = Subject::content(&*self.scope, "the configuration", key(inputs));
        self.quarantine.run(&whole, |mark| read(&MarkedTree { listing, mark, safeguard: self }))
    }

    fn subject(&self, file: &SourceFile) -> Subject {
        Subject::content(&*self.scope, &*file.path, &*file.blob)
    }
}

/// The key of a configuration as a whole.
pub(crate) fn key(inputs: &[(String, String)]) -> String {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    format!("configuration {:016x}", hasher.finish())
}

/// A tree that marks each file that is read.
struct MarkedTree<'t> {
    listing: &'t Listing<'t>,
    mark: &'t Mark,
    safeguard: &'t Safeguard,
}

impl Tree for MarkedTree<'_> {
    fn paths(&self) -> Vec<String> {
        self.listing.paths()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.listing.file(path).filter(|file| !self.listing.is_set_aside(file))?;
        self.mark.goes_on_with(&self.safeguard.subject(file));
        self.listing.read(path)
    }

    fn root(&self) -> &str {
        self.listing.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.listing.paths_outside()
    }
}
