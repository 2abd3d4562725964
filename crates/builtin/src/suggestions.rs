//! Suggested questions, made of the headings of passages that were found and not quoted.

use docent_types::Passage;

use crate::language::{Phrases, phrases_for};

/// Maximum number of suggested questions, and maximum length of one, in characters.
const MAX_SUGGESTIONS: usize = 3;
const MAX_QUESTION_CHARS: usize = 90;

/// Up to [`MAX_SUGGESTIONS`] questions, in the order of the passages. Passages whose link is in `quoted` are skipped.
pub(crate) fn questions<'p>(
    current_question: &str,
    passages: impl Iterator<Item = &'p Passage>,
    quoted: &[&str],
    phrases: &'static Phrases,
) -> Vec<String> {
    let mut questions: Vec<String> = Vec::new();
    for passage in passages.filter(|passage| !quoted.contains(&passage.href.as_str())) {
        let Some(question) = question(passage, phrases) else { continue };
        let same = |other: &str| words(other) == words(&question);
        if !same(current_question) && !questions.iter().any(|other| same(other)) {
            questions.push(question);
        }
        if questions.len() == MAX_SUGGESTIONS {
            break;
        }
    }
    questions
}

/// A question that the section answers, made from its heading; `None` if the heading makes no question.
fn question(passage: &Passage, phrases: &'static Phrases) -> Option<String> {
    let heading = passage.headings.last().unwrap_or(&passage.title).trim();
    let first = heading.chars().next().filter(|c| c.is_alphanumeric() || matches!(c, '¿' | '`'))?;
    let is_question = heading.ends_with(['?', '？']);
    let says_how = !phrases.how.is_empty() && heading.to_lowercase().starts_with(phrases.how);
    let question = if (is_question || says_how) && phrases_for(heading) == phrases && first != '`' {
        let (before, after) = if is_question { ("", "") } else { phrases.asking };
        format!("{before}{heading}{after}")
    } else {
        let about = match passage.headings.last() {
            Some(_) if heading != passage.title && !passage.title.trim().is_empty() => {
                format!("{} › {heading}", passage.title.trim())
            }
            _ => heading.to_owned(),
        };
        format!("{}{about}{}", phrases.about.0, phrases.about.1)
    };
    // The question is one line of an HTML comment, so it must not end the line or the comment.
    let fits = question.chars().count() <= MAX_QUESTION_CHARS
        && !question.contains(|c: char| c.is_control() || "<>".contains(c));
    fits.then_some(question)
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::PHRASES;
    use crate::words::Topic;

    fn section(title: &str, heading: Option<&str>) -> Passage {
        Passage {
            path: title.to_lowercase(),
            href: format!("/{title}#{}", heading.unwrap_or_default()),
            title: title.to_owned(),
            headings: heading.map(str::to_owned).into_iter().collect(),
            content: "Words.".to_owned(),
            score: 0.5,
            version: None,
            language: None,
        }
    }

    fn of(current_question: &str, passages: &[Passage]) -> Vec<String> {
        questions(current_question, passages.iter(), &["/Webhooks#Quoted"], phrases_for(current_question))
    }

    #[test]
    fn headings_become_questions() {
        for (current_question, heading, question) in [
            ("How are calls retried?", "Why was my call refused?", "Why was my call refused?"),
            ("How are calls retried?", "How to verify a signature", "How to verify a signature?"),
            ("How are calls retried?", "Signatures", "What can you tell me about “Webhooks › Signatures”?"),
            ("How are calls retried?", "`--json`", "What can you tell me about “Webhooks › `--json`”?"),
            ("Wie kann ich das einrichten?", "How to verify it", "Was steht da über „Webhooks › How to verify it“?"),
            ("Wie kann ich das einrichten?", "Wie ist das gemeint?", "Wie ist das gemeint?"),
            ("¿Cómo puedo hacer los pagos?", "Cómo se anula una factura", "¿Cómo se anula una factura?"),
            ("Comment est-ce que je paie ?", "Comment est calculé le prix", "Comment est calculé le prix ?"),
        ] {
            assert_eq!(of(current_question, &[section("Webhooks", Some(heading))]), [question], "{heading}");
        }
        let page = of("How are calls retried?", &[section("Webhooks", None)]);
        assert_eq!(page, ["What can you tell me about “Webhooks”?"]);
    }

    #[test]
    fn suggestions_leave_out_quoted_asked_and_repeated_ones() {
        let sections = ["Quoted", "How to sign?", "Retries", "Retries", "A", "B"];
        let sections = sections.map(|heading| section("Webhooks", Some(heading)));
        assert_eq!(
            of("how to sign", &sections),
            ["Retries", "A", "B"].map(|heading| format!("What can you tell me about “Webhooks › {heading}”?"))
        );
    }

    #[test]
    fn a_heading_that_would_break_the_comment_is_left_out() {
        let long = "x".repeat(MAX_QUESTION_CHARS);
        for heading in ["a --> b", "<!-- a", "Two\nlines", "- a dash", "", long.as_str()] {
            assert_eq!(of("what is it", &[section("Webhooks", Some(heading))]), Vec::<String>::new(), "{heading:?}");
        }
    }

    #[test]
    fn a_suggested_question_is_about_its_heading_and_nothing_else() {
        for phrases in PHRASES {
            let question = format!("{}Retries{}", phrases.about.0, phrases.about.1);
            assert_eq!(Topic::following(&question, ""), Topic::following("Retries", ""), "{question}");
        }
    }
}
