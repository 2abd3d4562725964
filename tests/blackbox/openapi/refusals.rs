//! Refusals that many operations share, tried at each that declares them.

use docent_tests::agent::id;
use docent_tests::api_description::{Operation, api_description, faults, operations};
use docent_tests::site::{PAGES, PROJECT};
use docent_tests::{Installation, KeyKind, Request, Site, eventually};
use serde_json::json;

/// A body that is longer than any may be.
const TOO_LONG: usize = 5 << 20;

fn declaring(status: u16) -> impl Iterator<Item = Operation> {
    operations(api_description()).filter(move |operation| operation.statuses().contains(&status))
}

/// A request for this job, or for something else that may not exist.
fn request_for(operation: &Operation, job: &str) -> Request {
    operation.request(|name| match name {
        "projectId" | "domain" | "model" => PROJECT.to_owned(),
        "pullId" => "1".to_owned(),
        "id" => job.to_owned(),
        _ => "none".to_owned(),
    })
}

fn request(operation: &Operation) -> Request {
    request_for(operation, "none")
}

fn key<'s>(site: &'s Site, operation: &Operation) -> Option<&'s str> {
    let admin = operation.takes("adminKey").then_some(site.admin_key.as_str());
    admin.or_else(|| operation.takes("assistantKey").then_some(site.assistant_key.as_str()))
}

fn with_key(site: &Site, operation: &Operation) -> Request {
    match key(site, operation) {
        Some(key) => request(operation).bearer(key),
        None => request(operation),
    }
}

fn is_refused(site: &Site, operation: &Operation, request: &Request, status: u16) {
    let response = site.server.send(request);
    assert_eq!(response.status, status, "{}: {}", operation.name(), response.text());
}

#[test]
fn every_operation_wants_its_own_kind_of_key() {
    let site = Site::start();
    for operation in declaring(401) {
        is_refused(&site, &operation, &request(&operation), 401);
    }
    for operation in declaring(403) {
        let other = if operation.takes("adminKey") { &site.assistant_key } else { &site.admin_key };
        is_refused(&site, &operation, &request(&operation).bearer(other), 403);
    }
}

#[test]
fn every_body_has_a_limit_and_is_json_as_described() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    let job = id(&job);
    let posted = |operation: &Operation| {
        let path = request_for(operation, job).path().to_owned();
        Request::post(path).bearer(key(&site, operation).expect("it takes a key"))
    };
    for operation in declaring(413) {
        let long = posted(&operation).header("Content-Type", "application/json").body("x".repeat(TOO_LONG));
        is_refused(&site, &operation, &long, 413);
    }
    for operation in declaring(415) {
        let text = posted(&operation).header("Content-Type", "text/plain").body("{}");
        is_refused(&site, &operation, &text, 415);
    }
    for operation in declaring(400) {
        let Some(example) = operation.example() else { continue };
        let schema = &operation.value["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(faults(api_description(), schema, example), [""; 0], "{}", operation.name());
        is_refused(&site, &operation, &posted(&operation).json(&json!([])), 400);
    }
}

#[test]
fn parameters_that_cannot_be_are_refused() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    for (name, query, status) in [
        ("getSession", "?wait=0", 400),
        ("resume", "?parts=none", 400),
        ("listFeedback", "?limit=0", 400),
        ("listGaps", "?rating=none", 400),
        ("countFeedbackByPage", "?format=none", 400),
        ("groupGaps", "?limit=101", 400),
        ("summarise", "?dateFrom=yesterday", 400),
        ("listSearches", "?withoutResults=maybe", 400),
        ("mergePull", "", 404),
        ("closePull", "", 404),
        ("updatePull", "", 404),
    ] {
        let operation =
            operations(api_description()).find(|operation| operation.name() == name).expect("it is described");
        let path = request_for(&operation, id(&job)).path().to_owned();
        let request = Request::new(&operation.method.to_uppercase(), path + query);
        is_refused(&site, &operation, &request.bearer(key(&site, &operation).expect("it takes a key")), status);
    }
}

#[test]
fn a_server_that_drains_refuses_every_write_and_is_not_ready() {
    let site = Site::start();
    let begun: Vec<_> = declaring(503)
        .filter(|operation| operation.method != "get" || operation.name() == "isReady")
        .map(|operation| (operation, with_key(&site, &operation).begin(site.server.address()).expect("a connection")))
        .collect();
    assert!(begun.len() > 10, "writes: {}", begun.len());
    site.server.terminate();
    eventually("the drain to begin", || Request::get("/healthz").send(site.server.address()).is_err().then_some(()));
    for (operation, begun) in begun {
        let response = begun.finish().expect("an answer");
        assert_eq!(response.status, 503, "{}: {}", operation.name(), response.text());
    }
    assert!(site.server.ended().success());
}

/// The operations that read the docs of a domain.
const READERS: [&str; 10] = [
    "ask", "askV1", "completeChat", "search", "readPage", "readFrontPage", "readPageAsMarkdown", "listPagesAsText",
    "readAllPages", "callReaderTools",
];

#[test]
fn docs_that_are_not_read_yet_and_docs_that_are_gone_are_told_apart() {
    let installation = Installation::new();
    let repository = installation.repository(PROJECT, PAGES);
    installation.add_project(PROJECT, &repository);
    std::fs::rename(repository.path(), installation.root().join("moved")).expect("move the repository");
    // Nobody listens there.
    installation.must(&["project", "add", "far", "--repo", "http://127.0.0.1:9/docs.git", "--no-check"]);
    let key = |project: &str| installation.mint(project, KeyKind::Assistant, &[]);
    let keys = [("far", key("far"), 503), (PROJECT, key(PROJECT), 404)];
    let server = installation.serve();
    for operation in operations(api_description()).filter(|operation| READERS.contains(&operation.name())) {
        for (domain, key, status) in &keys {
            let request =
                operation.request(|name| if name == "domain" { (*domain).to_owned() } else { "none".to_owned() });
            eventually(&format!("{} to be {status} at {domain}", operation.name()), || {
                let response = server.send(&request.clone().bearer(key));
                (response.status == *status).then_some(())
            });
        }
    }
}

#[test]
fn every_operation_that_counts_tells_the_limit() {
    let Site { server, repository, admin_key, assistant_key, installation } = Site::start();
    server.kill();
    let limits = [
        ("DOCENT_LIMITS__ASSISTANT_REQUESTS_PER_HOUR", "1"),
        ("DOCENT_LIMITS__AGENT_JOBS_PER_HOUR", "1"),
        ("DOCENT_LIMITS__AGENT_MESSAGES_PER_HOUR", "1"),
    ];
    let site = Site { server: installation.serve_with(&limits), repository, admin_key, assistant_key, installation };
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().ends(id(&job));
    assert_eq!(site.agent().message(id(&job), "Replace \"gadget\" with \"widget\"").status, 200);
    site.agent().ends(id(&job));
    assert_eq!(site.assistant().search(&json!({ "query": "webhook" })).status, 200);
    for operation in declaring(429) {
        let request = request_for(&operation, id(&job)).bearer(key(&site, &operation).expect("it takes a key"));
        is_refused(&site, &operation, &request, 429);
    }
}
