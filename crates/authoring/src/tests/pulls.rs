//! People look at pull requests, merge them and close them.

use docent_forge::PullState;

use super::*;
use crate::{ChangeSize, MergeError};

/// A world in which a job has opened a pull request.
async fn opened() -> (World, AgentJob, PullRecord) {
    let world = World::new();
    let job = world.asks(RENAME).await;
    world.works_on(&job).await;
    let pull = world.pull_requests().await.remove(0);
    (world, job, pull)
}

fn paths(diff: &crate::Diff) -> Vec<&str> {
    diff.files.iter().map(|file| file.path.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_merge_brings_the_changes_into_the_base_and_they_can_be_looked_at_ever_after() {
    let (world, job, pull) = opened().await;
    let pulls = world.pulls();
    let before = pulls.changes(&world.project(), &pull, DiffView::default()).await.expect("compares");
    assert_eq!(paths(&before.diff), ["docs/index.md", "docs/setup.md"]);
    let merged = pulls.merge(&world.project(), &pull).await.expect("merged");
    assert_eq!(merged.state, PullState::Merged);
    assert!(world.text("main", "docs/setup.md").await.contains("Gadget"));

    let branch = PathBuf::from(world.project().repository).join("refs/heads").join(&job.source.branch);
    std::fs::remove_file(branch).expect("the branch is deleted");
    assert_eq!(pulls.changes(&world.project(), &merged, DiffView::default()).await.expect("compares"), before);
}

#[tokio::test(start_paused = true)]
async fn the_size_of_a_pull_request_is_that_of_all_its_changes_open_and_merged() {
    let (world, _, pull) = opened().await;
    let (pulls, project) = (world.pulls(), world.project());
    pulls.changes(&project, &pull, DiffView::default()).await.expect("fetches");
    let size = vec![Some(ChangeSize { files: 2, added_lines: 2, removed_lines: 2 })];
    assert_eq!(pulls.sizes(&project, vec![pull.clone()]).await, size);
    let merged = pulls.merge(&project, &pull).await.expect("merged");
    assert_eq!(pulls.sizes(&project, vec![merged]).await, size);
    let gone = PullRecord { head: "gone".to_owned(), ..pull };
    assert_eq!(pulls.sizes(&project, vec![gone]).await, [None]);
}

#[tokio::test(start_paused = true)]
async fn a_merge_that_was_not_written_down_is_found_made() {
    let (world, _, pull) = opened().await;
    let (pulls, cord) = (Arc::clone(&world.pulls), Cord::new(cord::Pull::Before(1)));
    let projects = Arc::clone(&world.projects) as _;
    let corded = Arc::new(CordedPulls::new(pulls, Arc::clone(&cord)));
    let dying = Pulls::new(corded, projects, world.repositories("dashboard"), Arc::new(world.clock.clone()));
    let project = world.project();
    tokio::select! {
        _ = dying.merge(&project, &pull) => panic!("it outlived its process"),
        () = cord.pulled() => {}
    }
    let tip = world.tip("main").await;
    assert_eq!(world.pull_requests().await[0].state, PullState::Open);
    let merged = world.pulls().merge(&project, &pull).await.expect("merged");
    assert_eq!((merged.state, world.tip("main").await), (PullState::Merged, tip));
}

#[tokio::test(start_paused = true)]
async fn a_squash_is_one_commit_of_the_person_and_credits_the_authors() {
    let (world, job, pull) = opened().await;
    world.set_project(|project| project.settings.author = "Docs Bot <docs@example.com>".parse().ok());
    world.colleague().await.pushes(&job.source.branch, "docs/more.md", "# More\n");
    let (pulls, project) = (world.pulls(), world.project());
    let before = world.tip("main").await;
    let commits = pulls.changes(&project, &pull, DiffView::default()).await.expect("compares").commits;
    assert_eq!(commits.len(), 2);
    let (pulls, cord) = (Arc::clone(&world.pulls), Cord::new(cord::Pull::Before(1)));
    let corded = Arc::new(CordedPulls::new(pulls, Arc::clone(&cord)));
    let projects = Arc::clone(&world.projects) as _;
    let dying = Pulls::new(corded, projects, world.repositories("dashboard"), Arc::new(world.clock.clone()));
    tokio::select! {
        _ = dying.squash(&project, &pull, "ada") => panic!("it outlived its process"),
        () = cord.pulled() => {}
    }
    let tip = world.tip("main").await;
    let merged = world.pulls().squash(&project, &pull, "ada").await.expect("merged");
    assert_eq!(
        (merged.state, world.tip("main").await),
        (PullState::Merged, tip),
        "what was not written down is found made"
    );

    let main = world.commits_since("main", before).await;
    let [squashed] = &main[..] else { panic!("one commit, not {main:?}") };
    assert_eq!((squashed.author.as_str(), squashed.email.as_str()), ("ada", "docs@example.com"));
    let message = &squashed.message;
    assert!(message.starts_with(&format!("{} (#{})\n\n", pull.title, pull.number)), "{message}");
    let credits: Vec<&str> = message.lines().filter(|line| line.starts_with("Co-authored-by: ")).collect();
    let authors: Vec<String> =
        commits.iter().rev().map(|commit| format!("Co-authored-by: {} <{}>", commit.author, commit.email)).collect();
    assert_eq!(credits, authors, "from the oldest on");
}

#[tokio::test(start_paused = true)]
async fn a_closed_pull_request_is_opened_again_while_there_is_something_to_merge() {
    let (world, job, pull) = opened().await;
    let (pulls, project) = (world.pulls(), world.project());
    assert!(matches!(pulls.reopen(&project, &pull).await, Err(MergeError::Refused(_))), "it is open");
    let closed = pulls.close(&project, &pull).await.expect("closed");
    let open = pulls.reopen(&project, &closed).await.expect("is opened again");
    assert_eq!((open.state, open.ended_at), (PullState::Open, None));
    pulls.comment(&open, "ada", "Good.").await.expect("is written");
    let comments = pulls.comments(&open).await.expect("reads");
    assert_eq!((comments[0].author.as_str(), comments[0].text.as_str()), ("ada", "Good."));
    let closed = pulls.close(&project, &open).await.expect("closed");
    let branch = PathBuf::from(&project.repository).join("refs/heads").join(&job.source.branch);
    std::fs::remove_file(branch).expect("the branch is deleted");
    match pulls.reopen(&project, &closed).await {
        Err(MergeError::Refused(sentence)) => assert!(sentence.contains("gone from the repository"), "{sentence}"),
        other => panic!("a refusal, not {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_brings_the_base_into_the_branch_and_the_merge_moves_forward() {
    let (world, job, pull) = opened().await;
    world.set_project(|project| project.settings.author = "Docs Bot <docs@example.com>".parse().ok());
    world.colleague().await.pushes("main", "docs/new.md", "# New\n");
    let (pulls, project) = (world.pulls(), world.project());
    assert_eq!(pulls.update(&project, &pull).await.expect("updated"), crate::Updated::Merged);
    assert_eq!(world.text(&job.source.branch, "docs/new.md").await, "# New\n");
    assert!(world.text(&job.source.branch, "docs/setup.md").await.contains("Gadget"));
    assert_eq!(world.commits(&job.source.branch).await[0].author, "Docs Bot");
    let changes = pulls.changes(&project, &pull, DiffView::default()).await.expect("compares");
    assert_eq!(paths(&changes.diff), ["docs/index.md", "docs/setup.md"]);
    assert_eq!(pulls.update(&project, &pull).await.expect("nothing to do"), crate::Updated::UpToDate);
    let tip = world.tip(&job.source.branch).await;
    pulls.merge(&project, &pull).await.expect("merged");
    assert_eq!(world.tip("main").await, tip, "a move forward");
    assert!(matches!(pulls.update(&project, &pull).await, Err(MergeError::Refused(_))), "it is merged");
}

#[tokio::test(start_paused = true)]
async fn an_update_that_conflicts_names_the_files_and_changes_nothing() {
    let (world, job, pull) = opened().await;
    world.colleague().await.pushes("main", "docs/setup.md", "---\ntitle: Setup\n---\n\nUnpack the Widget.\n");
    let tip = world.tip(&job.source.branch).await;
    match world.pulls().update(&world.project(), &pull).await {
        Err(MergeError::Conflict(sentence)) => assert!(sentence.contains("docs/setup.md"), "{sentence}"),
        other => panic!("a refusal, not {other:?}"),
    }
    assert_eq!(world.tip(&job.source.branch).await, tip);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_refused_with_the_files_it_is_in() {
    let (world, _, pull) = opened().await;
    world.colleague().await.pushes("main", "docs/setup.md", "---\ntitle: Setup\n---\n\nUnpack the Widget.\n");
    match world.pulls().merge(&world.project(), &pull).await {
        Err(MergeError::Conflict(sentence)) => assert!(sentence.contains("docs/setup.md"), "{sentence}"),
        other => panic!("a refusal, not {other:?}"),
    }
    assert_eq!(world.pull_requests().await[0].state, PullState::Open);
    let conflicts = world.pulls().conflicts(&world.project(), &pull).await.expect("looks");
    let [crate::FileConflict { path, kind: crate::ConflictKind::Lines(lines) }] = &conflicts[..] else {
        panic!("lines of one file, not {conflicts:?}")
    };
    assert_eq!(path, "docs/setup.md");
    assert!(lines[0].target.contains("Unpack the Widget") && lines[0].source.contains("Gadget"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn a_closed_pull_request_is_not_closed_again() {
    let (world, job, pull) = opened().await;
    let closed = world.pulls().close(&world.project(), &pull).await.expect("closed");
    assert_eq!(closed.state, PullState::Closed);
    assert!(matches!(world.pulls().close(&world.project(), &pull).await, Err(MergeError::Refused(_))));
    assert!(matches!(world.pulls().merge(&world.project(), &pull).await, Err(MergeError::Refused(_))));
    // Neither the branch nor the base was changed.
    assert_eq!(world.commits(&job.source.branch).await.len(), 1);
    assert!(world.text("main", "docs/setup.md").await.contains("Widget"));
}

#[tokio::test(start_paused = true)]
async fn a_pull_request_without_its_branch_can_only_be_closed() {
    let (world, job, pull) = opened().await;
    let branch = PathBuf::from(world.project().repository).join("refs/heads").join(&job.source.branch);
    std::fs::remove_file(branch).expect("the branch is deleted");
    let pulls = world.pulls();
    let changes = pulls.changes(&world.project(), &pull, DiffView::default()).await.expect("compares");
    assert_eq!(changes, crate::PullChanges::default());
    match pulls.merge(&world.project(), &pull).await {
        Err(MergeError::Refused(sentence)) => assert!(sentence.contains("can only be closed"), "{sentence}"),
        other => panic!("a refusal, not {other:?}"),
    }
    assert_eq!(pulls.close(&world.project(), &pull).await.expect("closed").state, PullState::Closed);
}
