//! Text to tokens, as the model's own `tokenizer.json` says.

use std::path::{Path, PathBuf};

use docent_types::BoxError;
use tokenizers::{Tokenizer, TruncationParams};

use crate::error::ModelError;
use crate::folder::read_file;

const LARGEST_FILE: u64 = 256 << 20;

/// The bytes of a text that are looked at for each token wanted. Tokens have about four; without a limit a megabyte would be
/// cut to tokens to keep the first hundred.
const BYTES_A_TOKEN: usize = 24;

pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    most: usize,
}

impl Tokens {
    /// Reads the tokeniser. Texts are cut to at most `most` tokens, or to what the tokeniser is set to when that is less;
    /// those that mark a text's ends are counted.
    pub(crate) fn read(path: &Path, most: usize) -> Result<(Self, Vec<u8>), ModelError> {
        let bytes = read_file(path, LARGEST_FILE)?;
        let tokens = Self::parse(path, &bytes, most)?;
        Ok((tokens, bytes))
    }

    pub(crate) fn parse(path: &Path, bytes: &[u8], most: usize) -> Result<Self, ModelError> {
        let unusable = |error: BoxError| ModelError::unusable(path, format!("it is not a tokeniser ({error})"));
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(unusable)?;
        tokenizer.with_padding(None);
        // Models read well as much as they were trained on, which is what theirs is set to.
        let own = tokenizer.get_truncation().map(|cut| cut.max_length).filter(|own| *own > 2);
        let most = own.map_or(most, |own| own.min(most));
        let cut = TruncationParams { max_length: most, ..TruncationParams::default() };
        tokenizer.with_truncation(Some(cut)).map_err(unusable)?;
        Ok(Self { tokenizer, most })
    }

    /// The tokens of a text, with those that mark its beginning and end according to `marks`.
    pub(crate) fn of(&self, text: &str, marks: SpecialTokens) -> Result<Vec<u32>, BoxError> {
        let text = &text[..text.floor_char_boundary(self.most.saturating_mul(BYTES_A_TOKEN))];
        let encoding = self.tokenizer.encode_fast(text, matches!(marks, SpecialTokens::Kept))?;
        let mut tokens = encoding.get_ids().to_vec();
        tokens.truncate(self.most);
        Ok(tokens)
    }

    /// One more than the greatest number a token has.
    pub(crate) fn vocabulary(&self) -> usize {
        let numbers = self.tokenizer.get_vocab(true).into_values();
        numbers.max().map_or(0, |greatest| greatest as usize + 1)
    }

    /// The token for what the tokeniser does not know.
    pub(crate) fn unknown(&self) -> Option<u32> {
        ["[UNK]", "<unk>", "<UNK>"].iter().find_map(|name| self.tokenizer.token_to_id(name))
    }
}

/// Whether the tokens that mark a text's beginning and end are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecialTokens {
    Kept,
    LeftOut,
}

/// Where a model keeps its tokeniser.
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
