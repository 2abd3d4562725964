//! How many at a time wait for a beat where there is more to do than can be done.
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
/// So long it takes until a change has had its effect.
const SETTLING: Duration = Duration::from_millis(500);
/// What is kept up for so long may be less.
const CALM: Duration = Duration::from_secs(10);

/// The time between two turns of a stream, as whoever strikes the beats sees fit.
#[derive(Debug)]
pub(crate) struct Strain {
    thirds: u32,
    late: u32,
    since: Instant,
}

impl Strain {
    pub(crate) fn new() -> Self {
        Self { thirds: NONE, late: 0, since: Instant::now() }
    }

    /// A beat was struck, in time or not. Gives the time between turns from now on, in thirds of what it is without strain.
    pub(crate) fn after(&mut self, in_time: bool) -> u32 {
        let since = self.since.elapsed();
        if since < SETTLING {
            return self.thirds;
        }
        self.late = if in_time { self.late.saturating_sub(1) } else { self.late + 1 };
        let calm = since.as_nanos() / CALM.as_nanos();
        let thirds = if self.late == MANY {
            self.thirds + 1
        } else if calm > 0 && self.thirds > NONE {
            self.thirds.saturating_sub(u32::try_from(calm).unwrap_or(MOST))
        } else {
            return self.thirds;
        };
        self.late = 0;
        (self.thirds, self.since) = (thirds.clamp(NONE, MOST), Instant::now());
        self.thirds
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
        assert_eq!(after(&mut strain, 50 + 8, false).await, 3);
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
        assert_eq!(strain.after(true), 3, "nobody was there");
    }
}
