//! The body of a question: read leniently where clients send back what they once received, strictly where a mistake
//! would change the answer.

use docent_assistant::{ContextItem, ContextKind, Said};
use docent_types::{Refusal, Role, ThreadId};
use docent_web::{Object, WholeNumber};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::Value;

use crate::filter::FilterBody;

const LONGEST_FP: usize = 200;
const MOST_MESSAGES: usize = 200;
const MOST_PASSAGES: u64 = 50;
const USUAL_PASSAGES: u64 = 5;
const LONGEST_PATH: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskBody {
    fp: String,
    messages: Vec<Object<MessageBody>>,
    /// `None`: not in the body. `Some(None)`: null, which asks for a new thread.
    #[serde(default, deserialize_with = "present")]
    thread_id: Option<Option<String>>,
    thread_key: Option<String>,
    retrieval_page_size: Option<WholeNumber>,
    filter: Option<Object<FilterBody>>,
    context: Option<Vec<Object<ContextBody>>>,
    current_path: Option<String>,
    /// Chat SDKs say here why they ask; nobody else sends it.
    trigger: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct MessageBody {
    id: Option<String>,
    role: Role,
    parts: Option<Vec<Object<PartBody>>>,
    metadata: Option<Value>,
}

/// Any part. Those that are no text are skipped, whatever they hold.
#[derive(Debug, Deserialize)]
struct PartBody {
    #[serde(rename = "type")]
    kind: String,
    text: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct ContextBody {
    #[serde(rename = "type")]
    kind: ContextKindBody,
    value: String,
    path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ContextKindBody {
    Code,
    TextSelection,
}

/// A question that holds to the rules.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) fp: String,
    pub(crate) said: Vec<Said>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) thread_key: Option<String>,
    pub(crate) passages: usize,
    pub(crate) filter: FilterBody,
    pub(crate) context: Vec<ContextItem>,
    pub(crate) current_path: Option<String>,
    /// Whether the body is a chat SDK's.
    pub(crate) by_sdk: bool,
}

impl AskBody {
    /// Holds the body to the rules.
    ///
    /// # Errors
    /// 400 naming the field, and 404 for a thread id that cannot be one.
    pub(crate) fn question(self) -> Result<Question, Refusal> {
        let fp = self.fp;
        if fp.is_empty() || fp.chars().count() > LONGEST_FP {
            return Err(Refusal::invalid(format!(
                "fp: it must have 1 to {LONGEST_FP} characters; send `anonymous`, or an id of the user"
            )));
        }
        if self.messages.is_empty() || self.messages.len() > MOST_MESSAGES {
            return Err(Refusal::invalid(format!(
                "messages: there must be 1 to {MOST_MESSAGES}; send the newest ones, the question last"
            )));
        }
        let passages = self.retrieval_page_size.map_or(USUAL_PASSAGES, |WholeNumber(size)| size);
        if !(1..=MOST_PASSAGES).contains(&passages) {
            return Err(Refusal::invalid(format!(
                "retrievalPageSize: it must be a whole number from 1 to {MOST_PASSAGES}; {USUAL_PASSAGES} is usual"
            )));
        }
        if self.current_path.as_ref().is_some_and(|path| path.chars().count() > LONGEST_PATH) {
            return Err(Refusal::invalid(format!(
                "currentPath: it is longer than {LONGEST_PATH} characters; send the page's path alone, or leave it out"
            )));
        }
        // Null asks for a new thread; a body without the field may still hold the id where SDK apps send it back.
        let thread = match self.thread_id {
            Some(given) => given,
            None => self.messages.iter().rev().find_map(|Object(message)| message.thread_id()),
        };
        Ok(Question {
            fp,
            said: said(self.messages)?,
            thread: thread.filter(|id| !id.is_empty()).map(|id| thread_id(&id)).transpose()?,
            thread_key: self.thread_key,
            passages: usize::try_from(passages).unwrap_or(usize::MAX),
            filter: self.filter.unwrap_or_default().0,
            context: self.context.unwrap_or_default().into_iter().map(|Object(item)| item.into()).collect(),
            current_path: self.current_path.filter(|path| !path.is_empty()),
            by_sdk: self.trigger.is_some(),
        })
    }
}

impl MessageBody {
    fn thread_id(&self) -> Option<String> {
        self.metadata.as_ref()?.get("threadId")?.as_str().map(str::to_owned)
    }

    fn text(&self, index: usize) -> Result<String, Refusal> {
        let mut text = String::new();
        for (part, Object(body)) in self.parts.iter().flatten().enumerate() {
            if body.kind != "text" {
                continue;
            }
            let Some(Value::String(said)) = &body.text else {
                return Err(Refusal::invalid(format!(
                    "messages[{index}].parts[{part}].text: a part of the type `text` must have its text here, as a string"
                )));
            };
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(said);
        }
        Ok(text)
    }
}

/// The conversation as plain text, without messages that say nothing.
fn said(messages: Vec<Object<MessageBody>>) -> Result<Vec<Said>, Refusal> {
    let last = messages.len() - 1;
    let mut said = Vec::with_capacity(messages.len());
    for (index, Object(message)) in messages.into_iter().enumerate() {
        let text = message.text(index)?;
        let empty = text.trim().is_empty();
        if index == last && (message.role != Role::User || empty) {
            return Err(Refusal::invalid(format!(
                "messages[{index}]: the last message must be the question, with the role `user` and a part \
                 `{{\"type\": \"text\", \"text\": \"…\"}}`"
            )));
        }
        if !empty {
            said.push(Said { id: message.id, role: message.role, text });
        }
    }
    Ok(said)
}

fn thread_id(text: &str) -> Result<ThreadId, Refusal> {
    ThreadId::parse(text).ok_or_else(|| {
        let shown: String = text.chars().take(80).collect();
        Refusal::not_found(format!("threadId: there is no thread `{shown}`; leave `threadId` out to start a new one"))
    })
}

impl From<ContextBody> for ContextItem {
    fn from(body: ContextBody) -> Self {
        let kind = match body.kind {
            ContextKindBody::Code => ContextKind::Code,
            ContextKindBody::TextSelection => ContextKind::TextSelection,
        };
        Self { kind, value: body.value, path: body.path }
    }
}

/// Tells null from a field that is not there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use std::borrow::Borrow;

    use docent_types::RefusalKind;
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
    fn what_is_left_out_has_its_usual_value() {
        for given in [
            json!({}),
            json!({
                "threadId": null, "filter": null, "context": null, "currentPath": null, "retrievalPageSize": null,
                "threadKey": null, "unheard": [1],
            }),
        ] {
            let question = read(body(given)).unwrap();
            assert_eq!((question.passages, question.thread, question.context.len()), (5, None, 0));
            assert_eq!(question.said, [Said { id: Some("m1".into()), role: Role::User, text: "How?".into() }]);
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
        let texts: Vec<_> = question.said.iter().map(|said| said.text.as_str()).collect();
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
        assert_eq!(thread(json!("made-up")), Err(RefusalKind::NotFound));
        let odd = json!([{"role": "user", "metadata": [7], "parts": [{"type": "text", "text": "x"}]}]);
        assert_eq!(read(body(json!({ "messages": odd }))).unwrap().thread, None);
    }
}
