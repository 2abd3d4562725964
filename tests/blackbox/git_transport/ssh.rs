//! A git host over ssh, with the key and the known hosts of `docent.toml`, or with the configuration of the machine's
//! `ssh`.
//!
//! Needs `sshd`, which `cargo xtask test` brings.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use docent_tests::SshServer;
use tempfile::TempDir;

use super::Hosted;

/// A folder for `PATH` in which `ssh` reads a configuration of the test's own, where a person's lies in their home.
fn configured(folder: &TempDir, key: &Path, hosts: &Path) -> String {
    let config = folder.path().join("config");
    let text = format!("IdentityFile {}\nIdentitiesOnly yes\nUserKnownHostsFile {}\n", key.display(), hosts.display());
    fs::write(&config, text).expect("write the configuration of ssh");
    let path = std::env::var("PATH").expect("there is a PATH");
    let real = std::env::split_paths(&path).map(|one| one.join("ssh")).find(|one| one.exists());
    let real: PathBuf = real.expect("the OpenSSH client is installed");
    let wrapper = folder.path().join("ssh");
    let script = format!("#!/bin/sh\nexec '{}' -F '{}' \"$@\"\n", real.display(), config.display());
    fs::write(&wrapper, script).expect("write the wrapper of ssh");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("make it executable");
    format!("{}:{path}", folder.path().display())
}

fn hosted(key: impl FnOnce(&SshServer) -> PathBuf, hosts: impl FnOnce(&SshServer) -> PathBuf) -> (Hosted, SshServer) {
    let server = SshServer::start();
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let path = configured(&folder, &key(&server), &hosts(&server));
    let hosted = Hosted::at(|repository| server.url(repository), &[("PATH", &path)]).keeping(folder);
    (hosted, server)
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_job_reaches_a_repository_over_ssh_with_the_key_of_the_configuration() {
    let server = SshServer::start();
    let (key, hosts) = (server.key().display().to_string(), server.known_hosts().display().to_string());
    let env = [("DOCENT_GIT__SSH_KEY_FILE", key.as_str()), ("DOCENT_GIT__SSH_KNOWN_HOSTS_FILE", hosts.as_str())];
    let hosted = Hosted::at(|repository| server.url(repository), &env);
    let job = hosted.completes();
    hosted.has_the_work_of(&job);
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_job_reaches_a_repository_over_ssh_with_the_key_of_the_user() {
    let (hosted, _server) = hosted(SshServer::key, SshServer::known_hosts);
    let job = hosted.completes();
    hosted.has_the_work_of(&job);
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_key_that_is_not_let_in_fails_the_job_and_says_what_to_add() {
    let (hosted, _server) = hosted(SshServer::stranger, SshServer::known_hosts);
    let message = hosted.fails();
    assert!(message.contains("ssh key was not accepted") && message.contains("public half"), "{message}");
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_host_that_shows_another_key_is_not_talked_to() {
    let (hosted, _server) = hosted(SshServer::key, SshServer::changed_hosts);
    let message = hosted.fails();
    assert!(message.contains("host key") && message.contains("known_hosts"), "{message}");
}

#[test]
fn a_machine_without_ssh_says_what_to_install() {
    let folder = tempfile::tempdir().expect("make a temporary folder");
    let path = folder.path().display().to_string();
    let message = Hosted::at(|_| "git@git.example.com:docs.git".to_owned(), &[("PATH", &path)]).fails();
    assert!(message.contains("`ssh` program was not found; install"), "{message}");
}
