//! A request to the scripted model, in one form for both protocols.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::Value;

/// The protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `POST /v1/messages`
    Anthropic,
    /// `POST /v1/chat/completions`
    OpenAi,
}

/// One request.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub wire: Wire,
    /// Keyed by lower-case name.
    pub headers: HashMap<String, String>,
    pub body: Value,
    pub at: Instant,
}

/// One turn of the transcript that a request carries.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptTurn {
    User(String),
    Assistant { text: String, calls: Vec<Call> },
    Results(Vec<ToolAnswer>),
}

/// A tool call that the model made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub input: Value,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The call's id.
    pub id: String,
    pub text: String,
    /// Only Anthropic's protocol has this; otherwise false.
    pub is_error: bool,
}

impl ModelRequest {
    /// The system prompt.
    pub fn system(&self) -> String {
        match self.wire {
            Wire::Anthropic => words(&self.body["system"]),
            Wire::OpenAi => {
                let system = |message: &&Value| is_role(message, "system") || is_role(message, "developer");
                self.messages().filter(system).map(|message| words(&message["content"])).collect()
            }
        }
    }

    /// The names of the offered tools, in order.
    pub fn tools<'a>(&'a self) -> Vec<&'a str> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let name = move |tool: &'a Value| match self.wire {
            Wire::Anthropic => tool["name"].as_str(),
            Wire::OpenAi => tool["function"]["name"].as_str(),
        };
        tools.filter_map(name).collect()
    }

    pub fn offers(&self, tool: &str) -> bool {
        self.tools().contains(&tool)
    }

    /// The transcript, oldest first, without the system prompt.
    pub fn turns(&self) -> Vec<TranscriptTurn> {
        let mut turns = Vec::new();
        for message in self.messages() {
            match self.wire {
                Wire::Anthropic => anthropic_turns(message, &mut turns),
                Wire::OpenAi => openai_turns(message, &mut turns),
            }
        }
        turns
    }

    /// The user's messages, oldest first.
    pub fn said(&self) -> Vec<String> {
        let said = self.turns().into_iter().filter_map(|turn| match turn {
            TranscriptTurn::User(text) => Some(text),
            _ => None,
        });
        said.collect()
    }

    /// The results of the previous reply's tool calls.
    pub fn answers(&self) -> Vec<ToolAnswer> {
        let mut turns = self.turns();
        match (turns.pop(), turns.pop()) {
            (Some(TranscriptTurn::Results(answers)), _)
            | (Some(TranscriptTurn::User(_)), Some(TranscriptTurn::Results(answers))) => answers,
            _ => Vec::new(),
        }
    }

    /// The number of replies since the last user message.
    pub fn replies_since_the_user(&self) -> usize {
        let turns = self.turns();
        let after = turns.iter().rev().take_while(|turn| !matches!(turn, TranscriptTurn::User(_)));
        after.filter(|turn| matches!(turn, TranscriptTurn::Assistant { .. })).count()
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.body["messages"].as_array().into_iter().flatten()
    }
}

fn is_role(message: &Value, role: &str) -> bool {
    message["role"] == role
}

/// The text of a content, which is a string or a list of parts.
pub(super) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn anthropic_turns(message: &Value, turns: &mut Vec<TranscriptTurn>) {
    let content = &message["content"];
    let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let of_type = |kind: &'static str| parts.iter().filter(move |part| part["type"] == kind);
    if is_role(message, "assistant") {
        let calls = of_type("tool_use").map(|part| Call {
            id: text_of(&part["id"]),
            name: text_of(&part["name"]),
            input: part["input"].clone(),
        });
        turns.push(TranscriptTurn::Assistant { text: words(content), calls: calls.collect() });
        return;
    }
    let answers = of_type("tool_result").map(|part| ToolAnswer {
        id: text_of(&part["tool_use_id"]),
        text: words(&part["content"]),
        is_error: part["is_error"] == true,
    });
    let answers: Vec<ToolAnswer> = answers.collect();
    if !answers.is_empty() {
        turns.push(TranscriptTurn::Results(answers));
    }
    let text = words(content);
    if !text.is_empty() {
        turns.push(TranscriptTurn::User(text));
    }
}

fn openai_turns(message: &Value, turns: &mut Vec<TranscriptTurn>) {
    let content = &message["content"];
    match message["role"].as_str() {
        Some("user") => turns.push(TranscriptTurn::User(words(content))),
        Some("assistant") => {
            let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
                let arguments = text_of(&call["function"]["arguments"]);
                Call {
                    id: text_of(&call["id"]),
                    name: text_of(&call["function"]["name"]),
                    input: serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)),
                }
            });
            turns.push(TranscriptTurn::Assistant { text: words(content), calls: calls.collect() });
        }
        Some("tool") => {
            let answer = ToolAnswer { id: text_of(&message["tool_call_id"]), text: words(content), is_error: false };
            match turns.last_mut() {
                Some(TranscriptTurn::Results(answers)) => answers.push(answer),
                _ => turns.push(TranscriptTurn::Results(vec![answer])),
            }
        }
        _ => {}
    }
}
