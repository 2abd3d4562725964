//! Jobs with language models, which cost money, are slow, and fail.

use docent_jobs::JobUpdate;
use docent_llm::ModelErrorKind;
use docent_llm::scripted::{Reply, ReplyGate, Scripted};
use docent_types::{FinishReason, JobEvent, TodoStatus};
use serde_json::{Value, json};

use super::model::finish;
use super::*;

fn edit() -> Value {
    json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" })
}

fn finishes(model: &Scripted) {
    let (name, input) = finish("Rename it", "Renamed.");
    model.calls(name, input);
}

impl World {
    /// As [`works_on`](Self::works_on), for a job with waits: the clock advances through them.
    pub(super) async fn works_and_waits(&self, job: &AgentJob) -> AgentJob {
        let process = self.starts();
        while self.job(job).await.status == JobStatus::Active {
            tokio::time::sleep(Duration::from_millis(500)).await;
            self.clock.advance(Duration::from_millis(500));
        }
        process.drains().await;
        self.job(job).await
    }
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_model_are_heard_as_they_come_and_whole_at_the_end() {
    let (model, gate) = (Scripted::new(), ReplyGate::closed());
    let call = Reply::text("I will ").wait(&gate).say("look.").call("read", json!({ "path": "setup.md" }));
    model.replies(call.say("Then I write."));
    finishes(&model);
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks(RENAME).await;
    let process = world.starts();
    let mut watch = process.jobs.watch(&job.project, job.id, 0).await.expect("is there");
    let (mut heard, mut told) = (String::new(), Vec::new());
    while let Some(news) = watch.next().await.expect("reads") {
        match news {
            JobUpdate::Live(JobEvent::Delta { at, text }) => {
                assert_eq!(at, heard.len());
                heard.push_str(&text);
                gate.open();
            }
            JobUpdate::Live(other) => panic!("{other:?} is not live"),
            JobUpdate::Entry(entry) => told.extend(crate::job_events(&entry)),
        }
    }
    process.drains().await;
    assert_eq!(heard, "I will look.\n\nThen I write.");
    let said = told.iter().filter_map(|event| if let JobEvent::Said { text } = event { Some(text) } else { None });
    assert_eq!(said.collect::<Vec<_>>(), [&heard], "{told:?}");
    let called = told.iter().filter(|event| matches!(event, JobEvent::Called { .. })).count();
    let answered = told.iter().filter(|event| matches!(event, JobEvent::Answered { is_error: false, .. })).count();
    assert_eq!((called, answered), (2, 2), "{told:?}");
    assert!(matches!(told.first(), Some(JobEvent::Status { status: JobStatus::Active, .. })), "{told:?}");
    assert!(matches!(told.last(), Some(JobEvent::Status { status: JobStatus::Completed, .. })), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_told_when_it_changes() {
    let model = Scripted::new();
    let todo = |status: &str| json!({ "todos": [{ "content": "Rename it", "status": status }] });
    model.calls("todo_write", todo("in_progress")).calls("todo_write", todo("in_progress"));
    model.calls("edit", edit()).calls("todo_write", todo("completed"));
    finishes(&model);
    let world = World::with(Arc::new(model));
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.todos[0].status, TodoStatus::Completed);
    let entries = world.store.entries(job.id, 0, 100).await.expect("reads");
    let plans = entries.iter().flat_map(crate::job_events).filter_map(|event| match event {
        JobEvent::Planned { todos } => Some(todos[0].status),
        _ => None,
    });
    assert_eq!(plans.collect::<Vec<_>>(), [TodoStatus::InProgress, TodoStatus::Completed]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_was_cut_is_asked_for_again_and_nothing_of_it_stays() {
    let model = Scripted::new();
    model.replies(Reply::text("I will rena").call("edit", edit()).cut(ModelErrorKind::Interrupted));
    model.replies(Reply::text("I will rename it.").call("edit", edit()));
    finishes(&model);
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks(RENAME).await;
    let ended = world.works_and_waits(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    let requests = model.requests();
    assert_eq!((requests.len(), &requests[0]), (3, &requests[1]), "the very same step is taken again");
    let events: Vec<JobEvent> =
        world.store.entries(job.id, 0, 100).await.expect("reads").iter().flat_map(crate::job_events).collect();
    let said = events.iter().filter(|event| matches!(event, JobEvent::Said { .. })).count();
    assert_eq!(said, 1, "{events:?}");
    assert!(events.iter().any(|event| matches!(event, JobEvent::Waiting { .. })), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_asks_to_be_left_alone_is() {
    let model = Scripted::new();
    model.fails(ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(90)) });
    model.calls("edit", edit());
    finishes(&model);
    let world = World::with(Arc::new(model));
    let before = world.clock.now();
    let job = world.asks(RENAME).await;
    let ended = world.works_and_waits(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert!(world.clock.now().since(before) >= Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_never_free_fails_the_job_after_ten_attempts_and_a_broken_one_after_six() {
    for (kind, attempts) in [(ModelErrorKind::Overloaded { retry_after: None }, 10), (ModelErrorKind::Interrupted, 6)] {
        let model = Scripted::new();
        for _ in 0..20 {
            model.fails(kind);
        }
        let world = World::with(Arc::new(model.clone()));
        let job = world.asks(RENAME).await;
        let ended = world.works_and_waits(&job).await;
        assert_failed(&ended, Halt::Error, &[&format!("Gave up after {attempts} attempts"), "told to fail"]);
        assert_eq!(model.requests().len(), attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_refused_fails_the_job_and_names_what_to_look_at() {
    let model = Scripted::new();
    model.fails(ModelErrorKind::Auth);
    let world = World::with(Arc::new(model));
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["`sonnet` could not be asked", "`[models.sonnet]`"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_finds_its_request_too_long_takes_notes_and_goes_on() {
    let model = Scripted::new();
    model.calls("edit", edit());
    model.fails(ModelErrorKind::ContextTooLong);
    model.replies("I have renamed the Widget in setup.md.");
    finishes(&model);
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert!(world.text(&job.source.branch, "docs/setup.md").await.contains("Gadget"));
    let requests = model.requests();
    assert!(requests[2].tools.is_empty(), "notes are taken");
    let last: Vec<String> = requests[3].messages.iter().map(Message::plain_text).collect();
    assert!(last.iter().any(|text| text.contains("I have renamed the Widget")), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_finds_every_request_too_long_ends_the_job() {
    let model = Scripted::new();
    for _ in 0..20 {
        model.fails(ModelErrorKind::ContextTooLong);
    }
    let world = World::with(Arc::new(model.clone()));
    let job = world.asks(RENAME).await;
    assert_failed(&world.works_on(&job).await, Halt::Error, &["context"]);
    assert!(model.requests().len() < 8, "{} requests", model.requests().len());
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_time_is_over_says_what_it_did_and_keeps_it() {
    let model = Scripted::new();
    model.calls("edit", edit());
    model.replies(Reply::text("Let me think").wait(&ReplyGate::closed()));
    model.replies("I renamed it in one page, and others are left.");
    let mut world = World::with(Arc::new(model.clone()));
    world.config.limits.minutes = 5;
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert!(message(&ended).contains("5 minutes were over") && message(&ended).contains("others are left"));
    assert!(world.text(&job.source.branch, "docs/setup.md").await.contains("Gadget"));
    assert_eq!(model.cancelled(), 1, "the call was ended");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_model_counts_and_the_work_is_kept_though_it_says_nothing_more() {
    let model = Scripted::new();
    model.calls("edit", edit());
    for _ in 0..9 {
        model.fails(ModelErrorKind::Overloaded { retry_after: Some(Duration::from_secs(120)) });
    }
    let mut world = World::with(Arc::new(model.clone()));
    world.config.limits.minutes = 5;
    let job = world.asks(RENAME).await;
    let ended = world.works_and_waits(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert!(message(&ended).contains("5 minutes would be over"), "{}", message(&ended));
    assert!(model.requests().len() < 7, "{} requests", model.requests().len());
    assert!(world.text(&job.source.branch, "docs/setup.md").await.contains("Gadget"));
}

#[tokio::test(start_paused = true)]
async fn a_follow_up_grants_the_time_anew() {
    let model = Scripted::new();
    model.calls("edit", edit());
    finishes(&model);
    model.calls("edit", json!({ "path": "index.md", "old": "Widget", "new": "Gadget" }));
    finishes(&model);
    let mut world = World::with(Arc::new(model));
    world.config.limits.minutes = 5;
    let job = world.asks(RENAME).await;
    world.works_on(&job).await;
    world.clock.advance(Duration::from_secs(3600));
    world.follows_up(&job, "In the other page too.").await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, message(&ended)), (JobStatus::Completed, "Renamed."));
}

#[tokio::test(start_paused = true)]
async fn the_steps_of_a_turn_are_those_of_the_configuration() {
    let model = Scripted::new();
    model.calls("edit", edit()).calls("read", json!({ "path": "index.md" }));
    model.replies(Reply::text("One page is done.").ends(FinishReason::Stop));
    let mut world = World::with(Arc::new(model));
    world.config.limits.steps = 2;
    let job = world.asks(RENAME).await;
    let ended = world.works_on(&job).await;
    assert!(message(&ended).contains("used up its steps") && message(&ended).contains("One page is done."));
    assert_eq!(ended.status, JobStatus::Completed);
}
