//! The body of a new job: lenient about what scripts really send, strict about mistakes that would change the job.

use std::fmt;

use docent_discovery::MessagePart;
use docent_types::{ContentPart, Message, Refusal, Role};
use docent_web::Object;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, Unexpected, Visitor};

use crate::content::{Content, texts_of};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateBody {
    messages: Vec<Object<TurnBody>>,
    pub(crate) branch: Option<String>,
    as_draft: Option<Flag>,
    pub(crate) model: Option<String>,
    /// Only chat SDKs send this field.
    trigger: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct TurnBody {
    role: Role,
    content: Option<Content>,
    parts: Option<Vec<Object<MessagePart>>>,
}

/// A boolean, or a string with one in any case, which shells and form libraries send.
#[derive(Debug, Clone, Copy)]
struct Flag(bool);

impl CreateBody {
    pub(crate) fn as_draft(&self) -> bool {
        self.as_draft.is_some_and(|Flag(flag)| flag)
    }

    /// Whether the body was sent by a chat SDK.
    pub(crate) const fn by_sdk(&self) -> bool {
        self.trigger.is_some()
    }

    /// The messages for the agent, in order, without empty ones.
    ///
    /// # Errors
    /// 400 when no message of a user or of the system has a text.
    pub(crate) fn instruction(&self) -> Result<Vec<Message>, Refusal> {
        let mut messages = Vec::with_capacity(self.messages.len());
        for (index, Object(body)) in self.messages.iter().enumerate() {
            let texts = texts_of(body.content.as_ref(), body.parts.as_deref(), &format!("messages[{index}]"))?;
            let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
            let parts: Vec<_> = texts.map(|text| ContentPart::Text { text: text.to_owned() }).collect();
            if !parts.is_empty() {
                messages.push(Message { role: body.role, parts });
            }
        }
        let is_instruction = |message: &Message| message.role != Role::Assistant;
        if messages.iter().any(is_instruction) {
            return Ok(messages);
        }
        let what = match self.messages.iter().position(|Object(body)| body.role != Role::Assistant) {
            _ if self.messages.is_empty() => "messages: there is none".to_owned(),
            None => "messages: all are from the assistant".to_owned(),
            Some(index) => format!("messages[{index}].content: it is empty"),
        };
        Err(Refusal::invalid(format!("{what}; send one with the role `user` that says what the agent should do")))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlagVisitor)
    }
}

struct FlagVisitor;

impl Visitor<'_> for FlagVisitor {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`true` or `false`")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
        Ok(Flag(flag))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Flag, E> {
        match text.to_ascii_lowercase().as_str() {
            "true" => Ok(Flag(true)),
            "false" => Ok(Flag(false)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(body: Value) -> Result<Vec<(Role, String)>, String> {
        let body: CreateBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
        let messages = body.instruction().map_err(|refusal| refusal.sentence)?;
        Ok(messages.into_iter().map(|message| (message.role, message.plain_text())).collect())
    }

    #[test]
    fn a_message_may_be_a_text_or_parts() {
        for message in [
            json!({"role": "user", "content": "Fix links"}),
            json!({"role": "user", "content": [{"type": "text", "text": "Fix links"}, {"type": "image", "text": 5}]}),
            json!({"role": "user", "parts": [{"type": "step-start"}, {"type": "text", "text": "Fix links"}]}),
            json!({"role": "user", "content": "Fix links", "parts": [{"type": "text", "text": "Fix links"}]}),
            json!({"role": "user", "content": "", "parts": [{"type": "text", "text": "Fix links"}]}),
            json!({"role": "user", "content": null, "parts": [{"type": "text", "text": "Fix links"}], "id": 5}),
        ] {
            assert_eq!(said(json!({ "messages": [message] })), Ok(vec![(Role::User, "Fix links".to_owned())]));
        }
    }

    #[test]
    fn all_roles_are_heard_in_their_order() {
        let messages = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Fix links"},
            {"role": "assistant", "content": null},
            {"role": "assistant", "content": "Like so?"},
            {"role": "user", "content": "Yes"},
        ]);
        let roles: Vec<_> = said(json!({ "messages": messages })).unwrap().into_iter().map(|(role, _)| role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
        let alone = said(json!({"messages": [{"role": "system", "content": "Fix links"}]}));
        assert_eq!(alone, Ok(vec![(Role::System, "Fix links".to_owned())]));
    }

    #[test]
    fn a_draft_is_asked_for_with_or_without_quotes() {
        for (given, wanted) in [
            (json!(true), Some(true)),
            (json!(false), Some(false)),
            (json!("true"), Some(true)),
            (json!("False"), Some(false)),
            (json!("TRUE"), Some(true)),
            (Value::Null, Some(false)),
            (json!("yes"), None),
            (json!(""), None),
            (json!(1), None),
        ] {
            let body = json!({"messages": [], "asDraft": given});
            let read = serde_json::from_value::<CreateBody>(body).map(|body| body.as_draft()).ok();
            assert_eq!(read, wanted, "{given}");
        }
    }

    #[test]
    fn nothing_to_do_is_refused_where_it_is() {
        for (messages, place) in [
            (json!([]), "messages: there is none"),
            (json!([{"role": "assistant", "content": "Hi"}]), "messages: all are from the assistant"),
            (
                json!([{"role": "assistant", "content": "Hi"}, {"role": "user", "content": " \n"}]),
                "messages[1].content",
            ),
            (json!([{"role": "user"}]), "messages[0].content"),
            (json!([{"role": "user", "content": [{"type": "text"}]}]), "messages[0].content[0].text"),
            (
                json!([{"role": "user", "parts": [{"type": "a"}, {"type": "text", "text": 5}]}]),
                "messages[0].parts[1].text",
            ),
        ] {
            let told = said(json!({ "messages": messages })).unwrap_err();
            assert!(told.starts_with(place), "{place}: {told}");
        }
    }
}
