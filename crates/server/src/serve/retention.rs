//! Deletes old data: conversations idle for `assistant.thread_days` and equally old counts of searches, journals and
//! jobs that ended longer ago than `retention` allows, expired sessions and links of operators, and entries of the
//! audit list after a year.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use docent_assistant::{Assistant, SearchLog};
use docent_jobs::{Jobs, Pruned, Retention};
use docent_operators::Operators;
use docent_types::StoreError;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

const EVERY: Duration = Duration::from_secs(60 * 60);
/// Pause between two deletion steps, so that other writes can run.
const PAUSE: Duration = Duration::from_millis(20);

/// Deletes old conversations.
pub(crate) async fn keep_threads(assistant: Arc<Assistant>, untouched: Duration, drain: CancellationToken) {
    let forget = async || match assistant.forget(untouched).await {
        Ok(0) => {}
        Ok(conversations) => info!(conversations, "forgot conversations that were not touched for long"),
        Err(error) => {
            warn!(error = &error as &dyn std::error::Error, "could not forget old conversations");
        }
    };
    hourly(forget, drain).await;
}

/// Deletes the counts of old searches.
pub(crate) async fn keep_searches(searches: SearchLog, age: Duration, drain: CancellationToken) {
    let forget = async || match searches.forget(age).await {
        Ok(0) => {}
        Ok(counts) => info!(counts, "forgot old searches"),
        Err(error) => warn!(error = &error as &dyn std::error::Error, "could not forget old searches"),
    };
    hourly(forget, drain).await;
}

/// Deletes old journals and jobs.
pub(crate) async fn keep_jobs(jobs: Jobs, keep: Retention, drain: CancellationToken) {
    let forget = async || match prune(&jobs, keep).await {
        Ok(Pruned { entries: 0, jobs: 0, .. }) => {}
        Ok(Pruned { entries, jobs, .. }) => info!(entries, jobs, "forgot what belongs to jobs that ended long ago"),
        Err(error) => {
            warn!(error = &error as &dyn std::error::Error, "could not forget old jobs");
        }
    };
    hourly(forget, drain).await;
}

/// Deletes expired sessions and links, and old entries of the audit list.
pub(crate) async fn keep_operators(operators: Operators, drain: CancellationToken) {
    let forget = async || {
        loop {
            match operators.forget_expired().await {
                Ok(0) => return,
                Ok(_) => sleep(PAUSE).await,
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "could not forget sessions and links that are over"
                    );
                    return;
                }
            }
        }
    };
    hourly(forget, drain).await;
}

/// Deletes step by step until nothing is left to delete.
async fn prune(jobs: &Jobs, keep: Retention) -> Result<Pruned, StoreError> {
    let mut all = Pruned::default();
    loop {
        let step = jobs.prune(keep).await?;
        all = Pruned { entries: all.entries + step.entries, jobs: all.jobs + step.jobs, more: step.more };
        if !step.more {
            return Ok(all);
        }
        sleep(PAUSE).await;
    }
}

/// Runs `forget` immediately and then every hour, until the server drains. An interrupted run continues the next time.
async fn hourly<F: Future<Output = ()>>(forget: impl Fn() -> F, drain: CancellationToken) {
    let mut hours = interval(EVERY);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let keeping = async {
        loop {
            hours.tick().await;
            forget().await;
        }
    };
    drain.run_until_cancelled(keeping).await;
}

#[cfg(test)]
mod tests {
    use docent_assistant::memory::MemoryThreads;
    use docent_assistant::{NewThread, ThreadKey, Threads};
    use docent_builtin::Builtin;
    use docent_jobs::memory::MemoryStore;
    use docent_jobs::scripted::Scripted;
    use docent_jobs::{JobLimits, NewJob, Outcome};
    use docent_operators::memory::MemoryOperators;
    use docent_operators::{OperatorRole, OperatorStore};
    use docent_types::{
        AgentJob, Domain, FixedIds, ForgeKind, Ids, ManualClock, Message, Project, ProjectId, ProjectSettings,
        ProjectUid, Role, ThreadId, Timestamp,
    };

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    struct TestStore {
        clock: ManualClock,
        ids: FixedIds,
        domain: Domain,
        threads: Arc<MemoryThreads>,
    }

    impl TestStore {
        async fn begun(&self, at: Timestamp) -> ThreadId {
            let id = ThreadId::new(self.ids.unguessable());
            let thread = NewThread {
                id,
                domain: self.domain.clone(),
                fp: "anonymous".to_owned(),
                key: ThreadKey::of("secret"),
                created_at: at,
                turns: Vec::new(),
            };
            self.threads.begin(thread).await.expect("begins");
            id
        }

        async fn knows(&self, id: ThreadId) -> bool {
            self.threads.thread(&self.domain, id, 0).await.expect("reads").is_some()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn old_rows_are_pruned_at_the_start_and_hourly() {
        let fixture = TestStore {
            clock: ManualClock::at(NOW),
            ids: FixedIds::default(),
            domain: Domain::parse("docs").expect("a name"),
            threads: Arc::default(),
        };
        let old = fixture.begun(NOW.minus(91 * DAY)).await;
        let ageing = fixture.begun(NOW.minus(90 * DAY).plus(EVERY / 2)).await;
        let young = fixture.begun(NOW).await;
        let assistant = Assistant::new(
            Arc::new(Builtin),
            Arc::clone(&fixture.threads) as _,
            Arc::new(fixture.clock.clone()),
            Arc::new(FixedIds::default()),
        );
        let drain = CancellationToken::new();
        let keeper = tokio::spawn(keep_threads(Arc::new(assistant), 90 * DAY, drain.clone()));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!fixture.knows(old).await && fixture.knows(ageing).await);
        fixture.clock.advance(EVERY);
        tokio::time::sleep(EVERY).await;
        assert!(!fixture.knows(ageing).await && fixture.knows(young).await);
        drain.cancel();
        keeper.await.expect("it ends with the server");
    }

    #[tokio::test(start_paused = true)]
    async fn links_that_are_over_are_forgotten_all_of_them() {
        let clock = ManualClock::at(NOW);
        let store = Arc::new(MemoryOperators::new());
        let operators = Operators::new(Arc::clone(&store) as _, Arc::new(clock.clone()), Arc::new(FixedIds::default()));
        for _ in 0..1200 {
            operators.invite(None, OperatorRole::Viewer).await.expect("invites");
        }
        clock.advance(DAY);
        operators.invite(None, OperatorRole::Viewer).await.expect("invites");
        let drain = CancellationToken::new();
        let keeper = tokio::spawn(keep_operators(operators, drain.clone()));
        sleep(Duration::from_secs(1)).await;
        assert_eq!(store.links(NOW).await.expect("the store answers").len(), 1);
        drain.cancel();
        keeper.await.expect("it ends with the server");
    }

    /// Jobs of one project, and a worker that ends them.
    struct Engine {
        clock: ManualClock,
        jobs: Jobs,
        worker: Scripted,
        project: Project,
    }

    impl Engine {
        fn new() -> Self {
            let clock = ManualClock::at(NOW);
            let (time, ids) = (Arc::new(clock.clone()), Arc::new(FixedIds::default()));
            let jobs = Jobs::new(Arc::new(MemoryStore::new()), time, ids, JobLimits::default());
            let project = Project {
                uid: ProjectUid::new(FixedIds::default().unguessable()),
                id: ProjectId::parse("docs").expect("a name"),
                domain: Domain::parse("docs").expect("a name"),
                repository: "/srv/git/docs.git".to_owned(),
                branch: "main".to_owned(),
                docs_root: String::new(),
                forge: ForgeKind::Local,
                token: None,
                base_url: None,
                context: std::collections::BTreeMap::new(),
                settings: ProjectSettings::default(),
                created_at: NOW,
            };
            let worker = Scripted::start(&jobs);
            Self { clock, jobs, worker, project }
        }

        /// Creates a job and ends it.
        async fn ended(&self) -> Arc<AgentJob> {
            let new = NewJob {
                project: &self.project,
                messages: vec![Message::text(Role::User, "Fix broken links")],
                branch: None,
                as_draft: false,
                model: "sonnet".to_owned(),
            };
            let job = self.jobs.submit(new, None).await.expect("accepted").job;
            self.worker.writes([docent_types::JobEvent::Said { text: "Looking.".to_owned() }]);
            self.worker.ends(Outcome::Completed { message: "Done.".to_owned() });
            self.jobs.wait_until_inactive(&job.project, job.id, DAY).await.expect("it ends")
        }

        /// The number of entries in the job's journal; `None` if there is no such job.
        async fn journal(&self, job: &AgentJob) -> Option<usize> {
            let mut watch = self.jobs.watch(&job.project, job.id, 0).await.ok()?;
            let mut entries = 0;
            while watch.next().await.expect("reads").is_some() {
                entries += 1;
            }
            Some(entries)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_journal_goes_before_its_job_and_the_job_when_its_time_has_come() {
        let fixture = Engine::new();
        let old = fixture.ended().await;
        let whole = fixture.journal(&old).await.expect("it is there");
        fixture.clock.advance(31 * DAY);
        let young = fixture.ended().await;
        let keep = Retention { journals: Some(30 * DAY), jobs: Some(365 * DAY) };
        let drain = CancellationToken::new();
        let keeper = tokio::spawn(keep_jobs(fixture.jobs.clone(), keep, drain.clone()));
        sleep(Duration::from_secs(1)).await;
        assert!(fixture.journal(&old).await.expect("the job is kept") < whole, "of its journal the end is left");
        assert_eq!(fixture.journal(&young).await, Some(whole));
        assert_eq!(fixture.jobs.job(&old.project, old.id).await.expect("it is kept"), old);

        fixture.clock.advance(335 * DAY);
        sleep(EVERY).await;
        assert_eq!(fixture.journal(&old).await, None);
        assert!(fixture.journal(&young).await.is_some());
        drain.cancel();
        keeper.await.expect("it ends with the server");
    }
}
