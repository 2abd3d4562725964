//! Limits on how much of a question is read and stored. A public key suffices to send four megabytes, so each limit
//! applies to the text regardless of the part of the body that contains it.

use crate::thread::Turn;

/// Maximum history given to a model, in turns and in bytes. The limit in bytes also applies to the question alone.
pub(crate) const TURNS: usize = 20;
pub(crate) const MAX_HISTORY_BYTES: usize = 128 * 1024;
/// Maximum text stored of a question together with the history that its client sent; and of an answer. In bytes.
pub(crate) const QUESTION: usize = 16 * 1024;
pub(crate) const ANSWER: usize = 64 * 1024;

const CUT: &str = " […]";

/// The text cut to at most `most` bytes, with a mark where it was cut.
pub(crate) fn cut(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let Some(room) = most.checked_sub(CUT.len()) else { return "".into() };
    format!("{}{CUT}", text[..text.floor_char_boundary(room)].trim_end()).into()
}

/// The text cut in its middle to at most `most` bytes: what is asked stands at its beginning or at its end.
pub(crate) fn cut_middle(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let Some(room) = most.checked_sub(CUT.len() + 1) else { return "".into() };
    let (head, tail) = (text.floor_char_boundary(room / 2), text.ceil_char_boundary(text.len() - room / 2));
    format!("{}{CUT} {}", text[..head].trim_end(), text[tail..].trim_start()).into()
}

/// The newest turns that fit into `room` bytes. The oldest returned turn may be cut.
pub(crate) fn newest(turns: &[Turn], mut room: usize) -> Vec<Turn> {
    let mut kept = Vec::new();
    for turn in turns.iter().rev().take(TURNS) {
        let question = cut(&turn.question, room).into_owned();
        if question.is_empty() {
            break;
        }
        room -= question.len();
        let answer = turn.answer.as_deref().map(|answer| cut(answer, room).into_owned());
        let answer = answer.filter(|answer| !answer.is_empty());
        room -= answer.as_ref().map_or(0, String::len);
        kept.push(Turn { question, answer, ..turn.clone() });
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn turn(question: &str, answer: &str) -> Turn {
        Turn { question: question.to_owned(), answer: Some(answer.to_owned()), ..Turn::default() }
    }

    #[test]
    fn a_long_question_keeps_its_beginning_and_its_end() {
        let log = format!("Hi, this is our log:\n{}\nHow do I rotate the key?", "é noise ".repeat(500));
        let cut = cut_middle(&log, 101);
        assert!(
            cut.len() <= 101 && cut.starts_with("Hi, this is our log") && cut.ends_with("rotate the key?"),
            "{cut}"
        );
        assert_eq!((cut_middle("short", 5), cut_middle("short", 3)), ("short".into(), "".into()));
    }

    #[test]
    fn the_newest_turns_stay_and_the_oldest_of_them_is_cut() {
        let turns = [turn("first?", "one"), turn("second?", &"y".repeat(100)), turn("third?", "three")];
        let kept = newest(&turns, 60);
        let texts: Vec<_> = kept.iter().map(|turn| (turn.question.as_str(), turn.answer.as_deref())).collect();
        let cut = format!("{} […]", "y".repeat(36));
        assert_eq!(texts, [("second?", Some(cut.as_str())), ("third?", Some("three"))]);
        assert_eq!(newest(&turns, 1_000).len(), 3);
    }

    proptest! {
        #[test]
        fn no_text_is_longer_than_it_may_be(text in "\\PC{0,60}", most in 0_usize..80) {
            let cut = cut(&text, most);
            prop_assert!(cut.len() <= most);
            prop_assert!(text.len() > most || cut == text);
        }

        #[test]
        fn no_turns_are_more_than_there_is_room_for(
            texts in proptest::collection::vec(("\\PC{0,30}", "\\PC{0,60}"), 0..30), room in 0_usize..400,
        ) {
            let turns: Vec<Turn> = texts.iter().map(|(question, answer)| turn(question, answer)).collect();
            let kept = newest(&turns, room);
            let size: usize = kept.iter().map(|turn| turn.question.len() + turn.answer.as_ref().map_or(0, String::len)).sum();
            prop_assert!(size <= room && kept.len() <= TURNS);
        }
    }
}
