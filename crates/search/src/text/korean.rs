//! Removes the particles from Korean nouns.
//!
//! Korean appends particles to a noun without a space, and turns nouns into verbs the same way: `서버를`, `서버에서`, `설정하는`.
//! A search for `서버` should match all of them. There is no stemmer for Korean; but particles are few, and which of two
//! variants follows a noun depends on whether the noun's last syllable ends in a consonant. That distinguishes most
//! particles from the end of a longer noun.

/// Suffixes that may follow a noun, the longest first, with what the noun must end in.
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

/// What the noun before a particle must end in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Vowel,
    Consonant,
    Any,
}

const SYLLABLES: std::ops::RangeInclusive<char> = '가'..='힣';
/// Minimum number of syllables before a particle: with fewer, the particle may be part of the noun.
const FEWEST: usize = 2;
/// The final consonant `ㄹ` of a syllable, which counts as a vowel before `로`.
const RIEUL: u32 = 8;

/// A noun without its particle; any other word unchanged. The result has at least two syllables, or ends in an ASCII
/// letter or digit (`API를`).
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
            // Nouns whose last syllable looks like a particle.
            ("결과", "결과"),
            ("경로", "경로"),
            ("페이지", "페이지"),
            ("인터페이스", "인터페이스"),
            ("관리자", "관리자"),
            ("추가", "추가"),
            ("정의", "정의"),
            ("네트워크", "네트워크"),
            // A single syllable before a particle is not enough.
            ("키를", "키를"),
            ("를", "를"),
            ("server", "server"),
            ("", ""),
        ] {
            assert_eq!(without_particle(word), noun, "{word}");
        }
    }
}
