//! How long streams wait for their turn where there is more to do than can be done.
//!
//! Beats that strike late again and again, or before those have had their turn that were woken at the last ones, are those of
//! a processor that is full. What it has to do then is less if each stream has its turn less often and says more at a time,
//! for all the others that wait for the processor as well. Once there is time, the turns become as frequent again, step by
//! step.

use std::time::Duration;

use tokio::time::Instant;

/// Turns are as often as they should be.
pub(crate) const NONE: u32 = 3;
/// In thirds of the time between two turns: they are no less often than this.
pub(crate) const MOST: u32 = 5;
/// So many beats at which there is no time, those between them at which there is taken off, are no accident.
const MANY: u32 = 10;
/// So long it takes until turns that are less often have had their effect.
const SETTLING: Duration = Duration::from_millis(500);
/// What is kept up for so long may be less.
const CALM: Duration = Duration::from_secs(10);
/// Where less was not enough each time, it is tried again after so long at last.
const LONGEST_CALM: Duration = Duration::from_secs(160);

/// The time between two turns of a stream, as whoever strikes the beats sees fit.
#[derive(Debug)]
pub(crate) struct Strain {
    thirds: u32,
    late: u32,
    changed: Instant,
    /// Whether that change was for more.
    has_risen: bool,
    calm: Duration,
}

impl Strain {
    pub(crate) fn new() -> Self {
        Self { thirds: NONE, late: 0, changed: Instant::now(), has_risen: false, calm: CALM }
    }

    /// A beat was struck, in time or not. Gives the time between turns from now on, in thirds of what it is without strain.
    pub(crate) fn after(&mut self, in_time: bool) -> u32 {
        let since = self.changed.elapsed();
        if self.has_risen && since < SETTLING {
            return self.thirds;
        }
        self.late = if in_time { self.late.saturating_sub(1) } else { self.late + 1 };
        if self.late == MANY {
            if self.thirds < MOST {
                let was_not_enough = !self.has_risen && since < CALM;
                self.calm = if was_not_enough { (2 * self.calm).min(LONGEST_CALM) } else { CALM };
            }
            self.changes(self.thirds + 1);
        } else if self.late == 0 && since >= self.calm && self.thirds > NONE {
            let calm = since.as_nanos() / self.calm.as_nanos();
            self.changes(self.thirds.saturating_sub(u32::try_from(calm).unwrap_or(MOST)));
        }
        self.thirds
    }

    fn changes(&mut self, thirds: u32) {
        let thirds = thirds.clamp(NONE, MOST);
        self.has_risen = thirds > self.thirds;
        (self.thirds, self.late, self.changed) = (thirds, 0, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// After so many beats, in time or not.
    async fn after(strain: &mut Strain, beats: u32, in_time: bool) -> u32 {
        let mut thirds = NONE;
        for _ in 0..beats {
            advance(Duration::from_millis(10)).await;
            thirds = strain.after(in_time);
        }
        thirds
    }

    #[tokio::test(start_paused = true)]
    async fn many_late_beats_stretch_the_turns_step_by_step_and_no_further_than_that() {
        let mut strain = Strain::new();
        assert_eq!(after(&mut strain, 9, false).await, 3);
        assert_eq!(after(&mut strain, 1, false).await, 4);
        assert_eq!(after(&mut strain, 50 + 8, false).await, 4, "it has hardly had its effect");
        assert_eq!(after(&mut strain, 1, false).await, 5);
        assert_eq!(after(&mut strain, 1_000, false).await, 5);
    }

    #[tokio::test(start_paused = true)]
    async fn late_beats_now_and_then_are_nothing() {
        let mut strain = Strain::new();
        for _ in 0..100 {
            after(&mut strain, 1, false).await;
            assert_eq!(after(&mut strain, 2, true).await, 3);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_are_in_time_for_a_while_the_turns_are_as_often_again() {
        let mut strain = Strain::new();
        assert_eq!(after(&mut strain, 200, false).await, 5);
        assert_eq!(after(&mut strain, 850, true).await, 5);
        assert_eq!(after(&mut strain, 150, true).await, 4);
        assert_eq!(after(&mut strain, 1_000, true).await, 3);
        after(&mut strain, 200, false).await;
        advance(CALM * 100).await;
        assert_eq!(after(&mut strain, 10, true).await, 3, "nobody was there");
    }
    #[tokio::test(start_paused = true)]
    async fn what_was_not_enough_is_tried_again_less_and_less_often() {
        let mut strain = Strain::new();
        after(&mut strain, 200, false).await;
        for seconds in [10, 20, 40, 80, 160, 160] {
            assert_eq!(after(&mut strain, 100 * seconds - 100, true).await, 5);
            assert_eq!(after(&mut strain, 150, true).await, 4);
            assert_eq!(after(&mut strain, 100, false).await, 5);
        }
    }
}
