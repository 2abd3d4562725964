//! A static model: the vectors of a text's tokens are averaged. No network is computed, so thousands of texts are
//! embedded in a second.
//!
//! The folder has the layout of model2vec: `model.safetensors` with one row per token, optionally a weight for each
//! token and a map from tokens to rows, and `tokenizer.json`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use docent_search::{Embedder, Role};
use docent_types::BoxError;
use rayon::prelude::*;

use crate::error::ModelError;
use crate::local::{Threads, model_id, normalize, owned};
use crate::tokens::{SpecialTokens, Tokens};
use crate::weights::{Table, WeightsFile};

/// Maximum number of tokens of a text. An average over more becomes less and less specific.
const MAX_TOKENS: usize = 512;
/// Names of the tensor with the token vectors, the usual name first.
const TABLE_NAMES: [&str; 4] = ["embeddings", "embedding.weight", "embeddings.weight", "0"];

/// A loaded static model.
pub struct StaticModel {
    id: String,
    threads: Threads,
    inner: Arc<Inner>,
}

struct Inner {
    tokens: Tokens,
    table: Table,
    /// The weight of each token id; `None` if all have the same weight.
    weights: Option<Vec<f32>>,
    /// The row of each token id; `None` if the row is the id.
    rows: Option<Vec<usize>>,
    unknown: Option<u32>,
}

impl StaticModel {
    /// Reads a model's folder. Blocks.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let file = WeightsFile::read(&folder.join("model.safetensors"))?;
        let (tokens, tokenizer) = Tokens::read(&crate::tokens::tokenizer_path(folder), MAX_TOKENS)?;
        let tensors = file.tensors()?;
        let name = TABLE_NAMES.iter().find(|name| tensors.has(name)).ok_or_else(|| {
            tensors.unusable(format!(
                "it has no table of tokens: none of its tensors is called {}",
                TABLE_NAMES.join(", ")
            ))
        })?;
        let table = tensors.table(name)?;
        let count = tokens.vocabulary();
        let weights = tensors.has("weights").then(|| tensors.numbers("weights", &[count])).transpose()?;
        let rows = tensors.has("mapping").then(|| tensors.indices("mapping", count, table.rows())).transpose()?;
        if rows.is_none() && table.rows() < count {
            return Err(tensors.unusable(format!("it has {} rows for the tokeniser's {count} tokens", table.rows())));
        }
        let unknown = tokens.unknown();
        let id = model_id("static", &[file.bytes(), &tokenizer]);
        Ok(Self { id, threads: Threads::new(), inner: Arc::new(Inner { tokens, table, weights, rows, unknown }) })
    }
}

impl Inner {
    fn vector(&self, text: &str) -> Result<Vec<f32>, BoxError> {
        let mut sum = vec![0.0; self.table.width()];
        for token in
            self.tokens.of(text, SpecialTokens::Omitted)?.into_iter().filter(|token| Some(*token) != self.unknown)
        {
            let token = token as usize;
            let row = self.rows.as_ref().map_or(Some(token), |rows| rows.get(token).copied());
            let weight = self.weights.as_ref().map_or(Some(1.0), |weights| weights.get(token).copied());
            let (Some(row), Some(weight)) = (row, weight) else { continue };
            for (sum, number) in sum.iter_mut().zip(self.table.row(row)) {
                *sum += weight * number;
            }
        }
        normalize(&mut sum);
        Ok(sum)
    }
}

#[async_trait]
impl Embedder for StaticModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.inner.table.width()
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        if role == Role::Question {
            // Microseconds: not worth another thread.
            return texts.iter().map(|text| self.inner.vector(text)).collect();
        }
        let (inner, texts) = (Arc::clone(&self.inner), owned(texts));
        self.threads.for_passages(move || texts.par_iter().map(|text| inner.vector(text)).collect()).await?
    }
}

impl fmt::Debug for StaticModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticModel").field("id", &self.id).field("dimensions", &self.dimensions()).finish()
    }
}
