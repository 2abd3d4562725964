//! Fetching by git's own protocol: over http, over ssh, or from `git upload-pack` on this machine.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gix::bstr::ByteSlice;
use gix::credentials::helper::Action;
use gix::credentials::protocol::{Context, Outcome};
use gix::progress::Discard;
use gix::protocol::handshake::Ref;
use gix::protocol::transport::client::blocking_io::http;
use gix::remote::Direction;
use gix::remote::fetch::{Status, Tags};

use super::refs::{self, Branches, RefState};
use super::{local_error, why};
use crate::error::{GitError, Why};
use crate::remote::Remote;

const ALL_BRANCHES: &str = "+refs/heads/*:refs/heads/*";

/// Whether `HEAD` is asked for by name. Servers that do not announce an unborn `HEAD` must not be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AskHead {
    Yes,
    No,
}

/// Brings all branches of `remote` into the mirror `repo`, deletes those that are gone, and names the default branch.
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
    let explain = |error: gix::Error| explained(remote, limit, &error);
    let mut source = at(repo, remote, ALL_BRANCHES, limit)?;
    if ask == AskHead::Yes {
        source = source.with_refspecs(["HEAD"], Direction::Fetch).map_err(explain)?;
    }
    let connection = connect(repo, &source, remote, limit)?;
    let prepared = connection.prepare_fetch(Discard, Default::default()).map_err(explain)?;
    let wanted = ref_state(&prepared.ref_map().remote_refs);
    let has_head = prepared.ref_map().remote_refs.iter().any(|one| one.unpack().0 == "HEAD");
    if ask == AskHead::Yes && !has_head && !wanted.branches.is_empty() {
        return Ok(Fetched::NoHead);
    }
    // Before the update: a branch `a` that is gone must make room for a branch `a/b`.
    refs::prune(repo, seen, &wanted.branches)?;
    if !wanted.branches.is_empty() {
        let outcome = prepared.receive(Discard, interrupt).map_err(explain)?;
        if let Status::Change { write_pack_bundle, .. } = outcome.status {
            for path in [&write_pack_bundle.data_path, &write_pack_bundle.index_path].into_iter().flatten() {
                flush(path)?;
            }
            if let Some(keep) = &write_pack_bundle.keep_path {
                let _ = std::fs::remove_file(keep);
            }
        }
    }
    refs::set_head(repo, &wanted).map_err(|error| local_error("record the default branch", &error))?;
    Ok(Fetched::Done)
}

fn flush(path: &Path) -> Result<(), GitError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(GitError::io("flush a fetched pack"))
}

/// Where one branch of the remote is, without fetching anything.
pub(crate) fn branch(
    repo: &gix::Repository,
    remote: &Remote,
    name: &str,
    limit: Duration,
) -> Result<Option<gix::ObjectId>, GitError> {
    let full = format!("refs/heads/{name}");
    let source = at(repo, remote, &format!("+{full}:{full}"), limit)?;
    let connection = connect(repo, &source, remote, limit)?;
    let (map, _) = connection.ref_map(Discard, Default::default()).map_err(|error| explained(remote, limit, &error))?;
    Ok(ref_state(&map.remote_refs).branches.remove(name))
}

fn at<'repo>(
    repo: &'repo gix::Repository,
    remote: &Remote,
    spec: &str,
    limit: Duration,
) -> Result<gix::Remote<'repo>, GitError> {
    repo.remote_at_without_url_rewrite(remote.url.as_str())
        .and_then(|source| source.with_fetch_tags(Tags::None).with_refspecs([spec], Direction::Fetch))
        .map_err(|error| explained(remote, limit, &error))
}

type Transport = Box<dyn gix::protocol::transport::client::blocking_io::Transport + Send>;

fn connect<'a, 'repo>(
    repo: &gix::Repository,
    source: &'a gix::Remote<'repo>,
    remote: &'a Remote,
    limit: Duration,
) -> Result<gix::remote::Connection<'a, 'a, 'repo, Transport>, GitError> {
    let explain = |error: gix::Error| explained(remote, limit, &error);
    let mut connection =
        source.connect(Direction::Fetch).map_err(explain)?.with_credentials(|action| answer(remote, action));
    let options = repo.transport_options(remote.url.as_str(), None).map_err(explain)?;
    if let Some(options) = options.and_then(|options| options.downcast::<http::Options>().ok()) {
        let backend = http::reqwest::Options {
            // One request may take as long as the whole fetch, and no longer.
            configure_client: Some(Box::new(move |client| Ok(client.timeout(limit)))),
            configure_request: None,
        };
        let backend = Some(std::sync::Arc::new(std::sync::Mutex::new(backend)) as _);
        // gix sends an identity over https alone. To a forge on this network without it, the same goes as a header,
        // and then gix follows no redirect.
        let plain = is_plain(remote).then(|| remote.authorization()).flatten();
        let extra_headers = plain.map(|value| format!("Authorization: {value}")).into_iter().collect();
        connection.set_transport_options(Box::new(http::Options { backend, extra_headers, ..*options }));
    }
    Ok(connection)
}

/// Answers a request for credentials, but only from the host they are meant for: a redirect must not carry them away.
fn answer(remote: &Remote, action: Action) -> gix::Result<Option<Outcome>> {
    let Action::Get(context) = action else { return Ok(None) };
    // Over plain http they went along as a header already, and were not good enough.
    let Some(credentials) = remote.credentials.as_ref().filter(|_| !is_plain(remote)) else { return Ok(None) };
    let asked = context.url.as_ref().and_then(|url| gix::url::parse(url.as_bstr()).ok());
    let meant = gix::url::parse(remote.url.as_str()).ok();
    let same_host = asked
        .zip(meant)
        .is_some_and(|(asked, meant)| (asked.scheme, asked.host, asked.port) == (meant.scheme, meant.host, meant.port));
    if !same_host {
        return Ok(None);
    }
    let identity = gix::sec::identity::Account {
        username: credentials.username.clone(),
        password: credentials.secret.clone(),
        oauth_refresh_token: None,
    };
    // What comes next, approval or erasure, needs nothing of the secret.
    Ok(Some(Outcome { identity, next: Context::default().into() }))
}

fn is_plain(remote: &Remote) -> bool {
    remote.url.starts_with("http://")
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

/// Sorts a failed conversation with a remote into our categories.
fn explained(remote: &Remote, limit: Duration, error: &gix::Error) -> GitError {
    let repository = remote.shown();
    let source = Why::new(remote.scrub(&why(error).to_string()));
    let text = source.to_string();
    let says = |what: &[&str]| what.iter().any(|what| text.contains(what));
    if error.is_cancelled() || says(&["operation timed out"]) {
        return GitError::Timeout { doing: "fetch", after: limit };
    }
    if error.is_unauthenticated() || error.is_permission_denied() || says(&["HTTP status 401", "HTTP status 403"]) {
        return GitError::Auth { repository, source };
    }
    if says(&["HTTP status 404", "HTTP status 410", "Repository not found", "does not exist", "valid git directory"]) {
        return GitError::NotFound { repository, source };
    }
    // Neither the class nor the text of a loose end is ours to trust: whatever the network did, it did not answer.
    let network = error.iter_errors().any(|error| error.is::<std::io::Error>());
    if error.is_retryable() || network {
        return GitError::Unreachable { repository, source };
    }
    if error.is_not_found() {
        return GitError::NotFound { repository, source };
    }
    GitError::Failed { doing: "fetch from the remote", source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::Credentials;

    #[test]
    fn only_the_host_they_are_meant_for_gets_the_credentials() {
        let remote = Remote::new("https://git.example.com/docs").with_credentials(Credentials::token("s3cret"));
        let asked_by = |url: &str| {
            let context = Context { url: Some(url.into()), ..Context::default() };
            answer(&remote, Action::Get(context)).unwrap().map(|outcome| outcome.identity.password)
        };
        assert_eq!(asked_by("https://git.example.com/docs").as_deref(), Some("s3cret"));
        assert_eq!(asked_by("https://git.example.com/moved/docs").as_deref(), Some("s3cret"));
        for stranger in
            ["https://example.com/docs", "http://git.example.com/docs", "https://git.example.com:8443/docs", "nonsense"]
        {
            assert_eq!(asked_by(stranger), None, "{stranger}");
        }
        assert!(answer(&remote, Action::Store("x".into())).unwrap().is_none());
    }
}
