//! Storage on PostgreSQL, for any number of processes ("nodes") on one database: the ports of `docent-jobs`,
//! `docent-access`, `docent-operators`, `docent-assistant` and `docent-forge`.
//!
//! - **One task a write.** Each transaction runs to its end in a task that the store owns, so a caller that goes away
//!   cancels nothing (`transaction.rs`). A connection that did not end its transaction never returns to the pool.
//! - **Changes are committed together** that are asked for while others are committed (`changes.rs`).
//! - **A commit in doubt is read back.** Each transaction leaves a mark in the table `commits`. When the connection is
//!   lost during COMMIT, the mark tells whether the transaction took place (`commit.rs`).
//! - **Nothing of a session is used**: statements have no names, settings are `SET LOCAL`, advisory locks end with the
//!   transaction. So a PgBouncer in transaction mode may stand between.
//! - **The database's clock** counts: [`DatabaseClock`] follows it, and whoever uses the store takes the time from it.
//! - **One poller a node** reads the marks that other nodes left (`feed.rs`); `LISTEN` and `NOTIFY` only hasten it.
//!   Nothing is cached.
//!
//! Values by which records are looked up have columns; the rest of a record is JSON in a text column. This crate knows
//! no rule about jobs: it applies the decisions it is given.

mod address;
mod changes;
mod clock;
mod commit;
mod connections;
mod error;
mod feed;
mod groups;
mod job_search;
mod jobs;
mod journal;
mod keys;
mod marks;
mod operators;
mod outbox;
mod params;
mod postgres;
mod project_data;
mod projects;
mod prune;
mod pulls;
mod questions;
mod queue;
mod removed_projects;
mod rows;
mod running_replies;
mod schema;
mod searches;
mod shared;
mod sizes;
mod spends;
mod text;
mod threads;
mod throttle;
mod tls;
mod transaction;
mod write_guards;

#[cfg(test)]
mod tests;

pub use clock::DatabaseClock;
pub use error::OpenError;
pub use postgres::PostgresStore;
pub use shared::CommitPromise;
pub use sizes::{ServerFacts, Sizes};
