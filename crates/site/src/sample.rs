//! Small sites for tests.

use std::collections::BTreeMap;

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A tree from paths and texts.
pub(crate) fn site(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}
