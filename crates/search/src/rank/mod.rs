//! Ranks the pages for a question.

pub(crate) mod allowed;
pub(crate) mod answering;
pub(crate) mod asked_language;
pub(crate) mod bm25;
pub(crate) mod corpus_stats;
pub(crate) mod explain;
pub(crate) mod lookup;
pub(crate) mod lookup_whole;
pub(crate) mod question;
pub(crate) mod ranking;
pub(crate) mod score_accumulator;
pub(crate) mod settings;
pub(crate) mod variants;
