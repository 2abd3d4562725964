//! The resources that a process uses, from `/proc`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval at which memory is sampled.
const LOOK: Duration = Duration::from_millis(2);

/// The CPU time of a process and of those of its children that have ended.
pub(crate) fn cpu(pid: u32) -> Duration {
    let fields = stat(&pid.to_string());
    ticks(&fields[11..15])
}

/// The CPU time of a process and of all that descend from it.
pub(crate) fn cpu_of_all(pid: u32) -> Duration {
    // One that has ended meanwhile is among those of its parent.
    let running = descendants(pid).into_iter().filter_map(|pid| found_stat(&pid.to_string()));
    running.map(|fields| ticks(&fields[11..13])).sum::<Duration>() + cpu(pid)
}

/// The CPU time of a process alone, including its threads that have ended.
pub(crate) fn own_cpu(pid: u32) -> Duration {
    let fields = stat(&pid.to_string());
    ticks(&fields[11..13])
}

/// The CPU time of each thread of a process in nanoseconds; [`own_cpu`] has a resolution of 10 ms.
#[derive(Debug)]
pub(crate) struct Threads(BTreeMap<OsString, u64>);

impl Threads {
    pub(crate) fn of(pid: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let times = tasks.filter_map(|task| {
            let told = fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some((task.file_name(), told.split_whitespace().next()?.parse().ok()?))
        });
        Self(times.collect())
    }

    /// The CPU time used since `before`, without threads that have ended meanwhile.
    pub(crate) fn since(&self, before: &Self) -> Duration {
        let used = self.0.iter().map(|(thread, time)| time.saturating_sub(before.0.get(thread).copied().unwrap_or(0)));
        Duration::from_nanos(used.sum())
    }
}

/// The CPU time of the child processes of this process that have ended.
pub(crate) fn cpu_of_children() -> Duration {
    let fields = stat("self");
    ticks(&fields[13..15])
}

/// The resident memory of a process, in bytes.
pub(crate) fn resident(pid: u32) -> u64 {
    kibibytes(pid, "VmRSS:") << 10
}

/// The peak memory that a process and its children use together, from now on.
#[derive(Debug)]
pub(crate) struct Peak {
    done: Arc<AtomicBool>,
    watching: JoinHandle<u64>,
}

impl Peak {
    pub(crate) fn watch(pid: u32) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        // Resets the kernel's high-water mark, so that peaks between two samples are counted too.
        let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
        let watching = thread::spawn(move || {
            let mut most = 0;
            let mut children = 0;
            while !told.load(Ordering::Relaxed) {
                // A child between `fork` and `exec` shares the memory of its parent and has none of its own.
                let others = descendants(pid).into_iter().filter(|child| program(*child) != program(pid));
                children = children.max(others.map(resident).sum());
                most = most.max(kibibytes(pid, "VmHWM:") << 10);
                thread::sleep(LOOK);
            }
            most.max(kibibytes(pid, "VmHWM:") << 10) + children
        });
        Self { done, watching }
    }

    /// Stops sampling and returns the peak in bytes.
    pub(crate) fn end(self) -> u64 {
        self.done.store(true, Ordering::Relaxed);
        self.watching.join().unwrap_or_default()
    }
}

fn descendants(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect();
    let below: Vec<u32> = children.iter().flat_map(|child| descendants(*child)).collect();
    [children, below].concat()
}

fn program(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// A line of `/proc/PID/status` in KiB; zero if the process is gone.
fn kibibytes(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The fields after the program name, which may contain spaces; the first of them is the state.
fn stat(pid: &str) -> Vec<u64> {
    found_stat(pid).unwrap_or_else(|| panic!("no such process: {pid}"))
}

/// The same; `None` when the process has ended.
fn found_stat(pid: &str) -> Option<Vec<u64>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(") ")?;
    let fields: Vec<u64> = after.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    (fields.len() > 15).then_some(fields)
}

/// Linux reports 100 ticks per second to user space, regardless of the kernel's own rate.
fn ticks(fields: &[u64]) -> Duration {
    Duration::from_millis(fields.iter().sum::<u64>() * 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_uses_time_and_memory() {
        let pid = std::process::id();
        let before = cpu(pid);
        let peak = Peak::watch(pid);
        let block: Vec<u64> = (0..8_000_000).collect();
        while cpu(pid) < before + Duration::from_millis(50) {
            std::hint::black_box(&block);
        }
        assert!(peak.end() >= 60 << 20, "the block is in the peak");
        drop(block);
        assert!(resident(pid) > 1 << 20);
    }

    #[test]
    fn threads_are_counted_finely() {
        let pid = std::process::id();
        let (before, ticks_before) = (Threads::of(pid), own_cpu(pid));
        let spin = || while Threads::of(pid).since(&before) < Duration::from_millis(60) {};
        thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(spin))));
        assert!(own_cpu(pid) > ticks_before);
        assert_eq!(before.since(&before), Duration::ZERO);
        assert!(Threads::of(u32::MAX).since(&before).is_zero());
    }

    #[test]
    fn the_time_of_a_child_is_counted_when_it_has_ended() {
        let before = cpu_of_children();
        let script = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
        let ended = std::process::Command::new("sh").args(["-c", script]).status().expect("run sh");
        assert!(ended.success() && cpu_of_children() > before);
    }
}
