//! Korean nouns without what is written behind them.
//!
//! Korean puts particles behind a noun without a blank, and makes verbs of nouns the same way: `서버를`, `서버에서`, `설정하는`.
//! Who looks for `서버` means all of them. There is no stemmer for it; but particles are few, and which of two goes with a noun
//! depends on whether its last syllable ends in a consonant, which tells most of them from the end of a longer noun.

/// What may go behind a noun, the longer ones first.
const PARTICLES: [(&str, After); 57] = {
    use After::{Any, Consonant, Vowel};
    [
        ("했습니다", Any),
        ("으로부터", Consonant),
        ("에서부터", Any),
        ("으로써", Consonant),
        ("으로서", Consonant),
        ("으로는", Consonant),
        ("으로도", Consonant),
        ("이라는", Consonant),
        ("이라고", Consonant),
        ("에서는", Any),
        ("에서도", Any),
        ("에서의", Any),
        ("에게서", Any),
        ("까지는", Any),
        ("부터는", Any),
        ("합니다", Any),
        ("됩니다", Any),
        ("하려면", Any),
        ("하세요", Any),
        ("으로", Consonant),
        ("이란", Consonant),
        ("이나", Consonant),
        ("에서", Any),
        ("에게", Any),
        ("에는", Any),
        ("에도", Any),
        ("까지", Any),
        ("부터", Any),
        ("처럼", Any),
        ("보다", Any),
        ("마다", Any),
        ("만을", Any),
        ("대로", Any),
        ("과의", Consonant),
        ("와의", Vowel),
        ("로의", Vowel),
        ("로써", Vowel),
        ("로서", Vowel),
        ("라는", Vowel),
        ("하는", Any),
        ("하기", Any),
        ("하고", Any),
        ("하여", Any),
        ("해서", Any),
        ("되는", Any),
        ("은", Consonant),
        ("이", Consonant),
        ("을", Consonant),
        ("과", Consonant),
        ("는", Vowel),
        ("가", Vowel),
        ("를", Vowel),
        ("와", Vowel),
        ("로", Vowel),
        ("에", Any),
        ("도", Any),
        ("의", Any),
    ]
};

/// What the noun in front ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Vowel,
    Consonant,
    Any,
}

const SYLLABLES: std::ops::RangeInclusive<char> = '가'..='힣';
/// Fewer syllables in front may be a part of the noun.
const FEWEST: usize = 2;
/// The ending of a syllable that counts as a vowel before `로`.
const RIEUL: u32 = 8;

/// A noun without its particle; any other word as it is. What is left has two syllables or more, or is a name in other letters
/// (`API를`).
pub(crate) fn without_particle(word: &str) -> &str {
    if !word.chars().next_back().is_some_and(|last| SYLLABLES.contains(&last)) {
        return word;
    }
    PARTICLES.iter().find_map(|(particle, after)| noun(word, particle, *after)).unwrap_or(word)
}

fn noun<'w>(word: &'w str, particle: &str, after: After) -> Option<&'w str> {
    let noun = word.strip_suffix(particle)?;
    let last = noun.chars().next_back()?;
    if !SYLLABLES.contains(&last) {
        return last.is_ascii_alphanumeric().then_some(noun);
    }
    let ending = (last as u32 - *SYLLABLES.start() as u32) % 28;
    let fits = match after {
        After::Any => true,
        After::Consonant => ending != 0,
        After::Vowel => ending == 0 || ending == RIEUL && particle.starts_with('로'),
    };
    (fits && noun.chars().count() >= FEWEST).then_some(noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_go_and_nouns_stay() {
        assert!(PARTICLES.is_sorted_by(|a, b| a.0.chars().count() >= b.0.chars().count()));
        for (word, noun) in [
            ("서버를", "서버"),
            ("서버에서", "서버"),
            ("서버에서는", "서버"),
            ("데이터베이스가", "데이터베이스"),
            ("설정은", "설정"),
            ("설정을", "설정"),
            ("설정으로", "설정"),
            ("설정하는", "설정"),
            ("파일로", "파일"),
            ("사용자와", "사용자"),
            ("토큰과", "토큰"),
            ("클러스터의", "클러스터"),
            ("버전까지", "버전"),
            ("api를", "api"),
            ("docker에서", "docker"),
            // Nouns that end as particles do.
            ("결과", "결과"),
            ("경로", "경로"),
            ("페이지", "페이지"),
            ("인터페이스", "인터페이스"),
            ("관리자", "관리자"),
            ("추가", "추가"),
            ("정의", "정의"),
            ("네트워크", "네트워크"),
            // One syllable may be anything.
            ("키를", "키를"),
            ("를", "를"),
            ("server", "server"),
            ("", ""),
        ] {
            assert_eq!(without_particle(word), noun, "{word}");
        }
    }
}
