//! Open streams and waiting requests end when their key is no longer valid.

use std::time::{Duration, Instant};

use docent_tests::agent::id;
use docent_tests::assistant::question_body;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::PAGES;
use docent_tests::{Agent, ModelServer, Request, Response, Site};
use serde_json::{Value, json};

/// A site whose model does not reply until the gate is opened.
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

/// Revokes the newest key of a kind.
fn revoke(site: &Site, kind: KeyKind) {
    let listed = site.installation.must(&["key", "list", "--json"]).json();
    let keys = listed.as_array().or_else(|| listed["keys"].as_array()).expect("a list of keys").clone();
    let of_kind = keys.iter().filter(|key| key["kind"] == kind.as_str());
    let newest = of_kind.max_by_key(|key| key["createdAt"].as_str().map(str::to_owned)).expect("a key");
    site.installation.must(&["key", "revoke", newest["id"].as_str().expect("an id")]);
}

#[test]
fn a_revoked_key_ends_what_it_opened() {
    let (site, _model, gate) = held();
    let admin = site.installation.mint("acme", KeyKind::Admin, &[]);
    let assistant = site.installation.mint("acme", KeyKind::Assistant, &[]);
    let agent = Agent::new(&site.server, "acme", &admin);
    let address = site.server.address();
    let job = agent.create("Improve the docs");
    gate.holds(1);

    let waits = [
        agent.request("GET", &format!("job/{}?wait=60", id(&job))),
        agent.request_v1("GET", &format!("job/{}?wait=60", id(&job))),
    ];
    let ask = |version: &str, body: &Value| {
        Request::post(format!("/discovery/{version}/assistant/acme/message")).bearer(&assistant).json(body)
    };
    let question = question_body("How often is a webhook retried?", &json!({}));
    let mut question_v1 = question.clone();
    question_v1["messages"][0]["content"] = "How often is a webhook retried?".into();
    let streams = [
        agent.create_v1("Improve the docs once more"),
        agent.events(id(&job), None),
        ask("v2", &question),
        ask("v1", &question_v1),
    ];
    std::thread::scope(|scope| {
        let waits: Vec<_> =
            waits.iter().map(|wait| scope.spawn(move || wait.send(address).expect("an answer"))).collect();
        let mut opened = Vec::new();
        for request in &streams {
            let mut stream = request.open(address).expect("an answer");
            assert_eq!(stream.status, 200, "{request:?}");
            stream.piece().expect("a beginning");
            opened.push(stream);
        }
        let began = Instant::now();
        revoke(&site, KeyKind::Admin);
        revoke(&site, KeyKind::Assistant);
        let [create, events, v2, v1]: [Response; 4] = opened
            .into_iter()
            .map(|stream| stream.finish().expect("a whole body"))
            .collect::<Vec<_>>()
            .try_into()
            .expect("four streams");
        for wait in waits {
            let refused = wait.join().expect("an answer");
            assert_eq!(
                (refused.status, refused.header("WWW-Authenticate")),
                (401, Some("Bearer")),
                "{}",
                refused.text()
            );
            assert!(refused.error().contains("revoked"), "{}", refused.error());
        }
        // Well below what a client waits for; the exact duration depends on the load of this machine.
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(
            create.text().contains("\"type\":\"error\"") && create.text().contains("no longer valid"),
            "{}",
            create.text()
        );
        assert!(!create.text().contains("[DONE]"), "the job goes on: {}", create.text());
        assert!(!events.text().contains("\"completed\""), "{}", events.text());
        assert!(v2.text().contains("\"type\":\"error\"") && v2.text().contains("no longer valid"), "{}", v2.text());
        assert!(v1.text().lines().last().is_some_and(|last| last.starts_with("3:")), "{}", v1.text());
    });
    gate.open();
    site.agent().reaches(id(&job), "completed");
}

#[test]
fn a_key_that_expires_ends_what_it_opened() {
    let (site, _model, gate) = held();
    let key = site.installation.mint("acme", KeyKind::Admin, &["--expires", "3s"]);
    let agent = Agent::new(&site.server, "acme", &key);
    let job = agent.create("Improve the docs");
    gate.holds(1);
    let told = site.server.send(&agent.request("GET", &format!("job/{}?wait=60", id(&job))));
    assert_eq!(told.status, 401, "{}", told.text());
    assert!(told.error().contains("expired"), "{}", told.error());
    gate.open();
}
