//! Generates Mintlify's anchors: a percent-encoded slug, decoded again and stripped of punctuation; the numbers of
//! repeated slugs begin at 2.

use std::collections::HashMap;
use std::sync::LazyLock;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::parse_tags::Tag;
use crate::regex;

/// The anchors given out on one page.
#[derive(Debug, Default)]
pub(crate) struct MintlifyAnchors {
    /// How often each heading slug was requested.
    headings: HashMap<String, usize>,
    /// How often each tab slug was requested; tabs are counted separately.
    tabs: HashMap<String, usize>,
    /// How often each anchor of headings, explicit ids, steps and changelog entries (`Update`) was requested.
    taken: HashMap<String, usize>,
    components: HashMap<String, usize>,
}

impl MintlifyAnchors {
    pub(crate) fn for_heading(&mut self, text: &str) -> String {
        let slug = with_repeat_number(&mut self.headings, slug(text));
        self.unique(mintlify_anchor(&slug))
    }

    pub(crate) fn explicit(&mut self, id: &str) -> String {
        let id = mintlify_anchor(id.trim()).replace(['<', '>', '"', '&'], "");
        self.unique(id.split_whitespace().collect::<Vec<_>>().join("-"))
    }

    /// The anchor that a component derives from its title or name.
    pub(crate) fn for_component(&mut self, tag: &Tag, text: &str) -> Option<String> {
        if tag.value(text, "id").is_some() {
            return None;
        }
        match tag.name.as_str() {
            "Accordion" | "View" => {
                let base = plain_slug(&tag.value(text, "title")?.replacen(':', "-", 1), false);
                let count = self.components.entry(format!("{} {base}", tag.name)).or_default();
                *count += 1;
                Some(if *count > 1 { format!("{base}-{}", *count - 1) } else { base })
            }
            "Tab" => Some(with_repeat_number(&mut self.tabs, slug(tag.value(text, "title")?))),
            // Only a step whose title has the size of a heading has an anchor.
            "Step" if matches!(tag.value(text, "titleSize"), Some("h2" | "h3")) => {
                let anchor = mintlify_anchor(&slug(tag.value(text, "title")?));
                Some(self.unique(anchor))
            }
            "Update" => {
                let anchor = mintlify_anchor(&slug(tag.value(text, "label")?));
                Some(self.unique(anchor))
            }
            "ParamField" | "Param" | "ResponseField" => {
                let name = ["query", "path", "body", "header", "name"].iter().find_map(|name| tag.value(text, name))?;
                let count = self.components.entry(format!("param {name}")).or_default();
                let suffix = if *count > 0 { format!("_{count}") } else { String::new() };
                *count += 1;
                Some(plain_slug(&format!("param-{name}{suffix}"), true))
            }
            _ => None,
        }
    }

    fn unique(&mut self, slug: String) -> String {
        let count = self.taken.entry(slug.clone()).or_default();
        *count += 1;
        if *count == 1 {
            return slug;
        }
        let mut suffix = *count;
        let mut unique = format!("{slug}-{suffix}");
        while self.taken.contains_key(&unique) {
            suffix += 1;
            unique = format!("{slug}-{suffix}");
        }
        self.taken.insert(unique.clone(), 1);
        unique
    }
}

/// `setup`, then `setup-2`. A slug that ends in a number of its own is also numbered once its base (the slug without
/// trailing numbers) has occurred more than twice.
fn with_repeat_number(counts: &mut HashMap<String, usize>, slug: String) -> String {
    if slug.is_empty() {
        return slug;
    }
    let key = slug.to_lowercase();
    let mut base = key.as_str();
    while let Some((rest, number)) = base.rsplit_once('-')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        base = rest;
    }
    let base_count = counts.get(base).copied().unwrap_or(0);
    let count = counts.entry(key).or_default();
    *count += 1;
    if *count >= 2 || base_count > 2 { format!("{slug}-{count}") } else { slug }
}

/// A title's slug; bytes other than ASCII letters, digits and `-_.!~*'()` are percent-encoded.
fn slug(title: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'!')
        .remove(b'~')
        .remove(b'*')
        .remove(b'\'')
        .remove(b'(')
        .remove(b')');
    let title = title.to_lowercase();
    let words: Vec<String> = title.split_whitespace().map(|word| utf8_percent_encode(word, KEPT).to_string()).collect();
    joined_words(&words.join("-"), |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '%'))
}

/// An ASCII-only slug. With `splits_camel_case`, `userId` becomes `user-id`.
fn plain_slug(text: &str, splits_camel_case: bool) -> String {
    static CAMEL_CASE_BOUNDARIES: LazyLock<[Regex; 4]> = LazyLock::new(|| {
        [r"([A-Z]{2,})(\d+)", r"([a-z\d]+)([A-Z]{2,})", r"([a-z\d])([A-Z])", r"([A-Z]+)([A-Z][a-rt-z\d]+)"]
            .map(|pattern| Regex::new(pattern).expect("the pattern is written out above"))
    });
    let mut text: String = text.replace('&', " and ").nfkd().filter(|c| !is_combining_mark(*c)).collect();
    if splits_camel_case {
        for boundary in CAMEL_CASE_BOUNDARIES.iter() {
            text = boundary.replace_all(&text, "$1 $2").into_owned();
        }
    }
    joined_words(&text.to_lowercase(), |c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Replaces each run of characters that `keeps` rejects with one hyphen; the `s` and `t` of `what's` and `don't` stay
/// attached to their words.
fn joined_words(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut hyphened = String::with_capacity(text.len());
    for c in text.chars() {
        if keeps(c) {
            hyphened.push(c);
        } else if !hyphened.ends_with('-') {
            hyphened.push('-');
        }
    }
    let bytes = hyphened.as_bytes();
    let mut out = String::with_capacity(bytes.len());
    // A match includes its second hyphen, so the next match begins after that at the earliest.
    let mut earliest_match = 0;
    for (at, c) in hyphened.char_indices() {
        let is_contraction = c == '-'
            && at > earliest_match
            && bytes[at - 1].is_ascii_alphanumeric()
            && matches!(bytes.get(at + 1), Some(b't' | b's'))
            && matches!(bytes.get(at + 2), None | Some(b'-'));
        if is_contraction {
            earliest_match = at + 3;
        } else {
            out.push(c);
        }
    }
    out.strip_prefix('-').unwrap_or(&out).trim_end_matches('-').to_owned()
}

/// An id as it appears on the page: percent-decoded, without the punctuation and emoji that Mintlify removes.
fn mintlify_anchor(id: &str) -> String {
    regex!(
        EMOJI,
        r"[\p{Emoji_Modifier}\p{Emoji_Modifier_Base}\p{Emoji_Presentation}\p{Extended_Pictographic}\u{200D}\u{FE0E}\u{FE0F}]"
    );
    let Ok(decoded) = percent_decode_str(id).decode_utf8() else { return id.to_owned() };
    let without_punctuation: String = decoded.chars().filter(|c| !"?,;:!'\"()[]{}".contains(*c)).collect();
    EMOJI.replace_all(&without_punctuation, "").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_tags::{Dialect, scan_tag};

    #[test]
    fn headings_have_the_anchors_that_mintlify_gives_them() {
        for (text, anchor) in [
            ("OAuth 2.0", "oauth-2-0"),
            ("What's new?", "whats-new"),
            ("Don't", "dont"),
            ("snake_case code", "snake_case-code"),
            ("Terms & conditions", "terms-&-conditions"),
            ("Über uns", "über-uns"),
            ("快速 开始", "快速-开始"),
            ("a/b", "a/b"),
            ("1. First", "1-first"),
            ("C++ & Rust's", "c++-&-rusts"),
            ("Foo's & t", "foos-&t"),
            ("🚀 Launch", "-launch"),
            ("Why — and how", "why-—-and-how"),
            ("onChatSuspend / onChatResume", "onchatsuspend-/-onchatresume"),
        ] {
            let expected = mintlify_anchor(anchor);
            assert_eq!(MintlifyAnchors::default().for_heading(text), expected, "{text}");
        }
    }

    #[test]
    fn the_second_of_the_same_words_is_number_two() {
        let mut anchors = MintlifyAnchors::default();
        let given: Vec<String> =
            ["Setup", "Setup", "Setup 2", "Setup"].iter().map(|text| anchors.for_heading(text)).collect();
        assert_eq!(given, ["setup", "setup-2", "setup-2-2", "setup-3"]);
        assert_eq!(anchors.explicit("setup"), "setup-4");
        assert_eq!(anchors.explicit("my id"), "my-id");
    }

    #[test]
    fn components_make_anchors_of_their_titles() {
        let mut anchors = MintlifyAnchors::default();
        for (text, anchor) in [
            ("<Accordion title=\"Why: so?\">", Some("why-so")),
            ("<Accordion title=\"Why: so?\">", Some("why-so-1")),
            ("<Accordion title=\"Why\" id=\"why\">", None),
            ("<Tab title=\"Node.js\">", Some("node-js")),
            ("<Tab title=\"Node.js\">", Some("node-js-2")),
            ("<Step title=\"Get a key\">", None),
            ("<Step title=\"Get a key\" titleSize=\"h2\">", Some("get-a-key")),
            ("<Update label=\"v1.2\">", Some("v1-2")),
            ("<ParamField path=\"user_id\" type=\"string\">", Some("param-user-id")),
            ("<ParamField body=\"userId\">", Some("param-user-id")),
            ("<ResponseField name=\"id\">", Some("param-id")),
            ("<Expandable title=\"More\">", None),
        ] {
            let tag = scan_tag(text, 0, Dialect::Jsx).expect(text);
            assert_eq!(anchors.for_component(&tag, text).as_deref(), anchor, "{text}");
        }
    }
}
