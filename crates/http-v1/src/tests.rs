//! Tests of the API over in-memory cores, with requests as clients send them.

mod create;
mod errors;
mod fixture;
mod message;
mod sessions;
