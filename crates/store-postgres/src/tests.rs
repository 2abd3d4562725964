//! Tests of the store on a real server. `DOCENT_TEST_POSTGRES` is the URL of one; `cargo xtask test --only postgres` starts
//! one.

mod beginnings;
mod cluster;
mod doubt;
mod known;
mod nodes;
mod proxy;
