//! An embeddings server whose vectors the test defines, and which can be set to answer late, never, or with an error.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};

use crate::http_server::{AfterAnswer, Connection, Received, listen};

/// Maps a text to its vector.
type Meaning = dyn Fn(&str) -> Vec<f32> + Send + Sync;

/// A running server with `POST /v1/embeddings`. It ends with the process.
#[derive(Debug, Clone)]
pub struct EmbeddingServer {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    meaning: Box<Meaning>,
    asked: Mutex<Asked>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct Asked {
    texts: Vec<String>,
    answers: Answers,
}

/// How the server answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Answers {
    #[default]
    AtOnce,
    /// After this delay.
    Late(Duration),
    /// Not until the mode changes.
    Held,
    WithAnError,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl EmbeddingServer {
    /// A server on a free port.
    pub fn start(meaning: impl Fn(&str) -> Vec<f32> + Send + Sync + 'static) -> Self {
        let state = Arc::new(State { meaning: Box::new(meaning), asked: Mutex::default(), released: Condvar::new() });
        let shared = Arc::clone(&state);
        let address = listen(0, Arc::new(move |received, connection| serve(&received, connection, &shared)));
        Self { address, state }
    }

    /// The environment variables that make Docent embed with this server.
    pub fn configures(&self) -> Vec<(String, String)> {
        [
            ("EMBEDDER", "openai".to_owned()),
            ("MODEL", "scripted-1".to_owned()),
            ("BASE_URL", format!("http://{}/v1", self.address)),
        ]
        .map(|(key, value)| (format!("DOCENT_SEARCH__{key}"), value))
        .to_vec()
    }

    /// Answers no request until [`release`](Self::release).
    pub fn hold(&self) {
        self.set(Answers::Held);
    }

    /// Answers all waiting requests, and every later request at once.
    pub fn release(&self) {
        self.set(Answers::AtOnce);
    }

    /// Delays every answer from now on, like a distant server.
    pub fn delay(&self, delay: Duration) {
        self.set(Answers::Late(delay));
    }

    /// Answers 500 from now on.
    pub fn fail(&self) {
        self.set(Answers::WithAnError);
    }

    fn set(&self, answers: Answers) {
        self.state.asked.lock().answers = answers;
        self.state.released.notify_all();
    }

    /// How often exactly this text was sent.
    pub fn times_asked(&self, text: &str) -> usize {
        self.state.asked.lock().texts.iter().filter(|asked| *asked == text).count()
    }
}

fn serve(received: &Received, connection: &mut Connection, state: &State) -> std::io::Result<AfterAnswer> {
    let body: Value = serde_json::from_slice(&received.body).unwrap_or_default();
    let texts = body["input"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let texts: Vec<String> = texts.map(str::to_owned).collect();
    let mut asked = state.asked.lock();
    asked.texts.extend(texts.iter().cloned());
    state.released.wait_while(&mut asked, |asked| asked.answers == Answers::Held);
    let answers = asked.answers;
    drop(asked);
    match answers {
        Answers::AtOnce | Answers::Held => {}
        Answers::Late(delay) => std::thread::sleep(delay),
        Answers::WithAnError => return connection.answer(500, &[], b"out of order"),
    }
    let vector = |(at, text): (usize, &String)| json!({ "index": at, "embedding": (state.meaning)(text) });
    let data: Vec<Value> = texts.iter().enumerate().map(vector).collect();
    let headers = [("Content-Type", "application/json".to_owned())];
    connection.answer(200, &headers, json!({ "data": data }).to_string().as_bytes())
}
