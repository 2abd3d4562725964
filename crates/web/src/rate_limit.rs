//! A caller's quota, in the IETF's `RateLimit` fields.

use std::time::Duration;

use docent_types::QuotaStatus;
use http::{HeaderMap, HeaderName, HeaderValue};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Sets the two headers: `RateLimit: "default";r=0;t=12` and `RateLimit-Policy: "default";q=100;w=3600`.
pub fn rate_limit(headers: &mut HeaderMap, quota_status: &QuotaStatus) {
    let QuotaStatus { limit, window, remaining, retry_after } = quota_status;
    let left = format!(r#""default";r={remaining};t={}"#, whole_seconds(*retry_after));
    let policy = format!(r#""default";q={limit};w={}"#, whole_seconds(*window));
    for (name, value) in [(RATE_LIMIT, left), (RATE_LIMIT_POLICY, policy)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

/// Rounded up: a client that waits this long never comes too early.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}

/// The value of `Retry-After`, also for sentences that name it: whole seconds, rounded up, at least 1, because 0
/// invites a retry loop.
pub fn retry_after_seconds(wait: Duration) -> u64 {
    whole_seconds(wait).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_is_written_as_structured_fields() {
        let mut headers = HeaderMap::new();
        let quota_status = QuotaStatus {
            limit: 100,
            window: Duration::from_secs(3600),
            remaining: 0,
            retry_after: Duration::from_millis(11_001),
        };
        rate_limit(&mut headers, &quota_status);
        assert_eq!(headers["ratelimit"], r#""default";r=0;t=12"#);
        assert_eq!(headers["ratelimit-policy"], r#""default";q=100;w=3600"#);
        let quota_status = QuotaStatus { limit: u32::MAX, window: Duration::MAX, ..quota_status };
        rate_limit(&mut headers, &quota_status);
        let most = format!(r#""default";q={};w={}"#, u32::MAX, u64::MAX);
        assert_eq!(headers["ratelimit-policy"], most);
    }

    #[test]
    fn seconds_are_rounded_up() {
        for (millis, seconds) in [(0, 0), (1, 1), (1000, 1), (1001, 2)] {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds);
            assert_eq!(retry_after_seconds(Duration::from_millis(millis)), seconds.max(1));
        }
    }
}
