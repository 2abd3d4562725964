//! The files of an index: how they are written, brought up to date and opened.

pub(crate) mod background;
pub(crate) mod compaction;
pub(crate) mod documents;
pub(crate) mod engine;
pub(crate) mod generations;
pub(crate) mod generations_disk;
pub(crate) mod generations_log;
pub(crate) mod generations_packs;
pub(crate) mod handle;
pub(crate) mod indexes;
pub(crate) mod links;
pub(crate) mod manifest;
pub(crate) mod page_kind;
pub(crate) mod readers;
pub(crate) mod redirects;
pub(crate) mod schema;
pub(crate) mod segment_rows;
pub(crate) mod segment_writer;
pub(crate) mod skips;
pub(crate) mod snapshot;
pub(crate) mod snapshot_tables;
pub(crate) mod unique_words;
pub(crate) mod update;
pub(crate) mod update_plan;
pub(crate) mod update_read;
pub(crate) mod why_not;
