//! `docent-sim`: runs seeds and reports those that violate a guarantee.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use docent_sim::{BrokenEngine, StoryOutcome, run};
use parking_lot::Mutex;

#[derive(Debug, Parser)]
#[command(name = "docent-sim", about = "Runs the job engine in worlds where everything goes wrong")]
struct Arguments {
    /// Number of seeds to run
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Run this seed alone, and print its trace
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Break the engine from outside; the runs should then fail
    #[arg(long)]
    broken: Option<BrokenEngine>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.seed {
        Some(seed) => one(seed, arguments.broken),
        None => many(arguments.from, arguments.seeds, arguments.broken),
    }
}

fn one(seed: u64, broken: Option<BrokenEngine>) -> ExitCode {
    let told = run(seed, broken, true);
    for line in &told.trace {
        println!("{line}");
    }
    println!("seed {seed}: digest {:016x}", told.digest);
    fails(&told)
}

fn fails(told: &StoryOutcome) -> ExitCode {
    for violation in &told.violations {
        println!("seed {}: {violation}", told.seed);
    }
    if told.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn many(from: u64, seeds: u64, broken: Option<BrokenEngine>) -> ExitCode {
    let (next, began) = (AtomicU64::new(0), Instant::now());
    let counts: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let failed: Mutex<Vec<u64>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= seeds {
                        return;
                    }
                    let told = run(from + number, broken, false);
                    for (what, times) in &told.counts {
                        *counts.lock().entry(what.clone()).or_default() += times;
                    }
                    if !told.violations.is_empty() {
                        failed.lock().push(told.seed);
                        fails(&told);
                    }
                    if (number + 1).is_multiple_of(500) {
                        eprintln!("{} of {seeds} worlds, {} s", number + 1, began.elapsed().as_secs());
                    }
                }
            });
        }
    });
    for (what, times) in counts.into_inner() {
        println!("{times:>9} {what}");
    }
    let mut failed = failed.into_inner();
    failed.sort_unstable();
    let shown: Vec<String> = failed.iter().map(u64::to_string).collect();
    println!(
        "{seeds} worlds from {from} in {} s, {} failed: {}",
        began.elapsed().as_secs(),
        failed.len(),
        shown.join(" ")
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
