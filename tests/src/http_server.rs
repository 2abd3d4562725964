//! A small HTTP/1.1 server for the servers that the tests imitate: one thread per connection, with a small stack, so
//! that hundreds of connections cost little.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Stack size of a connection's thread. Only pages that are touched use real memory.
const STACK_BYTES: usize = 512 << 10;

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Keyed by lower-case name.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// What happens to the connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterAnswer {
    Keep,
    HangUp,
}

/// The connection of one request, for the response.
#[derive(Debug)]
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

/// Answers one request.
pub(crate) type Handler = dyn Fn(Received, &mut Connection) -> io::Result<AfterAnswer> + Send + Sync;

/// Listens on the loopback interface for the lifetime of the process; port 0 picks a free port.
///
/// # Panics
/// When the port is not available.
pub(crate) fn listen(port: u16, handler: Arc<Handler>) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("listen on the loopback interface");
    let address = listener.local_addr().expect("a listener has an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let handler = handler.clone();
            let connection = thread::Builder::new().stack_size(STACK_BYTES);
            connection.spawn(move || serve(stream, &*handler)).expect("start a thread for a connection");
        }
    });
    address
}

fn serve(stream: TcpStream, handler: &Handler) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection { reader: BufReader::new(stream) };
    while let Some(received) = connection.read_request()? {
        if handler(received, &mut connection)? == AfterAnswer::HangUp {
            break;
        }
    }
    Ok(())
}

impl Connection {
    /// Sends a complete response.
    pub(crate) fn answer(&mut self, status: u16, headers: &[(&str, String)], body: &[u8]) -> io::Result<AfterAnswer> {
        let mut bytes = head(status, headers, &format!("Content-Length: {}", body.len()));
        bytes.extend_from_slice(body);
        self.reader.get_mut().write_all(&bytes)?;
        Ok(AfterAnswer::Keep)
    }

    /// Begins a response with a chunked body.
    pub(crate) fn begin(&mut self, status: u16, headers: &[(&str, String)]) -> io::Result<()> {
        self.reader.get_mut().write_all(&head(status, headers, "Transfer-Encoding: chunked"))
    }

    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.reader.get_mut().write_all(&chunk)
    }

    /// Ends a chunked body.
    pub(crate) fn end(&mut self) -> io::Result<AfterAnswer> {
        self.reader.get_mut().write_all(b"0\r\n\r\n")?;
        Ok(AfterAnswer::Keep)
    }

    /// Whether the client has hung up.
    pub(crate) fn is_gone(&mut self) -> bool {
        let stream = self.reader.get_mut();
        if stream.set_nonblocking(true).is_err() {
            return true;
        }
        let seen = stream.peek(&mut [0]);
        let gone = match seen {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        stream.set_nonblocking(false).is_err() || gone
    }

    /// Waits until the client closes the connection.
    pub(crate) fn outwait(&mut self) -> io::Result<AfterAnswer> {
        io::copy(&mut self.reader, &mut io::sink())?;
        Ok(AfterAnswer::HangUp)
    }

    fn read_request(&mut self) -> io::Result<Option<Received>> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split(' ');
        let (method, target) =
            (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
        let mut headers = HashMap::new();
        loop {
            let mut header = String::new();
            self.reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let body = self.read_body(&headers)?;
        Ok(Some(Received { method, target, headers, body }))
    }

    fn read_body(&mut self, headers: &HashMap<String, String>) -> io::Result<Vec<u8>> {
        if headers.get("expect").is_some_and(|expected| expected == "100-continue") {
            self.reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let mut body = Vec::new();
        if headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
            loop {
                let mut size = String::new();
                self.reader.read_line(&mut size)?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
                let mut chunk = vec![0; size + 2];
                self.reader.read_exact(&mut chunk)?;
                if size == 0 {
                    return Ok(body);
                }
                body.extend_from_slice(&chunk[..size]);
            }
        }
        let length = headers.get("content-length").map_or(Ok(0), |text| text.parse()).map_err(io::Error::other)?;
        body.resize(length, 0);
        self.reader.read_exact(&mut body)?;
        Ok(body)
    }
}

fn head(status: u16, headers: &[(&str, String)], framing: &str) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("{framing}\r\n\r\n"));
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Said",
    }
}

/// The path of a target, and the names and values of its query, percent-decoded.
pub(crate) fn path_and_query(target: &str) -> (String, HashMap<String, String>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = pairs.map(|(name, value)| (unescaped(name), unescaped(&value.replace('+', " ")))).collect();
    (path.to_owned(), query)
}

/// Decodes percent-encoding such as `%2F`.
pub(crate) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let escaped = escaped.and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
