//! The process is killed at every write, and the job still ends as if undisturbed.

use docent_llm::Editor;
use futures::FutureExt;

use super::cord::Pull;
use super::model::Planned;
use super::*;

/// The result of an undisturbed job.
#[derive(Debug, PartialEq)]
pub(super) struct Undisturbed {
    tip: CommitId,
    pub(super) writes: usize,
}

pub(super) async fn undisturbed(world: World) -> Undisturbed {
    let job = world.asks(RENAME).await;
    let cord = Cord::safe();
    let process = world.starts_with(&cord, "mirrors");
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    Undisturbed { tip: world.tip(&job.source.branch).await, writes: cord.writes() }
}

/// Kills the process at `pull`, starts another one, and compares the job's result.
async fn story(world: World, pull: Pull, mirrors_after: &str, expected: &Undisturbed) {
    let job = world.asks(RENAME).await;
    let cord = Cord::new(pull);
    let process = world.starts_with(&cord, "mirrors");
    cord.pulled().await;
    process.dies().await;
    let process = world.starts_with(&Cord::safe(), mirrors_after);
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_is_whole(&world, &job, &ended, expected, &format!("{pull:?}")).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_taken_up_an_hour_later_leaves_one_commit_too() {
    for world in [World::new, with_a_language_model] {
        let writes = undisturbed(world()).await.writes;
        for number in 1..writes {
            let world = world();
            let job = world.asks(RENAME).await;
            let cord = Cord::new(Pull::Before(number));
            let process = world.starts_with(&cord, "mirrors");
            cord.pulled().await;
            process.dies().await;
            // A pushed commit has its date from the journal; an unpushed one may get a new date.
            world.clock.advance(Duration::from_secs(3600));
            let ended = world.works_on(&job).await;
            let expected = Undisturbed { tip: world.tip(&job.source.branch).await, writes };
            assert_is_whole(&world, &job, &ended, &expected, &format!("before write {number}")).await;
        }
    }
}

async fn assert_is_whole(world: &World, job: &AgentJob, ended: &AgentJob, expected: &Undisturbed, when: &str) {
    assert_eq!(ended.status, JobStatus::Completed, "{when}: {}", message(ended));
    let commits = world.commits(&job.source.branch).await;
    assert_eq!((commits.len(), commits[0].id), (1, expected.tip), "{when}");
    let pulls = world.pull_requests().await;
    assert_eq!(pulls.len(), 1, "{when}");
    assert!(ended.pr_link.as_deref().is_some_and(|link| link.ends_with(&pulls[0].id.to_string())), "{when}");
    assert!(!message(ended).is_empty() && pulls[0].body.contains(message(ended)), "{when}");
    let branches = world.look().await.branches().expect("reads");
    assert_eq!(branches.len(), 2, "{when}: {branches:?}");
}

async fn at_every_write(world: impl Fn() -> World, mirrors_after: &str) {
    let expected = undisturbed(world()).await;
    for number in 1..=expected.writes {
        story(world(), Pull::Before(number), mirrors_after, &expected).await;
        if number < expected.writes {
            story(world(), Pull::After(number), mirrors_after, &expected).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_author_who_is_changed_meanwhile_counts_for_the_next_turn() {
    let expected = undisturbed(World::new()).await;
    let mut signed = Vec::new();
    for number in 1..expected.writes {
        let world = World::new();
        let job = world.asks(RENAME).await;
        let cord = Cord::new(Pull::After(number));
        let process = world.starts_with(&cord, "mirrors");
        cord.pulled().await;
        process.dies().await;
        world.set_project(|project| project.settings.author = "Docs Bot <docs@example.com>".parse().ok());
        // The commit is lost with the mirror, and made again.
        let process = world.starts_with(&Cord::safe(), "new mirrors");
        let ended = world.ends(&job).await;
        process.drains().await;
        assert!(!message(&ended).contains("started over"), "after write {number}: {}", message(&ended));
        let commits = world.commits(&job.source.branch).await;
        assert_eq!(commits.len(), 1, "after write {number}");
        assert_eq!(commits[0].author == "Docent", commits[0].id == expected.tip, "after write {number}");
        signed.push(commits[0].author.clone());
    }
    assert!(signed.is_sorted_by(|a, b| a >= b), "the new author until the turn began, then the old one: {signed:?}");
    assert!(signed.last().is_some_and(|author| author == "Docent"), "{signed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_survives_a_kill_at_every_write() {
    const MORE: &str = r#"Replace "Nothing of note" with "Much to see""#;
    let mut expected = None;
    let mut number = 0;
    loop {
        let world = World::new();
        let job = world.asks(RENAME).await;
        world.works_on(&job).await;
        world.follows_up(&job, MORE).await;
        let cord = Cord::new(Pull::After(number));
        let process = world.starts_with(&cord, "mirrors");
        let killed = tokio::select! {
            () = cord.pulled() => true,
            _ = world.ends(&job) => false,
        };
        process.dies().await;
        let ended = world.works_on(&job).await;
        assert_eq!(ended.status, JobStatus::Completed, "killed after write {number}: {}", message(&ended));
        let pulls = world.pull_requests().await;
        let outside = (world.tip(&job.source.branch).await, world.commits(&job.source.branch).await.len(), pulls);
        assert_eq!((outside.1, outside.2.len()), (2, 1), "killed after write {number}");
        assert_eq!(&outside, expected.get_or_insert_with(|| outside.clone()), "killed after write {number}");
        if number > 0 && !killed {
            break;
        }
        number += 1;
    }
    assert!(number > 4, "it was killed {number} times");
}

#[tokio::test(start_paused = true)]
async fn a_job_survives_a_second_kill_after_the_first() {
    for world in [World::new, with_a_language_model] {
        let expected = undisturbed(world()).await;
        // The second process needs two writes more: it takes the job over and claims it again.
        for (first, second) in (1..expected.writes).flat_map(|first| [2, 4].map(|second| (first, second))) {
            let world = world();
            let job = world.asks(RENAME).await;
            for cord in [Cord::new(Pull::Before(first)), Cord::new(Pull::After(second))] {
                let process = world.starts_with(&cord, "mirrors");
                tokio::select! {
                    () = cord.pulled() => {}
                    _ = world.ends(&job) => {}
                }
                process.dies().await;
            }
            let ended = world.works_on(&job).await;
            assert_is_whole(&world, &job, &ended, &expected, &format!("before {first}, after {second}")).await;
        }
    }
}

/// A long job that gets a follow-up while it works.
fn long(editor: Editor) -> (World, Arc<Planned>) {
    let model = Arc::new(Planned::twelve_steps(editor));
    let mut files = docs();
    let lines: String = (0..400).map(|line| format!("Line {line} of a page that takes its time.\n")).collect();
    files.insert("docs/long.md".to_owned(), format!("---\ntitle: Long\n---\n\n{lines}").into_bytes());
    (World::of(Arc::clone(&model) as _, &files), model)
}

/// Submits the long job, and a follow-up during the sixth reply.
async fn asks_for_much(world: &World, model: &Planned) -> AgentJob {
    let job = world.asks("Rename the Widget").await;
    let (jobs, spoken_to) = (world.jobs.clone(), job.clone());
    model.meanwhile(6, move || {
        let more = vec![Message::text(Role::User, "And say that there is much to see.")];
        let spoken = jobs.follow_up(&spoken_to.project, spoken_to.id, more, None).now_or_never();
        spoken.expect("memory does not wait").expect("accepted");
    });
    job
}

#[tokio::test(start_paused = true)]
async fn a_long_job_torn_down_and_rebuilt_at_every_write_leaves_the_same_commit() {
    torn_down(Editor::Separate, 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_long_job_of_a_model_that_knows_one_tool_for_editing_does_so_too() {
    torn_down(Editor::TextEditor, 4).await;
}

/// Kills a process at every write, or at every n-th, and lets another one continue.
async fn torn_down(editor: Editor, every: usize) {
    let (world, model) = long(editor);
    let job = asks_for_much(&world, &model).await;
    let cord = Cord::safe();
    let process = world.starts_with(&cord, "mirrors");
    let ended = world.ends(&job).await;
    process.drains().await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!(model.asked(), 12);
    assert!(model.notes_taken() > 0, "the context was large enough");
    let body = world.pull_requests().await.remove(0).body;
    assert!(body.contains("> Rename the Widget\n>\n> And say that"), "{body}");
    let expected = Undisturbed { tip: world.tip(&job.source.branch).await, writes: cord.writes() };
    assert_eq!(world.changed(&job.source.branch).await.len(), 4);

    for number in (1..=expected.writes).step_by(every) {
        let pull = if number % 2 == 0 { Pull::Before(number) } else { Pull::After(number) };
        let (world, model) = long(editor);
        let job = asks_for_much(&world, &model).await;
        let cord = Cord::new(pull);
        let process = world.starts_with(&cord, "mirrors");
        tokio::select! {
            () = cord.pulled() => {}
            _ = world.ends(&job) => {}
        }
        process.dies().await;
        let ended = world.works_on(&job).await;
        assert_is_whole(&world, &job, &ended, &expected, &format!("{editor:?}, {pull:?}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_job_in_the_hands_of_processes_that_live_for_a_step_leaves_the_same_commit() {
    for editor in [Editor::Separate, Editor::TextEditor] {
        let (world, model) = long(editor);
        let job = asks_for_much(&world, &model).await;
        let undisturbed = world.works_on(&job).await;
        assert_eq!(undisturbed.status, JobStatus::Completed, "{}", message(&undisturbed));
        let tip = world.tip(&job.source.branch).await;

        let (world, model) = long(editor);
        let job = asks_for_much(&world, &model).await;
        let mut processes = 0;
        while world.job(&job).await.status == JobStatus::Active {
            processes += 1;
            assert!(processes < 100, "it never ends");
            let cord = Cord::new(Pull::After(if processes == 1 { 2 } else { 4 }));
            let process = world.starts_with(&cord, "mirrors");
            tokio::select! {
                () = cord.pulled() => {}
                _ = world.ends(&job) => {}
            }
            process.dies().await;
        }
        let ended = world.job(&job).await;
        let expected = Undisturbed { tip, writes: 0 };
        assert_is_whole(&world, &job, &ended, &expected, "one step at a time").await;
        assert!(processes > 12, "it was killed {processes} times only");
    }
}

/// A repository with a submodule, a symbolic link and a folder among its pages. The model moves a page onto each of
/// them, and below a file.
fn with_moves_in_vain() -> World {
    let places = ["vendor/page.md", "linked.md", "folder.md", "setup.md/page.md"];
    let mut files = docs();
    files.insert("docs/folder.md/page.md".to_owned(), b"A page in an odd folder.\n".to_vec());
    let world = World::of(Arc::new(Planned::moves_in_vain(&places)), &files);
    let main = world.git(&["rev-parse", "main"]);
    let target = world.git(&["rev-parse", "main:docs/other.md"]);
    world.git(&["read-tree", "main"]);
    world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{main},docs/vendor")]);
    world.git(&["update-index", "--add", "--cacheinfo", &format!("120000,{target},docs/linked.md")]);
    let tree = world.git(&["write-tree"]);
    let commit = world.git(&["commit-tree", &tree, "-p", &main, "-m", "A submodule and a link"]);
    world.git(&["update-ref", "refs/heads/main", &commit]);
    world
}

#[tokio::test(start_paused = true)]
async fn a_page_stays_where_a_move_was_refused_in_the_run_and_in_the_replay() {
    let world = with_moves_in_vain();
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/setup.md"]);
    at_every_write(with_moves_in_vain, "mirrors").await;
}

fn with_a_language_model() -> World {
    World::with(Arc::new(Planned::six_steps()))
}

#[tokio::test(start_paused = true)]
async fn a_job_of_the_builtin_model_survives_a_kill_at_every_write() {
    at_every_write(World::new, "mirrors").await;
}

#[tokio::test(start_paused = true)]
async fn a_job_of_a_language_model_survives_a_kill_at_every_write() {
    at_every_write(with_a_language_model, "mirrors").await;
}

#[tokio::test(start_paused = true)]
async fn a_job_survives_the_loss_of_the_mirror_with_its_process() {
    at_every_write(World::new, "other-mirrors").await;
}

#[tokio::test(start_paused = true)]
async fn a_language_model_is_not_asked_again_for_what_it_said_even_when_the_mirror_is_lost() {
    let expected = undisturbed(with_a_language_model()).await;
    for number in 1..expected.writes {
        let model = Arc::new(Planned::six_steps());
        story(World::with(Arc::clone(&model) as _), Pull::After(number), "other-mirrors", &expected).await;
        assert_eq!(model.asked(), 6, "killed after write {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn processes_that_live_for_a_moment_only_get_there_together() {
    for world in [World::new, with_a_language_model] {
        let expected = undisturbed(world()).await;
        let world = world();
        let job = world.asks(RENAME).await;
        let mut processes = 0;
        while world.job(&job).await.status == JobStatus::Active {
            processes += 1;
            assert!(processes < 50, "it never ends");
            // Claiming, and from the second process on taking over; then one step that is recorded, or the pull request
            // and the job's end.
            let writes = if processes == 1 { 2 } else { 4 };
            let cord = Cord::new(Pull::After(writes));
            let process = world.starts_with(&cord, "mirrors");
            tokio::select! {
                () = cord.pulled() => {}
                _ = world.ends(&job) => {}
            }
            process.dies().await;
        }
        let ended = world.job(&job).await;
        assert_is_whole(&world, &job, &ended, &expected, "one step at a time").await;
        assert!(processes > 1, "it was never killed");
    }
}
