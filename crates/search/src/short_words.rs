//! Short words to what is known of them.
//!
//! Every word of the docs is looked up here, so it is looked up in one place of the memory: a word is no text but a
//! number, and what is known of it stands beside it.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// How many words a table has room for in the beginning; a power of two, as always.
const ROOM: usize = 1 << 8;

/// Words as numbers, and what is known of them. At most half of it is in use, and a word whose place is taken has the next.
#[derive(Debug)]
pub(crate) struct ShortWords<K> {
    slots: Vec<Slot<K>>,
    used: usize,
    /// Drawn by lot: nobody can write words that all have the same place.
    lot: [u64; 2],
}

#[derive(Debug, Clone, Copy)]
struct Slot<K> {
    word: [u64; 2],
    /// Nothing where there is no word.
    known: Option<K>,
}

impl<K: Copy> Default for ShortWords<K> {
    fn default() -> Self {
        let lot = RandomState::default();
        Self { slots: vec![Slot::EMPTY; 2 * ROOM], used: 0, lot: [lot.hash_one(1), lot.hash_one(2)] }
    }
}

impl<K> Slot<K> {
    const EMPTY: Self = Self { word: [0; 2], known: None };
}

impl<K: Copy> ShortWords<K> {
    pub(crate) fn get(&self, word: u128) -> Option<K> {
        self.slots[self.place(halves(word))].known
    }

    /// Takes in a word that is not there.
    pub(crate) fn insert(&mut self, word: u128, known: K) {
        if 2 * self.used >= self.slots.len() {
            let room = vec![Slot::EMPTY; 2 * self.slots.len()];
            for slot in std::mem::replace(&mut self.slots, room).into_iter().filter(|slot| slot.known.is_some()) {
                let place = self.place(slot.word);
                self.slots[place] = slot;
            }
        }
        let word = halves(word);
        let place = self.place(word);
        self.slots[place] = Slot { word, known: Some(known) };
        self.used += 1;
    }

    /// Where a word is, or would be.
    fn place(&self, word: [u64; 2]) -> usize {
        let last = self.slots.len() - 1;
        let product = u128::from(word[0] ^ self.lot[0]) * u128::from(word[1] ^ self.lot[1]);
        let mut place = (product as u64 ^ (product >> 64) as u64) as usize & last;
        while self.slots[place].known.is_some() && self.slots[place].word != word {
            place = (place + 1) & last;
        }
        place
    }
}

fn halves(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_was_taken_in_is_known() {
        let mut words = ShortWords::default();
        let many = 9 * ROOM;
        for number in 0..many {
            assert_eq!(words.get(number as u128), None);
            words.insert(number as u128, number / 2);
        }
        for number in 0..many {
            assert_eq!(words.get(number as u128), Some(number / 2));
            assert_eq!(words.get((number as u128) << 64 | 1), if number == 0 { Some(0) } else { None });
        }
    }
}
