//! Git's packet lines: four hexadecimal digits of length, which count themselves, and the bytes.

use std::io::{self, Read};

use super::WireFailure;

/// The longest line git allows, its four digits included.
const LONGEST: usize = 65_520;

/// One line, or the delimiter between parts of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Packet {
    Line(Vec<u8>),
    Flush,
}

/// Reads one line; `None` when the stream ended cleanly before it.
pub(crate) fn read(from: &mut impl Read) -> Result<Option<Packet>, WireFailure> {
    let mut digits = [0; 4];
    let mut have = 0;
    while have < 4 {
        match from.read(&mut digits[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(cut()),
            Ok(read) => have += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(&error)),
        }
    }
    let text = std::str::from_utf8(&digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let length = text.and_then(|text| usize::from_str_radix(text, 16).ok());
    match length {
        Some(0) => Ok(Some(Packet::Flush)),
        Some(length @ 4..=LONGEST) => {
            let mut line = vec![0; length - 4];
            from.read_exact(&mut line).map_err(|error| failed(&error))?;
            Ok(Some(Packet::Line(line)))
        }
        _ => Err(WireFailure::Garbled(format!(
            "a line begins with `{}` where its length should be",
            digits.escape_ascii().to_string().chars().take(32).collect::<String>()
        ))),
    }
}

/// Appends one line. It must be shorter than [`LONGEST`].
pub(crate) fn write(line: &[u8], to: &mut Vec<u8>) {
    debug_assert!(line.len() <= LONGEST - 4, "a line too long for git");
    to.extend_from_slice(format!("{:04x}", line.len() + 4).as_bytes());
    to.extend_from_slice(line);
}

pub(crate) fn flush(to: &mut Vec<u8>) {
    to.extend_from_slice(b"0000");
}

fn cut() -> WireFailure {
    WireFailure::Network("the connection ended in the middle of a line".to_owned())
}

fn failed(error: &io::Error) -> WireFailure {
    // One of our readers has reported the failure already.
    match error.get_ref().and_then(|inner| inner.downcast_ref::<WireFailure>()) {
        Some(failure) => failure.clone(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => cut(),
        None => WireFailure::Network(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pkt_lines_are_read_back(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..8)) {
            let mut bytes = Vec::new();
            for line in &lines {
                write(line, &mut bytes);
            }
            flush(&mut bytes);
            let mut from = bytes.as_slice();
            for line in lines {
                prop_assert_eq!(read(&mut from).unwrap(), Some(Packet::Line(line)));
            }
            prop_assert_eq!(read(&mut from).unwrap(), Some(Packet::Flush));
            prop_assert_eq!(read(&mut from).unwrap(), None);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let mut from = bytes.as_slice();
            while let Ok(Some(_)) = read(&mut from) {}
        }
    }

    #[test]
    fn a_line_cut_short_is_a_broken_connection_and_nonsense_is_nonsense() {
        for cut in ["0", "000", "0009ab"] {
            assert!(matches!(read(&mut cut.as_bytes()), Err(WireFailure::Network(_))), "{cut}");
        }
        for nonsense in ["<htm", "0001", "0003", "+001", " 004", "fff1"] {
            assert!(matches!(read(&mut nonsense.as_bytes()), Err(WireFailure::Garbled(_))), "{nonsense}");
        }
    }
}
