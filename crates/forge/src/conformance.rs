//! The conformance suites of [`Forge`] and [`PullRequests`]. They panic at the first broken promise.

use docent_types::{ProjectId, Timestamp};
use uuid::Uuid;

use crate::port::Forge;
use crate::pull_request::{CommitRange, NewPullRecord, PullRecord, PullRequestSpec, PullRequests, State};

fn request(head: &str) -> PullRequestSpec {
    PullRequestSpec {
        title: format!("Change {head}"),
        body: "Why.".to_owned(),
        head: head.to_owned(),
        base: "main".to_owned(),
        draft: false,
        labels: vec!["docs".to_owned()],
    }
}

fn new(project: &ProjectId, id: u128, head: &str) -> NewPullRecord {
    let created_at = Timestamp::from_millis(5);
    NewPullRecord { id: Uuid::from_u128(id), project: project.clone(), request: request(head), created_at }
}

/// Runs the suite against a repository without pull requests that has the branches `main`, `docent/a` and `docent/b`,
/// both with changes. `merge` does what a person does who merges the pull request of this number.
///
/// # Panics
/// When the forge does not keep a promise of the port.
pub async fn forge(forge: &dyn Forge, merge: impl AsyncFn(u64)) {
    assert!(forge.find("docent/a").await.expect("looks").is_none(), "nothing is found where nothing is");

    let first = forge.open(&request("docent/a")).await.expect("opens");
    assert_eq!((first.state, first.draft), (State::Open, false));
    assert!(first.url.starts_with("http"), "a link to look at it, not {}", first.url);
    assert_eq!(forge.find("docent/a").await.expect("looks").as_ref(), Some(&first));
    assert!(forge.find("docent/b").await.expect("looks").is_none(), "another branch has none");
    assert!(forge.find("docent").await.expect("looks").is_none(), "part of a name is another name");
    let again = forge.open(&request("docent/a")).await.expect("opens");
    assert_eq!(again, first, "opening twice gives the first");

    let draft = PullRequestSpec { draft: true, ..request("docent/b") };
    let second = forge.open(&draft).await.expect("opens");
    assert_ne!(second.number, first.number);
    assert!(second.draft, "a draft is opened as one");
    let changed = PullRequestSpec { title: "New".to_owned(), body: "Another why.".to_owned(), ..draft };
    assert_eq!(forge.update(&second, &changed).await.expect("updates"), second, "an update leaves it a draft");
    assert_eq!(forge.find("docent/b").await.expect("looks").as_ref(), Some(&second));

    merge(first.number).await;
    let merged = forge.find("docent/a").await.expect("looks").expect("is still there");
    assert_eq!((merged.number, merged.state), (first.number, State::Merged), "a merged one is found and says so");
    let next = forge.open(&request("docent/a")).await.expect("opens");
    assert_ne!(next.number, first.number, "a new one may be opened after the first was merged");
    assert_eq!(forge.find("docent/a").await.expect("looks").map(|found| found.number), Some(next.number), "the newest");
}

/// Runs the suite against an empty store.
///
/// # Panics
/// When the store does not keep a promise of the port.
pub async fn pull_requests(store: &dyn PullRequests) {
    let acme = ProjectId::parse("acme").expect("a name");
    let other = ProjectId::parse("other").expect("a name");
    let open = |record: NewPullRecord| async move { store.open(record).await.expect("opens") };

    let first = open(new(&acme, 1, "docent/a")).await;
    assert_eq!((first.number, first.state), (1, State::Open));
    assert_eq!(first.labels, ["docs"]);
    let again = open(new(&acme, 2, "docent/a")).await;
    assert_eq!(again, first, "a second open for the same head gives the first");
    assert_eq!(open(new(&acme, 3, "docent/b")).await.number, 2, "numbers count up within a project");
    assert_eq!(open(new(&other, 4, "docent/a")).await.number, 1, "projects do not share numbers or heads");

    let request = PullRequestSpec { title: "New".into(), draft: true, ..new(&acme, 1, "docent/a").request };
    let updated = store.update(&acme, first.id, &request).await.expect("updates").expect("is open");
    assert_eq!((updated.title.as_str(), updated.draft), ("New", true));
    assert!(store.get(&other, first.id).await.expect("reads").is_none(), "not seen from another project");

    let ending = CommitRange { from: "a".repeat(40), to: "b".repeat(40) };
    let at = Timestamp::from_millis(9);
    let merged: PullRecord =
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
