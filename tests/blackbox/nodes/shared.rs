//! What one node knows and the others must know, too.

use std::time::{SystemTime, UNIX_EPOCH};

use docent_tests::assistant::question_body;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::{Assistant, IdentityProvider, ModelServer, Person, Request, eventually};
use serde_json::{Value, json};

use super::{Nodes, QUESTION};
use crate::openid::status_after_at;

fn owned(variables: &[(&str, &str)]) -> Vec<(String, String)> {
    variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_site_has_so_many_replies_at_once_over_all_nodes() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    let held = gate.clone();
    model.replies_with(move |_| Reply::text("Five ").waits_at(&held).say("times."));
    let env = [model.configures(Wire::Anthropic), owned(&[("DOCENT_LIMITS__ASSISTANT_REPLIES_AT_ONCE", "3")])].concat();
    let mut nodes = Nodes::start(2, &env);
    (0..2).for_each(|node| nodes.assistant(node).is_ready());
    let question = |nodes: &Nodes| {
        let body = question_body(QUESTION, &json!({ "fp": "ann" }));
        Request::post(nodes.assistant(0).path()).bearer(&nodes.assistant_key).json(&body)
    };
    let asks =
        |nodes: &Nodes, node: usize| question(nodes).open(nodes.nodes[node].server.address()).expect("an answer");
    let running = [asks(&nodes, 0), asks(&nodes, 0), asks(&nodes, 1)];
    assert!(running.iter().all(|reply| reply.status == 200));
    gate.holds(3);
    for node in 0..2 {
        eventually("the node to know of the replies of both", || (asks(&nodes, node).status == 429).then_some(()));
    }
    nodes.nodes.remove(0).server.kill();
    let admitted = eventually("the places of a dead node to be free", || {
        let reply = asks(&nodes, 0);
        (reply.status == 200).then_some(reply)
    });
    gate.open();
    assert!(admitted.finish().expect("the rest").text().contains("times."));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn what_happens_on_one_node_is_seen_on_another() {
    let model = ModelServer::start();
    model.replies("Five times.");
    let limit = owned(&[("DOCENT_ASSISTANT__TOKENS_PER_DAY", "100")]);
    let nodes = Nodes::start(2, &[model.configures(Wire::Anthropic), limit].concat());
    (0..2).for_each(|node| nodes.assistant(node).is_ready());
    let [one, other] = [0, 1].map(|node| &nodes.nodes[node]);

    let person = Person::joins(&one.server, &one.installation, "olive", "owner");
    let mut elsewhere = person.at(&other.server);
    assert_eq!(elsewhere.gets("/dashboard/-/account").status, 200, "the session");
    let audit = elsewhere.gets("/dashboard/-/audit");
    assert!(audit.text().contains("olive"), "the audit: {}", audit.text());

    nodes.assistant(0).ask(QUESTION);
    let limited = nodes.assistant(1).ask(QUESTION);
    assert!(limited.text().contains("used up what it may spend today"), "spending: {}", limited.text());

    nodes.assistant(0).search(&json!({ "query": "webhook retries" }));
    eventually("the search of the other node", || {
        elsewhere.gets("/dashboard/acme/searches").text().contains("webhook retries").then_some(())
    });

    let key = one.installation.mint("acme", KeyKind::Assistant, &["--name", "of-the-widget"]);
    let used = || {
        let listed = other.installation.must(&["key", "list", "--json"]).stdout;
        let listed: Vec<Value> = serde_json::from_str(&listed).expect("a list of keys");
        let key = listed.iter().find(|key| key["name"] == "of-the-widget").expect("the key");
        !key["lastUsedAt"].is_null()
    };
    assert!(!used(), "it was not used yet");
    let answer = Assistant::new(&one.server, "acme", &key).search(&json!({ "query": "webhook" }));
    assert_eq!(answer.status, 200);
    eventually("the use of a key on the other node", || used().then_some(()));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn who_began_to_sign_in_on_one_node_comes_back_to_another() {
    let provider = IdentityProvider::start();
    let env = owned(&[
        ("DOCENT_OPENID__ISSUER", &provider.issuer()),
        ("DOCENT_OPENID__CLIENT_ID", "docent"),
        ("DOCENT_OPENID__GROUPS_CLAIM", "groups"),
        ("DOCENT_OPENID__EDITOR_GROUPS", "docs"),
    ]);
    let nodes = Nodes::start(2, &env);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let claims = json!({ "sub": "4711", "aud": "docent", "iat": now, "exp": now + 300, "groups": ["docs"] });
    let servers = [0, 1].map(|node| &nodes.nodes[node].server);
    assert_eq!(status_after_at(servers, &provider, &claims, &json!({ "sub": "4711" })), 200);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test --only postgres"]
fn a_new_project_is_answered_by_a_node_that_was_not_told_of_it() {
    let nodes = Nodes::start(2, &[]);
    nodes.assistant(1).is_ready();
    let page = ("index.md", "# Zeppelins\n\nA zeppelin is moored at the mast.\n");
    let repository = nodes.nodes[0].installation.repository("late", &[page]);
    nodes.nodes[0].installation.add_project("late", &repository);
    let key = nodes.nodes[0].installation.mint("late", KeyKind::Assistant, &[]);
    let answer = Assistant::new(&nodes.nodes[1].server, "late", &key).ask("Where is a zeppelin moored?");
    assert!(answer.text().contains("mast"), "{}", answer.text());
}
