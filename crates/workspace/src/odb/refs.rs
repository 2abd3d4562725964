//! Branches of a repository on this disk: reading them, and moving one under git's own locks.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::refs::transaction::{Change, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::local_error;
use super::pack::{Temporary, sync_folder};
use crate::error::{ErrorDetail, GitError};

/// Branches by short name.
pub(crate) type Branches = BTreeMap<String, ObjectId>;

/// Attempts to take a lock held by another process, and the pause between.
const LOCK_TRIES: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Time limit for reading branches that are being packed, and the pause between attempts. After thousands of pushes git
/// needs a second or two to remove the loose files.
const READ_LIMIT: Duration = Duration::from_secs(10);
const READ_PAUSE: Duration = Duration::from_millis(5);

/// The branches, and the branch that `HEAD` names, which need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefState {
    pub(crate) branches: Branches,
    pub(crate) head: Option<String>,
}

/// Reads the branches consistently. They may be packed meanwhile, mostly by git's own maintenance: a loose branch moves
/// into `packed-refs`, and a reader that has read that file before finds the branch in neither place.
pub(crate) fn state(repo: &gix::Repository) -> gix::Result<RefState> {
    let packed = repo.common_dir().join("packed-refs");
    let begun = Instant::now();
    loop {
        let before = file_version(&packed);
        let state = read_state_once(repo);
        let is_consistent = match &state {
            Ok(_) => file_version(&packed) == before,
            Err(error) => !error.is_not_found(),
        };
        if is_consistent || begun.elapsed() > READ_LIMIT {
            return state;
        }
        thread::sleep(READ_PAUSE);
    }
}

/// The modification time and the length of a file; `None` while it does not exist.
fn file_version(file: &Path) -> Option<(SystemTime, u64)> {
    let file = fs::metadata(file).ok()?;
    Some((file.modified().ok()?, file.len()))
}

fn read_state_once(repo: &gix::Repository) -> gix::Result<RefState> {
    let mut branches = Branches::new();
    for reference in repo.references()?.local_branches()? {
        let mut reference = reference?;
        let Ok(name) = reference.name().shorten().to_str().map(str::to_owned) else { continue };
        let id = match reference.try_id() {
            Some(id) => id.detach(),
            // A symbolic branch counts as its target; one without a target does not count.
            None => match reference.peel_to_id() {
                Ok(id) => id.detach(),
                Err(_) => continue,
            },
        };
        branches.insert(name, id);
    }
    Ok(RefState { branches, head: head(repo) })
}

pub(crate) fn head(repo: &gix::Repository) -> Option<String> {
    let name = repo.head_name().ok().flatten()?;
    name.shorten().to_str().ok().map(str::to_owned)
}

pub(crate) fn branch(repo: &gix::Repository, name: &str) -> gix::Result<Option<ObjectId>> {
    match repo.try_find_reference(format!("refs/heads/{name}").as_str())? {
        Some(mut reference) => Ok(reference.peel_to_id().ok().map(gix::Id::detach)),
        None => Ok(None),
    }
}

fn full_name(name: &str) -> Result<FullName, GitError> {
    FullName::try_from(format!("refs/heads/{name}"))
        .map_err(|_| GitError::BranchName { name: name.to_owned(), reason: "git does not allow it" })
}

/// Sets the branches and `HEAD` of a mirror to those of `wanted`. `seen` are the mirror's branches before `wanted` was
/// read: a branch that appeared or moved since is newer and stays.
pub(crate) fn mirror(repo: &gix::Repository, seen: &Branches, wanted: &RefState) -> Result<(), GitError> {
    const DOING: &str = "record the branches of the remote";
    prune(repo, seen, &wanted.branches)?;
    let mut edits = Vec::new();
    for (name, id) in &wanted.branches {
        let expected = match seen.get(name) {
            Some(old) if old == id => continue,
            Some(old) => PreviousValue::MustExistAndMatch(Target::Object(*old)),
            None => PreviousValue::MustNotExist,
        };
        edits.push(RefEdit::update(full_name(name)?, *id, expected, ""));
    }
    // All edits in one transaction; if one of them loses a race, each on its own.
    if !edits.is_empty() && repo.edit_references(edits.clone()).is_err() {
        for edit in edits {
            let name = edit.name.clone();
            let Err(error) = repo.edit_reference(edit) else { continue };
            let name = name.shorten().to_string();
            if branch(repo, &name).ok().flatten() == seen.get(&name).copied() {
                return Err(GitError::Corrupt { doing: DOING, source: super::why(&error) });
            }
            tracing::debug!(branch = name, "a branch of the mirror moved during a fetch");
        }
    }
    set_head(repo, wanted).map_err(|error| local_error(DOING, &error))
}

/// Deletes the branches of a mirror that the remote no longer has.
pub(crate) fn prune(repo: &gix::Repository, seen: &Branches, wanted: &Branches) -> Result<(), GitError> {
    for (name, old) in seen.iter().filter(|(name, _)| !wanted.contains_key(*name)) {
        let expected = PreviousValue::MustExistAndMatch(Target::Object(*old));
        let change = Change::Delete { expected, log: RefLog::AndReference };
        let edit = RefEdit::new(full_name(name)?, change);
        if let Err(error) = repo.edit_reference(edit) {
            tracing::debug!(branch = name, error = %super::why(&error), "a branch of the mirror moved during a fetch");
        }
    }
    Ok(())
}

/// Points `HEAD` of a mirror at the remote's default branch.
pub(crate) fn set_head(repo: &gix::Repository, wanted: &RefState) -> gix::Result<()> {
    let Some(name) = wanted.head.as_ref().filter(|name| head(repo).as_ref() != Some(*name)) else { return Ok(()) };
    let Ok(target) = full_name(name) else { return Ok(()) };
    let Ok(head) = FullName::try_from("HEAD") else { return Ok(()) };
    let edit = RefEdit::update(head, Target::Symbolic(target), PreviousValue::Any, "");
    repo.edit_reference(edit).map(|_| ())
}

/// Records in the mirror the commit that a branch was pushed to.
pub(crate) fn record(repo: &gix::Repository, name: &str, id: ObjectId) -> Result<(), GitError> {
    let edit = RefEdit::update(full_name(name)?, id, PreviousValue::Any, "");
    repo.edit_reference(edit).map(|_| ()).map_err(|error| local_error("record a pushed branch", &error))
}

/// The result of an attempt to move a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SwapOutcome {
    Done,
    /// The branch has another commit than expected.
    Differs(Option<ObjectId>),
    /// The name conflicts with that of another branch: one is a folder of the other (`a` and `a/b`).
    NameConflict(String),
}

/// Moves a branch from `expected` (`None`: it must not exist) to `new`, durably: when this returns, the branch is on
/// the disk. git's lock file beside the branch keeps other processes from moving it meanwhile.
pub(crate) fn compare_and_swap(
    repo: &gix::Repository,
    name: &str,
    new: ObjectId,
    expected: Option<ObjectId>,
) -> Result<SwapOutcome, GitError> {
    const DOING: &str = "move the branch";
    let heads = repo.common_dir().join("refs").join("heads");
    let path = heads.join(name);
    let objects = repo.objects.store_ref().path().to_owned();
    let lock = match Lock::take(&objects, &path, new) {
        Ok(lock) => lock,
        Err(error) => {
            // A branch `a` and a branch `a/b` exclude each other.
            return match conflicting_branch(repo, name)? {
                Some(other) => Ok(SwapOutcome::NameConflict(other)),
                None => Err(GitError::io(DOING)(error)),
            };
        }
    };
    let now = branch(repo, name).map_err(|error| local_error(DOING, &error))?;
    if now != expected {
        return Ok(SwapOutcome::Differs(now));
    }
    if expected.is_none()
        && let Some(other) = conflicting_branch(repo, name)?
    {
        return Ok(SwapOutcome::NameConflict(other));
    }
    lock.commit(&path).map_err(GitError::io(DOING))?;
    sync_folders(&path, &heads).map_err(GitError::io(DOING))?;
    Ok(SwapOutcome::Done)
}

fn conflicting_branch(repo: &gix::Repository, name: &str) -> Result<Option<String>, GitError> {
    let state = state(repo).map_err(|error| local_error("read the branches", &error))?;
    let below = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
    Ok(state.branches.into_keys().find(|other| below(other, name) || below(name, other)))
}

/// The lock file beside a loose branch. Dropped without a commit, it is removed.
struct Lock {
    path: PathBuf,
    is_committed: bool,
}

impl Lock {
    /// Takes the lock with the new value in it. The value is flushed beforehand, so that the lock is held briefly.
    fn take(objects: &Path, branch: &Path, new: ObjectId) -> io::Result<Self> {
        let value = format!("{}\n", new.to_hex());
        let prepared = Temporary::write(objects, "tmp_ref_", value.as_bytes())?;
        prepared.flush()?;
        let mut path = branch.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let mut tries = 0;
        loop {
            if let Some(folder) = branch.parent() {
                fs::create_dir_all(folder)?;
            }
            let taken = prepared.link(&path);
            tries += 1;
            match taken {
                Ok(()) => return Ok(Self { path, is_committed: false }),
                // Another process moves this branch, or has just removed the empty folder.
                Err(error) if tries < LOCK_TRIES && is_transient(&error) => thread::sleep(LOCK_PAUSE),
                // Held for longer than any process needs, and with the value that we write: the lock is our own, left
                // by a crash.
                Err(error) if tries == LOCK_TRIES && is_transient(&error) => {
                    if fs::read_to_string(&path).is_ok_and(|held| held == value) {
                        fs::remove_file(&path)?;
                    } else {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn commit(mut self, branch: &Path) -> io::Result<()> {
        // Branches deleted below this name leave empty folders where the file is to be.
        if branch.is_dir() {
            remove_empty_folders(branch);
        }
        fs::rename(&self.path, branch)?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.is_committed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound)
}

fn remove_empty_folders(folder: &Path) {
    if let Ok(entries) = fs::read_dir(folder) {
        for entry in entries.flatten() {
            remove_empty_folders(&entry.path());
        }
    }
    // Fails on a folder that is not empty, as intended.
    let _ = fs::remove_dir(folder);
}

/// Flushes the name of the branch, and of the folders that may have been created for it.
fn sync_folders(branch: &Path, heads: &Path) -> io::Result<()> {
    let mut folder = branch.parent();
    while let Some(path) = folder {
        sync_folder(path)?;
        folder = if path == heads { None } else { path.parent().filter(|parent| parent.starts_with(heads)) };
    }
    Ok(())
}

/// The error when the branches of a repository on this machine cannot be read.
pub(crate) fn unreadable(repository: &str, error: &gix::Error) -> GitError {
    let source: ErrorDetail = super::why(error);
    GitError::Unreachable { repository: repository.to_owned(), after: None, source }
}
