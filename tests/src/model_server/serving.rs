//! Serves one request after the other: checks it as the services do, and replies with the script.

use std::collections::HashMap;
use std::io;
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::anthropic::Counted;
use super::asked::{ModelRequest, Wire};
use super::frames::{Frame, Frames};
use super::reply::{ErrorBody, Refusal, Reply};
use super::{KEY, State, anthropic, openai};
use crate::http_server::{AfterAnswer, Connection, Received};

pub(super) fn serve(received: Received, connection: &mut Connection, state: &Mutex<State>) -> io::Result<AfterAnswer> {
    let path = received.target.split('?').next().unwrap_or_default();
    let wire = match (received.method.as_str(), path) {
        ("POST", "/v1/messages") => Wire::Anthropic,
        ("POST", "/v1/chat/completions") => Wire::OpenAi,
        ("GET", "/v1/models") => return models(&received.headers, connection),
        _ => {
            let body = openai::told("not_found_error", "Not found");
            return connection.answer(404, &as_json(), body.to_string().as_bytes());
        }
    };
    let id = {
        let mut state = state.lock();
        state.served += 1;
        format!("01{:020}", state.served)
    };
    let body = serde_json::from_slice(&received.body).unwrap_or_default();
    let asked = ModelRequest { wire, headers: received.headers, body, at: Instant::now() };
    let mut exchange = Exchange { wire, id, connection };
    if !has_key(wire, &asked.headers) {
        return exchange.refuse(&Refusal { status: 401, retry_after: None, why: ErrorBody::Usual });
    }
    if let Some(fault) = fault(&asked) {
        state.lock().faults.push(fault.clone());
        return exchange.find_fault(&fault);
    }
    let reply = next_reply(&asked, state);
    let body = asked.body.clone();
    keep(asked, state);
    if let Some(refusal) = &reply.refusal {
        return exchange.refuse(refusal);
    }
    let counted = count(&body, state);
    match exchange.answer(&reply, &body, counted) {
        Ok(Some(then)) => Ok(then),
        Ok(None) | Err(_) => {
            state.lock().hung_up += 1;
            Ok(AfterAnswer::HangUp)
        }
    }
}

fn fault(asked: &ModelRequest) -> Option<String> {
    match asked.wire {
        Wire::Anthropic => anthropic::fault(&asked.body, &asked.headers),
        Wire::OpenAi => openai::fault(&asked.body),
    }
}

fn next_reply(asked: &ModelRequest, state: &Mutex<State>) -> Reply {
    let brain = {
        let mut state = state.lock();
        match state.script.pop_front() {
            Some(reply) => return reply,
            None => state.brain.clone(),
        }
    };
    // When the script is empty, an error that clients do not retry.
    brain.map_or_else(|| Reply::fails(400), |brain| brain(asked))
}

fn keep(asked: ModelRequest, state: &Mutex<State>) {
    let mut state = state.lock();
    if state.keeps {
        state.requests.push(asked);
    }
}

fn count(body: &Value, state: &Mutex<State>) -> Counted {
    let mut state = state.lock();
    let counted = state.cache.count(body);
    state.read_from_cache.push(counted.read);
    counted
}

fn models(headers: &HashMap<String, String>, connection: &mut Connection) -> io::Result<AfterAnswer> {
    if !has_key(Wire::OpenAi, headers) && !has_key(Wire::Anthropic, headers) {
        let body = openai::told("invalid_request_error", "You didn't provide an API key.");
        return connection.answer(401, &as_json(), body.to_string().as_bytes());
    }
    let model = json!({ "id": "scripted-1", "object": "model", "type": "model", "display_name": "Scripted 1" });
    let body = json!({ "object": "list", "data": [model], "has_more": false });
    connection.answer(200, &as_json(), body.to_string().as_bytes())
}

fn has_key(wire: Wire, headers: &HashMap<String, String>) -> bool {
    let bears = headers.get("authorization").is_some_and(|given| given == &format!("Bearer {KEY}"));
    // Anthropic's newest clients send a bearer token too.
    bears || (wire == Wire::Anthropic && headers.get("x-api-key").is_some_and(|key| key == KEY))
}

fn as_json() -> [(&'static str, String); 1] {
    [("Content-Type", "application/json".to_owned())]
}

/// A request that is being answered.
struct Exchange<'a> {
    wire: Wire,
    id: String,
    connection: &'a mut Connection,
}

impl Exchange<'_> {
    fn headers(&self, content_type: &str) -> Vec<(&'static str, String)> {
        vec![("Content-Type", content_type.to_owned()), ("request-id", self.request_id())]
    }

    fn request_id(&self) -> String {
        format!("req_{}", self.id)
    }

    fn find_fault(&mut self, fault: &str) -> io::Result<AfterAnswer> {
        let body = match self.wire {
            Wire::Anthropic => anthropic::told("invalid_request_error", fault, &self.request_id()),
            Wire::OpenAi => openai::told("invalid_request_error", fault),
        };
        self.connection.answer(400, &self.headers("application/json"), body.to_string().as_bytes())
    }

    fn refuse(&mut self, refusal: &Refusal) -> io::Result<AfterAnswer> {
        let is_proxy = refusal.why == ErrorBody::Proxy;
        let mut headers = self.headers(if is_proxy { "text/html" } else { "application/json" });
        headers.extend(refusal.retry_after.iter().map(|after| ("Retry-After", after.clone())));
        let body = match self.wire {
            _ if is_proxy => "<html><h1>Bad gateway</h1></html>".to_owned(),
            Wire::Anthropic => anthropic::error(refusal, &self.request_id()).to_string(),
            Wire::OpenAi => openai::error(refusal).to_string(),
        };
        // Only Anthropic uses 529.
        let status = if refusal.status == 529 && self.wire == Wire::OpenAi { 503 } else { refusal.status };
        self.connection.answer(status, &headers, body.as_bytes())
    }

    /// Returns `None` if the client closed the connection.
    fn answer(&mut self, reply: &Reply, body: &Value, counted: Counted) -> io::Result<Option<AfterAnswer>> {
        let frames = match self.wire {
            Wire::Anthropic => anthropic::frames(reply, body, counted, &self.id),
            Wire::OpenAi => openai::frames(reply, body, counted.fresh + counted.read + counted.written, &self.id),
        };
        if body["stream"] == true {
            return self.stream(&frames);
        }
        let whole = match self.wire {
            Wire::Anthropic => anthropic::whole(frames.sent()),
            Wire::OpenAi => openai::whole(frames.sent()),
        };
        let headers = self.headers("application/json");
        self.connection.answer(200, &headers, whole.to_string().as_bytes()).map(Some)
    }

    /// Sends the frames with their pauses.
    fn stream(&mut self, frames: &Frames) -> io::Result<Option<AfterAnswer>> {
        let mut headers = self.headers("text/event-stream; charset=utf-8");
        headers.push(("Cache-Control", "no-cache".to_owned()));
        let connection = &mut *self.connection;
        connection.begin(200, &headers)?;
        for frame in &frames.list {
            match frame {
                Frame::Bytes(bytes) => connection.chunk(bytes)?,
                Frame::Pause(pause) => {
                    thread::sleep(*pause);
                    if connection.is_gone() {
                        return Ok(None);
                    }
                }
                Frame::Gate(gate) => {
                    if !gate.passed(|| connection.is_gone()) {
                        return Ok(None);
                    }
                }
                Frame::Cut => return Ok(Some(AfterAnswer::HangUp)),
                Frame::Silent => {
                    connection.outwait()?;
                    return Ok(None);
                }
                Frame::End => return connection.end().map(Some),
            }
        }
        connection.end().map(Some)
    }
}
