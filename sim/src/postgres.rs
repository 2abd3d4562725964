//! Worlds whose disk is a PostgreSQL database: what the engine promises holds on that store, too.

use std::sync::Arc;

use docent_jobs::Store;
use docent_store_postgres::PostgresStore;
use parking_lot::Mutex;
use tokio::runtime::{Handle, Runtime};
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::disk::Stores;
use crate::story::{run, run_on};

const CONNECTIONS: usize = 8;

/// Databases on the server that `$DOCENT_TEST_POSTGRES` names, by its URL. They are removed in the end.
struct Databases {
    server: String,
    names: Mutex<Vec<String>>,
}

impl Databases {
    async fn command(&self, sql: &str) {
        let (client, connection) = tokio_postgres::connect(&self.server, NoTls).await.expect("the server answers");
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    async fn empty(&self) -> Arc<dyn Store> {
        let name = format!("docent_sim_{}", Uuid::new_v4().simple());
        self.command(&format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")).await;
        let (address, _) = self.server.rsplit_once('/').expect("a URL with a database");
        let store =
            PostgresStore::connect(&format!("{address}/{name}"), CONNECTIONS).await.expect("the database opens");
        self.names.lock().push(name);
        Arc::new(store)
    }

    async fn remove(&self) {
        let names = std::mem::take(&mut *self.names.lock());
        for name in names {
            self.command(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}

/// Runs the work on a runtime, from a thread that may have one of its own.
fn on<T: Send + 'static>(runtime: &Handle, work: impl Future<Output = T> + Send + 'static) -> T {
    let (reply, replied) = std::sync::mpsc::sync_channel(1);
    runtime.spawn(async move { reply.send(work.await) });
    replied.recv().expect("it does not panic")
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn worlds_are_the_same_on_postgres_as_in_memory() {
    let number = |variable: &str, otherwise: u64| {
        std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("${variable}: {text}")))
    };
    let (first, count) = (number("DOCENT_SEED", 1), number("DOCENT_WORLDS", 1));
    let server = std::env::var("DOCENT_TEST_POSTGRES").expect("$DOCENT_TEST_POSTGRES is the URL of a server");
    let runtime = Runtime::new().expect("a runtime is made");
    let databases = Arc::new(Databases { server, names: Mutex::default() });
    let handle = runtime.handle().clone();
    for seed in first..first + count {
        let begun = std::time::Instant::now();
        let (making, on_handle) = (Arc::clone(&databases), handle.clone());
        let empty = Arc::new(move || {
            let making = Arc::clone(&making);
            on(&on_handle, async move { making.empty().await })
        });
        let on_postgres = run_on(Stores { empty, runtime: Some(handle.clone()) }, seed, None, true);
        let removing = Arc::clone(&databases);
        on(&handle, async move { removing.remove().await });
        let in_memory = run(seed, None, true);
        assert!(on_postgres.violations.is_empty(), "world {seed}: {:#?}", on_postgres.violations);
        let differs = on_postgres.trace.iter().zip(&in_memory.trace).find(|(one, other)| one != other);
        assert_eq!(differs, None, "world {seed} goes another way");
        assert_eq!(on_postgres.digest, in_memory.digest, "world {seed} goes another way");
        println!("world {seed}: {} lines, {:.1?}", in_memory.trace.len(), begun.elapsed());
    }
}
