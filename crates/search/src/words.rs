//! Text to the words an index knows it by.
//!
//! A word is a run of letters and digits. Words joined by `_`, `-`, `.` or `::`, and words in `camelCase`, are an
//! identifier: its parts are words, and so is the whole, without its joints, so that `max_retries`, `maxRetries` and
//! `--max-retries` are all `max`, `retries` and `maxretries`. Scripts that do not part words with spaces are cut into
//! pairs of letters.

use tantivy::tokenizer::{
    Language, LowerCaser, RemoveLongFilter, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer,
};

/// The analyzer whose words are cut to their stems.
pub(crate) const STEMMED: &str = "stemmed";
/// The analyzer whose words stay as they are, in lower case.
pub(crate) const EXACT: &str = "exact";

/// Longer words are noise: hashes, encoded data.
const LONGEST_WORD: usize = 60;

pub(crate) fn stemmed() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default())
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser)
        .filter(Stemmer::new(Language::English))
        .build()
}

pub(crate) fn exact() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default()).filter(RemoveLongFilter::limit(LONGEST_WORD)).filter(LowerCaser).build()
}

/// The distinct words of a text, in order of first appearance, at most `most`.
pub(crate) fn distinct(mut analyzer: TextAnalyzer, text: &str, most: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut stream = analyzer.token_stream(text);
    while words.len() < most && stream.advance() {
        let word = &stream.token().text;
        if !words.contains(word) {
            words.push(word.clone());
        }
    }
    words
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

#[derive(Debug, Clone, Default)]
struct Words {
    tokens: Vec<Token>,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Cut<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Cut<'a> {
        self.tokens.clear();
        cut(text, &mut self.tokens);
        Cut { tokens: &mut self.tokens, next: 0 }
    }
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

/// Cuts a whole text. `tokens` gets a token a word, in order; an identifier's parts come before the whole.
fn cut(text: &str, tokens: &mut Vec<Token>) {
    let mut at = 0;
    while let Some(start) = text[at..].find(char::is_alphanumeric).map(|length| at + length) {
        let end = identifier_end(text, start);
        identifier(text, start, end, tokens);
        at = end;
    }
}

/// The end of a run of words with joints between them.
fn identifier_end(text: &str, start: usize) -> usize {
    let mut end = start;
    loop {
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
    matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

fn joint_length(rest: &str) -> usize {
    if rest.starts_with("::") {
        return 2;
    }
    usize::from(rest.starts_with(['_', '-', '.']))
}

fn identifier(text: &str, start: usize, end: usize, tokens: &mut Vec<Token>) {
    let first = tokens.len();
    let mut part = start;
    let mut previous: Option<char> = None;
    let mut chars = text[start..end].char_indices().map(|(ix, c)| (start + ix, c)).peekable();
    while let Some((ix, c)) = chars.next() {
        if !is_word(c) {
            push(text, part, ix, tokens);
            part = ix + c.len_utf8();
        } else if let Some(before) = previous.filter(|_| part < ix) {
            let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            let hump = c.is_uppercase() && (before.is_lowercase() || before.is_uppercase() && next_is_lower);
            if hump || is_unspaced(c) != is_unspaced(before) && !is_mark(c) {
                push(text, part, ix, tokens);
                part = ix;
            }
        }
        previous = Some(c);
    }
    push(text, part, end, tokens);
    if tokens.len() > first + 1 && !text[start..end].chars().any(is_unspaced) {
        let numbered = tokens[first..].iter().any(|token| token.text.bytes().all(|byte| byte.is_ascii_digit()));
        // A version keeps its dots: 1.12 is not 11.2.
        let whole = text[start..end].chars().filter(|c| is_word(*c) || numbered && *c == '.').collect();
        tokens.push(token(whole, start, end, tokens.len()));
    }
}

fn push(text: &str, start: usize, end: usize, tokens: &mut Vec<Token>) {
    if start >= end {
        return;
    }
    let word = &text[start..end];
    if !word.chars().next().is_some_and(is_unspaced) {
        tokens.push(token(word.to_owned(), start, end, tokens.len()));
        return;
    }
    let starts: Vec<usize> = word.char_indices().filter(|(_, c)| !is_mark(*c)).map(|(ix, _)| start + ix).collect();
    if starts.len() == 1 {
        tokens.push(token(word.to_owned(), start, end, tokens.len()));
    }
    for pair in 0..starts.len().saturating_sub(1) {
        let stop = starts.get(pair + 2).copied().unwrap_or(end);
        tokens.push(token(text[starts[pair]..stop].to_owned(), starts[pair], stop, tokens.len()));
    }
}

fn token(text: String, offset_from: usize, offset_to: usize, position: usize) -> Token {
    Token { offset_from, offset_to, position, text, position_length: 1 }
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
            ("API鍵", "api 鍵"),
            ("...", ""),
            ("_x_", "x"),
        ] {
            assert_eq!(distinct(exact(), text, 100).join(" "), expected, "{text}");
        }
        assert_eq!(distinct(stemmed(), "configuring retries", 10), ["configur", "retri"]);
    }

    #[test]
    fn fillers_are_sorted_for_the_search() {
        assert!(is_filler("a") && is_filler("how") && is_filler("your") && is_filler("the"));
        assert!(!is_filler("retry"));
    }

    proptest! {
        #[test]
        fn any_text_is_cut(text in "\\PC*") {
            let mut tokens = Vec::new();
            cut(&text, &mut tokens);
            for token in tokens {
                prop_assert!(text.get(token.offset_from..token.offset_to).is_some());
                prop_assert!(!token.text.is_empty());
            }
        }
    }
}
