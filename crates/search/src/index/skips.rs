//! Files that are skipped, counted by reason.

use std::collections::BTreeMap;

use docent_site::SkipReason;
use serde::{Deserialize, Serialize};

use crate::index::manifest::Manifest;
use crate::source::Skipped;

/// Maximum number of example files per reason.
const EXAMPLES: usize = 5;

/// The number of skipped files by reason, with the first few files of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Skips(BTreeMap<SkipReason, (usize, Vec<String>)>);

impl Skips {
    pub(crate) fn add(&mut self, reason: SkipReason, file: &str) {
        let (count, examples) = self.0.entry(reason).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(file.to_owned());
        }
    }

    /// All skipped files of the docs.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let mut skips = manifest.site.skipped.clone();
        for file in &manifest.files {
            if let Some(reason) = file.skipped {
                skips.add(reason, &file.path);
            }
        }
        skips
    }

    pub(crate) fn into_skipped(self) -> Vec<Skipped> {
        let skipped = |(reason, (count, examples))| Skipped { reason, count, examples };
        self.0.into_iter().map(skipped).collect()
    }
}
