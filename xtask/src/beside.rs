//! A suite that runs in a process of its own while others compile.
//!
//! Its output goes to a file, which is shown when the suite has ended.

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
const RESULT: &str = "result.json";

impl Beside {
    /// Starts the suite with what is built. `program` is this program.
    pub(crate) fn start(program: &Path, suite: Suite, install: bool) -> Result<Self, String> {
        let fault = |error: std::io::Error| format!("could not start the suite {}: {error}", suite.name());
        let folder = tempfile::tempdir().map_err(fault)?;
        let output = File::create(folder.path().join(OUTPUT)).map_err(fault)?;
        let mut command = Command::new(program);
        command.args(["test", "--built", "--only", suite.name()]).args(install.then_some("--install"));
        command.arg("--result").arg(folder.path().join(RESULT)).stdin(Stdio::null());
        command.stdout(output.try_clone().map_err(fault)?).stderr(output);
        Ok(Self { child: child::start(&mut command)?, folder })
    }

    /// Waits for the end of the suite, and shows what it printed.
    pub(crate) async fn result(self, stop: &mut StopSignal) -> Result<SuiteResult, String> {
        let ended = child::wait(self.child, stop).await?;
        let read = |name| std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        println!("{}", read(OUTPUT).trim_end());
        serde_json::from_str(&read(RESULT)).map_err(|_| format!("a suite left no result: {ended:?}"))
    }
}
