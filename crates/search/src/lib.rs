//! Search over one docs site: docs tree → pages → sections → index, and question → passages.
//!
//! An [`Index`] lives in a folder and is brought up to date from a [`Source`]: only files whose content changed are read
//! again, and the new state replaces the old one whole. Readers hold a [`Snapshot`], which never changes and never
//! waits for a writer, whether the writer is in this process or in another.
//!
//! A question is any string: it is cut into words (`words`), the words are looked up in pages and in their sections
//! (`lookup`), pages are ranked by what both say (`ranking`), and the best section of each page is cut to a passage
//! (`passages`). The files on disk are `generations`' business alone.
//!
//! This crate refuses to know models, HTTP and git; files come in through [`Source`].

mod documents;
mod error;
mod generations;
mod index;
mod indexes;
mod lookup;
mod manifest;
mod passages;
mod query;
mod ranking;
mod schema;
mod snapshot;
mod source;
mod update;
mod words;

#[cfg(test)]
mod tests;

pub use error::SearchError;
pub use index::Index;
pub use indexes::Indexes;
pub use query::{Filter, Query};
pub use snapshot::{PageContent, PageEntry, Snapshot};
pub use source::{Progress, Source, SourceFile, Stage, Summary};
