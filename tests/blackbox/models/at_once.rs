//! Many jobs at once on a slow model.

use std::thread;
use std::time::{Duration, Instant};

use docent_tests::agent::{branch, id};
use docent_tests::installation::KeyKind;
use docent_tests::model_server::brain::read_edit_finish;
use docent_tests::model_server::{Edit, Gate, Wire};
use docent_tests::site::PROJECT;
use docent_tests::{Agent, Installation, ModelServer, Server};

/// Maximum memory of a job beyond its transcript, which is a few kilobytes here.
const BYTES_A_JOB: u64 = 256 << 10;

fn edit(n: usize) -> Edit {
    Edit::new(&format!("pages/page-{n:03}.md"), &format!("alpha {n:03}"), &format!("beta {n:03}"))
}

fn page(n: usize) -> (String, String) {
    let filler = "A parcel goes from one warehouse to the next, and its way is written down.\n\n".repeat(20);
    (edit(n).path, format!("---\ntitle: Page {n}\n---\n\nHere is alpha {n:03}.\n\n{filler}"))
}

/// The memory that an idle server keeps, in bytes: the minimum of several samples, because temporary allocations are
/// returned a moment later.
fn held(server: &Server) -> u64 {
    let looks = (0..20).map(|_| {
        thread::sleep(Duration::from_millis(100));
        server.resident()
    });
    looks.min().expect("looked")
}

/// `$DOCENT_JOBS_AT_ONCE` sets another number of jobs.
#[test]
#[ignore = "takes a minute: cargo xtask test --only models"]
fn a_hundred_and_fifty_jobs_are_active_at_once_and_all_complete() {
    let count = std::env::var("DOCENT_JOBS_AT_ONCE").map_or(150, |count| count.parse().expect("a number of jobs"));
    let (first, last) = (Gate::new(), Gate::new());
    let model = ModelServer::start();
    {
        let (first, last) = (first.clone(), last.clone());
        model.forgets().replies_with(move |asked| {
            let reply = read_edit_finish(asked);
            match asked.replies_since_the_user() {
                0 => reply.held_by(&first),
                1 => reply,
                _ => reply.held_by(&last),
            }
        });
    }
    let installation = Installation::new();
    let pages: Vec<(String, String)> = (0..=count).map(page).collect();
    let repository = installation.repository(PROJECT, &pages);
    installation.add_project(PROJECT, &repository);
    let key = installation.mint(PROJECT, KeyKind::Admin, &[]);
    let workers = (count + 1).to_string();
    let mut env = model.configures(Wire::Anthropic);
    // The first reply is held until the last job waits, which takes a busy machine a while.
    let settings = [
        ("AGENT__WORKERS", workers.as_str()),
        ("LIMITS__AGENT_JOBS_PER_HOUR", "100000"),
        ("MODELS__SONNET__IDLE_SECONDS", "600"),
    ];
    for (name, value) in settings {
        env.push((format!("DOCENT_{name}"), value.to_owned()));
    }
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = installation.serve_with(&env);
    let agent = Agent::new(&server, PROJECT, &key);

    // The first job fills the shared caches, and then waits with the others.
    let mut jobs = vec![agent.create(&edit(0).prompt())];
    first.holds(1);
    let before = held(&server);
    let start = Instant::now();
    let took = |what: &str| println!("{count} jobs {what} after {:.1} s", start.elapsed().as_secs_f64());
    jobs.extend((1..=count).map(|n| agent.create(&edit(n).prompt())));
    first.holds(count + 1);
    let waiting = held(&server);
    took("wait for their first reply");
    first.open();
    last.holds(count + 1);
    let edited = held(&server);
    took("have made their edit");
    last.open();
    for (n, job) in jobs.iter().enumerate() {
        let job = agent.reaches(id(job), "completed");
        assert_eq!(repository.changed_files(branch(&job)), [edit(n).path.as_str()]);
        assert!(job["prLink"].is_string(), "{job:#}");
    }
    took("have completed");
    // git maintains the repository while the jobs push. No object may get lost.
    repository.git(&["fsck", "--connectivity-only"]);
    assert_eq!(model.faults(), Vec::<String>::new());
    assert_eq!(model.hung_up(), 0);

    let each = |resident: u64| resident.saturating_sub(before) / count as u64;
    let (waiting, edited) = (each(waiting), each(edited));
    println!(
        "memory before {} MiB; a job has {} KiB while it waits for its first reply, {} KiB with its edit made",
        before >> 20,
        waiting >> 10,
        edited >> 10
    );
    assert!(waiting < BYTES_A_JOB && edited < BYTES_A_JOB);
}
