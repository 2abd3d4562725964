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
    let mut votes = Votes::new();
    for three in numbers.windows(3) {
        votes.add(mixed(three[0].wrapping_mul(3) ^ three[1].wrapping_mul(5) ^ three[2].wrapping_mul(7)));
    }
    votes.most() & !1
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

/// How often each bit was set. Sixty-four numbers are counted side by side: the first bits of all of them in one plane,
/// the second in another. Before these are full they go to bytes, one for each number, and before those are full they are
/// added up.
struct Votes {
    planes: [u64; 4],
    left: u8,
    bytes: [u64; 8],
    left_of_bytes: u8,
    counts: [u32; 64],
    of: u32,
}

/// How far planes can count, and how often a byte can take that much.
const MOST_IN_PLANES: u8 = 15;
const MOST_IN_BYTES: u8 = u8::MAX / MOST_IN_PLANES;

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

impl Votes {
    fn new() -> Self {
        let (left, left_of_bytes) = (MOST_IN_PLANES, MOST_IN_BYTES);
        Self { planes: [0; 4], left, bytes: [0; 8], left_of_bytes, counts: [0; 64], of: 0 }
    }

    fn add(&mut self, hash: u64) {
        let mut carried = hash;
        for plane in &mut self.planes {
            (*plane, carried) = (*plane ^ carried, *plane & carried);
        }
        self.of += 1;
        self.left -= 1;
        if self.left == 0 {
            self.spread();
        }
    }

    fn spread(&mut self) {
        for (digit, plane) in self.planes.iter().enumerate() {
            for (bytes, bits) in self.bytes.iter_mut().zip(plane.to_le_bytes()) {
                *bytes += SPREAD[usize::from(bits)] << digit;
            }
        }
        (self.planes, self.left) = ([0; 4], MOST_IN_PLANES);
        self.left_of_bytes -= 1;
        if self.left_of_bytes == 0 {
            self.add_up();
        }
    }

    fn add_up(&mut self) {
        let bytes = self.bytes.iter().flat_map(|bytes| bytes.to_le_bytes());
        self.counts.iter_mut().zip(bytes).for_each(|(count, byte)| *count += u32::from(byte));
        (self.bytes, self.left_of_bytes) = ([0; 8], MOST_IN_BYTES);
    }

    /// The bits that were set more often than not.
    fn most(mut self) -> u64 {
        self.spread();
        self.add_up();
        let counts = self.counts.iter().enumerate();
        counts.fold(0, |most, (bit, count)| most | u64::from(2 * count > self.of) << bit)
    }
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
    fn votes_are_counted_bit_by_bit() {
        for number in [1, 3, 254, 255, 256, 1_000] {
            let mut votes = Votes::new();
            let mut counted = [0; 64];
            for hash in (1..=number).map(mixed) {
                votes.add(hash);
                counted.iter_mut().enumerate().for_each(|(bit, count)| *count += hash >> bit & 1);
            }
            let bits = counted.iter().enumerate();
            let most = bits.fold(0, |most, (bit, count)| most | u64::from(2 * count > number) << bit);
            assert_eq!(votes.most(), most, "{number}");
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
