//! The period of an analytics request, and the position in its list.

use docent_assistant::ExportCursor;
use docent_types::{MessageId, Refusal, Timestamp};
use docent_web::Request;

use crate::parameter::given;

/// From one time (inclusive) to another (exclusive); unbounded on a side without a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: Option<Timestamp>,
    pub(crate) to: Option<Timestamp>,
}

/// A bound: a time, or a UTC day, which means the beginning of that day.
fn bound(name: &str, text: &str) -> Result<Timestamp, Refusal> {
    Timestamp::parse_iso_8601(text.trim()).ok_or_else(|| {
        let shown: String = text.chars().take(80).collect();
        Refusal::invalid(format!(
            "{name}: `{shown}` is not a time of ISO 8601; write a day as `2026-11-18` or a moment as `2026-11-18T09:30:00Z`"
        ))
    })
}

impl Period {
    /// The parameters `dateFrom` and `dateTo`.
    pub(crate) fn given(request: &Request) -> Result<Self, Refusal> {
        Self::of(given(request, "dateFrom").as_deref(), given(request, "dateTo").as_deref())
    }

    /// # Errors
    /// A text that is not an ISO 8601 date or date-time, or a beginning after the end.
    pub(crate) fn of(from: Option<&str>, to: Option<&str>) -> Result<Self, Refusal> {
        let from = from.map(|text| bound("dateFrom", text)).transpose()?;
        let to = to.map(|text| bound("dateTo", text)).transpose()?;
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            return Err(Refusal::invalid("dateFrom: it is after `dateTo`; swap the two, or leave one out"));
        }
        Ok(Self { from, to })
    }

    /// A position in the list of this period, as an opaque text that is valid for this period only.
    pub(crate) fn cursor(&self, place: &ExportCursor) -> String {
        format!("{}_{}_{}", self.text(), place.asked_at.millis(), place.answer_id)
    }

    /// The bounds, for a cursor.
    pub(crate) fn text(&self) -> String {
        let bound = |bound: Option<Timestamp>| bound.map(|bound| bound.millis().to_string()).unwrap_or_default();
        format!("{}_{}", bound(self.from), bound(self.to))
    }

    /// The position after which to continue.
    ///
    /// # Errors
    /// A text that [`cursor`](Self::cursor) never returned, or a cursor of another period.
    pub(crate) fn place(&self, cursor: &str) -> Result<ExportCursor, Refusal> {
        let mut parts = cursor.rsplitn(3, '_');
        let answer_id = parts.next().and_then(MessageId::parse).map(|id| id.to_string());
        let asked_at = parts.next().and_then(|millis| millis.parse().ok()).map(Timestamp::from_millis);
        let place = asked_at.zip(answer_id).map(|(asked_at, answer_id)| ExportCursor { asked_at, answer_id });
        // A position has one canonical encoding; any other text that parses is invalid.
        place.filter(|place| self.cursor(place) == cursor).ok_or_else(|| {
            Refusal::invalid(
                "cursor: it is not a `nextCursor` of this list with the same `dateFrom` and `dateTo`; send one as it was \
                 received, or leave it out to begin with the newest question",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Option<Timestamp> {
        Some(Timestamp::parse(text).expect("a moment"))
    }

    #[test]
    fn a_period_ends_before_its_last_moment_and_before_a_day() {
        for (from, to, begin, end) in [
            (None, None, None, None),
            (Some("2026-11-18"), None, at("2026-11-18T00:00:00Z"), None),
            (None, Some("2026-11-18"), None, at("2026-11-18T00:00:00Z")),
            (Some("2026-11-18"), Some("2026-11-18"), at("2026-11-18T00:00:00Z"), at("2026-11-18T00:00:00Z")),
            (
                Some("2026-11-18T10:00:00+01:00"),
                Some("2026-11-18T09:00:00Z"),
                at("2026-11-18T09:00:00Z"),
                at("2026-11-18T09:00:00Z"),
            ),
            (
                Some("2026-11-17T23:59:59.999Z"),
                Some("2026-11-18"),
                at("2026-11-17T23:59:59.999Z"),
                at("2026-11-18T00:00:00Z"),
            ),
            (None, Some("9999-12-31"), None, at("9999-12-31T00:00:00Z")),
            (Some("2024-02-29"), None, at("2024-02-29T00:00:00Z"), None),
        ] {
            assert_eq!(Period::of(from, to).ok(), Some(Period { from: begin, to: end }), "{from:?} {to:?}");
        }
    }

    #[test]
    fn a_period_that_cannot_be_is_refused_by_its_parameter() {
        for bad in [
            "yesterday", "2026-13", "2026-11-1", "2026-11-31", "2025-02-29", "18.11.2026", "1795000000", "2026-11-18T",
            "2026-11-18T09:30:00+1", "2026-11-18T24:00:01Z", "2026-11-18T25:00:00Z", "2026-11-1é",
        ] {
            let told = |period: Result<Period, Refusal>| period.expect_err(bad).sentence;
            assert!(told(Period::of(Some(bad), None)).starts_with("dateFrom: `"), "{bad}");
            assert!(told(Period::of(Some("2026-11-18"), Some(bad))).starts_with("dateTo: `"), "{bad}");
        }
        for (from, to) in [
            ("2026-11-19", "2026-11-18"),
            ("2026-11-18T00:00:00.001Z", "2026-11-18"),
            ("2026-11-18T09:00:00.001Z", "2026-11-18T09:00:00Z"),
            ("2026-11-18T09:00:00-01:00", "2026-11-18T09:59:00Z"),
        ] {
            let refused = Period::of(Some(from), Some(to)).expect_err("backwards");
            assert!(refused.sentence.starts_with("dateFrom: it is after `dateTo`"), "{from} {to}");
        }
    }

    #[test]
    fn a_cursor_goes_on_in_the_period_it_was_made_for() {
        let place = ExportCursor {
            asked_at: Timestamp::from_millis(1_795_000_000_000),
            answer_id: "01a1fd8d-2218-4d86-9497-980848f99d9b".to_owned(),
        };
        let days = [None, Some("2026-11-18"), Some("2026-11-19")];
        let periods = days.into_iter().flat_map(|from| days.map(|to| Period::of(from, to))).filter_map(Result::ok);
        let periods: Vec<Period> = periods.collect();
        for (made, used) in periods.iter().flat_map(|made| periods.iter().map(move |used| (made, used))) {
            assert_eq!(
                used.place(&made.cursor(&place)).ok(),
                (made == used).then(|| place.clone()),
                "{made:?} {used:?}"
            );
        }
    }

    #[test]
    fn a_cursor_we_never_made_is_refused() {
        let always = Period { from: None, to: None };
        let id = "01a1fd8d-2218-4d86-9497-980848f99d9b";
        assert!(always.place(&format!("__7_{id}")).is_ok());
        for bad in [
            String::new(),
            "_".into(),
            "___".into(),
            id.into(),
            format!("_7_{id}"),
            format!("__+7_{id}"),
            format!("__07_{id}"),
            format!("__{}_{id}", "9".repeat(20)),
            format!("___{id}"),
            format!("__7_{}", id.to_uppercase()),
            format!("__7_{id}_"),
            format!(" __7_{id}"),
        ] {
            assert!(always.place(&bad).is_err(), "{bad}");
        }
    }

    fn any_period() -> impl Strategy<Value = Period> {
        let bound = || prop::option::of(any::<i64>().prop_map(Timestamp::from_millis));
        (bound(), bound()).prop_map(|(from, to)| Period { from, to })
    }

    proptest! {
        #[test]
        fn any_place_is_found_again(
            period in any_period(),
            millis in any::<i64>(),
            id in "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        ) {
            let place = ExportCursor { asked_at: Timestamp::from_millis(millis), answer_id: id };
            let cursor = period.cursor(&place);
            prop_assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{}", cursor);
            prop_assert_eq!(period.place(&cursor).ok(), Some(place));
        }

        #[test]
        fn any_text_is_a_cursor_or_refused(period in any_period(), text in "\\PC*|[0-9_-]{0,60}") {
            if let Ok(place) = period.place(&text) {
                prop_assert_eq!(period.cursor(&place), text);
            }
        }

        #[test]
        fn any_text_is_a_bound_or_refused_by_its_name(text in "\\PC*|[0-9TZ:.+-]{0,30}") {
            for (period, name) in [(Period::of(Some(&text), None), "dateFrom: "), (Period::of(None, Some(&text)), "dateTo: ")] {
                prop_assert!(period.map_or_else(|refusal| refusal.sentence.starts_with(name), |_| true));
            }
        }
    }
}
