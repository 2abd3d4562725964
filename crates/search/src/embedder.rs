//! The port to a model that turns text into vectors.

use std::fmt;

use async_trait::async_trait;
use docent_types::BoxError;

/// Turns text into vectors, so that passages are found by what they mean where words differ. Everything works without one.
///
/// [`conformance`](crate::conformance) is what every implementation must pass.
#[async_trait]
pub trait Embedder: Send + Sync + fmt::Debug + 'static {
    /// Names the model and all else that makes its vectors what they are. Vectors of two names are never compared: when
    /// the name changes, every section is embedded anew.
    fn id(&self) -> &str;

    /// How many numbers a vector has; 0 as long as that is not known, which it is after the first answer.
    fn dimensions(&self) -> usize;

    /// One vector of length one for each text, in their order; all zeros for a text that holds nothing to embed. The same
    /// text gives the same vector, whatever stands beside it. Texts of any length are taken: of a long one, what the
    /// model reads.
    ///
    /// # Errors
    /// When any of them could not be made. A question is then answered by words alone, and sections are left for the
    /// next time.
    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError>;

    /// The vector of one question. An embedder may keep those of earlier questions, and decide by who asks how long it is
    /// waited for.
    ///
    /// # Errors
    /// When it could not be made in time; the question is then answered by words alone.
    async fn question(&self, text: &str, _asker: Asker) -> Result<Vec<f32>, BoxError> {
        self.embed(&[text], Role::Question).await?.pop().ok_or_else(|| "the embedder gave no vector".into())
    }

    /// Hears of a question that words alone answer, as too few sections have vectors yet.
    fn passed_over(&self) {}
}

/// Who waits for what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asker {
    /// A reply that is being written: it takes seconds as it is.
    #[default]
    Assistant,
    /// Somebody who types and watches what comes up.
    SearchBox,
    /// Somebody who measures or looks into search, and waits for the best there is.
    Operator,
}

/// What a text is: some models treat questions and what may answer them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Question,
    Passage,
}
