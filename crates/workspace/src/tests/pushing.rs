use std::fs;

#[cfg(unix)]
use super::hook;
use super::{World, committed, edited, git, meta};
use crate::{GitError, PushError, PushOutcome, Remote};

fn both(story: impl Fn(World)) {
    story(World::new());
    story(World::new().only_for_git());
}

#[test]
fn a_commit_becomes_a_branch() {
    both(|world| {
        let mirror = world.fetched();
        let commit = committed(&mirror, "docs/index.md", "# Changed\n");
        assert_eq!(
            mirror.push(&world.remote(), "docent/job 1".replace(' ', "-").as_str(), commit, None).unwrap(),
            PushOutcome::Moved
        );
        assert_eq!(world.upstream("docent/job-1"), Some(commit));
        assert_eq!(world.upstream_file("docent/job-1", "docs/index.md"), "# Changed");
        assert_eq!(mirror.find_branch("docent/job-1").unwrap(), Some(commit));
        assert_eq!(mirror.remote_branch(&world.remote(), "docent/job-1").unwrap(), Some(commit));
        assert_eq!(mirror.remote_branch(&world.remote(), "nope").unwrap(), None);
        git(&world.bare, &["fsck", "--strict"]);
        // Nothing but the edited file differs.
        let changed = git(&world.bare, &["diff", "--name-status", "main", "docent/job-1"]);
        assert_eq!(changed, "M\tdocs/index.md");
    });
}

#[test]
fn a_large_commit_is_whole_upstream() {
    both(|world| {
        let mirror = world.fetched();
        let mut overlay = mirror.overlay(mirror.branch("main").unwrap()).unwrap();
        for number in 0..120 {
            overlay
                .write(&format!("docs/d{}/p{number}.md", number % 7), format!("# Page {number}\n").into_bytes())
                .unwrap();
        }
        overlay.write("docs/big.bin", vec![7u8; 300_000]).unwrap();
        let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
        mirror.push(&world.remote(), "large", commit, None).unwrap();
        git(&world.bare, &["fsck", "--strict"]);
        assert_eq!(world.upstream_file("large", "docs/d3/p10.md"), "# Page 10");
        assert_eq!(git(&world.bare, &["cat-file", "-s", "large:docs/big.bin"]), "300000");
    });
}

#[test]
fn a_small_push_writes_no_pack() {
    let packs = |world: &World| {
        let folder = fs::read_dir(world.bare.join("objects").join("pack")).unwrap();
        folder.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|kind| kind == "pack")).count()
    };
    both(|world| {
        let before = packs(&world);
        let mirror = world.fetched();
        let commit = committed(&mirror, "docs/index.md", "# Changed\n");
        mirror.push(&world.remote(), "job", commit, None).unwrap();
        assert_eq!(packs(&world), before);
        // A repository configured to keep packs gets one.
        git(&world.bare, &["config", "receive.unpackLimit", "1"]);
        let commit = committed(&mirror, "docs/index.md", "# Changed once more\n");
        mirror.push(&world.remote(), "another", commit, None).unwrap();
        assert_eq!(packs(&world), before + 1);
        git(&world.bare, &["fsck", "--strict"]);
    });
}

#[test]
fn a_chain_of_commits_goes_in_one_push() {
    both(|world| {
        let mirror = world.fetched();
        let first = committed(&mirror, "docs/one.md", "1\n");
        let mut overlay = mirror.overlay(first).unwrap();
        overlay.write("docs/two.md", *b"2\n").unwrap();
        let second = mirror.commit(&overlay, &meta(&[first])).unwrap();
        mirror.push(&world.remote(), "chain", second, None).unwrap();
        git(&world.bare, &["fsck", "--strict"]);
        assert_eq!(git(&world.bare, &["rev-list", "--count", "main..chain"]), "2");
        let listed = mirror.commits(second, Some(overlay.commit()), 10).unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].message, "Edit the docs\n");
        assert_eq!(listed[0].author, "Docent");
    });
}

#[test]
fn pushing_again_what_is_there_succeeds() {
    both(|world| {
        let mirror = world.fetched();
        let commit = committed(&mirror, "docs/index.md", "# Changed\n");
        mirror.push(&world.remote(), "job", commit, None).unwrap();
        // A worker that died before it recorded the push repeats it.
        assert_eq!(mirror.push(&world.remote(), "job", commit, None).unwrap(), PushOutcome::AlreadyThere);
    });
}

#[test]
fn a_branch_that_moved_is_left_alone() {
    both(|world| {
        let mirror = world.fetched();
        let main = mirror.branch("main").unwrap();
        let first = committed(&mirror, "docs/index.md", "# First\n");
        mirror.push(&world.remote(), "job", first, None).unwrap();
        let second = committed(&mirror, "docs/index.md", "# Second\n");
        // Expected to be missing, but it exists.
        let moved = mirror.push(&world.remote(), "job", second, None).unwrap_err();
        assert!(matches!(moved, PushError::Moved { now: Some(now) } if now == first), "{moved:?}");
        // Expected at another commit.
        let moved = mirror.push(&world.remote(), "job", second, Some(main)).unwrap_err();
        assert!(matches!(moved, PushError::Moved { now: Some(now) } if now == first), "{moved:?}");
        // Expected to exist, but it does not.
        let moved = mirror.push(&world.remote(), "gone", second, Some(main)).unwrap_err();
        assert!(matches!(moved, PushError::Moved { now: None }), "{moved:?}");
        assert_eq!(world.upstream("job"), Some(first));
        assert_eq!(world.upstream("gone"), None);
        // With the right expected commit, even a push that is no fast-forward succeeds.
        assert_eq!(mirror.push(&world.remote(), "job", second, Some(first)).unwrap(), PushOutcome::Moved);
        assert_eq!(world.upstream("job"), Some(second));
    });
}

#[test]
fn an_empty_repository_takes_a_first_commit() {
    for world in [World::empty(), World::empty().only_for_git()] {
        let mirror = world.fetched();
        assert!(matches!(
            mirror.overlay("0123456789012345678901234567890123456789".parse().unwrap()),
            Err(GitError::NoSuchCommit { .. })
        ));
        assert!(matches!(mirror.branch("main"), Err(GitError::Empty { .. })));
    }
}

#[test]
fn packed_branches_are_moved_too() {
    let world = World::new();
    git(&world.bare, &["pack-refs", "--all"]);
    let mirror = world.fetched();
    let main = mirror.branch("main").unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    mirror.push(&world.remote(), "main", commit, Some(main)).unwrap();
    assert_eq!(world.upstream("main"), Some(commit));
    git(&world.bare, &["pack-refs", "--all"]);
    assert_eq!(world.upstream("main"), Some(commit));
}

#[test]
fn a_branch_in_the_way_is_named() {
    both(|world| {
        git(&world.work, &["push", "-q", "origin", "HEAD:topic", "HEAD:area/inner"]);
        git(&world.bare, &["pack-refs", "--all"]);
        let mirror = world.fetched();
        let commit = committed(&mirror, "docs/index.md", "# Changed\n");
        for name in ["topic/below", "area"] {
            let refused = mirror.push(&world.remote(), name, commit, None).unwrap_err();
            assert!(matches!(refused, PushError::Rejected { .. } | PushError::Moved { .. }), "{refused:?}");
            assert_eq!(world.upstream(name), None);
        }
        git(&world.bare, &["fsck", "--strict"]);
    });
    // Loose branches conflict just the same; an empty folder left behind does not.
    let world = World::new();
    git(&world.work, &["push", "-q", "origin", "HEAD:topic"]);
    fs::create_dir_all(world.bare.join("refs/heads/left/over")).unwrap();
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    assert!(matches!(mirror.push(&world.remote(), "topic/below", commit, None), Err(PushError::Rejected { .. })));
    assert_eq!(mirror.push(&world.remote(), "left", commit, None).unwrap(), PushOutcome::Moved);
}

#[cfg(unix)]
#[test]
fn a_hook_of_the_remote_is_heard() {
    let world = World::new();
    hook(&world.bare, "pre-receive", "#!/bin/sh\necho docs are frozen\nexit 1\n");
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let refused = mirror.push(&world.remote(), "job", commit, None).unwrap_err();
    let PushError::Rejected { reason, .. } = &refused else { panic!("{refused:?}") };
    assert!(reason.contains("docs are frozen"), "{reason}");
    assert_eq!(world.upstream("job"), None);
}

#[cfg(unix)]
#[test]
fn a_hook_of_the_remote_runs_after_a_push() {
    let world = World::new();
    let heard = world.bare.join("heard");
    hook(&world.bare, "post-receive", &format!("#!/bin/sh\ncat > '{}'\n", heard.display()));
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    assert!(fs::read_to_string(heard).unwrap().contains("refs/heads/job"));
}

#[cfg(unix)]
#[test]
fn no_hook_runs_on_our_side() {
    let world = World::new().only_for_git();
    let mirror = world.fetched();
    let ran = world.work.join("ran");
    let mirror_dir = world.mirrors_root.join(world.remote().folder());
    for name in ["pre-push", "reference-transaction", "post-index-change"] {
        hook(&mirror_dir, name, &format!("#!/bin/sh\ntouch '{}'\n", ran.display()));
    }
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    assert!(!ran.exists());
}

#[test]
fn settings_of_the_remote_are_respected() {
    let world = World::new();
    git(&world.bare, &["config", "receive.denyNonFastForwards", "true"]);
    let mirror = world.fetched();
    let first = committed(&mirror, "docs/index.md", "# First\n");
    let second = committed(&mirror, "docs/index.md", "# Second\n");
    mirror.push(&world.remote(), "job", first, None).unwrap();
    let refused = mirror.push(&world.remote(), "job", second, Some(first)).unwrap_err();
    assert!(matches!(refused, PushError::Rejected { .. }), "{refused:?}");
}

#[test]
fn a_checked_out_branch_is_not_pulled_from_under_its_user() {
    let world = World::new();
    let remote = Remote::new(world.work.to_str().unwrap());
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    let main = mirror.branch("main").unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let refused = mirror.push(&remote, "main", commit, Some(main)).unwrap_err();
    let PushError::Rejected { reason, .. } = &refused else { panic!("{refused:?}") };
    assert!(reason.contains("checked out"), "{reason}");
    // Any other branch is fine.
    mirror.push(&remote, "job", commit, None).unwrap();
    assert_eq!(git(&world.work, &["rev-parse", "job"]), commit.to_string());
    assert_eq!(git(&world.work, &["status", "--porcelain"]), "");
    // Unless the branch is checked out in another work tree.
    git(&world.work, &["worktree", "add", "-q", "../beside", "job"]);
    let again = committed(&mirror, "docs/index.md", "# Again\n");
    assert!(matches!(mirror.push(&remote, "job", again, Some(commit)), Err(PushError::Rejected { .. })));
}

#[test]
fn a_lock_left_by_another_program_ends_in_an_error_and_a_retry_succeeds() {
    let world = World::new();
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let lock = world.bare.join("refs/heads/job.lock");
    fs::write(&lock, "").unwrap();
    assert!(matches!(mirror.push(&world.remote(), "job", commit, None), Err(PushError::Git(GitError::Io { .. }))));
    fs::remove_file(&lock).unwrap();
    mirror.push(&world.remote(), "job", commit, None).unwrap();
}

#[test]
fn of_concurrent_pushes_one_succeeds() {
    let world = World::new();
    let mirror = world.fetched();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let (mirror, remote) = (mirror.clone(), world.remote());
            let commit = committed(&mirror, "docs/index.md", &format!("# Number {number}\n"));
            std::thread::spawn(move || mirror.push(&remote, "contested", commit, None).map(|_| commit))
        })
        .collect();
    let ended: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let won: Vec<_> = ended.iter().filter_map(|one| one.as_ref().ok().copied()).collect();
    assert_eq!(won.len(), 1);
    assert_eq!(world.upstream("contested"), Some(won[0]));
    for lost in ended.iter().filter_map(|one| one.as_ref().err()) {
        assert!(matches!(lost, PushError::Moved { now: Some(now) } if *now == won[0]), "{lost:?}");
    }
}

#[test]
fn bad_names_and_unknown_commits_are_refused_before_anything_moves() {
    let world = World::new();
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    for name in ["", "a b", "../x", "a..b", "x.lock", "-d"] {
        let refused = mirror.push(&world.remote(), name, commit, None).unwrap_err();
        assert!(matches!(refused, PushError::Git(GitError::BranchName { .. })), "{name:?}: {refused:?}");
    }
    let unknown = "0123456789012345678901234567890123456789".parse().unwrap();
    let refused = mirror.push(&world.remote(), "job", unknown, None).unwrap_err();
    assert!(matches!(refused, PushError::Git(GitError::NoSuchCommit { .. })));
}

#[test]
fn a_remote_that_went_away_is_not_found() {
    let world = World::new();
    let mirror = world.fetched();
    let overlay = edited(&mirror, "docs/index.md", "# Changed\n");
    let commit = mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap();
    fs::rename(&world.bare, world.bare.with_file_name("moved.git")).unwrap();
    let refused = mirror.push(&world.remote(), "job", commit, None).unwrap_err();
    assert!(matches!(refused, PushError::Git(GitError::NotFound { .. })), "{refused:?}");
}

#[test]
fn a_lock_left_by_a_killed_push_of_the_same_commit_does_not_stop_the_next() {
    let world = World::new();
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    fs::create_dir_all(world.bare.join("refs/heads/docent")).unwrap();
    let lock = world.bare.join("refs/heads/docent/job.lock");
    fs::write(&lock, format!("{commit}\n")).unwrap();
    mirror.push(&world.remote(), "docent/job", commit, None).unwrap();
    assert_eq!(world.upstream("docent/job"), Some(commit));
    assert!(!lock.exists());
}

#[test]
fn objects_that_lie_about_upstream_are_not_trusted() {
    let world = World::new();
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/deep/er/page.md", "# Changed\n");
    // Only the commit and its root folder are there, as after a push that was killed.
    let mirror_dir = world.mirrors_root.join(world.remote().folder());
    for name in [commit.to_string(), format!("{commit}^{{tree}}")] {
        let id = git(&mirror_dir, &["rev-parse", &name]);
        let file = format!("objects/{}/{}", &id[..2], &id[2..]);
        fs::create_dir_all(world.bare.join(&file).parent().unwrap()).unwrap();
        fs::copy(mirror_dir.join(&file), world.bare.join(&file)).unwrap();
    }
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    git(&world.bare, &["fsck", "--strict"]);
    assert_eq!(world.upstream_file("job", "docs/deep/er/page.md"), "# Changed");
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_served_but_its_hooks_are_not_run() {
    let world = World::new();
    let output = std::process::Command::new("chown").args(["-R", "12345:12345"]).arg(&world.bare).output().unwrap();
    if !output.status.success() {
        // Only root can change a repository's owner.
        return;
    }
    let mirror = world.fetched();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    mirror.push(&world.remote(), "job", commit, None).unwrap();
    let ran = world.work.join("ran");
    hook(&world.bare, "post-receive", &format!("#!/bin/sh\ntouch '{}'\n", ran.display()));
    let refused = mirror.push(&world.remote(), "other", commit, None).unwrap_err();
    let PushError::Rejected { reason, .. } = &refused else { panic!("{refused:?}") };
    assert!(reason.contains("belongs to another user"), "{reason}");
    assert!(!ran.exists());
}

#[test]
fn a_new_repository_is_one_for_git_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample.git");
    let files = [("docs/index.md", "# Hello\n"), ("docs.json", "{}\n")];
    let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect();
    let first = crate::create_repository(&path, "trunk", &files, &meta(&[])).unwrap();
    git(&path, &["fsck", "--strict"]);
    assert_eq!(git(&path, &["rev-parse", "HEAD"]), first.to_string());
    assert_eq!(git(&path, &["symbolic-ref", "HEAD"]), "refs/heads/trunk");
    assert_eq!(git(&path, &["ls-tree", "-r", "--name-only", "HEAD"]), "docs.json\ndocs/index.md");
}
