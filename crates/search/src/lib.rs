//! Search over one docs site: docs tree → pages → sections → index, and question → passages.
//!
//! An [`Index`] lives in a folder and is brought up to date from a [`Source`]: only files whose content changed are read
//! again, and the new state replaces the old one whole. Readers hold a [`Snapshot`], which never changes and never
//! waits for a writer, whether the writer is in this process or in another.
//!
//! A question is any string. It is cut into words (`question`), with what else they may mean (`lexicon`, `spelling`,
//! `synonyms`); the words are looked up in pages and in their sections (`lookup`, `lookup_whole`, `tally`); pages are ranked
//! by what both say (`ranking`) and scored by how much of the question they meet (`answering`); and the best section of each
//! page is cut to a passage, nothing twice (`showing`, `passages`, `copies`). The files on disk are `generations`' business
//! alone.
//!
//! This crate refuses to know models, HTTP and git; files come in through [`Source`].

mod allowed;
mod answering;
mod asked_language;
mod background;
mod compaction;
pub mod conformance;
mod copies;
mod documents;
mod embedder;
mod engine;
mod error;
pub mod eval;
mod explain;
mod generations;
mod generations_disk;
mod generations_log;
mod generations_packs;
mod ground;
mod highlight;
mod index;
mod indexes;
mod korean;
mod languages;
mod lexicon;
mod links;
mod lookup;
mod lookup_whole;
mod manifest;
mod page_kind;
mod page_words;
mod passages;
mod query;
mod question;
mod ranking;
mod readers;
mod redirects;
mod schema;
mod segment_rows;
mod segment_writer;
mod settings;
mod showing;
mod skips;
mod snapshot;
mod snapshot_tables;
mod source;
mod spelling;
mod synonyms;
mod tally;
mod update;
mod update_plan;
mod update_read;
mod variants;
mod vectors;
mod vectors_alike;
mod vectors_embed;
mod vectors_fusion;
mod vectors_store;
#[cfg(test)]
mod vectors_tests;
mod vocabulary;
mod weighed;
mod why_not;
mod words;
mod words_cut;

#[cfg(test)]
mod tests;

pub use embedder::{Asker, Embedder, Role};
pub use error::SearchError;
pub use explain::{Explanation, Match};
pub use highlight::Highlighter;
pub use index::Index;
pub use indexes::Indexes;
pub use query::{Filter, Query};
#[doc(hidden)]
pub use settings::Settings;
pub use snapshot::{PageContent, PageEntry, Snapshot};
pub use source::{Oddity, Progress, Skipped, Source, SourceFile, Stage, Summary};
pub use vectors_embed::EmbedSummary;
pub use why_not::{IndexedFile, WhyNot};
