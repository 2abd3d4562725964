//! Explains the ranking of pages in plain terms.

use crate::answer::result_selection::ResultSelection;
use crate::answer::search::or_nothing;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::rank::bm25::Scored;
use crate::rank::lookup::Lookup;
use crate::rank::question::{MatchReason, Question, Word};
use crate::rank::ranking::Search;
use crate::rank::settings::SHIPPED;

/// Why one page has its place in the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The page's path on the site, without a leading slash.
    pub path: String,
    /// How likely the page is to answer, 0 to 1: the score of its passage.
    pub score: f32,
    /// How many other pages link to it, which counts a little.
    pub linked_from: u32,
    /// The matches that add to its ranking score, the heaviest first.
    pub matches: Vec<Match>,
}

/// A word of the question that a page holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The word in lower case, unstemmed.
    pub word: String,
    /// The other forms that were looked up for it, as stems: synonyms, completions of a prefix, corrected typos, split
    /// and joined words. Empty when only the word itself was looked up.
    pub instead: Vec<String>,
    /// The field it occurs in: `title`, `path`, `description`, `headings`, `page` (anywhere on the page), `links` (of
    /// other pages to it), or `heading`, `section` or `code` of the passage.
    pub place: &'static str,
    /// What the match adds to the score, on the same scale for all matches of one answer.
    pub weight: f32,
}

impl Snapshot {
    /// Explains the passages for a question: one explanation for each passage of [`Snapshot::search`], in the same
    /// order. Takes several times as long as the search.
    pub fn explain(&self, query: &Query) -> Vec<Explanation> {
        or_nothing(explain(self, &query.read()), "a search could not be explained")
    }
}

fn explain(snapshot: &Snapshot, query: &Query) -> tantivy::Result<Vec<Explanation>> {
    let settings = SHIPPED;
    let Some(mut search) = Search::new(snapshot, query, &settings)? else { return Ok(Vec::new()) };
    let ranked = search.ranked(None)?;
    let shown = ResultSelection::new(&search).sections(ranked, query.limit)?;
    let stats = &snapshot.stats;
    let numbers: Vec<(usize, Option<usize>)> = shown
        .iter()
        .map(|(page, section, _)| {
            let number = stats.numbers.get(&page.id).copied().unwrap_or_default();
            (number as usize, section.map(|address| stats.document(address)))
        })
        .collect();
    let mut explanations: Vec<Explanation> = shown
        .iter()
        .zip(&numbers)
        .map(|((page, _, score), (number, _))| Explanation {
            path: page.path.clone(),
            score: *score,
            linked_from: stats.linked_from.get(*number).copied().unwrap_or_default(),
            matches: Vec::new(),
        })
        .collect();
    for (scored, share) in [(Scored::Sections, 1.0), (Scored::Pages, search.lookup.settings.page_share)] {
        let number = |(page, section): &(usize, Option<usize>)| match scored {
            Scored::Sections => *section,
            Scored::Pages => Some(*page),
        };
        let numbers: Vec<Option<usize>> = numbers.iter().map(number).collect();
        matches(&search.lookup, scored, &search.question, &mut |word, place, weigh| {
            for (explanation, number) in explanations.iter_mut().zip(&numbers) {
                let weight = number.map_or(0.0, |number| share * weigh(number));
                if weight > 0.0 {
                    explanation.matches.push(Match { word: word.asked.clone(), instead: instead(word), place, weight });
                }
            }
        })?;
    }
    for explanation in &mut explanations {
        explanation.matches.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    }
    Ok(explanations)
}

/// What a word adds to the score of a section or a page, given its number.
type Weigh<'w> = &'w dyn Fn(usize) -> f32;

/// Looks up one word in one field at a time, and calls `each` with the word, the name of the field, and a function that
/// returns what the match adds to a section or page.
fn matches(
    lookup: &Lookup<'_>,
    scored: Scored,
    question: &Question,
    each: &mut dyn FnMut(&Word, &'static str, Weigh<'_>),
) -> tantivy::Result<()> {
    let (mut scores, texts) = (lookup.empty(scored), lookup.texts(scored));
    for word in &question.words {
        let found = lookup.find(word)?;
        for text in &texts {
            lookup.score(text, &found, None, &mut scores)?;
            each(word, text.name, &|number| scores.score(number));
            scores.clear();
        }
    }
    Ok(())
}

fn instead(word: &Word) -> Vec<String> {
    word.forms.iter().filter(|form| form.because != MatchReason::Asked).map(|form| form.stem.clone()).collect()
}
