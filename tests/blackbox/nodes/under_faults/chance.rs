//! Numbers that follow from a seed.

use std::hash::{BuildHasher, Hasher, RandomState};

/// SplitMix64.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn of(seed: usize) -> Self {
        Self(seed as u64)
    }

    /// Another seed each time.
    pub(super) fn new_seed() -> usize {
        usize::from(u16::from_le_bytes(
            *RandomState::new().build_hasher().finish().to_le_bytes().first_chunk().expect("8"),
        ))
    }

    /// Numbers of their own, which follow from the same seed.
    pub(super) fn fork(&self, n: usize) -> Self {
        let mut fork = Self(self.0 ^ (n as u64 + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        fork.below(1);
        fork
    }

    /// A number below this one, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("it is below a usize")
    }

    pub(super) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            all.swap(last, self.below(last + 1));
        }
    }
}
