//! HAProxy, as `examples/three_nodes/haproxy.cfg` configures it, before three nodes on one database.

use std::net::Ipv4Addr;
use std::thread;

use docent_tests::agent::{Event, branch, id};
use docent_tests::model_server::{Gate, Wire};
use docent_tests::{Request, Response, eventually};
use serde_json::json;

use super::{Nodes, writes_and_waits};
use crate::deploy::certificate::{Certificate, SERVER};
use crate::deploy::proxies::Place;
use crate::deploy::reader::Reader;

/// Jobs of a project in an hour.
const LIMIT: usize = 12;

#[test]
#[ignore = "needs PostgreSQL and HAProxy: cargo xtask test --only postgres"]
fn three_nodes_are_one_server_while_one_is_killed_and_one_drains() {
    let gate = Gate::new();
    let env = [
        writes_and_waits(&gate).configures(Wire::Anthropic),
        vec![
            ("DOCENT_PUBLIC_URL".to_owned(), format!("https://{SERVER}")),
            ("DOCENT_TRUSTED_PROXIES".to_owned(), "127.0.0.1".to_owned()),
            ("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR".to_owned(), LIMIT.to_string()),
        ],
    ];
    let mut nodes = Nodes::start(3, &env.concat());
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let certificate = Certificate::in_folder(folder.path());
    let place = Place::in_folder(folder.path(), &certificate);
    let addresses = [0, 1, 2].map(|node| nodes.nodes[node].server.address());
    let proxy = place.haproxy(addresses);
    let reader = Reader::of(place.secure, SERVER, certificate.trusting());
    let sends = |request: Request| -> Response {
        request.header("Host", SERVER).send(reader.address()).expect("the balancer answers")
    };

    let created = sends(nodes.agent(0).request("POST", "job").json(&json!({ "prompt": "Add a page" })));
    assert_eq!(created.status, 201, "{}", created.text());
    let job = created.json();
    gate.holds(1);
    let worker = nodes.worker();
    let events = nodes.agent(0).events(id(&job), None);
    let mut followed = events.header("Host", SERVER).open(reader.address()).expect("an answer");
    let mut read = Vec::new();
    while !Event::read(&read).iter().any(|event| event.kind == "answered") {
        read.extend(followed.piece().expect("more").expect("the event comes before the end"));
    }
    drop(followed);

    let killed = nodes.nodes.remove(worker);
    killed.server.kill();
    let names = ["a", "b", "c"];
    let killed_name = names[worker];
    let down = format!("Server nodes/{killed_name} is DOWN");
    eventually("HAProxy to call the killed node down", || proxy.said().contains(&down).then_some(()));
    gate.open();
    let job = eventually("the job to end on another node", || {
        let job = sends(nodes.agent(0).request("GET", &format!("job/{}", id(&job)))).json();
        (job["status"] == "completed").then_some(job)
    });
    assert_eq!(nodes.repository.commits_ahead(branch(&job)), 1, "{job:#}");
    let link = job["prLink"].as_str().expect("a pull request");
    assert!(link.starts_with(&format!("https://{SERVER}/")), "{link}");

    // The balancer keeps a reader with a node, so these are spread over both.
    let readers = [3, 4, 5, 6].map(|last| {
        let address = Ipv4Addr::new(127, 0, 0, last);
        Reader::at(address, place.secure, SERVER, certificate.trusting())
    });
    let draining = nodes.nodes.remove(0).server;
    let statuses: Vec<u16> = thread::scope(|scope| {
        let ask = |n: usize| {
            scope.spawn({
                let (nodes, reader) = (&nodes, &readers[n % 4]);
                move || creates_at(nodes, reader)
            })
        };
        let before: Vec<_> = (0..LIMIT / 2).map(ask).collect();
        draining.terminate();
        let after: Vec<_> = (0..LIMIT / 2 + 4).map(ask).collect();
        before.into_iter().chain(after).map(|one| one.join().expect("an answer")).collect()
    });
    assert!(draining.ended().success(), "it drains");
    let count = |status| statuses.iter().filter(|given| **given == status).count();
    assert_eq!((count(201), count(429)), (LIMIT - 1, 5), "exactly as many as may be: {statuses:?}");
    let name = names.into_iter().find(|name| *name != killed_name).expect("the first node that was left");
    let down = format!("Server nodes/{name} is DOWN");
    eventually("HAProxy to call the draining node down", || proxy.said().contains(&down).then_some(()));
}

/// Gives a job to the balancer, again while it says that a node drains.
fn creates_at(nodes: &Nodes, reader: &Reader) -> u16 {
    eventually("an answer of a node that does not drain", || {
        let request = nodes.agent(0).request("POST", "job").json(&json!({ "prompt": "Add a page" }));
        let answer = request.header("Host", SERVER).send(reader.address()).ok()?;
        (answer.status != 503).then_some(answer.status)
    })
}
