//! Reproducible random numbers: they follow from a seed and are the same on every machine.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A source of numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        // The first number is dropped, so that neighbouring seeds have unrelated sequences.
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        chance.number();
        chance
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.number()) << 64 | u128::from(self.number())
    }

    /// One of the whole numbers of a range.
    pub(crate) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (least, most) = (*range.start(), *range.end());
        least + self.number() % (most - least + 1)
    }

    /// An index below `places`, which is at least 1.
    pub(crate) fn place(&mut self, places: usize) -> usize {
        usize::try_from(self.number() % places as u64).unwrap_or_default()
    }

    /// A number from 0 (inclusive) to 1 (exclusive).
    pub(crate) fn part(&mut self) -> f64 {
        // An `f64` below 1 has 53 bits of precision.
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub(crate) fn happens(&mut self, odds: f64) -> bool {
        self.part() < odds
    }

    pub(crate) fn millis(&mut self, range: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.within(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_seed_others() {
        let numbers = |seed| {
            let mut chance = Chance::new(seed);
            (0..100).map(|_| chance.within(1..=1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!(numbers(3).iter().all(|number| (1..=1_000_000).contains(number)));
    }

    #[test]
    fn chances_come_true_at_their_rate() {
        let mut chance = Chance::new(7);
        let happened = (0..10_000).filter(|_| chance.happens(0.3)).count();
        assert!((2_800..3_200).contains(&happened), "{happened}");
    }
}
