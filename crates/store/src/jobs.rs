//! Jobs and journals.

use std::sync::Arc;

use async_trait::async_trait;
use docent_jobs::{
    Change, Claiming, Decide, Entry, EntryBody, Gate, JobQuery, Pruned, Pruning, Row, Store, WriteError, Written,
};
use docent_types::{AgentJob, BoxError, JobId, JobStatus, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use crate::error::Abort;
use crate::gate;
use crate::prune;
use crate::queue::{self, Place};
use crate::sqlite::SqliteStore;
use crate::writer::{Deciding, Lasting};

#[async_trait]
impl Store for SqliteStore {
    async fn create(&self, mut row: Row, entries: Vec<EntryBody>, gate: Gate) -> Result<Written, WriteError> {
        row.last_seq = entries.len() as u64;
        self.write_rows("create the job", (Lasting::Flushed, Deciding::First), move |connection| {
            gated(
                connection,
                &gate,
                || Ok(()),
                |()| {
                    insert(connection, &row, gate.now)?;
                    append(connection, row.id(), 0, gate.now, &entries)?;
                    Ok(row)
                },
            )
        })
        .await
    }

    async fn change(&self, id: JobId, gate: Gate, decide: Decide) -> Result<Written, WriteError> {
        self.write_rows("change the job", (Lasting::Flushed, Deciding::First), move |connection| {
            gated(
                connection,
                &gate,
                || decided(connection, id, &decide),
                |(row, change)| apply(connection, &row, change, gate.now),
            )
        })
        .await
    }

    async fn hold(&self, id: JobId, now: Timestamp, decide: Decide) -> Result<Row, WriteError> {
        self.write_rows("change who holds the job", (Lasting::Ordered, Deciding::First), move |connection| {
            let (row, change) = decided(connection, id, &decide)?;
            let row = apply(connection, &row, change, now)?;
            Ok((row.clone(), vec![row]))
        })
        .await
    }

    async fn claim(&self, claiming: Claiming, decide: Decide) -> Result<Vec<Row>, StoreError> {
        self.write_rows("lease jobs", (Lasting::Ordered, Deciding::Throughout), move |connection| {
            let rows = queue::claim(connection, claiming, |row| {
                apply(connection, row, decide(row).map_err(BoxError::from)?, claiming.now)
            })?;
            Ok((rows.clone(), rows))
        })
        .await
    }

    async fn row(&self, id: JobId) -> Result<Option<Row>, StoreError> {
        if self.others().is_some()
            && let Some(row) = self.seen().row(id)
        {
            return Ok(Some(row));
        }
        self.read("read the job", move |connection| find(connection, id)).await
    }

    async fn entries(&self, id: JobId, after: u64, limit: u32) -> Result<Vec<Entry>, StoreError> {
        self.read("read the journal", move |connection| {
            let after = i64::try_from(after).unwrap_or(i64::MAX);
            let mut select = connection.prepare_cached(
                "SELECT seq, at, body FROM entries WHERE job = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
            )?;
            let mut rows = select.query((id.to_string(), after, limit))?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                let body = serde_json::from_str(row.get_ref(2)?.as_str()?)?;
                entries.push(Entry { seq: row.get(0)?, at: Timestamp::from_millis(row.get(1)?), body });
            }
            Ok(entries)
        })
        .await
    }

    async fn list(&self, query: JobQuery) -> Result<Vec<AgentJob>, StoreError> {
        self.read("list the jobs", move |connection| list(connection, &query)).await
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.read("look for what falls due", move |connection| {
            let due: Option<i64> = connection
                .prepare_cached(
                    "SELECT min(due) FROM (
                       SELECT min(lease_until) AS due FROM jobs WHERE place = 'leased' AND lease_until > ?1
                       UNION ALL SELECT min(not_before) FROM jobs WHERE place = 'later' AND not_before > ?1
                     )",
                )?
                .query_row([now.millis()], |row| row.get(0))?;
            Ok(due.map(Timestamp::from_millis))
        })
        .await
    }

    async fn leased(&self) -> Result<Vec<JobId>, StoreError> {
        self.read("list the leased jobs", move |connection| {
            let mut statement = connection.prepare_cached("SELECT id FROM jobs WHERE lease_until IS NOT NULL")?;
            let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
            Ok(ids.collect::<Result<Vec<_>, _>>()?.iter().filter_map(|id| JobId::parse(id)).collect())
        })
        .await
    }

    async fn prune(&self, pruning: Pruning) -> Result<Pruned, StoreError> {
        let seen = Arc::clone(self.seen());
        let forget = move |(_, touched): &(Pruned, Vec<JobId>)| touched.iter().for_each(|id| seen.forget(*id));
        let step = move |connection: &Connection| prune::step(connection, pruning);
        Ok(self.write_then("prune the journals", Lasting::Ordered, step, forget).await?.0)
    }

    fn changes(&self) -> Option<u64> {
        self.others()
    }
}

/// Key, then the decision, then the quota; nothing is written before all of them say yes.
fn gated<D>(
    connection: &Connection,
    gate: &Gate,
    decide: impl FnOnce() -> Result<D, Abort<WriteError>>,
    write: impl FnOnce(D) -> Result<Row, Abort<WriteError>>,
) -> Result<(Written, Vec<Row>), Abort<WriteError>> {
    if let Some(written) = gate::answered(connection, gate)? {
        return Ok((written, Vec::new()));
    }
    let decided = decide()?;
    let usage = gate.quota.as_ref().map(|quota| gate::admit(connection, quota, gate.now)).transpose()?;
    let row = write(decided)?;
    let job = row.job.clone();
    let standing = usage.map(|usage| usage.count(connection)).transpose()?;
    if let Some(key) = &gate.key {
        gate::remember(connection, key, gate.now, &job)?;
    }
    Ok((Written { job, repeat: false, standing }, vec![row]))
}

/// A job, and what is to become of it.
fn decided(connection: &Connection, id: JobId, decide: &Decide) -> Result<(Row, Change), Abort<WriteError>> {
    let row = find(connection, id)?.ok_or(Abort::Refused(WriteError::NotFound))?;
    let change = decide(&row).map_err(|refusal| Abort::Refused(WriteError::Refused(refusal)))?;
    Ok((row, change))
}

fn find(connection: &Connection, id: JobId) -> Result<Option<Row>, BoxError> {
    let mut select = connection.prepare_cached("SELECT body FROM jobs WHERE id = ?1")?;
    let body: Option<String> = select.query_row([id.to_string()], |row| row.get(0)).optional()?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}

fn insert(connection: &Connection, row: &Row, now: Timestamp) -> Result<(), Abort<WriteError>> {
    let place = queue::place_of_new(connection, row, now)?;
    connection
        .prepare_cached(
            "INSERT INTO jobs (id, project, status, repository, branch, created_at, not_before, lease_until, last_seq,
                               place, ended_at, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            row.id().to_string(),
            row.job.project.as_str(),
            row.job.status.as_str(),
            row.job.source.repository,
            row.job.source.branch,
            row.job.created_at.millis(),
            row.attempt.not_before.millis(),
            row.lease.as_ref().map(|lease| lease.until.millis()),
            row.last_seq,
            place.map(Place::name),
            (row.job.status != JobStatus::Active).then(|| now.millis()),
            serde_json::to_string(row)?,
        ])?;
    if place == Some(Place::Ready) {
        queue::wake(connection, row.job.project.as_str())?;
    }
    Ok(())
}

/// Writes the next state of a row with the entries that go with it.
fn apply<E>(connection: &Connection, row: &Row, change: Change, now: Timestamp) -> Result<Row, Abort<E>> {
    let Change { mut next, entries } = change;
    next.last_seq = row.last_seq + entries.len() as u64;
    append(connection, row.id(), row.last_seq, now, &entries)?;
    if stays(row, &next) {
        // No index knows of the difference.
        connection.prepare_cached("UPDATE jobs SET last_seq = ?2, body = ?3 WHERE id = ?1")?.execute((
            row.id().to_string(),
            next.last_seq,
            serde_json::to_string(&next)?,
        ))?;
        return Ok(next);
    }
    let place = queue::place_of(&next, now);
    connection
        .prepare_cached(
            "UPDATE jobs SET status = ?2, repository = ?3, branch = ?4, not_before = ?5, lease_until = ?6, last_seq = ?7,
                    place = CASE WHEN place = 'behind' AND ?8 = 'ready' THEN place ELSE ?8 END,
                    ended_at = CASE WHEN ?8 IS NULL THEN coalesce(ended_at, ?9) END,
                    kept = ?10, body = ?11
             WHERE id = ?1",
        )?
        .execute(params![
            row.id().to_string(),
            next.job.status.as_str(),
            next.job.source.repository,
            next.job.source.branch,
            next.attempt.not_before.millis(),
            next.lease.as_ref().map(|lease| lease.until.millis()),
            next.last_seq,
            place.map(Place::name),
            now.millis(),
            next.pruned_to + 1 < next.last_seq,
            serde_json::to_string(&next)?,
        ])?;
    queue::wrote(connection, &next, place)?;
    Ok(next)
}

/// Whether a job that is active waits, or is worked on, as before.
fn stays(row: &Row, next: &Row) -> bool {
    row.job.status == JobStatus::Active
        && next.job.status == JobStatus::Active
        && row.lease == next.lease
        && row.attempt.not_before == next.attempt.not_before
        && row.lane() == next.lane()
}

fn append<E>(
    connection: &Connection,
    job: JobId,
    last_seq: u64,
    at: Timestamp,
    entries: &[EntryBody],
) -> Result<(), Abort<E>> {
    let mut insert = connection.prepare_cached("INSERT INTO entries (job, seq, at, body) VALUES (?1, ?2, ?3, ?4)")?;
    let job = job.to_string();
    for (seq, body) in (last_seq + 1..).zip(entries) {
        insert.execute((&job, seq, at.millis(), serde_json::to_string(body)?))?;
    }
    Ok(())
}

fn list(connection: &Connection, query: &JobQuery) -> Result<Vec<AgentJob>, BoxError> {
    // Each shape of the query is a statement of its own, so that an index answers it.
    let status = query.status.map(JobStatus::as_str);
    let after = query.after.map(|id| id.to_string());
    let mut sql = "SELECT body FROM jobs WHERE project = :project".to_owned();
    let mut values: Vec<(&str, &dyn ToSql)> = Vec::new();
    let project = query.project.as_str();
    values.push((":project", &project));
    if let Some(status) = &status {
        sql.push_str(" AND status = :status");
        values.push((":status", status));
    }
    if let Some(after) = &after {
        sql.push_str(" AND id < :after");
        values.push((":after", after));
    }
    sql.push_str(" ORDER BY id DESC LIMIT :limit OFFSET :skip");
    values.extend([(":limit", &query.limit as &dyn ToSql), (":skip", &query.skip)]);
    let mut select = connection.prepare_cached(&sql)?;
    let mut rows = select.query(&values[..])?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next()? {
        let row: Row = serde_json::from_str(row.get_ref(0)?.as_str()?)?;
        jobs.push(row.job);
    }
    Ok(jobs)
}
