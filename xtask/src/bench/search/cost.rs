//! Measures what search costs, by programs of the search crate, one of which also runs plain tantivy.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench::search::sets::Set;
use crate::bench::stream::table::{Row, Threshold};

/// How long questions are sent while the index changes, in seconds.
const ASKING: &str = "10";
/// The number of pages of the site, and the number of single-page changes.
const PAGES: &str = "10000";
const CHANGES: &str = "100";
const PEER: &str = "plain tantivy";

/// Indexing time, index size and query time of a set.
pub(super) fn of_set(release: &Path, set: &Set) -> Result<Vec<Row>, String> {
    println!("what it costs on {} …", set.name);
    let folder = tempfile::tempdir().map_err(|error| format!("no place for temporary files: {error}"))?;
    let corpus = set.corpus(folder.path())?;
    let mut command = Command::new(release.join("examples/plain"));
    command.arg(corpus).arg(set.folder.join("queries.jsonl")).arg(ASKING);
    rows(&set.name, &run(&mut command)?)
}

fn rows(set: &str, told: &Value) -> Result<Vec<Row>, String> {
    let number = |path: &str| told.pointer(path).and_then(Value::as_f64).ok_or_else(|| format!("plain told no {path}"));
    let (text, parsing) = (number("/textBytes")?, number("/parsingMillis")?);
    let (whole, plain) = (number("/docent/wholeMillis")?, number("/plain/indexingMillis")?);
    let mut rows = vec![
        // Plain tantivy gets sections; ours reads pages, so the time of parsing is subtracted.
        Row::beside(
            format!("{set}: indexing {} sections", number("/sections")?),
            (whole - parsing).max(0.0),
            "ms",
            (PEER, plain),
            Threshold::AtMost(1.5),
        ),
        Row::beside(
            format!("{set}: indexing, of all cores"),
            (number("/docent/settledCpuMillis")? - number("/parsingCpuMillis")?).max(0.0),
            "ms",
            (PEER, number("/plain/indexingCpuMillis")?),
            Threshold::Nothing,
        ),
        Row::alone(format!("{set}: reading the pages"), parsing, "ms", Threshold::Nothing),
        Row::alone(
            format!("{set}: index, times the text"),
            number("/docent/bytes")? / text,
            "",
            Threshold::AtMost(2.0),
        ),
        Row::alone(
            format!("{set}: index of {PEER}, times the text"),
            number("/plain/bytes")? / text,
            "",
            Threshold::Nothing,
        ),
    ];
    for (share, most) in [("p50", 1.0), ("p99", 5.0)] {
        let alone = number(&format!("/docent/query/{share}"))?;
        let peer = (PEER, number(&format!("/plain/query/{share}"))?);
        rows.push(Row::beside(format!("{set}: a question, {share}"), alone, "ms", peer, Threshold::Nothing));
        let busy = number(&format!("/docent/queryWhileUpdating/{share}"))?;
        rows.push(Row::alone(format!("{set}: while the index changes, {share}"), busy, "ms", Threshold::AtMost(most)));
        let floor = number(&format!("/plain/queryWhileUpdating/{share}"))?;
        rows.push(Row::alone(format!("{set}: {PEER} meanwhile, {share}"), floor, "ms", Threshold::Nothing));
    }
    Ok(rows)
}

/// The time to update the index after one page of many changed.
pub(super) fn of_a_change(release: &Path) -> Result<Vec<Row>, String> {
    println!("one page of {PAGES} changed, {CHANGES} times …");
    let told = run(Command::new(release.join("examples/reindex")).args([PAGES, CHANGES]))?;
    let millis = |share: &str| told[share].as_f64().ok_or_else(|| format!("reindex told no {share}"));
    Ok(vec![
        Row::alone(format!("one page of {PAGES} changed, p50"), millis("p50")?, "ms", Threshold::AtMost(50.0)),
        Row::alone(format!("one page of {PAGES} changed, p99"), millis("p99")?, "ms", Threshold::Nothing),
    ])
}

/// Runs a program that prints one JSON value.
fn run(command: &mut Command) -> Result<Value, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("could not run {program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{program} prints no JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_is_not_told_is_an_error() {
        assert!(rows("x", &serde_json::json!({})).is_err());
    }
}
