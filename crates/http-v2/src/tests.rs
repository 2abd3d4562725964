//! The API over cores in memory, asked as a client asks.

mod agent;
mod analytics;
mod discovery;
mod errors;
mod events;
mod fixture;
mod lists;
mod waiting;
