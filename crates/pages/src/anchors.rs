//! Anchors of headings, made as GitHub makes them.

use std::collections::HashMap;

/// The anchor of a heading's words: lower case, spaces to hyphens, punctuation gone. Not yet made unique.
pub fn slug(text: &str) -> String {
    text.trim()
        .chars()
        .flat_map(char::to_lowercase)
        .filter_map(|c| match c {
            ' ' | '-' => Some('-'),
            '_' => Some('_'),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        })
        .collect()
}

/// Hands out the anchors of one page: the second `setup` becomes `setup-1`.
#[derive(Debug, Default)]
pub struct Anchors {
    taken: HashMap<String, usize>,
}

impl Anchors {
    /// The anchor for a heading with these words.
    pub fn for_heading(&mut self, text: &str) -> String {
        let base = slug(text);
        let mut anchor = base.clone();
        while self.taken.contains_key(&anchor) {
            let count = self.taken.entry(base.clone()).or_insert(0);
            *count += 1;
            anchor = format!("{base}-{count}");
        }
        self.taken.insert(anchor.clone(), 0);
        anchor
    }

    /// Notes an anchor the author wrote out, and gives it back.
    pub fn explicit(&mut self, id: &str) -> String {
        self.taken.entry(id.to_owned()).or_insert(0);
        id.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github() {
        for (text, anchor) in [
            ("Hello World", "hello-world"),
            ("What's new?", "whats-new"),
            ("  C++ & Rust  ", "c--rust"),
            ("snake_case `code`", "snake_case-code"),
            ("Über uns", "über-uns"),
            ("v1.2.3", "v123"),
            ("🚀 Launch", "-launch"),
        ] {
            assert_eq!(slug(text), anchor, "{text}");
        }
    }

    #[test]
    fn the_same_words_again_get_a_number() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.explicit("setup-1"), "setup-1");
        let given: Vec<String> =
            ["Setup", "Setup", "setup", "Setup 1"].iter().map(|text| anchors.for_heading(text)).collect();
        assert_eq!(given, ["setup", "setup-2", "setup-3", "setup-1-1"]);
    }
}
