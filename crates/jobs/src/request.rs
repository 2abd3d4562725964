//! What a caller may ask of a job, whichever way the request came.

use docent_types::{BranchName, Refusal};
use sha2::{Digest, Sha256};

/// How large a request that a job begins or goes on with may be, in bytes.
pub const LARGEST_REQUEST: usize = 1024 * 1024;
/// The longest idempotency key, in characters.
const LONGEST_KEY: usize = 255;

/// The caller's idempotency key and a digest of the request it stands for.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    pub key: String,
    pub digest: [u8; 32],
}

impl Fingerprint {
    /// The fingerprint of a request from what its `Idempotency-Key` headers hold, `None` when there is none.
    ///
    /// # Errors
    /// A key that came more than once, is empty, too long, or not of visible ASCII characters.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a [u8]>, request: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut keys = keys.into_iter();
        let Some(key) = keys.next() else { return Ok(None) };
        let key = key.trim_ascii();
        let fits = (1..=LONGEST_KEY).contains(&key.len()) && key.iter().all(|byte| matches!(byte, b' '..=b'~'));
        match std::str::from_utf8(key) {
            Ok(key) if fits && keys.next().is_none() => {
                Ok(Some(Self { key: key.to_owned(), digest: Sha256::digest(request).into() }))
            }
            _ => Err(Refusal::invalid(format!(
                "Idempotency-Key: it must come once, with 1 to {LONGEST_KEY} visible ASCII characters; send a fresh UUID \
                 for each new request"
            ))),
        }
    }
}

/// The models a job may ask for.
#[derive(Debug, Clone)]
pub struct ModelNames {
    pub offered: Vec<String>,
    /// The one of a job that asks for none.
    pub default: String,
}

impl ModelNames {
    /// The model of a job that asks for `wanted`.
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

/// The branch a job asks for, `None` when it leaves that to us or names none.
///
/// # Errors
/// A name git would refuse.
pub fn wanted_branch(name: Option<&str>) -> Result<Option<BranchName>, Refusal> {
    name.filter(|name| !name.is_empty())
        .map(BranchName::parse)
        .transpose()
        .map_err(|error| Refusal::invalid(format!("branch: {error}; choose another, or leave it out to get a new one")))
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
        let wanted = |name| wanted_branch(name).map(|branch| branch.map(String::from)).map_err(|_| ());
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
        let told = names.choose(Some("gpt".into())).unwrap_err().sentence;
        assert!(told.contains("`gpt`") && told.contains("`sonnet`, `opus`"), "{told}");
    }
}
