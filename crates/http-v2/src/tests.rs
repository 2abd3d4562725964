//! Tests of the API over in-memory cores, with requests as clients send them.

mod agent;
mod analytics;
mod discovery;
mod errors;
mod events;
mod fixture;
mod lists;
mod waiting;
