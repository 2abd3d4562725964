//! Fetches and pushes over http: git's own backend behind a server that requires a token and records requests.

use std::process::Command;
use std::time::Duration;

use docent_tests::git_server::{Behaviour, GitServer, basic};

#[cfg(unix)]
use super::hook;
use super::{World, committed, edited, git, meta};
use crate::{Credentials, GitError, Limits, Mirror, Mirrors, PushError, PushOutcome, PushRefusal, Remote};

const TOKEN: &str = "t0ken-0f-a-test";

/// A repository on a git host, and a remote with a token for it.
struct Hosted {
    world: World,
    server: GitServer,
    remote: Remote,
}

fn hosted() -> Hosted {
    hosting(World::new())
}

fn hosting(world: World) -> Hosted {
    let server = GitServer::start(world.bare.parent().unwrap());
    server.give(TOKEN);
    let remote = Remote::new(server.url("docs.git")).with_credentials(Credentials::token(TOKEN));
    Hosted { world, server, remote }
}

impl Hosted {
    fn fetched(&self) -> Mirror {
        self.world.mirrors.fetch_blocking(&self.remote).unwrap()
    }

    /// The result of a push to the branch `job`, when the server behaves as `manner` from now on.
    fn push_to(&self, manner: Behaviour) -> Result<PushOutcome, PushError> {
        let mirror = self.fetched();
        let commit = committed(&mirror, "docs/index.md", "# Changed\n");
        self.server.behave(manner);
        mirror.push(&self.remote, "job", commit, None)
    }

    fn fetch_from(&self, manner: Behaviour) -> GitError {
        self.server.behave(manner);
        self.world.mirrors.fetch_blocking(&self.remote).unwrap_err()
    }
}

#[test]
fn a_token_opens_fetch_and_push() {
    let Hosted { world, server, remote } = &hosted();
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    assert_eq!(mirror.find_branch("main").unwrap(), world.upstream("main"));
    assert_eq!(mirror.default_branch().as_deref(), Some("main"));
    world.put("docs/later.md", "# Later\n");
    let later = world.publish("later");
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    assert_eq!(mirror.branch("main").unwrap(), later);

    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    assert_eq!(mirror.push(remote, "job", commit, None).unwrap(), PushOutcome::Moved);
    assert_eq!(mirror.push(remote, "job", commit, None).unwrap(), PushOutcome::AlreadyThere);
    assert_eq!(world.upstream("job"), Some(commit));
    git(&world.bare, &["fsck", "--strict"]);
    assert_eq!(mirror.remote_branch(remote, "job").unwrap(), Some(commit));
    assert_eq!(mirror.remote_branch(remote, "nope").unwrap(), None);
    let again = committed(&mirror, "docs/index.md", "# Again\n");
    let moved = mirror.push(remote, "job", again, None).unwrap_err();
    assert!(matches!(moved, PushError::Moved { now: Some(now) } if now == commit), "{moved:?}");
    assert_eq!(mirror.push(remote, "job", again, Some(commit)).unwrap(), PushOutcome::Moved);

    // The token is sent in a header and stored nowhere.
    let authorization = basic(&format!("x-access-token:{TOKEN}"));
    for seen in server.seen() {
        assert_eq!(seen.headers.get("authorization"), Some(&authorization), "{}", seen.target);
        assert!(!seen.target.contains(TOKEN));
        assert!(seen.headers["user-agent"].starts_with("git/"), "forges ask for it");
    }
    let pattern = format!("{TOKEN}|{}", authorization.trim_start_matches("Basic "));
    let found = Command::new("grep").args(["-rlE", &pattern]).arg(&world.mirrors_root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn a_push_sends_what_is_new_and_no_more() {
    let hosted = hosted();
    hosted.push_to(Behaviour::Normal).unwrap();
    let pushed: Vec<_> =
        hosted.server.seen().into_iter().filter(|seen| seen.target.ends_with("/git-receive-pack")).collect();
    let [push] = pushed.as_slice() else { panic!("{pushed:?}") };
    // The pack holds the page, its folder, the root and the commit.
    assert!(push.body_bytes < 1200, "{} bytes", push.body_bytes);
    assert_eq!(git(&hosted.world.bare, &["diff", "--name-status", "main", "job"]), "M\tdocs/index.md");
}

/// Pseudorandom bytes, which cannot be compressed.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

#[test]
fn a_commit_too_large_for_memory_is_pushed_from_the_disk() {
    let Hosted { world, remote, .. } = &hosted();
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    let mut overlay = mirror.overlay(mirror.branch("main").unwrap()).unwrap();
    overlay.write("docs/noise.bin", noise(9 << 20)).unwrap();
    overlay.write("docs/more.bin", noise(2 << 20)).unwrap();
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    mirror.push(remote, "large", commit, None).unwrap();
    assert_eq!(world.upstream("large"), Some(commit));
    git(&world.bare, &["fsck", "--strict"]);
    let packs = world.mirrors_root.join(remote.folder()).join("objects/pack");
    let left =
        std::fs::read_dir(packs).unwrap().flatten().filter(|one| one.file_name().to_string_lossy().contains("tmp"));
    assert_eq!(left.count(), 0, "nothing is left behind");
}

#[test]
fn without_the_right_token_nothing_opens() {
    let Hosted { world, server, remote: friend } = &hosted();
    let stranger = Remote::new(server.url("docs.git"));
    let liar = stranger.clone().with_credentials(Credentials::token("wr0ng-secret"));
    let mirror = world.mirrors.fetch_blocking(friend).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    for (remote, says) in [(&stranger, "give a token"), (&liar, "its token was not accepted")] {
        let refused = world.mirrors.fetch_blocking(remote).unwrap_err();
        assert!(matches!(refused, GitError::Auth { .. }) && refused.to_string().contains(says), "{refused:?}");
        assert!(!refused.is_transient());
        let push = mirror.push(remote, "job", commit, None).unwrap_err();
        assert!(matches!(push, PushError::Git(GitError::Auth { .. })) && push.to_string().contains(says), "{push:?}");
        assert!(!format!("{refused:?} {push:?} {remote:?}").contains("wr0ng"));
    }
    assert_eq!(world.upstream("job"), None);
}

#[tokio::test]
async fn a_fetch_is_not_shared_with_callers_without_its_token() {
    let Hosted { world, server, remote: friend } = &hosted();
    let stranger = Remote::new(server.url("docs.git"));
    let (first, second) = tokio::join!(world.mirrors.fetch(friend), world.mirrors.fetch(&stranger));
    assert!(first.is_ok());
    assert!(matches!(second, Err(GitError::Auth { .. })));
}

#[test]
fn a_token_that_may_only_read_is_told_what_to_grant() {
    let Hosted { world, server, .. } = &hosted();
    server.give_to_read("r3ad-only");
    let reader = Remote::new(server.url("docs.git")).with_credentials(Credentials::token("r3ad-only"));
    let mirror = world.mirrors.fetch_blocking(&reader).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let refused = mirror.push(&reader, "job", commit, None).unwrap_err();
    let PushError::Denied { source, .. } = &refused else { panic!("{refused:?}") };
    assert!(source.to_string().contains("denied to reader"), "the forge's own words stay: {source}");
    for grant in ["Contents: Read and write", "write_repository", "write:repository"] {
        assert!(refused.to_string().contains(grant), "{refused}");
    }
    assert!(!refused.is_transient());
}

#[test]
fn a_repository_that_is_gone_or_hidden_is_both_in_the_sentence() {
    let Hosted { world, server, .. } = &hosted();
    let remote = Remote::new(server.url("nope.git")).with_credentials(Credentials::token(TOKEN));
    let error = world.mirrors.fetch_blocking(&remote).unwrap_err();
    assert!(matches!(error, GitError::NotFound { .. }), "{error:?}");
    assert!(
        error.to_string().contains("or none that we may see: check the address and what the token may see"),
        "{error}"
    );
    let gone = hosted();
    let mirror = gone.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    std::fs::rename(&gone.world.bare, gone.world.bare.with_file_name("moved.git")).unwrap();
    let refused = mirror.push(&gone.remote, "job", commit, None).unwrap_err();
    assert!(matches!(refused, PushError::Git(GitError::NotFound { .. })), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn a_protected_branch_is_told_with_the_words_of_the_forge_and_what_to_grant() {
    for (words, refusal) in [
        ("error: GH006: Protected branch update failed for refs/heads/job.", PushRefusal::Protected),
        ("GitLab: You are not allowed to push code to protected branches on this project.", PushRefusal::Protected),
        ("Gitea: Not allowed to push to protected branch job", PushRefusal::Protected),
        ("error: GH001: Large files detected.", PushRefusal::TooLarge),
        ("GitLab: Your push has been rejected: storage quota exceeded", PushRefusal::Full),
        ("docs are frozen until Monday", PushRefusal::Rule),
    ] {
        let hosted = hosted();
        hook(&hosted.world.bare, "pre-receive", &format!("#!/bin/sh\ncat >/dev/null\necho '{words}' >&2\nexit 1\n"));
        let refused = hosted.push_to(Behaviour::Normal).unwrap_err();
        let PushError::Rejected { reason, refusal: found } = &refused else { panic!("{refused:?}") };
        assert_eq!(*found, refusal, "{words}");
        assert!(reason.contains(words) && reason.contains("pre-receive hook declined"), "{reason}");
        assert!(refused.to_string().contains(&refusal.to_string()), "{refused}");
        assert_eq!(hosted.world.upstream("job"), None);
    }
}

#[test]
fn words_a_forge_says_before_a_push_are_heard() {
    for (status, says, refusal) in [
        (403, "This repository was archived so it is read-only.", PushRefusal::ReadOnly),
        (413, "Request Entity Too Large", PushRefusal::TooLarge),
    ] {
        let refused = hosted().push_to(Behaviour::Refuses { status, says: says.to_owned() }).unwrap_err();
        assert!(
            matches!(&refused, PushError::Rejected { reason, refusal: found } if *found == refusal && reason.contains(says)),
            "{refused:?}"
        );
    }
}

#[test]
fn a_busy_server_is_asked_again_when_it_wants_to_be() {
    for status in [429, 500, 502, 503] {
        let hosted = hosted();
        let refused = hosted.push_to(Behaviour::Busy { status, retry_after: Some(7) }).unwrap_err();
        assert!(refused.is_transient(), "{refused:?}");
        assert_eq!(refused.retry_after(), Some(Duration::from_secs(7)));
        let error = hosted.fetch_from(Behaviour::Busy { status, retry_after: Some(9) });
        assert!(matches!(error, GitError::Unreachable { .. }) && error.is_transient(), "{error:?}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
    }
    // Rate-limiting forges answer 403 with a delay.
    let tired = hosted().fetch_from(Behaviour::Busy { status: 403, retry_after: Some(60) });
    assert_eq!(tired.retry_after(), Some(Duration::from_secs(60)), "{tired:?}");
}

#[test]
fn a_server_that_hangs_up_in_the_middle_may_be_there_again() {
    let new = hosted();
    let error = new.fetch_from(Behaviour::Cuts { after: 300 });
    assert!(error.is_transient(), "{error:?}");
    assert!(new.world.mirrors.open_existing(&new.remote).is_none(), "half a clone is none");
    new.server.behave(Behaviour::Normal);
    new.fetched();
    for after in [0, 7, 40] {
        let refused = hosted().push_to(Behaviour::Cuts { after }).unwrap_err();
        assert!(refused.is_transient(), "{after}: {refused:?}");
    }
    let refused = hosted().push_to(Behaviour::HangsUpOnPush).unwrap_err();
    assert!(refused.is_transient(), "{refused:?}");
    // The push may have arrived nevertheless: then the next push finds it.
    let arrived = hosted();
    let mirror = arrived.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    arrived.server.behave(Behaviour::Cuts { after: 10 });
    assert!(mirror.push(&arrived.remote, "job", commit, None).is_err());
    arrived.server.behave(Behaviour::Normal);
    assert_eq!(mirror.push(&arrived.remote, "job", commit, None).unwrap(), PushOutcome::AlreadyThere);
}

#[test]
fn a_redirect_does_not_carry_credentials_to_another_host() {
    let Hosted { world, server, remote } = &hosted();
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let other = GitServer::start(world.bare.parent().unwrap());
    other.behave(Behaviour::Open);
    server.behave(Behaviour::Elsewhere(format!("http://{}", other.address())));
    let error = world.mirrors.fetch_blocking(remote).unwrap_err();
    let PushError::Git(refused) = mirror.push(remote, "job", commit, None).unwrap_err() else { panic!("no push") };
    for error in [&error, &refused] {
        let GitError::RedirectedToOtherHost { to, .. } = error else { panic!("{error:?}") };
        assert_eq!(*to, format!("http://{}/docs.git", other.address()), "the operator is told where it is now");
    }
    assert!(other.seen().is_empty(), "nobody went there");
    assert_eq!(world.upstream("job"), None);
}

#[test]
fn a_renamed_repository_is_followed_on_its_own_host() {
    let Hosted { world, server, .. } = &hosted();
    // What was at `/old/docs.git` is at `/docs.git`: as forges answer for a repository that was renamed.
    server.behave(Behaviour::Renamed { from: "/old/docs.git".to_owned(), to: "/docs.git".to_owned() });
    let remote = Remote::new(server.url("old/docs.git")).with_credentials(Credentials::token(TOKEN));
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    assert_eq!(mirror.push(&remote, "job", commit, None).unwrap(), PushOutcome::Moved);
    assert_eq!(world.upstream("job"), Some(commit));
}

#[tokio::test]
async fn a_server_that_never_answers_ends_in_a_timeout() {
    let Hosted { world, server, remote } = hosted();
    // Made without a short limit, which a busy machine may exceed.
    let commit = committed(&world.fetched(), "docs/index.md", "# Changed\n");
    let limits = Limits { fetch: Duration::from_millis(200), push: Duration::from_millis(200) };
    let mirrors = Mirrors::with_limits(&world.mirrors_root, limits);
    server.behave(Behaviour::Silent);
    let error = mirrors.fetch(&remote).await.unwrap_err();
    assert!(matches!(error, GitError::Timeout { .. }), "{error:?}");
    // A push gives up too.
    let mirror = mirrors.open_existing(&world.remote()).unwrap();
    let pushed = tokio::task::spawn_blocking(move || mirror.push(&remote, "job", commit, None)).await.unwrap();
    let error = pushed.unwrap_err();
    assert!(matches!(error, PushError::Git(GitError::Timeout { .. })), "{error:?}");
}

#[test]
fn a_default_branch_of_another_name_and_packed_branches() {
    let hosted = hosted();
    let bare = &hosted.world.bare;
    git(bare, &["branch", "-m", "main", "trunk"]);
    git(bare, &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    git(bare, &["pack-refs", "--all"]);
    let mirror = hosted.fetched();
    assert_eq!(mirror.default_branch().as_deref(), Some("trunk"));
    let base = mirror.branch("trunk").unwrap();
    let mut overlay = mirror.overlay(base).unwrap();
    overlay.write("docs/index.md", *b"# Changed\n").unwrap();
    let commit = mirror.commit(&overlay, &meta(&[base])).unwrap();
    mirror.push(&hosted.remote, "trunk", commit, Some(base)).unwrap();
    assert_eq!(hosted.world.upstream("trunk"), Some(commit));
}

#[test]
fn an_empty_repository_takes_a_first_commit_of_another() {
    let empty = hosting(World::empty());
    let nothing = empty.fetched();
    assert!(matches!(nothing.branch("main"), Err(GitError::Empty { .. })));
    let full = World::new();
    let mirror = full.fetched();
    let main = mirror.branch("main").unwrap();
    assert_eq!(mirror.push(&empty.remote, "main", main, None).unwrap(), PushOutcome::Moved);
    git(&empty.world.bare, &["fsck", "--strict"]);
    assert_eq!(empty.world.upstream("main"), Some(main));
}

#[cfg(unix)]
#[test]
fn a_branch_that_appears_between_the_look_and_the_push_is_left_alone() {
    let hosted = hosted();
    let main = hosted.world.upstream("main").unwrap();
    // Runs after the remote has told us its branches and before it moves ours.
    hook(
        &hosted.world.bare,
        "pre-receive",
        "#!/bin/sh\nunset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/job main\n",
    );
    let refused = hosted.push_to(Behaviour::Normal).unwrap_err();
    assert!(matches!(refused, PushError::Moved { now: Some(now) } if now == main), "{refused:?}");
    assert_eq!(hosted.world.upstream("job"), Some(main));
}

#[test]
fn a_branch_in_the_way_is_named() {
    let hosted = hosted();
    git(&hosted.world.work, &["push", "-q", "origin", "HEAD:topic", "HEAD:area/inner"]);
    let mirror = hosted.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    for (name, other) in [("topic/below", "`topic`"), ("area", "`area/inner`")] {
        let refused = mirror.push(&hosted.remote, name, commit, None).unwrap_err();
        assert!(matches!(refused, PushError::Rejected { refusal: PushRefusal::Name, .. }), "{refused:?}");
        assert!(refused.to_string().contains(other), "{refused}");
    }
}

#[test]
fn a_history_cut_off_upstream_serves_what_it_has() {
    let world = World::new();
    world.put("docs/second.md", "2\n");
    let second = world.publish("second");
    let shallow = world.bare.with_file_name("shallow.git");
    let (from, to) = (format!("file://{}", world.bare.display()), shallow.to_str().unwrap());
    git(&world.work, &["clone", "-q", "--bare", "--depth=1", &from, to]);
    let hosted = hosting(world);
    let remote = Remote::new(hosted.server.url("shallow.git")).with_credentials(Credentials::token(TOKEN));
    let mirror = hosted.world.mirrors.fetch_blocking(&remote).unwrap();
    assert_eq!(mirror.branch("main").unwrap(), second);
    let overlay = edited(&mirror, "docs/index.md", "# Changed\n");
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    mirror.push(&remote, "job", commit, None).unwrap();
    assert_eq!(git(&shallow, &["rev-parse", "job"]), commit.to_string());
}

#[test]
fn a_repository_that_takes_no_pushes_over_http_says_so() {
    let hosted = hosted();
    git(&hosted.world.bare, &["config", "http.receivepack", "false"]);
    let refused = hosted.push_to(Behaviour::Normal).unwrap_err();
    assert!(matches!(refused, PushError::Denied { .. }), "{refused:?}");
}
