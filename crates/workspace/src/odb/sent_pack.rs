//! A pack to be sent: in memory while it is small, otherwise in a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use gix::ObjectId;

use super::local_error;
use super::pack::{self, Temporary};
use crate::error::GitError;

const DOING: &str = "make a pack to push";
/// Above this size in bytes, a pack is written to a file.
const IN_MEMORY_AT_MOST: usize = 8 << 20;

/// A pack with everything a push needs.
#[derive(Debug)]
pub(crate) enum SentPack {
    Memory(Vec<u8>),
    /// Removed when dropped.
    File {
        file: Temporary,
        bytes: u64,
    },
}

impl SentPack {
    /// Packs the objects `ids` of `repo` without deltas: a job's commit is small, and large files are rare.
    pub(crate) fn make(repo: &gix::Repository, ids: &[ObjectId]) -> Result<Self, GitError> {
        let mut writer = Writer {
            folder: repo.objects.store_ref().path(),
            buffer: Vec::new(),
            file: None,
            bytes: 0,
            hasher: gix::hash::hasher(gix::hash::Kind::Sha1),
        };
        let io = GitError::io(DOING);
        let count = u32::try_from(ids.len()).map_err(|error| io(io::Error::other(error)))?;
        let mut write = |part: &[u8]| writer.write_all(part).map_err(GitError::io(DOING));
        write(&pack::header(count))?;
        for id in ids {
            let object = repo.find_object(*id).map_err(|error| local_error(DOING, &error))?;
            let entry = pack::entry(object.kind, &object.data).map_err(GitError::io(DOING))?;
            write(&entry)?;
        }
        writer.finish().map_err(GitError::io(DOING))
    }

    /// The size of the pack in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }

    /// Writes the pack to a pipe.
    pub(crate) fn copy_to(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => to.write_all(bytes),
            Self::File { file, .. } => io::copy(&mut File::open(file.path())?, to).map(drop),
        }
    }
}

struct Writer<'a> {
    folder: &'a Path,
    buffer: Vec<u8>,
    file: Option<Temporary>,
    bytes: u64,
    hasher: gix::hash::Hasher,
}

impl Writer<'_> {
    fn store(&mut self, part: &[u8]) -> io::Result<()> {
        self.bytes += part.len() as u64;
        self.buffer.extend_from_slice(part);
        if self.buffer.len() > IN_MEMORY_AT_MOST { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.append(&self.buffer)?,
            None => {
                let folder = self.folder.join("pack");
                fs::create_dir_all(&folder)?;
                self.file = Some(Temporary::write(&folder, "tmp_pack_", &self.buffer)?);
            }
        }
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<SentPack> {
        let hasher = std::mem::replace(&mut self.hasher, gix::hash::hasher(gix::hash::Kind::Sha1));
        let checksum = hasher.try_finalize().map_err(|error| io::Error::other(error.to_string()))?;
        self.store(checksum.as_slice())?;
        if self.file.is_some() {
            self.spill()?;
        }
        Ok(match self.file {
            Some(file) => SentPack::File { file, bytes: self.bytes },
            None => SentPack::Memory(self.buffer),
        })
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.hasher.update(part);
        self.store(part)?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
