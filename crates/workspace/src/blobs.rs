//! A cache of file contents in memory.
//!
//! An agent reads the same pages again and again, and so does the next job. Unpacking one costs a hundred times more
//! than a copy.

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::Arc;

use gix::ObjectId;
use parking_lot::Mutex;

/// Capacity of the cache in bytes, for all mirrors together.
const CAPACITY: usize = 64 << 20;
/// Largest cached content, in bytes: a larger one would evict hundreds of pages.
const LARGEST: usize = 256 << 10;

/// Content by id. Shared by all mirrors: an id has the same bytes everywhere.
///
/// Two generations: what is read goes into the young one. When that reaches half of the capacity it becomes the old
/// one, and what was in the old one without being read meanwhile is evicted.
#[derive(Default)]
pub(crate) struct Blobs(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<ObjectId, Arc<[u8]>>,
    old: HashMap<ObjectId, Arc<[u8]>>,
    /// Bytes in the young generation.
    size: usize,
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blobs").finish_non_exhaustive()
    }
}

impl Blobs {
    pub(crate) fn get(&self, id: ObjectId) -> Option<Arc<[u8]>> {
        let mut kept = self.0.lock();
        if let Some(bytes) = kept.young.get(&id) {
            return Some(Arc::clone(bytes));
        }
        let bytes = kept.old.remove(&id)?;
        kept.put(id, Arc::clone(&bytes));
        Some(bytes)
    }

    pub(crate) fn put(&self, id: ObjectId, bytes: &[u8]) {
        if bytes.len() <= LARGEST {
            self.0.lock().put(id, bytes.into());
        }
    }
}

impl Generations {
    fn put(&mut self, id: ObjectId, bytes: Arc<[u8]>) {
        // A small page also costs a fixed overhead.
        let size = bytes.len() + 128;
        if self.size + size > CAPACITY / 2 {
            self.old = mem::take(&mut self.young);
            self.size = 0;
        }
        if self.young.insert(id, bytes).is_none() {
            self.size += size;
        }
    }
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
    fn what_is_read_stays_and_what_is_not_goes() {
        let blobs = Blobs::default();
        let page = vec![7; 100 << 10];
        for n in 0..2_000 {
            blobs.put(id(n), &page);
            assert!(blobs.get(id(0)).is_some(), "read all the time, at {n}");
        }
        assert!(blobs.get(id(1)).is_none());
        assert!(blobs.get(id(1_999)).is_some());
        let held = |kept: &HashMap<ObjectId, Arc<[u8]>>| kept.values().map(|bytes| bytes.len()).sum::<usize>();
        let kept = blobs.0.lock();
        assert!(held(&kept.young) + held(&kept.old) <= CAPACITY);
    }

    #[test]
    fn large_content_is_not_kept() {
        let blobs = Blobs::default();
        blobs.put(id(1), &vec![0; LARGEST + 1]);
        assert!(blobs.get(id(1)).is_none());
    }
}
