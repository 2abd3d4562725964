//! Converts text to tokens with the model's own `tokenizer.json`.

use std::path::{Path, PathBuf};

use docent_types::BoxError;
use tokenizers::{Tokenizer, TruncationParams};

use crate::error::ModelError;
use crate::folder::read_file;

const LARGEST_FILE: u64 = 256 << 20;

/// Maximum bytes of a text that are tokenised, per token of the limit. A token has about four bytes; without this limit
/// a whole megabyte would be tokenised to keep its first hundred tokens.
const BYTES_A_TOKEN: usize = 24;

pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    most: usize,
}

impl Tokens {
    /// Reads the tokeniser; returns it with the bytes of its file. Texts are truncated to at most `most` tokens, or to
    /// the tokeniser's own limit if that is lower. Special tokens count.
    pub(crate) fn read(path: &Path, most: usize) -> Result<(Self, Vec<u8>), ModelError> {
        let bytes = read_file(path, LARGEST_FILE)?;
        let tokens = Self::parse(path, &bytes, most)?;
        Ok((tokens, bytes))
    }

    pub(crate) fn parse(path: &Path, bytes: &[u8], most: usize) -> Result<Self, ModelError> {
        let unusable = |error: BoxError| ModelError::unusable(path, format!("it is not a tokeniser ({error})"));
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(unusable)?;
        tokenizer.with_padding(None);
        // A model works well up to the length it was trained on, which is the limit in its tokeniser.
        let own = tokenizer.get_truncation().map(|cut| cut.max_length).filter(|own| *own > 2);
        let most = own.map_or(most, |own| own.min(most));
        let cut = TruncationParams { max_length: most, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut)).map_err(unusable)?;
        Ok(Self { tokenizer, most })
    }

    /// The tokens of a text, with or without the special tokens at its beginning and end according to `marks`.
    pub(crate) fn of(&self, text: &str, marks: SpecialTokens) -> Result<Vec<u32>, BoxError> {
        let text = &text[..text.floor_char_boundary(self.most.saturating_mul(BYTES_A_TOKEN))];
        let encoding = self.tokenizer.encode_fast(text, matches!(marks, SpecialTokens::Kept))?;
        let mut tokens = encoding.get_ids().to_vec();
        tokens.truncate(self.most);
        Ok(tokens)
    }

    /// The highest token id plus one.
    pub(crate) fn vocabulary(&self) -> usize {
        let numbers = self.tokenizer.get_vocab(true).into_values();
        numbers.max().map_or(0, |greatest| greatest as usize + 1)
    }

    /// The id of the token for unknown words, if the tokeniser has one.
    pub(crate) fn unknown(&self) -> Option<u32> {
        ["[UNK]", "<unk>", "<UNK>"].iter().find_map(|name| self.tokenizer.token_to_id(name))
    }
}

/// Whether to add the special tokens that mark a text's beginning and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecialTokens {
    Kept,
    LeftOut,
}

/// The path of the tokeniser in a model's folder.
pub(crate) fn file(folder: &Path) -> PathBuf {
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
