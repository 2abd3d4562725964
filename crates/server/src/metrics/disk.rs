//! What the data folder takes of the disk. The folders of a large server hold many files, so they are looked through in
//! the background and not for each scrape.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::fs::statvfs;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::text::{Exposition, MetricKind};
use crate::data_folder::{database, weight};

/// Pause between two looks through the folders.
const INTERVAL: Duration = Duration::from_secs(60);

/// The sizes of the data folder's parts as last seen, in bytes. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct DiskUse(Arc<Mutex<Vec<(&'static str, u64)>>>);

impl DiskUse {
    /// Looks through the data folder until the server drains.
    pub(crate) async fn keep(self, data: PathBuf, drain: CancellationToken) {
        let look = async {
            loop {
                let data = data.clone();
                if let Ok(parts) = spawn_blocking(move || parts(&data)).await {
                    *self.0.lock() = parts;
                }
                tokio::time::sleep(INTERVAL).await;
            }
        };
        drain.run_until_cancelled(look).await;
    }

    pub(super) fn write(&self, text: &mut Exposition, data: &Path) {
        let help = "What the parts of the data folder take of the disk, looked up once a minute.";
        let mut family = text.family("docent_data_bytes", MetricKind::Gauge, help);
        for (part, bytes) in &*self.0.lock() {
            family.sample(&[("part", part)], *bytes);
        }
        let Ok(disk) = statvfs(data) else { return };
        text.family("docent_disk_free_bytes", MetricKind::Gauge, "What is free on the disk of the data folder.")
            .sample(&[], disk.f_bavail.saturating_mul(disk.f_frsize));
        text.family("docent_disk_size_bytes", MetricKind::Gauge, "The size of the disk of the data folder.")
            .sample(&[], disk.f_blocks.saturating_mul(disk.f_frsize));
    }
}

fn parts(data: &Path) -> Vec<(&'static str, u64)> {
    let file = |path: PathBuf| std::fs::metadata(path).map_or(0, |found| found.len());
    vec![
        ("database", file(database(data))),
        ("log", file(data.join("docent.db-wal"))),
        ("mirrors", weight(&data.join("mirrors"))),
        ("indexes", weight(&data.join("index"))),
    ]
}
