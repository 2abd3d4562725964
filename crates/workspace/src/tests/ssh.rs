//! Fetches and pushes over ssh: a real `sshd` with keys of its own. Run by `cargo xtask test`, or with `--ignored`.

#![cfg(unix)]

use docent_tests::SshServer;

use super::{World, committed, git};
use crate::{Credentials, GitError, Mirrors, PushError, PushOutcome, Remote};

struct Reached {
    world: World,
    server: SshServer,
    remote: Remote,
}

fn reached() -> Reached {
    let world = World::new();
    let server = SshServer::start();
    let remote = Remote::new(server.url(&world.bare))
        .with_credentials(Credentials::SshKey { key_file: server.key(), known_hosts: Some(server.known_hosts()) });
    Reached { world, server, remote }
}

#[test]
#[ignore = "needs sshd"]
fn a_key_opens_fetch_and_push() {
    let Reached { world, remote, .. } = &reached();
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    assert_eq!(mirror.find_branch("main").unwrap(), world.upstream("main"));
    assert_eq!(mirror.default_branch().as_deref(), Some("main"));
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    assert_eq!(mirror.push(remote, "job", commit, None).unwrap(), PushOutcome::Moved);
    assert_eq!(mirror.push(remote, "job", commit, None).unwrap(), PushOutcome::AlreadyThere);
    assert_eq!(world.upstream("job"), Some(commit));
    git(&world.bare, &["fsck", "--strict"]);
    assert_eq!(mirror.remote_branch(remote, "job").unwrap(), Some(commit));
    let again = committed(&mirror, "docs/index.md", "# Again\n");
    let moved = mirror.push(remote, "job", again, None).unwrap_err();
    assert!(matches!(moved, PushError::Moved { now: Some(now) } if now == commit), "{moved:?}");
    world.put("docs/later.md", "# Later\n");
    let later = world.publish("later");
    assert_eq!(world.mirrors.fetch_blocking(remote).unwrap().branch("main").unwrap(), later);
}

#[test]
#[ignore = "needs sshd"]
fn unreadable_keys_come_with_advice() {
    let Reached { world, server, remote } = &reached();
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let with = |key_file, known_hosts| {
        let key = Credentials::SshKey { key_file, known_hosts: Some(known_hosts) };
        let remote = Remote::new(server.url(&world.bare)).with_credentials(key);
        let fetch = Mirrors::new(&world.mirrors_root).fetch_blocking(&remote).unwrap_err();
        let PushError::Git(push) = mirror.push(&remote, "job", commit, None).unwrap_err() else { panic!("no push") };
        assert_eq!(fetch.to_string(), push.to_string());
        assert!(!fetch.is_transient(), "{fetch:?}");
        fetch
    };
    let stranger = with(server.stranger(), server.known_hosts());
    assert!(matches!(stranger, GitError::Auth { .. }), "{stranger:?}");
    assert!(stranger.to_string().contains("add its public half there"), "{stranger}");
    let nobody = world.work.join("no hosts");
    std::fs::write(&nobody, "").unwrap();
    for hosts in [nobody, server.changed_hosts()] {
        let unknown = with(server.key(), hosts);
        assert!(matches!(unknown, GitError::HostKey { .. }), "{unknown:?}");
        assert!(unknown.to_string().contains("known_hosts"), "{unknown}");
    }
    let open_to_all = world.work.join("open key");
    std::fs::copy(server.key(), &open_to_all).unwrap();
    std::fs::set_permissions(&open_to_all, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    for key in [world.work.join("no key"), open_to_all] {
        let unusable = with(key, server.known_hosts());
        assert!(matches!(unusable, GitError::Key { .. }), "{unusable:?}");
    }
    let lost =
        Remote::new(server.url(&world.work.join("nope.git"))).with_credentials(remote.credentials.clone().unwrap());
    let lost = world.mirrors.fetch_blocking(&lost).unwrap_err();
    assert!(matches!(lost, GitError::NotFound { .. }), "{lost:?}");
}

#[test]
#[ignore = "needs sshd"]
fn a_key_that_may_only_read_is_told_apart() {
    let Reached { world, server, remote } = &reached();
    let mirror = world.mirrors.fetch_blocking(remote).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    // As on forges: every key may run one command only.
    server.let_in_only_with(
        "command=\"case $SSH_ORIGINAL_COMMAND in git-receive-pack*) echo 'ERROR: The key you are authenticating with has \
         been marked as read only.' >&2; exit 1;; *) eval $SSH_ORIGINAL_COMMAND;; esac\"",
    );
    world.mirrors.fetch_blocking(remote).unwrap();
    let refused = mirror.push(remote, "job", commit, None).unwrap_err();
    assert!(matches!(refused, PushError::Denied { .. }), "{refused:?}");
    assert!(refused.to_string().contains("allow write access for our ssh key"), "{refused}");
}

#[test]
#[ignore = "needs sshd"]
fn a_host_that_hangs_ends_in_a_timeout_and_one_that_is_away_is_unreachable() {
    let Reached { world, server, remote } = &reached();
    server.let_in_only_with("command=\"sleep 600\"");
    let limit = std::time::Duration::from_secs(2);
    let mirrors = Mirrors::with_limits(&world.mirrors_root, crate::Limits { fetch: limit, push: limit });
    let started = std::time::Instant::now();
    let error = mirrors.fetch_blocking(remote).unwrap_err();
    assert!(matches!(error, GitError::Timeout { .. }), "{error:?}");
    let mirror = mirrors.fetch_blocking(&world.remote()).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let error = mirror.push(remote, "job", commit, None).unwrap_err();
    assert!(matches!(error, PushError::Git(GitError::Timeout { .. })), "{error:?}");
    assert!(started.elapsed() < std::time::Duration::from_secs(60));
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let away = Remote::new(format!("ssh://git@127.0.0.1:{port}/docs.git"));
    let error = world.mirrors.fetch_blocking(&away).unwrap_err();
    assert!(matches!(error, GitError::Unreachable { .. }) && error.is_transient(), "{error:?}");
}
