//! The languages with a stemmer, and detection of the language of a page or a question.
//!
//! A page declares its language, or else its stop words reveal it: those are few, short, and differ from language to
//! language. The language of a page decides how its words are stemmed. The language of a question decides which of a
//! page's translations are searched ([`crate::rank::variants`]).

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use rust_stemmers::Algorithm;

use crate::text::terms::{is_stop_word, lower};
use crate::text::tokenizer::runs;

macro_rules! languages {
    ($($language:ident $code:literal $words:literal,)*) => {
        /// A language with a stemmer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum Language {
            $($language,)*
        }

        impl Language {
            pub(crate) const ALL: &[Self] = &[$(Self::$language,)*];

            /// The two-letter code of a language tag.
            pub(crate) fn code(self) -> &'static str {
                match self { $(Self::$language => $code,)* }
            }

            pub(crate) fn algorithm(self) -> Algorithm {
                match self { $(Self::$language => Algorithm::$language,)* }
            }

            /// Its stop words that reveal the language. Some belong to several languages, and count for each.
            fn stop_words(self) -> impl Iterator<Item = &'static str> {
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
    /// The language of most docs.
    fn default() -> Self {
        Self::English
    }
}

/// The languages of each stop word.
static STOP_WORDS: LazyLock<HashMap<&str, Vec<Language>, RandomState>> = LazyLock::new(|| {
    let mut stop_words: HashMap<&str, Vec<Language>, RandomState> = HashMap::default();
    for language in Language::ALL {
        for word in language.stop_words() {
            let languages = stop_words.entry(word).or_default();
            if !languages.contains(language) {
                languages.push(*language);
            }
        }
    }
    stop_words
});

/// Maximum number of words of a page that are examined.
const ENOUGH: usize = 400;
/// The words are examined in steps of this many, until the language is clear.
const AT_A_TIME: usize = 50;
/// The language is clear when at least this many words are its stop words, and at most half as many those of any other
/// language.
const CLEAR: usize = 20;
/// Fewer stop words than this prove nothing.
const FEWEST: usize = 4;

impl Language {
    /// The language of a tag such as `pt-BR`. `None` for one that has no stemmer here.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let code = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let code = if matches!(code.as_str(), "nb" | "nn") { "no" } else { &code };
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }

    /// The language of a text given in pieces; English when too few of its words are stop words.
    pub(crate) fn of_text<'t>(text: impl IntoIterator<Item = &'t str>) -> Self {
        let mut counts = [0_usize; Self::ALL.len()];
        for (at, word) in text.into_iter().flat_map(runs).take(ENOUGH).enumerate() {
            if at % AT_A_TIME == 0 && is_clear(&counts) {
                break;
            }
            for language in STOP_WORDS.get(lower(word).as_str()).into_iter().flatten() {
                counts[*language as usize] += 1;
            }
        }
        let best = (0..counts.len()).rev().max_by_key(|at| counts[*at]).unwrap_or_default();
        if counts[best] < FEWEST { Self::English } else { Self::ALL[best] }
    }

    /// The language of a question, given as words in lower case: the one with the most stop words in the question, if
    /// they are at least two and more than the English stop words; else English.
    pub(crate) fn of_question(words: &[String]) -> Self {
        let mut counts = [0_usize; Self::ALL.len()];
        for language in words.iter().filter_map(|word| STOP_WORDS.get(word.as_str())).flatten() {
            counts[*language as usize] += 1;
        }
        let english = words.iter().filter(|word| is_stop_word(word)).count();
        let best = (0..counts.len()).rev().max_by_key(|at| counts[*at]).unwrap_or_default();
        if counts[best] > english.max(1) { Self::ALL[best] } else { Self::English }
    }

    /// Whether a word is one of the language's stop words.
    pub(crate) fn is_stop_word(self, word: &str) -> bool {
        self.stop_words().any(|stop_word| stop_word == word)
    }
}

/// What a question reveals about its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionLanguage {
    /// One of the given languages, by its index.
    One(usize),
    /// One of several that share a script; this one if nothing else tells.
    Likely(usize),
    /// A language that is not among the given ones.
    Another,
    Nothing,
}

/// Words that are common in questions, in addition to the stop words of a language.
const ASKING: [(&str, &str); 19] = [
    ("en", "what where which who why do does how can i my should"),
    ("cs", "jak kde proč mohu můj je se do"),
    ("da", "hvordan hvad hvor kan jeg min en"),
    ("de", "wie was wo wann warum welche welcher kann ich mein meine man einen eine den im von"),
    ("es", "cómo como qué dónde cuándo cuál puedo mi un en y de la"),
    ("fi", "miten missä miksi voinko"),
    ("fr", "comment quoi où pourquoi quand quel quelle puis je mon ma mes du au en de la"),
    ("hu", "hogyan hol miért hogy lehet"),
    ("id", "bagaimana cara apa saya yang dan di untuk dengan"),
    ("it", "come dove quando quale posso mio mia un la"),
    ("nl", "hoe wat waar waarom welke kan ik mijn de in"),
    ("no", "hvordan hva hvor kan jeg min en"),
    ("pl", "jak gdzie dlaczego czy mogę się na nie"),
    ("pt", "como onde quando qual posso meu minha no na um o"),
    ("ro", "cum unde când pot mea de la"),
    ("sv", "hur vad var kan jag min en"),
    ("tr", "nasıl nerede neden hangi nedir"),
    ("uk", "як що де чи на та"),
    ("vi", "làm thế nào cách tôi là của và cho"),
];

/// Whether a word is common in questions in a language.
pub(crate) fn is_asking_word(code: &str, word: &str) -> bool {
    ASKING.iter().any(|(known, words)| *known == code && words.split(' ').any(|asking| asking == word))
}

/// The language of a question among those of a site, detected by its script, or else by its words. Of several regional
/// variants of a language, the one with the index `near` goes first, which is that of the page the asker is on.
pub(crate) fn question_language(text: &str, languages: &[String], near: Option<usize>) -> QuestionLanguage {
    if languages.is_empty() {
        return QuestionLanguage::Nothing;
    }
    let code = |at: usize| languages[at].split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let with = |wanted: &str| {
        let near = near.filter(|near| *near < languages.len() && code(*near) == wanted);
        near.or_else(|| (0..languages.len()).find(|at| code(*at) == wanted))
    };
    let scripts = codes_of_script(text);
    if !scripts.is_empty() {
        let some: Vec<usize> = scripts.iter().filter_map(|code| with(code)).collect();
        return match some.as_slice() {
            [] => QuestionLanguage::Another,
            [one] => QuestionLanguage::One(*one),
            several => most_words(text, several.iter().map(|at| code(*at)))
                .and_then(|code| with(&code))
                .or_else(|| near.filter(|near| several.contains(near)))
                .map_or(QuestionLanguage::Likely(several[0]), QuestionLanguage::One),
        };
    }
    let mut codes: Vec<String> = (0..languages.len()).map(code).collect();
    codes.push("en".to_owned());
    codes.sort_unstable();
    codes.dedup();
    match most_words(text, codes.into_iter()) {
        Some(code) => with(&code).map_or(QuestionLanguage::Another, QuestionLanguage::One),
        None => QuestionLanguage::Nothing,
    }
}

/// The language with more stop words and question words in the text than any other.
fn most_words(text: &str, codes: impl Iterator<Item = String>) -> Option<String> {
    let words: Vec<String> = runs(text).map(lower).collect();
    let mut counted: Vec<(usize, String)> = codes
        .map(|code| {
            let language = Language::of_tag(&code);
            let is_one = |word: &&String| {
                language.is_some_and(|language| language.is_stop_word(word)) || is_asking_word(&code, word)
            };
            (words.iter().filter(is_one).count(), code)
        })
        .collect();
    counted.sort_unstable_by(|a, b| b.cmp(a));
    let (most, code) = counted.first()?.clone();
    let is_clear = counted.get(1).is_none_or(|(next, _)| *next < most);
    // A single short word may belong to a language without a list here, or be a name, so two are required. For English
    // one is enough, as most names are not English words.
    let enough = if code == Language::English.code() { 1 } else { 2 };
    (most >= enough && is_clear).then_some(code)
}

/// Character ranges of a script, and the languages written in it.
type Script = (&'static [(char, char)], &'static [&'static str]);

/// The languages of the first non-Latin script found in a text; empty for Latin script.
pub(crate) fn codes_of_script(text: &str) -> &'static [&'static str] {
    let has =
        |ranges: &[(char, char)]| text.chars().any(|c| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)));
    const SCRIPTS: [Script; 14] = [
        (&[('\u{3040}', '\u{30ff}')], &["ja"]),
        (&[('\u{1100}', '\u{11ff}'), ('\u{3130}', '\u{318f}'), ('\u{ac00}', '\u{d7a3}')], &["ko"]),
        (&[('\u{3400}', '\u{4dbf}'), ('\u{4e00}', '\u{9fff}'), ('\u{20000}', '\u{323af}')], &["zh", "ja"]),
        (&[('\u{400}', '\u{52f}')], &["ru", "uk", "bg", "be", "sr", "mk", "kk", "mn"]),
        (&[('\u{600}', '\u{6ff}')], &["ar", "fa", "ur", "ku"]),
        (&[('\u{370}', '\u{3ff}')], &["el"]),
        (&[('\u{590}', '\u{5ff}')], &["he"]),
        (&[('\u{900}', '\u{97f}')], &["hi", "mr", "ne"]),
        (&[('\u{980}', '\u{9ff}')], &["bn"]),
        (&[('\u{b80}', '\u{bff}')], &["ta"]),
        (&[('\u{e00}', '\u{e7f}')], &["th"]),
        (&[('\u{10a0}', '\u{10ff}')], &["ka"]),
        (&[('\u{530}', '\u{58f}')], &["hy"]),
        (&[('\u{1780}', '\u{17ff}')], &["km"]),
    ];
    SCRIPTS.iter().find(|(ranges, _)| has(ranges)).map_or(&[], |(_, codes)| codes)
}

fn is_clear(counts: &[usize]) -> bool {
    let best = counts.iter().max().copied().unwrap_or_default();
    best >= CLEAR && counts.iter().filter(|count| 2 * **count > best).count() == 1
}

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
    fn a_question_tells_its_language() {
        let site: Vec<String> = ["de", "en", "fr", "ja", "ko", "pt-br", "zh-cn", "zh-tw"].map(str::to_owned).to_vec();
        let told = |text: &str, near: Option<usize>| match question_language(text, &site, near) {
            QuestionLanguage::One(at) | QuestionLanguage::Likely(at) => site[at].as_str(),
            QuestionLanguage::Another => "another",
            QuestionLanguage::Nothing => "nothing",
        };
        for (text, language) in [
            ("How do I rotate a key?", "en"),
            ("Wie erneuere ich einen Schlüssel?", "de"),
            ("comment installer le paquet", "fr"),
            ("como instalar no Windows", "pt-br"),
            ("鍵の更新", "ja"),
            ("配置文件", "zh-cn"),
            ("키를 설정하는 방법", "ko"),
            ("настройка ключей", "another"),
            ("rotate keys", "nothing"),
            ("guide de déploiement", "nothing"),
        ] {
            assert_eq!(told(text, None), language, "{text}");
        }
        assert_eq!(told("配置文件", Some(7)), "zh-tw", "as the page the asker is on");
        assert_eq!(
            question_language("how do I", &["fr".to_owned()], None),
            QuestionLanguage::Another,
            "English has no name there"
        );
        assert_eq!(question_language("how do I", &[], None), QuestionLanguage::Nothing);
    }
}
