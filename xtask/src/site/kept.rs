//! The builds of the unchanged small sites, kept in `$DOCENT_CACHE` from one run to the next.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::copy;
use super::generator::{Built, Generator};
use crate::workspace::Workspace;

const SITE: &str = "site";
const SAID: &str = "said";

/// The place of one site's build: a folder whose name follows from everything that the build follows from.
pub(super) struct Kept {
    folder: PathBuf,
}

impl Kept {
    /// `None` without `$DOCENT_CACHE`.
    pub(super) fn of(generator: Generator, program: &Path, workspace: &Workspace) -> Result<Option<Self>, String> {
        let Some(cache) = workspace.cache() else { return Ok(None) };
        let mut hasher = DefaultHasher::new();
        // How the generators are called, and which release of one without a lock file is installed.
        include_str!("generator.rs").hash(&mut hasher);
        let program = std::fs::metadata(program).and_then(|metadata| Ok((metadata.len(), metadata.modified()?)));
        program.ok().hash(&mut hasher);
        let mut folders = vec![generator.folder()];
        // Both are built by the packages of one of them.
        folders.extend((generator == Generator::SphinxRst).then(|| Generator::Sphinx.folder()));
        for folder in folders {
            for path in workspace.files(&format!("tests/sites/{folder}"))? {
                let bytes = std::fs::read(workspace.root.join(&path));
                (&path, bytes.map_err(|error| format!("could not read {path}: {error}"))?).hash(&mut hasher);
            }
        }
        let name = format!("{}-{:016x}", generator.folder(), hasher.finish());
        Ok(Some(Self { folder: cache.join("sites").join(name) }))
    }

    /// The built site, and what the generator said.
    pub(super) fn get(&self) -> Option<(PathBuf, Built)> {
        let said = std::fs::read_to_string(self.folder.join(SAID)).ok()?;
        Some((self.folder.join(SITE), Built::Well(said)))
    }

    /// Keeps a build, with what the generator said, and removes older builds of the site.
    pub(super) fn put(&self, built: &Path, said: &str) -> Result<(), String> {
        let fault = |error: std::io::Error| format!("could not keep a build in {}: {error}", self.folder.display());
        let sites = self.folder.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(sites).map_err(fault)?;
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.rsplit_once('-').map_or("", |(stem, _)| stem);
        for entry in std::fs::read_dir(sites).map_err(fault)? {
            let other = entry.map_err(fault)?.file_name().to_string_lossy().into_owned();
            if other.rsplit_once('-').is_some_and(|(other, _)| other == stem) {
                std::fs::remove_dir_all(sites.join(other)).map_err(fault)?;
            }
        }
        // Written beside its place, so that a build that was cut short is never taken for whole.
        let part = tempfile::tempdir_in(sites).map_err(fault)?;
        let site = part.path().join(SITE);
        // Mintlify's own checker writes one file.
        if built.is_file() {
            std::fs::copy(built, &site).map_err(fault)?;
        } else {
            copy(built, &site, &[], &|from, to| std::fs::copy(from, to).map(|_| ()))?;
        }
        std::fs::write(part.path().join(SAID), said).map_err(fault)?;
        std::fs::rename(part.path(), &self.folder).map_err(fault)
    }
}
