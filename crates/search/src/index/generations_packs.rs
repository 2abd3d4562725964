//! Packs: a segment of the index as one file. tantivy's files are concatenated and followed by a table of their
//! offsets.
//!
//! A single file means one name to create, one file to open and one to sync.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tantivy::HasLen;
use tantivy::directory::{Directory, FileSlice, MmapDirectory, OwnedBytes};

/// File extension of a pack.
pub(crate) const ENDING: &str = "pack";

/// Packs of at least this many bytes are synced when written: verifying the checksum on opening would take longer.
const WORTH_WAITING: u64 = 256 << 10;

/// Length of a pack's trailer, in bytes: the length of the table (u32) and the mark.
const TAIL: usize = 8;
const MARK: [u8; 4] = *b"dpk1";

/// tantivy's files of one segment, by name.
pub(crate) type SegmentFiles = HashMap<PathBuf, FileSlice>;

/// Length in bytes and checksum of a written pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrittenPack {
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
}

impl WrittenPack {
    /// Whether the pack is synced to disk before a state names it. If not, its checksum is verified when it is first
    /// opened.
    pub(crate) const fn is_synced(self) -> bool {
        self.bytes >= WORTH_WAITING
    }
}

/// Writes the files of a segment as the pack `path`.
pub(crate) fn write(path: &Path, files: &[(String, OwnedBytes)]) -> io::Result<WrittenPack> {
    let mut pack = Pack { out: File::create(path)?, hasher: crc32fast::Hasher::new(), end: 0 };
    let mut table: Vec<(&str, u64, u64)> = Vec::with_capacity(files.len());
    for (name, bytes) in files {
        let begin = pack.end;
        pack.write(bytes)?;
        table.push((name, begin, pack.end));
    }
    let mut tail = postcard::to_allocvec(&table).map_err(io::Error::other)?;
    let length = u32::try_from(tail.len()).map_err(io::Error::other)?;
    tail.extend(length.to_le_bytes());
    tail.extend(MARK);
    pack.write(&tail)?;
    let written = WrittenPack { bytes: pack.end, checksum: pack.hasher.finalize() };
    if written.is_synced() {
        pack.out.sync_all()?;
    }
    Ok(written)
}

struct Pack {
    out: File,
    hasher: crc32fast::Hasher,
    end: u64,
}

impl Pack {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.end += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// Opens the pack of a segment. `checksum` is given when the pack may be damaged, and is then verified.
pub(crate) fn open(folder: &MmapDirectory, name: &str, bytes: u64, checksum: Option<u32>) -> io::Result<SegmentFiles> {
    let whole = folder.open_read(Path::new(name)).map_err(io::Error::other)?;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, format!("{name} is damaged"));
    if whole.len() as u64 != bytes || whole.len() < TAIL {
        return Err(damaged());
    }
    if let Some(checksum) = checksum
        && crc32fast::hash(whole.read_bytes()?.as_slice()) != checksum
    {
        return Err(damaged());
    }
    let tail = whole.slice_from_end(TAIL).read_bytes()?;
    let (length, mark) = tail.split_at(4);
    if mark != MARK {
        return Err(damaged());
    }
    let length = u32::from_le_bytes(length.try_into().map_err(|_| damaged())?) as usize;
    let files_end = whole.len().checked_sub(TAIL + length).ok_or_else(damaged)?;
    let table = whole.slice(files_end..files_end + length).read_bytes()?;
    let table: Vec<(String, u64, u64)> = postcard::from_bytes(table.as_slice()).map_err(|_| damaged())?;
    table
        .into_iter()
        .map(|(name, start, end)| {
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let (start, end) = range.filter(|(start, end)| start <= end && *end <= files_end).ok_or_else(damaged)?;
            Ok((PathBuf::from(name), whole.slice(start..end)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_out_as_they_went_in_and_damage_is_seen() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.pack");
        let file = |name: &str, text: &'static str| (name.to_owned(), OwnedBytes::new(text.as_bytes()));
        let files = [file("a.term", "words"), file("a.store", ""), file("a.idx", "lists")];
        let written = write(&path, &files).expect("written");
        let folder = MmapDirectory::open(dir.path()).expect("a folder");
        let files = open(&folder, "a.pack", written.bytes, Some(written.checksum)).expect("opened");
        let text = |name: &str| files[Path::new(name)].read_bytes().expect("read").as_slice().to_vec();
        assert_eq!((text("a.term"), text("a.store"), text("a.idx")), (b"words".to_vec(), vec![], b"lists".to_vec()));

        let whole = std::fs::read(&path).expect("read");
        for cut in 0..whole.len() {
            let name = format!("{cut}.pack");
            std::fs::write(dir.path().join(&name), &whole[..cut]).expect("cut");
            assert!(open(&folder, &name, written.bytes, None).is_err(), "{cut}");
            assert!(open(&folder, &name, cut as u64, None).is_err(), "{cut}");
        }
        let mut other = whole;
        other[2] ^= 1;
        std::fs::write(dir.path().join("other.pack"), &other).expect("written");
        assert!(open(&folder, "other.pack", written.bytes, Some(written.checksum)).is_err());
    }
}
