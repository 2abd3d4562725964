//! The first command of the README.

use docent_tests::{Finished, Installation};

#[test]
fn the_demo_runs_to_its_end_and_shows_what_happened() {
    let installation = Installation::new();
    let mut command = installation.command(["demo", "--exit", "--listen", "127.0.0.1:0"]);
    let finished = Finished::from(command.output().expect("start docent demo"));
    assert_eq!(finished.code, Some(0), "{}\n{}", finished.stdout, finished.stderr);
    for shown in ["active", "completed", "/pulls/", "curl", "+", "-"] {
        assert!(finished.stdout.contains(shown), "the demo shows {shown}:\n{}", finished.stdout);
    }
    assert!(!finished.stdout.contains("\u{1b}["), "no colours where there is no terminal");
}

#[test]
fn the_demo_can_be_run_again_on_its_data() {
    let installation = Installation::new();
    for run in 1..=2 {
        let finished = installation.run(&["demo", "--exit", "--listen", "127.0.0.1:0"]);
        assert_eq!(finished.code, Some(0), "run {run}:\n{}\n{}", finished.stdout, finished.stderr);
    }
}
