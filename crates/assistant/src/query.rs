//! What to search for, given the conversation.

/// Words that lean on something said before, or pointed at.
const LEANING: &[&str] = &["it", "this", "those", "these", "they", "them", "same", "else"];

/// Words that do so unless they mean something else where they stand: "is there", "a setting that", "one key".
const SOMETIMES: &[&str] = &["that", "there", "one"];

/// What stands before one of those when it leans.
const BEFORE: &[&str] = &[
    "about", "after", "and", "at", "before", "can", "did", "do", "does", "for", "from", "how", "if", "in", "like",
    "of", "on", "than", "to", "was", "which", "why", "with", "without", "would",
];

/// Ways a follow-up begins.
const OPENINGS: &[&str] =
    &["and ", "or ", "but ", "what about", "how about", "also ", "then ", "und ", "oder ", "et ", "y ", "e "];

/// How much of a selection is searched for, in characters.
const SELECTION: usize = 300;

/// The words to search for: the question; and when it does not stand alone, what the asker has selected, or else the
/// last question before it that does. `before` holds the earlier questions, newest first.
pub(crate) fn query<'a>(question: &str, selected: Option<&str>, mut before: impl Iterator<Item = &'a str>) -> String {
    if !leans(question) {
        return question.to_owned();
    }
    if let Some(selected) = selected {
        let selected: String = selected.chars().take(SELECTION).collect();
        return format!("{question} {selected}");
    }
    match before.find(|question| !leans(question)) {
        Some(topic) => format!("{question} {topic}"),
        None => question.to_owned(),
    }
}

/// Whether a question cannot be understood without what went before.
pub(crate) fn leans(question: &str) -> bool {
    let lower = question.trim().to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let sometimes = |at: usize| {
        SOMETIMES.contains(&words[at])
            && (at + 1 == words.len() && at > 0 && words[at - 1] != "is" || at > 0 && BEFORE.contains(&words[at - 1]))
    };
    words.len() <= 3
        || (words.len() <= 6 && words[0] == "why")
        || OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || words.iter().any(|word| LEANING.contains(word))
        || (0..words.len()).any(sometimes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: &str = "How do I configure retries in TypeScript?";

    #[test]
    fn a_follow_up_is_searched_with_what_it_leans_on() {
        let after = |question: &str, before: &[&'static str]| query(question, None, before.iter().copied());
        assert_eq!(after("And in Python?", &[TOPIC]), format!("And in Python? {TOPIC}"));
        assert_eq!(after("And why?", &["And in Go?", "And in Python?", TOPIC]), format!("And why? {TOPIC}"));
        let own = "Where do I find the admin API key of my project?";
        assert_eq!(after(own, &[TOPIC]), own);
        assert_eq!(after("And in Python?", &[]), "And in Python?");
    }

    #[test]
    fn a_question_about_a_selection_is_searched_with_it() {
        let about = query("What is this?", Some("Larkspur-Signature"), [TOPIC].into_iter());
        assert_eq!(about, "What is this? Larkspur-Signature");
        let own = query("How do I configure the retry policy of a queue?", Some("x"), [].into_iter());
        assert!(!own.ends_with('x'));
    }

    #[test]
    fn a_question_that_stands_alone_is_known() {
        for question in [
            "Is there a setting that disables retries?",
            "How do I create one key for each project?",
            "Why do deliveries to my endpoint fail with the error E1002?",
            TOPIC,
        ] {
            assert!(!leans(question), "{question}");
        }
        for question in [
            "And in Python?",
            "How often does it happen by default?",
            "What happens to my data after that?",
            "Why?",
            "Why does the server do that?",
        ] {
            assert!(leans(question), "{question}");
        }
    }
}
