//! Texts from outside, as PostgreSQL can store them.

/// The text with U+2400 (SYMBOL FOR NULL) in the place of each NUL, which PostgreSQL does not store. JSON needs this not:
/// it escapes a NUL.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{2400}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_is_replaced_and_nothing_else() {
        assert_eq!(storable("a\0b ö\u{1}"), "a\u{2400}b ö\u{1}");
    }
}
