//! Errors of loading a model.

use std::io;
use std::path::PathBuf;

/// Why a model's files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The configured folder does not exist.
    #[error("no model is at {}; a folder with model.safetensors, tokenizer.json and config.json is needed", .0.display())]
    NoFolder(PathBuf),
    /// The model was given by its name and is not in the local cache.
    #[error(
        "the model `{name}` is not in the cache at {}; download it there (for instance with `hf download {name}`) or give its folder as a path",
        cache.display()
    )]
    NotCached { name: String, cache: PathBuf },
    /// The name is not a valid model name.
    #[error("`{0}` is not a model's name; names look like `organisation/model`")]
    BadName(String),
    #[error("could not read {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file is too large, invalid or not supported.
    #[error("{} cannot be used: {problem}", path.display())]
    Unusable { path: PathBuf, problem: String },
}

#[cfg(feature = "static")]
impl ModelError {
    pub(crate) fn unusable(path: impl Into<PathBuf>, problem: impl Into<String>) -> Self {
        Self::Unusable { path: path.into(), problem: problem.into() }
    }
}
