//! The store: a pool of connections, and a session that follows the other nodes.

use std::sync::Arc;
use std::time::Instant;

use docent_types::{BoxError, StoreError, WorkDurations};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use uuid::Uuid;

use crate::address::ServerAddress;
use crate::clock::DatabaseClock;
use crate::connections::{Connection, Connections};
use crate::error::{Abort, OpenError, explained};
use crate::feed::{Feed, FeedReader};
use crate::groups::Groups;
use crate::schema;
use crate::shared::{CommitPromise, Shared};

/// The oldest PostgreSQL that is tested.
const OLDEST_VERSION: i32 = 15;
/// Questions for the time when a store is opened: the quickest answer counts.
const CLOCK_QUESTIONS: usize = 3;

/// Docent's state in a PostgreSQL database. Any number of processes may use the same one.
#[derive(Debug)]
pub struct PostgresStore {
    shared: Arc<Shared>,
    _reader: AbortOnDropHandle<()>,
}

impl PostgresStore {
    /// Opens the database at a URL such as `postgres://user:password@host/database?sslmode=verify-full`, and creates or
    /// migrates its tables. At most `connections` are used at a time, and one more that follows the other nodes.
    pub async fn connect(url: &str, connections: usize) -> Result<Self, OpenError> {
        let address = ServerAddress::parse(url)?;
        let failed = |source| OpenError::Connect { source };
        let pool = Connections::new(&address, connections).map_err(failed)?;
        let connection = pool.get().await.map_err(failed)?;
        check_server(&connection).await?;
        schema::migrate(&connection, schema::MIGRATIONS).await?;
        let promise = promise_of(&connection).await.map_err(failed)?;
        let clock = DatabaseClock::new();
        for _ in 0..CLOCK_QUESTIONS {
            ask_time(&connection, &clock).await.map_err(failed)?;
        }
        connection.release();
        drop(connection);
        let (node, feed) = (Uuid::new_v4(), Arc::<Feed>::default());
        let reader = FeedReader { address, node, clock: clock.clone(), feed: Arc::clone(&feed) };
        let reader = AbortOnDropHandle::new(tokio::spawn(reader.run()));
        let (tasks, groups) = (TaskTracker::new(), Groups::default());
        let shared =
            Shared { connections: pool, tasks, clock, node, feed, groups, promise, commits: WorkDurations::default() };
        Ok(Self { shared: Arc::new(shared), _reader: reader })
    }

    /// Carries out what was begun, and closes the connections. Later calls fail.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.connections.close();
        Ok(())
    }

    /// Whether the store can be written and read. Flushes.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.write("write to the database", |transaction| async move {
            // Each commit writes its mark. A row would be one that another node may hold for long.
            transaction.commit_what_is_read();
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    /// The clock of the database, which everybody who uses this store must use: the clocks of several machines differ.
    pub fn clock(&self) -> DatabaseClock {
        self.shared.clock.clone()
    }

    /// The time from each COMMIT to its end, with what it took to resolve a doubtful one.
    pub fn commit_times(&self) -> &WorkDurations {
        &self.shared.commits
    }

    /// What a commit of this database promised when it was opened.
    pub fn commit_promise(&self) -> &CommitPromise {
        &self.shared.promise
    }

    /// A number that changes when keys, projects or operators may have changed. `None` if it is unknown at the moment.
    pub(crate) fn access_changes(&self) -> Option<u64> {
        self.shared.feed.access_writes()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

/// Refuses a server that this store cannot use.
async fn check_server(connection: &Connection) -> Result<(), OpenError> {
    let ask = || async {
        let sql = "SELECT current_setting('server_version_num')::int4 / 10000, current_setting('server_encoding')";
        connection.query_typed_one(sql, &[]).await.map_err(explained)
    };
    let record = ask().await.map_err(|source| OpenError::Connect { source })?;
    let (found, encoding) = (record.get::<_, i32>(0), record.get::<_, String>(1));
    if found < OLDEST_VERSION {
        return Err(OpenError::TooOld { found, needed: OLDEST_VERSION });
    }
    if encoding != "UTF8" {
        return Err(OpenError::Encoding { encoding });
    }
    Ok(())
}

async fn promise_of(connection: &Connection) -> Result<CommitPromise, BoxError> {
    let sql = "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
                      current_setting('fsync') = 'on'";
    let record = connection.query_typed_one(sql, &[]).await.map_err(explained)?;
    Ok(CommitPromise {
        synchronous_commit: record.get(0),
        synchronous_standby_names: record.get(1),
        fsync: record.get(2),
    })
}

async fn ask_time(connection: &Connection, clock: &DatabaseClock) -> Result<(), BoxError> {
    let asked = Instant::now();
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    let record = connection.query_typed_one(sql, &[]).await.map_err(explained)?;
    clock.observe(record.get(0), asked, Instant::now());
    Ok(())
}
