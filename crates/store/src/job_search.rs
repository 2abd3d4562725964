//! Searches for jobs.
//!
//! An index covers everything that decides whether a job matches except its text, and texts are in a table of their
//! own. Both are scanned in order, and only the jobs of the page are read in full.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docent_jobs::search::{JobChoice, contains_folded};
use docent_jobs::{FoundJob, FoundJobs, JobSearch, Row};
use docent_types::{BoxError, JobId};
use rusqlite::Connection;
use uuid::Uuid;

use crate::queue_state::QueueState;

pub(crate) fn search(connection: &Connection, search: &JobSearch) -> Result<FoundJobs, BoxError> {
    let snapshot = connection.unchecked_transaction()?;
    let matching = if search.text.is_empty() { None } else { Some(matching(&snapshot, &search.text)?) };
    let projects = serde_json::to_string(&search.projects)?;
    let from = search.from.unwrap_or(JobId::new(Uuid::nil())).uuid().into_bytes();
    let to = search.to.unwrap_or(JobId::new(Uuid::max())).uuid().into_bytes();
    let mut select = snapshot.prepare_cached(
        "SELECT place, id, n FROM jobs INDEXED BY jobs_in_place
         WHERE place IN (0, 1, 2, 3, 4, 5, 6) AND project IN (SELECT value FROM json_each(?1)) AND id >= ?2 AND id < ?3",
    )?;
    let mut rows = select.query((projects, from, to))?;
    let mut choice = JobChoice::new(search);
    let mut numbers = HashMap::new();
    while let Some(row) = rows.next()? {
        let (id, n) = (JobId::new(Uuid::from_bytes(row.get(1)?)), row.get(2)?);
        let Some(status) = QueueState::status(row.get(0)?) else { continue };
        if matching.as_ref().is_none_or(|matching| matching.contains(&n)) {
            choice.examine(id, status);
            numbers.insert(id, n);
        }
    }
    choice.page(|id| numbers.get(&id).map(|n| found(&snapshot, *n)).transpose())
}

/// The jobs whose text contains this one.
fn matching(connection: &Connection, text: &str) -> Result<HashSet<i64>, BoxError> {
    let folded = text.to_lowercase();
    let mut select = connection.prepare_cached("SELECT n, text FROM prompts")?;
    let mut rows = select.query([])?;
    let mut matching = HashSet::new();
    while let Some(row) = rows.next()? {
        if contains_folded(row.get_ref(1)?.as_str()?, &folded) {
            matching.insert(row.get(0)?);
        }
    }
    Ok(matching)
}

fn found(connection: &Connection, n: i64) -> Result<FoundJob, BoxError> {
    let mut select =
        connection.prepare_cached("SELECT body, text FROM jobs LEFT JOIN prompts USING (n) WHERE jobs.n = ?1")?;
    let (body, prompt): (String, Option<String>) = select.query_row([n], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let row: Row = serde_json::from_str(&body)?;
    Ok(FoundJob { job: Arc::unwrap_or_clone(row.job), prompt })
}
