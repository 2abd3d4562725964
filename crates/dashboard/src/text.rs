//! Formats numbers, times and untrusted text for pages.

use std::borrow::Cow;
use std::time::Duration;

use docent_types::{Timestamp, printable};
use maud::{Markup, Render, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// Untrusted text, of repositories, models and readers. Characters that would reorder or hide the surrounding text are
/// removed, and the text's direction is isolated from that of the surrounding text.
pub(crate) struct Untrusted<'t>(pub(crate) &'t str);

impl Render for Untrusted<'_> {
    fn render_to(&self, buffer: &mut String) {
        html! { bdi { (printable(self.0)) } }.render_to(buffer);
    }
}

/// A sentence of the server, in which code stands between backticks. What it quotes may be untrusted.
pub(crate) struct Sentence<'t>(pub(crate) &'t str);

impl Render for Sentence<'_> {
    fn render_to(&self, buffer: &mut String) {
        let parts: Vec<&str> = self.0.split('`').collect();
        // With a backtick that has no other, nothing is code.
        let has_code = parts.len() % 2 == 1;
        html! {
            @if has_code {
                @for (at, part) in parts.iter().enumerate() { @if at % 2 == 1 { code { (Untrusted(part)) } } @else { bdi { (printable(part)) } } }
            } @else { (Untrusted(self.0)) }
        }
        .render_to(buffer);
    }
}

/// Percent-encodes text for a part of a URL.
pub(crate) fn in_url(text: &str) -> PercentEncode<'_> {
    /// All but the unreserved characters of a URL.
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(text, ENCODED)
}

/// At most this many characters, with an ellipsis if the text was cut.
pub(crate) fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// The name of a branch, with an ellipsis in its middle if it is long; the whole of it as a tooltip.
pub(crate) fn long_name(name: &str) -> Markup {
    const HEAD: usize = 22;
    const TAIL: usize = 12;
    let chars = name.chars().count();
    if chars <= HEAD + TAIL + 1 {
        return html! { code { (Untrusted(name)) } };
    }
    let head: String = name.chars().take(HEAD).collect();
    let tail: String = name.chars().skip(chars - TAIL).collect();
    html! { code title=(printable(name)) { (Untrusted(&format!("{head}…{tail}"))) } }
}

/// A time as people say it: `3 minutes ago`, `in 2 hours`, and after a month the day; with the exact time for machines and as
/// a tooltip.
pub(crate) fn relative_time(at: Timestamp, now: Timestamp) -> Markup {
    const MONTH: Duration = Duration::from_secs(30 * 24 * 3600);
    let since = now.since(at);
    let relative = match (at > now, since) {
        (true, _) => format!("in {}", rounded_duration(at.since(now))),
        _ if since < Duration::from_secs(5) => "just now".to_owned(),
        _ if since > MONTH => day(at),
        _ => format!("{} ago", rounded_duration(since)),
    };
    html! { time datetime=(at) title=(format_args!("{}, {} UTC", day(at), clock_time(at))) { (relative) } }
}

/// A day as people write it: `31 January 2026`.
pub(crate) fn day(at: Timestamp) -> String {
    const MONTHS: [&str; 12] = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ];
    let text = at.to_string();
    let mut parts = text.get(..10).unwrap_or_default().splitn(3, '-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else { return text };
    let month = month.parse::<usize>().ok().and_then(|month| MONTHS.get(month.wrapping_sub(1)));
    format!("{} {} {year}", day.trim_start_matches('0'), month.unwrap_or(&"?"))
}

/// The time of the day in UTC: `09:30:05`.
pub(crate) fn clock_time(at: Timestamp) -> String {
    at.to_string().get(11..19).unwrap_or_default().to_owned()
}

/// A duration in its largest unit: `3 minutes`.
pub(crate) fn rounded_duration(span: Duration) -> String {
    let seconds = span.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        86_400..10_368_000 => (seconds / 86_400, "day"),
        _ => (seconds / 2_592_000, "month"),
    };
    counted(count, unit)
}

/// A short duration in seconds or milliseconds: `1.2 s`, `340 ms`.
pub(crate) fn precise_duration(span: Duration) -> String {
    match span.as_millis() {
        millis @ 0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", span.as_secs_f64()),
        60_000..3_600_000 => format!("{} min {} s", span.as_secs() / 60, span.as_secs() % 60),
        _ => rounded_duration(span),
    }
}

/// A number with its noun: `1 page`, `2 pages`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let number = grouped(count);
    let ending = match noun {
        _ if count == 1 => return format!("{number} {noun}"),
        noun if noun.ends_with('y') && !noun.ends_with("ay") => {
            return format!("{number} {}ies", &noun[..noun.len() - 1]);
        }
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// A number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_numbers_are_told_in_their_largest_unit() {
        for (seconds, text) in [
            (0, "0 seconds"),
            (61, "1 minute"),
            (7_300, "2 hours"),
            (90_000, "1 day"),
            (7_776_000, "90 days"),
            (11_000_000, "4 months"),
        ] {
            assert_eq!(rounded_duration(Duration::from_secs(seconds)), text);
        }
        assert_eq!(
            [precise_duration(Duration::from_millis(340)), precise_duration(Duration::from_millis(1_240))],
            ["340 ms", "1.2 s"]
        );
        assert_eq!([counted(1, "query"), counted(1_234_567, "query")], ["1 query", "1,234,567 queries"]);
        assert_eq!(shortened("añb", 2), "añ…");
        assert_eq!(long_name("main").into_string(), "<code><bdi>main</bdi></code>");
        let long = long_name("docent/0193b2c4-0000-7000-8000-000000000001").into_string();
        assert!(long.contains("title=\"docent/0193b2c4-0000-7000-8000-000000000001\""), "{long}");
        assert!(long.contains("<bdi>docent/0193b2c4-0000-7…000000000001</bdi>"), "{long}");
        let at = Timestamp::parse("2026-01-09T09:30:05Z").expect("a time");
        assert_eq!((day(at).as_str(), clock_time(at).as_str()), ("9 January 2026", "09:30:05"));
    }

    #[test]
    fn code_in_a_sentence_is_code_and_its_text_is_text() {
        let shown = |text: &str| html! { (Sentence(text)) }.into_string();
        assert_eq!(shown("`GET` is <none>."), "<bdi></bdi><code><bdi>GET</bdi></code><bdi> is &lt;none&gt;.</bdi>");
        assert_eq!(shown("a ` b"), "<bdi>a ` b</bdi>");
    }

    #[test]
    fn untrusted_text_is_text() {
        let shown = html! { (Untrusted("<script>alert(1)</script>\u{202e}evil")) }.into_string();
        assert_eq!(shown, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;evil</bdi>");
    }
}
