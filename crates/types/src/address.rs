//! Paths of pages in addresses.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stands for itself in a path and in an anchor. Parentheses, which may too, would end a Markdown link.
const PLAIN: AsciiSet = NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A path or an anchor as it is written in an address, percent-encoded.
pub fn encoded_path(path: &str) -> Cow<'_, str> {
    utf8_percent_encode(path, &PLAIN).into()
}

/// What [`encoded_path`] encoded. Text that is not the encoding of UTF-8 is returned unchanged.
pub fn decoded_path(written: &str) -> Cow<'_, str> {
    percent_decode_str(written).decode_utf8().unwrap_or(Cow::Borrowed(written))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_written_in_ascii_and_ends_no_link() {
        for (path, written) in [
            ("guides/retries", "guides/retries"),
            ("other page (v2)", "other%20page%20%28v2%29"),
            ("a#b?c", "a%23b%3Fc"),
            ("100%/a%20b", "100%25/a%2520b"),
            ("q&a;x=1,2@3:4+5*6!7'8$9~", "q&a;x=1,2@3:4+5*6!7'8$9~"),
            ("設定", "%E8%A8%AD%E5%AE%9A"),
            ("a\\b`<c>\"[d]|{e}^", "a%5Cb%60%3Cc%3E%22%5Bd%5D%7C%7Be%7D%5E"),
        ] {
            assert_eq!(encoded_path(path), written);
        }
        assert_eq!(decoded_path("100%"), "100%");
        assert_eq!(decoded_path("%ff"), "%ff");
    }

    proptest! {
        #[test]
        fn addresses_are_read_back(path in "\\PC{0,20}|[%0-9a-f /#?]{0,20}") {
            let written = encoded_path(&path);
            prop_assert!(written.is_ascii() && !written.contains([' ', '(', ')', '#', '?', '\\', '<', '>']));
            prop_assert_eq!(decoded_path(&written), &*path);
        }
    }
}
