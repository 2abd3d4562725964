//! Languages whose words have endings, and how a page or a question tells which it is in.
//!
//! A page says its language, or else its commonest words do: those are few, short, and differ from language to language.
//! Which page is in which language decides how its words are cut to their stems, and nothing else.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use rust_stemmers::Algorithm;

use crate::words::lower;
use crate::words_cut::runs;

macro_rules! languages {
    ($($language:ident $code:literal $words:literal,)*) => {
        /// A language with a stemmer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Language {
            $($language,)*
        }

        impl Language {
            pub(crate) const ALL: &[Self] = &[$(Self::$language,)*];

            /// Two letters, as in a language tag.
            pub(crate) fn code(self) -> &'static str {
                match self { $(Self::$language => $code,)* }
            }

            pub(crate) fn algorithm(self) -> Algorithm {
                match self { $(Self::$language => Algorithm::$language,)* }
            }

            /// Its commonest words that are not those of another language as well.
            fn telling(self) -> impl Iterator<Item = &'static str> {
                match self { $(Self::$language => $words,)* }.split(' ')
            }
        }
    };
}

languages! {
    English "en" "the and is of to with for this that you are can be from not when your by how",
    Arabic "ar" "في من على إلى أن هذا التي الذي مع عن كل هذه",
    Danish "da" "og ikke af til på som bliver være eller også du det når jeg",
    Dutch "nl" "het een van niet voor met zijn wordt naar ook deze je dat bij",
    Finnish "fi" "ja ei että sekä tämä jos kun voi mutta tai ovat joka",
    French "fr" "le les des une dans est pour que vous avec sur pas qui sont cette",
    German "de" "der die und ist nicht das ein eine mit für auf werden sie wird zu",
    Greek "el" "και το να του της την από με για είναι στο δεν",
    Hungarian "hu" "és hogy nem egy az ez vagy meg kell lehet csak van",
    Italian "it" "il di che è per una sono della con non nel gli questo alla",
    Norwegian "no" "og ikke av til på som være eller også du hvis når jeg",
    Portuguese "pt" "de não uma para com você os do da em são é mais ou",
    Romanian "ro" "și este nu cu pentru să din care pe sunt în sau",
    Russian "ru" "и в не на что для с это по как если из или",
    Spanish "es" "el los las una para con que es por del se como puede más",
    Swedish "sv" "och inte att av på som för med är eller också du när jag",
    Tamil "ta" "மற்றும் ஒரு இந்த என்று இது அந்த",
    Turkish "tr" "ve bir bu için ile değil olarak da veya daha gibi olan",
}

impl Default for Language {
    /// What most docs are in.
    fn default() -> Self {
        Self::English
    }
}

/// Which languages each telling word is one of.
static TELLING: LazyLock<HashMap<&str, Vec<Language>, RandomState>> = LazyLock::new(|| {
    let mut telling: HashMap<&str, Vec<Language>, RandomState> = HashMap::default();
    for language in Language::ALL {
        for word in language.telling() {
            let languages = telling.entry(word).or_default();
            if !languages.contains(language) {
                languages.push(*language);
            }
        }
    }
    telling
});

/// The same of plain letters, as numbers.
static PLAIN_TELLING: LazyLock<HashMap<u64, Vec<Language>, RandomState>> = LazyLock::new(|| {
    let plain = TELLING.iter().filter(|(word, _)| word.is_ascii());
    plain.filter_map(|(word, languages)| Some((small(word)?, languages.clone()))).collect()
});

/// A word of plain letters in lower case, as a number; none for one of more than eight. What is read twice is the same both
/// times.
fn small(word: &str) -> Option<u64> {
    let (letters, length) = (word.as_bytes(), word.len());
    let number = match length {
        1..=3 => [0, length / 2, length - 1].iter().fold(0, |all, at| all | u64::from(letters[*at]) << (8 * at)),
        4..=8 => {
            let (first, last) = (letters.first_chunk()?, letters.last_chunk()?);
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4))
        }
        _ => return None,
    };
    // What makes a capital small, and leaves digits as they are.
    Some(number | u64::from_le_bytes([b' '; 8]))
}

/// How many words of a page are looked at.
const ENOUGH: usize = 400;
/// So many of them at a time, until it is clear.
const AT_A_TIME: usize = 50;
/// It is clear when so many are of one language, and at most half as many of any other.
const CLEAR: usize = 20;
/// Fewer common words than this say nothing.
const FEWEST: usize = 4;

impl Language {
    /// The language of a tag such as `pt-BR`. `None` for one that has no stemmer here.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let code = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let code = if matches!(code.as_str(), "nb" | "nn") { "no" } else { &code };
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }

    /// The language of a text in pieces; English when its words do not say.
    pub(crate) fn of_text<'t>(text: impl IntoIterator<Item = &'t str>) -> Self {
        let mut counts = [0_usize; Self::ALL.len()];
        let (telling, plain) = (&*TELLING, &*PLAIN_TELLING);
        for (at, word) in text.into_iter().flat_map(runs).take(ENOUGH).enumerate() {
            if at % AT_A_TIME == 0 && is_clear(&counts) {
                break;
            }
            let languages = match word.is_ascii() {
                // Most words tell nothing: they are longer than those that do.
                true => small(word).and_then(|small| plain.get(&small)),
                false => telling.get(lower(word).as_str()),
            };
            for language in languages.into_iter().flatten() {
                counts[*language as usize] += 1;
            }
        }
        let best = (0..counts.len()).rev().max_by_key(|at| counts[*at]).unwrap_or_default();
        if counts[best] < FEWEST { Self::English } else { Self::ALL[best] }
    }

    /// Whether a word is one of its commonest.
    pub(crate) fn is_filler(self, word: &str) -> bool {
        self.telling().any(|telling| telling == word)
    }

    /// The character that stands before a text to say how its words are to be cut: nothing else begins with it, and the
    /// index cuts every text by one and the same rule.
    pub(crate) fn mark(self) -> char {
        char::from_u32(FIRST_MARK + self as u32).unwrap_or('\u{f8ff}')
    }

    /// The language a text is marked with, and the text behind the mark.
    pub(crate) fn marked(text: &str) -> (Option<Self>, &str) {
        let Some(first) = text.chars().next() else { return (None, text) };
        let language = (first as u32).checked_sub(FIRST_MARK).and_then(|at| Self::ALL.get(at as usize));
        match language {
            Some(language) => (Some(*language), &text[first.len_utf8()..]),
            None => (None, text),
        }
    }
}

fn is_clear(counts: &[usize]) -> bool {
    let best = counts.iter().max().copied().unwrap_or_default();
    best >= CLEAR && counts.iter().filter(|count| 2 * **count > best).count() == 1
}

/// For private use, so no text has them.
const FIRST_MARK: u32 = 0xf8d0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_a_language() {
        for (tag, language) in [
            ("en", Some(Language::English)),
            ("de-AT", Some(Language::German)),
            ("pt_BR", Some(Language::Portuguese)),
            ("nb", Some(Language::Norwegian)),
            ("ja", None),
            ("", None),
        ] {
            assert_eq!(Language::of_tag(tag), language, "{tag}");
        }
    }

    #[test]
    fn the_commonest_words_tell_the_language() {
        for (text, language) in [
            ("The key is rotated by the server, and you can turn that off for this site.", Language::English),
            ("Der Schlüssel wird vom Server erneuert, und das ist nicht für alle zu ändern.", Language::German),
            ("La clé est renouvelée par le serveur, et vous êtes averti dans les journaux.", Language::French),
            ("El servidor renueva la clave para los usuarios que se conectan con una cuenta.", Language::Spanish),
            ("Ключ обновляется сервером, и это не зависит от того, что в файле или на диске.", Language::Russian),
            ("retry max_delay 5", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::of_text([text]), language, "{text}");
        }
    }

    #[test]
    fn a_page_is_looked_at_until_its_language_is_clear() {
        let english = "The key is rotated by the server, and you can turn that off for this site. ";
        let german = "Der Schlüssel wird vom Server erneuert, und das ist nicht für alle zu ändern. ";
        let page =
            |first: &str, often: usize, then: &str| Language::of_text([&*first.repeat(often), &*then.repeat(40)]);
        assert_eq!(page(english, 1, german), Language::German, "a quotation tells nothing yet");
        assert_eq!(page(german, 10, english), Language::German, "that much of it does");
        assert_eq!(page(&"retry max_delay ".repeat(60), 1, german), Language::German);
    }

    #[test]
    fn no_telling_word_of_plain_letters_is_too_long() {
        let plain = TELLING.keys().filter(|word| word.is_ascii());
        assert_eq!(plain.count(), PLAIN_TELLING.len());
    }

    #[test]
    fn a_mark_is_read_back() {
        for language in Language::ALL {
            let text = format!("{}häuser", language.mark());
            assert_eq!(Language::marked(&text), (Some(*language), "häuser"));
        }
        assert_eq!(Language::marked("häuser"), (None, "häuser"));
        assert_eq!(Language::marked(""), (None, ""));
    }
}
