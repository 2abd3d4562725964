//! Statistics on the questions that a site was asked in a period.
//!
//! All questions, answers and ratings are counted, by day. Figures that need each question are computed for the newest
//! ones only, so that a summary of a million questions takes as long as one of ten thousand.

use std::borrow::Cow;
use std::collections::HashMap;

use docent_types::Timestamp;
use serde::Deserialize;

use crate::export::QuestionFacts;
use crate::thread::{CitedPage, Rating};

/// Maximum number of questions that [`NewestQuestions`] covers.
pub const NEWEST: u32 = 10_000;
/// Maximum number of entries in its lists of pages.
const MOST_PAGES: usize = 50;
/// The length of a day in milliseconds.
pub(crate) const DAY: i64 = 86_400_000;

/// A range of UTC days, each given as the number of days since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    pub first: i64,
    /// The first day that is not included.
    pub end: i64,
}

impl Days {
    /// The days that a period touches; unbounded on a side that is `None`. `to` is exclusive.
    pub fn touched(from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
        let (earliest, latest) = (0, i64::MAX / DAY);
        let first = from.map_or(earliest, |from| from.millis().div_euclid(DAY));
        let end = to.map_or(latest, |to| to.millis().saturating_sub(1).div_euclid(DAY) + 1);
        Self { first: first.clamp(earliest, latest), end: end.clamp(earliest, latest) }
    }

    /// The start of the first day, and the start of the day after the last.
    pub const fn bounds(self) -> (Timestamp, Timestamp) {
        (Timestamp::from_millis(self.first * DAY), Timestamp::from_millis(self.end * DAY))
    }

    pub fn contains(self, moment: Timestamp) -> bool {
        (self.first..self.end).contains(&day_of(moment))
    }
}

pub(crate) fn day_of(moment: Timestamp) -> i64 {
    moment.millis().div_euclid(DAY)
}

/// The first moment of a day.
pub(crate) const fn start_of(day: i64) -> Timestamp {
    Timestamp::from_millis(day.saturating_mul(DAY))
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// All days with questions, in order.
    pub by_day: Vec<DayCount>,
    /// The sum over all days.
    pub counts: QuestionCounts,
    pub newest: NewestQuestions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayCount {
    /// The start of the day.
    pub day: Timestamp,
    pub counts: QuestionCounts,
}

impl DayCount {
    /// `day` is the number of days since the Unix epoch.
    pub const fn new(day: i64, counts: QuestionCounts) -> Self {
        Self { day: Timestamp::from_millis(day * DAY), counts }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuestionCounts {
    pub questions: u64,
    pub answered: u64,
    /// Answers rated up, and answers rated down.
    pub up: u64,
    pub down: u64,
}

impl QuestionCounts {
    pub const fn unanswered(&self) -> u64 {
        self.questions.saturating_sub(self.answered)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.questions += other.questions;
        self.answered += other.answered;
        self.up += other.up;
        self.down += other.down;
    }
}

/// Statistics on the newest questions of a period, at most [`NEWEST`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewestQuestions {
    /// The number of questions covered.
    pub questions: u64,
    /// The number of questions by [`Turn::language`](crate::Turn::language), the most frequent first.
    pub languages: Vec<(Option<String>, u64)>,
    /// `None` when no answer was complete.
    pub latency: Option<Latency>,
    /// The pages that most answers cite, at most 50.
    pub sources: Vec<SourceCount>,
    /// The pages that readers were on when a question was not answered, at most 50, the most frequent first.
    pub unanswered_pages: Vec<(String, u64)>,
}

/// Latencies in milliseconds since the question was asked; see [`Timing`](crate::Timing).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// The number of answers measured.
    pub answers: u64,
    pub search: Percentiles,
    pub first_word: Percentiles,
    pub end: Percentiles,
}

/// Half of the values are at most `p50`, and 95 of 100 at most `p95`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    pub p50: u32,
    pub p95: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCount {
    pub title: String,
    /// The address of the page, without an anchor.
    pub url: String,
    /// The number of answers that cite the page, and how many of them were rated down.
    pub answers: u64,
    pub down: u64,
}

impl Summary {
    /// `by_day` must be sorted by day.
    pub fn new(by_day: Vec<DayCount>, newest: NewestQuestions) -> Self {
        let mut counts = QuestionCounts::default();
        by_day.iter().for_each(|day| counts.add(day.counts));
        Self { by_day, counts, newest }
    }

    /// Summarises all questions of a period; they must be sorted newest first.
    pub(crate) fn of<'a>(questions: impl Iterator<Item = QuestionFacts<'a>>) -> Self {
        let mut by_day: Vec<(i64, QuestionCounts)> = Vec::new();
        let mut tally = Tally::default();
        for facts in questions {
            let day = day_of(facts.asked_at);
            if by_day.last().is_none_or(|(last, _)| *last != day) {
                by_day.push((day, QuestionCounts::default()));
            }
            if let Some((_, counts)) = by_day.last_mut() {
                counts.add(QuestionCounts {
                    questions: 1,
                    answered: facts.answered.into(),
                    up: (facts.rating == Some(Rating::Up)).into(),
                    down: (facts.rating == Some(Rating::Down)).into(),
                });
            }
            if tally.questions < u64::from(NEWEST) {
                tally.add(&facts);
            }
        }
        Self::new(by_day.into_iter().rev().map(|(day, counts)| DayCount::new(day, counts)).collect(), tally.total())
    }
}

/// Collects [`NewestQuestions`] from questions that arrive newest first.
#[derive(Debug, Default)]
pub struct Tally {
    questions: u64,
    /// Questions without a language are counted under the empty string.
    languages: HashMap<String, u64>,
    unanswered_pages: HashMap<String, u64>,
    /// The tallies of answers and down ratings, keyed by the answers' sources as JSON. Many answers have the same
    /// sources.
    sources: HashMap<String, SourceTally>,
    search: Vec<u32>,
    first_word: Vec<u32>,
    end: Vec<u32>,
}

#[derive(Debug, Default)]
struct SourceTally {
    /// The rank of the newest answer with these sources.
    order: u64,
    answers: u64,
    down: u64,
}

impl Tally {
    pub fn add(&mut self, facts: &QuestionFacts<'_>) {
        self.questions += 1;
        count(&mut self.languages, facts.language.unwrap_or_default());
        if facts.answered {
            let order = self.questions;
            let tally = match self.sources.get_mut(facts.sources.as_ref()) {
                Some(tally) => tally,
                None => {
                    let fresh = SourceTally { order, ..SourceTally::default() };
                    self.sources.entry(facts.sources.clone().into_owned()).or_insert(fresh)
                }
            };
            tally.answers += 1;
            tally.down += u64::from(facts.rating == Some(Rating::Down));
        } else if let Some(page) = facts.page {
            count(&mut self.unanswered_pages, page);
        }
        if let Some(timing) = facts.timing {
            self.search.push(timing.search_ms);
            self.first_word.push(timing.first_word_ms);
            self.end.push(timing.end_ms);
        }
    }

    pub fn total(self) -> NewestQuestions {
        let answers = self.search.len() as u64;
        let measured = percentiles(self.search).zip(percentiles(self.first_word)).zip(percentiles(self.end));
        let languages = most_frequent(self.languages, usize::MAX).into_iter();
        NewestQuestions {
            questions: self.questions,
            languages: languages.map(|(language, n)| (Some(language).filter(|l| !l.is_empty()), n)).collect(),
            latency: measured.map(|((search, first_word), end)| Latency { answers, search, first_word, end }),
            sources: source_counts(self.sources),
            unanswered_pages: most_frequent(self.unanswered_pages, MOST_PAGES),
        }
    }
}

fn count(counts: &mut HashMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(counts.insert(name.to_owned(), 1)),
    }
}

fn most_frequent(counts: HashMap<String, u64>, most: usize) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_unstable_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    counts.truncate(most);
    counts
}

/// A [`CitedPage`] whose texts are borrowed: a summary parses thousands of them.
#[derive(Deserialize)]
struct StoredSource<'s> {
    #[serde(borrow)]
    title: Cow<'s, str>,
    #[serde(borrow)]
    url: Cow<'s, str>,
}

impl<'s> StoredSource<'s> {
    /// The sources of an answer, as stored. Older answers have another format.
    fn all(sources: &'s str) -> Vec<Self> {
        let older = |source: CitedPage| Self { title: source.title.into(), url: source.url.into() };
        serde_json::from_str(sources).unwrap_or_else(|_| {
            let pages: Vec<CitedPage> = serde_json::from_str(sources).unwrap_or_default();
            pages.into_iter().map(older).collect()
        })
    }

    fn page(&self) -> &str {
        self.url.split('#').next().unwrap_or_default()
    }
}

/// Merges the tallies by page, with the title from the newest answer. An answer that cites two places of a page counts
/// once.
fn source_counts(tallies: HashMap<String, SourceTally>) -> Vec<SourceCount> {
    let mut newest_first: Vec<(String, SourceTally)> = tallies.into_iter().collect();
    newest_first.sort_unstable_by_key(|(_, tally)| tally.order);
    let mut pages: HashMap<String, SourceCount> = HashMap::new();
    for (sources, tally) in newest_first {
        let sources = StoredSource::all(&sources);
        for (at, source) in sources.iter().enumerate() {
            if sources[..at].iter().any(|before| before.page() == source.page()) {
                continue;
            }
            if !pages.contains_key(source.page()) {
                let (title, url) = (source.title.clone().into_owned(), source.page().to_owned());
                pages.insert(url.clone(), SourceCount { title, url, answers: 0, down: 0 });
            }
            if let Some(page) = pages.get_mut(source.page()) {
                page.answers += tally.answers;
                page.down += tally.down;
            }
        }
    }
    let mut pages: Vec<SourceCount> = pages.into_values().collect();
    pages.sort_unstable_by(|a, b| b.answers.cmp(&a.answers).then_with(|| a.url.cmp(&b.url)));
    pages.truncate(MOST_PAGES);
    pages
}

/// Percentiles by nearest rank; `None` without values.
fn percentiles(mut values: Vec<u32>) -> Option<Percentiles> {
    values.sort_unstable();
    let at = |percent: usize| values.get((values.len() * percent).div_ceil(100).saturating_sub(1)).copied();
    Some(Percentiles { p50: at(50)?, p95: at(95)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        for (values, expected) in [
            (vec![], None),
            (vec![7], Some((7, 7))),
            (vec![9, 1], Some((1, 9))),
            ((1..=100).rev().collect(), Some((50, 95))),
            ((1..=20).collect(), Some((10, 19))),
            ((1..=21).collect(), Some((11, 20))),
        ] {
            assert_eq!(percentiles(values.clone()).map(|found| (found.p50, found.p95)), expected, "{values:?}");
        }
    }

    #[test]
    fn sources_in_their_older_form_are_counted_too() {
        for (json, title) in
            [(r#"["guides/retries"]"#, "guides/retries"), (r#"[{"title":"\"R\"","url":"/guides/retries#a"}]"#, "\"R\"")]
        {
            let tally = SourceTally { order: 1, answers: 2, down: 0 };
            let expected =
                SourceCount { title: title.to_owned(), url: "/guides/retries".to_owned(), answers: 2, down: 0 };
            assert_eq!(source_counts(HashMap::from([(json.to_owned(), tally)])), [expected], "{json}");
        }
    }

    #[test]
    fn a_span_of_time_touches_whole_days() {
        let touched = |from: Option<i64>, to: Option<i64>| {
            let days = Days::touched(from.map(Timestamp::from_millis), to.map(Timestamp::from_millis));
            (days.first, days.end)
        };
        let ever = i64::MAX / DAY;
        for (from, to, expected) in [
            (None, None, (0, ever)),
            (Some(0), Some(DAY), (0, 1)),
            (Some(DAY - 1), Some(DAY + 1), (0, 2)),
            (Some(DAY), Some(DAY), (1, 1)),
            (Some(i64::MIN), Some(i64::MAX), (0, ever)),
            (Some(-1), Some(0), (0, 0)),
        ] {
            assert_eq!(touched(from, to), expected, "{from:?} {to:?}");
        }
    }
}
