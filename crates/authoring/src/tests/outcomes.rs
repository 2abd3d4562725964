//! How jobs end.

use std::sync::Arc;
use std::time::Duration;

use docent_agent::EditableTree;
use docent_forge::{ForgeError, PullState};
use docent_llm::ModelErrorKind;
use docent_llm::scripted::{Reply, ReplyGate, Scripted};
use docent_quarantine::Quarantine;
use docent_site::{SkipReason, Tree};
use docent_types::TodoStatus;
use serde_json::json;

use super::model::{Planned, finish};
use super::*;
use crate::Docs;
use crate::files::{Draft, OriginalDocs};

#[tokio::test(start_paused = true)]
async fn a_prompt_becomes_a_branch_with_one_commit_and_a_pull_request() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.halt), (JobStatus::Completed, Some(Halt::Completed)), "{}", message(&ended));

    let commits = world.commits(&job.source.branch).await;
    assert_eq!(commits.len(), 1);
    assert!(commits[0].message.contains(&format!("Docent-Job: {}", job.id)), "{}", commits[0].message);
    assert_eq!(commits[0].seconds, world.clock.now().seconds());

    let pulls = world.pull_requests().await;
    let [pull] = pulls.as_slice() else { panic!("one pull request, not {pulls:?}") };
    assert_eq!(ended.pr_link.as_deref(), Some(format!("http://docent.test/pulls/acme/{}", pull.id).as_str()));
    assert_eq!((pull.head.as_str(), pull.base.as_str(), pull.state), (&*job.source.branch, "main", PullState::Open));
    assert!(pull.body.contains(&format!("> {RENAME}")) && pull.body.contains(message(&ended)), "{}", pull.body);
    assert!(ended.todos.iter().all(|todo| todo.status == TodoStatus::Completed) && !ended.todos.is_empty());
}

#[tokio::test(start_paused = true)]
async fn chores_leave_files_outside_the_docs_root() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    world.works_on(&job).await;
    assert_eq!(world.changed(&job.source.branch).await, ["docs/index.md", "docs/setup.md"]);
    assert!(world.text(&job.source.branch, "docs/setup.md").await.contains("Install the Gadget."));
}

#[tokio::test(start_paused = true)]
async fn a_page_whose_content_the_repository_lacks_is_skipped_and_told() {
    let world = World::new();
    let id = world.git(&["rev-parse", "main:docs/setup.md"]);
    let object = world.dir.path().join("docs.git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::remove_file(object).expect("a loose object");

    let docs = Docs::at_tip(&world.look().await, &world.project()).expect("reads");
    let index = docent_search::Index::open(&world.dir.path().join("index")).expect("an index");
    for _ in 0..2 {
        let summary = index.update(&docs, &mut |_| {}).expect("an update");
        let skipped: Vec<_> =
            summary.skipped.iter().map(|skipped| (skipped.reason, skipped.examples.as_slice())).collect();
        assert_eq!((summary.pages, skipped), (2, vec![(SkipReason::Absent, &["setup.md".to_owned()][..])]));
    }

    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.halt), (JobStatus::Completed, Some(Halt::Completed)), "{}", message(&ended));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/index.md"]);
    assert!(message(&ended).contains("setup.md could not be read"), "{}", message(&ended));
    // It is not written over.
    let mirror = world.look().await;
    let overlay = mirror.overlay(mirror.branch("main").expect("is there")).expect("reads");
    let mut draft = Draft::new(overlay, None, "docs", &Quarantine::default()).expect("reads");
    let refused = draft.change(vec![("setup.md".to_owned(), Some(b"# New\n".to_vec()))]).expect_err("it stays");
    assert!(refused.0.contains("`setup.md` is there and cannot be read"), "{}", refused.0);
    assert!(draft.check_mirror().is_ok() && draft.overlay().is_unchanged());
    let job = world.asks("Add a page setup.md titled \"Setup\"").await;
    let ended = world.works_on(&job).await;
    assert!(message(&ended).contains("there is a file `setup.md` already"), "{}", message(&ended));
}

#[tokio::test(start_paused = true)]
async fn files_behind_symbolic_links_are_known_by_the_links() {
    let world = World::new();
    let link = |path: &str, target: &str| {
        let file = world.dir.path().join("target");
        std::fs::write(&file, target).expect("written");
        let blob = world.git(&["hash-object", "-w", &file.display().to_string()]);
        world.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{blob},{path}")]);
    };
    world.git(&["read-tree", "main"]);
    link("docs/code", "../src");
    link("docs/first.md", "index.md");
    link("docs/out", "../../elsewhere");
    link("docs/long", &"x".repeat(5_000));
    link("src/more", "../docs");
    let tree = world.git(&["write-tree"]);
    let commit = world.git(&["commit-tree", &tree, "-p", "main", "-m", "Links"]);
    world.git(&["update-ref", "refs/heads/main", &commit]);
    let mirror = world.look().await;
    let base = mirror.base(mirror.branch("main").expect("is there")).expect("reads");
    let docs = OriginalDocs::new(base, "docs", &Quarantine::default()).expect("reads");
    assert_eq!(docs.linked(), ["code/more", "code/widget.txt", "first.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_branch_or_docs_root_is_told_with_those_that_are_there() {
    let world = World::new();
    world.set_project(|project| project.docs_root = "doc".to_owned());
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert!(message(&ended).contains("no folder `doc` (it has `docs`, `src`)"), "{}", message(&ended));
    world.set_project(|project| project.branch = "master".to_owned());
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.halt), (JobStatus::Failed, Some(Halt::GitMisconfigured)));
    assert!(message(&ended).contains("no branch `master` (it has `main`)"), "{}", message(&ended));
}

#[tokio::test(start_paused = true)]
async fn without_a_docs_root_the_whole_repository_is_the_docs() {
    let world = World::new();
    world.set_project(|project| project.docs_root.clear());
    let job = world.asks(r#"Set description to "A page" in docs/other.md"#).await;
    let ended = world.works_on(&job).await;
    assert_eq!(world.changed(&job.source.branch).await, ["docs/other.md"], "{}", message(&ended));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_includes_what_is_above_the_docs_root_moves() {
    let mut files = docs();
    for (path, text) in [
        ("book.toml", "[book]\nsrc = \"docs\"\n"),
        ("docs/SUMMARY.md", "- [Setup](setup.md)\n"),
        ("docs/setup.md", "# Setup\n\n```rust\n{{#include ../samples/setup.rs}}\n```\n"),
        ("samples/setup.rs", "fn main() {}\n"),
    ] {
        files.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    let world = World::of(Arc::new(Builtin), &files);
    let job = world.asks("Move page setup.md to start/setup.md").await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.halt, Some(Halt::Completed), "{}", message(&ended));
    let moved = world.text(&job.source.branch, "docs/start/setup.md").await;
    assert!(moved.contains("{{#include ../../samples/setup.rs}}"), "{moved}");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_changes_nothing_completes_without_a_pull_request() {
    let world = World::new();
    let job = world.asks(r#"Replace "Sprocket" with "Gadget""#).await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.pr_link.clone()), (JobStatus::Completed, None), "{}", message(&ended));
    assert!(!message(&ended).is_empty());
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
    assert_eq!(world.pull_requests().await, []);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_cannot_be_read_fails_with_the_forms() {
    let world = World::new();
    let job = world.asks("Make the docs sing.").await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.halt), (JobStatus::Failed, Some(Halt::Error)));
    assert!(message(&ended).contains("Fix broken links"), "{}", message(&ended));
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
}

#[tokio::test(start_paused = true)]
async fn a_draft_is_opened_as_one() {
    let world = World::new();
    let new = NewJob {
        project: &world.project(),
        messages: vec![Message::text(Role::User, RENAME)],
        branch: None,
        as_draft: true,
        model: "sonnet".to_owned(),
    };
    let job = world.jobs.submit(new, None).await.expect("accepted").job;
    world.works_on(&job).await;
    assert!(world.pull_requests().await[0].draft);
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_is_there_is_continued() {
    let world = World::new();
    let by_hand = world.colleague().await.pushes("topic", "docs/new.md", "---\ntitle: New\n---\n\nA Widget.\n");
    let job = world.asks_on(RENAME, Some("topic")).await;
    world.works_on(&job).await;
    let commits = world.commits("topic").await;
    assert_eq!((commits.len(), commits[1].id), (2, by_hand));
    assert!(world.text("topic", "docs/new.md").await.contains("A Gadget."));
    assert_eq!(world.pull_requests().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_beside_a_branch_called_docent_takes_another_name_and_keeps_it() {
    let world = World::new();
    world.colleague().await.pushes("docent", "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    let branch = format!("docent-{}", job.id);
    assert_eq!((ended.status, &ended.source.branch), (JobStatus::Completed, &branch), "{}", message(&ended));
    assert_eq!((world.commits(&branch).await.len(), world.pull_requests().await.len()), (1, 1));
    world.follows_up(&job, "Replace \"Gadget\" with \"Gizmo\"").await;
    let ended = world.works_on(&job).await;
    assert_eq!((&ended.source.branch, world.commits(&branch).await.len()), (&branch, 2));
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_branch_has_become_the_base_needs_no_pull_request() {
    let world = World::new();
    let before = world.colleague().await.pushes("topic", "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
    let job = world.asks_on(RENAME, Some("topic")).await;
    world.set_project(|project| project.branch = "topic".to_owned());
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.pr_link.clone()), (JobStatus::Completed, None), "{}", message(&ended));
    assert_eq!(world.pull_requests().await, []);
    let mirror = world.look().await;
    let new = mirror.commits(mirror.branch("topic").expect("is there"), Some(before), 9).expect("reads");
    assert_eq!(new.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_forge_that_is_away_for_a_while_gets_its_pull_request_later() {
    let world = World::new();
    world.forge_has(Some(|| ForgeError::Unavailable { retry_after: None, source: "connection refused".into() }));
    let job = world.asks(RENAME).await;
    let process = world.starts();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.job(&job).await.status, JobStatus::Active);
    world.forge_has(None);
    world.clock.advance(Duration::from_secs(600));
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!((world.commits(&job.source.branch).await.len(), world.pull_requests().await.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_forge_that_stays_away_fails_the_job() {
    let world = World::new();
    world.forge_has(Some(|| ForgeError::Unavailable { retry_after: None, source: "connection refused.".into() }));
    let job = world.asks(RENAME).await;
    let process = world.starts();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(2)).await;
        world.clock.advance(Duration::from_secs(600));
    }
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_failed(&ended, Halt::GitMisconfigured, &["could not be reached: connection refused"]);
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_is_gone_fails_the_job() {
    let world = World::new();
    std::fs::remove_dir_all(world.project().repository).expect("removed");
    let job = world.asks(RENAME).await;
    let process = world.starts();
    for _ in 0..40 {
        // If the repository counts as unreachable, the job retries for a while.
        world.clock.advance(Duration::from_secs(600));
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_failed(&ended, Halt::GitMisconfigured, &[&world.project().repository, "check the address"]);
}

#[tokio::test(start_paused = true)]
async fn a_base_branch_that_is_missing_fails_the_job() {
    let world = World::new();
    world.set_project(|project| project.branch = "trunk".to_owned());
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::GitMisconfigured, &["no branch `trunk`"]);
}

#[tokio::test(start_paused = true)]
async fn a_base_branch_that_is_missing_fails_a_job_on_another_branch_too() {
    let world = World::new();
    world.colleague().await.pushes("topic", "docs/new.md", "A Widget.\n");
    world.set_project(|project| project.branch = "trunk".to_owned());
    let job = world.asks_on(RENAME, Some("topic")).await;
    assert_failed(&world.works_on(&job).await, Halt::GitMisconfigured, &["no branch `trunk`"]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_repository_fails_the_job() {
    let world = World::new();
    let repository = world.project().repository;
    // A repository as `git init --bare` leaves it: without any branch.
    for folder in ["refs/heads/main", "packed-refs"] {
        let path = PathBuf::from(&repository).join(folder);
        if path.exists() {
            std::fs::remove_file(path).expect("removed");
        }
    }
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::GitMisconfigured, &["is empty", "push a first commit"]);
}

#[tokio::test(start_paused = true)]
async fn a_secret_fails_the_job_and_is_shown_by_file_and_line() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let world = World::new();
    let job = world.asks(&format!(r#"Replace "Install the Widget" with "{secret}""#)).await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.halt), (JobStatus::Failed, Some(Halt::Error)), "{}", message(&ended));
    assert!(message(&ended).contains("setup.md:5"), "{}", message(&ended));
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
}

#[tokio::test(start_paused = true)]
async fn a_secret_in_the_instruction_reaches_neither_commit_nor_pull_request() {
    let world = World::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let job = world.asks(&format!("{RENAME}. My token is {secret}.")).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Failed, "{}", message(&ended));
    assert!(message(&ended).contains("a GitHub token") && !message(&ended).contains(&secret), "{}", message(&ended));
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
    assert!(world.pull_requests().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_secret_left_by_an_agent_that_was_stopped_fails_the_job() {
    let text = format!("---\ntitle: Setup\n---\n\nexport TOKEN=ghp_{}\n", "a1B2c3D4e5F6".repeat(3));
    let model = Scripted::new();
    model.calls("write", json!({ "path": "setup.md", "content": text }));
    model.replies("I think that is all.").replies("Yes.").replies("Really.");
    let world = World::with(Arc::new(model));
    let job = world.asks("Document the token").await;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["docs/setup.md, line 5", "a GitHub token"]);
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
}

#[tokio::test(start_paused = true)]
async fn a_project_that_was_removed_fails_its_jobs() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    *world.projects.0.lock() = None;
    let process = world.starts();
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_failed(&ended, Halt::Error, &["project `acme`"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_not_configured_any_more_fails_the_job() {
    let world = World::new();
    let new = NewJob {
        project: &world.project(),
        messages: vec![Message::text(Role::User, RENAME)],
        branch: None,
        as_draft: false,
        model: "haiku".to_owned(),
    };
    let job = world.jobs.submit(new, None).await.expect("accepted").job;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["`haiku`"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_refuses_fails_the_job_at_once() {
    let model = Scripted::new();
    model.fails(ModelErrorKind::Auth);
    let world = World::with(Arc::new(model));
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["could not be asked", "told to fail"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_overloaded_is_asked_again_and_what_it_said_before_is_not_lost() {
    let model = Scripted::new();
    model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" }));
    model.fails(ModelErrorKind::Overloaded { retry_after: None });
    model.calls("finish", json!({ "outcome": "done", "title": "Rename", "summary": "Renamed." }));
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks(RENAME).await;
    let process = world.starts();
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.clock.advance(Duration::from_secs(600));
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!((model.requests().len(), world.commits(&job.source.branch).await.len()), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_gives_up_leaves_nothing_behind() {
    let world = World::with(Arc::new(Planned::new(vec![
        ("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" })),
        ("finish", json!({ "outcome": "cannot", "title": "", "summary": "The page is about something else." })),
    ])));
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["about something else"]);
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
}

#[tokio::test(start_paused = true)]
async fn archiving_stops_the_work() {
    let model = Scripted::new();
    model.replies(Reply::text("Let me think").wait(&ReplyGate::closed()));
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks(RENAME).await;
    let process = world.starts();
    while model.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.jobs.archive(&job.project, job.id).await.expect("archived");
    model.is_cancelled(1).await;
    process.drains().await;
    assert_eq!((world.job(&job).await.status, world.pull_requests().await), (JobStatus::Archived, vec![]));
    assert_eq!(world.look().await.find_branch(&job.source.branch).expect("reads"), None);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_came_before_the_drain_is_not_asked_for_again() {
    let model = Arc::new(Planned::new(vec![
        ("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" })),
        finish("Rename", "Renamed."),
    ]));
    let world = World::with(Arc::clone(&model) as _);
    let job = world.asks(RENAME).await;
    let process = world.starts();
    let drain = process.drain.clone();
    model.meanwhile(1, move || drain.cancel());
    process.task.await.expect("drained");
    assert_eq!((world.job(&job).await.status, model.asked()), (JobStatus::Active, 1));
    world.works_on(&job).await;
    assert_eq!((model.asked(), world.commits(&job.source.branch).await.len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn the_first_page_makes_the_docs_root() {
    let world = World::new();
    world.set_project(|project| project.docs_root = "site/pages".to_owned());
    let job = world.asks(r#"Add a page start titled "Start""#).await;
    let ended = world.works_on(&job).await;
    assert_eq!(world.changed(&job.source.branch).await, ["site/pages/start.mdx"], "{}", message(&ended));
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_edits_all_failed_is_failed_and_a_follow_up_can_mend_it() {
    let model = Scripted::new();
    model.calls("edit", json!({ "path": "nowhere.md", "old": "a", "new": "b" }));
    let claim = json!({ "outcome": "done", "title": "Rename", "summary": "I renamed it." });
    model.calls("finish", claim.clone()).calls("finish", claim);
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks("Rename it").await;
    let ended = world.works_on(&job).await;
    assert_failed(&ended, Halt::Error, &["Nothing was changed", "nowhere.md"]);
    assert!(!message(&ended).contains("I renamed it"), "{}", message(&ended));
    assert!(world.pull_requests().await.is_empty());

    model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" }));
    let (tool, input) = finish("Rename", "Renamed.");
    model.calls(tool, input);
    world.follows_up(&job, "Try setup.md").await;
    assert_eq!(world.works_on(&job).await.status, JobStatus::Completed);
    assert_eq!(world.pull_requests().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_keeps_its_change_in_a_pull_request() {
    let edit = || json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" });
    let chatter = "I will call `finish` now.";
    for (what, status) in
        [("chatter", JobStatus::Completed), ("silence", JobStatus::Failed), ("refusal", JobStatus::Failed)]
    {
        let model = Scripted::new();
        model.calls("edit", edit());
        match what {
            "chatter" => model.replies(chatter).replies(chatter).replies(chatter),
            "silence" => model.replies("").replies(" ").replies(""),
            _ => model.fails(ModelErrorKind::Refused),
        };
        let world = World::with(Arc::new(model.clone()));
        let job = world.asks("Rename it").await;
        let ended = world.works_on(&job).await;
        assert_eq!(ended.status, status, "{what}: {}", message(&ended));
        assert!(ended.pr_link.is_some(), "{what}");
        let pull = world.pull_requests().await.remove(0);
        assert!(pull.title.contains("Change ") && pull.title.contains("Setup"), "{}", pull.title);
        assert_eq!(pull.title.starts_with("Unfinished: "), what != "chatter", "{}", pull.title);
        assert!(pull.body.contains("- Changed `setup.md`"), "{}", pull.body);
        let commit = world.commits(&job.source.branch).await.remove(0);
        for text in [&pull.title, &pull.body, &commit.message] {
            assert!(!text.contains("call `finish`"), "{text}");
        }

        // The next turn builds on it.
        model.calls("finish", json!({ "outcome": "done", "title": "No more", "summary": "Nothing is left." }));
        world.follows_up(&job, "Is anything left?").await;
        assert_eq!(world.works_on(&job).await.status, JobStatus::Completed, "{what}");
        let request = model.requests().pop().expect("a request");
        assert!(!request.system.contains("nothing that you changed in it was kept"), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_outlasts_the_time_of_the_job_ends_it() {
    let model = Scripted::new();
    model.fails(ModelErrorKind::Overloaded { retry_after: Some(Duration::from_secs(61 * 60)) });
    model.fails(ModelErrorKind::Overloaded { retry_after: None });
    let world = World::with(Arc::new(model));
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["would be over before the model could be asked again"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_or_fails_on_and_on_ends_within_the_time_of_the_job() {
    for is_silent in [true, false] {
        let model = Scripted::new();
        for _ in 0..20 {
            match is_silent {
                true => model.replies(Reply::default().wait(&ReplyGate::closed())),
                false => model.fails(ModelErrorKind::Overloaded { retry_after: None }),
            };
        }
        let mut world = World::with(Arc::new(model.clone()));
        world.config.limits.minutes = 2;
        let job = world.asks(RENAME).await;
        let begun = world.clock.now();
        let ended = world.works_and_waits(&job).await;
        let minutes = world.clock.now().since(begun).as_secs_f64() / 60.0;
        // A last request for a summary has two minutes more.
        assert!(minutes < 4.5, "{minutes} minutes");
        assert_failed(&ended, Halt::Error, &["minutes"]);
        assert!(model.remaining() > 0 && world.pull_requests().await.is_empty());
    }
}
