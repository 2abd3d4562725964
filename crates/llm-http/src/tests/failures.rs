//! Failures before and during a reply, and the errors that a caller gets.

use std::time::Duration;

use docent_llm::{Event, ModelErrorKind};
use serde_json::json;

use super::*;

/// The events and the error of both protocols for this answer.
async fn ends(answer: &Answer) -> [(Vec<Event>, ModelError); 2] {
    let server = Server::answering(vec![answer.clone(), answer.clone()]).await;
    let idle = Duration::from_millis(if matches!(answer, Answer::Stalled(_)) { 300 } else { 20_000 });
    let patient = |base: &str| Endpoint { idle, ..endpoint(base) };
    let anthropic = Anthropic::new(client(), patient(&server.base())).expect("a base URL");
    let openai = OpenAi::new(client(), patient(&server.base()), Dialect::default()).expect("a base URL");
    let (first, second) = (ask(&anthropic, request()).await, ask(&openai, request()).await);
    [first, second].map(|(events, ended)| (events, ended.expect_err("a failure")))
}

#[tokio::test]
async fn a_refused_request_is_sorted_with_the_wait_the_server_names() {
    let error = json!({ "error": { "message": "no", "type": "x" } });
    for (status, headers, kind) in [
        (
            "429 Too Many Requests",
            vec!["retry-after: 7"],
            ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) },
        ),
        ("429 Too Many Requests", vec![], ModelErrorKind::RateLimited { retry_after: None }),
        (
            "529 Overloaded",
            vec!["retry-after-ms: 1500"],
            ModelErrorKind::Overloaded { retry_after: Some(Duration::from_millis(1500)) },
        ),
        ("500 Internal Server Error", vec![], ModelErrorKind::Overloaded { retry_after: None }),
        ("401 Unauthorized", vec![], ModelErrorKind::Auth),
        ("404 Not Found", vec![], ModelErrorKind::Fatal),
        ("413 Payload Too Large", vec![], ModelErrorKind::ContextTooLong),
    ] {
        for (events, error) in ends(&json_answer(status, &headers, &error)).await {
            assert_eq!((events.len(), error.kind), (0, kind), "{status}");
        }
    }
}

#[tokio::test]
async fn a_page_of_a_proxy_is_read_by_its_status_alone() {
    let page = |status: &str| Answer::Whole(http(status, &["content-type: text/html"], "<html>Bad gateway</html>"));
    for (_, error) in ends(&page("502 Bad Gateway")).await {
        assert_eq!(error.kind, ModelErrorKind::Overloaded { retry_after: None });
        assert!(!docent_types::error_chain(&error).contains("html"), "{}", docent_types::error_chain(&error));
    }
    for (_, error) in ends(&page("200 OK")).await {
        assert_eq!(error.kind, ModelErrorKind::Fatal);
        assert!(
            docent_types::error_chain(&error).contains("check `base_url`"),
            "{}",
            docent_types::error_chain(&error)
        );
    }
    let moved = Answer::Whole(http("301 Moved Permanently", &["location: https://example.com/v2"], ""));
    for (_, error) in ends(&moved).await {
        assert_eq!(error.kind, ModelErrorKind::Fatal);
        assert!(
            docent_types::error_chain(&error).contains("redirects to https://example.com/v2"),
            "{}",
            docent_types::error_chain(&error)
        );
    }
}

#[tokio::test]
async fn a_reply_that_does_not_come_to_its_end_is_interrupted() {
    let hello = [json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "hi" },
            "choices": [{ "delta": { "content": "hi" } }] })];
    let begun = frames(&hello);
    let mut cut = SSE_HEAD.to_vec();
    cut.extend_from_slice(format!("fff\r\n{begun}").as_bytes());
    for (way, answer, says) in [
        ("an early end", sse(&begun), "broke off"),
        ("a cut connection", Answer::Whole(cut), "was cut"),
        ("half a frame", sse(&format!("{begun}data: {{\"typ")), "broke off"),
        ("garbage", sse(&format!("{begun}data: <oops>\n\n")), "cannot be read"),
        ("silence", sse_then_nothing(&begun), "no data for 300ms"),
    ] {
        for (events, error) in ends(&answer).await {
            assert_eq!((events, error.kind), (vec![text("hi")], ModelErrorKind::Interrupted), "{way}");
            assert!(docent_types::error_chain(&error).contains(says), "{way}: {}", docent_types::error_chain(&error));
        }
    }
    for (events, error) in ends(&sse("")).await {
        assert_eq!((events.len(), error.kind), (0, ModelErrorKind::Interrupted));
    }
}

#[tokio::test]
async fn trouble_told_in_the_middle_of_a_stream_is_sorted_too() {
    for (body, kind) in [
        (
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            ModelErrorKind::Overloaded { retry_after: None },
        ),
        (
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long" } }),
            ModelErrorKind::ContextTooLong,
        ),
        (
            json!({ "error": { "code": 429, "message": "slow down" } }),
            ModelErrorKind::RateLimited { retry_after: None },
        ),
    ] {
        for answer in [sse(&frames(&[json!({ "type": "ping" }), body.clone()])), json_answer("200 OK", &[], &body)] {
            for (events, error) in ends(&answer).await {
                assert_eq!((events.len(), error.kind), (0, kind), "{body}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_no_reply_at_all_is_not_asked_for_again() {
    for (_, error) in ends(&json_answer("200 OK", &[], &json!({ "status": "ok" }))).await {
        assert_eq!(error.kind, ModelErrorKind::Fatal);
        assert!(
            docent_types::error_chain(&error).contains("check `base_url`"),
            "{}",
            docent_types::error_chain(&error)
        );
    }
    let half = Answer::Whole(http("200 OK", &["content-type: application/json"], "{\"choices\": ["));
    for (_, error) in ends(&half).await {
        assert_eq!(error.kind, ModelErrorKind::Interrupted);
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_worth_another_try_and_a_key_in_plain_text_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    drop(listener);
    let error = ask(&anthropic(&base), request()).await.1.expect_err("nobody");
    assert_eq!(error.kind, ModelErrorKind::Unreachable);
    let error = ask(&openai("http://model.example.com"), request()).await.1.expect_err("refused");
    assert_eq!(error.kind, ModelErrorKind::Fatal);
    assert!(
        docent_types::error_chain(&error).contains("use https") && !docent_types::error_chain(&error).contains(KEY),
        "{}",
        docent_types::error_chain(&error)
    );
}

#[tokio::test]
async fn dropping_the_stream_hangs_up() {
    let begun = frames(&[json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "hi" } })]);
    let mut server = Server::answering(vec![sse_then_nothing(&begun)]).await;
    let mut stream = anthropic(&server.base()).stream(request()).await.expect("a stream");
    assert_eq!(stream.next().await.expect("open").expect("an event"), text("hi"));
    drop(stream);
    server.gone.recv().await.expect("the connection is closed");
}

#[tokio::test]
async fn a_reply_ends_with_its_last_event_and_not_with_its_connection() {
    let whole = super::openai::reply();
    let mut server = Server::answering(vec![sse_then_nothing(&whole)]).await;
    let (events, ended) = ask(&openai(&server.base()), request()).await;
    ended.expect("a whole reply");
    assert_eq!(joined(events), super::openai::events());
    server.gone.recv().await.expect("the connection is closed");
}

#[tokio::test]
async fn the_next_call_goes_over_the_same_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let model = openai(&format!("http://{}", listener.local_addr().expect("bound")));
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("the only connection");
        for _ in 0..2 {
            read(&mut socket).await;
            let Answer::Whole(bytes) = sse(&super::openai::reply()) else { return };
            let _ = socket.write_all(&bytes).await;
        }
    });
    for _ in 0..2 {
        ask(&model, request()).await.1.expect("a whole reply");
    }
}

#[tokio::test]
async fn a_check_asks_for_the_list_and_then_for_a_word() {
    let listed = json_answer("200 OK", &[], &json!({ "data": [{ "id": "other" }, { "id": "model-1" }] }));
    let unlisted = json_answer("200 OK", &[], &json!({ "data": [{ "id": "other" }] }));
    let no_list = json_answer("404 Not Found", &[], &json!({ "detail": "Not Found" }));
    let refused = json_answer("401 Unauthorized", &[], &json!({ "error": { "message": format!("bad key {KEY}") } }));
    let answers = vec![listed, unlisted, sse(&super::openai::reply()), no_list.clone(), no_list, refused];
    let mut server = Server::answering(answers).await;
    let model = openai(&server.base());
    let well = format!("openai model-1 answers at {}/v1", server.base());
    assert_eq!(model.check().await.expect("listed"), well);
    assert_eq!(model.check().await.expect("it speaks"), well);
    let error = model.check().await.expect_err("no such model");
    assert!(
        docent_types::error_chain(&error).contains("has no model model-1"),
        "{}",
        docent_types::error_chain(&error)
    );
    let error = model.check().await.expect_err("no such key");
    assert!(
        docent_types::error_chain(&error).contains("check MODEL_KEY")
            && !docent_types::error_chain(&error).contains(KEY),
        "{}",
        docent_types::error_chain(&error)
    );
    let mut lines = Vec::new();
    while let Ok(asked) = server.asked.try_recv() {
        lines.push(asked.line);
    }
    let (list, word) = ("GET /v1/models HTTP/1.1", "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(lines, [list, list, word, list, word, list]);
}
