//! The vector files of an index.
//!
//! ```text
//! vectors/12.vec   vectors that were written together; never changes
//! vectors/lock     held by the process that is embedding
//! ```
//!
//! Vector files are not part of the index's states, so that embedding, which may take minutes, blocks nothing: an
//! update is published before its sections have vectors, and vectors count as they come. All of it is a cache: missing
//! vectors are embedded again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use crate::embedder::Embedder;
use crate::error::SearchError;
use crate::index::generations_disk::{disk, try_lock, write_durably};
use crate::vectors::files::{Embedded, VectorFile, Vectors};

const ENDING: &str = "vec";
const LOCK: &str = "lock";
/// More files than this are merged into one.
const MOST_FILES: usize = 12;

/// The vectors of one index.
#[derive(Debug)]
pub(crate) struct VectorStore {
    pub(crate) dir: PathBuf,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    current: ArcSwap<Vectors>,
    /// The files that `current` was read from, in the same order; `None` for files that are damaged or of other
    /// embedders.
    read: Mutex<Vec<(u64, Option<Arc<VectorFile>>)>>,
}

/// The exclusive right to write vectors, across processes; released on drop.
#[derive(Debug)]
pub(crate) struct Embedding {
    _lock: File,
}

impl VectorStore {
    /// Opens the vectors of the index in a folder. Without an embedder there are none.
    pub(crate) fn open(index: &Path, embedder: Option<Arc<dyn Embedder>>) -> Self {
        let dir = index.join("vectors");
        Self { dir, embedder, current: ArcSwap::default(), read: Mutex::default() }
    }

    pub(crate) fn vectors(&self) -> Arc<Vectors> {
        self.current.load_full()
    }

    /// Loads vectors that another process has written. Costs a folder listing when there are none.
    pub(crate) fn refresh(&self) -> Result<(), SearchError> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        let mut read = self.read.lock();
        let numbers = self.numbers()?;
        if read.iter().map(|(number, _)| number).eq(&numbers) {
            return Ok(());
        }
        let mut next = Vec::with_capacity(numbers.len());
        for number in numbers {
            let known = read.iter().find(|(known, _)| *known == number);
            match known {
                Some(known) => next.push(known.clone()),
                None => next.extend(self.load(number, embedder.id())?.map(|file| (number, file))),
            }
        }
        let files = next.iter().filter_map(|(_, file)| file.clone()).collect();
        *read = next;
        self.current.store(Arc::new(Vectors { files }));
        Ok(())
    }

    /// Takes the right to embed; `None` while another process or thread has it.
    pub(crate) fn embedding(&self) -> Result<Option<Embedding>, SearchError> {
        fs::create_dir_all(&self.dir).map_err(disk("create", &self.dir))?;
        Ok(try_lock(&self.dir.join(LOCK))?.map(|file| Embedding { _lock: file }))
    }

    /// Writes vectors, which count from here on.
    pub(crate) fn add(&self, _turn: &Embedding, embedder: &str, vectors: &[Embedded]) -> Result<(), SearchError> {
        if !vectors.is_empty() {
            self.write(&VectorFile::bytes_of(embedder, vectors))?;
        }
        self.refresh()
    }

    /// Whether the files should be rewritten: there are files of other embedders, many files, or mostly unused vectors.
    pub(crate) fn is_untidy(&self, counting: usize) -> bool {
        let read = self.read.lock();
        let foreign = read.iter().any(|(_, file)| file.is_none());
        foreign || read.len() > MOST_FILES || self.current.load().len() > 2 * counting + 1000
    }

    /// Replaces all vector files, those of other embedders included, with one file of these vectors.
    pub(crate) fn replace(&self, _turn: &Embedding, embedder: &str, vectors: &[Embedded]) -> Result<(), SearchError> {
        let old = self.numbers()?;
        self.write(&VectorFile::bytes_of(embedder, vectors))?;
        // If this is interrupted, some vectors exist twice.
        for number in old {
            let path = self.file(number);
            fs::remove_file(&path).map_err(disk("remove", &path))?;
        }
        self.refresh()
    }

    fn write(&self, bytes: &[u8]) -> Result<(), SearchError> {
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let (path, new) = (self.file(number), self.dir.join("new"));
        write_durably(&new, bytes)?;
        fs::rename(&new, &path).map_err(disk("rename", &new))
    }

    /// `None` when the file was merged into another one meanwhile; `Some(None)` when it is damaged or of another
    /// embedder.
    fn load(&self, number: u64, embedder: &str) -> Result<Option<Option<Arc<VectorFile>>>, SearchError> {
        let path = self.file(number);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(disk("read", &path)(error)),
        };
        let parsed = VectorFile::parse(&bytes, embedder).unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, path = %path.display(), "vectors are embedded again");
            None
        });
        Ok(Some(parsed.map(Arc::new)))
    }

    fn file(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number}.{ENDING}"))
    }

    /// The numbers of the files, in order.
    fn numbers(&self) -> Result<Vec<u64>, SearchError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(disk("list", &self.dir)(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(disk("list", &self.dir))?.file_name();
            let stem = name.to_str().and_then(|name| name.strip_suffix(ENDING)?.strip_suffix('.'));
            numbers.extend(stem.and_then(|stem| stem.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}
