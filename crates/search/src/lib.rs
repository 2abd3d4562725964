//! Search over one docs site: docs tree → pages → sections → index, and question → passages.
//!
//! An [`Index`] lives in a folder and is updated from a [`Source`]: only files whose content changed are read again,
//! and the new state replaces the old one atomically. Readers hold a [`Snapshot`], which never changes and never waits
//! for a writer, whether the writer is in this process or in another.
//!
//! A question is any string. It is split into words (`question`), with the other words they may mean (`lexicon`,
//! `spelling`, `synonyms`); the words are looked up in pages and in their sections (`lookup`, `lookup_whole`,
//! `score_accumulator`); pages are ranked by both scores (`ranking`), and each gets a score for how likely it is to
//! answer the question (`answering`); and the best section of each page is cut to a passage, without duplicates
//! (`result_selection`, `passages`, `near_duplicates`). Only `generations` knows the files on disk.
//!
//! This crate refuses to know models, HTTP and git; files come in through [`Source`].

mod answer;
pub mod conformance;
mod embedder;
mod error;
mod index;
mod query;
mod rank;
mod source;
mod text;
mod vectors;

#[cfg(test)]
mod tests;

pub use answer::highlight::Highlighter;
pub use embedder::{Asker, Embedder, Role};
pub use error::SearchError;
pub use index::handle::Index;
pub use index::indexes::Indexes;
pub use index::snapshot::{PageContent, PageEntry, Snapshot};
pub use index::why_not::{IndexedFile, WhyNot};
pub use query::{Filter, Query};
pub use rank::explain::{Explanation, Match};
#[doc(hidden)]
pub use rank::settings::Settings;
pub use source::{Oddity, Progress, Skipped, Source, SourceFile, Stage, Summary};
pub use text::content_words::{ContentWord, content_words};
pub use text::message::{Message, is_about_account};
pub use vectors::embed::EmbedSummary;
