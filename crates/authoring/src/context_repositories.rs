//! What a turn may read besides the docs: context repositories, and the owners' guidance for agents.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use docent_agent::Guidance;
use docent_markdown::joined;
use docent_site::Tree;
use docent_types::Project;
use docent_workspace::{Base, CommitId, FileMode, GitError, Mirror, Node};
use futures::future::join_all;

use crate::docs::{path_below_root, repository_path};
use crate::repositories::Repositories;
use crate::turn_exit::one_line;

/// Trees by name.
pub(crate) type Trees = BTreeMap<String, Arc<dyn Tree + Send + Sync>>;

/// Time limit for fetching a repository that the job can do without.
const FETCH_TIMEOUT: Duration = Duration::from_secs(180);

/// Most bytes of all guidance files together, and most such files read.
const MAX_TOTAL_GUIDANCE_BYTES: usize = 96 << 10;
const MAX_GUIDANCE_FILES: usize = 24;

/// Most bytes used of one guidance file.
const MAX_GUIDANCE_FILE_BYTES: usize = 32 << 10;

/// A guidance file above the docs root that is longer than this is not taken whole.
const MAX_WHOLE_BYTES: usize = 4 << 10;

/// How deep imports of guidance files are followed.
const MAX_IMPORTS: usize = 5;

/// Words in the headings of sections that are about docs.
const DOCS_WORDS: [&str; 10] =
    ["docs", "doc", "documentation", "documenting", "markdown", "writing", "prose", "style", "tone", "terminology"];

/// The current commit of each context repository by name, or why it is missing.
pub(crate) async fn find_context_commits(
    repositories: &Repositories,
    project: &Project,
) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let lookups = project.context.iter().map(async |(name, url)| {
        let found = match tokio::time::timeout(FETCH_TIMEOUT, repositories.fetch_context(project, url)).await {
            Ok(Ok(mirror)) => repositories.run_blocking(move || tip(&mirror)).await.map_err(|error| one_line(&error)),
            Ok(Err(error)) => Err(one_line(&error)),
            Err(_) => Err(format!("it took longer than {} s", FETCH_TIMEOUT.as_secs())),
        };
        (name.clone(), found)
    });
    let (mut commits, mut missing) = (BTreeMap::new(), BTreeMap::new());
    for (name, found) in join_all(lookups).await {
        match found {
            Ok(commit) => drop(commits.insert(name, commit.to_string())),
            Err(why) => drop(missing.insert(name, why)),
        }
    }
    (commits, missing)
}

/// The newest commit of a repository's default branch.
fn tip(mirror: &Mirror) -> Result<CommitId, GitError> {
    let name = mirror.default_branch().unwrap_or_else(|| "main".to_owned());
    mirror.branch(&name)
}

/// The context repositories at these commits. One that can no longer be read is left out: what the agent read of it is
/// in the transcript.
pub(crate) async fn open_context(
    repositories: &Repositories,
    project: &Project,
    commits: &BTreeMap<String, String>,
) -> Trees {
    let opens = commits.iter().map(async |(name, commit)| {
        let (url, commit) = (project.context.get(name)?, commit.parse().ok()?);
        let known = repositories.known_context(url);
        let base = match known.and_then(|mirror| mirror.base(commit).ok()) {
            Some(base) => base,
            None => {
                let fetched = tokio::time::timeout(FETCH_TIMEOUT, repositories.fetch_context(project, url)).await;
                fetched.ok()?.ok()?.base(commit).ok()?
            }
        };
        Some((name.clone(), Arc::new(ContextRepository(base)) as Arc<dyn Tree + Send + Sync>))
    });
    join_all(opens).await.into_iter().flatten().collect()
}

/// A repository at one commit, read from the mirror on demand.
struct ContextRepository(Base);

impl Tree for ContextRepository {
    fn paths(&self) -> Vec<String> {
        let files = self.0.files("").unwrap_or_default();
        files.iter().filter(|file| file.mode.is_file()).map(|file| file.path.clone()).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.read(path).ok().flatten()
    }
}

/// The owners' guidance for agents at one commit: `AGENTS.md` and `CLAUDE.md` of the docs root, or of the nearest folder
/// above it that has one, with what they import (`@AGENTS.md`); the `AGENTS.md` of `.mintlify` and `.docent`; and those of
/// folders of the docs, in this order. Of a long file above the docs root, which is mostly about code, only the sections on
/// docs are taken. Duplicates are removed.
///
/// # Errors
/// The mirror failed. A file that cannot be read as text is skipped.
pub(crate) fn guidance(base: &Base, docs_root: &str) -> Result<Vec<Guidance>, GitError> {
    let mut files = GuidanceFiles { base, docs_root, found: Vec::new(), seen: HashSet::new() };
    let mut folder = docs_root;
    while !files.add_of_folder(folder)? && !folder.is_empty() {
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
    for path in [".mintlify/AGENTS.md", &repository_path(".mintlify/AGENTS.md", docs_root), ".docent/AGENTS.md"] {
        files.add(path, MAX_IMPORTS)?;
    }
    for file in base.files(docs_root)?.iter() {
        if file.mode.is_file() && file.path.ends_with("/AGENTS.md") {
            files.add(&file.path, MAX_IMPORTS)?;
        }
    }
    Ok(files.found)
}

struct GuidanceFiles<'b> {
    base: &'b Base,
    docs_root: &'b str,
    found: Vec<Guidance>,
    seen: HashSet<String>,
}

impl GuidanceFiles<'_> {
    /// Adds the guidance of one folder, and tells whether it has any.
    fn add_of_folder(&mut self, folder: &str) -> Result<bool, GitError> {
        let before = self.found.len();
        for name in ["AGENTS.md", "CLAUDE.md"] {
            self.add(&repository_path(name, folder), MAX_IMPORTS)?;
        }
        Ok(self.found.len() > before)
    }

    /// Adds a file and what it imports, unless it is there.
    fn add(&mut self, path: &str, imports_left: usize) -> Result<(), GitError> {
        if self.found.len() >= MAX_GUIDANCE_FILES || !self.seen.insert(path.to_owned()) {
            return Ok(());
        }
        let (path, bytes) = match self.read(path)? {
            Some(read) => read,
            None => return Ok(()),
        };
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_GUIDANCE_FILE_BYTES)]);
        // Only the last character can have been cut in two.
        let text = text.trim_end_matches('\u{fffd}').trim();
        let is_import =
            |line: &&str| line.strip_prefix('@').is_some_and(|path| !path.is_empty() && !path.contains(' '));
        let imports: Vec<&str> = text.lines().map(str::trim).filter(is_import).collect();
        let own: String =
            text.lines().filter(|line| !is_import(&line.trim())).map(|line| format!("{line}\n")).collect();
        let is_above =
            path_below_root(&path, self.docs_root).is_none() && !path.contains("/.") && !path.starts_with('.');
        let own = if is_above && own.len() > MAX_WHOLE_BYTES { on_docs(&own) } else { own };
        let own = own.trim();
        let used: usize = self.found.iter().map(|known| known.text.len()).sum();
        if !own.is_empty()
            && used + own.len() <= MAX_TOTAL_GUIDANCE_BYTES
            && self.found.iter().all(|known| known.text != own)
        {
            self.found.push(Guidance { path: path.clone(), text: own.to_owned() });
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for import in imports.iter().filter(|_| imports_left > 0) {
            if let Some(imported) = joined(folder, &import[1..]).filter(|path| path.ends_with(".md")) {
                self.add(&imported, imports_left - 1)?;
            }
        }
        Ok(())
    }

    /// The path and the bytes of a file, or of the file that a symbolic link leads to.
    fn read(&mut self, path: &str) -> Result<Option<(String, Vec<u8>)>, GitError> {
        let read = |path: &str| match self.base.read(path) {
            Err(GitError::Path { .. } | GitError::Absent { .. }) => Ok(None),
            read => read.map(|bytes| bytes.map(|bytes| (path.to_owned(), bytes))),
        };
        match self.base.node(path) {
            Ok(Some(Node::File(file))) if file.mode == FileMode::Symlink => {
                let target = String::from_utf8(self.base.blob(file.blob)?).unwrap_or_default();
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                match joined(folder, &target).filter(|target| target.ends_with(".md")) {
                    Some(target) if self.seen.insert(target.clone()) => read(&target),
                    _ => Ok(None),
                }
            }
            Ok(_) => read(path),
            Err(GitError::Path { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What stands before the first heading of a text, and its sections on docs with all below them.
fn on_docs(text: &str) -> String {
    let (mut kept, mut is_code, mut is_on_docs, mut depth) = (String::new(), false, true, 0);
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let level = line.len() - line.trim_start_matches('#').len();
        if level > 0 && !is_code && (!is_on_docs || level <= depth || depth == 0) {
            let mut words = line.split(|c: char| !c.is_alphanumeric());
            is_on_docs = words.any(|word| DOCS_WORDS.contains(&word.to_lowercase().as_str()));
            depth = level;
        }
        if is_on_docs {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_on_docs_are_taken_with_all_below_them() {
        let text = "Hello.\n# Build\n```\n# Docs\n```\n## Writing docs\nBe brief.\n### Tone\nKind.\n## Tests\nRun.\n";
        assert_eq!(on_docs(text), "Hello.\n## Writing docs\nBe brief.\n### Tone\nKind.\n");
    }
}
