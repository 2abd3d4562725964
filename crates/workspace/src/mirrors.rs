//! All mirrors of one server: created, fetched, and recreated when damaged.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::blobs::Blobs;
use crate::error::{ErrorDetail, GitError};
use crate::lock;
use crate::maintenance;
use crate::mirror::Mirror;
use crate::mirror_state::{Limits, MirrorState};
use crate::odb::pack::Durability;
use crate::odb::refs::{Branches, RefState};
use crate::odb::{Repo, local_error, refs, transfer, upload_pack, why};
use crate::origin::Origin;
use crate::remote::{Location, Remote};

/// The mirrors below one folder, one bare repository per address. Cheap to clone.
///
/// Several processes may use the same folder: fetches take a file lock, and everything else is as safe as git.
#[derive(Debug, Clone)]
pub struct Mirrors {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    limits: Limits,
    blobs: Arc<Blobs>,
    open: Mutex<HashMap<String, Arc<MirrorState>>>,
    shared_fetches: Mutex<HashMap<[u8; 32], Arc<SharedFetch>>>,
}

/// Serializes the fetches of one repository with the same credentials.
#[derive(Debug, Default)]
struct SharedFetch {
    /// Number of fetches begun.
    begun: AtomicU64,
    /// Locked while a fetch runs.
    last: Arc<tokio::sync::Mutex<Option<LastFetch>>>,
}

/// The result of the last fetch.
#[derive(Debug)]
struct LastFetch {
    /// The fetch's number, counted from 1.
    number: u64,
    outcome: Result<Mirror, GitError>,
}

/// Above this number, unused entries are dropped: each new token makes an entry of its own.
const DROP_UNUSED_ABOVE: usize = 256;

impl Mirrors {
    /// Mirrors below `root`, a folder that is created with the first mirror.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::with_limits(root, Limits::default())
    }

    pub fn with_limits(root: impl Into<PathBuf>, limits: Limits) -> Self {
        let root = root.into();
        let inner =
            Inner { root, limits, blobs: Arc::default(), open: Mutex::default(), shared_fetches: Mutex::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Brings the mirror of `remote` up to date, creating it if needed.
    ///
    /// Callers for one repository share fetches: a waiter gets the result of a fetch that began after its call, so it
    /// never misses an earlier push. Dropping the call does not end a fetch that others may wait for.
    ///
    /// # Errors
    /// [`GitError::Unreachable`], [`GitError::Auth`], [`GitError::NotFound`], [`GitError::Address`],
    /// [`GitError::Timeout`], [`GitError::Io`].
    pub async fn fetch(&self, remote: &Remote) -> Result<Mirror, GitError> {
        let limit = self.inner.limits.fetch;
        let interrupt = Arc::new(AtomicBool::new(false));
        match tokio::time::timeout(limit, self.fetch_shared(remote, interrupt.clone())).await {
            Ok(outcome) => outcome,
            Err(_) => {
                interrupt.store(true, Ordering::SeqCst);
                Err(GitError::Timeout { doing: "fetch", after: limit })
            }
        }
    }

    async fn fetch_shared(&self, remote: &Remote, interrupt: Arc<AtomicBool>) -> Result<Mirror, GitError> {
        let shared_fetch = {
            let mut shared_fetches = self.inner.shared_fetches.lock();
            if shared_fetches.len() > DROP_UNUSED_ABOVE {
                shared_fetches.retain(|_, shared_fetch| Arc::strong_count(shared_fetch) > 1);
            }
            shared_fetches.entry(remote.fetch_key()).or_default().clone()
        };
        let begun_on_arrival = shared_fetch.begun.load(Ordering::SeqCst);
        let mut last = shared_fetch.last.clone().lock_owned().await;
        if let Some(last_fetch) = last.as_ref()
            && last_fetch.number > begun_on_arrival
        {
            return last_fetch.outcome.clone();
        }
        let (inner, remote) = (self.inner.clone(), remote.clone());
        // The lock is moved into the thread: a caller that goes away does not let a second fetch begin.
        let work = tokio::task::spawn_blocking(move || {
            let number = shared_fetch.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let outcome = inner.fetch(&remote, &interrupt);
            *last = Some(LastFetch { number, outcome: outcome.clone() });
            outcome
        });
        work.await.unwrap_or_else(|broken| Err(GitError::Failed { doing: "fetch", source: why(&broken) }))
    }

    /// As [`fetch`](Self::fetch), on this thread and for this caller alone.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn fetch_blocking(&self, remote: &Remote) -> Result<Mirror, GitError> {
        self.inner.fetch(remote, &AtomicBool::new(false))
    }

    #[cfg(test)]
    pub(crate) fn fetches_begun(&self, remote: &Remote) -> u64 {
        let shared_fetches = self.inner.shared_fetches.lock();
        shared_fetches.get(&remote.fetch_key()).map_or(0, |shared_fetch| shared_fetch.begun.load(Ordering::SeqCst))
    }

    /// The mirror of `remote` without a fetch, `None` when there is none yet.
    pub fn open_existing(&self, remote: &Remote) -> Option<Mirror> {
        let shared = self.inner.existing(remote)?;
        Some(Mirror::new(shared, remote))
    }
}

impl Inner {
    fn dir(&self, remote: &Remote) -> PathBuf {
        self.root.join(remote.folder())
    }

    fn existing(&self, remote: &Remote) -> Option<Arc<MirrorState>> {
        let folder = remote.folder();
        let mut open = self.open.lock();
        let dir = self.dir(remote);
        if let Some(shared) = open.get(&folder)
            && dir.join("HEAD").exists()
        {
            return Some(shared.clone());
        }
        open.remove(&folder);
        let repo = Repo::mirror(&dir).ok()?;
        let origin = match remote.location() {
            Ok(Location::Local(path)) => Some(path),
            _ => None,
        };
        let shared = Arc::new(MirrorState::new(repo, dir, self.limits, Arc::clone(&self.blobs), origin));
        open.insert(folder, shared.clone());
        Some(shared)
    }

    fn forget(&self, remote: &Remote) {
        self.open.lock().remove(&remote.folder());
    }

    fn fetch(&self, remote: &Remote, interrupt: &AtomicBool) -> Result<Mirror, GitError> {
        let location = remote.location()?;
        let origin = match &location {
            Location::Local(path) => Origin::open(path, &remote.redacted())?,
            Location::Http | Location::Ssh => None,
        };
        // Common case for a repository on this machine: nothing is new. Checking that needs no lock.
        if let Some(origin) = &origin
            && let Some(shared) = self.existing(remote).filter(|shared| !shared.is_suspect())
        {
            let wanted = origin.state(&remote.redacted())?;
            if refs::state(&shared.repo.local()).is_ok_and(|have| is_current(&have, &wanted)) {
                return Ok(Mirror::new(shared, remote));
            }
        }
        fs::create_dir_all(&self.root).map_err(GitError::io("make the folder of the mirrors"))?;
        let dir = self.dir(remote);
        let _lock = lock::wait(&dir, self.limits.fetch)?;
        lock::sweep(&dir);
        let shared = self.locked_fetch(remote, origin.as_ref(), interrupt)?;
        maintenance::mirror_when_due(&shared);
        Ok(Mirror::new(shared, remote))
    }

    fn locked_fetch(
        &self,
        remote: &Remote,
        origin: Option<&Origin>,
        interrupt: &AtomicBool,
    ) -> Result<Arc<MirrorState>, GitError> {
        if let Some(shared) = self.existing(remote).filter(|shared| !shared.is_suspect()) {
            match self.update(&shared, remote, origin, interrupt) {
                Ok(()) => return Ok(shared),
                Err(error @ GitError::Corrupt { .. }) => {
                    tracing::warn!(repository = remote.redacted(), %error, "re-creating the mirror");
                }
                Err(error) => return Err(error),
            }
        }
        self.forget(remote);
        self.make(remote, origin, interrupt)?;
        self.existing(remote)
            .ok_or(GitError::Corrupt { doing: "open a new mirror", source: ErrorDetail::new("it cannot be read back") })
    }

    fn update(
        &self,
        shared: &MirrorState,
        remote: &Remote,
        origin: Option<&Origin>,
        interrupt: &AtomicBool,
    ) -> Result<(), GitError> {
        let repo = shared.repo.local();
        let seen = refs::state(&repo).map_err(|error| corrupt("read the branches of the mirror", &error))?;
        let Some(origin) = origin else {
            return upload_pack::fetch(&repo, remote, &seen.branches, interrupt, self.limits.fetch);
        };
        let wanted = origin.state(&remote.redacted())?;
        copy_missing(origin, &repo, &seen.branches, &seen.branches, &wanted)
    }

    /// Creates the mirror beside its final path and renames it when complete, so that an incomplete one is never taken
    /// for a mirror. Remains of a crash are removed here.
    fn make(&self, remote: &Remote, origin: Option<&Origin>, interrupt: &AtomicBool) -> Result<(), GitError> {
        const DOING: &str = "make a mirror";
        let dir = self.dir(remote);
        let half = self.root.join(format!("{}.half", remote.folder()));
        let old = self.root.join(format!("{}.old", remote.folder()));
        for leftover in [&half, &old] {
            remove(leftover).map_err(GitError::io(DOING))?;
        }
        fs::create_dir(&half).map_err(GitError::io(DOING))?;
        let filled = self.fill(&half, remote, origin, interrupt);
        if let Err(error) = filled {
            let _ = remove(&half);
            return Err(match error {
                // A new mirror cannot be damaged: the remote is.
                GitError::Corrupt { source, .. } => {
                    GitError::Unreachable { repository: remote.redacted(), after: None, source }
                }
                error => error,
            });
        }
        if dir.exists() {
            fs::rename(&dir, &old).map_err(GitError::io(DOING))?;
        }
        fs::rename(&half, &dir).map_err(GitError::io(DOING))?;
        remove(&old).map_err(GitError::io(DOING))
    }

    fn fill(
        &self,
        dir: &Path,
        remote: &Remote,
        origin: Option<&Origin>,
        interrupt: &AtomicBool,
    ) -> Result<(), GitError> {
        const DOING: &str = "make a mirror";
        let empty = RefState { branches: Default::default(), head: None };
        let repo = Repo::create(dir).map_err(|error| local_error(DOING, &error))?.local();
        // The sample hooks are not needed, and no hook must run here.
        let _ = remove(&dir.join("hooks"));
        fs::write(dir.join("description"), format!("Mirror of {}\n", remote.redacted()))
            .map_err(GitError::io(DOING))?;
        let Some(origin) = origin else {
            return upload_pack::fetch(&repo, remote, &empty.branches, interrupt, self.limits.fetch);
        };
        // Read before the object files are copied, which then contain all objects of these branches.
        let before = origin.state(&remote.redacted())?;
        let complete = if take_files(&origin.repo(), dir).map_err(GitError::io(DOING))? {
            before.branches
        } else {
            empty.branches.clone()
        };
        // Reopened, to see the files just copied.
        let repo = Repo::mirror(dir).map_err(|error| local_error(DOING, &error))?.local();
        let wanted = origin.state(&remote.redacted())?;
        copy_missing(origin, &repo, &complete, &empty.branches, &wanted)?;
        if transfer::tips_are_readable(&repo, wanted.branches.values().copied()) {
            Ok(())
        } else {
            Err(GitError::Unreachable {
                repository: remote.redacted(),
                after: None,
                source: ErrorDetail::new("its branches lead to commits that cannot be read"),
            })
        }
    }
}

/// Whether a mirror with the branches `have` is up to date with `wanted`.
fn is_current(have: &RefState, wanted: &RefState) -> bool {
    have.branches == wanted.branches && (wanted.head.is_none() || have.head == wanted.head)
}

/// Hard-links or copies the object files of a repository on this machine. `false`: the objects have to be copied one by
/// one.
fn take_files(from: &gix::Repository, dir: &Path) -> io::Result<bool> {
    let objects = dir.join("objects");
    for _ in 0..3 {
        if !transfer::is_self_contained(from) {
            return Ok(false);
        }
        match transfer::clone_files(from, &objects) {
            Ok(()) => return Ok(true),
            // A repack removed files meanwhile, or there is something that is not a regular file.
            Err(error) => tracing::debug!(mirror = %dir.display(), %error, "object files could not be taken over"),
        }
        remove(&objects)?;
        for folder in ["pack", "info"] {
            fs::create_dir_all(objects.join(folder))?;
        }
    }
    Ok(false)
}

/// Copies the objects that a repository on this machine has and the mirror lacks, and then the branches. `complete` are
/// branches whose objects the mirror has in full, `seen` the branches that it has itself.
fn copy_missing(
    origin: &Origin,
    mirror: &gix::Repository,
    complete: &Branches,
    seen: &Branches,
    wanted: &RefState,
) -> Result<(), GitError> {
    let known: HashSet<_> = complete.values().copied().collect();
    let tips: Vec<_> = wanted.branches.values().copied().filter(|tip| !known.contains(tip)).collect();
    transfer::transfer(&origin.repo(), mirror, &tips, &known, Durability::Cached, transfer::Missing::Skipped)?;
    refs::mirror(mirror, seen, wanted)
}

fn corrupt(doing: &'static str, error: &gix::Error) -> GitError {
    GitError::Corrupt { doing, source: why(error) }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
