//! What a generation is made of, page by page: enough to tell what changed without opening the index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Goes up when documents of an older layout cannot serve any more; an index of another layout is built anew.
pub(crate) const LAYOUT: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) layout: u32,
    pub(crate) commit: String,
    /// The number the next document set gets. Numbers are never used twice.
    pub(crate) next_id: u64,
    /// By file.
    pub(crate) pages: BTreeMap<String, ManifestPage>,
}

/// A page in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestPage {
    /// Which documents are this page's.
    pub(crate) id: u64,
    pub(crate) blob: String,
    /// What the navigation said of it when it was read.
    pub(crate) place: Place,
    /// Without a leading slash.
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) tags: Vec<String>,
    /// Drafts and hidden pages are known, so that they are not read again, but not in the index.
    pub(crate) listed: bool,
    pub(crate) sections: usize,
}

/// Where the navigation puts a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}

impl Manifest {
    pub(crate) fn listed(&self) -> impl Iterator<Item = &ManifestPage> {
        self.pages.values().filter(|page| page.listed)
    }
}
