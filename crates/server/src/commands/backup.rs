//! `docent backup`: a complete, checked copy of the database, with or without a running server.

use std::time::Instant;

use docent_store::{BackupError, Existing};
use serde_json::json;

use crate::cli::BackupArgs;
use crate::commands::quantity::bytes;
use crate::config::{Config, StoreConfig};
use crate::data_folder::owner_of;
use crate::failure::Failure;
use crate::output;
use crate::wiring::storage::open_sqlite;

pub(crate) async fn run(args: &BackupArgs, config: &Config, json: bool) -> Result<(), Failure> {
    if let StoreConfig::Postgres(postgres) = &config.store {
        return Err(Failure::plain(format!(
            "the data is in {postgres}, and PostgreSQL's own programs copy it: `pg_dump --format=custom --file={} {postgres}`",
            args.file.display()
        )));
    }
    if let Some(owner) = owner_of(&args.file, &config.data) {
        return Err(Failure::plain(format!(
            "{} lies among the files of the data folder {}, which a backup must not touch; choose a file outside of it",
            args.file.display(),
            owner.display()
        )));
    }
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let began = Instant::now();
    let store = open_sqlite(&config.data)?;
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
