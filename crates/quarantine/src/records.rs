//! What ended a process, in a file with one line of JSON each.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use docent_types::Timestamp;
use serde::{Deserialize, Serialize};

use crate::marks::Blame;
use crate::subject::{Subject, SubjectKind};

/// Maximum number of records; the oldest are dropped.
const MOST: usize = 1_000;

/// What was going on when a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAsideRecord {
    pub subject: Subject,
    /// How many processes ended during it.
    pub ends: u32,
    /// Whether it is set aside.
    pub is_set_aside: bool,
    /// When the last of these ends was found.
    pub at: Timestamp,
}

/// All records by key, in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Records(Vec<SetAsideRecord>);

impl Records {
    /// Lines that cannot be read are left out: then something is tried once more.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let text = match fs::read(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        Ok(Self(text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()))
    }

    /// Replaces the file as a whole. Not flushed: what is lost with the power is found once more.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let mut text = Vec::new();
        for record in &self.0 {
            serde_json::to_writer(&mut text, record)?;
            text.push(b'\n');
        }
        let new = file.with_extension("new");
        fs::write(&new, text)?;
        fs::rename(new, file)
    }

    /// Notes that a process ended during this.
    pub(crate) fn note(&mut self, subject: Subject, blame: Blame, now: Timestamp) {
        if (subject.kind, blame) == (SubjectKind::Step, Blame::Kill) {
            // Who carries out steps counts the attempts that did not end.
            return;
        }
        let before = self.0.iter().position(|record| record.subject.key == subject.key).map(|at| self.0.remove(at));
        let ends = 1 + before.as_ref().map_or(0, |before| before.ends);
        let is_set_aside = before.is_some_and(|before| before.is_set_aside)
            || ends >= 2
            || (subject.kind, blame) == (SubjectKind::Content, Blame::Certain);
        self.0.push(SetAsideRecord { subject, ends, is_set_aside, at: now });
        self.0.drain(..self.0.len().saturating_sub(MOST));
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&SetAsideRecord) -> bool) {
        self.0.retain(keep);
    }

    pub(crate) fn by_key(&self) -> HashMap<String, SetAsideRecord> {
        self.0.iter().map(|record| (record.subject.key.clone(), record.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(5);

    fn is_set_aside(kind: SubjectKind, ends: &[Blame]) -> bool {
        let subject = Subject { kind, ..Subject::content("docs", "a.md", "1") };
        let mut records = Records::default();
        ends.iter().for_each(|blame| records.note(subject.clone(), *blame, NOW));
        records.0.iter().any(|record| record.is_set_aside)
    }

    #[test]
    fn content_is_set_aside_at_once_when_it_is_to_blame_and_else_when_it_happens_again() {
        use Blame::{Abort, Certain, Kill};
        for (kind, ends, expected) in [
            (SubjectKind::Content, &[Certain][..], true),
            (SubjectKind::Content, &[Kill], false),
            (SubjectKind::Content, &[Abort], false),
            (SubjectKind::Content, &[Kill, Kill], true),
            (SubjectKind::Content, &[Abort, Kill], true),
            (SubjectKind::Step, &[Certain], false),
            (SubjectKind::Step, &[Certain, Certain], true),
            (SubjectKind::Step, &[Abort, Certain], true),
            (SubjectKind::Step, &[Kill, Kill, Kill], false),
            (SubjectKind::Step, &[Certain, Kill], false),
        ] {
            assert_eq!(is_set_aside(kind, ends), expected, "{kind:?} {ends:?}");
        }
    }

    #[test]
    fn records_are_read_as_they_were_written_and_the_oldest_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("records");
        assert_eq!(Records::read(&file).expect("none yet"), Records::default());
        let mut records = Records::default();
        for n in 0..MOST + 2 {
            records.note(Subject::content("docs", "a\n.md", n.to_string()), Blame::Certain, NOW);
        }
        records.write(&file).expect("written");
        let read = Records::read(&file).expect("read");
        assert_eq!((read.0.len(), read.0[0].subject.key.as_str()), (MOST, "2"));
        assert_eq!(read, records);
        fs::write(&file, b"{\n\xff\n").expect("written");
        assert_eq!(Records::read(&file).expect("read"), Records::default());
    }
}
