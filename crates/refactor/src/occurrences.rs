//! Finds the occurrences of a text.

use std::ops::Range;

/// Every non-overlapping occurrence of `find` in `text`, as whole words and whole numbers only: `sign in` is not found
/// in `design in`, `API key` not in `API keys`, and `1.2` neither in `1.24` nor in `1.2.3`.
pub fn occurrences(text: &str, find: &str) -> Vec<Range<usize>> {
    if find.is_empty() {
        return Vec::new();
    }
    let (first, last) = (find.chars().next(), find.chars().next_back());
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(find) {
        let start = at + offset;
        let end = start + find.len();
        let goes_on = joins(first, text[..start].chars().rev()) || joins(last, text[end..].chars());
        if goes_on {
            at = start + text[start..].chars().next().map_or(1, char::len_utf8);
        } else {
            found.push(start..end);
            at = end;
        }
    }
    found
}

/// Whether a word or a number that ends in `edge` continues in the next text.
fn joins(edge: Option<char>, mut next: impl Iterator<Item = char>) -> bool {
    let Some(edge) = edge.filter(|edge| is_spaced_word(*edge)) else { return false };
    match next.next() {
        Some('.' | ',') if edge.is_ascii_digit() => next.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => is_spaced_word(c),
        None => false,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a character is part of a word in a script that separates words by spaces. Word boundaries of other scripts
/// cannot be detected here.
fn is_spaced_word(c: char) -> bool {
    let unspaced = matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xf900..=0xfaff | 0x20000..=0x2fa1f);
    is_word(c) && !unspaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_and_numbers_are_found_whole() {
        for (find, text, count) in [
            ("Acme", "Acme, Acme's (Acme) Acme-like `Acme`", 5),
            ("Acme", "Acmes pacme AcmeCorp Acme_x acme", 0),
            ("API key", "API keys and an API key, myAPI key", 1),
            ("sign in", "design in", 0),
            (".com", "example.com.com", 2),
            ("C++", "C++ C++11 ObjC++", 2),
            ("foo()", "foo() myfoo()", 1),
            ("设置", "初始设置说明", 1),
            ("é", "café é", 1),
            ("aa", "aa aaa aa", 2),
            ("", "x", 0),
            ("v1", "/v1/ v1.2 v12 v1.", 2),
            ("1.2", "1.24 1.2.3 11.2 0.1.2 v1.2 1.2, 1.2.", 2),
            ("10", "10,000 10%", 1),
        ] {
            assert_eq!(occurrences(text, find).len(), count, "{find} in {text}");
        }
    }
}
