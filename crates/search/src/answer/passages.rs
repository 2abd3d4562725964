//! Cuts a section to the excerpt that is shown.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use crate::rank::question::Question;
use crate::text::languages::Language;
use crate::text::terms::{self, StemPrefixes};

/// Only this many bytes of a section are searched for the best excerpt.
const LONGEST_SECTION: usize = 64_000;
/// The weight of each further paragraph with a word that is in the excerpt already.
const AGAIN: f32 = 0.02;

/// The words a passage should hold.
#[derive(Debug, Default)]
pub(crate) struct SoughtWords {
    /// By stem: the number of the word in the question, and its weight.
    stems: HashMap<String, (usize, f32)>,
    begins: StemPrefixes,
}

impl SoughtWords {
    pub(crate) fn of(question: &Question) -> Self {
        let mut stems = HashMap::new();
        for (number, word) in question.words.iter().enumerate() {
            // Longer words are usually rarer.
            let weight = if word.is_optional { 0.3 } else { 1.0 } * (word.asked.chars().count() as f32).sqrt();
            for form in &word.forms {
                stems.entry(form.stem.clone()).or_insert((number, weight * form.share));
            }
        }
        Self::with(stems)
    }

    /// The weight of the sought words that a text has.
    pub(crate) fn weight_in(&self, text: &str, language: Language) -> f32 {
        held(text, self, language, &mut Known::default()).iter().map(|(_, weight)| weight).sum()
    }

    fn with(stems: HashMap<String, (usize, f32)>) -> Self {
        let begins = StemPrefixes::of(stems.keys().map(String::as_str));
        Self { stems, begins }
    }
}

/// The part of a section that contains most of what was asked, at most `most` characters, cut between paragraphs where
/// possible. A section that is short enough is returned whole.
pub(crate) fn excerpt(markdown: &str, sought: &SoughtWords, language: Language, most: usize) -> String {
    if markdown.chars().nth(most).is_none() {
        return markdown.to_owned();
    }
    let markdown = &markdown[..markdown.floor_char_boundary(LONGEST_SECTION)];
    let paragraphs = paragraphs(markdown);
    let lengths: Vec<usize> = paragraphs.iter().map(|paragraph| paragraph.chars().count() + 2).collect();
    let mut known = Known::default();
    let held = paragraphs.iter().map(|paragraph| held(paragraph, sought, language, &mut known));
    let held: Vec<Vec<(usize, f32)>> = held.collect();
    let best = best_run(&lengths, &held, most + 2);
    shortened(&paragraphs[best].join("\n\n"), most)
}

/// The run of paragraphs within `room` characters with the greatest weight. Ties go to the earliest run, as a reader
/// wants the beginning.
fn best_run(lengths: &[usize], held: &[Vec<(usize, f32)>], room: usize) -> Range<usize> {
    let mut best = (f32::MIN, 0..1);
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let (mut sum, mut length, mut end) = (0.0_f32, 0, 0);
    for start in 0..lengths.len() {
        while end < lengths.len() && (length + lengths[end] <= room || end == start) {
            length += lengths[end];
            for (word, weight) in &held[end] {
                let count = counts.entry(*word).or_default();
                sum += if *count == 0 { *weight } else { AGAIN };
                *count += 1;
            }
            end += 1;
        }
        if sum > best.0 + AGAIN / 2.0 {
            best = (sum, start..end);
        }
        length -= lengths[start];
        for (word, weight) in &held[start] {
            let count = counts.entry(*word).or_default();
            *count -= 1;
            sum -= if *count == 0 { *weight } else { AGAIN };
        }
    }
    best.1
}

/// Cache of the words of a section as spelled there, each with the sought word it is a form of, if any. Most words
/// occur repeatedly.
type Known = HashMap<String, Option<(usize, f32)>, RandomState>;

/// The sought words that a paragraph contains, each once, with their weights.
fn held(paragraph: &str, sought: &SoughtWords, language: Language, known: &mut Known) -> Vec<(usize, f32)> {
    let mut found: Vec<(usize, f32)> = Vec::new();
    terms::each_beginning(paragraph, &sought.begins, |word| {
        let held = known.get(word).copied().unwrap_or_else(|| {
            let held = sought.stems.get(&terms::stem(&terms::lower(word), language)).copied();
            known.insert(word.to_owned(), held);
            held
        });
        if let Some(word) = held
            && found.iter().all(|(known, _)| *known != word.0)
        {
            found.push(word);
        }
    });
    found
}

/// Splits Markdown into paragraphs and fenced code blocks, each whole.
fn paragraphs(markdown: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut fence: Option<&str> = None;
    for line in markdown.split_inclusive('\n') {
        let text = line.trim();
        match fence {
            Some(mark) if text.starts_with(mark) => fence = None,
            Some(_) => {}
            None if text.starts_with("```") => fence = Some("```"),
            None if text.starts_with("~~~") => fence = Some("~~~"),
            None if text.is_empty() => {
                found.push(markdown[start..at].trim_matches('\n'));
                start = at + line.len();
            }
            None => {}
        }
        at += line.len();
    }
    found.push(markdown[start..].trim_matches('\n'));
    found.retain(|paragraph| !paragraph.trim().is_empty());
    if found.is_empty() { vec![markdown] } else { found }
}

/// Cuts a text to at most `most` characters, after a line or a word where possible.
fn shortened(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let head = &text[..end];
    let cut = head.rfind('\n').filter(|at| *at > end / 2).or_else(|| head.rfind(' ').filter(|at| *at > end / 2));
    head[..cut.unwrap_or(end)].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(markdown: &str, words: &str, most: usize) -> String {
        let stems = terms::asked(words).into_iter().enumerate();
        let stems = stems.map(|(number, word)| (terms::stem(&word, Language::English), (number, 1.0))).collect();
        excerpt(markdown, &SoughtWords::with(stems), Language::English, most)
    }

    #[test]
    fn a_short_section_is_shown_whole() {
        assert_eq!(cut("one\n\ntwo", "two", 100), "one\n\ntwo");
    }

    #[test]
    fn of_a_long_one_the_part_that_answers_is_shown() {
        let text = format!(
            "{}\n\nThe retry limit is five.\n\n```\nretry = 5\n\nlimit = 1\n```\n\n{}",
            "intro ".repeat(20),
            "end ".repeat(50)
        );
        let shown = cut(&text, "retry limits", 80);
        assert_eq!(shown, "The retry limit is five.\n\n```\nretry = 5\n\nlimit = 1\n```");
        assert!(cut(&text, "nothing", 80).starts_with("intro"));
    }

    #[test]
    fn more_of_the_question_beats_more_of_one_word() {
        let text = format!("{}\n\nretry\n\nretry\n\n{}\n\nretry within the limit", "a ".repeat(30), "b ".repeat(30));
        assert_eq!(cut(&text, "retry limit", 40), "retry within the limit");
    }

    proptest! {
        #[test]
        fn no_passage_is_too_long(text in "(\\PC|\n|```\n){0,400}", most in 1_usize..200) {
            let shown = cut(&text, "a b", most);
            prop_assert!(shown.chars().count() <= most);
            prop_assert_eq!(shown.is_empty(), shown.trim().is_empty() && shown.is_empty());
        }
    }
}
