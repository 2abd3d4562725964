//! Models small enough to be defined in code: a vocabulary of twenty words, and weights computed by a formula.

use std::fs;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "transformer")]
use docent_search::Role;
use docent_search::{Embedder, conformance};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::StaticModel;
#[cfg(feature = "transformer")]
use crate::Transformer;

const WORDS: [&str; 24] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "how", "to", "rotate", "a", "key", "the", "weather", "in", "mountains",
    "changes", "within", "minutes", ".", "deliveries", "are", "signed", "word", "x", "##x", "0",
];

/// A file of weights: name, shape, numbers.
fn safetensors(tensors: &[(String, Vec<usize>, Vec<f32>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape, numbers) in tensors {
        let start = data.len();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        header.insert(name.clone(), json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]}));
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

/// Pseudo-random numbers that look like weights, the same each time.
fn weights(seed: usize, count: usize, size: f32) -> Vec<f32> {
    let mut state = seed as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| size * next()).collect()
}

fn tokenizer(folder: &Path) {
    let vocabulary: Value = WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
    let special = |id: usize| json!({"id": WORDS[id], "ids": [id], "tokens": [WORDS[id]]});
    let mark = |id: usize| json!({"SpecialToken": {"id": WORDS[id], "type_id": 0}});
    let file = json!({
        "version": "1.0",
        "truncation": {"max_length": 12, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [mark(2), {"Sequence": {"id": "A", "type_id": 0}}, mark(3)],
            "pair": [mark(2), {"Sequence": {"id": "A", "type_id": 0}}, mark(3), {"Sequence": {"id": "B", "type_id": 1}}, mark(3)],
            "special_tokens": {"[CLS]": special(2), "[SEP]": special(3)}},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    fs::write(folder.join("tokenizer.json"), file.to_string()).expect("written");
}

fn static_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    tokenizer(folder.path());
    let table = ("embeddings".to_owned(), vec![WORDS.len(), 16], weights(1, WORDS.len() * 16, 1.0));
    fs::write(folder.path().join("model.safetensors"), safetensors(&[table])).expect("written");
    folder
}

#[test]
fn a_static_model_is_an_embedder() {
    let folder = static_folder();
    block_on(conformance::run(Arc::new(StaticModel::load(folder.path()).expect("a model"))));
}

#[test]
fn a_folder_that_lacks_something_says_what() {
    let folder = static_folder();
    let problem = || StaticModel::load(folder.path()).expect_err("unusable").to_string();
    fs::write(folder.path().join("tokenizer.json"), "{}").expect("written");
    assert!(problem().contains("not a tokeniser"), "{}", problem());
    fs::remove_file(folder.path().join("tokenizer.json")).expect("removed");
    assert!(problem().contains("could not read"), "{}", problem());
    tokenizer(folder.path());
    let few = ("embeddings".to_owned(), vec![3, 2], vec![1.0; 6]);
    fs::write(folder.path().join("model.safetensors"), safetensors(&[few])).expect("written");
    assert!(problem().contains("3 rows for the tokeniser's 24 tokens"), "{}", problem());
    fs::write(folder.path().join("model.safetensors"), safetensors(&[])).expect("written");
    assert!(problem().contains("no table of tokens"), "{}", problem());
}

#[cfg(feature = "transformer")]
const WIDE: usize = 32;
#[cfg(feature = "transformer")]
const INNER: usize = 64;

#[cfg(feature = "transformer")]
fn transformer_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    tokenizer(folder.path());
    let config = json!({
        "model_type": "bert", "hidden_size": WIDE, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": INNER, "max_position_embeddings": 24, "type_vocab_size": 2, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
    });
    fs::write(folder.path().join("config.json"), config.to_string()).expect("written");
    fs::write(folder.path().join("model.safetensors"), safetensors(&transformer_tensors())).expect("written");
    folder
}

#[cfg(feature = "transformer")]
fn transformer_tensors() -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    let mut add = |name: String, shape: &[usize]| {
        let count = shape.iter().product();
        let numbers = match name.ends_with("LayerNorm.weight") {
            true => vec![1.0; count],
            false => weights(name.len() * 31 + count, count, 0.3),
        };
        tensors.push((name, shape.to_vec(), numbers));
    };
    for (name, rows) in [("word_embeddings", WORDS.len()), ("position_embeddings", 24), ("token_type_embeddings", 2)] {
        add(format!("embeddings.{name}.weight"), &[rows, WIDE]);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in 0..2 {
        let layer = format!("encoder.layer.{layer}");
        for (name, outputs, inputs) in [
            ("attention.self.query", WIDE, WIDE),
            ("attention.self.key", WIDE, WIDE),
            ("attention.self.value", WIDE, WIDE),
            ("attention.output.dense", WIDE, WIDE),
            ("intermediate.dense", INNER, WIDE),
            ("output.dense", WIDE, INNER),
        ] {
            add(format!("{layer}.{name}.weight"), &[outputs, inputs]);
            add(format!("{layer}.{name}.bias"), &[outputs]);
        }
        norms.extend([format!("{layer}.attention.output.LayerNorm"), format!("{layer}.output.LayerNorm")]);
    }
    for norm in norms {
        add(format!("{norm}.weight"), &[WIDE]);
        add(format!("{norm}.bias"), &[WIDE]);
    }
    tensors
}

#[cfg(feature = "transformer")]
#[test]
fn a_transformer_is_an_embedder() {
    let folder = transformer_folder();
    block_on(conformance::run(Arc::new(Transformer::load(folder.path()).expect("a model"))));
}

#[cfg(feature = "transformer")]
#[test]
fn a_transformer_in_eight_bits_says_what_one_in_full_says() {
    let folder = transformer_folder();
    let model = Transformer::load(folder.path()).expect("a model");
    // [CLS] how to rotate a key [SEP], and one that is cut to twelve tokens.
    for (text, tokens) in [
        ("How to rotate a key", &[2, 4, 5, 6, 7, 8, 3][..]),
        ("the key the key the key the key the key the key the key", &[2, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 3]),
    ] {
        let quick = block_on(model.embed(&[text], Role::Passage)).expect("a vector").remove(0);
        let similarity: f32 = quick.iter().zip(&plainly(tokens)).map(|(a, b)| a * b).sum();
        assert!(similarity > 0.99, "{text}: {similarity}");
    }
}

/// A plain reference implementation of the same model.
#[cfg(feature = "transformer")]
fn plainly(tokens: &[usize]) -> Vec<f32> {
    let all = transformer_tensors();
    let of = |name: &str| &all.iter().find(|(known, ..)| known == name).expect("a tensor").2;
    let row = |name: &str, row: usize| &of(&format!("embeddings.{name}.weight"))[row * WIDE..][..WIDE];
    let linear = |name: &str, x: &[f32]| -> Vec<f32> {
        let (weight, bias) = (of(&format!("{name}.weight")), of(&format!("{name}.bias")));
        let outputs = weight.chunks_exact(x.len()).zip(bias);
        outputs.map(|(row, bias)| row.iter().zip(x).map(|(a, b)| a * b).sum::<f32>() + bias).collect()
    };
    let norm = |name: &str, x: &[f32]| -> Vec<f32> {
        let mean = x.iter().sum::<f32>() / WIDE as f32;
        let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / WIDE as f32).sqrt();
        let bias = of(&format!("{name}.bias"));
        x.iter().zip(bias).map(|(x, bias)| (x - mean) / deviation + bias).collect()
    };
    let sum = |a: &[f32], b: &[f32]| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
    let gelu = |x: f32| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x.powi(3))).tanh());
    let mut x: Vec<Vec<f32>> = (0..)
        .zip(tokens)
        .map(|(at, token)| {
            sum(&sum(row("word_embeddings", *token), row("position_embeddings", at)), row("token_type_embeddings", 0))
        })
        .map(|x| norm("embeddings.LayerNorm", &x))
        .collect();
    for layer in 0..2 {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let project = |part: &str| -> Vec<Vec<f32>> { x.iter().map(|x| linear(&name(part), x)).collect() };
        let [query, key, value] = ["query", "key", "value"].map(|part| project(&format!("attention.self.{part}")));
        let mut attended = vec![vec![0.0; WIDE]; x.len()];
        for head in (0..WIDE).step_by(WIDE / 4) {
            let part = head..head + WIDE / 4;
            for (query, out) in query.iter().zip(&mut attended) {
                let fit = key.iter().map(|key| {
                    let dot: f32 = query[part.clone()].iter().zip(&key[part.clone()]).map(|(a, b)| a * b).sum();
                    (dot / (WIDE as f32 / 4.0).sqrt()).exp()
                });
                let fit: Vec<f32> = fit.collect();
                let all: f32 = fit.iter().sum();
                for (fit, value) in fit.iter().zip(&value) {
                    part.clone().for_each(|at| out[at] += fit / all * value[at]);
                }
            }
        }
        for (x, attended) in x.iter_mut().zip(&attended) {
            let y =
                norm(&name("attention.output.LayerNorm"), &sum(x, &linear(&name("attention.output.dense"), attended)));
            let inner: Vec<f32> = linear(&name("intermediate.dense"), &y).into_iter().map(gelu).collect();
            *x = norm(&name("output.LayerNorm"), &sum(&y, &linear(&name("output.dense"), &inner)));
        }
    }
    let mut mean = vec![0.0; WIDE];
    x.iter().for_each(|x| mean = sum(&mean, x));
    let length = mean.iter().map(|n| n * n).sum::<f32>().sqrt();
    mean.iter().map(|n| n / length).collect()
}

#[cfg(feature = "transformer")]
#[test]
fn a_model_of_another_kind_or_with_wrong_numbers_says_so() {
    let folder = transformer_folder();
    let path = folder.path().join("config.json");
    let config: Value = serde_json::from_slice(&fs::read(&path).expect("read")).expect("JSON");
    for (key, value, sentence) in [
        ("model_type", json!("roberta"), "only `bert` is supported"),
        ("hidden_size", json!(33), "cannot be shared among 4 heads"),
        ("hidden_size", json!(16), "not [24, 16]"),
        ("num_hidden_layers", json!(3), "no tensor `encoder.layer.2"),
        ("num_hidden_layers", json!(u32::MAX), "num_hidden_layers"),
        ("hidden_act", json!("swish"), "`swish` is not supported"),
        ("position_embedding_type", json!("relative_key"), "absolute"),
        ("max_position_embeddings", json!(null), "configuration of a BERT model"),
    ] {
        let mut config = config.clone();
        config[key] = value;
        fs::write(&path, config.to_string()).expect("written");
        let problem = Transformer::load(folder.path()).expect_err(sentence).to_string();
        assert!(problem.contains(sentence) || problem.contains("and its layers 16"), "{problem}");
    }
}
