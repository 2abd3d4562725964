//! The tokens of each field of a segment under construction, as word numbers, and their inversion into postings.
//!
//! A row is filled document by document. At the end it is inverted, that is, grouped by word.

use crate::text::vocabulary::Number;

/// The tokens of a field, document by document.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// `None` is a position whose token is too long to be indexed.
    words: Vec<Option<Number>>,
    /// Documents that have the field, ascending, each with its number of positions.
    documents: Vec<(u32, u32)>,
    /// Number of positions that hold a word.
    pub(crate) known: u64,
}

/// A posting: document id and position.
pub(crate) type Posting = (u32, u32);

/// What is stored about the occurrences of a word in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostingDetail {
    /// The position of each occurrence.
    Positions,
    /// The number of occurrences.
    Frequencies,
    /// That it occurs, counted once.
    DocumentsOnly,
}

/// The postings of a field, word by word in order of the words' texts.
pub(crate) struct InvertedRow {
    pub(crate) detail: PostingDetail,
    postings: Vec<Posting>,
    /// For each word that occurs in the field, the end of its postings in `postings`.
    ends: std::vec::IntoIter<u32>,
    /// Where the postings of the next word begin.
    begin: usize,
}

impl Row {
    /// Adds the tokens of the next document. Returns the number of positions that hold a word.
    pub(crate) fn add_tokens(&mut self, document: u32, words: impl ExactSizeIterator<Item = Option<Number>>) -> u32 {
        let before = self.words.len();
        self.words.extend(words);
        let added = &self.words[before..];
        let known = added.iter().flatten().count() as u32;
        self.documents.push((document, added.len() as u32));
        self.known += u64::from(known);
        known
    }

    /// Memory in bytes, including what the inversion will take.
    pub(crate) fn memory(&self) -> usize {
        self.words.len() * (size_of::<Option<Number>>() + size_of::<Posting>())
    }

    /// Inverts the row. `order`: all words, sorted by text. `offsets`: a scratch buffer. `containing`: for each word in that order, a
    /// bit set of the fields that contain it; `bit` is the bit of this field.
    pub(crate) fn invert(
        self,
        detail: PostingDetail,
        order: &[Number],
        offsets: &mut Vec<u32>,
        bit: u16,
        containing: &mut [u16],
    ) -> InvertedRow {
        if self.known == 0 {
            return InvertedRow { detail, postings: Vec::new(), ends: Vec::new().into_iter(), begin: 0 };
        }
        // First the number of occurrences of each word, then the start of its postings, which advances as they are
        // filled in.
        offsets.clear();
        offsets.resize(order.len(), 0);
        self.words.iter().flatten().for_each(|word| offsets[word.get()] += 1);
        let (mut end, mut ends) = (0, Vec::new());
        for (word, containing) in order.iter().zip(containing) {
            let often = std::mem::replace(&mut offsets[word.get()], end);
            if often > 0 {
                end += often;
                ends.push(end);
                *containing |= bit;
            }
        }
        let mut postings = vec![(0, 0); end as usize];
        let mut rest = self.words.as_slice();
        for (document, length) in &self.documents {
            let (words, behind) = rest.split_at(*length as usize);
            for (word, position) in words.iter().zip(0..) {
                let Some(word) = word else { continue };
                let at = &mut offsets[word.get()];
                postings[*at as usize] = (*document, position);
                *at += 1;
            }
            rest = behind;
        }
        InvertedRow { detail, postings, ends: ends.into_iter(), begin: 0 }
    }
}

impl InvertedRow {
    /// The postings of the next word, document by document.
    pub(crate) fn next(&mut self) -> &[Posting] {
        let end = self.ends.next().map_or(self.postings.len(), |end| end as usize);
        &self.postings[std::mem::replace(&mut self.begin, end)..end]
    }
}

/// Replaces `deltas` by the position deltas of a word in a document, as tantivy expects them for every field. Fields
/// without positions get zeros, which cost next to nothing.
pub(crate) fn position_deltas(postings: &[Posting], detail: PostingDetail, deltas: &mut Vec<u32>) {
    deltas.clear();
    let mut before = 0;
    match detail {
        PostingDetail::Positions => {
            deltas.extend(postings.iter().map(|(_, position)| position - std::mem::replace(&mut before, *position)));
        }
        PostingDetail::Frequencies => deltas.resize(postings.len(), 0),
        PostingDetail::DocumentsOnly => deltas.push(0),
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
        fn rows_are_grouped_by_word(
            texts in proptest::collection::vec("([a-d]|x{61})?( ([a-d]|x{61})){0,12}", 1..20),
        ) {
            let (mut vocabulary, mut row) = (Vocabulary::default(), Row::default());
            let mut expected = std::collections::BTreeMap::<String, Vec<Posting>>::new();
            for (document, text) in (0..).zip(&texts) {
                let mut words = Vec::new();
                vocabulary.add_words(text, Language::English, &mut words);
                let numbers: Vec<_> = words.iter().map(|word| word.map(|forms| forms.stem)).collect();
                let known = (0..).zip(&numbers).filter_map(|(place, word)| word.map(|word| (place, word)));
                for (place, word) in known.clone() {
                    expected.entry(vocabulary.text(word).to_owned()).or_default().push((document, place));
                }
                prop_assert_eq!(row.add_tokens(document, numbers.iter().copied()) as usize, known.count());
            }
            let order = vocabulary.in_order_of_text();
            let mut containing = vec![0; order.len()];
            let mut inverted = row.invert(PostingDetail::Positions, &order, &mut vec![7], 2, &mut containing);
            let mut found = std::collections::BTreeMap::new();
            for (word, containing) in order.iter().zip(containing) {
                if containing == 2 {
                    found.insert(vocabulary.text(*word).to_owned(), inverted.next().to_vec());
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
