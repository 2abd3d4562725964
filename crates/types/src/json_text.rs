//! Texts as JSON.

/// Bytes examined together.
const TOGETHER: usize = 16;

/// Which bytes need no escape.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        plain[byte] = is_plain(byte as u8);
        byte += 1;
    }
    plain
};

/// Passes the JSON escape of a text, without its quotes, to `put` in pieces.
///
/// The output equals that of other writers, but is faster for long texts that consist mostly of letters.
pub fn json_text(text: &str, mut put: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let (mut written, mut at) = (0, 0);
    loop {
        // Without branches, so that the compiler vectorizes the loop.
        while bytes[at..].first_chunk::<TOGETHER>().is_some_and(are_plain) {
            at += TOGETHER;
        }
        let Some(odd) = bytes[at..].iter().position(|byte| !PLAIN[usize::from(*byte)]) else { break };
        at += odd;
        if written < at {
            put(&text[written..at]);
        }
        escape(bytes[at], &mut put);
        at += 1;
        written = at;
    }
    if written < text.len() {
        put(&text[written..]);
    }
}

const fn is_plain(byte: u8) -> bool {
    (byte >= b' ') & (byte != b'"') & (byte != b'\\')
}

fn are_plain(bytes: &[u8; TOGETHER]) -> bool {
    bytes.iter().fold(true, |plain, byte| plain & is_plain(*byte))
}

fn escape(byte: u8, put: &mut impl FnMut(&str)) {
    match byte {
        b'"' => put("\\\""),
        b'\\' => put("\\\\"),
        b'\n' => put("\\n"),
        b'\r' => put("\\r"),
        b'\t' => put("\\t"),
        0x08 => put("\\b"),
        0x0c => put("\\f"),
        other => put(&format!("\\u{other:04x}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_is_written_as_any_other_writer_does(text in "(\\PC|[\"\\\\\n\t\u{7f}\u{0}-\u{1f}]|[a-z ]{1,40}){0,20}") {
            let mut out = String::new();
            json_text(&text, |piece| out.push_str(piece));
            prop_assert_eq!(format!("\"{out}\""), serde_json::to_string(&text).unwrap());
        }
    }
}
