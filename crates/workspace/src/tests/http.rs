//! The same over http: a small server in front of git's own backend, which wants a token and keeps a record.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{World, committed};
use crate::{Credentials, GitError, Limits, Mirrors, PushError, Pushed, Remote};

const TOKEN: &str = "t0ken-0f-a-test";
/// `x-access-token:t0ken-0f-a-test`
const BASIC: &str = "Basic eC1hY2Nlc3MtdG9rZW46dDBrZW4tMGYtYS10ZXN0";

/// How the server treats those who ask.
#[derive(Clone)]
enum Manner {
    /// Everything to those with the token, nothing to others.
    Token,
    /// Reading to all with the token, writing to nobody.
    ReadOnly,
    /// Sends everybody on to another server.
    Elsewhere(SocketAddr),
    Broken,
    /// Takes the request and never answers.
    Silent,
}

/// One request as the server saw it: its line and its `Authorization`.
type Seen = Arc<Mutex<Vec<(String, Option<String>)>>>;

struct Server {
    address: SocketAddr,
    seen: Seen,
}

impl Server {
    fn start(root: PathBuf, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen::default();
        let record = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, manner, record) = (root.clone(), manner.clone(), record.clone());
                thread::spawn(move || serve(stream, &root, &manner, &record));
            }
        });
        Self { address, seen }
    }

    fn remote(&self, path: &str) -> Remote {
        Remote::new(format!("http://{}/{path}", self.address))
    }

    fn saw_credentials(&self) -> bool {
        self.seen.lock().unwrap().iter().any(|(_, authorization)| authorization.is_some())
    }
}

fn serve(mut stream: TcpStream, root: &std::path::Path, manner: &Manner, seen: &Seen) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = std::collections::HashMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let authorization = headers.get("authorization").cloned();
    seen.lock().unwrap().push((line.trim().to_owned(), authorization.clone()));
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut answer = |status: &str, extra: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()
    };
    let writes = target.contains("receive-pack");
    match manner {
        Manner::Silent => {
            thread::park();
            return None;
        }
        Manner::Broken => return answer("503 Service Unavailable", "", b"later"),
        Manner::Elsewhere(other) => {
            return answer("302 Found", &format!("Location: http://{other}{target}\r\n"), b"");
        }
        Manner::Token | Manner::ReadOnly if authorization.as_deref() != Some(BASIC) => {
            return answer("401 Unauthorized", "WWW-Authenticate: Basic realm=\"docs\"\r\n", b"who are you?");
        }
        Manner::ReadOnly if writes => return answer("403 Forbidden", "", b"read only"),
        Manner::Token | Manner::ReadOnly => {}
    }
    let body = read_body(&mut reader, &headers)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "docent")
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", headers.get("content-type").map_or("", String::as_str))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", headers.get("content-encoding").map_or("", String::as_str))
        .env("GIT_PROTOCOL", headers.get("git-protocol").map_or("", String::as_str))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = backend.stdin.take()?;
    let feeder = thread::spawn(move || drop(input.write_all(&body)));
    let mut output = Vec::new();
    backend.stdout.take()?.read_to_end(&mut output).ok()?;
    feeder.join().ok()?;
    backend.wait().ok()?;
    let split = output.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&output[..split]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let extra: String =
        head.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n")).collect();
    answer(status, &extra, &output[split + 4..])
}

fn read_body(
    reader: &mut BufReader<TcpStream>,
    headers: &std::collections::HashMap<String, String>,
) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    if headers.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                return Some(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    let length: usize = headers.get("content-length").map_or(Some(0), |text| text.parse().ok())?;
    body.resize(length, 0);
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn world_and_server(manner: Manner) -> (World, Server) {
    let world = World::new();
    let server = Server::start(world.bare.parent().unwrap().to_owned(), manner);
    (world, server)
}

#[test]
fn a_token_opens_fetch_and_push() {
    let (world, server) = world_and_server(Manner::Token);
    let remote = server.remote("docs.git").with_credentials(Credentials::token(TOKEN));
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    assert_eq!(mirror.find_branch("main").unwrap(), world.upstream("main"));
    assert_eq!(mirror.default_branch().as_deref(), Some("main"));
    world.put("docs/later.md", "# Later\n");
    let later = world.publish("later");
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    assert_eq!(mirror.branch("main").unwrap(), later);

    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    assert_eq!(mirror.push(&remote, "job", commit, None).unwrap(), Pushed::Moved);
    assert_eq!(mirror.push(&remote, "job", commit, None).unwrap(), Pushed::AlreadyThere);
    assert_eq!(world.upstream("job"), Some(commit));
    assert_eq!(mirror.remote_branch(&remote, "job").unwrap(), Some(commit));
    let again = committed(&mirror, "docs/index.md", "# Again\n");
    let moved = mirror.push(&remote, "job", again, None).unwrap_err();
    assert!(matches!(moved, PushError::Moved { now: Some(now) } if now == commit), "{moved:?}");

    // The token travels in a header and stays nowhere.
    assert!(server.seen.lock().unwrap().iter().all(|(line, _)| !line.contains(TOKEN)));
    let found =
        Command::new("grep").args(["-rlE", &format!("{TOKEN}|{}", &BASIC[6..])]).arg(&world.mirrors_root).output();
    assert_eq!(String::from_utf8_lossy(&found.unwrap().stdout), "");
}

#[test]
fn a_large_commit_is_pushed_in_chunks() {
    let (world, server) = world_and_server(Manner::Token);
    let remote = server.remote("docs.git").with_credentials(Credentials::token(TOKEN));
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    let mut overlay = mirror.overlay(mirror.branch("main").unwrap()).unwrap();
    // Too random to shrink below what git sends in one piece.
    let mut state = 1u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(2 << 20)
    .collect();
    overlay.write("docs/noise.bin", noise).unwrap();
    let commit = mirror.commit(&overlay, &super::meta(&[overlay.commit()])).unwrap();
    mirror.push(&remote, "large", commit, None).unwrap();
    assert_eq!(world.upstream("large"), Some(commit));
}

#[test]
fn without_the_right_token_nothing_opens() {
    let (world, server) = world_and_server(Manner::Token);
    let stranger = server.remote("docs.git");
    let liar = stranger.clone().with_credentials(Credentials::token("wr0ng-secret"));
    for remote in [&stranger, &liar] {
        let refused = world.mirrors.fetch_blocking(remote).unwrap_err();
        assert!(matches!(refused, GitError::Auth { .. }), "{refused:?}");
        assert!(!format!("{refused:?} {remote:?}").contains("wr0ng"), "{refused:?}");
    }
    let friend = stranger.clone().with_credentials(Credentials::token(TOKEN));
    let mirror = world.mirrors.fetch_blocking(&friend).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    for remote in [&stranger, &liar] {
        let refused = mirror.push(remote, "job", commit, None).unwrap_err();
        assert!(matches!(refused, PushError::Git(GitError::Auth { .. })), "{refused:?}");
        assert!(!format!("{refused:?}").contains("wr0ng"), "{refused:?}");
    }
    assert_eq!(world.upstream("job"), None);
}

#[tokio::test]
async fn one_callers_token_does_not_open_for_another() {
    let (world, server) = world_and_server(Manner::Token);
    let stranger = server.remote("docs.git");
    let friend = stranger.clone().with_credentials(Credentials::token(TOKEN));
    let (first, second) = tokio::join!(world.mirrors.fetch(&friend), world.mirrors.fetch(&stranger));
    assert!(first.is_ok());
    assert!(matches!(second, Err(GitError::Auth { .. })));
}

#[test]
fn a_token_that_may_only_read_is_told_apart() {
    let (world, server) = world_and_server(Manner::ReadOnly);
    let remote = server.remote("docs.git").with_credentials(Credentials::token(TOKEN));
    let mirror = world.mirrors.fetch_blocking(&remote).unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let refused = mirror.push(&remote, "job", commit, None).unwrap_err();
    assert!(matches!(refused, PushError::Denied { .. }), "{refused:?}");
}

#[test]
fn a_repository_the_server_does_not_have_is_not_found() {
    let (world, server) = world_and_server(Manner::Token);
    let remote = server.remote("nope.git").with_credentials(Credentials::token(TOKEN));
    let error = world.mirrors.fetch_blocking(&remote).unwrap_err();
    assert!(matches!(error, GitError::NotFound { .. }), "{error:?}");
}

#[test]
fn a_server_in_trouble_is_unreachable() {
    let (world, server) = world_and_server(Manner::Broken);
    let error = world.mirrors.fetch_blocking(&server.remote("docs.git")).unwrap_err();
    assert!(matches!(error, GitError::Unreachable { .. }), "{error:?}");
    assert!(error.is_transient());
}

#[test]
fn a_redirect_does_not_carry_credentials_to_another_host() {
    let (world, other) = world_and_server(Manner::Token);
    let server = Server::start(world.work.clone(), Manner::Elsewhere(other.address));
    let remote = server.remote("docs.git").with_credentials(Credentials::token(TOKEN));
    assert!(world.mirrors.fetch_blocking(&remote).is_err());
    let direct = other.remote("docs.git").with_credentials(Credentials::token(TOKEN));
    let mirror = world.mirrors.fetch_blocking(&direct).unwrap();
    other.seen.lock().unwrap().clear();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    assert!(mirror.push(&remote, "job", commit, None).is_err());
    assert!(!other.saw_credentials());
    assert_eq!(world.upstream("job"), None);
}

#[tokio::test]
async fn a_server_that_never_answers_ends_in_a_timeout() {
    let (world, server) = world_and_server(Manner::Silent);
    let limits = Limits { fetch: Duration::from_millis(200), push: Duration::from_millis(200) };
    let mirrors = Mirrors::with_limits(&world.mirrors_root, limits);
    let error = mirrors.fetch(&server.remote("docs.git")).await.unwrap_err();
    assert!(matches!(error, GitError::Timeout { .. }), "{error:?}");
    // A push gives up too.
    let mirror = mirrors.fetch(&world.remote()).await.unwrap();
    let commit = committed(&mirror, "docs/index.md", "# Changed\n");
    let remote = server.remote("docs.git");
    let error =
        tokio::task::spawn_blocking(move || mirror.push(&remote, "job", commit, None)).await.unwrap().unwrap_err();
    assert!(matches!(error, PushError::Git(GitError::Timeout { .. })), "{error:?}");
}
