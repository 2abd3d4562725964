//! The first command of the README.

use docent_tests::repository::git;
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
    let run = |run: &str| {
        let finished = installation.run(&["demo", "--exit", "--listen", "127.0.0.1:0"]);
        assert_eq!(finished.code, Some(0), "{run}:\n{}\n{}", finished.stdout, finished.stderr);
        finished.stdout
    };
    run("the first time");
    assert!(run("again").contains("/pulls/"), "the words are not merged, so it is done again");

    let repository = installation.data().join("larkspur.git");
    let branch = git(&repository, &["for-each-ref", "--count=1", "--format=%(objectname)", "refs/heads/docent/"]);
    git(&repository, &["update-ref", "refs/heads/main", &branch]);
    let told = run("after a merge");
    assert!(told.contains("completed") && !told.contains("/pulls/"), "nothing is left to change: {told}");
}
