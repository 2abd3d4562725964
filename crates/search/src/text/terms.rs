//! Turns text into the words under which an index stores it.
//!
//! A text is split into words ([`crate::text::tokenizer`]), and a word is looked up by its stem, without accents:
//! `naïve` is found as `naive`. The stemmer depends on the language.

use std::borrow::Cow;
use std::ops::Range;

use rust_stemmers::Stemmer;
use tantivy::tokenizer::{AsciiFoldingFilter, TextAnalyzer, TokenStream};
use unicode_normalization::UnicodeNormalization;

use crate::text::korean::without_particle;
use crate::text::languages::Language;
use crate::text::tokenizer::{UnspacedSplit, cut, is_dropped};

/// Longer words, in bytes, are noise: hashes, encoded data.
pub(crate) const LONGEST_WORD: usize = 60;

/// Calls `each` with the stem and the byte range of every word of a text, in order; without words longer than
/// [`LONGEST_WORD`].
pub(crate) fn each_stem(text: &str, language: Language, mut each: impl FnMut(&str, Range<usize>)) {
    let stemmer = Stemmer::create(language.algorithm());
    cut(text, UnspacedSplit::InPairsAndSingly, &mut |word, at| {
        if word.len() <= LONGEST_WORD {
            each(&indexed_stem(&lower(word), language, &stemmer), at);
        }
    });
}

/// The words of a question, unstemmed, in lower case and in order, with repetitions.
pub(crate) fn asked(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    cut(text, UnspacedSplit::InPairs, &mut |word, _| words.push(lower(word)));
    words.retain(|word| word.len() <= LONGEST_WORD);
    words
}

/// Whether a word is a name with signs: `c++`, `.net`, `--watch`.
pub(crate) fn has_signs(word: &str) -> bool {
    word.starts_with(['.', '-']) || word.ends_with(['+', '#'])
}

/// The identifiers of a question, in `camelCase`, joined by `_`, `.` or `::`, flags, and names with signs: the whole of
/// each, and its parts, as [`asked`] has them.
pub(crate) fn identifiers(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut words: Vec<(String, usize)> = Vec::new();
    cut(text, UnspacedSplit::InPairs, &mut |word, at| {
        let before = words.iter().rposition(|(_, start)| *start < at.start).map_or(0, |last| last + 1);
        let parts = &words[before..];
        // A hyphen joins words of prose, too, unless it is a flag's.
        let is_flag = text[at.start..].starts_with("--") || text[..at.start].ends_with("--");
        if !parts.is_empty() && (is_flag || !text[at.clone()].contains('-')) {
            found.push((lower(word), parts.iter().map(|(part, _)| part.clone()).collect()));
        }
        words.push((lower(word), at.start));
    });
    found
}

/// Calls `each` with every word of a text verbatim, in order; with `None` for one longer than [`LONGEST_WORD`].
pub(crate) fn each_word(text: &str, mut each: impl FnMut(Option<&str>)) {
    cut(text, UnspacedSplit::InPairsAndSingly, &mut |word, _| {
        each(Some(word).filter(|word| word.len() <= LONGEST_WORD));
    });
}

/// Calls `each` with the words of a text, in order, whose stems may begin like one of `begins`. This rules out most
/// words before stemming, which is expensive.
pub(crate) fn each_beginning(text: &str, begins: &StemPrefixes, mut each: impl FnMut(&str)) {
    cut(text, UnspacedSplit::InPairsAndSingly, &mut |word, _| {
        if word.len() <= LONGEST_WORD && begins.may_begin(word) {
            each(word);
        }
    });
}

/// The first two bytes of some stems, as [`first_two`] gives them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StemPrefixes(Vec<[u8; 2]>);

impl StemPrefixes {
    pub(crate) fn of<'s>(stems: impl Iterator<Item = &'s str>) -> Self {
        Self(stems.filter(|stem| !stem.is_empty()).map(|stem| first_two(stem.as_bytes())).collect())
    }

    /// Whether one of the stems may be that of a word. Stemming may turn `y` into `i`, and removes accents.
    pub(crate) fn may_begin(&self, word: &str) -> bool {
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

/// The stem of one word in lower case.
pub(crate) fn stem(lower: &str, language: Language) -> String {
    indexed_stem(lower, language, &Stemmer::create(language.algorithm())).into_owned()
}

/// The stem that a word of a text is indexed by. `lower`: the word in lower case. `stemmer`: that of the language.
pub(crate) fn indexed_stem<'w>(lower: &'w str, language: Language, stemmer: &Stemmer) -> Cow<'w, str> {
    if lower.is_ascii() {
        return stemmer.stem(lower);
    }
    let noun = without_particle(lower);
    if noun.len() < lower.len() {
        return indexed_stem(noun, language, stemmer);
    }
    let letters = one_of_each(lower);
    // The English stemmer knows plain letters only.
    let letters = if language == Language::English { folded(&letters) } else { letters };
    let stem = stemmer.stem(&letters).into_owned();
    Cow::Owned(if stem.is_ascii() { stem } else { folded(&stem) })
}

/// A word with its accented letters replaced by plain ones.
fn folded(word: &str) -> String {
    let mut folded = String::new();
    // The word needs no splitting, so the filter is all that is left to apply.
    let mut analyzer =
        TextAnalyzer::builder(tantivy::tokenizer::RawTokenizer::default()).filter(AsciiFoldingFilter).build();
    let mut stream = analyzer.token_stream(word);
    while stream.advance() {
        folded.push_str(&stream.token().text);
    }
    folded
}

/// Whether a word of a question is an English stop word, which says nothing about what is searched for.
pub(crate) fn is_stop_word(word: &str) -> bool {
    const STOP_WORDS: &[&str] = &[
        "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did",
        "do", "does", "doing", "for", "from", "get", "got", "had", "has", "have", "he", "her", "him", "his", "how",
        "i", "if", "in", "into", "is", "it", "its", "like", "me", "my", "of", "on", "or", "our", "please", "she",
        "should", "so", "some", "tell", "than", "that", "the", "their", "them", "then", "there", "these", "they",
        "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will",
        "with", "would", "you", "your",
    ];
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Whether a word may occur in any question: it counts where the docs contain it, and is not missed where they do not.
pub(crate) fn is_small_talk(word: &str) -> bool {
    const SMALL_TALK: &[&str] = &[
        "able", "across", "actually", "after", "again", "against", "allow", "allowed", "along", "already", "also",
        "always", "among", "another", "anything", "around", "available", "away", "back", "basically", "because",
        "before", "behind", "below", "best", "better", "between", "beyond", "both", "cannot", "come", "correctly",
        "currently", "difference", "differences", "different", "during", "easily", "easy", "either", "else", "enough",
        "ever", "every", "everything", "exactly", "except", "explain", "far", "fast", "first", "fully", "generally",
        "give", "good", "happen", "happened", "happens", "hard", "help", "here", "inside", "instead", "just", "keep",
        "kind", "know", "later", "least", "less", "let", "long", "look", "lot", "make", "many", "may", "maybe", "mean",
        "means", "might", "more", "most", "much", "must", "need", "needed", "needs", "never", "new", "no", "normally",
        "not", "now", "off", "often", "once", "one", "only", "other", "otherwise", "out", "outside", "over", "own",
        "per", "possible", "possibly", "probably", "properly", "purpose", "quickly", "quite", "rather", "really",
        "reason", "recommended", "right", "same", "say", "see", "several", "show", "simple", "simply", "something",
        "sometimes", "soon", "still", "such", "suppose", "supposed", "sure", "take", "thank", "thanks", "thing",
        "things", "think", "though", "through", "throughout", "together", "too", "toward", "towards", "try", "trying",
        "under", "understand", "until", "upon", "use", "used", "useful", "uses", "using", "usually", "very", "via",
        "want", "wanted", "way", "ways", "well", "whether", "while", "whose", "within", "without", "wonder", "work",
        "working", "works", "worth", "wrong", "yet",
    ];
    SMALL_TALK.binary_search(&word).is_ok()
}

/// A word in lower case, of the characters that others with the same meaning are composed of (full-width letters, ligatures,
/// half-width kana), and without marks that are no letters.
pub(crate) fn lower(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let lower = word.nfkc().collect::<String>().to_lowercase();
    lower.chars().filter(|c| !is_dropped(*c)).collect()
}

/// A word with one letter for those that are written in several ways; accents are folded later.
fn one_of_each(word: &str) -> String {
    let letters = word.chars().map(|c| match c {
        'ё' => 'е',
        // The form at the end of a word.
        'ς' => 'σ',
        // Persian and Arabic keyboards write these letters as different characters.
        'ی' | 'ى' => 'ي',
        'ک' => 'ك',
        _ => c,
    });
    letters.collect()
}

/// A word as it may also be spelled in a language: with `ü` for `ue` and the reverse, or with dotless `i`. `None` where that is
/// the same word.
pub(crate) fn other_spelling(lower: &str, language: Language) -> Option<String> {
    let pairs: &[(&str, &str)] = match language {
        Language::German => &[("ae", "ä"), ("oe", "ö"), ("ue", "ü")],
        Language::Danish | Language::Norwegian => &[("ae", "æ"), ("oe", "ø"), ("aa", "å")],
        Language::Swedish | Language::Finnish => &[("ae", "ä"), ("oe", "ö"), ("aa", "å")],
        // Capitals and keyboards without the letter have `i` for both.
        Language::Turkish => &[("i", "ı")],
        _ => return None,
    };
    let other = pairs.iter().fold(lower.to_owned(), |word, (plain, letter)| {
        if lower.is_ascii() { word.replace(plain, letter) } else { word.replace(letter, plain) }
    });
    (other != lower).then_some(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stems(text: &str, language: Language) -> Vec<String> {
        let mut found = Vec::new();
        each_stem(text, language, |stem, _| found.push(stem.to_owned()));
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
            assert_eq!(StemPrefixes::of([stem].into_iter()).may_begin(word), may, "{word} {stem}");
        }
    }

    #[test]
    fn identifiers_are_found_by_their_parts_and_whole() {
        for (text, expected) in [
            ("Hello, World!", "hello world"),
            ("max_retries", "max retries maxretries"),
            ("--max-retries=3", "max retries maxretries 3 --max-retries=3"),
            ("--watch", "watch --watch"),
            ("--log=json,", "log --log json --log=json"),
            ("a--b c---d", "a b c d"),
            ("HTTP/3, HTTP/1.1", "http 3 http3 http 1 1 http1.1"),
            ("and/or users/42/x 24/7 api/2024 v2/3", "and or users 42 x 24 7 api 2024 v2 3"),
            ("C++ c# g++. F#", "c c++ c c# g g++ f f#"),
            ("a+b x++y #1 C#x +1", "a b x y 1 c x 1"),
            (".NET and .env", "net .net and env .env"),
            ("a.b call().then ... .5 /.ssh", "a b ab call then 5 ssh .ssh"),
            ("E0308", "e0308"),
            ("maxRetries", "max retries maxretries"),
            ("HTTPServer", "http server httpserver"),
            ("APIs, URLs_of myIDs", "apis urls of urlsof my ids myids"),
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
    fn identifiers_are_told_from_other_words() {
        let wholes = |text: &str| identifiers(text).into_iter().map(|(whole, _)| whole).collect::<Vec<_>>();
        assert_eq!(
            wholes("set csiSnapshotTimeout or max_retries, a well-known pkg.mod.fn in 検索エンジン"),
            ["csisnapshottimeout", "maxretries", "pkgmodfn"]
        );
        assert_eq!(
            identifiers("maxRetries"),
            [("maxretries".to_owned(), vec!["max".to_owned(), "retries".to_owned()])]
        );
        assert_eq!(identifiers("plain words 7"), []);
        assert_eq!(
            wholes("--max-retries --watch=all well-known HTTP/3 C# and/or .NET"),
            ["maxretries", "--watch", "--watch=all", "http3", "c#", ".net"]
        );
    }

    #[test]
    fn stems_are_those_of_the_language_without_accents() {
        assert_eq!(stems("Configuring retries", Language::English), ["configur", "retri"]);
        assert_eq!(stems("naïve cafe\u{301}", Language::English), ["naiv", "cafe"]);
        assert_eq!(stems("Häuser häusern", Language::German), ["haus", "haus"]);
        assert_eq!(stems("maisons", Language::French), stems("maison", Language::French));
        for (word, language) in [
            ("retries", Language::English),
            ("naïves", Language::French),
            ("pre\u{301}fe\u{301}re\u{301}s", Language::French),
        ] {
            assert_eq!([stem(&lower(word), language)], *stems(word, language), "{word} is asked for as it is indexed");
        }
        assert_eq!(stems("索引", Language::English), ["索", "索引", "引"]);
        assert_eq!(stems("ｶﾞﾝ", Language::English), ["ガ", "ガン", "ン"]);
        for (one, other) in [
            ("con\u{ad}figuration", "configuration"),
            ("time\u{200b}out", "timeout"),
            ("ёлка", "елка"),
            ("کتاب", "كتاب"),
            ("مُحَمَّد", "محمد"),
            ("שָׁלוֹם", "שלום"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("ＡＰＩ", "api"),
            ("ﬁle", "file"),
            ("Straße", "strasse"),
            ("ΟΔΟΣ", "οδοσ"),
            ("\u{202a}key\u{202c}", "key"),
            ("İstanbul", "istanbul"),
        ] {
            assert_eq!(stems(one, Language::English), stems(other, Language::English), "{one}");
            assert_eq!(
                [stem(&lower(one), Language::English)],
                *stems(other, Language::English),
                "{one} is asked for so"
            );
        }
    }

    #[test]
    fn letters_are_spelled_in_two_ways() {
        for (word, language, expected) in [
            ("schluessel", Language::German, Some("schlüssel")),
            ("schlüssel", Language::German, Some("schluessel")),
            ("koebenhavn", Language::Danish, Some("københavn")),
            ("kullanici", Language::Turkish, Some("kullanıcı")),
            ("kalın", Language::Turkish, Some("kalin")),
            ("value", Language::English, None),
            ("haus", Language::German, None),
        ] {
            assert_eq!(other_spelling(word, language).as_deref(), expected, "{word}");
        }
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
    fn stop_words_are_sorted_for_the_search() {
        assert!(is_stop_word("a") && is_stop_word("how") && is_stop_word("your") && is_stop_word("the"));
        assert!(!is_stop_word("retry"));
        assert!(is_small_talk("able") && is_small_talk("often") && is_small_talk("yet") && !is_small_talk("retry"));
    }

    proptest! {
        #[test]
        fn every_word_may_have_the_stem_it_has(word in "[a-zA-Z]{1,9}(ing|ies|ed|es|ment|eux|lich|y)?") {
            for language in [Language::English, Language::French, Language::German, Language::Spanish] {
                let stem = stem(&lower(&word), language);
                prop_assert!(StemPrefixes::of([stem.as_str()].into_iter()).may_begin(&word), "{} {}", word, stem);
            }
        }
    }
}
