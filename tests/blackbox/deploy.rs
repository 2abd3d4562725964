//! The files of `deploy/`, with the programs that read them: nginx, Caddy and HAProxy in front of a server, promtool,
//! systemd-analyze, and a shell. Only addresses and paths are changed.

mod balancer;
pub(crate) mod certificate;
mod checked;
mod container;
pub(crate) mod proxies;
pub(crate) mod reader;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of `deploy/`.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(name)
}

/// The text of a file of `deploy/` with these changes, each of which must find something to change.
fn changed(name: &str, changes: &[(&str, &str)]) -> String {
    let text = fs::read_to_string(file(name)).expect("read a file of deploy");
    and_changed(text, changes)
}

/// A text with these changes, each of which must find something to change.
fn and_changed(text: String, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "there is no `{from}`");
        text.replace(from, to)
    })
}

/// A program that `cargo xtask test --only deploy` finds or installs.
fn program(variable: &str) -> OsString {
    std::env::var_os(variable).unwrap_or_else(|| panic!("${variable} names no program"))
}

/// The output of a command that must succeed.
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    said
}
