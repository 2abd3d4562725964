//! The sizes of the data folder's parts, and how to shrink a database.

use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::Finding;
use crate::commands::quantity::{bytes, counted};
use crate::data_folder::weight;
use crate::failure::Failure;
use crate::wiring::app::App;
use crate::wiring::storage::StoreSizes;

/// Free space in the database file is reported above both thresholds: in bytes, and as a fraction of the file
/// (1/`SHARE`).
const MUCH: u64 = 64 << 20;
const SHARE: u64 = 4;

/// Disk space in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiskUsage {
    store: StoreSizes,
    /// In bytes.
    mirrors: u64,
    indexes: u64,
}

impl DiskUsage {
    pub(super) async fn of(app: &App) -> Result<Self, Failure> {
        let store = app.store.sizes().await?;
        let data = app.config.data.clone();
        let weigh = move || (weight(&data.join("mirrors")), weight(&data.join("index")));
        let weighed = spawn_blocking(weigh).await;
        let (mirrors, indexes) =
            weighed.map_err(|error| Failure::new("could not look through the data folder", error))?;
        Ok(Self { store, mirrors, indexes })
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let Self { store, mirrors, indexes } = self;
        let database = bytes(store.database_bytes);
        let database = match &store.file {
            Some(file) => {
                format!(
                    "database {database} ({} of it free), its log {}",
                    bytes(file.free_bytes),
                    bytes(file.log_bytes)
                )
            }
            None => format!("database {database}"),
        };
        let mut findings = vec![
            Finding::Good(format!("{database}; mirrors {}, indexes {}", bytes(*mirrors), bytes(*indexes))),
            Finding::Good(format!(
                "kept: {} ({} active), {} of their journals, {}",
                counted(store.jobs, "job"),
                store.active_jobs,
                if store.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", store.entries) },
                counted(store.threads, "conversation")
            )),
        ];
        if let Some(file) = &store.file
            && !file.shrinks
            && file.free_bytes > MUCH
            && file.free_bytes > store.database_bytes / SHARE
        {
            findings.push(Finding::Note(format!(
                "{} of the database are free and are not given back to the disk, as an older version made the file; to make \
                 it smaller, stop the server, run `docent backup FILE`, and then `docent restore FILE`",
                bytes(file.free_bytes)
            )));
        }
        findings
    }

    pub(super) fn shown(&self) -> Value {
        let Self { store, mirrors, indexes } = self;
        let (mut database, mut log) = (json!({ "bytes": store.database_bytes }), Value::Null);
        if let Some(file) = &store.file {
            database["freeBytes"] = file.free_bytes.into();
            database["shrinks"] = file.shrinks.into();
            log = json!({ "bytes": file.log_bytes });
        }
        json!({
            "database": database,
            "log": log,
            "mirrors": { "bytes": mirrors },
            "indexes": { "bytes": indexes },
            "jobs": store.jobs,
            "activeJobs": store.active_jobs,
            "prunedJobs": store.pruned_jobs,
            "entries": store.entries,
            "threads": store.threads,
            "turns": store.turns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::storage::FileSpace;

    #[test]
    fn a_file_that_does_not_shrink_is_only_worth_a_word_when_much_of_it_is_free() {
        let parts = |file_bytes, free_bytes, shrinks| {
            let file = Some(FileSpace { log_bytes: 0, free_bytes, shrinks });
            let store = StoreSizes { database_bytes: file_bytes, file, ..StoreSizes::default() };
            DiskUsage { store, mirrors: 0, indexes: 0 }.findings().len()
        };
        assert_eq!(parts(100 << 20, 70 << 20, false), 3);
        assert_eq!(parts(100 << 20, 70 << 20, true), 2);
        assert_eq!(parts(1000 << 20, 70 << 20, false), 2);
        assert_eq!(parts(10 << 20, 9 << 20, false), 2);
    }
}
