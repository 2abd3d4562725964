//! The files of `deploy/` and `examples/three_nodes/`, with the programs that read them: nginx, Caddy and HAProxy in front of a
//! server, promtool, systemd-analyze, a shell, and podman. Only addresses and paths are changed.

mod balancer;
pub(crate) mod certificate;
mod checked;
pub(crate) mod proxies;
pub(crate) mod reader;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use docent_tests::binary::source_root;

pub(crate) fn project_file(path: &str) -> PathBuf {
    source_root().join(path)
}

/// The text of a file of the project with these changes, each of which must find something to change.
pub(crate) fn changed(path: &str, changes: &[(&str, &str)]) -> String {
    let text = fs::read_to_string(project_file(path)).expect("read a file of the project");
    and_changed(text, changes)
}

/// A text with these changes, each of which must find something to change.
fn and_changed(text: String, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "there is no `{from}`");
        text.replace(from, to)
    })
}

/// A program that `cargo xtask test --only deploy` or `containers` finds or installs.
pub(crate) fn program(variable: &str) -> OsString {
    std::env::var_os(variable).unwrap_or_else(|| panic!("${variable} names no program"))
}

/// The output of a command that must succeed.
pub(crate) fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?} failed:\n{said}");
    said
}
