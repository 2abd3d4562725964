//! A message of a question in the format of version 1: with `content`, `parts`, or both.

use docent_assistant::ChatMessage;
use docent_discovery::{MessageBody, MessagePart};
use docent_types::{Refusal, Role};
use docent_web::Object;
use serde::Deserialize;
use serde_json::Value;

use crate::content::{Content, texts_of};

pub(crate) type AskBody = docent_discovery::QuestionBody<AskMessage>;

#[derive(Debug, Deserialize)]
pub(crate) struct AskMessage {
    id: Option<String>,
    role: RoleBody,
    content: Option<Content>,
    parts: Option<Vec<Object<MessagePart>>>,
    annotations: Option<Value>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RoleBody {
    System,
    User,
    Assistant,
    /// Messages in which an app stores its own data.
    Data,
}

impl MessageBody for AskMessage {
    const WITH_TEXT: &'static str = "a text in `content`, or a part `{\"type\": \"text\", \"text\": \"…\"}`";

    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn thread_id(&self) -> Option<&str> {
        let annotations = self.annotations.as_ref()?.as_array()?;
        annotations.iter().rev().find_map(|annotation| annotation.get("threadId")?.as_str())
    }

    fn chat_message(self, place: &str) -> Result<Option<ChatMessage>, Refusal> {
        let role = match self.role {
            RoleBody::System => Role::System,
            RoleBody::User => Role::User,
            RoleBody::Assistant => Role::Assistant,
            RoleBody::Data => return Ok(None),
        };
        let texts = texts_of(self.content.as_ref(), self.parts.as_deref(), place)?;
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let text = texts.join("\n\n");
        Ok((!text.trim().is_empty()).then_some(ChatMessage { id: self.id, role, text }))
    }
}

#[cfg(test)]
mod tests {
    use docent_discovery::Question;
    use docent_types::{RefusalKind, ThreadId};
    use serde_json::json;

    use super::*;

    const THREAD: &str = "00000000-0000-0000-0000-000000000007";

    fn read(messages: &Value) -> Result<Question, RefusalKind> {
        let body: AskBody = serde_json::from_value(json!({"fp": "anonymous", "messages": messages}))
            .map_err(|_| RefusalKind::Invalid)?;
        body.question().map_err(|refusal| refusal.kind)
    }

    #[test]
    fn a_question_may_be_a_content_or_parts() {
        for message in [
            json!({"role": "user", "content": "How?"}),
            json!({"role": "user", "content": "How?", "parts": [{"type": "text", "text": "How?"}], "createdAt": "x"}),
            json!({"role": "user", "content": "", "parts": [{"type": "text", "text": "How?"}]}),
            json!({"role": "user", "content": [{"type": "image", "image": 5}, {"type": "text", "text": "How?"}]}),
            json!({"role": "user", "content": null, "parts": [{"type": "step-start"}, {"type": "text", "text": "How?"}]}),
        ] {
            let question = read(&json!([message])).expect("a question");
            assert_eq!(
                question.messages,
                [ChatMessage { id: None, role: Role::User, text: "How?".into() }],
                "{message}"
            );
            assert_eq!(question.thread, None);
        }
    }

    #[test]
    fn a_conversation_sent_back_whole_is_read_for_its_text_and_its_thread() {
        let sent_back = json!([
            {"id": "u1", "role": "user", "content": "How?", "parts": [{"type": "text", "text": "How?"}]},
            {"role": "data", "content": "for the app", "data": {"a": 1}},
            {"id": "msg-1", "role": "assistant", "content": "So.", "revisionId": "r", "annotations": ["odd", {"threadId": THREAD}, 5],
             "toolInvocations": [{"state": "result", "result": []}],
             "parts": [{"type": "step-start"}, {"type": "tool-invocation", "toolInvocation": {}},
                       {"type": "source", "source": {"url": "/a"}}, {"type": "text", "text": "So."}]},
            {"role": "user", "content": "And then?", "experimental_attachments": []},
        ]);
        let question = read(&sent_back).expect("a question");
        let texts: Vec<_> = question.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts, ["How?", "So.", "And then?"]);
        assert_eq!(question.thread, ThreadId::parse(THREAD));
    }

    #[test]
    fn the_question_comes_last_and_has_text() {
        let asked = json!({"role": "user", "content": "How?"});
        for messages in [
            json!([asked, {"role": "assistant", "content": "So."}]),
            json!([asked, {"role": "data", "content": "x"}]),
            json!([{"role": "user"}]),
            json!([{"role": "user", "content": " \n"}]),
            json!([{"role": "user", "content": {"text": "How?"}}]),
            json!([{"role": "robot", "content": "How?"}]),
            json!([{"role": "user", "parts": [{"type": "text", "text": 5}]}]),
            json!([{"role": "user", "content": [["text", "How?"]]}]),
            json!([["user", "How?"]]),
        ] {
            assert_eq!(read(&messages).unwrap_err(), RefusalKind::Invalid, "{messages}");
        }
        for annotations in [json!({"threadId": THREAD}), json!([[THREAD]]), json!(7), json!([{"threadId": 7}])] {
            let question = read(&json!([{"role": "user", "content": "How?", "annotations": annotations}]));
            assert_eq!(question.expect("a question").thread, None);
        }
    }
}
