//! Writes past jobs into the store before a server starts, in the format of the engine: more than a test could run.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docent_jobs::{Change, EntryBody, Instruction, JobProgress, Outcome, Row, Store, WriteGuards, state};
use docent_store::SqliteStore;
use docent_types::{
    AgentJob, Clock, Domain, Halt, JobId, JobStatus, Message, ProjectId, Refusal, Role, Source, SystemClock, Timestamp,
};
use serde_json::{Value, json};

/// Number of journal entries of the job that [`PastJobs::long`] writes.
pub(crate) const LONG: usize = 40_000;

/// A data directory before its server starts.
pub(crate) struct PastJobs {
    runtime: tokio::runtime::Runtime,
    store: SqliteStore,
    project: String,
    now: Timestamp,
}

impl PastJobs {
    pub(crate) fn of(data: &Path, project: &str) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let store = {
            let _entered = runtime.enter();
            SqliteStore::open(data.join("docent.db")).expect("opens the database")
        };
        Self { runtime, store, project: project.to_owned(), now: SystemClock.now() }
    }

    /// Writes a job that began this many minutes ago, with its journal and its outcome.
    fn write(&self, minutes: u64, prompt: &str, work: &[Value], outcome: Outcome) -> JobId {
        let began = self.now.minus(Duration::from_secs(60 * minutes));
        let id = JobId::first_at(began);
        let job = AgentJob {
            id,
            project: ProjectId::parse(&self.project).expect("a name"),
            domain: Domain::parse(&self.project).expect("a name"),
            status: JobStatus::Active,
            source: Source { repository: "/nowhere.git".into(), branch: format!("docent/{id}") },
            model: "builtin".to_owned(),
            as_draft: false,
            pr_link: None,
            message: None,
            halt: None,
            todos: Vec::new(),
            created_at: began,
            archived_at: None,
        };
        let guards = |now| WriteGuards { now, quota: None, key: None };
        self.runtime.block_on(async {
            let instruction = Instruction::new(vec![Message::text(Role::User, prompt)]);
            let (row, entries) = state::create(job, instruction);
            self.store.create(row, entries, guards(began)).await.expect("creates the job");
            let until = began.plus(Duration::from_secs(3600));
            let lease = Arc::new(move |row: &Row| state::lease(row, "here", until));
            let token = self.store.hold(id, began, lease).await.expect("leases the job").last_token;
            for (n, entries) in (1..).zip(work.chunks(20)) {
                let body = |data: &Value| EntryBody::Work { kind: String::new(), data: data.clone() };
                let bodies: Vec<EntryBody> = entries.iter().map(body).collect();
                let append = move |row: &Row| -> Result<Change, Refusal> {
                    state::append(row, token, bodies.clone(), JobProgress::default())
                };
                let at = began.plus(Duration::from_secs(n));
                // Written like a lease renewal: without waiting for the disk.
                self.store.hold(id, at, Arc::new(append)).await.expect("writes the journal");
            }
            let end =
                move |row: &Row| state::finish(row, token, u64::MAX, &outcome, Vec::new(), JobProgress::default());
            self.store.change(id, guards(self.now), Arc::new(end)).await.expect("ends the job");
        });
        id
    }

    /// Writes this many ended jobs, oldest first; every second one failed.
    pub(crate) fn short(&self, count: u64) {
        for n in 1..=count {
            let message = format!("Chapter {n} is done.");
            let outcome = if n.is_multiple_of(2) {
                Outcome::Failed { halt: Halt::Error, message }
            } else {
                Outcome::Completed { message }
            };
            self.write(2_000 - n, &format!("Fix the LINKS of chapter {n}"), &[], outcome);
        }
    }

    /// Writes a job with [`LONG`] entries; an early one contains “the needle”.
    pub(crate) fn long(&self) -> JobId {
        // Four entries are not work: two of the creation, the lease, and the end.
        let work: Vec<Value> = (0..LONG - 4).map(entry).collect();
        self.write(3_000, "Read all of it", &work, Outcome::Completed { message: "Read.".to_owned() })
    }
}

/// Alternates replies and results. Every fiftieth call is an edit that fails.
fn entry(n: usize) -> Value {
    let (step, is_edit) = (n / 2, n / 2 % 50 == 49);
    let name = if is_edit { "edit" } else { "read" };
    if n.is_multiple_of(2) {
        let call = json!({ "type": "tool_call", "id": format!("call-{step}"), "name": name, "input": { "path": format!("guides/{step}.md") } });
        let parts = json!([{ "type": "text", "text": format!("Step {step}: <b>I look</b> at the next page.") }, call]);
        let usage = json!({ "input_tokens": 1_000, "output_tokens": 10, "cached_input_tokens": 0 });
        return json!({ "did": "replied", "message": { "role": "assistant", "parts": parts }, "reason": "tool-calls", "usage": usage });
    }
    let needle = if step == 3 { "the needle" } else { "hay" };
    let output = format!("{step}: {needle}. {}", "All that the page says. ".repeat(20));
    let results = json!([{ "call_id": format!("call-{step}"), "output": output, "is_error": is_edit }]);
    json!({ "did": "ran", "results": results, "digest": "" })
}
