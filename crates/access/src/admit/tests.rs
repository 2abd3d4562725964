use std::convert::Infallible;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::key::Key;
use crate::record::{Grant, mint};

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

fn project(name: &str) -> ProjectId {
    ProjectId::parse(name).expect("a name")
}

fn minted(kind: KeyKind, seed: u8) -> (Key, KeyRecord) {
    let constant = |bytes: &mut [u8]| {
        bytes.fill(seed % 248);
        Ok::<_, Infallible>(())
    };
    mint(Grant::new(kind, project("acme"), NOW), NOW, constant).expect("it is constant")
}

/// The changes that one row of the table makes to a request that would be admitted.
struct Story {
    header: Option<String>,
    record: Option<KeyRecord>,
    ip: Option<&'static str>,
    origin: Option<&'static str>,
    kind: KeyKind,
    need: Scope,
    project: Option<&'static str>,
    now: Timestamp,
}

impl Story {
    fn new() -> Self {
        let (key, record) = minted(KeyKind::Admin, 1);
        Self {
            header: Some(format!("Bearer {}", key.expose())),
            record: Some(record),
            ip: Some("203.0.113.9"),
            origin: None,
            kind: KeyKind::Admin,
            need: Scope::Write,
            project: Some("acme"),
            now: NOW,
        }
    }

    fn grant(mut self, change: impl FnOnce(&mut Grant)) -> Self {
        change(&mut self.record.as_mut().expect("a record").grant);
        self
    }

    fn ends(self) -> Result<(), Denial> {
        let project = self.project.map(project);
        let credentials = Credentials {
            authorization: self.header.as_deref().map(str::as_bytes),
            ip: self.ip.map(|ip| ip.parse().expect("an address")),
            origin: self.origin.map(str::as_bytes),
            ..Credentials::default()
        };
        let action = Action { kind: self.kind, need: self.need, project: project.as_ref() };
        admit(self.record.as_ref(), &credentials.key()?, &credentials, &action, self.now)
    }
}

fn header(text: &str) -> Story {
    Story { header: Some(text.to_owned()), ..Story::new() }
}

fn key_text() -> String {
    minted(KeyKind::Admin, 1).0.expose().to_owned()
}

#[test]
fn every_outcome() {
    let (assistant, assistant_record) = minted(KeyKind::Assistant, 1);
    let assistant_header = Some(format!("Bearer {}", assistant.expose()));
    let day = Duration::from_secs(24 * 3600);
    let expires = NOW.plus(day);
    let expiring = || Story::new().grant(|grant| grant.expires_at = Some(expires));
    let reading = |need| Story { need, ..Story::new().grant(|grant| grant.scope = Scope::Read) };
    let from = |ip| {
        let allow = |grant: &mut Grant| grant.allow_ip = vec!["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()];
        Story { ip, ..Story::new().grant(allow) }
    };
    let on = |origin| {
        let allow = |grant: &mut Grant| grant.allow_origin = vec!["https://docs.example.com".parse().unwrap()];
        Story { origin, ..Story::new().grant(allow) }
    };
    let with_record = |record| Story { record, ..Story::new() };
    let revoked = Some(KeyRecord { revoked_at: Some(NOW), ..minted(KeyKind::Admin, 1).1 });
    let other_kind = Denial::OtherKind { given: KeyKind::Admin, need: KeyKind::Assistant };
    let other_project = Denial::OtherProject { need: KeyKind::Admin };
    let table: Vec<(&str, Story, Result<(), Denial>)> = vec![
        ("the right key", Story::new(), Ok(())),
        ("a scheme in other letters", header(&format!("bEARER   {}  ", key_text())), Ok(())),
        ("no header", Story { header: None, ..Story::new() }, Err(Denial::NoKey)),
        ("an empty header", header(""), Err(Denial::NoKey)),
        ("a scheme alone", header("Bearer "), Err(Denial::NoKey)),
        ("another scheme", header("Basic YTpi"), Err(Denial::NotBearer)),
        ("the key alone", header(&key_text()), Err(Denial::NotBearer)),
        ("no space", header(&format!("Bearer{}", key_text())), Err(Denial::NotBearer)),
        ("not a key", header("Bearer hello"), Err(Denial::Malformed)),
        ("two keys", header(&format!("Bearer {0} {0}", key_text())), Err(Denial::Malformed)),
        ("half a key", header(&format!("Bearer {}", &key_text()[..40])), Err(Denial::Malformed)),
        ("an unknown key", with_record(None), Err(Denial::Unknown)),
        ("the record of another key", with_record(Some(minted(KeyKind::Admin, 2).1)), Err(Denial::Unknown)),
        ("a revoked key", with_record(revoked), Err(Denial::Revoked)),
        ("the last moment", Story { now: NOW.plus(day - Duration::from_millis(1)), ..expiring() }, Ok(())),
        ("an expired key", Story { now: expires, ..expiring() }, Err(Denial::Expired { at: expires })),
        ("a key that never expires", Story::new().grant(|grant| grant.expires_at = None), Ok(())),
        ("the other kind", Story { kind: KeyKind::Assistant, ..Story::new() }, Err(other_kind)),
        ("another project", Story { project: Some("other"), ..Story::new() }, Err(other_project.clone())),
        ("a project that does not exist", Story { project: None, ..Story::new() }, Err(other_project)),
        ("reading with a reading key", reading(Scope::Read), Ok(())),
        ("writing with a reading key", reading(Scope::Write), Err(Denial::ReadOnly)),
        ("reading with a writing key", Story { need: Scope::Read, ..Story::new() }, Ok(())),
        ("an allowed address", from(Some("10.2.3.4")), Ok(())),
        ("an allowed address in IPv6 form", from(Some("::ffff:10.2.3.4")), Ok(())),
        ("another allowed address", from(Some("::1")), Ok(())),
        ("another address", from(Some("203.0.113.9")), Err(Denial::Address)),
        ("no address", from(None), Err(Denial::Address)),
        ("an allowed origin", on(Some("https://docs.example.com")), Ok(())),
        ("another origin", on(Some("https://evil.example")), Err(Denial::Origin)),
        ("another scheme of the host", on(Some("http://docs.example.com")), Err(Denial::Origin)),
        ("the null origin", on(Some("null")), Err(Denial::Origin)),
        ("no origin", on(None), Err(Denial::Origin)),
        ("any origin when none is listed", Story { origin: Some("null"), ..Story::new() }, Ok(())),
        (
            "an assistant key",
            Story {
                header: assistant_header,
                record: Some(assistant_record),
                kind: KeyKind::Assistant,
                ..Story::new()
            },
            Ok(()),
        ),
    ];
    for (name, story, expected) in table {
        assert_eq!(story.ends(), expected, "{name}");
    }
}

#[test]
fn an_unknown_caller_and_a_forbidden_one_are_told_apart() {
    let refusal = |denial: Denial| Refusal::from(denial);
    assert_eq!(refusal(Denial::Expired { at: NOW }).kind, RefusalKind::Unauthenticated);
    let expired = refusal(Denial::Expired { at: NOW }).sentence;
    assert_eq!(expired, "the API key expired at 2026-11-18T11:06:40.000Z: create a new one");
    let kind = refusal(Denial::OtherKind { given: KeyKind::Assistant, need: KeyKind::Admin });
    assert_eq!(kind.kind, RefusalKind::Forbidden);
    assert!(kind.sentence.contains("takes an admin key") && kind.sentence.contains("`docent_admin_`"), "{kind}");
}

#[test]
fn credentials_do_not_show_themselves() {
    let text = format!("Bearer {}", key_text());
    let shown = format!("{:?}", Credentials { authorization: Some(text.as_bytes()), ..Credentials::default() });
    assert!(!shown.contains("docent_admin_"), "{shown}");
}

#[test]
fn a_header_that_came_twice_is_no_credential() {
    let key = key_text();
    let key = key.as_bytes();
    let ip = IpAddr::from([127, 0, 0, 1]);
    let shown = |keys: &[&'static [u8]], origins: &[&'static [u8]]| {
        let shown = Credentials::from_headers(keys.iter().copied(), origins.iter().copied(), ip);
        (shown.authorization, shown.origin)
    };
    assert_eq!(shown(&[], &[]), (None, None));
    assert_eq!(shown(&[b"a"], &[b"b"]), (Some(b"a".as_slice()), Some(b"b".as_slice())));
    let twice = Credentials::from_headers([key, key], [b"https://a.example".as_slice(); 2], ip);
    assert_eq!(twice.key().err(), Some(Denial::NotBearer));
    assert!(twice.origin.is_some_and(|origin| origin != b"https://a.example"));
}

proptest! {
    #[test]
    fn no_header_makes_it_panic(authorization: Vec<u8>, origin: Vec<u8>, bearer: bool) {
        let (_, mut record) = minted(KeyKind::Admin, 1);
        record.grant.allow_origin = vec!["https://docs.example.com".parse().unwrap()];
        let header = if bearer { [b"Bearer ", &authorization[..]].concat() } else { authorization };
        let credentials = Credentials { authorization: Some(&header), origin: Some(&origin), ..Credentials::default() };
        let acme = project("acme");
        let action = Action { kind: KeyKind::Admin, need: Scope::Read, project: Some(&acme) };
        if let Ok(key) = credentials.key() {
            prop_assert!(admit(Some(&record), &key, &credentials, &action, NOW).is_err());
        }
    }
}

#[test]
fn a_page_of_the_same_origin_needs_no_origin_header() {
    let mut grant = Grant::new(KeyKind::Assistant, project("acme"), NOW);
    grant.allow_origin = vec!["https://docs.example.com".parse().expect("an origin")];
    let fill = |bytes: &mut [u8]| {
        bytes.fill(1);
        Ok::<_, Infallible>(())
    };
    let (key, record) = mint(grant, NOW, fill).expect("it is constant");
    let header = format!("Bearer {}", key.expose());
    let asks = |origin: Option<&'static str>, host: Option<&'static str>| {
        let credentials = Credentials {
            authorization: Some(header.as_bytes()),
            origin: origin.map(str::as_bytes),
            own_host: host.map(str::as_bytes),
            ..Credentials::default()
        };
        let need = project("acme");
        let action = Action { kind: KeyKind::Assistant, project: Some(&need), need: Scope::Read };
        admit(Some(&record), &credentials.key().expect("a key"), &credentials, &action, NOW)
    };
    assert_eq!(asks(None, Some("docs.example.com")), Ok(()));
    assert_eq!(asks(None, Some("docs.example.com:443")), Ok(()));
    for (origin, host) in [
        (None, None),
        (None, Some("evil.example")),
        (None, Some("docs.example.com:8443")),
        (None, Some("twice")),
        (Some("https://evil.example"), Some("docs.example.com")),
    ] {
        assert_eq!(asks(origin, host), Err(Denial::Origin), "{origin:?} {host:?}");
    }
}
