//! The assistant in version 1, for clients of the chat SDK's major 4; and what both versions share: ratings, limits,
//! numbers.

use docent_tests::assistant::question_body;
use docent_tests::installation::KeyKind;
use docent_tests::{Request, Response, Site, eventually};
use serde_json::{Value, json};

const MESSAGE: &str = "/discovery/v1/assistant/acme/message";
const FEEDBACK: &str = "/discovery/v1/assistant/acme/feedback";
const QUESTION: &str = "How often is a webhook delivery retried?";

fn body(question: &str, more: &Value) -> Value {
    let mut body = json!({ "fp": "anonymous", "messages": [{ "role": "user", "content": question }] });
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

fn asked(site: &Site, body: &Value) -> Response {
    site.server.send(&Request::post(MESSAGE).bearer(&site.assistant_key).json(body))
}

/// Parses the lines of a reply: a letter and a JSON value.
fn lines(response: &Response) -> Vec<(char, Value)> {
    assert_eq!(response.status, 200, "{}", response.text());
    assert!(response.text().ends_with('\n'), "{}", response.text());
    let line = |line: &str| {
        let value = line.get(2..).and_then(|value| serde_json::from_str(value).ok());
        (line.chars().next().expect("a letter"), value.unwrap_or_else(|| panic!("no line of the protocol: {line}")))
    };
    response.text().lines().filter(|line| !line.is_empty()).map(line).collect()
}

fn thread(response: &Response) -> &str {
    response.header("X-Thread-Id").expect("names the thread")
}

#[test]
fn a_question_becomes_a_data_stream_with_sources() {
    let site = Site::start();
    let response = asked(&site, &body(QUESTION, &json!({})));
    assert_eq!(response.header("X-Vercel-AI-Data-Stream"), Some("v1"));
    assert_eq!(response.header("Content-Type"), Some("text/plain; charset=utf-8"));
    assert_eq!(response.header("Cache-Control"), Some("no-cache"));
    assert_eq!(response.header("X-Accel-Buffering"), Some("no"));
    assert!(response.header("Deprecation").is_some_and(|since| since.starts_with('@')), "{:?}", response.headers);
    let link = response.header("Link").unwrap_or_default();
    assert_eq!(link, "</discovery/v2/assistant/acme/message>; rel=\"successor-version\"");
    assert!(response.header("X-Thread-Key").is_some(), "a new thread has a key");

    let lines = lines(&response);
    let letters: String = lines.iter().map(|(letter, _)| letter).collect();
    assert!(letters.starts_with("f89a") && letters.ends_with("e2d"), "{letters}");
    assert_eq!(letters.matches('d').count(), 1, "{letters}");
    let of = |wanted: char| lines.iter().filter(move |(letter, _)| *letter == wanted).map(|(_, value)| value);
    let text: String = of('0').filter_map(Value::as_str).collect();
    assert!(text.contains("five"), "the answer is in the docs: {text}");
    assert!(
        of('h').any(|source| source["url"].as_str().is_some_and(|url| url.contains("/guides/webhooks"))),
        "{letters}"
    );
    for found in of('a') {
        let result = &found["result"];
        assert_eq!(result["type"], "search");
        let passages = result["results"].as_array().expect("a list of passages");
        assert!(
            passages.iter().all(|passage| passage["content"].as_str().is_some_and(|text| text.chars().count() <= 2000))
        );
        for field in ["content", "path", "url", "metadata"] {
            assert_eq!(result[field], passages[0][field], "the result has the fields of the best one");
        }
    }
    assert!(of('8').any(|notes| notes[0]["threadId"] == thread(&response)), "{letters}");
    assert!(of('2').any(|data| data[0] == json!({ "type": "finish", "threadId": thread(&response) })), "{letters}");
    let finish = of('d').next().expect("a finish");
    assert_eq!((&finish["finishReason"], &finish["threadId"]), (&json!("stop"), &json!(thread(&response))));
}

#[test]
fn a_thread_is_one_in_both_versions() {
    let site = Site::start();
    let first = asked(&site, &body(QUESTION, &json!({})));
    let second = site.assistant().ask_with("And what happens after that?", &json!({ "threadId": thread(&first) }));
    assert_eq!(second.thread(), thread(&first));
    let echoed = json!([
        { "role": "user", "content": QUESTION },
        { "role": "assistant", "content": "Five times.", "annotations": [{ "threadId": thread(&first) }] },
        { "role": "user", "content": "And then?" },
    ]);
    assert_eq!(thread(&asked(&site, &body("x", &json!({ "messages": echoed })))), thread(&first));
    assert_ne!(thread(&asked(&site, &body("And then?", &json!({ "threadId": null })))), thread(&first));
}

#[test]
fn a_reply_is_rated() {
    let site = Site::start();
    let response = asked(&site, &body(QUESTION, &json!({})));
    let message = lines(&response)[0].1["messageId"].clone();
    let rated = json!({ "threadId": thread(&response), "messageId": message, "rating": "up", "comment": "Thanks!" });
    let rate = |body: &Value, key: &str| site.server.send(&Request::post(FEEDBACK).bearer(key).json(body));
    let kept = rate(&rated, &site.assistant_key);
    assert_eq!(kept.status, 204, "{}", kept.text());
    assert_eq!(rate(&rated, &site.admin_key).status, 403);
    let mut odd = rated.clone();
    odd["rating"] = json!("great");
    let refused = rate(&odd, &site.assistant_key);
    assert!(refused.status == 400 && refused.error().contains("rating"), "{}", refused.text());
    let mut unknown = rated;
    unknown["messageId"] = json!("nobody's");
    assert_eq!(rate(&unknown, &site.assistant_key).status, 404);
}

#[test]
fn a_proxy_says_who_asks_when_it_is_trusted() {
    let site = Site::with_env(docent_tests::site::PAGES, &[("DOCENT_TRUSTED_PROXIES", "127.0.0.1")]);
    let key = site.installation.mint("acme", KeyKind::Assistant, &["--allow-ip", "203.0.113.0/24"]);
    let from = |server: &docent_tests::Server, said: &str| {
        let search = json!({ "query": "webhook" });
        let request = Request::post("/discovery/v1/search/acme").bearer(&key).header("X-Forwarded-For", said);
        let response = server.send(&request.json(&search));
        assert!(
            response.status != 400 || response.error().contains("`nobody` is not an address"),
            "{}",
            response.text()
        );
        response.status
    };
    for (said, status) in
        [("203.0.113.9", 200), ("198.51.100.7, 203.0.113.9", 200), ("203.0.113.9, 198.51.100.7", 403), ("nobody", 400)]
    {
        assert_eq!(from(&site.server, said), status, "{said}");
    }
    let site = site.restarted(docent_tests::Server::kill);
    assert_eq!(from(&site.server, "203.0.113.9"), 403, "nobody is believed who was not named");
}

#[test]
fn the_server_tells_its_numbers() {
    let site = Site::start();
    asked(&site, &body(QUESTION, &json!({})));
    site.assistant().send(&question_body(QUESTION, &json!({})));
    asked(&site, &body("", &json!({})));
    let number = |name: &str| {
        let response = site.server.send(&Request::get("/metrics"));
        assert_eq!(response.status, 200, "{}", response.text());
        assert!(response.header("Content-Type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4")));
        let text = response.text().to_owned();
        let sample = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        sample.unwrap_or_else(|| panic!("no {name} in\n{text}"))
    };
    for (name, value) in [
        ("docent_http_requests_total{route=\"/discovery/v1/assistant\",status=\"200\"}", 1.0),
        ("docent_http_requests_total{route=\"/discovery/v1/assistant\",status=\"400\"}", 1.0),
        ("docent_http_requests_total{route=\"/discovery/v2/assistant\",status=\"200\"}", 1.0),
        ("docent_replies_total{outcome=\"finished\"}", 2.0),
        ("docent_replies_total{outcome=\"failed\"}", 0.0),
        ("docent_model_calls_total{model=\"builtin\",outcome=\"done\"}", 2.0),
        ("docent_jobs{status=\"active\"}", 0.0),
        ("docent_jobs_running", 0.0),
    ] {
        eventually(name, || ((number(name) - value).abs() < 0.5).then_some(()));
    }
    eventually("no stream to be live", || (number("docent_streams_live") < 0.5).then_some(()));
    assert!(number("process_start_time_seconds") > 1_000_000_000.0);
    assert_eq!(site.server.send(&Request::post("/metrics")).status, 405);
}
