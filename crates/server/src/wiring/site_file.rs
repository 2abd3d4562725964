//! `.docent/assistant.md`: a docs site's settings for its assistant, as front matter, followed by instructions for it.
//!
//! ```text
//!   ---
//!   address: https://example.com/docs
//!   suggestions: true
//!   ---
//!   Call parcels boxes.
//! ```
//!
//! An invalid setting is a [`Problem`] and counts as not set; the others apply.

use std::fmt;
use std::sync::Arc;

use docent_markdown::{FieldValue, FrontMatter, parse};
use http::Uri;

/// The path of the file, relative to the root of the repository.
pub(crate) const FILE: &str = ".docent/assistant.md";

/// Where sites of Mintlify have instructions for its assistant, relative to the docs root.
pub(crate) const MINTLIFY_FILE: &str = ".mintlify/Assistant.md";

const KNOWN: [&str; 6] = ["address", "suggestions", "smallTalk", "account", "public", "agentsMayAsk"];

/// The content of the file; empty if there is no file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SiteFile {
    /// The URL of the site, without a trailing slash.
    pub(crate) address: Option<String>,
    pub(crate) suggestions: Option<bool>,
    pub(crate) public: Option<bool>,
    pub(crate) agents_may_ask: Option<bool>,
    pub(crate) small_talk: Option<Arc<str>>,
    pub(crate) account: Option<Arc<str>>,
    pub(crate) instructions: Option<Arc<str>>,
    pub(crate) problems: Vec<Problem>,
}

/// An invalid part of the file, which is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) line: usize,
    /// What is wrong, and how to fix it.
    pub(crate) sentence: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FILE}:{}: {}", self.line, self.sentence)
    }
}

impl SiteFile {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let page = parse(FILE, bytes);
        let text = docent_markdown::text_of(bytes);
        let front = &page.front_matter;
        let (head, body) = text.split_at(front.span.as_ref().map_or(0, |span| span.end));
        let body = body.trim_start_matches('\u{feff}');
        let mut file = Self {
            instructions: Some(body.trim()).filter(|body| !body.is_empty()).map(Arc::from),
            problems: page.problems.into_iter().map(|it| Problem { line: it.line, sentence: it.message }).collect(),
            ..Self::default()
        };
        if head.is_empty() && body.lines().next().is_some_and(|line| line.trim_end() == "---") {
            file.complain(1, "the front matter has no end; close it with a second line `---`");
        }
        file.settings(front, head);
        file
    }

    /// The text of a file that holds instructions and no settings of ours.
    pub(crate) fn instructions_alone(bytes: &[u8]) -> Self {
        Self { instructions: Self::read(bytes).instructions, ..Self::default() }
    }

    fn settings(&mut self, front: &FrontMatter, head: &str) {
        let line = |name: &str| {
            let begins = |line: &str| line.trim_start_matches(['"', '\'']).starts_with(name);
            head.lines().position(begins).map_or(1, |at| at + 1)
        };
        match front.value("address") {
            None | Some(FieldValue::Empty) => {}
            Some(FieldValue::Text(text)) => match address(text.trim()) {
                Ok(address) => self.address = Some(address),
                Err(why) => self.complain(line("address"), format!("`address` {why}")),
            },
            Some(_) => self.complain(line("address"), "`address` is one URL, such as `https://example.com/docs`"),
        }
        for name in ["suggestions", "public", "agentsMayAsk"] {
            let value = match front.value(name) {
                None | Some(FieldValue::Empty) => continue,
                Some(FieldValue::Text(text)) => text.trim().parse().ok(),
                Some(_) => None,
            };
            if value.is_none() {
                self.complain(line(name), format!("`{name}` is neither `true` nor `false`; write one of them"));
            }
            match name {
                "suggestions" => self.suggestions = value,
                "public" => self.public = value,
                _ => self.agents_may_ask = value,
            }
        }
        for (name, slot) in [("smallTalk", &mut self.small_talk), ("account", &mut self.account)] {
            if let Some(FieldValue::Text(text)) = front.value(name) {
                *slot = Some(text.trim()).filter(|text| !text.is_empty()).map(Arc::from);
            }
        }
        for name in front.fields.iter().map(|field| field.name.as_str()).filter(|name| !KNOWN.contains(name)) {
            let shown: String = name.chars().take(60).collect();
            self.complain(
                line(name),
                format!("there is no setting `{shown}`; known: {}", KNOWN.map(|name| format!("`{name}`")).join(", ")),
            );
        }
    }

    fn complain(&mut self, line: usize, sentence: impl Into<String>) {
        self.problems.push(Problem { line, sentence: sentence.into() });
    }
}

/// The URL in normalised form, or the reason why it is invalid.
fn address(text: &str) -> Result<String, &'static str> {
    let uri: Uri = text.parse().map_err(|_| "is no URL; write one such as `https://example.com/docs`")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("must begin with https:// or http://, such as `https://example.com/docs`");
    }
    let host = uri.authority().filter(|authority| !authority.host().is_empty());
    let host = host.ok_or("names no host; write one such as `https://example.com/docs`")?;
    if host.as_str().contains('@') {
        return Err("must not hold a user or a password; leave out what stands before the `@`");
    }
    if uri.query().is_some() || text.contains('#') {
        return Err("ends at the path; leave out what begins with `?` or `#`");
    }
    Ok(text.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> SiteFile {
        SiteFile::read(text.as_bytes())
    }

    #[test]
    fn settings_stand_above_the_wishes() {
        let file = read("---\naddress: https://example.com/docs/\nsuggestions: true\n---\n\nCall parcels boxes.\n");
        assert_eq!(file.address.as_deref(), Some("https://example.com/docs"));
        assert_eq!(file.suggestions, Some(true));
        assert_eq!(file.instructions.as_deref(), Some("Call parcels boxes."));
        assert_eq!(file.problems, []);
        for plain in ["Call parcels boxes.", "\u{feff}\n\nCall parcels boxes.\n"] {
            let file = read(plain);
            assert_eq!((file.instructions.as_deref(), file.problems.len()), (Some("Call parcels boxes."), 0));
        }
        for nothing in ["", " \n", "---\n---\n", "---\naddress:\nsuggestions: ~\n---\n"] {
            assert_eq!(read(nothing), SiteFile::default(), "{nothing:?}");
        }
        assert_eq!(read("---\nsuggestions: false\n---").suggestions, Some(false));
        let open = read("---\npublic: true\nagentsMayAsk: maybe\n---");
        assert_eq!((open.public, open.agents_may_ask, open.problems.len()), (Some(true), None, 1));
    }

    #[test]
    fn malformed_lines_are_reported_and_others_used() {
        let file = read("---\naddress: example.com\n# why\nsuggestions: often\ntone: kind\n---\nBe kind.\n");
        assert_eq!((file.address, file.suggestions, file.instructions.as_deref()), (None, None, Some("Be kind.")));
        let told: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                ".docent/assistant.md:2: `address` must begin with https:// or http://, such as `https://example.com/docs`",
                ".docent/assistant.md:4: `suggestions` is neither `true` nor `false`; write one of them",
                ".docent/assistant.md:5: there is no setting `tone`; known: `address`, `suggestions`, `smallTalk`, `account`, `public`, `agentsMayAsk`",
            ]
        );
        let half = read("---\naddress: [https://a.test\nsuggestions: true\n---\nBe kind.\n");
        assert_eq!((half.suggestions, half.instructions.as_deref()), (Some(true), Some("Be kind.")));
        assert!(half.problems.iter().any(|problem| problem.sentence.contains("not YAML")), "{:?}", half.problems);
        let open = read("---\naddress: https://a.test\n\nBe kind.\n");
        assert_eq!(open.problems.len(), 1, "{:?}", open.problems);
        assert!(open.instructions.is_some_and(|text| text.ends_with("Be kind.")), "nothing is dropped unseen");
    }

    #[test]
    fn an_address_is_a_place_on_the_web() {
        for (written, understood) in [
            ("https://docs.example.com", Some("https://docs.example.com")),
            ("http://localhost:3000/", Some("http://localhost:3000")),
            ("https://[::1]:8443/docs/v2/", Some("https://[::1]:8443/docs/v2")),
            ("docs.example.com", None),
            ("/docs", None),
            ("ftp://example.com", None),
            ("https://me:secret@example.com", None),
            ("https://example.com/?q=1", None),
            ("https://example.com/#top", None),
            ("https://", None),
            ("https://a b", None),
        ] {
            let front = format!("---\naddress: '{written}'\n---\n");
            let file = read(&front);
            assert_eq!(file.address.as_deref(), understood, "{written}");
            assert_eq!(file.problems.len(), usize::from(understood.is_none()), "{written}: {:?}", file.problems);
            assert!(!file.problems.iter().any(|problem| problem.sentence.contains("secret")));
        }
    }

    proptest! {
        #[test]
        fn any_file_is_read(text in "(---\n)?((address|suggestions|[a-z]{0,3})?:? ?\\PC{0,20}\n){0,5}(---\n)?\\PC{0,40}") {
            let file = read(&text);
            prop_assert!(file.problems.iter().all(|problem| problem.line >= 1));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            SiteFile::read(&bytes);
        }
    }
}
