//! What an update has to do: the current docs compared with the manifest of the index.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use docent_site::{Layout, ReadFingerprint, SkipReason, Tree};
use parking_lot::Mutex;

use crate::error::SearchError;
use crate::index::manifest::{Manifest, ManifestFile, ManifestSite};
use crate::index::safeguard::{self, Safeguard};
use crate::index::skips::Skips;
use crate::source::{Oddity, Source, SourceFile};

/// Path of the synonyms file in the repository, and in the docs root.
const SYNONYMS_BESIDE: &str = ".docent/synonyms.txt";
const SYNONYMS: &str = "synonyms.txt";
/// Maximum length of the synonyms file, in bytes; the rest is ignored. A longer file is not a list written by a person.
const LONGEST_SYNONYMS: usize = 1 << 20;

/// Maximum size of a file that is read at all, in bytes: no prose is that long, and the file would have to fit in
/// memory.
const LARGEST_BLOB: usize = if cfg!(test) { 256 << 10 } else { 64 << 20 };

/// What the blob id of a file is preceded by, among the inputs of a layout, when the file is set aside.
const SET_ASIDE: &str = "set aside ";
/// The name of the configuration as a whole, among the inputs of a layout.
const WHOLE: &str = "";

/// The files of a source, listed and ready to be read. Keeps the first error of the source, since readers of a [`Tree`]
/// cannot return it.
pub(crate) struct Listing<'s> {
    source: &'s dyn Source,
    /// In order of path.
    files: Vec<SourceFile>,
    /// Files outside of the docs root, in order of path.
    outside: Vec<SourceFile>,
    /// Blob ids of files that are not read, and keys of configurations.
    set_aside: HashSet<String>,
    failed: Mutex<Option<SearchError>>,
}

impl<'s> Listing<'s> {
    /// `set_aside` are the blob ids of files that are not read, and keys of configurations.
    pub(crate) fn of(source: &'s dyn Source, set_aside: HashSet<String>) -> Result<Self, SearchError> {
        let mut files = source.files().map_err(failed("the list of files"))?;
        if !files.is_sorted_by(|a, b| a.path <= b.path) {
            files.sort_by(|a, b| a.path.cmp(&b.path));
        }
        let mut outside = source.files_outside().map_err(failed("the list of files"))?;
        outside.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { source, files, outside, set_aside, failed: Mutex::default() })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&SourceFile> {
        let files = if path.starts_with("../") { &self.outside } else { &self.files };
        let at = files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        files.get(at)
    }

    /// A file's blob id; empty when the file does not exist.
    pub(crate) fn blob(&self, path: &str) -> &str {
        self.file(path).map_or("", |file| &file.blob)
    }

    pub(crate) fn is_set_aside(&self, file: &SourceFile) -> bool {
        self.set_aside.contains(&file.blob)
    }

    pub(crate) fn is_absent(&self, file: &SourceFile) -> bool {
        self.source.is_absent(file)
    }

    /// A file's bytes; `None` when the file is too large or absent.
    pub(crate) fn bytes(&self, file: &SourceFile) -> Result<Option<Vec<u8>>, SearchError> {
        if !self.source.is_wanted() {
            return Err(SearchError::Unwanted);
        }
        self.source.read_within(file, LARGEST_BLOB).map_err(failed(&file.path))
    }

    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Takes the error that occurred while a tree was read, if any.
    pub(crate) fn outcome(&self) -> Result<(), SearchError> {
        self.failed.lock().take().map_or(Ok(()), Err)
    }

    fn synonyms(&self) -> Result<String, SearchError> {
        let mut bytes = self.source.beside(SYNONYMS_BESIDE).map_err(failed(SYNONYMS_BESIDE))?;
        if bytes.is_none()
            && let Some(file) = self.file(SYNONYMS)
        {
            bytes = self.bytes(file)?;
        }
        let mut bytes = bytes.unwrap_or_default();
        bytes.truncate(LONGEST_SYNONYMS);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Tree for Listing<'_> {
    fn paths(&self) -> Vec<String> {
        self.files.iter().map(|file| file.path.clone()).collect()
    }

    fn root(&self) -> &str {
        self.source.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.outside.iter().map(|file| file.path.clone()).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        match self.bytes(self.file(path).filter(|file| !self.is_set_aside(file))?) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.failed.lock().get_or_insert(error);
                None
            }
        }
    }
}

fn failed(what: &str) -> impl FnOnce(docent_types::BoxError) -> SearchError + use<> {
    let what = what.to_owned();
    move |source| SearchError::Source { what, source }
}

/// The layout that was read last, with the files it was read from.
#[derive(Debug, Default)]
pub(crate) struct KnownLayout(Mutex<Option<ReadLayout>>);

/// The files a layout was read from, with their blob ids, and the layout.
type ReadLayout = (Vec<(String, String)>, Arc<Layout>);

/// The blob ids and keys that were set aside when a layout was read from these files.
pub(crate) fn set_aside_in(inputs: &[(String, String)]) -> HashSet<String> {
    inputs.iter().filter_map(|(_, blob)| blob.strip_prefix(SET_ASIDE)).map(str::to_owned).collect()
}

impl KnownLayout {
    /// The layout of a tree with these configuration files. Read only when it is not the known one.
    fn of(
        &self,
        listing: &Listing<'_>,
        inputs: &[(String, String)],
        safeguard: &Safeguard,
    ) -> Result<Arc<Layout>, SearchError> {
        let mut known = self.0.lock();
        if let Some((from, layout)) = &*known
            && from == inputs
        {
            return Ok(Arc::clone(layout));
        }
        let is_whole_set_aside = inputs.first().is_some_and(|(path, _)| path == WHOLE);
        let read = |tree: &dyn Tree| catch_unwind(AssertUnwindSafe(|| Layout::read(tree)));
        let layout = match is_whole_set_aside {
            true => Layout::plain(),
            // The panic was reported when it happened.
            false => safeguard.read_configuration(listing, inputs, read).unwrap_or_else(|_| Layout::plain()),
        };
        let layout = Arc::new(layout);
        listing.outcome()?;
        *known = Some((inputs.to_vec(), Arc::clone(&layout)));
        Ok(layout)
    }
}

/// What an update has to do.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) layout: Arc<Layout>,
    /// `None` when unchanged.
    pub(crate) site: Option<ManifestSite>,
    /// Files that are new or changed, in order of path.
    pub(crate) read: Vec<SourceFile>,
    /// Paths of files that were removed.
    pub(crate) removed: Vec<String>,
    /// Ids of pages of the old state whose documents are to be deleted.
    pub(crate) dropped: Vec<u64>,
    pub(crate) added: usize,
}

impl Plan {
    pub(crate) fn make(
        listing: &Listing<'_>,
        known: &KnownLayout,
        old: &Manifest,
        safeguard: &Safeguard,
    ) -> Result<Self, SearchError> {
        let inputs = inputs(listing);
        let layout = known.of(listing, &inputs, safeguard)?;
        let same_layout = old.site.inputs == inputs;
        let mut site = site(listing, &layout, inputs, listing.synonyms()?);
        let mut plan =
            Self { layout, site: None, read: Vec::new(), removed: Vec::new(), dropped: Vec::new(), added: 0 };
        let mut known = old.files.iter().peekable();
        for file in &listing.files {
            while let Some(gone) = known.next_if(|known| known.path < file.path) {
                plan.remove(gone);
            }
            let known = known.next_if(|known| known.path == file.path);
            let may_hold = (known.is_some() && same_layout) || plan.layout.holds_pages(&file.path);
            match known {
                Some(known) if may_hold => {
                    let same = same_layout || plan.is_read_equally(known, &old.site.reading, &site.reading);
                    plan.compare(listing, file, known, same);
                }
                Some(gone) => plan.remove(gone),
                None if may_hold => {
                    plan.added += 1;
                    plan.read.push(file.clone());
                }
                None => {}
            }
            if !may_hold && let Some(reason) = plan.layout.skipped(&file.path) {
                site.skipped.add(reason, &file.path);
            }
        }
        known.for_each(|gone| plan.remove(gone));
        plan.site = (site != *old.site).then_some(site);
        Ok(plan)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.site.is_none() && self.read.is_empty() && self.removed.is_empty()
    }

    /// Whether the new layout reads an unchanged file in the same way as before.
    fn is_read_equally(&self, known: &ManifestFile, before: &ReadFingerprint, now: &ReadFingerprint) -> bool {
        !known.front_matter_affects_place
            && now.is_same(before, &known.path)
            && known.place == self.layout.place(&known.path)
    }

    fn compare(&mut self, listing: &Listing<'_>, file: &SourceFile, known: &ManifestFile, is_read_equally: bool) {
        let same = is_read_equally
            && known.blob == file.blob
            && (known.skipped != Some(SkipReason::SetAside) || listing.is_set_aside(file))
            && (known.skipped != Some(SkipReason::Absent) || listing.is_absent(file))
            && known.included.iter().all(|(path, blob)| listing.blob(path) == blob);
        if !same {
            self.dropped.extend(known.pages.iter().map(|page| page.id));
            self.read.push(file.clone());
        }
    }

    fn remove(&mut self, known: &ManifestFile) {
        self.removed.push(known.path.clone());
        self.dropped.extend(known.pages.iter().map(|page| page.id));
    }
}

/// The files the layout is read from, with their blob ids.
fn inputs(listing: &Listing<'_>) -> Vec<(String, String)> {
    let mut paths = Layout::files(listing.files.iter().chain(&listing.outside).map(|file| file.path.as_str()));
    paths.sort_unstable();
    let input = |path: &str| {
        let is_set_aside = listing.file(path).is_some_and(|file| listing.is_set_aside(file));
        (path.to_owned(), format!("{}{}", if is_set_aside { SET_ASIDE } else { "" }, listing.blob(path)))
    };
    let mut inputs: Vec<(String, String)> = paths.into_iter().map(input).collect();
    let whole = safeguard::key(&inputs);
    if listing.set_aside.contains(&whole) {
        inputs.insert(0, (WHOLE.to_owned(), format!("{SET_ASIDE}{whole}")));
    }
    inputs
}

fn site(listing: &Listing<'_>, layout: &Layout, inputs: Vec<(String, String)>, synonyms: String) -> ManifestSite {
    let owned = |(source, destination): (&str, &str)| (source.to_owned(), destination.to_owned());
    let odd = |found: &docent_site::FileProblem| Oddity {
        file: found.file.clone(),
        line: found.problem.line,
        message: found.problem.message.clone(),
    };
    let set_aside = inputs.iter().filter(|(_, blob)| blob.starts_with(SET_ASIDE)).map(|(path, _)| Oddity {
        file: path.clone(),
        line: 1,
        message: "this configuration is set aside and counts as not understood, because a process ended while it read \
                  it; it is read again when it changes, or with `docent index DOMAIN --retry`"
            .to_owned(),
    });
    let absent = inputs.iter().filter_map(|(path, _)| listing.file(path)).filter(|file| listing.is_absent(file));
    let absent = absent.map(|file| Oddity {
        file: file.path.clone(),
        line: 1,
        message: format!("this configuration {}, and counts as not there", SkipReason::Absent.sentence()),
    });
    let oddities = set_aside.chain(absent).chain(layout.problems().iter().map(odd)).collect();
    ManifestSite {
        inputs,
        reading: layout.read_fingerprint(),
        redirects: layout.redirects().map(owned).collect(),
        synonyms,
        declared: layout.declared().clone(),
        oddities,
        skipped: Skips::default(),
    }
}
