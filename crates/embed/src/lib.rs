//! Embedders: implementations of the `docent-search` port to models that turn text into vectors.
//!
//! | embedder | what it is | feature |
//! |---|---|---|
//! | [`EmbeddingsEndpoint`] | a server that speaks OpenAI's `POST {base}/embeddings` | always |
//! | `StaticModel` | a vector for each token, averaged: thousands of texts a second | `static` |
//! | `Transformer` | a BERT sentence model: tens of texts a second per core, a question in a few ms | `transformer` |
//!
//! Local models are read from a folder, or looked up by name in the cache of the Hugging Face hub ([`ModelFolder`]);
//! nothing is ever downloaded. Files are validated when they are loaded: a damaged or unsupported file is an error that
//! names the file.
//!
//! [`Questions`] caches the vectors of questions for any of them, and limits how long a question waits for its vector.
//!
//! This crate does not know what is embedded and why, and never retries.

mod endpoint;
mod error;
mod folder;
#[cfg(feature = "static")]
mod local;
mod questions;
#[cfg(feature = "static")]
mod static_model;
#[cfg(feature = "static")]
mod tokens;
#[cfg(feature = "transformer")]
mod transformer;
#[cfg(feature = "static")]
mod weights;

#[cfg(test)]
mod tests;

pub use endpoint::{EmbeddingsEndpoint, EndpointError, EndpointOptions};
pub use error::ModelError;
pub use folder::{ModelFolder, hub_cache};
pub use questions::{QuestionCounts, QuestionError, Questions, Waits};
#[cfg(feature = "static")]
pub use static_model::StaticModel;
#[cfg(feature = "transformer")]
pub use transformer::Transformer;
