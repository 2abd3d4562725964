//! A remote that is a folder on this machine: read directly, and pushed to directly where that is equivalent to git.
//!
//! `git push` to such a folder starts three processes. Writing the objects and moving the branch under git's own lock
//! does the same in a millisecond, unless something depends on the processes: hooks, checks on receipt, a work tree. In
//! those cases [`Origin::accepts_direct`] refuses, and a child process pushes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use docent_types::is_out_of_files;
use gix::ObjectId;

use crate::error::{ErrorDetail, GitError, TriedCredentials};
use crate::odb::pack::Durability;
use crate::odb::refs::{self, RefState, SwapOutcome};
use crate::odb::{Repo, local_error, transfer};

/// Hooks that run when a branch is pushed.
const HOOKS: [&str; 7] = [
    "pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive", "push-to-checkout",
];

/// A repository in a folder on this machine.
#[derive(Debug)]
pub(crate) struct Origin {
    repo: Repo,
}

impl Origin {
    /// Opens the repository at `path`, bare or with a work tree. `Ok(None)`: a repository of a kind that only git
    /// itself can read.
    pub(crate) fn open(path: &Path, repository: &str) -> Result<Option<Self>, GitError> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(not_found(repository, "it is not a folder")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(not_found(repository, "no such folder"));
            }
            Err(error) if is_out_of_files(&error) => {
                return Err(GitError::OutOfFiles { doing: "look at the repository" });
            }
            Err(error) => {
                return Err(GitError::Unreachable {
                    repository: repository.to_owned(),
                    after: None,
                    source: ErrorDetail::new(error.to_string()),
                });
            }
        }
        let git_dir = if path.join(".git").exists() { path.join(".git") } else { path.to_owned() };
        let looks_like_git = git_dir.is_file() || git_dir.join("HEAD").exists() && git_dir.join("objects").is_dir();
        if !looks_like_git {
            return Err(not_found(repository, "the folder holds no git repository"));
        }
        match Repo::foreign(path) {
            Ok(repo) if is_plain(&repo.local()) => Ok(Some(Self { repo })),
            Ok(_) => Ok(None),
            Err(error) => {
                tracing::debug!(repository, error = %crate::odb::why(&error), "left to the git program");
                Ok(None)
            }
        }
    }

    pub(crate) fn repo(&self) -> gix::Repository {
        self.repo.local()
    }

    pub(crate) fn state(&self, repository: &str) -> Result<RefState, GitError> {
        refs::state(&self.repo.local()).map_err(|error| refs::unreadable(repository, &error))
    }

    /// Whether a push to `branch` may skip the git program; the error says why not.
    pub(crate) fn accepts_direct(&self, branch: &str) -> Result<(), &'static str> {
        let repo = self.repo.local();
        let git_dir = repo.common_dir();
        if HOOKS.iter().any(|hook| git_dir.join("hooks").join(hook).exists()) {
            return Err("it has hooks");
        }
        let checked_out = !repo.is_bare() && refs::head(&repo).as_deref() == Some(branch);
        if checked_out || fs::read_dir(git_dir.join("worktrees")).is_ok_and(|mut one| one.next().is_some()) {
            return Err("the branch may be checked out");
        }
        let config = repo.config_snapshot();
        let affects_pushes = config.plumbing().sections().any(|section| {
            let name = section.header().name().to_string().to_ascii_lowercase();
            section.value_names().any(|key| affects_push(&name, &key.to_string().to_ascii_lowercase()))
        });
        if affects_pushes { Err("its configuration has a say in pushes") } else { Ok(()) }
    }

    /// The repository's folder, if the configuration leaves maintenance to those who push to it.
    pub(crate) fn maintained_by_pushers(&self) -> Option<PathBuf> {
        let repo = self.repo.local();
        let runs_gc = repo.config_snapshot().boolean("receive.autogc").unwrap_or(true);
        runs_gc.then(|| repo.common_dir().to_owned())
    }

    /// Copies what `commit` needs and moves the branch, both flushed to the disk in this order.
    pub(crate) fn push(
        &self,
        from: &gix::Repository,
        branch: &str,
        commit: ObjectId,
        expected: Option<ObjectId>,
    ) -> Result<SwapOutcome, GitError> {
        let to = self.repo.local();
        let state = refs::state(&to).map_err(|error| local_error("read the branches of the remote", &error))?;
        // An early check before the work; the decisive one is made under the lock.
        let now = state.branches.get(branch).copied();
        if now != expected {
            return Ok(SwapOutcome::Differs(now));
        }
        let known: HashSet<_> = state.branches.into_values().collect();
        transfer::transfer(from, &to, &[commit], &known, Durability::Flushed, transfer::Missing::Refused)?;
        refs::compare_and_swap(&to, branch, commit, expected)
    }
}

/// Whether a setting of the repository changes the effect of a push.
fn affects_push(section: &str, key: &str) -> bool {
    match section {
        "receive" => !matches!(key, "autogc" | "keepalive"),
        "transfer" => true,
        "core" => matches!(key, "hookspath" | "sharedrepository" | "alternaterefscommand"),
        "include" | "includeif" | "hook" => true,
        _ => false,
    }
}

/// Whether gix can read the repository: no unknown extensions, no shallow history, no reftable.
fn is_plain(repo: &gix::Repository) -> bool {
    let config = repo.config_snapshot();
    let extended = config.plumbing().sections().any(|section| {
        section.header().name().to_string().eq_ignore_ascii_case("extensions")
            && section
                .value_names()
                .any(|key| !["noop", "preciousobjects"].iter().any(|known| key.to_string().eq_ignore_ascii_case(known)))
    });
    !extended && matches!(repo.is_shallow(), Ok(false)) && !repo.common_dir().join("reftable").exists()
}

fn not_found(repository: &str, why: &str) -> GitError {
    GitError::NotFound {
        repository: repository.to_owned(),
        tried: TriedCredentials::Nothing,
        source: ErrorDetail::new(why),
    }
}
