//! Sends questions over HTTP, one after the other on one connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::search::measures::Measures;
use crate::bench::search::sets::Set;
use crate::bench::stream::table::percentile;

/// The maximum number of results that a request may ask for.
const RESULTS: u32 = 50;
/// Timeout for a server to open its index.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct Client {
    connection: BufReader<TcpStream>,
    head: String,
}

/// The results of a set.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) measures: Measures,
    /// Number of results that are not pages of the corpus.
    pub(super) strangers: usize,
    /// Response times in microseconds.
    took: Vec<u64>,
}

impl Outcome {
    /// The percentile of the response times in milliseconds; `share` is from 0 to 1.
    pub(super) fn millis(&self, share: f64) -> f64 {
        percentile(&self.took, share) as f64 / 1e3
    }
}

impl Client {
    pub(super) fn connect(address: SocketAddr, domain: &str, key: &str) -> Result<Self, String> {
        let connect = || {
            let stream = TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(Duration::from_secs(60)))?;
            Ok(stream)
        };
        let stream = connect().map_err(|error: std::io::Error| format!("could not connect to the server: {error}"))?;
        let head = format!(
            "POST /discovery/v1/search/{domain} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: \
             application/json\r\n"
        );
        Ok(Self { connection: BufReader::new(stream), head })
    }

    /// Sends every judged question of a set.
    pub(super) fn ask_all(mut self, set: &Set) -> Result<Outcome, String> {
        self.wait()?;
        let (mut measures, mut strangers, mut took) = (Vec::new(), 0, Vec::new());
        for (question, grades) in set.judged() {
            let began = Instant::now();
            let (status, found) = self.ask(&question.text)?;
            took.push(u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX));
            if status != 200 {
                return Err(format!("the server answered {status} to `{}`: {found}", question.text));
            }
            let paths = found.as_array().into_iter().flatten().filter_map(|passage| passage["path"].as_str());
            let pages: Vec<&str> = paths.map(|path| set.page(path).unwrap_or_default()).collect();
            strangers += pages.iter().filter(|page| page.is_empty()).count();
            let counting = pages.into_iter().filter(|page| question.ignore.iter().all(|ignored| ignored != page));
            measures.push(Measures::of(&counting.collect::<Vec<_>>(), grades));
        }
        Ok(Outcome { measures: Measures::mean(&measures), strangers, took })
    }

    /// Waits until the index is open.
    fn wait(&mut self) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.ask("anything")? {
                (200, _) => return Ok(()),
                (503, _) if Instant::now() < until => thread::sleep(Duration::from_millis(50)),
                (status, said) => return Err(format!("the server is not ready: {status} {said}")),
            }
        }
    }

    fn ask(&mut self, question: &str) -> Result<(u16, Value), String> {
        self.exchange(question).map_err(|error| format!("asking `{question}`: {error}"))
    }

    fn exchange(&mut self, question: &str) -> std::io::Result<(u16, Value)> {
        let body = json!({ "query": question, "pageSize": RESULTS }).to_string();
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.connection.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let mut length = 0;
        loop {
            let line = self.line()?;
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body)?;
        Ok((status, serde_json::from_slice(&body)?))
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.connection.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}
