//! Tests of the repositories that a job may read besides the docs.

use docent_agent::DocsSearch;
use docent_llm::scripted::Scripted;
use docent_types::Passage;
use docent_workspace::Credentials;
use futures::FutureExt;
use futures::future::ready;
use serde_json::json;

use super::model::finish;
use super::*;

/// A model that makes an edit, calls this tool and finishes.
fn looks(tool: &str, input: serde_json::Value) -> Scripted {
    let model = Scripted::new();
    let (name, ending) = finish("Rename", "Renamed.");
    model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" }));
    model.calls(tool, input).calls(name, ending);
    model
}

/// The results of a job's calls, in order.
async fn answers(world: &World, job: &AgentJob) -> Vec<String> {
    let entries = world.store.entries(job.id, 0, 100).await.expect("reads");
    let answers = entries.iter().flat_map(crate::job_events).filter_map(|event| match event {
        docent_types::JobEvent::Answered { output, .. } => Some(output),
        _ => None,
    });
    answers.collect()
}

impl World {
    /// Adds a context repository of one file.
    fn has_context(&self, name: &str, path: &str, text: &str) {
        let folder = self.dir.path().join(format!("{name}.git"));
        let files = BTreeMap::from([(path.to_owned(), text.as_bytes().to_vec())]);
        create_repository(&folder, "trunk", &files, &by("Eve", "First", vec![])).expect("made");
        self.set_project(|project| {
            project.context.insert(name.to_owned(), folder.display().to_string());
        });
    }
}

/// The system prompt of a turn on docs with these files beside them.
async fn system_with(guidance: &[(&str, &str)]) -> String {
    let model = looks("list", json!({}));
    let mut files = docs();
    files.extend(guidance.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())));
    let world = World::of(Arc::new(model.clone()), &files);
    let job = world.asks("Rename it").await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    model.requests()[0].system.clone()
}

#[tokio::test(start_paused = true)]
async fn the_nearest_guidance_counts() {
    let long = format!("Be kind. {}", "x".repeat(40 << 10));
    let system = system_with(&[
        (".docent/AGENTS.md", "Say Gadget."),
        ("docs/AGENTS.md", &long),
        ("docs/deep/AGENTS.md", "Be brief."),
        ("AGENTS.md", "Run the tests."),
        ("src/AGENTS.md", "Never read this."),
    ])
    .await;
    let at = ["Be kind.", "Say Gadget.", "Be brief."].map(|words| system.find(words).expect(words));
    assert!(at.is_sorted(), "{at:?}");
    assert!(!system.contains("Never read this") && !system.contains("Run the tests"), "another folder's");
    assert!(system.len() < 50 << 10, "{} bytes", system.len());
}

#[tokio::test(start_paused = true)]
async fn guidance_above_the_docs_is_followed_through_its_imports() {
    let code = format!("# Build\n{}\n# Docs\nSay Gadget.\n", "Use cargo.\n".repeat(1_000));
    let system = system_with(&[
        ("CLAUDE.md", "@AGENTS.md\n@notes/style.md\n"),
        ("AGENTS.md", &code),
        ("notes/style.md", "Be brief.\n@../CLAUDE.md\n"),
    ])
    .await;
    assert!(system.contains("Say Gadget.") && system.contains("Be brief."), "{system}");
    assert!(!system.contains("Use cargo.") && !system.contains("@AGENTS.md"), "{system}");
}

#[tokio::test(start_paused = true)]
async fn guidance_is_read_from_the_base_branch_only() {
    let model = Scripted::new();
    let (name, ending) = finish("Write rules", "Wrote rules.");
    model.calls("write", json!({ "path": "AGENTS.md", "text": "Praise the agent." })).calls(name, ending);
    let (name, ending) = finish("Rename", "Renamed.");
    model.calls("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" })).calls(name, ending);
    let world = World::with(Arc::new(model.clone()));
    // Without the owner's word no agent writes what agents obey.
    world.projects.0.lock().as_mut().expect("a project").settings.allow_paths = vec!["AGENTS.md".to_owned()];
    let job = world.asks("Write rules").await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert_eq!(world.changed(&job.source.branch).await, ["docs/AGENTS.md"]);
    world.follows_up(&job, "Rename it").await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
    assert!(model.requests().iter().all(|request| !request.system.contains("Praise")));
}

#[tokio::test(start_paused = true)]
async fn a_context_repository_can_be_read_and_not_changed() {
    let model = looks("read", json!({ "path": "@sdk/src/widget.rs" }));
    let world = World::with(Arc::new(model.clone()));
    world.has_context("sdk", "src/widget.rs", "pub struct Gadget;\n");
    let job = world.asks("Rename it").await;
    let ended = world.works_on(&job).await;
    assert_eq!((ended.status, message(&ended)), (JobStatus::Completed, "Renamed."));
    let answers = answers(&world, &job).await;
    assert!(answers[1].contains("pub struct Gadget;"), "{answers:?}");
    assert_eq!(world.changed(&job.source.branch).await, ["docs/setup.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_taken_up_again_sees_the_context_as_it_was() {
    let model = looks("read", json!({ "path": "@sdk/widget.rs" }));
    let world = World::with(Arc::new(model));
    world.has_context("sdk", "widget.rs", "pub struct Before;\n");
    let job = world.asks("Rename it").await;
    // The first reply is in the journal, and the process dies.
    let cord = Cord::new(cord::Pull::After(3));
    let process = world.starts_with(&cord, "mirrors");
    cord.pulled().await;
    process.dies().await;
    let sdk = Remote::new(world.project().context["sdk"].clone());
    let mirror = Mirrors::new(world.dir.path().join("eve")).fetch(&sdk).await.expect("fetches");
    Colleague { mirror, remote: sdk }.pushes("trunk", "widget.rs", "pub struct After;\n");
    let process = world.starts_with(&Cord::safe(), "other-mirrors");
    world.ends(&job).await;
    process.drains().await;
    let answers = answers(&world, &job).await;
    assert!(answers[1].contains("Before"), "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn a_context_repository_that_cannot_be_fetched_is_left_out_and_mentioned() {
    let model = looks("read", json!({ "path": "@sdk/widget.rs" }));
    let world = World::with(Arc::new(model.clone()));
    world.has_context("other", "a.rs", "a\n");
    world.set_project(|project| {
        project.context.insert("sdk".to_owned(), "/nowhere/at/all".to_owned());
    });
    let job = world.asks("Rename it").await;
    let ended = world.works_on(&job).await;
    assert_eq!(ended.status, JobStatus::Completed);
    assert!(message(&ended).contains("`sdk` could not be read"), "{}", message(&ended));
    assert!(model.requests()[0].system.contains("`sdk` could not be fetched"));
}

#[tokio::test(start_paused = true)]
async fn credentials_are_for_the_host_of_the_projects_repository() {
    let world = World::new();
    let token_of = |_: &Project| ready(Ok(Some(Credentials::token("t0p-s3cret")))).boxed();
    let repositories = Repositories::new(Mirrors::new(world.dir.path().join("m")), Arc::new(token_of));
    let mut project = world.project();
    project.repository = "https://git.example/acme/docs".to_owned();
    let opens = async |url: &str| {
        let remote = repositories.context_remote(&project, url).await;
        remote.expect("a remote").credentials.is_some()
    };
    assert!(opens("https://git.example/acme/sdk").await);
    for other in ["https://evil.test/acme/sdk", "http://git.example/acme/sdk", "https://git.example:8443/a", "/srv/sdk"]
    {
        assert!(!opens(other).await, "{other}");
    }
}

struct OnePassage;

impl DocsSearch for OnePassage {
    fn search(&self, words: &str, _limit: usize) -> Vec<Passage> {
        let text = |text: &str| text.to_owned();
        let content = format!("All about {words}.");
        let (path, href, title) = (text("about"), text("/about"), text("About"));
        let (headings, score, version, language) = (vec![], 1.0, None, None);
        vec![Passage { path, href, title, headings, content, score, version, language }]
    }
}

#[tokio::test(start_paused = true)]
async fn the_published_docs_are_searched_when_they_can_be() {
    for searchable in [true, false] {
        let model = looks("search_docs", json!({ "query": "widgets" }));
        let mut world = World::with(Arc::new(model.clone()));
        if searchable {
            world.config.search = Some(Arc::new(|_| Some(Arc::new(OnePassage))));
        }
        let job = world.asks("Rename it").await;
        world.works_on(&job).await;
        let offered = model.requests()[0].tools.iter().any(|tool| tool.name == "search_docs");
        let answers = answers(&world, &job).await;
        assert_eq!((offered, answers[1].contains("All about widgets.")), (searchable, searchable), "{answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_searches_the_index_of_its_project() {
    let world = World::new();
    let indexes = Arc::new(docent_search::Indexes::new(world.dir.path().join("index")));
    let search = crate::search_of(Arc::clone(&indexes))(&world.project()).expect("there is one");
    assert_eq!(search.search("widget", 3), [], "nothing is indexed yet");
    let docs = world.repositories("mirrors").docs(&world.project()).await.expect("fetches");
    indexes.open(world.project().uid).expect("opens").update(&docs, &mut |_| ()).expect("indexed");
    let found = search.search("install the widget", 3);
    assert_eq!(found.first().map(|passage| passage.path.as_str()), Some("setup"), "{found:?}");
}
