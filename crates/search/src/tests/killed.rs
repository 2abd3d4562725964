//! A process that is killed while it updates an index leaves a working index behind.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Docs, question};
use crate::Index;

const FOLDER: &str = "DOCENT_SEARCH_TEST_FOLDER";
const PAGES: usize = 40;

/// The docs after `edits` edits, each of which rewrites one page.
fn docs(edits: usize) -> Docs {
    let mut docs = Docs::default();
    for page in 0..PAGES {
        // The number of the last edit of this page. Edits are numbered from `PAGES` on; a page without an edit has its
        // own number.
        let last = (page + PAGES * ((edits + PAGES - 1 - page) / PAGES)).min(edits + PAGES);
        docs.write(
            &format!("page{page}.md"),
            &format!("# Page {page}\n\neverywhere and edit{last}\n\n## Part\n\nmore"),
        );
    }
    docs.commit = edits.to_string();
    docs
}

/// Not a test itself: the loop of the processes that the other test kills.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn a_process_that_updates_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let index = Index::open(Path::new(&folder)).expect("an index");
    let mut edits = index.snapshot().commit().and_then(|commit| commit.parse().ok()).unwrap_or(0);
    loop {
        edits += 1;
        let tell = || drop(writeln!(std::io::stdout().lock(), "at work"));
        index.update(&docs(edits), &mut |_| tell()).expect("an update");
        tell();
    }
}

fn process(folder: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "tests::killed::a_process_that_updates_until_it_is_killed", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process")
}

#[test]
fn after_fifty_kills_the_index_opens_and_the_next_update_succeeds() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut moment = move |most: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % most
    };
    let mut before = 0;
    for kill in 0..50 {
        let mut child = process(dir.path());
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let at = lines.map_while(Result::ok).filter(|line| line.ends_with("at work")).nth(moment(10) as usize);
        assert!(at.is_some(), "the process updates: {kill}");
        // The process may be killed at any moment from here on.
        std::thread::sleep(std::time::Duration::from_micros(moment(6_000)));
        child.kill().expect("killed");
        child.wait().expect("gone");

        let index = Index::open(dir.path()).expect("an index");
        let edits: usize = index.snapshot().commit().map_or(0, |commit| commit.parse().expect("a number"));
        assert!(edits >= before, "nothing that was published is lost: {edits} after {before}");
        if edits > 0 {
            assert_eq!(index.snapshot().page_count(), PAGES);
            assert_eq!(index.snapshot().search(&super::Query { limit: 100, ..question("everywhere") }).len(), PAGES);
        }
        before = edits + 1;
        index.update(&docs(before), &mut |_| {}).expect("the next update");
        let found = index.snapshot().search(&question(&format!("edit{}", before + PAGES - 1)));
        assert!(!found.is_empty() || before < PAGES, "what was edited last is found: {kill}");
        if kill % 5 == 0 {
            index.compact_now();
        }
        // After that, no other thread or process writes to the folder.
        index.wait();
        let left = super::names(dir.path());
        let packs = left.iter().filter(|name| name.ends_with(".pack")).count();
        assert_eq!(packs, index.snapshot().state().expect("a state").segments.len(), "{left:?}");
    }
}
