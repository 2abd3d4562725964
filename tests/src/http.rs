//! A small HTTP/1.1 client: one connection per request, every header visible, and bodies sent in ways that well-behaved
//! clients avoid. Answers of operations that the description of the API has are held against it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::api_description::Operation;

/// A request, ready to be sent.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Body,
    /// Whether the answer must be as the API is described.
    is_described: bool,
}

#[derive(Debug, Clone)]
enum Body {
    None,
    /// With a `Content-Length`.
    Sized(Vec<u8>),
    /// With `Transfer-Encoding: chunked`.
    Chunked(Vec<u8>),
}

impl Request {
    pub fn new(method: &str, path: impl Into<String>) -> Self {
        Self { method: method.to_owned(), path: path.into(), headers: Vec::new(), body: Body::None, is_described: true }
    }

    pub fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    pub fn post(path: impl Into<String>) -> Self {
        Self::new("POST", path)
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    #[must_use]
    pub fn bearer(self, key: &str) -> Self {
        self.header("Authorization", format!("Bearer {key}"))
    }

    /// A JSON body with its content type.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    /// Asks what may answer in place of a server, such as a proxy: the answer need not be as the API is described.
    #[must_use]
    pub fn of_others(self) -> Self {
        Self { is_described: false, ..self }
    }

    /// A body of any bytes; the caller sets the content type.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Body::Sized(body.into());
        self
    }

    #[must_use]
    pub fn chunked(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Body::Chunked(body.into());
        self
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Sends the request and reads the complete response.
    ///
    /// # Errors
    /// Any error of the connection, for example that the server died.
    ///
    /// # Panics
    /// When the response is not as the description of the API has it.
    pub fn send(&self, to: SocketAddr) -> io::Result<Response> {
        self.open(to)?.finish()
    }

    /// Sends the request and reads the head of the response. The body is read by [`Streaming`]; dropping that closes
    /// the connection.
    ///
    /// # Errors
    /// Any error of the connection.
    ///
    /// # Panics
    /// When the head of the response is not as the description of the API has it.
    pub fn open(&self, to: SocketAddr) -> io::Result<Streaming> {
        let stream = TcpStream::connect(to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut out = stream.try_clone()?;
        let bytes = self.bytes(to);
        if bytes.len() < 64 * 1024 {
            out.write_all(&bytes)?;
        } else {
            // A server may respond before it has read everything, and then stop reading. Only the response counts.
            thread::spawn(move || out.write_all(&bytes));
        }
        Streaming::read_head(stream, self)
    }

    /// Connects and sends the first line; the rest is sent by [`Begun::finish`].
    ///
    /// # Errors
    /// Any error of the connection.
    pub fn begin(&self, to: SocketAddr) -> io::Result<Begun> {
        let bytes = self.bytes(to);
        let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut stream = TcpStream::connect(to)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.write_all(&bytes[..line])?;
        Ok(Begun { request: self.clone(), stream, rest: bytes[line..].to_vec() })
    }

    /// Sends the head and the first `bytes` of the body, then closes the connection.
    ///
    /// # Errors
    /// Any error of the connection.
    pub fn send_only(&self, bytes: usize, to: SocketAddr) -> io::Result<()> {
        let all = self.bytes(to);
        let head = all.windows(4).position(|four| four == b"\r\n\r\n").map_or(all.len(), |at| at + 4);
        let mut stream = TcpStream::connect(to)?;
        stream.write_all(&all[..head.saturating_add(bytes).min(all.len())])?;
        stream.shutdown(Shutdown::Both)
    }

    fn bytes(&self, to: SocketAddr) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nConnection: close\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {to}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = match &self.body {
            Body::None => Vec::new(),
            Body::Sized(body) => {
                head.push_str(&format!("Content-Length: {}\r\n", body.len()));
                body.clone()
            }
            Body::Chunked(body) => {
                head.push_str("Transfer-Encoding: chunked\r\n");
                let mut framed = Vec::with_capacity(body.len() + 64);
                for chunk in body.chunks(16 * 1024) {
                    framed.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                    framed.extend_from_slice(chunk);
                    framed.extend_from_slice(b"\r\n");
                }
                framed.extend_from_slice(b"0\r\n\r\n");
                framed
            }
        };
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&body);
        bytes
    }
}

/// A request of which the first line is sent.
#[derive(Debug)]
pub struct Begun {
    request: Request,
    stream: TcpStream,
    rest: Vec<u8>,
}

impl Begun {
    /// Sends the rest, and reads the complete response.
    ///
    /// # Errors
    /// Any error of the connection.
    ///
    /// # Panics
    /// When the response is not as the description of the API has it.
    pub fn finish(mut self) -> io::Result<Response> {
        self.stream.write_all(&self.rest)?;
        Streaming::read_head(self.stream, &self.request)?.finish()
    }
}

/// Header lines in the order received; names are compared case-insensitively.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Every line: its name and its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether a comma-separated header lists this word.
    pub fn lists(&self, name: &str, word: &str) -> bool {
        self.0
            .iter()
            .filter(|(have, _)| have.eq_ignore_ascii_case(name))
            .flat_map(|(_, value)| value.split(','))
            .any(|have| have.trim().eq_ignore_ascii_case(word))
    }
}

/// A complete response.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: Headers,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)
    }

    /// # Panics
    /// When the body is not UTF-8.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    /// # Panics
    /// When the body is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}), status {}: {}", self.status, self.text()))
    }

    /// The `error` message of an error response.
    pub fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }
}

/// A response whose body is still arriving. Dropping it closes the connection.
#[derive(Debug)]
pub struct Streaming {
    pub status: u16,
    pub headers: Headers,
    reader: BufReader<TcpStream>,
    left: Left,
    /// Method and path.
    asked: String,
    operation: Option<Operation>,
}

/// How the rest of a body is delimited.
#[derive(Debug, Clone, Copy)]
enum Left {
    Nothing,
    Bytes(usize),
    Chunks,
    UntilClosed,
}

impl Streaming {
    fn read_head(stream: TcpStream, asked: &Request) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        loop {
            let status = read_status(&mut reader)?;
            let headers = read_headers(&mut reader)?;
            if (100..200).contains(&status) {
                continue;
            }
            let left = if asked.method == "HEAD" || matches!(status, 204 | 304) {
                Left::Nothing
            } else if headers.lists("Transfer-Encoding", "chunked") {
                Left::Chunks
            } else if let Some(length) = headers.get("Content-Length") {
                Left::Bytes(length.trim().parse().map_err(|_| broken("a Content-Length that is no number"))?)
            } else {
                Left::UntilClosed
            };
            let operation = Operation::of(&asked.method, &asked.path).filter(|_| asked.is_described);
            let asked = format!("{} {}", asked.method, asked.path);
            let answer = Self { status, headers, reader, left, asked, operation };
            answer.is_as_described();
            return Ok(answer);
        }
    }

    /// The next piece of the body in the size it arrived, `None` at the end.
    ///
    /// # Errors
    /// Any error of the connection; a truncated body is one of them.
    pub fn piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self.left {
            Left::Nothing | Left::Bytes(0) => Ok(None),
            Left::Bytes(left) => {
                let piece = self.some(left)?.ok_or_else(|| broken("a body shorter than announced"))?;
                self.left = Left::Bytes(left - piece.len());
                Ok(Some(piece))
            }
            Left::UntilClosed => self.some(usize::MAX),
            Left::Chunks => {
                let size = read_line(&mut self.reader)?;
                let size = size.split(';').next().unwrap_or_default().trim();
                let size = usize::from_str_radix(size, 16).map_err(|_| broken("a chunk without a size"))?;
                let mut piece = vec![0; size];
                self.reader.read_exact(&mut piece)?;
                read_line(&mut self.reader)?;
                if size == 0 {
                    self.left = Left::Nothing;
                    return Ok(None);
                }
                Ok(Some(piece))
            }
        }
    }

    /// Reads the rest of the body and returns the complete response.
    ///
    /// # Errors
    /// Any error of the connection.
    ///
    /// # Panics
    /// When the body is not as the description of the API has it.
    pub fn finish(mut self) -> io::Result<Response> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece()? {
            body.extend_from_slice(&piece);
        }
        if let Some(operation) = self.operation.filter(|_| !self.asked.starts_with("HEAD ")) {
            self.has_none_of(&operation.body_faults(self.status, &self.headers, &body), &body);
        }
        Ok(Response { status: self.status, headers: self.headers, body })
    }

    fn is_as_described(&self) {
        if let Some(operation) = self.operation {
            self.has_none_of(&operation.head_faults(self.status, &self.headers), &[]);
            operation.note(self.status);
        }
    }

    fn has_none_of(&self, faults: &[String], body: &[u8]) {
        let body = String::from_utf8_lossy(body);
        assert!(faults.is_empty(), "{} answered {} and not as described: {faults:#?}\n{body}", self.asked, self.status);
    }

    fn some(&mut self, at_most: usize) -> io::Result<Option<Vec<u8>>> {
        let buffered = self.reader.fill_buf()?;
        if buffered.is_empty() {
            return Ok(None);
        }
        let piece = buffered[..buffered.len().min(at_most)].to_vec();
        self.reader.consume(piece.len());
        Ok(Some(piece))
    }
}

fn read_status(reader: &mut impl BufRead) -> io::Result<u16> {
    let line = read_line(reader)?;
    line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| broken("no status line"))
}

fn read_headers(reader: &mut impl BufRead) -> io::Result<Headers> {
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            return Ok(Headers(headers));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| broken("a header line without a colon"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server hung up"));
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the server sent {what}"))
}
