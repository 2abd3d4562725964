use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{World, committed, git, text};
use crate::odb::refs;
use crate::{BlobId, DiffView, GitError, Mirrors, Remote};

/// Every test runs twice: with an upstream that is read directly, and with one that only git can serve.
fn both(story: impl Fn(World)) {
    story(World::new());
    story(World::new().only_for_git());
}

#[test]
fn a_clone_has_the_files_and_the_default_branch() {
    both(|world| {
        let mirror = world.fetched();
        let main = mirror.branch("main").unwrap();
        assert_eq!(Some(main), world.upstream("main"));
        assert_eq!(mirror.default_branch().as_deref(), Some("main"));
        let base = mirror.base(main).unwrap();
        let paths: Vec<_> = base.files("").unwrap().iter().map(|file| file.path.clone()).collect();
        let expected = git(&world.work, &["-c", "core.quotePath=false", "ls-files"]);
        assert_eq!(paths.join("\n"), expected);
        assert_eq!(text(base.read("docs/guides/a b.md").unwrap()).unwrap(), "# Spaced\n");
        git(&world.mirrors_root.join(world.remote().folder()), &["fsck", "--strict"]);
    });
}

#[test]
fn a_second_fetch_brings_what_is_new() {
    both(|world| {
        let before = world.fetched().branch("main").unwrap();
        world.put("docs/new.md", "# New\n");
        let after = world.publish("second");
        let mirror = world.fetched();
        assert_eq!(mirror.branch("main").unwrap(), after);
        assert_eq!(text(mirror.base(after).unwrap().read("docs/new.md").unwrap()).unwrap(), "# New\n");
        assert!(mirror.is_ancestor(before, after).unwrap());
        assert!(!mirror.is_ancestor(after, before).unwrap());
        git(&world.mirrors_root.join(world.remote().folder()), &["fsck", "--strict"]);
    });
}

#[test]
fn a_force_pushed_branch_is_followed() {
    both(|world| {
        let before = world.fetched().branch("main").unwrap();
        git(&world.work, &["checkout", "-q", "--orphan", "other"]);
        git(&world.work, &["branch", "-q", "-D", "main"]);
        git(&world.work, &["branch", "-q", "-m", "main"]);
        world.put("README.md", "# Rewritten\n");
        let after = world.publish("rewritten");
        let mirror = world.fetched();
        assert_eq!(mirror.branch("main").unwrap(), after);
        // A job that began before still has its base.
        assert!(mirror.base(before).unwrap().read("README.md").unwrap().is_some());
        assert_eq!(mirror.merge_base(before, after).unwrap(), None);
    });
}

#[test]
fn a_deleted_branch_goes_and_its_name_can_become_a_folder() {
    both(|world| {
        git(&world.work, &["push", "-q", "origin", "HEAD:topic"]);
        assert!(world.fetched().find_branch("topic").unwrap().is_some());
        git(&world.work, &["push", "-q", "origin", ":topic", "HEAD:topic/inner"]);
        let mirror = world.fetched();
        assert_eq!(mirror.find_branch("topic").unwrap(), None);
        assert_eq!(mirror.find_branch("topic/inner").unwrap(), world.upstream("main"));
        git(&world.work, &["push", "-q", "origin", ":topic/inner", "HEAD:topic"]);
        let mirror = world.fetched();
        assert_eq!(mirror.find_branch("topic").unwrap(), world.upstream("main"));
        assert_eq!(mirror.branches().unwrap().len(), 2);
    });
}

#[test]
fn a_changed_default_branch_is_followed() {
    both(|world| {
        world.fetched();
        git(&world.work, &["push", "-q", "origin", "HEAD:trunk"]);
        git(&world.bare, &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
        assert_eq!(world.fetched().default_branch().as_deref(), Some("trunk"));
        // A default branch that does not exist does no harm.
        git(&world.bare, &["symbolic-ref", "HEAD", "refs/heads/nowhere"]);
        world.put("more.md", "more\n");
        let after = world.publish("more");
        assert_eq!(world.fetched().branch("main").unwrap(), after);
    });
}

#[test]
fn an_empty_repository_is_said_in_a_sentence() {
    for world in [World::empty(), World::empty().only_for_git()] {
        let mirror = world.fetched();
        assert!(mirror.branches().unwrap().is_empty());
        let error = mirror.branch("main").unwrap_err();
        assert!(matches!(error, GitError::Empty { .. }));
        assert!(error.to_string().contains("is empty: push a first commit to `main`"), "{error}");
        // Once it is not empty, the fetch succeeds.
        world.put("README.md", "# Read me\n");
        let first = world.publish("first");
        assert_eq!(world.fetched().branch("main").unwrap(), first);
    }
}

#[test]
fn a_missing_branch_is_named_and_those_that_are_there() {
    let world = World::new();
    git(&world.bare, &["branch", "a-draft", "main"]);
    let error = world.fetched().branch("nope").unwrap_err();
    assert!(matches!(error, GitError::NoSuchBranch { ref branch, .. } if branch == "nope"), "{error}");
    assert!(error.to_string().contains("no branch `nope` (it has `main`, `a-draft`): check the name"), "{error}");
}

#[test]
fn a_missing_folder_is_named_and_those_beside_it() {
    let world = World::new();
    let mirror = world.fetched();
    let main = mirror.branch("main").unwrap();
    for there in ["", "docs", "docs/guides"] {
        mirror.check_folder(main, there).unwrap();
    }
    for (missing, known) in
        [("doc", "`bin`, `docs`"), ("docs/guide/x", "`docs/guides`"), ("README.md", "`bin`, `docs`")]
    {
        let error = mirror.check_folder(main, missing).unwrap_err().to_string();
        assert!(error.contains(&format!("no folder `{missing}` (it has {known}): check the name")), "{error}");
    }
}

#[test]
fn other_folders_are_no_repository() {
    let world = World::new();
    let nowhere = world.work.join("no such folder");
    let plain = world.work.join("docs");
    for path in [&nowhere, &plain] {
        let error = world.mirrors.fetch_blocking(&Remote::new(path.to_str().unwrap())).unwrap_err();
        assert!(matches!(error, GitError::NotFound { .. }), "{error:?}");
    }
    assert!(matches!(world.mirrors.fetch_blocking(&Remote::new("docs.git")).unwrap_err(), GitError::Address { .. }));
}

#[test]
fn a_host_that_does_not_answer_is_unreachable() {
    let world = World::empty();
    // An unused port: allocated by the system, then released.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let remote = Remote::new(format!("http://127.0.0.1:{port}/docs.git"));
    let error = world.mirrors.fetch_blocking(&remote).unwrap_err();
    assert!(matches!(error, GitError::Unreachable { .. }), "{error:?}");
    assert!(error.is_transient());
    assert!(world.mirrors.open_existing(&remote).is_none());
}

#[test]
fn a_file_url_and_a_work_tree_are_repositories_too() {
    let world = World::new();
    let url = format!("file://{}", world.bare.to_str().unwrap().replace(' ', "%20"));
    let mirror = world.mirrors.fetch_blocking(&Remote::new(url)).unwrap();
    assert_eq!(mirror.find_branch("main").unwrap(), world.upstream("main"));
    let mirror = world.mirrors.fetch_blocking(&Remote::new(world.work.to_str().unwrap())).unwrap();
    assert_eq!(mirror.find_branch("main").unwrap(), world.upstream("main"));
}

#[test]
fn a_packed_upstream_with_a_repack_in_between() {
    let world = World::new();
    git(&world.bare, &["gc", "-q"]);
    let mirror = world.fetched();
    for number in 0..40 {
        world.put(&format!("docs/many/{number}.md"), &format!("# Page {number}\n"));
    }
    let after = world.publish("many");
    git(&world.bare, &["gc", "-q"]);
    let again = world.fetched();
    assert_eq!(again.branch("main").unwrap(), after);
    assert_eq!(again.base(after).unwrap().files("docs/many").unwrap().len(), 40);
    assert!(mirror.base(after).is_ok(), "handles made before see it too");
    git(&world.mirrors_root.join(world.remote().folder()), &["fsck", "--strict"]);
}

#[test]
fn an_upstream_that_borrows_objects_is_copied_whole() {
    let world = World::new();
    let borrower = world.bare.with_file_name("borrower.git");
    let (from, to) = (world.bare.to_str().unwrap(), borrower.to_str().unwrap());
    git(&world.work, &["clone", "-q", "--bare", "--shared", from, to]);
    let mirror = world.mirrors.fetch_blocking(&Remote::new(to)).unwrap();
    fs::remove_dir_all(&borrower).unwrap();
    let main = mirror.branch("main").unwrap();
    assert!(mirror.base(main).unwrap().read("README.md").unwrap().is_some());
    git(&world.mirrors_root.join(Remote::new(to).folder()), &["fsck", "--strict"]);
}

#[test]
fn reverted_blobs_are_copied_whole() {
    let world = World::new();
    let commit = |first: &str, message: &str| {
        world.put("folder/first.md", first);
        git(&world.work, &["add", "-A"]);
        git(&world.work, &["commit", "-q", "-m", message]);
    };
    world.put("folder/second.md", "never changed\n");
    commit("one\n", "before");
    git(&world.work, &["branch", "side"]);
    commit("two\n", "change");
    commit("one\n", "revert");
    // The side branch reaches the commit before the change in fewer steps than the main branch does.
    for number in 0..3 {
        commit(&format!("{number}\n"), "later");
    }
    git(&world.work, &["checkout", "-q", "side"]);
    git(&world.work, &["commit", "-q", "--allow-empty", "-m", "side"]);
    git(&world.work, &["checkout", "-q", "main"]);
    git(&world.work, &["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    // Once with few commits, and once with more than are walked one by one.
    for more in [0, 40] {
        for number in 0..more {
            commit(&format!("more {number}\n"), "more");
        }
        git(&world.work, &["push", "-q", "origin", "HEAD:main"]);
        let borrower = world.bare.with_file_name(format!("borrower-{more}.git"));
        let (from, to) = (world.bare.to_str().unwrap(), borrower.to_str().unwrap());
        git(&world.work, &["clone", "-q", "--bare", "--shared", from, to]);
        world.mirrors.fetch_blocking(&Remote::new(to)).unwrap();
        git(&world.mirrors_root.join(Remote::new(to).folder()), &["fsck", "--strict"]);
    }
}

#[test]
fn a_clone_cut_short_is_made_again() {
    let world = World::new();
    let folder = world.remote().folder();
    // What a crash leaves: a half-made mirror beside its final path.
    let half = world.mirrors_root.join(format!("{folder}.half"));
    fs::create_dir_all(half.join("objects")).unwrap();
    fs::write(half.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    assert!(world.mirrors.open_existing(&world.remote()).is_none());
    assert!(world.fetched().branch("main").is_ok());
    assert!(!half.exists());
}

#[test]
fn a_damaged_mirror_is_made_anew() {
    let world = World::new();
    let mirror = world.fetched();
    let main = mirror.branch("main").unwrap();
    // Every object is lost, as after a crash of the machine.
    let objects = world.mirrors_root.join(world.remote().folder()).join("objects");
    for entry in fs::read_dir(&objects).unwrap().flatten() {
        if entry.file_name().len() == 2 {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
    let lost = mirror.base(main);
    assert!(matches!(lost, Err(GitError::NoSuchCommit { .. } | GitError::Corrupt { .. })), "{lost:?}");
    let mended = Mirrors::new(&world.mirrors_root).fetch_blocking(&world.remote()).unwrap();
    assert!(mended.base(main).unwrap().read("README.md").unwrap().is_some());
}

#[test]
fn an_existing_mirror_is_opened_without_a_fetch() {
    let world = World::new();
    assert!(world.mirrors.open_existing(&world.remote()).is_none());
    world.fetched();
    let before = world.upstream("main");
    world.put("later.md", "later\n");
    world.publish("later");
    let elsewhere = Mirrors::new(&world.mirrors_root);
    assert_eq!(elsewhere.open_existing(&world.remote()).unwrap().find_branch("main").unwrap(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_callers_share_fetches_and_each_sees_what_was_there_when_it_asked() {
    let world = Arc::new(World::new());
    let newest = world.upstream("main").unwrap();
    let seen = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..100)
        .map(|_| {
            let (world, seen) = (world.clone(), seen.clone());
            tokio::spawn(async move {
                let mirror = world.mirrors.fetch(&world.remote()).await.unwrap();
                assert_eq!(mirror.branch("main").unwrap(), newest);
                seen.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(seen.load(Ordering::SeqCst), 100);
    let fetches = world.mirrors.fetches_begun(&world.remote());
    assert!(fetches <= 3, "{fetches} fetches for 100 callers");
    // A call after a push sees the push.
    world.put("later.md", "later\n");
    let later = world.publish("later");
    assert_eq!(world.mirrors.fetch(&world.remote()).await.unwrap().branch("main").unwrap(), later);
}

#[test]
fn two_processes_may_fetch_into_the_same_folder() {
    let world = World::new().only_for_git();
    // Two `Mirrors` share nothing but the folder, as two processes do.
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (mirrors, remote) = (Mirrors::new(&world.mirrors_root), world.remote());
            std::thread::spawn(move || mirrors.fetch_blocking(&remote).unwrap().branch("main").unwrap())
        })
        .collect();
    for thread in threads {
        assert_eq!(Some(thread.join().unwrap()), world.upstream("main"));
    }
}

#[test]
fn many_jobs_commit_into_one_mirror() {
    let world = World::new();
    let mirror = world.fetched();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let mirror = mirror.clone();
            std::thread::spawn(move || committed(&mirror, &format!("docs/{number}.md"), &format!("# {number}\n")))
        })
        .collect();
    for thread in threads {
        let commit = thread.join().unwrap();
        assert_eq!(mirror.diff(mirror.branch("main").unwrap(), commit, &DiffView::default()).unwrap().files.len(), 1);
    }
}

#[test]
fn a_mirror_put_in_order_serves_on() {
    let world = World::new();
    let mirror = world.fetched();
    let main = mirror.branch("main").unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    mirror.base(commit).unwrap().files("").unwrap();
    let dir = world.mirrors_root.join(world.remote().folder());
    git(&dir, &["gc", "-q"]);
    // Both the objects of a branch and those of no branch still exist, for handles old and new.
    for mirror in [mirror, world.fetched()] {
        assert!(mirror.base(main).unwrap().read("docs/index.md").unwrap().is_some());
        assert_eq!(text(mirror.base(commit).unwrap().read("docs/index.md").unwrap()).unwrap(), "# Changed\n");
        mirror.push(&world.remote(), "job", commit, mirror.find_branch("job").unwrap()).unwrap();
    }
}

#[test]
fn a_shallow_upstream_serves_what_it_has() {
    let world = World::new();
    world.put("docs/second.md", "2\n");
    let second = world.publish("second");
    let shallow = world.bare.with_file_name("shallow.git");
    let (from, to) = (format!("file://{}", world.bare.display()), shallow.to_str().unwrap());
    git(&world.work, &["clone", "-q", "--bare", "--depth=1", &from, to]);
    let remote = Remote::new(to);
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    assert_eq!(mirror.branch("main").unwrap(), second);
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    mirror.push(&remote, "job", commit, None).unwrap();
    assert_eq!(git(&shallow, &["rev-parse", "job"]), commit.to_string());
}

#[test]
fn locks_left_by_a_killed_fetch_do_not_stop_the_next() {
    both(|world| {
        world.fetched();
        world.put("later.md", "later\n");
        let later = world.publish("later");
        let dir = world.mirrors_root.join(world.remote().folder());
        for name in ["HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"] {
            fs::write(dir.join(name), "").unwrap();
        }
        assert_eq!(world.fetched().branch("main").unwrap(), later);
    });
}

#[test]
fn a_long_history_and_an_old_commit_made_a_branch() {
    let world = World::new();
    for number in 0..70 {
        world.put("counter.md", &format!("{number}\n"));
        git(&world.work, &["add", "-A"]);
        git(&world.work, &["commit", "-q", "-m", "count"]);
    }
    git(&world.work, &["push", "-q", "origin", "HEAD~60:main"]);
    world.fetched();
    // More commits than are walked one by one, and a branch on a commit that had no branch.
    git(&world.work, &["push", "-q", "origin", "HEAD:main", "HEAD~65:refs/heads/old"]);
    let mirror = world.fetched();
    assert_eq!(mirror.find_branch("old").unwrap(), world.upstream("old"));
    assert_eq!(mirror.commits(mirror.branch("main").unwrap(), None, 1000).unwrap().len(), 71);
    git(&world.mirrors_root.join(world.remote().folder()), &["fsck", "--strict"]);
    // The other direction: a commit on a base that is no longer a tip.
    let mut overlay = mirror.overlay(git(&world.work, &["rev-parse", "HEAD~50"]).parse().unwrap()).unwrap();
    overlay.write("docs/late.md", *b"late\n").unwrap();
    let commit = mirror.commit(&overlay, &super::meta(&[overlay.commit()])).unwrap();
    mirror.push(&world.remote(), "late", commit, None).unwrap();
    git(&world.bare, &["fsck", "--strict"]);
    assert_eq!(git(&world.bare, &["rev-list", "--count", "late"]), "22");
}

#[test]
fn branches_that_are_packed_while_they_are_read_are_all_there() {
    const BRANCHES: usize = 200;
    let world = World::new();
    let head = git(&world.bare, &["rev-parse", "main"]);
    let unpack = || {
        for n in 0..BRANCHES {
            let passing = world.bare.join("passing");
            fs::write(&passing, format!("{head}\n")).unwrap();
            fs::rename(passing, world.bare.join(format!("refs/heads/branch-{n}"))).unwrap();
        }
    };
    unpack();
    std::thread::scope(|scope| {
        let packing = scope.spawn(|| {
            for _ in 0..20 {
                git(&world.bare, &["pack-refs", "--all", "--prune"]);
                unpack();
            }
        });
        let repo = gix::open(&world.bare).unwrap();
        while !packing.is_finished() {
            let state = refs::state(&repo).expect("they are read");
            assert_eq!(state.branches.len(), BRANCHES + 1, "with `main`");
        }
    });
}

#[test]
fn what_the_remote_lacks_is_absent_and_what_the_mirror_lost_is_fetched_again() {
    let world = World::new();
    let object = |text: &str| {
        let id = BlobId::of(text.as_bytes()).to_string();
        format!("objects/{}/{}", &id[..2], &id[2..])
    };
    fs::remove_file(world.bare.join(object("# Read me\n"))).unwrap();
    let mirror = world.fetched();
    let base = mirror.base(mirror.branch("main").unwrap()).unwrap();
    let absent = base.read("README.md").unwrap_err();
    assert!(matches!(absent, GitError::Absent { .. }) && !absent.is_transient(), "{absent}");
    assert!(base.read("docs/index.md").unwrap().is_some());
    // Neither does it hinder a fetch that copies object by object.
    world.put("docs/new.md", "# New\n");
    world.put("docs/lost.md", "# Lost\n");
    git(&world.work, &["add", "-A"]);
    git(&world.work, &["commit", "-q", "-m", "second"]);
    git(&world.work, &["push", "-q", "origin", "HEAD"]);
    fs::remove_file(world.bare.join(object("# Lost\n"))).unwrap();
    let mirror = world.fetched();
    let base = mirror.base(mirror.branch("main").unwrap()).unwrap();
    assert_eq!(text(base.read("docs/new.md").unwrap()).unwrap(), "# New\n");
    assert!(matches!(base.read("docs/lost.md"), Err(GitError::Absent { .. })));
    // What the remote has, the mirror gets again.
    fs::remove_file(world.mirrors_root.join(world.remote().folder()).join(object("# Spaced\n"))).unwrap();
    let damage = base.read("docs/guides/a b.md").unwrap_err();
    assert!(matches!(damage, GitError::Corrupt { .. }), "{damage}");
    let mirror = world.fetched();
    let base = mirror.base(mirror.branch("main").unwrap()).unwrap();
    assert_eq!(text(base.read("docs/guides/a b.md").unwrap()).unwrap(), "# Spaced\n");
}
