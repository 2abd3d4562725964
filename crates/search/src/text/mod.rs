//! Turns text into the words under which an index stores it.

pub(crate) mod content_words;
pub(crate) mod korean;
pub(crate) mod languages;
pub(crate) mod lexicon;
pub(crate) mod message;
pub(crate) mod near_duplicates;
pub(crate) mod spelling;
pub(crate) mod synonyms;
pub(crate) mod terms;
pub(crate) mod tokenizer;
pub(crate) mod vocabulary;
