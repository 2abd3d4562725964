//! What every implementation of [`PullRequests`] must do. Panics on the first thing that is otherwise.

use docent_types::{ProjectId, Timestamp};
use uuid::Uuid;

use crate::pull_request::{Ending, NewRecord, PullRequests, Record, Request, State};

fn new(project: &ProjectId, id: u128, head: &str) -> NewRecord {
    let request = Request {
        title: format!("Change {head}"),
        body: "Why.".to_owned(),
        head: head.to_owned(),
        base: "main".to_owned(),
        draft: false,
    };
    NewRecord { id: Uuid::from_u128(id), project: project.clone(), request, created_at: Timestamp::from_millis(5) }
}

/// Runs the suite against an empty store.
///
/// # Panics
/// When the store does not keep a promise of the port.
pub async fn pull_requests(store: &dyn PullRequests) {
    let acme = ProjectId::parse("acme").expect("a name");
    let other = ProjectId::parse("other").expect("a name");
    let open = |record: NewRecord| async move { store.open(record).await.expect("opens") };

    let first = open(new(&acme, 1, "docent/a")).await;
    assert_eq!((first.number, first.state), (1, State::Open));
    let again = open(new(&acme, 2, "docent/a")).await;
    assert_eq!(again, first, "a second open for the same head gives the first");
    assert_eq!(open(new(&acme, 3, "docent/b")).await.number, 2, "numbers count up within a project");
    assert_eq!(open(new(&other, 4, "docent/a")).await.number, 1, "projects do not share numbers or heads");

    let request = Request { title: "New".into(), draft: true, ..new(&acme, 1, "docent/a").request };
    let updated = store.update(&acme, first.id, &request).await.expect("updates").expect("is open");
    assert_eq!((updated.title.as_str(), updated.draft), ("New", true));
    assert!(store.get(&other, first.id).await.expect("reads").is_none(), "not seen from another project");

    let ending = Ending { from: "a".repeat(40), to: "b".repeat(40) };
    let at = Timestamp::from_millis(9);
    let merged: Record =
        store.end(&acme, first.id, State::Merged, Some(ending.clone()), at).await.expect("ends").expect("was open");
    assert_eq!((merged.state, merged.ended_at, merged.ended), (State::Merged, Some(at), Some(ending)));
    assert!(store.end(&acme, first.id, State::Closed, None, at).await.expect("ends").is_none(), "ends once");
    assert!(store.update(&acme, first.id, &request).await.expect("updates").is_none(), "an ended one stays");

    let next = open(new(&acme, 5, "docent/a")).await;
    assert_eq!(next.number, 3, "a new one may be opened after the first has ended");
    assert_eq!(store.by_head(&acme, "docent/a").await.expect("reads").map(|r| r.number), Some(3), "the newest");
    let listed: Vec<u64> = store.list(&acme, 2).await.expect("lists").iter().map(|r| r.number).collect();
    assert_eq!(listed, [3, 2], "newest first, up to the limit");
}
