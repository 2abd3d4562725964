//! Converts text to tokens with the model's own `tokenizer.json`.

use std::path::{Path, PathBuf};

use docent_types::BoxError;
use tokenizers::{Tokenizer, TruncationParams};

use crate::error::ModelError;
use crate::folder::read_file;

const MAX_FILE_BYTES: u64 = 256 << 20;

/// Maximum bytes of a text that are tokenised, per token of the limit. A token has about four bytes; without this limit
/// a whole megabyte would be tokenised to keep its first hundred tokens.
const MAX_BYTES_PER_TOKEN: usize = 24;

pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

impl Tokens {
    /// Reads the tokeniser; returns it with the bytes of its file. Texts are truncated to at most `max_tokens` tokens,
    /// or to the tokeniser's own limit if that is lower. Special tokens count.
    pub(crate) fn read(path: &Path, max_tokens: usize) -> Result<(Self, Vec<u8>), ModelError> {
        let bytes = read_file(path, MAX_FILE_BYTES)?;
        let tokens = Self::parse(path, &bytes, max_tokens)?;
        Ok((tokens, bytes))
    }

    pub(crate) fn parse(path: &Path, bytes: &[u8], max_tokens: usize) -> Result<Self, ModelError> {
        let unusable = |error: BoxError| ModelError::unusable(path, format!("it is not a tokeniser ({error})"));
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(unusable)?;
        tokenizer.with_padding(None);
        // A model works well up to the length it was trained on, which is the limit in its tokeniser.
        let trained_limit =
            tokenizer.get_truncation().map(|truncation| truncation.max_length).filter(|limit| *limit > 2);
        let max_tokens = trained_limit.map_or(max_tokens, |limit| limit.min(max_tokens));
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(truncation)).map_err(unusable)?;
        Ok(Self { tokenizer, max_tokens })
    }

    /// The tokens of a text, with or without the special tokens at its beginning and end.
    pub(crate) fn of(&self, text: &str, special_tokens: SpecialTokens) -> Result<Vec<u32>, BoxError> {
        let text = &text[..text.floor_char_boundary(self.max_tokens.saturating_mul(MAX_BYTES_PER_TOKEN))];
        let encoding = self.tokenizer.encode_fast(text, matches!(special_tokens, SpecialTokens::Added))?;
        let mut tokens = encoding.get_ids().to_vec();
        tokens.truncate(self.max_tokens);
        Ok(tokens)
    }

    /// The highest token id plus one.
    pub(crate) fn vocabulary(&self) -> usize {
        let numbers = self.tokenizer.get_vocab(true).into_values();
        numbers.max().map_or(0, |highest| highest as usize + 1)
    }

    /// The id of the token for unknown words, if the tokeniser has one.
    pub(crate) fn unknown(&self) -> Option<u32> {
        ["[UNK]", "<unk>", "<UNK>"].iter().find_map(|name| self.tokenizer.token_to_id(name))
    }
}

/// Whether to add the special tokens that mark a text's beginning and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecialTokens {
    Added,
    Omitted,
}

/// The path of the tokeniser in a model's folder.
pub(crate) fn tokenizer_path(folder: &Path) -> PathBuf {
    folder.join("tokenizer.json")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Tokens::parse(Path::new("tokenizer.json"), &bytes, 8).is_err());
        }
    }
}
