//! A git host over HTTP: `git http-backend` behind a token check, which can be set to misbehave.
//!
//! ```no_run
//! # use docent_tests::git_server::{GitServer, Behaviour};
//! let server = GitServer::start("/srv/repositories".as_ref());
//! server.give("a-token");
//! let url = server.url("docs.git"); // http://127.0.0.1:PORT/docs.git
//! server.behave(Behaviour::Busy { status: 503, retry_after: Some(7) });
//! # drop(url);
//! ```
//!
//! Every request is recorded with its headers, so that a test can assert what was sent, and above all what was not.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

/// How the server responds to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Like a git host: according to the token.
    Normal,
    /// Allows everyone to read and write.
    Open,
    /// Answers everything with this status, and with `Retry-After` in seconds, if given.
    Busy { status: u16, retry_after: Option<u32> },
    /// Answers pushes with this status and text, as forges do, and serves fetches.
    Refuses { status: u16, says: String },
    /// Redirects every request to the same path below this address.
    Elsewhere(String),
    /// Redirects requests for a path that begins with `from` to the same path with `to` instead, and serves all others.
    Renamed { from: String, to: String },
    /// Serves after this pause.
    Slow(Duration),
    /// Takes the request and never answers.
    Silent,
    /// Serves the ref advertisement, and closes the connection after this many bytes of any other body.
    Cuts { after: usize },
    /// Closes the connection before the body of a push was read.
    HangsUpOnPush,
    /// Answers everything with 200, this content type and these bytes.
    Says { content_type: String, body: Vec<u8> },
    /// Answers 200 with the correct content type and repeats these bytes endlessly.
    Endless(Vec<u8>),
    /// Answers 200 with the correct content type, announces this many bytes, sends a few, and keeps the connection
    /// open.
    Promises(u64),
}

/// One recorded request.
#[derive(Debug, Clone)]
pub struct GitRequest {
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Keyed by lower-case name.
    pub headers: HashMap<String, String>,
    pub body_bytes: usize,
}

#[derive(Debug)]
struct State {
    root: PathBuf,
    manner: Behaviour,
    /// Whether each token may write.
    tokens: HashMap<String, bool>,
    seen: Vec<GitRequest>,
}

/// A connection with a client.
pub trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// The handshake of a new connection: none, or TLS.
pub type Accept = dyn Fn(TcpStream) -> io::Result<Box<dyn Stream>> + Send + Sync;

/// A running git host. It ends with the process.
#[derive(Debug, Clone)]
pub struct GitServer {
    scheme: &'static str,
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl GitServer {
    /// Serves the repositories below `root`, with no tokens yet.
    ///
    /// # Panics
    /// When no port of the loopback interface is free.
    pub fn start(root: &Path) -> Self {
        Self::start_with_handshake(root, "http", Arc::new(|stream| Ok(Box::new(stream))))
    }

    /// The same with another connection handshake, for URLs that begin with `scheme`.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    pub fn start_with_handshake(root: &Path, scheme: &'static str, handshake: Arc<Accept>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen on the loopback interface");
        let address = listener.local_addr().expect("a listener has an address");
        let state =
            State { root: root.to_owned(), manner: Behaviour::Normal, tokens: HashMap::new(), seen: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, handshake) = (shared.clone(), handshake.clone());
                thread::spawn(move || -> io::Result<()> {
                    stream.set_nodelay(true)?;
                    serve(handshake(stream)?, &state)
                });
            }
        });
        Self { scheme, address, state }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a repository.
    pub fn url(&self, repository: &str) -> String {
        format!("{}://{}/{repository}", self.scheme, self.address)
    }

    /// Accepts this token for reading and writing.
    pub fn give(&self, token: &str) {
        self.state.lock().tokens.insert(token.to_owned(), true);
    }

    /// Accepts this token for reading only.
    pub fn give_to_read(&self, token: &str) {
        self.state.lock().tokens.insert(token.to_owned(), false);
    }

    pub fn behave(&self, manner: Behaviour) {
        self.state.lock().manner = manner;
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<GitRequest> {
        self.state.lock().seen.clone()
    }

    pub fn forget(&self) {
        self.state.lock().seen.clear();
    }

    /// Whether any request had an `Authorization` header.
    pub fn saw_credentials(&self) -> bool {
        self.state.lock().seen.iter().any(|seen| seen.headers.contains_key("authorization"))
    }
}

/// A request whose body is still to be read.
struct Asked {
    method: String,
    target: String,
    headers: HashMap<String, String>,
}

fn serve(stream: Box<dyn Stream>, state: &Mutex<State>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read_head(&mut reader)? {
        let manner = state.lock().manner.clone();
        if manner == Behaviour::HangsUpOnPush && asked.method == "POST" && asked.is_push() {
            return Ok(());
        }
        let body = read_body(&mut reader, &asked.headers)?;
        let seen = GitRequest {
            method: asked.method.clone(),
            target: asked.target.clone(),
            headers: asked.headers.clone(),
            body_bytes: body.len(),
        };
        let (root, rights) = {
            let mut state = state.lock();
            state.seen.push(seen);
            (state.root.clone(), rights(&state.tokens, &asked.headers))
        };
        let mut answer = Answer { connection: &mut reader };
        let keep = match manner {
            Behaviour::Normal => by_token(&asked, &root, rights, &body, &mut answer)?,
            Behaviour::Open => backend(&asked, &root, &body)?.send(&mut answer)?,
            Behaviour::Slow(pause) => {
                thread::sleep(pause);
                by_token(&asked, &root, rights, &body, &mut answer)?
            }
            Behaviour::Cuts { after } if asked.method == "POST" => {
                let whole = backend(&asked, &root, &body)?;
                answer.head(200, &whole.headers, whole.body.len() as u64)?;
                answer.bytes(&whole.body[..after.min(whole.body.len())])?;
                false
            }
            Behaviour::Cuts { .. } | Behaviour::HangsUpOnPush => by_token(&asked, &root, rights, &body, &mut answer)?,
            Behaviour::Refuses { status, says } if asked.is_push() => {
                answer.whole(status, "Content-Type: text/plain; charset=utf-8\r\n", says.as_bytes())?
            }
            Behaviour::Refuses { .. } => by_token(&asked, &root, rights, &body, &mut answer)?,
            Behaviour::Busy { status, retry_after } => {
                let after = retry_after.map(|seconds| format!("Retry-After: {seconds}\r\n")).unwrap_or_default();
                answer.whole(status, &after, b"later")?
            }
            Behaviour::Elsewhere(to) => answer.whole(302, &format!("Location: {to}{}\r\n", asked.target), b"")?,
            Behaviour::Renamed { from, to } => match asked.target.strip_prefix(&from) {
                Some(rest) => answer.whole(301, &format!("Location: {to}{rest}\r\n"), b"")?,
                None => by_token(&asked, &root, rights, &body, &mut answer)?,
            },
            Behaviour::Silent => {
                // Until the client closes the connection.
                io::copy(answer.connection, &mut io::sink())?;
                false
            }
            Behaviour::Says { content_type, body } => {
                answer.whole(200, &format!("Content-Type: {content_type}\r\n"), &body)?
            }
            Behaviour::Endless(bytes) => {
                answer.head(200, &asked.right_type(), u64::from(u32::MAX) << 16)?;
                loop {
                    answer.bytes(&bytes)?;
                }
            }
            Behaviour::Promises(length) => {
                answer.head(200, &asked.right_type(), length)?;
                answer.bytes(b"001e# service=git-upload-pack\n0000")?;
                io::copy(answer.connection, &mut io::sink())?;
                false
            }
        };
        if !keep {
            return Ok(());
        }
    }
    Ok(())
}

impl Asked {
    fn is_push(&self) -> bool {
        self.target.contains("receive-pack")
    }

    fn right_type(&self) -> String {
        let service = if self.is_push() { "git-receive-pack" } else { "git-upload-pack" };
        let kind = if self.method == "GET" { "advertisement" } else { "result" };
        format!("Content-Type: application/x-{service}-{kind}\r\n")
    }
}

/// What a request is permitted to do: nothing, read, or read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    None,
    Read,
    Write,
}

fn rights(tokens: &HashMap<String, bool>, headers: &HashMap<String, String>) -> Rights {
    let given = headers.get("authorization").map_or("", String::as_str);
    let write =
        tokens.iter().find(|(token, _)| given == basic(&format!("x-access-token:{token}"))).map(|(_, may)| *may);
    match write {
        None => Rights::None,
        Some(false) => Rights::Read,
        Some(true) => Rights::Write,
    }
}

fn by_token(asked: &Asked, root: &Path, rights: Rights, body: &[u8], answer: &mut Answer<'_>) -> io::Result<bool> {
    if rights == Rights::None {
        return answer.whole(401, "WWW-Authenticate: Basic realm=\"git\"\r\n", b"who are you?");
    }
    if asked.is_push() && rights == Rights::Read {
        let says = b"Permission to acme/docs.git denied to reader.";
        return answer.whole(403, "Content-Type: text/plain\r\n", says);
    }
    backend(asked, root, body)?.send(answer)
}

/// The response of `git http-backend`.
struct Backend {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Backend {
    fn send(&self, answer: &mut Answer<'_>) -> io::Result<bool> {
        answer.whole(self.status, &self.headers, &self.body)
    }
}

fn backend(asked: &Asked, root: &Path, body: &[u8]) -> io::Result<Backend> {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let header = |name: &str| asked.headers.get(name).map_or("", String::as_str);
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        // The backend accepts pushes only with a user.
        .env("REMOTE_USER", "docent")
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("REQUEST_METHOD", &asked.method)
        .env("PATH_INFO", path.replace("%20", " "))
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        // The backend decompresses the body according to this header.
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().ok_or_else(|| io::Error::other("no pipe"))?;
    let mut output = Vec::new();
    thread::scope(|scope| {
        // A backend that refuses the request does not read its input.
        scope.spawn(move || drop(input.write_all(body)));
        match child.stdout.take() {
            Some(mut stdout) => stdout.read_to_end(&mut output),
            None => Ok(0),
        }
    })?;
    child.wait()?;
    let split = output.windows(4).position(|four| four == b"\r\n\r\n");
    let split = split.ok_or_else(|| io::Error::other("the backend sent no head"))?;
    let head = String::from_utf8_lossy(&output[..split]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: "));
    let status = status.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(200);
    let headers = head.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n")).collect();
    Ok(Backend { status, headers, body: output[split + 4..].to_vec() })
}

struct Answer<'a> {
    connection: &'a mut BufReader<Box<dyn Stream>>,
}

impl Answer<'_> {
    fn head(&mut self, status: u16, headers: &str, length: u64) -> io::Result<()> {
        let head = format!("HTTP/1.1 {status} Said\r\n{headers}Content-Length: {length}\r\n\r\n");
        self.bytes(head.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.connection.get_mut();
        stream.write_all(bytes)?;
        stream.flush()
    }

    /// Sends a complete response; the connection can be used again.
    fn whole(&mut self, status: u16, headers: &str, body: &[u8]) -> io::Result<bool> {
        self.head(status, headers, body.len() as u64)?;
        self.bytes(body)?;
        Ok(true)
    }
}

fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Asked>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    Ok(Some(Asked { method, target, headers }))
}

fn read_body(reader: &mut BufReader<Box<dyn Stream>>, headers: &HashMap<String, String>) -> io::Result<Vec<u8>> {
    if headers.get("expect").is_some_and(|expected| expected == "100-continue") {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk)?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    let length = headers.get("content-length").map_or(Ok(0), |text| text.parse()).map_err(io::Error::other)?;
    body.resize(length, 0);
    reader.read_exact(&mut body)?;
    Ok(body)
}

/// The value of a `Basic` authorization header: the text in base64.
pub fn basic(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::from("Basic ");
    for three in text.as_bytes().chunks(3) {
        let word = three.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let sextet = (word >> (18 - 6 * place)) & 63;
            out.push(if place <= three.len() { char::from(ALPHABET[sextet as usize]) } else { '=' });
        }
    }
    out
}
