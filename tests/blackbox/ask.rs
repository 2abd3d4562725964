//! `docent ask`: a question answered in the terminal, with or without a running server.

use std::io::Read as _;
use std::process::{Child, Stdio};

use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::PAGES;
use docent_tests::{Finished, Installation, ModelServer, Person, Site, eventually};
use rustix::process::{Pid, Signal, kill_process};

const QUESTION: &str = "How often is a webhook delivery retried?";
const PAGE: &str = "/guides/webhooks#retries";

/// A project `acme` with docs, without a server and without an index.
fn docs<P: AsRef<str>, C: AsRef<[u8]>>(pages: &[(P, C)]) -> Installation {
    let installation = Installation::new();
    let repository = installation.repository("acme", pages);
    installation.add_project("acme", &repository);
    installation
}

/// Starts `docent ask acme QUESTION` with a language model, without waiting for it.
fn ask(installation: &Installation, model: &ModelServer) -> Child {
    let mut command = installation.command(["ask", "acme", QUESTION, "--data"]);
    command.arg(installation.data()).envs(model.configures(Wire::Anthropic));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start docent ask")
}

fn end(child: Child) -> Finished {
    let finished = Finished::from(child.wait_with_output().expect("the end of docent ask"));
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    finished
}

#[test]
fn an_answer_has_its_sources_under_it() {
    let installation = docs(PAGES);
    let first = installation.must(&["ask", "acme", QUESTION]);
    let (answer, sources) = first.stdout.split_once("\nSources\n").expect("sources under the answer");
    assert!(answer.contains("retried five times"), "{answer}");
    assert!(sources.contains(&format!("Webhooks  {PAGE}\n")), "{sources}");
    assert_eq!(sources.matches(PAGE).count(), 1, "each once: {sources}");
    assert!(!first.stdout.contains('\u{1b}'), "no colours where there is no terminal: {}", first.stdout);
    assert!(first.stderr.contains("never indexed"), "why it took a while: {}", first.stderr);

    let second = installation.must(&["ask", "acme", QUESTION]);
    assert_eq!(second.stdout, first.stdout);
    assert!(!second.stderr.contains("never indexed"), "the index is there now: {}", second.stderr);
}

#[test]
fn a_program_gets_one_json_value() {
    let installation = docs(PAGES);
    let told = installation.must(&["ask", "acme", QUESTION, "--json"]).json();
    assert!(told["answer"].as_str().is_some_and(|answer| answer.contains("retried five times")), "{told:#}");
    assert_eq!((&told["answered"], &told["finishReason"]), (&true.into(), &"stop".into()), "{told:#}");
    let source = &told["sources"][0];
    assert_eq!((&source["title"], &source["href"]), (&"Webhooks".into(), &PAGE.into()), "{told:#}");
    assert_eq!(source["path"], "guides/webhooks");
    assert!(told["threadId"].is_string() && told["messageId"].is_string(), "{told:#}");

    let unknown = installation.must(&["ask", "acme", "Who painted the ceiling of the chapel?", "--json"]).json();
    assert_eq!(unknown["answered"], false, "{unknown:#}");
}

#[test]
fn questions_to_ask_next_stand_last_where_the_site_wishes_them() {
    let wishes = (".docent/assistant.md", "---\nsuggestions: true\n---\n");
    let installation = docs(&[PAGES, &[wishes]].concat());
    let told = installation.must(&["ask", "acme", QUESTION]);
    let (_, next) = told.stdout.split_once("\nAsk next\n").expect("questions under the sources");
    let next: Vec<&str> = next.lines().map(str::trim).collect();
    assert!((1..=3).contains(&next.len()), "{next:?}");

    let told = installation.must(&["ask", "acme", QUESTION, "--json"]).json();
    assert_eq!(told["suggestions"], serde_json::json!(next), "{told:#}");
}

#[test]
fn a_conversation_goes_on_beside_a_server_that_knows_it_too() {
    let site = Site::start();
    let ask = |more: &[&str]| site.installation.run(&[&["ask", "acme"], more].concat());
    let first = ask(&[QUESTION]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let thread = first.stderr.split_once("--thread ").expect("how to go on").1.split(' ').next().expect("an id");

    let second = ask(&["And after the fifth failure?", "--thread", thread, "--json"]).json();
    assert_eq!(second["threadId"], thread, "{second:#}");
    assert_eq!(second["sources"][0]["path"], "guides/webhooks", "it leans on what was asked before: {second:#}");

    let mut owner = Person::joins(&site.server, &site.installation, "olive", "owner");
    let asked = owner.gets("/dashboard/acme/conversations");
    assert!(asked.text().contains("Nobody has asked anything yet"), "no reader did: {}", asked.text());
    let third = site.assistant().ask_with("Thanks.", &serde_json::json!({ "threadId": thread }));
    assert_eq!(third.thread(), thread, "one conversation, wherever it is held");
}

#[test]
fn invalid_questions_are_refused_with_a_sentence() {
    let installation = docs(PAGES);
    for (args, code, said) in [
        (&["ask", "nowhere", QUESTION][..], 1, "no project has the domain `nowhere`; see `docent project list`"),
        (&["ask", "acme"], 2, "--help"),
        (&["ask"], 2, "--help"),
        (&["ask", "acme", " "], 2, "give a question"),
        (&["ask", "No Domain", QUESTION], 2, "No Domain"),
        (&["ask", "acme", QUESTION, "--thread", "7"], 2, "--thread: `7`"),
        (&["ask", "acme", QUESTION, "--thread", "00000000-0000-4000-8000-000000000000"], 1, "has no thread"),
    ] {
        let finished = installation.run(args);
        assert_eq!(finished.code, Some(code), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{args:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "", "{args:?}");
    }
}

#[test]
fn a_language_model_hears_what_the_owners_wish_also_when_the_index_is_there() {
    hears("Call parcels boxes.", &[(".docent/assistant.md", "Call parcels boxes.\n")]);
}

#[test]
fn a_language_model_hears_what_a_site_of_mintlify_wishes_unless_there_is_a_file_of_our_own() {
    let theirs = (".mintlify/Assistant.md", "---\nowner: docs\n---\nCall parcels crates.\n");
    hears("Call parcels crates.", &[theirs]);
    hears("Call parcels boxes.", &[theirs, (".docent/assistant.md", "Call parcels boxes.\n")]);
}

fn hears(wish: &str, files: &[(&str, &str)]) {
    let installation = docs(&[PAGES, files].concat());
    let model = ModelServer::start();
    for _ in 0..2 {
        model.replies("It is retried [five times](/guides/webhooks#retries).");
        let finished = end(ask(&installation, &model));
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        assert!(finished.stdout.starts_with("It is retried"), "{}", finished.stdout);
        assert!(finished.stdout.contains(PAGE), "{}", finished.stdout);
    }
    let asked = model.requests();
    assert_eq!(asked.len(), 2);
    for request in asked {
        let body = request.body.to_string();
        assert!(body.contains(wish) && body.matches("Call parcels").count() == 1, "{body}");
    }
    assert_eq!(model.faults(), Vec::<String>::new());
}

#[test]
fn a_model_that_refuses_fails_the_command() {
    let installation = docs(PAGES);
    let model = ModelServer::start();
    model.replies_with(|_| Reply::fails(401));
    let finished = end(ask(&installation, &model));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{}", finished.stderr);
    assert!(finished.stderr.contains("docent: "), "{}", finished.stderr);
}

#[test]
fn words_come_as_they_are_said_and_ctrl_c_ends_the_model_call() {
    let (installation, model, gate) = (docs(PAGES), ModelServer::start(), Gate::new());
    model.replies(Reply::text("It is retried. ").waits_at(&gate).say("Five times."));
    let mut child = ask(&installation, &model);
    let mut said = [0; 13];
    child.stdout.as_mut().expect("a pipe").read_exact(&mut said).expect("words before the end");
    assert_eq!(&said, b"It is retried");
    kill_process(Pid::from_child(&child), Signal::INT).expect("send SIGINT");
    let finished = end(child);
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("stopped"), "{}", finished.stderr);
    eventually("the model's call to be over", || (model.hung_up() == 1).then_some(()));
}

#[test]
fn a_reader_that_has_read_enough_is_no_failure() {
    let (installation, model, gate) = (docs(PAGES), ModelServer::start(), Gate::new());
    model.replies(Reply::text("It is retried. ").waits_at(&gate).say("Five times."));
    let mut child = ask(&installation, &model);
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 13]).expect("the first words");
    drop(stdout);
    gate.open();
    let finished = end(child);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}
