//! What a turn may read besides the docs: context repositories, and the owners' guidance for agents.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use docent_agent::Guidance;
use docent_site::Tree;
use docent_types::Project;
use docent_workspace::{Base, CommitId, GitError, Mirror};
use futures::future::join_all;

use crate::docs::repository_path;
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

/// The owners' guidance for agents at one commit: `AGENTS.md` and `CLAUDE.md` of the repository and of the docs, those
/// of `.mintlify` and `.docent`, and the `AGENTS.md` of folders of the docs, in this order. Duplicates are removed.
///
/// # Errors
/// The mirror failed. A file that cannot be read as text is skipped.
pub(crate) fn guidance(base: &Base, docs_root: &str) -> Result<Vec<Guidance>, GitError> {
    const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
    let mut paths: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    paths.extend(NAMES.iter().map(|name| repository_path(name, docs_root)));
    paths.push(".mintlify/AGENTS.md".to_owned());
    paths.push(repository_path(".mintlify/AGENTS.md", docs_root));
    paths.push(".docent/AGENTS.md".to_owned());
    let listed = base.files(docs_root)?;
    let nested = listed.iter().filter(|file| file.mode.is_file() && file.path.ends_with("/AGENTS.md"));
    paths.extend(nested.map(|file| file.path.clone()));
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths.truncate(MAX_GUIDANCE_FILES);
    let (mut found, mut bytes_left) = (Vec::new(), MAX_TOTAL_GUIDANCE_BYTES);
    for path in paths {
        let bytes = match base.read(&path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) | Err(GitError::Path { .. }) => continue,
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_GUIDANCE_FILE_BYTES).min(bytes_left)]);
        // Only the last character can have been cut in two.
        let text = text.trim_end_matches('\u{fffd}').trim();
        if !text.is_empty() && !found.iter().any(|known: &Guidance| known.text == text) {
            bytes_left -= text.len().min(bytes_left);
            found.push(Guidance { path, text: text.to_owned() });
        }
    }
    Ok(found)
}
