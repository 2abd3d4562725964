//! The assistant: turns a question and its passages into an answer made of quotes.

use docent_types::{Message, Passage, Role};
use serde::Deserialize;
use serde_json::json;

use crate::Draft;
use crate::answer_kind::AnswerKind;
use crate::language::{Phrases, phrases_for};
use crate::quote::{Candidate, quotes};
use crate::suggestions::questions;
use crate::transcript::{answered, texts_of};
use crate::words::Topic;

/// The tool whose results hold the passages.
pub(crate) const SEARCH: &str = "search";

/// Minimum search score of a page that is quoted. It is below one half: if the docs answer in other words, a refusal
/// costs the reader more than a quote that does not fit.
const MIN_QUOTE_SCORE: f32 = 0.45;
/// The minimum for a question that follows up on another: it says less, so that pages score less.
const MIN_QUOTE_SCORE_OF_FOLLOW_UP: f32 = 0.25;
/// The minimum for a question with words that the docs never mention, which is mostly about something else.
const MIN_QUOTE_SCORE_WITH_UNKNOWN_WORDS: f32 = 0.65;
/// Minimum search score of a page that is linked as related.
const MIN_RELATED_SCORE: f32 = 0.05;
/// Maximum number of links to further passages.
const MAX_RELATED_LINKS: usize = 3;

/// Names of the notes that a system prompt may request. The notes are HTML comments, which readers do not see.
const UNANSWERED: &str = "docent:unanswered";
const SUGGESTIONS: &str = "docent:suggestions";

/// The notes that the caller requests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Notes {
    /// A note that the docs hold no answer.
    unanswered: bool,
    /// A note with suggested questions.
    suggestions: bool,
}

impl Notes {
    pub(crate) fn requested_by(system: &str) -> Self {
        Self { unanswered: system.contains(UNANSWERED), suggestions: system.contains(SUGGESTIONS) }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct SearchResult {
    results: Vec<Passage>,
    /// Words of the question that the docs never mention.
    #[serde(default)]
    never_mentioned: Vec<String>,
    /// Whether the question is about the asker's account, and the docs hardly answer it.
    #[serde(default)]
    about_account: bool,
}

/// The answer to the newest question, or a search call when there was no search yet and the tool is offered.
pub(crate) fn next(messages: &[Message], may_search: bool, notes: Notes) -> Draft {
    let question = texts_of(messages, Role::User).pop().unwrap_or_default();
    // The query is the question alone; the message may contain other text that the caller added.
    let found = search(messages, may_search);
    let question = found.as_ref().and_then(|found| found.query.clone()).unwrap_or(question);
    let earlier = found.as_ref().and_then(|found| found.after.clone()).unwrap_or_default();
    let phrases = phrases_for(&question);
    if question.is_empty() || found.as_ref().is_some_and(|found| found.is_small_talk) {
        return Draft { text: phrases.no_question.to_owned(), calls: Vec::new() };
    }
    match found {
        None if may_search => {
            let query: String = question.chars().take(1_000).collect();
            Draft { text: String::new(), calls: vec![(SEARCH, json!({ "query": query }))] }
        }
        found => {
            let result = found.map(|found| found.result).unwrap_or_default();
            Draft { text: answer(&question, &earlier, &result, phrases, notes), calls: Vec::new() }
        }
    }
}

/// A search and what it found.
struct Search {
    query: Option<String>,
    /// Whether there was nothing to search for.
    is_small_talk: bool,
    /// An earlier question that this one follows up on.
    after: Option<String>,
    result: SearchResult,
}

/// The last search for the newest question; `None` when there was no search, or its result could not be parsed.
fn search(messages: &[Message], may_search: bool) -> Option<Search> {
    let question_at =
        messages.iter().rposition(|message| message.role == Role::User && !message.plain_text().is_empty());
    let since = &messages[question_at.unwrap_or(0)..];
    // A caller that does not offer the search tool has searched itself, before or after the question.
    let all = if may_search { since } else { messages };
    [since, all].into_iter().find_map(|messages| {
        let answers = answered(messages);
        let found = answers.iter().rev().find(|answer| answer.name == SEARCH && !answer.is_error)?;
        let result = serde_json::from_str::<SearchResult>(found.output).ok()?;
        let text_input =
            |name: &str| found.input[name].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let is_small_talk = found.input["query"].as_str() == Some("");
        Some(Search { query: text_input("query"), is_small_talk, after: text_input("after"), result })
    })
}

fn answer(question: &str, earlier: &str, result: &SearchResult, phrases: &'static Phrases, notes: Notes) -> String {
    let passages = result.results.as_slice();
    let topic = Topic::following(question, earlier);
    let mut ranked: Vec<(f32, Candidate<'_>)> =
        passages.iter().map(|passage| (term_coverage(&topic, passage), candidate(passage, passages))).collect();
    // A stable sort: candidates that fit equally stay in the order of the search.
    ranked.sort_by(|(a, one), (b, other)| (b + other.score).total_cmp(&(a + one.score)));
    let min_score = match (result.never_mentioned.is_empty(), earlier.is_empty()) {
        (false, _) => MIN_QUOTE_SCORE_WITH_UNKNOWN_WORDS,
        (true, false) => MIN_QUOTE_SCORE_OF_FOLLOW_UP,
        (true, true) => MIN_QUOTE_SCORE,
    };
    // A passage that has only terms of the earlier question answers the earlier question.
    let answering =
        ranked.iter().filter(|(term_coverage, candidate)| *term_coverage > 0.0 && candidate.score >= min_score);
    let pages: Vec<&str> = answering.map(|(_, candidate)| candidate.passage.path.as_str()).collect();
    // Other passages of a page that answers may answer too.
    let (quotable, rest): (Vec<_>, Vec<_>) =
        ranked.iter().copied().partition(|(_, candidate)| pages.contains(&candidate.passage.path.as_str()));
    let quotable: Vec<Candidate<'_>> = quotable.into_iter().map(|(_, candidate)| candidate).collect();
    let quotes = quotes(&quotable, &topic, AnswerKind::expected_by(question), !earlier.is_empty());
    if result.about_account {
        return phrases.account.to_owned();
    }
    if quotes.is_empty() {
        let near: Vec<&Passage> = ranked
            .iter()
            .filter(|(term_coverage, candidate)| *term_coverage > 0.0 && candidate.passage.score >= MIN_RELATED_SCORE)
            .map(|(_, candidate)| candidate.passage)
            .collect();
        let links = links(&near, MAX_RELATED_LINKS, &[]);
        let mut text = phrases.no_answer.to_owned();
        if !result.never_mentioned.is_empty() {
            text.push(' ');
            text.push_str(&unmentioned(&result.never_mentioned, phrases));
        }
        if !links.is_empty() {
            text.push_str(&format!(" {} {links}", phrases.nearest));
        }
        if notes.unanswered {
            text.push_str(&format!("<!--{UNANSWERED}-->"));
        }
        return text;
    }
    let mut text = phrases.opening.to_owned();
    let mut quoted_links: Vec<&str> = Vec::new();
    for quote in quotes {
        let passage = quotable[quote.passage].passage;
        quoted_links.push(&passage.href);
        text.push_str(&format!("\n\n{} {}:\n\n{}", phrases.from, link(passage), quoted(&quote.text)));
        let below: Vec<String> =
            quote.below.iter().map(|section| format!("- {}", link(quotable[*section].passage))).collect();
        if !below.is_empty() {
            text.push_str(&format!("\n\n{}", below.join("\n")));
        }
    }
    let found: Vec<&Passage> = quotable
        .iter()
        .map(|candidate| candidate.passage)
        .filter(|passage| passage.score >= MIN_RELATED_SCORE)
        .collect();
    let more = links(&found, MAX_RELATED_LINKS, &quoted_links);
    if !more.is_empty() {
        text.push_str(&format!("\n\n{} {more}", phrases.more));
    }
    if notes.suggestions {
        // Further sections of a page have no score of their own.
        let other_passages = rest.iter().filter(|(_, candidate)| candidate.score >= MIN_RELATED_SCORE);
        let other_passages = other_passages.map(|(_, candidate)| candidate.passage);
        let sections = quotable.iter().map(|candidate| candidate.passage);
        let questions =
            questions(question, found.iter().copied().chain(sections).chain(other_passages), &quoted_links, phrases);
        if !questions.is_empty() {
            text.push_str(&format!("\n\n<!--{SUGGESTIONS}\n{}\n-->", questions.join("\n")));
        }
    }
    text
}

/// A sentence that the docs never mention these words. Only letters, digits, `+` and `#` of the words are kept, so that
/// they cannot act as Markdown.
fn unmentioned(words: &[String], phrases: &Phrases) -> String {
    let (open, close) = phrases.quotation;
    let plain =
        |word: &String| word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '+' | '#')).collect::<String>();
    let words: Vec<String> = words.iter().map(|word| format!("{open}{}{close}", plain(word))).collect();
    format!("{}{}{}", phrases.unmentioned.0, words.join(", "), phrases.unmentioned.1)
}

/// A passage with the score of its page. Further sections of a page have no score of their own.
fn candidate<'p>(passage: &'p Passage, all: &[Passage]) -> Candidate<'p> {
    let first = all.iter().find(|other| other.path == passage.path);
    Candidate { passage, score: first.map_or(0.0, |first| first.score) }
}

/// The share of the question's terms that the passage has, in its title, headings or text.
fn term_coverage(topic: &Topic, passage: &Passage) -> f32 {
    let headings = passage
        .headings
        .iter()
        .fold(topic.matched_terms(&passage.title), |matched, text| matched | topic.matched_terms(text));
    topic.share(headings | topic.matched_terms(&passage.content))
}

/// A text as a Markdown block quote.
fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

fn links(passages: &[&Passage], limit: usize, without: &[&str]) -> String {
    let mut seen: Vec<&str> = without.to_vec();
    let mut links = Vec::new();
    for passage in passages {
        if links.len() < limit && !seen.contains(&passage.href.as_str()) {
            seen.push(&passage.href);
            links.push(link(passage));
        }
    }
    links.join(" · ")
}

/// `[Title › Heading](href)`
fn link(passage: &Passage) -> String {
    let mut words = vec![passage.title.as_str()];
    words.extend(passage.headings.last().map(String::as_str).filter(|heading| *heading != passage.title));
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace(['\n', '\r'], " "))
        .filter(|word| !word.trim().is_empty())
        .collect();
    let words = if words.is_empty() { passage.path.clone() } else { words.join(" › ") };
    format!("[{words}]({})", passage.href)
}

#[cfg(test)]
mod tests {
    use docent_types::ContentPart;

    use super::*;

    fn passage(title: &str, heading: &str, content: &str, score: f32) -> Passage {
        Passage {
            path: title.to_lowercase(),
            href: format!("/{}#{}", title.to_lowercase(), heading.to_lowercase()),
            title: title.to_owned(),
            headings: vec![heading.to_owned()],
            content: content.to_owned(),
            score,
            version: None,
            language: None,
        }
    }

    fn searched_transcript(question: &str, passages: &[Passage]) -> Vec<Message> {
        let call = ContentPart::ToolCall { id: "s1".into(), name: SEARCH.into(), input: json!({}) };
        let output = json!({ "results": passages }).to_string();
        let result = ContentPart::ToolResult { call_id: "s1".into(), output, is_error: false };
        vec![
            Message::text(Role::User, question),
            Message { role: Role::Assistant, parts: vec![call] },
            Message { role: Role::User, parts: vec![result] },
        ]
    }

    #[test]
    fn it_quotes_what_fits_with_a_link() {
        let passages = [
            passage("Webhooks", "Retries", "A failed webhook is retried five times.", 0.9),
            passage("Colours", "Red", "Nothing of the kind.", 0.2),
        ];
        let draft =
            next(&searched_transcript("How often is a failed webhook retried?", &passages), true, Notes::default());
        assert_eq!(
            draft.text,
            "Here is what the docs say.\n\nFrom [Webhooks › Retries](/webhooks#retries):\n\n> A failed webhook is retried five times."
        );
        assert!(draft.calls.is_empty());
    }

    #[test]
    fn it_says_so_when_the_docs_do_not_answer() {
        let passages = [passage("Webhooks", "Retries", "A failed webhook is retried five times.", 0.9)];
        let draft = next(
            &searched_transcript("What is the airspeed velocity of an unladen swallow?", &passages),
            true,
            Notes::default(),
        );
        assert_eq!(draft.text, "The docs do not answer this.");
        assert_eq!(
            next(&searched_transcript("What about webhooks?", &[]), true, Notes::default()).text,
            "The docs do not answer this."
        );
        let none = [passage("Webhooks", "Retries", "A failed webhook is retried.", 0.0)];
        assert_eq!(
            next(&searched_transcript("failed webhook", &none), true, Notes::default()).text,
            "The docs do not answer this."
        );
        let weak = [passage("Webhooks", "Retries", "A failed webhook is retried five times.", 0.2)];
        let near =
            next(&searched_transcript("Which webhook supports quantum teleportation?", &weak), true, Notes::default());
        assert_eq!(
            near.text,
            "The docs do not answer this. The nearest pages: [Webhooks › Retries](/webhooks#retries)"
        );
    }

    #[test]
    fn it_names_the_words_that_the_docs_never_mention() {
        let passages = [passage("Keys", "Rotation", "A key is rotated with the rotate command.", 0.5)];
        let answer_to = |question: &str| {
            let mut messages = searched_transcript(question, &passages);
            let ContentPart::ToolResult { output, .. } = &mut messages[2].parts[0] else { panic!("a result") };
            *output = json!({ "results": passages, "neverMentioned": ["COBOL", "[x](y)"] }).to_string();
            next(&messages, true, Notes::default()).text
        };
        let nearest = "[Keys › Rotation](/keys#rotation)";
        assert_eq!(
            answer_to("How do I rotate a key in COBOL?"),
            format!("The docs do not answer this. They never mention “COBOL”, “xy”. The nearest pages: {nearest}")
        );
        let known =
            next(&searched_transcript("How do I rotate a key in Java?", &passages), true, Notes::default()).text;
        assert!(known.contains("> A key is rotated with the rotate command."), "{known}");
        let german = answer_to("Wie kann ich einen Key in COBOL ist rotate?");
        assert!(
            german.starts_with("Die Dokumentation beantwortet das nicht. Sie erwähnt nirgends „COBOL“"),
            "{german}"
        );
    }

    #[test]
    fn it_notes_what_it_is_asked_to_note_and_nothing_else() {
        let notes = Notes::requested_by("When … end with <!--docent:unanswered-->. Then <!--docent:suggestions");
        let passages = [
            passage("Webhooks", "Retries", "A failed webhook is retried five times.", 0.9),
            passage("Webhooks", "Signatures", "Every webhook is signed.", 0.4),
        ];
        let weak = [passage("Webhooks", "Signatures", "Every webhook is signed.", 0.2)];
        let near = next(&searched_transcript("Which webhook supports quantum teleportation?", &weak), true, notes);
        assert!(
            near.text.ends_with("[Webhooks › Signatures](/webhooks#signatures)<!--docent:unanswered-->"),
            "{near:?}"
        );
        let nothing = next(&searched_transcript("Was ist das?", &[]), true, notes);
        assert_eq!(nothing.text, "Die Dokumentation beantwortet das nicht.<!--docent:unanswered-->");
        let answer = next(&searched_transcript("How often is a failed webhook retried?", &passages), true, notes);
        let next_question = "\n\n<!--docent:suggestions\nWhat can you tell me about “Webhooks › Signatures”?\n-->";
        assert!(answer.text.ends_with(next_question), "{answer:?}");
        let without_notes =
            next(&searched_transcript("How often is a failed webhook retried?", &passages), true, Notes::default());
        assert_eq!(answer.text.strip_suffix(next_question), Some(without_notes.text.as_str()));
    }

    #[test]
    fn quotes_answer_the_query_that_was_searched() {
        let passages = [passage("Webhooks", "Retries", "A failed webhook is retried five times.", 0.9)];
        let mut messages =
            searched_transcript("Why?\n\nCode the reader points at:\n```\nlet unrelated = words();\n```", &passages);
        let ContentPart::ToolCall { input, .. } = &mut messages[1].parts[0] else { panic!("a call") };
        *input = json!({ "query": "Why is a webhook retried?" });
        assert!(next(&messages, false, Notes::default()).text.contains("> A failed webhook is retried five times."));
    }

    #[test]
    fn it_searches_first_when_it_may() {
        let messages = [Message::text(Role::User, "How do retries work?")];
        assert_eq!(
            next(&messages, true, Notes::default()).calls,
            [(SEARCH, json!({ "query": "How do retries work?" }))]
        );
        let without = next(&messages, false, Notes::default());
        assert!(without.calls.is_empty());
        assert_eq!(without.text, "The docs do not answer this.");
        assert!(!next(&[], true, Notes::default()).text.is_empty());
    }

    #[test]
    fn a_link_survives_odd_titles() {
        let mut odd = passage("A [b]\nc", "x", "", 1.0);
        odd.href = "/a%20b%28c%29".to_owned();
        assert_eq!(link(&odd), "[A \\[b\\] c › x](/a%20b%28c%29)");
    }
}
