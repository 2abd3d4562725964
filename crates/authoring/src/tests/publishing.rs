//! Tests of pushes and pull requests, and of what people do to them in between.

use docent_forge::PullState;
use docent_llm::scripted::Scripted;
use serde_json::json;

use super::model::finish;
use super::*;

const MORE: &str = r#"Replace "Nothing of note" with "Much to see""#;

impl World {
    fn delete_branch(&self, name: &str) {
        let path = PathBuf::from(self.project().repository).join("refs/heads").join(name);
        std::fs::remove_file(path).expect("the branch is deleted");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pull_request_carries_labels_and_links_to_nothing_that_takes_a_key() {
    let mut world = World::new();
    world.config.labels = vec!["documentation".to_owned()];
    let job = world.asks(RENAME).await;
    world.works_on(&job).await;
    let pull = world.pull_requests().await.remove(0);
    assert_eq!(pull.labels, ["documentation"]);
    assert!(pull.body.ends_with(&format!("Made by Docent, job {}.\n", job.id)), "{}", pull.body);
    assert!(!pull.body.contains("://"), "{}", pull.body);
    assert!(pull.body.contains("Checked: links, navigation and front matter.\n"), "{}", pull.body);
}

#[tokio::test(start_paused = true)]
async fn a_model_calls_nobody_and_starts_nothing() {
    let model = Scripted::new();
    model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" }));
    let (name, input) = finish(
        "Draft: rename for @everyone [skip ci]\u{1b}[2J",
        "Renamed, as @boss and &#64;eve want.\n/merge\nFixes #12, closes other/repo#2.\n\nskip-checks: true",
    );
    model.calls(name, input);
    let world = World::with(Arc::new(model));
    let job = world.asks("Rename it, @ann said").await;
    let ended = world.works_on(&job).await;
    let pull = world.pull_requests().await.remove(0);
    let commit = world.commits(&job.source.branch).await.remove(0);
    for text in [&pull.title, &pull.body, &commit.message] {
        let heeded =
            ["@everyone", "@boss", "@ann", "&#64;", "#12", "#2", "[skip ci]", "skip-checks:", "Draft:", "\u{1b}"];
        assert!(!heeded.iter().any(|words| text.contains(words)), "{text:?}");
    }
    assert!(!pull.body.lines().any(|line| line.starts_with('/')), "{}", pull.body);
    assert!(message(&ended).contains("@boss"), "the asker hears it as it was said");
}

#[tokio::test(start_paused = true)]
async fn problems_that_a_stopped_agent_leaves_are_told() {
    let model = Scripted::new();
    model.calls("edit", json!({ "path": "index.md", "old": "setup.md", "new": "gone.md" }));
    model.replies("That is all.").replies("Yes.").replies("Really.");
    let world = World::with(Arc::new(model));
    let job = world.asks("Break a link").await;
    world.works_on(&job).await;
    let body = world.pull_requests().await.remove(0).body;
    assert!(body.contains("New problems are left:\n\n- ") && body.contains("gone.md"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_pull_request_that_was_merged_or_closed_meanwhile_is_mentioned() {
    for state in [PullState::Merged, PullState::Closed] {
        let world = World::new();
        let job = world.asks(RENAME).await;
        let first = world.works_on(&job).await;
        let pull = world.pull_requests().await.remove(0);
        match state {
            PullState::Merged => world.pulls().merge(&world.project(), &pull).await.expect("merged"),
            _ => world.pulls().close(&world.project(), &pull).await.expect("closed"),
        };
        world.follows_up(&job, MORE).await;
        let second = world.works_on(&job).await;
        let link = first.pr_link.expect("was opened");
        let said = message(&second);
        assert!(said.contains(&link) && said.contains(state.as_str()) && said.contains("a new one"), "{said}");
        assert_ne!(second.pr_link, Some(link));

        // The note is given once: the next follow-up goes into the new pull request.
        world.follows_up(&job, r#"Replace "Much" with "A lot""#).await;
        let third = world.works_on(&job).await;
        assert_eq!(third.pr_link, second.pr_link);
        assert!(!message(&third).contains("a new one"), "{}", message(&third));
    }
}

#[tokio::test(start_paused = true)]
async fn changes_that_the_base_has_already_need_no_pull_request() {
    let world = World::new();
    world.forge_objects(|| Some(ForgeError::NoChanges { head: "docent".into(), base: "main".into() }));
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, ended.pr_link.clone()), (JobStatus::Completed, None), "{}", message(&ended));
    assert!(message(&ended).contains("`main` holds these changes already"), "{}", message(&ended));

    // Later work is described on its own.
    world.forge_has(None);
    world.follows_up(&job, MORE).await;
    assert_eq!(world.works_on(&job).await.status, JobStatus::Completed);
    let body = world.pull_requests().await.remove(0).body;
    assert!(body.contains(MORE) && !body.contains(RENAME), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_branch_deleted_before_its_pull_request_is_pushed_again_once() {
    for times in [1, 2] {
        let world = World::new();
        let job = world.asks(RENAME).await;
        let (repository, branch) = (PathBuf::from(world.project().repository), job.source.branch.clone());
        let mut deletions = 0;
        world.forge_objects(move || {
            deletions += 1;
            if deletions > times {
                return None;
            }
            std::fs::remove_file(repository.join("refs/heads").join(&branch)).expect("deleted");
            Some(ForgeError::HeadMissing { head: branch.clone() })
        });
        let ended = world.works_on(&job).await;
        if times == 1 {
            assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
            assert!(message(&ended).contains("pushed again"), "{}", message(&ended));
            let body = world.pull_requests().await.remove(0).body;
            assert_eq!(body.matches(RENAME).count(), 1, "{body}");
            assert_eq!(world.commits(&job.source.branch).await.len(), 1);
        } else {
            assert_failed(&ended, Halt::GitMisconfigured, &["was deleted before its pull request", "Send the"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_forge_that_does_not_know_the_branch_yet_is_asked_again() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let mut asked = 0;
    world.forge_objects(move || {
        asked += 1;
        (asked < 3).then(|| ForgeError::HeadMissing { head: "docent".into() })
    });
    let process = world.starts();
    while world.job(&job).await.status == JobStatus::Active {
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.clock.advance(Duration::from_secs(1));
    }
    process.drains().await;
    assert_eq!((world.job(&job).await.status, world.pull_requests().await.len()), (JobStatus::Completed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_forge_that_asks_to_be_left_alone_is() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let mut asked = 0;
    world.forge_objects(move || {
        asked += 1;
        let retry_after = Some(Duration::from_secs(100));
        (asked < 2).then(|| ForgeError::Unavailable { retry_after, source: "the limit is reached".into() })
    });
    let before = world.clock.now();
    let process = world.starts();
    while world.job(&job).await.status == JobStatus::Active {
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.clock.advance(Duration::from_secs(1));
    }
    process.drains().await;
    assert_eq!(world.job(&job).await.status, JobStatus::Completed);
    assert!(world.clock.now().since(before) >= Duration::from_secs(100));
}

#[tokio::test(start_paused = true)]
async fn a_branch_deleted_between_two_turns_begins_again_from_the_base() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    world.works_on(&job).await;
    world.delete_branch(&job.source.branch);
    world.follows_up(&job, MORE).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert!(message(&ended).contains("was deleted meanwhile"), "{}", message(&ended));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/other.md"]);
    let body = world.pull_requests().await.remove(0).body;
    assert!(body.contains(MORE) && !body.contains(RENAME), "what is gone is not told of: {body}");
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_was_merged_and_deleted_begins_from_the_base_without_a_word() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    world.works_on(&job).await;
    let pull = world.pull_requests().await.remove(0);
    world.pulls().merge(&world.project(), &pull).await.expect("merged");
    world.delete_branch(&job.source.branch);
    world.follows_up(&job, MORE).await;
    let ended = world.works_on(&job).await;
    assert!(!message(&ended).contains("deleted"), "{}", message(&ended));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/other.md"]);
    assert_eq!(world.pull_requests().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_model_is_told_what_others_did_to_its_branch() {
    for (rewritten, word) in [(false, "Others have changed"), (true, "was rewritten")] {
        let model = Scripted::new();
        model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" }));
        let (name, input) = finish("Rename", "Renamed.");
        model.calls(name, input.clone()).calls(name, input);
        let world = World::with(Arc::new(model.clone()));
        let job = world.asks("Rename it").await;
        world.works_on(&job).await;
        if rewritten {
            world.delete_branch(&job.source.branch);
        }
        world.colleague().await.pushes(&job.source.branch, "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
        world.follows_up(&job, "Is it done?").await;
        let ended = world.works_on(&job).await;
        let requests = model.requests();
        assert!(!requests[1].system.contains(word) && requests[2].system.contains(word), "{}", requests[2].system);
        assert_eq!(message(&ended).contains("was rewritten"), rewritten, "{}", message(&ended));
    }
}

#[tokio::test(start_paused = true)]
async fn a_push_that_is_refused_fails_the_job_with_what_the_remote_said() {
    let world = World::new();
    let hook = PathBuf::from(world.project().repository).join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().expect("has one")).expect("made");
    std::fs::write(&hook, "#!/bin/sh\necho 'this branch is protected' >&2\nexit 1\n").expect("written");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_failed(&ended, Halt::GitMisconfigured, &["could not be pushed", "rejected"]);
    assert_eq!(world.pull_requests().await, []);

    // Once the hook is removed, the follow-up does the work of both instructions.
    std::fs::remove_file(hook).expect("removed");
    world.follows_up(&job, MORE).await;
    let again = world.works_on(&job).await;
    assert_eq!(again.status, JobStatus::Completed, "{}", message(&again));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/index.md", "docs/other.md", "docs/setup.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_of_system_messages_alone_is_quoted_by_them() {
    let world = World::new();
    let new = NewJob {
        project: &world.project(),
        messages: vec![Message::text(Role::System, RENAME)],
        branch: None,
        as_draft: false,
        model: "sonnet".to_owned(),
    };
    let job = world.jobs.submit(new, None).await.expect("accepted").job;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    let body = world.pull_requests().await.remove(0).body;
    assert!(body.starts_with(&format!("> {RENAME}")), "{body}");
}
