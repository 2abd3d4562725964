//! The marks of transactions: ids that sort by the moment of their commit.

use std::time::Duration;

use docent_types::Timestamp;
use uuid::{NoContext, Uuid};

/// How long a mark is kept.
pub(crate) const KEPT: Duration = Duration::from_secs(10 * 60);

/// A new mark.
pub(crate) fn at(moment: Timestamp) -> Uuid {
    let millis = millis(moment);
    let nanos = u32::try_from(millis % 1000).unwrap_or_default() * 1_000_000;
    Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, millis / 1000, nanos))
}

/// The smallest mark of a moment, for comparisons.
pub(crate) fn first_at(moment: Timestamp) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(millis(moment), &[0; 10]).into_uuid()
}

fn millis(moment: Timestamp) -> u64 {
    u64::try_from(moment.millis()).unwrap_or_default()
}
