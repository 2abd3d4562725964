//! Prints search results. Colours are stripped if the output is not a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use docent_search::{Highlighter, Match};
use docent_types::printable;

use super::{Hit, RankReason, piece};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const LINK: Style = AnsiColor::Blue.on_default().underline();

/// The fields in which a word may occur, in the order in which they are printed.
const PLACES: [&str; 9] = ["title", "path", "description", "heading", "section", "code", "headings", "page", "links"];

/// Finds the words to print in bold, given a text and its language.
type Marking<'m> = dyn Fn(&str, Option<&str>) -> Vec<Range<usize>> + 'm;

/// All results, without a trailing line break.
pub(super) fn hits(hits: &[Hit], highlighter: &Highlighter) -> String {
    let marks = |text: &str, language: Option<&str>| highlighter.marks(text, language);
    let shown: Vec<String> = hits.iter().enumerate().map(|(at, hit)| shown(at + 1, hit, &marks)).collect();
    shown.join("\n\n")
}

fn shown(place: usize, hit: &Hit, marks: &Marking<'_>) -> String {
    let passage = &hit.passage;
    let title = if passage.title.is_empty() { "untitled" } else { &passage.title };
    let mut text = format!("{place}. {BOLD}{}{BOLD:#}  {DIM}{:.2}{DIM:#}", printable(title), passage.score);
    let trail: Vec<&str> =
        hit.groups.iter().chain([&passage.title]).chain(&passage.headings).map(String::as_str).collect();
    if trail.len() > 1 {
        let _ = write!(text, "\n   {DIM}{}{DIM:#}", printable(&trail.join(" › ")));
    }
    let _ = write!(text, "\n   {LINK}{}{LINK:#}", printable(&passage.href));
    // The marks are positions in the printed text, so terminal control characters are removed first.
    let content = printable(&passage.content);
    let marks = marks(&content, passage.language.as_deref());
    let piece = piece::best(&content, &marks);
    for line in lines(&content, piece, &marks) {
        let _ = write!(text, "\n   {line}");
    }
    if let Some(why) = &hit.why {
        for line in reasons(why) {
            let _ = write!(text, "\n   {DIM}{}{DIM:#}", printable(&line));
        }
    }
    text
}

/// The non-blank lines of a piece, with the marked words in bold.
fn lines(content: &str, piece: Range<usize>, marks: &[Range<usize>]) -> Vec<String> {
    let mut at = piece.start;
    let mut lines = Vec::new();
    for line in content[piece].split_inclusive('\n') {
        let whole = at..at + line.trim_end().len();
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let mut shown = String::new();
        let mut from = whole.start;
        for mark in marks.iter().filter(|mark| mark.start >= whole.start && mark.end <= whole.end) {
            let _ = write!(shown, "{}{BOLD}{}{BOLD:#}", &content[from..mark.start], &content[mark.clone()]);
            from = mark.end;
        }
        shown.push_str(&content[from..whole.end]);
        lines.push(shown);
    }
    lines
}

/// The matched words with their scores, one line per field.
fn reasons(why: &RankReason) -> Vec<String> {
    let mut places: BTreeMap<usize, Vec<&Match>> = BTreeMap::new();
    for found in &why.explanation.matches {
        let place = PLACES.iter().position(|place| *place == found.place).unwrap_or(PLACES.len());
        places.entry(place).or_default().push(found);
    }
    let word = |found: &&Match| {
        let instead =
            if found.instead.is_empty() { String::new() } else { format!(" as {}", found.instead.join(", ")) };
        format!("{}{instead} {:.2}", found.word, found.weight)
    };
    let line = |found: Vec<&Match>| {
        let place = found.first().map_or("page", |found| found.place);
        format!("{place:<11} {}", found.iter().map(word).collect::<Vec<_>>().join(" · "))
    };
    let mut lines: Vec<String> = places.into_values().map(line).collect();
    let linked = why.explanation.linked_from;
    if linked > 0 {
        lines.push(format!("{:<11} {linked} {}", "linked from", if linked == 1 { "page" } else { "pages" }));
    }
    lines.extend(why.by_words.map(|place| format!("{:<11} {place}", "by words")));
    lines
}

#[cfg(test)]
mod tests {
    use docent_search::Explanation;
    use docent_types::Passage;

    use super::*;

    fn hit(why: Option<RankReason>) -> Hit {
        let passage = Passage {
            path: "guides/retries".to_owned(),
            href: "/guides/retries#limits".to_owned(),
            title: "Retries".to_owned(),
            headings: vec!["Limits".to_owned()],
            content: "The limit\u{7} is five.\n\nSet a limit.".to_owned(),
            score: 0.625,
            version: None,
            language: None,
        };
        Hit { passage, groups: vec!["Guides".to_owned()], why }
    }

    fn limits(text: &str, _: Option<&str>) -> Vec<Range<usize>> {
        text.match_indices("limit").map(|(at, found)| at..at + found.len()).collect()
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_passage_is_shown_with_where_it_stands_and_what_was_met() {
        let shown = shown(1, &hit(None), &limits);
        assert!(shown.contains("The \u{1b}[1mlimit\u{1b}[0m is five."), "{shown:?}");
        let expected = "1. Retries  0.62\n   Guides › Retries › Limits\n   /guides/retries#limits\n   The limit is five.\n   \
                        Set a limit.";
        assert_eq!(plain(&shown), expected);
    }

    #[test]
    fn why_it_stands_there_is_told_by_place() {
        let found = |word: &str, place, weight| Match { word: word.to_owned(), instead: Vec::new(), place, weight };
        let slip = Match { instead: vec!["limit".to_owned()], ..found("limt", "section", 1.5) };
        let matches = vec![found("retry", "section", 2.0), slip, found("retry", "title", 0.75)];
        let explanation = Explanation { path: "guides/retries".to_owned(), score: 0.6, linked_from: 1, matches };
        let shown = shown(2, &hit(Some(RankReason { explanation, by_words: Some(4) })), &limits);
        let expected = "\n   title       retry 0.75\n   section     retry 2.00 · limt as limit 1.50\n   linked from 1 page\n   \
                        by words    4";
        assert!(plain(&shown).ends_with(expected), "{}", plain(&shown));
    }
}
