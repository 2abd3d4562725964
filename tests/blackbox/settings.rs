//! Settings of the assistant by the server's operators and by the owners of a docs site.

use docent_tests::model_server::Wire;
use docent_tests::site::PAGES;
use docent_tests::{Answer, Installation, ModelServer, Site, eventually};
use serde_json::{Value, json};

const FILE: &str = ".docent/assistant.md";
const QUESTION: &str = "How often is a webhook delivery retried?";

fn wishing(text: &str) -> Vec<(&str, &str)> {
    [PAGES, &[(FILE, text)]].concat()
}

/// The suggested follow-up questions, if the answer has any.
fn suggested(answer: &Answer) -> Option<Vec<String>> {
    let frames = answer.of_type("data-suggestions");
    assert!(frames.len() <= 1, "{frames:?}");
    let texts = |frame: &&Value| serde_json::from_value(frame["data"].clone()).expect("texts");
    frames.first().map(texts)
}

#[test]
fn a_site_says_whether_its_answers_end_with_questions_to_ask_next() {
    let everywhere = [("DOCENT_ASSISTANT__SUGGESTIONS", "true")];
    let wishes = |said: bool| format!("---\nsuggestions: {said}\n---\nBe kind.\n");
    let (yes, no) = (wishes(true), wishes(false));
    for (pages, env, expected) in [
        (PAGES.to_vec(), &[][..], false),
        (PAGES.to_vec(), &everywhere[..], true),
        (wishing(&yes), &[], true),
        (wishing(&no), &everywhere, false),
    ] {
        let site = Site::with_env(&pages, env);
        let answer = site.assistant().ask(QUESTION);
        let questions = suggested(&answer);
        assert_eq!(questions.is_some(), expected, "{env:?}: {:?}", answer.frames);
        assert!(!answer.text().contains("docent:"), "{}", answer.text());
        for question in questions.into_iter().flatten() {
            let next = site.assistant().ask(&question);
            assert!(!next.sources().is_empty(), "{question}: {}", next.text());
            assert!(!next.text().contains("do not answer"), "{question}: {}", next.text());
        }
    }
}

#[test]
fn a_model_is_asked_for_questions_to_ask_next_where_the_site_wishes_them() {
    let model = ModelServer::start();
    let env = model.configures(Wire::Anthropic);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let site = Site::with_env(&wishing("---\nsuggestions: true\n---\n"), &env);
    model.replies("Five times.\n<!--docent:suggestions\nWhat happens after the fifth failure?\n-->");
    let answer = site.assistant().ask(QUESTION);
    assert_eq!(answer.text().trim_end(), "Five times.");
    assert_eq!(suggested(&answer), Some(vec!["What happens after the fifth failure?".to_owned()]));
    site.repository.commit("main", FILE, "Be kind.\n");
    site.repository.commit("main", "quickstart.mdx", "# Quickstart\n\nBegin.\n");
    site.installation.must(&["index", "acme"]);
    eventually("the running server to see the change", || {
        model.replies("Five times.\n<!--docent:suggestions\nWhat happens after the fifth failure?\n-->");
        suggested(&site.assistant().ask(QUESTION)).is_none().then_some(())
    });
}

#[test]
fn absolute_links_to_where_the_site_is_served_are_its_own() {
    let model = ModelServer::start();
    let env = model.configures(Wire::OpenAi);
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let reply =
        "See [retries](https://docs.acme.test/v2/guides/webhooks#retries) and [this](https://docs.acme.test/v2/no).";
    for (wishes, told) in [
        ("---\naddress: https://docs.acme.test/v2/\n---\n", "See [retries](/guides/webhooks#retries) and this."),
        ("---\naddress: docs.acme.test/v2\n---\n", "See retries and this."),
    ] {
        let site = Site::with_env(&wishing(wishes), &env);
        model.replies(reply);
        assert_eq!(site.assistant().ask(QUESTION).text(), told, "{wishes}");
    }
}

#[test]
fn a_setting_that_cannot_be_read_is_told_where_somebody_looks() {
    let installation = Installation::new();
    let pages = wishing("---\naddress: docs.acme.test\nsuggestions: true\n---\nBe kind.\n");
    installation.add_project("acme", &installation.repository("acme", &pages));
    let problem = ".docent/assistant.md:2: `address` must begin with https:// or http://";
    let indexed = installation.must(&["index", "acme"]);
    assert_eq!(indexed.stderr.matches(problem).count(), 1, "{}", indexed.stderr);
    let report = installation.must(&["doctor", "--json"]).json();
    let findings = report["findings"].as_array().expect("a list");
    let odd: Vec<_> = findings.iter().filter(|finding| finding["check"] == "assistant").collect();
    assert_eq!((odd.len(), &odd[0]["state"]), (1, &json!("note")), "{report:#}");
    assert!(odd[0]["what"].as_str().is_some_and(|what| what.contains(problem)), "{report:#}");
}

#[test]
fn the_doctor_says_that_conversations_are_kept_for_ever() {
    let installation = Installation::with_data();
    let mut command = installation.command(["doctor", "--data"]);
    let report = command.arg(installation.data()).env("DOCENT_ASSISTANT__THREAD_DAYS", "0").output().expect("runs");
    assert!(String::from_utf8_lossy(&report.stdout).contains("kept for ever"), "{report:?}");
    assert!(!installation.must(&["doctor"]).stdout.contains("kept for ever"));
}
