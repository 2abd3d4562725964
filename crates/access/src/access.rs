//! Loads the data that the admission decision needs, and makes the decision.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use docent_types::{
    CallError, Clock, Project, ProjectUid, Quota, QuotaStatus, Refusal, RefusalKind, StoreError, retry_after_seconds,
};
use thiserror::Error;

use crate::access_cache::AccessCache;
use crate::address::AddressRange;
use crate::admit::{Action, Credentials, Denial, admit};
use crate::key::KeyKind;
use crate::key_watch::{KeyWatch, KeyWatches};
use crate::last_use::LastUse;
use crate::ports::{Keys, Projects};
use crate::record::{KeyRecord, Scope};
use crate::throttle::{CountError, MemoryThrottle, Throttle};

/// Why a caller was not admitted.
#[derive(Debug, Error)]
pub enum AccessError {
    #[error(transparent)]
    Denied(#[from] Denial),
    /// Allowed, but over the rate limit.
    #[error("rate limit exceeded")]
    Limited(QuotaStatus),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CountError> for AccessError {
    fn from(error: CountError) -> Self {
        match error {
            CountError::Limited(quota_status) => Self::Limited(quota_status),
            CountError::Store(error) => Self::Store(error),
        }
    }
}

impl From<AccessError> for CallError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Denied(denial) => Refusal::from(denial).into(),
            AccessError::Limited(quota_status) => {
                let wait = match retry_after_seconds(quota_status.retry_after) {
                    1 => "1 second".to_owned(),
                    seconds => format!("{seconds} seconds"),
                };
                let sentence = format!("rate limit exceeded for this docs site or this address; try again in {wait}");
                Refusal::new(RefusalKind::Limited(quota_status), sentence).into()
            }
            AccessError::Store(error) => error.into(),
        }
    }
}

/// An admitted caller and its project.
#[derive(Debug, Clone)]
pub struct Principal {
    /// The record of the presented key.
    pub key: Arc<KeyRecord>,
    pub project: Arc<Project>,
    watches: Arc<KeyWatches>,
}

impl Principal {
    /// Signals when the key stops being valid, for long-running answers.
    pub fn key_watch(&self) -> KeyWatch {
        self.watches.of(self.key.hash)
    }
}

/// Who reads docs.
#[derive(Debug, Clone)]
pub enum Reader {
    /// The holder of an assistant key.
    Holder(Principal),
    /// Anybody, because the docs are public.
    Anybody(Arc<Project>),
}

impl Reader {
    pub fn project(&self) -> &Arc<Project> {
        match self {
            Self::Holder(principal) => &principal.project,
            Self::Anybody(project) => project,
        }
    }

    /// Whether the reader has shown no key.
    pub const fn is_anybody(&self) -> bool {
        matches!(self, Self::Anybody(_))
    }
}

/// Rate limits of the assistant, search and page endpoints together. An address is counted over all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssistantLimits {
    pub per_project_and_hour: u32,
    pub per_address_and_day: u32,
}

impl Default for AssistantLimits {
    fn default() -> Self {
        Self { per_project_and_hour: 10_000, per_address_and_day: 10_000 }
    }
}

impl AssistantLimits {
    const HOUR: Duration = Duration::from_secs(3_600);
    const DAY: Duration = Duration::from_secs(24 * 3_600);

    fn quotas(self, project: ProjectUid, ip: Option<IpAddr>) -> Vec<Quota> {
        let quota = |bucket, limit, window| Quota { bucket, limit, window };
        let mut quotas = vec![quota(format!("assistant:{project}"), self.per_project_and_hour, Self::HOUR)];
        quotas.extend(ip.map(|ip| {
            let from = AddressRange::of_caller(ip);
            quota(format!("assistant-from:{from}"), self.per_address_and_day, Self::DAY)
        }));
        quotas
    }
}

/// Admits callers.
#[derive(Debug, Clone)]
pub struct Access {
    limits: AssistantLimits,
    throttle: Arc<dyn Throttle>,
    cache: Arc<AccessCache>,
    watches: Arc<KeyWatches>,
    last_use: Arc<LastUse>,
    clock: Arc<dyn Clock>,
}

impl Access {
    pub fn new(keys: Arc<dyn Keys>, projects: Arc<dyn Projects>, clock: Arc<dyn Clock>) -> Self {
        let cache = Arc::new(AccessCache::new(keys, projects));
        let watches = Arc::new(KeyWatches::new(Arc::clone(&cache), Arc::clone(&clock)));
        let (limits, last_use) = (AssistantLimits::default(), Arc::default());
        let throttle = Arc::new(MemoryThrottle::new());
        Self { cache, watches, clock, limits, throttle, last_use }
    }

    /// Counts requests here, in place of the memory of this process.
    #[must_use]
    pub fn with_throttle(mut self, throttle: Arc<dyn Throttle>) -> Self {
        self.throttle = throttle;
        self
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: AssistantLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Admits a caller with an admin key to a project. `project` is the raw path segment: an invalid or unknown name
    /// gets the same answer as a project that the key does not belong to.
    pub async fn agent(
        &self,
        credentials: &Credentials<'_>,
        project: &str,
        need: Scope,
    ) -> Result<Principal, AccessError> {
        self.enter(credentials, KeyKind::Admin, need, project).await
    }

    /// Admits a caller with an assistant key to the project of a domain, within the rate limits. `domain` is the raw
    /// path segment.
    pub async fn assistant(
        &self,
        credentials: &Credentials<'_>,
        domain: &str,
        need: Scope,
    ) -> Result<Principal, AccessError> {
        let principal = self.enter(credentials, KeyKind::Assistant, need, domain).await?;
        self.count(&principal.project, credentials).await?;
        Ok(principal)
    }

    /// Admits a reader of the docs of a domain, within the same rate limits: a caller with an assistant key, and a caller
    /// without any key where the docs are public. A key that is presented must be right. Without a key an unknown domain
    /// gets the same answer as one that is not public.
    pub async fn reader(
        &self,
        credentials: &Credentials<'_>,
        domain: &str,
        need: Scope,
        is_public: impl Fn(&Project) -> bool,
    ) -> Result<Reader, AccessError> {
        if !matches!(credentials.key(), Err(Denial::NoKey)) {
            return Ok(Reader::Holder(self.assistant(credentials, domain, need).await?));
        }
        let found = self.cache.domain(self.cache.version(), domain).await?;
        let project = found.filter(|project| is_public(project)).ok_or(Denial::NoKey)?;
        self.count(&project, credentials).await?;
        Ok(Reader::Anybody(project))
    }

    /// Counts one request to the assistant, search and page endpoints.
    async fn count(&self, project: &Project, credentials: &Credentials<'_>) -> Result<(), AccessError> {
        let quotas = self.limits.quotas(project.uid, credentials.ip);
        self.throttle.count(&quotas, self.clock.now()).await?;
        Ok(())
    }

    /// `name` is a project id for an admin key, and a domain for an assistant key.
    async fn enter(
        &self,
        credentials: &Credentials<'_>,
        kind: KeyKind,
        need: Scope,
        name: &str,
    ) -> Result<Principal, AccessError> {
        // The store is not read without a well-formed key.
        let presented = credentials.key()?;
        let version = self.cache.version();
        let key = self.cache.key(version, &presented).await?;
        let project = match kind {
            KeyKind::Admin => self.cache.project(version, name).await?,
            KeyKind::Assistant => self.cache.domain(version, name).await?,
        };
        let action = Action { kind, need, project: project.as_ref().map(|project| &project.id) };
        let now = self.clock.now();
        admit(key.as_deref(), &presented, credentials, &action, now)?;
        // For an admitted caller both are `Some`.
        let (key, project) = key.zip(project).ok_or(Denial::OtherProject { need: kind })?;
        if self.last_use.is_due(&key.hash, now) {
            // Rare (at most once a minute per key). A failure here must not refuse an admitted caller.
            let _ = self.cache.used(&key, now).await;
        }
        Ok(Principal { key, project, watches: Arc::clone(&self.watches) })
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{Domain, ManualClock, ProjectId, Timestamp};

    use super::*;
    use crate::conformance::{sample_key, sample_project};
    use crate::key::Key;
    use crate::memory::MemoryAccess;
    use crate::record::LIFETIME;

    struct TestAccess {
        access: Access,
        store: Arc<MemoryAccess>,
        clock: ManualClock,
    }

    async fn fixture() -> TestAccess {
        let store = Arc::new(MemoryAccess::new());
        for name in ["acme", "other"] {
            let mut project = sample_project(name);
            project.domain = Domain::parse(&format!("{name}-docs")).expect("a name");
            store.add(project).await.expect("the project is added");
        }
        let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_000));
        let access = Access::new(Arc::clone(&store) as _, Arc::clone(&store) as _, Arc::new(clock.clone()));
        TestAccess { access, store, clock }
    }

    impl TestAccess {
        async fn key(&self, kind: KeyKind) -> Key {
            let grant = crate::record::Grant::new(kind, ProjectId::parse("acme").expect("a name"), self.clock.now());
            let (key, record) =
                crate::record::mint(grant, self.clock.now(), crate::system_randomness).expect("randomness");
            self.store.insert(record).await.expect("the key is added");
            key
        }

        async fn agent(&self, key: &Key, project: &str) -> Result<Arc<Project>, Option<RefusalKind>> {
            let header = format!("Bearer {}", key.expose());
            let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
            kind_of(self.access.agent(&credentials, project, Scope::Write).await)
        }

        async fn assistant(&self, key: &Key, domain: &str) -> Result<Arc<Project>, Option<RefusalKind>> {
            let header = format!("Bearer {}", key.expose());
            let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
            kind_of(self.access.assistant(&credentials, domain, Scope::Write).await)
        }
    }

    fn kind_of(result: Result<Principal, AccessError>) -> Result<Arc<Project>, Option<RefusalKind>> {
        match result {
            Ok(principal) => Ok(principal.project),
            Err(AccessError::Denied(denial)) => Err(Some(denial.kind())),
            Err(AccessError::Limited(quota_status)) => Err(Some(RefusalKind::Limited(quota_status))),
            Err(AccessError::Store(_)) => Err(None),
        }
    }

    const FORBIDDEN: Option<RefusalKind> = Some(RefusalKind::Forbidden);
    const UNKNOWN: Option<RefusalKind> = Some(RefusalKind::Unauthenticated);

    #[tokio::test]
    async fn a_key_opens_its_own_project_and_no_other_door() {
        let fixture = fixture().await;
        let admin = fixture.key(KeyKind::Admin).await;
        let assistant = fixture.key(KeyKind::Assistant).await;
        assert_eq!(fixture.agent(&admin, "acme").await.map(|project| project.id.to_string()), Ok("acme".to_owned()));
        assert_eq!(
            fixture.assistant(&assistant, "acme-docs").await.map(|project| project.id.to_string()),
            Ok("acme".to_owned())
        );
        for elsewhere in ["other", "nothing", "Not A Name", "", "../acme", "acme-docs"] {
            assert_eq!(fixture.agent(&admin, elsewhere).await, Err(FORBIDDEN), "{elsewhere}");
        }
        for elsewhere in ["other-docs", "nothing", "Not A Name", "", "acme"] {
            assert_eq!(fixture.assistant(&assistant, elsewhere).await, Err(FORBIDDEN), "{elsewhere}");
        }
        assert_eq!(fixture.agent(&assistant, "acme").await, Err(FORBIDDEN));
        assert_eq!(fixture.assistant(&admin, "acme-docs").await, Err(FORBIDDEN));
    }

    #[tokio::test]
    async fn public_docs_are_read_by_anybody_and_by_nobody_with_a_wrong_key() {
        let mut fixture = fixture().await;
        fixture.access =
            fixture.access.with_limits(AssistantLimits { per_project_and_hour: 3, per_address_and_day: 100 });
        let key = fixture.key(KeyKind::Assistant).await;
        let (stranger, _) = sample_key("acme", 1);
        let header = |key: &Key| format!("Bearer {}", key.expose());
        let read = async |authorization: Option<String>, domain: &str, is_public: bool| {
            let authorization = authorization.as_deref().map(str::as_bytes);
            let credentials = Credentials { authorization, ..Credentials::default() };
            let reader = fixture.access.reader(&credentials, domain, Scope::Read, |_| is_public).await;
            match reader {
                Ok(reader) => Ok(reader.is_anybody()),
                Err(error) => Err(kind_of(Err(error)).expect_err("an error")),
            }
        };
        assert_eq!(read(None, "acme-docs", true).await, Ok(true));
        assert_eq!(read(Some(String::new()), "acme-docs", true).await, Ok(true), "an empty header is none");
        assert_eq!(read(Some(header(&key)), "acme-docs", false).await, Ok(false));
        for (authorization, domain, is_public) in [
            (None, "acme-docs", false),
            (None, "nothing", true),
            (None, "Not A Name", true),
            (Some(header(&stranger)), "acme-docs", true),
            (Some("Basic abc".to_owned()), "acme-docs", true),
        ] {
            assert_eq!(read(authorization, domain, is_public).await, Err(UNKNOWN), "{domain} {is_public}");
        }
        let refused = read(None, "acme-docs", true).await;
        assert!(matches!(refused, Err(Some(RefusalKind::Limited(_)))), "all readers count together: {refused:?}");
    }

    #[tokio::test]
    async fn who_is_let_in_is_known_by_the_key() {
        let fixture = fixture().await;
        let key = fixture.key(KeyKind::Admin).await;
        let header = format!("Bearer {}", key.expose());
        let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
        let principal = fixture.access.agent(&credentials, "acme", Scope::Write).await.expect("let in");
        assert_eq!((&principal.key.hash, &principal.key.grant.project), (&key.hash(), &principal.project.id));
    }

    #[tokio::test]
    async fn an_unknown_revoked_or_expired_key_opens_nothing() {
        let fixture = fixture().await;
        let (stranger, _) = sample_key("acme", 1);
        assert_eq!(fixture.agent(&stranger, "acme").await, Err(UNKNOWN));
        assert_eq!(fixture.agent(&stranger, "nothing").await, Err(UNKNOWN), "a stranger does not learn what exists");
        let key = fixture.key(KeyKind::Admin).await;
        let id = crate::KeyId::from(&key.hash());
        fixture.store.revoke(&id, fixture.clock.now()).await.expect("the store answers");
        assert_eq!(fixture.agent(&key, "acme").await, Err(UNKNOWN));
        let key = fixture.key(KeyKind::Admin).await;
        assert!(fixture.agent(&key, "acme").await.is_ok());
        fixture.clock.advance(LIFETIME);
        assert_eq!(fixture.agent(&key, "acme").await, Err(UNKNOWN));
    }

    #[tokio::test]
    async fn the_assistant_is_asked_so_often_and_the_agent_as_often_as_it_likes() {
        let mut fixture = fixture().await;
        fixture.access =
            fixture.access.with_limits(AssistantLimits { per_project_and_hour: 2, per_address_and_day: 2 });
        let assistant = fixture.key(KeyKind::Assistant).await;
        let admin = fixture.key(KeyKind::Admin).await;
        for _ in 0..2 {
            assert!(fixture.assistant(&assistant, "acme-docs").await.is_ok());
        }
        assert_eq!(fixture.assistant(&assistant, "other-docs").await, Err(FORBIDDEN), "who may not is not counted");
        let refused = fixture.assistant(&assistant, "acme-docs").await;
        assert!(
            matches!(refused, Err(Some(RefusalKind::Limited(quota_status))) if quota_status.limit == 2),
            "{refused:?}"
        );
        for _ in 0..5 {
            assert!(fixture.agent(&admin, "acme").await.is_ok());
        }
        fixture.clock.advance(Duration::from_secs(3_700));
        assert!(fixture.assistant(&assistant, "acme-docs").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_goes_on_is_told_when_the_key_is_no_longer_good() {
        let fixture = fixture().await;
        let enter = async |key: &Key| {
            let header = format!("Bearer {}", key.expose());
            let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
            fixture.access.agent(&credentials, "acme", Scope::Write).await.expect("let in")
        };
        let (revoked, expired) = (fixture.key(KeyKind::Admin).await, fixture.key(KeyKind::Admin).await);
        let principal = enter(&revoked).await;
        let (mut one, mut other) = (principal.key_watch(), principal.key_watch());
        assert_eq!(one.unless_ended(tokio::time::sleep(Duration::from_secs(60))).await, Ok(()), "it is good meanwhile");
        fixture.store.revoke(&principal.key.id, fixture.clock.now()).await.expect("the store answers");
        let start = tokio::time::Instant::now();
        assert_eq!((one.ended().await, other.ended().await), (Denial::Revoked, Denial::Revoked));
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert_eq!(principal.key_watch().ended().await, Denial::Revoked, "and so is who comes later");

        let mut ends = enter(&expired).await.key_watch();
        fixture.clock.advance(LIFETIME);
        assert!(matches!(ends.ended().await, Denial::Expired { .. }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_nobody_waits_on_is_not_looked_after() {
        let fixture = fixture().await;
        let key = fixture.key(KeyKind::Admin).await;
        let header = format!("Bearer {}", key.expose());
        let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
        let principal = fixture.access.agent(&credentials, "acme", Scope::Write).await.expect("let in");
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        let ends = (principal.key_watch(), principal.key_watch());
        assert_eq!(tasks(), before + 1, "one task a key");
        drop(ends);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(tasks(), before);
    }

    #[tokio::test]
    async fn a_key_of_a_removed_project_opens_nothing() {
        let fixture = fixture().await;
        let key = fixture.key(KeyKind::Admin).await;
        let acme = ProjectId::parse("acme").expect("a name");
        fixture.store.remove(&acme, fixture.clock.now()).await.expect("the store answers");
        assert_eq!(fixture.agent(&key, "acme").await, Err(UNKNOWN));
    }

    #[test]
    fn whoever_asks_too_often_is_told_for_how_long_to_wait() {
        for (millis, wait) in [(1, "1 second"), (1_000, "1 second"), (1_001, "2 seconds"), (90_000, "90 seconds")] {
            let retry_after = Duration::from_millis(millis);
            let quota_status = QuotaStatus { limit: 2, window: Duration::from_secs(3_600), remaining: 0, retry_after };
            let told = CallError::from(AccessError::Limited(quota_status));
            let CallError::Refused(refusal) = told else { panic!("{told}") };
            assert!(refusal.sentence.ends_with(&format!("try again in {wait}")), "{refusal}");
        }
    }
}
