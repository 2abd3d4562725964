//! A project's docs at one commit, as the search index reads them.

use std::collections::BTreeMap;
use std::fmt;

use docent_markdown::joined;
use docent_quarantine::Quarantine;
use docent_search::{Source, SourceFile};
use docent_site::{Generator, Site, SkipReason, Tree, from_root, sites_in};
use docent_types::{BoxError, Project};
use docent_workspace::{Base, FileMode, GitError, Listing, Mirror, TreeFile};

use crate::files::OriginalDocs;

/// Maximum number of symbolic links that are followed.
const MAX_LINKS: usize = 1_000;

/// Maximum length of the target of a symbolic link, in bytes: that of a path in git.
const MAX_TARGET_BYTES: usize = 4_096;

/// Maximum number of files that are read through symbolic links.
pub(crate) const MAX_LINKED_FILES: usize = 10_000;

/// The files below the docs root at one commit.
#[derive(Clone)]
pub struct Docs {
    base: Base,
    commit: String,
    root: String,
}

impl fmt::Debug for Docs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Docs").field("base", &self.base).field("root", &self.root).finish()
    }
}

impl Docs {
    /// The docs at the tip of the project's branch in this mirror.
    ///
    /// # Errors
    /// There is no such branch, or the mirror failed.
    pub fn at_tip(mirror: &Mirror, project: &Project) -> Result<Self, GitError> {
        let commit = mirror.branch(&project.branch)?;
        Ok(Self { base: mirror.base(commit)?, commit: commit.to_string(), root: project.docs_root.clone() })
    }
}

/// What stands below a docs root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocsOverview {
    /// The number of pages that readers can find.
    pub pages: usize,
    /// The number of other files in docs formats, by the reason why they make no page.
    pub skipped: BTreeMap<SkipReason, usize>,
    pub generator: Generator,
    /// The folders below the docs root in which a site is configured, each with its generator.
    pub sites: Vec<(String, Generator)>,
}

impl Docs {
    /// Reads the site. Files that have ended a process are not read.
    ///
    /// # Errors
    /// The mirror failed.
    pub fn overview(&self, quarantine: &Quarantine) -> Result<DocsOverview, GitError> {
        let tree = OriginalDocs::new(self.base.clone(), &self.root, quarantine)?;
        let site = Site::read(&tree);
        let (pages, skipped) = site.count_pages(&tree);
        Ok(DocsOverview { pages, skipped, generator: site.generator(), sites: sites_in(&tree.paths()) })
    }

    /// A file of the repository, inside or outside of the docs; `None` when there is none. `path` is relative to the
    /// root of the repository.
    ///
    /// # Errors
    /// The mirror failed.
    pub fn file(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        match self.base.read(path) {
            // A link or a folder is not a file.
            Err(GitError::Path { .. } | GitError::Absent { .. }) => Ok(None),
            read => read,
        }
    }
}

/// The files of the repository to which symbolic links among `files`, those below `root`, lead, each by the path through the
/// link. Links in linked folders are listed and not followed, nor are links out of the repository.
pub(crate) fn linked_files(base: &Base, root: &str, files: &Listing) -> Result<Vec<(String, TreeFile)>, GitError> {
    let mut links = files.iter().filter(|file| file.mode == FileMode::Symlink).take(MAX_LINKS).peekable();
    if links.peek().is_none() {
        return Ok(Vec::new());
    }
    let all = if root.is_empty() { files.clone() } else { base.files("")? };
    let mut linked = Vec::new();
    for link in links {
        let target = match base.blob_within(link.blob, MAX_TARGET_BYTES) {
            Ok(Some(target)) => target,
            Ok(None) | Err(GitError::Absent { .. }) => continue,
            Err(error) => return Err(error),
        };
        let folder = link.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let Some(target) = std::str::from_utf8(&target)
            .ok()
            .filter(|target| !target.starts_with('/'))
            .and_then(|target| joined(folder, target))
        else {
            continue;
        };
        for file in all.iter() {
            match file.path.strip_prefix(target.as_str()) {
                Some("") => linked.push((link.path.clone(), file.clone())),
                Some(rest) if rest.starts_with('/') => linked.push((format!("{}{rest}", link.path), file.clone())),
                _ => {}
            }
            if linked.len() >= MAX_LINKED_FILES {
                return Ok(linked);
            }
        }
    }
    Ok(linked)
}

impl Source for Docs {
    fn commit(&self) -> &str {
        &self.commit
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        let files = self.base.files(&self.root)?;
        let readable = files.iter().filter(|file| file.mode.is_file());
        let source = |path: &str, file: &TreeFile| {
            path_below_root(path, &self.root)
                .map(|path| SourceFile { path: path.to_owned(), blob: file.blob.to_string() })
        };
        let mut found: Vec<SourceFile> = readable.filter_map(|file| source(&file.path, file)).collect();
        let mut linked = linked_files(&self.base, &self.root, &files)?;
        linked.retain(|(_, file)| file.mode.is_file());
        if !linked.is_empty() {
            found.extend(linked.iter().filter_map(|(path, file)| source(path, file)));
            found.sort();
        }
        Ok(found)
    }

    fn files_outside(&self) -> Result<Vec<SourceFile>, BoxError> {
        if self.root.is_empty() {
            return Ok(Vec::new());
        }
        let files = self.base.files("")?;
        let outside =
            files.iter().filter(|file| file.mode.is_file() && path_below_root(&file.path, &self.root).is_none());
        let source =
            |file: &TreeFile| SourceFile { path: from_root(&self.root, &file.path), blob: file.blob.to_string() };
        Ok(outside.map(source).collect())
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        Ok(self.base.blob(file.blob.parse()?)?)
    }

    fn read_within(&self, file: &SourceFile, max_bytes: usize) -> Result<Option<Vec<u8>>, BoxError> {
        match self.base.blob_within(file.blob.parse()?, max_bytes) {
            Err(GitError::Absent { .. }) => Ok(None),
            read => Ok(read?),
        }
    }

    fn is_absent(&self, file: &SourceFile) -> bool {
        file.blob.parse().is_ok_and(|blob| matches!(self.base.blob_within(blob, 0), Err(GitError::Absent { .. })))
    }

    fn beside(&self, path: &str) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(self.file(path)?)
    }
}

/// The path relative to the docs root, if it is below it.
pub(crate) fn path_below_root<'a>(path: &'a str, root: &str) -> Option<&'a str> {
    if root.is_empty() { Some(path) } else { path.strip_prefix(root)?.strip_prefix('/') }
}

/// The repository path of a path relative to the docs root, which begins with `../` if it is outside. A path that leads
/// out of the repository is returned in a form that reading it refuses.
pub(crate) fn repository_path(path: &str, root: &str) -> String {
    let (mut folder, mut rest) = (root, path);
    while let Some(above) = rest.strip_prefix("../").filter(|_| !folder.is_empty()) {
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        rest = above;
    }
    if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
}
