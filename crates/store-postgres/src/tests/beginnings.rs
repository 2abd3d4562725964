//! How a database begins, and which ones are refused.

use docent_types::Clock;

use super::cluster::Database;
use crate::{OpenError, PostgresStore};

async fn refused(database: &Database) -> OpenError {
    PostgresStore::connect(&database.url(), 2).await.expect_err("the database is refused")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn an_empty_database_is_prepared_and_opened_again() {
    let database = Database::new().await;
    for _ in 0..2 {
        let store = database.node().await;
        store.ready().await.expect("it can be written");
        store.close().await.expect("it closes");
        assert!(store.ready().await.is_err(), "a closed store is not written");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn nodes_that_begin_at_once_prepare_a_database_once() {
    let database = Database::new().await;
    let nodes = futures::future::join_all((0..6).map(|_| database.node())).await;
    for node in nodes {
        node.ready().await.expect("it can be written");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn a_database_of_a_newer_version_is_opened_until_that_version_needs_what_this_one_does_not_know() {
    let database = Database::new().await;
    drop(database.node().await);
    let client = database.client().await;
    client.batch_execute("UPDATE docent_schema SET version = version + 1").await.expect("a newer node was here");
    database.node().await.ready().await.expect("the new tables are not in the way");
    client.batch_execute("UPDATE docent_schema SET needed = version").await.expect("and changed what is used");
    let error = refused(&database).await;
    assert!(matches!(error, OpenError::Newer { .. }) && error.to_string().contains("newer version"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn the_database_of_another_program_is_refused() {
    let database = Database::new().await;
    database.client().await.batch_execute("CREATE TABLE invoices (n integer)").await.expect("a table");
    assert!(matches!(refused(&database).await, OpenError::Foreign));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn the_clock_is_that_of_the_database() {
    let database = Database::new().await;
    let store = database.node().await;
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let client = database.client().await;
    let before: i64 = client.query_one(sql, &[]).await.expect("a time").get(0);
    let ours = store.clock().now().millis();
    let after: i64 = client.query_one(sql, &[]).await.expect("a time").get(0);
    assert!((before - 50..=after + 50).contains(&ours), "{ours} is not between {before} and {after}");
}
