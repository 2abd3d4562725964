//! Embedders of every kind, on models made here and against a small server on loopback.

mod endpoint;
mod folder;
#[cfg(feature = "static")]
mod models;
mod questions;
