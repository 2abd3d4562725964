//! Parses a prompt into chores. The grammar is documented in `docs/CHORES.md`.
//!
//! A prompt is parsed from left to right. A clause that matches a rule from its verb to its end is a chore. Other text
//! is skipped to the end of its sentence and reported. Nothing is guessed: an instruction with a condition (`… except
//! in code`) is reported as a whole, because the part that matches a rule is not the instruction. What stands in a
//! quotation is somebody else's words and no instruction: between quotes, behind `>`, between fences.

use crate::chore::Chore;
use crate::cursor::{Cursor, closing, is_space};
use crate::outline::list_mark;
use crate::rules::{Parsed, RULES};

/// The forms of instructions, as shown to users.
pub const FORMS: [&str; 10] = [
    r#"Replace "A" with "B""#,
    r#"Rename "A" to "B""#,
    "Move page P to Q",
    "Rename page P to Q",
    "Delete page P",
    "Fix broken links",
    "Add missing descriptions",
    "Add missing titles",
    r#"Add a page P titled "T", with an optional outline of `- heading` lines"#,
    r#"Set FIELD to "V" in PATH-OR-GLOB"#,
];

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum Instruction {
    Chore(Chore),
    /// Text that matches no rule, verbatim.
    Unreadable(String),
}

/// Parses a prompt. Never fails: text that matches no rule is [`Instruction::Unreadable`].
pub fn read(prompt: &str) -> Vec<Instruction> {
    let mut instructions = Vec::new();
    let mut cursor = Cursor::new(prompt);
    loop {
        skip_fillers(&mut cursor);
        if cursor.is_done() {
            return instructions;
        }
        if let Some((chores, after)) = instruction(cursor) {
            instructions.extend(chores.into_iter().map(Instruction::Chore));
            cursor = after;
        } else {
            let end = unreadable(cursor);
            let text = cursor.text[cursor.at..end].trim();
            if !is_courtesy(text) {
                instructions.push(Instruction::Unreadable(text.to_owned()));
            }
            cursor.at = end;
        }
    }
}

/// Words before an instruction that do not change it.
const FILLERS: [&str; 22] = [
    "please", "kindly", "also", "and", "then", "next", "now", "finally", "lastly", "first", "firstly", "second",
    "secondly", "third", "thirdly", "after that", "can you", "could you", "would you", "i want you to",
    "i'd like you to", "&",
];

/// Skips everything between two instructions: white space, punctuation, list markers, fillers.
fn skip_fillers(cursor: &mut Cursor<'_>) {
    loop {
        let before = cursor.at;
        cursor.skip_spaces();
        while cursor.peek().is_some_and(|c| ".,;:!?。，；！？、&".contains(c)) {
            cursor.bump();
            cursor.skip_spaces();
        }
        if let Some(length) = list_mark(cursor.rest()).filter(|_| starts_line(cursor)) {
            cursor.at += length;
        }
        cursor.any(&FILLERS);
        if cursor.at == before {
            return;
        }
    }
}

fn starts_line(cursor: &Cursor<'_>) -> bool {
    let line = cursor.text[..cursor.at].rsplit('\n').next().unwrap_or("");
    line.chars().all(is_space)
}

/// One instruction that ends where a clause may end.
fn instruction(cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    RULES.iter().find_map(|rule| rule(cursor))
}

/// The end of a clause: the end of the prompt, the line or the sentence, or a conjunction that no condition follows.
pub(crate) fn clause_end(mut cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let mut after_courtesy = cursor;
    after_courtesy.mark(',');
    if after_courtesy.any(&["please", "thanks", "thank you", "for me"]) {
        cursor = after_courtesy;
    }
    cursor.skip_blanks();
    let Some(c) = cursor.peek() else { return Some(cursor) };
    let mut after = cursor;
    after.bump();
    if c == '\n' {
        return Some(cursor);
    }
    if ".;!?。；！？".contains(c) {
        let is_sentence_end = c > '\u{7f}' || after.peek().is_none_or(is_space);
        return is_sentence_end.then_some(cursor);
    }
    let mut ahead = cursor;
    let comma = ahead.mark(',') || ahead.mark('，');
    let has_conjunction = ahead.any(&["and", "then", "also", "&"]) || comma || ahead.mark('&');
    if !has_conjunction {
        return None;
    }
    skip_fillers(&mut ahead);
    let opens_quote = ahead.peek().is_some_and(|c| closing(c).is_some());
    (!opens_quote && !ahead.any(&CONDITIONS)).then_some(cursor)
}

/// Words that restrict the clause before them, so that it is not carried out.
pub(crate) const CONDITIONS: [&str; 25] = [
    "but", "except", "excluding", "unless", "only", "not", "without", "if", "when", "where", "while", "however",
    "leave", "keep", "ignore", "skip", "avoid", "don't", "don’t", "do not", "never", "no", "instead", "rather",
    "other than",
];

/// Where parsing continues after text that matches no rule: at the next clause that matches one, if there is no
/// condition before it, else at the end of the sentence or line.
fn unreadable(start: Cursor<'_>) -> usize {
    let mut cursor = start;
    let mut conditional = false;
    loop {
        let mut word = cursor;
        conditional |= word.any(&CONDITIONS);
        match cursor.peek() {
            None => return cursor.at,
            Some('\n') if cursor.at > start.at => return cursor.at,
            Some(_) if starts_line(&cursor) && quoted_lines(cursor).is_some() => {
                cursor = quoted_lines(cursor).unwrap_or(cursor);
                continue;
            }
            Some(c) if closing(c).is_some() && cursor.begins_word() => {
                match (cursor.after_quotation(), c) {
                    (Some(after), _) => cursor = after,
                    (None, '\'' | '’' | '‘') => cursor.bump(),
                    // What is quoted has no end, so nothing behind the quote is an instruction.
                    (None, _) => cursor.skip_line(),
                }
                continue;
            }
            Some(c) => {
                let mut after = cursor;
                after.bump();
                if "。；！？".contains(c) || (".;!?".contains(c) && after.peek().is_none_or(is_space)) {
                    return after.at;
                }
                let mut ahead = cursor;
                let is_conjunction = c == ',' || (is_space(c) && ahead.any(&["and", "then", "also"]));
                if is_conjunction && !conditional {
                    let mut next = cursor;
                    skip_fillers(&mut next);
                    if next.at > cursor.at && instruction(next).is_some() {
                        return cursor.at;
                    }
                }
                cursor = after;
            }
        }
        // Skips to the end of the word, so that a condition is only found at the beginning of a word.
        while cursor.peek().is_some_and(char::is_alphanumeric) && ends_in_letter(&cursor) {
            cursor.bump();
        }
    }
}

/// The end of lines that quote: of one that begins with `>`, or of a block between fences.
fn quoted_lines(cursor: Cursor<'_>) -> Option<Cursor<'_>> {
    let mut end = cursor;
    if end.peek() == Some('>') {
        end.skip_line();
        return Some(end);
    }
    let fence = ["```", "~~~"].into_iter().find(|fence| end.rest().starts_with(fence))?;
    loop {
        end.skip_line();
        if end.is_done() {
            return Some(end);
        }
        end.bump();
        if end.rest().trim_start_matches([' ', '\t']).starts_with(fence) {
            end.skip_line();
            return Some(end);
        }
    }
}

fn ends_in_letter(cursor: &Cursor<'_>) -> bool {
    cursor.text[..cursor.at].chars().next_back().is_some_and(char::is_alphanumeric)
}

/// Greetings and thanks, which are no instructions.
fn is_courtesy(text: &str) -> bool {
    let words = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    ["", "hi", "hello", "hey", "hi there", "thanks", "thank you", "thx", "cheers", "many thanks"]
        .contains(&words.as_str())
}

#[cfg(test)]
mod tests;
