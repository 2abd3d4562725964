//! Strings that look like secrets, in what a job adds.

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use docent_pages::Tree;
use regex::{Regex, RegexSet};

/// A line that seems to hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// What it looks like, for example `a private key`. Never the secret itself.
    pub looks_like: &'static str,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} looks like it holds {}", self.path, self.line, self.looks_like)
    }
}

/// What secrets look like. A pattern is here only when what it matches is hardly ever anything else.
const KINDS: [(&str, &str); 16] = [
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY"),
    ("an AWS access key", r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)"),
    ("a GitHub token", r"(?-u:\b)gh[opsur]_[A-Za-z0-9]{36,}(?-u:\b)"),
    ("a GitHub token", r"(?-u:\b)github_pat_[A-Za-z0-9_]{60,}(?-u:\b)"),
    ("a GitLab token", r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{20,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}"),
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
        r"(?-u:\b)[a-z][a-z0-9+.-]*://[A-Za-z0-9!%&()+,.;=_~-]+:[A-Za-z0-9!%&()+,.;=_~-]{6,}@[A-Za-z0-9.-]+",
    ),
];

/// Every line that `after` has in the changed files and `before` did not have in any of them, and that seems to hold a
/// secret, in order of file and line. Placeholders (`EXAMPLE`, `your-…`, runs of one character) are none.
pub fn secrets(before: &dyn Tree, after: &dyn Tree, changed: &[String]) -> Vec<Secret> {
    static SET: LazyLock<RegexSet> =
        LazyLock::new(|| RegexSet::new(KINDS.map(|(_, pattern)| pattern)).expect("the patterns are written out above"));
    static EACH: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        let compiled = KINDS.iter().map(|(_, pattern)| Regex::new(pattern));
        compiled.collect::<Result<_, _>>().expect("the patterns are written out above")
    });
    let mut old: Option<HashSet<String>> = None;
    let mut found = Vec::new();
    for path in changed {
        let Some(bytes) = after.read(path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if !SET.is_match(&text) {
            continue;
        }
        let known = old.get_or_insert_with(|| {
            let files = changed.iter().filter_map(|path| before.read(path));
            files
                .flat_map(|bytes| String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect::<Vec<_>>())
                .collect()
        });
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !known.contains(*line)) {
            let kind = SET
                .matches(line)
                .into_iter()
                .find(|kind| EACH[*kind].find_iter(line).any(|found| !is_placeholder(found.as_str())));
            if let Some(kind) = kind {
                found.push(Secret { path: path.clone(), line: index + 1, looks_like: KINDS[kind].0 });
            }
        }
    }
    found
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let says_so = [
        "example",
        "placeholder",
        "your",
        "xxxx",
        "****",
        "....",
        "1234567890",
        "abcdef",
        "changeme",
        "password",
        "secret",
        "redacted",
        "dummy",
    ];
    let mut run = 0;
    let mut last = '\0';
    let repeats = text.chars().any(|c| {
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

    #[test]
    fn what_looks_like_a_secret_is_found_with_its_line() {
        // Put together here, so that this file itself holds none.
        let key = ["AKIA", "Z7Q2M4T9", "W1X5C8VB"].concat();
        let url = ["https://bot:", "h7Gd92kqLm", "@git.test/x"].concat();
        let pem = ["-----BEGIN RSA ", "PRIVATE KEY-----"].concat();
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
    fn what_was_there_before_and_placeholders_are_none() {
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
}
