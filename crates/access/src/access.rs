//! Looks up what the decision needs, and asks for it.

use std::sync::Arc;

use docent_types::{Clock, Domain, Project, ProjectId, StoreError};
use thiserror::Error;

use crate::admit::{Action, Credentials, Denial, Principal, admit};
use crate::key::KeyKind;
use crate::ports::{Keys, Projects};
use crate::record::Scope;

/// Why a caller did not get in.
#[derive(Debug, Error)]
pub enum AccessError {
    #[error(transparent)]
    Denied(#[from] Denial),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lets callers in.
#[derive(Debug, Clone)]
pub struct Access {
    keys: Arc<dyn Keys>,
    projects: Arc<dyn Projects>,
    clock: Arc<dyn Clock>,
}

impl Access {
    pub fn new(keys: Arc<dyn Keys>, projects: Arc<dyn Projects>, clock: Arc<dyn Clock>) -> Self {
        Self { keys, projects, clock }
    }

    /// Lets a caller with an admin key in to a project. `project` is what the path says, whatever that is: what is no
    /// name, or names nothing, is answered like a project of somebody else.
    pub async fn agent(
        &self,
        credentials: &Credentials<'_>,
        project: &str,
        need: Scope,
    ) -> Result<(Principal, Project), AccessError> {
        let id = ProjectId::parse(project).ok();
        let find = async || match &id {
            Some(id) => self.projects.by_id(id).await,
            None => Ok(None),
        };
        self.enter(credentials, KeyKind::Admin, need, find).await
    }

    /// Lets a caller with an assistant key in to the project of a domain, which the path says in the same way.
    pub async fn assistant(
        &self,
        credentials: &Credentials<'_>,
        domain: &str,
        need: Scope,
    ) -> Result<(Principal, Project), AccessError> {
        let domain = Domain::parse(domain).ok();
        let find = async || match &domain {
            Some(domain) => self.projects.by_domain(domain).await,
            None => Ok(None),
        };
        self.enter(credentials, KeyKind::Assistant, need, find).await
    }

    async fn enter(
        &self,
        credentials: &Credentials<'_>,
        kind: KeyKind,
        need: Scope,
        find: impl AsyncFnOnce() -> Result<Option<Project>, StoreError>,
    ) -> Result<(Principal, Project), AccessError> {
        // Who shows nothing that could be a key costs no look into the store.
        let hash = credentials.key()?.hash();
        let record = self.keys.by_hash(&hash).await?;
        let project = find().await?;
        let action = Action { kind, need, project: project.as_ref().map(|project| &project.id) };
        let principal = admit(record.as_ref(), credentials, &action, self.clock.now())?;
        match project {
            Some(project) => Ok((principal, project)),
            None => Err(Denial::OtherProject { need: kind }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{ManualClock, RefusalKind, Timestamp};

    use super::*;
    use crate::conformance::{sample_key, sample_project};
    use crate::key::Key;
    use crate::memory::MemoryAccess;
    use crate::record::LIFETIME;

    struct House {
        access: Access,
        store: Arc<MemoryAccess>,
        clock: ManualClock,
    }

    async fn house() -> House {
        let store = Arc::new(MemoryAccess::new());
        for name in ["acme", "other"] {
            let mut project = sample_project(name);
            project.domain = Domain::parse(&format!("{name}-docs")).expect("a name");
            store.add(project).await.expect("the project is added");
        }
        let clock = ManualClock::at(Timestamp::from_millis(1_795_000_000_000));
        let access = Access::new(Arc::clone(&store) as _, Arc::clone(&store) as _, Arc::new(clock.clone()));
        House { access, store, clock }
    }

    impl House {
        async fn key(&self, kind: KeyKind) -> Key {
            let grant = crate::record::Grant::new(kind, ProjectId::parse("acme").expect("a name"), self.clock.now());
            let (key, record) =
                crate::record::mint(grant, self.clock.now(), crate::system_randomness).expect("randomness");
            self.store.insert(record).await.expect("the key is added");
            key
        }

        async fn agent(&self, key: &Key, project: &str) -> Result<Project, Option<RefusalKind>> {
            let header = format!("Bearer {}", key.expose());
            let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
            kind_of(self.access.agent(&credentials, project, Scope::Write).await)
        }

        async fn assistant(&self, key: &Key, domain: &str) -> Result<Project, Option<RefusalKind>> {
            let header = format!("Bearer {}", key.expose());
            let credentials = Credentials { authorization: Some(header.as_bytes()), ..Credentials::default() };
            kind_of(self.access.assistant(&credentials, domain, Scope::Write).await)
        }
    }

    fn kind_of(result: Result<(Principal, Project), AccessError>) -> Result<Project, Option<RefusalKind>> {
        match result {
            Ok((_, project)) => Ok(project),
            Err(AccessError::Denied(denial)) => Err(Some(denial.kind())),
            Err(AccessError::Store(_)) => Err(None),
        }
    }

    const FORBIDDEN: Option<RefusalKind> = Some(RefusalKind::Forbidden);
    const UNKNOWN: Option<RefusalKind> = Some(RefusalKind::Unauthenticated);

    #[tokio::test]
    async fn a_key_opens_its_own_project_and_no_other_door() {
        let house = house().await;
        let admin = house.key(KeyKind::Admin).await;
        let assistant = house.key(KeyKind::Assistant).await;
        assert_eq!(house.agent(&admin, "acme").await.map(|project| project.id.to_string()), Ok("acme".to_owned()));
        assert_eq!(
            house.assistant(&assistant, "acme-docs").await.map(|project| project.id.to_string()),
            Ok("acme".to_owned())
        );
        for elsewhere in ["other", "nothing", "Not A Name", "", "../acme", "acme-docs"] {
            assert_eq!(house.agent(&admin, elsewhere).await, Err(FORBIDDEN), "{elsewhere}");
        }
        for elsewhere in ["other-docs", "nothing", "Not A Name", "", "acme"] {
            assert_eq!(house.assistant(&assistant, elsewhere).await, Err(FORBIDDEN), "{elsewhere}");
        }
        assert_eq!(house.agent(&assistant, "acme").await, Err(FORBIDDEN));
        assert_eq!(house.assistant(&admin, "acme-docs").await, Err(FORBIDDEN));
    }

    #[tokio::test]
    async fn an_unknown_revoked_or_expired_key_opens_nothing() {
        let house = house().await;
        let (stranger, _) = sample_key("acme", 1);
        assert_eq!(house.agent(&stranger, "acme").await, Err(UNKNOWN));
        assert_eq!(house.agent(&stranger, "nothing").await, Err(UNKNOWN), "a stranger does not learn what exists");
        let key = house.key(KeyKind::Admin).await;
        let id = crate::KeyId::from(&key.hash());
        house.store.revoke(&id, house.clock.now()).await.expect("the store answers");
        assert_eq!(house.agent(&key, "acme").await, Err(UNKNOWN));
        let key = house.key(KeyKind::Admin).await;
        assert!(house.agent(&key, "acme").await.is_ok());
        house.clock.advance(LIFETIME);
        assert_eq!(house.agent(&key, "acme").await, Err(UNKNOWN));
    }

    #[tokio::test]
    async fn a_key_of_a_removed_project_opens_nothing() {
        let house = house().await;
        let key = house.key(KeyKind::Admin).await;
        let acme = ProjectId::parse("acme").expect("a name");
        house.store.remove(&acme, house.clock.now()).await.expect("the store answers");
        assert_eq!(house.agent(&key, "acme").await, Err(UNKNOWN));
    }
}
