//! Spelling correction: how far an unknown word is from the words that may have been meant.

/// Words with fewer characters are not corrected, as they have too many neighbours.
const SHORTEST: usize = 4;
/// Words with at least this many characters may have two typos.
const TWO_SLIPS: usize = 8;

/// The number of typos tolerated in a word of a question. `None` for a word that is not corrected: a short one, or one
/// with a digit, which is taken to be meant literally.
pub(crate) fn max_edits(word: &str) -> Option<usize> {
    let length = word.chars().count();
    if length < SHORTEST || word.chars().any(|c| c.is_numeric()) {
        return None;
    }
    Some(if length < TWO_SLIPS { 1 } else { 2 })
}

/// A cheap test whether two words may be within the edit distance `most`, by their lengths and the set of their
/// letters. `false` is certain, `true` is not. Computing the distance takes far longer, and most words are far apart.
pub(crate) fn may_be_near(a: &str, b: &str, most: usize) -> bool {
    if !a.is_ascii() || !b.is_ascii() {
        return a.len().abs_diff(b.len()) <= most * 4;
    }
    // One edit adds at most one letter to the set, and removes at most one.
    let letters = |word: &str| word.bytes().fold(0_u32, |letters, letter| letters | 1 << (letter & 31));
    let (a_has, b_has) = (letters(a), letters(b));
    let most_letters = most as u32;
    a.len().abs_diff(b.len()) <= most
        && (a_has & !b_has).count_ones() <= most_letters
        && (b_has & !a_has).count_ones() <= most_letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_words_and_numbers_are_taken_at_their_word() {
        assert_eq!(
            (max_edits("key"), max_edits("keys"), max_edits("configre"), max_edits("utf16")),
            (None, Some(1), Some(2), None)
        );
    }

    proptest! {
        #[test]
        fn the_quick_check_lets_close_spellings_through(a in "[a-e\u{e4}]{0,7}", b in "[a-e\u{e4}]{0,7}", most in 1_usize..3) {
            prop_assert!(strsim::osa_distance(&a, &b) > most || may_be_near(&a, &b, most));
        }
    }
}
