//! Suites that run, one after the other, in a process of their own beside the rest.
//!
//! Their output goes to a file, which is shown when the last of them has ended.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::child::{self, StopSignal};
use crate::suites::Suite;
use crate::summary::SuiteResult;

#[derive(Debug)]
pub(crate) struct Beside {
    child: Child,
    folder: TempDir,
}

const OUTPUT: &str = "output";
const RESULTS: &str = "results.json";

impl Beside {
    /// Starts the suites with what is built. `program` is this program.
    pub(crate) fn start(program: &Path, suites: &[Suite], install: bool) -> Result<Self, String> {
        let fault = |error: std::io::Error| format!("could not start a process for suites: {error}");
        let folder = tempfile::tempdir().map_err(fault)?;
        let output = File::create(folder.path().join(OUTPUT)).map_err(fault)?;
        let mut command = Command::new(program);
        command.args(["test", "--built"]).args(suites.iter().flat_map(|suite| ["--only", suite.name()]));
        command.args(install.then_some("--install"));
        command.arg("--results").arg(folder.path().join(RESULTS)).stdin(Stdio::null());
        command.stdout(output.try_clone().map_err(fault)?).stderr(output);
        Ok(Self { child: child::start(&mut command)?, folder })
    }

    /// Waits for the end of the suites, and shows what they printed.
    pub(crate) async fn results(self, stop: &mut StopSignal) -> Result<Vec<SuiteResult>, String> {
        let ended = child::wait(self.child, stop).await?;
        let read = |name| std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        println!("{}", read(OUTPUT).trim_end());
        serde_json::from_str(&read(RESULTS)).map_err(|_| format!("suites left no results: {ended:?}"))
    }
}
