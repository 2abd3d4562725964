//! A question becomes a streamed answer with sources, in a thread that can be continued.

use docent_tests::assistant::{question_body, user};
use docent_tests::installation::KeyKind;
use docent_tests::model_server::Wire;
use docent_tests::site::PAGES;
use docent_tests::{Answer, Assistant, ModelServer, Request, Site};
use serde_json::{Value, json};

const QUESTION: &str = "How often is a webhook delivery retried?";

#[test]
fn a_question_becomes_a_streamed_answer_with_sources() {
    let site = Site::start();
    let answer = site.assistant().ask(QUESTION);
    let response = &answer.response;

    assert_eq!(response.header("X-Vercel-AI-UI-Message-Stream"), Some("v1"));
    assert!(response.header("Content-Type").is_some_and(|kind| kind.starts_with("text/event-stream")));
    assert_eq!(response.header("Cache-Control"), Some("no-cache"));
    assert_eq!(response.header("X-Accel-Buffering"), Some("no"));
    assert_eq!(response.header("Content-Encoding"), None);
    assert_eq!(response.header("X-Thread-Id"), Some(answer.thread()));
    assert!(response.header("X-Thread-Key").is_some_and(|key| !key.is_empty()), "a new thread has a key");

    let types = answer.types();
    assert_eq!(types.first(), Some(&"start"), "{types:?}");
    assert_eq!(types.get(1), Some(&"start-step"), "{types:?}");
    assert_eq!(types.iter().filter(|kind| **kind == "finish").count(), 1, "{types:?}");
    let start = &answer.frames[0];
    assert!(start["messageId"].is_string(), "{start}");
    assert_eq!(start["messageMetadata"]["threadId"], answer.thread());

    assert!(answer.text().contains("five"), "the answer is in the docs: {}", answer.text());
    assert!(!answer.sources().is_empty(), "{types:?}");
    assert!(answer.sources()[0].contains("/guides/webhooks"), "{:?}", answer.sources());
    texts_are_framed(&answer);
    tools_are_answered(&answer);
    no_value_is_null(&answer);
}

/// Asserts that every `text-delta` is between its `text-start` and its `text-end`.
fn texts_are_framed(answer: &Answer) {
    let mut open: Vec<&str> = Vec::new();
    for frame in &answer.frames {
        let id = frame["id"].as_str().unwrap_or_default();
        match frame["type"].as_str() {
            Some("text-start") => open.push(id),
            Some("text-delta") => assert!(open.contains(&id), "a delta of a text that is not open: {frame}"),
            Some("text-end") => open.retain(|have| *have != id),
            _ => {}
        }
    }
    assert!(open.is_empty(), "texts left open: {open:?}");
}

/// Asserts that every tool call has an output, which has passages and not whole pages.
fn tools_are_answered(answer: &Answer) {
    for call in answer.of_type("tool-input-available") {
        assert_eq!(call["toolName"], "search", "{call}");
        assert!(call["input"]["query"].is_string(), "{call}");
        let output = answer.of_type("tool-output-available");
        let output = output.iter().find(|output| output["toolCallId"] == call["toolCallId"]);
        let output = output.unwrap_or_else(|| panic!("a call without an output: {call}"));
        assert_eq!(output["output"]["type"], "search");
        for result in output["output"]["results"].as_array().expect("results") {
            let content = result["content"].as_str().expect("a passage has content");
            assert!(content.chars().count() <= 2000, "a passage of {} characters", content.chars().count());
            let title = result["metadata"]["title"].as_str().expect("a title");
            assert!(content.starts_with(&format!("# {title}\n")), "a passage stands below its headings: {content}");
            assert!(result["path"].is_string() && result["metadata"]["title"].is_string(), "{result}");
        }
    }
}

/// Asserts that no field is null, because clients refuse null for an optional field. The input and the output of a tool
/// are exempt.
fn no_value_is_null(answer: &Answer) {
    for frame in &answer.frames {
        for (name, value) in frame.as_object().expect("a frame is an object") {
            assert_ne!(value, &Value::Null, "`{name}` is null in {frame}");
        }
    }
}

#[test]
fn a_thread_goes_on_where_its_id_is_sent_back() {
    let site = Site::start();
    let first = site.assistant().ask(QUESTION);
    let second = site.assistant().ask_with("And what happens after that?", &json!({ "threadId": first.thread() }));
    assert_eq!(second.thread(), first.thread());
    assert_eq!(second.response.header("X-Thread-Key"), None, "the key is told once");
    assert_ne!(second.frames[0]["messageId"], first.frames[0]["messageId"], "every reply has an id of its own");

    let third = site.assistant().ask_with("And then?", &json!({ "threadId": null }));
    assert_ne!(third.thread(), first.thread(), "null begins a new one");
}

#[test]
fn a_thread_is_found_in_the_metadata_an_unmodified_client_echoes() {
    let site = Site::start();
    let first = site.assistant().ask(QUESTION);
    let echoed = json!({ "id": "a", "role": "assistant", "metadata": { "threadId": first.thread() },
                         "parts": [{ "type": "text", "text": first.text() }] });
    let second = site.assistant().ask_with("x", &json!({ "messages": [user(QUESTION), echoed, user("And then?")] }));
    assert_eq!(second.thread(), first.thread());
}

#[test]
fn a_thread_outlives_the_server() {
    let site = Site::start();
    let thread = site.assistant().ask(QUESTION).thread().to_owned();
    let site = site.killed_and_restarted();
    let second = site.assistant().ask_with("And what happens after that?", &json!({ "threadId": thread }));
    assert_eq!(second.thread(), thread);
}

#[test]
fn a_thread_belongs_to_its_site_and_to_who_holds_its_key() {
    let site = Site::start();
    site.installation.add_project("other", &site.repository);
    let key = site.installation.mint("other", KeyKind::Assistant, &[]);
    let other = Assistant::new(&site.server, "other", &key);
    other.is_ready();
    let first = site.assistant().ask(QUESTION);
    let thread_key = first.response.header("X-Thread-Key").expect("a new thread has a key");

    let elsewhere = other.ask_with("And then?", &json!({ "threadId": first.thread() }));
    assert_ne!(elsewhere.thread(), first.thread(), "another site begins anew");
    assert!(elsewhere.response.header("X-Thread-Key").is_some());

    let with = |key: &str| json!({ "threadId": first.thread(), "threadKey": key });
    assert_eq!(site.assistant().send(&question_body("And then?", &with(thread_key))).status, 200);
    assert_eq!(site.assistant().send(&question_body("And then?", &with("guessed"))).status, 404);
}

#[test]
fn the_finish_fits_who_asked() {
    let site = Site::start();
    let body = question_body(QUESTION, &json!({}));
    let plain = || Request::post(site.assistant().path()).bearer(&site.assistant_key);
    let strict = Request::post(format!("{}?sdk=strict", site.assistant().path())).bearer(&site.assistant_key);
    let current = Request::post(format!("{}?sdk=current", site.assistant().path())).bearer(&site.assistant_key);
    let of_the_sdk = question_body(QUESTION, &json!({ "trigger": "submit-message", "id": "chat" }));
    for (who, request, top_level) in [
        ("curl", plain().json(&body), true),
        ("a server's own client", plain().header("User-Agent", "acme-bot/2").json(&body), true),
        ("the SDK, by its body", plain().json(&of_the_sdk), false),
        ("the SDK, by its name", plain().header("User-Agent", "ai-sdk/5.0.1 runtime/node").json(&body), false),
        ("a browser", plain().header("Origin", "https://docs.example.com").json(&body), false),
        ("whoever asks for it", strict.json(&body), false),
        ("the SDK, where the app knows that it reads all", current.json(&of_the_sdk), true),
    ] {
        let answer = Answer::read(site.server.send(&request));
        let finish = answer.finish();
        assert_eq!(finish["messageMetadata"]["threadId"], answer.thread(), "{who}");
        assert_eq!(finish["messageMetadata"]["finishReason"], "stop", "{who}: {finish}");
        assert_eq!(finish.get("threadId").is_some(), top_level, "{who}: {finish}");
        assert_eq!(finish.get("finishReason").is_some(), top_level, "{who}: {finish}");
    }
}

#[test]
fn answers_are_not_made_up() {
    let site = Site::start();
    let answer = site.assistant().ask("Quibblefrotz zymurgy xylophones?");
    assert!(!answer.text().is_empty(), "a reply is never empty");
    assert!(answer.sources().is_empty(), "nothing to cite: {:?}", answer.sources());
}

#[test]
fn links_lead_to_pages_that_exist() {
    let site = Site::start();
    let pages = [
        "/", "/index", "/quickstart", "/guides/webhooks", "/guides/rate-limits", "/guides/cafe", "/reference/errors",
        "/reference/cli",
    ];
    for question in [QUESTION, "What does error E1002 mean?", "How do I install the client?"] {
        let answer = site.assistant().ask(question);
        assert!(!answer.sources().is_empty(), "{question}");
        for source in answer.sources() {
            let path = source.split('#').next().unwrap_or(source);
            assert!(pages.contains(&path), "{question}: {source} is no page of the site");
        }
    }
}

#[test]
fn no_reading_of_an_answer_leads_to_where_the_docs_do_not() {
    let model = ModelServer::start();
    let configuration = model.configures(Wire::OpenAi);
    let env: Vec<(&str, &str)> = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let site = Site::with_env(PAGES, &env);
    for (said, told) in [
        (
            "<div>\n```\n</div>\n\n![x](http://evil.test/?q=1)\n```",
            "&lt;div>\n\n```\n</div>\n\n![x](http://evil.test/?q=1)\n```\n",
        ),
        ("`a | ![x](http://evil.test)`\n|--|--|", "`a | ![x](http://evil.test)`\n\u{200b}|--|--|"),
        ("-    ```\n     ![x](http://evil.test)\n     ```", "-\n\n```\n![x](http://evil.test)\n```\n"),
        ("a\n10) ```\n    ![x](http://evil.test)\n", "a\n10)\n\n```\n![x](http://evil.test)\n```\n"),
        ("日http://evil.test 1www.evil", "日`http://evil.test` 1www\u{200b}.evil"),
        ("<img src=//evil.test> [x]: /y", "&lt;img src=/\u{200b}/evil.\u{200b}test> [x]\\: /y"),
        ("![Five](http://evil.test) [times](/guides/webhooks).", "Five [times](/guides/webhooks)."),
    ] {
        model.replies(said);
        assert_eq!(site.assistant().ask(QUESTION).text(), told, "{said}");
    }
}

#[test]
fn letters_beyond_ascii_arrive_whole() {
    let site = Site::start();
    let answer = site.assistant().ask("Wann hat das Café in Zürich geöffnet? Öffnungszeiten");
    assert!(answer.text().contains("Zürich"), "{}", answer.text());
    assert!(!answer.text().contains('\u{fffd}'), "{}", answer.text());
}

#[test]
fn the_page_somebody_is_on_and_what_they_selected_are_taken_into_account() {
    let site = Site::start();
    let more =
        json!({ "currentPath": "/reference/errors", "context": [{ "type": "textSelection", "value": "E1002" }] });
    let answer = site.assistant().ask_with("What does this mean?", &more);
    assert!(answer.sources().iter().any(|source| source.contains("/reference/errors")), "{:?}", answer.sources());
}

#[test]
fn there_is_nothing_to_resume() {
    let site = Site::start();
    let path = format!("{}/chat-1/stream", site.assistant().path());
    assert_eq!(site.server.send(&Request::get(&path).bearer(&site.assistant_key)).status, 204);
    assert_eq!(site.server.send(&Request::get(&path)).status, 401);
}

#[test]
fn a_client_that_hangs_up_harms_nobody() {
    let site = Site::start();
    let body = question_body(QUESTION, &json!({}));
    for _ in 0..20 {
        let request = Request::post(site.assistant().path()).bearer(&site.assistant_key).json(&body);
        let mut stream = request.open(site.server.address()).expect("an answer");
        assert_eq!(stream.status, 200);
        stream.piece().expect("a first piece");
    }
    assert!(!site.assistant().ask(QUESTION).text().is_empty());
}

#[test]
fn merged_pages_are_answered_without_a_restart() {
    let site = Site::start();
    site.assistant().ask(QUESTION);
    site.repository.commit(
        "main",
        "guides/drones.mdx",
        "---\ntitle: Drones\ndescription: Parcels by air.\n---\n\nA drone delivery needs a landing pad of three metres.\n",
    );
    let told = site.installation.must(&["index", "acme"]);
    assert!(told.stdout.contains("guides/drones.mdx:1: no navigation names the page"), "{}", told.stdout);
    let (name, navigation) = PAGES[0];
    site.repository.commit("main", name, &navigation.replace("guides/cafe", "guides/cafe\", \"guides/drones"));
    site.installation.must(&["index", "acme"]);
    let page = docent_tests::eventually("the new page to be served", || {
        let response = site.assistant().page(&json!({ "path": "/guides/drones" }));
        (response.status == 200).then_some(response)
    });
    assert!(page.json()["content"].as_str().is_some_and(|content| content.contains("landing pad")));
    let answer = site.assistant().ask("What does a drone delivery need?");
    assert!(answer.sources().iter().any(|source| source.contains("/guides/drones")), "{:?}", answer.sources());
}
