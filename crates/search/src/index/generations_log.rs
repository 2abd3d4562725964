//! A journal of states: the first record is a full state, each further one the difference from the one before.
//!
//! ```text
//! mark   8 bytes: checksums of the layout version and of the index fields
//! record length (u32, little-endian) · checksum of the payload (u32) · payload
//! ```
//!
//! Records are only ever appended. An incomplete record, cut short by a crash or still being written, is ignored:
//! reading ends before it, and the next writer overwrites it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::index::manifest::Delta;

/// Layout version: incremented when older states become unreadable; an index of another layout is rebuilt.
const LAYOUT: u32 = 5;
const HEADER: usize = 8;
/// Length of the mark at the beginning of a journal, in bytes.
const MARK: u64 = 8;
/// Maximum payload length in bytes; a larger length field means damage.
const LARGEST: usize = 1 << 30;

/// The payload of a record: the changes to the docs, and all segments of the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) docs: Delta,
    pub(crate) segments: Vec<SegmentRecord>,
}

/// One segment of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentRecord {
    /// tantivy's segment id, also the stem of the file name.
    pub(crate) id: String,
    /// How many documents it was written with.
    pub(crate) documents: u32,
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
    /// Ids of the deleted documents, ascending, each as the distance from the one before.
    pub(crate) deleted: Vec<u32>,
}

/// The mark of a journal. `schema` is the checksum of the index fields.
pub(crate) fn mark(schema: u32) -> [u8; MARK as usize] {
    let layout = crc32fast::hash(format!("docent {LAYOUT} {}", env!("CARGO_PKG_VERSION")).as_bytes());
    let mut mark = [0; MARK as usize];
    mark[..4].copy_from_slice(&layout.to_le_bytes());
    mark[4..].copy_from_slice(&schema.to_le_bytes());
    mark
}

/// A record with its header, as written to a journal.
pub(crate) fn framed(record: &Record) -> io::Result<Vec<u8>> {
    let mut bytes = postcard::to_extend(record, vec![0; HEADER]).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - HEADER).map_err(io::Error::other)?;
    let checksum = crc32fast::hash(&bytes[HEADER..]);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..HEADER].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// Writes a record at `end`, the end of the last complete one, and returns its own end. Both are byte offsets.
pub(crate) fn append(path: &Path, end: u64, record: &Record) -> io::Result<u64> {
    let bytes = framed(record)?;
    let mut file = File::options().write(true).open(path)?;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(&bytes)?;
    Ok(end + bytes.len() as u64)
}

/// The complete records from byte offset `from` on (0 for all), each with its end offset. `None` when the file is not a
/// journal of this layout and `schema`.
pub(crate) fn read(path: &Path, from: u64, schema: u32) -> io::Result<Option<Vec<(Record, u64)>>> {
    let mut file = File::open(path)?;
    let start = if from == 0 {
        let mut found = [0; MARK as usize];
        match file.read_exact(&mut found) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        if found != mark(schema) {
            return Ok(None);
        }
        MARK
    } else {
        file.seek(SeekFrom::Start(from))?;
        from
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(records(&bytes, start)))
}

fn records(bytes: &[u8], start: u64) -> Vec<(Record, u64)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((payload, length)) = frame(&bytes[at..]) {
        let Ok(record) = postcard::from_bytes(payload) else { break };
        at += length;
        found.push((record, start + at as u64));
    }
    found
}

/// The payload of the first record, and the length of the record including its header, in bytes.
fn frame(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (length, checksum) = (number(0)? as usize, number(4)?);
    if length == 0 || length > LARGEST {
        return None;
    }
    let payload = bytes.get(HEADER..HEADER + length)?;
    (crc32fast::hash(payload) == checksum).then_some((payload, HEADER + length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(commit: &str) -> Record {
        let segment = SegmentRecord { id: commit.to_owned(), documents: 7, bytes: 1, checksum: 2, deleted: vec![1, 2] };
        Record { docs: Delta { commit: commit.to_owned(), ..Delta::default() }, segments: vec![segment] }
    }

    fn commits(read: Option<Vec<(Record, u64)>>) -> Vec<String> {
        read.expect("a journal").into_iter().map(|(record, _)| record.docs.commit).collect()
    }

    #[test]
    fn a_record_that_was_cut_short_does_not_count_and_is_written_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("journal");
        std::fs::write(&path, mark(1)).expect("written");
        let first = append(&path, MARK, &record("a")).expect("added");
        let second = append(&path, first, &record("b")).expect("added");
        for cut in first..second {
            let whole = std::fs::read(&path).expect("read");
            std::fs::write(&path, &whole[..cut as usize]).expect("cut");
            assert_eq!(commits(read(&path, 0, 1).expect("read")), ["a"], "{cut}");
            std::fs::write(&path, &whole).expect("mended");
        }
        append(&path, first, &record("c")).expect("added");
        assert_eq!(commits(read(&path, 0, 1).expect("read")), ["a", "c"]);
        assert_eq!(commits(read(&path, first, 1).expect("read")), ["c"]);
        assert_eq!(read(&path, 0, 2).expect("read"), None, "the fields are others");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_journal_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            records(&bytes, 0);
        }

        #[test]
        fn a_damaged_byte_ends_the_reading(at in any::<prop::sample::Index>(), flip in 1_u8..) {
            let mut bytes = framed(&record("a")).expect("framed");
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
            prop_assert!(records(&bytes, 0).is_empty());
        }
    }
}
