//! The folder an index lives in.
//!
//! ```text
//! CURRENT        the name of the generation to read
//! gen-7/         a generation: index files that never change again, and manifest.json
//! gen-6/         the one before, for readers that are about to open it
//! lock           held by whoever is making the next generation
//! ```
//!
//! A generation is made in its own folder, from hard links to the files of the one before and what is new, and counts
//! only once `CURRENT` names it. One that was left half made is removed by the next writer.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::SearchError;
use crate::manifest::{LAYOUT, Manifest};

const CURRENT: &str = "CURRENT";
const LOCK: &str = "lock";
const MANIFEST: &str = "manifest.json";

/// The folder of one index.
#[derive(Debug, Clone)]
pub(crate) struct Generations {
    dir: PathBuf,
}

/// A generation on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) number: u64,
    pub(crate) dir: PathBuf,
}

/// The right to make the next generation; no other process has it until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _lock: File,
}

impl Generations {
    pub(crate) fn open(dir: &Path) -> Result<Self, SearchError> {
        fs::create_dir_all(dir).map_err(disk("create", dir))?;
        Ok(Self { dir: dir.to_owned() })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The generation to read; `None` before the first was published.
    pub(crate) fn current(&self) -> Result<Option<Generation>, SearchError> {
        let path = self.dir.join(CURRENT);
        match fs::read_to_string(&path) {
            Ok(name) => Ok(number_of(name.trim()).map(|number| self.generation(number))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk("read", &path)(error)),
        }
    }

    /// Waits until no other writer is at work, in this process or another.
    pub(crate) fn turn(&self) -> Result<Turn, SearchError> {
        let path = self.dir.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(disk("open", &path))?;
        file.lock().map_err(disk("lock", &path))?;
        Ok(Turn { _lock: file })
    }

    /// Starts the generation after `base`, with links to `base`'s index files in it.
    pub(crate) fn start(&self, _turn: &Turn, base: Option<&Generation>) -> Result<Generation, SearchError> {
        let latest = self.all()?.into_iter().map(|generation| generation.number).max().unwrap_or(0);
        let next = self.generation(latest + 1);
        fs::create_dir(&next.dir).map_err(disk("create", &next.dir))?;
        let Some(base) = base else { return Ok(next) };
        for entry in fs::read_dir(&base.dir).map_err(disk("list", &base.dir))? {
            let from = entry.map_err(disk("list", &base.dir))?.path();
            let Some(name) = from.file_name().and_then(|name| name.to_str()) else { continue };
            let to = next.dir.join(name);
            if name == MANIFEST || name.ends_with(".lock") {
                continue;
            }
            // What the engine writes again is copied, so that the old generation keeps its own.
            let rewritten = name.ends_with(".json");
            if rewritten || fs::hard_link(&from, &to).is_err() {
                fs::copy(&from, &to).map_err(disk("copy", &from))?;
            }
        }
        Ok(next)
    }

    /// Makes a finished generation the current one. From here on everybody reads it, also after a power cut.
    pub(crate) fn publish(&self, turn: &Turn, generation: &Generation, manifest: &Manifest) -> Result<(), SearchError> {
        let path = generation.dir.join(MANIFEST);
        let text = serde_json::to_vec(manifest).map_err(|error| disk("write", &path)(error.into()))?;
        write_durably(&path, &text)?;
        sync_dir(&generation.dir)?;
        let new = self.dir.join("CURRENT.new");
        write_durably(&new, name_of(generation.number).as_bytes())?;
        let path = self.dir.join(CURRENT);
        fs::rename(&new, &path).map_err(disk("replace", &path))?;
        sync_dir(&self.dir)?;
        self.tidy(turn)
    }

    /// Removes every generation but the current one and the one before it.
    pub(crate) fn tidy(&self, _turn: &Turn) -> Result<(), SearchError> {
        let Some(current) = self.current()? else {
            return self.all()?.iter().try_for_each(remove);
        };
        let mut all = self.all()?;
        all.sort_by_key(|generation| generation.number);
        let previous = all.iter().rev().find(|generation| generation.number < current.number).map(|kept| kept.number);
        all.iter()
            .filter(|generation| generation.number != current.number && Some(generation.number) != previous)
            .try_for_each(remove)
    }

    /// The manifest of a generation; `None` when it is damaged or of another layout.
    pub(crate) fn manifest(&self, generation: &Generation) -> Option<Manifest> {
        let bytes = fs::read(generation.dir.join(MANIFEST)).ok()?;
        serde_json::from_slice::<Manifest>(&bytes).ok().filter(|manifest| manifest.layout == LAYOUT)
    }

    fn generation(&self, number: u64) -> Generation {
        Generation { number, dir: self.dir.join(name_of(number)) }
    }

    fn all(&self) -> Result<Vec<Generation>, SearchError> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(disk("list", &self.dir))? {
            let name = entry.map_err(disk("list", &self.dir))?.file_name();
            found.extend(name.to_str().and_then(number_of).map(|number| self.generation(number)));
        }
        Ok(found)
    }
}

fn name_of(number: u64) -> String {
    format!("gen-{number}")
}

fn number_of(name: &str) -> Option<u64> {
    name.strip_prefix("gen-")?.parse().ok()
}

fn remove(generation: &Generation) -> Result<(), SearchError> {
    fs::remove_dir_all(&generation.dir).map_err(disk("remove", &generation.dir))
}

fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), SearchError> {
    let mut file = File::create(path).map_err(disk("create", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(disk("write", path))
}

/// A name in a folder survives a power cut once the folder is written too.
fn sync_dir(dir: &Path) -> Result<(), SearchError> {
    if cfg!(unix) { File::open(dir).and_then(|dir| dir.sync_all()).map_err(disk("write", dir)) } else { Ok(()) }
}

pub(crate) fn disk(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SearchError {
    let path = path.to_owned();
    move |source| SearchError::Disk { doing, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(commit: &str) -> Manifest {
        Manifest { layout: LAYOUT, commit: commit.to_owned(), ..Manifest::default() }
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .expect("dir")
            .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_generation_counts_once_it_is_published_and_two_are_kept() {
        let dir = tempfile::tempdir().expect("dir");
        let generations = Generations::open(dir.path()).expect("open");
        assert_eq!(generations.current().expect("current"), None);
        for commit in ["a", "b", "c", "d"] {
            let turn = generations.turn().expect("turn");
            let base = generations.current().expect("current");
            let next = generations.start(&turn, base.as_ref()).expect("start");
            fs::write(next.dir.join(format!("{commit}.idx")), commit).expect("write");
            fs::write(next.dir.join("meta.json"), commit).expect("write");
            assert_eq!(generations.current().expect("current"), base);
            generations.publish(&turn, &next, &manifest(commit)).expect("publish");
        }
        let current = generations.current().expect("current").expect("one");
        assert_eq!(current.number, 4);
        assert_eq!(generations.manifest(&current).map(|manifest| manifest.commit).as_deref(), Some("d"));
        assert_eq!(names(dir.path()), ["CURRENT", "gen-3", "gen-4", "lock"]);
        assert_eq!(names(&current.dir), ["a.idx", "b.idx", "c.idx", "d.idx", "manifest.json", "meta.json"]);
        assert_eq!(fs::read_to_string(dir.path().join("gen-3/meta.json")).expect("read"), "c");
    }

    #[test]
    fn what_was_left_half_made_is_removed() {
        let dir = tempfile::tempdir().expect("dir");
        let generations = Generations::open(dir.path()).expect("open");
        let turn = generations.turn().expect("turn");
        let first = generations.start(&turn, None).expect("start");
        generations.publish(&turn, &first, &manifest("a")).expect("publish");
        generations.start(&turn, Some(&first)).expect("start");
        generations.tidy(&turn).expect("tidy");
        assert_eq!(names(dir.path()), ["CURRENT", "gen-1", "lock"]);
    }

    #[test]
    fn a_manifest_of_another_layout_is_none() {
        let dir = tempfile::tempdir().expect("dir");
        let generations = Generations::open(dir.path()).expect("open");
        let turn = generations.turn().expect("turn");
        let first = generations.start(&turn, None).expect("start");
        generations.publish(&turn, &first, &Manifest { layout: 0, ..manifest("a") }).expect("publish");
        assert_eq!(generations.manifest(&first), None);
        fs::write(first.dir.join(MANIFEST), b"{").expect("write");
        assert_eq!(generations.manifest(&first), None);
    }
}
