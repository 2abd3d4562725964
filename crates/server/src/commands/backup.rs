//! `docent backup`: a complete, checked copy of the database, with or without a running server.

use std::time::Instant;

use docent_store::{BackupError, Existing, SqliteStore};
use serde_json::json;

use crate::cli::BackupArgs;
use crate::commands::quantity::bytes;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::database;

pub(crate) async fn run(args: &BackupArgs, config: &Config, json: bool) -> Result<(), Failure> {
    let source = database(&config.data);
    if !source.is_file() {
        // Opening the store would create a database, and the backup would be empty.
        let sentence = format!("there is no database in {}; name the data folder with --data", config.data.display());
        return Err(Failure::plain(sentence));
    }
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let began = Instant::now();
    let store = SqliteStore::open(source)?;
    let made = store.backup(&args.file, existing).await;
    store.close().await?;
    let made = made.map_err(|error| match error {
        BackupError::Exists { path } => {
            Failure::plain(format!("{} is there already; choose another name, or say --force", path.display()))
        }
        other => other.into(),
    })?;
    if json {
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        return output::json(&json!({ "file": made.path, "bytes": made.bytes, "millis": millis }));
    }
    output::line(format_args!("{}: {}, whole and sound", made.path.display(), bytes(made.bytes)))
}
