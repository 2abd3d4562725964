//! Tests that span several modules.

mod doubling;
mod link_syntax;
mod linked;
mod narrow_docs_root;
mod new_pages;
mod notebooks;
mod refused_globs;
mod urls;
