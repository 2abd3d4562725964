//! Tests of the store on a real server, which `cargo xtask test --only postgres` starts.

mod beginnings;
mod cluster;
mod doubt;
mod groups;
mod known;
mod nodes;
mod ports;
mod proxy;
mod removed_projects;
