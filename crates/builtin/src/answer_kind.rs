//! Which kind of answer a question expects, judging by its wording.

use crate::blocks::{Block, BlockKind};

/// The kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// How to do something: steps, code.
    Steps,
    /// One value: a number, a name, a default.
    Value,
    /// All members of a set.
    List,
    /// Any other question.
    Statement,
}

/// Phrases of a question that expects a value. They are checked first, because some begin like a question for steps.
const VALUE: &str = "how many|how much|how long|how large|how big|how often|how fast|how far|default|limit\
    |maximum|minimum|at most|which version|which port|what version|what port|status code|prefix|threshold|wie viele\
    |wie lange|wie groß|standardwert|höchstens|combien|cuántos|cuánto|quantos|quanti|hoeveel|сколько|по умолчанию\
    |デフォルト|默认|기본값";
const STEPS: &[&str] = &[
    "how do", "how can", "how to", "how should", "how would", "how does", "wie ", "comment ", "cómo ", "como ",
    "come ", "hoe ", "как ", "方法", "如何", "怎么", "어떻게",
];
const LIST: &[&str] = &[
    "which ", "what kinds", "what types", "what are the", "what are my", "list of", "list all", "welche ", "quels ",
    "quelles ", "cuáles ", "quais ", "quali ", "какие ", "一覧", "哪些",
];
/// Words that end in `s` but are not plurals. A plural after `what` or `which` asks for a list.
const NO_PLURAL: &[&str] = &["does", "happens", "was", "is", "has", "status", "process", "address", "means"];

impl AnswerKind {
    /// Whether a block may be such an answer; any block may be a statement.
    pub(crate) fn is_met_by(self, block: &Block<'_>) -> bool {
        match self {
            Self::Steps => block.is_code_or_steps(),
            Self::Value => block.kind != BlockKind::Code && has_number(block.text),
            Self::List => matches!(block.kind, BlockKind::List | BlockKind::Table),
            Self::Statement => true,
        }
    }

    pub(crate) fn expected_by(question: &str) -> Self {
        let question = question.to_lowercase();
        let begins = |phrases: &[&str]| {
            phrases
                .iter()
                .any(|phrase| if phrase.is_ascii() { question.starts_with(phrase) } else { question.contains(phrase) })
        };
        if VALUE.split('|').any(|phrase| question.contains(phrase)) {
            Self::Value
        } else if begins(STEPS) || question.contains("how do") {
            Self::Steps
        } else if (begins(LIST) && !question.starts_with("which ")) || expects_list(&question) {
            Self::List
        } else {
            Self::Statement
        }
    }
}

/// Whether a text has a number by itself, other than that of an item: `5`, `1.5`, `30 s`, and not `2xx`.
fn has_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ','));
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    numbers.map(|word| word.trim_matches(['.', ','])).any(|word| word.split(['.', ',']).all(is_number))
}

/// `which routers are there`, `what roles can …`.
fn expects_list(question: &str) -> bool {
    let mut words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let asks = words.next().is_some_and(|word| ["which", "what"].contains(&word));
    asks && words
        .take(3)
        .take_while(|word| !["is", "does", "do", "can", "did", "should", "to", "are"].contains(word))
        .any(|word| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !NO_PLURAL.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_what_it_wants() {
        for (question, expected) in [
            ("How do I rotate a key?", AnswerKind::Steps),
            ("In which file, and how do I set it?", AnswerKind::Steps),
            ("Wie kann ich einen Schlüssel erneuern?", AnswerKind::Steps),
            ("How many retries are there?", AnswerKind::Value),
            ("What is the default timeout?", AnswerKind::Value),
            ("What is the maximum size of a payload?", AnswerKind::Value),
            ("Wie viele Versuche gibt es?", AnswerKind::Value),
            ("Which event types are there?", AnswerKind::List),
            ("What roles can a member have?", AnswerKind::List),
            ("What are the limits?", AnswerKind::Value),
            ("Welche Rollen gibt es?", AnswerKind::List),
            ("What happens when a job fails?", AnswerKind::Statement),
            ("Can I use it with Vite?", AnswerKind::Statement),
            ("", AnswerKind::Statement),
        ] {
            assert_eq!(AnswerKind::expected_by(question), expected, "{question}");
        }
    }
}
