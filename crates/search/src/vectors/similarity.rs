//! Compares a question's vector with the section vectors of a snapshot.

use std::sync::Arc;

use crate::embedder::Asker;
use crate::index::manifest::SectionId;
use crate::index::snapshot::Snapshot;
use crate::vectors::embed::stamps;
use crate::vectors::files::QuantizedI16;
use crate::vectors::section_vectors::SectionVectors;

/// Maximum number of sections of a page that may be shown for their similarity.
const MOST_OF_PAGE: usize = 3;

/// Similarity of the sections of a snapshot to one question, rescaled: 0 is the average over all sections, 1 is an
/// identical vector.
pub(crate) struct Similarities {
    placed: Arc<SectionVectors>,
    by_row: Vec<f32>,
    /// Average similarity of a section to the question before rescaling, -1 to 1.
    usual: f32,
    /// By page number.
    pages: Vec<PageAlike>,
}

/// The most similar sections of a page with their similarities, best first.
#[derive(Debug, Clone, Default)]
struct PageAlike([Option<(f32, SectionId)>; MOST_OF_PAGE]);

impl PageAlike {
    fn add(&mut self, similarity: f32, section: SectionId) {
        let mut falling = Some((similarity, section));
        for place in &mut self.0 {
            if place.is_none_or(|(known, _)| falling.is_some_and(|(similarity, _)| similarity > known)) {
                std::mem::swap(place, &mut falling);
            }
        }
    }
}

impl Similarities {
    fn new(placed: Arc<SectionVectors>, question: &[f32], pages: usize) -> Self {
        let mut by_row = placed.vectors.compare(&QuantizedI16::of(question));
        let counting = placed.sections.iter().zip(&by_row).filter(|(section, _)| section.is_some());
        let sum: f32 = counting.map(|(_, similarity)| similarity).sum();
        // The average similarity of arbitrary texts differs from model to model.
        let usual = sum / placed.rows.len().max(1) as f32;
        by_row.iter_mut().for_each(|similarity| *similarity = rescaled(usual, *similarity));
        let mut of_pages = vec![PageAlike::default(); pages];
        for (section, similarity) in placed.sections.iter().zip(&by_row) {
            if let Some((section, page)) = section
                && let Some(of_page) = of_pages.get_mut(*page as usize)
            {
                of_page.add(*similarity, *section);
            }
        }
        Self { placed, by_row, usual, pages: of_pages }
    }

    /// The similarity of one section; `None` when it has no vector.
    pub(crate) fn of(&self, section: SectionId) -> Option<f32> {
        Some(self.by_row[*self.placed.rows.get(&section)? as usize])
    }

    /// The most similar sections of a page, best first.
    pub(crate) fn best(&self, page: u32) -> impl Iterator<Item = (f32, SectionId)> {
        self.pages.get(page as usize).into_iter().flat_map(|page| page.0.iter().copied().flatten())
    }

    /// The similarity of a page, by its number: that of its best section, since others may be about something else.
    /// `None` when the page has no vector.
    pub(crate) fn of_page(&self, page: u32) -> Option<f32> {
        self.best(page).next().map(|(similarity, _)| similarity)
    }

    /// For each page, the similarity to the question plus `share` times the similarity to `section`: the largest such
    /// sum among the page's sections. `None` for a page without vectors, and for all pages when `section` has none.
    pub(crate) fn with_feedback(&self, section: SectionId, share: f32, pages: &[u32]) -> Vec<Option<f32>> {
        let mut places = vec![None; self.pages.len()];
        pages.iter().zip(0..).for_each(|(page, place)| places[*page as usize] = Some(place));
        let row = self.placed.rows.get(&section);
        let direction = row.and_then(|row| self.placed.vectors.direction(*row as usize));
        let mut similarity: Vec<Option<f32>> = vec![None; pages.len()];
        let Some(direction) = direction else { return similarity };
        let place_of = |section: &Option<(SectionId, u32)>| section.and_then(|(_, page)| *places.get(page as usize)?);
        let rows = (0..u32::MAX).zip(&self.placed.sections);
        let (rows, of_pages): (Vec<u32>, Vec<usize>) = rows.filter_map(|(row, at)| Some((row, place_of(at)?))).unzip();
        let to_section = self.placed.vectors.compare_some(&direction, &rows);
        for ((row, place), to_section) in rows.iter().zip(of_pages).zip(to_section) {
            let to_both = self.by_row[*row as usize] + share * rescaled(self.usual, to_section);
            let known: &mut Option<f32> = &mut similarity[place];
            *known = Some(known.map_or(to_both, |known| known.max(to_both)));
        }
        similarity
    }

    /// The most similar pages, at most `most`, best first, among those that are `allowed` and have a similarity of at
    /// least `least`.
    pub(crate) fn nearest(&self, most: usize, least: f32, mut allowed: impl FnMut(u32) -> bool) -> Vec<u32> {
        let pages = (0..self.pages.len() as u32).filter_map(|page| Some((self.of_page(page)?, page)));
        let mut pages: Vec<(f32, u32)> =
            pages.filter(|(similarity, page)| *similarity >= least && allowed(*page)).collect();
        let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if pages.len() > most {
            pages.select_nth_unstable_by(most, order);
            pages.truncate(most);
        }
        pages.sort_unstable_by(order);
        pages.into_iter().map(|(_, page)| page).collect()
    }
}

/// Similarity rescaled: 0 for the usual similarity, 1 for an identical vector.
fn rescaled(usual: f32, similarity: f32) -> f32 {
    (similarity - usual) / (1.0 - usual).max(f32::EPSILON)
}

impl Snapshot {
    /// The similarity of the sections to a question; `None` for an empty question, without an embedder or when it
    /// fails, and until enough sections have a vector.
    pub(crate) async fn similarities(&self, question: &str, asker: Asker) -> Option<Similarities> {
        let embedder = self.vectors.embedder.as_ref()?;
        if question.trim().is_empty() {
            return None;
        }
        let placed = self.placed();
        if !placed.are_enough(self.stats.sections) {
            embedder.passed_over();
            return None;
        }
        match embedder.question(question, asker).await {
            Ok(vector) => Some(Similarities::new(placed, &vector, self.stats.pages.len())),
            Err(error) => {
                tracing::debug!(error = &*error as &dyn std::error::Error, "a question goes on without vectors");
                None
            }
        }
    }

    /// The placement of the current vectors, cached.
    fn placed(&self) -> Arc<SectionVectors> {
        let vectors = self.vectors.vectors();
        let known = self.placed.load_full();
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.vectors, &vectors)) {
            return known;
        }
        // Concurrent questions may both compute it, with the same result.
        let placed = Arc::new(SectionVectors::new(vectors, &self.stats.numbers, &stamps(self)));
        self.placed.store(Some(Arc::clone(&placed)));
        placed
    }
}
