//! The readers: a separate program, which counts while the server's resource use is measured.

use std::io::{BufRead, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::bench::process::{self, Threads};
use crate::bench::stream::cores::{Spent, Times};
use crate::bench::stream::measured_server::MeasuredServer;

/// The task of the readers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// Each reader holds a stream open.
    Open { readers: usize, seconds: u64 },
    /// Each reader sends the next question as soon as a reply has ended.
    Again { readers: usize, seconds: u64 },
    /// Each reader sends this many questions, after a few that do not count.
    First { readers: usize, times: usize, warm: usize },
}

/// The counts that the readers' program reports, with its field names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    pub(crate) seconds: f64,
    /// Streams that received text, of those that were to be open.
    pub(crate) speaking: u64,
    pub(crate) deltas: u64,
    pub(crate) replies: u64,
    pub(crate) refused: u64,
    pub(crate) broken: u64,
    /// Deltas later than 25, 50 and 100 ms.
    pub(crate) late: [u64; 3],
    /// The deltas of the stream that had the fewest.
    pub(crate) least: u64,
    pub(crate) median: u64,
    /// For each request, in microseconds: the time to the first word, the time until the request reached the model, and
    /// the time from the model's first word to the reader's.
    pub(crate) ways: Vec<[u64; 3]>,
}

/// The reported counts, and the server's resource use meanwhile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) counts: Counts,
    pub(crate) cpu: Duration,
    /// Growth of the server's resident memory since its first response, in bytes.
    pub(crate) grown: u64,
    /// How the first core, and the others, spent the measured time.
    pub(crate) spent: [Spent; 2],
}

impl Measured {
    /// Microseconds of the server's CPU per delta.
    pub(crate) fn cpu_a_delta(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.counts.deltas.max(1) as f64
    }

    /// The share of the deltas that were later than 25, 50 and 100 ms, in percent.
    pub(crate) fn late(&self) -> [f64; 3] {
        self.counts.late.map(|late| 100.0 * late as f64 / self.counts.deltas.max(1) as f64)
    }

    /// Deltas per second of a stream, on average.
    pub(crate) fn rate(&self, streams: usize) -> f64 {
        self.counts.deltas as f64 / self.counts.seconds / streams as f64
    }

    pub(crate) fn core(&self) -> f64 {
        self.cpu.as_secs_f64() / self.counts.seconds
    }
}

/// Starts the readers on a server and waits for their counts.
pub(crate) fn measure(program: &Path, server: &MeasuredServer, work: Work) -> Result<Measured, String> {
    let task = task(server, work);
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut readers = Readers::of(command.spawn().map_err(|error| format!("could not start the readers: {error}"))?)?;
    readers.send(&task)?;
    readers.expect("begin")?;
    let (before, times) = (Threads::of(server.pid()), Times::now());
    let counts = readers.expect("end")?;
    let (cpu, spent) = (Threads::of(server.pid()).since(&before), Times::now().since(&times));
    let grown = process::resident(server.pid()).saturating_sub(server.idle());
    let counts = serde_json::from_value(counts).map_err(|error| format!("the readers say something else: {error}"))?;
    Ok(Measured { counts, cpu, grown, spent })
}

fn task(server: &MeasuredServer, work: Work) -> Value {
    let (readers, work) = match work {
        Work::Open { readers, seconds } => {
            // One new stream every millisecond, so that the streams are not synchronised.
            let ramp = readers.max(1_000);
            (readers, json!({ "open": { "seconds": seconds, "ramp_ms": ramp, "warm_ms": 2_000 } }))
        }
        Work::Again { readers, seconds } => (readers, json!({ "again": { "seconds": seconds, "warm_ms": 1_500 } })),
        Work::First { readers, times, warm } => (readers, json!({ "first": { "times": times, "warm": warm } })),
    };
    json!({
        "address": server.address(),
        "path": server.path(),
        "head": server.head(),
        "bodies": server.bodies(),
        "readers": readers,
        "work": work,
    })
}

/// The program while it runs. Its streams stay open until this is dropped.
struct Readers {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
}

impl Readers {
    fn of(mut child: Child) -> Result<Self, String> {
        let stdout = child.stdout.take().ok_or("the readers have no stdout")?;
        let stdin = child.stdin.take().ok_or("the readers have no stdin")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines(), stdin })
    }

    fn send(&mut self, task: &Value) -> Result<(), String> {
        writeln!(self.stdin, "{task}").map_err(|error| format!("could not send the readers their task: {error}"))
    }

    /// Reads the next message, which must be this one.
    fn expect(&mut self, at: &str) -> Result<Value, String> {
        let line = self.lines.next().ok_or("the readers ended before they had counted")?;
        let line = line.map_err(|error| format!("could not read from the readers: {error}"))?;
        let said: Value = serde_json::from_str(&line).map_err(|error| format!("the readers said `{line}`: {error}"))?;
        if said["at"] == at { Ok(said) } else { Err(format!("the readers said `{line}` where `{at}` was due")) }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_readers_are_parsed() {
        let said = json!({
            "at": "end", "seconds": 2.0, "speaking": 10, "deltas": 400, "replies": 2, "bytes": 9, "reads": 4,
            "refused": 0, "broken": 1, "late": [4, 3, 2], "latest": 301, "least": 38, "median": 40,
            "ways": [[900, 500, 300]],
        });
        let counts: Counts = serde_json::from_value(said).expect("it is read");
        assert_eq!((counts.late, counts.least, counts.ways.as_slice()), ([4, 3, 2], 38, &[[900, 500, 300]][..]));
        let measured = Measured { counts, cpu: Duration::from_millis(2), ..Measured::default() };
        assert!((measured.cpu_a_delta() - 5.0).abs() < 1e-9);
        assert!((measured.rate(10) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn a_server_that_answered_nothing_costs_nothing_a_delta() {
        assert!(Measured::default().cpu_a_delta().abs() < 1e-9);
    }
}
