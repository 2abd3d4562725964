//! Builds what is measured, and measures on a thread of its own, to the end or until a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::Command;

use crate::child::{self, Ended, StopSignal};
use crate::workspace::{Workspace, cargo};

/// How what is measured is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    Release,
    /// For trying a bench out: its figures mean nothing.
    Dev,
}

impl Profile {
    /// The folder below the target directory where its programs are.
    pub(crate) const fn folder(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dev => "debug",
        }
    }
}

/// Whether a measurement is to stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stopping(Arc<AtomicBool>);

impl Stopping {
    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// When it is to stop.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_asked() { Err("stopped".to_owned()) } else { Ok(()) }
    }
}

/// Builds each of these, as arguments of `cargo build`, one after the other: what one needs must not change what another is
/// made of. Then measures. `None` when it was stopped before that.
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
