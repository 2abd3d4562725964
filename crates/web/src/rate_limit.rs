//! A caller's quota in the IETF's `RateLimit` header fields.

use docent_types::{QuotaStatus, retry_after_seconds};
use http::{HeaderMap, HeaderName, HeaderValue};

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Sets the two headers: `RateLimit: "default";r=0;t=12` and `RateLimit-Policy: "default";q=100;w=3600`.
pub fn rate_limit(headers: &mut HeaderMap, quota_status: &QuotaStatus) {
    let QuotaStatus { limit, window, remaining, retry_after } = quota_status;
    let wait = if retry_after.is_zero() { 0 } else { retry_after_seconds(*retry_after) };
    let left = format!(r#""default";r={remaining};t={wait}"#);
    let policy = format!(r#""default";q={limit};w={}"#, retry_after_seconds(*window));
    for (name, value) in [(RATE_LIMIT, left), (RATE_LIMIT_POLICY, policy)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
    fn a_caller_with_uses_left_need_not_wait() {
        let mut headers = HeaderMap::new();
        let window = Duration::from_secs(60);
        rate_limit(&mut headers, &QuotaStatus { limit: 2, window, remaining: 1, retry_after: Duration::ZERO });
        assert_eq!(headers["ratelimit"], r#""default";r=1;t=0"#);
    }
}
