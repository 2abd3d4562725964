//! The table of the measured figures, each beside its threshold.

use std::fmt::Write as _;

/// The threshold that a figure is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Threshold {
    AtMost(f64),
    AtLeast(f64),
    /// No threshold; the figure is only there for comparison.
    Nothing,
}

impl Threshold {
    fn met_by(self, figure: f64) -> bool {
        match self {
            Self::AtMost(most) => figure <= most,
            Self::AtLeast(least) => figure >= least,
            Self::Nothing => true,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {}", short(most)),
            Self::AtLeast(least) => format!("≥ {}", short(least)),
            Self::Nothing => String::new(),
        }
    }
}

/// One figure of Docent.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    what: String,
    ours: f64,
    unit: &'static str,
    /// The name of a peer, and its figure.
    peer: Option<(&'static str, f64)>,
    wanted: Threshold,
}

impl Row {
    /// A figure that is judged by itself.
    pub(crate) fn alone(what: impl Into<String>, ours: f64, unit: &'static str, wanted: Threshold) -> Self {
        Self { what: what.into(), ours, unit, peer: None, wanted }
    }

    /// A figure that is judged by its ratio to a peer's.
    pub(crate) fn beside(
        what: impl Into<String>,
        ours: f64,
        unit: &'static str,
        peer: (&'static str, f64),
        wanted: Threshold,
    ) -> Self {
        Self { what: what.into(), ours, unit, peer: Some(peer), wanted }
    }

    fn judged(&self) -> f64 {
        self.peer.map_or(self.ours, |(_, peer)| self.ours / peer)
    }

    fn verdict(&self) -> &'static str {
        match self.wanted {
            Threshold::Nothing => "",
            _ if self.wanted.met_by(self.judged()) => "met",
            _ => "not met",
        }
    }
}

/// The rows as a table.
pub(crate) fn shown(rows: &[Row]) -> String {
    let mut out =
        format!("{:<58} {:>12} {:>30} {:>8} {:>9}  {}\n", "figure", "ours", "peer", "ratio", "wanted", "verdict");
    for row in rows {
        let peer = row.peer.map_or_else(String::new, |(name, figure)| format!("{name} {} {}", short(figure), row.unit));
        let ratio = row.peer.map_or_else(String::new, |_| short(row.judged()));
        let _ = writeln!(
            out,
            "{:<58} {:>12} {peer:>30} {ratio:>8} {:>9}  {}",
            row.what,
            format!("{} {}", short(row.ours), row.unit),
            row.wanted.shown(),
            row.verdict()
        );
    }
    out
}

/// A figure rounded to three significant digits.
pub(crate) fn short(figure: f64) -> String {
    let size = figure.abs();
    if size >= 99.95 {
        format!("{figure:.0}")
    } else if size >= 9.995 {
        format!("{figure:.1}")
    } else if size >= 0.0995 {
        format!("{figure:.2}")
    } else {
        format!("{figure:.3}")
    }
}

/// The percentile of the values; `share` is from 0 to 1.
pub(crate) fn percentile(values: &[u64], share: f64) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = (share * sorted.len() as f64) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_judged_by_itself_or_by_its_ratio() {
        let wanted = Threshold::AtMost(0.5);
        assert_eq!(Row::beside("CPU", 4.0, "µs", ("peer", 10.0), wanted).verdict(), "met");
        assert_eq!(Row::beside("CPU", 6.0, "µs", ("peer", 10.0), wanted).verdict(), "not met");
        assert_eq!(Row::alone("rate", 19.95, "/s", Threshold::AtLeast(19.9)).verdict(), "met");
        assert_eq!(Row::alone("rate", 19.8, "/s", Threshold::AtLeast(19.9)).verdict(), "not met");
        assert_eq!(Row::alone("late", 3.0, "%", Threshold::Nothing).verdict(), "");
    }

    #[test]
    fn a_row_shows_all_there_is_to_it() {
        let row = Row::beside("CPU a delta", 4.0, "µs", ("plain Node", 16.0), Threshold::AtMost(0.5));
        let table = shown(&[row]);
        let last = table.lines().last().unwrap_or_default();
        let words: Vec<&str> = last.split_whitespace().collect();
        assert_eq!(words, "CPU a delta 4.00 µs plain Node 16.0 µs 0.25 ≤ 0.50 met".split(' ').collect::<Vec<_>>());
    }

    #[test]
    fn figures_are_short() {
        for (figure, shown) in [(1_234.5, "1234"), (99.97, "100"), (19.96, "20.0"), (1.234, "1.23"), (0.0333, "0.033")]
        {
            assert_eq!(short(figure), shown);
        }
    }

    #[test]
    fn percentiles_are_values_that_there_were() {
        let values: Vec<u64> = (1..=100).rev().collect();
        assert_eq!((percentile(&values, 0.5), percentile(&values, 0.99)), (51, 100));
        assert_eq!((percentile(&[7], 0.99), percentile(&[], 0.5)), (7, 0));
    }
}
