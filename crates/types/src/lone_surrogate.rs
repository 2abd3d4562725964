//! Halves of a character in JSON text.

/// The length of an escape such as `\ud83d`, in bytes.
const ESCAPE: usize = 6;

/// Replaces each escape of a lone surrogate in JSON text by one of U+FFFD, which has the same length. Returns whether
/// there was any.
///
/// JSON escapes characters beyond U+FFFF as two surrogates. Programs that cut a text in between send one of them alone,
/// which stands for no character, and serde_json refuses the whole document.
pub fn replace_lone_surrogates(json: &mut [u8]) -> bool {
    let (mut at, mut any) = (0, false);
    while let Some(found) = lone_surrogate(json, at) {
        json[found..found + ESCAPE].copy_from_slice(br"\ufffd");
        (at, any) = (found + ESCAPE, true);
    }
    any
}

/// The place of the first escape of a lone surrogate from `start` on, where no escape is cut.
pub fn lone_surrogate(json: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += json.get(at..)?.iter().position(|byte| *byte == b'\\')?;
        match escaped(json, at) {
            Some(0xD800..=0xDBFF) => match escaped(json, at + ESCAPE) {
                Some(0xDC00..=0xDFFF) => at += 2 * ESCAPE,
                _ => return Some(at),
            },
            Some(0xDC00..=0xDFFF) => return Some(at),
            Some(_) => at += ESCAPE,
            // Another escape, such as that of a backslash.
            None => at += 2,
        }
    }
}

/// The code unit that is escaped at this place.
fn escaped(json: &[u8], at: usize) -> Option<u32> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn replaced(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let any = replace_lone_surrogates(&mut bytes);
        let after = String::from_utf8(bytes).expect("text");
        assert_eq!(any, after != text, "{text}");
        after
    }

    #[test]
    fn a_half_is_replaced_and_everything_else_kept() {
        for (text, wanted) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00 b""#, r#""\ufffd b""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D\uDE00\ude00""#, r#""\uD83D\uDE00\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
            (r#""\ud83dude00""#, r#""\ufffdude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\\\\ud83d\\""#, r#""\\\\ud83d\\""#),
            (r#""\ud7ff\ue000\u00e9""#, r#""\ud7ff\ue000\u00e9""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\ud83"#, r#""\ud83"#),
            (r#""\ud83d\"#, r#""\ufffd\"#),
            (r#""\ud83d\ude0"#, r#""\ufffd\ude0"#),
            (r#""\u+83d""#, r#""\u+83d""#),
            ("", ""),
        ] {
            assert_eq!(replaced(text), wanted, "{text}");
        }
    }

    /// The JSON text of code units, each escaped or, where that is possible, as it is.
    fn written(units: &[(u16, bool)]) -> String {
        let plain = |unit: u16| char::from_u32(unit.into()).filter(|c| !c.is_control() && !matches!(c, '"' | '\\'));
        let unit = |(unit, escape): &(u16, bool)| match plain(*unit) {
            Some(c) if !escape => c.to_string(),
            _ => format!("\\u{unit:04x}"),
        };
        format!("\"{}\"", units.iter().map(unit).collect::<String>())
    }

    proptest! {
        #[test]
        fn any_text_of_a_browser_is_read_as_a_browser_would_show_it(
            units in prop::collection::vec((prop_oneof![any::<u16>(), 0xD7F0_u16..0xE010, Just(0x5C)], any::<bool>()), 0..24),
        ) {
            let shown = String::from_utf16_lossy(&units.iter().map(|(unit, _)| *unit).collect::<Vec<_>>());
            let read = serde_json::from_str::<Value>(&replaced(&written(&units)));
            prop_assert_eq!(read.expect("JSON"), Value::String(shown));
        }

        #[test]
        fn valid_text_is_not_changed(text in r#"(\\(u(d8|DC|00)[0-9a-f]{2}|[n"\\])|[ ud8"é]){0,12}"#) {
            let json = format!("\"{text}\"");
            if serde_json::from_str::<String>(&json).is_ok() {
                prop_assert_eq!(replaced(&json), json);
            }
        }

        #[test]
        fn any_bytes_are_gone_through(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            replace_lone_surrogates(&mut bytes);
            prop_assert_eq!(lone_surrogate(&bytes, 0), None);
        }
    }
}
