//! Assigns processes to cores, and measures how busy the cores were.

use std::fs;
use std::process::{Child, Command};
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that a child process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cores {
    /// All cores.
    All,
    /// The first core alone.
    First,
    /// All but the first core; the first if there is no other.
    Others,
}

impl Cores {
    /// Starts a child on these cores, including its threads.
    pub(crate) fn spawn(self, command: &mut Command) -> Result<Child, String> {
        // A child process inherits the core affinity of the thread that starts it.
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

    /// Restricts this thread to these cores.
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

/// Cumulative times of each core, as the kernel counts them.
#[derive(Debug)]
pub(crate) struct Times(Vec<Time>);

/// The times of one core, in ticks.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    all: u64,
    idle: u64,
    stolen: u64,
}

/// How some cores spent a period, as fractions of 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) idle: f64,
    /// Time that the hypervisor gave to other machines.
    pub(crate) stolen: f64,
}

impl Times {
    pub(crate) fn now() -> Self {
        Self::read(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn read(stat: &str) -> Self {
        let cores = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
        let times = cores.map(|line| {
            // User, nice, system, idle, iowait, irq, softirq, steal; guest time is included in user time.
            let ticks: Vec<u64> =
                line.split_whitespace().skip(1).take(8).map(|ticks| ticks.parse().unwrap_or(0)).collect();
            let at = |place: usize| ticks.get(place).copied().unwrap_or(0);
            Time { all: ticks.iter().sum(), idle: at(3) + at(4), stolen: at(7) }
        });
        Self(times.collect())
    }

    /// How the first core, and all others together, spent the time since `before`.
    pub(crate) fn since(&self, before: &Self) -> [Spent; 2] {
        let spent: Vec<Time> = self.0.iter().zip(&before.0).map(|(now, before)| now.since(*before)).collect();
        let (first, others) = spent.split_at(spent.len().min(1));
        [first, others].map(|cores| {
            let sum = |of: fn(&Time) -> u64| cores.iter().map(of).sum::<u64>() as f64;
            let all = sum(|time| time.all).max(1.0);
            Spent { idle: sum(|time| time.idle) / all, stolen: sum(|time| time.stolen) / all }
        })
    }
}

impl Time {
    fn since(self, before: Self) -> Self {
        Self {
            all: self.all.saturating_sub(before.all),
            idle: self.idle.saturating_sub(before.idle),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }
}

/// Raises the limit of open files to the hard limit, for child processes too. Returns the limit.
pub(crate) fn open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    // A failure to raise it shows in the returned limit.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_the_difference_of_kernel_counters() {
        let before =
            Times::read("cpu  9 0 9 9 0 0 0 0 0 0\ncpu0 10 0 5 100 5 0 0 7 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 5\n");
        let now = Times::read(
            "cpu  9 0 9 9 0 0 0 0 0 0\ncpu0 50 0 15 120 15 0 10 17 0 0\ncpu1 1 0 0 3 0 0 0 0 0 0\nintr 9\n",
        );
        let [first, others] = now.since(&before);
        assert_eq!((first.idle, first.stolen), (0.3, 0.1));
        assert_eq!((others.idle, others.stolen), (0.75, 0.0));
        assert_eq!(Times(Vec::new()).since(&before), [Spent::default(); 2]);
    }

    #[test]
    fn a_child_that_is_kept_to_a_core_sees_one() {
        let mut command = Command::new("nproc");
        command.env_remove("OMP_NUM_THREADS").stdout(std::process::Stdio::piped());
        let output = Cores::First.spawn(&mut command).expect("start nproc").wait_with_output().expect("wait for it");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
        assert!(Cores::All.take().is_ok() && open_files() > 0);
    }
}
