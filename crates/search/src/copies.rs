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
    let words: Vec<u64> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|word| match word.is_ascii() {
            true => key_of_letters(word.as_bytes()),
            false => key(word.chars().flat_map(char::to_lowercase)),
        })
        .collect();
    if words.len() < FEWEST_WORDS {
        return words.iter().fold(words.len() as u64, |print, word| mixed(print ^ word)) | 1;
    }
    let mut votes = [0_i32; 64];
    for three in words.windows(3) {
        let hash = mixed(three[0].wrapping_mul(3) ^ three[1].wrapping_mul(5) ^ three[2].wrapping_mul(7));
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    votes.iter().enumerate().fold(0, |print, (bit, vote)| print | u64::from(*vote > 0) << bit) & !1
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
}
