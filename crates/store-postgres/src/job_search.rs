//! Searches for jobs.
//!
//! An index has everything that decides whether a job matches but its text, and only the jobs of the page are read in full.

use std::collections::HashMap;

use docent_jobs::search::JobChoice;
use docent_jobs::{FoundJob, FoundJobs, JobSearch};
use docent_types::{BoxError, JobId};
use uuid::Uuid;

use crate::params::params;
use crate::rows::status_of;
use crate::transaction::Transaction;

const ALL: &str = "SELECT status, id FROM jobs WHERE project = ANY ($1) AND id >= $2 AND id < $3";
const WITH_TEXT: &str = "
    SELECT jobs.status, jobs.id FROM jobs JOIN prompts ON prompts.job = jobs.id
    WHERE jobs.project = ANY ($1) AND jobs.id >= $2 AND jobs.id < $3 AND position($4 IN prompts.folded) > 0";
const PAGE: &str = "SELECT jobs.id, jobs.job, prompts.text FROM jobs LEFT JOIN prompts ON prompts.job = jobs.id
                    WHERE jobs.id = ANY ($1)";

pub(crate) async fn search(transaction: &Transaction, search: &JobSearch) -> Result<FoundJobs, BoxError> {
    let projects: Vec<&str> = search.projects.iter().map(|project| project.as_str()).collect();
    let (from, to) = (search.from.map_or(Uuid::nil(), |id| id.uuid()), search.to.map_or(Uuid::max(), |id| id.uuid()));
    let folded = search.text.to_lowercase();
    let matching = if folded.is_empty() {
        transaction.query(ALL, params![projects, from, to]).await?
    } else {
        transaction.query(WITH_TEXT, params![projects, from, to, folded.as_bytes()]).await?
    };
    let mut choice = JobChoice::new(search);
    for record in &matching {
        if let Some(status) = status_of(record.get(0)) {
            choice.examine(JobId::new(record.get(1)), status);
        }
    }
    let mut chosen = Vec::new();
    let mut found = choice.page(|id| {
        chosen.push(id.uuid());
        Ok::<_, BoxError>(None)
    })?;
    let mut jobs = HashMap::new();
    for record in transaction.query(PAGE, params![chosen]).await? {
        let prompt = record.get::<_, Option<Vec<u8>>>(2).map(String::from_utf8).transpose()?;
        jobs.insert(record.get::<_, Uuid>(0), FoundJob { job: serde_json::from_str(record.get(1))?, prompt });
    }
    found.jobs = chosen.iter().filter_map(|id| jobs.remove(id)).collect();
    Ok(found)
}
