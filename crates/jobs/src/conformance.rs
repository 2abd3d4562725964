//! The conformance suite of [`Store`]: each test runs on an empty store of its own.
//!
//! [`run`] runs all of them. A store's own tests call it with a function that makes an empty store, on a multi-threaded
//! runtime, so that concurrent writes really are concurrent.

mod guards;
mod leases;
mod outbox;
mod pruning;
mod same;
mod searches;
mod turns;
mod writes;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{AgentJob, Domain, JobId, JobStatus, Message, ProjectId, Quota, Refusal, Role, Source, Timestamp};
use serde_json::json;

use crate::entry::{Entry, EntryBody, Instruction};
use crate::outbox::Outbox;
use crate::row::Row;
use crate::state::{self, JobProgress};
use crate::store::{ClaimRequest, Decision, IdempotencyKey, Store, WriteError, WriteGuards, WriteOutcome};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Runs every test, each on a store that `make` returns. Panics at the first broken promise. Where a store is slow to make, the
/// parts can run beside each other: they are public, too.
pub async fn run<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    writes(&make).await;
    guards(&make).await;
    leases(&make).await;
    turns(&make).await;
    searches(&make).await;
    pruning(&make).await;
    same::same_history(make().await, 1, 250).await;
}

/// The tests of rows and journals.
pub async fn writes<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    writes::a_job_is_read_back_as_it_was_written(make().await).await;
    writes::entries_are_numbered_without_gaps(make().await).await;
    writes::entries_come_in_pages(make().await).await;
    writes::a_decision_is_applied_whole_or_not_at_all(make().await).await;
    writes::jobs_are_listed_newest_first(make().await).await;
}

/// The tests of idempotency keys and quotas.
pub async fn guards<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    guards::the_same_key_gives_the_first_answer(make().await).await;
    guards::a_key_is_forgotten_in_time(make().await).await;
    guards::one_key_at_the_same_time_makes_one_job(make().await).await;
    guards::a_quota_is_exact_under_a_race(make().await).await;
    guards::a_quota_slides(make().await).await;
    guards::refused_jobs_use_no_quota(make().await).await;
}

/// The tests of claims and leases.
pub async fn leases<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    leases::a_late_write_is_refused(make().await).await;
    leases::the_oldest_job_is_claimed_first(make().await).await;
    leases::a_job_is_claimed_once_under_a_race(make().await).await;
    leases::a_concurrency_key_is_leased_once(make().await).await;
    leases::a_lease_that_ran_out_is_claimed_again(make().await).await;
    leases::the_next_due_time_is_known(make().await).await;
    leases::leases_of_the_dead_are_found_and_taken(make().await).await;
}

/// The tests of the order of claims.
pub async fn turns<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    turns::projects_take_turns(make().await).await;
    turns::a_long_queue_does_not_starve_a_short_one(make().await).await;
    turns::a_project_runs_no_more_than_its_cap(make().await).await;
    turns::a_batch_is_like_one_claim_after_another(make().await).await;
    turns::a_deep_concurrency_key_gives_one_at_a_time(make().await).await;
    turns::an_older_job_that_waits_lets_a_younger_one_of_its_key_go_first(make().await).await;
    turns::who_waits_for_a_concurrency_key_goes_on_when_its_holder_ends_in_any_way(make().await).await;
    turns::holding_a_job_is_refused_as_a_change_is(make().await).await;
}

/// The tests of job searches.
pub async fn searches<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    searches::jobs_are_found_by_state_text_and_time(make().await).await;
    searches::pages_stay_where_they_are_while_jobs_come_in(make().await).await;
    searches::a_prompt_goes_with_its_journal(make().await).await;
}

/// The tests of pruning.
pub async fn pruning<F, Made>(make: F)
where
    F: Fn() -> Made,
    Made: Future<Output = Arc<dyn Store>>,
{
    pruning::journals_of_ended_jobs_go_and_their_ends_stay(make().await).await;
    pruning::a_job_is_forgotten_with_its_journal(make().await).await;
    pruning::pruning_leaves_live_jobs(make().await).await;
    pruning::pruning_goes_in_steps(make().await).await;
}

/// Runs every test of a store that has an [`Outbox`], like [`run`].
pub async fn outbox<S, F, Made>(make: F)
where
    S: Store + Outbox,
    F: Fn() -> Made,
    Made: Future<Output = Arc<S>>,
{
    outbox::each_end_of_a_job_is_an_event_for_each_hook(make().await).await;
    outbox::refused_changes_queue_no_event(make().await).await;
    outbox::an_event_stays_until_it_is_delivered_or_given_up(make().await).await;
    outbox::a_hook_hears_from_when_it_is_added_until_it_is_removed(make().await).await;
    outbox::an_event_outlives_its_job(make().await).await;
}

/// Applies a long random history, derived from the seed `number`, to a store and to
/// [`MemoryStore`](crate::memory::MemoryStore), and compares the two. For a store that is to be tested with more
/// histories than [`run`] has.
pub async fn history(store: Arc<dyn Store>, number: u64) {
    same::same_history(store, number, 1000).await;
}

/// An active job of project `acme` with a branch of its own, created `n` milliseconds (below 10^12) after the epoch.
pub fn sample_job(n: u128) -> AgentJob {
    AgentJob {
        id: id(n),
        project: ProjectId::parse("acme").expect("a name"),
        domain: Domain::parse("acme-docs").expect("a name"),
        status: JobStatus::Active,
        source: Source { repository: "/srv/git/docs.git".to_owned(), branch: format!("docent/{n}") },
        model: "builtin".to_owned(),
        as_draft: false,
        pr_link: None,
        message: None,
        halt: None,
        todos: Vec::new(),
        created_at: Timestamp::from_millis(i64::try_from(n % 1_000_000_000_000).unwrap_or(0)),
        archived_at: None,
    }
}

fn id(n: u128) -> JobId {
    let hex = format!("{n:032x}");
    let text = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    JobId::parse(&text).expect("an id")
}

/// Later than every sample job's due time.
const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn after(by: Duration) -> Timestamp {
    NOW.plus(by)
}

fn open() -> WriteGuards {
    open_at(NOW)
}

fn open_at(now: Timestamp) -> WriteGuards {
    WriteGuards { now, quota: None, key: None }
}

fn limited(limit: u32) -> WriteGuards {
    WriteGuards { quota: Some(Quota { bucket: "agent-jobs:acme".to_owned(), limit, window: HOUR }), ..open() }
}

fn keyed(key: &str, request: u8) -> WriteGuards {
    let scope = "agent-jobs:acme".to_owned();
    WriteGuards {
        key: Some(IdempotencyKey { scope, key: key.to_owned(), fingerprint: [request; 32], keep: DAY }),
        ..open()
    }
}

fn say(text: &str) -> Instruction {
    Instruction::new(vec![Message::text(Role::User, text)])
}

fn work(n: usize) -> EntryBody {
    EntryBody::Work { kind: "step".to_owned(), data: json!({ "n": n, "text": "zwölf\u{0}\n\u{1F980}", "half": 0.5 }) }
}

async fn create(store: &Arc<dyn Store>, job: AgentJob, guards: WriteGuards) -> Result<WriteOutcome, WriteError> {
    let (row, entries) = state::create(job, say("Fix broken links"));
    store.create(row, entries, guards).await
}

async fn created(store: &Arc<dyn Store>, n: u128) -> Row {
    create(store, sample_job(n), open()).await.expect("a job is created");
    row(store, n).await
}

async fn row(store: &Arc<dyn Store>, n: u128) -> Row {
    store.row(id(n)).await.expect("the store answers").expect("the job is there")
}

async fn journal(store: &Arc<dyn Store>, n: u128) -> Vec<Entry> {
    store.entries(id(n), 0, u32::MAX).await.expect("the store answers")
}

fn follow_up(text: &str) -> Decision {
    let instruction = say(text);
    Arc::new(move |row: &Row| state::follow_up(row, instruction.clone(), NOW))
}

fn append(token: u64, entries: Vec<EntryBody>) -> Decision {
    Arc::new(move |row: &Row| state::append(row, token, entries.clone(), JobProgress::default()))
}

fn refuse() -> Decision {
    Arc::new(|_: &Row| Err(Refusal::conflict("not now")))
}

fn lease(holder: &str, until: Timestamp) -> Decision {
    let holder = holder.to_owned();
    Arc::new(move |row: &Row| state::lease(row, &holder, until))
}

async fn claim(store: &Arc<dyn Store>, now: Timestamp) -> Option<Row> {
    claim_for(store, now, "node", now.plus(HOUR)).await
}

async fn claim_for(store: &Arc<dyn Store>, now: Timestamp, holder: &str, until: Timestamp) -> Option<Row> {
    let request = ClaimRequest { now, cap_per_project: usize::MAX, limit: 1 };
    let mut claimed = store.claim(request, lease(holder, until)).await.expect("the store answers");
    assert!(claimed.len() <= 1);
    claimed.pop()
}

/// Applies a decision about the lease.
async fn hold(store: &Arc<dyn Store>, n: u128, decide: Decision) -> Row {
    store.hold(id(n), NOW, decide).await.expect("the change is written")
}

async fn change(store: &Arc<dyn Store>, n: u128, decide: Decision) -> WriteOutcome {
    store.change(id(n), open(), decide).await.expect("the change is written")
}
