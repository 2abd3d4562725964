//! How long a one-file job takes on a repository of 5,000 files: by a warm mirror, and by cloning.
//!
//! `cargo run --release -p docent-workspace --example warm_cycle [FILES] [ROUNDS] [folder|http]`
//!
//! With `http` the repository is served by `git http-backend` on the loopback interface.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use docent_tests::git_server::{Behaviour, GitServer};
use docent_workspace::{CommitMeta, Mirrors, Remote};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let files: usize = arguments.next().map_or(Ok(5_000), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let dir = tempfile::tempdir()?;
    let root = dir.path();
    make(root, files)?;
    let bare = root.join("docs.git").display().to_string();
    let address = match arguments.next().as_deref() {
        None | Some("folder") => bare,
        Some("http") => {
            let server = GitServer::start(root);
            server.behave(Behaviour::Open);
            server.url("docs.git")
        }
        Some(other) => return Err(format!("`{other}` is neither `folder` nor `http`").into()),
    };
    let remote = Remote::new(&address);
    let mirrors = Mirrors::new(root.join("mirrors"));

    let begun = Instant::now();
    let mirror = mirrors.fetch_blocking(&remote)?;
    println!("first clone            {:>8.2} ms", millis(begun.elapsed()));
    let main = mirror.branch("main")?;
    let begun = Instant::now();
    let listed = mirror.base(main)?.files("")?.len();
    println!("first listing          {:>8.2} ms, {listed} files", millis(begun.elapsed()));
    let begun = Instant::now();
    let base = mirror.base(main)?;
    let mut bytes = 0;
    for file in base.files("")?.iter() {
        bytes += base.blob(file.blob)?.len();
    }
    println!("reading every file     {:>8.2} ms, {bytes} bytes", millis(begun.elapsed()));

    let mut parts: [Vec<Duration>; 5] = Default::default();
    for round in 0..rounds {
        let all = Instant::now();
        let mut lap = Instant::now();
        let mut next = |part: &mut Vec<Duration>| {
            part.push(lap.elapsed());
            lap = Instant::now();
        };
        let mirror = mirrors.fetch_blocking(&remote)?;
        let main = mirror.branch("main")?;
        next(&mut parts[0]);
        let mut overlay = mirror.overlay(main)?;
        overlay.write("section-7/page-107.md", format!("# Edited {round}\n").into_bytes())?;
        next(&mut parts[1]);
        let meta = CommitMeta {
            name: "Docent".into(),
            email: "docent@example.com".into(),
            seconds: 1_700_000_000,
            message: "Edit".into(),
            parents: vec![main],
        };
        let commit = mirror.commit(&overlay, &meta)?;
        next(&mut parts[2]);
        mirror.push(&remote, &format!("job-{round}"), commit, None)?;
        next(&mut parts[3]);
        parts[4].push(all.elapsed());
    }
    for (name, part) in ["fetch, nothing new", "edit", "commit", "push", "warm cycle"].iter().zip(&mut parts) {
        println!("{name:<22} {:>8.2} ms", millis(median(part)));
    }
    let ours = median(&mut parts[4]);

    let (mut cloned, mut pushed) = (Vec::new(), Vec::new());
    for round in 0..5 {
        let begun = Instant::now();
        let work = root.join(format!("clone-{round}"));
        git(root, &["clone", "-q", &address, &work.to_string_lossy()])?;
        git(&work, &["checkout", "-q", "-b", &format!("clone-{round}")])?;
        fs::write(work.join("section-7/page-107.md"), format!("# Cloned {round}\n"))?;
        git(&work, &["commit", "-q", "-a", "-m", "Edit"])?;
        let push = Instant::now();
        git(&work, &["push", "-q", "origin", "HEAD"])?;
        pushed.push(push.elapsed());
        cloned.push(begun.elapsed());
        fs::remove_dir_all(&work)?;
    }
    println!("git push alone         {:>8.2} ms", millis(median(&mut pushed)));
    let theirs = median(&mut cloned);
    println!(
        "clone, edit, commit, push {:>5.2} ms, {:.1} times as long",
        millis(theirs),
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
    Ok(())
}

fn make(root: &Path, files: usize) -> Result<(), Box<dyn Error>> {
    let work = root.join("work");
    fs::create_dir(&work)?;
    git(&work, &["init", "-q", "-b", "main"])?;
    for number in 0..files {
        let folder = work.join(format!("section-{}", number % 100));
        fs::create_dir_all(&folder)?;
        let text = format!("# Page {number}\n\n{}", format!("A sentence about page {number}.\n").repeat(30));
        fs::write(folder.join(format!("page-{number}.md")), text)?;
    }
    git(&work, &["add", "-A"])?;
    git(&work, &["commit", "-q", "-m", "Pages"])?;
    git(root, &["clone", "-q", "--bare", "work", "docs.git"])
}

fn git(dir: &Path, args: &[&str]) -> Result<(), Box<dyn Error>> {
    let identity = ["-c", "user.name=Docent", "-c", "user.email=docent@example.com"];
    let status = Command::new("git").current_dir(dir).args(identity).args(args).status()?;
    if status.success() { Ok(()) } else { Err(format!("git {args:?} failed").into()) }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
