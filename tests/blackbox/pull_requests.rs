//! The pull requests of the local forge: the page of one, updating its branch, and merging many.

use std::fs;

use docent_tests::agent::{branch, id, pull_request};
use docent_tests::repository::git;
use docent_tests::{Person, Request, Response, Site};
use serde_json::{Value, json};

const GADGET: &str = "Replace \"widget\" with \"gadget\"";

fn page(site: &Site, path: &str) -> String {
    let response = Person::follows(site, path);
    assert_eq!(response.status, 200, "{path}: {}", response.text());
    response.text().to_owned()
}

fn act(site: &Site, job: &Value, action: &str) -> Response {
    site.server.send(&Request::post(format!("{}/{action}", pull_request(job))).bearer(&site.admin_key))
}

/// The targets of links with this text.
fn links<'p>(page: &'p str, words: &str) -> Vec<&'p str> {
    let before = |at: usize| page[..at].rsplit_once("href=\"").and_then(|(_, link)| link.split('"').next());
    page.match_indices(words).filter_map(|(at, _)| before(at)).collect()
}

/// A site with a branch on which `files` pages have the text `after`, and an open pull request for it. On the base
/// branch they have the text `before`, or do not exist.
fn large_change(files: usize, before: Option<&str>, after: &str) -> (Site, String) {
    let site = Site::start();
    let clone = site.installation.root().join("clone");
    git(site.installation.root(), &["clone", "--quiet", &site.repository.path().display().to_string(), "clone"]);
    for (text, branch) in [(before, "main"), (Some(after), "docs/large")] {
        let Some(text) = text else { continue };
        for file in 0..files {
            let page = format!("---\ntitle: Big\n---\n\n{text}");
            fs::write(clone.join(format!("big-{file:03}.mdx")), page).expect("write a page");
        }
        git(&clone, &["add", "--all"]);
        git(&clone, &["commit", "--quiet", "--message=Large"]);
        git(&clone, &["push", "--quiet", "origin", &format!("HEAD:refs/heads/{branch}")]);
    }
    let agent = site.agent();
    let job = agent.create_with(&json!({ "prompt": GADGET, "branch": "docs/large" }));
    let job = agent.reaches(id(&job), "completed");
    let path = pull_request(&job);
    (site, path)
}

#[test]
fn the_page_of_a_large_change_is_short_and_leads_to_the_rest() {
    let (site, path) = large_change(70, None, &format!("{}\n", "words \"of\" <a> & page ".repeat(4)).repeat(1_000));
    let first = page(&site, &path);
    assert!(first.len() < 4 << 20, "{} bytes", first.len());
    assert!(first.contains("72 files"), "all of them are counted");
    assert!(first.contains("<bdi>big-000.mdx</bdi>") && !first.contains("<bdi>quickstart.mdx"), "the first files");

    let [rest] = links(&first, "More files")[..] else { panic!("one link to the other files") };
    let rest = page(&site, &rest.replace("&amp;", "&"));
    assert!(rest.contains("<bdi>quickstart.mdx</bdi>") && !rest.contains("big-000.mdx"), "the other files");

    let more = links(&first, "lines are left");
    let mut link = more.first().expect("a file of many lines is shown in part").replace("&amp;", "&");
    let mut shown = first.split("id=\"file-1\"").next().map_or(0, |file| file.matches("class=\"add\"").count());
    for _ in 0..5 {
        let next = page(&site, &link);
        assert!(next.contains("big-000.mdx") && !next.contains("big-001.mdx"), "{link} is of one file");
        shown += next.matches("class=\"add\"").count();
        match links(&next, "lines are left").first() {
            Some(more) => link = more.replace("&amp;", "&"),
            None => break,
        }
    }
    assert_eq!(shown, 1_004, "every line once");
    for odd in ["?file=nowhere.md", "?file=big-000.mdx&line=99999", "?from=9999"] {
        assert!(page(&site, &format!("{path}{odd}")).len() < 20_000, "{odd}");
    }
    let refused = Person::follows(&site, &format!("{path}?from=x"));
    assert_eq!(refused.status, 400, "{}", refused.text());
}

/// `cargo nextest run -p docent-tests 38_megabytes --run-ignored all --no-capture` prints the time and memory it took.
#[test]
#[ignore = "a figure: 38 megabytes through git and back"]
fn the_page_of_a_change_of_38_megabytes_is_as_short() {
    // Every second line differs, so that the diff has no long common part.
    let text = |odd: &str| -> String {
        let word = |line: usize| if line % 2 == 1 { odd } else { "same" };
        (0..1_000).map(|line| format!("{line} <b> & {} {}\n", word(line), "words ".repeat(13))).collect()
    };
    let (site, path) = large_change(400, Some(&text("old")), &text("new"));
    let before = site.server.resident();
    let ((page, took), longest) = site.server.watched(|| {
        let begun = std::time::Instant::now();
        (page(&site, &path), begun.elapsed())
    });
    let grown = site.server.resident().saturating_sub(before) >> 20;
    println!("{} bytes in {took:?}; memory grew by {grown} MiB; /healthz took {longest:?} at most", page.len());
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}

#[test]
fn of_twelve_parallel_jobs_that_add_a_page_all_are_merged() {
    let site = Site::start();
    let agent = site.agent();
    let name = |n: usize| format!("guides/topic-{n}");
    let jobs: Vec<Value> =
        (1..=12).map(|n| agent.create(&format!("Add a page {} titled \"Topic {n}\"", name(n)))).collect();
    let jobs: Vec<Value> = jobs.iter().map(|job| agent.reaches(id(job), "completed")).collect();
    for job in &jobs {
        assert!(!site.repository.file("main", "docs.json").contains(&format!("{}\"", branch(job))));
        let merged = act(&site, job, "merge");
        assert_eq!(merged.status, 200, "{}", merged.text());
    }
    let navigation: Value = serde_json::from_str(&site.repository.file("main", "docs.json")).expect("JSON");
    let guides = navigation["navigation"]["groups"][1]["pages"].as_array().expect("the guides");
    let before = ["guides/webhooks", "guides/rate-limits", "guides/cafe"].map(str::to_owned);
    let expected: Vec<String> = before.into_iter().chain((1..=12).map(name)).collect();
    assert_eq!(*guides, expected, "all of them, in the order they were merged");
    for n in 1..=12 {
        assert!(site.repository.file("main", &format!("{}.mdx", name(n))).contains(&format!("Topic {n}")));
    }
}

#[test]
fn an_update_merges_the_base_into_the_branch_or_names_what_conflicts() {
    let site = Site::start();
    let agent = site.agent();
    let job = agent.create(GADGET);
    let job = agent.reaches(id(&job), "completed");
    let path = pull_request(&job);
    assert!(page(&site, &path).contains("Update branch"));
    assert_eq!(site.server.send(&Request::post(format!("{path}/update"))).status, 401);
    assert_eq!(site.server.send(&Request::get(format!("{path}/update")).bearer(&site.admin_key)).status, 405);

    let told = act(&site, &job, "update").json();
    assert_eq!(told, json!({ "number": 1, "state": "open", "updated": false }), "it has all of its base");
    site.repository.commit("main", "guides/new.mdx", "---\ntitle: New\n---\n");
    let told = act(&site, &job, "update").json();
    assert_eq!(told, json!({ "number": 1, "state": "open", "updated": true }));
    assert!(site.repository.file(branch(&job), "guides/new.mdx").contains("New"));
    assert!(!page(&site, &path).contains("guides/new.mdx"), "what the base has is no change");

    site.repository.commit("main", "quickstart.mdx", "---\ntitle: Quickstart\n---\n\nThe widget is gone.\n");
    for action in ["update", "merge"] {
        let refused = act(&site, &job, action);
        assert_eq!(refused.status, 409, "{action}: {}", refused.text());
        assert!(refused.error().contains("quickstart.mdx"), "{action}: {}", refused.error());
    }
}

#[test]
fn commits_are_by_whom_the_project_says() {
    let site = Site::start();
    let who = "Docs Bot <docs@example.com>";
    site.installation.must(&["project", "set", "acme", "--author", who, "--sign-off=yes"]);
    let agent = site.agent();
    let job = agent.create(GADGET);
    let job = agent.reaches(id(&job), "completed");
    let shown =
        site.repository.git(&["log", "-1", "--format=%an <%ae>|%cn <%ce>|%(trailers:key=Signed-off-by)", branch(&job)]);
    assert_eq!(shown, format!("{who}|{who}|Signed-off-by: {who}"));
    site.repository.commit("main", "guides/new.mdx", "---\ntitle: New\n---\n");
    assert_eq!(act(&site, &job, "merge").status, 200);
    let shown = site.repository.git(&["log", "-1", "--format=%an <%ae>|%(trailers:key=Signed-off-by)", "main"]);
    assert_eq!(shown, format!("{who}|Signed-off-by: {who}"), "the merge too");
}

#[test]
fn a_wrong_branch_or_docs_root_is_told_in_the_message_of_a_job() {
    let site = Site::start();
    let agent = site.agent();
    site.installation.must(&["project", "set", "acme", "--docs-root", "reference"]);
    let clone = site.installation.root().join("clone");
    git(site.installation.root(), &["clone", "--quiet", &site.repository.path().display().to_string(), "clone"]);
    git(&clone, &["mv", "reference", "ref"]);
    git(&clone, &["commit", "--quiet", "--message=Rename"]);
    git(&clone, &["push", "--quiet"]);
    let job = agent.create(GADGET);
    let job = agent.ends(id(&job));
    let message = job["message"].as_str().expect("a message");
    assert!(message.contains("no folder `reference` (it has `guides`, `ref`)"), "{message}");
}
