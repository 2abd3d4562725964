//! Decides what happens to an event after an attempt to deliver it.

use std::time::Duration;

use http::StatusCode;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The waits after each failed attempt. The attempt after the last wait is the last.
pub(crate) const RETRY_WAITS: [Duration; 6] = [
    Duration::from_secs(5),
    Duration::from_secs(5 * MINUTE),
    Duration::from_secs(30 * MINUTE),
    Duration::from_secs(2 * HOUR),
    Duration::from_secs(5 * HOUR),
    Duration::from_secs(10 * HOUR),
];
/// The longest `Retry-After` of a receiver that is respected.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * HOUR);
/// Maximum jitter as a share of the wait, so that events which failed together do not return together.
const JITTER: f64 = 0.2;

/// The result of an attempt. `status` is `None` when there was no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: Option<StatusCode>,
    pub(crate) retry_after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Delivered,
    Retry(Duration),
    GivenUp,
}

/// The verdict on an attempt. `failed` is the number of attempts that failed before this one, `draw` a number from 0 to
/// 1 for the jitter.
pub(crate) fn judge(answer: Answer, failed: u32, waits: &[Duration], draw: f64) -> Verdict {
    match (answer.status, waits.get(failed as usize)) {
        (Some(status), _) if status.is_success() => Verdict::Delivered,
        (Some(StatusCode::GONE), _) | (_, None) => Verdict::GivenUp,
        (_, Some(wait)) => {
            let requested = answer.retry_after.unwrap_or_default().min(MAX_RETRY_AFTER);
            Verdict::Retry(wait.mul_f64(1.0 + JITTER * draw).max(requested))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(status: u16, retry_after: Option<u64>) -> Answer {
        let status = (status > 0).then(|| StatusCode::from_u16(status).expect("a status"));
        Answer { status, retry_after: retry_after.map(Duration::from_secs) }
    }

    #[test]
    fn only_success_is_success_and_what_fails_is_tried_again_for_as_long_as_there_are_waits() {
        let retry = |seconds| Verdict::Retry(Duration::from_secs(seconds));
        for (answer, failed, verdict) in [
            (answer(200, None), 0, Verdict::Delivered),
            (answer(204, Some(9)), 6, Verdict::Delivered),
            (answer(500, None), 0, retry(5)),
            (answer(302, None), 1, retry(300)),
            (answer(0, None), 2, retry(1800)),
            (answer(404, None), 3, retry(7200)),
            (answer(429, None), 4, retry(18000)),
            (answer(503, None), 5, retry(36000)),
            (answer(503, Some(1)), 6, Verdict::GivenUp),
            (answer(410, Some(1)), 0, Verdict::GivenUp),
            (answer(503, Some(60)), 0, retry(60)),
            (answer(503, Some(1)), 0, retry(5)),
            (answer(503, Some(u64::MAX)), 0, retry(86400)),
        ] {
            assert_eq!(judge(answer, failed, &RETRY_WAITS, 0.0), verdict, "{answer:?} after {failed}");
        }
    }

    proptest! {
        #[test]
        fn waits_grow_with_the_attempts_and_are_never_shorter_than_asked(
            failed in 0_u32..5, draws in (0.0..=1.0, 0.0..=1.0), asked in proptest::option::of(0_u64..100_000),
        ) {
            let wait = |failed, draw, asked| match judge(answer(500, asked), failed, &RETRY_WAITS, draw) {
                Verdict::Retry(wait) => wait,
                other => panic!("{other:?}"),
            };
            prop_assert!(wait(failed, draws.0, None) < wait(failed + 1, draws.1, None));
            let asked_for = Duration::from_secs(asked.unwrap_or_default()).min(MAX_RETRY_AFTER);
            prop_assert!(wait(failed, draws.0, asked) >= asked_for.max(RETRY_WAITS[failed as usize]));
        }
    }
}
