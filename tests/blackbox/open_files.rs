//! A server with a low limit of open files: clients wait for their turn, and accepted work is done.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Installation, Server, eventually};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// A server with this limit of open files.
fn server_with(files: u64, installation: &Installation) -> Server {
    let served = installation.command(["serve", "--listen", "127.0.0.1:0", "--data"]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]).arg(served.get_program());
    command.args(served.get_args()).arg(installation.data()).current_dir(installation.root());
    for (name, value) in served.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Server::start(command, &installation.root().join("server.log"))
}

fn installation() -> (Installation, String) {
    let installation = Installation::new();
    let repository = installation.repository("acme", docent_tests::site::PAGES);
    installation.add_project("acme", &repository);
    let key = installation.mint("acme", KeyKind::Admin, &[]);
    (installation, key)
}

#[test]
fn a_crowd_of_clients_does_not_keep_accepted_jobs_from_being_done() {
    let (installation, key) = installation();
    let server = server_with(300, &installation);
    let agent = Agent::new(&server, "acme", &key);
    let jobs: Vec<_> = (0..8).map(|n| agent.create(&format!("Replace \"widget\" with \"gadget-{n}\""))).collect();
    // More connections than the limit allows; the rest wait in the kernel's accept queue.
    let crowd: Vec<TcpStream> = (0..300)
        .filter_map(|_| TcpStream::connect_timeout(&server.address(), Duration::from_millis(200)).ok())
        .collect();
    assert!(crowd.len() > 60, "{}", crowd.len());
    let branches = || {
        let listed = docent_tests::repository::git(
            &installation.root().join("acme.git"),
            &["for-each-ref", "--format=%(refname)", "refs/heads/docent/"],
        );
        listed.lines().count()
    };
    eventually("all jobs to be pushed", || (branches() == jobs.len()).then_some(()));
    drop(crowd);
    for job in &jobs {
        agent.reaches(id(job), "completed");
    }
    let log = std::fs::read_to_string(installation.root().join("server.log")).expect("a log");
    assert!(log.contains("few files may be open") && !log.contains("too many files are open"), "{log}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_waits_for_as_long_as_no_file_can_be_opened() {
    let (installation, key) = installation();
    let server = server_with(1024, &installation);
    let agent = Agent::new(&server, "acme", &key);
    let pid = Pid::from_raw(i32::try_from(server.pid()).expect("a number"));
    let may_open = |files: u64| {
        let limit = Rlimit { current: Some(files), maximum: Some(1024) };
        prlimit(pid, Resource::Nofile, limit).expect("set the limit");
    };
    // The first job opens the files that stay open.
    let first = agent.create("Replace \"widget\" with \"gadget\"");
    agent.reaches(id(&first), "completed");
    // A connection opened beforehand, so that the job can be submitted.
    let mut connection = TcpStream::connect(server.address()).expect("connect");
    let mut send = |request: String| {
        connection.write_all(request.as_bytes()).expect("sent");
        let mut answer = [0; 4096];
        let length = connection.read(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    assert!(send("GET /healthz HTTP/1.1\r\nHost: docent\r\n\r\n".to_owned()).starts_with("HTTP/1.1 200"));
    may_open(3);
    let prompt = r#"{"prompt":"Replace \"parcel\" with \"package\""}"#;
    let accepted = send(format!(
        "POST /v2/agent/acme/job HTTP/1.1\r\nHost: docent\r\nAuthorization: Bearer {key}\r\nContent-Length: {}\r\n\r\n{prompt}",
        prompt.len()
    ));
    assert!(accepted.starts_with("HTTP/1.1 201"), "{accepted}");
    let (_, body) = accepted.split_once("\r\n\r\n").expect("a body");
    let job: serde_json::Value = serde_json::from_str(body).expect("a job");
    let log = installation.root().join("server.log");
    eventually("the job to wait for files", || {
        let log = std::fs::read_to_string(&log).expect("a log");
        log.contains("too many files are open").then_some(())
    });
    may_open(1024);
    let job = agent.reaches(id(&job), "completed");
    assert!(job["prLink"].is_string(), "{job:#}");
}
