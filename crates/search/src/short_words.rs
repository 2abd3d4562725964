//! Short words to what is known of them.
//!
//! Every word of the docs is looked up here, so it is looked up in one place of the memory: a word is no text but a
//! number, and what is known of it stands beside it.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::vocabulary::Forms;

/// How many words a table has room for in the beginning; a power of two, as always.
const ROOM: usize = 1 << 8;

/// Words as numbers, and their forms. At most half of it is in use, and a word whose place is taken has the next.
#[derive(Debug)]
pub(crate) struct ShortWords {
    slots: Vec<Slot>,
    used: usize,
    /// Drawn by lot: nobody can write words that all have the same place.
    lot: [u64; 2],
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    word: [u64; 2],
    /// Nothing where there is no word.
    forms: Option<Forms>,
}

impl Default for ShortWords {
    fn default() -> Self {
        let lot = RandomState::default();
        Self { slots: vec![Slot::default(); 2 * ROOM], used: 0, lot: [lot.hash_one(1), lot.hash_one(2)] }
    }
}

impl ShortWords {
    pub(crate) fn get(&self, word: u128) -> Option<Forms> {
        self.slots[self.place(halves(word))].forms
    }

    /// Takes in a word that is not known.
    pub(crate) fn insert(&mut self, word: u128, forms: Forms) {
        if 2 * self.used >= self.slots.len() {
            let room = vec![Slot::default(); 2 * self.slots.len()];
            for slot in std::mem::replace(&mut self.slots, room).into_iter().filter(|slot| slot.forms.is_some()) {
                let place = self.place(slot.word);
                self.slots[place] = slot;
            }
        }
        let word = halves(word);
        let place = self.place(word);
        self.slots[place] = Slot { word, forms: Some(forms) };
        self.used += 1;
    }

    /// Where a word is, or would be.
    fn place(&self, word: [u64; 2]) -> usize {
        let last = self.slots.len() - 1;
        let product = u128::from(word[0] ^ self.lot[0]) * u128::from(word[1] ^ self.lot[1]);
        let mut place = (product as u64 ^ (product >> 64) as u64) as usize & last;
        while self.slots[place].forms.is_some() && self.slots[place].word != word {
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
    use crate::vocabulary::Number;

    #[test]
    fn every_word_that_was_taken_in_is_known() {
        let mut words = ShortWords::default();
        let forms = |number: usize| Forms { spelled: Number::of(number), stem: Number::of(number / 2) };
        let many = 9 * ROOM;
        for number in 0..many {
            assert_eq!(words.get(number as u128), None);
            words.insert(number as u128, forms(number));
        }
        for number in 0..many {
            assert_eq!(words.get(number as u128), Some(forms(number)));
            assert_eq!(words.get((number as u128) << 64 | 1), if number == 0 { Some(forms(1)) } else { None });
        }
    }
}
