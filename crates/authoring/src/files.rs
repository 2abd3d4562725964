//! The docs as the agent reads and changes them: the overlay, below the docs root.

use std::collections::HashSet;
use std::sync::OnceLock;

use docent_agent::{Allowances, EditableTree, History, Refused, refused_change, secrets};
use docent_quarantine::Quarantine;
use docent_site::{Checked, Tree, from_root, new_findings};
use docent_workspace::{Base, BlobId, FileHistory, GitError, Listing, Node, Overlay, PathRefused};
use parking_lot::Mutex;

use crate::change_text::{ChangeKind, PageChange, title_of};
use crate::docs::{MAX_LINKED_FILES, linked_files, path_below_root, repository_path};

/// Maximum number of former contents of a file that are looked through.
const MAX_FORMER_PER_FILE: usize = 100;

/// An overlay as the agent's [`EditableTree`].
#[derive(Debug)]
pub(crate) struct Draft {
    overlay: Overlay,
    before: OriginalDocs,
    /// The docs at the tip of the target branch, if that is not the base.
    origin: Option<OriginalDocs>,
    /// Paths written or deleted, relative to the docs root.
    touched: HashSet<String>,
    root: String,
    /// What earlier commits say about the files of the base: computed on first use.
    history: OnceLock<FileHistory>,
    /// The mirror's first failure. The agent was then told that a file does not exist, which may be wrong, so its later
    /// work must not be used.
    mirror_error: Mutex<Option<GitError>>,
}

impl Draft {
    /// A draft without changes. `origin` is the tip of the target branch, if that is not the base.
    pub(crate) fn new(
        overlay: Overlay,
        origin: Option<Base>,
        root: &str,
        quarantine: &Quarantine,
    ) -> Result<Self, GitError> {
        let base = overlay.base().clone();
        let before = OriginalDocs::new(base, root, quarantine)?;
        let origin = origin.map(|origin| OriginalDocs::new(origin, root, quarantine)).transpose()?;
        Ok(Self {
            overlay,
            before,
            origin,
            touched: HashSet::new(),
            root: root.to_owned(),
            history: OnceLock::new(),
            mirror_error: Mutex::new(None),
        })
    }

    /// # Errors
    /// The mirror has failed since the draft was made.
    pub(crate) fn check_mirror(&mut self) -> Result<(), GitError> {
        let mirror_error = self.mirror_error.get_mut();
        mirror_error.take().map_or(Ok(()), Err)
    }

    fn record_error(&self, error: GitError) {
        self.mirror_error.lock().get_or_insert(error);
    }

    pub(crate) fn digest(&self) -> String {
        self.overlay.digest()
    }

    pub(crate) const fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// The reason why these changes must not be committed, if any. `allowances` are the owner's.
    pub(crate) fn refusal_reason(&self, allowances: &Allowances) -> Option<String> {
        let changed = self.changed();
        if let Some(refused) = refused_change(&self.before, self, &changed, allowances) {
            return Some(format!("Nothing was committed. {refused}"));
        }
        let found = secrets(&self.before, self, &changed);
        let secret = found.first()?;
        Some(format!(
            "Nothing was committed: {}, line {}, holds what looks like {}. Take it out of the instruction, or use a \
             placeholder.",
            repository_path(&secret.path, &self.root),
            secret.line,
            secret.looks_like
        ))
    }

    /// New problems that the checks find, and what they could not decide.
    pub(crate) fn checked(&self) -> Checked {
        new_findings(&self.before, self, &self.changed())
    }

    /// What happened to each changed file.
    pub(crate) fn page_changes(&self) -> Vec<PageChange> {
        let change = |path: String| {
            let (before, after) = (self.before.read(&path), self.read(&path));
            let kind = match (&before, &after) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Removed,
                _ => ChangeKind::Changed,
            };
            let title = after.or(before).and_then(|bytes| title_of(&path, &bytes));
            PageChange { path, kind, title }
        };
        self.changed().into_iter().map(change).collect()
    }

    pub(crate) fn into_overlay(self) -> Overlay {
        self.overlay
    }
}

impl Tree for Draft {
    fn paths(&self) -> Vec<String> {
        match self.overlay.files(&self.root) {
            Ok(files) => {
                let readable = files.into_iter().filter(|file| file.mode.is_file());
                readable.filter_map(|file| path_below_root(&file.path, &self.root).map(str::to_owned)).collect()
            }
            Err(error) => {
                self.record_error(error);
                Vec::new()
            }
        }
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        self.before.paths_outside()
    }

    fn unread(&self) -> Vec<String> {
        self.before.unread()
    }

    fn linked(&self) -> Vec<String> {
        self.before.linked()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let read = if self.touched.contains(path) {
            self.overlay.read(&repository_path(path, &self.root))
        } else {
            self.before.find(path)
        };
        match read {
            Ok(bytes) => bytes,
            // A link, a folder or an invalid path has no bytes, nor has a file that the repository lacks.
            Err(GitError::Path { .. } | GitError::Absent { .. }) => None,
            Err(error) => {
                self.record_error(error);
                None
            }
        }
    }
}

impl Draft {
    fn history(&self) -> &FileHistory {
        self.history.get_or_init(|| {
            self.overlay.base().history().unwrap_or_else(|error| {
                self.record_error(error);
                FileHistory::default()
            })
        })
    }
}

impl History for Draft {
    fn moved(&self, old: &str) -> Option<String> {
        let now = self.history().moved.get(&repository_path(old, &self.root))?;
        Some(from_root(&self.root, now))
    }

    fn former(&self, path: &str, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Option<Vec<u8>> {
        let former = self.history().former.get(&repository_path(path, &self.root))?;
        let readable = former.iter().filter(|blob| !self.before.is_set_aside(**blob));
        readable.take(MAX_FORMER_PER_FILE).find_map(|blob| {
            // A source may lack what no branch has any more.
            let bytes = self.overlay.base().blob(*blob).ok()?;
            is_wanted(&bytes).then_some(bytes)
        })
    }
}

impl EditableTree for Draft {
    fn base(&self) -> &dyn Tree {
        &self.before
    }

    fn origin(&self) -> &dyn Tree {
        self.origin.as_ref().unwrap_or(&self.before)
    }

    fn changed(&self) -> Vec<String> {
        self.overlay.changed().map(|(path, _)| from_root(&self.root, path)).collect()
    }

    fn change(&mut self, changes: Vec<(String, Option<Vec<u8>>)>) -> Result<(), Refused> {
        let mut overlay = self.overlay.clone();
        let paths: Vec<String> = changes.iter().map(|(path, _)| path.clone()).collect();
        let (removed, written): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, bytes)| bytes.is_none());
        // A file that takes the place of the only removed one was moved.
        let made: Vec<&str> =
            written.iter().map(|(path, _)| path.as_str()).filter(|path| self.read(path).is_none()).collect();
        let is_absent =
            |path: &&str| matches!(self.overlay.read(&repository_path(path, &self.root)), Err(GitError::Absent { .. }));
        let removed_paths = removed.iter().map(|(path, _)| path.as_str());
        if let Some(path) = made.iter().copied().chain(removed_paths).find(is_absent) {
            return Err(Refused(format!("`{path}` is there and cannot be read, so it stays as it is.")));
        }
        let moved = match (removed.as_slice(), made.as_slice()) {
            ([(from, _)], [to]) => Some((repository_path(from, &self.root), repository_path(to, &self.root))),
            _ => None,
        };
        let changed = removed.into_iter().chain(written).try_for_each(|(path, bytes)| {
            let path = repository_path(&path, &self.root);
            match bytes {
                Some(bytes) => {
                    overlay.write(&path, bytes)?;
                    moved.iter().filter(|(_, to)| *to == path).try_for_each(|(from, to)| overlay.keep_mode(from, to))
                }
                None => match overlay.delete(&path) {
                    Err(GitError::Path { reason: PathRefused::Missing, .. }) => Ok(()),
                    deleted => deleted,
                },
            }
        });
        if let Err(error) = changed {
            let refused = Refused(error.to_string());
            if !matches!(error, GitError::Path { .. }) {
                self.record_error(error);
            }
            return Err(refused);
        }
        self.overlay = overlay;
        self.touched.extend(paths);
        Ok(())
    }
}

/// The docs before any change.
#[derive(Debug)]
pub(crate) struct OriginalDocs {
    base: Base,
    /// Sorted by path.
    files: Listing,
    root: String,
    /// Blob ids of files that have ended a process: they are not read.
    set_aside: HashSet<String>,
    /// What symbolic links lead to, once it was asked for.
    linked: OnceLock<Vec<String>>,
}

impl OriginalDocs {
    pub(crate) fn new(base: Base, root: &str, quarantine: &Quarantine) -> Result<Self, GitError> {
        let set_aside = quarantine.list().into_iter().map(|record| record.subject.key).collect();
        Ok(Self { files: base.files(root)?, base, root: root.to_owned(), set_aside, linked: OnceLock::new() })
    }

    fn is_set_aside(&self, blob: BlobId) -> bool {
        !self.set_aside.is_empty() && self.set_aside.contains(&blob.to_string())
    }

    /// A file's bytes, found in the listing: looking up each of thousands of files in the git trees would cost more
    /// than reading them.
    fn find(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let is_outside = path.starts_with("../");
        let path = repository_path(path, &self.root);
        if is_outside {
            return match self.base.node(&path)? {
                Some(Node::File(file)) if self.is_set_aside(file.blob) => Ok(None),
                _ => self.base.read(&path),
            };
        }
        let Ok(at) = self.files.binary_search_by(|file| file.path.as_str().cmp(&path)) else { return Ok(None) };
        let file = &self.files[at];
        if file.mode.is_file() && !self.is_set_aside(file.blob) {
            self.base.blob(file.blob).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl Tree for OriginalDocs {
    fn paths(&self) -> Vec<String> {
        let readable = self.files.iter().filter(|file| file.mode.is_file());
        readable.filter_map(|file| path_below_root(&file.path, &self.root).map(str::to_owned)).collect()
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        let all = if self.root.is_empty() { Ok(Listing::default()) } else { self.base.files("") };
        let files = all.unwrap_or_default();
        let outside =
            files.iter().filter(|file| file.mode.is_file() && path_below_root(&file.path, &self.root).is_none());
        outside.map(|file| from_root(&self.root, &file.path)).collect()
    }

    fn unread(&self) -> Vec<String> {
        // The files of the docs root are at hand.
        let all = if self.root.is_empty() { None } else { self.base.files("").ok() };
        let unread = all.as_ref().unwrap_or(&self.files).iter().filter(|file| !file.mode.is_file());
        unread.map(|file| from_root(&self.root, &file.path)).collect()
    }

    fn linked(&self) -> Vec<String> {
        let read = || {
            // A list that is not whole tells nothing of what it lacks.
            let linked = linked_files(&self.base, &self.root, &self.files).unwrap_or_default();
            let linked = if linked.len() < MAX_LINKED_FILES { linked } else { Vec::new() };
            linked.iter().map(|(path, _)| from_root(&self.root, path)).collect()
        };
        self.linked.get_or_init(read).clone()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.find(path).ok().flatten()
    }
}
