//! A reply that outlives its connection: the client that asked can resume it from the beginning.

use std::time::{Duration, Instant};

use docent_tests::assistant::question_body;
use docent_tests::http::Streaming;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::site::PAGES;
use docent_tests::{Answer, ModelServer, Request, Response, Site, eventually};
use serde_json::{Value, json};

const QUESTION: &str = "How often is a webhook delivery retried?";
const V1: &str = "/discovery/v1/assistant/acme/message";
/// An id in the format of the chat SDK.
const CHAT: &str = "jBWk0bLlnyoeL6nO";

/// A site whose assistant uses this model.
fn site_on(model: &ModelServer, more: &[(&str, &str)]) -> Site {
    let configuration = model.configures(Wire::Anthropic);
    let env: Vec<(&str, &str)> = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Site::with_env(PAGES, &[&env, more].concat())
}

fn body(chat: &str, fp: &str) -> Value {
    question_body(QUESTION, &json!({ "id": chat, "fp": fp }))
}

fn question(site: &Site, body: &Value) -> Request {
    Request::post(site.assistant().path()).bearer(&site.assistant_key).json(body)
}

fn resuming(site: &Site, chat: &str) -> Request {
    Request::get(format!("{}/{chat}/stream", site.assistant().path())).bearer(&site.assistant_key)
}

/// A response that is still arriving.
struct Arriving {
    stream: Streaming,
    body: Vec<u8>,
}

impl Arriving {
    fn of(site: &Site, request: &Request) -> Self {
        let stream = request.open(site.server.address()).expect("an answer");
        assert_eq!(stream.status, 200);
        Self { stream, body: Vec::new() }
    }

    /// Reads until the body contains these words.
    fn until(mut self, words: &str) -> Self {
        while !String::from_utf8_lossy(&self.body).contains(words) {
            let piece = self.stream.piece().expect("more").expect("the words come before the end");
            self.body.extend_from_slice(&piece);
        }
        self
    }

    fn whole(self) -> Response {
        let rest = self.stream.finish().expect("the rest");
        Response { body: [self.body, rest.body].concat(), ..rest }
    }
}

/// The value of a metric of `/metrics`.
fn metric(site: &Site, line: &str) -> u64 {
    let text = site.server.send(&Request::get("/metrics")).text().to_owned();
    let value =
        text.lines().find_map(|known| known.strip_prefix(line)).unwrap_or_else(|| panic!("no {line} in {text}"));
    value.trim().parse().expect("a number")
}

fn running(site: &Site) -> u64 {
    metric(site, "docent_replies_live ")
}

fn finished(site: &Site) -> u64 {
    metric(site, "docent_replies_total{outcome=\"finished\"} ")
}

#[test]
fn a_running_reply_is_told_again_from_its_beginning_and_goes_on() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies(Reply::text("Five ").waits_at(&gate).say("times."));
    let site = site_on(&model, &[]);
    let first = Arriving::of(&site, &question(&site, &body(CHAT, "ann"))).until("Five");
    let second = Arriving::of(&site, &resuming(&site, CHAT)).until("Five");
    let third = Arriving::of(&site, &Request::get(format!("{V1}?chatId={CHAT}")).bearer(&site.assistant_key));
    let third = third.until("Five");
    assert_eq!(running(&site), 1, "however many read it");
    gate.open();
    let (first, second, third) = (Answer::read(first.whole()), Answer::read(second.whole()), third.whole());
    assert_eq!(first.text(), "Five times.");
    assert_eq!(second.text(), first.text());
    assert_eq!(second.frames[0], first.frames[0], "the same message, in the same thread");
    assert_eq!(second.sources(), first.sources());
    assert!(third.text().contains("\nd:{"), "the end in the words of version 1: {}", third.text());

    let headers = &second.response;
    assert_eq!(headers.header("X-Vercel-AI-UI-Message-Stream"), Some("v1"));
    assert_eq!(headers.header("X-Thread-Id"), Some(first.thread()));
    assert_eq!(headers.header("X-Thread-Key"), None);
    assert_eq!(third.header("X-Vercel-AI-Data-Stream"), Some("v1"));
    assert_eq!(third.header("X-Thread-Id"), Some(first.thread()));
    assert_eq!(model.requests().len(), 1);
    assert_eq!(site.server.send(&resuming(&site, CHAT)).status, 204, "it was read to its end");
}

#[test]
fn a_reader_who_comes_back_at_once_misses_nothing() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies(Reply::text("Five ").waits_at(&gate).say("times."));
    let site = site_on(&model, &[]);
    drop(Arriving::of(&site, &question(&site, &body(CHAT, "ann"))).until("Five"));
    let again = Arriving::of(&site, &resuming(&site, CHAT)).until("Five");
    gate.open();
    assert_eq!(Answer::read(again.whole()).text(), "Five times.");
    assert_eq!(model.hung_up(), 0);
}

#[test]
fn a_chat_that_resumes_finds_its_reply_after_a_reload() {
    let model = ModelServer::start();
    model.replies(Reply::text("Five ").pause(Duration::from_secs(2)).say("times, then it is parked."));
    let site = site_on(&model, &[]);
    // The page was loaded before anything was asked.
    assert_eq!(site.server.send(&resuming(&site, CHAT)).status, 204);
    let first = Arriving::of(&site, &question(&site, &body(CHAT, "ann"))).until("Five");
    drop(first);
    eventually("the reply to end without a reader", || (finished(&site) == 1).then_some(()));
    assert_eq!(running(&site), 0, "it holds no place any more");
    let whole = Answer::read(site.server.send(&resuming(&site, CHAT)));
    assert_eq!(whole.text(), "Five times, then it is parked.");
    assert_eq!(model.hung_up(), 0);
    assert_eq!(site.server.send(&resuming(&site, CHAT)).status, 204);
}

#[test]
fn a_chat_that_never_said_so_cancels_its_model_call_by_hanging_up() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies(Reply::text("Five ").waits_at(&gate).say("times."));
    let site = site_on(&model, &[]);
    let first = Arriving::of(&site, &question(&site, &body(CHAT, "ann"))).until("Five");
    let since = Instant::now();
    drop(first);
    eventually("the model to see it", || (model.hung_up() == 1).then_some(()));
    // Within a second, plus another second for a busy machine.
    assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    assert_eq!(running(&site), 0);
    assert_eq!(site.server.send(&resuming(&site, CHAT)).status, 204);
}

#[test]
fn where_there_is_nothing_to_resume_both_versions_say_so_in_their_own_way() {
    let site = Site::start();
    let get = |path: String| site.server.send(&Request::get(path).bearer(&site.assistant_key));
    for chat in [CHAT, "chat", "a%2Fb", &"x".repeat(201)] {
        let second = get(format!("{}/{chat}/stream", site.assistant().path()));
        assert_eq!((second.status, second.body.len()), (204, 0), "{chat}");
        let first = get(format!("{V1}?chatId={chat}"));
        assert_eq!((first.status, first.body.len()), (200, 0), "{chat}");
        assert_eq!(first.header("X-Vercel-AI-Data-Stream"), Some("v1"));
    }
    assert_eq!(get(V1.to_owned()).status, 400);
}

#[test]
fn who_may_not_ask_may_not_resume() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies(Reply::text("Five ").waits_at(&gate));
    let site = site_on(&model, &[]);
    site.installation.add_project("other", &site.repository);
    let others = site.installation.mint("other", KeyKind::Assistant, &[]);
    let _first = Arriving::of(&site, &question(&site, &body(CHAT, "ann"))).until("Five");
    let path = |domain: &str| format!("/discovery/v2/assistant/{domain}/message/{CHAT}/stream");
    for (what, request, status) in [
        ("no key", Request::get(path("acme")), 401),
        ("a key of another site", Request::get(path("acme")).bearer(&others), 403),
        ("an admin key", Request::get(path("acme")).bearer(&site.admin_key), 403),
        ("another site", Request::get(path("other")).bearer(&others), 204),
    ] {
        assert_eq!(site.server.send(&request).status, status, "{what}");
    }
    let reads = site.installation.mint("acme", KeyKind::Assistant, &["--scope", "read"]);
    Arriving::of(&site, &Request::get(path("acme")).bearer(&reads)).until("Five");
    gate.open();
}

#[test]
fn an_id_is_good_only_where_it_was_used() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies(Reply::text("Five ").waits_at(&gate));
    let site = site_on(&model, &[("DOCENT_TRUSTED_PROXIES", "127.0.0.1")]);
    let from = |address: &str, request: Request| request.header("X-Forwarded-For", address);
    let (here, there) = ("192.0.2.1", "192.0.2.2");
    let _first = Arriving::of(&site, &from(here, question(&site, &body(CHAT, "ann")))).until("Five");
    let resumed = |address: &str, path: String| {
        let request = from(address, Request::get(path).bearer(&site.assistant_key));
        let answer = request.open(site.server.address()).expect("an answer");
        (answer.status, answer.headers.get("X-Thread-Id").is_some())
    };
    let in_version_2 = || format!("{}/{CHAT}/stream", site.assistant().path());
    assert_eq!(resumed(there, in_version_2()), (204, false), "nothing of the reply, and not its thread");
    assert_eq!(resumed(there, format!("{V1}?chatId={CHAT}")), (200, false), "nothing to add");
    assert_eq!(resumed(here, in_version_2()), (200, true));
    gate.open();
}

#[test]
fn a_name_that_many_know_is_no_id_to_take_a_reply_up_by() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    let site = site_on(&model, &[]);
    for name in ["acme", "ACME", "ann"] {
        model.replies(Reply::text("Five ").waits_at(&gate));
        let _first = Arriving::of(&site, &question(&site, &body(name, "ann"))).until("Five");
        assert_eq!(site.server.send(&resuming(&site, name)).status, 204, "{name}");
    }
    gate.open();
}

#[test]
fn an_id_that_was_used_for_two_threads_opens_neither_reply_then_or_later() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    for words in ["Five ", "Six ", "Seven "] {
        model.replies(Reply::text(words).waits_at(&gate));
    }
    let site = site_on(&model, &[]);
    let _ann = Arriving::of(&site, &question(&site, &body("documentation", "ann"))).until("Five");
    let _bob = Arriving::of(&site, &question(&site, &body("documentation", "bob"))).until("Six");
    assert_eq!(site.server.send(&resuming(&site, "documentation")).status, 204);
    let _again = Arriving::of(&site, &question(&site, &body("documentation", "ann"))).until("Seven");
    assert_eq!(site.server.send(&resuming(&site, "documentation")).status, 204, "never again");
    gate.open();
}

#[test]
fn a_thread_goes_on_under_its_id_and_each_of_its_replies_can_be_taken_up() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies("Five times.").replies(Reply::text("Then it is ").waits_at(&gate).say("parked."));
    let site = site_on(&model, &[]);
    let first = Answer::read(site.server.send(&question(&site, &body(CHAT, "ann"))));
    let mut second = question_body("What is done with a delivery that failed?", &json!({ "id": CHAT, "fp": "ann" }));
    second["threadId"] = json!(first.thread());
    drop(Arriving::of(&site, &question(&site, &second)).until("Then"));
    let again = Arriving::of(&site, &resuming(&site, CHAT)).until("Then");
    gate.open();
    assert_eq!(Answer::read(again.whole()).text(), "Then it is parked.");
}

#[test]
fn one_reply_too_many_at_once_is_refused_and_one_read_twice_is_one() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    model.replies(Reply::text("Five ").waits_at(&gate)).replies(Reply::text("Five ").waits_at(&gate));
    let site = site_on(&model, &[("DOCENT_LIMITS__ASSISTANT_REPLIES_AT_ONCE", "2")]);
    let first = Arriving::of(&site, &question(&site, &body(CHAT, "ann"))).until("Five");
    let again = Arriving::of(&site, &resuming(&site, CHAT)).until("Five");
    let second = Arriving::of(&site, &question(&site, &body("chat", "ann"))).until("Five");
    let refused = site.server.send(&question(&site, &body("other", "ann")));
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert!(refused.header("Retry-After").is_some(), "{:?}", refused.headers);
    gate.open();
    for reader in [first, again, second] {
        assert_eq!(Answer::read(reader.whole()).text().trim(), "Five");
    }
    model.replies("Five times.");
    assert_eq!(site.assistant().ask(QUESTION).text(), "Five times.");
}

#[test]
fn a_reader_who_does_not_read_holds_up_its_own_model_and_nobody_else() {
    // More than the socket buffers hold, and less than the longest allowed reply of a model.
    const PIECES: usize = 400;
    let piece = "x".repeat(64 * 1024) + " ";
    let long = || Reply::text(piece.repeat(PIECES));
    let model = ModelServer::start();
    model.replies(long()).replies(long());
    let site = site_on(&model, &[]);
    let slow = Arriving::of(&site, &question(&site, &body("slow", "ann"))).until("tool-output-available");
    let quick = Arriving::of(&site, &question(&site, &body("quick", "ann"))).whole();
    assert!(Answer::read(quick).text().len() >= piece.len() * PIECES - 1);
    assert_eq!((finished(&site), running(&site)), (1, 1), "as much was sent to both, and the first began before");
    assert!(Answer::read(slow.whole()).text().len() >= piece.len() * PIECES - 1);
}
