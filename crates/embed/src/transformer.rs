//! A small sentence model of the BERT family, such as all-MiniLM-L6-v2, on the CPU.
//!
//! | file | does |
//! |---|---|
//! | `shape.rs` | the dimensions, from `config.json` |
//! | `linear.rs` | multiplication by weights, in eight-bit integers |
//! | `bert.rs` | the forward pass: a vector for each token |
//! | this one | tokenising, batching, and pooling to one vector per text |
//!
//! A question is computed on one core, so that it takes no time from other work; passages are computed on all cores, in
//! batches of texts of similar length.

mod bert;
mod linear;
mod shape;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use docent_search::{Embedder, Role};
use docent_types::BoxError;
use rayon::prelude::*;
use serde::Deserialize;

use self::bert::Bert;
use self::shape::Shape;
use crate::error::ModelError;
use crate::folder::read_file;
use crate::local::{Threads, model_id, normalize, owned};
use crate::tokens::{SpecialTokens, Tokens};
use crate::weights::WeightsFile;

/// Maximum size of a configuration file, 1 MiB.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Maximum number of tokens of a text, even if the model allows more: a section says at its beginning what it is about,
/// and the time grows with the square of the length.
const MAX_TOKENS: usize = 256;
/// Maximum number of tokens in a batch, so that intermediate results stay in the CPU cache.
const MAX_BATCH_TOKENS: usize = 256;

/// Version of the arithmetic, a part of the model id. It is incremented when the same model gives other vectors than
/// before.
const ARITHMETIC_VERSION: &[u8] = b"2";

/// A loaded sentence model.
pub struct Transformer {
    id: String,
    threads: Threads,
    inner: Arc<Inner>,
}

struct Inner {
    bert: Bert,
    tokens: Tokens,
    pooling: Pooling,
    prompts: Prompts,
}

/// How the vectors of a text's tokens are combined into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Mean,
    First,
}

/// Prefixes for texts, for models that were trained with prefixes.
#[derive(Debug, Default, Deserialize)]
struct Prompts {
    #[serde(default)]
    query: String,
    #[serde(default, alias = "document")]
    passage: String,
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

#[derive(Deserialize)]
struct SentencesFile {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct PromptsFile {
    #[serde(default)]
    prompts: Prompts,
}

impl Transformer {
    /// Reads a model's folder: `config.json`, `model.safetensors` and `tokenizer.json`, and the optional files of a
    /// sentence model for pooling, maximum length and prompts. Blocks, for about a second.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        let config_path = folder.join("config.json");
        let config = read_file(&config_path, MAX_CONFIG_BYTES)?;
        let shape = Shape::parse(&config_path, &config)?;
        let pooling = match optional::<PoolingFile>(&folder.join("1_Pooling/config.json"))? {
            None => Pooling::Mean,
            Some(file) if file.pooling_mode_cls_token => Pooling::First,
            Some(file) if file.pooling_mode_mean_tokens => Pooling::Mean,
            Some(_) => {
                let problem = "only pooling by mean and by the first token is supported";
                return Err(ModelError::unusable(folder.join("1_Pooling/config.json"), problem));
            }
        };
        let sentences = optional::<SentencesFile>(&folder.join("sentence_bert_config.json"))?;
        let length = sentences.and_then(|file| file.max_seq_length).unwrap_or(MAX_TOKENS);
        let max_tokens = length.min(MAX_TOKENS).min(shape.positions).max(3);
        let prompts = optional::<PromptsFile>(&folder.join("config_sentence_transformers.json"))?;
        let prompts = prompts.map(|file| file.prompts).unwrap_or_default();
        let weights = WeightsFile::read(&folder.join("model.safetensors"))?;
        let (tokens, tokenizer) = Tokens::read(&crate::tokens::tokenizer_path(folder), max_tokens)?;
        let tensors = weights.tensors()?;
        let bert = Bert::load(&tensors, shape)?;
        if bert.vocabulary() < tokens.vocabulary() {
            let (rows, count) = (bert.vocabulary(), tokens.vocabulary());
            return Err(tensors.unusable(format!("it has {rows} words for the tokeniser's {count} tokens")));
        }
        let settings = format!("{pooling:?} {max_tokens} {prompts:?}");
        let id =
            model_id("transformer", &[ARITHMETIC_VERSION, weights.bytes(), &tokenizer, &config, settings.as_bytes()]);
        let inner = Arc::new(Inner { bert, tokens, pooling, prompts });
        Ok(Self { id, threads: Threads::new(), inner })
    }
}

/// Parses an optional file: `None` if it is missing, an error if it is invalid.
fn optional<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, ModelError> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = read_file(path, MAX_CONFIG_BYTES)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| ModelError::unusable(path, error.to_string()))
}

impl Inner {
    fn embed(&self, texts: &[String], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        let prompt = match role {
            Role::Question => &self.prompts.query,
            Role::Passage => &self.prompts.passage,
        };
        let tokens: Vec<Vec<u32>> = texts
            .par_iter()
            .map(|text| match prompt.is_empty() {
                true => self.tokens.of(text, SpecialTokens::Added),
                false => self.tokens.of(&format!("{prompt}{text}"), SpecialTokens::Added),
            })
            .collect::<Result<_, _>>()?;
        let batches = batches(&tokens);
        let embedded: Vec<Vec<(usize, Vec<f32>)>> =
            batches.par_iter().map(|batch| self.batch(&tokens, batch)).collect();
        let mut vectors = vec![Vec::new(); texts.len()];
        for (text, vector) in embedded.into_iter().flatten() {
            vectors[text] = vector;
        }
        Ok(vectors)
    }

    /// The vectors of the texts in a batch, each with the text's index.
    fn batch(&self, tokens: &[Vec<u32>], batch: &[usize]) -> Vec<(usize, Vec<f32>)> {
        let texts: Vec<&[u32]> = batch.iter().map(|text| tokens[*text].as_slice()).collect();
        let encoded = self.bert.encode(&texts);
        let width = self.bert.shape().hidden;
        let mut rest = encoded.as_slice();
        let pooled = batch.iter().zip(&texts).map(|(text, tokens)| {
            let (rows, remaining) = rest.split_at(tokens.len() * width);
            rest = remaining;
            (*text, self.pool(rows, width))
        });
        pooled.collect()
    }

    fn pool(&self, rows: &[f32], width: usize) -> Vec<f32> {
        let mut vector = vec![0.0; width];
        let pooled_rows = match self.pooling {
            Pooling::Mean => rows,
            Pooling::First => rows.get(..width).unwrap_or_default(),
        };
        for row in pooled_rows.chunks_exact(width) {
            vector.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
        normalize(&mut vector);
        vector
    }
}

/// Groups texts of similar length into batches, so that threads that begin together end together.
fn batches(tokens: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    // The longest first, so that the last batches are short.
    order.sort_by_key(|text| std::cmp::Reverse(tokens[*text].len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for text in order {
        let length = tokens[text].len();
        match batches.last_mut().filter(|_| length <= room) {
            Some(batch) => batch.push(text),
            None => {
                batches.push(vec![text]);
                room = MAX_BATCH_TOKENS;
            }
        }
        room = room.saturating_sub(length);
    }
    batches
}

#[async_trait]
impl Embedder for Transformer {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.inner.bert.shape().hidden
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        let (inner, texts) = (Arc::clone(&self.inner), owned(texts));
        let work = move || inner.embed(&texts, role);
        match role {
            Role::Question => self.threads.for_question(work).await?,
            Role::Passage => self.threads.for_passages(work).await?,
        }
    }
}

impl fmt::Debug for Transformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformer").field("id", &self.id).field("shape", self.inner.bert.shape()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_like_length_go_together_and_none_is_left_out() {
        let tokens: Vec<Vec<u32>> = [10, 256, 100, 20, 100, 0].iter().map(|length| vec![1; *length]).collect();
        assert_eq!(batches(&tokens), [vec![1], vec![2, 4, 3, 0, 5]]);
        assert_eq!(batches(&[]), Vec::<Vec<usize>>::new());
    }
}
