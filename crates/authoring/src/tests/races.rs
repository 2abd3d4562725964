//! Others change the repository at the same time.

use docent_forge::PullState;

use super::cord::Pull;
use super::model::Planned;
use super::*;

#[tokio::test(start_paused = true)]
async fn a_branch_that_moves_meanwhile_is_worked_on_again_from_its_new_tip() {
    let model = Arc::new(Planned::six_steps());
    let world = World::with(Arc::clone(&model) as _);
    let colleague = world.colleague().await;
    let first = colleague.pushes("topic", "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
    let moved = Arc::new(Mutex::new(None));
    let told = Arc::clone(&moved);
    model.meanwhile(4, move || {
        let tip = colleague.pushes("topic", "docs/setup.md", "---\ntitle: Setup\n---\n\nUnpack the Widget.\n");
        *told.lock() = Some(tip);
    });
    let job = world.asks_on("Rename it", Some("topic")).await;
    let ended = world.works_on(&job).await;

    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    let by_hand = moved.lock().expect("it moved");
    let commits: Vec<CommitId> = world.commits("topic").await.iter().map(|commit| commit.id).collect();
    assert_eq!((commits.len(), commits[1], commits[2]), (3, by_hand, first), "one commit on top");
    assert!(world.text("topic", "docs/setup.md").await.contains("Unpack the Gadget."));
    assert!(message(&ended).contains("moved"), "it says so: {}", message(&ended));
    assert_eq!(world.pull_requests().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_branch_of_that_name_that_appears_meanwhile_is_continued() {
    let model = Arc::new(Planned::six_steps());
    let world = World::with(Arc::clone(&model) as _);
    let colleague = world.colleague().await;
    let job = world.asks_on("Rename it", Some("topic")).await;
    model.meanwhile(6, move || {
        colleague.pushes("topic", "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
    });
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!(world.commits("topic").await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_never_stands_still_ends_the_job() {
    let model = Arc::new(Planned::six_steps());
    let world = World::with(Arc::clone(&model) as _);
    let colleague = Arc::new(world.colleague().await);
    for round in 0..5 {
        let colleague = Arc::clone(&colleague);
        model.meanwhile(5, move || {
            colleague.pushes("topic", &format!("docs/{round}.md"), "---\ntitle: Again\n---\n\nAgain.\n");
        });
    }
    let job = world.asks_on("Rename it", Some("topic")).await;
    assert_failed(&world.works_on(&job).await, Halt::GitMisconfigured, &["moved on the remote", "again"]);
}

#[tokio::test(start_paused = true)]
async fn somebody_who_builds_on_the_commit_before_we_know_that_it_was_pushed_does_not_get_it_twice() {
    let world = World::with(Arc::new(Planned::six_steps()));
    let job = world.asks_on("Rename it", Some("topic")).await;
    // The branch is pushed, and the pull request is not.
    killed_before_the_pull_request(&world).await;
    let ours = world.tip("topic").await;
    world.colleague().await.pushes("topic", "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    let commits = world.commits("topic").await;
    assert_eq!((commits.len(), commits[1].id), (2, ours));
    assert_eq!(world.pull_requests().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pull_request_merged_before_we_know_that_it_was_opened_is_not_opened_again() {
    let world = World::with(Arc::new(Planned::six_steps()));
    let job = world.asks("Rename it").await;
    killed(&world, Pull::After).await;
    let opened = world.pull_requests().await.remove(0);
    world.pulls().merge(&world.project(), &opened).await.expect("merged");
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    let pulls = world.pull_requests().await;
    assert_eq!((pulls.len(), pulls[0].state), (1, PullState::Merged));
    assert!(ended.pr_link.is_some_and(|link| link.ends_with(&opened.id.to_string())));
}

#[tokio::test(start_paused = true)]
async fn work_on_a_commit_that_is_gone_everywhere_starts_over() {
    let world = World::with(Arc::new(Planned::six_steps()));
    world.colleague().await.pushes("topic", "docs/new.md", "---\ntitle: New\n---\n\nNew.\n");
    let job = world.asks_on("Rename it", Some("topic")).await;
    let cord = Cord::new(Pull::After(5));
    let process = world.starts_with(&cord, "mirrors");
    cord.pulled().await;
    process.dies().await;
    // The branch is deleted, and the mirror that still had its commit is lost.
    std::fs::remove_file(PathBuf::from(world.project().repository).join("refs/heads/topic")).expect("deleted");
    let process = world.starts_with(&Cord::safe(), "other-mirrors");
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!(world.changed("topic").await, ["docs/index.md", "docs/setup.md"]);
}

async fn killed_before_the_pull_request(world: &World) {
    killed(world, Pull::Before).await;
    assert_eq!(world.pull_requests().await, []);
}

/// Runs a process that is killed at the write that opens the pull request: the first one to the forge, and the last
/// but one of an undisturbed run.
async fn killed(world: &World, pull: impl FnOnce(usize) -> Pull) {
    let cord = Cord::new(pull(rebuild::undisturbed(World::with(Arc::new(Planned::six_steps()))).await.writes - 1));
    let process = world.starts_with(&cord, "mirrors");
    cord.pulled().await;
    process.dies().await;
}
