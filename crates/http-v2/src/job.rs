//! The JSON of a job.

use docent_types::{AgentJob, JobId, JobStatus, ProjectId, Timestamp, repository_url};
use serde::Serialize;
use serde_json::Value;

/// Every key is always present; one without a value is null.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobBody<'a> {
    id: JobId,
    status: &'static str,
    source: SourceBody<'a>,
    model: &'a str,
    pr_link: Option<&'a str>,
    message: Option<&'a str>,
    created_at: Timestamp,
    archived_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct SourceBody<'a> {
    repository: String,
    #[serde(rename = "ref")]
    branch: &'a str,
}

impl<'a> From<&'a AgentJob> for JobBody<'a> {
    fn from(job: &'a AgentJob) -> Self {
        Self {
            id: job.id,
            status: job.status.as_str(),
            source: SourceBody { repository: repository_url(&job.source.repository), branch: &job.source.branch },
            model: &job.model,
            // The message of an earlier turn does not apply to a job that is active again.
            pr_link: job.pr_link.as_deref().filter(|_| job.status != JobStatus::Active),
            message: job.message.as_deref(),
            created_at: job.created_at,
            archived_at: job.archived_at,
        }
    }
}

/// A job as `GET /v2/agent/{projectId}/job/{id}` shows it, and `projectId`.
pub fn job_json(job: &AgentJob) -> Value {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Body<'a> {
        project_id: &'a ProjectId,
        #[serde(flatten)]
        job: JobBody<'a>,
    }
    // Serialisation fails only for an unrepresentable time, which a stored job does not have.
    serde_json::to_value(Body { project_id: &job.project, job: job.into() }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use docent_types::{Domain, Source};

    use super::*;

    #[test]
    fn a_job_that_is_active_shows_no_pull_request_and_an_ended_one_does() {
        let job = |status| AgentJob {
            id: JobId::parse("00000000-0000-0000-0000-000000000007").unwrap(),
            project: ProjectId::parse("acme").unwrap(),
            domain: Domain::parse("acme").unwrap(),
            status,
            source: Source { repository: "/srv/git/acme.git".into(), branch: "docent/7".into() },
            model: "sonnet".into(),
            as_draft: false,
            pr_link: Some("https://git.example/pulls/1".into()),
            message: None,
            halt: None,
            todos: Vec::new(),
            created_at: Timestamp::from_millis(0),
            archived_at: None,
        };
        for (status, shown) in [
            (JobStatus::Active, false),
            (JobStatus::Completed, true),
            (JobStatus::Failed, true),
            (JobStatus::Archived, true),
        ] {
            assert_eq!(JobBody::from(&job(status)).pr_link.is_some(), shown, "{status:?}");
        }
    }
}
