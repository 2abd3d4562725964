//! Writes new objects to disk: a few as loose files, many as one pack.
//!
//! Objects are complete before anything points at them: files get their final name only when their content is written
//! (and, when asked, flushed to the disk), children before parents, a pack before its index.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use gix::ObjectId;
use gix::objs::Kind;
use gix::zlib::Compression;
use gix::zlib::stream::deflate;

use super::NewObject;

/// From this number on, [`Cached`](Durability::Cached) objects are stored as a pack instead of loose files.
const CACHED_IN_A_PACK: usize = 17;
/// The same for flushed objects, which mostly go to other owners' repositories: the number from which git itself keeps
/// a received pack. A pack for each small push would make the maintenance of those repositories run all the time. Also,
/// `git gc` ends with deleting every index whose pack it does not see; when it lists a large folder while both are
/// being renamed, it may see one without the other.
const FLUSHED_IN_A_PACK: usize = 100;
/// Number of files flushed in parallel.
const PARALLEL_FLUSHES: usize = 16;
/// Maximum number of attempts to create a folder for a file.
const FOLDER_TRIES: u32 = 10;

/// Whether a crash of the machine may lose the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// On the disk when the call returns.
    Flushed,
    /// Written; the operating system flushes later. For mirrors, which can be recreated.
    Cached,
}

/// Stores `objects`, which are ordered so that each comes after the objects it points to.
pub(crate) fn store(objects_dir: &Path, objects: &[NewObject], durability: Durability) -> io::Result<()> {
    let in_a_pack = match durability {
        Durability::Flushed => FLUSHED_IN_A_PACK,
        Durability::Cached => CACHED_IN_A_PACK,
    };
    match objects.len() {
        0 => Ok(()),
        many if many >= in_a_pack => store_pack(objects_dir, objects, durability),
        _ => store_loose(objects_dir, objects, durability),
    }
}

fn deflated(parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    let size = parts.iter().map(|part| part.len()).sum::<usize>();
    let mut writer = deflate::Write::new(Vec::with_capacity(size / 2 + 64), Compression::BEST_SPEED);
    for part in parts {
        writer.write_all(part)?;
    }
    writer.flush()?;
    Ok(writer.into_inner())
}

/// A finished file under a temporary name. Dropped without [`publish`](Self::publish), it is removed.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    file: File,
    is_published: bool,
}

impl Temporary {
    /// `prefix` begins with `tmp_`: git's own maintenance sweeps up what a crash leaves behind under such names.
    pub(crate) fn write(folder: &Path, prefix: &str, content: &[u8]) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, unique) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!("{prefix}{process}_{unique}"));
        // Process ids are reused: an earlier process may have left a file of this name.
        let _ = fs::remove_file(&path);
        let mut temporary = Self { file: File::create_new(&path)?, path, is_published: false };
        temporary.file.write_all(content)?;
        Ok(temporary)
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn append(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)
    }

    /// Hard-links the file to `path`, which must not exist.
    pub(crate) fn link(&self, path: &Path) -> io::Result<()> {
        fs::hard_link(&self.path, path)
    }

    /// Renames the file to its final name and makes it read-only, as git keeps objects.
    fn publish(mut self, path: &Path) -> io::Result<()> {
        let mut permissions = self.file.metadata()?.permissions();
        permissions.set_readonly(true);
        self.file.set_permissions(permissions)?;
        fs::rename(&self.path, path)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Flushes the names in a folder to the disk, as `sync_all` does for content.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

fn loose_path(objects_dir: &Path, id: ObjectId) -> PathBuf {
    let hex = id.to_hex().to_string();
    objects_dir.join(&hex[..2]).join(&hex[2..])
}

fn store_loose(objects_dir: &Path, objects: &[NewObject], durability: Durability) -> io::Result<()> {
    let mut folders = BTreeSet::from([objects_dir.to_owned()]);
    for chunk in objects.chunks(PARALLEL_FLUSHES) {
        let mut written = Vec::with_capacity(chunk.len());
        for object in chunk {
            let path = loose_path(objects_dir, object.id);
            let folder = path.parent().unwrap_or(objects_dir);
            let header = gix::objs::encode::loose_header(object.kind, object.data.len() as u64);
            let content = deflated(&[&header, &object.data])?;
            let file = in_folder(folder, || Temporary::write(folder, "tmp_obj_", &content))?;
            written.push((file, path.clone()));
            folders.insert(folder.to_owned());
        }
        if durability == Durability::Flushed {
            flush_in_parallel(&written, |(file, _)| file.flush())?;
        }
        for (file, path) in written {
            // An object of the same name is replaced: it is equal, or was damaged by a crash.
            file.publish(&path)?;
        }
    }
    if durability == Durability::Flushed {
        let folders: Vec<PathBuf> = folders.into_iter().collect();
        folders
            .chunks(PARALLEL_FLUSHES)
            .try_for_each(|chunk| flush_in_parallel(chunk, |folder| sync_if_there(folder)))?;
    }
    Ok(())
}

/// Writes into a folder, creating it as needed. Maintenance removes empty folders at any time.
fn in_folder<T>(folder: &Path, mut write: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut tries = 0;
    loop {
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        tries += 1;
        match write() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries < FOLDER_TRIES => {}
            ended => return ended,
        }
    }
}

/// Flushes a folder if it still exists: maintenance may have packed and flushed its content, and removed the folder.
fn sync_if_there(folder: &Path) -> io::Result<()> {
    match sync_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        ended => ended,
    }
}

/// Flushes several files in parallel, so that the file system can combine the work.
fn flush_in_parallel<T: Sync>(items: &[T], flush: impl Fn(&T) -> io::Result<()> + Sync) -> io::Result<()> {
    let Some((first, rest)) = items.split_first() else { return Ok(()) };
    thread::scope(|scope| {
        let flush = &flush;
        let threads: Vec<_> = rest.iter().map(|item| scope.spawn(move || flush(item))).collect();
        threads.into_iter().fold(flush(first), |flushed, thread| {
            let joined = thread.join().map_err(|_| io::Error::other("a flush broke off")).flatten();
            flushed.and(joined)
        })
    })
}

/// The position of an object in a pack.
struct Placed {
    id: ObjectId,
    crc: u32,
    offset: u64,
}

fn store_pack(objects_dir: &Path, objects: &[NewObject], durability: Durability) -> io::Result<()> {
    let mut pack = header(count(objects.len())?).to_vec();
    let mut placed = Vec::with_capacity(objects.len());
    for object in objects {
        let offset = pack.len();
        pack.extend_from_slice(&entry(object.kind, &object.data)?);
        placed.push(Placed { id: object.id, crc: crc32fast::hash(&pack[offset..]), offset: offset as u64 });
    }
    let checksum = sha1(&pack)?;
    pack.extend_from_slice(checksum.as_slice());
    placed.sort_by_key(|entry| entry.id);
    let index = index(&placed, checksum)?;

    let folder = objects_dir.join("pack");
    fs::create_dir_all(&folder)?;
    let name = format!("pack-{}", checksum.to_hex());
    let pack = Temporary::write(&folder, "tmp_pack_", &pack)?;
    let index = Temporary::write(&folder, "tmp_idx_", &index)?;
    if durability == Durability::Flushed {
        flush_in_parallel(&[&pack, &index], |file| file.flush())?;
    }
    // Readers look for the index, so it comes last.
    pack.publish(&folder.join(format!("{name}.pack")))?;
    index.publish(&folder.join(format!("{name}.idx")))?;
    if durability == Durability::Flushed { sync_folder(&folder) } else { Ok(()) }
}

fn count(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(io::Error::other)
}

fn sha1(bytes: &[u8]) -> io::Result<ObjectId> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    hasher.update(bytes);
    hasher.try_finalize().map_err(|error| io::Error::other(error.to_string()))
}

/// The header of a pack with `count` objects.
pub(crate) fn header(count: u32) -> [u8; 12] {
    let mut header = [0; 12];
    header[..4].copy_from_slice(b"PACK");
    header[4..8].copy_from_slice(&2u32.to_be_bytes());
    header[8..].copy_from_slice(&count.to_be_bytes());
    header
}

/// The pack entry of an object.
pub(crate) fn entry(kind: Kind, data: &[u8]) -> io::Result<Vec<u8>> {
    let mut entry = Vec::new();
    entry_header(kind, data.len(), &mut entry);
    entry.extend_from_slice(&deflated(&[data])?);
    Ok(entry)
}

/// Three bits of type and a length in seven-bit groups, the least significant first (four bits beside the type).
fn entry_header(kind: Kind, length: usize, out: &mut Vec<u8>) {
    let kind = match kind {
        Kind::Commit => 1u8,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    };
    let mut byte = kind << 4 | (length & 15) as u8;
    let mut rest = length >> 4;
    while rest > 0 {
        out.push(byte | 0x80);
        byte = (rest & 127) as u8;
        rest >>= 7;
    }
    out.push(byte);
}

/// A version 2 index: fan-out, ids, checksums and offsets, each in the order of the ids.
fn index(placed: &[Placed], pack: ObjectId) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(1100 + placed.len() * 28);
    out.extend_from_slice(b"\xfftOc");
    out.extend_from_slice(&2u32.to_be_bytes());
    for first in 0..=255u8 {
        let up_to = placed.partition_point(|entry| entry.id.as_slice()[0] <= first);
        out.extend_from_slice(&count(up_to)?.to_be_bytes());
    }
    for entry in placed {
        out.extend_from_slice(entry.id.as_slice());
    }
    for entry in placed {
        out.extend_from_slice(&entry.crc.to_be_bytes());
    }
    // Offsets beyond 31 bits go into a table of their own.
    let mut long_offsets = Vec::new();
    for entry in placed {
        let short = u32::try_from(entry.offset).ok().filter(|offset| offset >> 31 == 0);
        let word = match short {
            Some(offset) => offset,
            None => {
                long_offsets.push(entry.offset);
                1 << 31 | count(long_offsets.len() - 1)?
            }
        };
        out.extend_from_slice(&word.to_be_bytes());
    }
    for offset in long_offsets {
        out.extend_from_slice(&offset.to_be_bytes());
    }
    out.extend_from_slice(pack.as_slice());
    let checksum = sha1(&out)?;
    out.extend_from_slice(checksum.as_slice());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_taken_away_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("17");
        let mut tries = 0;
        in_folder(&folder, || {
            tries += 1;
            if tries < FOLDER_TRIES {
                fs::remove_dir(&folder)?;
            }
            Temporary::write(&folder, "tmp_obj_", b"content")
        })
        .unwrap();
        // Fails after the last attempt: there is another cause.
        let never = in_folder(&folder, || fs::remove_dir(&folder).and_then(|()| fs::read_dir(&folder)));
        assert_eq!(never.unwrap_err().kind(), io::ErrorKind::NotFound);
        // A missing folder is not an error at the end: its content is in a pack.
        sync_if_there(&folder).unwrap();
    }
}
