//! The plan of a run, made from its seed: the size of the world, and the probability of each fault.

use std::time::Duration;

use crate::chance::Chance;

/// The plan of one run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Processes that work on the same store.
    pub(crate) nodes: usize,
    /// Jobs that a process runs at the same time.
    pub(crate) workers: usize,
    pub(crate) projects: usize,
    /// Jobs of one project that run at the same time.
    pub(crate) per_project: usize,
    pub(crate) jobs: usize,
    /// Attempts in a row that may fail before a job does.
    pub(crate) attempts: u32,
    /// Quota of accepted jobs per hour and project.
    pub(crate) quota: u32,
    /// How long there are faults and new requests.
    pub(crate) window: Duration,
    pub(crate) odds: Odds,
}

/// The probability of each fault at each occasion, from 0 to 1; from `power_fails` to `people_end_pulls`, a rate per
/// minute.
#[derive(Debug, Clone)]
pub(crate) struct Odds {
    /// A process is killed before or after a request to the outside.
    pub(crate) killed: f64,
    /// A process is killed at a named point.
    pub(crate) killed_at_point: f64,
    /// A write to the store fails, and nothing is written.
    pub(crate) write_fails: f64,
    /// A write to the store is written, and its caller is told that it failed.
    pub(crate) write_unconfirmed: f64,
    pub(crate) read_fails: f64,
    /// The answer to a request takes long.
    pub(crate) slow: f64,
    pub(crate) fetch_fails: f64,
    pub(crate) push_fails: f64,
    /// The push arrives, and its caller is told that it failed.
    pub(crate) push_unconfirmed: f64,
    /// The push arrives after its caller gave up on it.
    pub(crate) push_late: f64,
    pub(crate) push_refused: f64,
    pub(crate) forge_fails: f64,
    pub(crate) forge_unconfirmed: f64,
    pub(crate) forge_late: f64,
    /// A request reaches the forge twice.
    pub(crate) forge_twice: f64,
    pub(crate) model_fails: f64,
    pub(crate) model_breaks_off: f64,
    pub(crate) model_is_full: f64,
    /// Rate per minute, like the fields down to `people_end_pulls`; `stalls` and `restarts` per node.
    pub(crate) power_fails: f64,
    pub(crate) stalls: f64,
    pub(crate) clock_jumps: f64,
    pub(crate) restarts: f64,
    pub(crate) disk_is_full: f64,
    pub(crate) people_push: f64,
    pub(crate) people_end_pulls: f64,
    /// The mirror of a process that died is gone, or a part of it.
    pub(crate) mirror_is_lost: f64,
}

impl Plan {
    pub(crate) fn of(chance: &mut Chance) -> Self {
        let nodes = 1 + chance.place(3);
        Self {
            nodes,
            workers: 1 + chance.place(3),
            projects: 1 + chance.place(3),
            per_project: 1 + chance.place(3),
            jobs: 2 + chance.place(4),
            attempts: if chance.happens(0.3) { 2 } else { 5 },
            quota: if chance.happens(0.2) { 2 } else { 100 },
            window: chance.millis(30_000..=180_000),
            odds: Odds::of(chance),
        }
    }
}

impl Odds {
    fn of(chance: &mut Chance) -> Self {
        // Half of the faults are left out of each run, so that one does not hide another.
        let mut up_to = |most: f64| if chance.happens(0.5) { chance.part() * most } else { 0.0 };
        Self {
            killed: up_to(0.03),
            killed_at_point: up_to(0.1),
            write_fails: up_to(0.04),
            write_unconfirmed: up_to(0.02),
            read_fails: up_to(0.02),
            slow: up_to(0.04),
            fetch_fails: up_to(0.15),
            push_fails: up_to(0.2),
            push_unconfirmed: up_to(0.2),
            push_late: up_to(0.2),
            push_refused: up_to(0.05),
            forge_fails: up_to(0.2),
            forge_unconfirmed: up_to(0.2),
            forge_late: up_to(0.2),
            forge_twice: up_to(0.2),
            model_fails: up_to(0.15),
            model_breaks_off: up_to(0.1),
            model_is_full: up_to(0.1),
            power_fails: up_to(1.0),
            stalls: up_to(1.0),
            clock_jumps: up_to(1.0),
            restarts: up_to(1.0),
            disk_is_full: up_to(0.5),
            people_push: up_to(1.0),
            people_end_pulls: up_to(1.0),
            mirror_is_lost: up_to(0.5),
        }
    }
}
