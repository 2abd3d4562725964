//! A segment of the index as one file: what the engine wrote, file after file, and at the end a table of where each is.
//!
//! One file is one name to make, one to open and one to wait for when it must be on the disk.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::HasLen;
use tantivy::directory::{AntiCallToken, Directory, FileSlice, MmapDirectory, OwnedBytes, TerminatingWrite};

use crate::generations_disk::Syncing;

/// How a segment's file is named.
pub(crate) const ENDING: &str = "pack";

/// A segment of this many bytes is worth waiting for until it is on the disk: comparing its checksum would take longer.
pub(crate) const WORTH_WAITING: u64 = 256 << 10;

/// So much is handed to the system at once, in bytes.
const BUFFER: usize = 64 << 10;

/// How large the first piece of a file in memory is, and the largest. Each is twice as large as the one before.
const FIRST_PIECE: usize = 4 << 10;
const LARGEST_PIECE: usize = 256 << 10;

/// The table's length (u32) and the mark.
const TAIL: usize = 8;
const MARK: [u8; 4] = *b"dpk1";

/// The engine's files of one segment, by name.
pub(crate) type Files = HashMap<PathBuf, FileSlice>;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
}

/// The file of a segment in the making: files one after the other. Removed unless it is finished.
#[derive(Debug)]
pub(crate) struct Packer {
    path: PathBuf,
    out: BufWriter<File>,
    hasher: crc32fast::Hasher,
    table: Vec<(String, u64, u64)>,
    end: u64,
    /// What is written so far, on its way to the disk.
    syncing: Option<Syncing>,
    finished: bool,
}

impl Packer {
    /// To be the file `path`.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let out = BufWriter::with_capacity(BUFFER, File::create(path)?);
        let (hasher, table) = (crc32fast::Hasher::new(), Vec::new());
        Ok(Self { path: path.to_owned(), out, hasher, table, end: 0, syncing: None, finished: false })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.end += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Ends a file: what was written since the one before.
    fn end(&mut self, name: &str) {
        let begin = self.table.last().map_or(0, |(_, _, end)| *end);
        self.table.push((name.to_owned(), begin, self.end));
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes)?;
        self.end(name);
        Ok(())
    }

    /// Adds the last files, and says what was written in all. Where that is worth waiting for until it is on the disk, it is
    /// on its way there.
    pub(crate) fn finish(mut self, files: &[(String, OwnedBytes)]) -> io::Result<(Written, Option<Syncing>)> {
        for (name, bytes) in files {
            self.add(name, bytes.as_slice())?;
        }
        let mut tail = postcard::to_allocvec(&self.table).map_err(io::Error::other)?;
        let length = u32::try_from(tail.len()).map_err(io::Error::other)?;
        tail.extend(length.to_le_bytes());
        tail.extend(MARK);
        self.write(&tail)?;
        self.out.flush()?;
        self.finished = true;
        let written = Written { bytes: self.end, checksum: self.hasher.clone().finalize() };
        let before = self.syncing.take();
        let is_worth = written.bytes >= WORTH_WAITING;
        let syncing = is_worth.then(|| Syncing::start(self.out.get_ref(), before)).transpose()?;
        Ok((written, syncing))
    }
}

impl Drop for Packer {
    fn drop(&mut self) {
        if !self.finished {
            // What is left there is nobody's, and removed by the next update.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Where the file of a segment is while several write to it.
type InTurn = Arc<Mutex<Option<Packer>>>;

fn with(pack: &InTurn, work: impl FnOnce(&mut Packer) -> io::Result<()>) -> io::Result<()> {
    let mut pack = pack.lock().unwrap_or_else(PoisonError::into_inner);
    work(pack.as_mut().ok_or(io::ErrorKind::NotFound)?)
}

/// A file that goes into a pack as it is written. While it is, no other goes there.
#[derive(Debug)]
pub(crate) struct Streamed {
    name: String,
    pack: InTurn,
}

impl Streamed {
    pub(crate) fn new(name: String, pack: InTurn) -> Self {
        Self { name, pack }
    }
}

impl Write for Streamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        with(&self.pack, |pack| pack.write(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Streamed {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        with(&self.pack, |pack| {
            pack.end(&self.name);
            if pack.end >= WORTH_WAITING {
                pack.out.flush()?;
                pack.syncing = Some(Syncing::start(pack.out.get_ref(), pack.syncing.take())?);
            }
            Ok(())
        })
    }
}

/// A file that goes into a pack when it is whole: others are written at the same time. Until then it is in memory, in pieces,
/// none of which is copied as more comes.
#[derive(Debug)]
pub(crate) struct Held {
    name: String,
    pack: InTurn,
    full: Vec<Vec<u8>>,
    piece: Vec<u8>,
}

impl Held {
    pub(crate) fn new(name: String, pack: InTurn) -> Self {
        Self { name, pack, full: Vec::new(), piece: Vec::new() }
    }
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == self.piece.capacity() {
            let room = (2 * self.piece.capacity()).clamp(FIRST_PIECE, LARGEST_PIECE);
            let full = mem::replace(&mut self.piece, Vec::with_capacity(room));
            self.full.push(full);
        }
        let fits = bytes.len().min(self.piece.capacity() - self.piece.len());
        self.piece.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Held {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        with(&self.pack, |pack| {
            self.full.iter().chain([&self.piece]).try_for_each(|piece| pack.write(piece))?;
            pack.end(&self.name);
            Ok(())
        })
    }
}

/// Opens the file of a segment. `expected` when it may have been lost in part: its bytes are then compared.
pub(crate) fn open(folder: &MmapDirectory, name: &str, bytes: u64, checksum: Option<u32>) -> io::Result<Files> {
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
        let (written, _) = Packer::create(&path).expect("a file").finish(&files).expect("ok");
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
    #[test]
    fn files_that_are_written_side_by_side_come_out_one_after_the_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let packer = Packer::create(&dir.path().join("a.pack")).expect("a file");
        let pack: InTurn = Arc::new(Mutex::new(Some(packer)));
        let mut files = ["a.idx", "a.pos"].map(|name| (Held::new(name.to_owned(), Arc::clone(&pack)), Vec::new()));
        for n in 0..3_000_usize {
            for (times, (file, whole)) in (1..).zip(&mut files) {
                let bytes = vec![n as u8; n * times % 701];
                file.write_all(&bytes).expect("written");
                whole.extend(bytes);
            }
        }
        let wholes = files.map(|(file, whole)| {
            file.terminate().expect("packed");
            whole
        });
        let packer = pack.lock().expect("nobody else").take().expect("a pack");
        let (written, _) = packer.finish(&[]).expect("finished");
        let folder = MmapDirectory::open(dir.path()).expect("a folder");
        let files = open(&folder, "a.pack", written.bytes, Some(written.checksum)).expect("opened");
        let read = |name: &str| files[Path::new(name)].read_bytes().expect("read").as_slice().to_vec();
        assert_eq!(["a.idx", "a.pos"].map(read), wholes);
        assert!(wholes.iter().all(|whole| whole.len() > 2 * LARGEST_PIECE), "in several pieces");
    }
}
