//! A section cut to what is worth showing.

use crate::lookup::Asked;
use crate::words;

/// How many characters a passage may have.
pub(crate) const LONGEST_PASSAGE: usize = 2_000;

/// The part of a section that says most of what was asked, at most `most` characters, cut between paragraphs where
/// that can be. A section that is short enough is given whole.
pub(crate) fn excerpt(markdown: &str, asked: &Asked, most: usize) -> String {
    if markdown.chars().count() <= most {
        return markdown.to_owned();
    }
    let paragraphs = paragraphs(markdown);
    let lengths: Vec<usize> = paragraphs.iter().map(|paragraph| paragraph.chars().count() + 2).collect();
    let worth: Vec<usize> = paragraphs.iter().map(|paragraph| held(paragraph, asked)).collect();
    let mut best = (0, 0..1);
    for start in 0..paragraphs.len() {
        let mut room = most + 2;
        let mut end = start;
        while end < paragraphs.len() && lengths[end] <= room {
            room -= lengths[end];
            end += 1;
        }
        let sum: usize = worth[start..end.max(start + 1)].iter().sum();
        // Of equals the earlier one: a reader wants the beginning.
        if start == 0 || sum > best.0 {
            best = (sum, start..end.max(start + 1));
        }
    }
    shortened(&paragraphs[best.1].join("\n\n"), most)
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

/// How many of the words asked for a paragraph holds.
fn held(paragraph: &str, asked: &Asked) -> usize {
    let words = words::distinct(words::stemmed(), paragraph, 2_000);
    asked.stemmed.iter().filter(|word| words.contains(word)).count()
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

    #[test]
    fn a_short_section_is_shown_whole() {
        assert_eq!(excerpt("one\n\ntwo", &Asked::of("two"), 100), "one\n\ntwo");
    }

    #[test]
    fn of_a_long_one_the_part_that_answers_is_shown() {
        let text = format!(
            "{}\n\nThe retry limit is five.\n\n```\nretry = 5\n\nlimit = 1\n```\n\n{}",
            "intro ".repeat(20),
            "end ".repeat(50)
        );
        let shown = excerpt(&text, &Asked::of("retry limits"), 80);
        assert_eq!(shown, "The retry limit is five.\n\n```\nretry = 5\n\nlimit = 1\n```");
        assert!(excerpt(&text, &Asked::of("nothing"), 80).starts_with("intro"));
    }

    proptest! {
        #[test]
        fn no_passage_is_too_long(text in "(\\PC|\n|```\n){0,400}", most in 1_usize..200) {
            let shown = excerpt(&text, &Asked::of("a b"), most);
            prop_assert!(shown.chars().count() <= most);
            prop_assert_eq!(shown.is_empty(), shown.trim().is_empty() && shown.is_empty());
        }
    }
}
