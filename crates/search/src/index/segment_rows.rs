//! The tokens of each field of a segment under construction, as word numbers, and their inversion into postings.
//!
//! A row is filled document by document and grows to most of a segment's memory. It therefore consists of chunks, which
//! are not copied as the row grows. At the end the row is inverted, that is, grouped by word.

use crate::text::vocabulary::{Number, SortedWords};

/// Capacity, in positions, of a row's first chunk, and of its largest. Each chunk has twice the capacity of the last.
const FIRST_PIECE: usize = if cfg!(test) { 4 } else { 1 << 10 };
const LARGEST_PIECE: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// The tokens of a field, document by document.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Full chunks. `None` is a position whose token is too long to be indexed. Each document lies within one chunk.
    full: Vec<Vec<Option<Number>>>,
    /// The chunk that is being filled.
    piece: Vec<Option<Number>>,
    /// Documents that have the field, ascending, each with its number of positions.
    documents: Vec<(u32, u32)>,
    /// Number of positions.
    places: usize,
    /// Number of positions that hold a word.
    known: u64,
}

/// A posting: document id and position.
pub(crate) type Stands = (u32, u32);

/// What is stored about the occurrences of a word in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The position of each occurrence.
    Places,
    /// The number of occurrences.
    Words,
    /// That it occurs, counted once.
    Documents,
}

/// The postings of a field, word by word in order of the words' texts.
pub(crate) struct Dealt {
    kept: Kept,
    stands: Vec<Stands>,
    /// For each word that occurs in the field, the end of its postings in `stands`.
    ends: std::vec::IntoIter<u32>,
    /// Where the postings of the next word begin.
    begin: usize,
}

impl Row {
    /// Adds the tokens of the next document. Returns the number of positions that hold a word.
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

    /// Number of positions that hold a word.
    pub(crate) fn known(&self) -> u64 {
        self.known
    }

    /// Memory in bytes, including what the inversion will take.
    pub(crate) fn memory(&self) -> usize {
        self.places * (size_of::<Option<Number>>() + size_of::<Stands>())
    }

    /// Inverts the row. `order`: all words. `places`: a scratch buffer. `said`: for each word in that order, a bit set
    /// of the fields that contain it; `bit` is the bit of this field.
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
        // First the number of occurrences of each word, then the start of its postings, which advances as they are
        // filled in.
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

    /// The postings of the next word, document by document.
    pub(crate) fn next(&mut self) -> &[Stands] {
        let end = self.ends.next().map_or(self.stands.len(), |end| end as usize);
        &self.stands[std::mem::replace(&mut self.begin, end)..end]
    }
}

/// The position deltas of a word in a document, as tantivy expects them for every field. Fields without positions get
/// zeros, which cost next to nothing.
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
