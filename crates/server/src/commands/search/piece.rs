//! Selects the part of a passage that is shown first.

use std::collections::HashSet;
use std::ops::Range;

/// Maximum number of characters that are shown of a passage.
const LONGEST: usize = 480;
/// Number of those that precede the first mark in a line that is too long.
const BEFORE: usize = 80;

/// The byte range of the consecutive lines with the most marked words, the first in case of a tie. The marks must be
/// sorted.
pub(super) fn best(text: &str, marks: &[Range<usize>]) -> Range<usize> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push(at..at + line.len());
        at += line.len();
    }
    let mut best: ((usize, usize), Range<usize>) = ((0, 0), 0..0);
    for (first, line) in lines.iter().enumerate() {
        let mut end = line.end;
        for next in &lines[first + 1..] {
            if text[line.start..next.end].chars().nth(LONGEST).is_some() {
                break;
            }
            end = next.end;
        }
        let held = held(text, marks, &(line.start..end));
        if best.1.is_empty() || held > best.0 {
            best = (held, line.start..end);
        }
    }
    shortened(text, best.1, marks)
}

/// The number of distinct marked words, which decides, and the number of marks.
fn held(text: &str, marks: &[Range<usize>], within: &Range<usize>) -> (usize, usize) {
    let held = marks.iter().filter(|mark| mark.start >= within.start && mark.end <= within.end);
    let words: Vec<String> = held.map(|mark| text[mark.clone()].to_lowercase()).collect();
    (words.iter().collect::<HashSet<_>>().len(), words.len())
}

/// A piece that is one long line, cut around its first mark.
fn shortened(text: &str, piece: Range<usize>, marks: &[Range<usize>]) -> Range<usize> {
    if text[piece.clone()].chars().nth(LONGEST).is_none() {
        return piece;
    }
    let first = marks.iter().find(|mark| mark.start >= piece.start).map_or(piece.start, |mark| mark.start);
    let before = &text[piece.start..first.min(piece.end)];
    let mut start = before.char_indices().rev().nth(BEFORE).map_or(piece.start, |(at, _)| piece.start + at);
    if start > piece.start {
        // Moves the start to the beginning of a word.
        start = text[start..first].find(' ').map_or(first, |blank| start + blank + 1);
    }
    let end = text[start..piece.end].char_indices().nth(LONGEST).map_or(piece.end, |(at, _)| start + at);
    let end = if end < piece.end { text[start..end].rfind(' ').map_or(end, |blank| start + blank) } else { end };
    start..end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marks(text: &str) -> Vec<Range<usize>> {
        text.match_indices("hit").map(|(at, found)| at..at + found.len()).collect()
    }

    #[test]
    fn a_short_passage_is_shown_whole_and_of_a_long_one_what_was_met() {
        assert_eq!(best("one\n\nhit", &marks("one\n\nhit")), 0..8);
        assert_eq!(best("", &[]), 0..0);
        let long = format!("{}\n\nHere are hit and hit.\n\n{}", "nothing ".repeat(58), "more ".repeat(90));
        assert!(long[best(&long, &marks(&long))].contains("Here are hit and hit."));
        let line = format!("{} a hit {}", "before ".repeat(200), "after ".repeat(200));
        let piece = &line[best(&line, &marks(&line))];
        assert!(piece.starts_with("before before") && piece.contains(" a hit after"), "{piece}");
        assert!(piece.len() <= LONGEST && piece.ends_with("after"), "{piece}");
    }

    proptest! {
        #[test]
        fn a_piece_is_a_part_of_its_text(text in "(\\PC|hit |\n|long long ){0,300}") {
            let piece = best(&text, &marks(&text));
            prop_assert!(text.get(piece.clone()).is_some_and(|piece| piece.chars().count() <= LONGEST));
            prop_assert_eq!(piece.is_empty(), text.is_empty());
        }
    }
}
