//! The JSON of a session.

use docent_types::{AgentJob, Halt, JobStatus, Timestamp, Todo};
use serde::Serialize;

/// A halt reason without a value is omitted; any other field without a value is an empty string or list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionBody<'a> {
    session_id: String,
    subdomain: &'a str,
    branch: &'a str,
    haulted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hault_reason: Option<&'static str>,
    pull_request_link: &'a str,
    message_to_user: &'a str,
    todos: &'a [Todo],
    created_at: Timestamp,
}

impl<'a> From<&'a AgentJob> for SessionBody<'a> {
    fn from(job: &'a AgentJob) -> Self {
        let halted = job.status != JobStatus::Active;
        Self {
            session_id: job.id.to_string(),
            subdomain: job.domain.as_str(),
            branch: &job.source.branch,
            haulted: halted,
            hault_reason: halted.then(|| hault_reason(job.halt.unwrap_or(Halt::Error))),
            pull_request_link: job.pr_link.as_deref().unwrap_or_default(),
            message_to_user: job.message.as_deref().unwrap_or_default(),
            todos: &job.todos,
            created_at: job.created_at,
        }
    }
}

/// Spelled (and misspelled) as in the specification of the API.
pub(crate) const fn hault_reason(halt: Halt) -> &'static str {
    match halt {
        Halt::Completed => "completed",
        Halt::GitMisconfigured => "git_missconfigured",
        Halt::Error => "error",
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{Domain, JobId, ProjectId, Source, TodoPriority, TodoStatus};
    use serde_json::{Value, json};

    use super::*;

    fn shown(change: impl FnOnce(&mut AgentJob)) -> Value {
        let mut job = AgentJob {
            id: JobId::parse("00000000-0000-0000-0000-000000000007").unwrap(),
            project: ProjectId::parse("acme").unwrap(),
            domain: Domain::parse("docs").unwrap(),
            status: JobStatus::Active,
            source: Source { repository: "/srv/git/acme.git".into(), branch: "docent/7".into() },
            model: "sonnet".into(),
            as_draft: false,
            pr_link: None,
            message: None,
            halt: None,
            todos: Vec::new(),
            created_at: Timestamp::from_millis(0),
            archived_at: None,
        };
        change(&mut job);
        serde_json::to_value(SessionBody::from(&job)).unwrap()
    }

    #[test]
    fn a_session_that_runs_has_every_key_but_a_reason_to_halt() {
        let expected = json!({
            "sessionId": "00000000-0000-0000-0000-000000000007",
            "subdomain": "docs",
            "branch": "docent/7",
            "haulted": false,
            "pullRequestLink": "",
            "messageToUser": "",
            "todos": [],
            "createdAt": "1970-01-01T00:00:00.000Z",
        });
        assert_eq!(shown(|_| {}), expected);
    }

    #[test]
    fn a_session_that_halted_says_why() {
        for (status, halt, reason) in [
            (JobStatus::Completed, Some(Halt::Completed), "completed"),
            (JobStatus::Failed, Some(Halt::GitMisconfigured), "git_missconfigured"),
            (JobStatus::Failed, Some(Halt::Error), "error"),
            (JobStatus::Archived, Some(Halt::Completed), "completed"),
            (JobStatus::Archived, None, "error"),
        ] {
            let session = shown(|job| (job.status, job.halt) = (status, halt));
            assert_eq!((&session["haulted"], &session["haultReason"]), (&json!(true), &json!(reason)), "{status:?}");
        }
    }

    #[test]
    fn todos_have_the_four_keys_of_the_specification() {
        let todo = |status, priority| Todo { id: "1".into(), content: "Look".into(), status, priority };
        let session = shown(|job| {
            job.pr_link = Some("https://forge.example/7".into());
            job.message = Some("Done.".into());
            job.todos = vec![
                todo(TodoStatus::Pending, TodoPriority::High),
                todo(TodoStatus::InProgress, TodoPriority::Medium),
                todo(TodoStatus::Completed, TodoPriority::Low),
                todo(TodoStatus::Cancelled, TodoPriority::Low),
            ];
        });
        assert_eq!(session["pullRequestLink"], "https://forge.example/7");
        assert_eq!(session["messageToUser"], "Done.");
        let words: Vec<_> = session["todos"].as_array().unwrap().iter().map(|todo| todo["status"].clone()).collect();
        assert_eq!(words, ["pending", "in_progress", "completed", "cancelled"]);
        assert_eq!(
            session["todos"][1],
            json!({"content": "Look", "status": "in_progress", "priority": "medium", "id": "1"})
        );
    }
}
