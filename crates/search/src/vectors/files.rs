//! Vectors of sections, in memory and in files.
//!
//! ```text
//! file:   mark · length of the name, number of vectors, dimensions · name of the embedder · heads · numbers · checksum
//! head:   page, section, stamp of the page · key of the text · scale
//! ```
//!
//! A vector belongs to a section by the page's id. The stamp tells whether that page is still the page it was made for:
//! ids start again when an index is rebuilt. The key is a hash of the embedded text, so that the same text is never
//! embedded twice, wherever it occurs.
//!
//! Numbers are quantized to eight bits with a scale per vector: a quarter of the space, four times the speed, and the
//! order by similarity changes no more than by chance.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use crate::index::manifest::SectionId;

const MARK: &[u8; 8] = b"DOCVEC\x001";
/// Maximum number of dimensions: longer vectors could overflow the `i32` sums of [`dot`].
pub(crate) const MOST_DIMENSIONS: usize = 8192;
const HEAD: usize = 8 + 8 + 8 + 16 + 4;
/// Largest absolute number of a quantized [`QuantizedI16`] vector.
const COMPARED_RANGE: f32 = 2047.0;

/// The stored vector of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Embedded {
    pub(crate) head: Head,
    pub(crate) vector: QuantizedI8,
}

/// The section a vector belongs to, with the page's stamp and the text's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) section: SectionId,
    pub(crate) stamp: u64,
    pub(crate) key: u128,
}

/// A vector quantized to eight bits per number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuantizedI8 {
    scale: f32,
    pub(crate) numbers: Vec<i8>,
}

impl QuantizedI8 {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = if largest > 0.0 && largest.is_finite() { largest / 127.0 } else { 1.0 };
        // The quotient is within ±127.
        Self { scale, numbers: vector.iter().map(|number| (number / scale).round() as i8).collect() }
    }
}

/// A vector to compare others with, quantized to sixteen bits per number.
#[derive(Debug)]
pub(crate) struct QuantizedI16 {
    scale: f32,
    numbers: Vec<i16>,
}

impl QuantizedI16 {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = if largest > 0.0 && largest.is_finite() { largest / COMPARED_RANGE } else { 1.0 };
        // The quotient is within ±2047.
        Self { scale, numbers: vector.iter().map(|number| (number / scale).round() as i16).collect() }
    }
}

/// The vectors of one file.
#[derive(Debug)]
pub(crate) struct VectorFile {
    heads: Vec<Head>,
    scales: Vec<f32>,
    numbers: Vec<i8>,
    dimensions: usize,
}

impl VectorFile {
    fn row(&self, row: usize) -> &[i8] {
        &self.numbers[row * self.dimensions..][..self.dimensions]
    }

    fn vector(&self, row: usize) -> QuantizedI8 {
        QuantizedI8 { scale: self.scales[row], numbers: self.row(row).to_vec() }
    }

    fn similarity(&self, with: &QuantizedI16, row: usize) -> f32 {
        if self.dimensions != with.numbers.len() {
            return 0.0;
        }
        dot(&with.numbers, self.row(row)) as f32 * with.scale * self.scales[row]
    }

    /// The bytes of a file. All vectors must have the same length.
    pub(crate) fn bytes_of(embedder: &str, vectors: &[Embedded]) -> Vec<u8> {
        let dimensions = vectors.first().map_or(0, |first| first.vector.numbers.len());
        let mut bytes = Vec::with_capacity(64 + embedder.len() + vectors.len() * (HEAD + dimensions));
        bytes.extend(MARK);
        for number in [embedder.len(), vectors.len(), dimensions] {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.extend(embedder.as_bytes());
        for Embedded { head, vector } in vectors {
            bytes.extend(head.section.page.to_le_bytes());
            bytes.extend(head.section.section.to_le_bytes());
            bytes.extend(head.stamp.to_le_bytes());
            bytes.extend(head.key.to_le_bytes());
            bytes.extend(vector.scale.to_le_bytes());
        }
        for Embedded { vector, .. } in vectors {
            bytes.extend(vector.numbers.iter().map(|number| number.cast_unsigned()));
        }
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Parses a file. `None` for a file of another embedder.
    pub(crate) fn parse(bytes: &[u8], embedder: &str) -> io::Result<Option<Self>> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it is damaged, or was written by another version");
        let (content, checksum) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err(damaged());
        }
        let mut rest = Rest(content);
        if rest.take(MARK.len()) != Some(MARK) {
            return Err(damaged());
        }
        let mut number = || usize::try_from(rest.number()?).ok();
        let (Some(name), Some(count), Some(dimensions)) = (number(), number(), number()) else { return Err(damaged()) };
        if rest.take(name).ok_or_else(damaged)? != embedder.as_bytes() {
            return Ok(None);
        }
        let expected = dimensions.checked_add(HEAD).and_then(|each| each.checked_mul(count));
        if dimensions > MOST_DIMENSIONS || expected != Some(rest.0.len()) {
            return Err(damaged());
        }
        let (mut heads, mut scales) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let (head, scale) = rest.head().ok_or_else(damaged)?;
            heads.push(head);
            scales.push(scale);
        }
        let numbers = rest.0.iter().map(|number| number.cast_signed()).collect();
        Ok(Some(Self { heads, scales, numbers, dimensions }))
    }
}

/// The unread rest of a file.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_le_bytes)
    }

    fn head(&mut self) -> Option<(Head, f32)> {
        let section = SectionId { page: self.number()?, section: self.number()? };
        let (stamp, key) = (self.number()?, self.chunk().map(u128::from_le_bytes)?);
        let scale = self.chunk().map(f32::from_le_bytes)?;
        Some((Head { section, stamp, key }, scale))
    }
}

/// All vectors of one embedder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vectors {
    /// In the order they were written: of two vectors of a section, the later one counts.
    pub(crate) files: Vec<Arc<VectorFile>>,
}

impl Vectors {
    pub(crate) fn len(&self) -> usize {
        self.files.iter().map(|file| file.heads.len()).sum()
    }

    /// The head of every vector, in order of vector number.
    pub(crate) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.files.iter().flat_map(|file| &file.heads)
    }

    /// File and row of the vectors, by text key.
    pub(crate) fn by_key(&self) -> HashMap<u128, (usize, usize)> {
        let rows = self.files.iter().enumerate();
        rows.flat_map(|(at, file)| file.heads.iter().enumerate().map(move |(row, head)| (head.key, (at, row))))
            .collect()
    }

    /// The vector in a row of a file; both must exist.
    pub(crate) fn vector(&self, (file, row): (usize, usize)) -> QuantizedI8 {
        self.files[file].vector(row)
    }

    /// All vectors that satisfy a condition, to be rewritten as one file.
    pub(crate) fn kept(&self, keep: impl Fn(&Head) -> bool) -> Vec<Embedded> {
        let mut kept = Vec::new();
        for file in &self.files {
            for (row, head) in file.heads.iter().enumerate().filter(|(_, head)| keep(head)) {
                kept.push(Embedded { head: *head, vector: file.vector(row) });
            }
        }
        kept
    }

    /// Similarity of each vector to `with`, -1 to 1, by vector number; 0 for vectors of another length.
    pub(crate) fn compare(&self, with: &QuantizedI16) -> Vec<f32> {
        let files = self.files.iter();
        files.flat_map(|file| (0..file.heads.len()).map(|row| file.similarity(with, row))).collect()
    }

    /// Like `compare`, for some vectors only, given by ascending numbers.
    pub(crate) fn compare_some(&self, with: &QuantizedI16, rising: &[u32]) -> Vec<f32> {
        let mut similarity = Vec::with_capacity(rising.len());
        let (mut rest, mut first) = (rising, 0);
        for file in &self.files {
            let of_file = rest.partition_point(|number| (*number as usize) < first + file.heads.len());
            let (here, further) = rest.split_at(of_file);
            similarity.extend(here.iter().map(|number| file.similarity(with, *number as usize - first)));
            (rest, first) = (further, first + file.heads.len());
        }
        similarity
    }

    /// The vector with a number, scaled to length one, to compare others with; `None` when it does not exist or is
    /// zero.
    pub(crate) fn direction(&self, mut number: usize) -> Option<QuantizedI16> {
        for file in &self.files {
            if number < file.heads.len() {
                let vector: Vec<f32> = file.row(number).iter().map(|number| f32::from(*number)).collect();
                let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
                let unit: Vec<f32> = vector.iter().map(|number| number / length).collect();
                return (length > 0.0).then(|| QuantizedI16::of(&unit));
            }
            number -= file.heads.len();
        }
        None
    }
}

/// The dot product. Written so that compilers vectorize it: both factors fit sixteen bits, their product thirty-two.
/// The sum fits too: it is at most 2047 × 127 × 8192.
fn dot(with: &[i16], row: &[i8]) -> i32 {
    with.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// Hash of a text, the same in every build.
pub(crate) fn text_key(text: &str) -> u128 {
    // FNV-1a.
    text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn embedded(page: u64, vector: &[f32]) -> Embedded {
        let head = Head { section: SectionId { page, section: page + 1 }, stamp: page * 7, key: text_key("text") };
        Embedded { head, vector: QuantizedI8::of(vector) }
    }

    fn read(bytes: &[u8], embedder: &str) -> Option<Vectors> {
        let file = VectorFile::parse(bytes, embedder).expect("a whole file")?;
        Some(Vectors { files: vec![Arc::new(file)] })
    }

    #[test]
    fn vectors_are_read_back_by_the_same_embedder() {
        let kept = [embedded(1, &[0.6, 0.8, 0.0]), embedded(2, &[0.0, -1.0, 0.0])];
        let bytes = VectorFile::bytes_of("mine", &kept);
        let vectors = read(&bytes, "mine").expect("vectors");
        assert_eq!(vectors.kept(|_| true), kept);
        assert_eq!(vectors.kept(|head| head.section.page == 2), kept[1..]);
        assert!(read(&bytes, "another").is_none());
        assert!(VectorFile::parse(&bytes[..bytes.len() - 1], "mine").is_err());
    }

    #[test]
    fn a_question_is_as_alike_as_its_vector_is() {
        let bytes = VectorFile::bytes_of("mine", &[embedded(1, &[0.6, 0.8, 0.0]), embedded(2, &[0.0, -1.0, 0.0])]);
        let vectors = read(&bytes, "mine").expect("vectors");
        let similarity = vectors.compare(&QuantizedI16::of(&[0.0, 1.0, 0.0]));
        assert!((similarity[0] - 0.8).abs() < 0.005 && (similarity[1] + 1.0).abs() < 0.005, "{similarity:?}");
        assert_eq!(
            vectors.compare(&QuantizedI16::of(&[1.0])),
            [0.0, 0.0],
            "vectors of another length are not similarity"
        );
        assert_eq!(vectors.compare(&QuantizedI16::of(&[])), [0.0, 0.0]);
    }

    #[test]
    fn sections_are_compared_with_each_other_across_files() {
        let file = |vectors: &[Embedded]| {
            let bytes = VectorFile::bytes_of("mine", vectors);
            Arc::new(VectorFile::parse(&bytes, "mine").expect("a whole file").expect("of this embedder"))
        };
        let first = file(&[embedded(1, &[3.0, 4.0]), embedded(2, &[0.0, 2.0])]);
        let vectors = Vectors { files: vec![first, file(&[embedded(3, &[0.6, 0.8]), embedded(4, &[0.0, 0.0])])] };
        let third = vectors.direction(2).expect("it has one");
        let similarity = vectors.compare_some(&third, &[1, 2]);
        assert!((similarity[0] - 1.6).abs() < 0.02 && (similarity[1] - 1.0).abs() < 0.01, "{similarity:?}");
        let first = vectors.direction(0).expect("it has one");
        assert!((vectors.compare_some(&first, &[2])[0] - 1.0).abs() < 0.01, "a direction has no length");
        assert!(vectors.direction(3).is_none() && vectors.direction(4).is_none());
    }

    #[test]
    fn the_largest_vectors_do_not_overflow() {
        let long = vec![1.0; MOST_DIMENSIONS];
        let vectors = read(&VectorFile::bytes_of("m", &[embedded(1, &long)]), "m").expect("vectors");
        assert!((vectors.compare(&QuantizedI16::of(&long))[0] - MOST_DIMENSIONS as f32).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), sealed: bool, marked: bool) {
            if marked {
                bytes.splice(..0, *MARK);
            }
            if sealed {
                let checksum = crc32fast::hash(&bytes);
                bytes.extend(checksum.to_le_bytes());
            }
            let _ = VectorFile::parse(&bytes, "m");
        }

        #[test]
        fn rounding_keeps_the_direction(vector in proptest::collection::vec(-1.0_f32..1.0, 4..64)) {
            let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            prop_assume!(length > 0.1);
            let vector: Vec<f32> = vector.iter().map(|number| number / length).collect();
            let vectors = read(&VectorFile::bytes_of("m", &[embedded(1, &vector)]), "m").expect("vectors");
            prop_assert!((vectors.compare(&QuantizedI16::of(&vector))[0] - 1.0).abs() < 0.02);
        }
    }
}
