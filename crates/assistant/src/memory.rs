//! The store's twin for tests.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use docent_types::{Domain, StoreError, ThreadId, Timestamp};

use crate::export::{Conversation, Export, ExportCursor, ExportQuery, Filled};
use crate::thread::{Feedback, NewThread, Thread, Threads, Turn};

/// Threads in memory.
#[derive(Debug, Default)]
pub struct MemoryThreads(Mutex<HashMap<ThreadId, NewThread>>);

impl MemoryThreads {
    fn threads(&self) -> MutexGuard<'_, HashMap<ThreadId, NewThread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn touched_at(thread: &NewThread) -> Timestamp {
    let moments = thread.turns.iter().flat_map(|turn| [Some(turn.asked_at), turn.feedback.as_ref().map(|f| f.at)]);
    moments.flatten().fold(thread.created_at, Timestamp::max)
}

fn conversation(thread: &NewThread) -> Conversation {
    Conversation {
        id: thread.id,
        fp: thread.fp.clone(),
        began_at: thread.created_at,
        touched_at: touched_at(thread),
        turns: thread.turns.clone(),
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
                Some(same) => *same = Turn { feedback: same.feedback.take(), ..turn },
                None => thread.turns.push(turn),
            }
        }
        Ok(())
    }

    async fn rate(
        &self,
        domain: &Domain,
        id: ThreadId,
        answer_id: &str,
        feedback: Feedback,
    ) -> Result<bool, StoreError> {
        let mut threads = self.threads();
        let thread = threads.get_mut(&id).filter(|thread| thread.domain == *domain);
        let turn = thread.and_then(|thread| thread.turns.iter_mut().find(|turn| turn.answer_id == answer_id));
        Ok(turn.map(|turn| turn.feedback = Some(feedback)).is_some())
    }

    async fn export(&self, query: ExportQuery) -> Result<Export, StoreError> {
        let threads = self.threads();
        let place = |thread: &NewThread| ExportCursor { began_at: thread.created_at, id: thread.id };
        let mut found: Vec<&NewThread> = threads
            .values()
            .filter(|thread| thread.domain == query.domain)
            .filter(|thread| query.from.is_none_or(|from| thread.created_at >= from))
            .filter(|thread| query.to.is_none_or(|to| thread.created_at < to))
            .filter(|thread| query.after.is_none_or(|after| place(thread) < after))
            .collect();
        found.sort_by_key(|thread| std::cmp::Reverse(place(thread)));
        let mut filled = Filled::default();
        let fits = |thread: &&&NewThread| filled.takes(&query, thread.turns.iter().map(Turn::stored_bytes).sum());
        let conversations: Vec<Conversation> =
            found.iter().take_while(fits).map(|thread| conversation(thread)).collect();
        let goes_on = conversations.len() < found.len();
        Ok(Export::page(conversations, goes_on))
    }

    async fn forget(&self, untouched_since: Timestamp, limit: u32) -> Result<u32, StoreError> {
        let mut threads = self.threads();
        let old = threads.values().filter(|thread| touched_at(thread) < untouched_since).map(|thread| thread.id);
        let old: Vec<ThreadId> = old.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
        for id in &old {
            threads.remove(id);
        }
        Ok(u32::try_from(old.len()).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_twin_conforms() {
        crate::conformance::threads(&super::MemoryThreads::default()).await;
    }
}
