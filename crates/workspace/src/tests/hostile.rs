//! Servers that send what no git server would: every conversation must end in an error, soon and with little memory.

use std::time::{Duration, Instant};

use docent_tests::git_server::{Behaviour, GitServer};
use proptest::prelude::*;

use super::{World, committed};
use crate::{CommitId, GitError, Limits, Mirror, Mirrors, PushError, Remote};

const FETCH: &str = "application/x-git-upload-pack-advertisement";
const PUSH: &str = "application/x-git-receive-pack-advertisement";

/// A misbehaving server, and a repository with a commit to push to it.
struct Bad {
    world: World,
    server: GitServer,
    remote: Remote,
    mirror: Mirror,
    commit: CommitId,
}

fn bad() -> Bad {
    let world = World::new();
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let server = GitServer::start(&world.work);
    let remote = Remote::new(server.url("docs.git"));
    Bad { world, server, remote, mirror, commit }
}

impl Bad {
    fn fetch(&self) -> GitError {
        self.world.mirrors.fetch_blocking(&self.remote).unwrap_err()
    }

    fn push(&self) -> PushError {
        self.mirror.push(&self.remote, "job", self.commit, None).unwrap_err()
    }

    fn says(&self, content_type: &str, body: &[u8]) {
        self.server.behave(Behaviour::Says { content_type: content_type.to_owned(), body: body.to_vec() });
    }
}

#[test]
fn a_web_page_is_no_git_server() {
    let bad = bad();
    bad.says("text/html", b"<html>Please log in</html>");
    let error = bad.fetch();
    assert!(matches!(error, GitError::Garbled { .. }), "{error:?}");
    assert!(error.to_string().contains("check that the address is that of the repository"), "{error}");
    assert!(matches!(bad.push(), PushError::Git(GitError::Garbled { .. })));
}

#[test]
fn nonsense_of_the_right_type_is_nonsense() {
    let bad = bad();
    for body in [
        &b"<html>"[..],
        b"zzzz",
        b"0000",
        b"",
        b"0003",
        b"fff1",
        b"001e# service=git-upload-pack\n0000",
        b"001f# service=git-receive-pack\n00000009hello",
        b"001f# service=git-receive-pack\n0000fff0short",
        b"001e# service=git-upload-pack\n0000000eversion 2\n0000",
        &[0xff; 4096],
    ] {
        bad.says(FETCH, body);
        let error = bad.fetch();
        assert!(
            matches!(error, GitError::Garbled { .. } | GitError::Unreachable { .. } | GitError::Failed { .. }),
            "{body:?}: {error:?}"
        );
        bad.says(PUSH, body);
        let error = bad.push();
        assert!(
            matches!(error, PushError::Git(GitError::Garbled { .. } | GitError::Unreachable { .. })),
            "{body:?}: {error:?}"
        );
    }
}

#[test]
fn branches_without_end_end() {
    let bad = bad();
    let line = format!("003f{} refs/heads/{}\n", "1".repeat(40), "a".repeat(6));
    let many = line.repeat(1000).into_bytes();
    bad.server.behave(Behaviour::Endless(many));
    let error = bad.push();
    assert!(matches!(error, PushError::Git(GitError::Garbled { .. })), "{error:?}");
    let error = bad.fetch();
    assert!(matches!(error, GitError::Garbled { .. }), "{error:?}");
}

#[test]
fn a_promise_of_ten_gigabytes_costs_nothing_but_the_time_limit() {
    let bad = bad();
    bad.server.behave(Behaviour::Promises(10 << 30));
    let limits = Limits { fetch: Duration::from_millis(500), push: Duration::from_millis(500) };
    let mirrors = Mirrors::with_limits(&bad.world.mirrors_root, limits);
    let started = Instant::now();
    let error = mirrors.fetch_blocking(&bad.remote).unwrap_err();
    assert!(matches!(error, GitError::Timeout { .. }), "{error:?}");
    let mirror = mirrors.fetch_blocking(&bad.world.remote()).unwrap();
    let error = mirror.push(&bad.remote, "job", bad.commit, None).unwrap_err();
    assert!(matches!(error, PushError::Git(GitError::Timeout { .. })), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_server_that_cannot_report_is_not_pushed_to() {
    let bad = bad();
    let line = format!("{} refs/heads/main\0side-band-64k\n", "1".repeat(40));
    bad.says(PUSH, format!("{:04x}{line}0000", line.len() + 4).as_bytes());
    let error = bad.push();
    assert!(
        matches!(&error, PushError::Git(GitError::Garbled { source, .. }) if source.to_string().contains("report"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn no_answer_makes_more_of_us_than_an_error(body in prop::collection::vec(any::<u8>(), 0..300), lines in any::<bool>()) {
        thread_local!(static BAD: Bad = bad());
        let body = if lines { [format!("{:04x}", body.len() + 4).into_bytes(), body, b"0000".to_vec()].concat() } else { body };
        BAD.with(|bad| {
            bad.says(FETCH, &body);
            bad.fetch();
            bad.says(PUSH, &body);
            bad.push();
        });
    }
}
