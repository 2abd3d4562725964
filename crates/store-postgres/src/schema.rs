//! The tables: creates them, migrates them to this version, and refuses a database that this version must not use.

use docent_types::BoxError;

use crate::connections::Connection;
use crate::error::{OpenError, explained};
use crate::params::params;

/// One step of the schema. A released one is never changed.
#[derive(Debug)]
pub(crate) struct Migration {
    sql: &'static str,
    /// Whether versions that do not know it can no longer use the database. Nodes of two versions run side by side
    /// during an upgrade, so a change that breaks the older ones takes two releases.
    is_breaking: bool,
}

const fn step(sql: &'static str) -> Migration {
    Migration { sql, is_breaking: false }
}

/// The steps, in order; `docent_schema.version` counts those that were run.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("schema/1-commits.sql"), is_breaking: true },
    step(include_str!("schema/2-jobs.sql")),
    step(include_str!("schema/3-outbox.sql")),
    step(include_str!("schema/4-access.sql")),
    step(include_str!("schema/5-operators.sql")),
    step(include_str!("schema/6-assistant.sql")),
    step(include_str!("schema/7-forge.sql")),
    step(include_str!("schema/8-replies.sql")),
];

/// Held while the tables are looked at and changed: "Docn".
const LOCK: i64 = 0x446f_636e;

/// Runs the steps that the database lacks. Two nodes that begin at once do so one after the other.
pub(crate) async fn migrate(connection: &Connection, steps: &[Migration]) -> Result<(), OpenError> {
    let failed = |source| OpenError::Migrate { source };
    if read_version(connection).await.map_err(failed)?.is_some_and(|found| found.version == steps.len()) {
        return Ok(());
    }
    let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = 0";
    run(connection, begin).await.map_err(failed)?;
    let migrated = migrate_alone(connection, steps).await;
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    run(connection, end).await.map_err(failed)?;
    migrated
}

async fn migrate_alone(connection: &Connection, steps: &[Migration]) -> Result<(), OpenError> {
    let failed = |source| OpenError::Migrate { source };
    let locked = connection.query_typed("SELECT pg_advisory_xact_lock($1)", params![LOCK]).await;
    locked.map_err(explained).map_err(failed)?;
    let found = read_version(connection).await.map_err(failed)?;
    let version = match found {
        Some(found) if found.needed > steps.len() => {
            return Err(OpenError::Newer { found: found.version, known: steps.len() });
        }
        Some(found) => found.version,
        None if has_table(connection, "").await.map_err(failed)? => return Err(OpenError::Foreign),
        None => {
            run(connection, include_str!("schema/0-version.sql")).await.map_err(failed)?;
            0
        }
    };
    for (index, step) in steps.iter().enumerate().skip(version) {
        run(connection, step.sql).await.map_err(failed)?;
        let (version, needed) = (number(index + 1), step.is_breaking.then(|| number(index + 1)));
        let sql = "UPDATE docent_schema SET version = $1, needed = coalesce($2, needed)";
        let updated = connection.execute_typed(sql, params![version, needed]).await;
        updated.map_err(explained).map_err(failed)?;
    }
    Ok(())
}

fn number(steps: usize) -> i32 {
    i32::try_from(steps).unwrap_or(i32::MAX)
}

/// What a database says about its tables.
#[derive(Debug)]
struct Version {
    /// The number of steps that were run.
    version: usize,
    /// The number of steps that a program must know to use it.
    needed: usize,
}

async fn read_version(connection: &Connection) -> Result<Option<Version>, BoxError> {
    if !has_table(connection, "docent_schema").await? {
        return Ok(None);
    }
    let read = "SELECT version, needed FROM docent_schema";
    let record = connection.query_typed_one(read, &[]).await.map_err(explained)?;
    let count = |index| usize::try_from(record.get::<_, i32>(index)).unwrap_or(usize::MAX);
    Ok(Some(Version { version: count(0), needed: count(1) }))
}

/// Whether there is a table whose name begins so.
async fn has_table(connection: &Connection, name: &str) -> Result<bool, BoxError> {
    let sql =
        "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, $1))";
    Ok(connection.query_typed_one(sql, params![name]).await.map_err(explained)?.get(0))
}

async fn run(connection: &Connection, sql: &str) -> Result<(), BoxError> {
    connection.batch_execute(sql).await.map_err(explained)
}
