//! What to search for, given the conversation.

/// Words that lean on something said before, or pointed at.
const LEANING: &[&str] = &["it", "that", "this", "those", "these", "they", "them", "one", "there", "same", "else"];

/// Ways a follow-up begins.
const OPENINGS: &[&str] =
    &["and ", "or ", "but ", "what about", "how about", "also ", "then ", "why", "und ", "et ", "y "];

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

fn leans(question: &str) -> bool {
    let lower = question.trim().to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.len() <= 3
        || OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || words.iter().any(|word| LEANING.contains(word))
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
}
