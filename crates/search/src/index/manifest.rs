//! The manifest of an index state: its files and pages. It suffices to detect changes, and to list and name pages,
//! without opening the index.
//!
//! A manifest never changes. Its successor shares the entries of all unchanged files with it, and is stored as a
//! [`Delta`].

use std::collections::HashSet;
use std::sync::Arc;

use docent_site::{Declared, Place, ReadFingerprint, SkipReason};
use docent_types::encoded_path;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::index::page_kind::PageKind;
use crate::index::skips::Skips;
use crate::source::Oddity;

/// Metadata of the docs at one commit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) commit: String,
    /// The number of the next file that is read. Numbers are never reused.
    pub(crate) next_file: u64,
    pub(crate) site: Arc<ManifestSite>,
    /// Every file that may hold pages, in order of path.
    pub(crate) files: Vec<Arc<ManifestFile>>,
}

/// Data from the site's own configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestSite {
    /// The files the configuration was read from: path and blob id, in order of path.
    pub(crate) inputs: Vec<(String, String)>,
    /// The part of the configuration that decides how files are read.
    pub(crate) reading: ReadFingerprint,
    /// Source and destination, verbatim.
    pub(crate) redirects: Vec<(String, String)>,
    /// Content of the synonyms file.
    pub(crate) synonyms: String,
    /// Versions and languages that the configuration declares for the whole site.
    pub(crate) declared: Declared,
    pub(crate) oddities: Vec<Oddity>,
    /// Files that were skipped because of their paths alone.
    pub(crate) skipped: Skips,
}

/// A file and the pages it made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestFile {
    /// Relative to the docs root.
    pub(crate) path: String,
    pub(crate) blob: String,
    /// Where the file was served, and its navigation entry, when it was read.
    pub(crate) place: Place,
    /// Whether front matter affects where a page of the file is placed. Then a changed navigation requires reading the
    /// file again.
    pub(crate) front_matter_affects_place: bool,
    /// Included files: path and blob id, the blob id empty for a missing file.
    pub(crate) included: Vec<(String, String)>,
    pub(crate) pages: Vec<ManifestPage>,
    /// The first problems found in the file, without its path.
    pub(crate) oddities: Vec<Oddity>,
    /// Number of problems in all.
    pub(crate) odd: usize,
    /// Why readers cannot find any of its pages, if so.
    pub(crate) skipped: Option<SkipReason>,
}

/// A page of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ManifestPage {
    /// Identifies the page's documents. Never reused, so that data kept by page id stays valid.
    pub(crate) id: u64,
    /// Without a leading slash.
    pub(crate) path: String,
    /// Whether the URL of the page has `.html` behind the path.
    pub(crate) has_html_url: bool,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
    /// The groups that may read the page, from its front matter.
    pub(crate) groups: Vec<String>,
    pub(crate) tags: Vec<String>,
    /// Its title in the navigation.
    pub(crate) nav_title: Option<String>,
    /// The groups around it in the navigation, outermost first.
    pub(crate) breadcrumb: Vec<String>,
    pub(crate) order: Option<u32>,
    /// Former paths of the page, without leading slashes.
    pub(crate) aliases: Vec<String>,
    /// Drafts and hidden pages are in the manifest, so that they are not read again, but not in the index.
    pub(crate) listed: bool,
    pub(crate) kind: PageKind,
    pub(crate) sections: usize,
}

impl ManifestPage {
    /// Where the page is served, percent-encoded and without a leading slash.
    pub(crate) fn url(&self) -> String {
        let ending = if self.has_html_url { ".html" } else { "" };
        format!("{}{ending}", encoded_path(&self.path))
    }
}

/// A section of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SectionId {
    /// The page's id in the manifest.
    pub(crate) page: u64,
    /// Which of the page's sections it is, counted from 0.
    pub(crate) section: u64,
}

/// A page's position in the manifest: the index of its file, and its index within the file.
pub(crate) type PagePosition = (u32, u32);

impl Manifest {
    /// The pages a reader may find, in order of file.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &ManifestPage> {
        self.files.iter().flat_map(|file| &file.pages).filter(|page| page.listed)
    }

    /// The listed pages with their positions.
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

    /// A copy of this manifest with a delta applied.
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
            // The sort merges two sorted runs in one pass.
            files.sort_by(|a, b| a.path.cmp(&b.path));
        }
        Self {
            commit: delta.commit.clone(),
            next_file: delta.next_file,
            site: delta.site.clone().map_or_else(|| Arc::clone(&self.site), Arc::new),
            files,
        }
    }

    /// The whole manifest, as a delta from an empty one.
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

/// The changes from one manifest to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Delta {
    pub(crate) commit: String,
    pub(crate) next_file: u64,
    /// `None` when unchanged.
    pub(crate) site: Option<ManifestSite>,
    /// Paths of files that were removed.
    pub(crate) removed: Vec<String>,
    /// New and changed files.
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
