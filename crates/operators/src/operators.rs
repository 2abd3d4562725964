//! The operations: invite, join, sign in and out, change, remove, and read the audit list.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use docent_access::{AddressRange, CountError, MemoryThrottle, Throttle};
use docent_types::{BoxError, Clock, Ids, Quota, QuotaStatus, StoreError, Timestamp, retry_after_seconds};
use thiserror::Error;

use crate::audit::{AUDIT_KEPT, AuditEntry};
use crate::identity::{
    AuthorizationResponse, GroupRoles, IdentityClaims, IdentityError, IdentityProvider, MAX_PENDING_SIGN_INS,
    PendingSignIn, ProviderSignIn,
};
use crate::link::{LINK_LIFETIME, Link, LinkTarget};
use crate::operator::{Credential, Operator, OperatorId, OperatorName, OperatorRole};
use crate::password::{self, PasswordError, Passwords};
use crate::ports::{LinkUse, OperatorChange, OperatorStore, Redemption, WriteError};
use crate::session::{OperatorSession, SignedIn};
use crate::token::{LinkToken, SessionToken, TokenHash};

const ATTEMPT_WINDOW: Duration = Duration::from_secs(15 * 60);
const MAX_ATTEMPTS_PER_ACCOUNT: u32 = 10;
const MAX_ATTEMPTS_PER_ADDRESS: u32 = 30;
/// Maximum number of rows that are deleted at once, of each kind.
const FORGET_BATCH_ROWS: usize = 500;

/// Why a sign-in or a change of password was refused, or failed.
#[derive(Debug, Error)]
pub enum SignInError {
    #[error("the name or the password is wrong: try again, or ask an owner for a link to set a new password")]
    Wrong,
    #[error("too many attempts: try again in {} s", retry_after.as_secs())]
    TooMany {
        /// In whole seconds, at least 1.
        retry_after: Duration,
    },
    #[error("choose a name to sign in with")]
    NameNeeded,
    #[error("nobody can sign in at an identity provider here: sign in with a password")]
    NoProvider,
    #[error("this sign-in was ended already, began over ten minutes ago, or in another browser: sign in once more")]
    Stale,
    /// With the provider's error code.
    #[error("the identity provider did not sign you in and says `{0}`: try again, or ask who runs it")]
    Declined(String),
    #[error(
        "the identity provider knows you, and none of your groups may sign in here: ask an owner which group to join"
    )]
    NoGroup,
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("could not hash the password")]
    Hash(#[source] BoxError),
}

impl From<StoreError> for SignInError {
    fn from(error: StoreError) -> Self {
        Self::Write(error.into())
    }
}

/// The operators of a server. Clones share the limits of attempts.
#[derive(Debug, Clone)]
pub struct Operators {
    store: Arc<dyn OperatorStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    attempts: Arc<dyn Throttle>,
    passwords: Passwords,
    provider: Option<Arc<ProviderSignIn>>,
}

impl Operators {
    pub fn new(store: Arc<dyn OperatorStore>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        let attempts = Arc::new(MemoryThrottle::new());
        Self { store, clock, ids, attempts, passwords: Passwords::new(), provider: None }
    }

    /// Counts attempts here, in place of the memory of this process.
    #[must_use]
    pub fn with_throttle(mut self, throttle: Arc<dyn Throttle>) -> Self {
        self.attempts = throttle;
        self
    }

    /// Lets people sign in at an identity provider, too.
    #[must_use]
    pub fn with_provider(mut self, provider: Arc<dyn IdentityProvider>, roles: GroupRoles) -> Self {
        self.provider = Some(Arc::new(ProviderSignIn { provider, roles }));
        self
    }

    /// The identity provider, if one is configured.
    pub fn provider(&self) -> Option<&dyn IdentityProvider> {
        self.provider.as_ref().map(|sign_in| &*sign_in.provider)
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether there is any operator.
    pub async fn has_any(&self) -> Result<bool, StoreError> {
        Ok(!self.store.operators().await?.is_empty())
    }

    /// All operators, oldest first.
    pub async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        self.store.operators().await
    }

    pub async fn operator(&self, id: OperatorId) -> Result<Option<Operator>, StoreError> {
        self.store.by_id(id).await
    }

    pub async fn operator_named(&self, name: &OperatorName) -> Result<Option<Operator>, StoreError> {
        self.store.by_name(name).await
    }

    /// Makes an invitation link for a new operator. Without a name, the person chooses one.
    pub async fn invite(&self, name: Option<OperatorName>, role: OperatorRole) -> Result<LinkToken, WriteError> {
        if let Some(name) = &name
            && let Some(other) = self.store.by_name(name).await?
        {
            return Err(WriteError::NameTaken(other.name));
        }
        self.add_link(LinkTarget::New { name, role }).await
    }

    /// Makes a link with which an operator sets a new password.
    pub async fn reset_link(&self, id: OperatorId) -> Result<LinkToken, WriteError> {
        self.check_has_password(id).await?;
        self.add_link(LinkTarget::Reset(id)).await
    }

    /// Makes a link that signs in an operator of this name without a password, but only from a loopback address. If
    /// there is no such operator, creates an owner with a random password, which nobody knows.
    pub async fn sign_in_link(&self, name: OperatorName) -> Result<LinkToken, SignInError> {
        let id = match self.store.by_name(&name).await? {
            Some(operator) => operator.id,
            None => {
                let (link, password) = (self.invite(Some(name), OperatorRole::Owner).await?, SessionToken::random()?);
                let here = IpAddr::from([127, 0, 0, 1]);
                let (_, who) = self.redeem(link.expose(), None, password.expose(), here).await?;
                self.sign_out(&who).await?;
                who.operator.id
            }
        };
        Ok(self.add_link(LinkTarget::SignIn(id)).await?)
    }

    async fn check_has_password(&self, id: OperatorId) -> Result<(), WriteError> {
        let operator = self.store.by_id(id).await?.ok_or(WriteError::NoOperator)?;
        operator.password().map(drop).ok_or(WriteError::ByIdentity(operator.name))
    }

    async fn add_link(&self, target: LinkTarget) -> Result<LinkToken, WriteError> {
        let (token, now) = (LinkToken::random()?, self.now());
        let link = Link { hash: token.hash(), target, created_at: now, expires_at: now.plus(LINK_LIFETIME) };
        self.store.add_link(link).await?;
        Ok(token)
    }

    /// The links that can still be used, oldest first.
    pub async fn links(&self) -> Result<Vec<Link>, StoreError> {
        self.store.links(self.now()).await
    }

    /// Withdraws a link, and returns whether there was one.
    pub async fn withdraw(&self, link: &TokenHash) -> Result<bool, StoreError> {
        self.store.remove_link(link).await
    }

    /// What a link is for, if it can still be used. Does not use it.
    pub async fn peek_link(&self, token: &str) -> Result<Option<LinkTarget>, StoreError> {
        let Some(token) = LinkToken::parse(token) else { return Ok(None) };
        Ok(self.store.link(&token.hash(), self.now()).await?.map(|link| link.target))
    }

    /// Uses a link, and signs in. A refused attempt leaves the link unused. `name` is used only if the link contains no
    /// name, and `password` only if the link is not for signing in at once.
    pub async fn redeem(
        &self,
        token: &str,
        name: Option<OperatorName>,
        password: &str,
        from: IpAddr,
    ) -> Result<(SessionToken, SignedIn), SignInError> {
        self.count_attempt(None, Some(from)).await?;
        let now = self.now();
        let link = LinkToken::parse(token).ok_or(WriteError::NoLink)?.hash();
        let target = self.store.link(&link, now).await?.ok_or(WriteError::NoLink)?.target;
        let (action, link_use) = match target {
            LinkTarget::New { name: given, role } => {
                let name = given.or(name).ok_or(SignInError::NameNeeded)?;
                password::check(password, &name)?;
                if let Some(other) = self.store.by_name(&name).await? {
                    return Err(WriteError::NameTaken(other.name).into());
                }
                let password = self.passwords.hash(password).await.map_err(SignInError::Hash)?;
                let id = OperatorId::new(self.ids.ordered(now));
                let credential = Credential::Password(password);
                let operator = Operator { id, name, role, credential, created_at: now, last_seen_at: None };
                ("operator.join", LinkUse::New(operator))
            }
            LinkTarget::Reset(id) => {
                let operator = self.store.by_id(id).await?.ok_or(WriteError::NoLink)?;
                password::check(password, &operator.name)?;
                let password = self.passwords.hash(password).await.map_err(SignInError::Hash)?;
                ("operator.password", LinkUse::Reset { operator: id, password })
            }
            LinkTarget::SignIn(id) if from.to_canonical().is_loopback() => ("sign_in", LinkUse::SignIn(id)),
            LinkTarget::SignIn(_) => return Err(WriteError::NoLink.into()),
        };
        let (id, credential) = match &link_use {
            LinkUse::New(operator) => (operator.id, operator.credential.clone()),
            LinkUse::Reset { operator, password } => (*operator, Credential::Password(password.clone())),
            LinkUse::SignIn(id) => (*id, self.store.by_id(*id).await?.ok_or(WriteError::NoLink)?.credential),
        };
        let token = SessionToken::random()?;
        let session = OperatorSession::begin(&token, id, &credential, now);
        let operator = self.store.redeem(Redemption { link, link_use, session }).await?;
        self.audit_own(&operator.name, action, None, Some(from)).await?;
        Ok(signed_in(token, operator))
    }

    /// Signs in with name and password. An unknown name takes as long as a known one.
    pub async fn sign_in(
        &self,
        name: &str,
        password: &str,
        from: IpAddr,
    ) -> Result<(SessionToken, SignedIn), SignInError> {
        let name = OperatorName::parse(name).ok();
        self.count_attempt(name.as_ref(), Some(from)).await?;
        let known = match &name {
            Some(name) => self.store.by_name(name).await?,
            None => None,
        };
        let is_right = self.passwords.verify(password, known.as_ref().and_then(Operator::password)).await;
        let is_right = is_right.map_err(SignInError::Hash)?;
        // Attempts with unknown names are not audited: people sometimes type a password there.
        let Some(operator) = known else { return Err(SignInError::Wrong) };
        if !is_right {
            self.audit_own(&operator.name, "sign_in.failed", None, Some(from)).await?;
            return Err(SignInError::Wrong);
        }
        let token = SessionToken::random()?;
        let session = OperatorSession::begin(&token, operator.id, &operator.credential, self.now());
        self.store.add_session(session).await?;
        self.audit_own(&operator.name, "sign_in", None, Some(from)).await?;
        Ok(signed_in(token, operator))
    }

    /// Begins a sign-in at the identity provider; returns the address to send the browser to. `browser` is a secret of
    /// that browser, and `return_path` is the path to go to afterwards.
    pub async fn begin_at_provider(
        &self,
        browser: &str,
        return_path: &str,
        from: IpAddr,
    ) -> Result<String, SignInError> {
        let sign_in = self.provider.as_ref().ok_or(SignInError::NoProvider)?;
        self.count_attempt(None, Some(from)).await?;
        let request = sign_in.provider.begin().await?;
        let url = request.url.clone();
        let pending = PendingSignIn::begin(request, browser, return_path, self.now());
        self.store.add_pending(pending, MAX_PENDING_SIGN_INS).await?;
        Ok(url)
    }

    /// Completes a sign-in at the identity provider, in the role that the person's groups give. Also returns the path
    /// to go to.
    pub async fn return_from_provider(
        &self,
        browser: &str,
        response: AuthorizationResponse,
        from: IpAddr,
    ) -> Result<(SessionToken, SignedIn, String), SignInError> {
        let sign_in = self.provider.as_ref().ok_or(SignInError::NoProvider)?;
        let now = self.now();
        let pending = self.store.take_pending(&TokenHash::of(&response.state)).await?;
        let pending = pending.filter(|pending| pending.is_of(browser, now)).ok_or(SignInError::Stale)?;
        let provider = &sign_in.provider;
        if response.issuer.is_some_and(|issuer| issuer != provider.issuer()) {
            return Err(IdentityError::Unproven("the browser returned from another issuer".into()).into());
        }
        let code = response.code.map_err(SignInError::Declined)?;
        let claims = provider.identify(code, &pending.request).await?;
        let known = self.store.by_identity(&claims.identity).await?;
        let name = match &known {
            Some(operator) => operator.name.clone(),
            None => self.free_name(&claims).await?,
        };
        let at = Some(format!("at {}", provider.issuer()));
        let Some(role) = sign_in.roles.role_of(&claims.groups) else {
            if let Some(operator) = known {
                self.store.remove_sessions_of(operator.id, None).await?;
            }
            self.audit_own(&name, "sign_in.refused", at, Some(from)).await?;
            return Err(SignInError::NoGroup);
        };
        let token = SessionToken::random()?;
        let (id, credential) = (OperatorId::new(self.ids.ordered(now)), Credential::Identity(claims.identity));
        let session = OperatorSession::begin(&token, id, &credential, now);
        let operator = Operator { id, name, role, credential, created_at: now, last_seen_at: None };
        let operator = self.store.sign_in_by_identity(operator, session).await?;
        match known {
            None => self.audit_own(&operator.name, "operator.join", Some(role.to_string()), Some(from)).await?,
            Some(before) if before.role != role => {
                self.audit_own(&operator.name, "operator.role", Some(role.to_string()), Some(from)).await?;
            }
            Some(_) => {}
        }
        self.audit_own(&operator.name, "sign_in", at, Some(from)).await?;
        let (token, who) = signed_in(token, operator);
        Ok((token, who, pending.return_path))
    }

    /// A free name for a new operator: the provider's name for the person, with a number if another operator has that
    /// name.
    async fn free_name(&self, claims: &IdentityClaims) -> Result<OperatorName, StoreError> {
        let base_name = claims.names.iter().find_map(|name| OperatorName::parse(name).ok());
        let base_name = base_name.map_or_else(|| "somebody".to_owned(), |name| name.as_str().to_owned());
        let mut names = OperatorName::numbered(&base_name);
        loop {
            match names.next() {
                Some(name) if self.store.by_name(&name).await?.is_none() => return Ok(name),
                _ => {}
            }
        }
    }

    /// The operator and the session of a token, unless the session has expired. Stores the time of use, at most once a
    /// minute.
    pub async fn signed_in(&self, token: &str) -> Result<Option<SignedIn>, StoreError> {
        let Some(token) = SessionToken::parse(token) else { return Ok(None) };
        let (hash, now) = (token.hash(), self.now());
        let found = self.store.session(&hash).await?.filter(|(session, _)| !session.is_expired(now));
        let Some((session, operator)) = found else { return Ok(None) };
        if let Some(expires_at) = session.renewed_expiry(&operator.credential, now) {
            self.store.touch_session(&hash, now, expires_at).await?;
        }
        Ok(Some(signed_in(token, operator).1))
    }

    /// Whether a session goes on, with the same role. Asking does not count as a request, so it does not keep the
    /// session alive: for what is streamed after the request that began it.
    pub async fn is_still_signed_in(&self, who: &SignedIn) -> Result<bool, StoreError> {
        let found = self.store.session(&who.session).await?;
        Ok(found
            .is_some_and(|(session, operator)| !session.is_expired(self.now()) && operator.role == who.operator.role))
    }

    /// Ends one session.
    pub async fn sign_out(&self, who: &SignedIn) -> Result<(), StoreError> {
        self.store.remove_session(&who.session).await
    }

    /// Ends all sessions of an operator.
    pub async fn sign_out_everywhere(&self, id: OperatorId) -> Result<(), StoreError> {
        self.store.remove_sessions_of(id, None).await
    }

    /// Changes the password of an operator who knows the old one, and ends all other sessions.
    pub async fn change_password(&self, who: &SignedIn, old: &str, new: &str) -> Result<(), SignInError> {
        let operator = &who.operator;
        self.check_has_password(operator.id).await?;
        self.count_attempt(Some(&operator.name), None).await?;
        password::check(new, &operator.name)?;
        if !self.passwords.verify(old, operator.password()).await.map_err(SignInError::Hash)? {
            return Err(SignInError::Wrong);
        }
        let password = self.passwords.hash(new).await.map_err(SignInError::Hash)?;
        self.store.change(operator.id, OperatorChange::Password { password, except: who.session }).await?;
        Ok(self.audit_own(&operator.name, "operator.password", None, None).await?)
    }

    /// Refused if it would leave no owner, or if the operator signs in at the identity provider.
    pub async fn set_role(&self, id: OperatorId, role: OperatorRole) -> Result<Operator, WriteError> {
        self.check_has_password(id).await?;
        self.store.change(id, OperatorChange::Role(role)).await
    }

    pub async fn rename(&self, id: OperatorId, name: OperatorName) -> Result<Operator, WriteError> {
        self.store.change(id, OperatorChange::Name(name)).await
    }

    /// Removes an operator with all sessions and links. Refused if it would leave no owner.
    pub async fn remove(&self, id: OperatorId) -> Result<Operator, WriteError> {
        self.store.remove(id).await
    }

    /// Adds to the audit list. The methods for signing in, joining and changing one's own password add their entries
    /// themselves; all other entries are added by callers.
    pub async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.store.audit(entry).await
    }

    /// Entries of the audit list with their numbers, newest first: those before the number `before`, or the newest
    /// ones.
    pub async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<(u64, AuditEntry)>, StoreError> {
        self.store.audited(before, limit).await
    }

    /// Deletes expired sessions, links and sign-ins at the provider, and audit entries that are more than a year old. Returns the number of
    /// deleted rows; 0 means that there are no more.
    pub async fn forget_expired(&self) -> Result<usize, StoreError> {
        let now = self.now();
        self.store.forget_expired(now, now.minus(AUDIT_KEPT), FORGET_BATCH_ROWS).await
    }

    async fn audit_own(
        &self,
        who: &OperatorName,
        action: &str,
        detail: Option<String>,
        address: Option<IpAddr>,
    ) -> Result<(), StoreError> {
        let entry = AuditEntry {
            at: self.now(),
            operator: Some(who.clone()),
            action: action.to_owned(),
            project: None,
            subject: who.as_str().to_owned(),
            detail,
            address,
        };
        self.audit(entry).await
    }

    /// Counts an attempt, before any password is hashed.
    async fn count_attempt(&self, name: Option<&OperatorName>, from: Option<IpAddr>) -> Result<(), SignInError> {
        let quota = |bucket, limit| Quota { bucket, limit, window: ATTEMPT_WINDOW };
        let of_account = name.map(|name| quota(format!("sign-in:{}", name.folded()), MAX_ATTEMPTS_PER_ACCOUNT));
        let of_address =
            from.map(|ip| quota(format!("sign-in-from:{}", AddressRange::of_caller(ip)), MAX_ATTEMPTS_PER_ADDRESS));
        let quotas: Vec<Quota> = of_account.into_iter().chain(of_address).collect();
        match self.attempts.count(&quotas, self.now()).await {
            Ok(_) => Ok(()),
            Err(CountError::Limited(QuotaStatus { retry_after, .. })) => {
                let retry_after = Duration::from_secs(retry_after_seconds(retry_after));
                Err(SignInError::TooMany { retry_after })
            }
            Err(CountError::Store(error)) => Err(error.into()),
        }
    }
}

fn signed_in(token: SessionToken, operator: Operator) -> (SessionToken, SignedIn) {
    let who = SignedIn { operator, session: token.hash(), csrf: token.csrf() };
    (token, who)
}
