//! `docent restore`: puts a checked backup in the place of the database.

use std::time::Instant;

use docent_access::Projects as _;
use docent_search::Indexes;
use docent_store::CheckedBackup;
use docent_types::{Clock as _, SystemClock};
use serde_json::json;

use crate::cli::RestoreArgs;
use crate::commands::quantity::{bytes, counted};
use crate::config::{Config, StoreConfig};
use crate::data_folder::{ServeLock, database};
use crate::failure::Failure;
use crate::output;
use crate::wiring::privacy;
use crate::wiring::storage::open_sqlite;

pub(crate) async fn run(args: &RestoreArgs, config: &Config, json: bool) -> Result<(), Failure> {
    if let StoreConfig::Postgres(postgres) = &config.store {
        return Err(Failure::plain(format!(
            "the data is in {postgres}, and PostgreSQL's own programs restore it: stop all servers on it, then run \
             `pg_restore --clean --if-exists --dbname={postgres} {}`",
            args.file.display()
        )));
    }
    let (data, database) = (&config.data, database(&config.data));
    let began = Instant::now();
    // Where a server runs, nothing is looked at; where there is no data folder, none is made for a file that is no backup.
    let lock = if database.exists() { Some(ServeLock::take(data).await?) } else { None };
    let backup = CheckedBackup::open(&args.file)?;
    privacy::secure(data)?;
    let _lock = match lock {
        Some(lock) => lock,
        None => ServeLock::take(data).await?,
    };
    let restored = backup.restore_to(&database, SystemClock.now())?;
    let projects = finish(config).await.map_err(|failure| failure.then("the backup is in its place all the same"))?;
    if json {
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        return output::json(&json!({
            "database": database, "bytes": restored.bytes, "projects": projects, "replaced": restored.replaced,
            "millis": millis,
        }));
    }
    let (size, projects) = (bytes(restored.bytes), counted(projects as u64, "project"));
    output::line(format_args!("{}: {size}, {projects}, whole and sound", database.display()))?;
    if let Some(replaced) = restored.replaced {
        output::print_note(format_args!("The database that was there is now {}.", replaced.display()));
    }
    Ok(())
}

/// Opens the restored database, which brings its schema up to date, and removes the indexes of projects that are not in
/// it. The other indexes and the mirrors stay: they are caches of the repositories. Returns the number of projects.
async fn finish(config: &Config) -> Result<usize, Failure> {
    let store = open_sqlite(&config.data)?;
    let projects = store.projects().await?;
    Indexes::new(config.data.join("index")).retain(&projects.iter().map(|project| project.uid).collect())?;
    store.close().await?;
    Ok(projects.len())
}
