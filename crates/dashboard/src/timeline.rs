//! Draws times to scale: when each kind of work of a turn went on, one lane for each kind.

use std::time::Duration;

use docent_types::Timestamp;
use maud::{Markup, html};

use crate::text::precise_duration;

/// Maximum number of spans that are kept.
const MAX_SPANS: usize = 400;
/// Spans closer than this share of the whole are drawn as one: less is not seen.
const SEEN: u32 = 400;
/// The width of a lane in its own unit, and the least width of a span.
const WIDTH: f64 = 1_000.0;
const LEAST_WIDTH: f64 = 3.0;

/// When something went on, in order of time. Where there are many spans, those that are close to one another are one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spans {
    spans: Vec<(Timestamp, Timestamp)>,
    /// The sum of all spans that were added.
    time: Duration,
    /// Spans that are at most this far from one another were joined.
    joined: Duration,
}

impl Spans {
    /// Adds a span after all others.
    pub(crate) fn add(&mut self, from: Timestamp, to: Timestamp) {
        self.time += to.since(from);
        self.spans.push((from, to.max(from)));
        while self.spans.len() > MAX_SPANS {
            self.joined = (self.joined * 2).max(Duration::from_millis(1));
            self.spans = self.closer_than(self.joined);
        }
    }

    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// The spans, those that are at most this far from one another as one.
    fn closer_than(&self, gap: Duration) -> Vec<(Timestamp, Timestamp)> {
        let mut spans: Vec<(Timestamp, Timestamp)> = Vec::new();
        for (from, to) in self.spans.iter().copied() {
            match spans.last_mut() {
                Some((_, end)) if from.since(*end) <= gap => *end = (*end).max(to),
                _ => spans.push((from, to)),
            }
        }
        spans
    }
}

/// A kind of work: its name, the class that colours it, when it went on, and what more is to be said of it.
pub(crate) struct Lane<'l> {
    pub(crate) name: &'l str,
    pub(crate) class: &'l str,
    pub(crate) spans: &'l Spans,
    pub(crate) note: String,
}

/// Lanes on one scale from `began` to `end`. A lane without a span is left out.
pub(crate) fn timeline(label: &str, began: Timestamp, end: Timestamp, lanes: &[Lane<'_>]) -> Markup {
    let whole = end.since(began).max(Duration::from_millis(1));
    let at = |time: Timestamp| WIDTH * time.since(began).as_secs_f64() / whole.as_secs_f64();
    let bar = |(from, to): (Timestamp, Timestamp)| {
        let width = (at(to) - at(from)).max(LEAST_WIDTH);
        let (x, width) = (format!("{:.0}", at(from).min(WIDTH - width)), format!("{width:.0}"));
        html! { rect x=(x) width=(width) height="10" {} }
    };
    html! {
        ul.lanes aria-label=(label) {
            @for Lane { name, class, spans, note } in lanes.iter().filter(|lane| !lane.spans.spans.is_empty()) {
                li {
                    span { (name) }
                    svg class=(class) aria-hidden="true" viewBox="0 0 1000 10" preserveAspectRatio="none" {
                        @for span in spans.closer_than(whole / SEEN) { (bar(span)) }
                    }
                    span.soft { (precise_duration(spans.time())) @if !note.is_empty() { ", " (note) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_bar_is_as_long_as_its_time() {
        let mut spans = Spans::default();
        spans.add(at(1_000), at(3_500));
        spans.add(at(3_510), at(4_000));
        spans.add(at(9_000), at(9_000));
        let (none, note) = (Spans::default(), "3 calls".to_owned());
        let lanes = [
            Lane { name: "Model", class: "model", spans: &spans, note },
            Lane { name: "Tools", class: "tools", spans: &none, note: String::new() },
        ];
        let shown = timeline("Time", at(1_000), at(11_000), &lanes).into_string();
        assert!(shown.contains("<rect x=\"0\" width=\"300\" height=\"10\">"), "two that touch are one: {shown}");
        assert!(shown.contains("<rect x=\"800\" width=\"3\" height=\"10\">"), "the shortest can be seen: {shown}");
        assert!(shown.contains("3.0 s, 3 calls") && !shown.contains("Tools"), "{shown}");
    }

    #[test]
    fn many_spans_are_joined_and_keep_their_time() {
        let mut spans = Spans::default();
        for n in 0..20_000 {
            spans.add(at(n * 10), at(n * 10 + 4));
        }
        assert!(spans.spans.len() <= MAX_SPANS, "{}", spans.spans.len());
        assert_eq!((spans.time(), spans.spans[0].0), (Duration::from_secs(80), at(0)));
        assert_eq!(spans.spans.last().map(|(_, end)| *end), Some(at(199_994)));
    }
}
