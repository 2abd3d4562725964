//! `docent project`: the checks before a project is saved, and the messages if its docs cannot be read.

use docent_tests::installation::KeyKind;
use docent_tests::{Assistant, Installation, Request, Site, eventually};
use serde_json::json;

#[test]
fn a_project_is_looked_at_before_it_is_added() {
    let installation = Installation::new();
    let repository = installation.repository("acme", &[("docs/index.md", "# Home\n"), ("docs/a.mdx", "# A\n")]);
    let path = repository.path().display().to_string();
    let add = |more: &[&str]| installation.run(&[&["project", "add", "acme", "--repo", &path][..], more].concat());
    for (more, said) in [
        (&["--ref", "no-such-branch"][..], "no-such-branch"),
        (&["--docs-root", "nowhere"], "there is no page on `main` below `nowhere`"),
        // A local folder is checked even with `--no-check`.
        (&["--no-check", "--docs-root", "nowhere"], "nothing was added"),
    ] {
        let refused = add(more);
        assert_eq!(refused.code, Some(1), "{more:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{more:?}: {}", refused.stderr);
    }
    assert_eq!(installation.must(&["project", "list", "--json"]).json(), json!([]));
    let added = add(&["--docs-root", "docs"]);
    assert!(added.stdout.contains("on `main`: 2 pages"), "{} {}", added.stdout, added.stderr);

    let elsewhere = "http://127.0.0.1:1/acme/docs.git";
    let unreachable = installation.run(&["project", "add", "remote", "--repo", elsewhere]);
    assert_eq!(unreachable.code, Some(1), "{}", unreachable.stderr);
    assert!(unreachable.stderr.contains("--no-check"), "{}", unreachable.stderr);
    let unchecked = installation.must(&["project", "add", "remote", "--repo", elsewhere, "--no-check"]);
    assert!(unchecked.stdout.contains("not looked at"), "{}", unchecked.stdout);
}

#[test]
fn without_a_branch_the_repositorys_own_is_taken() {
    let installation = Installation::new();
    let repository = installation.repository("acme", &[("index.md", "# Home\n")]);
    repository.git(&["branch", "-m", "main", "trunk"]);
    repository.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    installation.add_project("acme", &repository);
    let listed = installation.must(&["project", "list", "--json"]).json();
    assert_eq!(listed[0]["ref"], "trunk", "{listed:#}");
}

#[test]
fn a_default_branch_that_gets_another_name_is_followed_and_no_other() {
    let installation = Installation::new();
    let repository = installation.repository("acme", &[("index.md", "# Home\n")]);
    installation.add_project("acme", &repository);
    let path = repository.path().display().to_string();
    installation.must(&["project", "add", "fixed", "--repo", &path, "--ref", "main"]);
    repository.git(&["branch", "-m", "main", "trunk"]);
    repository.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let _server = installation.serve();
    let branches = || {
        let listed = installation.must(&["project", "list", "--json"]).json();
        let projects = listed.as_array().expect("projects").iter();
        projects.map(|project| project["ref"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    eventually("the branch to be followed", || (branches() == ["trunk", "main"]).then_some(()));
}

#[test]
fn a_change_that_finds_no_docs_is_not_made() {
    let installation = Installation::new();
    let repository = installation.repository("acme", docent_tests::site::PAGES);
    installation.add_project("acme", &repository);
    let refused = installation.run(&["project", "set", "acme", "--ref", "gone"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("gone") && refused.stderr.contains("nothing was changed"), "{}", refused.stderr);
    let listed = installation.must(&["project", "list", "--json"]).json();
    assert_eq!(listed[0]["ref"], "main", "{listed:#}");
}

#[test]
fn docs_that_went_away_are_told_by_index_and_doctor() {
    let installation = Installation::new();
    let repository = installation.repository("acme", &[("docs/index.md", "# Home\n")]);
    let path = repository.path().display().to_string();
    installation.must(&["project", "add", "acme", "--repo", &path, "--docs-root", "docs"]);
    repository.git(&["update-ref", "refs/heads/kept", "main"]);
    repository.commit("main", "docs/index.txt", "no page\n");
    installation.must(&["index", "acme"]);
    installation.must(&["doctor"]);

    // Moves the branch to a commit without pages.
    let empty = installation.repository("empty", &[("README.txt", "nothing\n")]);
    repository.git(&["fetch", "--quiet", &empty.path().display().to_string(), "+main:main"]);
    let indexed = installation.run(&["index", "acme"]);
    assert_eq!(indexed.code, Some(1), "{}", indexed.stdout);
    assert!(indexed.stderr.contains("there is no page on `main` below `docs`"), "{}", indexed.stderr);
    let sick = installation.run(&["doctor"]);
    assert_eq!(sick.code, Some(1), "{}", sick.stdout);
    assert!(sick.stdout.contains("there is no page") && sick.stdout.contains("project set acme"), "{}", sick.stdout);
}

#[test]
fn readers_of_docs_that_cannot_be_read_are_not_told_to_try_again_for_ever() {
    let site = Site::start();
    let other = site.installation.repository("other", &[("index.md", "# Other\n")]);
    let file = format!("file://{}", other.path().display());
    site.installation.must(&["project", "add", "other", "--repo", &file]);
    std::fs::remove_dir_all(other.path()).expect("remove the repository");
    // Removing and adding the project drops whatever the server had indexed of it meanwhile.
    site.installation.must(&["project", "remove", "other"]);
    let gone = "http://127.0.0.1:1/other.git";
    site.installation.must(&["project", "add", "other", "--repo", gone, "--no-check", "--token-env", "NO_SUCH_TOKEN"]);
    let key = site.installation.mint("other", KeyKind::Assistant, &[]);
    let assistant = Assistant::new(&site.server, "other", &key);
    let refused = eventually("the server to know that there is no way in", || {
        let refused = assistant.search(&json!({ "query": "home" }));
        (refused.status == 404).then_some(refused)
    });
    assert!(refused.error().contains("docent doctor"), "{}", refused.text());
    assert_eq!(refused.header("Retry-After"), None);
    assert_eq!(assistant.send(&docent_tests::assistant::question_body("Home?", &json!({}))).status, 404);
}

#[test]
fn a_key_is_listed_with_its_name_limits_and_last_use() {
    let site = Site::start();
    let limits = ["--name", "docs site", "--allow-ip", "127.0.0.0/8", "--allow-origin", "https://docs.example.com"];
    let key = site.installation.mint("acme", KeyKind::Assistant, &limits);
    let of_name = |list: serde_json::Value| {
        let keys = list.as_array().expect("a list").clone();
        keys.into_iter().find(|key| key["name"] == "docs site").expect("the key is listed")
    };
    let listed = of_name(site.installation.must(&["key", "list", "--json"]).json());
    assert_eq!(listed["allowIp"], json!(["127.0.0.0/8"]), "{listed:#}");
    assert_eq!(listed["allowOrigin"], json!(["https://docs.example.com"]), "{listed:#}");
    assert_eq!(listed["lastUsedAt"], json!(null), "{listed:#}");
    let lines = site.installation.must(&["key", "list"]).stdout;
    for shown in ["docs site", "127.0.0.0/8", "https://docs.example.com", "last use  never"] {
        assert!(lines.contains(shown), "{shown}: {lines}");
    }
    let page = Request::post("/discovery/v1/page/acme").bearer(&key).header("Origin", "https://docs.example.com");
    assert_eq!(site.server.send(&page.body("{\"path\":\"index\"}")).status, 200);
    eventually("the use to be listed", || {
        let listed = of_name(site.installation.must(&["key", "list", "--json"]).json());
        listed["lastUsedAt"].is_string().then_some(())
    });
}
