//! The store's twin for tests.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use docent_types::{Domain, StoreError, ThreadId};

use crate::thread::{NewThread, Thread, Threads, Turn};

/// Threads in memory.
#[derive(Debug, Default)]
pub struct MemoryThreads(Mutex<HashMap<ThreadId, NewThread>>);

impl MemoryThreads {
    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, NewThread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Threads for MemoryThreads {
    async fn begin(&self, thread: NewThread) -> Result<(), StoreError> {
        self.threads().insert(thread.id, thread);
        Ok(())
    }

    async fn thread(&self, domain: &Domain, id: ThreadId) -> Result<Option<Thread>, StoreError> {
        let found = self.threads().get(&id).filter(|thread| thread.domain == *domain).cloned();
        Ok(found.map(|t| Thread { id: t.id, domain: t.domain, key: t.key, turns: t.turns }))
    }

    async fn put_turn(&self, id: ThreadId, turn: Turn, instead_of: Option<String>) -> Result<(), StoreError> {
        if let Some(thread) = self.threads().get_mut(&id) {
            let cut = instead_of.and_then(|gone| thread.turns.iter().position(|t| t.answer_id == gone));
            thread.turns.truncate(cut.unwrap_or(usize::MAX));
            match thread.turns.iter_mut().find(|t| t.answer_id == turn.answer_id) {
                Some(same) => *same = turn,
                None => thread.turns.push(turn),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_twin_conforms() {
        crate::conformance::threads(&super::MemoryThreads::default()).await;
    }
}
