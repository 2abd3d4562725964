//! What a state of an index is made of, file by file: enough to tell what changed, and to list and name pages, without
//! opening the index.
//!
//! A manifest never changes. The next one shares every file's entry with it that stayed as it was, and is written down
//! as a [`Delta`].

use std::collections::HashSet;
use std::sync::Arc;

use docent_site::{Declared, Place, Reading, SkipReason};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::index::page_kind::PageKind;
use crate::index::skips::Skips;

/// All that is known of the docs at one commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) commit: String,
    /// The number the next file that is read gets. Numbers are never used twice.
    pub(crate) next_file: u64,
    pub(crate) site: Arc<ManifestSite>,
    /// Every file that may hold pages, in order of path.
    pub(crate) files: Vec<Arc<ManifestFile>>,
}

/// What the docs' own configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestSite {
    /// The files it was read from: path and blob, in order.
    pub(crate) inputs: Vec<(String, String)>,
    /// What of it decides how files are read.
    pub(crate) reading: Reading,
    /// Source and destination, as written.
    pub(crate) redirects: Vec<(String, String)>,
    /// The synonyms file, as it stands.
    pub(crate) synonyms: String,
    /// What it says of versions and languages as a whole.
    pub(crate) declared: Declared,
    pub(crate) oddities: Vec<ManifestOddity>,
    /// Files that were skipped by their paths alone.
    pub(crate) skipped: Skips,
}

/// A file and the pages it made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestFile {
    /// Relative to the docs root.
    pub(crate) path: String,
    pub(crate) blob: String,
    /// What the navigation said of it when it was read.
    pub(crate) place: Place,
    /// Whether a page of it has a say in its place. Then it cannot be told from the file alone what a new navigation says of it.
    pub(crate) has_say: bool,
    /// Files it was put together with: path and blob, the blob empty for one that was not there.
    pub(crate) included: Vec<(String, String)>,
    pub(crate) pages: Vec<ManifestPage>,
    /// What was odd about it, the first few.
    pub(crate) oddities: Vec<ManifestOddity>,
    /// How much was odd in all.
    pub(crate) odd: usize,
    /// Why readers find none of its pages, where that is so.
    pub(crate) skipped: Option<SkipReason>,
}

/// Something that could not be read as it was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestOddity {
    /// The file, for the site's; empty where it is the entry's own.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// A page in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestPage {
    /// Which documents are this page's. Never used twice: what is known of a page by its number stays true.
    pub(crate) id: u64,
    /// Without a leading slash.
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
    /// Who may read it, as its front matter says.
    pub(crate) groups: Vec<String>,
    pub(crate) tags: Vec<String>,
    /// What the navigation calls it.
    pub(crate) nav_title: Option<String>,
    /// The groups around it in the navigation, outermost first.
    pub(crate) breadcrumb: Vec<String>,
    pub(crate) order: Option<u32>,
    /// Paths that led here before, without leading slashes.
    pub(crate) aliases: Vec<String>,
    /// Drafts and hidden pages are known, so that they are not read again, but not in the index.
    pub(crate) listed: bool,
    pub(crate) kind: PageKind,
    pub(crate) sections: usize,
}

/// A section of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SectionId {
    /// The page's id in the manifest.
    pub(crate) page: u64,
    /// Which of the page's sections it is, counted from 0.
    pub(crate) section: u64,
}

/// A page and where it stands in the manifest.
pub(crate) type PagePosition = (u32, u32);

impl Manifest {
    /// The pages a reader may find, in order of file.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &ManifestPage> {
        self.files.iter().flat_map(|file| &file.pages).filter(|page| page.listed)
    }

    /// Those with their positions.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (PagePosition, &ManifestPage)> {
        let numbered = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.files.iter().enumerate().flat_map(move |(file_number, file)| {
            let pages = file.pages.iter().enumerate().filter(|(_, page)| page.listed);
            pages.map(move |(number, page)| ((numbered(file_number), numbered(number)), page))
        })
    }

    pub(crate) fn at(&self, (file, page): PagePosition) -> Option<&ManifestPage> {
        self.files.get(file as usize)?.pages.get(page as usize)
    }

    /// This manifest with a difference made to it.
    pub(crate) fn with(&self, delta: &Delta) -> Self {
        let place = |path: &str| self.files.binary_search_by(|file| file.path.as_str().cmp(path));
        let mut gone: HashSet<usize> = delta.removed.iter().filter_map(|path| place(path).ok()).collect();
        let mut files = Vec::with_capacity(self.files.len() + delta.files.len());
        files.extend(self.files.iter().cloned());
        let mut added = Vec::new();
        for file in &delta.files {
            match place(&file.path) {
                Ok(at) => {
                    files[at] = Arc::clone(file);
                    gone.remove(&at);
                }
                Err(_) => added.push(Arc::clone(file)),
            }
        }
        if !gone.is_empty() {
            let mut at = 0..;
            files.retain(|_| at.next().is_none_or(|at| !gone.contains(&at)));
        }
        if !added.is_empty() {
            files.extend(added);
            // Two runs that are in order already: one pass.
            files.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Self {
            commit: delta.commit.clone(),
            next_file: delta.next_file,
            site: delta.site.clone().map_or_else(|| Arc::clone(&self.site), Arc::new),
            files,
        }
    }

    /// The whole of it, as a difference from nothing.
    pub(crate) fn whole(&self) -> Delta {
        Delta {
            commit: self.commit.clone(),
            next_file: self.next_file,
            site: Some((*self.site).clone()),
            removed: Vec::new(),
            files: self.files.clone(),
        }
    }
}

/// What is new in a manifest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Delta {
    pub(crate) commit: String,
    pub(crate) next_file: u64,
    /// `None` when it is as it was.
    pub(crate) site: Option<ManifestSite>,
    /// Files that are no more.
    pub(crate) removed: Vec<String>,
    /// Files that are new, and those that changed.
    #[serde(serialize_with = "shared", deserialize_with = "owned")]
    pub(crate) files: Vec<Arc<ManifestFile>>,
}

fn shared<S: Serializer>(files: &[Arc<ManifestFile>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(files.iter().map(|file| &**file))
}

fn owned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<ManifestFile>>, D::Error> {
    Ok(Vec::<ManifestFile>::deserialize(deserializer)?.into_iter().map(Arc::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, blob: &str) -> Arc<ManifestFile> {
        Arc::new(ManifestFile { path: path.to_owned(), blob: blob.to_owned(), ..ManifestFile::default() })
    }

    #[test]
    fn a_difference_replaces_removes_and_adds_and_the_rest_is_shared() {
        let first = Manifest::default()
            .with(&Delta { files: vec![file("b", "1"), file("d", "1"), file("e", "1")], ..Delta::default() });
        let second = first.with(&Delta {
            commit: "c2".to_owned(),
            removed: vec!["d".to_owned()],
            files: vec![file("a", "2"), file("e", "2")],
            ..Delta::default()
        });
        let listing: Vec<_> = second.files.iter().map(|file| (file.path.as_str(), file.blob.as_str())).collect();
        assert_eq!(listing, [("a", "2"), ("b", "1"), ("e", "2")]);
        assert!(Arc::ptr_eq(&first.files[0], &second.files[1]));
        assert_eq!(Manifest::default().with(&second.whole()), second);
    }

    #[test]
    fn a_difference_is_read_as_it_was_written() {
        let delta = Delta { files: vec![file("a", "1")], site: Some(ManifestSite::default()), ..Delta::default() };
        let bytes = postcard::to_allocvec(&delta).expect("written");
        assert_eq!(postcard::from_bytes::<Delta>(&bytes).expect("read"), delta);
    }
}
