//! What an agent may not touch.

use thiserror::Error;

/// Why a path is refused. The sentence is for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PathError {
    #[error("the path is empty; give a file's path relative to the docs root")]
    Empty,
    #[error("the path leads out of the docs root; give one relative to it, without `..`")]
    Outside,
    #[error("the path holds characters that no file of the docs may have")]
    Characters,
    #[error("the path is longer than 1,000 bytes")]
    TooLong,
    #[error("files of git itself are not for agents")]
    Git,
    #[error("files of continuous integration are not for agents; ask a person to change them")]
    Ci,
}

/// Files and folders that tell a build service what to run, wherever they stand.
const CI: [&str; 22] = [
    ".github",
    ".gitlab",
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    ".drone.yml",
    ".drone.star",
    ".forgejo",
    ".gitea",
    ".ci",
    ".tekton",
    ".husky",
    ".semaphore",
    ".woodpecker",
    ".woodpecker.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "jenkinsfile",
    "appveyor.yml",
    ".appveyor.yml",
];

/// Whether an agent may write or delete this path, which is relative to the docs root and `/`-separated. Compared
/// without regard to case and trailing dots, as some file systems do.
pub fn check_path(path: &str) -> Result<(), PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    if path.len() > 1_000 {
        return Err(PathError::TooLong);
    }
    if path.chars().any(|c| c.is_control() || matches!(c, '\\' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')) {
        return Err(PathError::Characters);
    }
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.starts_with('/') || path.starts_with('~') || drive {
        return Err(PathError::Outside);
    }
    for part in path.split('/') {
        let plain = part.trim_end_matches(['.', ' ']).to_lowercase();
        if plain.is_empty() {
            return Err(PathError::Outside);
        }
        if CI.contains(&plain.as_str()) {
            return Err(PathError::Ci);
        }
        if plain.starts_with(".git") || plain.starts_with("git~") {
            return Err(PathError::Git);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_may_be_touched_and_nothing_else() {
        for good in ["index.mdx", "guides/a b.md", "docs.json", "a/.hidden", "github/x.md", "images/ü.png", "a..b.md"]
        {
            assert_eq!(check_path(good), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("", PathError::Empty),
            ("/etc/passwd", PathError::Outside),
            ("../x", PathError::Outside),
            ("a/../../x", PathError::Outside),
            ("a/./b", PathError::Outside),
            ("a//b", PathError::Outside),
            ("~/x", PathError::Outside),
            ("C:/x", PathError::Outside),
            ("a\\b", PathError::Characters),
            ("a\0b", PathError::Characters),
            (".g\u{200c}it/config", PathError::Characters),
            (".git/config", PathError::Git),
            ("sub/.GIT/hooks/x", PathError::Git),
            (".git./x", PathError::Git),
            ("git~1/x", PathError::Git),
            (".gitattributes", PathError::Git),
            (".gitmodules", PathError::Git),
            (".github/workflows/x.yml", PathError::Ci),
            ("docs/.GitHub/x", PathError::Ci),
            (".gitlab-ci.yml", PathError::Ci),
            ("Jenkinsfile", PathError::Ci),
        ] {
            assert_eq!(check_path(bad), Err(why), "{bad}");
        }
    }
}
