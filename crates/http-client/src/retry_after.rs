//! The delay that a server asks for before the next request.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

/// How long to wait before a retry, from the answer's headers: `retry-after-ms` (milliseconds), or `Retry-After` in
/// seconds, fractions allowed, or as a date. A date in the past is no wait; a value that cannot be parsed is `None`.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let exact = text("retry-after-ms").and_then(number).map(|milliseconds| milliseconds / 1_000.0);
    if let Some(wait) = exact.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        return Some(wait);
    }
    let value = text("retry-after")?;
    match number(value) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()),
    }
}

/// A plain decimal number: digits with an optional point. No sign, no exponent, no `inf`.
fn number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn now() -> SystemTime {
        httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").expect("a date")
    }

    fn parsed(name: &'static str, value: &str) -> Option<Duration> {
        let value = HeaderValue::from_str(value).ok()?;
        retry_after(&HeaderMap::from_iter([(http::HeaderName::from_static(name), value)]), now())
    }

    #[test]
    fn seconds_fractions_milliseconds_and_dates_are_understood() {
        for (name, value, wait) in [
            ("retry-after", "7", Some(Duration::from_secs(7))),
            ("retry-after", " 0.5 ", Some(Duration::from_millis(500))),
            ("retry-after", "0", Some(Duration::ZERO)),
            ("retry-after-ms", "1500", Some(Duration::from_millis(1500))),
            ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT", Some(Duration::from_secs(30))),
            ("retry-after", "Sunday, 06-Nov-94 08:50:07 GMT", Some(Duration::from_secs(30))),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1.2.3", None),
            ("retry-after", "inf", None),
            ("retry-after", "1e3", None),
            ("retry-after", "99999999999999999999999999", None),
            ("retry-after", "", None),
        ] {
            assert_eq!(parsed(name, value), wait, "{name}: {value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now()), None);
    }

    #[test]
    fn the_more_exact_header_wins_where_it_can_be_read() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", HeaderValue::from_static("2"));
        headers.insert("retry-after-ms", HeaderValue::from_static("1200"));
        assert_eq!(retry_after(&headers, now()), Some(Duration::from_millis(1200)));
        headers.insert("retry-after-ms", HeaderValue::from_static("n/a"));
        assert_eq!(retry_after(&headers, now()), Some(Duration::from_secs(2)));
    }

    proptest! {
        #[test]
        fn any_header_is_read_or_left(value in "\\PC{0,40}") {
            let _ = parsed("retry-after", &value);
            let _ = parsed("retry-after-ms", &value);
        }

        #[test]
        fn whole_seconds_and_dates_come_back_as_they_were_meant(seconds in 0_u32..10_000_000) {
            let wait = Duration::from_secs(u64::from(seconds));
            prop_assert_eq!(parsed("retry-after", &seconds.to_string()), Some(wait));
            prop_assert_eq!(parsed("retry-after", &httpdate::fmt_http_date(now() + wait)), Some(wait));
        }
    }
}
