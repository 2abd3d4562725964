//! `POST /discovery/v2/openai/{domain}/chat/completions` and `GET …/models`: the assistant of a domain for clients of
//! OpenAI's API, as a model of that name.

use docent_access::{Principal, Reader};
use docent_assistant::ChatMessage;
use docent_discovery::{FilterBody, LARGEST_BODY, MessagePart, Question, texts};
use docent_types::{Project, Refusal, Role, encoded_path};
use docent_ui_stream::{ChatCompletions, CitedPage, CompletionHead, chat_completion};
use docent_web::{HttpError, Object, Request, Response, respond};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::Api;
use crate::route::NamedResource;

/// Of a longer conversation the newest messages are read.
const MOST_MESSAGES: usize = 200;
const LONGEST_USER: usize = 200;

#[derive(Debug, Deserialize)]
struct CompletionBody {
    messages: Vec<Object<CompletionMessage>>,
    stream: Option<bool>,
    stream_options: Option<Object<StreamOptions>>,
    user: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct CompletionMessage {
    role: String,
    content: Option<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Object<MessagePart>>),
}

pub(crate) async fn complete(api: &Api, request: &mut Request, principal: &Principal) -> Result<Response, HttpError> {
    let body: CompletionBody = request.json(LARGEST_BODY).await?.parse()?;
    let streams = body.stream.unwrap_or(false);
    let includes_usage = body.stream_options.as_ref().and_then(|options| options.0.include_usage).unwrap_or(false);
    let question = body.question()?;
    let project = &principal.project;
    let head = CompletionHead {
        id: format!("chatcmpl-{}", request.id()),
        created: api.clock.now().millis().div_euclid(1000),
        model: project.domain.to_string(),
    };
    let site = api.answering.assistant.site(project.uid).address.unwrap_or_default();
    if streams {
        let encoder = ChatCompletions::new(head, site, includes_usage);
        return api.answering.answer(question, principal, request, encoder).await;
    }
    let reply = api.answering.whole(question, &Reader::Holder(principal.clone())).await?;
    let sources: Vec<_> = reply
        .sources
        .iter()
        .map(|passage| CitedPage { title: passage.title.clone(), url: format!("{site}{}", passage.href) })
        .collect();
    Ok(respond::json(StatusCode::OK, &chat_completion(&head, &reply.text, &sources, reply.reason, reply.usage)))
}

pub(crate) fn models(project: &Project) -> Response {
    respond::json(StatusCode::OK, &json!({"object": "list", "data": [model(project)]}))
}

pub(crate) fn one_model(request: &Request, project: &Project) -> Result<Response, HttpError> {
    let wanted = NamedResource::Model.by(request);
    if wanted != project.domain.as_str() {
        let shown: String = wanted.chars().take(80).collect();
        let sentence =
            format!("there is no model `{}`: the model is called `{}`", encoded_path(&shown), project.domain);
        return Err(Refusal::not_found(sentence).into());
    }
    Ok(respond::json(StatusCode::OK, &model(project)))
}

fn model(project: &Project) -> Value {
    let created = project.created_at.millis().div_euclid(1000);
    json!({"id": project.domain, "object": "model", "created": created, "owned_by": "docent"})
}

impl CompletionBody {
    /// The last message as a question, and those before it as its conversation.
    fn question(self) -> Result<Question, Refusal> {
        let skipped = self.messages.len().saturating_sub(MOST_MESSAGES);
        let mut said = Vec::new();
        for (index, Object(message)) in self.messages.into_iter().enumerate().skip(skipped) {
            said.extend(message.read(index)?);
        }
        if said.last().is_none_or(|last| last.role != Role::User) {
            return Err(Refusal::invalid("messages: the last one must be the question, with the role `user` and text"));
        }
        let mut question = Question::new(said, FilterBody::default());
        if let Some(user) = self.user.filter(|user| (1..=LONGEST_USER).contains(&user.chars().count())) {
            question.fp = user;
        }
        Ok(question)
    }
}

impl CompletionMessage {
    /// `None` for a message without text, and for results of the client's own tools.
    fn read(self, index: usize) -> Result<Option<ChatMessage>, Refusal> {
        let role = match self.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "developer" => Role::System,
            "tool" | "function" => return Ok(None),
            _ => {
                return Err(Refusal::invalid(format!(
                    "messages[{index}].role: it must be `system`, `developer`, `user`, `assistant` or `tool`"
                )));
            }
        };
        let text = match self.content {
            None => String::new(),
            Some(Content::Text(text)) => text,
            Some(Content::Parts(parts)) => texts(&parts, &format!("messages[{index}].content"))?.join("\n\n"),
        };
        Ok((!text.trim().is_empty()).then_some(ChatMessage { id: None, role, text }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(messages: &Value) -> Option<Vec<(Role, String)>> {
        let body: CompletionBody = serde_json::from_value(json!({"messages": messages, "temperature": 0.3})).ok()?;
        let question = body.question().ok()?;
        Some(question.messages.into_iter().map(|message| (message.role, message.text)).collect())
    }

    #[test]
    fn a_conversation_is_read_as_clients_write_it() {
        let said = read(&json!([
            {"role": "developer", "content": "Be rude."},
            {"role": "user", "content": "How?"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "tool_call_id": "1", "content": "42"},
            {"role": "assistant", "content": "So."},
            {"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "then?"}]},
        ]));
        let expected =
            [(Role::System, "Be rude."), (Role::User, "How?"), (Role::Assistant, "So."), (Role::User, "And\n\nthen?")];
        assert_eq!(said, Some(expected.map(|(role, text)| (role, text.to_owned())).to_vec()));
        for bad in [
            json!([]),
            json!([{"role": "user", "content": " "}]),
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]),
            json!([{"role": "robot", "content": "a"}]),
            json!([{"role": "user", "content": 5}]),
            json!("a"),
        ] {
            assert_eq!(read(&bad), None, "{bad}");
        }
        let long = vec![json!({"role": "user", "content": "a"}); 500];
        assert_eq!(read(&Value::Array(long)).map(|said| said.len()), Some(MOST_MESSAGES));
    }
}
