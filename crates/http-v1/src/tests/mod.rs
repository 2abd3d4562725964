//! The API over cores in memory, asked as a client asks.

mod create;
mod errors;
mod house;
mod message;
mod sessions;
