//! A simulation of the job engine and of authoring in a world where everything goes wrong.
//!
//! The engine, the worker, overlays, commits and repositories are the real ones. Around them is a world that follows from
//! a seed: processes on several nodes that are killed at any point at which they ask something of the outside; a disk
//! that fails, fills up, and loses with the power what was not flushed; a forge and a way to the repositories on which
//! requests and answers are lost, late or doubled; a model that breaks off and never says the same twice; clocks that
//! jump; people who push to the same branches. Time is that of a paused clock and all chance comes from the seed, so a
//! seed tells the same story each time, to the last write.
//!
//! While it runs and when it has come to rest, what there is is held against what is promised: what was accepted is
//! there and has ended, once; each branch holds what the journals say and nothing beside it; what the journal is to hold
//! before something shows outside is on the disk by then; who has lost a lease writes nothing; there is one pull request.
//! The promises are written down in `docs/DURABILITY.md`.
//!
//! [`run`] tells one seed. [`BrokenEngine`] breaks the engine from outside, to see that it is noticed.

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
mod tests;

pub use broken::BrokenEngine;
pub use story::{StoryOutcome, run};
