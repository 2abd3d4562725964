//! Decides what to search for, given the conversation.

use docent_search::Message;

/// Words that refer back to something said or selected.
const BACK_REFERENCES: &[&str] = &["it", "this", "those", "these", "they", "them", "same", "else"];

/// Words that refer back except in phrases such as "is there", "a setting that", "one key".
const SOMETIMES: &[&str] = &["that", "there", "one"];

/// Words that precede one of [`SOMETIMES`] when it refers back.
const BEFORE: &[&str] = &[
    "about", "after", "and", "at", "before", "can", "did", "do", "does", "for", "from", "how", "if", "in", "like",
    "of", "on", "than", "to", "was", "which", "why", "with", "without", "would",
];

/// Beginnings of follow-up questions.
const OPENINGS: &[&str] =
    &["and ", "or ", "but ", "what about", "how about", "also ", "then ", "und ", "oder ", "et ", "y ", "e "];

/// Maximum length of the part of a selection that is searched for, in characters.
const SELECTION: usize = 300;

/// The words of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SearchWords {
    /// The words with full weight. Empty if nothing is asked.
    pub(crate) text: String,
    /// An earlier question whose words have less weight: `And retries?` after a question about webhooks.
    pub(crate) after: Option<String>,
    /// What the reader said beside the question, whose words have little weight.
    pub(crate) beside: String,
}

impl SearchWords {
    pub(crate) fn only(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// All of the words, for display.
    pub(crate) fn words(&self) -> String {
        match &self.after {
            Some(after) => format!("{} {after}", self.text),
            None => self.text.clone(),
        }
    }
}

/// The words to search for: what the message asks; if it is incomplete without context, also the reader's selection, or
/// otherwise the last earlier question that is complete. A topic that the question refers to is part of the query; a
/// topic that it merely follows adds words of less weight. `before` are the earlier questions, newest first.
pub(crate) fn query<'a>(
    message: Message,
    selected: Option<&str>,
    before: impl Iterator<Item = &'a str>,
) -> SearchWords {
    let Message { question, beside } = message;
    if question.is_empty() {
        return SearchWords::default();
    }
    let selected = selected.map(|text| text.chars().take(SELECTION).collect::<String>());
    if !depends_on_context(&question) {
        let beside = format!("{beside} {}", selected.unwrap_or_default()).trim().to_owned();
        return SearchWords { text: question, after: None, beside };
    }
    if let Some(selected) = selected {
        return SearchWords { text: format!("{question} {selected}"), after: None, beside };
    }
    let mut before = before.map(|earlier| Message::read(earlier).question);
    match before.find(|earlier| !earlier.is_empty() && !depends_on_context(earlier)) {
        Some(topic) if points_back(&words(&question)) => {
            SearchWords { text: format!("{question} {topic}"), after: None, beside }
        }
        after => SearchWords { text: question, after, beside },
    }
}

/// Whether a question is incomplete without the preceding conversation.
pub(crate) fn depends_on_context(question: &str) -> bool {
    let lower = question.trim().to_lowercase();
    let words = words(question);
    words.len() <= 3
        || (words.len() <= 6 && words[0] == "why")
        || OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || points_back(&words)
}

/// Whether a question is about something that it does not name, such as “What is this about?”.
pub(crate) fn names_nothing(question: &str) -> bool {
    points_back(&words(question))
}

/// Whether a word of a question refers back to something said.
fn points_back(words: &[String]) -> bool {
    let is = |at: usize, known: &[&str]| known.contains(&words[at].as_str());
    let sometimes = |at: usize| {
        is(at, SOMETIMES) && at > 0 && (at + 1 == words.len() && words[at - 1] != "is" || is(at - 1, BEFORE))
    };
    (0..words.len()).any(|at| is(at, BACK_REFERENCES) || sometimes(at))
}

fn words(question: &str) -> Vec<String> {
    let lower = question.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: &str = "How do I configure retries in TypeScript?";

    #[test]
    fn a_follow_up_is_searched_with_what_it_leans_on() {
        let after =
            |question: &str, before: &[&'static str]| query(Message::read(question), None, before.iter().copied());
        let follows = |text: &str| SearchWords { after: Some(TOPIC.to_owned()), ..SearchWords::only(text) };
        assert_eq!(after("And in Python?", &[TOPIC]), follows("And in Python?"));
        assert_eq!(after("And why?", &["And in Go?", "And in Python?", TOPIC]), follows("And why?"));
        let own = "Where do I find the admin API key of my project?";
        assert_eq!(after(own, &[TOPIC]), SearchWords::only(own));
        assert_eq!(after("And in Python?", &[]), SearchWords::only("And in Python?"));
    }

    #[test]
    fn a_question_with_a_pronoun_is_searched_with_its_topic() {
        for question in ["How often does it happen by default?", "Why does the server do that?"] {
            let query = query(Message::read(question), None, [TOPIC].into_iter());
            assert_eq!(query, SearchWords::only(format!("{question} {TOPIC}")));
        }
    }

    #[test]
    fn a_question_about_a_selection_is_searched_with_it() {
        let query = |question: &str, selected| query(Message::read(question), Some(selected), [TOPIC].into_iter());
        let about = query("What is this?", "Larkspur-Signature");
        assert_eq!(about, SearchWords::only("What is this? Larkspur-Signature"));
        let own = "How do I configure the retry policy of a queue?";
        assert_eq!(query(own, "x"), SearchWords { beside: "x".to_owned(), ..SearchWords::only(own) });
        assert_eq!(query("Thanks!", "x"), SearchWords::default());
    }

    #[test]
    fn a_question_that_names_nothing_is_about_the_page() {
        assert!(names_nothing("What is this about?") && names_nothing("How do I turn it off?"));
        assert!(!names_nothing("API rate limits") && !names_nothing("Best pizza nearby?"));
    }

    #[test]
    fn a_question_that_stands_alone_is_known() {
        for question in [
            "Is there a setting that disables retries?",
            "How do I create one key for each project?",
            "Why do deliveries to my endpoint fail with the error E1002?",
            TOPIC,
        ] {
            assert!(!depends_on_context(question), "{question}");
        }
        for question in [
            "And in Python?",
            "How often does it happen by default?",
            "What happens to my data after that?",
            "Why?",
            "Why does the server do that?",
        ] {
            assert!(depends_on_context(question), "{question}");
        }
    }
}
