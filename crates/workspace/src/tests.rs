//! Scenario tests on whole repositories, which the `git` program creates in temporary folders.

mod fetching;
mod history;
mod hostile;
mod http;
mod merging;
mod overlays;
mod pushing;
mod ssh;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{CommitId, CommitMeta, Mirror, Mirrors, Overlay, Remote};

/// Runs git in `dir` and returns its output.
pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"])
        .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"])
        .args(args)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("git prints UTF-8").trim_end().to_owned()
}

/// An upstream repository, the work tree that feeds it, and the mirrors of one server.
pub(crate) struct World {
    _dir: TempDir,
    pub(crate) work: PathBuf,
    pub(crate) bare: PathBuf,
    pub(crate) mirrors: Mirrors,
    pub(crate) mirrors_root: PathBuf,
}

impl World {
    /// A bare upstream with one commit on `main`: a page, a nested page, an executable, a link and an odd name.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        world.put("README.md", "# Read me\n");
        world.put("docs/index.md", "# Docs\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\n");
        world.put("docs/guides/a b.md", "# Spaced\n");
        world.put("docs.json", "{}\n");
        world.put("bin/run", "#!/bin/sh\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt, symlink};
            fs::set_permissions(world.work.join("bin/run"), fs::Permissions::from_mode(0o755)).unwrap();
            symlink("../../outside", world.work.join("docs/link")).unwrap();
        }
        world.publish("first");
        world
    }

    /// A bare upstream without any commit.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("a folder");
        let (work, bare, mirrors_root) = (root.join("work"), root.join("docs.git"), root.join("mirrors"));
        fs::create_dir_all(&work).unwrap();
        git(&root, &["init", "-q", "--bare", "docs.git"]);
        git(&work, &["init", "-q"]);
        git(&work, &["remote", "add", "origin", bare.to_str().unwrap()]);
        let mirrors = Mirrors::new(&mirrors_root);
        Self { _dir: dir, work, bare, mirrors, mirrors_root }
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.work.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Commits everything in the work tree and pushes the current branch.
    pub(crate) fn publish(&self, message: &str) -> CommitId {
        git(&self.work, &["add", "-A"]);
        git(&self.work, &["commit", "-q", "--allow-empty", "-m", message]);
        git(&self.work, &["push", "-q", "-f", "origin", "HEAD"]);
        git(&self.work, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    pub(crate) fn remote(&self) -> Remote {
        Remote::new(self.bare.to_str().unwrap())
    }

    /// The same repository, reached by `git upload-pack` and `git push`: a repository with an extension that gix does
    /// not support is left to git.
    pub(crate) fn only_for_git(self) -> Self {
        git(&self.bare, &["config", "core.repositoryFormatVersion", "1"]);
        git(&self.bare, &["config", "extensions.objectFormat", "sha1"]);
        self
    }

    pub(crate) fn fetched(&self) -> Mirror {
        self.mirrors.fetch_blocking(&self.remote()).unwrap()
    }

    pub(crate) fn upstream(&self, branch: &str) -> Option<CommitId> {
        let all = git(&self.bare, &["for-each-ref", "--format=%(objectname) %(refname)"]);
        let name = format!(" refs/heads/{branch}");
        all.lines().find_map(|line| line.strip_suffix(name.as_str())).map(|id| id.parse().unwrap())
    }

    /// The content of `branch:path` upstream.
    pub(crate) fn upstream_file(&self, branch: &str, path: &str) -> String {
        git(&self.bare, &["show", &format!("{branch}:{path}")])
    }
}

/// Gives a repository a hook.
#[cfg(unix)]
pub(crate) fn hook(repository: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = repository.join("hooks").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn meta(parents: &[CommitId]) -> CommitMeta {
    CommitMeta {
        name: "Docent".to_owned(),
        email: "docent@example.com".to_owned(),
        seconds: 1_700_000_000,
        message: "Edit the docs".to_owned(),
        parents: parents.to_vec(),
    }
}

/// An overlay on `main` with one edit.
pub(crate) fn edited(mirror: &Mirror, path: &str, text: &str) -> Overlay {
    let mut overlay = mirror.overlay(mirror.branch("main").unwrap()).unwrap();
    overlay.write(path, text.as_bytes()).unwrap();
    overlay
}

/// That overlay as a commit on `main`.
pub(crate) fn committed(mirror: &Mirror, path: &str, text: &str) -> CommitId {
    let overlay = edited(mirror, path, text);
    mirror.commit(&overlay, &meta(&[overlay.commit()])).unwrap()
}

pub(crate) fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.map(|bytes| String::from_utf8(bytes).unwrap())
}
