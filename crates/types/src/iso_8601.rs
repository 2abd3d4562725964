//! Times as people and programs write them.

use time::format_description::well_known::Iso8601;
use time::{Date, Time, UtcOffset};

use crate::clock::Timestamp;

impl Timestamp {
    /// Parses a date or a date-time in any form of ISO 8601: calendar, week and ordinal dates, extended and basic, with
    /// or without seconds, their fraction and an offset. A date, a month or a year is its first moment. Without an
    /// offset a time is in UTC. A blank before the offset is the `+` of a query that was not encoded.
    pub fn parse_iso_8601(text: &str) -> Option<Self> {
        let text = text.to_ascii_uppercase();
        let Some((date, time)) = text.split_once('T') else {
            return Self::at(iso_date(&text)?, Time::MIDNIGHT, UtcOffset::UTC);
        };
        let time = time.replace(' ', "+");
        let (time, offset) = match time.find(['Z', '+', '-']) {
            Some(at) => (&time[..at], iso_offset(&time[at..])?),
            None => (time.as_str(), UtcOffset::UTC),
        };
        let date = iso_date(date)?;
        // The end of a day.
        if let Some(rest) = time.strip_prefix("24") {
            let is_end = iso_time(&format!("00{rest}"))? == Time::MIDNIGHT;
            return Self::at(date.next_day().filter(|_| is_end)?, Time::MIDNIGHT, offset);
        }
        Self::at(date, iso_time(time)?, offset)
    }

    fn at(date: Date, time: Time, offset: UtcOffset) -> Option<Self> {
        let nanos = date.with_time(time).assume_offset(offset).unix_timestamp_nanos();
        i64::try_from(nanos.div_euclid(1_000_000)).ok().map(Self::from_millis)
    }
}

/// A date; of a week, a month or a year the first.
fn iso_date(text: &str) -> Option<Date> {
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = match text.as_bytes() {
        _ if is_year(text) => format!("{text}-01-01"),
        [.., b'-', _, _] if text.len() == 7 => format!("{text}-01"),
        [.., b'-', b'W', _, _] => format!("{text}-1"),
        [.., b'W', _, _] => format!("{text}1"),
        _ => text.to_owned(),
    };
    Date::parse(&text, &Iso8601::PARSING).ok()
}

fn iso_time(text: &str) -> Option<Time> {
    Time::parse(text, &Iso8601::PARSING).ok()
}

/// `Z`, `±hh`, `±hhmm` or `±hh:mm`.
fn iso_offset(text: &str) -> Option<UtcOffset> {
    if text == "Z" {
        return Some(UtcOffset::UTC);
    }
    let (sign, digits) = text.split_at_checked(1)?;
    let digits = match digits.as_bytes() {
        [_, _, b':', _, _] => digits.replacen(':', "", 1),
        [_, _] => format!("{digits}00"),
        _ => digits.to_owned(),
    };
    let is_plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: i8 = digits.get(..2).filter(|_| is_plain)?.parse().ok()?;
    let minutes: i8 = digits.get(2..)?.parse().ok()?;
    let sign = if sign == "-" { -1 } else { 1 };
    UtcOffset::from_hms(sign * number, sign * minutes, 0).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_of_a_moment_is_read() {
        for (written, moment) in [
            ("2026-11-18", "2026-11-18T00:00:00Z"),
            ("20261118", "2026-11-18T00:00:00Z"),
            ("2026-W47-3", "2026-11-18T00:00:00Z"),
            ("2026W473", "2026-11-18T00:00:00Z"),
            ("2026-W47", "2026-11-16T00:00:00Z"),
            ("2026W47", "2026-11-16T00:00:00Z"),
            ("2026-322", "2026-11-18T00:00:00Z"),
            ("2026322", "2026-11-18T00:00:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
            ("2026-11-18T09:30", "2026-11-18T09:30:00Z"),
            ("2026-11-18T09:30:15", "2026-11-18T09:30:15Z"),
            ("2026-11-18T09:30:15.25Z", "2026-11-18T09:30:15.250Z"),
            ("2026-11-18T09:30:15,25Z", "2026-11-18T09:30:15.250Z"),
            ("2026-11-18t09:30:15.123456789z", "2026-11-18T09:30:15.123Z"),
            ("2026-11-18T09Z", "2026-11-18T09:00:00Z"),
            ("20261118T093015Z", "2026-11-18T09:30:15Z"),
            ("20261118T0930+0100", "2026-11-18T08:30:00Z"),
            ("2026-11-18T09:30:15+0100", "2026-11-18T08:30:15Z"),
            ("2026-11-18T09:30:15-05", "2026-11-18T14:30:15Z"),
            ("2026-11-18T09:30:15-05:30", "2026-11-18T15:00:15Z"),
            ("2026-11-18T09:30:15 01:00", "2026-11-18T08:30:15Z"),
            ("2026-W47-3T09:30Z", "2026-11-18T09:30:00Z"),
            ("2026-11-18T24:00Z", "2026-11-19T00:00:00Z"),
        ] {
            assert_eq!(Timestamp::parse_iso_8601(written), Timestamp::parse(moment), "{written}");
        }
    }

    #[test]
    fn malformed_dates_are_refused() {
        for text in [
            "",
            "T",
            "2026-",
            "2026-13",
            "2026-11-31",
            "2025-02-29",
            "2026-W54-1",
            "2026-366",
            "18.11.2026",
            "1795000000",
            "2026-11-18T",
            "2026-11-18T25:00",
            "2026-11-18T09:61",
            "2026-11-18T09:30+1",
            "2026-11-18T09:30+99:00",
            "2026-11-18T09:30ZZ",
            "2026-11-18T24:01Z",
            "2026-11-18T09:30:00+01:00Z",
            "yesterday",
            "2026-11-1é",
        ] {
            assert_eq!(Timestamp::parse_iso_8601(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn timestamps_are_read_back(millis in 0_i64..253_402_300_799_999) {
            let moment = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse_iso_8601(&moment.to_string()), Some(moment));
        }

        #[test]
        fn any_text_is_a_moment_or_refused(text in "\\PC*|[0-9TWZ:.,+ -]{0,30}") {
            Timestamp::parse_iso_8601(&text);
        }
    }
}
