//! Following a job without a polling loop: one request that is answered when the job has ended; and polling that is
//! cheap.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use docent_tests::agent::id;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::PAGES;
use docent_tests::{ModelServer, Site, eventually};

/// A site whose jobs wait at a gate for their model.
fn held() -> (Site, ModelServer, Gate) {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.forgets().replies_with({
        let gate = gate.clone();
        move |_| Reply::text("There is nothing to do.").finish("Nothing").held_by(&gate)
    });
    let env = model.configures(Wire::OpenAi);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    (Site::with_env(PAGES, &env), model, gate)
}

#[test]
fn one_request_waits_for_the_end_of_a_job_in_both_versions() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create("Replace \"widget\" with \"gadget\"");
    let path = format!("job/{}?wait=60", id(&job));
    let ended = site.server.send(&agent.request("GET", &path));
    assert_eq!((ended.status, &ended.json()["status"]), (200, &"completed".into()), "{}", ended.text());
    assert!(ended.json()["prLink"].is_string());
    let session = site.server.send(&agent.request_v1("GET", &path));
    assert_eq!((session.status, &session.json()["haulted"]), (200, &true.into()), "{}", session.text());

    for (answer, again) in [
        (&ended, agent.request("GET", &format!("job/{}", id(&job)))),
        (&session, agent.request_v1("GET", &format!("job/{}", id(&job)))),
    ] {
        assert_eq!(answer.header("Cache-Control"), Some("no-store"));
        let tag = answer.header("ETag").expect("a tag");
        let known = site.server.send(&again.clone().header("If-None-Match", tag));
        assert_eq!((known.status, known.body.len(), known.header("ETag")), (304, 0, Some(tag)));
        let revised = site.server.send(&again.header("If-None-Match", "\"another\""));
        assert_eq!(revised.body, answer.body);
    }
    for wait in ["0", "61", "soon"] {
        let refused = site.server.send(&agent.request("GET", &format!("job/{}?wait={wait}", id(&job))));
        assert_eq!(refused.status, 400, "{wait}");
        assert!(refused.error().starts_with("wait: it must be a whole number from 1 to 60"), "{}", refused.error());
    }
}

#[test]
fn a_wait_is_over_when_its_time_is() {
    let (site, _model, gate) = held();
    let agent = site.agent();
    let job = agent.create("Improve the docs");
    gate.holds(1);
    let began = Instant::now();
    let told = site.server.send(&agent.request("GET", &format!("job/{}?wait=1", id(&job))));
    assert_eq!((told.status, &told.json()["status"]), (200, &"active".into()));
    assert!(began.elapsed() >= Duration::from_secs(1));
    let tag = told.header("ETag").expect("a tag");
    let again = agent.request("GET", &format!("job/{}?wait=1", id(&job))).header("If-None-Match", tag);
    assert_eq!(site.server.send(&again).status, 304);
    gate.open();
    let ended = site.server.send(&agent.request("GET", &format!("job/{}?wait=60", id(&job))));
    assert_eq!(ended.json()["status"], "completed", "{}", ended.text());
}

#[test]
fn who_waits_does_not_hold_a_drain_back() {
    let (site, _model, gate) = held();
    let job = site.agent().create("Improve the docs");
    gate.holds(1);
    let server = &site.server;
    let before = open_sockets(server.pid());
    let began = Instant::now();
    thread::scope(|scope| {
        let path = format!("job/{}?wait=60", id(&job));
        let waiting = [site.agent().request("GET", &path), site.agent().request_v1("GET", &path)]
            .map(|request| scope.spawn(move || request.send(server.address()).expect("an answer")));
        eventually("both to be connected", || (open_sockets(server.pid()) >= before + 2).then_some(()));
        // These later requests are answered while the first two wait.
        for _ in 0..20 {
            site.agent().job(id(&job));
        }
        server.terminate();
        for one in waiting {
            let told = one.join().expect("a thread ends");
            assert_eq!(told.status, 200, "{}", told.text());
            assert!(began.elapsed() < Duration::from_secs(50), "answered before its time was over");
        }
    });
    gate.open();
    assert!(site.server.ended().success());
}

#[test]
fn who_hangs_up_while_it_waits_is_forgotten() {
    const WAITERS: usize = 100;
    let (site, _model, gate) = held();
    let job = site.agent().create("Improve the docs");
    gate.holds(1);
    let before = open_sockets(site.server.pid());
    let request = format!(
        "GET /v2/agent/acme/job/{}?wait=60 HTTP/1.1\r\nHost: docent\r\nAuthorization: Bearer {}\r\n\r\n",
        id(&job),
        site.admin_key
    );
    let waiting: Vec<TcpStream> = (0..WAITERS)
        .map(|_| {
            let mut stream = TcpStream::connect(site.server.address()).expect("connect");
            stream.write_all(request.as_bytes()).expect("send");
            stream
        })
        .collect();
    eventually("all to wait", || (open_sockets(site.server.pid()) >= before + WAITERS).then_some(()));
    drop(waiting);
    eventually("all to be forgotten", || (open_sockets(site.server.pid()) <= before + 2).then_some(()));
    gate.open();
    site.agent().reaches(id(&job), "completed");
}

/// The number of sockets that a process has open.
fn open_sockets(pid: u32) -> usize {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).expect("the server runs").flatten();
    files
        .filter(|file| fs::read_link(file.path()).is_ok_and(|target| target.to_string_lossy().starts_with("socket:")))
        .count()
}
