//! A position in a prompt, with parsers for small pieces of text. Each either succeeds and advances the cursor, or
//! leaves it where it was.

/// The longest text between quotes, in characters. Bounded so that parsing takes linear time for any prompt.
const MAX_QUOTE_CHARS: usize = 1_000;

/// Maximum number of closing quotes that are tried.
const MAX_CLOSING_QUOTES: usize = 8;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(crate) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Skips white space, including line breaks.
    pub(crate) fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.bump();
        }
    }

    /// Skips white space on this line.
    pub(crate) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|c| is_space(c) && c != '\n') {
            self.bump();
        }
    }

    /// One word, ignoring ASCII case, after any whitespace.
    pub(crate) fn word(&mut self, word: &str) -> bool {
        let mut next = *self;
        next.skip_spaces();
        let rest = next.rest();
        let Some(head) = rest.get(..word.len()) else { return false };
        // `page` does not match in `page.md`, nor `in` in `in/out`.
        let mut after = rest[word.len()..].chars();
        let is_word_end = match after.next() {
            None => true,
            Some(c) if ".,;:!?)".contains(c) => after.next().is_none_or(is_space),
            Some(c) => is_space(c) || closing(c).is_some_and(|_| c != '\'' && c != '’') || c == '。' || c == '，',
        };
        if !head.eq_ignore_ascii_case(word) || !is_word_end {
            return false;
        }
        next.at += word.len();
        *self = next;
        true
    }

    /// Several words in a row, which `words` separates by single spaces.
    pub(crate) fn words(&mut self, words: &str) -> bool {
        let mut next = *self;
        if !words.split(' ').all(|word| next.word(word)) {
            return false;
        }
        *self = next;
        true
    }

    /// The first of several phrases that matches here.
    pub(crate) fn any(&mut self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.words(phrase))
    }

    /// One character, after any white space.
    pub(crate) fn mark(&mut self, mark: char) -> bool {
        let mut next = *self;
        next.skip_spaces();
        if next.peek() != Some(mark) {
            return false;
        }
        next.bump();
        *self = next;
        true
    }

    /// A text in quotes, in its most likely interpretation.
    pub(crate) fn quoted(&mut self) -> Option<String> {
        let (text, after) = self.quotations().into_iter().next()?;
        *self = after;
        Some(text)
    }

    /// All interpretations of a text in quotes at this position, the most likely first. That one ends at the first
    /// closing quote that ends a word and does not close an inner quote (`"say "hi" twice"`). Later closing quotes are
    /// not tried, because the text would include the next clause. The other interpretations end inside a word
    /// (`"A"with`) or at an inner quote.
    pub(crate) fn quotations(&self) -> Vec<(String, Self)> {
        self.quotations_until(&['\n'])
    }

    /// The end of a quotation that may go on over several lines.
    pub(crate) fn after_quotation(&self) -> Option<Self> {
        self.quotations_until(&[]).first().map(|(_, after)| *after)
    }

    fn quotations_until(&self, ends: &[char]) -> Vec<(String, Self)> {
        let mut next = *self;
        next.skip_spaces();
        let Some(open) = next.peek() else { return Vec::new() };
        let Some(closing) = closing(open) else { return Vec::new() };
        next.bump();
        let mut readings = Vec::new();
        let mut text = String::new();
        let mut length = 0;
        let mut inner = 0usize;
        while let Some(c) = next.peek() {
            if ends.contains(&c) || length >= MAX_QUOTE_CHARS || readings.len() >= MAX_CLOSING_QUOTES {
                break;
            }
            next.bump();
            length += 1;
            let following = next.peek();
            if c == '\\' && following.is_some_and(|quote| closing.contains(&quote)) {
                text.extend(following);
                next.bump();
                continue;
            }
            if closing.contains(&c) {
                let ends_word = following.is_none_or(|c| is_space(c) || ".,;:!?)]".contains(c));
                let begins_word = !ends_word && text.chars().next_back().is_none_or(is_space);
                if ends_word && inner == 0 {
                    readings.insert(0, (text, next));
                    return readings;
                }
                readings.push((text.clone(), next));
                if ends_word {
                    inner -= 1;
                } else if begins_word {
                    inner += 1;
                }
            }
            text.push(c);
        }
        readings
    }

    /// Whether a word may begin here: nothing before it on the line is part of it.
    pub(crate) fn begins_word(&self) -> bool {
        self.text[..self.at].chars().next_back().is_none_or(|c| !c.is_alphanumeric())
    }

    /// Skips to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// A path or glob, with or without quotes. Without quotes it ends at white space, or at a comma outside of braces,
    /// and punctuation at its end is removed.
    pub(crate) fn path(&mut self) -> Option<String> {
        let mut next = *self;
        next.skip_spaces();
        if next.peek().is_some_and(|c| closing(c).is_some()) {
            let path = next.quoted().map(|path| path.trim().to_owned()).filter(|path| !path.is_empty())?;
            *self = next;
            return Some(path);
        }
        let start = next.at;
        let mut depth = 0usize;
        while let Some(c) = next.peek() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => break,
                c if is_space(c) || c == ';' || closing(c).is_some() => break,
                _ => {}
            }
            next.bump();
        }
        let bare = self.text[start..next.at].trim_end_matches(['.', '!', '?', ':']);
        if bare.is_empty() {
            return None;
        }
        next.at = start + bare.len();
        *self = next;
        Some(bare.to_owned())
    }
}

/// White space, including invisible characters that come with pasted text.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}')
}

/// The closing quotes for an opening quote; `None` when the character is not one.
pub(crate) fn closing(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '\'' => &['\''],
        '`' => &['`'],
        '“' => &['”', '“', '"'],
        '”' => &['”'],
        '„' => &['“', '”', '"'],
        '‘' => &['’', '\''],
        '’' => &['’'],
        '«' => &['»'],
        '「' => &['」'],
        _ => return None,
    })
}
