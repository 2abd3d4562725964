//! The port to a model that turns text into vectors.

use std::fmt;

use async_trait::async_trait;
use docent_types::BoxError;

/// Turns text into vectors, so that passages are found by meaning where their words differ from the question's. Search
/// works without an embedder.
///
/// [`conformance`](crate::conformance) has the tests that every implementation must pass.
#[async_trait]
pub trait Embedder: Send + Sync + fmt::Debug + 'static {
    /// Identifies the model and everything else that determines its vectors. Vectors with different ids are never
    /// compared: when the id changes, every section is embedded again.
    fn id(&self) -> &str;

    /// The length of a vector; 0 until it is known, which it is after the first response.
    fn dimensions(&self) -> usize;

    /// One unit vector per text, in the order of the texts; all zeros for a text with nothing to embed. The same text
    /// gives the same vector, whatever else is in the batch. Texts may be of any length: of a long one, the part that
    /// the model reads counts.
    ///
    /// # Errors
    /// When any of the vectors could not be computed. A question is then answered by words alone, and sections are left
    /// for the next attempt.
    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError>;

    /// The vector of one question. An embedder may cache the vectors of earlier questions, and limit how long it waits
    /// depending on who asks.
    ///
    /// # Errors
    /// When it could not be computed in time; the question is then answered by words alone.
    async fn question(&self, text: &str, _asker: Asker) -> Result<Vec<f32>, BoxError> {
        self.embed(&[text], Role::Question).await?.pop().ok_or_else(|| "the embedder gave no vector".into())
    }

    /// Called for each question that is answered by words alone because too few sections have vectors yet.
    fn passed_over(&self) {}
}

/// Who is waiting for the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asker {
    /// An assistant that is writing a reply: that takes seconds anyway.
    #[default]
    Assistant,
    /// A person typing into a search box, who watches the results come up.
    SearchBox,
    /// A person who measures or debugs search, and waits for the best possible results.
    Operator,
}

/// The role of a text: some models treat questions and the passages that may answer them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Question,
    Passage,
}
