//! Runs of whole worlds, and tests of the simulation itself: it finds a broken engine, and a seed always gives the same
//! run.

use std::collections::BTreeSet;
use std::ops::Range;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_jobs::crash;
use parking_lot::Mutex;

use crate::{BrokenEngine, StoryOutcome, run};

/// The number of worlds in which a run tests the promises. Which ones follows from the commit, so that many commits see many
/// worlds; `cargo xtask sim` runs 10,000.
const WORLDS: u64 = 40;

/// The most worlds in which something is searched for.
const SEARCHED: u64 = 300;

/// The faults, by the names under which they are counted. Each must occur in some world; otherwise the test covers less
/// than it claims.
const WRONGS: [&str; 26] = [
    "a clock jumps",
    "a node is restarted",
    "a node stands still",
    "fetch fails",
    "forge fails",
    "forge is asked twice",
    "forge is late",
    "forge is unconfirmed",
    "killed after",
    "killed before",
    "mirror is lost",
    "model breaks off",
    "model fails",
    "model is full",
    "no room on the disk",
    "people end a pull request",
    "people push",
    "power fails",
    "push fails",
    "push is late",
    "push is refused",
    "push is unconfirmed",
    "read fails",
    "unflushed writes are lost",
    "write fails",
    "write is unconfirmed",
];

/// The first of the worlds of this commit: one of 250 sets.
fn first_world() -> u64 {
    let git = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let hash = git.ok().and_then(|git| String::from_utf8(git.stdout).ok()).unwrap_or_default();
    let number = hash.get(..8).and_then(|start| u64::from_str_radix(start, 16).ok()).unwrap_or(0);
    (number % 250) * WORLDS
}

/// Runs the worlds of these seeds, two at a time, until `is_enough` is true for one.
fn worlds(
    seeds: Range<u64>,
    broken: Option<BrokenEngine>,
    is_enough: impl Fn(&StoryOutcome) -> bool + Sync,
) -> Vec<StoryOutcome> {
    let (next, told) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= seeds.end {
                        return;
                    }
                    let world = run(seed, broken, false);
                    if is_enough(&world) {
                        next.store(seeds.end, Ordering::SeqCst);
                    }
                    told.lock().push(world);
                }
            });
        }
    });
    told.into_inner()
}

#[track_caller]
fn assert_promises_are_kept(told: &[StoryOutcome]) {
    let failed: Vec<_> = told.iter().filter(|world| !world.violations.is_empty()).collect();
    let shown =
        |world: &&StoryOutcome| format!("cargo xtask sim --seed {}: {}", world.seed, world.violations.join("; "));
    assert!(failed.is_empty(), "{}", failed.iter().map(shown).collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_promise_is_kept_in_the_worlds_of_this_commit() {
    let first = first_world();
    println!("worlds {first} to {}", first + WORLDS - 1);
    let told = worlds(first..first + WORLDS, None, |_| false);
    assert_promises_are_kept(&told);
    // Most jobs complete in spite of the faults; otherwise the checks of completed jobs show little.
    let count = |what: &str| told.iter().filter_map(|world| world.counts.get(what)).sum::<u64>();
    let (completed, failed) = (count("job is completed"), count("job is failed"));
    assert!(completed > WORLDS && completed > 5 * failed, "{completed} completed, {failed} failed");
}

#[test]
fn each_fault_occurs_and_each_named_point_is_died_at() {
    let points = crash::POINTS.iter().map(|point| format!("killed at {point}"));
    let missing: Mutex<BTreeSet<String>> = Mutex::new(points.chain(WRONGS.map(str::to_owned)).collect());
    let told = worlds(0..SEARCHED, None, |world| {
        let mut missing = missing.lock();
        missing.retain(|what| !world.counts.contains_key(what.as_str()));
        missing.is_empty()
    });
    assert_promises_are_kept(&told);
    let missing = missing.into_inner();
    assert!(missing.is_empty(), "never in {} worlds: {missing:?}", told.len());
    println!("all of them in {} worlds", told.len());
}

#[test]
fn a_seed_tells_its_story_in_the_same_way_each_time() {
    let digests = || -> Vec<u64> {
        let told = std::thread::spawn(|| (1..=4).map(|seed| run(seed, None, false).digest).collect());
        told.join().expect("it is told")
    };
    let first = digests();
    assert_eq!(first, digests());
    let traced = run(1, None, true);
    assert_eq!((traced.digest, traced.trace.is_empty()), (first[0], false));
    assert_ne!(first[0], first[1]);
}

/// Breaks the engine in the given way, and expects the violation that reports it.
fn is_caught(broken: BrokenEngine, complaint: &str) {
    let complains = |world: &StoryOutcome| world.violations.iter().any(|violation| violation.contains(complaint));
    let told = worlds(0..SEARCHED, Some(broken), complains);
    assert!(told.iter().any(complains), "{broken:?} is not noticed in {SEARCHED} worlds");
}

#[test]
fn an_engine_that_acts_before_its_journal_is_on_the_disk_is_caught() {
    is_caught(BrokenEngine::ActsBeforeItIsWritten, "no journal on the disk holds it");
}

#[test]
fn an_accepted_job_that_the_power_takes_is_noticed() {
    is_caught(BrokenEngine::ActsBeforeItIsWritten, "was accepted and is gone");
}

#[test]
fn an_engine_that_lets_late_writers_in_is_caught() {
    is_caught(BrokenEngine::Unfenced, "fencing");
}

#[test]
fn an_engine_that_tells_what_the_power_may_take_is_caught() {
    is_caught(BrokenEngine::TellsWhatMayBeLost, "watch");
}

#[test]
fn an_engine_that_opens_pull_requests_without_looking_is_caught() {
    is_caught(BrokenEngine::OpensBlindly, "and gets another");
}
