//! Builds the measured programs, and measures on a separate thread, to the end or until a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::Command;

use crate::child::{self, Ended, StopSignal};
use crate::workspace::{Workspace, cargo};

/// The cargo profile of the measured programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    /// For trying a bench out: its figures are meaningless.
    Dev,
}

impl Profile {
    /// The profile's folder in the target directory.
    pub(crate) const fn folder(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dev => "debug",
        }
    }
}

/// Whether a measurement was asked to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stopping(Arc<AtomicBool>);

impl Stopping {
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// If the measurement was asked to stop.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_asked() { Err("stopped".to_owned()) } else { Ok(()) }
    }
}

/// Runs `cargo build` with each of these argument lists, one after the other, so that features that one build needs do
/// not change another; then measures. `None` if it was stopped before the end.
pub(crate) async fn run_to_its_end<T: Send + 'static>(
    profile: Profile,
    what: &[&[&str]],
    workspace: &Workspace,
    stop: &mut StopSignal,
    measure: impl FnOnce(&Stopping) -> T + Send + 'static,
) -> Result<Option<T>, String> {
    for what in what {
        let mut build = Command::new(cargo());
        // Cargo's progress is shown: the first build takes many minutes.
        build.arg("build").args((profile == Profile::Release).then_some("--release"));
        build.args(*what).current_dir(&workspace.root);
        match child::run(&mut build, stop).await? {
            Ended::Well => {}
            Ended::Badly(how) => return Err(format!("could not build what is measured: {how}")),
            Ended::Stopped => return Ok(None),
        }
    }
    let stopping = Stopping::default();
    let measured = {
        let stopping = stopping.clone();
        tokio::task::spawn_blocking(move || measure(&stopping))
    };
    tokio::pin!(measured);
    let measured = tokio::select! {
        measured = &mut measured => measured,
        () = stop.received() => {
            stopping.0.store(true, Ordering::Relaxed);
            println!("stopping after this measurement …");
            measured.await
        }
    };
    measured.map(Some).map_err(|error| format!("a measurement failed: {error}"))
}
