//! The forward pass of a BERT encoder.
//!
//! ```text
//! tokens ─▶ word + position + type ─▶ norm ─▶ layer × n ─▶ a vector a token
//!
//! layer:  x ─▶ query, key, value ─▶ attention ─▶ linear ─▶ + x ─▶ norm ─▶ y
//!         y ─▶ linear ─▶ activation ─▶ linear ─▶ + y ─▶ norm
//! ```
//!
//! The texts of a batch are concatenated without padding: every step of a layer except attention treats tokens
//! independently, and attention is computed text by text.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions};
use rten_simd::{SimdOp, SimdUnaryOp};
use rten_tensor::NdTensorView;
use rten_vecmath::{ApproxGelu, Gelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub};

use super::linear::{IntegerGemm, Linear, Scratch};
use super::shape::{Activation, Shape};
use crate::error::ModelError;
use crate::weights::{Table, Weights};

pub(crate) struct Bert {
    shape: Shape,
    words: Table,
    /// The position embeddings, one row per position, with the embedding of the first token type already added.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Layer {
    query_key_value: Linear,
    attended: Linear,
    attended_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

impl Bert {
    /// Loads the tensors by the names that BERT models are saved with, with or without the prefix `bert.`.
    pub(crate) fn load(weights: &Weights<'_>, shape: Shape) -> Result<Self, ModelError> {
        let prefix = if weights.has("bert.embeddings.word_embeddings.weight") { "bert." } else { "" };
        let hidden = shape.hidden;
        let words = weights.table(&format!("{prefix}embeddings.word_embeddings.weight"))?;
        if words.width() != hidden {
            return Err(weights.unusable(format!("its words have {} numbers, and its layers {hidden}", words.width())));
        }
        let embedding =
            |name: &str, rows| weights.numbers(&format!("{prefix}embeddings.{name}.weight"), &[rows, hidden]);
        let mut positions = embedding("position_embeddings", shape.positions)?;
        let token_type = embedding("token_type_embeddings", shape.token_types)?;
        for row in positions.chunks_exact_mut(hidden) {
            add(row, &token_type[..hidden]);
        }
        let integers = IntegerGemm::new();
        let layers = (0..shape.layers)
            .map(|layer| Layer::load(weights, &integers, &format!("{prefix}encoder.layer.{layer}"), &shape))
            .collect::<Result<_, _>>()?;
        let norm = Norm::load(weights, &format!("{prefix}embeddings.LayerNorm"), &shape)?;
        Ok(Self { shape, words, positions, norm, layers })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn vocabulary(&self) -> usize {
        self.words.rows()
    }

    /// The last layer's vector of each token, text after text. No text may have more tokens than the model has
    /// positions.
    pub(crate) fn encode(&self, texts: &[&[u32]]) -> Vec<f32> {
        let mut x = Vec::new();
        for tokens in texts {
            for (token, position) in tokens.iter().zip(self.positions.chunks_exact(self.shape.hidden)) {
                let word = self.words.row(*token as usize);
                x.extend(word.zip(position).map(|(word, position)| word + position));
            }
        }
        self.norm.apply(&mut x);
        let mut buffers = Buffers::new();
        for layer in &self.layers {
            layer.apply(self, texts, &mut x, &mut buffers);
        }
        x
    }

    /// Self-attention of one text. In every head, a token's output is the sum of the values of all tokens, weighted by
    /// how well its query matches their keys.
    fn attend(
        &self,
        floats: &GemmExecutor,
        tokens: usize,
        query_key_value: &[f32],
        scores: &mut Vec<f32>,
        head_out: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let hidden = self.shape.hidden;
        let head_width = hidden / self.shape.heads;
        let stride = 3 * hidden;
        scores.resize(tokens * tokens, 0.0);
        head_out.resize(tokens * head_width, 0.0);
        for start in (0..hidden).step_by(head_width) {
            // A view of the columns from `offset` on of each row of `query_key_value`; the part of the last row is
            // within the slice, too.
            let part = |offset: usize, shape: [usize; 2], strides: [usize; 2]| {
                NdTensorView::from_data_with_strides(shape, &query_key_value[offset..], strides)
                    .expect("a part of each row is within the rows")
            };
            let query = part(start, [tokens, head_width], [stride, 1]);
            let key = part(hidden + start, [head_width, tokens], [1, stride]);
            let value = part(2 * hidden + start, [tokens, head_width], [stride, 1]);
            let alpha = 1.0 / (head_width as f32).sqrt();
            let options = GemmOptions { alpha, ..GemmOptions::default() };
            let score_result = floats.gemm(scores, GemmInputA::Unpacked(query), GemmInputB::Unpacked(key), options);
            for row in scores.chunks_exact_mut(tokens) {
                Softmax::new_mut(row).dispatch();
            }
            let weights = NdTensorView::from_data([tokens, tokens], scores.as_slice());
            let head_result = floats.gemm(
                head_out,
                GemmInputA::Unpacked(weights),
                GemmInputB::Unpacked(value),
                GemmOptions::default(),
            );
            debug_assert!(
                score_result.is_ok() && head_result.is_ok(),
                "shapes are made from each other: {score_result:?} {head_result:?}"
            );
            for (row, from) in out.chunks_exact_mut(hidden).zip(head_out.chunks_exact(head_width)) {
                row[start..start + head_width].copy_from_slice(from);
            }
        }
    }
}

/// Multipliers and buffers that the layers use one after the other. Created for each batch, because a batch stays on
/// one thread.
struct Buffers {
    integers: IntegerGemm,
    floats: GemmExecutor,
    scratch: Scratch,
    query_key_value: Vec<f32>,
    attended: Vec<f32>,
    intermediate: Vec<f32>,
    out: Vec<f32>,
    scores: Vec<f32>,
    head: Vec<f32>,
}

impl Buffers {
    fn new() -> Self {
        Self {
            integers: IntegerGemm::new(),
            floats: GemmExecutor::new(),
            scratch: Scratch::default(),
            query_key_value: Vec::new(),
            attended: Vec::new(),
            intermediate: Vec::new(),
            out: Vec::new(),
            scores: Vec::new(),
            head: Vec::new(),
        }
    }
}

impl Layer {
    fn load(weights: &Weights<'_>, integers: &IntegerGemm, prefix: &str, shape: &Shape) -> Result<Self, ModelError> {
        let (hidden, intermediate) = (shape.hidden, shape.intermediate);
        let matrix =
            |name: &str, outputs, inputs| weights.numbers(&format!("{prefix}.{name}.weight"), &[outputs, inputs]);
        let bias = |name: &str, outputs| weights.numbers(&format!("{prefix}.{name}.bias"), &[outputs]);
        let linear = |name: &str, outputs, inputs| {
            Ok::<_, ModelError>(Linear::new(integers, &matrix(name, outputs, inputs)?, bias(name, outputs)?))
        };
        let (mut all_weights, mut all_bias) = (Vec::new(), Vec::new());
        for name in ["attention.self.query", "attention.self.key", "attention.self.value"] {
            all_weights.extend(matrix(name, hidden, hidden)?);
            all_bias.extend(bias(name, hidden)?);
        }
        Ok(Self {
            query_key_value: Linear::new(integers, &all_weights, all_bias),
            attended: linear("attention.output.dense", hidden, hidden)?,
            attended_norm: Norm::load(weights, &format!("{prefix}.attention.output.LayerNorm"), shape)?,
            up: linear("intermediate.dense", intermediate, hidden)?,
            down: linear("output.dense", hidden, intermediate)?,
            norm: Norm::load(weights, &format!("{prefix}.output.LayerNorm"), shape)?,
        })
    }

    fn apply(&self, bert: &Bert, texts: &[&[u32]], x: &mut [f32], buffers: &mut Buffers) {
        let Buffers { integers, floats, scratch, query_key_value, attended, intermediate, out, scores, head } = buffers;
        let hidden = bert.shape.hidden;
        self.query_key_value.apply(integers, x, scratch, query_key_value);
        attended.resize(x.len(), 0.0);
        let mut first = 0;
        for tokens in texts.iter().map(|text| text.len()) {
            let rows = first..first + tokens;
            bert.attend(
                floats,
                tokens,
                &query_key_value[rows.start * 3 * hidden..rows.end * 3 * hidden],
                scores,
                head,
                &mut attended[rows.start * hidden..rows.end * hidden],
            );
            first = rows.end;
        }
        self.attended.apply(integers, attended, scratch, out);
        add(x, out);
        self.attended_norm.apply(x);
        self.up.apply(integers, x, scratch, intermediate);
        match bert.shape.activation {
            Activation::Gelu => Gelu {}.map_mut(intermediate),
            Activation::GeluTanh => ApproxGelu {}.map_mut(intermediate),
            Activation::Relu => intermediate.iter_mut().for_each(|value| *value = value.max(0.0)),
        }
        self.down.apply(integers, intermediate, scratch, out);
        add(x, out);
        self.norm.apply(x);
    }
}

/// Layer normalisation: brings each row to mean 0 and variance 1, then applies the learnt scale and bias.
struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

impl Norm {
    fn load(weights: &Weights<'_>, prefix: &str, shape: &Shape) -> Result<Self, ModelError> {
        // Models converted from the first BERT releases name these tensors `gamma` and `beta`.
        let of = |new: &str, old: &str| {
            let name = if weights.has(&format!("{prefix}.{new}")) { new } else { old };
            weights.numbers(&format!("{prefix}.{name}"), &[shape.hidden])
        };
        Ok(Self { scale: of("weight", "gamma")?, bias: of("bias", "beta")?, epsilon: shape.epsilon })
    }

    fn apply(&self, x: &mut [f32]) {
        let width = self.scale.len();
        for row in x.chunks_exact_mut(width) {
            let mean = Sum::new(row).dispatch() / width as f32;
            let variance = SumSquareSub::new(row, mean).dispatch() / width as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: 1.0 / (variance + self.epsilon).sqrt(),
                element_scale: Some(&self.scale),
                element_bias: Some(&self.bias),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
