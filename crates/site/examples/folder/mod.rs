//! A folder as a docs tree.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use docent_site::{Tree, from_root};

pub(crate) struct Folder {
    repository: PathBuf,
    root: String,
    /// Relative to the docs root.
    files: BTreeSet<String>,
    outside: BTreeSet<String>,
}

impl Folder {
    /// Lists a repository whose docs are in the folder `root`, `""` for all of it.
    pub(crate) fn open(repository: PathBuf, root: &str) -> std::io::Result<Self> {
        let root = root.trim_matches('/').to_owned();
        let (mut files, mut outside) = (BTreeSet::new(), BTreeSet::new());
        let mut folders = vec![repository.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() && ![".git", "node_modules"].iter().any(|skipped| entry.file_name() == *skipped) {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    let path = entry.path();
                    let Some(path) = path.strip_prefix(&repository).ok().and_then(Path::to_str) else { continue };
                    let path = from_root(&root, path);
                    if path.starts_with("../") {
                        outside.insert(path)
                    } else {
                        files.insert(path)
                    };
                }
            }
        }
        Ok(Self { repository, root, files, outside })
    }
}

impl Tree for Folder {
    fn paths(&self) -> Vec<String> {
        self.files.iter().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let path = self.files.get(path).or_else(|| self.outside.get(path))?;
        std::fs::read(self.repository.join(&self.root).join(path)).ok()
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        self.outside.iter().cloned().collect()
    }
}
