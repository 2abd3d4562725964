//! Sections that say the same: copies in other versions, text that several pages include.
//!
//! A section's print is made of its words, three by three, in such a way that prints of texts that differ in few words
//! differ in few bits. Numbers do not count, so that two versions of a page are told to be one.

use crate::links::{key, key_of_letters};

/// Shorter sections are compared word for word.
const FEWEST_WORDS: usize = 24;
/// How many bits the prints of copies may differ in.
const SLACK: u32 = 3;

/// The print of a section's text. Its lowest bit says whether it is exact.
pub(crate) fn print(text: &str) -> u64 {
    let mut words = Vec::with_capacity(text.len() / 6);
    each_word(text, |word| words.push(word));
    if words.len() < FEWEST_WORDS {
        return words.iter().fold(words.len() as u64, |print, word| mixed(print ^ word)) | 1;
    }
    let mut votes = Votes::new();
    for three in words.windows(3) {
        votes.add(mixed(three[0].wrapping_mul(3) ^ three[1].wrapping_mul(5) ^ three[2].wrapping_mul(7)));
    }
    votes.most() & !1
}

/// Gives a number for each word of a text to `each`, in order, without those that are numbers themselves. The same in
/// every build, and letters of either case count the same.
fn each_word(text: &str, mut each: impl FnMut(u64)) {
    for word in text.split(|c: char| if c.is_ascii() { !c.is_ascii_alphanumeric() } else { !c.is_alphanumeric() }) {
        if !word.is_ascii() {
            each(key(word.chars().flat_map(char::to_lowercase)));
        } else if word.bytes().any(|byte| !byte.is_ascii_digit()) {
            each(key_of_letters(word.as_bytes()));
        }
    }
}

/// How often each bit was set. Counted in bytes, eight bits of a hash at a time, and added up before a byte is full.
struct Votes {
    bytes: [u64; 8],
    left: u8,
    counts: [u32; 64],
    of: u32,
}

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
        Self { bytes: [0; 8], left: u8::MAX, counts: [0; 64], of: 0 }
    }

    fn add(&mut self, hash: u64) {
        for (bytes, bits) in self.bytes.iter_mut().zip(hash.to_le_bytes()) {
            *bytes += SPREAD[usize::from(bits)];
        }
        self.of += 1;
        self.left -= 1;
        if self.left == 0 {
            self.add_up();
        }
    }

    fn add_up(&mut self) {
        let bytes = self.bytes.iter().flat_map(|bytes| bytes.to_le_bytes());
        self.counts.iter_mut().zip(bytes).for_each(|(count, byte)| *count += u32::from(byte));
        (self.bytes, self.left) = ([0; 8], u8::MAX);
    }

    /// The bits that were set more often than not.
    fn most(mut self) -> u64 {
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
        let words = |text: &str| {
            let mut words = Vec::new();
            each_word(text, |word| words.push(word));
            words
        };
        assert_eq!(words("Retry 24 CONFIGURATIONS, \u{c4}pfel v2"), words("retry configurations \u{e4}pfel 7 V2"));
        assert_ne!(words("configuration"), words("configurations"));
        assert!(words("12.5 -").is_empty());
    }
}
