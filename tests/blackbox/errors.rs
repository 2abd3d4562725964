//! What all refusals have in common, and the type of the tables of requests that must be refused.

use docent_tests::{Request, Response, Server};
use serde_json::Value;

/// One request that must be refused.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) request: Request,
    pub(crate) status: u16,
    /// Words that the error message must contain to be helpful: the field, the limit, the known values.
    pub(crate) says: &'static [&'static str],
}

pub(crate) fn row(name: impl Into<String>, request: Request, status: u16, says: &'static [&'static str]) -> Row {
    Row { name: name.into(), request, status, says }
}

/// Sends every row, and fails with all rows that were not refused as expected.
pub(crate) fn all_refused(server: &Server, rows: &[Row]) {
    let faults: Vec<String> = rows
        .iter()
        .flat_map(|row| {
            match row.request.send(server.address()) {
                Ok(response) => faults(row, &response),
                Err(error) => vec![format!("no answer: {error}")],
            }
            .into_iter()
            .map(|fault| format!("{}: {fault}", row.name))
            .collect::<Vec<_>>()
        })
        .collect();
    assert!(faults.is_empty(), "{} of {} rows:\n  {}", faults.len(), rows.len(), faults.join("\n  "));
}

fn faults(row: &Row, response: &Response) -> Vec<String> {
    let mut faults = Vec::new();
    let text = String::from_utf8_lossy(&response.body).into_owned();
    if response.status != row.status {
        faults.push(format!("{} instead of {}: {text}", response.status, row.status));
        return faults;
    }
    let body: Value = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
    let sentence = body["error"].as_str().unwrap_or_default();
    if sentence.is_empty() {
        faults.push(format!("no {{\"error\"}} in {text}"));
    }
    for word in row.says {
        if !sentence.contains(word) {
            faults.push(format!("does not say `{word}`: {sentence}"));
        }
    }
    if !response.header("Content-Type").is_some_and(|kind| kind.starts_with("application/json")) {
        faults.push(format!("content type {:?}", response.header("Content-Type")));
    }
    if response.header("X-Request-Id").is_none_or(str::is_empty) {
        faults.push("no X-Request-Id".to_owned());
    }
    match response.status {
        401 if response.header("WWW-Authenticate") != Some("Bearer") => {
            faults.push(format!("WWW-Authenticate {:?}", response.header("WWW-Authenticate")));
        }
        405 if response.header("Allow").is_none_or(str::is_empty) => faults.push("405 without Allow".to_owned()),
        _ => {}
    }
    faults
}
