//! Databases of their own, on the server of the tests: `DOCENT_TEST_POSTGRES` is its URL. `DOCENT_TEST_POOLER` is that of a
//! pooler before it, by way of which the stores go then.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_postgres::{AsyncMessage, NoTls};
use uuid::Uuid;

use crate::PostgresStore;

/// Connections of a store in a test.
const CONNECTIONS: usize = 8;

/// A database that is removed at the end of its test.
pub(crate) struct Database {
    server: String,
    /// What the stores connect to: the server, or a pooler before it.
    entrance: String,
    name: String,
}

impl Database {
    /// An empty database.
    pub(crate) async fn new() -> Self {
        let server = std::env::var("DOCENT_TEST_POSTGRES")
            .expect("DOCENT_TEST_POSTGRES is the URL of a PostgreSQL server: see `cargo xtask test --only postgres`");
        let name = format!("docent_test_{}", Uuid::new_v4().simple());
        run(&server, &format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")).await;
        let entrance = std::env::var("DOCENT_TEST_POOLER").unwrap_or_else(|_| server.clone());
        Self { server, entrance, name }
    }

    /// Its URL for stores.
    pub(crate) fn url(&self) -> String {
        url_of(&self.entrance, &self.name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where that leads.
    pub(crate) fn address(&self) -> SocketAddr {
        let config: tokio_postgres::Config = self.entrance.parse().expect("a URL");
        let (host, port) = (&config.get_hosts()[0], config.get_ports().first().copied().unwrap_or(5432));
        let tokio_postgres::config::Host::Tcp(host) = host else { panic!("the server of the tests listens on TCP") };
        SocketAddr::new(host.parse().expect("an address"), port)
    }

    /// Its URL by way of a proxy.
    pub(crate) fn url_at(&self, proxy: SocketAddr) -> String {
        self.url().replace(&self.address().to_string(), &proxy.to_string())
    }

    /// A store on it: one more node.
    pub(crate) async fn node(&self) -> Arc<PostgresStore> {
        Arc::new(PostgresStore::connect(&self.url(), CONNECTIONS).await.expect("the database opens"))
    }

    /// A connection to it that is not a store's.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        client(&url_of(&self.server, &self.name)).await
    }

    /// Counts the signals on a channel.
    pub(crate) async fn heard(&self, channel: &str) -> Arc<AtomicU64> {
        let url = url_of(&self.server, &self.name);
        let (client, mut connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server answers");
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                if matches!(message, AsyncMessage::Notification(_)) {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        client.batch_execute(&format!("LISTEN {channel}")).await.expect("it listens");
        // It listens for as long as the test runs.
        std::mem::forget(client);
        count
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (server, sql) = (self.server.clone(), format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        let removed = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(run(&server, &sql));
        });
        let _ = removed.join();
    }
}

/// The URL of a server with a database's name.
fn url_of(server: &str, name: &str) -> String {
    let (head, query) =
        server.split_once('?').map_or((server, String::new()), |(head, query)| (head, format!("?{query}")));
    let (scheme, rest) = head.split_once("://").expect("a URL");
    let authority = rest.split('/').next().unwrap_or(rest);
    format!("{scheme}://{authority}/{name}{query}")
}

async fn client(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server of the tests answers");
    tokio::spawn(connection);
    client
}

async fn run(server: &str, sql: &str) {
    client(server).await.batch_execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, is_so: impl AsyncFn() -> bool) {
    const LIMIT: Duration = Duration::from_secs(30);
    let begun = std::time::Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < LIMIT, "waited too long: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
