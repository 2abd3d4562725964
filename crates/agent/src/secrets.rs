//! Finds strings that look like secrets in the changes of a job.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use docent_site::Tree;
use regex::{Regex, RegexSet};

/// A line that seems to contain a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    pub path: String,
    /// The line number, counted from 1.
    pub line: usize,
    /// The kind of secret that it looks like, for example `a private key`. Never the secret itself.
    pub looks_like: &'static str,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} looks like it holds {}", self.path, self.line, self.looks_like)
    }
}

/// Patterns of secrets. A pattern is listed only if it hardly ever matches anything else. Its group, if it has one, is
/// the secret itself; with [`PRIVATE_KEY`], the key follows the match.
const KINDS: [(&str, &str); 16] = [
    PRIVATE_KEY,
    ("an AWS access key", r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)"),
    ("a GitHub token", r"(?-u:\b)gh[opsur]_[A-Za-z0-9]{36,}(?-u:\b)"),
    ("a GitHub token", r"(?-u:\b)github_pat_[A-Za-z0-9_]{60,}(?-u:\b)"),
    ("a GitLab token", r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/([A-Za-z0-9]{20,})"),
    ("a Stripe key", r"(?-u:\b)[rs]k_live_[A-Za-z0-9]{20,}(?-u:\b)"),
    ("an Anthropic key", r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{40,}"),
    ("an OpenAI key", r"(?-u:\b)sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,}"),
    ("a Google API key", r"(?-u:\b)AIza[0-9A-Za-z_-]{35}(?-u:\b)"),
    ("an npm token", r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)"),
    ("a PyPI token", r"(?-u:\b)pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("a SendGrid key", r"(?-u:\b)SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?-u:\b)"),
    ("a Docent key", r"(?-u:\b)docent_(?:admin|assistant)_[A-Za-z0-9]{38}(?-u:\b)"),
    (
        "a password in a URL",
        r"(?-u:\b)[a-z][a-z0-9+.-]*://[A-Za-z0-9!%&()+,.;=_~-]+:([A-Za-z0-9!%&()+,.;=_~-]{6,})@[A-Za-z0-9.-]+",
    ),
];

const PRIVATE_KEY: (&str, &str) = ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----");

static SET: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(KINDS.map(|(_, pattern)| pattern)).expect("the patterns are written out above"));
static EACH: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compiled = KINDS.iter().map(|(_, pattern)| Regex::new(pattern));
    compiled.collect::<Result<_, _>>().expect("the patterns are written out above")
});

/// Every secret in the changed files of `after` that no file of `before` contains, sorted by file and line, at most one
/// per line. Placeholders (`EXAMPLE`, `your-…`, runs of one character) do not count.
pub fn secrets(before: &dyn Tree, after: &dyn Tree, changed: &[String]) -> Vec<Secret> {
    let mut known: Option<HashSet<String>> = None;
    let mut found = Vec::new();
    for path in changed {
        let Some(bytes) = after.read(path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: BTreeMap<usize, &'static str> = BTreeMap::new();
        for SecretMatch { secret, at, looks_like } in secret_matches(&text) {
            if !known.get_or_insert_with(|| secrets_of(before)).contains(&secret) {
                let line = text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
                lines.entry(line).or_insert(looks_like);
            }
        }
        found.extend(lines.into_iter().map(|(line, looks_like)| Secret { path: path.clone(), line, looks_like }));
    }
    found
}

/// The text of all secrets in a tree.
fn secrets_of(tree: &dyn Tree) -> HashSet<String> {
    let files = tree.paths().into_iter().filter_map(|path| tree.read(&path));
    let texts = files.filter(|bytes| !bytes.contains(&0));
    texts
        .flat_map(|bytes| {
            secret_matches(&String::from_utf8_lossy(&bytes)).map(|found| found.secret).collect::<Vec<_>>()
        })
        .collect()
}

/// A match of a pattern that is not a placeholder.
struct SecretMatch {
    /// The secret alone, without the text around it.
    secret: String,
    at: usize,
    looks_like: &'static str,
}

fn secret_matches(text: &str) -> impl Iterator<Item = SecretMatch> {
    SET.matches(text).into_iter().flat_map(move |kind| {
        let (looks_like, pattern) = KINDS[kind];
        EACH[kind].captures_iter(text).filter_map(move |found| {
            let whole = found.get_match();
            let secret = match pattern == PRIVATE_KEY.1 {
                true => key_behind(&text[whole.end()..])?,
                false => {
                    let secret = found.get(1).unwrap_or(whole).as_str();
                    (!is_placeholder(secret)).then(|| secret.to_owned())?
                }
            };
            Some(SecretMatch { secret, at: whole.start(), looks_like })
        })
    })
}

/// Maximum number of bytes that are read after the header of a private key.
const LONGEST_KEY: usize = 16 << 10;

/// The key after the header of a private key, without line ends and quotes; `None` if the text there is not a key, as
/// in `-----BEGIN PRIVATE KEY-----\n...`.
fn key_behind(text: &str) -> Option<String> {
    let text = &text[..text.floor_char_boundary(LONGEST_KEY)];
    let text = text.split("-----END").next().unwrap_or(text).replace("\\r", " ").replace("\\n", " ");
    let is_key = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let lines = || text.split(|c| !is_key(c));
    lines().any(|line| line.len() >= 40 && !is_made_up_key_line(line)).then_some(())?;
    Some(lines().filter(|line| line.len() >= 16).collect())
}

/// Whether a line of a key is made up: the lines of a real key have dozens of different characters.
fn is_made_up_key_line(line: &str) -> bool {
    let lower = line.to_lowercase();
    let says_so = ["example", "placeholder", "redacted", "privatekey"].iter().any(|word| lower.contains(word));
    says_so || line.chars().collect::<HashSet<_>>().len() < 12
}

/// Whether a secret is marked as a placeholder.
fn is_placeholder(secret: &str) -> bool {
    let lower = secret.to_lowercase();
    let says_so = [
        "example", "placeholder", "your", "xxxx", "****", "....", "1234567890", "abcdef", "changeme", "passwd",
        "password", "secret", "redacted", "dummy",
    ];
    let mut run = 0;
    let mut last = '\0';
    let repeats = secret.chars().any(|c| {
        run = if c == last { run + 1 } else { 1 };
        last = c;
        run >= 6
    });
    repeats || says_so.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    // Assembled here, so that this file does not contain a secret itself.
    fn pem(line: &str) -> String {
        ["-----BEGIN RSA ", "PRIVATE KEY-----\n", line, "\n-----END RSA ", "PRIVATE KEY-----"].concat()
    }

    fn told(before: &[(&str, &str)], after: &str) -> Vec<&'static str> {
        let found = secrets(&tree(before), &tree(&[("a.md", after)]), &["a.md".to_owned()]);
        found.into_iter().map(|secret| secret.looks_like).collect()
    }

    #[test]
    fn secrets_are_found_with_their_lines() {
        let key = ["AKIA", "Z7Q2M4T9", "W1X5C8VB"].concat();
        let url = ["https://bot:", "h7Gd92kqLm", "@git.test/x"].concat();
        let pem = pem("MIIEpAIBAAKCAQEA7bq98yRZbMXYqPlpa1hJc0wCZkz3Vn5TgLrGdU2sQfKoXJ4e");
        let text = format!("fine\nkey: {key}\n{url}\n{pem}\n");
        let found = secrets(&tree(&[]), &tree(&[("a.md", &text)]), &["a.md".to_owned()]);
        let told: Vec<String> = found.iter().map(Secret::to_string).collect();
        assert_eq!(
            told,
            [
                "a.md:2 looks like it holds an AWS access key",
                "a.md:3 looks like it holds a password in a URL",
                "a.md:4 looks like it holds a private key",
            ]
        );
    }

    #[test]
    fn unchanged_secrets_and_placeholders_are_not_reported() {
        let key = ["AKIA", "Z7Q2M4T9", "W1X5C8VB"].concat();
        let before = tree(&[("old.md", &key)]);
        let moved = tree(&[("new.md", &format!("{key}\nmore"))]);
        assert_eq!(secrets(&before, &moved, &["old.md".to_owned(), "new.md".to_owned()]), []);
        let samples = [
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "postgres://user:password@localhost/db",
            "https://user:<token>@host/x",
            "sk_live_your_key_here_your_key",
            "a plain line about a private key",
        ];
        assert_eq!(secrets(&tree(&[]), &tree(&[("a.md", &samples.join("\n"))]), &["a.md".to_owned()]), []);
    }

    #[test]
    fn a_secret_is_not_new_because_its_line_is() {
        let key = ["AKIA", "Z7Q2M4T9", "W1X5C8VB"].concat();
        let other = ["AKIA", "Z7Q2M4T9", "W1X5C8VC"].concat();
        let (line, other_line) =
            ("b7Q2xM4T9W1X5C8VBkLmNoPrStUvWyZ0123ABCDEFGHIJ", "c7Q2xM4T9W1X5C8VBkLmNoPrStUvWyZ0123ABCDEFGHIJ");
        let page = format!("Use the key {key}.\n\n{}\n", pem(line));
        let before = [("a.md", page.as_str()), ("sample.sh", "git clone https://bot:h7Gd92kqLm@git.test/x\n")];
        assert_eq!(
            told(&before, &format!("- Your key is `{key}`, as in {}\n", pem(line).replace('\n', "\\n"))),
            [""; 0]
        );
        assert_eq!(told(&before, "Or write ssh://other:h7Gd92kqLm@git.test.\n"), [""; 0]);
        assert_eq!(told(&before, &format!("Use the key {other}.\n")), ["an AWS access key"]);
        assert_eq!(told(&before, &pem(other_line)), ["a private key"]);
    }

    #[test]
    fn a_placeholder_is_told_by_the_secret_and_not_by_what_is_around_it() {
        assert_eq!(told(&[], "https://your-name:h7Gd92kqLm@git.example.com/x"), ["a password in a URL"]);
        assert_eq!(told(&[], "https://ann:your-password@git.acme.io/x"), [""; 0]);
        let webhook = |secret: &str| format!("https://hooks.{}/services/T0AB12CD3/B0AB12CD3/{secret}", "slack.com");
        assert_eq!(told(&[], &webhook("k3Jd82hQm4Zs9Wx1Lp7Tv5Yb")), ["a Slack webhook"]);
        assert_eq!(told(&[], &webhook(&"X".repeat(24))), [""; 0]);
        for made_up in ["...", "<your private key>", &"A".repeat(64), "MIIEexampleexampleexampleexampleexampleexample"]
        {
            assert_eq!(told(&[], &pem(made_up)), [""; 0], "{made_up}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_looked_through(before in "(-----BEGIN PRIVATE KEY-----|a://b:|@c|[A-Za-z0-9\\\\\n]{0,50}|\\PC){0,6}", after in "(-----BEGIN PRIVATE KEY-----|-----END|a://b:|@c|[A-Za-z0-9\\\\\n]{0,50}|\\PC){0,8}") {
            let found = told(&[("a.md", &after)], &after);
            proptest::prop_assert!(found.is_empty(), "what was there is not new: {found:?}");
            told(&[("b.md", &before)], &after);
        }
    }
}
