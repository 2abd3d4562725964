//! Bare git repositories: the docs a project works on, and helpers to inspect them afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A bare repository with the branch `main`, as a team would host it.
#[derive(Debug, Clone)]
pub struct Repository {
    path: PathBuf,
}

impl Repository {
    /// Creates a bare repository at `path` whose `main` has one commit with these files.
    ///
    /// # Panics
    /// When git is missing or fails.
    pub fn create<P: AsRef<str>, C: AsRef<[u8]>>(path: &Path, files: &[(P, C)]) -> Self {
        let work = tempfile::tempdir().expect("make a temporary folder");
        git(work.path(), &["init", "--quiet", "--initial-branch=main"]);
        for (name, content) in files {
            let file = work.path().join(name.as_ref());
            fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("make a folder");
            fs::write(file, content.as_ref()).expect("write a docs page");
        }
        git(work.path(), &["add", "--all"]);
        git(work.path(), &["commit", "--quiet", "--message=The docs"]);
        let shown = path.display().to_string();
        git(work.path(), &["clone", "--quiet", "--bare", ".", &shown]);
        Self { path: path.to_owned() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs git in the repository and returns the output, without the trailing newline.
    pub fn git(&self, args: &[&str]) -> String {
        git(&self.path, args)
    }

    /// Every branch but `main`, sorted.
    pub fn branches(&self) -> Vec<String> {
        let all = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        all.lines().filter(|name| *name != "main").map(str::to_owned).collect()
    }

    /// The number of commits of `branch` that are not on `main`.
    pub fn commits_ahead(&self, branch: &str) -> usize {
        self.git(&["rev-list", "--count", &format!("main..{branch}")]).parse().expect("git counts")
    }

    /// The files that differ between `main` and `branch`.
    pub fn changed_files(&self, branch: &str) -> Vec<String> {
        self.git(&["diff", "--name-only", &format!("main...{branch}")]).lines().map(str::to_owned).collect()
    }

    /// The content of a file on a branch.
    pub fn file(&self, branch: &str, path: &str) -> String {
        self.git(&["show", &format!("{branch}:{path}")])
    }

    /// Commits one file to a branch, as a person with a clone would.
    pub fn commit(&self, branch: &str, path: &str, content: &str) {
        let clone = tempfile::tempdir().expect("make a temporary folder");
        let origin = self.path.display().to_string();
        git(clone.path(), &["clone", "--quiet", "--branch", branch, &origin, "."]);
        let file = clone.path().join(path);
        fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("make a folder");
        fs::write(file, content).expect("write a docs page");
        git(clone.path(), &["add", "--all"]);
        git(clone.path(), &["commit", "--quiet", "--message=A person was here"]);
        git(clone.path(), &["push", "--quiet", "origin", &format!("HEAD:refs/heads/{branch}")]);
    }
}

/// Runs git in a folder, without the configuration of the user that runs the tests.
///
/// # Panics
/// When git is missing or fails; the message has git's output.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "A. Writer")
        .env("GIT_AUTHOR_EMAIL", "writer@example.com")
        .env("GIT_COMMITTER_NAME", "A. Writer")
        .env("GIT_COMMITTER_EMAIL", "writer@example.com")
        .output()
        .unwrap_or_else(|error| panic!("could not run git ({error}): the black-box tests need it on the PATH"));
    assert!(output.status.success(), "git {args:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("git speaks UTF-8 here").trim_end_matches('\n').to_owned()
}
