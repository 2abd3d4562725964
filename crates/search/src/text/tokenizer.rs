//! Splits a text into words, with the byte range of each.
//!
//! A word is a run of letters and digits. Words joined by `_`, `-`, `.` or `::`, and words in `camelCase`, are an
//! identifier: its parts are words, and so is the whole without its joiners, so that `max_retries`, `maxRetries` and
//! `--max-retries` all become `max`, `retries` and `maxretries`. So is a version behind a slash: `HTTP/3` becomes `http`,
//! `3` and `http3`. Signs that belong to a name make another word of it, beside the one without them: `C++`, `C#`, `.NET`,
//! `--watch`, `--log=json`. Scripts without spaces between words are split into pairs of adjacent characters, and text
//! that is searched also into single characters.

use std::ops::Range;

/// How a run of characters in a script without spaces is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnspacedSplit {
    /// Overlapping pairs; a single character by itself is a word.
    InPairs,
    InPairsAndSingly,
}

/// Splits a text into words. Calls `each` with every word and its byte range, in order; the parts of an identifier come
/// before the whole.
pub(crate) fn cut(text: &str, letters: UnspacedSplit, each: &mut impl FnMut(&str, Range<usize>)) {
    let mut whole = String::new();
    each_piece(text, |piece, at| match piece {
        Piece::Word => each(&text[at.clone()], at),
        Piece::Identifier => identifier(text, at, letters, &mut whole, each),
    });
}

/// A piece of a text before identifiers are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A single word.
    Word,
    /// To be split into words.
    Identifier,
}

/// Calls `each` with every piece of a text and its byte range, in order.
#[inline]
pub(crate) fn each_piece(text: &str, mut each: impl FnMut(Piece, Range<usize>)) {
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        let word = plain_end(text.as_bytes(), start);
        let run = start..word.unwrap_or_else(|| identifier_end(text, start));
        let signed = with_signs(text, run.clone());
        at = signed.end;
        each(if word.is_some() && signed == run { Piece::Word } else { Piece::Identifier }, signed);
    }
}

/// What a byte means for splitting a text into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A lowercase ASCII letter or a digit.
    Small,
    Capital,
    /// `_`, `-` or `.`, which may join the words around it.
    Joint,
    /// A colon: only `::` may join words.
    Colon,
    /// `+`, `#`, `/` or `=`, which may belong to the word before them ([`with_signs`]).
    Sign,
    Gap,
    /// Part of a non-ASCII character.
    Wide,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Wide; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' | b'0'..=b'9' => Kind::Small,
            b'A'..=b'Z' => Kind::Capital,
            b'_' | b'-' | b'.' => Kind::Joint,
            b':' => Kind::Colon,
            b'+' | b'#' | b'/' | b'=' => Kind::Sign,
            _ => Kind::Gap,
        };
        byte += 1;
    }
    kinds
};

fn next_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match KINDS[usize::from(*bytes.get(at)?)] {
            Kind::Small | Kind::Capital => return Some(at),
            Kind::Wide => {
                let c = text[at..].chars().next()?;
                if c.is_alphanumeric() {
                    return Some(at);
                }
                at += c.len_utf8();
            }
            Kind::Joint | Kind::Colon | Kind::Sign | Kind::Gap => at += 1,
        }
    }
}

/// The end of a run of bytes whose kind satisfies `is_of_kind`.
fn end_of(text: &[u8], start: usize, is_of_kind: impl Fn(Kind) -> bool) -> usize {
    start + text[start..].iter().take_while(|byte| is_of_kind(KINDS[usize::from(**byte)])).count()
}

/// The end of a simple word, as most are: ASCII letters and digits with at most the first letter a capital, and not
/// followed by anything that may belong to the word. `None` for all other words.
#[inline]
fn plain_end(text: &[u8], start: usize) -> Option<usize> {
    let first = start + usize::from(text[start].is_ascii_alphanumeric());
    let end = end_of(text, first, |kind| kind == Kind::Small);
    let kind = |at: usize| text.get(at).map_or(Kind::Gap, |byte| KINDS[usize::from(*byte)]);
    if matches!(kind(end), Kind::Gap | Kind::Sign) {
        return (end > start).then_some(end);
    }
    let is_end = match kind(end) {
        Kind::Joint => !matches!(kind(end + 1), Kind::Small | Kind::Capital | Kind::Wide),
        Kind::Colon => kind(end + 1) != Kind::Colon,
        Kind::Gap | Kind::Sign | Kind::Small | Kind::Capital | Kind::Wide => false,
    };
    (is_end && end > start).then_some(end)
}

/// The end of a run of words with joiners between them.
fn identifier_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = start;
    loop {
        end = end_of(bytes, end, |kind| matches!(kind, Kind::Small | Kind::Capital));
        if bytes.get(end).is_none_or(|byte| byte.is_ascii() && !matches!(byte, b'_' | b'-' | b'.' | b':')) {
            return end;
        }
        let rest = &text[end..];
        end += rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let joint = joint_length(&text[end..]);
        match text[end + joint..].chars().next() {
            Some(c) if joint > 0 && c.is_alphanumeric() => end += joint,
            _ => return end,
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_mark(c)
}

/// Marks that belong to the letter before them: accents, vowel signs, the voicing of half-width kana; and marks that nobody
/// sees.
fn is_mark(c: char) -> bool {
    is_dropped(c)
        || matches!(c, '\u{ff9e}' | '\u{ff9f}')
        || matches!(c, '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{b82}' | '\u{bbe}'..='\u{bcd}' | '\u{e31}'
            | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// Marks without which a word is the same word: combining accents, the points of Hebrew and Arabic, the lengthening of Arabic,
/// and characters that only say how a word is broken or joined.
pub(crate) fn is_dropped(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}'
        | '\u{5c5}' | '\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{61c}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' | '\u{feff}')
}

fn joint_length(rest: &str) -> usize {
    if rest.starts_with("::") {
        return 2;
    }
    usize::from(rest.starts_with(['_', '-', '.']))
}

/// A run of words with the signs and the value that belong to it, if any.
#[inline]
fn with_signs(text: &str, run: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let next = bytes.get(run.end).map_or(Kind::Gap, |byte| KINDS[usize::from(*byte)]);
    let is_behind_joint = run.start > 0 && KINDS[usize::from(bytes[run.start - 1])] == Kind::Joint;
    if next == Kind::Sign || is_behind_joint { signed(text, run) } else { run }
}

fn signed(text: &str, run: Range<usize>) -> Range<usize> {
    let Range { start, end } = run;
    let (before, word, after) = (&text[..start], &text[run.clone()], &text[end..]);
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // A name begins here, and no call or property of what is before it.
    let is_open = |before: &str| {
        before.bytes().next_back().is_none_or(|byte| !byte.is_ascii_alphanumeric() && !b"-._)]}".contains(&byte))
    };
    let goes_on = |after: &str| after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if before.strip_suffix("--").is_some_and(is_open) {
        let value = after.strip_prefix('=').filter(|value| value.starts_with(|c: char| c.is_alphanumeric()));
        return start - 2..value.map_or(end, |_| identifier_end(text, end + 1));
    }
    if is_plain && before.strip_suffix('.').is_some_and(is_open) && word.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        return start - 1..end;
    }
    if is_plain && after.strip_prefix("++").is_some_and(|after| !after.starts_with('+') && !goes_on(after)) {
        return start..end + 2;
    }
    if is_plain && word.len() == 1 && after.strip_prefix('#').is_some_and(|after| !goes_on(after)) {
        return start..end + 1;
    }
    let is_name = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    start..if is_name { version_end(text.as_bytes(), end) } else { end }
}

/// The end of a version of one or two digits, with or without a second number, behind a slash: `/3`, `/1.1`. `end` when
/// there is none, or when a path or a word goes on behind it.
fn version_end(text: &[u8], end: usize) -> usize {
    let digits = |at: usize| text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_version = text.get(end) == Some(&b'/') && matches!(digits(end + 1), 1..=2);
    let mut version = end + 1 + digits(end + 1);
    if text.get(version) == Some(&b'.') && digits(version + 1) > 0 {
        version += 1 + digits(version + 1);
    }
    let next = text.get(version).map_or(Kind::Gap, |byte| KINDS[usize::from(*byte)]);
    let is_last = match next {
        Kind::Gap | Kind::Colon => true,
        Kind::Joint => text.get(version + 1).is_none_or(|byte| KINDS[usize::from(*byte)] == Kind::Gap),
        Kind::Sign | Kind::Small | Kind::Capital | Kind::Wide => false,
    };
    if is_version && is_last { version } else { end }
}

/// Splits a run of words with joiners between them, and with its signs. `whole` is a scratch buffer.
pub(crate) fn identifier(
    text: &str,
    at: Range<usize>,
    letters: UnspacedSplit,
    whole: &mut String,
    each: &mut dyn FnMut(&str, Range<usize>),
) {
    let piece = &text[at.clone()];
    let Some(begin) = piece.find(|c: char| !matches!(c, '-' | '.')) else { return };
    let end = piece.trim_end_matches(['+', '#']).len();
    let (name, value) = piece[..end]
        .split_once('=')
        .map_or((begin..end, end..end), |(name, value)| (begin..name.len(), end - value.len()..end));
    let is_plain = piece[name.clone()].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let shifted = |part: Range<usize>| at.start + part.start..at.start + part.end;
    let flag = at.start..at.start + name.end;
    cut_run(text, shifted(name), letters, whole, each);
    if begin > 0 && is_plain {
        each(&text[flag.clone()], flag);
    }
    if !value.is_empty() {
        cut_run(text, shifted(value.clone()), letters, whole, each);
    }
    if !value.is_empty() || end < piece.len() {
        each(piece, at);
    }
}

/// Splits a run of words with joiners between them.
fn cut_run(
    text: &str,
    at: Range<usize>,
    letters: UnspacedSplit,
    whole: &mut String,
    each: &mut dyn FnMut(&str, Range<usize>),
) {
    let Range { start, end } = at;
    let (mut parts, mut numbered) = (0, false);
    let mut push = |at: Range<usize>| {
        if !at.is_empty() {
            parts += 1;
            numbered |= text[at.clone()].bytes().all(|byte| byte.is_ascii_digit());
            part(text, at, letters, each);
        }
    };
    let mut from = start;
    let mut previous: Option<char> = None;
    let mut chars = text[start..end].char_indices().map(|(ix, c)| (start + ix, c)).peekable();
    while let Some((ix, c)) = chars.next() {
        if !is_word(c) {
            push(from..ix);
            from = ix + c.len_utf8();
        } else if let Some(before) = previous.filter(|_| from < ix) {
            // `APIs` and `URLs` are one word.
            let is_plural =
                matches!(text.as_bytes()[ix + c.len_utf8()..end], [b's'] | [b's', b'_' | b'-' | b'.' | b':', ..]);
            let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase()) && !is_plural;
            let hump = c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && next_is_lower);
            if hump || is_unspaced(c) != is_unspaced(before) && !is_mark(c) {
                push(from..ix);
                from = ix;
            }
        }
        previous = Some(c);
    }
    push(from..end);
    if parts > 1 && !text[start..end].chars().any(is_unspaced) {
        whole.clear();
        // A version keeps its dots: 1.12 is not 11.2.
        whole.extend(text[start..end].chars().filter(|c| is_word(*c) || numbered && *c == '.'));
        each(whole, start..end);
    }
}

fn part(text: &str, at: Range<usize>, letters: UnspacedSplit, each: &mut dyn FnMut(&str, Range<usize>)) {
    let Range { start, end } = at;
    let word = &text[start..end];
    if !word.chars().next().is_some_and(is_unspaced) {
        return each(word, start..end);
    }
    let starts: Vec<usize> = word.char_indices().filter(|(_, c)| !is_mark(*c)).map(|(ix, _)| start + ix).collect();
    let stop = |at: usize| starts.get(at).copied().unwrap_or(end);
    for at in 0..starts.len() {
        let alone = starts.len() == 1;
        if alone || letters == UnspacedSplit::InPairsAndSingly {
            each(&text[starts[at]..stop(at + 1)], starts[at]..stop(at + 1));
        }
        if at + 1 < starts.len() {
            each(&text[starts[at]..stop(at + 2)], starts[at]..stop(at + 2));
        }
    }
}

/// Scripts written without spaces between words: Han, kana (full and half width), Thai, Lao, Khmer, Burmese.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}')
}

/// The runs of letters and digits of a text, in order.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next_start(text, at)?;
        at = end_of(bytes, start, |kind| matches!(kind, Kind::Small | Kind::Capital));
        if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            let rest = &text[at..];
            at += rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        }
        Some(&text[start..at])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_are_those_of_letters_and_digits(text in "([a-cA-C0-2 _.:\u{e9}\u{2019}\u{691c}]|\\PC){0,20}") {
            let expected = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
            prop_assert_eq!(runs(&text).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }

        #[test]
        fn any_text_is_cut(text in "\\PC*") {
            let mut words = Vec::new();
            cut(&text, UnspacedSplit::InPairsAndSingly, &mut |word, at| words.push((word.to_owned(), at)));
            for (word, at) in words {
                prop_assert!(text.get(at).is_some());
                prop_assert!(!word.is_empty());
            }
        }

        #[test]
        fn a_plain_word_is_what_an_identifier_of_one_part_is(text in "[a-cA-C0-2_.: é検-]{1,12}") {
            for (start, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
                let Some(end) = plain_end(text.as_bytes(), start) else { continue };
                prop_assert_eq!(end, identifier_end(&text, start), "{} in {}", c, text);
                let mut words = Vec::new();
                identifier(&text, start..end, UnspacedSplit::InPairs, &mut String::new(), &mut |word, _| words.push(word.to_owned()));
                prop_assert_eq!(words, [&text[start..end]]);
            }
        }
    }
}
