//! Why a remote refused to move a branch, and the remedy. Forges give the reason only as text; this module knows their
//! phrases.

use std::fmt;

/// The reason of a refused push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushRefusal {
    /// The branch is protected, from everyone or from this account.
    Protected,
    /// Something in the push looks like a secret to the forge.
    Secret,
    /// A file or the whole push is larger than allowed.
    TooLarge,
    /// The repository has no room left.
    Full,
    /// The repository takes no pushes.
    ReadOnly,
    /// The push changes files that need a permission of their own, such as those of CI.
    Workflow,
    /// The branch is checked out in a work tree there.
    CheckedOut,
    /// History may not be rewritten there.
    History,
    /// The name conflicts with that of another branch.
    Name,
    /// A hook or a rule of the repository; also any message that matches none of the phrases.
    Rule,
}

/// Ordered by how specific the phrases are, because one message may match several.
const PHRASES: &[(PushRefusal, &[&str])] = &[
    (PushRefusal::Secret, &["push cannot contain secrets", "push protection", "secret detected", "secrets detected"]),
    (PushRefusal::Full, &["quota", "no space left", "storage limit", "size limit of the repository", "disk is full"]),
    (
        PushRefusal::TooLarge,
        &["gh001", "file size limit", "large files detected", "maximum allowed size", "larger than", "too large"],
    ),
    (PushRefusal::Workflow, &["without `workflow", "workflows` permission", "workflow scope"]),
    (PushRefusal::ReadOnly, &["archived", "read-only", "read only", "is disabled", "is a mirror"]),
    (
        PushRefusal::Protected,
        &[
            "gh006", "gh013", "protected branch", "protected ref", "rule violations", "not allowed to push",
            "force push",
        ],
    ),
    (PushRefusal::CheckedOut, &["currently checked out"]),
    (PushRefusal::History, &["non-fast-forward", "non-fast forward"]),
];

impl PushRefusal {
    /// Classifies a remote's message.
    pub(crate) fn of(message: &str) -> Self {
        let message = message.to_lowercase();
        let is_match = |(_, phrases): &&(Self, &[&str])| phrases.iter().any(|phrase| message.contains(phrase));
        PHRASES.iter().find(is_match).map_or(Self::Rule, |(refusal, _)| *refusal)
    }
}

impl fmt::Display for PushRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protected => {
                "the branch is protected; allow the account of the token or key to push to it, or take the branch out of \
                 the rule"
            }
            Self::Secret => "the forge sees a secret in it; take it out of the change, or allow it on the forge",
            Self::TooLarge => "something in it is larger than the remote takes; make it smaller, or raise the limit there",
            Self::Full => "the repository has no room left; make some, or raise its quota",
            Self::ReadOnly => "the repository takes no pushes; make it writable again, or give another one",
            Self::Workflow => "it changes files of CI; give a token with the permission `workflows` too",
            Self::CheckedOut => "the branch is checked out there; push to a bare repository, or to another branch",
            Self::History => "history may not be rewritten there; take another branch",
            Self::Name => "choose another name",
            Self::Rule => "see the rules and hooks of the repository, and allow the push there",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_forges_become_what_to_grant() {
        for (words, refusal) in [
            (
                "protected branch hook declined: error: GH006: Protected branch update failed for refs/heads/main. error: \
                 Changes must be made through a pull request.",
                PushRefusal::Protected,
            ),
            ("GH013: Repository rule violations found for refs/heads/docs.", PushRefusal::Protected),
            (
                "GH013: Repository rule violations found. - GITHUB PUSH PROTECTION - Push cannot contain secrets",
                PushRefusal::Secret,
            ),
            (
                "pre-receive hook declined: GitLab: You are not allowed to push code to protected branches on this \
                 project.",
                PushRefusal::Protected,
            ),
            ("pre-receive hook declined: Gitea: Not allowed to push to protected branch main", PushRefusal::Protected),
            ("pre-receive hook declined: Forgejo: branch main is protected from force push", PushRefusal::Protected),
            (
                "GH001: Large files detected. File big.bin is 123.00 MB; this exceeds GitHub's file size limit",
                PushRefusal::TooLarge,
            ),
            ("fatal: pack exceeds maximum allowed size (50.00 MiB)", PushRefusal::TooLarge),
            (
                "GitLab: Your push to this repository has been rejected because it would exceed the storage quota",
                PushRefusal::Full,
            ),
            (
                "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` \
                 permission",
                PushRefusal::Workflow,
            ),
            ("This repository was archived so it is read-only.", PushRefusal::ReadOnly),
            ("branch is currently checked out", PushRefusal::CheckedOut),
            ("non-fast-forward", PushRefusal::History),
            ("pre-receive hook declined: docs are frozen", PushRefusal::Rule),
        ] {
            assert_eq!(PushRefusal::of(words), refusal, "{words}");
        }
    }
}
