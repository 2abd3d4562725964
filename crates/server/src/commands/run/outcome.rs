//! The result of a run: its branch, and the changes on it.

use docent_types::{AgentJob, Halt};
use docent_workspace::{CommitId, Diff, DiffView, FileDiff, FileStatus, Mirror};
use serde_json::{Value, json};

use super::{Stopped, Task};
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

/// How a run ended, and its result.
#[derive(Debug)]
pub(super) struct Outcome {
    end: RunStatus,
    model: String,
    message: String,
    /// The path of the repository, for display.
    repository: String,
    base: String,
    left: Option<ChangedBranch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunStatus {
    Completed,
    Failed,
    Stopped,
}

/// A branch that was created or moved.
#[derive(Debug)]
struct ChangedBranch {
    branch: String,
    commit: CommitId,
    diff: Diff,
}

/// Reads the current state of the repository, which may differ from the job's record.
pub(super) async fn of(app: &App, task: &Task, job: AgentJob, stopped: Stopped) -> Result<Outcome, Failure> {
    let mirror = app.repositories.fetch(&task.project).await?;
    let end = match (stopped, job.halt) {
        (Stopped::Yes, _) => RunStatus::Stopped,
        (Stopped::No, Some(Halt::Completed)) => RunStatus::Completed,
        (Stopped::No, _) => RunStatus::Failed,
    };
    Ok(Outcome {
        end,
        model: job.model,
        message: job.message.unwrap_or_default(),
        repository: task.path.display().to_string(),
        base: task.project.branch.clone(),
        left: left(&mirror, task, job.source.branch)?,
    })
}

fn left(mirror: &Mirror, task: &Task, branch: String) -> Result<Option<ChangedBranch>, Failure> {
    let Some(commit) = mirror.find_branch(&branch)?.filter(|now| Some(*now) != task.before) else { return Ok(None) };
    let base = mirror.branch(&task.project.branch)?;
    let from = task.before.map_or_else(|| mirror.merge_base(base, commit), |before| Ok(Some(before)))?;
    // Only the line counts are shown.
    let diff = mirror.diff(from.unwrap_or(base), commit, &DiffView { lines: 0, ..DiffView::default() })?;
    Ok(Some(ChangedBranch { branch, commit, diff }))
}

impl Outcome {
    /// Prints the outcome, and fails if the job failed.
    pub(super) fn show(self, json: bool) -> Result<(), Failure> {
        if json {
            output::json(&self.json())?;
        } else if let Some(left) = &self.left {
            output::line(self.summary(left))?;
        } else if self.end == RunStatus::Completed {
            output::line("nothing was changed, and no branch was left")?;
        }
        let message = self.message.trim();
        if !json && !message.is_empty() && self.end == RunStatus::Completed {
            output::line(format_args!("\n{message}"))?;
        }
        if let Some(left) = self.left.as_ref().filter(|_| !json) {
            output::print_note(format_args!(
                "\nLook at it with: git -C {} diff {}...{}",
                self.repository, self.base, left.branch
            ));
        }
        match self.end {
            RunStatus::Completed => Ok(()),
            RunStatus::Failed => Err(Failure::plain(message)),
            RunStatus::Stopped if self.left.is_none() => {
                Err(Failure::plain("stopped; nothing was left in the repository"))
            }
            RunStatus::Stopped => Err(Failure::plain("stopped after the branch had been left")),
        }
    }

    fn summary(&self, ChangedBranch { branch, diff, .. }: &ChangedBranch) -> String {
        let files = &diff.files;
        let (added, removed) = lines(files);
        let count = if diff.files_in_all == 1 { "1 file".to_owned() } else { format!("{} files", diff.files_in_all) };
        let mut text = format!("`{branch}` from `{}`: {count}, +{added} −{removed}", self.base);
        let width = files.iter().map(|file| file.path.chars().count()).max().unwrap_or_default();
        for file in files {
            let what = match (file.status, &file.old_path) {
                (_, Some(old)) => format!("  from {old}"),
                (FileStatus::Added, None) => "  new".to_owned(),
                (FileStatus::Deleted, None) => "  deleted".to_owned(),
                _ => String::new(),
            };
            let change = if file.is_binary {
                "not text".to_owned()
            } else {
                format!("+{} −{}", file.additions, file.deletions)
            };
            text.push_str(&format!("\n  {:<width$}  {change}{what}", file.path));
        }
        if files.len() < diff.files_in_all {
            text.push_str(&format!("\n  and {} more, which are not counted above", diff.files_in_all - files.len()));
        }
        text
    }

    fn json(&self) -> Value {
        let files = self.left.as_ref().map(|left| left.diff.files.as_slice()).unwrap_or_default();
        let (additions, deletions) = lines(files);
        json!({
            "status": match self.end {
                RunStatus::Completed => "completed",
                RunStatus::Failed => "failed",
                RunStatus::Stopped => "stopped",
            },
            "model": self.model,
            "repository": self.repository,
            "base": self.base,
            "branch": self.left.as_ref().map(|left| &left.branch),
            "commit": self.left.as_ref().map(|left| left.commit.to_string()),
            "files": files.iter().map(file).collect::<Vec<_>>(),
            "additions": additions,
            "deletions": deletions,
            "message": self.message,
        })
    }
}

fn lines(files: &[FileDiff]) -> (usize, usize) {
    files.iter().fold((0, 0), |(added, removed), file| (added + file.additions, removed + file.deletions))
}

fn file(file: &FileDiff) -> Value {
    json!({
        "path": file.path,
        "oldPath": file.old_path,
        "status": match file.status {
            FileStatus::Added => "added",
            FileStatus::Modified => "modified",
            FileStatus::Deleted => "deleted",
            FileStatus::Renamed => "renamed",
        },
        "additions": file.additions,
        "deletions": file.deletions,
        "isBinary": file.is_binary,
    })
}
