//! Explains whether a file or address can be found, and if not, which rule excludes it.

use docent_site::{Layout, Skip, SkipReason, Tree as _, from_root};
use docent_types::decoded_path;

use crate::error::SearchError;
use crate::index::manifest::{ManifestFile, ManifestPage};
use crate::index::snapshot::Snapshot;
use crate::index::update_plan::{Listing, set_aside_in};
use crate::source::Source;

/// Maximum number of files suggested as possibly meant.
const MOST_NEAR: usize = 5;

/// The answer for one file or address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    /// It is in the index.
    Indexed(IndexedFile),
    /// It is not in the index, for this reason.
    Skipped { file: String, skip: Skip },
    /// It makes pages, but the index is older than the file.
    NotYet { file: String },
    /// It is neither in a docs format nor an API description.
    NoPage { file: String },
    /// There is no such file, and nothing is served at such an address. `near` holds files that may have been meant.
    Unknown { near: Vec<String> },
}

/// A file with pages that readers can find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedFile {
    /// Relative to the docs root.
    pub file: String,
    /// The paths of its pages on the site, without leading slash. Not empty.
    pub paths: Vec<String>,
    /// The title of its first page.
    pub title: String,
    /// Number of sections on all its pages.
    pub sections: usize,
}

impl Snapshot {
    /// Whether a file (relative to the docs root or to the repository) or an address can be found, and if not, why.
    /// `source` is the source of the index.
    ///
    /// # Errors
    /// When the docs could not be read.
    pub fn why_not(&self, source: &dyn Source, asked: &str) -> Result<WhyNot, SearchError> {
        let listing = Listing::of(source, set_aside_in(&self.manifest().site.inputs))?;
        let path = trimmed(asked);
        let below_root = from_root(source.root(), path);
        let named =
            [path, below_root.as_str()].iter().find_map(|path| listing.file(path)).map(|file| file.path.clone());
        let is_other = |file: &&str| file.starts_with("../") && Layout::files([*file].into_iter()).is_empty();
        if let Some(file) = named.as_deref().filter(is_other) {
            let skip = Skip { reason: SkipReason::Outside, rule: None };
            return Ok(WhyNot::Skipped { file: file.to_owned(), skip });
        }
        let Some(file) = named.or_else(|| self.file_at(&listing, path)) else {
            return Ok(WhyNot::Unknown { near: near(&listing, asked) });
        };
        if let Some(found) = self.known(&file)
            && let Some(found) = indexed(found)
        {
            return Ok(WhyNot::Indexed(found));
        }
        if let Some(reason @ (SkipReason::SetAside | SkipReason::Failed | SkipReason::Absent)) =
            self.known(&file).and_then(|known| known.skipped)
        {
            return Ok(WhyNot::Skipped { file, skip: Skip { reason, rule: None } });
        }
        let layout = Layout::read(&listing);
        let bytes = listing.read(&file);
        listing.outcome()?;
        let known = self.known(&file).and_then(|known| known.skipped);
        let skip = layout.skip(&listing, &file, &bytes.clone().unwrap_or_default());
        Ok(match (skip, known) {
            _ if bytes.is_none() => WhyNot::Skipped { file, skip: Skip { reason: SkipReason::TooLarge, rule: None } },
            (Some(skip), _) => WhyNot::Skipped { file, skip },
            (None, Some(reason)) => WhyNot::Skipped { file, skip: Skip { reason, rule: None } },
            (None, None) if layout.holds_pages(&file) && self.known(&file).is_none() => WhyNot::NotYet { file },
            (None, None) => WhyNot::NoPage { file },
        })
    }

    /// The file that is served at an address, or would be if it were not skipped.
    fn file_at(&self, listing: &Listing<'_>, path: &str) -> Option<String> {
        let address = &*decoded_path(path.split(['#', '?']).next().unwrap_or_default().trim_matches('/'));
        let page = self.lookup(path).map(|page| page.id);
        let is_it = |found: &ManifestPage| match page {
            Some(id) => found.id == id,
            // A page that is known but not listed has an address all the same.
            None => found.path == address,
        };
        let known = self.manifest().files.iter().find(|file| file.pages.iter().any(is_it));
        if let Some(known) = known {
            return Some(known.path.clone());
        }
        let layout = Layout::read(listing);
        let mut files = listing.files().iter().map(|file| file.path.as_str());
        let is_served_there = |file: &&str| layout.skipped(file).is_some() && layout.place(file).site_path == address;
        files.find(is_served_there).map(str::to_owned)
    }

    fn known(&self, file: &str) -> Option<&ManifestFile> {
        let files = &self.manifest().files;
        let at = files.binary_search_by(|known| known.path.as_str().cmp(file)).ok()?;
        files.get(at).map(|file| &**file)
    }
}

fn indexed(file: &ManifestFile) -> Option<IndexedFile> {
    let listed: Vec<&ManifestPage> = file.pages.iter().filter(|page| page.listed).collect();
    Some(IndexedFile {
        file: file.path.clone(),
        title: listed.first()?.title.clone(),
        sections: listed.iter().map(|page| page.sections).sum(),
        paths: listed.iter().map(|page| page.path.clone()).collect(),
    })
}

/// The path in a user's input: an address, or a path that may begin with `./` or `/`.
fn trimmed(asked: &str) -> &str {
    let asked = asked.trim();
    let path = match asked.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => asked,
    };
    path.trim_start_matches("./").trim_start_matches('/')
}

/// Files with the same name, regardless of extension and case.
fn near(listing: &Listing<'_>, asked: &str) -> Vec<String> {
    let name = |path: &str| {
        let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
        name.split_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned())
    };
    let wanted = name(asked.split(['#', '?']).next().unwrap_or_default());
    let files = listing.files().iter().map(|file| file.path.as_str());
    let is_near = |file: &&str| !wanted.is_empty() && name(file) == wanted;
    files.filter(is_near).take(MOST_NEAR).map(str::to_owned).collect()
}
