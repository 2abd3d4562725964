//! Finds or builds the `docent` binary.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::OnceLock;

/// The binary under test: `$DOCENT_BIN`, or `docent` of the dev profile, built first.
///
/// # Panics
/// When it can't be built.
pub fn docent() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| env::var_os("DOCENT_BIN").map_or_else(build, PathBuf::from))
}

/// The root of the source tree.
pub fn source_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests live one folder below the root")
}

/// Builds `docent` once per test run, although nextest runs every test in its own process: the first process that takes
/// the lock builds, and writes the id of the run into a file for the others.
fn build() -> PathBuf {
    let target = target_dir();
    let marks = target.join("docent-tests");
    fs::create_dir_all(&marks).expect("make a folder in the target directory");
    let run = env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| id().to_string());
    let lock = File::create(marks.join("build.lock")).expect("create the build lock");
    lock.lock().expect("take the build lock");
    let last_built = marks.join("built-for-run");
    if fs::read_to_string(&last_built).is_ok_and(|built| built == run) {
        return target.join("debug/docent");
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--package", "docent-server", "--bin", "docent", "--features", "openid,postgres"])
        .current_dir(source_root())
        .status()
        .expect("run cargo build");
    assert!(built.success(), "cargo could not build the docent binary: {built}");
    fs::write(&last_built, run).expect("note that docent is built");
    target.join("debug/docent")
}

fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| source_root().join("target"), PathBuf::from)
}
