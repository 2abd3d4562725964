//! A simulation of the job engine and of authoring under faults of every kind.
//!
//! The engine, the worker, overlays, commits and repositories are the real ones. Around them is a world made from a
//! seed: processes on several nodes that are killed at any request to the outside; a disk that fails, fills up, and in
//! a power failure loses what was not flushed; a forge and connections to the repositories that lose, delay or double
//! requests and answers; a model that breaks off and never replies the same twice; clocks that jump; people who push to
//! the same branches. Time is Tokio's paused clock and all random numbers come from the seed, so a seed gives the same
//! run each time, to the last write.
//!
//! During the run and at its end the state is compared with the guarantees: each accepted job exists and has ended
//! once; each branch holds the commits that the journals record and no others; an entry is flushed before its effect is
//! visible outside; a process that lost its lease writes nothing; a job has one pull request. `docs/DURABILITY.md`
//! lists the guarantees.
//!
//! [`run`] runs one seed. [`BrokenEngine`] breaks the engine from outside, to test that the simulation notices.

mod broken;
mod callers;
mod chance;
mod checks;
mod disk;
mod forge;
mod git;
mod ledger;
mod model;
mod node;
mod people;
mod plan;
mod process;
mod store;
mod story;
mod trace;
mod world;

#[cfg(test)]
mod postgres;
#[cfg(test)]
mod tests;

pub use broken::BrokenEngine;
pub use story::{StoryOutcome, run};
