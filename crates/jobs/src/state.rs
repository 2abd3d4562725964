//! Every rule about states, as pure functions: a row and a command in, the changed row and its entries out.
//!
//! ```text
//!   create ─▶ active ──finish──▶ completed | failed ──archive──▶ archived
//!             │  ▲  ╰─archive──────────────────────────────────▶ archived
//!             │  ╰──────follow-up────── completed | failed
//!             ├─lease / renew / append / retry / release (stays active)
//! ```
//!
//! `archived` is final. A write under a lease must present the row's current token.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{AgentJob, Halt, JobId, JobStatus, Refusal, Timestamp, Todo};

use crate::entry::{EntryBody, Instruction};
use crate::row::{Attempt, Lease, Row};
use crate::store::Change;

/// The token of a job's first lease.
pub(crate) const FIRST_TOKEN: u64 = 1;
/// The sequence number of the instruction that a job is created with.
pub(crate) const FIRST_INSTRUCTION: u64 = 2;

/// How a turn of a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Completed { message: String },
    Failed { halt: Halt, message: String },
}

/// A new active job and its first entries.
pub fn create(job: AgentJob, instruction: Instruction) -> (Row, Vec<EntryBody>) {
    let entries = vec![
        EntryBody::Transition { to: JobStatus::Active, halt: None, message: None },
        EntryBody::Instruction(instruction),
    ];
    let attempt = Attempt { failed: 0, not_before: job.created_at };
    let last = entries.len() as u64;
    (
        Row {
            job: Arc::new(job),
            lease: None,
            last_token: 0,
            attempt,
            last_seq: last,
            last_instruction: last,
            pruned_to: 0,
        },
        entries,
    )
}

/// Adds an instruction: an active job reads it at its next step, an ended one becomes active again.
pub fn follow_up(row: &Row, instruction: Instruction, now: Timestamp) -> Result<Change, Refusal> {
    let mut next = row.clone();
    let mut entries = Vec::new();
    match row.job.status {
        JobStatus::Archived => {
            return Err(Refusal::conflict("the job is archived, which is final: create a new job for further work"));
        }
        JobStatus::Active => {}
        JobStatus::Completed | JobStatus::Failed if row.pruned_to > 0 => {
            return Err(Refusal::conflict(
                "the job ended so long ago that its journal was deleted, and with it what was done: create a new job for \
                 further work",
            ));
        }
        JobStatus::Completed | JobStatus::Failed => {
            let job = Arc::make_mut(&mut next.job);
            job.status = JobStatus::Active;
            job.halt = None;
            job.message = None;
            next.attempt = Attempt { failed: 0, not_before: now };
            entries.push(EntryBody::Transition { to: JobStatus::Active, halt: None, message: None });
        }
    }
    entries.push(EntryBody::Instruction(instruction));
    next.last_instruction = row.last_seq + entries.len() as u64;
    Ok(Change { next, entries })
}

/// Archives a job. An active one is stopped: its lease is removed, so its worker's next write is refused.
pub fn archive(row: &Row, now: Timestamp) -> Result<Change, Refusal> {
    let mut next = row.clone();
    let job = Arc::make_mut(&mut next.job);
    match row.job.status {
        JobStatus::Archived => return Ok(Change { next, entries: Vec::new() }),
        JobStatus::Active => {
            job.halt = Some(Halt::Error);
            job.message = Some("The job was archived before it was done.".to_owned());
        }
        JobStatus::Completed | JobStatus::Failed => {}
    }
    job.status = JobStatus::Archived;
    job.archived_at = Some(now);
    let entry = EntryBody::Transition { to: JobStatus::Archived, halt: job.halt, message: job.message.clone() };
    next.lease = None;
    Ok(Change { next, entries: vec![entry] })
}

/// Ends a job whose project is removed: an active one is archived, an ended one stays as it is. A lease stays until the
/// worker, whose next write is refused, has stopped and [released](release) it.
pub fn remove(row: &Row, now: Timestamp) -> Result<Change, Refusal> {
    if row.job.status != JobStatus::Active {
        return Ok(Change { next: row.clone(), entries: Vec::new() });
    }
    let mut next = row.clone();
    let job = Arc::make_mut(&mut next.job);
    let message = Some("The project was removed before the job was done.".to_owned());
    (job.status, job.halt, job.message, job.archived_at) =
        (JobStatus::Archived, Some(Halt::Error), message.clone(), Some(now));
    let entries = vec![EntryBody::Transition { to: JobStatus::Archived, halt: Some(Halt::Error), message }];
    Ok(Change { next, entries })
}

/// Grants the lease to `holder` until `until`. An expired lease that was not released counts as a failed attempt.
pub fn lease(row: &Row, holder: &str, until: Timestamp) -> Result<Change, Refusal> {
    if row.job.status != JobStatus::Active {
        return Err(Refusal::conflict("the job is not active"));
    }
    let rescued = row.lease.is_some();
    let token = row.last_token + 1;
    let mut next = row.clone();
    next.last_token = token;
    next.lease = Some(Lease { token, holder: holder.to_owned(), until });
    if rescued {
        next.attempt.failed += 1;
    }
    Ok(Change { next, entries: vec![EntryBody::Leased { token, holder: holder.to_owned(), rescued }] })
}

/// Checks that the writer still holds the lease.
fn check_lease(row: &Row, token: u64) -> Result<(), Refusal> {
    match &row.lease {
        Some(lease) if lease.token == token && row.job.status == JobStatus::Active => Ok(()),
        _ => Err(lost()),
    }
}

fn lost() -> Refusal {
    Refusal::conflict("the lease on the job was lost")
}

/// Whether a worker with this lease may go on.
pub fn is_held(row: &Row, token: u64) -> bool {
    check_lease(row, token).is_ok()
}

/// Extends the lease.
pub fn renew(row: &Row, token: u64, until: Timestamp) -> Result<Change, Refusal> {
    check_lease(row, token)?;
    let mut next = row.clone();
    if let Some(lease) = &mut next.lease {
        lease.until = until;
    }
    Ok(Change { next, entries: Vec::new() })
}

/// Records what the worker did or is about to do, and the progress shown on the job.
pub fn append(row: &Row, token: u64, work: Vec<EntryBody>, progress: JobProgress) -> Result<Change, Refusal> {
    check_lease(row, token)?;
    let mut next = row.clone();
    if !work.is_empty() {
        // Progress was made, so earlier failures no longer count.
        next.attempt.failed = 0;
    }
    if let Some(todos) = progress.todos {
        Arc::make_mut(&mut next.job).todos = todos;
    }
    if let Some(link) = progress.pr_link {
        Arc::make_mut(&mut next.job).pr_link = Some(link);
    }
    if let Some(branch) = progress.branch {
        Arc::make_mut(&mut next.job).source.branch = branch;
    }
    Ok(Change { next, entries: work })
}

/// Progress shown on the job itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobProgress {
    pub todos: Option<Vec<Todo>>,
    pub pr_link: Option<String>,
    /// The branch that the job works on, if it is not the one that it was made with.
    pub branch: Option<String>,
}

/// Ends the turn. If there is an instruction newer than `seen`, the newest that the worker has read, the job stays
/// active under the same lease and the worker goes on; `work` is recorded either way.
pub fn finish(
    row: &Row,
    token: u64,
    seen: u64,
    outcome: &Outcome,
    work: Vec<EntryBody>,
    progress: JobProgress,
) -> Result<Change, Refusal> {
    let Change { mut next, mut entries } = append(row, token, work, progress)?;
    if row.last_instruction > seen {
        return Ok(Change { next, entries });
    }
    let (status, halt, message) = match outcome {
        Outcome::Completed { message } => (JobStatus::Completed, Halt::Completed, message),
        Outcome::Failed { halt, message } => (JobStatus::Failed, *halt, message),
    };
    let message = Some(message.clone()).filter(|text| !text.is_empty());
    entries.push(EntryBody::Transition { to: status, halt: Some(halt), message: message.clone() });
    let job = Arc::make_mut(&mut next.job);
    (job.status, job.halt, job.message) = (status, Some(halt), message);
    next.lease = None;
    Ok(Change { next, entries })
}

/// Releases the lease after a failed attempt; the next one begins no sooner than `not_before`.
pub fn retry(row: &Row, token: u64, why: &str, not_before: Timestamp) -> Result<Change, Refusal> {
    check_lease(row, token)?;
    let mut next = row.clone();
    next.lease = None;
    next.attempt = Attempt { failed: row.attempt.failed + 1, not_before };
    Ok(Change { next, entries: vec![EntryBody::Retry { why: why.to_owned(), not_before }] })
}

/// Like [`retry`], but no failed attempt is counted.
pub fn postpone(row: &Row, token: u64, why: &str, not_before: Timestamp) -> Result<Change, Refusal> {
    let Change { mut next, entries } = retry(row, token, why, not_before)?;
    next.attempt.failed = row.attempt.failed;
    Ok(Change { next, entries })
}

/// Releases the lease without an attempt: the process is shutting down and another will claim the job, or the worker of
/// a [removed](remove) job has stopped.
pub fn release(row: &Row, token: u64) -> Result<Change, Refusal> {
    if row.lease.as_ref().is_none_or(|lease| lease.token != token) {
        return Err(lost());
    }
    let mut next = row.clone();
    next.lease = None;
    Ok(Change { next, entries: Vec::new() })
}

/// Takes a lease from a holder that is known to be dead. Counts as a failed attempt, because the job may have killed
/// it.
pub fn orphan(row: &Row) -> Result<Change, Refusal> {
    let mut next = row.clone();
    if next.lease.take().is_none() || row.job.status != JobStatus::Active {
        return Ok(Change { next, entries: Vec::new() });
    }
    next.attempt.failed += 1;
    let why = "the process that worked on it died".to_owned();
    let not_before = row.attempt.not_before;
    Ok(Change { next, entries: vec![EntryBody::Retry { why, not_before }] })
}

/// Prunes an ended job's journal up to this entry. The newest entry always stays: it records the end.
pub fn prune(row: &Row, upto: u64) -> Result<Row, Refusal> {
    if row.job.status == JobStatus::Active {
        return Err(Refusal::conflict("the job is active, and its journal is what it goes on from"));
    }
    let upto = upto.min(row.last_seq.saturating_sub(1)).max(row.pruned_to);
    Ok(Row { pruned_to: upto, ..row.clone() })
}

/// The delay before the next attempt after `failed` earlier failures and one more: one second, doubled each time, at
/// most five minutes, and at least `requested`.
///
/// A jitter of up to a quarter is derived from the job's id and the count, so that jobs that failed together do not
/// return together and a replay waits equally long. The jitter never shortens `requested`.
pub fn retry_delay(id: JobId, failed: u32, requested: Option<Duration>) -> Duration {
    let backoff = Duration::from_secs(1 << failed.min(9)).min(Duration::from_secs(300));
    let spread = backoff / 2;
    let jittered = backoff - spread / 2 + spread.mul_f64(draw(id, failed));
    requested.map_or(jittered, |requested| {
        jittered.max(requested + (requested / 10).min(Duration::from_secs(5)).mul_f64(draw(id, failed)))
    })
}

/// A pseudo-random number from 0 to 1 (FNV-1a, its high bits folded in).
pub fn draw(id: JobId, count: u32) -> f64 {
    let bytes = id.to_string().into_bytes().into_iter().chain(count.to_le_bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    f64::from((hash ^ (hash >> 32)) as u32) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::sample_job;
    use docent_types::{Message, Role};

    fn say(text: &str) -> Instruction {
        Instruction::new(vec![Message::text(Role::User, text)])
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn leased() -> Row {
        let (row, _) = create(sample_job(1), say("a"));
        lease(&row, "node", at(10)).unwrap().next
    }

    #[test]
    fn a_late_writer_is_refused() {
        let row = leased();
        let rescued = lease(&row, "other", at(20)).unwrap().next;
        assert_eq!(rescued.attempt.failed, 1);
        assert!(append(&rescued, 1, vec![], JobProgress::default()).is_err());
        assert!(append(&rescued, 2, vec![], JobProgress::default()).is_ok());
        assert!(
            finish(&rescued, 1, 9, &Outcome::Completed { message: String::new() }, vec![], JobProgress::default())
                .is_err()
        );
    }

    #[test]
    fn a_job_does_not_end_over_an_unread_instruction() {
        let mut row = leased();
        row.last_seq = 3;
        let changed = follow_up(&row, say("and b"), at(5)).unwrap();
        assert_eq!(changed.next.last_instruction, 4);
        let done = Outcome::Completed { message: "done".into() };
        let end = |seen| finish(&changed.next, 1, seen, &done, vec![], JobProgress::default()).unwrap().next;
        assert_eq!(end(2).job.status, JobStatus::Active);
        assert_eq!(end(4).job.status, JobStatus::Completed);
    }

    #[test]
    fn a_job_that_waits_for_room_is_not_counted_against() {
        let mut row = leased();
        for seq in 0..100 {
            row = postpone(&row, row.last_token, "no room", at(seq)).unwrap().next;
            assert_eq!((row.attempt.failed, row.attempt.not_before, &row.lease), (0, at(seq), &None));
            row = lease(&row, "other", at(1_000)).unwrap().next;
        }
    }

    #[test]
    fn archived_is_final_and_stops_the_worker() {
        let row = archive(&leased(), at(7)).unwrap().next;
        assert_eq!((row.job.status, row.job.halt), (JobStatus::Archived, Some(Halt::Error)));
        assert!(append(&row, 1, vec![], JobProgress::default()).is_err());
        assert!(follow_up(&row, say("more"), at(8)).is_err());
        assert!(archive(&row, at(9)).unwrap().entries.is_empty());
    }

    #[test]
    fn a_removed_job_is_over_and_its_lease_tells_whether_its_worker_has_stopped() {
        let row = remove(&leased(), at(7)).unwrap().next;
        assert_eq!((row.job.status, row.job.archived_at), (JobStatus::Archived, Some(at(7))));
        assert!(append(&row, 1, vec![], JobProgress::default()).is_err());
        assert!(renew(&row, 1, at(99)).is_err() && !is_held(&row, 1));
        assert!(release(&row, 2).is_err(), "of another lease");
        let stopped = release(&row, 1).unwrap();
        assert!(stopped.next.lease.is_none() && stopped.entries.is_empty());
        assert!(release(&stopped.next, 1).is_err());
        let orphaned = orphan(&row).unwrap();
        assert!(orphaned.next.lease.is_none() && orphaned.entries.is_empty(), "nothing is written after the end");
        let again = remove(&row, at(8)).unwrap();
        assert!(again.entries.is_empty() && again.next == row);
    }

    #[test]
    fn an_ended_job_is_active_again_on_a_follow_up() {
        let no = Outcome::Failed { halt: Halt::Error, message: "no".into() };
        let done = finish(&leased(), 1, 2, &no, vec![], JobProgress::default()).unwrap().next;
        assert_eq!(done.job.status, JobStatus::Failed);
        let again = follow_up(&done, say("again"), at(9)).unwrap().next;
        assert_eq!((again.job.status, again.job.halt, &again.job.message), (JobStatus::Active, None, &None));
    }

    #[test]
    fn waiting_grows_and_stops_growing() {
        let job = |n: u128| JobId::new(uuid::Uuid::from_u128(n));
        for (failed, seconds) in [(0, 1.0), (1, 2.0), (2, 4.0), (20, 300.0)] {
            let waits: Vec<f64> = (0..200).map(|n| retry_delay(job(n), failed, None).as_secs_f64() / seconds).collect();
            assert!(waits.iter().all(|wait| (0.75..=1.25).contains(wait)), "{waits:?}");
            let (least, most) = waits.iter().fold((2.0_f64, 0.0_f64), |(a, b), wait| (a.min(*wait), b.max(*wait)));
            assert!(least < 0.8 && most > 1.2, "they spread: {least} to {most}");
        }
        assert_eq!(retry_delay(job(1), 3, None), retry_delay(job(1), 3, None));
    }

    #[test]
    fn nobody_comes_back_before_the_time_that_was_asked_for() {
        let asked = Duration::from_secs(60);
        for n in 0..50 {
            let waited = retry_delay(JobId::new(uuid::Uuid::from_u128(n)), 0, Some(asked));
            assert!(waited >= asked && waited <= asked + Duration::from_secs(5), "{waited:?}");
        }
        let backoff = retry_delay(JobId::new(uuid::Uuid::from_u128(1)), 9, Some(Duration::from_secs(1)));
        assert!(backoff > Duration::from_secs(200), "{backoff:?}");
    }
}
