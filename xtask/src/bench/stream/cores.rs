//! Who runs on which core.

use std::process::{Child, Command};
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cores {
    /// All there are.
    All,
    /// The first alone.
    First,
    /// All but the first; the first where there is no other.
    Others,
}

impl Cores {
    /// Starts a child on these cores, its threads with it.
    pub(crate) fn spawn(self, command: &mut Command) -> Result<Child, String> {
        // A child has the cores of the thread that starts it.
        let started = thread::scope(|scope| {
            let starting = scope.spawn(|| {
                self.take()?;
                let program = command.get_program().to_string_lossy().into_owned();
                command.spawn().map_err(|error| format!("could not start {program}: {error}"))
            });
            starting.join()
        });
        started.unwrap_or_else(|_| Err("could not start a child".to_owned()))
    }

    /// Keeps this thread to these cores.
    pub(crate) fn take(self) -> Result<(), String> {
        if self == Self::All {
            return Ok(());
        }
        let all = sched_getaffinity(None).map_err(|error| format!("could not ask for the cores: {error}"))?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core));
        let first = cores.next().unwrap_or_default();
        let mut chosen = CpuSet::new();
        match self {
            Self::First => chosen.set(first),
            _ => cores.for_each(|core| chosen.set(core)),
        }
        if chosen.count() == 0 {
            chosen.set(first);
        }
        sched_setaffinity(None, &chosen).map_err(|error| format!("could not keep to some cores: {error}"))
    }
}

/// Raises the limit of open files as far as it may be; our children have it too. Gives the limit.
pub(crate) fn open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    // What is not to be raised is said by its number.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_kept_to_a_core_sees_one() {
        let mut command = Command::new("nproc");
        command.env_remove("OMP_NUM_THREADS").stdout(std::process::Stdio::piped());
        let output = Cores::First.spawn(&mut command).expect("start nproc").wait_with_output().expect("wait for it");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
        assert!(Cores::All.take().is_ok() && open_files() > 0);
    }
}
