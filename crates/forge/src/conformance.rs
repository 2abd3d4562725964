//! The conformance suites of [`Forge`] and [`PullRequests`]. They panic at the first broken promise.

use docent_types::{ListPage, ProjectId, Timestamp};
use uuid::Uuid;

use crate::port::Forge;
use crate::pull_request::{
    CommitRange, MOST_COMMENTS, NewPullRecord, PullComment, PullKey, PullRecord, PullRequestSpec, PullRequests,
    PullSearch, PullState,
};

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
/// both with changes. `merge` merges the pull request of this number, as a person would.
///
/// # Panics
/// When the forge does not keep a promise of the port.
pub async fn forge(forge: &dyn Forge, merge: impl AsyncFn(u64)) {
    assert!(forge.find("docent/a").await.expect("looks").is_none(), "nothing is found where nothing is");

    let first = forge.open(&request("docent/a")).await.expect("opens");
    assert_eq!((first.state, first.draft), (PullState::Open, false));
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
    assert_eq!((merged.number, merged.state), (first.number, PullState::Merged), "a merged one is found and says so");
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
    assert_eq!((first.number, first.state), (1, PullState::Open));
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
        store.end(&acme, first.id, PullState::Merged, Some(ending.clone()), at).await.expect("ends").expect("was open");
    assert_eq!((merged.state, merged.ended_at, merged.ended), (PullState::Merged, Some(at), Some(ending)));
    assert!(store.end(&acme, first.id, PullState::Closed, None, at).await.expect("ends").is_none(), "ends once");
    assert!(store.update(&acme, first.id, &request).await.expect("updates").is_none(), "an ended one stays");

    let next = open(new(&acme, 5, "docent/a")).await;
    assert_eq!(next.number, 3, "a new one may be opened after the first has ended");
    assert_eq!(store.by_head(&acme, "docent/a").await.expect("reads").map(|r| r.number), Some(3), "the newest");
    let listed: Vec<u64> = store.list(&acme, 2).await.expect("lists").iter().map(|r| r.number).collect();
    assert_eq!(listed, [3, 2], "newest first, up to the limit");

    reopening(store, &acme).await;
    comments(store, &acme, &other).await;
    searches(store, [acme, other]).await;
}

async fn reopening(store: &dyn PullRequests, acme: &ProjectId) {
    let end = async |id: u128, state| {
        let ended = store.end(acme, Uuid::from_u128(id), state, None, Timestamp::from_millis(9)).await;
        ended.expect("ends").expect("was open")
    };
    let reopen = async |id: u128| store.reopen(acme, Uuid::from_u128(id)).await.expect("reopens");
    assert!(reopen(3).await.is_none(), "it is open");
    assert!(reopen(1).await.is_none(), "it was merged");
    assert!(reopen(4).await.is_none(), "it is of another project");
    let closed = end(3, PullState::Closed).await;
    let again = reopen(3).await.expect("was closed");
    assert_eq!(again, PullRecord { state: PullState::Open, ended_at: None, ended: None, ..closed });
    assert_eq!(store.get(acme, again.id).await.expect("reads"), Some(again));
    end(3, PullState::Closed).await;
    let newer = store.open(new(acme, 6, "docent/b")).await.expect("opens");
    assert!(reopen(3).await.is_none(), "another one is open from the same head to the same base");
    end(6, PullState::Closed).await;
    assert_eq!((newer.number, reopen(3).await.map(|record| record.number)), (4, Some(2)));
}

async fn comments(store: &dyn PullRequests, acme: &ProjectId, other: &ProjectId) {
    let said =
        |n: i64| PullComment { at: Timestamp::from_millis(n), author: "ada".into(), text: format!("<b>{n}</b>\n") };
    let id = Uuid::from_u128(1);
    let all = async |project| store.comments(project, id).await.expect("reads");
    assert!(all(acme).await.is_empty());
    assert!(!store.comment(other, id, said(1)).await.expect("answers"), "it is of another project");
    for n in [5, 3] {
        assert!(store.comment(acme, id, said(n)).await.expect("answers"));
    }
    assert_eq!(all(acme).await, [said(5), said(3)], "in the order in which they were written");
    assert!(all(other).await.is_empty() && store.comments(acme, Uuid::from_u128(3)).await.expect("reads").is_empty());
    for n in 2..MOST_COMMENTS {
        assert!(store.comment(acme, id, said(i64::try_from(n).expect("few"))).await.expect("answers"));
    }
    assert!(!store.comment(acme, id, said(1)).await.expect("answers"), "there are enough");
    assert_eq!(all(acme).await.len(), MOST_COMMENTS);
}

async fn searches(store: &dyn PullRequests, projects: [ProjectId; 2]) {
    let all = || PullSearch { projects: projects.to_vec(), limit: 100, ..PullSearch::default() };
    let found = async |search: PullSearch| {
        let found = store.search(search).await.expect("searches");
        let ids: Vec<u128> = found.pulls.iter().map(|record| record.id.as_u128()).collect();
        (ids, found.counts, found.has_newer, found.has_older)
    };
    let later = NewPullRecord { created_at: Timestamp::from_millis(2), ..new(&projects[0], 9, "docs/ÜBER") };
    store.open(later).await.expect("opens");
    // 1 was merged, 6 was closed. Those created at the same time are sorted by id.
    assert_eq!(found(all()).await, (vec![6, 5, 4, 3, 1, 9], [4, 1, 1], false, false));
    let acme = PullSearch { projects: vec![projects[0].clone()], ..all() };
    assert_eq!(found(acme.clone()).await.0, [6, 5, 3, 1, 9]);
    assert_eq!(found(PullSearch { state: Some(PullState::Merged), ..all() }).await, (vec![1], [4, 1, 1], false, false));
    let saying = async |text: &str| found(PullSearch { text: text.to_owned(), ..all() }).await;
    assert_eq!(saying("über").await.0, [9], "a part of the branch");
    assert_eq!(saying("CHANGE DOCENT/B").await, (vec![6, 3], [1, 0, 1], false, false), "a part of the title");
    assert_eq!(saying("another why").await.0, [0; 0]);
    assert_eq!(saying("why").await.0.len(), 6, "a part of the description");
    let key = |id, at| PullKey { created_at: Timestamp::from_millis(at), id: Uuid::from_u128(id) };
    let page = async |page| found(PullSearch { page, limit: 2, ..all() }).await;
    assert_eq!(page(ListPage::Newest).await, (vec![6, 5], [4, 1, 1], false, true));
    assert_eq!(page(ListPage::OlderThan(key(5, 5))).await, (vec![4, 3], [4, 1, 1], true, true));
    assert_eq!(page(ListPage::OlderThan(key(3, 5))).await, (vec![1, 9], [4, 1, 1], true, false));
    assert_eq!(page(ListPage::NewerThan(key(1, 5))).await, (vec![4, 3], [4, 1, 1], true, true));
    assert!(found(PullSearch { projects: Vec::new(), ..all() }).await.0.is_empty());
}
