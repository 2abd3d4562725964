//! Runs git to repack repositories in which loose objects or packs have piled up.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::mirror_state::MirrorState;
use crate::origin::Origin;
use crate::program;

/// Maintenance is due above this many loose objects in one of the 256 object folders; git estimates the total the same
/// way.
const MAX_LOOSE_IN_ONE_FOLDER: usize = 27;
const MAX_PACKS: usize = 50;
const TIME_LIMIT: Duration = Duration::from_secs(1800);

/// Unreachable objects younger than two weeks go into a pack of their own.
const REPACK: &[&str] =
    &["repack", "-d", "-l", "-q", "--cruft", "--cruft-expiration=2.weeks.ago", "--no-write-bitmap-index"];
/// For a git without such packs: unreachable objects become loose files.
const REPACK_WITHOUT_CRUFT: &[&str] =
    &["repack", "-d", "-l", "-q", "-A", "--unpack-unreachable=2.weeks.ago", "--no-write-bitmap-index"];
const AFTER_REPACK: [&[&str]; 3] =
    [&["pack-refs", "--all"], &["prune", "--expire=2.weeks.ago"], &["commit-graph", "write", "--reachable"]];
/// In the foreground: a detached run would allow a second one to start beside it.
const GC_AUTO: &[&str] = &["-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"];

/// Repacks a mirror of ours when enough has piled up.
pub(crate) fn mirror_when_due(shared: &MirrorState) {
    when_due(&shared.dir, mirror);
}

/// Runs the maintenance that `git push` would have started in a repository on this machine, with its own settings.
pub(crate) fn origin_when_due(origin: &Origin) {
    if let Some(dir) = origin.maintained_by_pushers() {
        when_due(&dir, |dir| log_outcome(dir, run(dir, GC_AUTO)));
    }
}

/// Runs git in the background, one such run at a time. It packs reachable objects and drops those unreachable for two
/// weeks. Without a git program nothing is repacked.
fn when_due(dir: &Path, maintain: fn(&Path)) {
    static IS_RUNNING: AtomicBool = AtomicBool::new(false);
    if !is_due(&dir.join("objects")) || IS_RUNNING.swap(true, Ordering::SeqCst) {
        return;
    }
    let dir = dir.to_owned();
    thread::spawn(move || {
        maintain(&dir);
        IS_RUNNING.store(false, Ordering::SeqCst);
    });
}

/// The steps of `git gc` except the last, which deletes every index without a pack and can mistake the index of a pack
/// that is being renamed for one.
fn mirror(dir: &Path) {
    let repacked = run(dir, REPACK).or_else(|error| match error.contains("unknown option") {
        true => run(dir, REPACK_WITHOUT_CRUFT),
        false => Err(error),
    });
    log_outcome(dir, repacked.and_then(|()| AFTER_REPACK.iter().try_for_each(|step| run(dir, step))));
}

fn run(dir: &Path, args: &[&str]) -> Result<(), String> {
    let mut command = program::git();
    command.args(["-c", "core.hooksPath=/dev/null"]);
    command.arg("--git-dir").arg(dir).args(args);
    match program::run(command, "put a repository in order", TIME_LIMIT) {
        Ok(output) if output.success => Ok(()),
        Ok(output) => Err(output.stderr.trim().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn log_outcome(dir: &Path, outcome: Result<(), String>) {
    let repository = dir.display();
    match outcome {
        Ok(()) => tracing::debug!(%repository, "maintained the mirror"),
        Err(error) => tracing::warn!(%repository, error, "could not maintain the mirror"),
    }
}

fn is_due(objects: &Path) -> bool {
    let count = |folder: &str, suffix: &str| {
        let Ok(entries) = fs::read_dir(objects.join(folder)) else { return 0 };
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().ends_with(suffix)).count()
    };
    count("17", "") > MAX_LOOSE_IN_ONE_FOLDER || count("pack", ".pack") > MAX_PACKS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{World, committed, git, text};

    #[test]
    fn many_packs_or_loose_objects_make_it_due() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_due(dir.path()));
        fs::create_dir(dir.path().join("17")).unwrap();
        for n in 0..=MAX_LOOSE_IN_ONE_FOLDER {
            fs::write(dir.path().join("17").join(n.to_string()), "").unwrap();
        }
        assert!(is_due(dir.path()));
    }

    #[test]
    fn somebody_elses_repository_is_put_in_order_as_it_wants() {
        let world = World::new();
        let packs = || {
            git(&world.bare, &["count-objects", "-v"])
                .lines()
                .find(|line| line.starts_with("packs"))
                .unwrap()
                .to_owned()
        };
        git(&world.bare, &["repack", "-q"]);
        world.publish("another");
        git(&world.bare, &["repack", "-q"]);
        git(&world.bare, &["config", "gc.autoPackLimit", "1"]);
        for (auto, left) in [("0", "packs: 2"), ("1", "packs: 1")] {
            git(&world.bare, &["config", "gc.auto", auto]);
            run(&world.bare, GC_AUTO).unwrap();
            assert_eq!(packs(), left);
        }
    }

    #[test]
    fn a_mirror_in_order_is_one_pack_and_what_nobody_reaches_yet() {
        let world = World::new();
        let found = world.fetched();
        let unreached = committed(&found, "docs/one.md", "1\n");
        let dir = found.repo().git_dir().to_owned();
        let packs = dir.join("objects").join("pack");
        fs::create_dir_all(&packs).unwrap();
        // An index whose pack a folder listing has missed.
        let index = packs.join(format!("pack-{}.idx", "a".repeat(40)));
        fs::write(&index, "of a pack that comes to be just now").unwrap();
        for repack in [REPACK, REPACK_WITHOUT_CRUFT] {
            run(&dir, repack).unwrap();
            mirror(&dir);
            assert!(index.exists());
            git(&dir, &["cat-file", "-e", &format!("{unreached}:docs/one.md")]);
        }
        fs::remove_file(&index).unwrap();
        git(&dir, &["fsck", "--strict"]);
        let counted = git(&dir, &["count-objects", "-v"]);
        assert!(counted.contains("count: 0\n"), "{counted}");
        assert!(dir.join("packed-refs").exists() && dir.join("objects/info/commit-graph").exists());
        // Handles that were opened before the repack still read.
        assert_eq!(text(found.overlay(unreached).unwrap().read("docs/one.md").unwrap()).as_deref(), Some("1\n"));
    }
}
