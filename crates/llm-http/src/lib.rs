//! The model port over HTTP, in two protocols: Anthropic Messages, and the chat completions of OpenAI and many others.
//!
//! | model | asks | for |
//! |---|---|---|
//! | [`Anthropic`] | `POST {base}/v1/messages` | Anthropic and compatible servers |
//! | [`OpenAi`] | `POST {base}/chat/completions` | OpenAI, vLLM, llama.cpp, Ollama, LM Studio, OpenRouter, LiteLLM, … |
//!
//! Both stream, both call tools, and both are built from an [`Endpoint`] and a shared
//! [`Client`](docent_http_client::Client). Dropping the stream of a call closes its connection, which is how those
//! servers detect a cancelled call. Nothing is retried here: a failure is classified as a
//! [`ModelErrorKind`](docent_llm::ModelErrorKind), and the caller decides.
//!
//! | what happens | kind |
//! |---|---|
//! | 429 | `RateLimited`, with the delay that the server names |
//! | no connection, no head in time, 408, 5xx, 529, an `overloaded_error` in the stream | `Overloaded`, with the delay if named |
//! | a stream that breaks off, falls silent, ends too early or cannot be read | `Interrupted` |
//! | 413, or a 400 about the length of the context | `ContextTooLong` |
//! | 401, 403, an account without credit or quota | `Auth`, with what to check |
//! | the model or a filter refuses, at the start or in the middle | `Refused` |
//! | everything else: no such model, a web page instead of a reply, an untrusted certificate | `Fatal` |
//!
//! A reply that was refused in the middle is an error and not an early end: discard what was received; the same request
//! would be refused again.
//!
//! If a server does not count tokens, the usage of a reply is zero.
//!
//! An error's sentence is written by this crate; its source may be the server's message, shortened and with the key
//! redacted.
//!
//! | file | does |
//! |---|---|
//! | `endpoint.rs` | a model's address, limits and options |
//! | `anthropic/`, `openai/` | one protocol each: requests and replies, both without IO |
//! | `sse.rs`, `decoder.rs` | bytes to frames to events, independent of how the bytes are split; without IO |
//! | `transcript.rs`, `input.rs` | shared by both protocols: turns; inputs and ids of tool calls |
//! | `exchange.rs` | the IO: one request, one reply |
//! | `call_failure.rs` | classifies failures |

mod anthropic;
mod call_failure;
mod decoder;
mod endpoint;
mod exchange;
mod input;
mod openai;
mod sse;
mod transcript;

#[cfg(test)]
mod tests;

pub use anthropic::Anthropic;
pub use endpoint::{Endpoint, EndpointError};
pub use openai::{Dialect, OpenAi, TokenLimit};
