//! What other nodes write: one session of each node reads the marks of their transactions.
//!
//! Transactions are not committed in the order of their numbers. So nothing is read "after the last number": each look
//! takes the snapshot that it saw along to the next one, which reads exactly what became visible between the two: numbers
//! that the first snapshot had not seen begin, and those that it saw unfinished. A transaction that stays open for long
//! delays nothing and costs nothing.
//!
//! The session also sends and hears `NOTIFY`, which only makes the next look come sooner. It is sent outside of the
//! transactions, as it would make them commit one after another, and one covers all that was written since the last.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use docent_types::{BoxError, Clock, JobId};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Client};
use tokio_util::task::AbortOnDropHandle;
use tracing::{info, warn};
use uuid::Uuid;

use crate::address::ServerAddress;
use crate::clock::DatabaseClock;
use crate::error::explained;
use crate::marks;
use crate::params::params;

/// The pause between two looks, and the shortest one, when a look is asked for.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(50);
/// The longest look. A session that takes longer is replaced.
const MAX_POLL_TIME: Duration = Duration::from_secs(5);
/// What is known of other nodes is relied on for so long.
const MAX_AGE: Duration = Duration::from_secs(1);
/// After so long without a look, marks may be gone that it would have found.
const MAX_GAP: Duration = marks::KEPT.checked_div(2).unwrap();
/// The pause after a failure; it doubles up to the longest.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(2);
/// Jobs remembered for whoever asks which were written. Beyond that, all may have been.
const MAX_PENDING: usize = 10_000;
/// Most marks of this node that are looked out for, the newest.
const MAX_UNRESOLVED: usize = 100;
const PRUNE_INTERVAL: Duration = Duration::from_secs(30);
const PRUNE_BATCH: i64 = 5_000;

const LISTEN: &str = "LISTEN docent_commits";
const NOTIFY: &str = "SELECT pg_notify('docent_commits', $1)";
/// `$1` is the snapshot of the last look, `$2` this node, `$3` its marks that it does not know the end of.
const LOOK: &str = "
    WITH new AS MATERIALIZED (
        SELECT jobs, access FROM commits
        WHERE (node <> $2 OR mark = ANY ($3))
          AND (xid >= pg_snapshot_xmax($1::pg_snapshot)
               OR xid = ANY (ARRAY(SELECT pg_snapshot_xip($1::pg_snapshot))))
    )
    SELECT pg_current_snapshot()::text, pg_postmaster_start_time()::text,
           (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
           ARRAY(SELECT DISTINCT unnest(jobs) FROM new), (SELECT count(*) FROM new WHERE access OR cardinality(jobs) > 0),
           coalesce((SELECT bool_or(access) FROM new), false)";
const FIRST_SNAPSHOT: &str = "SELECT pg_current_snapshot()::text";
const PRUNE: &str = "DELETE FROM commits WHERE mark IN (
                         SELECT mark FROM commits WHERE mark < $1 ORDER BY mark LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// What is known of the writes of other nodes.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    /// Transactions of other nodes that were seen; those of any node about keys, projects and operators.
    writes: AtomicU64,
    access: AtomicU64,
    looked_at: Mutex<Option<Instant>>,
    pending: Mutex<Pending>,
    /// There is something pending.
    arrived: Notify,
    /// Marks of this node whose transactions may still be committed.
    unresolved: Mutex<Vec<Uuid>>,
    /// Whether this node has written since it last told the others, and the signal of that.
    has_written: AtomicBool,
    wake: Notify,
}

/// Jobs written by other nodes that nobody has asked for yet.
#[derive(Debug, Default)]
struct Pending {
    jobs: HashSet<JobId>,
    all: bool,
}

impl Feed {
    /// A number that changes when other nodes were seen to write; `None` when nothing was seen for too long.
    pub(crate) fn writes(&self) -> Option<u64> {
        let age = self.looked_at.lock().map(|at| at.elapsed());
        age.is_some_and(|age| age <= MAX_AGE).then(|| self.writes.load(Ordering::SeqCst))
    }

    /// A number that changes when keys, projects or operators were written, by this node or, as far as was seen, by
    /// another; `None` when nothing was seen for too long.
    pub(crate) fn access_writes(&self) -> Option<u64> {
        self.writes().map(|_| self.access.load(Ordering::SeqCst))
    }

    /// Counts a write of this node to keys, projects or operators.
    pub(crate) fn count_access_write(&self) {
        self.access.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until other nodes have written jobs, and returns which; `None` if all may have been.
    pub(crate) async fn written_elsewhere(&self) -> Option<Vec<JobId>> {
        loop {
            let Pending { jobs, all } = std::mem::take(&mut *self.pending.lock());
            match (all, jobs.is_empty()) {
                (true, _) => return None,
                (false, false) => return Some(jobs.into_iter().collect()),
                (false, true) => self.arrived.notified().await,
            }
        }
    }

    /// Says that this node has written.
    pub(crate) fn tell_others(&self) {
        if !self.has_written.swap(true, Ordering::SeqCst) {
            self.wake.notify_one();
        }
    }

    /// Tells this node of a transaction of its own, which may have taken place or still be committed.
    pub(crate) fn look_out_for(&self, mark: Uuid) {
        let mut unresolved = self.unresolved.lock();
        unresolved.push(mark);
        if unresolved.len() > MAX_UNRESOLVED {
            unresolved.remove(0);
        }
        drop(unresolved);
        self.lose_track();
    }

    /// All may have changed: what other nodes wrote meanwhile is not known.
    fn lose_track(&self) {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.access.fetch_add(1, Ordering::SeqCst);
        self.pending.lock().all = true;
        self.arrived.notify_one();
    }

    /// Takes what was seen by a look that began then.
    fn take(&self, seen: Seen, asked: Instant) {
        if seen.writes > 0 {
            self.writes.fetch_add(seen.writes, Ordering::SeqCst);
            self.access.fetch_add(u64::from(seen.access), Ordering::SeqCst);
        }
        *self.looked_at.lock() = Some(asked);
        if seen.jobs.is_empty() {
            return;
        }
        let mut pending = self.pending.lock();
        pending.jobs.extend(seen.jobs);
        if pending.jobs.len() > MAX_PENDING {
            *pending = Pending { jobs: HashSet::new(), all: true };
        }
        drop(pending);
        self.arrived.notify_one();
    }
}

/// What one look saw.
#[derive(Debug)]
struct Seen {
    jobs: Vec<JobId>,
    writes: u64,
    access: bool,
}

/// Where the last look was made, and what it saw.
#[derive(Debug)]
struct Mark {
    snapshot: String,
    /// The start of the server: another server may give the same numbers to other transactions.
    server: String,
    at: Instant,
}

/// The session of a node that reads the feed.
#[derive(Debug)]
pub(crate) struct FeedReader {
    pub(crate) address: ServerAddress,
    pub(crate) node: Uuid,
    pub(crate) clock: DatabaseClock,
    pub(crate) feed: Arc<Feed>,
}

impl FeedReader {
    /// Follows the other nodes until it is dropped.
    pub(crate) async fn run(self) {
        let (mut mark, mut retry) = (None, FIRST_RETRY);
        loop {
            let begun = Instant::now();
            let Err(error) = self.session(&mut mark).await;
            if begun.elapsed() > LONGEST_RETRY {
                retry = FIRST_RETRY;
                warn!(error = &*error as &dyn std::error::Error, "the database does not answer; trying again");
            }
            tokio::time::sleep(retry).await;
            retry = (retry * 2).min(LONGEST_RETRY);
        }
    }

    /// One session, until it fails.
    async fn session(&self, mark: &mut Option<Mark>) -> Result<std::convert::Infallible, BoxError> {
        let mut config = self.address.config.clone();
        config.application_name("docent feed");
        let (client, mut connection) = config.connect(self.address.tls.clone()).await.map_err(explained)?;
        let (heard, node) = (Arc::new(Notify::new()), self.node.to_string());
        let hear = {
            let (heard, node) = (Arc::clone(&heard), node.clone());
            async move {
                while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                    if matches!(message, AsyncMessage::Notification(said) if said.payload() != node) {
                        heard.notify_one();
                    }
                }
            }
        };
        let _hearing = AbortOnDropHandle::new(tokio::spawn(hear));
        // Behind a pooler this has no effect, and looks come at their interval.
        within(client.batch_execute(LISTEN)).await?;
        if mark.is_some() {
            info!("the database answers again");
        }
        let mut next_prune = Instant::now() + PRUNE_INTERVAL;
        let mut told = Instant::now();
        loop {
            self.look(&client, mark).await?;
            if self.feed.has_written.swap(false, Ordering::SeqCst) {
                told = Instant::now();
                within(client.execute_typed(NOTIFY, params![node])).await?;
            }
            if Instant::now() >= next_prune {
                let before = marks::first_at(self.clock.now().minus(marks::KEPT));
                let pruned = within(client.execute_typed(PRUNE, params![before, PRUNE_BATCH])).await?;
                if pruned < PRUNE_BATCH.unsigned_abs() {
                    next_prune = Instant::now() + PRUNE_INTERVAL;
                }
            }
            tokio::time::sleep(SHORTEST_INTERVAL.saturating_sub(told.elapsed()).max(SHORTEST_INTERVAL / 2)).await;
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL - SHORTEST_INTERVAL) => {}
                () = heard.notified() => {}
                () = self.feed.wake.notified() => {}
            }
        }
    }

    /// Reads what became visible since the last look.
    async fn look(&self, client: &Client, mark: &mut Option<Mark>) -> Result<(), BoxError> {
        let last = match &*mark {
            Some(last) => last.snapshot.clone(),
            None => within(client.query_typed_one(FIRST_SNAPSHOT, &[])).await?.get(0),
        };
        let asked = Instant::now();
        let unresolved = self.feed.unresolved.lock().clone();
        let seen = within(client.query_typed_one(LOOK, params![last, self.node, unresolved])).await?;
        let answered = Instant::now();
        self.clock.observe(seen.get(2), asked, answered);
        let (snapshot, server) = (seen.get(0), seen.get::<_, String>(1));
        let is_lost = match mark.replace(Mark { snapshot, server: server.clone(), at: answered }) {
            Some(last) => last.server != server || answered.duration_since(last.at) > MAX_GAP,
            None => true,
        };
        if is_lost {
            self.feed.lose_track();
        }
        let seen = Seen {
            jobs: seen.get::<_, Vec<Uuid>>(3).into_iter().map(JobId::new).collect(),
            writes: seen.get::<_, i64>(4).unsigned_abs(),
            access: seen.get(5),
        };
        self.feed.take(seen, asked);
        Ok(())
    }
}

/// The answer of the database, if it comes in time.
async fn within<T>(asking: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, BoxError> {
    match tokio::time::timeout(MAX_POLL_TIME, asking).await {
        Ok(answer) => answer.map_err(explained),
        Err(_) => Err("the database did not answer in time".into()),
    }
}
