//! Follow-ups.

use docent_agent::DocsSearch;
use docent_forge::{ForgeError, PullState};
use docent_llm::scripted::{Reply, Scripted};
use docent_types::Passage;
use serde_json::json;

use super::model::finish;
use super::*;

const MORE: &str = r#"Replace "Nothing of note" with "Much to see""#;

#[tokio::test(start_paused = true)]
async fn a_follow_up_continues_the_branch_and_the_pull_request() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let first = world.works_on(&job).await;
    world.follows_up(&job, MORE).await;
    let second = world.works_on(&job).await;

    assert_eq!((second.status, &second.pr_link), (JobStatus::Completed, &first.pr_link), "{}", message(&second));
    assert_eq!(world.commits(&job.source.branch).await.len(), 2);
    let pulls = world.pull_requests().await;
    assert_eq!(pulls.len(), 1);
    // The pull request describes all changes in it, and keeps its title.
    for words in [RENAME, MORE, message(&first), message(&second)] {
        assert!(pulls[0].body.contains(words), "no `{words}` in {}", pulls[0].body);
    }
    assert!(pulls[0].title.contains("Widget"), "{}", pulls[0].title);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_a_follow_up_moves_back_is_as_before_the_job() {
    let mut files = docs();
    let page = b"---\ntitle: B\n---\n\n[one](../guide/a.md) and [two](a.md)\n".to_vec();
    files.extend([("docs/guide/a.md".to_owned(), b"# A\n".to_vec()), ("docs/guide/b.md".to_owned(), page)]);
    let world = World::of(Arc::new(Builtin), &files);
    let job = world.asks("Move page guide/b to b").await;
    world.works_on(&job).await;
    assert!(world.text(&job.source.branch, "docs/b.md").await.contains("[one](guide/a.md) and [two](guide/a.md)"));
    world.follows_up(&job, "Move page b to guide/b").await;
    let back = world.works_on(&job).await;
    assert_eq!(back.status, JobStatus::Completed, "{}", message(&back));
    assert_eq!(world.changed(&job.source.branch).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_that_changes_nothing_leaves_the_pull_request_as_it_is() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let first = world.works_on(&job).await;
    let before = world.pull_requests().await;
    world.follows_up(&job, RENAME).await;
    let second = world.works_on(&job).await;
    assert_eq!((second.status, second.pr_link), (JobStatus::Completed, first.pr_link));
    assert_eq!((world.commits(&job.source.branch).await.len(), world.pull_requests().await), (1, before));
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_after_the_merge_opens_a_new_pull_request() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let first = world.works_on(&job).await;
    let merged = world.pull_requests().await.remove(0);
    world.pulls().merge(&world.project(), &merged).await.expect("merged");
    world.follows_up(&job, MORE).await;
    let second = world.works_on(&job).await;

    assert_ne!(second.pr_link, first.pr_link);
    let pulls = world.pull_requests().await;
    assert_eq!(pulls.iter().map(|pull| pull.state).collect::<Vec<_>>(), [PullState::Open, PullState::Merged]);
    // The new pull request describes only the new changes.
    assert!(pulls[0].body.contains(MORE) && !pulls[0].body.contains(RENAME), "{}", pulls[0].body);
    assert!(world.text(&job.source.branch, "docs/setup.md").await.contains("Gadget"));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/other.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_after_the_pull_request_was_closed_opens_a_new_one() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    let first = world.works_on(&job).await;
    let closed = world.pull_requests().await.remove(0);
    world.pulls().close(&world.project(), &closed).await.expect("closed");
    world.follows_up(&job, MORE).await;
    let second = world.works_on(&job).await;

    assert_ne!(second.pr_link, first.pr_link);
    let pulls = world.pull_requests().await;
    assert_eq!(pulls.iter().map(|pull| pull.state).collect::<Vec<_>>(), [PullState::Open, PullState::Closed]);
    assert_eq!(world.commits(&job.source.branch).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_failed_job_works_again_on_a_follow_up() {
    let world = World::new();
    let job = world.asks("Make the docs sing.").await;
    assert_eq!(world.works_on(&job).await.status, JobStatus::Failed);
    world.follows_up(&job, RENAME).await;
    let again = world.works_on(&job).await;
    assert_eq!((again.status, world.commits(&job.source.branch).await.len()), (JobStatus::Completed, 1));
}

#[tokio::test(start_paused = true)]
async fn work_that_could_not_be_pushed_is_done_again_on_a_follow_up() {
    let world = World::new();
    // A branch `topic` conflicts with the name `topic/one`.
    world.colleague().await.pushes("topic", "docs/new.md", "New.\n");
    let job = world.asks_on(RENAME, Some("topic/one")).await;
    assert_failed(&world.works_on(&job).await, Halt::GitMisconfigured, &["could not be pushed", "`topic`"]);

    let mirror = world.look().await;
    let path = PathBuf::from(world.project().repository).join("refs/heads/topic");
    std::fs::remove_file(path).expect("the branch is deleted");
    drop(mirror);
    world.follows_up(&job, MORE).await;
    let again = world.works_on(&job).await;
    assert_eq!(again.status, JobStatus::Completed, "{}", message(&again));
    let changed = world.changed("topic/one").await;
    assert_eq!(changed, ["docs/index.md", "docs/other.md", "docs/setup.md"], "both instructions are carried out");
}

#[tokio::test(start_paused = true)]
async fn an_instruction_that_comes_while_it_works_is_carried_out_too() {
    let world = World::new();
    let job = world.asks(RENAME).await;
    world.follows_up(&job, MORE).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed);
    assert_eq!(world.changed(&job.source.branch).await, ["docs/index.md", "docs/other.md", "docs/setup.md"]);
    assert_eq!(world.pull_requests().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_that_updates_the_branch_solves_its_conflicts_there() {
    let model = Scripted::new();
    let edit = |path: &str, old: &str| json!({ "path": path, "old": old, "new": "Gadget" });
    let (name, done) = finish("Rename", "Renamed.");
    model.calls("edit", edit("setup.md", "Widget")).calls("edit", edit("index.md", "Widget")).calls(name, done.clone());
    model.calls("edit", edit("setup.md", "Sprocket")).calls(name, done);
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks("Rename it").await;
    let first = world.works_on(&job).await;
    let text = |text: String| text.replace("Widget", "Sprocket");
    let (setup, other) = (text(world.text("main", "docs/setup.md").await), world.text("main", "docs/other.md").await);
    let colleague = world.colleague().await;
    colleague.pushes("main", "docs/setup.md", &setup);
    world.colleague().await.pushes("main", "docs/other.md", &format!("{other}More.\n"));
    let pull = world.pull_requests().await.remove(0);
    assert_eq!(Pulls::job_of(&pull), Some(job.id));
    let conflicts = world.pulls().conflicts(&world.project(), &pull).await.expect("compared");
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");

    let messages = vec![Message::text(Role::User, "Solve it.")];
    world.jobs.update_branch(&job.project, job.id, messages).await.expect("accepted");
    let second = world.works_on(&job).await;
    assert_eq!((second.status, &second.pr_link), (JobStatus::Completed, &first.pr_link), "{}", message(&second));
    assert!(message(&second).contains("`main` is merged"), "{}", message(&second));
    let asked = model.requests().into_iter().last().expect("a request").system;
    assert!(asked.contains("- `docs/setup.md`") && !asked.contains("docs/index.md`\n"), "{asked}");
    let solved = world.text(&job.source.branch, "docs/setup.md").await;
    assert!(solved.contains("Gadget") && !solved.contains("Sprocket"), "{solved}");
    assert!(world.text(&job.source.branch, "docs/other.md").await.ends_with("More.\n"), "the rest is from both");
    assert!(world.text(&job.source.branch, "docs/index.md").await.contains("Gadget"));
    world.pulls().merge(&world.project(), &pull).await.expect("merged");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_that_nobody_solved_is_told() {
    let model = Scripted::new();
    let (name, done) = finish("Rename", "Renamed.");
    model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" })).calls(name, done.clone());
    model.calls(name, done);
    let world = World::with(Arc::new(model));
    let job = world.asks("Rename it").await;
    world.works_on(&job).await;
    let setup = world.text("main", "docs/setup.md").await.replace("Widget", "Sprocket");
    world.colleague().await.pushes("main", "docs/setup.md", &setup);
    let messages = vec![Message::text(Role::User, "Solve it.")];
    world.jobs.update_branch(&job.project, job.id, messages).await.expect("accepted");
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    let body = world.pull_requests().await.remove(0).body;
    assert!(body.contains("`docs/setup.md` conflicted and is now as on the other branch"), "{body}");
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_opens_the_missing_pull_request() {
    for more in [MORE, RENAME] {
        let world = World::new();
        world.forge_has(Some(|| ForgeError::Refused { sentence: "the token may not open pull requests.".into() }));
        let job = world.asks(RENAME).await;
        let failed = world.works_on(&job).await;
        assert_failed(&failed, Halt::GitMisconfigured, &["could not be opened: the token may not"]);
        assert_eq!((failed.pr_link, world.commits(&job.source.branch).await.len()), (None, 1));

        world.forge_has(None);
        world.follows_up(&job, more).await;
        let again = world.works_on(&job).await;
        let pulls = world.pull_requests().await;
        assert_eq!((again.status, pulls.len()), (JobStatus::Completed, 1), "{}", message(&again));
        assert!(again.pr_link.is_some() && pulls[0].body.contains(RENAME), "{}", pulls[0].body);
        // The same instruction again changes nothing, so there is nothing to commit.
        let commits = if more == MORE { 2 } else { 1 };
        assert_eq!(world.commits(&job.source.branch).await.len(), commits, "{more}");
    }
}

/// A search over the docs that calls a function of the test.
struct Meanwhile(Box<dyn Fn() + Send + Sync>);

impl DocsSearch for Meanwhile {
    fn search(&self, _words: &str, _limit: usize) -> Vec<Passage> {
        (self.0)();
        Vec::new()
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_a_follow_up_outran_is_mentioned_and_not_taken_for_done() {
    let model = Scripted::new();
    let edit = |path: &str| json!({ "path": path, "old": "Widget", "new": "Gadget" });
    let cannot = json!({ "outcome": "cannot", "title": "", "summary": "The page is about something else." });
    let (name, done) = finish("Rename", "Renamed in index.md.");
    model.calls("edit", edit("setup.md"));
    model.replies(Reply::default().call("search_docs", json!({ "query": "widget" })).call("finish", cannot));
    model.calls("edit", edit("index.md")).calls(name, done);
    let mut world = World::with(Arc::new(model.clone()));
    let job = world.asks("Rename it").await;
    // The follow-up comes too late for the turn that is about to fail, and before the job has failed.
    let (jobs, spoken_to, runtime) = (world.jobs.clone(), job.clone(), tokio::runtime::Handle::current());
    let speaks = Arc::new(Meanwhile(Box::new(move || {
        let messages = vec![Message::text(Role::User, "Then in the other page.")];
        let spoken = jobs.follow_up(&spoken_to.project, spoken_to.id, messages, None);
        drop(runtime.block_on(spoken).expect("accepted"));
    })));
    world.config.search = Some(Arc::new(move |_| Some(Arc::clone(&speaks) as _)));
    let ended = world.works_on(&job).await;

    let said = message(&ended);
    assert_eq!(ended.status, JobStatus::Completed, "{said}");
    assert!(said.starts_with("Renamed in index.md.") && said.contains("before this one failed"), "{said}");
    assert!(said.contains("something else"), "{said}");
    assert_eq!(world.changed(&job.source.branch).await, ["docs/index.md"]);
    let requests = model.requests();
    assert!(!requests[1].system.contains("was kept") && requests[2].system.contains("was kept"));
}
