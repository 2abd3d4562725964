//! Makes foreign text safe to print.

use std::borrow::Cow;

/// Removes characters that terminals interpret or that reorder surrounding text: control characters (C0 except newline
/// and tab, DEL, C1), Unicode's line separators, and bidirectional embeddings, overrides and isolates.
///
/// Applied to text of models, documents and other servers before it is printed or committed.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.contains(is_unprintable) { Cow::Owned(text.replace(is_unprintable, "")) } else { Cow::Borrowed(text) }
}

/// Whether [`printable()`] removes a character.
pub fn is_unprintable(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// Whether a character is not seen, or only in what is around it: format characters, fillers, variation selectors,
/// joiners. In words that somebody is to read before they count, such a character can hide others.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_removed() {
        for (given, printed) in [
            ("\u{1b}[2J\u{1b}]0;title\u{7}done", "[2J]0;titledone"),
            ("over\rwritten\u{8}", "overwritten"),
            ("\u{9b}31mred\u{85}", "31mred"),
            ("if (\u{202e}nimda\u{2066}) {\u{2069}", "if (nimda) {"),
            ("one\u{2028}line", "oneline"),
        ] {
            assert_eq!(printable(given), printed, "{given:?}");
        }
        for kept in ["two\nlines\tand a tab", "ünïcödé, 日本語, עברית\u{200f}, 👩\u{200d}🔧"] {
            assert!(matches!(printable(kept), Cow::Borrowed(same) if same == kept), "{kept:?}");
        }
    }
}
