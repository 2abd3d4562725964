//! The load generator: a separate program, so that counting requests does not use the server's measured resources.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::bench::process;
use crate::bench::stream::cores::Cores;

/// A server and the complete HTTP requests that are sent to it, assigned to the connections in rotation.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) pid: u32,
    pub(crate) address: SocketAddr,
    pub(crate) requests: Vec<String>,
    /// The status that every request is expected to get.
    pub(crate) status: u16,
}

/// The counts that the load generator reports, with its field names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    pub(crate) seconds: f64,
    pub(crate) answered: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) broken: u64,
    /// Microseconds from sending a request to the end of its response.
    pub(crate) p50: Option<u32>,
    pub(crate) p99: Option<u32>,
    /// CPU seconds of the load generator itself.
    pub(crate) own_cpu: f64,
}

/// The reported counts, and the server's resource use meanwhile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) counts: Counts,
    cpu: Duration,
}

impl Measured {
    pub(crate) fn rate(&self) -> f64 {
        self.counts.answered as f64 / self.counts.seconds
    }

    /// Microseconds of the server's CPU per request.
    pub(crate) fn cpu(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.counts.answered.max(1) as f64
    }

    /// In milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        f64::from(self.counts.p99.unwrap_or_default()) / 1e3
    }

    pub(crate) fn shown(&self) -> String {
        let milliseconds = |micros: Option<u32>| f64::from(micros.unwrap_or_default()) / 1e3;
        format!(
            "{:>8.0}/s, CPU {:>6.1} µs each, p50 {:>7.2} ms, p99 {:>7.2} ms (the load generator took {:.2} cores)",
            self.rate(),
            self.cpu(),
            milliseconds(self.counts.p50),
            milliseconds(self.counts.p99),
            self.counts.own_cpu / self.counts.seconds
        )
    }
}

/// The load generator's program, and the cores it may use.
#[derive(Debug, Clone)]
pub(crate) struct LoadGenerator {
    pub(crate) program: PathBuf,
    pub(crate) cores: Cores,
}

impl LoadGenerator {
    /// Sends requests on this many connections for this many seconds.
    pub(crate) fn measure(&self, target: &Target, connections: usize, seconds: u64) -> Result<Measured, String> {
        let mut run = self.start(target, json!({ "connections": connections, "seconds": seconds, "warm_ms": 500 }))?;
        run.next_line()?;
        let before = process::own_cpu(target.pid);
        let counts = run.next_line()?;
        let cpu = process::own_cpu(target.pid).saturating_sub(before);
        counted(counts, target.status).map(|counts| Measured { counts, cpu })
    }

    /// Sends one request on each of this many connections. Returns once they are sent; [`Waiting`] gives the responses.
    pub(crate) fn wait(&self, target: &Target, connections: usize) -> Result<Waiting, String> {
        let mut run = self.start(target, json!({ "connections": connections, "once": true }))?;
        run.next_line()?;
        Ok(Waiting { run, status: target.status })
    }

    fn start(&self, target: &Target, mut task: Value) -> Result<LoadRun, String> {
        task["address"] = json!(target.address);
        task["requests"] = json!(target.requests);
        let mut command = Command::new(&self.program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = self.cores.spawn(&mut command)?;
        let mut stdin = child.stdin.take().ok_or("the load generator has no stdin")?;
        let stdout = child.stdout.take().ok_or("the load generator has no stdout")?;
        writeln!(stdin, "{task}").map_err(|error| format!("could not send it its task: {error}"))?;
        Ok(LoadRun { child, lines: BufReader::new(stdout).lines() })
    }
}

/// Requests that have been sent and are not answered yet.
#[derive(Debug)]
pub(crate) struct Waiting {
    run: LoadRun,
    status: u16,
}

impl Waiting {
    /// Waits until all are answered.
    pub(crate) fn answered(mut self) -> Result<Counts, String> {
        let counts = self.run.next_line()?;
        counted(counts, self.status)
    }
}

#[derive(Debug)]
struct LoadRun {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl LoadRun {
    /// The next line.
    fn next_line(&mut self) -> Result<Value, String> {
        let line = self.lines.next().and_then(Result::ok).ok_or("the load generator ended early")?;
        serde_json::from_str(&line).map_err(|error| format!("the load generator says `{line}`: {error}"))
    }
}

impl Drop for LoadRun {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The counts, or an error if any response had another status: the figures would then measure something else.
fn counted(counts: Value, status: u16) -> Result<Counts, String> {
    let counts: Counts =
        serde_json::from_value(counts).map_err(|error| format!("the load generator counts something else: {error}"))?;
    let good = counts.statuses.get(&status).copied().unwrap_or_default();
    if counts.broken > 0 || good != counts.answered || good == 0 {
        return Err(format!(
            "wanted answers of {status} alone; there were {:?}, and {} connections broke",
            counts.statuses, counts.broken
        ));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_another_status_are_no_measurement() {
        let counts = |statuses: Value, broken: u64| {
            let answered = statuses.as_object().map(|all| all.values().filter_map(Value::as_u64).sum::<u64>());
            counted(json!({ "seconds": 1.0, "answered": answered, "statuses": statuses, "broken": broken }), 201)
        };
        assert!(counts(json!({ "201": 9 }), 0).is_ok_and(|counts| counts.answered == 9));
        for (statuses, broken) in [(json!({}), 0), (json!({ "201": 9, "429": 1 }), 0), (json!({ "201": 9 }), 1)] {
            assert!(counts(statuses, broken).is_err());
        }
    }
}
