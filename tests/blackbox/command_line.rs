//! The command line: safe while a server runs, and clear about errors.

use std::thread;

use docent_tests::agent::id;
use docent_tests::installation::KeyKind;
use docent_tests::model_server::{Gate, Reply, Wire};
use docent_tests::{Agent, Assistant, Installation, ModelServer, Request, Site, eventually};
use serde_json::json;

#[test]
fn a_running_server_sees_changes_of_the_command_line() {
    let site = Site::start();
    let other = site.installation.repository("other", &[("index.md", "# Other\n\nA zebra crossing.\n")]);
    site.installation.add_project("other", &other);
    let key = site.installation.mint("other", KeyKind::Admin, &[]);
    let agent = Agent::new(&site.server, "other", &key);
    let job = agent.create("Replace \"zebra\" with \"pelican\"");
    agent.reaches(id(&job), "completed");
    assert_eq!(other.branches().len(), 1);

    site.installation.must(&["project", "remove", "other"]);
    // The server caches what it reads for a fifth of a second.
    let list = agent.request("GET", "jobs");
    let refused = eventually("the key of the removed project to be refused", || {
        let response = site.server.send(&list);
        (response.status != 200).then_some(response)
    });
    assert!(matches!(refused.status, 401 | 403), "{} {}", refused.status, refused.text());
}

#[test]
fn a_removed_project_has_its_jobs_stopped() {
    let (model, gate) = (ModelServer::start(), Gate::new());
    let page = json!({ "path": "new.md", "content": "# New\n\nA page.\n" });
    model.replies(Reply::calls("write", &page).held_by(&gate)).replies(Reply::text("").finish("Add a page"));
    let configuration = model.configures(Wire::OpenAi);
    let env: Vec<(&str, &str)> = configuration.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let site = Site::with_env(docent_tests::site::PAGES, &env);
    let running = site.agent().create("Add a page");
    gate.holds(1);
    site.agent().create_with(&json!({ "prompt": "Add another page", "branch": running["source"]["ref"] }));
    site.installation.must(&["project", "remove", "acme"]);
    eventually("the model to see the hang-up", || (model.hung_up() > 0).then_some(()));
    gate.open();
    assert_eq!(model.served(), 1);
    // The server has gone on when a job of a later project is done.
    site.installation.add_project("acme", &site.repository);
    let key = site.installation.mint("acme", KeyKind::Admin, &[]);
    let agent = Agent::new(&site.server, "acme", &key);
    agent.ends(id(&agent.create("Say nothing")));
    let heard = model.requests();
    assert!(heard[1..].iter().all(|request| request.said().iter().all(|said| !said.contains("page"))), "{heard:#?}");
    assert_eq!(site.repository.branches(), Vec::<String>::new());
}

#[test]
fn two_commands_at_once_beside_a_busy_server_both_succeed() {
    let site = Site::start();
    let keys: Vec<String> = thread::scope(|scope| {
        let busy = scope.spawn(|| {
            for _ in 0..30 {
                site.agent().create("Replace \"no-such-term\" with \"another\"");
            }
        });
        let commands: Vec<_> =
            (0..4).map(|_| scope.spawn(|| site.installation.mint("acme", KeyKind::Admin, &[]))).collect();
        let keys = commands.into_iter().map(|command| command.join().expect("a key")).collect();
        busy.join().expect("the server stayed busy");
        keys
    });
    for key in keys {
        let response = site.server.send(&Request::get("/v2/agent/acme/job/x").bearer(&key));
        assert_eq!(response.status, 404, "a good key, no such job: {}", response.text());
    }
}

#[test]
fn a_project_is_listed_and_removed() {
    let installation = Installation::new();
    let repository = installation.repository("acme", docent_tests::site::PAGES);
    installation.add_project("acme", &repository);
    assert!(installation.must(&["project", "list"]).stdout.contains("acme"));
    let listed = installation.must(&["project", "list", "--json"]).json();
    assert!(listed.to_string().contains("acme.git"), "{listed:#}");
    let again = installation.run(&["project", "add", "acme", "--repo", &repository.path().display().to_string()]);
    assert_eq!(again.code, Some(1), "an id is taken once: {}", again.stderr);
    installation.must(&["project", "remove", "acme"]);
    assert!(!installation.must(&["project", "list"]).stdout.contains("acme"));
    assert_eq!(installation.run(&["project", "remove", "acme"]).code, Some(1));
}

#[test]
fn a_wrong_command_is_a_usage_error_and_says_what_is_right() {
    let installation = Installation::new();
    for args in [&["frobnicate"][..], &["project", "add"], &["key", "create", "--project", "a", "--kind", "root"]] {
        let finished = installation.run(args);
        assert_eq!(finished.code, Some(2), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("--help"), "{args:?}: {}", finished.stderr);
    }
    let bad_name = installation.run(&["project", "add", "../etc", "--repo", "/tmp"]);
    assert!(matches!(bad_name.code, Some(1 | 2)), "{}", bad_name.stderr);
    assert!(bad_name.stderr.contains("../etc"), "{}", bad_name.stderr);
}

#[test]
fn a_key_the_configuration_does_not_know_is_named() {
    let installation = Installation::new();
    let config = installation.root().join("docent.toml");
    std::fs::write(&config, "listen = \"127.0.0.1:0\"\n\n[agent]\nworkerz = 3\n").expect("write the configuration");
    let config = config.display().to_string();
    let finished = installation.run(&["serve", "--config", &config]);
    assert!(matches!(finished.code, Some(1 | 2)), "{:?} {}", finished.code, finished.stderr);
    assert!(finished.stderr.contains("workerz"), "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
fn the_doctor_says_what_is_well_and_what_is_not() {
    let site = Site::start();
    let healthy = site.installation.must(&["doctor"]);
    assert!(healthy.stdout.contains("git"), "{}", healthy.stdout);
    std::fs::remove_dir_all(site.repository.path()).expect("remove the repository");
    let sick = site.installation.run(&["doctor"]);
    assert_eq!(sick.code, Some(1), "{}", sick.stdout);
    assert!(format!("{}{}", sick.stdout, sick.stderr).contains("acme"), "{}", sick.stdout);
}

#[test]
fn indexing_says_what_it_read() {
    let site = Site::start();
    let finished = site.installation.must(&["index", "acme"]);
    assert!(format!("{}{}", finished.stdout, finished.stderr).contains('7'), "seven pages: {}", finished.stdout);
    assert_eq!(site.installation.run(&["index", "nowhere"]).code, Some(1));
}

#[test]
fn a_later_project_of_the_same_name_has_nothing_of_the_first() {
    let site = Site::start();
    let job = site.agent().create("Replace \"widget\" with \"gadget\"");
    site.agent().reaches(id(&job), "completed");
    let thread = site.assistant().ask("How often is a webhook retried?").thread().to_owned();
    let old_page = json!({ "path": "guides/webhooks" });
    assert_eq!(site.assistant().page(&old_page).status, 200);

    let other = site.installation.repository("other", &[("index.md", "# Zoo\n\nA pelican eats fish.\n")]);
    site.installation.must(&["project", "remove", "acme"]);
    site.installation.add_project("acme", &other);
    let admin_key = site.installation.mint("acme", KeyKind::Admin, &[]);
    let assistant_key = site.installation.mint("acme", KeyKind::Assistant, &[]);
    let assistant = Assistant::new(&site.server, "acme", &assistant_key);
    assistant.is_ready();

    assert_eq!(assistant.page(&old_page).status, 404, "the pages of the first are gone");
    let found = assistant.search(&json!({ "query": "pelican webhook" })).json();
    assert!(found.to_string().contains("pelican") && !found.to_string().contains("backoff"), "{found:#}");
    let agent = Agent::new(&site.server, "acme", &admin_key);
    assert_eq!(site.server.send(&agent.request("GET", &format!("job/{}", id(&job)))).status, 404);
    assert_eq!(site.server.send(&agent.request("GET", "jobs")).json()["jobs"], json!([]));
    let asked = assistant.send(&docent_tests::assistant::question_body("And then?", &json!({ "threadId": thread })));
    assert_ne!(asked.header("X-Thread-Id"), Some(thread.as_str()), "{}", asked.text());
    for key in [&site.admin_key, &site.assistant_key] {
        let path = if *key == site.admin_key { "/v2/agent/acme/jobs" } else { "/discovery/v1/page/acme" };
        let method = if *key == site.admin_key { "GET" } else { "POST" };
        let refused = site.server.send(&Request::new(method, path).bearer(key).body("{\"path\":\"index\"}"));
        assert_eq!(refused.status, 401, "the keys of the first open nothing: {}", refused.text());
    }
    // The new project works like any other.
    let job = agent.create("Replace \"pelican\" with \"heron\"");
    agent.reaches(id(&job), "completed");
    assert_eq!(other.branches().len(), 1);
}

#[test]
fn a_project_that_is_changed_keeps_its_keys_jobs_and_threads() {
    let site = Site::start();
    let job = site.agent().create("Replace \"no-such-term\" with \"another\"");
    let thread = site.assistant().ask("How often is a webhook retried?").thread().to_owned();
    let moved = site.installation.repository("moved", &[("docs/index.md", "# Zoo\n\nA pelican eats fish.\n")]);
    let path = moved.path().display().to_string();
    site.installation.must(&["project", "set", "acme", "--repo", &path, "--docs-root", "docs", "--domain", "zoo"]);
    let assistant = Assistant::new(&site.server, "zoo", &site.assistant_key);
    eventually("the new pages to be found", || {
        let found = assistant.search(&json!({ "query": "pelican" }));
        (found.status == 200 && found.text().contains("pelican")).then_some(())
    });
    assert_eq!(assistant.page(&json!({ "path": "guides/webhooks" })).status, 404);
    assert_eq!(site.agent().job(id(&job))["id"], job["id"]);
    let again = assistant.ask_with("And what does a pelican eat?", &json!({ "threadId": thread }));
    assert_eq!(again.thread(), thread);
    let listed =
        site.installation.must(&["project", "set", "acme", "--author", "Docs <d@example.com>", "--json"]).json();
    assert_eq!(
        (&listed["author"], &listed["docsRoot"]),
        (&json!("Docs <d@example.com>"), &json!("docs")),
        "{listed:#}"
    );
    let taken = site.installation.run(&["project", "set", "nobody", "--ref", "main"]);
    assert_eq!(taken.code, Some(1), "{}", taken.stderr);
}

#[test]
fn a_wrong_value_is_told_in_plain_words_with_an_example() {
    let installation = Installation::new();
    for (args, said) in [
        (&["serve", "--listen", "localhost"][..], "for example 127.0.0.1:8080"),
        (&["demo", "--listen", "8080"], "for example 127.0.0.1:8080"),
        (&["search", "acme", "words", "--limit", "many"], "a whole number from 1 to 50"),
        (&["search", "acme", "words", "--limit", "51"], "a whole number from 1 to 50"),
        (&["demo", "--json"], "leave out --json"),
    ] {
        let refused = installation.run(args);
        assert_eq!(refused.code, Some(2), "{args:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{args:?}: {}", refused.stderr);
        for of_rust in ["syntax", "digit", "nonzero", "usize", "u16"] {
            assert!(!refused.stderr.contains(of_rust), "{of_rust}: {}", refused.stderr);
        }
    }
}

#[test]
fn health_says_whether_the_server_is_ready() {
    let installation = Installation::new();
    let server = installation.serve();
    let listen = server.address().to_string();
    assert_eq!(installation.must(&["health", "--listen", &listen]).stdout, "ready\n");
    assert_eq!(installation.must(&["health", "--listen", &listen, "--json"]).json(), json!({ "ready": true }));
    server.kill();
    let finished = installation.run(&["health", "--listen", &listen]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains(&format!("could not talk to the server at {listen}")), "{}", finished.stderr);
    assert_eq!(installation.run(&["health", "--listen", "127.0.0.1:0"]).code, Some(2));
}

#[test]
fn a_shell_and_man_read_what_is_printed_for_them() {
    let installation = Installation::new();
    let plain = |args: &[&str]| {
        let output = installation.command(args).env("DOCENT_CONFIG", "/nowhere/docent.toml").output().expect("docent");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let script = installation.root().join("docent.bash");
    std::fs::write(&script, plain(&["completions", "bash"])).expect("write the completions");
    let script = script.display();
    let asks = format!(
        "source {script}; COMP_WORDS=(docent pro); COMP_CWORD=1; _docent docent pro docent; echo ${{COMPREPLY[@]}}"
    );
    let completed = std::process::Command::new("bash").args(["-c", &asks]).output().expect("bash");
    assert_eq!(String::from_utf8_lossy(&completed.stdout).trim(), "project", "{completed:?}");
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(plain(&["completions", shell]).contains("docent"), "{shell}");
    }
    let page = plain(&["man"]);
    assert!(page.contains(".TH docent 1") && page.contains("doctor"), "{page}");
    let folder = installation.root().join("man");
    plain(&["man", "--folder", &folder.display().to_string()]);
    let names: Vec<String> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.contains(&"docent.1".to_owned()) && names.contains(&"docent-project-add.1".to_owned()), "{names:?}");
}

#[test]
fn a_misspelled_log_level_is_refused_and_says_what_is_right() {
    let installation = Installation::new();
    let output = installation.command(["doctor"]).env("DOCENT_LOG", "inof").output().expect("docent");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`inof` is no level") && said.contains("docent_jobs=debug"), "{said}");
}

#[test]
fn an_unknown_project_ends_a_command_with_1() {
    let site = Site::start();
    for args in [
        &["key", "list", "--project", "nosuch"][..],
        &["key", "create", "--project", "nosuch", "--kind", "admin"],
        &["project", "set", "nosuch", "--ref", "main"],
        &["index", "nosuch"],
        &["search", "nosuch", "x"],
    ] {
        let finished = site.installation.run(args);
        assert_eq!(finished.code, Some(1), "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("nosuch"), "{args:?}: {}", finished.stderr);
    }
}

#[test]
fn adding_a_project_says_how_its_docs_are_read_and_warns_of_a_work_tree() {
    let installation = Installation::new();
    let bare = installation.repository("docs", docent_tests::site::PAGES);
    let added = installation.must(&["project", "add", "bare", "--repo", &bare.path().display().to_string()]);
    assert!(added.stdout.contains("read as ") && !added.stderr.contains("work tree"), "{added:?}");
    let clone = installation.root().join("clone");
    let (from, to) = (bare.path().display().to_string(), clone.display().to_string());
    docent_tests::repository::git(installation.root(), &["clone", "--quiet", &from, &to]);
    let added = installation.must(&["project", "add", "clone", "--repo", &to]);
    assert!(added.stderr.contains("has a work tree") && added.stderr.contains("git clone --bare"), "{added:?}");
}
