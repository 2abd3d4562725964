//! Notifies streams and waiting requests when a key stops being valid.
//!
//! A key is checked when a request arrives. An answer may last for hours and outlive the key, so it is notified. One
//! task watches each key while it has waiters. It reads the storage only after a change.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{Clock, StoreError};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::access_cache::AccessCache;
use crate::admit::{Denial, check_key};
use crate::key::KeyHash;

/// Interval at which a key is checked. Together with the time until a storage notices a write of another process, at most
/// 400 ms, this is under a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Signals when one key stops being valid.
#[derive(Debug, Clone)]
pub struct KeyWatch(watch::Receiver<Option<Denial>>);

impl KeyWatch {
    /// Waits until the key is revoked or expires; returns the reason.
    pub async fn ended(&mut self) -> Denial {
        match self.0.wait_for(Option::is_some).await.map(|denial| denial.clone()) {
            Ok(Some(denial)) => denial,
            // The watching task is gone: the runtime shuts down.
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Waits for `work`, but no longer than the key is valid.
    ///
    /// # Errors
    /// The reason why the key is no longer valid; `work` is dropped then.
    pub async fn unless_ended<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Denial> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            denial = self.ended() => Err(denial),
        }
    }
}

/// The keys that have waiters.
pub(crate) struct KeyWatches {
    cache: Arc<AccessCache>,
    clock: Arc<dyn Clock>,
    watched: Mutex<HashMap<KeyHash, watch::Sender<Option<Denial>>>>,
}

impl KeyWatches {
    pub(crate) fn new(cache: Arc<AccessCache>, clock: Arc<dyn Clock>) -> Self {
        Self { cache, clock, watched: Mutex::default() }
    }

    /// Watches a key, if it is not watched already. Must be called on a runtime.
    pub(crate) fn of(self: &Arc<Self>, key: KeyHash) -> KeyWatch {
        match self.watched.lock().entry(key) {
            Entry::Occupied(known) => KeyWatch(known.get().subscribe()),
            Entry::Vacant(new) => {
                let (sender, receiver) = watch::channel(None);
                new.insert(sender);
                tokio::spawn(Arc::clone(self).watch(key));
                KeyWatch(receiver)
            }
        }
    }

    async fn watch(self: Arc<Self>, key: KeyHash) {
        loop {
            sleep(CHECK_INTERVAL).await;
            match self.denial(&key).await {
                Ok(Some(denial)) => {
                    if let Some(sender) = self.watched.lock().remove(&key) {
                        sender.send_replace(Some(denial));
                    }
                    return;
                }
                Ok(None) => {}
                // If the storage cannot be read, an admitted caller remains admitted.
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not look up a key"),
            }
            if let Entry::Occupied(sender) = self.watched.lock().entry(key)
                && sender.get().receiver_count() == 0
            {
                sender.remove();
                return;
            }
        }
    }

    async fn denial(&self, key: &KeyHash) -> Result<Option<Denial>, StoreError> {
        let record = self.cache.key(self.cache.version(), key).await?;
        Ok(check_key(record.as_deref(), key, self.clock.now()).err())
    }
}

impl fmt::Debug for KeyWatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyWatches").finish_non_exhaustive()
    }
}
