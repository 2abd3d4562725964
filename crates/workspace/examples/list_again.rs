//! How long it takes to list a repository's files again after one of them changed, beside listing them for the first time.
//!
//! `cargo run --release -p docent-workspace --example list_again [FILES] [ROUNDS]`

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use docent_workspace::{CommitMeta, Mirrors, Remote};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let files: usize = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let dir = tempfile::tempdir()?;
    let bare = dir.path().join("docs.git");
    make(&bare, files)?;
    let remote = Remote::new(bare.display().to_string());
    let mirrors = Mirrors::new(dir.path().join("mirrors"));
    let mirror = mirrors.fetch_blocking(&remote)?;
    let mut tip = mirror.branch("main")?;
    let mut watch = Watch::default();
    let listed = watch.time(|| mirror.base(tip)?.files("docs").map(|files| files.len()))?;
    watch.print(&format!("the first time, {listed} files"), 1);

    let mut commits = Vec::new();
    for round in 0..rounds {
        let mut overlay = mirror.overlay(tip)?;
        let page = format!("docs/section-{}/page-{}.md", round % 100, round % 100);
        overlay.write(&page, format!("# Edited {round}\n").into_bytes())?;
        let meta = CommitMeta {
            name: "Docent".into(),
            email: "docent@example.com".into(),
            seconds: 1_700_000_000,
            message: "Edit".into(),
            parents: vec![tip],
        };
        tip = mirror.commit(&overlay, &meta)?;
        commits.push(tip);
    }
    let mut watch = Watch::default();
    for commit in &commits {
        let again = watch.time(|| mirror.base(*commit)?.files("docs").map(|files| files.len()))?;
        assert_eq!(again, listed);
    }
    watch.print("again, one file changed", rounds);
    let mut watch = Watch::default();
    for commit in &commits {
        let base = mirror.base(*commit)?;
        let named = watch.time(|| {
            base.files("docs").map(|files| {
                let named = files.iter().map(|file| (file.path.to_string(), file.blob.to_string()));
                named.collect::<Vec<_>>().len()
            })
        })?;
        assert_eq!(named, listed);
    }
    watch.print("again, and each told by path and id", rounds);
    Ok(())
}

/// Time as a clock and as the processor has it.
#[derive(Default)]
struct Watch {
    wall: Duration,
    cpu: Duration,
}

impl Watch {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (began, cpu) = (Instant::now(), cpu_time());
        let value = work();
        self.wall += began.elapsed();
        self.cpu += cpu_time().saturating_sub(cpu);
        value
    }

    fn print(&self, what: &str, times: usize) {
        let each = |time: Duration| time.as_secs_f64() * 1000.0 / times.max(1) as f64;
        println!("{:>8.2} ms of a processor, {:>8.2} ms by the clock: {what}", each(self.cpu), each(self.wall));
    }
}

/// How long this thread has run; nothing where the system does not tell.
fn cpu_time() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or_default())
}

/// A repository of so many pages in a hundred folders.
fn make(bare: &Path, files: usize) -> Result<(), Box<dyn Error>> {
    git(Command::new("git").args(["init", "-q", "--bare", "-b", "main"]).arg(bare))?;
    let mut child =
        Command::new("git").arg("-C").arg(bare).args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("git takes no input")?;
    write!(input, "commit refs/heads/main\ncommitter Docent <docent@example.com> 1700000000 +0000\ndata 5\nPages\n")?;
    for number in 0..files {
        let text = format!("# Page {number}\n\nA sentence about page {number}.\n");
        let folder = number % 100;
        write!(input, "M 644 inline docs/section-{folder}/page-{number}.md\ndata {}\n{text}\n", text.len())?;
    }
    drop(input);
    if child.wait()?.success() { Ok(()) } else { Err("git fast-import failed".into()) }
}

fn git(command: &mut Command) -> Result<(), Box<dyn Error>> {
    if command.status()?.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
