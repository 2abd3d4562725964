//! Ranks pages by the scores of their documents.
//!
//! ```text
//! sections   scores of the words · bonus for containing all of the question · bonus for adjacent words
//! pages      scores of their sections, the best in full and each further one at a lower weight · score of the whole
//!            page · bonus for pages that many others link to
//! fused      word scores and vector similarity together, where there are vectors
//! shown      the best section of each page, once for pages that are copies
//! ```
//!
//! A page with matches in three sections beats one with a match in one, and a long page does not win by its length.

use std::cmp::Ordering;

use crate::index::page_kind::AskedKind;
use crate::index::section_kind::SectionKind;
use crate::index::snapshot::Snapshot;
use crate::index::snapshot_tables::Tables;
use crate::query::Query;
use crate::rank::allowed::Allowed;
use crate::rank::answering::{QuestionWeights, falling_scores};
use crate::rank::asked_language::asked_language;
use crate::rank::lookup::{Found, Lookup, LookupScores};
use crate::rank::question::{BESIDE, Question, Word};
use crate::rank::score_accumulator::{ScoreAccumulator, rarity, sum_of};
use crate::rank::settings::Settings;
use crate::rank::variants::{WantedVariant, without_versions};
use crate::text::lexicon::Lexicon;
use crate::vectors::similarity::Similarities;

/// Maximum number of sections, and of pages found by the score of the whole page, that become candidates.
const MOST_SECTIONS: usize = 500;
const MOST_PAGES: usize = 100;
/// The number of the best pages whose titles are compared with the question.
const MOST_TITLES: usize = 20;
/// The number of the best pages that are ranked, or twice the number of results wanted if that is more: some pages turn
/// out to be copies.
const MOST_RANKED: usize = 100;
/// If a quoted phrase stands on fewer pages than this, other pages are shown, too; and by how much it counts then.
const FEW_PAGES: usize = 3;
const QUOTED: f32 = 2.0;
/// An explaining section that scores less than this share of its page's best section does not explain what is asked.
const LEAST_SAID: f32 = 0.5;

/// A page with this score probably answers.
const ANSWERS: f32 = 0.5;

/// A page that may be shown.
#[derive(Debug, Default)]
pub(crate) struct Candidate {
    /// The page's number.
    pub(crate) number: u32,
    /// The score by which the page is ranked.
    pub(crate) score: f32,
    /// The words of the question that the page contains, a bit for each.
    pub(crate) met: u32,
    /// How likely it is to answer the question, 0 to 1.
    pub(crate) answers: f32,
    /// Sections that may be shown, the best first: what each scores, and its number.
    pub(crate) sections: Vec<(f32, usize)>,
    /// The weight for the kind of the page and of its sections: part of the ranking, but not of how likely the page is
    /// to answer.
    kind_counts: f32,
    /// How many of the quoted phrases it contains.
    quotes: usize,
    /// Whether the page is among those with the most similar vectors.
    pub(crate) is_near: bool,
}

/// A search for one question in one snapshot.
pub(crate) struct Search<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) question: Question,
    pub(crate) lookup: Lookup<'s>,
    query: &'s Query,
    /// The words that were asked for, a bit for each.
    pub(crate) asked: u32,
    /// The version and language asked for.
    pub(crate) wanted: WantedVariant,
}

impl<'s> Search<'s> {
    /// `None` when the question has no words, the limit is 0, or nothing is indexed.
    pub(crate) fn new(
        snapshot: &'s Snapshot,
        query: &'s Query,
        settings: &'s Settings,
    ) -> tantivy::Result<Option<Self>> {
        let Some(searcher) = snapshot.searcher().filter(|_| query.limit > 0) else { return Ok(None) };
        let (fields, stats) = (&snapshot.fields, &snapshot.stats);
        let lexicon = Lexicon::new(searcher, fields, stats);
        let (text, versions) = without_versions(&query.text, &snapshot.tables.variants);
        let beside = format!("{versions}{}", query.beside);
        let question = Question::of(&text, query.after.as_deref(), &beside, &lexicon, &snapshot.tables.synonyms)?;
        let lookup = Lookup { searcher, fields, stats, settings };
        let asked = question.words.iter().enumerate().filter(|(_, word)| !word.is_optional);
        let asked = asked.fold(0, |bits, (at, _)| bits | 1_u32 << at);
        let near = query.near.as_deref().and_then(|near| snapshot.lookup(near));
        let wanted = WantedVariant::of(&snapshot.tables.variants, query, near.map(|near| snapshot.number_of(near)));
        Ok((!question.words.is_empty()).then_some(Self { snapshot, question, lookup, query, asked, wanted }))
    }

    /// The matching pages, best first.
    pub(crate) fn ranked(&mut self, similarity: Option<&Similarities>) -> tantivy::Result<Vec<Candidate>> {
        let LookupScores { sections, pages, found } = self.lookup.scores_of(&self.question)?;
        let once = self.lookup.settings.variants_once > 0.0;
        if self.wanted.is_untold || self.wanted.is_told_by_words {
            let Tables { variants, languages: pages, .. } = &self.snapshot.tables;
            let is_told = self.wanted.is_told_by_words;
            let language = match self.titled_language() {
                Some(language) => Some(language),
                None => asked_language(&self.lookup, &self.question, &found, variants, pages, is_told)?,
            };
            self.wanted = std::mem::take(&mut self.wanted).in_language(variants, language);
        }
        let this = &*self;
        let mut allowed = Allowed::new(self.snapshot, &self.query.filter, once.then_some(&this.wanted));
        let mut candidates = Candidates::new(self.snapshot.stats.pages.len());
        for hit in self.best_sections(&sections, &found, &mut allowed)? {
            if let Some(candidate) = candidates.of(self.snapshot.stats.page_of(hit.1)) {
                candidate.sections.push(hit);
            }
        }
        for page in self.best_pages(&pages, &mut allowed) {
            candidates.of(page);
        }
        if let Some(similarity) = similarity {
            self.add_nearest(&mut candidates, similarity, &sections, &mut allowed)?;
        }
        let mut ranked = candidates.found;
        self.keep_phrases(&mut ranked)?;
        // An identifier that stands in code alone is as exact as a quote.
        let words = self.question.words.iter().zip(&found).enumerate();
        let named = words.filter(|(_, (word, found))| word.is_identifier && self.lookup.is_in_code_alone(found));
        let named = named.fold(0, |bits, (at, _)| bits | 1_u32 << at);
        for candidate in &mut ranked {
            let quotes = candidate.quotes as u32 + (pages.met(candidate.number as usize) & named).count_ones();
            candidate.score = self.score(candidate, &pages) * QUOTED.powi(quotes as i32);
        }
        let order = |a: &Candidate, b: &Candidate| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number));
        self.keep_best_or_near(&mut ranked, order);
        for candidate in &mut ranked {
            candidate.met = pages.met(candidate.number as usize)
                | candidate.sections.first().map_or(0, |(_, section)| sections.met(*section));
        }
        let asks = self.asks();
        for candidate in &mut ranked {
            let page = self.snapshot.page_numbered(candidate.number);
            let by_kind = page.map_or(1.0, |page| page.kind.counts(&asks, self.lookup.settings));
            let by_kind = by_kind * self.demote_by_section_kind(candidate, &asks);
            // Vector similarity already separates pages that explain from lists; weighting by kind as well makes the
            // order worse.
            candidate.kind_counts = if similarity.is_some() { 1.0 } else { by_kind };
            candidate.score *= nearness(self.query.near.as_deref(), page.map_or("", |page| &page.path));
            candidate.score *= self.fitness(candidate.number);
            candidate.score *= candidate.kind_counts;
        }
        ranked.sort_by(order);
        let top = ranked.len().min(MOST_TITLES);
        for candidate in &mut ranked[..top] {
            let title = self.snapshot.page_numbered(candidate.number).map_or("", |page| &page.title);
            if self.question.is_exact_title(title) {
                candidate.score *= 1.0 + 2.0 * self.lookup.settings.titled;
            } else if self.question.is_title(title) {
                candidate.score *= 1.0 + self.lookup.settings.titled;
            }
        }
        ranked.sort_by(order);
        // The kind of a page does not make it less likely to answer.
        ranked.iter_mut().for_each(|candidate| candidate.score /= candidate.kind_counts);
        self.weighed(sections.rarities()).judge(&mut ranked);
        ranked.iter_mut().for_each(|candidate| candidate.score *= candidate.kind_counts);
        if let Some(similarity) = similarity {
            ranked = self.fuse(ranked, similarity)?;
        }
        let variants = &self.snapshot.tables.variants;
        let is_other = |page: u32| self.wanted.is_other_version(variants, variants.page(page));
        // What only other versions have comes after any page of the wanted one that answers.
        let answers = |candidate: &Candidate| candidate.answers >= ANSWERS && !is_other(candidate.number);
        let last = ranked.iter().rposition(answers).map_or(0, |last| last + 1);
        ranked[..last].sort_by_key(|candidate| is_other(candidate.number));
        falling_scores(&mut ranked);
        Ok(ranked)
    }

    /// The language of the pages whose title is the question, unless it is a title in the default language, too.
    fn titled_language(&self) -> Option<usize> {
        let variants = &self.snapshot.tables.variants;
        let pages = (0..).zip(self.snapshot.manifest().listed());
        let titled = pages.filter(|(_, page)| self.question.is_exact_title(&page.title));
        let mut languages = titled.map(|(number, _)| variants.page(number).language.or(variants.default_language()));
        let first = languages.next()??;
        (Some(first) != variants.default_language() && languages.all(|other| other == Some(first))).then_some(first)
    }

    /// The sections that score best, best first.
    fn best_sections(
        &self,
        scores: &ScoreAccumulator,
        found: &[Found],
        allowed: &mut Allowed<'_>,
    ) -> tantivy::Result<Vec<(f32, usize)>> {
        let settings = self.lookup.settings;
        let all = self.sum_of_asked(scores.rarities(), u32::MAX).max(f32::MIN_POSITIVE);
        let gain = |number| 1.0 + settings.coverage * self.sum_of_asked(scores.rarities(), scores.met(number)) / all;
        let fits = |number: &usize| allowed.is_open() || allowed.is_allowed(self.snapshot.stats.page_of(*number));
        // Ties go to the section whose page comes first, whichever segments they are in.
        let stats = &self.snapshot.stats;
        let higher = |a: &(f32, usize), b: &(f32, usize)| {
            let page = |section: &(f32, usize)| stats.page_of(section.1);
            b.0.total_cmp(&a.0).then_with(|| page(a).cmp(&page(b)).then(a.1.cmp(&b.1)))
        };
        // The gain lifts no section from further down than twice the maximum.
        let mut best = best_of(scores, 2 * MOST_SECTIONS, higher, fits);
        best.iter_mut().for_each(|(score, number)| *score *= gain(*number));
        keep_best(&mut best, MOST_SECTIONS, higher);
        let top = (settings.together_top as usize).min(best.len());
        if settings.together > 0.0 && self.question.words.len() > 1 && top > 0 {
            best.select_nth_unstable_by(top - 1, higher);
            self.lookup.add_proximity(&self.question, found, scores.rarities(), &mut best[..top])?;
        }
        best.sort_unstable_by(higher);
        Ok(best)
    }

    fn best_pages(&self, scores: &ScoreAccumulator, allowed: &mut Allowed<'_>) -> Vec<u32> {
        let higher = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let best = best_of(scores, MOST_PAGES, higher, |page| allowed.is_open() || allowed.is_allowed(*page as u32));
        best.into_iter().map(|(_, page)| page as u32).collect()
    }

    /// Keeps the pages that come first, and those with the most similar vectors.
    fn keep_best_or_near(&self, ranked: &mut Vec<Candidate>, order: impl Fn(&Candidate, &Candidate) -> Ordering) {
        let most = MOST_RANKED.max(self.query.limit.saturating_mul(2));
        if ranked.len() > most {
            ranked.select_nth_unstable_by(most, order);
            let others = ranked.split_off(most);
            ranked.extend(others.into_iter().filter(|candidate| candidate.is_near));
        }
    }

    /// Keeps only the pages that contain a quoted phrase word for word, and puts their sections that contain it first. If
    /// they are few and more is asked than they say, the others stay behind them. A phrase that no page contains is ignored.
    fn keep_phrases(&self, ranked: &mut Vec<Candidate>) -> tantivy::Result<()> {
        let quoted: Vec<&String> = self.question.phrases.iter().flatten().flatten().collect();
        let is_quoted = |word: &Word| word.forms.iter().any(|form| quoted.contains(&&form.stem));
        let asks_more = self.question.words.iter().any(|word| !word.is_optional && !is_quoted(word));
        for phrase in &self.question.phrases {
            let holding = self.lookup.holding(phrase)?;
            let holds = |candidate: &Candidate| candidate.sections.iter().any(|(_, at)| holding.contains(at));
            let count = ranked.iter().filter(|candidate| holds(candidate)).count();
            if count > 0 {
                if count >= FEW_PAGES || !asks_more {
                    ranked.retain(holds);
                }
                for candidate in &mut *ranked {
                    candidate.quotes += usize::from(holds(candidate));
                    // The sort is stable: among the sections that contain the phrase, the best stays first.
                    candidate.sections.sort_by_key(|(_, at)| !holding.contains(at));
                }
            }
        }
        Ok(())
    }

    fn score(&self, candidate: &Candidate, pages: &ScoreAccumulator) -> f32 {
        let settings = self.lookup.settings;
        let mut share = 1.0;
        let mut score = settings.page_share * pages.score(candidate.number as usize);
        for (section, _) in &candidate.sections {
            score += share * section;
            share *= settings.decay;
        }
        score * (1.0 + settings.linked * self.linked(candidate.number))
    }

    /// How many pages link to a page, on a logarithmic scale: 0 for none, 1 for the most that link to any.
    pub(crate) fn linked(&self, page: u32) -> f32 {
        let stats = &self.snapshot.stats;
        (stats.linked_from[page as usize] as f32).ln_1p() / (stats.most_linked.max(1) as f32).ln_1p()
    }

    /// Puts the sections of a page that explain first, if its best section does not. Returns the weight of the page,
    /// which is reduced by the kind of its best section if none of those scores half as much.
    fn demote_by_section_kind(&self, candidate: &mut Candidate, asks: &AskedKind) -> f32 {
        let kind = |number: &usize| self.kind_of_section(*number);
        let best = candidate.sections.first().map(|(score, number)| (*score, kind(number)));
        let Some((most, best)) = best.filter(|(_, best)| best.comes_after(asks)) else { return 1.0 };
        candidate.sections.sort_by_key(|(_, number)| kind(number).comes_after(asks));
        let is_first = candidate
            .sections
            .first()
            .is_some_and(|(score, number)| *score >= LEAST_SAID * most && !kind(number).comes_after(asks));
        if is_first { 1.0 } else { best.counts(asks, self.lookup.settings) }
    }

    /// What the question asks for other than an explanation.
    pub(crate) fn asks(&self) -> AskedKind {
        AskedKind::of(&self.query.text)
    }

    pub(crate) fn kind_of_section(&self, number: usize) -> SectionKind {
        let address = self.snapshot.stats.address(number);
        let segment = self.snapshot.stats.segments.get(address.segment_ord as usize);
        SectionKind::of_mark(segment.and_then(|segment| segment.readers.section_kind.first(address.doc_id)))
    }

    /// The weight of each word that was asked for. A word that no page contains weighs most; a guessed word adds a
    /// share of that weight, as large as the guess is uncertain.
    fn weighed(&self, rarities: &[f32]) -> QuestionWeights {
        let unknown = rarity(self.snapshot.stats.sections as f32, 0.0);
        let words = self.question.words.iter().zip(rarities).enumerate();
        let weigh = |(at, (word, rarity)): (usize, (&Word, &f32))| {
            let is_asked = self.asked >> at & 1 == 1;
            let met = if is_asked { word.certainty * rarity } else { 0.0 };
            (met, if is_asked { (1.0 - word.certainty) * unknown } else { 0.0 })
        };
        let (met, unsure): (Vec<f32>, Vec<f32>) = words.map(weigh).unzip();
        let all = met.iter().chain(&unsure).sum();
        let beside = self.question.words.iter().zip(rarities);
        let beside = beside.map(|(word, rarity)| if word.is_beside { BESIDE * rarity } else { 0.0 }).collect();
        QuestionWeights { met, beside, all }
    }

    /// The weight of a page for its version and language.
    fn fitness(&self, page: u32) -> f32 {
        let (variants, settings) = (&self.snapshot.tables.variants, self.lookup.settings);
        if variants.is_empty() {
            return 1.0;
        }
        let variant = variants.page(page);
        let is_other =
            self.wanted.is_other_version(variants, variant) || self.wanted.is_other_language(variants, variant);
        if is_other { settings.other_variant } else { 1.0 }
    }

    /// The sum of the rarities of the met words that were asked for. Added words do not count, so they are not missed.
    fn sum_of_asked(&self, rarities: &[f32], met: u32) -> f32 {
        sum_of(rarities, met & self.asked)
    }

    /// The index of a section among the sections of its page.
    pub(crate) fn ordinal(&self, number: usize) -> tantivy::Result<u64> {
        let address = self.snapshot.stats.address(number);
        let segment = self.snapshot.stats.segments.get(address.segment_ord as usize);
        Ok(segment.and_then(|segment| segment.readers.section.first(address.doc_id)).unwrap_or_default())
    }
}

/// The candidate pages, each once.
pub(crate) struct Candidates {
    found: Vec<Candidate>,
    /// By page number: the position among those found, counted from 1; 0 when not found yet.
    places: Vec<u32>,
}

impl Candidates {
    /// For `pages` pages.
    fn new(pages: usize) -> Self {
        Self { found: Vec::new(), places: vec![0; pages] }
    }

    pub(crate) fn of(&mut self, number: u32) -> Option<&mut Candidate> {
        let place = self.places.get_mut(number as usize)?;
        if *place == 0 {
            self.found.push(Candidate { number, ..Candidate::default() });
            *place = self.found.len() as u32;
        }
        self.found.get_mut(*place as usize - 1)
    }
}

/// The best-scoring numbers that satisfy `fits`, with their scores; unsorted.
fn best_of(
    scores: &ScoreAccumulator,
    most: usize,
    higher: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering,
    mut fits: impl FnMut(&usize) -> bool,
) -> Vec<(f32, usize)> {
    let mut best = Vec::with_capacity(2 * most);
    let mut least = 0.0;
    for number in scores.found() {
        let score = scores.score(number);
        if score >= least && fits(&number) {
            best.push((score, number));
            if best.len() == 2 * most {
                keep_best(&mut best, most, &higher);
                least = best.iter().map(|(score, _)| *score).fold(f32::INFINITY, f32::min);
            }
        }
    }
    keep_best(&mut best, most, higher);
    best
}

fn keep_best<T>(found: &mut Vec<T>, most: usize, order: impl Fn(&T, &T) -> Ordering) {
    if found.len() > most {
        found.select_nth_unstable_by(most, order);
        found.truncate(most);
    }
}

/// Pages in the folder of the page the asker is on count a little more, that page itself most. Enough to break a tie,
/// not enough to hide a better answer.
fn nearness(near: Option<&str>, path: &str) -> f32 {
    let Some(near) = near.map(|near| near.trim_matches('/')) else { return 1.0 };
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.len());
    let is_below = |here: usize| path.starts_with(&near[..here]) && path.as_bytes().get(here) == Some(&b'/');
    if near == path {
        1.1
    } else if folder(near).is_some_and(is_below) {
        1.05
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_rank_a_little_higher() {
        assert!(nearness(Some("/guides/a"), "guides/a") > nearness(Some("guides/a"), "guides/b"));
        assert!(nearness(Some("guides/a"), "guides/deep/b") > nearness(Some("guides/a"), "api/b"));
        assert!((nearness(Some("a"), "b") - 1.0).abs() < f32::EPSILON);
        assert!((nearness(None, "b") - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn the_best_are_kept() {
        let mut found = vec![3, 9, 1, 7, 5];
        keep_best(&mut found, 2, |a, b| b.cmp(a));
        found.sort_unstable();
        assert_eq!(found, [7, 9]);
    }
}
