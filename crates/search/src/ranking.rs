//! Documents to pages, best first.
//!
//! A page scores by what is said of it as a whole (title, path, description, headings) and by its sections, the best
//! one in full and each further one for less. A page that answers in three places beats one that does in one, and a
//! long page does not win by length. What is shown of a page is its best section.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use docent_types::Passage;
use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};

use crate::lookup::{Asked, Hit, Lookup, documents_of, rarity};
use crate::manifest::ManifestPage;
use crate::passages::{LONGEST_PASSAGE, excerpt};
use crate::query::Query;
use crate::schema::{Fields, PAGE, SECTION};
use crate::snapshot::Snapshot;

/// How many documents of each kind are looked at.
const MOST_SECTIONS: usize = 400;
const MOST_PAGES: usize = 200;
/// What the second best section counts against the best, the third against the second, and so on.
const DECAY: f32 = 0.3;
/// What the page itself counts against its sections.
const PAGE_SHARE: f32 = 0.2;

/// A page's documents that fit.
#[derive(Debug, Default)]
struct Candidate {
    page: f32,
    /// Best first.
    sections: Vec<Hit>,
}

impl Candidate {
    fn score(&self) -> f32 {
        let mut share = 1.0;
        let mut sum = 0.0;
        for (score, _) in &self.sections {
            sum += share * score;
            share *= DECAY;
        }
        sum + PAGE_SHARE * self.page
    }
}

/// The passages for a question.
pub(crate) fn search(snapshot: &Snapshot, query: &Query) -> tantivy::Result<Vec<Passage>> {
    let asked = Asked::of(&query.text);
    let Some(searcher) = snapshot.searcher() else { return Ok(Vec::new()) };
    if asked.is_empty() || query.limit == 0 {
        return Ok(Vec::new());
    }
    let fields = &snapshot.fields;
    let lookup = Lookup { searcher, fields, filter: &query.filter };
    let mut candidates: HashMap<u64, Candidate> = HashMap::new();
    let mut numbers = PageNumbers::default();
    for hit in lookup.best(SECTION, &fields.of_sections(), &asked, MOST_SECTIONS)? {
        candidates.entry(numbers.of(searcher, hit.1)?).or_default().sections.push(hit);
    }
    for (score, address) in lookup.best(PAGE, &fields.of_pages(), &asked, MOST_PAGES)? {
        candidates.entry(numbers.of(searcher, address)?).or_default().page = score;
    }

    let mut ranked: Vec<(f32, &ManifestPage, Candidate)> = candidates
        .into_iter()
        .filter_map(|(id, candidate)| {
            let page = snapshot.page_by_id(id)?;
            Some((candidate.score() * nearness(query.near.as_deref(), &page.path), page, candidate))
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));

    let half = half_score(searcher, fields, &asked)?;
    let mut passages: Vec<Passage> = Vec::with_capacity(query.limit.min(ranked.len()));
    for (score, page, candidate) in ranked {
        if passages.len() == query.limit {
            break;
        }
        // Two files served at one path are one page to a reader.
        if passages.iter().any(|passage| passage.path == page.path) {
            continue;
        }
        let section = match candidate.sections.first() {
            Some((_, address)) => Some(*address),
            None => documents_of(searcher, fields, page.id, SECTION, 1)?.first().copied(),
        };
        passages.push(passage(searcher, fields, page, section, &asked, score / (score + half))?);
    }
    Ok(passages)
}

/// The score that counts as one half: every word of the question once in an ordinary section. It makes scores of
/// different questions comparable.
fn half_score(searcher: &Searcher, fields: &Fields, asked: &Asked) -> tantivy::Result<f32> {
    let mut sum = 0.0;
    for word in &asked.stemmed {
        sum += rarity(searcher, fields, word)?;
    }
    Ok(sum.max(f32::MIN_POSITIVE))
}

/// Pages in the folder of the page the asker is on count a little more, that page itself most. Enough to break a tie,
/// not enough to hide a better answer.
fn nearness(near: Option<&str>, path: &str) -> f32 {
    let Some(near) = near.map(|near| near.trim_matches('/')) else { return 1.0 };
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    if near == path {
        1.1
    } else if folder(near)
        .is_some_and(|here| folder(path).is_some_and(|there| there == here || there.starts_with(&format!("{here}/"))))
    {
        1.05
    } else {
        1.0
    }
}

fn passage(
    searcher: &Searcher,
    fields: &Fields,
    page: &ManifestPage,
    section: Option<DocAddress>,
    asked: &Asked,
    score: f32,
) -> tantivy::Result<Passage> {
    let document: TantivyDocument = match section {
        Some(address) => searcher.doc(address)?,
        None => TantivyDocument::default(),
    };
    let stored = |field| document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default();
    let mut content = excerpt(stored(fields.content), asked, LONGEST_PASSAGE);
    if content.is_empty() {
        content = page.description.clone().unwrap_or_else(|| page.title.clone());
    }
    let anchor = stored(fields.anchor);
    let href = if anchor.is_empty() { format!("/{}", page.path) } else { format!("/{}#{anchor}", page.path) };
    Ok(Passage {
        path: page.path.clone(),
        href,
        title: page.title.clone(),
        headings: stored(fields.trail).lines().map(str::to_owned).collect(),
        content,
        score: score.clamp(0.0, 1.0),
        version: page.version.clone(),
        language: page.language.clone(),
    })
}

/// Which page a document is of; the column is opened once a segment.
#[derive(Default)]
struct PageNumbers {
    columns: HashMap<u32, tantivy::columnar::Column<u64>>,
}

impl PageNumbers {
    fn of(&mut self, searcher: &Searcher, address: DocAddress) -> tantivy::Result<u64> {
        let column = match self.columns.entry(address.segment_ord) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(searcher.segment_reader(address.segment_ord).fast_fields().u64("page")?),
        };
        Ok(column.first(address.doc_id).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_counts_a_little_more() {
        assert!(nearness(Some("/guides/a"), "guides/a") > nearness(Some("guides/a"), "guides/b"));
        assert!(nearness(Some("guides/a"), "guides/deep/b") > nearness(Some("guides/a"), "api/b"));
        assert!((nearness(Some("a"), "b") - 1.0).abs() < f32::EPSILON);
        assert!((nearness(None, "b") - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn further_sections_count_for_less() {
        let hit = |score| (score, DocAddress::new(0, 0));
        let one = Candidate { page: 0.0, sections: vec![hit(4.0)] };
        let two = Candidate { page: 0.0, sections: vec![hit(3.5), hit(3.5)] };
        assert!(two.score() > one.score());
        let many = Candidate { page: 0.0, sections: vec![hit(1.0); 100] };
        assert!(many.score() < one.score());
    }
}
