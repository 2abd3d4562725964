//! Sections that say the same: copies in other versions, text that several pages include.
//!
//! A section's print is made of its words, three by three, in such a way that prints of texts that differ in few words
//! differ in few bits. Numbers do not count, so that two versions of a page are told to be one.

use crate::links::{key, key_of_letters};
use crate::words_cut::runs;

/// Shorter sections are compared word for word.
const FEWEST_WORDS: usize = 24;
/// How many bits the prints of copies may differ in.
const SLACK: u32 = 3;

/// The print of a section, from the numbers of its words. A section with few is told by all of its Markdown. The lowest
/// bit says whether it is exact.
pub(crate) fn print(numbers: &[u64], markdown: &str) -> u64 {
    if numbers.len() < FEWEST_WORDS {
        let (print, words) =
            numbers_of(markdown).fold((0, 0_u64), |(print, words), word| (mixed(print ^ word), words + 1));
        return mixed(print ^ words) | 1;
    }
    let three = |three: &[u64]| mixed(three[0].wrapping_mul(3) ^ three[1].wrapping_mul(5) ^ three[2].wrapping_mul(7));
    most(numbers.windows(3).map(three)) & !1
}

/// A number for each word of a text, in order, without those that are numbers themselves. The same in every build, and
/// letters of either case count the same.
fn numbers_of(text: &str) -> impl Iterator<Item = u64> {
    runs(text).filter_map(number)
}

/// The number of a word; none for what is a number itself, or the number of a version.
pub(crate) fn number(word: &str) -> Option<u64> {
    if !word.is_ascii() {
        return Some(key(word.chars().flat_map(char::to_lowercase)));
    }
    word.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'.').then(|| key_of_letters(word.as_bytes()))
}

/// The bits that most of these numbers have set. Fifteen at a time are added up as they stand, the bits of all places side by
/// side. What comes of that goes to bytes, one for each place, and before those are full they are added up.
fn most(mut numbers: impl ExactSizeIterator<Item = u64>) -> u64 {
    let of = numbers.len() as u32;
    let (mut counts, mut bytes) = ([0_u32; 64], [0_u64; 8]);
    let mut left = MOST_IN_BYTES;
    while numbers.len() > 0 {
        let digits = sum_of(std::array::from_fn(|_| numbers.next().unwrap_or_default()));
        for (digit, bits) in digits.iter().enumerate() {
            for (bytes, bits) in bytes.iter_mut().zip(bits.to_le_bytes()) {
                *bytes += SPREAD[usize::from(bits)] << digit;
            }
        }
        left -= 1;
        if left == 0 || numbers.len() == 0 {
            let full = std::mem::take(&mut bytes).into_iter().flat_map(u64::to_le_bytes);
            counts.iter_mut().zip(full).for_each(|(count, byte)| *count += u32::from(byte));
            left = MOST_IN_BYTES;
        }
    }
    let counts = counts.iter().enumerate();
    counts.fold(0, |most, (bit, count)| most | u64::from(2 * count > of) << bit)
}

/// How often a byte can take fifteen more.
const MOST_IN_BYTES: u8 = u8::MAX / 15;

/// By eight bits: a byte for each, 1 where the bit is set.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut bits = 0;
    while bits < 256 * 8 {
        spread[bits / 8] |= (((bits / 8) >> (bits % 8) & 1) as u64) << (bits % 8 * 8);
        bits += 1;
    }
    spread
};

/// How many of fifteen numbers have each bit set: the first digit of that for each bit, the second, and so on.
fn sum_of(n: [u64; 15]) -> [u64; 4] {
    // Of three bits: their sum's first digit and its second.
    let sum = |a: u64, b: u64, c: u64| (a ^ b ^ c, a & b | (a ^ b) & c);
    let (a, two_a) = sum(n[0], n[1], n[2]);
    let (b, two_b) = sum(n[3], n[4], n[5]);
    let (c, two_c) = sum(n[6], n[7], n[8]);
    let (d, two_d) = sum(n[9], n[10], n[11]);
    let (e, two_e) = sum(n[12], n[13], n[14]);
    let (abc, two_abc) = sum(a, b, c);
    let (ones, two_all) = sum(abc, d, e);
    let (a, four_a) = sum(two_a, two_b, two_c);
    let (b, four_b) = sum(two_d, two_e, two_abc);
    let (twos, four_all) = sum(a, b, two_all);
    let (fours, eights) = sum(four_a, four_b, four_all);
    [ones, twos, fours, eights]
}

/// Whether two prints are those of texts that say the same.
pub(crate) fn are_copies(a: u64, b: u64) -> bool {
    if a & 1 == 1 || b & 1 == 1 { a == b } else { (a ^ b).count_ones() <= SLACK }
}

/// Whether a print is that of a text long enough to be a copy, and not alike by chance.
pub(crate) fn is_telling(print: u64) -> bool {
    print & 1 == 0
}

/// Every bit depends on every bit.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> u64 {
        super::print(&numbers_of(text).collect::<Vec<_>>(), text)
    }

    const TEXT: &str = "To take a backup, connect to the cluster and run the statement below. The backup is written to the \
                        storage you name, and a job is made that you can pause, resume and cancel. While it runs, the \
                        cluster goes on serving reads and writes, and what is written after the backup began is not in it. \
                        When it is done the job says how many rows and bytes were written to version 24.1 of the format.";

    #[test]
    fn another_version_of_a_text_is_a_copy() {
        assert!(are_copies(print(TEXT), print(&TEXT.replace("24.1", "25.2"))));
        assert!(are_copies(print(TEXT), print(&TEXT.replace("storage you name", "storage you named"))));
        assert!(!are_copies(print(TEXT), print(&TEXT[TEXT.len() / 2..])));
    }

    #[test]
    fn short_texts_are_compared_word_for_word() {
        assert!(are_copies(print("Run `npm i`."), print("run npm i")));
        assert!(!are_copies(print("Run `npm i`."), print("Run `npm x`.")));
        assert!(!are_copies(print("a b"), print("b a")));
        assert!(are_copies(print(""), print("")));
        assert!(is_telling(print(TEXT)) && !is_telling(print("Run `npm i`.")));
    }

    #[test]
    fn bits_are_counted_each_for_itself() {
        for of in [1, 3, 14, 15, 16, 254, 255, 256, 1_000] {
            let mut counted = [0; 64];
            for number in (1..=of).map(mixed) {
                counted.iter_mut().enumerate().for_each(|(bit, count)| *count += number >> bit & 1);
            }
            let bits = counted.iter().enumerate();
            let expected = bits.fold(0, |most, (bit, count)| most | u64::from(2 * count > of) << bit);
            assert_eq!(most((1..of as usize + 1).map(|number| mixed(number as u64))), expected, "{of}");
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
