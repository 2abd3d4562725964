//! Where a text occurs.

use std::ops::Range;

/// Every place where `find` occurs in `text`, not overlapping. A `find` that is one word is found as a whole word
/// only; a phrase has to begin where a word begins, so that `sign in` is not found in `design in`, and may go on, so
/// that `API key` is found in `API keys`.
pub fn occurrences(text: &str, find: &str) -> Vec<Range<usize>> {
    if find.is_empty() {
        return Vec::new();
    }
    let is_one_word = find.chars().all(is_word);
    let starts_with_word = find.chars().next().is_some_and(is_word);
    let ends_with_word = find.chars().next_back().is_some_and(is_word);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(find) {
        let start = at + offset;
        let end = start + find.len();
        let splits_before = starts_with_word
            && text[..start].chars().next_back().is_some_and(is_spaced_word)
            && find.chars().next().is_some_and(is_spaced_word);
        let splits_after = is_one_word
            && ends_with_word
            && text[end..].chars().next().is_some_and(is_spaced_word)
            && find.chars().next_back().is_some_and(is_spaced_word);
        if splits_before || splits_after {
            at = start + text[start..].chars().next().map_or(1, char::len_utf8);
        } else {
            found.push(start..end);
            at = end;
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Part of a word, in a script that puts spaces between words. The others have no bounds that could be seen here.
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
    fn words_are_found_whole_and_phrases_at_their_beginning() {
        for (find, text, count) in [
            ("Acme", "Acme, Acme's (Acme) Acme-like `Acme`", 5),
            ("Acme", "Acmes pacme AcmeCorp Acme_x acme", 0),
            ("API key", "API keys and an API key, myAPI key", 2),
            ("sign in", "design in", 0),
            (".com", "example.com.com", 2),
            ("C++", "C++ C++11 ObjC++", 2),
            ("foo()", "foo() myfoo()", 1),
            ("设置", "初始设置说明", 1),
            ("é", "café é", 1),
            ("aa", "aa aaa aa", 2),
            ("", "x", 0),
            ("v1", "/v1/ v1.2 v12", 2),
        ] {
            assert_eq!(occurrences(text, find).len(), count, "{find} in {text}");
        }
    }
}
