use docent_types::{FixedIds, ManualClock};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::*;
use crate::identity::{AuthorizationRequest, Identity};
use crate::memory::MemoryOperators;

const PASSWORD: &str = "correct horse battery";
const DAY: Duration = Duration::from_secs(24 * 3600);

struct Fixture {
    clock: ManualClock,
    operators: Operators,
}

fn fixture() -> Fixture {
    let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_000));
    let operators =
        Operators::new(Arc::new(MemoryOperators::new()), Arc::new(clock.clone()), Arc::new(FixedIds::default()));
    Fixture { clock, operators: Operators { passwords: Passwords::cheap(), ..operators } }
}

fn name(text: &str) -> OperatorName {
    OperatorName::parse(text).expect("a name")
}

fn ip(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

impl Fixture {
    async fn joined(&self, who: &str, role: OperatorRole) -> (SessionToken, SignedIn) {
        let link = self.operators.invite(Some(name(who)), role).await.expect("invites");
        self.operators.redeem(link.expose(), None, PASSWORD, ip(200)).await.expect("joins")
    }

    async fn who(&self, token: &SessionToken) -> Option<String> {
        let found = self.operators.signed_in(token.expose()).await.expect("the store answers");
        found.map(|who| who.operator.name.to_string())
    }

    async fn actions(&self) -> Vec<String> {
        let listed = self.operators.audited(None, 100).await.expect("the store answers");
        listed.into_iter().map(|(_, entry)| entry.action).collect()
    }
}

/// A provider with scripted answers.
#[derive(Debug, Default)]
struct ScriptedProvider {
    begun: Mutex<u32>,
    says: Mutex<Option<IdentityClaims>>,
}

const ISSUER: &str = "https://id.test";

#[async_trait]
impl IdentityProvider for ScriptedProvider {
    fn label(&self) -> &str {
        "Example"
    }

    fn issuer(&self) -> &str {
        ISSUER
    }

    async fn begin(&self) -> Result<AuthorizationRequest, IdentityError> {
        let mut begun = self.begun.lock();
        *begun += 1;
        let state = format!("state {begun}");
        Ok(AuthorizationRequest { url: state.clone(), state, nonce: String::new(), verifier: String::new() })
    }

    async fn identify(&self, code: String, _: &AuthorizationRequest) -> Result<IdentityClaims, IdentityError> {
        assert_eq!(code, "the code");
        self.says.lock().clone().ok_or_else(|| IdentityError::Unproven("expired".into()))
    }
}

impl ScriptedProvider {
    fn says(&self, subject: &str, name: &str, groups: &[&str]) {
        *self.says.lock() = Some(IdentityClaims {
            identity: Identity { issuer: ISSUER.to_owned(), subject: subject.to_owned() },
            names: vec![name.to_owned()],
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        });
    }
}

fn with_provider() -> (Fixture, Arc<ScriptedProvider>) {
    let (fixture, provider) = (fixture(), Arc::new(ScriptedProvider::default()));
    let roles =
        GroupRoles { owner: vec!["admins".to_owned()], viewer: vec!["staff".to_owned()], ..GroupRoles::default() };
    let operators = fixture.operators.clone().with_provider(Arc::clone(&provider) as _, roles);
    (Fixture { operators, ..fixture }, provider)
}

fn response(state: &str) -> AuthorizationResponse {
    AuthorizationResponse { state: state.to_owned(), issuer: None, code: Ok("the code".to_owned()) }
}

impl Fixture {
    async fn through_the_provider(&self) -> Result<(SessionToken, SignedIn, String), SignInError> {
        let state = self.operators.begin_at_provider("browser", "/home", ip(1)).await?;
        self.operators.return_from_provider("browser", response(&state), ip(1)).await
    }
}

#[tokio::test]
async fn an_identity_decides_who_it_is_and_its_groups_what_they_may() {
    let (fixture, provider) = with_provider();
    fixture.joined("ann@example.com", OperatorRole::Owner).await;
    // A person whose name at the provider is that of an operator is not that operator.
    provider.says("1", "ann@example.com", &["staff"]);
    let (token, who, to) = fixture.through_the_provider().await.expect("signs in");
    assert_eq!((who.operator.name.as_str(), who.operator.role), ("ann@example.com 2", OperatorRole::Viewer));
    assert_eq!(to, "/home");
    // The same person with another name and in other groups.
    provider.says("1", "Ann", &["staff", "admins"]);
    let (_, again, _) = fixture.through_the_provider().await.expect("signs in");
    assert_eq!((again.operator.id, again.operator.role), (who.operator.id, OperatorRole::Owner));
    assert_eq!(again.operator.name.as_str(), "ann@example.com 2");
    assert_eq!(fixture.actions().await[..4], ["sign_in", "operator.role", "sign_in", "operator.join"]);

    // A person who left the groups is refused, and signed out in every browser.
    provider.says("1", "Ann", &["guests"]);
    assert!(fixture.who(&token).await.is_some());
    assert!(matches!(fixture.through_the_provider().await, Err(SignInError::NoGroup)));
    assert_eq!((fixture.who(&token).await, fixture.actions().await[0].as_str()), (None, "sign_in.refused"));
    provider.says("2", "Eve", &[]);
    assert!(matches!(fixture.through_the_provider().await, Err(SignInError::NoGroup)));
    assert_eq!(fixture.operators.operators().await.expect("the store answers").len(), 2);
}

#[tokio::test]
async fn who_signs_in_at_a_provider_has_no_password() {
    let (fixture, provider) = with_provider();
    provider.says("1", "Ann", &["staff"]);
    let (_, who, _) = fixture.through_the_provider().await.expect("signs in");
    let (operators, id) = (&fixture.operators, who.operator.id);
    for password in ["", PASSWORD] {
        assert!(matches!(operators.sign_in("Ann", password, ip(1)).await, Err(SignInError::Wrong)));
    }
    assert!(matches!(operators.reset_link(id).await, Err(WriteError::ByIdentity(_))));
    assert!(matches!(operators.set_role(id, OperatorRole::Owner).await, Err(WriteError::ByIdentity(_))));
    let changed = operators.change_password(&who, "", PASSWORD).await;
    assert!(matches!(changed, Err(SignInError::Write(WriteError::ByIdentity(_)))));
    assert!(matches!(fixture_without_provider(&fixture).await, Err(SignInError::NoProvider)));
}

async fn fixture_without_provider(fixture: &Fixture) -> Result<String, SignInError> {
    Operators { provider: None, ..fixture.operators.clone() }.begin_at_provider("browser", "/", ip(1)).await
}

#[tokio::test]
async fn a_return_counts_once_in_time_and_in_the_browser_that_was_sent() {
    let (fixture, provider) = with_provider();
    provider.says("1", "Ann", &["staff"]);
    let operators = &fixture.operators;
    let begin = async || operators.begin_at_provider("browser", "/home", ip(1)).await.expect("begins");
    let comes = async |browser, response| operators.return_from_provider(browser, response, ip(1)).await;

    let state = begin().await;
    comes("browser", response(&state)).await.expect("signs in");
    assert!(matches!(comes("browser", response(&state)).await, Err(SignInError::Stale)), "a second time");
    let state = begin().await;
    assert!(matches!(comes("another", response(&state)).await, Err(SignInError::Stale)));
    assert!(matches!(comes("browser", response(&state)).await, Err(SignInError::Stale)), "it was tried");
    for never in ["", "state 99"] {
        assert!(matches!(comes("browser", response(never)).await, Err(SignInError::Stale)));
    }
    let state = begin().await;
    fixture.clock.advance(Duration::from_secs(601));
    assert!(matches!(comes("browser", response(&state)).await, Err(SignInError::Stale)), "late");
    let elsewhere = AuthorizationResponse { issuer: Some("https://evil.test".to_owned()), ..response(&begin().await) };
    let refused = comes("browser", elsewhere).await;
    assert!(matches!(refused, Err(SignInError::Identity(IdentityError::Unproven(_)))));
    let declined = AuthorizationResponse { code: Err("access_denied".to_owned()), ..response(&begin().await) };
    assert!(matches!(comes("browser", declined).await, Err(SignInError::Declined(word)) if word == "access_denied"));
    *provider.says.lock() = None;
    let unproven = comes("browser", response(&begin().await)).await;
    assert!(matches!(unproven, Err(SignInError::Identity(IdentityError::Unproven(_)))));

    // The attempts of one address are limited.
    let limited = async { while operators.begin_at_provider("browser", "/", ip(9)).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(60), limited).await.expect("there is a limit");
}

#[tokio::test]
async fn somebody_is_invited_joins_and_signs_in_and_out() {
    let fixture = fixture();
    let operators = &fixture.operators;
    assert!(!operators.has_any().await.expect("the store answers"));
    let link = operators.invite(None, OperatorRole::Owner).await.expect("invites");
    for _ in 0..2 {
        let target = operators.peek_link(link.expose()).await.expect("the store answers");
        assert_eq!(target, Some(LinkTarget::New { name: None, role: OperatorRole::Owner }));
    }
    let (token, who) = operators.redeem(link.expose(), Some(name("Ann")), PASSWORD, ip(1)).await.expect("joins");
    assert_eq!((who.operator.name.as_str(), who.operator.role), ("Ann", OperatorRole::Owner));
    assert_eq!(who.session, token.hash());
    assert!(who.csrf.fits(token.csrf().expose()));
    assert!(operators.has_any().await.expect("the store answers"));
    assert_eq!(operators.peek_link(link.expose()).await.expect("the store answers"), None);

    let (second, _) = operators.sign_in(" ANN ", PASSWORD, ip(1)).await.expect("signs in");
    operators.sign_out(&who).await.expect("signs out");
    assert_eq!((fixture.who(&token).await, fixture.who(&second).await.as_deref()), (None, Some("Ann")));
    operators.sign_out_everywhere(who.operator.id).await.expect("signs out");
    assert_eq!(fixture.who(&second).await, None);
    assert_eq!(fixture.actions().await, ["sign_in", "operator.join"]);
}

#[tokio::test]
async fn a_link_waits_until_everything_else_is_right() {
    let fixture = fixture();
    let operators = &fixture.operators;
    fixture.joined("Ann", OperatorRole::Owner).await;
    let link = operators.invite(None, OperatorRole::Viewer).await.expect("invites");
    let redeem = async |who, password| operators.redeem(link.expose(), who, password, ip(1)).await;
    assert!(matches!(redeem(None, PASSWORD).await, Err(SignInError::NameNeeded)));
    let taken = redeem(Some(name("ANN")), PASSWORD).await;
    assert!(matches!(taken, Err(SignInError::Write(WriteError::NameTaken(_)))));
    let short = redeem(Some(name("Bob")), "short").await;
    assert!(matches!(short, Err(SignInError::Password(PasswordError::TooShort))));
    redeem(Some(name("Bob")), PASSWORD).await.expect("joins");
    let again = redeem(Some(name("Bea")), PASSWORD).await;
    assert!(matches!(again, Err(SignInError::Write(WriteError::NoLink))));
    for none in ["", "x", &"0".repeat(64)] {
        assert_eq!(operators.peek_link(none).await.expect("the store answers"), None);
    }
}

#[tokio::test]
async fn the_name_in_a_link_is_not_for_its_reader_to_choose() {
    let fixture = fixture();
    let link = fixture.operators.invite(Some(name("Ann")), OperatorRole::Viewer).await.expect("invites");
    let joined = fixture.operators.redeem(link.expose(), Some(name("Root")), PASSWORD, ip(1)).await;
    assert_eq!(joined.expect("joins").1.operator.name.as_str(), "Ann");
    let taken = fixture.operators.invite(Some(name("ann")), OperatorRole::Viewer).await;
    assert!(matches!(taken, Err(WriteError::NameTaken(_))));
}

#[tokio::test]
async fn a_link_is_good_for_a_day_unless_it_is_withdrawn() {
    let fixture = fixture();
    let operators = &fixture.operators;
    let [old, withdrawn] = [
        operators.invite(None, OperatorRole::Owner).await.expect("invites"),
        operators.invite(None, OperatorRole::Owner).await.expect("invites"),
    ];
    assert!(operators.withdraw(&withdrawn.hash()).await.expect("the store answers"));
    assert_eq!(operators.links().await.expect("the store answers").len(), 1);
    assert_eq!(operators.peek_link(withdrawn.expose()).await.expect("the store answers"), None);
    fixture.clock.advance(DAY);
    let late = operators.redeem(old.expose(), Some(name("Ann")), PASSWORD, ip(1)).await;
    assert!(matches!(late, Err(SignInError::Write(WriteError::NoLink))));
    assert_eq!(operators.forget_expired().await.expect("forgets"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_who_redeem_one_link_at_once_one_wins() {
    let fixture = fixture();
    let link = fixture.operators.invite(None, OperatorRole::Owner).await.expect("invites");
    let redeem = |who: &'static str| {
        let (operators, link) = (fixture.operators.clone(), link.clone());
        tokio::spawn(async move { operators.redeem(link.expose(), Some(name(who)), PASSWORD, ip(1)).await.is_ok() })
    };
    let (ann, bob) = (redeem("Ann"), redeem("Bob"));
    let won = [ann.await.expect("no panic"), bob.await.expect("no panic")];
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    assert_eq!(fixture.operators.operators().await.expect("the store answers").len(), 1);
}

#[tokio::test]
async fn a_reset_ends_all_sessions_and_keeps_role_and_name() {
    let fixture = fixture();
    let (old, who) = fixture.joined("Ann", OperatorRole::Owner).await;
    let link = fixture.operators.reset_link(who.operator.id).await.expect("makes a link");
    let target = fixture.operators.peek_link(link.expose()).await.expect("the store answers");
    assert_eq!(target, Some(LinkTarget::Reset(who.operator.id)));
    let (new, who) = fixture.operators.redeem(link.expose(), None, "another good one", ip(1)).await.expect("resets");
    assert_eq!((who.operator.name.as_str(), who.operator.role), ("Ann", OperatorRole::Owner));
    assert_eq!((fixture.who(&old).await, fixture.who(&new).await.as_deref()), (None, Some("Ann")));
    assert!(matches!(fixture.operators.sign_in("Ann", PASSWORD, ip(1)).await, Err(SignInError::Wrong)));
    fixture.operators.sign_in("Ann", "another good one", ip(1)).await.expect("signs in");
    assert_eq!(fixture.actions().await[..3], ["sign_in", "sign_in.failed", "operator.password"]);
}

#[tokio::test]
async fn a_link_signs_in_at_once_on_this_machine_and_once() {
    let fixture = fixture();
    let operators = &fixture.operators;
    let demo = || operators.sign_in_link(name("demo"));
    let (link, here) = (demo().await.expect("makes a link"), IpAddr::from([127, 0, 0, 1]));
    let elsewhere = operators.redeem(link.expose(), None, "", ip(1)).await;
    assert!(matches!(elsewhere, Err(SignInError::Write(WriteError::NoLink))));
    let (token, who) = operators.redeem(link.expose(), None, "", here).await.expect("signs in");
    assert_eq!((who.operator.name.as_str(), who.operator.role), ("demo", OperatorRole::Owner));
    assert_eq!(fixture.who(&token).await.as_deref(), Some("demo"));
    let again = operators.redeem(link.expose(), None, "", here).await;
    assert!(matches!(again, Err(SignInError::Write(WriteError::NoLink))));
    let late = demo().await.expect("makes another one");
    assert_eq!(operators.operators().await.expect("the store answers").len(), 1);
    fixture.clock.advance(DAY);
    let late = operators.redeem(late.expose(), None, "", here).await;
    assert!(matches!(late, Err(SignInError::Write(WriteError::NoLink))));
}

#[tokio::test]
async fn a_password_is_changed_by_who_knows_it() {
    let fixture = fixture();
    let (here, who) = fixture.joined("Ann", OperatorRole::Owner).await;
    let (there, _) = fixture.operators.sign_in("Ann", PASSWORD, ip(1)).await.expect("signs in");
    let change = async |old, new| fixture.operators.change_password(&who, old, new).await;
    assert!(matches!(change("wrong password", "another good one").await, Err(SignInError::Wrong)));
    assert!(matches!(change(PASSWORD, "short").await, Err(SignInError::Password(PasswordError::TooShort))));
    change(PASSWORD, "another good one").await.expect("changes");
    assert_eq!((fixture.who(&here).await.as_deref(), fixture.who(&there).await), (Some("Ann"), None));
    fixture.operators.sign_in("Ann", "another good one", ip(1)).await.expect("signs in");
}

#[tokio::test]
async fn attempts_are_limited_by_account_and_by_address() {
    let fixture = fixture();
    fixture.joined("Ann", OperatorRole::Owner).await;
    let attempt = async |who: &str, password: &str, last| fixture.operators.sign_in(who, password, ip(last)).await;
    for n in 0..10 {
        assert!(matches!(attempt("Ann", "wrong password", n).await, Err(SignInError::Wrong)), "{n}");
    }
    // The right password does not help, another address neither, nor another letter case.
    let Err(SignInError::TooMany { retry_after }) = attempt("ANN", PASSWORD, 99).await else { panic!("not limited") };
    assert!(retry_after > Duration::ZERO && retry_after <= ATTEMPT_WINDOW, "{retry_after:?}");
    fixture.clock.advance(retry_after);
    attempt("Ann", PASSWORD, 99).await.expect("signs in");

    // Attempts with an unknown name are limited too, so that the limit does not reveal which names exist.
    for n in 0..10 {
        assert!(matches!(attempt("Nobody", "wrong password", n).await, Err(SignInError::Wrong)), "{n}");
    }
    assert!(matches!(attempt("Nobody", "wrong password", 99).await, Err(SignInError::TooMany { .. })));

    for n in 0..30 {
        assert!(matches!(attempt(&format!("guess {n}"), "wrong password", 123).await, Err(SignInError::Wrong)), "{n}");
    }
    for who in ["Ann", "guess 30", "", &"x".repeat(200)] {
        assert!(matches!(attempt(who, PASSWORD, 123).await, Err(SignInError::TooMany { .. })), "{who}");
    }
    attempt("Ann", PASSWORD, 124).await.expect("another address is not held");
}

#[tokio::test]
async fn a_session_lives_while_it_is_used_and_90_days_at_most() {
    let fixture = fixture();
    let (idle, _) = fixture.joined("Ann", OperatorRole::Owner).await;
    let (used, who) = fixture.operators.sign_in("Ann", PASSWORD, ip(1)).await.expect("signs in");
    for day in 1..=90 {
        assert!(fixture.who(&used).await.is_some(), "day {day}");
        fixture.clock.advance(DAY);
    }
    assert_eq!((fixture.who(&used).await, fixture.who(&idle).await), (None, None));
    let seen = fixture.operators.operator(who.operator.id).await.expect("the store answers").expect("is there");
    assert_eq!(seen.last_seen_at, Some(fixture.clock.now().minus(DAY)));
    assert_eq!(fixture.operators.forget_expired().await.expect("forgets"), 2);
    for none in ["", "x", &"0".repeat(64)] {
        assert!(fixture.operators.signed_in(none).await.expect("the store answers").is_none());
    }
}

#[tokio::test]
async fn a_role_counts_at_once_and_the_last_owner_stays() {
    let fixture = fixture();
    let (_, ann) = fixture.joined("Ann", OperatorRole::Owner).await;
    let (token, bob) = fixture.joined("Bob", OperatorRole::Viewer).await;
    let (ann, bob) = (ann.operator.id, bob.operator.id);
    assert!(matches!(fixture.operators.set_role(ann, OperatorRole::Editor).await, Err(WriteError::LastOwner)));
    assert!(matches!(fixture.operators.remove(ann).await, Err(WriteError::LastOwner)));
    fixture.operators.set_role(bob, OperatorRole::Owner).await.expect("changes");
    let who = fixture.operators.signed_in(token.expose()).await.expect("the store answers").expect("is signed in");
    assert_eq!(who.operator.role, OperatorRole::Owner);
    fixture.operators.remove(ann).await.expect("is removed");
    fixture.operators.rename(bob, name("Robert")).await.expect("changes");
    assert_eq!(fixture.who(&token).await.as_deref(), Some("Robert"));
}
