//! A copy of the database that is made while the server works, a server that starts on the copy, and processes that are
//! killed in between.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use docent_tests::agent::{branch, id};
use docent_tests::{Agent, Installation, KeyKind, Site};
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

    let Site { server, repository, admin_key, installation, .. } = site;
    let refused = installation.run(&["restore", shown(&copy)]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("another docent server is running"), "{}", refused.stderr);
    assert!({
        server.terminate();
        server.ended().success()
    });
    fs::rename(installation.data(), installation.root().join("lost")).expect("lose the data folder");
    let restored = installation.must(&["restore", shown(&copy), "--json"]).json();
    assert_eq!((&restored["projects"], &restored["replaced"]), (&1.into(), &Value::Null), "{restored:#}");
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
fn no_file_of_a_data_folder_is_ever_written_over() {
    let site = Site::start();
    let other = Installation::with_data();
    let data = site.installation.data();
    let root = site.installation.root();
    std::os::unix::fs::symlink(data.join("docent.db"), root.join("link.db")).expect("a link");
    fs::hard_link(data.join("docent.db"), root.join("hard.db")).expect("a link");
    let mut targets: Vec<_> = fs::read_dir(&data).expect("reads").flatten().map(|entry| entry.path()).collect();
    let mirror = fs::read_dir(data.join("mirrors")).expect("reads").flatten().next().expect("a mirror").path();
    targets.extend([mirror.join("HEAD"), data.join("index/new.db"), data.join("docent.db-journal"), data.join("x.db")]);
    targets.extend([root.join("link.db"), root.join("hard.db"), root.join("data/../data/docent.db")]);
    targets.push(other.data().join("docent.db"));
    for target in targets {
        for force in [&["--force"][..], &[]] {
            let there = target.exists();
            let refused = site.installation.run(&[&["backup", shown(&target)], force].concat());
            assert_eq!(refused.code, Some(1), "{}: {refused:?}", target.display());
            assert!(refused.stderr.contains("files of the data folder"), "{}: {}", target.display(), refused.stderr);
            assert_eq!(target.exists(), there, "{}", target.display());
        }
    }
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    let site = site.killed_and_restarted();
    assert_eq!(site.agent().job(id(&job))["status"], "completed");
    // A folder of one's own in it is allowed.
    site.installation.must(&["backup", shown(&data.join("backups/today.db"))]);
    site.installation.must(&["backup", shown(&data.join("backups/today.db")), "--force"]);
}

/// Runs a command and kills it somewhere on its way: after as many looks at it as are said. Returns whether it was still
/// running.
fn killed(installation: &Installation, args: &[&str], looks: u32) -> bool {
    let mut command = installation.command(args);
    command.arg("--data").arg(installation.data()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("starts");
    for _ in 0..looks {
        if child.try_wait().expect("asks").is_some() {
            return false;
        }
        thread::yield_now();
    }
    child.kill().expect("kills");
    child.wait().expect("ends");
    true
}

#[test]
fn whatever_is_killed_a_restore_brings_back_all_jobs_and_keys() {
    let site = Site::with_pages(&pages(12));
    let jobs: Vec<Value> = (0..6)
        .map(|n| site.agent().create(&format!("Replace \"alpha-{n:04}\" with \"beta-{n:04}\"")))
        .map(|job| site.agent().reaches(id(&job), "completed"))
        .collect();
    let keys: Vec<String> = (0..3).map(|_| site.installation.mint("acme", KeyKind::Admin, &[])).collect();
    let copy = site.installation.root().join("copy.db");
    let mut kills = 0;
    // The looks grow until the command comes to its end.
    for step in 0.. {
        if killed(&site.installation, &["backup", shown(&copy), "--force"], 1 << step) {
            kills += 1;
        } else {
            break;
        }
    }
    site.installation.must(&["backup", shown(&copy), "--force"]);
    let files: Vec<_> =
        fs::read_dir(site.installation.root()).expect("reads").flatten().map(|f| f.file_name()).collect();
    assert!(!files.iter().any(|name| name.to_string_lossy().contains("docent-copy")), "{files:?}");

    // More comes after the backup, and the server is killed.
    let later = site.agent().create("Replace \"alpha-0007\" with \"beta-0007\"");
    site.agent().reaches(id(&later), "completed");
    let Site { server, repository: _repository, admin_key, installation, .. } = site;
    server.kill();
    for step in 0.. {
        if killed(&installation, &["restore", shown(&copy)], 1 << step) {
            kills += 1;
        } else {
            break;
        }
        // The old or the restored one, and whole.
        installation.must(&["doctor"]);
    }
    assert!(kills > 4, "both were killed at several moments");
    let restored = installation.must(&["restore", shown(&copy)]);
    assert!(restored.stderr.contains(".replaced-"), "{restored:?}");
    let server = installation.serve();
    let agent = Agent::new(&server, "acme", &admin_key);
    for job in &jobs {
        assert_eq!(agent.job(id(job)), *job);
    }
    for key in &keys {
        assert_eq!(Agent::new(&server, "acme", key).job(id(&jobs[0])), jobs[0]);
    }
    assert_eq!(
        server.send(&agent.request("GET", &format!("job/{}", id(&later)))).status,
        404,
        "it came after the backup"
    );
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
