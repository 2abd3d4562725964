//! Moving a branch on the remote: directly for a plain folder on this machine, by git's protocol everywhere else.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;

use gix::ObjectId;
use reqwest::header::HeaderMap;

use crate::error::{GitError, PushError};
use crate::id::CommitId;
use crate::maintenance;
use crate::mirror::Mirror;
use crate::mirror_state::MirrorState;
use crate::odb::refs::SwapOutcome;
use crate::odb::sent_pack::SentPack;
use crate::odb::transfer;
use crate::origin::Origin;
use crate::refusal::PushRefusal;
use crate::remote::{Location, Remote};
use crate::wire::child::{self, ServiceKind};
use crate::wire::http::{Body, Http};
use crate::wire::receive::{Advertisement, PushResult, Report};
use crate::wire::{WireFailure, WireSession};

const DOING: &str = "push";
/// git's id for "no commit": the branch does not exist.
const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

/// The result of a successful push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch was moved.
    Moved,
    /// The branch was there already: an earlier push had done it.
    AlreadyThere,
}

/// The parameters of a push.
#[derive(Debug)]
pub(crate) struct Push<'a> {
    pub(crate) mirror: &'a Mirror,
    pub(crate) shared: &'a MirrorState,
    pub(crate) remote: &'a Remote,
    pub(crate) branch: &'a str,
    pub(crate) commit: CommitId,
    pub(crate) expected: Option<CommitId>,
}

impl Push<'_> {
    pub(crate) fn run(&self) -> Result<PushOutcome, PushError> {
        let location = self.remote.location()?;
        if let Location::Local(path) = &location
            && let Some(origin) = Origin::open(path, &self.remote.redacted())?
        {
            match origin.accepts_direct(self.branch) {
                Ok(()) => return self.direct(&origin),
                Err(reason) => {
                    tracing::debug!(repository = self.remote.redacted(), reason, "pushing by `git receive-pack`");
                }
            }
        }
        let session = WireSession::new(self.shared.limits.push);
        let report = match location {
            Location::Http => self.over_http(&session)?,
            Location::Ssh | Location::Local(_) => self.through_child(&session)?,
        };
        report.map_or(Ok(PushOutcome::AlreadyThere), |report| self.outcome_of(report))
    }

    fn direct(&self, origin: &Origin) -> Result<PushOutcome, PushError> {
        let expected = self.expected.map(CommitId::object);
        match origin.push(&self.mirror.repo(), self.branch, self.commit.object(), expected)? {
            SwapOutcome::Done => {
                maintenance::origin_when_due(origin);
                Ok(PushOutcome::Moved)
            }
            SwapOutcome::Differs(Some(now)) if now == self.commit.object() => Ok(PushOutcome::AlreadyThere),
            SwapOutcome::Differs(now) => Err(PushError::Moved { now: now.map(CommitId::from) }),
            SwapOutcome::NameConflict(other) => Err(self.name_conflict(&other)),
        }
    }

    fn over_http(&self, session: &WireSession) -> Result<Option<Report>, PushError> {
        let to_push_error = |failure: WireFailure| self.push_error(session, failure);
        let service = ServiceKind::Receive.name();
        let mut http = Http::new(self.remote, session.clone())?;
        let mut answer = http.advertisement(service, &HeaderMap::new()).map_err(to_push_error)?.body;
        let advert = Advertisement::read(&mut answer).map_err(to_push_error)?;
        answer.finish();
        let Some((command, pack)) = self.prepared(&advert)? else { return Ok(None) };
        let body = match &pack {
            SentPack::Memory(bytes) => Body::Bytes([command.as_slice(), bytes].concat()),
            SentPack::File { file, bytes } => {
                let opened = File::open(file.path()).map_err(GitError::io("read a pack to push"))?;
                Body::WithFile(command, opened, *bytes)
            }
        };
        tracing::debug!(repository = self.remote.redacted(), bytes = pack.bytes(), "pushing over http");
        let mut answer = http.request(service, HeaderMap::new(), body).map_err(to_push_error)?.body;
        let report = advert.report(&mut answer, &self.reference()).map_err(to_push_error)?;
        answer.finish();
        Ok(Some(report))
    }

    fn through_child(&self, session: &WireSession) -> Result<Option<Report>, PushError> {
        let (service, mut pipes) = child::start(self.remote, ServiceKind::Receive, session)?;
        let mut converse = || -> Result<Option<Report>, SessionError> {
            let advert = Advertisement::read(&mut pipes)?;
            let prepared = self.prepared(&advert);
            if !matches!(prepared, Ok(Some(_))) {
                // Nothing is to change: end the conversation properly.
                let _ = pipes.to.write_all(b"0000");
            }
            let Some((command, pack)) = prepared.map_err(SessionError::Push)? else { return Ok(None) };
            let sent = pipes.to.write_all(&command).and_then(|()| pack.copy_to(&mut pipes.to));
            let sent = sent.and_then(|()| pipes.to.flush());
            // A remote that hung up in the middle may have sent a reason.
            let report = advert.report(&mut pipes, &self.reference());
            match sent {
                Ok(()) => Ok(Some(report?)),
                Err(error) => Ok(Some(report.map_err(|_| WireFailure::Network(error.to_string()))?)),
            }
        };
        let ended = converse();
        drop(pipes);
        let stderr = service.end();
        let failure = match ended {
            Ok(report) => return Ok(report),
            Err(SessionError::Push(error)) => return Err(error),
            Err(SessionError::Wire(failure)) => session.failure().unwrap_or(failure),
        };
        if failure != WireFailure::TimedOut
            && let Some(error) = child::classify_stderr(self.remote, ServiceKind::Receive, &stderr)
        {
            return Err(error);
        }
        Err(self.push_error(session, failure))
    }

    /// The request and the pack for a remote with this `advert`; `None` when nothing is left to do.
    fn prepared(&self, advert: &Advertisement) -> Result<Option<(Vec<u8>, SentPack)>, PushError> {
        let reference = self.reference();
        let now = advert.refs.get(&reference).copied();
        if now == Some(self.commit) {
            return Ok(None);
        }
        if now != self.expected {
            return Err(PushError::Moved { now });
        }
        let below = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
        if let Some(other) = advert.refs.keys().find(|other| below(other, &reference) || below(&reference, other)) {
            return Err(self.name_conflict(other.trim_start_matches("refs/heads/")));
        }
        let repo = self.mirror.repo();
        let known: HashSet<ObjectId> = advert.refs.values().map(|id| id.object()).collect();
        let ids = self.mirror.record_damage(transfer::missing(&repo, &[self.commit.object()], &known))?;
        let pack = self.mirror.record_damage(SentPack::make(&repo, &ids))?;
        let shallow: Vec<String> = transfer::shallow_boundary(&repo)?.iter().map(ToString::to_string).collect();
        let old = now.map_or_else(|| NO_COMMIT.to_owned(), |now| now.to_string());
        Ok(Some((advert.command(&shallow, &old, &self.commit.to_string(), &reference), pack)))
    }

    /// Converts the remote's report into the result of the push.
    fn outcome_of(&self, report: Report) -> Result<PushOutcome, PushError> {
        let word = match report.result {
            PushResult::Moved => return Ok(PushOutcome::Moved),
            PushResult::Refused(word) | PushResult::NotUnpacked(word) => word,
        };
        let text = if report.messages.is_empty() { word.clone() } else { format!("{word}: {}", report.messages) };
        let reason: String = self.remote.scrub(&text).chars().take(1000).collect();
        // Another push may have come between the advertisement and ours. The branch's current commit decides that, not
        // the remote's texts.
        match self.mirror.remote_branch(self.remote, self.branch) {
            Ok(now) if now == Some(self.commit) => return Ok(PushOutcome::AlreadyThere),
            Ok(now) if now != self.expected => return Err(PushError::Moved { now }),
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "could not look where the branch is"),
        }
        Err(PushError::Rejected { refusal: PushRefusal::of(&reason), reason })
    }

    /// The error of an aborted conversation. Credentials that suffice for a fetch may be refused for a push.
    fn push_error(&self, session: &WireSession, failure: WireFailure) -> PushError {
        let (repository, tried) = (self.remote.redacted(), self.remote.tried());
        let source = failure.why(self.remote);
        match &failure {
            WireFailure::Status { status: 403, after: None, message } => match PushRefusal::of(message) {
                refusal @ PushRefusal::ReadOnly => PushError::Rejected { reason: source.to_string(), refusal },
                _ => PushError::Denied { repository, tried, source },
            },
            WireFailure::Status { status: 413, .. } => {
                PushError::Rejected { reason: source.to_string(), refusal: PushRefusal::TooLarge }
            }
            WireFailure::ServerMessage(message) => {
                PushError::Rejected { reason: source.to_string(), refusal: PushRefusal::of(message) }
            }
            _ => failure.into_git_error(self.remote, DOING, session).into(),
        }
    }

    fn name_conflict(&self, other: &str) -> PushError {
        let reason = format!("the branch `{other}` is in the way of `{}`", self.branch);
        PushError::Rejected { reason, refusal: PushRefusal::Name }
    }

    fn reference(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// How a conversation with a child ended early.
enum SessionError {
    Wire(WireFailure),
    Push(PushError),
}

impl From<WireFailure> for SessionError {
    fn from(failure: WireFailure) -> Self {
        Self::Wire(failure)
    }
}
