//! The local forge's pull requests, for people: viewing, merging and closing them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use docent_forge::{
    CommitRange, FoundPulls, MOST_COMMENTS, PullComment, PullRecord, PullRequests, PullSearch, PullState,
};
use docent_site::{NavigationMerge, merge_navigation};
use docent_types::{BoxError, Clock, JobId, Project, ProjectId, Signature, StoreError};
use docent_workspace::{
    CommitId, CommitSummary, Diff, DiffView, FileConflict, FileMerge, GitError, Merged, Mirror, PushError,
};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::ports::Projects;
use crate::repositories::Repositories;
use crate::signing::Signing;
use crate::wording;

/// Pull requests of the local forge.
#[derive(Debug, Clone)]
pub struct Pulls {
    records: Arc<dyn PullRequests>,
    projects: Arc<dyn Projects>,
    repositories: Repositories,
    clock: Arc<dyn Clock>,
    /// Permits for comparisons: anyone with the link may view one, and it uses a processor and memory.
    comparison_permits: Arc<Semaphore>,
    sizes: Sizes,
}

/// What a pull request changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PullChanges {
    /// At most the newest hundred.
    pub commits: Vec<CommitSummary>,
    pub diff: Diff,
}

/// Maximum number of commits listed for a pull request.
const MAX_COMMITS: usize = 100;
/// Maximum number of concurrent comparisons.
const MAX_COMPARISONS: usize = 2;
/// Maximum number of commits, from the newest, whose authors are credited in a squash commit.
const MAX_CREDITED_COMMITS: usize = 200;

/// How much a pull request changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeSize {
    pub files: usize,
    pub added_lines: usize,
    pub removed_lines: usize,
}

/// Sizes by the commits that were compared.
type Sizes = Arc<Mutex<HashMap<(CommitId, CommitId), ChangeSize>>>;

/// Maximum number of sizes that are kept.
const MAX_SIZES: usize = 10_000;
/// How long a list waits for sizes that are not kept yet.
const TIME_FOR_SIZES: Duration = Duration::from_millis(20);
/// Bytes of content that are compared for one size.
const MAX_SIZED_BYTES: usize = 1 << 20;

/// The result of updating a branch from its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updated {
    /// The base was merged into the branch.
    Merged,
    /// The branch had all commits of the base.
    UpToDate,
}

/// Why a pull request was not merged or closed.
#[derive(Debug, Error)]
pub enum MergeError {
    /// The sentence names the obstacle and the remedy.
    #[error("{0}")]
    Refused(String),
    /// Both sides changed the same files. The sentence names them; [`Pulls::conflicts`] has more.
    #[error("{0}")]
    Conflict(String),
    /// The repository or the store failed; a retry may help.
    #[error("the pull request could not be merged")]
    Failed(#[source] BoxError),
}

impl From<GitError> for MergeError {
    fn from(error: GitError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<StoreError> for MergeError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

impl Pulls {
    /// `records` are the pull requests as the store keeps them; `clock` dates merges.
    pub fn new(
        records: Arc<dyn PullRequests>,
        projects: Arc<dyn Projects>,
        repositories: Repositories,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let comparison_permits = Arc::new(Semaphore::new(MAX_COMPARISONS));
        Self { records, projects, repositories, clock, comparison_permits, sizes: Sizes::default() }
    }

    /// A project, `None` when there is none of that id.
    pub async fn project(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        self.projects.project(id).await
    }

    /// A pull request of a project, `None` when there is none of that id.
    pub async fn record(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        self.records.get(project, id).await
    }

    /// A page of the matching pull requests, and the number of them in each state.
    pub async fn search(&self, search: PullSearch) -> Result<FoundPulls, StoreError> {
        self.records.search(search).await
    }

    /// The comments on a pull request, oldest first.
    pub async fn comments(&self, record: &PullRecord) -> Result<Vec<PullComment>, StoreError> {
        self.records.comments(&record.project, record.id).await
    }

    /// Adds a comment of a person.
    pub async fn comment(&self, record: &PullRecord, author: &str, text: &str) -> Result<(), MergeError> {
        let comment = PullComment { at: self.clock.now(), author: author.to_owned(), text: text.to_owned() };
        if self.records.comment(&record.project, record.id, comment).await? {
            return Ok(());
        }
        let sentence = format!("there are {MOST_COMMENTS} comments already, and no more are kept");
        Err(MergeError::Refused(sentence))
    }

    /// The newest pull requests of a project, newest first.
    pub async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError> {
        self.records.list(project, limit).await
    }

    /// The commits that the pull request's branch has and its base lacks, newest first, and their diff, within `view`.
    /// For an ended pull request, those of the recorded commit range.
    pub async fn changes(
        &self,
        project: &Project,
        record: &PullRecord,
        view: DiffView,
    ) -> Result<PullChanges, GitError> {
        let record = record.clone();
        self.compare(project, move |mirror| span(mirror, &record), view).await
    }

    /// How much each of these pull requests of a project changes, as of the last fetch. `None` where a branch is gone, and
    /// where counting takes longer than a few milliseconds: it goes on, for whoever asks next.
    pub async fn sizes(&self, project: &Project, records: Vec<PullRecord>) -> Vec<Option<ChangeSize>> {
        let (sizes, count) = (Arc::clone(&self.sizes), records.len());
        let found = spawn_blocking({
            let (repositories, project) = (self.repositories.clone(), project.clone());
            move || {
                let mirror = repositories.fetched(&project)?;
                let mut tips = HashMap::new();
                let compared: Vec<_> = records.iter().map(|record| compared(&mirror, record, &mut tips)).collect();
                Some((mirror, records, compared))
            }
        });
        // A task that panicked has found nothing.
        let Ok(Some((mirror, records, compared))) = found.await else { return vec![None; count] };
        let known = |sizes: &Sizes| -> Vec<Option<ChangeSize>> {
            let sizes = sizes.lock();
            compared.iter().map(|commits| sizes.get(commits.as_ref()?).copied()).collect()
        };
        let sized = known(&sizes);
        let unknown = records.into_iter().zip(&compared).zip(&sized).filter(|(_, size)| size.is_none());
        let missing: Vec<_> = unknown.filter_map(|((record, commits), _)| Some((record, (*commits)?))).collect();
        if missing.is_empty() {
            return sized;
        }
        let Ok(permit) = Arc::clone(&self.comparison_permits).try_acquire_owned() else { return sized };
        let task = spawn_blocking({
            let sizes = Arc::clone(&sizes);
            move || {
                let _permit = permit;
                for (record, commits) in missing {
                    if let Some(size) = size(&mirror, &record) {
                        let mut sizes = sizes.lock();
                        if sizes.len() >= MAX_SIZES {
                            sizes.clear();
                        }
                        sizes.insert(commits, size);
                    }
                }
            }
        });
        // On a timeout the task goes on.
        let _ = tokio::time::timeout(TIME_FOR_SIZES, task).await;
        known(&sizes)
    }

    /// As [`changes`](Self::changes), for a branch and its base on any forge; empty when one of them is gone.
    pub async fn branch_changes(
        &self,
        project: &Project,
        base: &str,
        head: &str,
        view: DiffView,
    ) -> Result<PullChanges, GitError> {
        let (base, head) = (base.to_owned(), head.to_owned());
        self.compare(project, move |mirror| branch_span(mirror, &base, &head), view).await
    }

    async fn compare(
        &self,
        project: &Project,
        span: impl FnOnce(&Mirror) -> Result<Option<(CommitId, CommitId)>, GitError> + Send + 'static,
        view: DiffView,
    ) -> Result<PullChanges, GitError> {
        let mirror = self.repositories.fetch(project).await?;
        // The semaphore is never closed.
        let _permit = self.comparison_permits.acquire().await;
        let work = move || {
            let Some((from, to)) = span(&mirror)? else { return Ok(PullChanges::default()) };
            let commits = mirror.commits(to, Some(from), MAX_COMMITS)?;
            Ok(PullChanges { commits, diff: mirror.diff(from, to, &view)? })
        };
        self.repositories.run_blocking(work).await
    }

    /// The conflicts that keep an open pull request from being merged, file by file.
    pub async fn conflicts(&self, project: &Project, record: &PullRecord) -> Result<Vec<FileConflict>, MergeError> {
        self.must_be_open(record).await?;
        let (mirror, (_, tip)) = self.branches(project, record).await?;
        let base = mirror.branch(&record.base)?;
        // The semaphore is never closed.
        let _permit = self.comparison_permits.acquire().await;
        self.repositories.run_blocking(move || mirror.conflicts(base, tip, &merged_file)).await.map_err(merge_error)
    }

    /// Squashes the pull request into its base as one commit by the person `by`, and records that. The message is the
    /// title and the description; the authors of the commits are credited.
    pub async fn squash(&self, project: &Project, record: &PullRecord, by: &str) -> Result<PullRecord, MergeError> {
        self.must_be_open(record).await?;
        let (mirror, span) = self.branches(project, record).await?;
        let remote = self.repositories.remote(project).await?;
        let signing = Signing::by(project, by);
        let (record_of, seconds) = (record.clone(), self.clock.now().seconds());
        let work = move || {
            let commits = mirror.commits(span.1, Some(span.0), MAX_CREDITED_COMMITS)?;
            let message = format!("{} (#{})\n\n{}\n", record_of.title, record_of.number, record_of.body.trim());
            let meta = signing.meta(seconds, &message, credits(&commits, &signing.author), Vec::new());
            mirror.squash(&remote, span.1, &record_of.base, &meta, &merged_file)
        };
        self.repositories.run_blocking(work).await.map_err(merge_error)?;
        self.repositories.announce_change();
        self.end(record, PullState::Merged, Some(span)).await
    }

    /// Reopens a closed pull request.
    pub async fn reopen(&self, project: &Project, record: &PullRecord) -> Result<PullRecord, MergeError> {
        let refused = |sentence: String| Err(MergeError::Refused(sentence));
        if record.state != PullState::Closed {
            return refused(format!(
                "the pull request is {}; only a closed one is opened again",
                record.state.as_str()
            ));
        }
        let open = PullRecord { ended: None, ..record.clone() };
        let (_, (from, to)) = self.branches(project, &open).await?;
        if from == to {
            return refused(format!("`{}` has all of `{}`; there is nothing to merge", record.base, record.head));
        }
        match self.records.reopen(&record.project, record.id).await? {
            Some(record) => Ok(record),
            None => refused(format!(
                "another pull request from `{}` to `{}` is open, or somebody else opened this one; look at the list",
                record.head, record.base
            )),
        }
    }

    /// Merges the pull request into its base and records that. A retry after a crash in between finds the merge done.
    pub async fn merge(&self, project: &Project, record: &PullRecord) -> Result<PullRecord, MergeError> {
        self.must_be_open(record).await?;
        let (mirror, span) = self.branches(project, record).await?;
        let message = format!("Merge pull request {}: {}\n", record.number, record.title);
        self.merge_into(project, mirror, span.1, &record.base, message).await?;
        self.repositories.announce_change();
        self.end(record, PullState::Merged, Some(span)).await
    }

    /// Merges the base into the pull request's branch, so that it can be merged, and its checks run on the result.
    pub async fn update(&self, project: &Project, record: &PullRecord) -> Result<Updated, MergeError> {
        self.must_be_open(record).await?;
        let (mirror, _) = self.branches(project, record).await?;
        let base = mirror.branch(&record.base)?;
        let message = format!("Merge branch `{}` into `{}`\n", record.base, record.head);
        let merged = self.merge_into(project, mirror, base, &record.head, message).await?;
        Ok(if matches!(merged, Merged::Nothing(_)) { Updated::UpToDate } else { Updated::Merged })
    }

    /// The job that opened the pull request, as its description says.
    pub fn job_of(record: &PullRecord) -> Option<JobId> {
        wording::job_of(&record.body)
    }

    /// The mirror, and the merge base and tip of an open pull request.
    async fn branches(
        &self,
        project: &Project,
        record: &PullRecord,
    ) -> Result<(Mirror, (CommitId, CommitId)), MergeError> {
        let mirror = self.repositories.fetch(project).await?;
        let (own_mirror, own_record) = (mirror.clone(), record.clone());
        let found = self.repositories.run_blocking(move || {
            let base = own_mirror.find_branch(&own_record.base)?;
            Ok::<_, GitError>(base.and(span(&own_mirror, &own_record)?))
        });
        match found.await? {
            Some(span) => Ok((mirror, span)),
            None => Err(MergeError::Refused(format!(
                "`{}` or `{}` is gone from the repository: the pull request can only be closed",
                record.head, record.base
            ))),
        }
    }

    /// Merges a commit into a branch of the repository.
    async fn merge_into(
        &self,
        project: &Project,
        mirror: Mirror,
        commit: CommitId,
        into: &str,
        message: String,
    ) -> Result<Merged, MergeError> {
        let remote = self.repositories.remote(project).await?;
        let meta = Signing::of(project).meta(self.clock.now().seconds(), &message, Vec::new(), Vec::new());
        let into = into.to_owned();
        let work = move || mirror.merge(&remote, commit, &into, &meta, &merged_file);
        self.repositories.run_blocking(work).await.map_err(merge_error)
    }

    /// Closes the pull request and keeps its branch. Works without the repository, which may be gone.
    pub async fn close(&self, project: &Project, record: &PullRecord) -> Result<PullRecord, MergeError> {
        self.must_be_open(record).await?;
        let span = match self.repositories.fetch(project).await {
            Ok(mirror) => span(&mirror, record).unwrap_or_default(),
            Err(_) => None,
        };
        self.end(record, PullState::Closed, span).await
    }

    /// Refuses a pull request that has ended since the caller read it.
    async fn must_be_open(&self, seen: &PullRecord) -> Result<(), MergeError> {
        match self.records.get(&seen.project, seen.id).await?.map(|record| record.state) {
            Some(PullState::Open) => Ok(()),
            Some(ended) => {
                let sentence = format!("the pull request is {} already; there is nothing left to do", ended.as_str());
                Err(MergeError::Refused(sentence))
            }
            None => Err(MergeError::Refused("the pull request does not exist any more".to_owned())),
        }
    }

    async fn end(
        &self,
        record: &PullRecord,
        state: PullState,
        span: Option<(CommitId, CommitId)>,
    ) -> Result<PullRecord, MergeError> {
        let ending = span.map(|(from, to)| CommitRange { from: from.to_string(), to: to.to_string() });
        let ended = self.records.end(&record.project, record.id, state, ending, self.clock.now()).await?;
        ended.ok_or_else(|| MergeError::Refused("the pull request was ended by somebody else; look again".to_owned()))
    }
}

/// The commits that a size is of: those of an ended pull request, and else the tips of its branches, which are looked up once.
fn compared(
    mirror: &Mirror,
    record: &PullRecord,
    tips: &mut HashMap<String, Option<CommitId>>,
) -> Option<(CommitId, CommitId)> {
    if let Some(ended) = &record.ended {
        return Some((ended.from.parse().ok()?, ended.to.parse().ok()?));
    }
    let mut tip = |branch: &str| match tips.get(branch) {
        Some(tip) => *tip,
        None => *tips.entry(branch.to_owned()).or_insert(mirror.find_branch(branch).ok().flatten()),
    };
    Some((tip(&record.base)?, tip(&record.head)?))
}

fn size(mirror: &Mirror, record: &PullRecord) -> Option<ChangeSize> {
    let (from, to) = span(mirror, record).ok()??;
    let view = DiffView { compared_bytes: MAX_SIZED_BYTES, lines: 0, bytes: 0, ..DiffView::default() };
    let diff = mirror.diff(from, to, &view).ok()?;
    let mut size = ChangeSize { files: diff.files_in_all, ..ChangeSize::default() };
    for file in &diff.files {
        size.added_lines += file.additions;
        size.removed_lines += file.deletions;
    }
    Some(size)
}

/// Co-author trailers for the authors of these commits, without that of `except`.
fn credits(commits: &[CommitSummary], except: &Signature) -> Vec<String> {
    let mut credited: Vec<Signature> = Vec::new();
    for commit in commits.iter().rev() {
        let author = Signature::sanitized(&commit.author, &commit.email);
        if author != *except && !credited.contains(&author) {
            credited.push(author);
        }
    }
    credited.iter().map(|author| format!("Co-authored-by: {author}")).collect()
}

/// Navigation files are merged by their entries.
pub(crate) fn merged_file(path: &str, sides: [&[u8]; 3]) -> FileMerge {
    match merge_navigation(path, sides) {
        NavigationMerge::NotUnderstood => FileMerge::ByLines,
        NavigationMerge::Merged(bytes) => FileMerge::Merged(bytes),
        NavigationMerge::Conflict => FileMerge::Conflict,
    }
}

/// The merge base and tip of a pull request, from the recorded range if it has one; `None` when a branch is gone.
fn span(mirror: &Mirror, record: &PullRecord) -> Result<Option<(CommitId, CommitId)>, GitError> {
    if let Some(ending) = &record.ended
        && let (Ok(from), Ok(to)) = (ending.from.parse(), ending.to.parse())
    {
        return Ok(Some((from, to)));
    }
    branch_span(mirror, &record.base, &record.head)
}

/// The merge base of two branches and the tip of `head`; `None` when one of them is gone.
fn branch_span(mirror: &Mirror, base: &str, head: &str) -> Result<Option<(CommitId, CommitId)>, GitError> {
    let (Some(head), Some(base)) = (mirror.find_branch(head)?, mirror.find_branch(base)?) else {
        return Ok(None);
    };
    Ok(mirror.merge_base(base, head)?.map(|from| (from, head)))
}

fn merge_error(error: docent_workspace::MergeError) -> MergeError {
    use docent_workspace::MergeError as Git;
    match error {
        Git::Conflict { .. } => MergeError::Conflict(error.to_string()),
        Git::Unrelated | Git::Push(PushError::Rejected { .. } | PushError::Denied { .. }) => {
            MergeError::Refused(error.to_string())
        }
        Git::Push(PushError::Moved { .. }) => {
            MergeError::Refused("the branch moved while it was merged into; try again".to_owned())
        }
        other => MergeError::Failed(other.into()),
    }
}
