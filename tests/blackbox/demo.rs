//! `docent demo`, the first command of the README.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use docent_tests::repository::git;
use docent_tests::{Finished, Installation, Request};

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
    assert!(!finished.stderr.contains("others could read"), "its folder is its own: {}", finished.stderr);
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

#[test]
fn the_demo_opens_signed_in_by_a_link_that_counts_once() {
    let installation = Installation::new();
    let mut command = installation.command(["demo", "--listen", "127.0.0.1:0"]);
    let mut demo = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("start docent demo");
    let lines = BufReader::new(demo.stdout.take().expect("its output")).lines();
    let link = lines
        .map(|line| line.expect("text"))
        .find_map(|line| Some(line.trim().split_once("http://")?.1.to_owned()).filter(|link| link.contains("/join/")));
    let link = link.expect("a link to the dashboard");
    let (address, path) = link.split_once('/').expect("a path");
    let address = address.parse().expect("an address");
    let open = || Request::get(format!("/{path}")).send(address).expect("an answer");
    let first = open();
    assert_eq!((first.status, first.header("location")), (303, Some("/dashboard")), "{}", first.text());
    let session = first.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a session").to_owned();
    let keys = Request::get("/dashboard/larkspur/keys").header("cookie", session).send(address).expect("an answer");
    assert_eq!(keys.status, 200, "an owner sees the keys");
    let again = open();
    assert_eq!((again.status, again.header("set-cookie")), (404, None), "{}", again.text());
    demo.kill().expect("ends");
    demo.wait().expect("ended");
}
