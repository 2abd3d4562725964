//! The content words of a text, found without an index.

use crate::text::languages::{Language, is_asking_word};
use crate::text::terms;

/// Only this many bytes of a text are read, and at most this many content words returned.
const LONGEST_TEXT: usize = 8_000;
const MOST_WORDS: usize = 32;

/// A word of a text, in lower case, and its stem, which the word's other forms share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentWord {
    pub word: String,
    pub stem: String,
}

/// The content words of a question, in order, each stem once, at most 32. Words that any question may contain (`how`,
/// `please`, `help`) are left out, so the result may be empty. `language` is a tag such as `pt-BR`; without one, or
/// without a stemmer for it, the language is detected from the words.
pub fn content_words(text: &str, language: Option<&str>) -> Vec<ContentWord> {
    let words = terms::asked(&text[..text.floor_char_boundary(LONGEST_TEXT)]);
    let language = language.and_then(Language::of_tag).unwrap_or_else(|| Language::of_question(&words));
    let mut content: Vec<ContentWord> = Vec::new();
    for word in words {
        if content.len() == MOST_WORDS {
            break;
        }
        let is_common = terms::is_stop_word(&word)
            || terms::is_small_talk(&word)
            || language.is_stop_word(&word)
            || is_asking_word(language.code(), &word);
        let stem = terms::stem(&word, language);
        if !is_common && !stem.is_empty() && content.iter().all(|known| known.stem != stem) {
            content.push(ContentWord { word, stem });
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_words_of_a_question_say_what_it_is_about() {
        for (text, language, expected) in [
            ("How do I configure retries?", None, "configur retri"),
            ("Please help: retry configuration, retrying configurations", None, "retri configur"),
            ("Das Passwort für die Häuser", None, "passwort haus"),
            ("Häuser", Some("de-AT"), "haus"),
            ("Comment configurer les clés pour mon site ?", None, "configur cle sit"),
            ("Häuser", Some("tlh"), "hauser"),
            ("How can you do this?", None, ""),
            ("検索エンジン", None, "検索 索エ エン ンジ ジン"),
            ("", None, ""),
        ] {
            let stems: Vec<String> = content_words(text, language).into_iter().map(|word| word.stem).collect();
            assert_eq!(stems.join(" "), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_words_or_none(text in "\\PC{0,300}") {
            let words = content_words(&text, None);
            prop_assert!(words.len() <= MOST_WORDS);
            let mut stems: Vec<&str> = words.iter().map(|word| word.stem.as_str()).collect();
            stems.sort_unstable();
            stems.dedup();
            prop_assert_eq!(stems.len(), words.len());
        }
    }
}
