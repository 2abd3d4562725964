//! What can go wrong with a repository, in categories a caller can match on.
//!
//! An error's sentence says what was being tried and what to do next; its source says why it failed. Texts from a
//! server or from `git` are scrubbed of credentials before they get here.

use std::fmt;
use std::io;
use std::time::Duration;

use docent_types::is_out_of_files;
use thiserror::Error;

use crate::id::CommitId;
use crate::refusal::PushRefusal;

/// The reason underneath an error: one scrubbed line of text.
#[derive(Clone, PartialEq, Eq)]
pub struct ErrorDetail(String);

impl ErrorDetail {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ErrorDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ErrorDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for ErrorDetail {}

/// Why work on a repository failed. Cheap to clone: all callers who waited for the same fetch get the error.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum GitError {
    /// The host or the path does not answer. Trying again later may work.
    #[error("could not reach {repository}, or it broke off: check that the address is right and the host is up")]
    Unreachable {
        repository: String,
        /// The delay that the server asked for.
        after: Option<Duration>,
        source: ErrorDetail,
    },
    /// The credentials could not be read, for example because a token is not set.
    #[error("there is nothing to open {repository} with")]
    NoCredentials { repository: String, source: ErrorDetail },
    /// The repository requires credentials, or refuses the given ones.
    #[error("{repository} refused us: {}", tried.access_remedy())]
    Auth { repository: String, tried: TriedCredentials, source: ErrorDetail },
    /// There is no repository at this address (or, on some forges, none that these credentials may see).
    #[error("there is no repository at {repository}, or none that we may see: {}", tried.visibility_remedy())]
    NotFound { repository: String, tried: TriedCredentials, source: ErrorDetail },
    /// The repository's host redirects to another host, to which the credentials must not be sent.
    #[error("{repository} redirects to {to}: give the address it has now")]
    RedirectedToOtherHost { repository: String, to: String },
    /// The certificate of the host is signed by no trusted authority.
    #[error(
        "the certificate of {repository} is not trusted: name the file with the certificate of your authority in \
         SSL_CERT_FILE"
    )]
    Certificate { repository: String, source: ErrorDetail },
    /// The ssh host key is unknown, or differs from the known one.
    #[error(
        "the host key of {repository} is not the one that is known: check it (`ssh-keyscan` shows it) and put it into \
         known_hosts"
    )]
    HostKey { repository: String, source: ErrorDetail },
    /// The file with the ssh key cannot be used.
    #[error(
        "the ssh key for {repository} cannot be used: give a private key without a passphrase, in a file that only the \
         server's user may read"
    )]
    Key { repository: String, source: ErrorDetail },
    /// The answer is not that of a git server, or its protocol is not supported.
    #[error(
        "{repository} does not answer as a git server does: check that the address is that of the repository, and that \
         nothing in between answers for it"
    )]
    Garbled { repository: String, source: ErrorDetail },
    /// The address itself cannot be used.
    #[error("`{repository}` is not a repository address: {reason}")]
    Address { repository: String, reason: &'static str },
    /// The repository holds no commit at all.
    #[error("{repository} is empty: push a first commit to `{branch}`")]
    Empty { repository: String, branch: String },
    /// The repository lacks this branch; `known` are some of the branches it has.
    #[error("{repository} has no branch `{branch}`{}: check the name, or create the branch", listed(known))]
    NoSuchBranch { repository: String, branch: String, known: Vec<String> },
    /// The commit lacks this folder; `known` are some of its sibling folders.
    #[error("{repository} has no folder `{folder}`{}: check the name, or create the folder", listed(known))]
    NoSuchFolder { repository: String, folder: String, known: Vec<String> },
    /// The mirror does not hold this commit; a fetch may bring it.
    #[error("commit {commit} is not in the mirror: fetch, and check that it still exists upstream")]
    NoSuchCommit { commit: CommitId },
    /// A path that must not or cannot be used this way.
    #[error("`{path}` cannot be used: {reason}")]
    Path { path: String, reason: PathRefused },
    /// A name git would refuse for a branch.
    #[error("`{name}` is not a branch name: {reason}")]
    BranchName { name: String, reason: &'static str },
    /// The mirror is damaged. The next fetch recreates it.
    #[error("could not {doing}: the mirror is damaged and will be re-created by the next fetch")]
    Corrupt { doing: &'static str, source: ErrorDetail },
    /// The repository itself lacks the content of a file, as a partial copy does.
    #[error("the repository itself lacks object {object}: `git fsck` there names what is missing")]
    Absent { object: String },
    #[error("gave up trying to {doing} after {} s", after.as_secs())]
    Timeout { doing: &'static str, after: Duration },
    /// No `git` program on this machine.
    #[error("could not {doing}: the `git` program was not found; install git and make sure it is on PATH")]
    GitMissing { doing: &'static str },
    /// No `ssh` program on this machine.
    #[error(
        "could not {doing}: the `ssh` program was not found; install the OpenSSH client and make sure it is on PATH"
    )]
    SshMissing { doing: &'static str },
    /// The process or the machine is at its limit of open files. A retry may succeed.
    #[error("could not {doing}: too many files are open")]
    OutOfFiles { doing: &'static str },
    /// A file system error.
    #[error("could not {doing}")]
    Io { doing: &'static str, kind: io::ErrorKind, source: ErrorDetail },
    /// Anything else a git library or program reported.
    #[error("could not {doing}")]
    Failed { doing: &'static str, source: ErrorDetail },
}

/// The first eight names, as part of an error message.
fn listed(names: &[String]) -> String {
    const LISTED: usize = 8;
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(" (it has {}{more})", shown.join(", "))
}

impl GitError {
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| match is_out_of_files(&error) {
            true => Self::OutOfFiles { doing },
            false => Self::Io { doing, kind: error.kind(), source: ErrorDetail::new(error.to_string()) },
        }
    }

    pub(crate) fn path(path: &str, reason: PathRefused) -> Self {
        Self::Path { path: path.chars().take(300).collect(), reason }
    }

    /// For a credential lookup that finds a configuration error. `why` must hold no secret.
    pub fn no_credentials(repository: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::NoCredentials { repository: repository.into(), source: ErrorDetail::new(why.to_string()) }
    }

    /// For a credential lookup that may succeed later. `why` must hold no secret.
    pub fn unreachable(repository: impl Into<String>, after: Option<Duration>, why: impl fmt::Display) -> Self {
        Self::Unreachable { repository: repository.into(), after, source: ErrorDetail::new(why.to_string()) }
    }

    /// Whether the same call may succeed later without a change to the repository or the configuration.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Timeout { .. } | Self::Corrupt { .. } | Self::OutOfFiles { .. })
    }

    /// The delay that the remote asked for.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unreachable { after, .. } => *after,
            _ => None,
        }
    }
}

/// The credentials that were tried, which decide the remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriedCredentials {
    /// Anonymous access.
    Nothing,
    /// With the token we were given.
    Token,
    /// With an ssh key: the given one, or those of the user we run as.
    SshKey,
}

impl TriedCredentials {
    const fn access_remedy(self) -> &'static str {
        match self {
            Self::Nothing => "give a token that may read and write it",
            Self::Token => "its token was not accepted; give one that is not expired and may read and write it",
            Self::SshKey => "our ssh key was not accepted; add its public half there, with write access",
        }
    }

    const fn visibility_remedy(self) -> &'static str {
        match self {
            Self::Nothing => "check the address, and give a token if it is private",
            Self::Token => "check the address and what the token may see",
            Self::SshKey => "check the address and what the ssh key may see",
        }
    }

    const fn write_remedy(self) -> &'static str {
        match self {
            Self::Nothing => "give a token that may write it",
            Self::Token => {
                "give a token that may write it (on GitHub `Contents: Read and write`, on GitLab `write_repository` and \
                 the role Developer, on Gitea and Forgejo `write:repository`), of an account that may push there"
            }
            Self::SshKey => "allow write access for our ssh key",
        }
    }
}

/// Why a path was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PathRefused {
    #[error("it is empty")]
    Empty,
    #[error("give it relative to the root of the repository, without a leading slash")]
    Absolute,
    #[error("it must not hold `.`, `..` or empty parts")]
    Relative,
    #[error("nothing named `.git` may be touched")]
    DotGit,
    #[error("it holds a character git does not allow")]
    Character,
    #[error("it is longer than 4,096 bytes")]
    TooLong,
    #[error("it is a folder")]
    Folder,
    #[error("a file is in the place of a folder that it needs")]
    BelowFile,
    #[error("it is a symbolic link, which is never followed")]
    Symlink,
    #[error("it is a submodule")]
    Submodule,
    #[error("there is no such file")]
    Missing,
}

/// Why a push did not happen.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum PushError {
    /// The branch has moved on the remote: fetch, replay or merge, and push again.
    #[error("the branch moved on the remote while we worked: fetch and try again")]
    Moved {
        /// Where the branch is now; `None` when it does not exist (any more).
        now: Option<CommitId>,
    },
    /// The remote rejected the update: a protected branch, a hook, a checked-out branch.
    #[error("the remote rejected the push ({reason}): {refusal}")]
    Rejected {
        /// The remote's message.
        reason: String,
        refusal: PushRefusal,
    },
    /// These credentials may not write.
    #[error("{repository} refused the push: {}", tried.write_remedy())]
    Denied { repository: String, tried: TriedCredentials, source: ErrorDetail },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl PushError {
    /// Whether the same push may succeed later without a change to the repository or the configuration.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Git(error) if error.is_transient())
    }

    /// The delay that the remote asked for.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Git(error) => error.retry_after(),
            _ => None,
        }
    }
}

/// Why a merge did not happen.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Both sides changed these paths in conflicting ways.
    #[error(
        "both sides changed {} in ways that do not fit together: merge the target into the branch and resolve it there",
        paths.join(", ")
    )]
    Conflict { paths: Vec<String> },
    /// The two histories share no commit.
    #[error("the branch and its target share no history")]
    Unrelated,
    #[error(transparent)]
    Push(#[from] PushError),
    #[error(transparent)]
    Git(#[from] GitError),
}
