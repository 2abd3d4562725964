//! The outcomes of suites, and the summary table.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::suites::Suite;

/// The outcome of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    /// Not run, with the reason. Never counted as passed.
    Skipped(String),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SuiteResult {
    pub(crate) suite: String,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
    /// Processor time of all processes that the suite ran.
    pub(crate) cpu: Duration,
}

/// The results of all suites.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) results: Vec<SuiteResult>,
}

impl Summary {
    pub(crate) fn failed(&self) -> bool {
        self.count(|outcome| matches!(outcome, Outcome::Failed(_))) > 0
    }

    /// Writes the results of these suites as JSON.
    pub(crate) fn write(&self, suites: &[Suite], file: &Path) -> Result<(), String> {
        let is_wanted = |result: &&SuiteResult| suites.iter().any(|suite| suite.name() == result.suite);
        let results: Vec<&SuiteResult> = self.results.iter().filter(is_wanted).collect();
        let written = serde_json::to_vec(&results).map_err(|error| error.to_string())?;
        std::fs::write(file, written).map_err(|error| format!("could not write {}: {error}", file.display()))
    }

    /// Adds the results of suites that ran beside the others, and puts all in the order of [`Suite::ALL`].
    pub(crate) fn add(&mut self, results: Vec<SuiteResult>) {
        self.results.extend(results);
        self.results.sort_by_key(|result| Suite::ALL.iter().position(|suite| suite.name() == result.suite));
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.results.iter().filter(|line| is(&line.outcome)).count()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<10} {:<8} {:>8} {:>8}", "suite", "result", "seconds", "cpu")?;
        for SuiteResult { suite, outcome, took, cpu } in &self.results {
            let (result, why) = match outcome {
                Outcome::Passed => ("passed", ""),
                Outcome::Failed(why) => ("FAILED", why.as_str()),
                Outcome::Skipped(why) => ("SKIPPED", why.as_str()),
            };
            let (took, cpu) = (took.as_secs_f64(), cpu.as_secs_f64());
            writeln!(f, "{}", format!("{suite:<10} {result:<8} {took:>8.1} {cpu:>8.1}  {why}").trim_end())?;
        }
        let passed = self.count(|outcome| *outcome == Outcome::Passed);
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        write!(f, "\n{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_suite_is_not_a_passed_one() {
        let result = |suite: &str, outcome| {
            let (took, cpu) = (Duration::from_millis(1250), Duration::from_millis(2500));
            SuiteResult { suite: suite.to_owned(), outcome, took, cpu }
        };
        let summary = Summary {
            results: vec![
                result("fmt", Outcome::Passed),
                result("deny", Outcome::Skipped("cargo-deny is missing".to_owned())),
                result("tests", Outcome::Failed("exit status: 100".to_owned())),
            ],
        };
        let shown = summary.to_string();
        assert!(shown.ends_with("\n1 passed, 1 failed, 1 skipped"), "{shown}");
        assert!(shown.contains("deny       SKIPPED       1.2      2.5  cargo-deny is missing"), "{shown}");
        assert!(summary.failed());
    }
}
