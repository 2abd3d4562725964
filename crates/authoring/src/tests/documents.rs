//! An agent may write documents, and other files that its project's owner allows.

use docent_agent::{Allowances, EditableTree as _};
use serde_json::json;

use super::model::{Planned, finish};
use super::*;
use crate::files::Draft;

/// A project whose model writes a page and a file that the site's build would execute.
fn world(allowed: &[&str]) -> World {
    let model = Planned::new(vec![
        ("write", json!({ "path": "package.json", "content": "{}" })),
        ("edit", json!({ "path": "setup.md", "old": "Widget", "new": "Gadget" })),
        finish("Rename the Widget", "The Widget is a Gadget now."),
    ]);
    let world = World::with(Arc::new(model));
    let mut project = world.projects.0.lock();
    let settings = &mut project.as_mut().expect("a project").settings;
    settings.allow_paths = allowed.iter().map(|glob| (*glob).to_owned()).collect();
    drop(project);
    world
}

#[tokio::test(start_paused = true)]
async fn other_files_are_committed_only_under_allowed_paths() {
    for (allowed, changed) in
        [(&[][..], &["docs/setup.md"][..]), (&["*.json"][..], &["docs/package.json", "docs/setup.md"][..])]
    {
        let world = world(allowed);
        let job = world.asks(RENAME).await;
        let ended = world.works_on(&job).await;
        assert_eq!(ended.status, JobStatus::Completed, "{}", message(&ended));
        assert_eq!(world.changed(&job.source.branch).await, changed);
    }
}

#[tokio::test(start_paused = true)]
async fn changes_are_checked_again_before_the_commit() {
    let world = World::new();
    let mirror = world.look().await;
    let overlay = mirror.overlay(mirror.branch("main").expect("is there")).expect("reads");
    let mut draft = Draft::new(overlay, None, "docs", &docent_quarantine::Quarantine::default()).expect("reads");
    draft.change(vec![("setup.md".to_owned(), Some(b"Words.\n".to_vec()))]).expect("a page");
    assert_eq!(draft.refusal_reason(&Allowances::default()), None);
    draft.change(vec![("package.json".to_owned(), Some(b"{}".to_vec()))]).expect("a file");
    let why = draft.refusal_reason(&Allowances::default()).expect("no document");
    assert!(
        why.starts_with("Nothing was committed. Not allowed:\n\n- `package.json`: an agent writes documents"),
        "{why}"
    );
    let allowances = Allowances { paths: vec!["package.json".to_owned()], ..Allowances::default() };
    assert_eq!(draft.refusal_reason(&allowances), None);
}
