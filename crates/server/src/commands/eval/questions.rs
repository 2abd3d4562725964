//! Parses the questions of an evaluation: one JSON object per line.

use std::collections::HashMap;

use serde::Deserialize;

use super::lines::{LineError, Lines};

/// Maximum length of a question; longer ones are refused over HTTP too.
const LONGEST: usize = 2_000;

/// A question. Unknown keys are ignored, so that a file may have more data about its questions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct JudgedQuestion {
    pub(super) id: String,
    pub(super) text: String,
    /// Pages that are removed from the results, such as the page from which the question was taken.
    #[serde(default)]
    pub(super) ignore: Vec<String>,
}

/// Parses all questions, in their order.
pub(super) fn parse(lines: &Lines) -> Result<Vec<JudgedQuestion>, LineError> {
    let mut questions: Vec<JudgedQuestion> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (number, line) in lines.iter() {
        let question = question(line).map_err(|sentence| lines.error_at(number, sentence))?;
        if let Some(first) = seen.insert(question.id.clone(), number) {
            return Err(lines.error_at(number, format!("the id `{}` is taken by line {first}", question.id)));
        }
        questions.push(question);
    }
    Ok(questions)
}

fn question(line: &str) -> Result<JudgedQuestion, String> {
    let question: JudgedQuestion = serde_json::from_str(line).map_err(|error| {
        let error = error.to_string();
        // The parser is given one line, so the error is always in line 1.
        format!(
            "no question, {}; write `{{\"id\": \"…\", \"text\": \"…\"}}`",
            error.replace(" at line 1 column ", " at column ")
        )
    })?;
    if question.id.trim().is_empty() || question.id.contains(char::is_control) {
        return Err("the id must have characters to show, and no tabs".to_owned());
    }
    if question.text.trim().is_empty() || question.text.chars().count() > LONGEST {
        return Err(format!("the text must have 1 to {LONGEST} characters"));
    }
    Ok(question)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn questions_are_read_in_their_order() {
        let text = "\u{feff}{\"id\":\"b\",\"text\":\"How?\"}\r\n\n{\"text\":\"Why?\",\"id\":\"a\",\"ignore\":[\"x\"],\"kind\":7}\n";
        let read = parse(&Lines::of(text)).expect("questions");
        let question = |id: &str, text: &str, ignore: &[&str]| JudgedQuestion {
            id: id.to_owned(),
            text: text.to_owned(),
            ignore: ignore.iter().map(|page| (*page).to_owned()).collect(),
        };
        assert_eq!(read, [question("b", "How?", &[]), question("a", "Why?", &["x"])]);
    }

    #[test]
    fn what_is_no_question_is_named_with_its_line() {
        for (text, said) in [
            ("\n{\"id\":\"a\"}", "F:2: no question, missing field `text` at column 10"),
            ("how do I begin?", "F:1: no question, expected"),
            ("{\"id\":7,\"text\":\"x\"}", "F:1: no question, invalid type: integer `7`"),
            ("{\"id\":\"a\",\"text\":\" \"}", "F:1: the text must have"),
            ("{\"id\":\"a\\tb\",\"text\":\"x\"}", "F:1: the id must have"),
            ("{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"a\",\"text\":\"y\"}", "F:2: the id `a` is taken by line 1"),
        ] {
            let error = parse(&Lines::of(text)).expect_err(text).to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_questions_or_a_sentence(text in "(\\PC|\n|\"|\\{|\\}){0,200}") {
            if let Err(error) = parse(&Lines::of(&text)) {
                prop_assert!(error.to_string().starts_with("F:"));
            }
        }

        #[test]
        fn what_is_written_is_read(written in proptest::collection::btree_map("[a-z0-9/ ]{0,4}[a-z]", "\\PC{0,9}[a-z]", 0..9)) {
            let lines: Vec<String> = written.iter().map(|(id, text)| json!({ "id": id, "text": text }).to_string()).collect();
            let read = parse(&Lines::of(&lines.join("\n"))).expect("questions");
            let read: Vec<(String, String)> = read.into_iter().map(|question| (question.id, question.text)).collect();
            prop_assert_eq!(read, written.into_iter().collect::<Vec<_>>());
        }
    }
}
