//! Tests that span several modules.

mod link_syntax;
mod new_pages;
mod notebooks;
mod refused_globs;
