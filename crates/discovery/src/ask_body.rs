//! The body of a question: lenient about fields that clients send back as they received them, strict where a mistake
//! would change the answer.

use docent_assistant::{ChatMessage, ContextItem, ContextKind};
use docent_types::{Refusal, Role, ThreadId, decoded_path};
use docent_web::{Object, WholeNumber};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::Value;

use crate::chat::{ChatId, LONGEST_ID};
use crate::filter::FilterBody;

const LONGEST_FP: usize = 200;
const MOST_MESSAGES: usize = 200;
const MOST_PASSAGES: u64 = 50;
const DEFAULT_PASSAGES: u64 = 5;
/// Counted decoded: what a browser encodes of a letter has up to twelve.
const LONGEST_PATH: usize = 200;

/// A message in the format of one API version.
pub trait MessageBody: DeserializeOwned {
    /// Completes the error about a last message without text: `a part …`.
    const WITH_TEXT: &'static str;

    /// Its id, which its client has chosen.
    fn id(&self) -> Option<&str>;

    /// The id of the message's thread, where unmodified SDK apps send that back.
    fn thread_id(&self) -> Option<&str>;

    /// Its text; `None` when it has none. `place` is its place in the body.
    ///
    /// # Errors
    /// 400 when it cannot be parsed.
    fn chat_message(self, place: &str) -> Result<Option<ChatMessage>, Refusal>;
}

/// The body of a question whose messages are written as `M`s.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "M: MessageBody"))]
pub struct QuestionBody<M> {
    fp: String,
    messages: Vec<Object<M>>,
    /// `None`: not in the body. `Some(None)`: null, which asks for a new thread.
    #[serde(default, deserialize_with = "present")]
    thread_id: Option<Option<String>>,
    thread_key: Option<String>,
    retrieval_page_size: Option<WholeNumber>,
    filter: Option<Object<FilterBody>>,
    context: Option<Vec<Object<ContextBody>>>,
    current_path: Option<String>,
    /// The chat's id, which chat SDKs send, and with which a reply is resumed. Any other value is ignored.
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    /// Only chat SDKs send this field.
    trigger: Option<IgnoredAny>,
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

/// A question that was checked.
#[derive(Debug)]
pub struct Question {
    pub fp: String,
    pub messages: Vec<ChatMessage>,
    pub thread: Option<ThreadId>,
    pub thread_key: Option<String>,
    pub passages: usize,
    pub filter: FilterBody,
    pub context: Vec<ContextItem>,
    pub current_path: Option<String>,
    /// The chat it belongs to, if its replies can be resumed.
    pub chat: Option<ChatId>,
    /// Whether a chat SDK sent the body.
    pub by_sdk: bool,
}

impl Question {
    /// A question of nobody in particular, the last of `messages`, without a thread.
    pub fn new(messages: Vec<ChatMessage>, filter: FilterBody) -> Self {
        Self {
            fp: "anonymous".to_owned(),
            messages,
            thread: None,
            thread_key: None,
            passages: DEFAULT_PASSAGES as usize,
            filter,
            context: Vec::new(),
            current_path: None,
            chat: None,
            by_sdk: false,
        }
    }
}

impl<M: MessageBody> QuestionBody<M> {
    /// Checks the body.
    ///
    /// # Errors
    /// 400 naming the field.
    pub fn question(self) -> Result<Question, Refusal> {
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
        let passages = self.retrieval_page_size.map_or(DEFAULT_PASSAGES, |WholeNumber(size)| size);
        if !(1..=MOST_PASSAGES).contains(&passages) {
            return Err(Refusal::invalid(format!(
                "retrievalPageSize: it must be a whole number from 1 to {MOST_PASSAGES}; {DEFAULT_PASSAGES} is usual"
            )));
        }
        if self.current_path.as_ref().is_some_and(|path| decoded_path(path).chars().count() > LONGEST_PATH) {
            return Err(Refusal::invalid(format!(
                "currentPath: it is longer than {LONGEST_PATH} characters; send the page's path alone, or leave it out"
            )));
        }
        let messages_ids =
            self.messages.iter().enumerate().map(|(at, Object(message))| (format!("messages[{at}].id"), message.id()));
        let ids = [("id", self.id.as_deref()), ("threadKey", self.thread_key.as_deref())];
        let ids = ids.into_iter().chain([("threadId", self.thread_id.as_ref().and_then(Option::as_deref))]);
        for (place, id) in ids.map(|(place, id)| (place.to_owned(), id)).chain(messages_ids) {
            if id.is_some_and(|id| id.chars().nth(LONGEST_ID).is_some()) {
                return Err(Refusal::invalid(format!(
                    "{place}: it is longer than {LONGEST_ID} characters; send an id of that length at most, or leave it out"
                )));
            }
        }
        // Null asks for a new thread; a body without the field may have the id where SDK apps send it back.
        let thread = match self.thread_id {
            Some(id) => id,
            None => self.messages.iter().rev().find_map(|Object(message)| message.thread_id().map(str::to_owned)),
        };
        Ok(Question {
            fp,
            messages: chat_messages(self.messages)?,
            // An id that cannot be ours is treated like an expired one.
            thread: thread.as_deref().and_then(ThreadId::parse),
            thread_key: self.thread_key,
            passages: usize::try_from(passages).unwrap_or(usize::MAX),
            filter: self.filter.unwrap_or_default().0,
            context: self.context.unwrap_or_default().into_iter().map(|Object(item)| item.into()).collect(),
            current_path: self.current_path.filter(|path| !path.is_empty()),
            chat: self.id.as_deref().and_then(ChatId::of),
            by_sdk: self.trigger.is_some(),
        })
    }
}

/// The conversation as plain text, without empty messages.
fn chat_messages<M: MessageBody>(messages: Vec<Object<M>>) -> Result<Vec<ChatMessage>, Refusal> {
    let last = messages.len() - 1;
    let mut conversation = Vec::with_capacity(messages.len());
    for (index, Object(message)) in messages.into_iter().enumerate() {
        let chat_message = message.chat_message(&format!("messages[{index}]"))?;
        if index == last && chat_message.as_ref().is_none_or(|chat_message| chat_message.role != Role::User) {
            return Err(Refusal::invalid(format!(
                "messages[{index}]: the last message must be the question, with the role `user` and {}",
                M::WITH_TEXT
            )));
        }
        conversation.extend(chat_message);
    }
    Ok(conversation)
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

/// A string; any other value is `None`.
fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// Distinguishes null from a missing field.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
