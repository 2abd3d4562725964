//! Paths that an agent may never write, regardless of the content and the owner's settings; and names that reveal a
//! file's purpose.

use std::sync::LazyLock;

use docent_markdown::has_word;
use regex::Regex;
use thiserror::Error;

/// Why a path is refused. The sentence is for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum PathError {
    #[error("the path is empty; give a file's path relative to the docs root")]
    Empty,
    #[error("the path leads out of the docs root; give one relative to it, without `..`")]
    Outside,
    #[error("the path holds characters that no file of the docs may have")]
    Characters,
    #[error("the path is longer than 1,000 bytes")]
    TooLong,
    #[error("files and folders that begin with `.git` are not for agents")]
    Git,
    #[error(
        "some systems cannot hold a file of this name; use letters, digits, `-`, `_` and `.`, no name of a device such as \
         `con` or `nul`, and no dot or space at an end"
    )]
    Name,
}

/// Whether an agent may access this path, which is relative to the docs root and `/`-separated. Case and trailing dots
/// are ignored, as some file systems do.
pub(crate) fn check_path(path: &str) -> Result<(), PathError> {
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
        if plain.starts_with(".git") || plain.starts_with("git~") {
            return Err(PathError::Git);
        }
    }
    Ok(())
}

/// Whether a new file of this name can be checked out on all systems, and the name is not misleading.
pub(crate) fn check_new_name(path: &str) -> Result<(), PathError> {
    static UNSEEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\p{C}\p{Zl}\p{Zp}]").expect("the pattern is written out above"));
    let is_device = |part: &str| {
        let stem = part.split('.').next().unwrap_or(part).trim_end().to_lowercase();
        let numbered = ["com", "lpt"].iter().find_map(|device| stem.strip_prefix(device));
        ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(&stem.as_str())
            || numbered.is_some_and(|number| number.chars().count() == 1 && "0123456789¹²³".contains(number))
    };
    let is_odd = |part: &str| {
        part.ends_with(['.', ' '])
            || part.starts_with(' ')
            || part.len() > 255
            || part.contains(['<', '>', ':', '"', '|', '?', '*'])
    };
    let is_bad = UNSEEN.is_match(path) || path.split('/').any(|part| is_odd(part) || is_device(part));
    if is_bad { Err(PathError::Name) } else { Ok(()) }
}

/// Whether a file or one of its folders is hidden: hidden files configure programs. A folder above is not.
pub(crate) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && part != "..")
}

/// Configuration files of services that run commands or grant access, in lower case.
const OF_SERVICES: &str = "azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml jenkinsfile appveyor.yml buildspec.yml \
    buildspec.yaml cloudbuild.yaml cloudbuild.yml cloudbuild.json codefresh.yml circle.yml wercker.yml amplify.yml \
    netlify.toml vercel.json now.json render.yaml fly.toml app.yaml firebase.json wrangler.toml \
    staticwebapp.config.json codeowners";

/// Whether a part of a path, in lower case, must be named explicitly by a glob that allows it.
pub(crate) fn is_sensitive(part: &str) -> bool {
    part.starts_with('.') || has_word(OF_SERVICES, part)
}

/// Whether a file is known to be read by programs that build or deploy. The list is incomplete: it only prevents such
/// files from being treated as samples or API descriptions.
pub(crate) fn is_build_file(path: &str) -> bool {
    const NAMES: &str = "makefile gnumakefile dockerfile containerfile vagrantfile procfile rakefile gemfile justfile taskfile.yml \
        package.json tsconfig.json jsconfig.json deno.json bower.json composer.json angular.json project.json \
        turbo.json nx.json lerna.json renovate.json conf.py setup.py main.py noxfile.py dodo.py tasks.py \
        pyproject.toml tox.ini pipfile cargo.toml build.rs go.mod pom.xml build.gradle compose.yml compose.yaml \
        _config.yml environment.yml";
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let stem = name.split('.').next().unwrap_or(&name);
    path.split('/').any(|part| is_sensitive(&part.to_lowercase()))
        || has_word(NAMES, &name)
        || ["requirements", "constraints", "docker-compose", "gulpfile", "gruntfile", "webpack", "dockerfile"]
            .iter()
            .any(|start| stem.starts_with(start))
        || [".config.", "-lock.", "-workspace."].iter().any(|part| name.contains(part))
        || [".lock", ".mk", ".tf", ".gradle"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_and_away_from_git() {
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
            (".github/workflows/x.yml", PathError::Git),
            (".gitlab-ci.yml", PathError::Git),
        ] {
            assert_eq!(check_path(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn a_new_name_is_one_that_every_system_can_hold() {
        for good in [
            "index.mdx", "guides/a b.md", "日本語/ページ.md", "naïve.md", "console.md", "comet.md", "com10.md",
            "null.md", "a.b.c",
        ] {
            assert_eq!(check_new_name(good), Ok(()), "{good}");
        }
        for bad in [
            "nul", "NUL.md", "guides/con.md", "com1.md", "lpt9.tar.gz", "aux/a.md", "com¹.md", "a.", "guides./a.md",
            "a .md/b ", " a.md", "a:b.md", "what?.md", "a*.md", "a<b.md", "a|b.md", "a\"b.md", "a\u{ad}b.md",
            "a\u{2028}b.md", "a\u{2029}b.md", "a\u{e000}.md", "a\u{61c}b.md",
        ] {
            assert_eq!(check_new_name(bad), Err(PathError::Name), "{bad}");
        }
        assert_eq!(check_new_name(&format!("{}.md", "a".repeat(253))), Err(PathError::Name));
    }

    #[test]
    fn files_that_builds_read_are_known_by_their_names() {
        for path in [
            "package.json", "a/Makefile", "docs/conf.py", "requirements-dev.txt", "vite.config.ts", "pnpm-lock.yaml",
            "Jenkinsfile", "a/.env", "CODEOWNERS",
        ] {
            assert!(is_build_file(path), "{path}");
        }
        for path in ["samples/signup.py", "openapi.json", "guides/dockerfile.md/x", "a/config.sample.yaml"] {
            assert!(!is_build_file(path), "{path}");
        }
    }
}
