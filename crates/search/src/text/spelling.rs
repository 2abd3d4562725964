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

/// The edit distance of two words, `None` when more than `most`: insertions, deletions, substitutions, and
/// transpositions of adjacent letters.
pub(crate) fn distance(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let far = most + 1;
    let mut before = vec![far; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut next = vec![far; b.len() + 1];
    for (row, left) in a.iter().enumerate() {
        // Outside of this band around the diagonal, the distance is more than `most`.
        let (from, to) = (row.saturating_sub(most), b.len().min(row + far));
        next.fill(far);
        next[0] = row + 1;
        let mut least = row + 1;
        for (column, right) in b.iter().enumerate().take(to).skip(from) {
            let wrong = usize::from(left != right);
            let mut max_edits = (last[column] + wrong).min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && *left == b[column - 1] && a[row - 1] == *right {
                max_edits = max_edits.min(before[column - 1] + 1);
            }
            next[column + 1] = max_edits;
            least = least.min(max_edits);
        }
        if least > most {
            return None;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut next);
    }
    Some(last[b.len()]).filter(|max_edits| *max_edits <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn between(a: &str, b: &str, most: usize) -> Option<usize> {
        distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>(), most)
    }

    #[test]
    fn slips_are_counted() {
        for (a, b, most, expected) in [
            ("retry", "retry", 1, Some(0)),
            ("rety", "retry", 1, Some(1)),
            ("retyr", "retry", 1, Some(1)),
            ("retryy", "retry", 1, Some(1)),
            ("retri", "retry", 1, Some(1)),
            ("authentification", "authentication", 2, Some(2)),
            ("cat", "dog", 2, None),
            ("a", "abcd", 2, None),
        ] {
            assert_eq!(between(a, b, most), expected, "{a} {b}");
        }
    }

    #[test]
    fn short_words_and_numbers_are_taken_at_their_word() {
        assert_eq!(
            (max_edits("key"), max_edits("keys"), max_edits("configre"), max_edits("utf16")),
            (None, Some(1), Some(2), None)
        );
    }

    /// The edit distance computed over the full table, without the band and the limit.
    fn counted(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, j) in (0..=a.len()).flat_map(|i| (0..=b.len()).map(move |j| (i, j))) {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let wrong = usize::from(a[i - 1] != b[j - 1]);
                let least = (table[i - 1][j - 1] + wrong).min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped { least.min(table[i - 2][j - 2] + 1) } else { least }
            };
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #[test]
        fn few_slips_are_counted_exactly(a in "[abc]{0,7}", b in "[abc]{0,7}", most in 0_usize..3) {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let max_edits = counted(&a, &b);
            prop_assert_eq!(distance(&a, &b, most), (max_edits <= most).then_some(max_edits));
        }

        #[test]
        fn the_quick_check_lets_close_spellings_through(a in "[a-e\u{e4}]{0,7}", b in "[a-e\u{e4}]{0,7}", most in 1_usize..3) {
            prop_assert!(between(&a, &b, most).is_none() || may_be_near(&a, &b, most));
        }

        #[test]
        fn slips_count_the_same_both_ways(a in "[abc]{0,8}", b in "[abc]{0,8}") {
            prop_assert_eq!(between(&a, &b, 2), between(&b, &a, 2));
        }
    }
}
