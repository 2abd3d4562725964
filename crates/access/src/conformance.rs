//! The conformance suites of [`Keys`] and [`Projects`], and of [`Throttle`]: one function per test, each on an empty store.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{Domain, ForgeKind, Project, ProjectId, ProjectSettings, ProjectUid, Quota, QuotaStatus, Timestamp};

use crate::key::{Key, KeyHash, KeyKind};
use crate::ports::{AddError, Keys, Projects};
use crate::record::{Grant, KeyId, KeyRecord, Scope, mint};
use crate::throttle::{CountError, Throttle};

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

/// Runs every test, each on a new store from `make`. Panics at the first failure.
pub async fn run<S, F, Made>(make: F)
where
    S: Keys + Projects,
    F: Fn() -> Made,
    Made: Future<Output = Arc<S>>,
{
    a_project_is_found_by_id_and_by_domain(&*make().await).await;
    an_id_and_a_domain_are_given_once(&*make().await).await;
    two_who_want_one_domain_do_not_both_get_it(make().await).await;
    a_key_is_found_by_its_hash(&*make().await).await;
    a_key_needs_a_project_and_is_added_once(&*make().await).await;
    a_revoked_key_stays_revoked(&*make().await).await;
    a_key_knows_its_name_and_its_last_use(&*make().await).await;
    a_removed_project_takes_its_keys_with_it(&*make().await).await;
    a_changed_project_keeps_its_keys(&*make().await).await;
    every_change_is_told(&*make().await).await;
}

/// A project with a local repository, served under the domain of the same name.
pub fn sample_project(name: &str) -> Project {
    let number = name.bytes().fold(0, |number: u64, byte| (number << 5 ^ u64::from(byte)) & 0xffff_ffff_ffff);
    let uid = ProjectUid::parse(&format!("00000000-0000-0000-0000-{number:012x}")).expect("a uid");
    Project {
        uid,
        id: ProjectId::parse(name).expect("a name"),
        domain: Domain::parse(name).expect("a name"),
        repository: format!("/srv/git/{name}.git"),
        branch: "main".to_owned(),
        docs_root: "docs".to_owned(),
        forge: ForgeKind::Local,
        token: None,
        base_url: Some("https://docs.example.com".to_owned()),
        context: BTreeMap::from([("api".to_owned(), "/srv/git/api.git".to_owned())]),
        settings: ProjectSettings {
            allow_paths: vec!["*.json".to_owned()],
            allow_code: vec!["*.mdx".to_owned()],
            author: "Ann <ann@example.com>".parse().ok(),
            sign_off: true,
            follows_default: true,
        },
        created_at: NOW,
    }
}

/// An admin key of a project; the same seed gives the same key.
pub fn sample_key(project: &str, seed: u8) -> (Key, KeyRecord) {
    let seeded = |bytes: &mut [u8]| {
        bytes.fill(seed % 248);
        Ok::<_, Infallible>(())
    };
    let grant = Grant::new(KeyKind::Admin, ProjectId::parse(project).expect("a name"), NOW);
    let Ok(minted) = mint(grant, NOW.plus(Duration::from_millis(seed.into())), seeded);
    minted
}

async fn add<S: Projects>(store: &S, name: &str) -> Project {
    let project = sample_project(name);
    store.add(project.clone()).await.expect("the project is added");
    project
}

/// The storage's change number, as soon as it is available.
async fn change_number<S: Keys + Projects>(store: &S) -> u64 {
    loop {
        if let Some(number) = store.changes() {
            return number;
        }
        tokio::task::yield_now().await;
    }
}

async fn every_change_is_told<S: Keys + Projects>(store: &S) {
    let mut last = change_number(store).await;
    let mut moved = async |what: &str| {
        let now = change_number(store).await;
        assert!(now > last, "{what}: {now:?} after {last:?}");
        assert_eq!(change_number(store).await, now, "{what} is one change");
        last = now;
    };
    store.add(sample_project("acme")).await.expect("the project is added");
    moved("adding a project").await;
    let (_, record) = sample_key("acme", 1);
    store.insert(record.clone()).await.expect("the key is added");
    moved("adding a key").await;
    store.revoke(&record.id, NOW).await.expect("revokes");
    moved("revoking a key").await;
    store.replace(sample_project("acme")).await.expect("changes");
    moved("changing a project").await;
    store.remove(&record.grant.project, NOW).await.expect("removes");
    moved("removing a project").await;
}

pub async fn a_project_is_found_by_id_and_by_domain<S: Projects>(store: &S) {
    let id = ProjectId::parse("acme").expect("a name");
    assert_eq!(store.by_id(&id).await.expect("the store answers"), None);
    let project = Project { domain: Domain::parse("acme-docs").expect("a name"), ..sample_project("acme") };
    store.add(project.clone()).await.expect("the project is added");
    let other = add(store, "a-other").await;
    assert_eq!(store.by_id(&id).await.expect("the store answers").as_ref(), Some(&project));
    assert_eq!(store.by_domain(&project.domain).await.expect("the store answers").as_ref(), Some(&project));
    let by_id = Domain::parse("acme").expect("a name");
    assert_eq!(store.by_domain(&by_id).await.expect("the store answers"), None, "an id is no domain");
    assert_eq!(store.projects().await.expect("the store answers"), [other, project]);
}

pub async fn an_id_and_a_domain_are_given_once<S: Projects>(store: &S) {
    let acme = add(store, "acme").await;
    assert!(matches!(store.add(acme.clone()).await, Err(AddError::IdTaken(id)) if id == acme.id));
    let same_domain = Project { domain: acme.domain.clone(), ..sample_project("other") };
    let taken = store.add(same_domain).await;
    assert!(matches!(taken, Err(AddError::DomainTaken { project, .. }) if project == acme.id));
    assert_eq!(store.projects().await.expect("the store answers"), [acme]);
}

pub async fn two_who_want_one_domain_do_not_both_get_it<S: Projects>(store: Arc<S>) {
    let tries: Vec<_> = (0..8)
        .map(|n| {
            let project = Project { domain: sample_project("docs").domain, ..sample_project(&format!("p{n}")) };
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.add(project).await.is_ok() })
        })
        .collect();
    let mut added = 0;
    for attempt in tries {
        added += usize::from(attempt.await.expect("no panic"));
    }
    assert_eq!(added, 1);
}

pub async fn a_key_is_found_by_its_hash<S: Keys + Projects>(store: &S) {
    add(store, "acme").await;
    add(store, "other").await;
    let (_, mut record) = sample_key("acme", 1);
    record.grant.scope = Scope::Read;
    record.grant.allow_ip = vec!["10.0.0.0/8".parse().expect("a range"), "2001:db8::/32".parse().expect("a range")];
    record.grant.allow_origin = vec!["https://docs.example.com".parse().expect("an origin")];
    let (_, mut forever) = sample_key("other", 2);
    forever.grant.kind = KeyKind::Assistant;
    forever.grant.expires_at = None;
    assert_eq!(store.by_hash(&record.hash).await.expect("the store answers"), None);
    store.insert(forever.clone()).await.expect("the key is added");
    store.insert(record.clone()).await.expect("the key is added");
    assert_eq!(store.by_hash(&record.hash).await.expect("the store answers").as_ref(), Some(&record));
    assert_eq!(store.by_hash(&forever.hash).await.expect("the store answers").as_ref(), Some(&forever));
    assert_eq!(store.by_hash(&KeyHash::from_bytes([0; 32])).await.expect("the store answers"), None);
    let of = async |project: Option<&ProjectId>| store.keys(project).await.expect("the store answers");
    assert_eq!(of(Some(&record.grant.project)).await, [record.clone()]);
    assert_eq!(of(None).await.len(), 2);
}

pub async fn a_key_needs_a_project_and_is_added_once<S: Keys + Projects>(store: &S) {
    let (_, record) = sample_key("acme", 1);
    assert!(store.insert(record.clone()).await.is_err(), "there is no such project");
    add(store, "acme").await;
    store.insert(record.clone()).await.expect("the key is added");
    assert!(store.insert(record).await.is_err(), "it is there already");
    for seed in 2..5 {
        store.insert(sample_key("acme", seed).1).await.expect("the key is added");
    }
    let keys = store.keys(None).await.expect("the store answers");
    assert_eq!(keys.iter().map(|key| key.created_at.millis() - NOW.millis()).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

pub async fn a_revoked_key_stays_revoked<S: Keys + Projects>(store: &S) {
    add(store, "acme").await;
    let (_, record) = sample_key("acme", 1);
    let (_, other) = sample_key("acme", 2);
    store.insert(record.clone()).await.expect("the key is added");
    store.insert(other.clone()).await.expect("the key is added");
    let revoke = async |id: &KeyId, now| store.revoke(id, now).await.expect("the store answers");
    let expected = KeyRecord { revoked_at: Some(NOW), ..record.clone() };
    assert_eq!(revoke(&record.id, NOW).await, Some(expected.clone()));
    assert_eq!(revoke(&record.id, NOW.plus(Duration::from_secs(1))).await, Some(expected.clone()));
    assert_eq!(store.by_hash(&record.hash).await.expect("the store answers"), Some(expected));
    assert_eq!(store.by_hash(&other.hash).await.expect("the store answers"), Some(other));
    assert_eq!(revoke(&KeyId::new("key_nobody"), NOW).await, None);
}

pub async fn a_removed_project_takes_its_keys_with_it<S: Keys + Projects>(store: &S) {
    let acme = add(store, "acme").await;
    add(store, "other").await;
    let (_, record) = sample_key("acme", 1);
    let (_, other) = sample_key("other", 2);
    store.insert(record.clone()).await.expect("the key is added");
    store.insert(other.clone()).await.expect("the key is added");
    assert_eq!(store.remove(&acme.id, NOW).await.expect("the store answers"), Some(acme.clone()));
    assert_eq!(store.remove(&acme.id, NOW).await.expect("the store answers"), None);
    assert_eq!(store.by_id(&acme.id).await.expect("the store answers"), None);
    add(store, "acme").await;
    let kept = store.by_hash(&record.hash).await.expect("the store answers").expect("the record stays");
    assert_eq!(kept.revoked_at, Some(NOW), "a later project of the name does not revive the key");
    assert_eq!(store.by_hash(&other.hash).await.expect("the store answers"), Some(other));
    store.insert(sample_key("acme", 3).1).await.expect("the new project takes new keys");
}

pub async fn a_changed_project_keeps_its_keys<S: Keys + Projects>(store: &S) {
    let acme = add(store, "acme").await;
    let other = add(store, "other").await;
    let (_, record) = sample_key("acme", 1);
    store.insert(record.clone()).await.expect("the key is added");
    let domain = Domain::parse("docs").expect("a name");
    let changed = Project { domain: domain.clone(), branch: "next".to_owned(), ..acme.clone() };
    assert_eq!(store.replace(changed.clone()).await.expect("changes"), Some(acme.clone()));
    assert_eq!(store.by_id(&acme.id).await.expect("the store answers").as_ref(), Some(&changed));
    assert_eq!(store.by_domain(&domain).await.expect("the store answers").as_ref(), Some(&changed));
    assert_eq!(store.by_domain(&acme.domain).await.expect("the store answers"), None);
    assert_eq!(store.by_hash(&record.hash).await.expect("the store answers"), Some(record));
    let taken = store.replace(Project { domain: other.domain.clone(), ..changed.clone() }).await;
    assert!(matches!(taken, Err(AddError::DomainTaken { project, .. }) if project == other.id));
    let later = Project { uid: other.uid, ..changed.clone() };
    assert_eq!(store.replace(later).await.expect("the store answers"), None, "another project of the same name");
    assert_eq!(store.replace(sample_project("nobody")).await.expect("the store answers"), None);
    assert_eq!(store.projects().await.expect("the store answers"), [changed, other]);
}

pub async fn a_key_knows_its_name_and_its_last_use<S: Keys + Projects>(store: &S) {
    add(store, "acme").await;
    let (_, unnamed) = sample_key("acme", 1);
    let (_, record) = sample_key("acme", 2);
    let record =
        KeyRecord { name: Some("docs site, é".to_owned()), made_by: Some("ada@example.com".to_owned()), ..record };
    store.insert(unnamed.clone()).await.expect("the key is added");
    store.insert(record.clone()).await.expect("the key is added");
    let before = change_number(store).await;
    for at in [NOW.plus(Duration::from_secs(60)), NOW] {
        store.used(&record.id, at).await.expect("the store answers");
    }
    store.used(&KeyId::new("key_nobody"), NOW).await.expect("the store answers");
    assert_eq!(change_number(store).await, before, "nothing that is known of keys is to be read again");
    let used = KeyRecord { used_at: Some(NOW.plus(Duration::from_secs(60))), ..record };
    assert_eq!(store.keys(None).await.expect("the store answers"), [unnamed, used]);
}

/// Runs every test of a throttle, each on a new one from `make`. Panics at the first failure.
pub async fn run_throttle<S, F, Made>(make: F)
where
    S: Throttle,
    F: Fn() -> Made,
    Made: Future<Output = Arc<S>>,
{
    a_used_up_quota_is_granted_again_after_its_window(&*make().await).await;
    all_quotas_are_counted_or_none(&*make().await).await;
    of_many_at_once_no_more_than_the_limit_pass(make().await).await;
}

fn quota(bucket: &str, limit: u32) -> Quota {
    Quota { bucket: bucket.to_owned(), limit, window: Duration::from_secs(3600) }
}

/// The status of a counted use, or of the quota that is exhausted.
async fn count<S: Throttle>(throttle: &S, quotas: &[Quota], now: Timestamp) -> Result<QuotaStatus, QuotaStatus> {
    match throttle.count(quotas, now).await {
        Ok(quota_status) => Ok(quota_status.expect("there are quotas")),
        Err(CountError::Limited(quota_status)) => Err(quota_status),
        Err(CountError::Store(error)) => panic!("{error}"),
    }
}

pub async fn a_used_up_quota_is_granted_again_after_its_window<S: Throttle>(throttle: &S) {
    let quotas = [quota("project", 2)];
    let at = |seconds| NOW.plus(Duration::from_secs(seconds));
    assert_eq!(count(throttle, &quotas, at(60)).await.map(|status| status.remaining), Ok(1));
    assert_eq!(count(throttle, &quotas, at(120)).await.map(|status| status.remaining), Ok(0));
    let refused = count(throttle, &quotas, at(180)).await.expect_err("used up");
    assert_eq!(refused.remaining, 0);
    let wait = refused.retry_after;
    assert!(wait >= Duration::from_secs(3480) && wait <= Duration::from_secs(3540), "{wait:?}");
    let set_back = count(throttle, &quotas, at(0)).await.expect_err("used up");
    assert!(set_back.retry_after <= Duration::from_secs(3600));
    assert!(count(throttle, &quotas, at(180).plus(wait - Duration::from_millis(1))).await.is_err());
    assert!(count(throttle, &quotas, at(180).plus(wait)).await.is_ok());
}

pub async fn all_quotas_are_counted_or_none<S: Throttle>(throttle: &S) {
    let quotas = [quota("project", 5), quota("address", 1)];
    let at = |seconds| NOW.plus(Duration::from_secs(seconds));
    assert_eq!(count(throttle, &quotas, at(0)).await.map(|status| status.limit), Ok(1));
    for _ in 0..3 {
        assert_eq!(count(throttle, &quotas, at(1)).await.map_err(|status| status.limit), Err(1));
    }
    let project = count(throttle, &quotas[..1], at(2)).await.expect("free");
    assert_eq!(project.remaining, 3, "a refused request uses nothing");
    assert_eq!(throttle.count(&[], at(2)).await.expect("nothing to count"), None);
    assert!(count(throttle, &[quota("none", 0)], at(2)).await.is_err());
}

pub async fn of_many_at_once_no_more_than_the_limit_pass<S: Throttle>(throttle: Arc<S>) {
    let tries: Vec<_> = (0..12)
        .map(|n| {
            let throttle = Arc::clone(&throttle);
            // Named in either order, as callers may.
            let mut quotas = [quota("project", 5), quota("address", 8)];
            if n % 2 == 0 {
                quotas.reverse();
            }
            tokio::spawn(async move { count(&*throttle, &quotas, NOW).await.is_ok() })
        })
        .collect();
    let mut passed = 0;
    for attempt in tries {
        passed += usize::from(attempt.await.expect("no panic"));
    }
    assert_eq!(passed, 5);
}
