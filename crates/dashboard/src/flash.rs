//! What the next page says once: that something was done, or a secret that is shown once. It travels in a cookie, so that
//! a form is answered with a redirect, and neither a reload nor the address repeats it.

use std::fmt;

use percent_encoding::percent_decode_str;

use crate::text::in_url;

/// How long a browser keeps it, in seconds: as long as the next page may take.
pub(crate) const SECONDS: u64 = 60;

/// What the next page says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flash {
    /// Something was done: a word of [`SENTENCES`].
    Done(&'static str),
    /// A key was made: its id, and the key.
    Key(String, String),
    /// A link for an operator was made: its token.
    Link(String),
}

/// Only these sentences are shown, never what a browser sent.
const SENTENCES: [(&str, &str); 17] = [
    ("saved", "Saved."),
    ("key-revoked", "The key is revoked. Requests with it are refused from now on."),
    ("project-added", "The project is added. Its docs are being fetched and indexed; this page follows."),
    ("project-removed", "The project is removed, and its keys are revoked."),
    ("reindex", "The docs are being fetched and indexed."),
    ("merged", "Merged."),
    ("updated", "The branch holds all of its base now."),
    ("up-to-date", "The branch held all of its base already."),
    ("closed", "Closed."),
    ("squashed", "Merged as one commit."),
    ("reopened", "Open again."),
    ("commented", "The comment is added."),
    ("archived", "Archived."),
    ("sent", "Sent to the agent."),
    ("operator-removed", "The operator is removed and signed out everywhere."),
    ("role", "The role is changed."),
    ("password", "The password is changed, and you are signed out everywhere else."),
];

impl Flash {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('.')?;
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(|text| text.into_owned());
        Some(match kind {
            "done" => Self::Done(SENTENCES.iter().find(|(word, _)| *word == rest)?.0),
            "key" => {
                let (id, key) = rest.split_once('!')?;
                Self::Key(decoded(id)?, decoded(key)?)
            }
            "link" => Self::Link(decoded(rest)?),
            _ => return None,
        })
    }

    pub(crate) fn sentence(&self) -> Option<&'static str> {
        let Self::Done(word) = self else { return None };
        SENTENCES.iter().find(|(known, _)| known == word).map(|(_, sentence)| *sentence)
    }
}

impl fmt::Display for Flash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(word) => write!(f, "done.{word}"),
            Self::Key(id, key) => write!(f, "key.{}!{}", in_url(id), in_url(key)),
            Self::Link(token) => write!(f, "link.{}", in_url(token)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_again_and_nothing_else_is_said() {
        let all =
            [Flash::Done("merged"), Flash::Key("key_1".into(), "docent_a b;=!%".into()), Flash::Link("t/ö".into())];
        for flash in all {
            let text = flash.to_string();
            assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !b";,\"\\".contains(&byte)), "{text}");
            assert_eq!(Flash::parse(&text), Some(flash));
        }
        for odd in ["", "done.", "done.<b>", "key.x", "other.merged", "link.%ff"] {
            assert_eq!(Flash::parse(odd), None, "{odd}");
        }
    }
}
