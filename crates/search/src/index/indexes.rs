//! The indexes of all projects.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use docent_quarantine::Quarantine;
use docent_types::ProjectUid;
use parking_lot::Mutex;

use crate::embedder::Embedder;
use crate::error::SearchError;
use crate::index::handle::Index;
use crate::index::safeguard::Safeguard;
use crate::index::snapshot::Snapshot;

/// Indexes by project UID rather than by name, each in a folder below `root`, opened on first use.
#[derive(Debug)]
pub struct Indexes {
    root: PathBuf,
    embedder: Option<Arc<dyn Embedder>>,
    quarantine: Quarantine,
    open: Mutex<HashMap<ProjectUid, Arc<Index>>>,
}

impl Indexes {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), embedder: None, quarantine: Quarantine::default(), open: Mutex::default() }
    }

    /// Sets the embedder for the sections and questions of all projects.
    pub fn with_embedder(self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self { embedder, ..self }
    }

    /// Sets the quarantine for what ends the process while it is read. The scope of a project's files is its UID.
    pub fn with_quarantine(self, quarantine: Quarantine) -> Self {
        Self { quarantine, ..self }
    }

    /// The index of a project; an empty one when nothing was indexed yet.
    pub fn open(&self, project: ProjectUid) -> Result<Arc<Index>, SearchError> {
        let mut open = self.open.lock();
        if let Some(index) = open.get(&project) {
            return Ok(Arc::clone(index));
        }
        let safeguard = Safeguard { quarantine: self.quarantine.clone(), scope: project.to_string() };
        let index = Index::open_safeguarded(&self.folder(project), self.embedder.clone(), safeguard)?;
        let index = Arc::new(index);
        open.insert(project, Arc::clone(&index));
        Ok(index)
    }

    /// The current docs of a project. `None` until they have been indexed once.
    pub fn snapshot(&self, project: ProjectUid) -> Result<Option<Arc<Snapshot>>, SearchError> {
        let snapshot = self.open(project)?.snapshot();
        Ok(snapshot.commit().is_some().then_some(snapshot))
    }

    /// Closes the indexes of all projects but these. A closed index is opened anew when it is needed.
    pub fn keep_open(&self, projects: &HashSet<ProjectUid>) {
        self.open.lock().retain(|project, _| projects.contains(project));
    }

    /// Closes a project's index and removes its folder.
    pub fn remove(&self, project: ProjectUid) -> Result<(), SearchError> {
        let mut open = self.open.lock();
        open.remove(&project);
        remove(self.folder(project))
    }

    /// Closes the indexes of all projects but these, and removes their folders.
    pub fn retain(&self, projects: &HashSet<ProjectUid>) -> Result<(), SearchError> {
        self.keep_open(projects);
        let kept: HashSet<OsString> = projects.iter().map(|project| project.to_string().into()).collect();
        let entries = std::fs::read_dir(&self.root).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.filter(|entry| !kept.contains(&entry.file_name())).try_for_each(|entry| remove(entry.path()))
    }

    fn folder(&self, project: ProjectUid) -> PathBuf {
        self.root.join(project.to_string())
    }
}

fn remove(folder: PathBuf) -> Result<(), SearchError> {
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(SearchError::Disk { doing: "remove", path: folder, source: error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{BoxError, FixedIds, Ids};

    use super::*;
    use crate::source::{Source, SourceFile};

    struct OnePage;

    impl Source for OnePage {
        fn commit(&self) -> &str {
            "c1"
        }

        fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
            Ok(vec![SourceFile { path: "index.md".to_owned(), blob: "b1".to_owned() }])
        }

        fn read(&self, _: &SourceFile) -> Result<Vec<u8>, BoxError> {
            Ok(b"# Home".to_vec())
        }
    }

    #[test]
    fn an_index_is_opened_once_read_when_indexed_and_forgotten_when_removed() {
        let root = tempfile::tempdir().expect("a folder");
        let indexes = Indexes::new(root.path());
        let ids = FixedIds::default();
        let [acme, other] = [(); 2].map(|()| ProjectUid::new(ids.unguessable()));
        assert!(indexes.snapshot(acme).expect("opens").is_none());

        let index = indexes.open(acme).expect("opens");
        assert!(Arc::ptr_eq(&index, &indexes.open(acme).expect("opens")));
        index.update(&OnePage, &mut |_| ()).expect("indexed");
        let snapshot = indexes.snapshot(acme).expect("opens").expect("indexed");
        assert_eq!((snapshot.commit(), snapshot.page_count()), (Some("c1"), 1));
        assert!(indexes.snapshot(other).expect("opens").is_none());

        indexes.keep_open(&HashSet::from([acme]));
        assert!(Arc::ptr_eq(&index, &indexes.open(acme).expect("opens")), "what is asked for stays open");
        indexes.keep_open(&HashSet::new());
        assert!(!Arc::ptr_eq(&index, &indexes.open(acme).expect("opens")), "anything else is opened anew");

        indexes.retain(&HashSet::from([acme])).expect("removed");
        assert!(!root.path().join(other.to_string()).exists() && root.path().join(acme.to_string()).exists());
        indexes.remove(acme).expect("removed");
        assert!(!root.path().join(acme.to_string()).exists());
        indexes.remove(acme).expect("nothing is left to remove");
        assert!(indexes.snapshot(acme).expect("opens").is_none());
        // A reader that holds the old snapshot can go on using it.
        assert!(snapshot.has_page("/"));
    }
}
