//! Runs of whole worlds, and tests of the simulation itself: it finds a broken engine, and a seed always gives the same
//! run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use docent_jobs::crash;
use parking_lot::Mutex;

use crate::{BrokenEngine, StoryOutcome, run};

/// The number of worlds that a test runs.
const WORLDS: u64 = 300;

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

/// Runs the worlds of these seeds, two at a time, until `is_enough` is true for one.
fn worlds(
    seeds: u64,
    broken: Option<BrokenEngine>,
    is_enough: impl Fn(&StoryOutcome) -> bool + Sync,
) -> Vec<StoryOutcome> {
    let (next, told) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::SeqCst);
                    if seed >= seeds {
                        return;
                    }
                    let world = run(seed, broken, false);
                    if is_enough(&world) {
                        next.store(seeds, Ordering::SeqCst);
                    }
                    told.lock().push(world);
                }
            });
        }
    });
    told.into_inner()
}

#[test]
fn every_promise_is_kept_in_300_worlds_and_each_named_point_is_died_at() {
    let told = worlds(WORLDS, None, |_| false);
    let failed: Vec<_> = told.iter().filter(|world| !world.violations.is_empty()).collect();
    let shown =
        |world: &&StoryOutcome| format!("cargo xtask sim --seed {}: {}", world.seed, world.violations.join("; "));
    assert!(failed.is_empty(), "{}", failed.iter().map(shown).collect::<Vec<_>>().join("\n"));

    let mut counts = BTreeMap::<&str, u64>::new();
    for (what, times) in told.iter().flat_map(|world| &world.counts) {
        *counts.entry(what).or_default() += times;
    }
    let times = |what: &str| counts.get(what).copied().unwrap_or(0);
    for point in crash::POINTS {
        assert!(times(&format!("killed at {point}")) > 0, "nobody dies at {point}: {counts:?}");
    }
    for wrong in WRONGS {
        assert!(times(wrong) > 0, "never: {wrong}: {counts:?}");
    }
    // Most jobs complete in spite of the faults; otherwise the checks of completed jobs show little.
    let (completed, failed) = (times("job is completed"), times("job is failed"));
    assert!(completed > WORLDS && completed > 5 * failed, "{counts:?}");
}

#[test]
fn a_seed_tells_its_story_in_the_same_way_each_time() {
    let digests = || -> Vec<u64> {
        let told = std::thread::spawn(|| (1..=12).map(|seed| run(seed, None, false).digest).collect());
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
    let told = worlds(WORLDS, Some(broken), complains);
    assert!(told.iter().any(complains), "{broken:?} is not noticed in {WORLDS} worlds");
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
