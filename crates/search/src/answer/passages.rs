//! A section cut to what is worth showing.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use crate::rank::question::Question;
use crate::text::languages::Language;
use crate::text::terms::{self, Beginnings};

/// So much of a section is looked through for the best part of it, in bytes.
const LONGEST_SECTION: usize = 64_000;
/// What each further place counts where a word stands that is there already.
const AGAIN: f32 = 0.02;

/// The words a passage should hold.
#[derive(Debug, Default)]
pub(crate) struct SoughtWords {
    /// By stem: which word of the question it stands for, and what it counts.
    stems: HashMap<String, (usize, f32)>,
    begins: Beginnings,
}

impl SoughtWords {
    pub(crate) fn of(question: &Question) -> Self {
        let mut stems = HashMap::new();
        for (number, word) in question.words.iter().enumerate() {
            // The longer a word, the rarer it is, more often than not.
            let weight = if word.is_extra { 0.3 } else { 1.0 } * (word.asked.chars().count() as f32).sqrt();
            for form in &word.forms {
                stems.entry(form.stem.clone()).or_insert((number, weight * form.share));
            }
        }
        Self::with(stems)
    }

    fn with(stems: HashMap<String, (usize, f32)>) -> Self {
        let begins = Beginnings::of(stems.keys().map(String::as_str));
        Self { stems, begins }
    }
}

/// The part of a section that says most of what was asked, at most `most` characters, cut between paragraphs where
/// that can be. A section that is short enough is given whole.
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

/// The run of paragraphs within `room` that holds most. Of equals the earliest: a reader wants the beginning.
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

/// Words of a section as they are spelled there, each with what it is of those sought. Most come again and again.
type Known = HashMap<String, Option<(usize, f32)>, RandomState>;

/// The words sought that a paragraph holds, each once, with what it counts.
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

/// Paragraphs and fenced blocks, each whole.
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

/// Cut to length, after a line or a word where that can be.
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
