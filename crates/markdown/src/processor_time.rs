//! The processor time of a call on its thread, which other programs on the machine do not lengthen.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub(crate) fn processor_time(call: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap_or_default())
    };
    let before = now();
    call();
    now().saturating_sub(before)
}
