//! What several modules do together.

mod link_syntax;
mod new_pages;
mod notebooks;
