//! The on-disk folder of an index: its segments, its journal of states and its locks.
//!
//! ```text
//! CURRENT        the name of the journal to read
//! states-….log   a journal of states; the last complete record is the current one
//! 6f0c….pack     a segment of the index; never changes once a state names it
//! lock           held by the process that publishes the next state
//! making         held by the process that writes segments without `lock`, to be adopted later (6f0c….aside)
//! ```
//!
//! A state is published by appending a record to the journal, after its segments are written. Until then no reader sees
//! any part of it. Files left behind by an interrupted update are removed by the next one.
//!
//! Durability: a process may be killed at any moment, and the index remains the state published last. A power cut may
//! lose small segments and the newest records. Checksums detect this, and damaged data is never read as valid: the
//! index is then an older state, or empty, and the next update brings it up to date with the docs. Large segments and
//! new journals are synced to disk before they count.
//!
//! # Why not tantivy's `IndexWriter`
//!
//! It took twice the CPU for the same words (measured with tantivy 0.27), three times as long until a changed page was visible, and
//! a thirtieth of the updates while questions were asked: a commit joins its threads, starts new ones and syncs about seven files,
//! and a writer that is kept open locks other processes out. The manifest would need a journal all the same.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::TantivyError;
use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;

use crate::error::SearchError;
use crate::index::engine::WrittenSegment;
use crate::index::generations_disk::{disk, lock_file, sync_dir, try_lock, write_durably};
use crate::index::generations_log::{self as log, Record, SegmentRecord};
use crate::index::generations_packs::{self as packs, ENDING, SegmentFiles, WrittenPack};
use crate::index::manifest::{Delta, Manifest};

const CURRENT: &str = "CURRENT";
const LOCK: &str = "lock";
const COMPACTION_LOCK: &str = "making";
/// File extension of an unpublished segment.
const UNPUBLISHED: &str = ".aside";
/// A journal is rewritten once it has grown to twice its first record plus this many bytes.
const JOURNAL_SLACK_BYTES: u64 = if cfg!(test) { 4 << 10 } else { 1 << 20 };

/// The folder of one index.
#[derive(Debug, Clone)]
pub(crate) struct Generations {
    pub(crate) dir: PathBuf,
    /// The same folder as a tantivy directory.
    folder: MmapDirectory,
    /// Checksum of the index fields: states written with other fields are ignored.
    schema: u32,
}

/// The exclusive right to publish, across processes; released on drop.
#[derive(Debug)]
pub(crate) struct PublishLock {
    _lock: File,
}

/// The exclusive right to write unpublished segments, across processes; released on drop.
#[derive(Debug)]
pub(crate) struct CompactionLock {
    _lock: File,
}

/// A segment that was written without the publish lock and is not adopted yet.
#[derive(Debug)]
pub(crate) struct UnpublishedSegment {
    path: PathBuf,
    written: WrittenPack,
}

/// One state of an index. Never changes.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) at: Position,
    pub(crate) manifest: Manifest,
    pub(crate) segments: Vec<Segment>,
}

/// The position of a state: a journal, and the end of a record in it, as a byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The journal's sequence number in the folder (upper 32 bits) and a random stamp (lower 32 bits) that
    /// distinguishes it from a journal with the same sequence number in a folder created anew.
    journal: u64,
    end: u64,
    /// Byte offset of the end of the journal's first record.
    first: u64,
}

/// A segment of the index and its deleted documents.
#[derive(Clone)]
pub(crate) struct Segment {
    pub(crate) id: String,
    pub(crate) documents: u32,
    /// Ids of the deleted documents, ascending.
    pub(crate) deleted: Arc<Vec<u32>>,
    pub(crate) files: Arc<SegmentFiles>,
    pub(crate) written: WrittenPack,
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, documents, deleted, .. } = self;
        f.debug_struct("Segment")
            .field("id", id)
            .field("documents", documents)
            .field("deleted", &deleted.len())
            .finish()
    }
}

impl Segment {
    /// Number of documents that are not deleted.
    pub(crate) fn alive(&self) -> u32 {
        self.documents.saturating_sub(u32::try_from(self.deleted.len()).unwrap_or(u32::MAX))
    }

    /// A copy of the segment with these documents deleted as well.
    pub(crate) fn without(&self, documents: impl IntoIterator<Item = u32>) -> Self {
        let mut deleted = (*self.deleted).clone();
        deleted.extend(documents);
        deleted.sort_unstable();
        deleted.dedup();
        Self { deleted: Arc::new(deleted), ..self.clone() }
    }

    /// The documents deleted since `before`, an earlier state of the same segment.
    pub(crate) fn deleted_since<'s>(&'s self, before: &'s Self) -> impl Iterator<Item = u32> + 's {
        let known = |document: &u32| before.deleted.binary_search(document).is_ok();
        let same = Arc::ptr_eq(&self.deleted, &before.deleted) || self.deleted.len() == before.deleted.len();
        let deleted: &[u32] = if same { &[] } else { &self.deleted };
        deleted.iter().copied().filter(move |document| !known(document))
    }

    fn record(&self) -> SegmentRecord {
        let mut before = 0;
        let distance = |document: &u32| {
            let distance = document - before;
            before = *document;
            distance
        };
        SegmentRecord {
            id: self.id.clone(),
            documents: self.documents,
            bytes: self.written.bytes,
            checksum: self.written.checksum,
            deleted: self.deleted.iter().map(distance).collect(),
        }
    }
}

impl Generations {
    pub(crate) fn open(dir: &Path, schema: u32) -> Result<Self, SearchError> {
        fs::create_dir_all(dir).map_err(disk("create", dir))?;
        let folder = MmapDirectory::open(dir).map_err(|error| disk("open", dir)(io::Error::other(error)))?;
        Ok(Self { dir: dir.to_owned(), folder, schema })
    }

    /// Waits for the lock that excludes all other writers, in this process or another.
    pub(crate) fn lock_for_publishing(&self) -> Result<PublishLock, SearchError> {
        let path = self.dir.join(LOCK);
        let file = lock_file(&path)?;
        file.lock().map_err(disk("lock", &path))?;
        Ok(PublishLock { _lock: file })
    }

    /// The current state; `None` before the first one is published, and when the journal has another layout or schema.
    /// Reads only what is newer than `known`.
    ///
    /// # Errors
    /// When a file is missing or damaged. Without the publish lock, the cause may be that a newer state was published
    /// meanwhile: retrying helps.
    pub(crate) fn load(&self, known: Option<&Arc<State>>) -> Result<Option<Arc<State>>, SearchError> {
        let Some(journal) = self.current()? else { return Ok(None) };
        let path = self.journal(journal);
        let known = known.filter(|known| known.at.journal == journal);
        if let Some(known) = known {
            let length = fs::metadata(&path).map_err(disk("read", &path))?.len();
            if length == known.at.end {
                return Ok(Some(Arc::clone(known)));
            }
        }
        let from = known.map_or(0, |known| known.at.end);
        let Some(records) = log::read(&path, from, self.schema).map_err(disk("read", &path))? else { return Ok(None) };
        let Some((last, end)) = records.last() else {
            return match known {
                Some(known) => Ok(Some(Arc::clone(known))),
                None => {
                    Err(disk("read", &path)(io::Error::new(io::ErrorKind::InvalidData, "no record in it is whole")))
                }
            };
        };
        let first = known.map_or(records[0].1, |known| known.at.first);
        let at = Position { journal, end: *end, first };
        let segments = self.segments(&last.segments, known.map_or(&[], |known| &known.segments))?;
        let empty = Manifest::default();
        let mut manifest = known.map_or(&empty, |known| &known.manifest).clone();
        for (record, _) in &records {
            manifest = manifest.with(&record.docs);
        }
        Ok(Some(Arc::new(State { at, manifest, segments })))
    }

    fn segments(&self, records: &[SegmentRecord], known: &[Segment]) -> Result<Vec<Segment>, SearchError> {
        let known: HashMap<&str, &Segment> = known.iter().map(|segment| (segment.id.as_str(), segment)).collect();
        let open = |record: &SegmentRecord| {
            let mut at = 0;
            let deleted = record.deleted.iter().map(|distance| {
                at += distance;
                at
            });
            let deleted = Arc::new(deleted.collect());
            if let Some(known) = known.get(record.id.as_str()) {
                return Ok(Segment { deleted, ..(*known).clone() });
            }
            let written = WrittenPack { bytes: record.bytes, checksum: record.checksum };
            let files = self.opened(&record.id, written, !written.is_synced())?;
            let (id, documents) = (record.id.clone(), record.documents);
            Ok(Segment { id, documents, deleted, files, written })
        };
        records.iter().map(open).collect()
    }

    fn opened(&self, id: &str, written: WrittenPack, compare: bool) -> Result<Arc<SegmentFiles>, SearchError> {
        let name = pack_name(id);
        let checksum = compare.then_some(written.checksum);
        let files = packs::open(&self.folder, &name, written.bytes, checksum);
        files.map(Arc::new).map_err(disk("open", &self.dir.join(name)))
    }

    /// Writes a segment, with the publish lock held. It becomes visible once a state that names it is published.
    pub(crate) fn write_segment(&self, made: &WrittenSegment) -> Result<Segment, SearchError> {
        let path = self.dir.join(pack_name(&made.id));
        let written = packs::write(&path, &made.files).map_err(disk("write", &path))?;
        self.segment(made, written)
    }

    /// Takes the right to write unpublished segments, without the publish lock; `None` while it is taken. Removes
    /// unpublished segments that were left behind.
    pub(crate) fn try_lock_for_compaction(&self) -> Result<Option<CompactionLock>, SearchError> {
        let Some(file) = try_lock(&self.dir.join(COMPACTION_LOCK))? else { return Ok(None) };
        for name in self.names()?.iter().filter(|name| name.ends_with(UNPUBLISHED)) {
            let path = self.dir.join(name);
            fs::remove_file(&path).map_err(disk("remove", &path))?;
        }
        Ok(Some(CompactionLock { _lock: file }))
    }

    /// Writes a segment under a file name that no reader looks for.
    pub(crate) fn write_unpublished(
        &self,
        _lock: &CompactionLock,
        made: &WrittenSegment,
    ) -> Result<UnpublishedSegment, SearchError> {
        let path = self.dir.join(format!("{}{UNPUBLISHED}", made.id));
        let written = packs::write(&path, &made.files).map_err(disk("write", &path))?;
        Ok(UnpublishedSegment { path, written })
    }

    /// Adopts an unpublished segment by renaming its file, with the publish lock held.
    pub(crate) fn adopt(
        &self,
        unpublished: &UnpublishedSegment,
        made: &WrittenSegment,
    ) -> Result<Segment, SearchError> {
        let path = self.dir.join(pack_name(&made.id));
        fs::rename(&unpublished.path, &path).map_err(disk("rename", &unpublished.path))?;
        self.segment(made, unpublished.written)
    }

    fn segment(&self, made: &WrittenSegment, written: WrittenPack) -> Result<Segment, SearchError> {
        let files = self.opened(&made.id, written, false)?;
        Ok(Segment { id: made.id.clone(), documents: made.documents, deleted: Arc::default(), files, written })
    }

    /// Wraps an error of tantivy in this folder. An error of the operating system becomes [`SearchError::Disk`];
    /// damaged data, which tantivy also reports as an I/O error, becomes [`SearchError::Engine`].
    pub(crate) fn engine(&self, doing: &'static str, error: TantivyError) -> SearchError {
        let refused = match &error {
            TantivyError::IoError(source) => source.raw_os_error(),
            _ => None,
        };
        match refused {
            Some(code) => disk(doing, &self.dir)(io::Error::from_raw_os_error(code)),
            None => SearchError::Engine { doing, path: self.dir.clone(), source: error.into() },
        }
    }

    /// Publishes a new current state: `base` with the changes in `docs`, and these segments. From here on all readers
    /// see it.
    pub(crate) fn publish(
        &self,
        lock: &PublishLock,
        base: Option<&Arc<State>>,
        docs: Delta,
        segments: Vec<Segment>,
    ) -> Result<Arc<State>, SearchError> {
        let empty = Manifest::default();
        let manifest = base.map_or(&empty, |base| &base.manifest).with(&docs);
        let records = segments.iter().map(Segment::record).collect();
        if segments.iter().any(|segment| segment.written.is_synced()) {
            sync_dir(&self.dir)?;
        }
        let at = match base.filter(|base| base.at.end < 2 * base.at.first + JOURNAL_SLACK_BYTES) {
            Some(base) => {
                let path = self.journal(base.at.journal);
                let record = Record { docs, segments: records };
                let end = log::append(&path, base.at.end, &record).map_err(disk("write", &path))?;
                Position { end, ..base.at }
            }
            None => self.start_journal(&Record { docs: manifest.whole(), segments: records })?,
        };
        let state = Arc::new(State { at, manifest, segments });
        self.tidy(lock, Some(&state))?;
        Ok(state)
    }

    /// Removes every segment and journal that `keep` does not name. Processes that have such a file open go on reading
    /// it; those about to open it find it missing and load the newer state.
    pub(crate) fn tidy(&self, _turn: &PublishLock, keep: Option<&Arc<State>>) -> Result<(), SearchError> {
        let mut kept = HashSet::new();
        if let Some(state) = keep {
            kept.insert(journal_name(state.at.journal));
            kept.extend(state.segments.iter().map(|segment| pack_name(&segment.id)));
        }
        for name in self.names()? {
            let ours = name.starts_with(JOURNAL) || name.ends_with(&format!(".{ENDING}"));
            if ours && !kept.contains(&name) {
                let path = self.dir.join(&name);
                fs::remove_file(&path).map_err(disk("remove", &path))?;
            }
        }
        Ok(())
    }

    fn start_journal(&self, whole: &Record) -> Result<Position, SearchError> {
        let latest = self.names()?.iter().filter_map(|name| journal_number(name)).max().unwrap_or(0);
        // A process that knows a journal of a folder removed since must not mistake the new journal for it.
        let stamp = crc32fast::hash(SegmentId::generate_random().uuid_string().as_bytes());
        let journal = ((latest >> 32) + 1) << 32 | u64::from(stamp);
        let path = self.journal(journal);
        let mut bytes = log::mark(self.schema).to_vec();
        bytes.extend(log::framed(whole).map_err(disk("write", &path))?);
        write_durably(&path, &bytes)?;
        let new = self.dir.join(format!("{CURRENT}.new"));
        write_durably(&new, journal_name(journal).as_bytes())?;
        let current = self.dir.join(CURRENT);
        fs::rename(&new, &current).map_err(disk("replace", &current))?;
        sync_dir(&self.dir)?;
        let end = bytes.len() as u64;
        Ok(Position { journal, end, first: end })
    }

    /// The number of the journal to read.
    fn current(&self) -> Result<Option<u64>, SearchError> {
        let path = self.dir.join(CURRENT);
        match fs::read_to_string(&path) {
            Ok(name) => Ok(journal_number(name.trim())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => Ok(None),
            Err(error) => Err(disk("read", &path)(error)),
        }
    }

    fn journal(&self, number: u64) -> PathBuf {
        self.dir.join(journal_name(number))
    }

    fn names(&self) -> Result<Vec<String>, SearchError> {
        let entries = fs::read_dir(&self.dir).map_err(disk("list", &self.dir))?;
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry.map_err(disk("list", &self.dir))?.file_name().into_string());
        }
        Ok(names)
    }
}

const JOURNAL: &str = "states-";

fn journal_name(number: u64) -> String {
    format!("{JOURNAL}{number:016x}.log")
}

fn journal_number(name: &str) -> Option<u64> {
    u64::from_str_radix(name.strip_prefix(JOURNAL)?.strip_suffix(".log")?, 16).ok()
}

fn pack_name(segment: &str) -> String {
    format!("{segment}.{ENDING}")
}

#[cfg(test)]
mod tests {
    use tantivy::directory::OwnedBytes;

    use super::*;

    fn made(id: &str) -> WrittenSegment {
        let files = vec![(format!("{id}.term"), OwnedBytes::new(id.as_bytes().to_vec()))];
        WrittenSegment { id: id.to_owned(), documents: 9, files }
    }

    fn docs(commit: &str) -> Delta {
        Delta { commit: commit.to_owned(), ..Delta::default() }
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_state_counts_once_it_is_published_and_is_read_by_whoever_knows_an_earlier_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let writer = Generations::open(dir.path(), 1).expect("opened");
        let reader = Generations::open(dir.path(), 1).expect("opened");
        assert!(reader.load(None).expect("nothing").is_none());
        let lock = writer.lock_for_publishing().expect("the lock");
        let first = writer.write_segment(&made("a")).expect("written");
        assert!(reader.load(None).expect("nothing").is_none());
        let one = writer.publish(&lock, None, docs("one"), vec![first.clone()]).expect("published");
        let seen = reader.load(None).expect("read").expect("a state");
        assert_eq!((seen.at, seen.manifest.commit.as_str()), (one.at, "one"));

        let second = writer.write_segment(&made("b")).expect("written");
        let two =
            writer.publish(&lock, Some(&one), docs("two"), vec![first.without([7, 2]), second]).expect("published");
        for known in [None, Some(&seen)] {
            let now = reader.load(known).expect("read").expect("a state");
            assert_eq!((now.at, now.manifest.commit.as_str(), now.segments.len()), (two.at, "two", 2));
            assert_eq!((now.segments[0].deleted.as_slice(), now.segments[0].alive()), ([2, 7].as_slice(), 7));
        }
        assert_ne!(two.at, one.at);
        assert!(Generations::open(dir.path(), 2).expect("opened").load(None).expect("others").is_none());
    }

    #[test]
    fn unreferenced_files_are_removed_and_long_journals_rewritten() {
        let dir = tempfile::tempdir().expect("a folder");
        let generations = Generations::open(dir.path(), 1).expect("opened");
        let lock = generations.lock_for_publishing().expect("the lock");
        generations.write_segment(&made("left")).expect("written");
        let mut state: Option<Arc<State>> = None;
        for number in 0..200 {
            let segment = generations.write_segment(&made(&format!("s{number}"))).expect("written");
            let known = state.clone();
            state = Some(
                generations
                    .publish(&lock, known.as_ref(), docs(&number.to_string()), vec![segment])
                    .expect("published"),
            );
            let read = generations.load(known.as_ref()).expect("read").expect("a state");
            assert_eq!(read.manifest.commit, number.to_string());
        }
        let journal = state.expect("a state").at.journal;
        assert!(journal >> 32 > 1);
        assert_eq!(names(dir.path()), ["CURRENT", "lock", "s199.pack", &journal_name(journal)]);
    }

    #[test]
    fn a_small_segment_that_was_damaged_is_not_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let generations = Generations::open(dir.path(), 1).expect("opened");
        let lock = generations.lock_for_publishing().expect("the lock");
        let segment = generations.write_segment(&made("a")).expect("written");
        generations.publish(&lock, None, docs("one"), vec![segment]).expect("published");
        let path = dir.path().join("a.pack");
        let mut bytes = fs::read(&path).expect("read");
        bytes[0] ^= 1;
        fs::write(&path, bytes).expect("damaged");
        assert!(matches!(generations.load(None), Err(SearchError::Disk { .. })));
    }

    #[test]
    fn io_errors_are_told_from_damage() {
        let dir = tempfile::tempdir().expect("a folder");
        let generations = Generations::open(dir.path(), 1).expect("opened");
        let told = |error: io::Error| generations.engine("write", error.into());
        let SearchError::Disk { source, .. } = told(io::Error::from_raw_os_error(28)) else { panic!("it was refused") };
        assert_eq!(source.raw_os_error(), Some(28));
        assert!(matches!(told(io::ErrorKind::InvalidData.into()), SearchError::Engine { .. }));
    }

    #[test]
    fn one_process_at_a_time_writes_aside_and_what_another_left_is_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let generations = Generations::open(dir.path(), 1).expect("opened");
        let lock = generations.try_lock_for_compaction().expect("asked").expect("it is free");
        assert!(generations.try_lock_for_compaction().expect("asked").is_none());
        generations.write_unpublished(&lock, &made("left")).expect("written");
        drop(lock);
        let lock = generations.try_lock_for_compaction().expect("asked").expect("it is free");
        assert_eq!(names(dir.path()), ["making"]);
        let unpublished = generations.write_unpublished(&lock, &made("a")).expect("written");
        assert_eq!(generations.adopt(&unpublished, &made("a")).expect("taken in").documents, 9);
        assert_eq!(names(dir.path()), ["a.pack", "making"]);
    }
}
