//! Writes Prometheus' text format.

use std::fmt::{Display, Write as _};
use std::time::Duration;

use docent_types::{DURATION_BOUNDS_MILLIS, DurationCounts};

/// The text of a series of metric families.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

/// The type of a metric.
#[derive(Debug, Clone, Copy)]
pub(super) enum MetricKind {
    /// Never decreases while the process runs. Its name ends in `_total`.
    Counter,
    Gauge,
    /// Of durations, in seconds.
    Histogram,
}

impl Exposition {
    pub(super) const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Begins a family; its samples follow. `help` is one line.
    pub(super) fn family(&mut self, name: &'static str, kind: MetricKind, help: &str) -> Family<'_> {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        // Writing to a string does not fail, here and below.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        Family { name, text: &mut self.0 }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// A metric family that is being written.
#[derive(Debug)]
pub(super) struct Family<'a> {
    name: &'static str,
    text: &'a mut String,
}

impl Family<'_> {
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: u64) -> &mut Self {
        let labels = written(labels);
        self.line("", &labels, value);
        self
    }

    pub(super) fn histogram(&mut self, labels: &[(&str, &str)], counts: &DurationCounts) -> &mut Self {
        let labels = written(labels);
        let comma = if labels.is_empty() { "" } else { "," };
        for (millis, count) in DURATION_BOUNDS_MILLIS.into_iter().zip(counts.up_to) {
            let bound = Duration::from_millis(millis).as_secs_f64();
            self.line("_bucket", &format!("{labels}{comma}le=\"{bound}\""), count);
        }
        self.line("_bucket", &format!("{labels}{comma}le=\"+Inf\""), counts.count);
        self.line("_sum", &labels, counts.sum.as_secs_f64());
        self.line("_count", &labels, counts.count);
        self
    }

    fn line(&mut self, suffix: &str, labels: &str, value: impl Display) {
        let (open, close) = if labels.is_empty() { ("", "") } else { ("{", "}") };
        let _ = writeln!(self.text, "{}{suffix}{open}{labels}{close} {value}", self.name);
    }
}

/// The labels with commas between them.
fn written(labels: &[(&str, &str)]) -> String {
    let labels = labels.iter().map(|(label, said)| {
        let said = said.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        format!("{label}=\"{said}\"")
    });
    labels.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_hold_any_text() {
        let mut text = Exposition::default();
        text.family("docent_live", MetricKind::Gauge, "How many live.").sample(&[], 7);
        let mut counted = text.family("docent_seen_total", MetricKind::Counter, "How many were seen.");
        counted.sample(&[("model", "a\"b\\c\nd"), ("kind", "")], 1).sample(&[("model", "e")], u64::MAX);
        let expected = "# HELP docent_live How many live.\n# TYPE docent_live gauge\ndocent_live 7\n\
             # HELP docent_seen_total How many were seen.\n# TYPE docent_seen_total counter\n\
             docent_seen_total{model=\"a\\\"b\\\\c\\nd\",kind=\"\"} 1\ndocent_seen_total{model=\"e\"} 18446744073709551615\n";
        assert_eq!(text.into_text(), expected);
    }

    #[test]
    fn a_histogram_is_cumulative_and_in_seconds() {
        let durations = docent_types::Durations::default();
        for millis in [2, 2_000, 9_000_000] {
            durations.record(Duration::from_millis(millis));
        }
        let mut text = Exposition::default();
        text.family("docent_wait_seconds", MetricKind::Histogram, "How long.").histogram(&[], &durations.counts());
        let text = text.into_text();
        for line in [
            "# TYPE docent_wait_seconds histogram",
            "docent_wait_seconds_bucket{le=\"0.001\"} 0",
            "docent_wait_seconds_bucket{le=\"0.005\"} 1",
            "docent_wait_seconds_bucket{le=\"2.5\"} 2",
            "docent_wait_seconds_bucket{le=\"3600\"} 2",
            "docent_wait_seconds_bucket{le=\"+Inf\"} 3",
            "docent_wait_seconds_sum 9002.002",
            "docent_wait_seconds_count 3",
        ] {
            assert!(text.contains(&format!("{line}\n")), "{line} in {text}");
        }
    }
}
