//! Constructs the configured embedder.

use std::sync::Arc;
use std::time::Instant;

use docent_embed::{EmbeddingsEndpoint, EndpointOptions, ModelFolder, Questions, Waits};
use docent_http_client::{Client, ClientOptions};
use docent_search::{Embedder, Role};

use crate::config::{EmbeddingsConfig, SearchConfig};
use crate::failure::Failure;

/// The configured embedder; `None` for search by words only. Reads the model's files, which blocks for about a second.
pub(crate) fn open(config: &SearchConfig, waits: Waits) -> Result<Option<Arc<Questions>>, Failure> {
    let embedder = match config {
        SearchConfig::Words => return Ok(None),
        SearchConfig::Static(place) => local::fixed(place),
        SearchConfig::Transformer(place) => local::transformer(place),
        SearchConfig::Endpoint(config) => endpoint(config),
    };
    Ok(Some(Arc::new(Questions::new(embedder?, waits))))
}

fn endpoint(config: &EmbeddingsConfig) -> Result<Arc<dyn Embedder>, Failure> {
    let client = Client::new(ClientOptions::default());
    let key = config.key.as_ref().map(docent_http_client::SecretSource::read).transpose();
    let options = EndpointOptions {
        base_url: config.base_url.clone(),
        model: config.model.clone(),
        key: key.map_err(|error| Failure::new("cannot use `search.api_key_env`", error))?,
        dimensions: config.dimensions,
    };
    let made = EmbeddingsEndpoint::new(client, options);
    Ok(Arc::new(made.map_err(|error| Failure::new("cannot use `search.base_url`", error))?))
}

/// The outcome of embedding a question.
#[derive(Debug)]
pub(crate) struct EmbedderCheck {
    pub(crate) said: String,
    /// The configured waits that are shorter than the embedding took, for example `KEY (300 ms)`: those questions are
    /// answered by words only.
    pub(crate) exceeded_waits: Vec<String>,
}

/// Embeds a short text, and describes the result.
pub(crate) async fn check(embedder: &Questions) -> Result<EmbedderCheck, Failure> {
    let ask = || embedder.embed(&["How do I begin?"], Role::Question);
    let failed = |error| Failure::new("the embedder of `[search]` does not work", error);
    // The first call starts threads or opens connections.
    ask().await.map_err(failed)?;
    let began = Instant::now();
    ask().await.map_err(failed)?;
    let took = began.elapsed();
    let millis = took.as_secs_f64() * 1000.0;
    let Waits { assistant, search_box } = embedder.waits();
    let limits = [("search.assistant_wait_ms", assistant), ("search.endpoint_wait_ms", search_box)];
    let slow = limits.into_iter().filter(|(_, limit)| took > *limit);
    Ok(EmbedderCheck {
        said: format!("vectors of {} dimensions, {millis:.1} ms a question", embedder.dimensions()),
        exceeded_waits: slow.map(|(key, limit)| format!("`{key}` ({} ms)", limit.as_millis())).collect(),
    })
}

#[cfg(feature = "embed")]
mod local {
    use docent_embed::{ModelError, StaticModel, Transformer, hub_cache};

    use super::{Arc, Embedder, Failure, ModelFolder};

    pub(super) fn fixed(place: &ModelFolder) -> Result<Arc<dyn Embedder>, Failure> {
        let loaded = folder(place).and_then(|folder| StaticModel::load(&folder));
        Ok(Arc::new(loaded.map_err(failed)?))
    }

    pub(super) fn transformer(place: &ModelFolder) -> Result<Arc<dyn Embedder>, Failure> {
        let loaded = folder(place).and_then(|folder| Transformer::load(&folder));
        Ok(Arc::new(loaded.map_err(failed)?))
    }

    fn folder(place: &ModelFolder) -> Result<std::path::PathBuf, ModelError> {
        place.folder(&hub_cache(|name| std::env::var(name).ok()))
    }

    fn failed(error: ModelError) -> Failure {
        Failure::new("cannot use the model of `[search]`", error)
    }
}

#[cfg(not(feature = "embed"))]
mod local {
    use super::{Arc, Embedder, Failure, ModelFolder};

    pub(super) fn fixed(_: &ModelFolder) -> Result<Arc<dyn Embedder>, Failure> {
        Err(not_built())
    }

    pub(super) fn transformer(_: &ModelFolder) -> Result<Arc<dyn Embedder>, Failure> {
        Err(not_built())
    }

    fn not_built() -> Failure {
        Failure::plain(
            "`search.embedder` names a model on this machine, and this docent was built without them; build it with \
             `--features embed`, or use `openai` with a server that embeds",
        )
    }
}
