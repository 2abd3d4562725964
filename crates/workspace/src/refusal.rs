//! Why a remote would not move a branch, and what to grant or change. Forges say it in words only; these are theirs.

use std::fmt;

/// What stands in the way of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Nobody may push to this branch, or not we.
    Protected,
    /// Something in it looks like a secret to the forge.
    Secret,
    /// A file or the whole push is larger than allowed.
    TooLarge,
    /// The repository has no room left.
    Full,
    /// The repository takes no pushes.
    ReadOnly,
    /// It changes files that take a permission of their own, such as those of CI.
    Workflow,
    /// The branch is checked out in a work tree there.
    CheckedOut,
    /// History may not be rewritten there.
    History,
    /// The name cannot be had, because of another branch.
    Name,
    /// A hook or a rule of the repository.
    Rule,
}

/// In this order: the more telling words first, for several may stand in one message.
const WORDS: &[(Refusal, &[&str])] = &[
    (Refusal::Secret, &["push cannot contain secrets", "push protection", "secret detected", "secrets detected"]),
    (Refusal::Full, &["quota", "no space left", "storage limit", "size limit of the repository", "disk is full"]),
    (
        Refusal::TooLarge,
        &["gh001", "file size limit", "large files detected", "maximum allowed size", "larger than", "too large"],
    ),
    (Refusal::Workflow, &["without `workflow", "workflows` permission", "workflow scope"]),
    (Refusal::ReadOnly, &["archived", "read-only", "read only", "is disabled", "is a mirror"]),
    (
        Refusal::Protected,
        &[
            "gh006",
            "gh013",
            "protected branch",
            "protected ref",
            "rule violations",
            "not allowed to push",
            "force push",
        ],
    ),
    (Refusal::CheckedOut, &["currently checked out"]),
    (Refusal::History, &["non-fast-forward", "non-fast forward"]),
];

impl Refusal {
    /// What the words of a remote mean.
    pub(crate) fn of(words: &str) -> Self {
        let words = words.to_lowercase();
        let means = |(_, any): &&(Self, &[&str])| any.iter().any(|one| words.contains(one));
        WORDS.iter().find(means).map_or(Self::Rule, |(refusal, _)| *refusal)
    }
}

impl fmt::Display for Refusal {
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
                Refusal::Protected,
            ),
            ("GH013: Repository rule violations found for refs/heads/docs.", Refusal::Protected),
            (
                "GH013: Repository rule violations found. - GITHUB PUSH PROTECTION - Push cannot contain secrets",
                Refusal::Secret,
            ),
            (
                "pre-receive hook declined: GitLab: You are not allowed to push code to protected branches on this \
                 project.",
                Refusal::Protected,
            ),
            ("pre-receive hook declined: Gitea: Not allowed to push to protected branch main", Refusal::Protected),
            ("pre-receive hook declined: Forgejo: branch main is protected from force push", Refusal::Protected),
            (
                "GH001: Large files detected. File big.bin is 123.00 MB; this exceeds GitHub's file size limit",
                Refusal::TooLarge,
            ),
            ("fatal: pack exceeds maximum allowed size (50.00 MiB)", Refusal::TooLarge),
            (
                "GitLab: Your push to this repository has been rejected because it would exceed the storage quota",
                Refusal::Full,
            ),
            (
                "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` \
                 permission",
                Refusal::Workflow,
            ),
            ("This repository was archived so it is read-only.", Refusal::ReadOnly),
            ("branch is currently checked out", Refusal::CheckedOut),
            ("non-fast-forward", Refusal::History),
            ("pre-receive hook declined: docs are frozen", Refusal::Rule),
        ] {
            assert_eq!(Refusal::of(words), refusal, "{words}");
        }
    }
}
