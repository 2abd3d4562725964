//! Keys: their format, how they are listed, and how they are revoked or expire.

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::{Agent, Installation, Request, Site, eventually};
use serde_json::Value;

#[test]
fn a_key_is_printed_once_alone_and_can_be_told_offline() {
    let installation = Installation::new();
    let repository = installation.repository("acme", docent_tests::site::PAGES);
    installation.add_project("acme", &repository);
    for (kind, prefix) in [(KeyKind::Admin, "docent_admin_"), (KeyKind::Assistant, "docent_assistant_")] {
        let out = installation.must(&["key", "create", "--project", "acme", "--kind", kind.as_str()]).stdout;
        let key = out.strip_suffix('\n').expect("a line");
        let secret = key.strip_prefix(prefix).unwrap_or_else(|| panic!("{key} begins with {prefix}"));
        assert_eq!(secret.len(), 38, "32 random characters and 6 of checksum: {key}");
        assert!(secret.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
        for args in [&["key", "list"][..], &["key", "list", "--json"]] {
            let listed = installation.must(args);
            assert!(!listed.stdout.contains(secret), "a list never shows a secret");
        }
    }
    let data = installation.data();
    let stored = std::fs::read_dir(&data).expect("the data directory");
    assert!(stored.count() > 0, "something was stored in {}", data.display());
}

#[test]
fn a_revoked_key_is_nobodys_key_at_once_while_the_server_runs() {
    let site = Site::start();
    let key = site.installation.mint("acme", KeyKind::Admin, &[]);
    let agent = Agent::new(&site.server, "acme", &key);
    let job = agent.create("Replace \"no-such-term\" with \"another\"");

    let listed = site.installation.must(&["key", "list", "--json"]).json();
    let keys = listed.as_array().or_else(|| listed["keys"].as_array()).expect("a list of keys");
    // This site has three keys; the newest is revoked.
    assert_eq!(keys.len(), 3, "{listed:#}");
    let newest = keys.iter().max_by_key(|key| key["createdAt"].as_str().map(str::to_owned)).expect("a key");
    let key_id = newest["id"].as_str().expect("a key has an id").to_owned();
    site.installation.must(&["key", "revoke", &key_id]);

    let request = agent.request("GET", &format!("job/{}", id(&job)));
    eventually("the revoked key to be refused", || (site.server.send(&request).status == 401).then_some(()));
    site.agent().job(id(&job));
}

#[test]
fn a_key_that_ran_out_is_nobodys_key() {
    let site = Site::start();
    let key = site.installation.mint("acme", KeyKind::Assistant, &["--expires", "2s"]);
    let request = Request::post("/discovery/v1/search/acme").bearer(&key).body("{\"query\":\"webhook\"}");
    assert_eq!(site.server.send(&request).status, 200);
    let refused = eventually("the key to run out", || {
        let response = site.server.send(&request);
        (response.status != 200).then_some(response)
    });
    assert_eq!(refused.status, 401, "{}", refused.text());
    assert_eq!(refused.header("WWW-Authenticate"), Some("Bearer"));
}

#[test]
fn a_key_never_reaches_the_log() {
    let site = Site::with_env(docent_tests::site::PAGES, &[("RUST_LOG", "info"), ("DOCENT_LOG", "info")]);
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    site.assistant().ask("How often is a webhook retried?");
    let log_file = site.installation.root().join("server.log");
    let Site { server, admin_key, assistant_key, installation, .. } = site;
    server.terminate();
    server.ended();
    let log = std::fs::read_to_string(&log_file).expect("the server's log");
    for key in [admin_key, assistant_key] {
        assert!(!log.contains(&key[key.len() - 20..]), "a key is in the log");
    }
    assert!(!log.contains("with \"gadget\""), "a prompt is in the log");
    drop(installation);
}

#[test]
fn a_wrong_lifetime_is_a_usage_error() {
    let site = Installation::new();
    let repository = site.repository("acme", docent_tests::site::PAGES);
    site.add_project("acme", &repository);
    let wrong = site.run(&["key", "create", "--project", "acme", "--kind", "admin", "--expires", "soon"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    let missing = site.run(&["key", "create", "--project", "nobody", "--kind", "admin"]);
    assert_eq!(missing.code, Some(1), "a project that does not exist: {}", missing.stderr);
    assert!(missing.stderr.contains("nobody"), "{}", missing.stderr);
    let long_lived =
        site.must(&["key", "create", "--project", "acme", "--kind", "admin", "--expires", "never", "--json"]);
    let made: Value = long_lived.json();
    assert!(made["key"].as_str().is_some_and(|key| key.starts_with("docent_admin_")), "{made:#}");
}

#[test]
fn guessing_is_not_faster_for_a_key_that_exists() {
    // Timing is not measured: what matters from outside is that both are refused with identical responses.
    let site = Site::start();
    let unknown = format!("docent_admin_{}", "A".repeat(38));
    let wrong_sum = format!("{}{}", &site.admin_key[..site.admin_key.len() - 6], "zzzzzz");
    let ask = |key: &str| site.server.send(&Request::get("/v2/agent/acme/job/x").bearer(key));
    let (first, second) = (ask(&unknown), ask(&wrong_sum));
    assert_eq!((first.status, first.error()), (second.status, second.error()));
}
