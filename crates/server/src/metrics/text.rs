//! Writes Prometheus' text format.

use std::fmt::Write as _;

/// The text of a series of metric families.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

/// The type of a metric.
#[derive(Debug, Clone, Copy)]
pub(super) enum MetricKind {
    /// Never decreases while the process runs. Its name ends in `_total`.
    Counter,
    Gauge,
}

impl Exposition {
    pub(super) const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Begins a family; its samples follow. `help` is one line.
    pub(super) fn family(&mut self, name: &'static str, kind: MetricKind, help: &str) -> Family<'_> {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
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
        self.text.push_str(self.name);
        for (place, (label, said)) in labels.iter().enumerate() {
            self.text.push_str(if place == 0 { "{" } else { "," });
            let said = said.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            let _ = write!(self.text, "{label}=\"{said}\"");
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
        self
    }
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
}
