//! A copy of the database that is made while the server works, and a server that starts on the copy.

use std::fs;
use std::path::Path;
use std::thread;

use docent_tests::agent::{branch, id};
use docent_tests::{Agent, Installation, Site};
use parking_lot::Mutex;
use serde_json::Value;

fn pages(count: usize) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("page-{n}.md"), format!("# Page {n}\n\nHere is alpha-{n:04}.\n"))).collect()
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("paths of tests are UTF-8")
}

#[test]
fn a_backup_under_load_holds_every_job_that_was_accepted_before_it() {
    const JOBS: usize = 40;
    let site = Site::with_pages(&pages(JOBS));
    let copy = site.installation.root().join("copy.db");
    let accepted: Mutex<Vec<Value>> = Mutex::default();
    let before = thread::scope(|scope| {
        for worker in 0..4 {
            let (site, accepted) = (&site, &accepted);
            scope.spawn(move || {
                for n in (worker..JOBS).step_by(4) {
                    let job = site.agent().create(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\""));
                    accepted.lock().push(job);
                }
            });
        }
        docent_tests::eventually("some jobs to be accepted", || (accepted.lock().len() > JOBS / 4).then_some(()));
        let before = accepted.lock().clone();
        site.installation.must(&["backup", shown(&copy)]);
        before
    });
    assert!(before.len() > JOBS / 4);

    // Restored as documented: alone in a folder, under the original name.
    let Site { server, repository, admin_key, installation, .. } = site;
    assert!({
        server.terminate();
        server.ended().success()
    });
    fs::rename(installation.data(), installation.root().join("lost")).expect("lose the data folder");
    fs::create_dir(installation.data()).expect("a new data folder");
    fs::rename(&copy, installation.data().join("docent.db")).expect("restore the copy");
    let server = installation.serve();
    let agent = Agent::new(&server, "acme", &admin_key);
    for job in &before {
        let job = agent.reaches(id(job), "completed");
        assert_eq!(repository.commits_ahead(branch(&job)), 1, "{job:#}");
    }
}

#[test]
fn a_backup_is_made_without_a_server_and_never_over_a_file_by_accident() {
    let installation = Installation::new();
    let repository = installation.repository("acme", &pages(1));
    installation.add_project("acme", &repository);
    let copy = installation.root().join("copies").join("today.db");
    let made = installation.must(&["backup", shown(&copy), "--json"]).json();
    assert_eq!(made["bytes"].as_u64(), fs::metadata(&copy).map(|file| file.len()).ok(), "{made:#}");
    assert_eq!(made["file"], shown(&copy));

    fs::write(&copy, "something of somebody's").expect("another file");
    let refused = installation.run(&["backup", shown(&copy)]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(fs::read(&copy).expect("it is there"), b"something of somebody's");
    installation.must(&["backup", shown(&copy), "--force"]);
    assert!(fs::read(&copy).expect("it is there").starts_with(b"SQLite format 3"));
    let left: Vec<_> = fs::read_dir(copy.parent().expect("a folder")).expect("reads").flatten().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");
}

#[test]
fn nothing_is_backed_up_where_there_is_nothing() {
    let installation = Installation::new();
    let copy = installation.root().join("copy.db");
    let refused = installation.run(&["backup", shown(&copy)]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("--data"), "{}", refused.stderr);
    assert!(!copy.exists() && !installation.data().exists(), "and nothing is made");
}

#[test]
fn the_doctor_tells_how_large_everything_is() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    let told = site.installation.must(&["doctor", "--json"]).json();
    let sizes = &told["sizes"];
    for name in ["database", "log", "mirrors", "indexes"] {
        assert!(sizes[name]["bytes"].as_u64().is_some(), "{name}: {told:#}");
    }
    assert_eq!((&sizes["jobs"], &sizes["threads"]), (&1.into(), &0.into()), "{sizes:#}");
    assert!(sizes["entries"].as_u64().is_some_and(|entries| entries > 3), "{sizes:#}");
    assert!(sizes["mirrors"]["bytes"].as_u64() > Some(0) && sizes["indexes"]["bytes"].as_u64() > Some(0), "{sizes:#}");
    let text = site.installation.must(&["doctor"]).stdout;
    assert!(text.contains("1 job (0 active), ") && text.contains("KiB"), "{text}");
}
