//! Carries out changes of jobs, several in one transaction.
//!
//! ```text
//!   callers ──▶ queue ──▶ BEGIN · lock · decide · write · COMMIT (one flush) ──▶ answers
//! ```
//!
//! No group waits for a lock: a change of a job that another transaction has locked is carried out alone, and so is each
//! of a group that was undone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use docent_jobs::{Row, WriteError, WriteOutcome};
use docent_types::{JobId, Refusal, error_chain};
use futures::FutureExt;
use tokio::sync::oneshot;

use crate::error::{Abort, Closed, NotCommitted};
use crate::groups::{Asked, Waiting};
use crate::postgres::PostgresStore;
use crate::rows::{self, RowWrite};
use crate::shared::Shared;
use crate::transaction::Transaction;
use crate::write_guards;

/// What becomes of a change; `None`: it is to be carried out alone.
type Answer = Option<Result<WriteOutcome, Abort<WriteError>>>;

impl PostgresStore {
    /// Carries out a change that no quota and no idempotency key guards, together with others.
    pub(crate) async fn change_in_a_group(&self, asked: Asked) -> Result<WriteOutcome, WriteError> {
        let shared = self.shared();
        let (answer, told) = oneshot::channel();
        if shared.tasks.is_closed() {
            return Err(Abort::<WriteError>::Failed(Closed.into()).explain("change the job"));
        }
        if shared.groups.add(Waiting { asked, answer }) {
            shared.tasks.spawn(carry_out_groups(Arc::clone(shared)));
        }
        told.await
            .unwrap_or_else(|_| Err(Abort::Failed(Closed.into())))
            .map_err(|abort| abort.explain("change the job"))
    }
}

/// Carries out one group after the other until no change waits.
async fn carry_out_groups(shared: Arc<Shared>) {
    loop {
        let group = shared.groups.take();
        if group.is_empty() {
            return;
        }
        // If it panics, those of the group are told so by the end of their channels.
        let _ = AssertUnwindSafe(carry_out(&shared, group)).catch_unwind().await;
    }
}

/// Carries out a group in one transaction, and answers each.
async fn carry_out(shared: &Arc<Shared>, group: Vec<Waiting>) {
    let asked: Vec<Asked> = group.iter().map(|waiting| waiting.asked.clone()).collect();
    let answers: Vec<Answer> = match shared.write(true, |transaction| change_all(transaction, asked)).await {
        Ok(answers) => answers,
        Err(abort) if group.len() == 1 => vec![Some(Err(abort))],
        Err(abort) => group.iter().map(|_| told_of(&abort)).collect(),
    };
    for (waiting, answer) in group.into_iter().zip(answers) {
        let Waiting { asked, answer: reply } = waiting;
        let shared = Arc::clone(shared);
        // The caller may have gone away.
        match answer {
            Some(answer) => drop(reply.send(answer)),
            None => drop(shared.clone().tasks.spawn(async move {
                let _ = reply.send(shared.write(true, |transaction| change(transaction, asked)).await);
            })),
        }
    }
}

/// What each of a group is told that was not committed. If it is sure that nothing was written, each is carried out alone.
fn told_of(abort: &Abort<WriteError>) -> Answer {
    let Abort::Failed(error) = abort else { return None };
    let told = match error.downcast_ref::<NotCommitted>()? {
        NotCommitted::Lost(_) => return None,
        NotCommitted::TooLong(time) => NotCommitted::TooLong(*time),
        NotCommitted::Unknown(error) => NotCommitted::Unknown(error_chain(&**error).into()),
    };
    Some(Err(Abort::Failed(told.into())))
}

/// Changes the jobs that no other transaction has locked.
async fn change_all(transaction: Transaction, asked: Vec<Asked>) -> Result<Vec<Answer>, Abort<WriteError>> {
    let ids = asked.iter().map(|asked| asked.id.uuid()).collect();
    let rows = rows::lock_free(&transaction, ids).await?;
    let (mut writes, mut decided) = (Vec::new(), Vec::new());
    for Asked { id, guards, decide } in &asked {
        let row = rows.get(&id.uuid());
        // A decision that panics does so again when it is alone, and then only its own caller is told.
        let decision = row.and_then(|row| Some((row, catch_unwind(AssertUnwindSafe(|| decide(row))).ok()?)));
        decided.push(
            decision
                .map(|(row, decision)| decision.map(|change| writes.push(RowWrite { row, change, now: guards.now }))),
        );
    }
    let mut written = rows::apply_all(&transaction, writes).await?.into_iter();
    let told = |decided: Option<Result<(), Refusal>>| match decided? {
        Ok(()) => written.next().map(|row| Ok(outcome(row))),
        Err(refusal) => Some(Err(Abort::Refused(WriteError::Refused(refusal)))),
    };
    Ok(decided.into_iter().map(told).collect())
}

fn outcome(row: Row) -> WriteOutcome {
    WriteOutcome { job: Arc::clone(&row.job), row: Some(row), repeat: false, quota_status: None }
}

/// Changes a job, whose lock is waited for.
pub(crate) async fn change(transaction: Transaction, asked: Asked) -> Result<WriteOutcome, Abort<WriteError>> {
    let Asked { id, guards, decide } = asked;
    if let Some(answer) = write_guards::stored_answer(&transaction, &guards).await? {
        return Ok(answer);
    }
    let row = locked(&transaction, id).await?;
    let change = decide(&row).map_err(|refusal| Abort::Refused(WriteError::Refused(refusal)))?;
    let usage = write_guards::check_quota(&transaction, &guards).await?;
    let write = rows::apply(&transaction, &row, change, guards.now);
    write_guards::carry_out(&transaction, &guards, usage, write).await
}

/// A job that no other transaction changes before this one ends.
pub(crate) async fn locked(transaction: &Transaction, id: JobId) -> Result<Row, Abort<WriteError>> {
    rows::lock(transaction, id).await?.ok_or(Abort::Refused(WriteError::NotFound))
}
