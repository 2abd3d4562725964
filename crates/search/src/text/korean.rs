//! Removes the particles from Korean nouns.
//!
//! Korean appends particles to a noun without a space, and turns nouns into verbs the same way: `서버를`, `서버에서`, `설정하는`.
//! A search for `서버` should match all of them. There is no stemmer for Korean; but particles are few, and which of two
//! variants follows a noun depends on whether the noun's last syllable ends in a consonant. That distinguishes most
//! particles from the end of a longer noun.

/// Suffixes that may follow a noun, by what the noun must end in.
const PARTICLES: [(After, &str); 3] = [
    (After::Consonant, "으로부터 으로써 으로서 으로는 으로도 이라는 이라고 으로 이란 이나 과의 은 이 을 과"),
    (After::Vowel, "와의 로의 로써 로서 라는 는 가 를 와 로"),
    (
        After::Any,
        "했습니다 에서부터 에서는 에서도 에서의 에게서 까지는 부터는 합니다 됩니다 하려면 하세요 에서 에게 에는 에도 \
         까지 부터 처럼 보다 마다 만을 대로 하는 하기 하고 하여 해서 되는 에 도 의",
    ),
];

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
    let particles = PARTICLES.iter().flat_map(|(after, all)| all.split(' ').map(|particle| (particle, *after)));
    let nouns = particles.filter_map(|(particle, after)| noun(word, particle, after));
    // The longest particle, if there are several.
    nouns.min_by_key(|noun| noun.len()).unwrap_or(word)
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
