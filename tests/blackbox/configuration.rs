//! The configuration: errors are reported before anything starts, and missing things where users look for them.

use std::net::TcpListener;

use docent_tests::agent::id;
use docent_tests::site::PAGES;
use docent_tests::{Finished, Installation, Server, Site};
use serde_json::{Value, json};

/// `docent ARGS` with this configuration file and these environment variables.
fn docent(installation: &Installation, config: &str, args: &[&str], env: &[(&str, &str)]) -> Finished {
    let path = installation.root().join("docent.toml");
    std::fs::write(&path, config).expect("write the configuration");
    let mut command = installation.command(args);
    command.arg("--data").arg(installation.data()).envs(env.iter().copied());
    command.output().expect("start docent").into()
}

/// An address on this machine where nothing listens.
fn dead() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}/v1", listener.local_addr().expect("an address"))
}

fn openai(name: &str, base_url: &str, more: &str) -> String {
    format!("[models.{name}]\nprovider = \"openai\"\nmodel = \"some-model\"\nbase_url = \"{base_url}\"\n{more}\n")
}

/// The findings of one check in the doctor's report.
fn findings<'a>(report: &'a Value, check: &str) -> Vec<&'a Value> {
    let all = report["findings"].as_array().expect("a list");
    all.iter().filter(|finding| finding["check"] == check).collect()
}

#[test]
fn a_model_that_cannot_work_is_refused_at_the_start() {
    let installation = Installation::new();
    for (config, named) in [
        ("[models.sonnet]\nprovider = \"anthropic\"\nmodel = \"m\"", "`models.sonnet.api_key_env`: is missing"),
        ("[models.sonnet]\nprovider = \"openai\"\napi_key_env = \"K\"", "`models.sonnet.model`: is missing"),
        ("[models.sonnet]\nprovider = \"gemini\"\nmodel = \"m\"", "there is no provider `gemini`"),
        ("[models.sonnet]\nprovider = \"builtin\"\nmodel = \"m\"", "the builtin model takes no such key"),
        ("[models.sonnet]\nprovider = \"builtin\"\nmodle = \"m\"", "`modle`"),
        ("[agent]\nmodel = \"gpt\"", "`agent.model`: there is no model `gpt`; known: `opus`, `sonnet`"),
        (
            "[models.sonnet]\nprovider = \"openai\"\nmodel = \"m\"\napi_key_env = \"K\"\nbase_url = \"http://example.com/v1\"",
            "`models.sonnet.base_url`: the key is not sent to example.com over plain http",
        ),
    ] {
        let finished = docent(&installation, config, &["serve", "--listen", "127.0.0.1:0"], &[]);
        assert_eq!(finished.code, Some(1), "{config}: {}", finished.stderr);
        assert!(finished.stderr.contains(named), "{config}: {}", finished.stderr);
    }
}

#[test]
fn of_the_two_names_the_one_that_is_not_configured_runs_on_the_other() {
    let installation = Installation::new();
    let config = openai("opus", &dead(), "");
    let report = docent(&installation, &config, &["doctor", "--json"], &[]).json();
    let said: Vec<&str> = findings(&report, "model").iter().filter_map(|finding| finding["what"].as_str()).collect();
    assert!(said.contains(&"`sonnet` is not configured and runs on `opus`"), "{said:#?}");
    assert!(!said.iter().any(|said| said.contains("builtin")), "{said:#?}");
}

#[test]
fn a_job_may_name_what_is_configured_and_nothing_else() {
    let url = dead();
    let variables = [
        ("DOCENT_MODELS__FAST__PROVIDER", "openai"),
        ("DOCENT_MODELS__FAST__MODEL", "some-model"),
        ("DOCENT_MODELS__FAST__BASE_URL", url.as_str()),
    ];
    let site = Site::with_env(PAGES, &variables);
    let agent = site.agent();
    let create = |model: &str| agent.try_create(&json!({ "prompt": "Fix broken links", "model": model }));
    for model in ["fast", "sonnet", "opus"] {
        let response = create(model);
        assert_eq!((response.status, &response.json()["model"]), (201, &model.into()), "{}", response.text());
        agent.archive(id(&response.json()));
    }
    let refused = create("gpt");
    assert_eq!(refused.status, 400);
    for name in ["`fast`", "`sonnet`", "`opus`"] {
        assert!(refused.text().contains(name), "{}", refused.text());
    }
    let created = agent.create("Fix broken links");
    assert_eq!(created["model"], "fast", "the only language model is the default");
    agent.archive(id(&created));
}

#[test]
fn a_job_without_a_key_fails_and_names_the_variable() {
    let url = dead();
    let variables = [
        ("DOCENT_MODELS__SONNET__PROVIDER", "openai"),
        ("DOCENT_MODELS__SONNET__MODEL", "some-model"),
        ("DOCENT_MODELS__SONNET__BASE_URL", url.as_str()),
        ("DOCENT_MODELS__SONNET__API_KEY_ENV", "ACME_MODEL_KEY"),
    ];
    let site = Site::with_env(PAGES, &variables);
    let agent = site.agent();
    let job = agent.create("Fix broken links");
    let job = agent.reaches(id(&job), "failed");
    assert!(job["message"].as_str().is_some_and(|why| why.contains("ACME_MODEL_KEY")), "{job:#}");
}

#[test]
fn the_doctor_finds_a_model_server_that_is_not_there() {
    let installation = Installation::new();
    let url = dead();
    let config = openai("sonnet", &url, "api_key_env = \"ACME_MODEL_KEY\"");
    let sick = docent(&installation, &config, &["doctor", "--json"], &[("ACME_MODEL_KEY", "sk-4711-secret")]);
    assert_eq!(sick.code, Some(1), "{}", sick.stdout);
    assert!(!format!("{}{}", sick.stdout, sick.stderr).contains("4711"), "no secret: {}", sick.stdout);
    let report = sick.json();
    assert_eq!(report["ok"], false);
    let model = findings(&report, "model")[0];
    assert_eq!(model["state"], "bad", "{report:#}");
    assert!(model["fix"].as_str().is_some_and(|fix| fix.contains(&url)), "{report:#}");

    let sick = docent(&installation, &config, &["doctor"], &[]);
    assert!(sick.stdout.contains("the variable ACME_MODEL_KEY is not set"), "{}", sick.stdout);
    assert!(sick.stdout.contains("FIX"), "{}", sick.stdout);
}

#[cfg(unix)]
#[test]
fn the_doctor_looks_at_key_files() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let installation = Installation::new();
    let key = installation.root().join("id");
    let config = format!("[git]\nssh_key_file = {key:?}\n\n[github_app]\nid = 7\nprivate_key_file = {key:?}\n");
    let state = |check: &str| {
        let report = docent(&installation, &config, &["doctor", "--json"], &[]).json();
        let found = findings(&report, check)[0];
        (found["state"].as_str().unwrap_or_default().to_owned(), found["what"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(state("ssh key").0, "bad", "there is none");
    fs::write(&key, "no key at all").expect("write");
    fs::set_permissions(&key, Permissions::from_mode(0o644)).expect("change its mode");
    assert!(state("ssh key").1.contains("others may read"), "{:?}", state("ssh key"));
    fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("change its mode");
    assert_eq!(state("ssh key").0, "bad", "it is no key");
    assert!(state("GitHub App").1.contains("no private key"), "{:?}", state("GitHub App"));
}

#[test]
fn a_project_on_a_forge_is_registered_and_shown() {
    let installation = Installation::new();
    let add = |id: &str, more: &[&str]| installation.run(&[&["project", "add", id, "--no-check"][..], more].concat());
    let enterprise = [
        "--repo",
        "https://git.example.com/acme/docs.git",
        "--forge",
        "github",
        "--base-url",
        "https://git.example.com/api/v3",
        "--token-env",
        "DOCS_TOKEN",
    ];
    assert_eq!(add("enterprise", &enterprise).code, Some(0));
    let sick = installation.run(&["doctor"]);
    for said in ["`enterprise`: the variable DOCS_TOKEN is not set", "into the variable DOCS_TOKEN"] {
        assert!(sick.stdout.contains(said), "{}", sick.stdout);
    }
    let docs = ["--repo", "https://github.com/acme/docs.git", "--forge", "github"];
    let added = add("docs", &[&docs[..], &["--context", "api=https://github.com/acme/api.git"]].concat());
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    assert!(added.stderr.contains("--token-env"), "a job will need a token: {}", added.stderr);

    let listed = installation.must(&["project", "list"]).stdout;
    for shown in ["github", "api=https://github.com/acme/api.git", "https://git.example.com/api/v3", "DOCS_TOKEN"] {
        assert!(listed.contains(shown), "{shown}: {listed}");
    }
    let listed = installation.must(&["project", "list", "--json"]).json();
    assert_eq!(listed[0]["context"]["api"], "https://github.com/acme/api.git", "{listed:#}");
    assert_eq!(listed[1]["baseUrl"], "https://git.example.com/api/v3", "{listed:#}");

    for (more, said) in [
        (&["--repo", "https://github.com/docs", "--forge", "github"][..], "OWNER/NAME"),
        (&["--repo", "https://gitlab.com/docs", "--forge", "gitlab"], "GROUP/PROJECT"),
        (&["--repo", "https://me:s3cret@github.com/a/b", "--forge", "github"], "must not hold credentials"),
        (&["--repo", "https://example.com/a/b", "--context", "api"], "--context"),
    ] {
        let refused = add("wrong", more);
        assert_eq!(refused.code, Some(2), "{more:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said) && !refused.stderr.contains("s3cret"), "{more:?}: {}", refused.stderr);
    }
}

#[test]
fn a_public_url_is_an_address_of_the_web() {
    let installation = Installation::new();
    for wrong in ["docs.example.com", "ftp://docs.example.com", "https://docs.example.com/?a=1", "javascript:alert(1)"]
    {
        let config = format!("public_url = \"{wrong}\"");
        let finished = docent(&installation, &config, &["serve", "--listen", "127.0.0.1:0"], &[]);
        assert_eq!(finished.code, Some(1), "{wrong}: {}", finished.stderr);
        assert!(finished.stderr.contains("`public_url`: the address must"), "{wrong}: {}", finished.stderr);
    }
}

#[test]
fn a_server_on_all_addresses_says_that_its_links_lead_nowhere() {
    for (listen, env, warned) in [
        ("0.0.0.0:0", None, true),
        ("0.0.0.0:0", Some(("DOCENT_PUBLIC_URL", "https://docs.example.com/")), false),
        ("127.0.0.1:0", None, false),
    ] {
        let installation = Installation::new();
        let mut command = installation.command(["serve", "--listen", listen, "--data"]);
        command.arg(installation.data()).envs(env);
        let log = installation.root().join("server.log");
        let server = Server::start(command, &log);
        server.terminate();
        server.ended();
        let log = std::fs::read_to_string(log).expect("a log");
        assert_eq!(log.contains("set `public_url`"), warned, "{listen} {env:?}: {log}");
    }
}

#[cfg(unix)]
#[test]
fn a_data_folder_that_others_can_read_is_closed_and_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let installation = Installation::with_data();
    let data = installation.data();
    let open = |mode| std::fs::set_permissions(&data, std::fs::Permissions::from_mode(mode)).expect("set");
    let mode = |name: &str| std::fs::metadata(data.join(name)).expect("it is there").permissions().mode() & 0o777;
    let modes = || ["", "mirrors", "index", "docent.db"].map(mode);
    open(0o755);
    let report = docent(&installation, "", &["doctor", "--json"], &[]).json();
    assert_eq!(findings(&report, "data")[1]["state"], "note", "{report:#}");
    assert_eq!(modes(), [0o700, 0o700, 0o700, 0o600]);
    open(0o755);
    let server = installation.serve();
    assert_eq!(modes(), [0o700, 0o700, 0o700, 0o600]);
    server.terminate();
    server.ended();
    let log = std::fs::read_to_string(installation.root().join("server.log")).expect("a log");
    assert!(log.contains("others could read"), "{log}");
    let report = docent(&installation, "", &["doctor", "--json"], &[]).json();
    assert_eq!(findings(&report, "data").len(), 1, "nothing is left to tell: {report:#}");
}
