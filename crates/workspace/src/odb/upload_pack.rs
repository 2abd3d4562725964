//! Fetching by git's own protocol: over http, over ssh, or from `git upload-pack` on this machine.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use docent_types::is_out_of_files;
use gix::bstr::ByteSlice;
use gix::progress::Discard;
use gix::protocol::handshake::Ref;
use gix::protocol::transport::Protocol;
use gix::protocol::transport::client;
use gix::protocol::transport::client::git::blocking_io::Connection;
use gix::remote::Direction;
use gix::remote::fetch::{Status, Tags};

use super::refs::{self, Branches, RefState};
use super::{http_transport, local_error, why};
use crate::error::{ErrorDetail, GitError, PushError};
use crate::remote::{Location, Remote};
use crate::wire::child::{self, ServiceKind};
use crate::wire::http::Http;
use crate::wire::{WireFailure, WireSession};

const DOING: &str = "fetch";
const ALL_BRANCHES: &str = "+refs/heads/*:refs/heads/*";

/// Whether `HEAD` is requested by name. A server that does not announce an unborn `HEAD` rejects that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AskHead {
    Yes,
    No,
}

/// Fetches all branches of `remote` into the mirror `repo`, deletes those that are gone, and sets the default branch.
pub(crate) fn fetch(
    repo: &gix::Repository,
    remote: &Remote,
    seen: &Branches,
    interrupt: &AtomicBool,
    limit: Duration,
) -> Result<(), GitError> {
    match attempt(repo, remote, seen, interrupt, limit, AskHead::Yes)? {
        Fetched::Done => Ok(()),
        Fetched::NoHead => attempt(repo, remote, seen, interrupt, limit, AskHead::No).map(|_| ()),
    }
}

enum Fetched {
    Done,
    NoHead,
}

fn attempt(
    repo: &gix::Repository,
    remote: &Remote,
    seen: &Branches,
    interrupt: &AtomicBool,
    limit: Duration,
    ask: AskHead,
) -> Result<Fetched, GitError> {
    let specs: &[&str] = if ask == AskHead::Yes { &[ALL_BRANCHES, "HEAD"] } else { &[ALL_BRANCHES] };
    let source = gix_remote(repo, specs)?;
    let (conversation, transport) = Conversation::open(remote, limit)?;
    let connection = source.to_connection_with_transport(transport).with_credentials(|_| Ok(None));
    let prepared = match connection.prepare_fetch(Discard, Default::default()) {
        Ok(prepared) => prepared,
        Err(error) => return Err(conversation.into_git_error(&error)),
    };
    let wanted = ref_state(&prepared.ref_map().remote_refs);
    let has_head = prepared.ref_map().remote_refs.iter().any(|one| one.unpack().0 == "HEAD");
    if ask == AskHead::Yes && !has_head && !wanted.branches.is_empty() {
        drop(prepared);
        conversation.close();
        return Ok(Fetched::NoHead);
    }
    // Before the update: a deleted branch `a` makes room for a branch `a/b`.
    refs::prune(repo, seen, &wanted.branches)?;
    if wanted.branches.is_empty() {
        drop(prepared);
    } else {
        conversation.session.allow_content();
        let outcome = match prepared.receive(Discard, interrupt) {
            Ok(outcome) => outcome,
            Err(error) => return Err(conversation.into_git_error(&error)),
        };
        if let Status::Change { write_pack_bundle, .. } = outcome.status {
            for path in [&write_pack_bundle.data_path, &write_pack_bundle.index_path].into_iter().flatten() {
                flush(path)?;
            }
            if let Some(keep) = &write_pack_bundle.keep_path {
                let _ = std::fs::remove_file(keep);
            }
        }
    }
    conversation.close();
    refs::set_head(repo, &wanted).map_err(|error| local_error("record the default branch", &error))?;
    Ok(Fetched::Done)
}

fn flush(path: &Path) -> Result<(), GitError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(GitError::io("flush a fetched pack"))
}

/// The commit of one branch of the remote, without fetching anything.
pub(crate) fn branch(
    repo: &gix::Repository,
    remote: &Remote,
    name: &str,
    limit: Duration,
) -> Result<Option<gix::ObjectId>, GitError> {
    let full = format!("refs/heads/{name}");
    let source = gix_remote(repo, &[&format!("+{full}:{full}")])?;
    let (conversation, transport) = Conversation::open(remote, limit)?;
    let connection = source.to_connection_with_transport(transport).with_credentials(|_| Ok(None));
    match connection.ref_map(Discard, Default::default()) {
        Ok((map, _)) => {
            conversation.close();
            Ok(ref_state(&map.remote_refs).branches.remove(name))
        }
        Err(error) => Err(conversation.into_git_error(&error)),
    }
}

/// A gix remote for these branches. Its address is not used: the connection is opened by this crate.
fn gix_remote<'repo>(repo: &'repo gix::Repository, specs: &[&str]) -> Result<gix::Remote<'repo>, GitError> {
    repo.remote_at_without_url_rewrite("https://remote.invalid/")
        .and_then(|source| source.with_fetch_tags(Tags::None).with_refspecs(specs, Direction::Fetch))
        .map_err(|error| local_error("name the branches to fetch", &error))
}

type Transport = Box<dyn client::blocking_io::Transport + Send>;

/// A conversation in progress. Its session stores the cause of a failure.
struct Conversation<'a> {
    remote: &'a Remote,
    session: WireSession,
    service: Option<child::Service>,
}

impl<'a> Conversation<'a> {
    fn open(remote: &'a Remote, limit: Duration) -> Result<(Self, Transport), GitError> {
        let session = WireSession::new(limit);
        if remote.location()? == Location::Http {
            let http = Http::new(remote, session.clone())?;
            let url = gix::Url::try_from(http.base()).map_err(|error| GitError::Failed {
                doing: "read the address of the remote",
                source: ErrorDetail::new(remote.scrub(&error.to_string())),
            })?;
            let ours = http_transport::Transport::new(http, session.clone());
            let transport = client::blocking_io::http::Transport::new_http(ours, url, Protocol::V2, false);
            return Ok((Self { remote, session, service: None }, Box::new(transport)));
        }
        let (service, pipes) = child::start(remote, ServiceKind::Upload, &session)?;
        let mode = client::git::ConnectMode::Process;
        let nobody = None::<(String, Option<u16>)>;
        let transport = Connection::new(pipes.from, pipes.to, Protocol::V2, "/", nobody, mode, false);
        Ok((Self { remote, session, service: Some(service) }, Box::new(transport)))
    }

    /// Ends the conversation properly. The transport is dropped by now.
    fn close(self) {
        if let Some(service) = self.service {
            service.end();
        }
    }

    /// Classifies a failure. The transport is dropped by now.
    fn into_git_error(self, error: &gix::Error) -> GitError {
        // The transport's failure is more precise than gix's error.
        let failure = self.session.failure();
        if let Some(failure @ (WireFailure::TimedOut | WireFailure::TooMuch { .. })) = failure {
            return failure.into_git_error(self.remote, DOING, &self.session);
        }
        let stderr = self.service.map(child::Service::end).unwrap_or_default();
        match child::classify_stderr(self.remote, ServiceKind::Upload, &stderr) {
            Some(PushError::Git(error)) => return error,
            Some(PushError::Denied { repository, tried, source }) => {
                return GitError::Auth { repository, tried, source };
            }
            Some(PushError::Rejected { reason, .. }) => {
                return GitError::Failed { doing: DOING, source: ErrorDetail::new(reason) };
            }
            Some(PushError::Moved { .. }) | None => {}
        }
        match failure {
            Some(failure) => failure.into_git_error(self.remote, DOING, &self.session),
            None => misunderstood(self.remote, &self.session, error),
        }
    }
}

/// The conversation was complete, but gix could not parse it.
fn misunderstood(remote: &Remote, session: &WireSession, error: &gix::Error) -> GitError {
    let repository = remote.redacted();
    let source = ErrorDetail::new(remote.scrub(&why(error).to_string()));
    if error.is_cancelled() {
        return GitError::Timeout { doing: DOING, after: session.limit() };
    }
    let mut io_errors = error.iter_errors().filter_map(|error| error.downcast_ref::<std::io::Error>());
    if io_errors.any(|error| is_out_of_files(error)) {
        return GitError::OutOfFiles { doing: DOING };
    }
    // A stream that ends too early is a broken connection; a retry may succeed.
    let ended = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
    };
    if error.iter_errors().filter_map(|error| error.downcast_ref::<std::io::Error>()).any(ended) {
        return GitError::Unreachable { repository, after: None, source };
    }
    if error.is_resource_exhausted() {
        return GitError::Failed { doing: DOING, source };
    }
    // An error of our own disk.
    if let Some(io) = error.downcast_any_ref::<std::io::Error>()
        && io.raw_os_error().is_some()
    {
        return GitError::Io { doing: DOING, kind: io.kind(), source };
    }
    GitError::Garbled { repository, source }
}

fn ref_state(remote_refs: &[Ref]) -> RefState {
    let mut state = RefState { branches: Branches::new(), head: None };
    for one in remote_refs {
        let (name, id, _) = one.unpack();
        let branch = name.strip_prefix(b"refs/heads/").and_then(|name| name.to_str().ok());
        match (branch, id) {
            (Some(branch), Some(id)) => {
                state.branches.insert(branch.to_owned(), id.to_owned());
            }
            _ if name == "HEAD" => {
                let target = match one {
                    Ref::Symbolic { target, .. } | Ref::Unborn { target, .. } => Some(target),
                    Ref::Direct { .. } | Ref::Peeled { .. } => None,
                };
                state.head = target
                    .and_then(|target| target.strip_prefix(b"refs/heads/"))
                    .and_then(|name| name.to_str().ok())
                    .map(str::to_owned);
            }
            _ => {}
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_branch_is_what_head_stands_for() {
        let target = |name: &str| Ref::Symbolic {
            full_ref_name: "HEAD".into(),
            target: name.into(),
            tag: None,
            object: gix::ObjectId::null(gix::hash::Kind::Sha1),
        };
        assert_eq!(ref_state(&[target("refs/heads/trunk")]).head.as_deref(), Some("trunk"));
        assert_eq!(ref_state(&[target("refs/tags/trunk")]).head, None);
    }
}
