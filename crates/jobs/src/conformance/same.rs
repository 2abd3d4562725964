//! Random histories, applied to a store and to the store in memory, with equal results.

use std::sync::Arc;
use std::time::Duration;

use docent_types::{AgentJob, JobId, JobStatus, ProjectId, Quota, Source, Timestamp};

use super::{HOUR, NOW, append, id, lease, sample_job, say, work};
use crate::memory::MemoryStore;
use crate::row::Row;
use crate::state::{self, JobProgress, Outcome};
use crate::store::{ClaimRequest, Decision, JobQuery, Pruning, Store, WriteError, WriteGuards, WriteOutcome};

/// A deterministic random sequence (xorshift), so that a failing history can be repeated.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    fn one_of<T: Copy>(&mut self, these: &[T]) -> T {
        these[usize::try_from(self.below(these.len() as u64)).expect("small")]
    }

    fn seconds(&mut self, bound: u64) -> Duration {
        Duration::from_secs(self.below(bound))
    }
}

struct Pair {
    store: Arc<dyn Store>,
    twin: Arc<dyn Store>,
    now: Timestamp,
    jobs: u128,
}

/// Applies `steps` steps of the history of this seed.
pub(super) async fn same_history(store: Arc<dyn Store>, seed: u64, steps: usize) {
    let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut pair = Pair { store, twin: Arc::new(MemoryStore::new()), now: NOW, jobs: 0 };
    for step in 0..steps {
        pair.step(&mut draws).await.unwrap_or_else(|difference| panic!("history {seed}, step {step}: {difference}"));
    }
    pair.compare_all().await;
}

/// A result, without what may differ between stores.
fn described(written: Result<WriteOutcome, WriteError>) -> String {
    match written {
        Ok(WriteOutcome { job, row, repeat, quota_status }) => format!("{job:?} {row:?} {repeat} {quota_status:?}"),
        Err(WriteError::Store(_)) => "a failure".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

fn check_equal<T: PartialEq + std::fmt::Debug>(what: &str, store: &T, twin: &T) -> Result<(), String> {
    if store == twin { Ok(()) } else { Err(format!("{what}\nstore: {store:?}\ntwin:  {twin:?}")) }
}

impl Pair {
    async fn step(&mut self, draws: &mut Draws) -> Result<(), String> {
        match draws.below(16) {
            0..=3 => self.create(draws).await,
            4..=6 => self.claim(draws).await,
            7 => {
                self.now = self.now.plus(draws.seconds(40));
                let (store, twin) = (self.store.next_due(self.now).await, self.twin.next_due(self.now).await);
                check_equal("next due", &store.expect("the store answers"), &twin.expect("the twin answers"))
            }
            8 => self.prune(draws).await,
            _ => self.change(draws).await,
        }
    }

    async fn create(&mut self, draws: &mut Draws) -> Result<(), String> {
        // Occasionally an id that is taken, or older than earlier ones.
        self.jobs += 1;
        let n = if draws.below(8) == 0 { u128::from(draws.below(2000)) + 1 } else { 1000 + self.jobs };
        let mut job = AgentJob { created_at: self.now, ..sample_job(n) };
        job.project = ProjectId::parse(draws.one_of(&["acme", "beta", "gamma"])).expect("a name");
        if draws.below(2) == 0 {
            let (repository, branch) = ("/a".to_owned(), draws.one_of(&["x", "y"]).to_owned());
            job.source = Source { repository, branch };
        } else if draws.below(2) == 0 {
            // Named after the job itself, as for a job without a branch, or after another.
            let named =
                if draws.below(2) == 0 { job.id } else { id(1000 + u128::from(draws.below(self.jobs as u64 + 9))) };
            job.source.branch = format!("docent/{named}");
        }
        if draws.below(5) == 0 {
            job.created_at = self.now.plus(draws.seconds(60));
        }
        let (row, entries) = state::create(job, say("hello"));
        let guards = self.guards(draws);
        let store = described(self.store.create(row.clone(), entries.clone(), guards.clone()).await);
        check_equal("create", &store, &described(self.twin.create(row, entries, guards).await))
    }

    fn guards(&self, draws: &mut Draws) -> WriteGuards {
        // The clock of another process may be a little behind or ahead.
        let now = self.now.minus(draws.seconds(3)).plus(draws.seconds(3));
        let (bucket, window) = draws.one_of(&[("one", Duration::from_secs(20)), ("two", HOUR)]);
        let limit = draws.one_of(&[0, 2, 5, 8, 1000]);
        let quota = Quota { bucket: bucket.to_owned(), limit, window };
        WriteGuards { now, quota: (draws.below(3) > 0).then_some(quota), key: None }
    }

    async fn claim(&mut self, draws: &mut Draws) -> Result<(), String> {
        let (cap_per_project, limit) = (draws.one_of(&[0, 1, 2, 3, usize::MAX]), draws.one_of(&[1, 2, 5]));
        let request = ClaimRequest { now: self.now, cap_per_project, limit };
        let decide = lease("node", self.now.plus(Duration::from_secs(1) + draws.seconds(60)));
        let store = self.store.claim(request, Arc::clone(&decide)).await.expect("the store answers");
        let twin = self.twin.claim(request, decide).await.expect("the twin answers");
        check_equal("claim", &store, &twin)
    }

    async fn any(&self, draws: &mut Draws) -> JobId {
        let leased = self.twin.leased().await.expect("the twin answers");
        if !leased.is_empty() && draws.below(3) > 0 {
            draws.one_of(&leased)
        } else {
            id(1000 + u128::from(draws.below(self.jobs.min(1 << 20) as u64 + 1)))
        }
    }

    async fn change(&mut self, draws: &mut Draws) -> Result<(), String> {
        let id = self.any(draws).await;
        let row = self.twin.row(id).await.expect("the twin answers");
        let token = row.as_ref().map_or(0, |row| row.last_token)
            - u64::from(row.is_some_and(|row| row.last_token > 0) && draws.below(8) == 0);
        let (now, later) = (self.now, self.now.plus(draws.seconds(60)));
        let outcome = Outcome::Completed { message: "done".to_owned() };
        let decide: Decision = match draws.below(8) {
            0 => Arc::new(move |row: &Row| state::archive(row, now)),
            1 => Arc::new(move |row: &Row| state::follow_up(row, say("more"), now)),
            2 => Arc::new(move |row: &Row| state::retry(row, token, "busy", later)),
            3 => append(token, vec![work(1), work(2)]),
            4 => Arc::new(move |row: &Row| state::renew(row, token, later)),
            5 => Arc::new(move |row: &Row| state::release(row, token)),
            6 => Arc::new(state::orphan),
            _ => Arc::new(move |row: &Row| {
                state::finish(row, token, u64::MAX, &outcome, Vec::new(), JobProgress::default())
            }),
        };
        if draws.below(2) == 0 {
            let described = |row: Result<Row, WriteError>| row.map_err(|error| format!("{error:?}"));
            let store = described(self.store.hold(id, now, Arc::clone(&decide)).await);
            return check_equal("hold", &store, &described(self.twin.hold(id, now, decide).await));
        }
        let guards = self.guards(draws);
        let store = described(self.store.change(id, guards.clone(), Arc::clone(&decide)).await);
        check_equal("change", &store, &described(self.twin.change(id, guards, decide).await))
    }

    async fn prune(&mut self, draws: &mut Draws) -> Result<(), String> {
        let ago = |draws: &mut Draws, now: Timestamp| (draws.below(2) == 0).then(|| now.minus(draws.seconds(300)));
        let (journals_before, jobs_before) = (ago(draws, self.now), ago(draws, self.now));
        // Repeated to the end, because a store decides what fits into one step.
        let pruning = Pruning { now: self.now, journals_before, jobs_before, limit: 1000 };
        let mut totals = Vec::new();
        for store in [&self.store, &self.twin] {
            let (mut entries, mut jobs, mut more) = (0, 0, true);
            while more {
                let pruned = store.prune(pruning).await.expect("the store answers");
                (entries, jobs, more) = (entries + pruned.entries, jobs + pruned.jobs, pruned.more);
            }
            totals.push((entries, jobs));
        }
        check_equal("prune", &totals[0], &totals[1])
    }

    async fn compare_all(&self) {
        let mut leased = self.store.leased().await.expect("the store answers");
        leased.sort_unstable();
        assert_eq!(leased, self.twin.leased().await.expect("the twin answers"));
        for project in ["acme", "beta", "gamma"] {
            let project = ProjectId::parse(project).expect("a name");
            for status in [None, Some(JobStatus::Active)] {
                let query = JobQuery { project: project.clone(), status, after: None, skip: 0, limit: u32::MAX };
                let listed = self.store.list(query.clone()).await.expect("the store answers");
                assert_eq!(listed, self.twin.list(query).await.expect("the twin answers"));
                for job in listed {
                    assert_eq!(
                        self.store.row(job.id).await.expect("answers"),
                        self.twin.row(job.id).await.expect("answers")
                    );
                    let journal = self.store.entries(job.id, 0, u32::MAX).await.expect("the store answers");
                    assert_eq!(journal, self.twin.entries(job.id, 0, u32::MAX).await.expect("the twin answers"));
                }
            }
        }
    }
}
