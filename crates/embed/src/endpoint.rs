//! Embeddings from a server: `POST {base}/embeddings`, the API of OpenAI and many others.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use docent_http_client::{BaseUrl, Client, Secret, SendError};
use docent_search::{Embedder, Role};
use docent_types::BoxError;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use serde::{Deserialize, Serialize};

/// Maximum number of texts in a request.
const MAX_BATCH_TEXTS: usize = 64;
/// Maximum bytes of a text that are sent: about the 512 tokens that embedding models usually read. Some servers refuse
/// longer texts instead of truncating them.
const MAX_TEXT_BYTES: usize = 2_000;
/// Maximum bytes of an answer. 64 vectors of 8,192 decimal numbers take less.
const MAX_ANSWER_BYTES: usize = 32 << 20;
/// Maximum length of a vector.
const MAX_DIMENSIONS: usize = 8_192;
/// Maximum bytes of the server's own message that an error repeats.
const MAX_MESSAGE_BYTES: usize = 300;

/// Which server to request embeddings from, and how.
#[derive(Debug, Clone)]
pub struct EndpointOptions {
    /// The address without `/embeddings`, for example `https://api.openai.com/v1`.
    pub base_url: String,
    /// The server's name for the model.
    pub model: String,
    /// `None` for servers without keys.
    pub key: Option<Secret>,
    /// Requested from the server if given; otherwise the model determines the length of the vectors.
    pub dimensions: Option<usize>,
}

/// Why a request for embeddings failed.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("`{0}` is not a base URL: write https://HOST or http://HOST, optionally with a port and a path")]
    Base(String),
    /// A retry may help if the source says so.
    #[error("could not request embeddings from {base}")]
    Unsent {
        base: String,
        #[source]
        source: SendError,
    },
    #[error("{base} does not accept the key for embeddings ({status}{message})")]
    Key { base: String, status: StatusCode, message: String },
    /// Trying again later helps.
    #[error("{base} is overloaded ({status}{message})")]
    Busy { base: String, status: StatusCode, message: String },
    #[error("{base} refuses to embed with the model `{model}` ({status}{message})")]
    Refused { base: String, model: String, status: StatusCode, message: String },
    #[error("the answer of {base} is not a list of embeddings: {problem}")]
    Unreadable { base: String, problem: String },
}

/// An embedder that sends texts to a server.
pub struct EmbeddingsEndpoint {
    client: Client,
    options: EndpointOptions,
    base: String,
    uri: Uri,
    id: String,
    /// The configured length of vectors, otherwise that of the first answer; 0 before the first answer.
    dimensions: AtomicUsize,
}

#[derive(Serialize)]
struct Body<'t> {
    model: &'t str,
    input: Vec<&'t str>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl EmbeddingsEndpoint {
    pub fn new(client: Client, options: EndpointOptions) -> Result<Self, EndpointError> {
        let base = options.base_url.trim().trim_end_matches('/').trim_end_matches("/embeddings").to_owned();
        let without_credentials = base.rsplit_once('@').map_or(base.as_str(), |(_, host)| host);
        let unusable = || EndpointError::Base(without_credentials.to_owned());
        let url = BaseUrl::parse(&format!("{base}/embeddings")).map_err(|_| unusable())?;
        let length = options.dimensions.map_or_else(String::new, |dimensions| format!(":{dimensions}"));
        let id = format!("endpoint:{base}:{}{length}", options.model);
        let dimensions = AtomicUsize::new(options.dimensions.unwrap_or(0));
        Ok(Self { client, options, base, uri: url.uri().clone(), id, dimensions })
    }

    async fn request_embeddings(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EndpointError> {
        let cut = |text: &&'_ str| -> usize { text.floor_char_boundary(MAX_TEXT_BYTES) };
        let input = texts.iter().map(|text| &text[..cut(text)]).collect();
        let (model, dimensions) = (self.options.model.as_str(), self.options.dimensions);
        let body = Body { model, input, encoding_format: "float", dimensions };
        let body = serde_json::to_vec(&body).map_err(|error| self.unreadable(error.to_string()))?;
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(&self.uri);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.options.key {
            request.headers_mut().insert(AUTHORIZATION, key.bearer());
        }
        let unsent = |source| EndpointError::Unsent { base: self.base.clone(), source };
        let answer = self.client.send(request).await.map_err(unsent)?;
        let status = answer.status();
        let bytes = answer.bytes(MAX_ANSWER_BYTES).await.map_err(unsent)?;
        if !status.is_success() {
            return Err(self.refused(status, &bytes));
        }
        self.read(&bytes, texts.len())
    }

    /// The vectors of an answer, in the order of the texts.
    fn read(&self, bytes: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, EndpointError> {
        let answer: Answer = serde_json::from_slice(bytes).map_err(|error| self.unreadable(error.to_string()))?;
        let expected = self.dimensions.load(Ordering::Relaxed);
        let length = match answer.data.first() {
            Some(first) if expected == 0 => first.embedding.len(),
            _ => expected,
        };
        let mut vectors = vec![Vec::new(); texts];
        let count = answer.data.len();
        for (position, item) in answer.data.into_iter().enumerate() {
            let vector = item.embedding;
            if vector.len() != length || !(1..=MAX_DIMENSIONS).contains(&length) {
                return Err(self.unreadable(format!("a vector has {} numbers, not {length}", vector.len())));
            }
            match vectors.get_mut(item.index.unwrap_or(position)) {
                Some(free) if free.is_empty() => *free = normalized(vector),
                _ => return Err(self.unreadable("it numbers its vectors otherwise than the texts".to_owned())),
            }
        }
        if count != texts {
            return Err(self.unreadable(format!("it has {count} vectors for {texts} texts")));
        }
        self.dimensions.store(length, Ordering::Relaxed);
        Ok(vectors)
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> EndpointError {
        let (base, message) = (self.base.clone(), self.message(body));
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => EndpointError::Key { base, status, message },
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                EndpointError::Busy { base, status, message }
            }
            status if status.is_server_error() => EndpointError::Busy { base, status, message },
            status => EndpointError::Refused { base, model: self.options.model.clone(), status, message },
        }
    }

    /// The server's error message, shortened and with the key removed.
    fn message(&self, body: &[u8]) -> String {
        let json: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let message = [&json["error"]["message"], &json["error"], &json["message"], &json["detail"]];
        let Some(message) = message.iter().find_map(|message| message.as_str()) else { return String::new() };
        let message = match &self.options.key {
            Some(key) => key.scrub(message),
            None => message.to_owned(),
        };
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        format!(": {}", &message[..message.floor_char_boundary(MAX_MESSAGE_BYTES)])
    }

    fn unreadable(&self, problem: String) -> EndpointError {
        EndpointError::Unreadable { base: self.base.clone(), problem }
    }
}

fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    match length > 0.0 && length.is_finite() {
        true => vector.iter_mut().for_each(|number| *number /= length),
        false => vector.fill(0.0),
    }
    vector
}

#[async_trait]
impl Embedder for EmbeddingsEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions.load(Ordering::Relaxed)
    }

    async fn embed(&self, texts: &[&str], _role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        // Servers refuse empty texts, each with another error. They are not sent; their vectors are zeros, added once
        // the length of the vectors is known.
        let non_empty: Vec<usize> = (0..texts.len()).filter(|at| !texts[*at].trim().is_empty()).collect();
        let mut vectors = vec![Vec::new(); texts.len()];
        for chunk in non_empty.chunks(MAX_BATCH_TEXTS) {
            let batch: Vec<&str> = chunk.iter().map(|at| texts[*at]).collect();
            let found = self.request_embeddings(&batch).await?;
            for (at, vector) in chunk.iter().zip(found) {
                vectors[*at] = vector;
            }
        }
        let length = self.dimensions();
        vectors.iter_mut().filter(|vector| vector.is_empty()).for_each(|vector| vector.resize(length, 0.0));
        Ok(vectors)
    }
}

impl fmt::Debug for EmbeddingsEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingsEndpoint").field("id", &self.id).field("dimensions", &self.dimensions()).finish()
    }
}
