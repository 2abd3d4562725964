//! Words of a text, and lists of words in one text.

/// A text with its words separated by single spaces.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of the longest run of an ASCII character.
pub fn longest_run(text: &str, mark: char) -> usize {
    text.split(|c| c != mark).map(str::len).max().unwrap_or(0)
}

/// A text whose first letter is upper case.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether a list of words with blanks between them has this one.
pub fn has_word(list: &str, word: &str) -> bool {
    !word.is_empty() && list.as_bytes().split(u8::is_ascii_whitespace).any(|listed| listed == word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn a_word_is_whole() {
        for (word, is_there) in [("b", true), ("a", true), ("cd", true), ("c", false), ("", false), ("a b", false)] {
            assert_eq!(has_word("a b cd", word), is_there, "{word}");
        }
    }
}
