//! Checks of a caller's request for a job, shared by the API versions.

use docent_types::{BranchName, Message, Refusal, Role};
use sha2::{Digest, Sha256};

/// The largest body of a request that creates or continues a job, in bytes.
pub const LARGEST_REQUEST: usize = 1024 * 1024;
/// Maximum length of a prompt, in characters.
const LONGEST_PROMPT: usize = 100_000;
/// The longest idempotency key, in characters.
const LONGEST_KEY: usize = 255;

/// The caller's idempotency key and a digest of the request it was sent with.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    pub key: String,
    pub digest: [u8; 32],
}

impl Fingerprint {
    /// The fingerprint of a request from the values of its `Idempotency-Key` headers, `None` without one.
    ///
    /// # Errors
    /// A key that was sent more than once, is empty, too long, or not of visible ASCII characters.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a [u8]>, request: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut keys = keys.into_iter();
        let Some(key) = keys.next() else { return Ok(None) };
        let key = key.trim_ascii();
        let is_valid = (1..=LONGEST_KEY).contains(&key.len()) && key.iter().all(|byte| matches!(byte, b' '..=b'~'));
        match std::str::from_utf8(key) {
            Ok(key) if is_valid && keys.next().is_none() => {
                Ok(Some(Self { key: key.to_owned(), digest: Sha256::digest(request).into() }))
            }
            _ => Err(Refusal::invalid(format!(
                "Idempotency-Key: it must come once, with 1 to {LONGEST_KEY} visible ASCII characters; send a fresh UUID \
                 for each new request"
            ))),
        }
    }
}

/// The models that a job may use.
#[derive(Debug, Clone)]
pub struct ModelNames {
    pub offered: Vec<String>,
    /// The model of a job that names none.
    pub default: String,
}

impl ModelNames {
    /// The model of a job that names `wanted`.
    ///
    /// # Errors
    /// It is not offered; the sentence lists those that are.
    pub fn choose(&self, wanted: Option<String>) -> Result<String, Refusal> {
        let Some(wanted) = wanted else { return Ok(self.default.clone()) };
        if self.offered.contains(&wanted) {
            return Ok(wanted);
        }
        let offered = self.offered.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let shown: String = wanted.chars().take(80).collect();
        Err(Refusal::invalid(format!(
            "model: there is no model `{shown}` here; choose one of {offered}, or leave it out"
        )))
    }
}

/// The branch that a job names; `None` when it names none.
///
/// # Errors
/// A name that git would refuse.
pub fn requested_branch(name: Option<&str>) -> Result<Option<BranchName>, Refusal> {
    name.filter(|name| !name.is_empty())
        .map(BranchName::parse)
        .transpose()
        .map_err(|error| Refusal::invalid(format!("branch: {error}; choose another, or leave it out to get a new one")))
}

/// The instruction as a single message.
///
/// # Errors
/// A prompt that is empty, whitespace only, or too long.
pub fn instruction(prompt: String) -> Result<Vec<Message>, Refusal> {
    if prompt.trim().is_empty() {
        return Err(Refusal::invalid("prompt: it is empty; say what the agent should do"));
    }
    // A character has at least one byte, so short prompts need not be counted.
    if prompt.len() > LONGEST_PROMPT && prompt.chars().count() > LONGEST_PROMPT {
        return Err(Refusal::invalid(format!(
            "prompt: it is longer than {LONGEST_PROMPT} characters; shorten it, or split the work into several jobs"
        )));
    }
    Ok(vec![Message::text(Role::User, prompt)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_once_and_can_be_read() {
        let key = |keys: &[&[u8]]| Fingerprint::of(keys.iter().copied(), b"body").map(|f| f.map(|f| f.key)).ok();
        assert_eq!(key(&[]), Some(None));
        assert_eq!(key(&[b" k-1 "]), Some(Some("k-1".to_owned())));
        let (longest, longer) = ([b'k'; 255], [b'k'; 256]);
        assert!(key(&[&longest]).is_some());
        for bad in [&[b"".as_slice()][..], &[b" "], &[&longer], &[b"a", b"a"], &["é".as_bytes()], &[b"a\tb"]] {
            assert_eq!(key(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn another_request_has_another_fingerprint() {
        let of = |body: &[u8]| Fingerprint::of([b"k".as_slice()], body).unwrap().unwrap().digest;
        assert_eq!(of(b"a"), of(b"a"));
        assert_ne!(of(b"a"), of(b"b"));
    }

    #[test]
    fn a_branch_is_one_git_accepts_or_left_to_us() {
        let wanted = |name| requested_branch(name).map(|branch| branch.map(String::from)).map_err(|_| ());
        for (name, branch) in [
            (None, Ok(None)),
            (Some(""), Ok(None)),
            (Some("docs/terms"), Ok(Some("docs/terms".to_owned()))),
            (Some("a:b"), Err(())),
            (Some(" "), Err(())),
        ] {
            assert_eq!(wanted(name), branch, "{name:?}");
        }
    }

    #[test]
    fn a_model_is_one_of_those_offered() {
        let names = ModelNames { offered: vec!["sonnet".into(), "opus".into()], default: "sonnet".into() };
        assert_eq!(names.choose(None).unwrap(), "sonnet");
        assert_eq!(names.choose(Some("opus".into())).unwrap(), "opus");
        let sentence = names.choose(Some("gpt".into())).unwrap_err().sentence;
        assert!(sentence.contains("`gpt`") && sentence.contains("`sonnet`, `opus`"), "{sentence}");
    }

    #[test]
    fn a_prompt_has_something_to_say_and_an_end() {
        for (prompt, good) in [
            ("Fix broken links".to_owned(), true),
            (" x ".to_owned(), true),
            (String::new(), false),
            (" \n\t\u{a0}".to_owned(), false),
            ("é".repeat(LONGEST_PROMPT), true),
            ("é".repeat(LONGEST_PROMPT + 1), false),
        ] {
            assert_eq!(instruction(prompt.clone()).is_ok(), good, "{} bytes", prompt.len());
        }
    }
}
