//! The marks of one process: a file of slots, each with the subject that a thread works on.
//!
//! The file is locked while the process lives, so that another process can tell the marks of the living from those of
//! the dead. Slot 0 is the header: when the process was alive last, and whether it ended by intention. The last byte of
//! a slot is set when the thread that worked under it aborted the process; that of the header when another thread did.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{Clock, Timestamp};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::abort;
use crate::subject::Subject;

/// Work that went on for this long when the process was killed is to blame for it: memory that runs out is filled for
/// seconds, and what is usual takes milliseconds.
pub const LONG: Duration = Duration::from_secs(2);

/// Length of a slot in bytes.
const SLOT: usize = 2048;
/// Longest name that is kept in a mark, in characters, so that a mark fits its slot.
const LONGEST_NAME: usize = 200;
/// The last byte of a slot whose thread aborted the process.
pub(crate) const ABORTED: u8 = b'!';

/// The position of the byte that tells that the thread of this slot aborted.
pub(crate) const fn slot_flag(slot: u32) -> u64 {
    slot as u64 * SLOT as u64 + SLOT as u64 - 1
}

/// What is written in a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    subject: Subject,
    begun: Timestamp,
}

/// What is written in the header.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Header {
    alive: Timestamp,
    /// Whether the process ended by intention; then nothing is to blame.
    closed: bool,
}

/// The marks file of this process.
#[derive(Debug)]
pub(crate) struct Marks {
    file: File,
    clock: Arc<dyn Clock>,
    /// Whether each slot is in use; the header is.
    used: Mutex<Vec<bool>>,
    /// Whether an abort is noted in this file.
    notes_aborts: bool,
}

/// A mark that stands until it is dropped.
#[derive(Debug)]
pub struct Mark(Option<(Arc<Marks>, u32)>);

impl Marks {
    /// Takes a new, empty file that this process has locked.
    pub(crate) fn new(file: File, clock: Arc<dyn Clock>) -> Self {
        let notes_aborts = abort::note_in(&file);
        let marks = Self { file, clock, used: Mutex::new(vec![true]), notes_aborts };
        marks.write_header(false);
        marks
    }

    pub(crate) fn write_header(&self, closed: bool) {
        self.write(0, &Header { alive: self.clock.now(), closed });
    }

    /// A mark that cannot be written is no reason not to work.
    fn write(&self, slot: u32, what: &impl Serialize) {
        let mut bytes = serde_json::to_vec(what).unwrap_or_default();
        bytes.truncate(SLOT - 2);
        bytes.push(b'\n');
        if let Err(error) = self.file.write_all_at(&bytes, u64::from(slot) * SLOT as u64) {
            tracing::debug!(error = &error as &dyn std::error::Error, "a mark could not be written");
        }
    }

    fn take(&self) -> u32 {
        let mut used = self.used.lock();
        let free = used.iter().position(|used| !used).unwrap_or(used.len());
        if free == used.len() {
            used.push(true);
        } else {
            used[free] = true;
        }
        // There are as many slots as there were marks at a time.
        u32::try_from(free).unwrap_or(u32::MAX)
    }
}

impl Mark {
    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn new(marks: &Arc<Marks>) -> Self {
        Self(Some((Arc::clone(marks), marks.take())))
    }

    /// The work has come to another subject, such as the next file of a configuration.
    pub fn goes_on_with(&self, subject: &Subject) {
        let Some((marks, slot)) = &self.0 else { return };
        let mut entry = Entry { subject: subject.clone(), begun: marks.clock.now() };
        if let Some((end, _)) = subject.name.char_indices().nth(LONGEST_NAME) {
            entry.subject.name.truncate(end);
        }
        marks.write(*slot, &entry);
        #[cfg(debug_assertions)]
        crate::planted::end_at(subject);
    }

    /// Runs work under this mark, on this thread.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some((marks, slot)) if marks.notes_aborts => abort::under(*slot, work),
            _ => work(),
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let Some((marks, slot)) = &self.0 else { return };
        // One byte: what begins with it is no mark.
        if let Err(error) = marks.file.write_all_at(b"-", u64::from(*slot) * SLOT as u64) {
            tracing::debug!(error = &error as &dyn std::error::Error, "a mark could not be taken back");
        }
        if let Some(used) = marks.used.lock().get_mut(*slot as usize) {
            *used = false;
        }
    }
}

/// How strongly a mark says that its subject ended the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// Its thread aborted, or it went on for long when the process was killed.
    Certain,
    /// Another thread aborted, which may have worked for this one.
    Abort,
    /// The process was killed.
    Kill,
}

/// What a process that has ended was doing, with the blame for its end.
pub(crate) fn left_in(file: &File) -> io::Result<Vec<(Subject, Blame)>> {
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX).min(SLOT * 4096);
    let mut bytes = vec![0; length.next_multiple_of(SLOT)];
    let mut read = 0;
    while read < length {
        match file.read_at(&mut bytes[read..length], read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    Ok(blamed(&bytes))
}

fn blamed(bytes: &[u8]) -> Vec<(Subject, Blame)> {
    let line = |slot: &[u8]| slot.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec();
    let has_aborted = |slot: &[u8]| slot.get(SLOT - 1) == Some(&ABORTED);
    let mut slots = bytes.chunks(SLOT);
    let Some(first) = slots.next() else { return Vec::new() };
    let header: Header = serde_json::from_slice(&line(first)).unwrap_or_default();
    if header.closed {
        return Vec::new();
    }
    let marks: Vec<(Entry, bool)> =
        slots.filter_map(|slot| Some((serde_json::from_slice(&line(slot)).ok()?, has_aborted(slot)))).collect();
    let is_found = marks.iter().any(|(_, aborted)| *aborted);
    let blame = |(Entry { subject, begun }, aborted): (Entry, bool)| {
        let blame = match aborted {
            true => Blame::Certain,
            false if is_found => return None,
            false if header.alive.since(begun) >= LONG => Blame::Certain,
            false if has_aborted(first) => Blame::Abort,
            false => Blame::Kill,
        };
        Some((subject, blame))
    };
    marks.into_iter().filter_map(blame).collect()
}

#[cfg(test)]
mod tests {
    use docent_types::ManualClock;
    use proptest::prelude::*;

    use super::*;

    fn marks() -> (tempfile::NamedTempFile, ManualClock, Arc<Marks>) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let clock = ManualClock::at(Timestamp::from_millis(1_000_000));
        let marks = Arc::new(Marks::new(file.reopen().expect("the file"), Arc::new(clock.clone())));
        (file, clock, marks)
    }

    fn page(name: &str) -> Subject {
        Subject::content("docs", name, format!("blob of {name}"))
    }

    fn begin(marks: &Arc<Marks>, subject: &Subject) -> Mark {
        let mark = Mark::new(marks);
        mark.goes_on_with(subject);
        mark
    }

    fn left(file: &tempfile::NamedTempFile) -> Vec<(String, Blame)> {
        let left = left_in(file.as_file()).expect("readable");
        left.into_iter().map(|(subject, blame)| (subject.name, blame)).collect()
    }

    #[test]
    fn a_mark_stands_until_its_work_is_over_and_its_slot_is_used_again() {
        let (file, _, marks) = marks();
        let (a, b) = (begin(&marks, &page("a")), begin(&marks, &page("b")));
        assert_eq!(left(&file), [("a".to_owned(), Blame::Kill), ("b".to_owned(), Blame::Kill)]);
        drop(a);
        assert_eq!(left(&file), [("b".to_owned(), Blame::Kill)]);
        b.goes_on_with(&page("c"));
        let _d = begin(&marks, &page("d"));
        assert_eq!(left(&file), [("d".to_owned(), Blame::Kill), ("c".to_owned(), Blame::Kill)]);
        marks.write_header(true);
        assert_eq!(left(&file), [], "a process that closes blames nothing");
    }

    #[test]
    fn the_thread_that_aborted_is_to_blame_and_no_other() {
        let (file, _, marks) = marks();
        let _marks = [begin(&marks, &page("a")), begin(&marks, &page("b"))];
        marks.file.write_all_at(&[ABORTED], slot_flag(0)).expect("written");
        assert_eq!(left(&file), [("a".to_owned(), Blame::Abort), ("b".to_owned(), Blame::Abort)]);
        marks.file.write_all_at(&[ABORTED], slot_flag(2)).expect("written");
        assert_eq!(left(&file), [("b".to_owned(), Blame::Certain)]);
    }

    #[test]
    fn long_running_work_is_blamed_for_a_kill() {
        let (file, clock, marks) = marks();
        let _slow = begin(&marks, &page("slow"));
        clock.advance(LONG);
        let _quick = begin(&marks, &page("quick"));
        assert_eq!(left(&file)[0].1, Blame::Kill, "it is not known that the process lived");
        marks.write_header(false);
        assert_eq!(left(&file), [("slow".to_owned(), Blame::Certain), ("quick".to_owned(), Blame::Kill)]);
    }

    #[test]
    fn a_long_name_fits_its_slot() {
        let (file, _, marks) = marks();
        let _mark = begin(&marks, &Subject::content("docs", "é\"".repeat(1000), "1"));
        assert_eq!(left(&file).len(), 1);
    }

    proptest! {
        #[test]
        fn any_file_of_marks_is_read(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
            blamed(&bytes);
        }
    }
}
