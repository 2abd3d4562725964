//! The folder of marks and records, and what this process knows of it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use docent_types::Clock;
use parking_lot::{Mutex, RwLock};

use crate::marks::{self, Mark, Marks};
use crate::records::{Records, SetAsideRecord};
use crate::subject::Subject;

/// Marks what this process works on, and knows what ended processes before. Clones share it. The default one has no
/// folder: it marks nothing, and nothing is set aside.
#[derive(Debug, Clone, Default)]
pub struct Quarantine(Option<Arc<Open>>);

#[derive(Debug)]
struct Open {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    marks: Arc<Marks>,
    file: PathBuf,
    known: RwLock<HashMap<String, SetAsideRecord>>,
    /// The time and the inode of the records that are known, to see that another process has replaced them: the time
    /// alone moves in steps of milliseconds.
    read: Mutex<Option<(SystemTime, u64)>>,
    /// Whether content is read although it is set aside.
    retries: AtomicBool,
}

impl Quarantine {
    /// Opens a folder, which is made if it is missing. First the marks of all processes that have ended become records.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn open(folder: &Path, clock: Arc<dyn Clock>) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let lock = lock(folder)?;
        collect(folder, clock.as_ref())?;
        let (path, file) = create(folder, &clock)?;
        file.lock()?;
        drop(lock);
        let open = Open {
            folder: folder.to_owned(),
            marks: Arc::new(Marks::new(file, Arc::clone(&clock))),
            clock,
            file: path,
            known: RwLock::default(),
            read: Mutex::default(),
            retries: AtomicBool::new(false),
        };
        open.read_records()?;
        Ok(Self(Some(Arc::new(open))))
    }

    /// Runs `work` on this thread, marked: should it end the process, the next one knows.
    pub fn run<T>(&self, subject: &Subject, work: impl FnOnce(&Mark) -> T) -> T {
        let Some(open) = &self.0 else { return work(&Mark::none()) };
        let mark = Mark::new(&open.marks);
        mark.run(|| {
            mark.goes_on_with(subject);
            work(&mark)
        })
    }

    /// Marks work of a future until the mark is dropped. Which thread it runs on is not known, so an abort is blamed on
    /// all that was going on.
    pub fn begin(&self, subject: &Subject) -> Mark {
        let mark = self.0.as_ref().map_or_else(Mark::none, |open| Mark::new(&open.marks));
        mark.goes_on_with(subject);
        mark
    }

    /// The record of what is set aside under this key.
    pub fn set_aside(&self, key: &str) -> Option<SetAsideRecord> {
        let open = self.0.as_ref().filter(|open| !open.retries.load(Ordering::Relaxed))?;
        open.known.read().get(key).filter(|record| record.is_set_aside).cloned()
    }

    /// All that is set aside, the oldest first; nothing while it is tried again.
    pub fn list(&self) -> Vec<SetAsideRecord> {
        let Some(open) = self.0.as_ref().filter(|open| !open.retries.load(Ordering::Relaxed)) else {
            return Vec::new();
        };
        let mut records: Vec<SetAsideRecord> =
            open.known.read().values().filter(|record| record.is_set_aside).cloned().collect();
        records.sort_by(|a, b| (a.at, &a.subject.key).cmp(&(b.at, &b.subject.key)));
        records
    }

    /// From now on this process reads what is set aside. Other processes do not until [`Self::clear`].
    pub fn retry(&self) {
        if let Some(open) = &self.0 {
            open.retries.store(true, Ordering::Relaxed);
        }
    }

    /// Removes records.
    ///
    /// # Errors
    /// The records cannot be read or written.
    pub fn clear(&self, is_meant: impl Fn(&SetAsideRecord) -> bool) -> io::Result<()> {
        let Some(open) = &self.0 else { return Ok(()) };
        if !open.known.read().values().any(&is_meant) {
            return Ok(());
        }
        let _lock = lock(&open.folder)?;
        let path = records_of(&open.folder);
        let mut records = Records::read(&path)?;
        records.retain(|record| !is_meant(record));
        records.write(&path)?;
        open.read_records()
    }

    /// Says that this process lives, and takes up what other processes have left or changed. Called about once a
    /// second by a process that goes on for long.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn tick(&self) -> io::Result<()> {
        let Some(open) = &self.0 else { return Ok(()) };
        open.marks.write_header(false);
        if fs::read_dir(&open.folder)?.flatten().any(|entry| is_marks(&entry.path()) && entry.path() != open.file) {
            let _lock = lock(&open.folder)?;
            collect(&open.folder, open.clock.as_ref())?;
        }
        open.read_records()
    }

    /// The process ends by intention: what it is in the middle of is not to blame.
    pub fn close(&self) {
        if let Some(open) = &self.0 {
            open.marks.write_header(true);
        }
    }
}

impl Open {
    /// Reads the records if they have changed.
    fn read_records(&self) -> io::Result<()> {
        let path = records_of(&self.folder);
        let changed = fs::metadata(&path).and_then(|found| Ok((found.modified()?, found.ino()))).ok();
        let mut read = self.read.lock();
        if changed != *read {
            *self.known.write() = Records::read(&path)?.by_key();
            *read = changed;
        }
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // Left behind, it is removed by the next process.
        let _ = fs::remove_file(&self.file);
    }
}

fn records_of(folder: &Path) -> PathBuf {
    folder.join("records")
}

fn is_marks(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("marks-"))
}

/// Processes change the folder one after the other. The lock ends with the file.
fn lock(folder: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(folder.join("lock"))?;
    file.lock()?;
    Ok(file)
}

/// A new file of marks.
fn create(folder: &Path, clock: &Arc<dyn Clock>) -> io::Result<(PathBuf, File)> {
    let mut at = clock.now().millis();
    loop {
        let path = folder.join(format!("marks-{}-{at}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => at += 1,
            made => return made.map(|file| (path, file)),
        }
    }
}

/// Turns the marks of processes that have ended into records. The folder is locked.
fn collect(folder: &Path, clock: &dyn Clock) -> io::Result<()> {
    let path = records_of(folder);
    let mut records = Records::read(&path)?;
    let before = records.clone();
    let mut ended = Vec::new();
    for entry in fs::read_dir(folder)? {
        let marks = entry?.path();
        if !is_marks(&marks) {
            continue;
        }
        let file = match File::open(&marks) {
            // Its process has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        for (subject, blame) in marks::left_in(&file)? {
            tracing::warn!(
                scope = subject.scope,
                name = subject.name,
                ?blame,
                "a process ended while it worked on this"
            );
            records.note(subject, blame, clock.now());
        }
        ended.push(marks);
    }
    if records != before {
        records.write(&path)?;
    }
    // Last: what is interrupted here is done again.
    ended.iter().try_for_each(fs::remove_file)
}

#[cfg(test)]
mod tests {
    use docent_types::{ManualClock, Timestamp};

    use super::*;
    use crate::marks::LONG;

    fn open(folder: &Path, clock: &ManualClock) -> Quarantine {
        Quarantine::open(folder, Arc::new(clock.clone())).expect("opened")
    }

    /// Leaves what this process would leave if it were killed now.
    fn kill(quarantine: &Quarantine, folder: &Path) {
        let open = quarantine.0.as_ref().expect("a folder");
        fs::copy(&open.file, folder.join("marks-0-0")).expect("copied");
    }

    fn page(name: &str) -> Subject {
        Subject::content("docs", name, format!("blob of {name}"))
    }

    #[test]
    fn quarantined_inputs_stay_so_until_cleared() {
        let (folder, clock) = (tempfile::tempdir().expect("a folder"), ManualClock::at(Timestamp::from_millis(9)));
        let first = open(folder.path(), &clock);
        first.run(&page("done"), |_| ());
        let _slow = first.begin(&page("slow"));
        clock.advance(LONG);
        let _quick = first.begin(&page("quick"));
        first.tick().expect("alive");
        kill(&first, folder.path());

        let second = open(folder.path(), &clock);
        let names = |quarantine: &Quarantine| -> Vec<String> {
            quarantine.list().into_iter().map(|record| record.subject.name).collect()
        };
        assert_eq!(names(&second), ["slow"]);
        assert!(second.set_aside("blob of slow").is_some_and(|record| record.ends == 1));
        assert!(second.set_aside("blob of quick").is_none());

        second.retry();
        assert!(second.set_aside("blob of slow").is_none(), "it is tried");
        first.tick().expect("records are read");
        assert!(first.set_aside("blob of slow").is_some(), "and not by others");
        second.clear(|record| record.subject.scope == "docs").expect("cleared");
        clock.advance(LONG);
        first.tick().expect("records are read");
        assert_eq!(names(&first), Vec::<String>::new());
    }

    #[test]
    fn a_living_process_is_left_alone() {
        let (folder, clock) = (tempfile::tempdir().expect("a folder"), ManualClock::default());
        let living = open(folder.path(), &clock);
        let _mark = living.begin(&page("a"));
        clock.advance(LONG);
        living.tick().expect("alive");
        let other = open(folder.path(), &clock);
        assert_eq!(other.list(), []);
        drop(other);
        let files = |start: &str| {
            let entries = fs::read_dir(folder.path()).expect("a folder").flatten();
            entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start)).count()
        };
        assert_eq!(files("marks-"), 1, "a process that ends well leaves nothing");
    }

    #[test]
    fn a_process_that_is_killed_twice_at_one_page_gives_it_up() {
        let (folder, clock) = (tempfile::tempdir().expect("a folder"), ManualClock::default());
        for expected in [0, 0, 1] {
            let process = open(folder.path(), &clock);
            assert_eq!(process.list().len(), expected);
            let _mark = process.begin(&page("a"));
            kill(&process, folder.path());
        }
        let process = open(folder.path(), &clock);
        let _mark = process.begin(&page("b"));
        process.close();
        for _ in 0..2 {
            kill(&process, folder.path());
            assert_eq!(open(folder.path(), &clock).list().len(), 1, "a process that closes blames nothing");
        }
    }

    #[test]
    fn without_a_folder_nothing_is_set_aside() {
        let none = Quarantine::default();
        assert_eq!(none.run(&page("a"), |_| 7), 7);
        none.retry();
        none.tick().expect("nothing to do");
        none.clear(|_| true).expect("nothing to do");
        assert!(none.set_aside("blob of a").is_none() && none.list().is_empty());
    }
}
