//! Which vector belongs to which section of one snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use crate::index::manifest::SectionId;
use crate::vectors::files::Vectors;

/// Vectors count once this share of all sections has one. With fewer, pages would rank lower for not having one yet.
const ENOUGH: f32 = 0.9;

/// Which vector belongs to which section of one snapshot.
#[derive(Debug)]
pub(crate) struct SectionVectors {
    pub(crate) vectors: Arc<Vectors>,
    /// By vector number: its section and the number of its page, when they are in the snapshot and no later vector
    /// replaces it.
    pub(crate) sections: Vec<Option<(SectionId, u32)>>,
    /// By section: the number of its vector.
    pub(crate) rows: HashMap<SectionId, u32>,
}

impl SectionVectors {
    /// `numbers`: page numbers of the snapshot by page id. `stamps`: by page id, the stamp that vectors of the page's
    /// current text have.
    pub(crate) fn new(vectors: Arc<Vectors>, numbers: &HashMap<u64, u32>, stamps: &HashMap<u64, u64>) -> Self {
        let mut rows = HashMap::with_capacity(vectors.len());
        let mut sections = Vec::with_capacity(vectors.len());
        for (row, head) in (0..u32::MAX).zip(vectors.heads()) {
            let page = numbers.get(&head.section.page).copied();
            let page = page.filter(|_| stamps.get(&head.section.page) == Some(&head.stamp));
            sections.push(page.map(|page| (head.section, page)));
            if page.is_some()
                && let Some(older) = rows.insert(head.section, row)
            {
                sections[older as usize] = None;
            }
        }
        Self { vectors, sections, rows }
    }

    /// Whether enough of `sections` sections have a vector.
    pub(crate) fn are_enough(&self, sections: usize) -> bool {
        !self.rows.is_empty() && self.rows.len() as f32 >= ENOUGH * sections as f32
    }
}
