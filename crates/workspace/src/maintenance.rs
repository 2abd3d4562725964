//! Keeping repositories small: loose objects and packs pile up, and git knows how to put them together.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::mirror::Shared;
use crate::origin::Origin;
use crate::program;

/// Loose objects in one of the 256 folders, as git estimates the whole.
const LOOSE_IN_ONE_FOLDER: usize = 27;
const PACKS: usize = 50;
const LIMIT: Duration = Duration::from_secs(1800);

/// Puts a mirror of ours in order when enough has piled up.
pub(crate) fn mirror_when_due(shared: &Shared) {
    when_due(&shared.dir, &["gc", "--quiet"]);
}

/// Does for a repository on this machine what `git push` would have started there, by that repository's own settings.
pub(crate) fn origin_when_due(origin: &Origin) {
    if let Some(dir) = origin.kept_by_pushers() {
        when_due(&dir, &["gc", "--auto", "--quiet"]);
    }
}

/// Runs git beside the work, one such run at a time. It packs what is reachable and drops what has been unreachable
/// for two weeks. Without git, nothing is put in order.
fn when_due(dir: &Path, args: &'static [&'static str]) {
    static RUNS: AtomicBool = AtomicBool::new(false);
    if !is_due(&dir.join("objects")) || RUNS.swap(true, Ordering::SeqCst) {
        return;
    }
    let dir = dir.to_owned();
    thread::spawn(move || {
        run(&dir, args);
        RUNS.store(false, Ordering::SeqCst);
    });
}

fn run(dir: &PathBuf, args: &[&str]) {
    let mut command = program::git();
    command.args(["-c", "core.hooksPath=/dev/null"]);
    command.arg("--git-dir").arg(dir).args(args);
    match program::run(command, "put a repository in order", LIMIT) {
        Ok(said) if said.success => tracing::debug!(repository = %dir.display(), "put in order"),
        Ok(said) => tracing::warn!(repository = %dir.display(), said = said.err.trim(), "could not be put in order"),
        Err(error) => tracing::warn!(repository = %dir.display(), %error, "could not be put in order"),
    }
}

fn is_due(objects: &Path) -> bool {
    let count = |folder: &str, suffix: &str| {
        let Ok(entries) = fs::read_dir(objects.join(folder)) else { return 0 };
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().ends_with(suffix)).count()
    };
    count("17", "") > LOOSE_IN_ONE_FOLDER || count("pack", ".pack") > PACKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_packs_or_loose_objects_make_it_due() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_due(dir.path()));
        fs::create_dir(dir.path().join("17")).unwrap();
        for n in 0..=LOOSE_IN_ONE_FOLDER {
            fs::write(dir.path().join("17").join(n.to_string()), "").unwrap();
        }
        assert!(is_due(dir.path()));
    }
}
