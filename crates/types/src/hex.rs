//! Bytes in hexadecimal.

use std::fmt::Write;

/// Each byte as two lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_byte_is_two_digits() {
        assert_eq!(super::hex(&[0, 0x0a, 0xff]), "000aff");
    }
}
