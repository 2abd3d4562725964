//! Dates of posts and collection items, which their addresses may contain.

use docent_markdown::regex;

use time::{Date, Duration, Month, PrimitiveDateTime, Time};

/// Minimum and maximum offset of a site's time zone from UTC, in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Zone {
    min_offset_minutes: i64,
    max_offset_minutes: i64,
}

impl Zone {
    /// The offsets of the configured zone. Without one, Jekyll uses the zone of the machine, and machines that build
    /// sites use UTC. Zones that are not listed have the range of their region.
    pub(super) fn of(name: Option<&str>) -> Self {
        let name = name.unwrap_or("UTC").trim();
        let hours = |min: i64, max: i64| Self { min_offset_minutes: min * 60, max_offset_minutes: max * 60 };
        match name {
            "UTC" | "Etc/UTC" | "Etc/GMT" | "GMT" => hours(0, 0),
            "America/Los_Angeles" | "US/Pacific" | "America/Vancouver" => hours(-8, -7),
            "America/Denver" | "US/Mountain" => hours(-7, -6),
            "America/Chicago" | "US/Central" => hours(-6, -5),
            "America/New_York" | "US/Eastern" | "America/Toronto" => hours(-5, -4),
            "Europe/London" | "Europe/Dublin" | "Europe/Lisbon" => hours(0, 1),
            "Europe/Amsterdam" | "Europe/Berlin" | "Europe/Brussels" | "Europe/Copenhagen" | "Europe/Madrid"
            | "Europe/Oslo" | "Europe/Paris" | "Europe/Prague" | "Europe/Rome" | "Europe/Stockholm"
            | "Europe/Vienna" | "Europe/Warsaw" | "Europe/Zurich" => hours(1, 2),
            "Asia/Kolkata" | "Asia/Calcutta" => Self { min_offset_minutes: 330, max_offset_minutes: 330 },
            "Asia/Shanghai" | "Asia/Hong_Kong" | "Asia/Singapore" | "Asia/Taipei" => hours(8, 8),
            "Asia/Tokyo" | "Asia/Seoul" => hours(9, 9),
            _ => match name.split('/').next().unwrap_or_default() {
                "America" | "US" | "Canada" => hours(-11, -2),
                "Europe" => hours(0, 4),
                "Africa" => hours(-1, 4),
                "Asia" => hours(2, 13),
                "Australia" => hours(8, 11),
                _ => hours(-12, 14),
            },
        }
    }
}

/// The day of a date in front matter, in the time zone of the site; `None` if it depends on the exact offset, which is
/// unknown.
pub(super) fn day(written: &str, zone: Zone) -> Option<Date> {
    regex!(
        MOMENT,
        r"^(\d{4}-\d\d?-\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d)(?::(\d\d)(?:\.\d*)?)?[ \t]*(?:(Z|UTC)|([+-])(\d\d):?(\d\d)?)?$"
    );
    let written = written.trim();
    let Some(found) = MOMENT.captures(written) else {
        let first = written.split(|c: char| c.is_whitespace() || c == 'T').next()?;
        return split_date(&format!("{first}-")).map(|(date, _)| date);
    };
    let number = |group: usize| found.get(group).map_or(Some(0), |part| part.as_str().parse::<u8>().ok());
    let date = split_date(&format!("{}-", &found[1])).map(|(date, _)| date)?;
    let time = Time::from_hms(number(2)?, number(3)?, number(4)?).ok()?;
    let offset_minutes = i64::from(number(7)?) * 60 + i64::from(number(8)?);
    let offset_minutes =
        if found.get(6).is_some_and(|sign| sign.as_str() == "-") { -offset_minutes } else { offset_minutes };
    let utc = PrimitiveDateTime::new(date, time).checked_sub(Duration::minutes(offset_minutes))?;
    let at = |minutes: i64| Some(utc.checked_add(Duration::minutes(minutes))?.date());
    let (earliest, latest) = (at(zone.min_offset_minutes)?, at(zone.max_offset_minutes)?);
    // A time without offset is in UTC or, if quoted in YAML, in the zone of the site; the day is known if both agree.
    let is_local = found.get(5).is_none() && found.get(6).is_none();
    (earliest == latest && (!is_local || earliest == date)).then_some(earliest)
}

/// Splits the leading date (`2020-01-02-`) off a name.
pub(super) fn split_date(name: &str) -> Option<(Date, &str)> {
    let mut parts = name.splitn(4, '-');
    let mut number = |longest: usize| {
        let digits = parts.next()?;
        let is_number = (1..=longest).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<u16>().ok())?
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(i32::from(year), month, u8::try_from(day).ok()?).ok()?;
    Some((date, parts.next()?))
}

/// The value of a date placeholder in a permalink pattern; `None` for any other placeholder.
pub(super) fn part(name: &str, date: Date) -> Option<String> {
    let (year, month, day) = (date.year(), u8::from(date.month()), date.day());
    let short = |name: String| name.chars().take(3).collect::<String>();
    Some(match name {
        "year" => format!("{year:04}"),
        "short_year" => format!("{:02}", year % 100),
        "month" => format!("{month:02}"),
        "i_month" => month.to_string(),
        "short_month" => short(date.month().to_string()),
        "long_month" => date.month().to_string(),
        "day" => format!("{day:02}"),
        "i_day" => day.to_string(),
        "y_day" => format!("{:03}", date.ordinal()),
        "w_year" => format!("{:04}", date.to_iso_week_date().0),
        "week" => format!("{:02}", date.iso_week()),
        "w_day" => date.weekday().number_from_monday().to_string(),
        "short_day" => short(date.weekday().to_string()),
        "long_day" => date.weekday().to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_one_of_the_zone_of_the_site() {
        let (utc, pacific, europe) =
            (Zone::of(None), Zone::of(Some("America/Los_Angeles")), Zone::of(Some("Europe/Riga")));
        for (written, zone, expected) in [
            ("2020-01-02", pacific, Some("2020-01-02")),
            ("2020-01-02 23:30:00 +0000", utc, Some("2020-01-02")),
            ("2020-01-02 23:30:00 -0800", utc, Some("2020-01-03")),
            ("2020-01-02 23:30:00 -0800", pacific, None),
            ("2020-01-02 22:30:00 -0800", pacific, Some("2020-01-02")),
            ("2020-01-02T03:00:00Z", pacific, Some("2020-01-01")),
            ("2020-01-02 12:00", pacific, Some("2020-01-02")),
            ("2020-01-02 03:00", pacific, None),
            ("2020-01-02 12:00:00.5 +05:30", europe, Some("2020-01-02")),
            ("2020-01-02 23:00:00 +0200", europe, None),
            ("2020-02-30", utc, None),
            ("soon", utc, None),
        ] {
            assert_eq!(day(written, zone).map(|day| day.to_string()).as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn weeks_are_those_of_iso() {
        let (date, rest) = split_date("2021-01-03-a-b").expect("a date");
        let parts = ["w_year", "week", "w_day", "short_day", "long_month", "y_day"].map(|name| part(name, date));
        assert_eq!(parts.map(Option::unwrap_or_default), ["2020", "53", "7", "Sun", "January", "003"]);
        assert_eq!(rest, "a-b");
    }
}
