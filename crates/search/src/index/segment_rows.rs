//! What the fields of a segment in the making say, as numbers of words.
//!
//! A row is written document after document, and grows to most of the memory that a segment takes. So it is made of pieces,
//! none of which is copied as more comes. In the end it is dealt out by word.

use crate::text::vocabulary::{Number, SortedWords};

/// How many words the first piece of a row has room for, and the largest. Each has twice the room of the one before.
const FIRST_PIECE: usize = if cfg!(test) { 4 } else { 1 << 10 };
const LARGEST_PIECE: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// What a field says, document after document.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Nothing where there is a place without a word. What a document says is in one piece.
    full: Vec<Vec<Option<Number>>>,
    /// The piece at hand.
    piece: Vec<Option<Number>>,
    /// Documents that have the field, in order, each with how many places it has.
    documents: Vec<(u32, u32)>,
    /// How many places there are.
    places: usize,
    /// How many words there are.
    known: u64,
}

/// A word stands in a document, at a place.
pub(crate) type Stands = (u32, u32);

/// What is kept of where words stand in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The place of each.
    Places,
    /// That each is there.
    Words,
    /// Of each word once, that it is there.
    Documents,
}

/// What a field says, word after word in order of their texts.
pub(crate) struct Dealt {
    kept: Kept,
    stands: Vec<Stands>,
    /// Where each word that the field says ends in that.
    ends: std::vec::IntoIter<u32>,
    /// Where the next word begins.
    begin: usize,
}

impl Row {
    /// Adds what the next document says. Gives how many words that are.
    pub(crate) fn say(&mut self, document: u32, words: impl ExactSizeIterator<Item = Option<Number>>) -> u32 {
        let piece = &mut self.piece;
        if piece.capacity() - piece.len() < words.len() {
            let room = (2 * piece.capacity()).clamp(FIRST_PIECE, LARGEST_PIECE).max(words.len());
            let full = std::mem::replace(piece, Vec::with_capacity(room));
            self.full.extend((!full.is_empty()).then_some(full));
        }
        let before = piece.len();
        piece.extend(words);
        let said = &piece[before..];
        let known = said.iter().flatten().count() as u32;
        self.documents.push((document, said.len() as u32));
        self.places += said.len();
        self.known += u64::from(known);
        known
    }

    /// How many words there are.
    pub(crate) fn known(&self) -> u64 {
        self.known
    }

    /// How much memory it takes, in bytes, or will when it is dealt out.
    pub(crate) fn memory(&self) -> usize {
        self.places * (size_of::<Option<Number>>() + size_of::<Stands>())
    }

    /// Deals the words out. `order`: all words. `places`: for use in between. `said`: of each in that order, which fields
    /// say it.
    pub(crate) fn dealt(
        self,
        kept: Kept,
        order: &SortedWords,
        places: &mut Vec<u32>,
        bit: u16,
        said: &mut [u16],
    ) -> Dealt {
        if self.known == 0 {
            return Dealt { kept, stands: Vec::new(), ends: Vec::new().into_iter(), begin: 0 };
        }
        // How often each word stands anywhere, and then where its part begins and, as that fills, ends.
        places.clear();
        places.resize(order.len(), 0);
        let pieces = || self.full.iter().chain([&self.piece]);
        pieces().flatten().flatten().for_each(|word| places[word.get()] += 1);
        let (mut end, mut ends) = (0, Vec::new());
        for (word, said) in order.numbers().zip(said) {
            let often = std::mem::replace(&mut places[word.get()], end);
            if often > 0 {
                end += often;
                ends.push(end);
                *said |= bit;
            }
        }
        let mut stands = vec![(0, 0); end as usize];
        let mut pieces = pieces();
        let mut rest: &[Option<Number>] = &[];
        for (document, length) in &self.documents {
            let length = *length as usize;
            if rest.len() < length {
                rest = pieces.next().map_or(&[], Vec::as_slice);
            }
            let (words, behind) = rest.split_at(length);
            for (word, place) in words.iter().zip(0..) {
                let Some(word) = word else { continue };
                let at = &mut places[word.get()];
                stands[*at as usize] = (*document, place);
                *at += 1;
            }
            rest = behind;
        }
        Dealt { kept, stands, ends: ends.into_iter(), begin: 0 }
    }
}

impl Dealt {
    pub(crate) const fn kept(&self) -> Kept {
        self.kept
    }

    /// Where the next of its words stands, document after document.
    pub(crate) fn next(&mut self) -> &[Stands] {
        let end = self.ends.next().map_or(self.stands.len(), |end| end as usize);
        &self.stands[std::mem::replace(&mut self.begin, end)..end]
    }
}

/// The steps from one place of a word in a document to the next. The engine wants some of every field, and takes none for
/// nearly nothing.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    some: Vec<u32>,
    none: Vec<u32>,
}

impl Steps {
    pub(crate) fn between(&mut self, stands: &[Stands], kept: Kept) -> &[u32] {
        let often = match kept {
            Kept::Places => {
                let mut before = 0;
                self.some.clear();
                self.some.extend(stands.iter().map(|(_, place)| place - std::mem::replace(&mut before, *place)));
                return &self.some;
            }
            Kept::Words => stands.len(),
            Kept::Documents => 1,
        };
        if self.none.len() < often {
            self.none.resize(often, 0);
        }
        &self.none[..often]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::languages::Language;
    use crate::text::vocabulary::Vocabulary;

    proptest! {
        #[test]
        fn what_documents_say_is_dealt_out_by_word(
            texts in proptest::collection::vec("([a-d]|x{61})?( ([a-d]|x{61})){0,12}", 1..20),
        ) {
            let (mut vocabulary, mut row) = (Vocabulary::default(), Row::default());
            let mut expected = std::collections::BTreeMap::<String, Vec<Stands>>::new();
            for (document, text) in (0..).zip(&texts) {
                let mut words = Vec::new();
                vocabulary.add_words(text, Language::English, &mut words);
                let numbers: Vec<_> = words.iter().map(|word| word.map(|forms| forms.stem)).collect();
                let said = (0..).zip(&numbers).filter_map(|(place, word)| word.map(|word| (place, word)));
                for (place, word) in said.clone() {
                    expected.entry(vocabulary.text(word).to_owned()).or_default().push((document, place));
                }
                prop_assert_eq!(row.say(document, numbers.iter().copied()) as usize, said.count());
            }
            let order = vocabulary.in_order_of_text();
            let mut said = vec![0; order.len()];
            let mut dealt = row.dealt(Kept::Places, &order, &mut vec![7], 2, &mut said);
            let mut found = std::collections::BTreeMap::new();
            for (text, said) in order.texts().zip(said) {
                if said == 2 {
                    found.insert(text.to_owned(), dealt.next().to_vec());
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
