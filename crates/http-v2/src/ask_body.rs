//! A message of a question in the format of version 2: with `parts`.

use docent_assistant::ChatMessage;
use docent_discovery::{MessageBody, MessagePart, texts};
use docent_types::{Refusal, Role};
use docent_web::Object;
use serde::Deserialize;
use serde_json::Value;

pub(crate) type AskBody = docent_discovery::QuestionBody<AskMessage>;

#[derive(Debug, Deserialize)]
pub(crate) struct AskMessage {
    id: Option<String>,
    role: Role,
    parts: Option<Vec<Object<MessagePart>>>,
    metadata: Option<Value>,
}

impl MessageBody for AskMessage {
    const WITH_TEXT: &'static str = "a part `{\"type\": \"text\", \"text\": \"…\"}`";

    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn thread_id(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("threadId")?.as_str()
    }

    fn chat_message(self, place: &str) -> Result<Option<ChatMessage>, Refusal> {
        let texts = texts(self.parts.as_deref().unwrap_or_default(), &format!("{place}.parts"))?;
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let text = texts.join("\n\n");
        Ok((!text.trim().is_empty()).then_some(ChatMessage { id: self.id, role: self.role, text }))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Borrow;

    use docent_discovery::Question;
    use docent_types::{RefusalKind, ThreadId};
    use serde_json::json;

    use super::*;

    const THREAD: &str = "00000000-0000-0000-0000-000000000007";

    fn user(text: &str) -> Value {
        json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]})
    }

    fn body(changes: impl Borrow<Value>) -> Value {
        let mut body = json!({"fp": "anonymous", "messages": [user("How?")]});
        body.as_object_mut().unwrap().extend(changes.borrow().as_object().unwrap().clone());
        body
    }

    fn read(body: Value) -> Result<Question, RefusalKind> {
        let body: AskBody = serde_json::from_value(body).map_err(|_| RefusalKind::Invalid)?;
        body.question().map_err(|refusal| refusal.kind)
    }

    #[test]
    fn absent_fields_have_defaults() {
        for given in [
            json!({}),
            json!({
                "threadId": null, "filter": null, "context": null, "currentPath": null, "retrievalPageSize": null,
                "threadKey": null, "unheard": [1],
            }),
        ] {
            let question = read(body(given)).unwrap();
            assert_eq!((question.passages, question.thread, question.context.len()), (5, None, 0));
            assert_eq!(
                question.messages,
                [ChatMessage { id: Some("m1".into()), role: Role::User, text: "How?".into() }]
            );
            assert!(!question.by_sdk);
        }
        assert!(read(body(json!({"trigger": "submit-message"}))).unwrap().by_sdk);
    }

    #[test]
    fn each_rule_is_held_to_its_edge() {
        let many = |count: usize| json!({"messages": vec![user("x"); count]});
        for (changes, good) in [
            (json!({"fp": "a".repeat(200)}), true),
            (json!({"fp": "é".repeat(201)}), false),
            (json!({"fp": ""}), false),
            (json!({"fp": 7}), false),
            (many(0), false),
            (many(200), true),
            (many(201), false),
            (json!({"retrievalPageSize": 1}), true),
            (json!({"retrievalPageSize": 50}), true),
            (json!({"retrievalPageSize": 0}), false),
            (json!({"retrievalPageSize": 51}), false),
            (json!({"retrievalPageSize": -1}), false),
            (json!({"retrievalPageSize": 5.0}), true),
            (json!({"retrievalPageSize": 2.5}), false),
            (json!({"retrievalPageSize": "5"}), false),
            (json!({"id": "é".repeat(200), "threadKey": "k".repeat(200), "threadId": "t".repeat(200)}), true),
            (json!({"id": "é".repeat(201)}), false),
            (json!({"threadKey": "k".repeat(201)}), false),
            (json!({"messages": [{"id": "m".repeat(201), "role": "assistant"}, user("How?")]}), false),
            (json!({"currentPath": "é".repeat(200)}), true),
            (json!({"currentPath": "/".repeat(201)}), false),
            (
                json!({"context": [{"type": "code", "value": "let x"}, {"type": "textSelection", "value": "y", "elementId": "e"}]}),
                true,
            ),
            (json!({"context": [{"type": "image", "value": "x"}]}), false),
            (json!({"context": [{"type": "code"}]}), false),
            (json!({"messages": [{"role": "robot", "parts": []}]}), false),
            (json!({"messages": "hi"}), false),
            (json!({"messages": [[null, "user", [{"type": "text", "text": "How?"}]]]}), false),
            (json!({"messages": [{"role": "user", "parts": [["text", "How?"]]}]}), false),
            (json!({"messages": [{"role": "assistant", "parts": null}, user("How?")]}), true),
            (json!({"filter": []}), false),
            (json!({"filter": ["1", null, null, null]}), false),
            (json!({"context": [["code", "let x", null]]}), false),
        ] {
            assert_eq!(read(body(changes.clone())).is_ok(), good, "{changes}");
        }
    }

    #[test]
    fn the_question_comes_last_and_has_text() {
        let reply = json!({"role": "assistant", "parts": [{"type": "text", "text": "So."}]});
        let mute = json!({"role": "user", "parts": [{"type": "file", "url": "x", "mediaType": "y"}]});
        for messages in
            [json!([reply]), json!([mute]), json!([user(" \n")]), json!([user("a"), reply]), json!([{"role": "user"}])]
        {
            assert_eq!(read(body(json!({ "messages": messages }))).unwrap_err(), RefusalKind::Invalid);
        }
        let no_text = json!([{"role": "user", "parts": [{"type": "text", "text": 5}]}]);
        assert_eq!(read(body(json!({ "messages": no_text }))).unwrap_err(), RefusalKind::Invalid);
    }

    #[test]
    fn a_conversation_sent_back_whole_is_read_for_its_text() {
        let sent_back = json!([
            {"role": "system", "parts": [{"type": "text", "text": "Be rude."}]},
            user("How?"),
            {"id": "a1", "role": "assistant", "metadata": {"threadId": THREAD}, "parts": [
                {"type": "step-start"},
                {"type": "tool-search", "state": "output-available", "input": {"query": "How?"}, "output": {"text": [1]}},
                {"type": "source-url", "sourceId": "s", "url": "/a"},
                {"type": "data-x", "text": 5},
                {"type": "text", "text": "So", "state": "done"},
                {"type": "text", "text": "and so."},
            ]},
            {"role": "assistant", "parts": []},
            user("And then?"),
        ]);
        let question = read(body(json!({ "messages": sent_back }))).unwrap();
        let texts: Vec<_> = question.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["Be rude.", "How?", "So\n\nand so.", "And then?"]);
        assert_eq!(question.thread, ThreadId::parse(THREAD));
    }

    #[test]
    fn the_thread_is_what_the_body_says_before_what_its_messages_say() {
        let other = "00000000-0000-0000-0000-000000000009";
        let echoed =
            json!([{"role": "user", "metadata": {"threadId": THREAD}, "parts": [{"type": "text", "text": "x"}]}]);
        let thread =
            |id: Value| read(body(json!({"messages": echoed, "threadId": id}))).map(|question| question.thread);
        assert_eq!(thread(json!(other)), Ok(ThreadId::parse(other)));
        assert_eq!(thread(json!(null)), Ok(None));
        assert_eq!(thread(json!("")), Ok(None));
        assert_eq!(thread(json!("made-up")), Ok(None), "unknown, and so begun anew");
        assert_eq!(thread(json!("x".repeat(201))), Err(RefusalKind::Invalid));
        let odd = json!([{"role": "user", "metadata": [7], "parts": [{"type": "text", "text": "x"}]}]);
        assert_eq!(read(body(json!({ "messages": odd }))).unwrap().thread, None);
    }
}
