//! The steps that show outside: the push and the pull request.

use docent_agent as agent;
use docent_forge::{PullRequest, Request, State};
use docent_jobs::{Outcome, Shown};
use docent_types::Role;
use docent_workspace::{CommitId, GitError, PushError};

use crate::record::{Part, Record, Turn};
use crate::repositories::blocking;
use crate::session::{Session, parse};
use crate::stop::Stop;
use crate::words;

impl Session<'_> {
    pub(crate) async fn push(&mut self, turn: &Turn, made: CommitId) -> Result<(), Stop> {
        // From here on the work shows outside: what led to it must be on disk first.
        self.handle.sync().await?;
        if !self.keep_commit(turn, made).await? {
            return Ok(());
        }
        let mirror = self.mirror().await?;
        let remote = self.author.repositories.remote(&self.project);
        let branch = self.handle.job().source.branch.clone();
        let expected = turn.remote.as_deref().map(parse).transpose()?;
        match blocking(move || mirror.push(&remote, &branch, made, expected)).await {
            Ok(_) => {}
            Err(PushError::Moved { .. }) if self.was_pushed(made).await? => {}
            Err(PushError::Moved { .. }) => {
                return self.restart("the branch moved on the remote while the agent worked");
            }
            Err(error) => return Err(error.into()),
        }
        let part = self.part();
        self.record(Record::Pushed { commit: made.to_string(), part });
        if self.is_on_base() {
            self.author.repositories.announce_change();
        }
        Ok(())
    }

    /// Whether the commit is part of one of these branches, as the remote has them now.
    async fn is_part_of(&mut self, made: CommitId, branches: &[&str]) -> Result<bool, Stop> {
        let mirror = self.fetch().await?;
        let tips = branches.iter().map(|branch| mirror.find_branch(branch)).collect::<Result<Vec<_>, _>>()?;
        blocking(move || {
            for tip in tips.into_iter().flatten() {
                match mirror.is_ancestor(made, tip) {
                    // Not even here, so surely not in a branch that was fetched.
                    Ok(false) | Err(GitError::NoSuchCommit { .. }) => {}
                    Ok(true) => return Ok(true),
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(false)
        })
        .await
    }

    /// Whether an earlier attempt has pushed the commit, and somebody has built on it or merged it since.
    async fn was_pushed(&mut self, made: CommitId) -> Result<bool, Stop> {
        let (branch, base) = (self.handle.job().source.branch.clone(), self.project.branch.clone());
        self.is_part_of(made, &[&branch, &base]).await
    }

    async fn is_merged(&mut self, turn: &Turn) -> Result<bool, Stop> {
        let Some(made) = &turn.committed else { return Ok(false) };
        let base = self.project.branch.clone();
        self.is_part_of(parse(made)?, &[&base]).await
    }

    /// What this turn adds to the pull request.
    pub(crate) fn part(&self) -> Part {
        let said = self.progress.transcript.entries()[self.progress.answered..].iter();
        let asked = said.filter_map(|entry| match entry {
            agent::Entry::Said { message } if message.role == Role::User => Some(message.plain_text()),
            _ => None,
        });
        let finish = self.finish();
        Part { asked: asked.collect::<Vec<_>>().join("\n\n"), title: finish.title, summary: finish.summary }
    }

    pub(crate) async fn open_pull_request(&mut self, turn: &Turn) -> Result<(), Stop> {
        let forge = (self.author.forges)(&self.project);
        let head = self.handle.job().source.branch.clone();
        let pull = match forge.find(&head).await? {
            Some(open) if open.state == State::Open => forge.update(&open, &self.request(Some(&open))).await,
            // Opened by an attempt that did not live to write it down, and merged since.
            Some(ended) if self.is_merged(turn).await? => Ok(ended),
            _ => forge.open(&self.request(None)).await,
        };
        let url = pull?.url;
        self.handle.show(Shown { todos: None, pr_link: Some(url.clone()) });
        self.record(Record::PullRequest { url });
        Ok(())
    }

    /// `open` is the pull request that the changes go into.
    fn request(&self, open: Option<&PullRequest>) -> Request {
        let job = self.handle.job();
        let before = self.progress.pull_request.as_ref().filter(|known| open.is_some_and(|open| open.url == known.url));
        let before = before.map_or(&[][..], |known| &known.parts);
        let parts: Vec<&Part> = before.iter().chain(&self.progress.waiting).collect();
        Request {
            title: words::title(parts.first().map_or("", |part| &part.title)),
            body: words::pull_request_body(&parts, job.id),
            head: job.source.branch.clone(),
            base: self.project.branch.clone(),
            draft: job.as_draft,
        }
    }

    /// The turn's end, when all it did is outside.
    pub(crate) fn end(&self) -> Stop {
        let mut message = self.finish().summary;
        if let Some(why) = &self.progress.restarted {
            message = format!("{message}\n\nThe work was started over: {why}.");
        }
        Stop::Ended(Outcome::Completed { message })
    }
}
