//! Decodes the bytes of a file.

use std::borrow::Cow;

/// Decodes bytes as text of the same length: each byte that is not valid UTF-8 becomes `?`, so that every span of a
/// [`Page`](crate::Page) is also a range of the bytes.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                text.extend(chunk.invalid().iter().map(|_| '?'));
            }
            Cow::Owned(text)
        }
    }
}

/// The length of the byte order mark at the beginning of a text.
pub fn bom_length(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Defines a static regular expression that is compiled on first use.
#[macro_export]
macro_rules! regex {
    ($vis:vis $name:ident, $pattern:expr) => {
        $vis static $name: ::std::sync::LazyLock<::regex::Regex> =
            ::std::sync::LazyLock::new(|| ::regex::Regex::new($pattern).expect("the pattern is written out above"));
    };
}

/// Whether bytes are binary or in another encoding: they begin with a UTF-16 byte order mark, or more than an eighth of
/// their first 64 KiB is NUL or invalid UTF-8.
pub fn is_binary(bytes: &[u8]) -> bool {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let sample = &bytes[..bytes.len().min(64 << 10)];
    let nulls = sample.iter().filter(|byte| **byte == 0).count();
    let invalid: usize = sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    nulls + invalid > sample.len() / 8
}
