//! A cache of file contents in memory.
//!
//! An agent reads the same pages again and again, and so does the next job. Unpacking one costs a hundred times more
//! than a copy.

use std::fmt;
use std::sync::Arc;

use gix::ObjectId;
use lru::LruCache;
use parking_lot::Mutex;

/// Capacity of the cache in bytes, for all mirrors together.
const CAPACITY: usize = 64 << 20;
/// Largest cached content, in bytes: a larger one would evict hundreds of pages.
const LARGEST: usize = 256 << 10;

/// Content by id, the least recently used evicted first. Shared by all mirrors: an id has the same bytes everywhere.
pub(crate) struct Blobs(Mutex<Entries>);

struct Entries {
    by_id: LruCache<ObjectId, Arc<[u8]>>,
    /// Bytes of all entries.
    bytes: usize,
}

impl Default for Blobs {
    fn default() -> Self {
        Self(Mutex::new(Entries { by_id: LruCache::unbounded(), bytes: 0 }))
    }
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blobs").finish_non_exhaustive()
    }
}

impl Blobs {
    pub(crate) fn get(&self, id: ObjectId) -> Option<Arc<[u8]>> {
        self.0.lock().by_id.get(&id).cloned()
    }

    pub(crate) fn put(&self, id: ObjectId, bytes: &[u8]) {
        if bytes.len() > LARGEST {
            return;
        }
        let mut entries = self.0.lock();
        if entries.by_id.put(id, bytes.into()).is_none() {
            entries.bytes += cost(bytes);
        }
        while entries.bytes > CAPACITY
            && let Some((_, evicted)) = entries.by_id.pop_lru()
        {
            entries.bytes -= cost(&evicted);
        }
    }
}

/// The bytes counted for an entry: its content and a fixed overhead.
fn cost(bytes: &[u8]) -> usize {
    bytes.len() + 128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u32) -> ObjectId {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&n.to_be_bytes());
        ObjectId::from_bytes_or_panic(&bytes)
    }

    #[test]
    fn blobs_that_are_read_stay_cached() {
        let blobs = Blobs::default();
        let page = vec![7; 100 << 10];
        for n in 0..2_000 {
            blobs.put(id(n), &page);
            assert!(blobs.get(id(0)).is_some(), "read all the time, at {n}");
        }
        assert!(blobs.get(id(1)).is_none());
        assert!(blobs.get(id(1_999)).is_some());
        let entries = blobs.0.lock();
        assert_eq!(entries.bytes, entries.by_id.iter().map(|(_, bytes)| cost(bytes)).sum::<usize>());
        assert!(entries.bytes <= CAPACITY);
    }

    #[test]
    fn large_content_is_not_kept() {
        let blobs = Blobs::default();
        blobs.put(id(1), &vec![0; LARGEST + 1]);
        assert!(blobs.get(id(1)).is_none());
    }
}
