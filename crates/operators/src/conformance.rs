//! The tests that every implementation of [`OperatorStore`] must pass: one function per test, each on an empty store.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{ProjectId, Timestamp};
use uuid::Uuid;

use crate::audit::AuditEntry;
use crate::identity::{AuthorizationRequest, Identity, PendingSignIn, SIGN_IN_TIMEOUT};
use crate::link::{LINK_LIFETIME, Link, LinkTarget};
use crate::operator::{Credential, Operator, OperatorId, OperatorName, OperatorRole};
use crate::password::PasswordHash;
use crate::ports::{LinkUse, OperatorChange, OperatorStore, Redemption, WriteError};
use crate::session::OperatorSession;
use crate::token::TokenHash;

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);
const MINUTE: Duration = Duration::from_secs(60);

/// Runs every test, each on a store from `make`. Panics at the first failure.
pub async fn run<S, F, Made>(make: F)
where
    S: OperatorStore,
    F: Fn() -> Made,
    Made: Future<Output = Arc<S>>,
{
    an_operator_is_found_by_id_and_by_name(&*make().await).await;
    a_name_is_given_once(&*make().await).await;
    somebody_stays_an_owner(&*make().await).await;
    two_owners_who_leave_at_once_do_not_both(make().await).await;
    a_removed_operator_takes_sessions_and_links_along(&*make().await).await;
    a_link_is_seen_until_it_is_over(&*make().await).await;
    a_link_makes_one_operator(&*make().await).await;
    a_refused_link_can_be_used_again(&*make().await).await;
    of_many_who_use_a_link_one_wins(make().await).await;
    a_reset_ends_what_the_old_password_began(&*make().await).await;
    a_link_to_sign_in_changes_nothing_else(&*make().await).await;
    a_new_password_spares_one_session(&*make().await).await;
    an_identity_is_one_operator_whatever_its_name(&*make().await).await;
    of_many_first_sign_ins_of_an_identity_one_makes_the_operator(make().await).await;
    a_sign_in_at_the_provider_is_taken_once(make().await).await;
    the_oldest_of_too_many_sign_ins_is_removed(&*make().await).await;
    a_session_is_known_until_it_is_removed(&*make().await).await;
    audit_entries_are_read_newest_first(&*make().await).await;
    expired_sessions_are_removed(&*make().await).await;
}

fn name(text: &str) -> OperatorName {
    OperatorName::parse(text).expect("a name")
}

/// An operator that is the same for the same name.
pub fn sample_operator(text: &str, role: OperatorRole) -> Operator {
    let number = text.bytes().fold(1, |number: u128, byte| number << 8 | u128::from(byte));
    Operator {
        id: OperatorId::new(Uuid::from_u128(number)),
        name: name(text),
        role,
        credential: password(&format!("hash of {text}'s password")),
        created_at: NOW,
        last_seen_at: None,
    }
}

fn password(text: &str) -> Credential {
    Credential::Password(PasswordHash::from_stored(text))
}

fn hash(seed: u8) -> TokenHash {
    TokenHash::from_bytes([seed; 32])
}

fn link(seed: u8, target: LinkTarget) -> Link {
    Link { hash: hash(seed), target, created_at: NOW, expires_at: NOW.plus(LINK_LIFETIME) }
}

fn invitation(seed: u8) -> Link {
    link(seed, LinkTarget::New { name: None, role: OperatorRole::Editor })
}

fn session(seed: u8, operator: OperatorId) -> OperatorSession {
    OperatorSession { hash: hash(seed), operator, created_at: NOW, seen_at: NOW, expires_at: NOW.plus(10 * MINUTE) }
}

/// Adds an operator by a link, with a session of the same seed.
async fn join<S: OperatorStore>(store: &S, operator: Operator, seed: u8) -> Operator {
    store.add_link(invitation(seed)).await.expect("the link is added");
    let session = session(seed, operator.id);
    let redemption = Redemption { link: hash(seed), link_use: LinkUse::New(operator), session };
    store.redeem(redemption).await.expect("joins")
}

async fn is_open<S: OperatorStore>(store: &S, seed: u8) -> bool {
    store.session(&hash(seed)).await.expect("the store answers").is_some()
}

pub async fn an_operator_is_found_by_id_and_by_name<S: OperatorStore>(store: &S) {
    assert_eq!(store.operators().await.expect("the store answers"), []);
    let jorg = join(store, sample_operator("Jörg", OperatorRole::Owner), 1).await;
    let ann = join(store, sample_operator("Ann", OperatorRole::Viewer), 2).await;
    assert_eq!(jorg, Operator { last_seen_at: Some(NOW), ..sample_operator("Jörg", OperatorRole::Owner) });
    assert_eq!(store.operators().await.expect("the store answers"), [jorg.clone(), ann.clone()]);
    assert_eq!(store.by_id(ann.id).await.expect("the store answers"), Some(ann));
    let found = store.by_name(&name("JÖRG")).await.expect("the store answers").expect("in any letter case");
    assert_eq!(found.name.as_str(), "Jörg");
    assert_eq!(found, jorg);
    assert_eq!(store.by_name(&name("Jorg")).await.expect("the store answers"), None);
    let nobody = sample_operator("nobody", OperatorRole::Viewer);
    assert_eq!(store.by_id(nobody.id).await.expect("the store answers"), None);
    assert!(matches!(
        store.change(nobody.id, OperatorChange::Role(OperatorRole::Owner)).await,
        Err(WriteError::NoOperator)
    ));
    assert!(matches!(store.remove(nobody.id).await, Err(WriteError::NoOperator)));
}

pub async fn a_name_is_given_once<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    let bob = join(store, sample_operator("Bob", OperatorRole::Viewer), 2).await;
    let taken = store.change(bob.id, OperatorChange::Name(name("ANN"))).await;
    assert!(matches!(taken, Err(WriteError::NameTaken(name)) if name.as_str() == "Ann"));
    let changed = store.change(ann.id, OperatorChange::Name(name("ANN"))).await.expect("the own name in other letters");
    assert_eq!(changed.name.as_str(), "ANN");
    store.change(ann.id, OperatorChange::Name(name("Anna"))).await.expect("changes");
    let bob = store.change(bob.id, OperatorChange::Name(name("Ann"))).await.expect("it is free now");
    assert_eq!(store.by_name(&name("ann")).await.expect("the store answers"), Some(bob));
}

pub async fn somebody_stays_an_owner<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    let bob = join(store, sample_operator("Bob", OperatorRole::Editor), 2).await;
    assert!(matches!(
        store.change(ann.id, OperatorChange::Role(OperatorRole::Editor)).await,
        Err(WriteError::LastOwner)
    ));
    assert!(matches!(store.remove(ann.id).await, Err(WriteError::LastOwner)));
    assert_eq!(store.change(ann.id, OperatorChange::Role(OperatorRole::Owner)).await.expect("nothing changes"), ann);
    let bob = store.change(bob.id, OperatorChange::Role(OperatorRole::Owner)).await.expect("changes");
    assert_eq!(bob.role, OperatorRole::Owner);
    let ann = store.change(ann.id, OperatorChange::Role(OperatorRole::Viewer)).await.expect("Bob is an owner");
    assert!(matches!(store.remove(bob.id).await, Err(WriteError::LastOwner)));
    assert_eq!(store.remove(ann.id).await.expect("is removed"), ann);
    assert_eq!(store.operators().await.expect("the store answers"), [bob]);
}

pub async fn two_owners_who_leave_at_once_do_not_both<S: OperatorStore>(store: Arc<S>) {
    let mut leaving = Vec::new();
    for seed in 0..4 {
        let owner = join(&*store, sample_operator(&format!("owner {seed}"), OperatorRole::Owner), seed).await;
        let store = Arc::clone(&store);
        leaving.push(async move {
            if seed % 2 == 0 {
                store.remove(owner.id).await.is_ok()
            } else {
                store.change(owner.id, OperatorChange::Role(OperatorRole::Viewer)).await.is_ok()
            }
        });
    }
    let leaving: Vec<_> = leaving.into_iter().map(tokio::spawn).collect();
    let mut left = 0;
    for leaves in leaving {
        left += usize::from(leaves.await.expect("no panic"));
    }
    assert_eq!(left, 3);
    let owners = store.operators().await.expect("the store answers");
    assert_eq!(owners.iter().filter(|operator| operator.role == OperatorRole::Owner).count(), 1);
}

pub async fn a_removed_operator_takes_sessions_and_links_along<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    let bob = join(store, sample_operator("Bob", OperatorRole::Viewer), 2).await;
    store.add_session(session(3, bob.id)).await.expect("begins");
    store.add_link(link(4, LinkTarget::Reset(bob.id))).await.expect("is added");
    store.add_link(link(5, LinkTarget::Reset(ann.id))).await.expect("is added");
    store.remove(bob.id).await.expect("is removed");
    for (seed, open) in [(1, true), (2, false), (3, false)] {
        assert_eq!(is_open(store, seed).await, open, "session {seed}");
    }
    assert_eq!(store.link(&hash(4), NOW).await.expect("the store answers"), None);
    assert!(store.link(&hash(5), NOW).await.expect("the store answers").is_some());
    assert!(matches!(store.add_session(session(6, bob.id)).await, Err(WriteError::NoOperator)));
    assert!(matches!(store.add_link(link(6, LinkTarget::Reset(bob.id))).await, Err(WriteError::NoOperator)));
}

pub async fn a_link_is_seen_until_it_is_over<S: OperatorStore>(store: &S) {
    let named = link(1, LinkTarget::New { name: Some(name("Ann")), role: OperatorRole::Owner });
    store.add_link(named.clone()).await.expect("is added");
    let later = Link { created_at: NOW.plus(MINUTE), expires_at: NOW.plus(2 * MINUTE), ..invitation(2) };
    store.add_link(later.clone()).await.expect("is added");
    let last = later.expires_at.minus(Duration::from_millis(1));
    for _ in 0..2 {
        assert_eq!(store.link(&hash(2), last).await.expect("the store answers").as_ref(), Some(&later));
    }
    assert_eq!(store.links(last).await.expect("the store answers"), [named.clone(), later.clone()]);
    assert_eq!(store.link(&hash(2), later.expires_at).await.expect("the store answers"), None);
    assert_eq!(store.links(later.expires_at).await.expect("the store answers"), [named]);
    assert_eq!(store.link(&hash(3), NOW).await.expect("the store answers"), None);
    assert!(store.remove_link(&hash(1)).await.expect("the store answers"));
    assert!(!store.remove_link(&hash(1)).await.expect("the store answers"));
    assert_eq!(store.link(&hash(1), NOW).await.expect("the store answers"), None);
}

pub async fn a_link_makes_one_operator<S: OperatorStore>(store: &S) {
    store.add_link(invitation(1)).await.expect("is added");
    let use_it = async |text: &str, at: Timestamp| {
        let operator = sample_operator(text, OperatorRole::Editor);
        let session = OperatorSession { created_at: at, ..session(1, operator.id) };
        store.redeem(Redemption { link: hash(1), link_use: LinkUse::New(operator), session }).await
    };
    assert!(matches!(use_it("late", NOW.plus(LINK_LIFETIME)).await, Err(WriteError::NoLink)));
    let ann = use_it("Ann", NOW).await.expect("joins");
    let (begun, of) = store.session(&hash(1)).await.expect("the store answers").expect("it began");
    assert_eq!((begun, of), (session(1, ann.id), ann.clone()));
    assert!(matches!(use_it("Bob", NOW).await, Err(WriteError::NoLink)));
    assert_eq!(store.operators().await.expect("the store answers"), [ann]);
}

pub async fn a_refused_link_can_be_used_again<S: OperatorStore>(store: &S) {
    join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    store.add_link(invitation(2)).await.expect("is added");
    let other = Operator {
        id: sample_operator("other", OperatorRole::Editor).id,
        ..sample_operator("ANN", OperatorRole::Editor)
    };
    let redemption = Redemption { link: hash(2), session: session(2, other.id), link_use: LinkUse::New(other) };
    assert!(matches!(store.redeem(redemption).await, Err(WriteError::NameTaken(name)) if name.as_str() == "Ann"));
    assert!(!is_open(store, 2).await);
    let bob = sample_operator("Bob", OperatorRole::Editor);
    let redemption = Redemption { link: hash(2), session: session(2, bob.id), link_use: LinkUse::New(bob) };
    store.redeem(redemption).await.expect("joins");
}

pub async fn of_many_who_use_a_link_one_wins<S: OperatorStore>(store: Arc<S>) {
    store.add_link(invitation(1)).await.expect("is added");
    let tries: Vec<_> = (0..8)
        .map(|seed| {
            let store = Arc::clone(&store);
            let operator = sample_operator(&format!("operator {seed}"), OperatorRole::Editor);
            let session = session(seed, operator.id);
            let redemption = Redemption { link: hash(1), link_use: LinkUse::New(operator), session };
            tokio::spawn(async move { store.redeem(redemption).await.is_ok() })
        })
        .collect();
    let mut won = 0;
    for attempt in tries {
        won += usize::from(attempt.await.expect("no panic"));
    }
    assert_eq!(won, 1);
    assert_eq!(store.operators().await.expect("the store answers").len(), 1);
}

pub async fn a_reset_ends_what_the_old_password_began<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    join(store, sample_operator("Bob", OperatorRole::Owner), 2).await;
    for seed in [3, 4] {
        store.add_link(link(seed, LinkTarget::Reset(ann.id))).await.expect("is added");
    }
    let password = PasswordHash::from_stored("new");
    let link_use = LinkUse::Reset { operator: ann.id, password: password.clone() };
    let redemption = Redemption { link: hash(3), link_use, session: session(5, ann.id) };
    let reset = store.redeem(redemption.clone()).await.expect("is reset");
    assert_eq!(reset, Operator { credential: Credential::Password(password), ..ann });
    for (seed, open) in [(1, false), (2, true), (5, true)] {
        assert_eq!(is_open(store, seed).await, open, "session {seed}");
    }
    assert_eq!(store.link(&hash(4), NOW).await.expect("the store answers"), None, "an older link is of no use");
    assert!(matches!(store.redeem(redemption).await, Err(WriteError::NoLink)));
}

pub async fn a_link_to_sign_in_changes_nothing_else<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    store.add_link(link(2, LinkTarget::SignIn(ann.id))).await.expect("is added");
    let redemption =
        |seed, id| Redemption { link: hash(seed), link_use: LinkUse::SignIn(id), session: session(seed, id) };
    assert_eq!(store.redeem(redemption(2, ann.id)).await.expect("signs in"), ann);
    assert!(is_open(store, 1).await && is_open(store, 2).await);
    assert!(matches!(store.redeem(redemption(2, ann.id)).await, Err(WriteError::NoLink)));
    // The link is removed with its operator.
    let bob = join(store, sample_operator("Bob", OperatorRole::Owner), 3).await;
    store.add_link(link(4, LinkTarget::SignIn(bob.id))).await.expect("is added");
    store.remove(bob.id).await.expect("is removed");
    assert_eq!(store.link(&hash(4), NOW).await.expect("the store answers"), None);
    assert!(matches!(store.add_link(link(5, LinkTarget::SignIn(bob.id))).await, Err(WriteError::NoOperator)));
}

pub async fn a_new_password_spares_one_session<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    store.add_session(session(2, ann.id)).await.expect("begins");
    store.add_link(link(3, LinkTarget::Reset(ann.id))).await.expect("is added");
    let password = PasswordHash::from_stored("new");
    let change = OperatorChange::Password { password: password.clone(), except: hash(2) };
    let changed = store.change(ann.id, change).await.expect("changes");
    assert_eq!(changed.credential, Credential::Password(password));
    assert!(!is_open(store, 1).await && is_open(store, 2).await);
    assert_eq!(store.links(NOW).await.expect("the store answers"), []);
}

/// An operator who signs in at a provider.
fn identified(text: &str, role: OperatorRole, issuer: &str, subject: &str) -> Operator {
    let identity = Identity { issuer: issuer.to_owned(), subject: subject.to_owned() };
    // Not the id of an operator of this name with a password.
    let id = sample_operator(&format!("{text} at"), role).id;
    Operator { id, credential: Credential::Identity(identity), ..sample_operator(text, role) }
}

pub async fn an_identity_is_one_operator_whatever_its_name<S: OperatorStore>(store: &S) {
    let sign_in =
        async |operator: Operator, seed| store.sign_in_by_identity(operator.clone(), session(seed, operator.id)).await;
    let (here, there) = ("https://id.test", "https://other.test");
    let ann = sign_in(identified("Ann", OperatorRole::Owner, here, "1"), 1).await.expect("signs in");
    let first = identified("Ann", OperatorRole::Owner, here, "1");
    assert_eq!(ann, Operator { last_seen_at: Some(NOW), ..first.clone() });
    let (_, of) = store.session(&hash(1)).await.expect("the store answers").expect("it began");
    assert_eq!(of, ann);
    let Credential::Identity(identity) = &first.credential else { panic!("an identity") };
    assert_eq!(store.by_identity(identity).await.expect("the store answers"), Some(ann.clone()));

    // The only owner, with another name and another role: the same operator.
    let again = sign_in(identified("Anna", OperatorRole::Viewer, here, "1"), 2).await.expect("signs in");
    assert_eq!(again, Operator { role: OperatorRole::Viewer, ..ann.clone() });
    let (_, of) = store.session(&hash(2)).await.expect("the store answers").expect("it began");
    assert_eq!(of.id, ann.id);

    // The same subject at another issuer is another operator, and so is an operator of the same name with a password.
    let taken = sign_in(identified("ann", OperatorRole::Viewer, there, "1"), 3).await;
    assert!(matches!(taken, Err(WriteError::NameTaken(name)) if name.as_str() == "Ann"));
    assert!(!is_open(store, 3).await);
    let other = sign_in(identified("Ann 2", OperatorRole::Editor, there, "1"), 4).await.expect("signs in");
    assert_ne!(other.id, ann.id);
    join(store, sample_operator("Bob", OperatorRole::Owner), 5).await;
    let taken = sign_in(identified("Bob", OperatorRole::Owner, here, "2"), 6).await;
    assert!(matches!(taken, Err(WriteError::NameTaken(_))));
    assert_eq!(store.operators().await.expect("the store answers").len(), 3);
    store.remove(other.id).await.expect("is removed");
    assert!(!is_open(store, 4).await);
}

pub async fn of_many_first_sign_ins_of_an_identity_one_makes_the_operator<S: OperatorStore>(store: Arc<S>) {
    let tries: Vec<_> = (0..8)
        .map(|seed| {
            let store = Arc::clone(&store);
            let operator = identified(&format!("operator {seed}"), OperatorRole::Editor, "https://id.test", "1");
            let session = session(seed, operator.id);
            tokio::spawn(async move { store.sign_in_by_identity(operator, session).await.expect("signs in").id })
        })
        .collect();
    for attempt in tries {
        attempt.await.expect("no panic");
    }
    let operators = store.operators().await.expect("the store answers");
    assert_eq!(operators.len(), 1);
    for seed in 0..8 {
        assert!(is_open(&*store, seed).await, "session {seed}");
    }
}

fn pending(state: &str, at: Timestamp) -> PendingSignIn {
    let request = AuthorizationRequest {
        url: format!("https://id.test/authorize?state={state}"),
        state: state.to_owned(),
        nonce: "a nonce".to_owned(),
        verifier: "a verifier".to_owned(),
    };
    PendingSignIn::begin(request, "browser", "/home", at)
}

pub async fn a_sign_in_at_the_provider_is_taken_once<S: OperatorStore>(store: Arc<S>) {
    let (one, other) = (pending("one", NOW), pending("other", NOW));
    for begun in [&one, &other] {
        store.add_pending(begun.clone(), 10).await.expect("is added");
    }
    let tries: Vec<_> = (0..8)
        .map(|_| {
            let (store, hash) = (Arc::clone(&store), one.hash());
            tokio::spawn(async move { store.take_pending(&hash).await.expect("the store answers") })
        })
        .collect();
    let mut taken = Vec::new();
    for attempt in tries {
        taken.extend(attempt.await.expect("no panic"));
    }
    assert_eq!(taken, [one]);
    assert_eq!(store.take_pending(&pending("never", NOW).hash()).await.expect("the store answers"), None);
    assert_eq!(store.take_pending(&other.hash()).await.expect("the store answers"), Some(other));
}

pub async fn the_oldest_of_too_many_sign_ins_is_removed<S: OperatorStore>(store: &S) {
    for (state, minute) in [("b", 1), ("a", 0), ("c", 2), ("d", 3)] {
        store.add_pending(pending(state, NOW.plus(minute * MINUTE)), 3).await.expect("is added");
    }
    for (state, stored) in [("a", false), ("b", true), ("c", true), ("d", true)] {
        let taken = store.take_pending(&pending(state, NOW).hash()).await.expect("the store answers");
        assert_eq!(taken.is_some(), stored, "{state}");
    }
}

pub async fn a_session_is_known_until_it_is_removed<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    let bob = join(store, sample_operator("Bob", OperatorRole::Owner), 2).await;
    for seed in [3, 4, 5] {
        let later = OperatorSession { seen_at: NOW.plus(MINUTE), ..session(seed, ann.id) };
        store.add_session(later).await.expect("begins");
    }
    let known = async |seed| store.session(&hash(seed)).await.expect("the store answers");
    let seen = |of: &Operator, at| Operator { last_seen_at: Some(at), ..of.clone() };
    assert_eq!(known(1).await, Some((session(1, ann.id), seen(&ann, NOW.plus(MINUTE)))));
    let (at, until) = (NOW.plus(3 * MINUTE), NOW.plus(13 * MINUTE));
    store.touch_session(&hash(1), at, until).await.expect("the store answers");
    store.touch_session(&hash(9), at, until).await.expect("there is none");
    let touched = OperatorSession { seen_at: at, expires_at: until, ..session(1, ann.id) };
    assert_eq!(known(1).await, Some((touched, seen(&ann, at))));
    assert_eq!(known(2).await, Some((session(2, bob.id), bob)), "another's is as it was");
    store.remove_session(&hash(3)).await.expect("the store answers");
    store.remove_session(&hash(3)).await.expect("there is none");
    assert!(!is_open(store, 3).await && is_open(store, 4).await);
    store.remove_sessions_of(ann.id, Some(&hash(4))).await.expect("the store answers");
    for (seed, open) in [(1, false), (2, true), (4, true), (5, false)] {
        assert_eq!(is_open(store, seed).await, open, "session {seed}");
    }
    store.remove_sessions_of(ann.id, None).await.expect("the store answers");
    assert!(!is_open(store, 4).await && is_open(store, 2).await);
}

fn entry(action: &str, at: Timestamp) -> AuditEntry {
    AuditEntry {
        at,
        operator: Some(name("Ann")),
        action: action.to_owned(),
        project: ProjectId::parse("acme").ok(),
        subject: "key_0123456789abcdef".to_owned(),
        detail: Some("admin".to_owned()),
        address: "2001:db8::1".parse().ok(),
    }
}

pub async fn audit_entries_are_read_newest_first<S: OperatorStore>(store: &S) {
    assert_eq!(store.audited(None, 10).await.expect("the store answers"), []);
    let by_hand = AuditEntry { operator: None, project: None, detail: None, address: None, ..entry("b", NOW) };
    let entries = [entry("a", NOW), by_hand, entry("c", NOW.minus(MINUTE)), entry("d", NOW)];
    for entry in &entries {
        store.audit(entry.clone()).await.expect("is added");
    }
    let first = store.audited(None, 3).await.expect("the store answers");
    assert!(first.is_sorted_by(|(one, _), (next, _)| one > next), "{first:?}");
    let second = store.audited(first.last().map(|(number, _)| *number), 3).await.expect("the store answers");
    let read: Vec<_> = first.into_iter().chain(second).map(|(_, entry)| entry).collect();
    assert!(read.iter().eq(entries.iter().rev()), "{read:?}");
}

pub async fn expired_sessions_are_removed<S: OperatorStore>(store: &S) {
    let ann = join(store, sample_operator("Ann", OperatorRole::Owner), 1).await;
    for seed in 2..5 {
        let over = OperatorSession { expires_at: NOW.plus(MINUTE), ..session(seed, ann.id) };
        store.add_session(over).await.expect("begins");
        store.add_link(Link { expires_at: NOW.plus(MINUTE), ..invitation(seed) }).await.expect("is added");
        store.audit(entry("old", NOW.minus(2 * MINUTE))).await.expect("is added");
    }
    store.add_pending(pending("over", NOW.plus(MINUTE).minus(SIGN_IN_TIMEOUT)), 10).await.expect("is added");
    store.add_pending(pending("goes on", NOW), 10).await.expect("is added");
    store.add_link(invitation(1)).await.expect("is added");
    store.audit(entry("new", NOW.minus(MINUTE))).await.expect("is added");
    let forget = async |now, limit| store.forget_expired(now, NOW.minus(MINUTE), limit).await.expect("forgets");
    assert_eq!(forget(NOW, 2).await, 2, "entries");
    assert_eq!(forget(NOW.plus(MINUTE), 2).await, 6, "two sessions, two links, a sign-in, the third entry");
    assert_eq!(forget(NOW.plus(MINUTE), 2).await, 2);
    assert_eq!(forget(NOW.plus(MINUTE), 2).await, 0);
    assert!(is_open(store, 1).await && !is_open(store, 4).await);
    assert_eq!(store.links(NOW).await.expect("the store answers"), [invitation(1)]);
    assert!(store.take_pending(&pending("goes on", NOW).hash()).await.expect("the store answers").is_some());
    let left = store.audited(None, 10).await.expect("the store answers");
    assert_eq!(left.iter().map(|(_, entry)| entry.action.as_str()).collect::<Vec<_>>(), ["new"]);
    store.audit(entry("newer", NOW)).await.expect("is added");
    let newest = store.audited(None, 1).await.expect("the store answers");
    assert!(newest[0].0 > left[0].0, "a number is given once");
}
