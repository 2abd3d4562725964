//! The commands other than `serve`, one file or folder each.

pub(crate) mod ask;
pub(crate) mod backup;
pub(crate) mod client;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod index;
pub(crate) mod keys;
pub(crate) mod manual;
pub(crate) mod operators;
pub(crate) mod projects;
pub(crate) mod quantity;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod search;
