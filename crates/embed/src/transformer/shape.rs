//! The dimensions of a model, from its `config.json`.

use std::path::Path;

use serde::Deserialize;

use crate::error::ModelError;

/// The dimensions of a BERT model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// Length of a token's vector between layers, and of the final vector.
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    /// Length of a token's vector inside the feed-forward part of a layer.
    pub(crate) intermediate: usize,
    /// Number of positions, which is the maximum number of tokens of a text.
    pub(crate) positions: usize,
    /// Number of token types that the model was trained with; only the first is used.
    pub(crate) token_types: usize,
    pub(crate) activation: Activation,
    pub(crate) epsilon: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    Gelu,
    GeluTanh,
    Relu,
}

#[derive(Deserialize)]
struct Config {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "one")]
    type_vocab_size: usize,
    #[serde(default)]
    hidden_act: Option<String>,
    #[serde(default)]
    layer_norm_eps: Option<f32>,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn one() -> usize {
    1
}

impl Shape {
    pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Self, ModelError> {
        let unusable = |problem: String| ModelError::unusable(path, problem);
        let config: Config = serde_json::from_slice(text)
            .map_err(|error| unusable(format!("it is not the configuration of a BERT model ({error})")))?;
        if config.model_type != "bert" {
            return Err(unusable(format!("its model_type is `{}`; only `bert` is supported", config.model_type)));
        }
        if config.position_embedding_type.as_deref().is_some_and(|kind| kind != "absolute") {
            return Err(unusable("its positions are not absolute ones".to_owned()));
        }
        let activation = match config.hidden_act.as_deref() {
            None | Some("gelu") => Activation::Gelu,
            Some("gelu_new" | "gelu_pytorch_tanh" | "gelu_fast") => Activation::GeluTanh,
            Some("relu") => Activation::Relu,
            Some(other) => return Err(unusable(format!("its hidden_act `{other}` is not supported"))),
        };
        let shape = Self {
            hidden: config.hidden_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            intermediate: config.intermediate_size,
            positions: config.max_position_embeddings,
            token_types: config.type_vocab_size,
            activation,
            epsilon: config.layer_norm_eps.unwrap_or(1e-12),
        };
        shape.check().map_err(unusable)
    }

    /// Checks bounds far beyond any small model, so that a wrong number ends in an error message and not in an
    /// overflow.
    fn check(self) -> Result<Self, String> {
        let within = [
            ("hidden_size", self.hidden, 1..=16_384),
            ("num_hidden_layers", self.layers, 1..=256),
            ("num_attention_heads", self.heads, 1..=1_024),
            ("intermediate_size", self.intermediate, 1..=65_536),
            ("max_position_embeddings", self.positions, 3..=65_536),
            ("type_vocab_size", self.token_types, 1..=1_024),
        ];
        for (name, value, range) in within {
            if !range.contains(&value) {
                return Err(format!("its {name} of {value} is not within {} and {}", range.start(), range.end()));
            }
        }
        if !self.hidden.is_multiple_of(self.heads) {
            return Err(format!("its {} numbers cannot be shared among {} heads", self.hidden, self.heads));
        }
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            return Err("its layer_norm_eps is not a small number".to_owned());
        }
        Ok(self)
    }
}
