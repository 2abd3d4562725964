//! Detects near-duplicate sections: copies in other versions, text that several pages include.
//!
//! The fingerprint of a section is a SimHash over its word trigrams, so that texts that differ in few words have
//! fingerprints that differ in few bits. Numbers are left out, so that two versions of a page are recognized as copies.

use crate::index::links::{key, key_of_letters};
use crate::text::tokenizer::runs;

/// Shorter sections are compared word for word.
const FEWEST_WORDS: usize = 24;
/// Maximum Hamming distance, in bits, between the fingerprints of copies.
const MAX_HAMMING_DISTANCE: u32 = 3;

/// The fingerprint of a section. `numbers` are the hashes of its words; a section with fewer than [`FEWEST_WORDS`] gets
/// an exact hash of the words of `markdown` instead. The lowest bit is set when the hash is exact.
pub(crate) fn fingerprint(numbers: &[u64], markdown: &str) -> u64 {
    if numbers.len() < FEWEST_WORDS {
        let (fingerprint, words) =
            numbers_of(markdown).fold((0, 0_u64), |(fingerprint, words), word| (mixed(fingerprint ^ word), words + 1));
        return mixed(fingerprint ^ words) | 1;
    }
    let three = |three: &[u64]| mixed(three[0].wrapping_mul(3) ^ three[1].wrapping_mul(5) ^ three[2].wrapping_mul(7));
    majority_bits(numbers.windows(3).map(three)) & !1
}

/// A hash for each word of a text, in order, without numbers. The same in every build, and case-insensitive.
fn numbers_of(text: &str) -> impl Iterator<Item = u64> {
    runs(text).filter_map(number)
}

/// The hash of a word; `None` for a number or a version number such as `1.12`.
pub(crate) fn number(word: &str) -> Option<u64> {
    if !word.is_ascii() {
        return Some(key(word.chars().flat_map(char::to_lowercase)));
    }
    word.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'.').then(|| key_of_letters(word.as_bytes()))
}

/// The bits that most of these numbers have set.
fn majority_bits(numbers: impl ExactSizeIterator<Item = u64>) -> u64 {
    let of = numbers.len() as u64;
    let mut counts = [[0_u32; 8]; 8];
    for number in numbers {
        for (counts, byte) in counts.iter_mut().zip(number.to_le_bytes()) {
            counts.iter_mut().zip(BITS[usize::from(byte)]).for_each(|(count, bit)| *count += bit);
        }
    }
    let counts = counts.as_flattened().iter().enumerate();
    counts.fold(0, |bits, (bit, count)| bits | u64::from(2 * u64::from(*count) > of) << bit)
}

/// The bits of each byte value, to add up eight bits at once: a third of the time of one bit after the other.
const BITS: [[u32; 8]; 256] = {
    let mut bits = [[0; 8]; 256];
    let mut at = 0;
    while at < 256 * 8 {
        bits[at / 8][at % 8] = ((at / 8) >> (at % 8) & 1) as u32;
        at += 1;
    }
    bits
};

/// Whether two fingerprints belong to texts that are copies of each other.
pub(crate) fn are_copies(a: u64, b: u64) -> bool {
    if a & 1 == 1 || b & 1 == 1 { a == b } else { (a ^ b).count_ones() <= MAX_HAMMING_DISTANCE }
}

/// Whether a fingerprint belongs to a text of at least [`FEWEST_WORDS`] words, so that a match is a copy and not a
/// coincidence.
pub(crate) fn is_telling(fingerprint: u64) -> bool {
    fingerprint & 1 == 0
}

/// The finalizer of SplitMix64: every bit of the result depends on every bit of `hash`.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(text: &str) -> u64 {
        super::fingerprint(&numbers_of(text).collect::<Vec<_>>(), text)
    }

    const TEXT: &str = "To take a backup, connect to the cluster and run the statement below. The backup is written to the \
                        storage you name, and a job is made that you can pause, resume and cancel. While it runs, the \
                        cluster goes on serving reads and writes, and what is written after the backup began is not in it. \
                        When it is done the job says how many rows and bytes were written to version 24.1 of the format.";

    #[test]
    fn another_version_of_a_text_is_a_copy() {
        assert!(are_copies(fingerprint(TEXT), fingerprint(&TEXT.replace("24.1", "25.2"))));
        assert!(are_copies(fingerprint(TEXT), fingerprint(&TEXT.replace("storage you name", "storage you named"))));
        assert!(!are_copies(fingerprint(TEXT), fingerprint(&TEXT[TEXT.len() / 2..])));
    }

    #[test]
    fn short_texts_are_compared_word_for_word() {
        assert!(are_copies(fingerprint("Run `npm i`."), fingerprint("run npm i")));
        assert!(!are_copies(fingerprint("Run `npm i`."), fingerprint("Run `npm x`.")));
        assert!(!are_copies(fingerprint("a b"), fingerprint("b a")));
        assert!(are_copies(fingerprint(""), fingerprint("")));
        assert!(is_telling(fingerprint(TEXT)) && !is_telling(fingerprint("Run `npm i`.")));
    }

    #[test]
    fn a_bit_is_set_that_more_than_half_have() {
        for of in [1, 3, 14, 255, 1_000] {
            let set = |bit: u32| (0..of).filter(|number| mixed(*number) >> bit & 1 == 1).count();
            let expected = (0..64).fold(0, |bits, bit| bits | u64::from(2 * set(bit) > of as usize) << bit);
            assert_eq!(majority_bits((0..of as usize).map(|number| mixed(number as u64))), expected, "{of}");
        }
    }

    #[test]
    fn case_does_not_matter_and_numbers_do_not_count() {
        let words = |text: &str| numbers_of(text).collect::<Vec<_>>();
        assert_eq!(words("Retry 24 CONFIGURATIONS, \u{c4}pfel v2"), words("retry configurations \u{e4}pfel 7 V2"));
        for length in 1..40 {
            let word = "abcdefghij".repeat(4);
            assert_eq!(words(&word[..length]), words(&word[..length].to_uppercase()));
            assert_ne!(words(&word[..length]), words(&word[..length + 1]));
            assert_ne!(words(&word[..length]), words(&format!("{}x", &word[..length - 1])));
        }
        assert_eq!(words("a\u{2019}b \u{201c}c\u{201d}"), words("a b c"));
        assert_ne!(words("configuration"), words("configurations"));
        assert!(words("12.5 -").is_empty());
    }
}
