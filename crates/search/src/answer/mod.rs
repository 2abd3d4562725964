//! Turns ranked pages into the passages a reader sees.

pub(crate) mod highlight;
pub(crate) mod passages;
pub(crate) mod result_selection;
pub(crate) mod search;
