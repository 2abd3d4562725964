//! The tools of a project's owners: jobs, as the API has them.

use std::time::Duration;

use docent_access::Principal;
use docent_jobs::{JobQuery, Jobs, LONGEST_WAIT, NewJob, instruction, requested_branch};
use docent_types::{AgentJob, CallError, JobStatus, Refusal, RefusalKind};
use docent_web::{Draining, HttpError, WholeNumber};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::{ToolResult, ToolSet, description, read};
use crate::tool_server::{ToolServer, may_write};

const MOST_JOBS: u64 = 50;
const USUAL_JOBS: u64 = 10;

/// The tools for the holder of an admin key.
pub(crate) struct OwnerTools<'a> {
    pub(crate) api: &'a ToolServer,
    pub(crate) principal: &'a Principal,
    pub(crate) draining: Draining,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreateArguments {
    prompt: String,
    branch: Option<String>,
    as_draft: Option<bool>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct GetArguments {
    id: String,
    wait: Option<WholeNumber>,
}

#[derive(Deserialize)]
struct ListArguments {
    status: Option<String>,
    limit: Option<WholeNumber>,
}

#[derive(Deserialize)]
struct MessageArguments {
    id: String,
    prompt: String,
}

impl ToolSet for OwnerTools<'_> {
    fn instructions(&self) -> String {
        format!(
            "Jobs that change the documentation of `{}`. A job edits files on a branch and opens a pull request; create_job \
             answers at once, get_job with `wait` tells how it went.",
            self.principal.project.id
        )
    }

    fn list(&self) -> Vec<Value> {
        let text = |about: &str| json!({"type": "string", "description": about});
        let id = text("The job's id");
        let statuses = JobStatus::ALL.map(JobStatus::as_str);
        vec![
            description(
                "create_job",
                "Have the agent change the documentation. Returns the job, which runs on.",
                &json!({
                    "prompt": text("What to change"),
                    "branch": text("The branch to work on; a new one by default"),
                    "asDraft": {"type": "boolean", "description": "Open the pull request as a draft"},
                    "model": text("A model of the server's configuration"),
                }),
                &["prompt"],
                true,
            ),
            description(
                "get_job",
                "A job's status, message and pull request.",
                &json!({
                    "id": id,
                    "wait": {"type": "integer", "minimum": 1, "maximum": LONGEST_WAIT,
                        "description": "Seconds to wait for its end"},
                }),
                &["id"],
                false,
            ),
            description(
                "list_jobs",
                "The newest jobs.",
                &json!({
                    "status": {"type": "string", "enum": statuses},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST_JOBS, "description": "10 by default"},
                }),
                &[],
                false,
            ),
            description(
                "message_job",
                "A further instruction for a job, on the same branch and pull request.",
                &json!({"id": id, "prompt": text("What to change")}),
                &["id", "prompt"],
                true,
            ),
        ]
    }

    fn is_public(&self) -> bool {
        false
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Option<ToolResult>, HttpError> {
        let done = match name {
            "create_job" => match read(arguments) {
                Ok(arguments) => self.create(arguments).await,
                Err(mistake) => Ok(mistake),
            },
            "get_job" => match read(arguments) {
                Ok(arguments) => self.get(&arguments).await,
                Err(mistake) => Ok(mistake),
            },
            "list_jobs" => match read(arguments) {
                Ok(arguments) => self.jobs(arguments).await,
                Err(mistake) => Ok(mistake),
            },
            "message_job" => match read(arguments) {
                Ok(arguments) => self.message(arguments).await,
                Err(mistake) => Ok(mistake),
            },
            _ => return Ok(None),
        };
        match done {
            Ok(done) => Ok(Some(done)),
            // What is wrong with the arguments, or with the job, is a message to the model.
            Err(CallError::Refused(Refusal {
                kind: RefusalKind::Invalid | RefusalKind::NotFound | RefusalKind::Conflict,
                sentence,
            })) => Ok(Some(ToolResult::failed(sentence))),
            Err(error) => Err(error.into()),
        }
    }
}

impl OwnerTools<'_> {
    async fn create(&self, arguments: CreateArguments) -> Result<ToolResult, CallError> {
        may_write(&self.principal.key)?;
        let new = NewJob {
            project: &self.principal.project,
            messages: instruction(arguments.prompt)?,
            branch: requested_branch(arguments.branch.as_deref())?,
            as_draft: arguments.as_draft.unwrap_or(false),
            model: self.api.models.choose(arguments.model)?,
        };
        let written = self.api.jobs.submit(new, None).await?;
        Ok(self.shown(&written.job))
    }

    async fn get(&self, arguments: &GetArguments) -> Result<ToolResult, CallError> {
        let project = &self.principal.project.id;
        let id = Jobs::id(project, &arguments.id)?;
        let wait = arguments.wait.as_ref().map(|WholeNumber(seconds)| *seconds);
        if wait.is_some_and(|seconds| !(1..=u64::from(LONGEST_WAIT)).contains(&seconds)) {
            return Err(Refusal::invalid(format!("wait: it must be a whole number from 1 to {LONGEST_WAIT}")).into());
        }
        let found = self.api.jobs.get_or_wait(project, id, wait.map(Duration::from_secs), self.draining.begun());
        let job = self.principal.key_watch().unless_ended(found).await.map_err(Refusal::from)??;
        Ok(self.shown(&job))
    }

    async fn jobs(&self, arguments: ListArguments) -> Result<ToolResult, CallError> {
        let status = match arguments.status.as_deref() {
            None => None,
            Some(given) => Some(status(given)?),
        };
        let limit = arguments.limit.map_or(USUAL_JOBS, |WholeNumber(limit)| limit);
        if !(1..=MOST_JOBS).contains(&limit) {
            return Err(Refusal::invalid(format!("limit: it must be a whole number from 1 to {MOST_JOBS}")).into());
        }
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let query = JobQuery { project: self.principal.project.id.clone(), status, after: None, skip: 0, limit };
        let jobs: Vec<Value> = self.api.jobs.list(query).await?.iter().map(self.api.job_json).collect();
        let structured = json!({"jobs": jobs});
        Ok(ToolResult::done(structured.to_string(), structured))
    }

    async fn message(&self, arguments: MessageArguments) -> Result<ToolResult, CallError> {
        may_write(&self.principal.key)?;
        let project = &self.principal.project.id;
        let id = Jobs::id(project, &arguments.id)?;
        let written = self.api.jobs.follow_up(project, id, instruction(arguments.prompt)?, None).await?;
        Ok(self.shown(&written.job))
    }

    fn shown(&self, job: &AgentJob) -> ToolResult {
        let job = (self.api.job_json)(job);
        ToolResult::done(job.to_string(), job)
    }
}

fn status(given: &str) -> Result<JobStatus, Refusal> {
    let known = || JobStatus::ALL.map(JobStatus::as_str).join(", ");
    let found = JobStatus::ALL.into_iter().find(|status| status.as_str() == given);
    found.ok_or_else(|| Refusal::invalid(format!("status: it must be one of {}", known())))
}
