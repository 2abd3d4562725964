//! Text to the words an index knows it by.
//!
//! A word is a run of letters and digits. Words joined by `_`, `-`, `.` or `::`, and words in `camelCase`, are an
//! identifier: its parts are words, and so is the whole, without its joints, so that `max_retries`, `maxRetries` and
//! `--max-retries` are all `max`, `retries` and `maxretries`. Scripts that do not part words with spaces are cut into
//! pairs of letters, and in a text to be found into single letters besides.
//!
//! A word is looked up by its stem, without accents: `naïve` is found as `naive`. How stems are made is a matter of the
//! language, which a text says with a mark in front ([`Language::mark`]).

use std::ops::Range;

use rust_stemmers::Stemmer;
use tantivy::tokenizer::{AsciiFoldingFilter, TextAnalyzer, Token, TokenStream, Tokenizer};

use crate::languages::Language;

/// Longer words are noise: hashes, encoded data.
const LONGEST_WORD: usize = 60;

/// Cuts a text to stems, each with its place in the text.
pub(crate) fn stemmed() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default()).filter(AsciiFoldingFilter).build()
}

/// The words of a question as they are spelled, in lower case and in order, the same word more than once.
pub(crate) fn asked(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    cut(text, Letters::InPairs, &mut |word, _| words.push(lower(word)));
    words.retain(|word| word.len() <= LONGEST_WORD);
    words
}

/// Gives the words of a text as they stand to `each`, in order; `None` for one that is too long to be one.
pub(crate) fn each_word(text: &str, mut each: impl FnMut(Option<&str>)) {
    cut(text, Letters::InPairsAndSingly, &mut |word, _| each(Some(word).filter(|word| word.len() <= LONGEST_WORD)));
}

/// The runs of letters and digits of a text, in order.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let plain_end = |from: usize| {
        let plain = bytes[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
        from + plain.count()
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            at = plain_end(at);
            if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
                let rest = &text[at..];
                at += rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            }
            let run = &text[start..at];
            at += text[at..].chars().next().map_or(0, char::len_utf8);
            if !run.is_empty() {
                return Some(run);
            }
        }
        None
    })
}

/// Gives the stems of those words of a text to `each`, in order, that may have a stem beginning so: making stems is what
/// costs.
pub(crate) fn each_stem_beginning(text: &str, language: Language, begins: &Beginnings, mut each: impl FnMut(&str)) {
    cut(text, Letters::InPairsAndSingly, &mut |word, _| {
        if word.len() <= LONGEST_WORD && begins.may_begin(word) {
            each(&stem(&lower(word), language));
        }
    });
}

/// What stems begin with: their first two letters.
#[derive(Debug, Default)]
pub(crate) struct Beginnings(Vec<[u8; 2]>);

impl Beginnings {
    pub(crate) fn of<'s>(stems: impl Iterator<Item = &'s str>) -> Self {
        Self(stems.filter(|stem| !stem.is_empty()).map(|stem| first_two(stem.as_bytes())).collect())
    }

    /// Whether one of the stems may be that of a word. Stemming may make `i` of `y`, and an accent goes.
    fn may_begin(&self, word: &str) -> bool {
        let [first, second] = first_two(word.as_bytes());
        let is_plain = first.is_ascii() && second.is_ascii();
        !is_plain || self.0.iter().any(|stem| stem[0] == first && (stem[1] == second || stem[1] == 0))
    }
}

fn first_two(word: &[u8]) -> [u8; 2] {
    let letter = |at: usize| {
        word.get(at).map_or(0, |byte| if byte.eq_ignore_ascii_case(&b'y') { b'i' } else { byte.to_ascii_lowercase() })
    };
    [letter(0), letter(1)]
}

/// The stem of one word.
pub(crate) fn stem(word: &str, language: Language) -> String {
    let stem = Stemmer::create(language.algorithm()).stem(word).into_owned();
    if stem.is_ascii() { stem } else { folded(&without_accents(stem)) }
}

/// The stem that a word of a text is indexed by. `lower`: the word in lower case.
pub(crate) fn indexed_stem(lower: &str, stemmer: &Stemmer) -> String {
    if lower.is_ascii() {
        return stemmer.stem(lower).into_owned();
    }
    let stem = stemmer.stem(&without_accents(lower.to_owned())).into_owned();
    if stem.is_ascii() { stem } else { folded(&stem) }
}

/// A word in letters without accents.
fn folded(word: &str) -> String {
    let mut folded = String::new();
    // A word that is one already: the filter is all that is left to be done.
    let mut analyzer =
        TextAnalyzer::builder(tantivy::tokenizer::RawTokenizer::default()).filter(AsciiFoldingFilter).build();
    let mut stream = analyzer.token_stream(word);
    while stream.advance() {
        folded.push_str(&stream.token().text);
    }
    folded
}

/// Whether a word of a question says nothing of what is looked for.
pub(crate) fn is_filler(word: &str) -> bool {
    const FILLERS: &[&str] = &[
        "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did",
        "do", "does", "doing", "for", "from", "get", "got", "had", "has", "have", "he", "her", "him", "his", "how",
        "i", "if", "in", "into", "is", "it", "its", "like", "me", "my", "of", "on", "or", "our", "please", "she",
        "should", "so", "some", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they",
        "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will",
        "with", "would", "you", "your",
    ];
    FILLERS.binary_search(&word).is_ok()
}

#[derive(Clone, Default)]
struct Words {
    tokens: Vec<Token>,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Cut<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Cut<'a> {
        self.tokens.clear();
        let (language, text) = Language::marked(text);
        let mut position = 0;
        cut(text, Letters::InPairsAndSingly, &mut |word, at| {
            let (offset_from, offset_to) = (at.start, at.end);
            self.tokens.push(Token { offset_from, offset_to, position, text: word.to_owned(), position_length: 1 });
            position += 1;
        });
        self.tokens.retain(|token| token.text.len() <= LONGEST_WORD);
        let stemmer = Stemmer::create(language.unwrap_or(Language::English).algorithm());
        for token in &mut self.tokens {
            lower_in_place(&mut token.text);
            if !token.text.is_ascii() {
                token.text = without_accents(std::mem::take(&mut token.text));
            }
            if let std::borrow::Cow::Owned(stem) = stemmer.stem(&token.text) {
                token.text = stem;
            }
        }
        Cut { tokens: &mut self.tokens, next: 0 }
    }
}

pub(crate) fn lower(word: &str) -> String {
    let mut word = word.to_owned();
    lower_in_place(&mut word);
    word
}

fn lower_in_place(word: &mut String) {
    if word.is_ascii() {
        word.make_ascii_lowercase();
    } else {
        *word = word.to_lowercase();
    }
}

/// A word without the accents that are written as characters of their own; those that are part of a letter are folded
/// later.
fn without_accents(mut word: String) -> String {
    word.retain(|c| !('\u{300}'..='\u{36f}').contains(&c));
    word
}

struct Cut<'a> {
    tokens: &'a mut Vec<Token>,
    next: usize,
}

impl TokenStream for Cut<'_> {
    fn advance(&mut self) -> bool {
        self.next += 1;
        self.next <= self.tokens.len()
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next - 1]
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokens[self.next - 1]
    }
}

/// How a run of letters without spaces is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// A letter that stands alone is a word; more are taken two by two.
    InPairs,
    InPairsAndSingly,
}

/// Cuts a whole text. `each` gets every word with where it stands, in order; an identifier's parts come before the whole.
fn cut(text: &str, letters: Letters, each: &mut impl FnMut(&str, Range<usize>)) {
    let mut whole = String::new();
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        if let Some(end) = plain_end(text.as_bytes(), start) {
            each(&text[start..end], start..end);
            at = end;
        } else {
            let end = identifier_end(text, start);
            identifier(text, start..end, letters, &mut whole, each);
            at = end;
        }
    }
}

fn next_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        let byte = *bytes.get(at)?;
        if byte.is_ascii_alphanumeric() {
            return Some(at);
        }
        if byte.is_ascii() {
            at += 1;
        } else {
            let c = text[at..].chars().next()?;
            if c.is_alphanumeric() {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
}

/// By byte: whether it is a small letter or a digit.
const IS_SMALL: [bool; 256] = {
    let mut is_small = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        is_small[byte] = (byte as u8).is_ascii_lowercase() || (byte as u8).is_ascii_digit();
        byte += 1;
    }
    is_small
};

/// The end of a word such as most are: of plain letters and digits, with capitals in front only, and with nothing behind
/// it that may belong to it.
fn plain_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start + usize::from(text[start].is_ascii_alphanumeric());
    while end < text.len() && IS_SMALL[usize::from(text[end])] {
        end += 1;
    }
    let is_end = match text.get(end) {
        None => true,
        Some(b'_' | b'-' | b'.') => {
            text.get(end + 1).is_none_or(|next| next.is_ascii() && !next.is_ascii_alphanumeric())
        }
        Some(b':') => text.get(end + 1) != Some(&b':'),
        Some(byte) => byte.is_ascii() && !byte.is_ascii_uppercase(),
    };
    (is_end && end > start).then_some(end)
}

/// The end of a run of words with joints between them.
fn identifier_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut end = start;
    loop {
        end += bytes[end..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
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

/// Marks that belong to the letter before them: accents, vowel signs.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{b82}' | '\u{bbe}'..='\u{bcd}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

fn joint_length(rest: &str) -> usize {
    if rest.starts_with("::") {
        return 2;
    }
    usize::from(rest.starts_with(['_', '-', '.']))
}

/// Cuts a run of words with joints between them. `whole` is for use in between.
fn identifier(
    text: &str,
    at: Range<usize>,
    letters: Letters,
    whole: &mut String,
    each: &mut impl FnMut(&str, Range<usize>),
) {
    if text[at.clone()].is_ascii() {
        return plain_identifier(text, at, whole, each);
    }
    any_identifier(text, at, letters, whole, each);
}

fn any_identifier(
    text: &str,
    at: Range<usize>,
    letters: Letters,
    whole: &mut String,
    each: &mut impl FnMut(&str, Range<usize>),
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
            let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
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

/// The same of plain letters, as nearly all are: byte by byte.
fn plain_identifier(text: &str, at: Range<usize>, whole: &mut String, each: &mut impl FnMut(&str, Range<usize>)) {
    let bytes = &text.as_bytes()[..at.end];
    let (mut parts, mut numbered) = (0, false);
    let mut push = |at: Range<usize>| {
        if !at.is_empty() {
            parts += 1;
            numbered |= bytes[at.clone()].iter().all(u8::is_ascii_digit);
            each(&text[at.clone()], at);
        }
    };
    let mut from = at.start;
    for ix in at.clone() {
        if !bytes[ix].is_ascii_alphanumeric() {
            push(from..ix);
            from = ix + 1;
        } else if from < ix && bytes[ix].is_ascii_uppercase() {
            let before = bytes[ix - 1];
            let next_is_lower = bytes.get(ix + 1).is_some_and(u8::is_ascii_lowercase);
            if before.is_ascii_lowercase() || before.is_ascii_uppercase() && next_is_lower {
                push(from..ix);
                from = ix;
            }
        }
    }
    push(from..at.end);
    if parts > 1 {
        whole.clear();
        let is_kept = |byte: &u8| byte.is_ascii_alphanumeric() || numbered && *byte == b'.';
        whole.extend(bytes[at.clone()].iter().filter(|byte| is_kept(byte)).map(|byte| char::from(*byte)));
        each(whole, at);
    }
}

fn part(text: &str, at: Range<usize>, letters: Letters, each: &mut impl FnMut(&str, Range<usize>)) {
    let Range { start, end } = at;
    let word = &text[start..end];
    if !word.chars().next().is_some_and(is_unspaced) {
        return each(word, start..end);
    }
    let starts: Vec<usize> = word.char_indices().filter(|(_, c)| !is_mark(*c)).map(|(ix, _)| start + ix).collect();
    let stop = |at: usize| starts.get(at).copied().unwrap_or(end);
    for at in 0..starts.len() {
        let alone = starts.len() == 1;
        if alone || letters == Letters::InPairsAndSingly {
            each(&text[starts[at]..stop(at + 1)], starts[at]..stop(at + 1));
        }
        if at + 1 < starts.len() {
            each(&text[starts[at]..stop(at + 2)], starts[at]..stop(at + 2));
        }
    }
}

/// Scripts written without spaces between words: Han, kana, Thai, Lao, Khmer, Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stems(text: &str, language: Language) -> Vec<String> {
        let mut found = Vec::new();
        let mut analyzer = stemmed();
        let marked = format!("{}{text}", language.mark());
        let mut stream = analyzer.token_stream(&marked);
        while stream.advance() {
            found.push(stream.token().text.clone());
        }
        found
    }

    #[test]
    fn a_stem_begins_as_its_word_does() {
        for (word, stem, may) in [
            ("skies", "ski", true),
            ("Dying", "die", true),
            ("b", "b", true),
            ("béton", "beton", true),
            ("retry", "reset", true),
            ("retry", "run", false),
        ] {
            assert_eq!(Beginnings::of([stem].into_iter()).may_begin(word), may, "{word} {stem}");
        }
    }

    #[test]
    fn identifiers_are_found_by_their_parts_and_whole() {
        for (text, expected) in [
            ("Hello, World!", "hello world"),
            ("max_retries", "max retries maxretries"),
            ("--max-retries=3", "max retries maxretries 3"),
            ("maxRetries", "max retries maxretries"),
            ("HTTPServer", "http server httpserver"),
            ("std::io::Error.", "std io error stdioerror"),
            ("docs.json", "docs json docsjson"),
            ("v1.12.3", "v1 12 3 v1.12.3"),
            ("don't", "don t"),
            ("a/b", "a b"),
            ("utf8", "utf8"),
            ("naïve Ünï", "naïve ünï"),
            ("検索エンジン", "検索 索エ エン ンジ ジン"),
            ("鍵", "鍵"),
            ("API鍵", "api 鍵"),
            ("...", ""),
            ("_x_", "x"),
        ] {
            assert_eq!(asked(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn stems_are_those_of_the_language_without_accents() {
        assert_eq!(stems("Configuring retries", Language::English), ["configur", "retri"]);
        assert_eq!(stems("naïve cafe\u{301}", Language::English), ["naiv", "cafe"]);
        assert_eq!(stems("Häuser häusern", Language::German), ["haus", "haus"]);
        assert_eq!(stems("maisons", Language::French), stems("maison", Language::French));
        assert_eq!(stems("索引", Language::English), ["索", "索引", "引"]);
    }

    #[test]
    fn one_word_has_the_stem_it_has_in_a_text() {
        for (word, language) in
            [("häusern", Language::German), ("configuring", Language::English), ("naïve", Language::French)]
        {
            assert_eq!(vec![stem(word, language)], stems(word, language));
        }
    }

    #[test]
    fn fillers_are_sorted_for_the_search() {
        assert!(is_filler("a") && is_filler("how") && is_filler("your") && is_filler("the"));
        assert!(!is_filler("retry"));
    }

    proptest! {
        #[test]
        fn every_word_may_have_the_stem_it_has(word in "[a-zA-Z]{1,9}(ing|ies|ed|es|ment|eux|lich|y)?") {
            for language in [Language::English, Language::French, Language::German, Language::Spanish] {
                let stem = stem(&lower(&word), language);
                prop_assert!(Beginnings::of([stem.as_str()].into_iter()).may_begin(&word), "{} {}", word, stem);
            }
        }

        #[test]
        fn runs_are_those_of_letters_and_digits(text in "([a-cA-C0-2 _.:\u{e9}\u{2019}\u{691c}]|\\PC){0,20}") {
            let expected = text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty());
            prop_assert_eq!(runs(&text).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }

        #[test]
        fn any_text_is_cut(text in "\\PC*") {
            let mut words = Vec::new();
            cut(&text, Letters::InPairsAndSingly, &mut |word, at| words.push((word.to_owned(), at)));
            for (word, at) in words {
                prop_assert!(text.get(at).is_some());
                prop_assert!(!word.is_empty());
            }
        }

        #[test]
        fn plain_identifiers_are_cut_as_all_are(text in "[a-cA-C0-2_.:-]{1,16}") {
            let (mut plain, mut any) = (Vec::new(), Vec::new());
            let at = 0..text.len();
            plain_identifier(&text, at.clone(), &mut String::new(), &mut |word, at| plain.push((word.to_owned(), at)));
            let letters = Letters::InPairs;
            any_identifier(&text, at, letters, &mut String::new(), &mut |word, at| any.push((word.to_owned(), at)));
            prop_assert_eq!(plain, any);
        }

        #[test]
        fn a_plain_word_is_what_an_identifier_of_one_part_is(text in "[a-cA-C0-2_.: é検-]{1,12}") {
            for (start, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
                let Some(end) = plain_end(text.as_bytes(), start) else { continue };
                prop_assert_eq!(end, identifier_end(&text, start), "{} in {}", c, text);
                let mut words = Vec::new();
                identifier(&text, start..end, Letters::InPairs, &mut String::new(), &mut |word, _| words.push(word.to_owned()));
                prop_assert_eq!(words, [&text[start..end]]);
            }
        }
    }
}
