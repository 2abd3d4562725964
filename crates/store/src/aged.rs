//! A map that forgets: of what was put into it, the newest so many are there.

use std::collections::HashMap;
use std::hash::Hash;

// Ids that are made here are what things are known by: nobody chooses them.
use foldhash::fast::RandomState;

/// Holds between `SPAN` and twice as many. Those of `old` go when `young` is full.
#[derive(Debug)]
pub(crate) struct Aged<K, V> {
    young: HashMap<K, V, RandomState>,
    old: HashMap<K, V, RandomState>,
}

const SPAN: usize = 2048;

impl<K, V> Default for Aged<K, V> {
    fn default() -> Self {
        Self { young: HashMap::default(), old: HashMap::default() }
    }
}

impl<K: Eq + Hash, V> Aged<K, V> {
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= SPAN {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        if !self.old.is_empty() {
            self.old.remove(&key);
        }
        self.young.insert(key, value);
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    pub(crate) fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}
