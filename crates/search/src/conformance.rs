//! The tests that every embedder must pass, and an embedder without a model for tests.
//!
//! [`run`] checks one property of an embedder after another, and panics at the first that does not hold.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use async_trait::async_trait;
use docent_types::BoxError;

use crate::embedder::{Embedder, Role};

/// Runs all checks.
pub async fn run(embedder: Arc<dyn Embedder>) {
    let embedder = &*embedder;
    vectors_have_length_one_and_the_dimensions_that_are_told(embedder).await;
    vectors_come_in_the_order_of_their_texts(embedder).await;
    a_text_gives_the_same_vector_in_any_company(embedder).await;
    odd_texts_are_taken(embedder).await;
    no_texts_give_no_vectors(embedder).await;
}

const TEXTS: [&str; 3] =
    ["How to rotate a key", "The weather in the mountains changes within minutes.", "Deliveries are signed"];

async fn vectors(embedder: &dyn Embedder, texts: &[&str], role: Role) -> Vec<Vec<f32>> {
    let vectors = embedder.embed(texts, role).await.expect("vectors");
    assert_eq!(vectors.len(), texts.len(), "one vector a text");
    vectors
}

fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

async fn vectors_have_length_one_and_the_dimensions_that_are_told(embedder: &dyn Embedder) {
    for role in [Role::Question, Role::Passage] {
        for vector in vectors(embedder, &TEXTS, role).await {
            assert!((similarity(&vector, &vector) - 1.0).abs() < 1e-3, "length one");
            assert_eq!(vector.len(), embedder.dimensions());
        }
    }
    assert!(!embedder.id().is_empty());
}

async fn vectors_come_in_the_order_of_their_texts(embedder: &dyn Embedder) {
    // Of different lengths, and more than fit into one batch.
    let texts: Vec<String> = (0..70).map(|n| format!("{} {n}", "word ".repeat(1 + (n * 7) % 23))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = vectors(embedder, &texts, Role::Passage).await;
    for at in [0, 1, 33, 69] {
        let alone = vectors(embedder, &texts[at..=at], Role::Passage).await;
        assert!(similarity(&alone[0], &together[at]) > 0.999, "the vector of text {at} is not where the text was");
    }
}

async fn a_text_gives_the_same_vector_in_any_company(embedder: &dyn Embedder) {
    let first = vectors(embedder, &TEXTS, Role::Passage).await;
    assert_eq!(vectors(embedder, &TEXTS, Role::Passage).await, first, "asked again");
    let [a, b, c] = TEXTS;
    let turned = vectors(embedder, &[c, b, a], Role::Passage).await;
    for (vector, other) in first.iter().zip(turned.iter().rev()) {
        assert!(similarity(vector, other) > 0.999, "asked in another order");
    }
    assert!(similarity(&first[0], &first[1]) < 0.999, "different texts have different vectors");
}

async fn odd_texts_are_taken(embedder: &dyn Embedder) {
    let (long, unbroken) = ("a long text goes on and on ".repeat(4_000), "x".repeat(100_000));
    let odd = ["", " \n\t", "\u{0}\u{feff}\u{202e}", "?!()[]{}", "日本語のドキュメント", "🦀👩‍👩‍👧‍👦", &long, &unbroken];
    for role in [Role::Question, Role::Passage] {
        for (vector, text) in vectors(embedder, &odd, role).await.iter().zip(odd) {
            let length = similarity(vector, vector);
            let start: String = text.chars().take(10).collect();
            assert!(length.abs() < 1e-3 || (length - 1.0).abs() < 1e-3, "{start:?} has the length {length}");
            assert_eq!(vector.len(), embedder.dimensions(), "{start:?}");
        }
    }
}

async fn no_texts_give_no_vectors(embedder: &dyn Embedder) {
    assert!(vectors(embedder, &[], Role::Passage).await.is_empty());
}

/// An embedder without a model: texts are similar when they share words. Its vectors are the same in every process.
#[derive(Debug, Clone)]
pub struct Twin {
    id: String,
}

impl Twin {
    const DIMENSIONS: usize = 64;

    /// Vectors of twins with different names are not compared with each other.
    pub fn named(name: &str) -> Self {
        Self { id: format!("twin:{name}") }
    }
}

#[async_trait]
impl Embedder for Twin {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        Self::DIMENSIONS
    }

    async fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        Ok(texts.iter().map(|text| shared_words(text)).collect())
    }
}

fn shared_words(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; Twin::DIMENSIONS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut hasher = DefaultHasher::new();
        word.to_lowercase().hash(&mut hasher);
        let hash = hasher.finish();
        let sign = if hash & 1 == 0 { 1.0 } else { -1.0 };
        vector[(hash >> 1) as usize % Twin::DIMENSIONS] += sign;
    }
    let length = similarity(&vector, &vector).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twin_is_an_embedder() {
        futures::executor::block_on(run(Arc::new(Twin::named("a"))));
    }
}
