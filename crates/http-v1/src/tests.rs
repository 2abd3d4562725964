//! The API over cores in memory, asked as a client asks.

mod create;
mod errors;
mod fixture;
mod message;
mod sessions;
