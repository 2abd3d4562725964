//! Whose turn it is: which jobs a claim gives out.
//!
//! What each place in a queue means, and why a claim costs what it gives and not what waits, is said beside the columns
//! in the third script of the schema.

use std::collections::{HashMap, VecDeque};

use docent_jobs::{Claiming, Row};
use docent_types::{BoxError, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::error::Abort;

/// Jobs looked at in one go when many fall due at once.
const GLANCE: u32 = 512;
/// Queues looked up in one go.
const PAGE: u32 = 64;

const LANE_IS_TAKEN: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE repository = ?1 AND branch = ?2 AND place = 'leased') OR EXISTS ( SELECT 1 FROM jobs WHERE repository = ?1 AND branch = ?2 AND place = 'ready' AND project = ?3 AND id < ?4 )";
const BEHIND: &str = "SELECT rowid, project FROM jobs WHERE repository = ?1 AND branch = ?2 AND place = 'behind' AND project > ?3 ORDER BY project, id LIMIT 1";
const RAN_OUT: &str =
    "SELECT rowid, project, repository, branch FROM jobs WHERE place = 'leased' AND lease_until <= ?1 LIMIT ?2";
const DUE: &str = "SELECT rowid, project FROM jobs WHERE place = 'later' AND not_before <= ?1 LIMIT ?2";
const QUEUES: &str = "SELECT served, project FROM queues WHERE waiting AND (served, project) > (?1, ?2) AND served <= ?3 ORDER BY served, project LIMIT ?4";
const RUNNING: &str = "SELECT count(*) FROM jobs WHERE project = ?1 AND lease_until > ?2";
const READY: &str = "SELECT rowid, id, not_before, lease_until, body FROM jobs WHERE place = 'ready' AND project = ?1 AND id > ?2 ORDER BY id LIMIT 1";
const HELD: &str = "SELECT EXISTS ( SELECT 1 FROM jobs WHERE repository = ?1 AND branch = ?2 AND place IN ('leased', 'ready') AND lease_until > ?3 )";

/// What a claim asks, for a test to see that an index answers each.
#[cfg(test)]
pub(crate) const QUESTIONS: &[&str] = &[LANE_IS_TAKEN, BEHIND, RAN_OUT, DUE, QUEUES, RUNNING, READY, HELD];

/// Where an active job waits, or that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Leased,
    Later,
    Ready,
    Behind,
}

impl Place {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Leased => "leased",
            Self::Later => "later",
            Self::Ready => "ready",
            Self::Behind => "behind",
        }
    }
}

/// A new job has a place of its own: whoever submits one to a lane that is taken must not be in the way of a claim.
pub(crate) fn place_of_new(connection: &Connection, row: &Row, now: Timestamp) -> rusqlite::Result<Option<Place>> {
    let place = place_of(row, now);
    if place != Some(Place::Ready) {
        return Ok(place);
    }
    let (repository, branch) = row.lane();
    let behind = connection
        .prepare_cached(LANE_IS_TAKEN)?
        .query_row((repository, branch, row.job.project.as_str(), row.id().to_string()), |row| row.get(0))?;
    Ok(Some(if behind { Place::Behind } else { Place::Ready }))
}

/// Where a job belongs, as far as its row says. One that is ready may turn out to be behind.
pub(crate) fn place_of(row: &Row, now: Timestamp) -> Option<Place> {
    use docent_types::JobStatus::Active;
    match &row.lease {
        _ if row.job.status != Active => None,
        Some(_) => Some(Place::Leased),
        None if row.attempt.not_before > now => Some(Place::Later),
        None => Some(Place::Ready),
    }
}

/// What follows from a write to a row that now has this place.
pub(crate) fn wrote(connection: &Connection, row: &Row, place: Option<Place>) -> rusqlite::Result<()> {
    if place == Some(Place::Ready) {
        wake(connection, row.job.project.as_str())?;
    }
    if place != Some(Place::Leased) {
        let (repository, branch) = row.lane();
        free(connection, repository, branch)?;
    }
    Ok(())
}

/// Says that a project may have something to give.
pub(crate) fn wake(connection: &Connection, project: &str) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO queues (project, waiting, served) VALUES (?1, 1, 0)
             ON CONFLICT (project) DO UPDATE SET waiting = 1 WHERE NOT waiting",
        )?
        .execute([project])?;
    Ok(())
}

/// Nobody holds the lane any more, or may not: of each project the oldest that is behind comes forward.
fn free(connection: &Connection, repository: &str, branch: &str) -> rusqlite::Result<()> {
    let mut freed = String::new();
    loop {
        let next: Option<(i64, String)> = connection
            .prepare_cached(BEHIND)?
            .query_row((repository, branch, &freed), |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((rowid, project)) = next else { return Ok(()) };
        put(connection, rowid, Place::Ready)?;
        wake(connection, &project)?;
        freed = project;
    }
}

fn put(connection: &Connection, rowid: i64, place: Place) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE jobs SET place = ?2 WHERE rowid = ?1")?.execute((rowid, place.name()))?;
    Ok(())
}

/// Gives out jobs. `write` writes the next state of a row, and gives the row as it was written.
pub(crate) fn claim(
    connection: &Connection,
    claiming: Claiming,
    mut write: impl FnMut(&Row) -> Result<Row, Abort<StoreError>>,
) -> Result<Vec<Row>, Abort<StoreError>> {
    let mut claimed = Vec::new();
    let mut more = true;
    while more && claimed.len() < claiming.most {
        more = promote(connection, claiming.now)?;
        let mut round = Round::begin(connection)?;
        while claimed.len() < claiming.most {
            let Some(project) = round.next(connection)? else { break };
            let Some(row) = round.give(connection, claiming, &project)? else { continue };
            claimed.push(write(&row)?);
            round.served(connection, project)?;
        }
        round.end(connection)?;
    }
    Ok(claimed)
}

/// Whose lease ran out and who has fallen due is ready. Says whether there may be more of them.
fn promote(connection: &Connection, now: Timestamp) -> rusqlite::Result<bool> {
    let mut ran_out = connection.prepare_cached(RAN_OUT)?;
    let ran_out = ran_out.query_map((now.millis(), GLANCE), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    })?;
    let ran_out = ran_out.collect::<Result<Vec<_>, _>>()?;
    for (rowid, project, repository, branch) in &ran_out {
        put(connection, *rowid, Place::Ready)?;
        wake(connection, project)?;
        free(connection, repository, branch)?;
    }
    let mut due = connection.prepare_cached(DUE)?;
    let due = due.query_map((now.millis(), GLANCE), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let due = due.collect::<Result<Vec<_>, _>>()?;
    for (rowid, project) in &due {
        put(connection, *rowid, Place::Ready)?;
        wake(connection, project)?;
    }
    Ok(ran_out.len().max(due.len()) >= GLANCE as usize)
}

/// One round of turns: first whoever waits, in the order of when they were served, then again whoever was served.
struct Round {
    turn: u64,
    begun: u64,
    next: VecDeque<String>,
    /// The last queue that was looked up; `None` once there are no more.
    looked: Option<(i64, String)>,
    again: VecDeque<String>,
    running: HashMap<String, usize>,
}

impl Round {
    fn begin(connection: &Connection) -> rusqlite::Result<Self> {
        let turn = connection.prepare_cached("SELECT turn FROM turn_taking")?.query_row([], |row| row.get(0))?;
        let (next, again, running) = Default::default();
        Ok(Self { turn, begun: turn, next, looked: Some((-1, String::new())), again, running })
    }

    fn next(&mut self, connection: &Connection) -> rusqlite::Result<Option<String>> {
        if self.next.is_empty()
            && let Some(last) = self.looked.take()
        {
            let mut select = connection.prepare_cached(QUEUES)?;
            let page = select.query_map((last.0, last.1, self.begun, PAGE), |row| Ok((row.get(0)?, row.get(1)?)))?;
            let page = page.collect::<Result<Vec<(i64, String)>, _>>()?;
            self.looked = page.last().filter(|_| page.len() == PAGE as usize).cloned();
            self.next.extend(page.into_iter().map(|(_, project)| project));
        }
        Ok(self.next.pop_front().or_else(|| self.again.pop_front()))
    }

    /// The oldest job of a project that may be given out.
    fn give(
        &mut self,
        connection: &Connection,
        claiming: Claiming,
        project: &str,
    ) -> Result<Option<Row>, Abort<StoreError>> {
        let now = claiming.now;
        let running = match self.running.get(project) {
            Some(running) => *running,
            None => connection.prepare_cached(RUNNING)?.query_row((project, now.millis()), |row| row.get(0))?,
        };
        if running >= claiming.cap_per_project {
            return Ok(None);
        }
        let found = first_free(connection, now, project)?;
        self.running.insert(project.to_owned(), running + usize::from(found.is_some()));
        Ok(found)
    }

    fn served(&mut self, connection: &Connection, project: String) -> rusqlite::Result<()> {
        self.turn += 1;
        connection
            .prepare_cached("UPDATE queues SET served = ?2 WHERE project = ?1")?
            .execute((&project, self.turn))?;
        self.again.push_back(project);
        Ok(())
    }

    fn end(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.turn > self.begun {
            connection.prepare_cached("UPDATE turn_taking SET turn = ?1")?.execute([self.turn])?;
        }
        Ok(())
    }
}

/// The first ready job of a project whose lane nobody holds. Those whose lane is held are put behind on the way.
fn first_free(connection: &Connection, now: Timestamp, project: &str) -> Result<Option<Row>, BoxError> {
    let mut passed = String::new();
    loop {
        let ready = connection
            .prepare_cached(READY)?
            .query_row((project, &passed), |row| {
                let (rowid, id): (i64, String) = (row.get(0)?, row.get(1)?);
                let (not_before, lease_until): (i64, Option<i64>) = (row.get(2)?, row.get(3)?);
                Ok((rowid, id, not_before, lease_until, row.get::<_, String>(4)?))
            })
            .optional()?;
        let Some((rowid, id, not_before, lease_until, body)) = ready else {
            if passed.is_empty() {
                let mut sleep = connection.prepare_cached("UPDATE queues SET waiting = 0 WHERE project = ?1")?;
                sleep.execute([project])?;
            }
            return Ok(None);
        };
        if lease_until.is_some_and(|until| until > now.millis()) {
            // It had run out by a clock that was ahead of this one.
            put(connection, rowid, Place::Leased)?;
        } else if not_before > now.millis() {
            passed = id;
        } else {
            let row: Row = serde_json::from_str(&body)?;
            if !is_held(connection, &row, now)? {
                return Ok(Some(row));
            }
            put(connection, rowid, Place::Behind)?;
        }
    }
}

fn is_held(connection: &Connection, row: &Row, now: Timestamp) -> rusqlite::Result<bool> {
    let (repository, branch) = row.lane();
    connection.prepare_cached(HELD)?.query_row((repository, branch, now.millis()), |row| row.get(0))
}
