//! The port implemented in memory, for tests and experiments.

use async_trait::async_trait;
use docent_types::{StoreError, Timestamp};
use parking_lot::Mutex;

use crate::audit::AuditEntry;
use crate::identity::{Identity, PendingSignIn};
use crate::link::{Link, LinkTarget};
use crate::operator::{Credential, Operator, OperatorId, OperatorName, OperatorRole};
use crate::ports::{LinkUse, OperatorChange, OperatorStore, Redemption, WriteError};
use crate::session::OperatorSession;
use crate::token::TokenHash;

/// Operators in memory, behind one mutex.
#[derive(Debug, Default)]
pub struct MemoryOperators {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    operators: Vec<Operator>,
    links: Vec<Link>,
    sessions: Vec<OperatorSession>,
    pending: Vec<PendingSignIn>,
    audit: Vec<(u64, AuditEntry)>,
    audited: u64,
}

impl MemoryOperators {
    pub fn new() -> Self {
        Self::default()
    }
}

impl State {
    fn operator_mut(&mut self, id: OperatorId) -> Result<&mut Operator, WriteError> {
        self.operators.iter_mut().find(|operator| operator.id == id).ok_or(WriteError::NoOperator)
    }

    fn with_identity(&self, identity: &Identity) -> Option<&Operator> {
        let is_same =
            |operator: &&Operator| matches!(&operator.credential, Credential::Identity(one) if one == identity);
        self.operators.iter().find(is_same)
    }

    fn check_name_free(&self, name: &OperatorName, except: OperatorId) -> Result<(), WriteError> {
        match self.operators.iter().find(|operator| operator.name == *name && operator.id != except) {
            Some(other) => Err(WriteError::NameTaken(other.name.clone())),
            None => Ok(()),
        }
    }

    fn check_owner_remains(&self, id: OperatorId) -> Result<(), WriteError> {
        let owns = |operator: &&Operator| operator.role == OperatorRole::Owner;
        let is_owner = self.operators.iter().filter(owns).any(|operator| operator.id == id);
        let has_other_owner = self.operators.iter().filter(owns).any(|operator| operator.id != id);
        if is_owner && !has_other_owner { Err(WriteError::LastOwner) } else { Ok(()) }
    }

    /// Ends sessions and withdraws links, after the password was changed or the operator removed.
    fn end_access(&mut self, id: OperatorId, except: Option<&TokenHash>) {
        self.sessions.retain(|session| session.operator != id || Some(&session.hash) == except);
        self.links.retain(|link| ![LinkTarget::Reset(id), LinkTarget::SignIn(id)].contains(&link.target));
    }
}

#[async_trait]
impl OperatorStore for MemoryOperators {
    async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        Ok(self.state.lock().operators.clone())
    }

    async fn by_id(&self, id: OperatorId) -> Result<Option<Operator>, StoreError> {
        Ok(self.state.lock().operators.iter().find(|operator| operator.id == id).cloned())
    }

    async fn by_name(&self, name: &OperatorName) -> Result<Option<Operator>, StoreError> {
        Ok(self.state.lock().operators.iter().find(|operator| operator.name == *name).cloned())
    }

    async fn by_identity(&self, identity: &Identity) -> Result<Option<Operator>, StoreError> {
        Ok(self.state.lock().with_identity(identity).cloned())
    }

    async fn change(&self, id: OperatorId, change: OperatorChange) -> Result<Operator, WriteError> {
        let mut state = self.state.lock();
        state.operator_mut(id)?;
        match change {
            OperatorChange::Name(name) => {
                state.check_name_free(&name, id)?;
                state.operator_mut(id)?.name = name;
            }
            OperatorChange::Role(role) => {
                if role != OperatorRole::Owner {
                    state.check_owner_remains(id)?;
                }
                state.operator_mut(id)?.role = role;
            }
            OperatorChange::Password { password, except } => {
                state.operator_mut(id)?.credential = Credential::Password(password);
                state.end_access(id, Some(&except));
            }
        }
        state.operator_mut(id).cloned()
    }

    async fn remove(&self, id: OperatorId) -> Result<Operator, WriteError> {
        let mut state = self.state.lock();
        let removed = state.operator_mut(id)?.clone();
        state.check_owner_remains(id)?;
        state.end_access(id, None);
        state.operators.retain(|operator| operator.id != id);
        Ok(removed)
    }

    async fn add_link(&self, link: Link) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        if let LinkTarget::Reset(id) | LinkTarget::SignIn(id) = link.target {
            state.operator_mut(id)?;
        }
        state.links.push(link);
        Ok(())
    }

    async fn link(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<Link>, StoreError> {
        Ok(self.state.lock().links.iter().find(|link| link.hash == *hash && link.expires_at > now).cloned())
    }

    async fn links(&self, now: Timestamp) -> Result<Vec<Link>, StoreError> {
        Ok(self.state.lock().links.iter().filter(|link| link.expires_at > now).cloned().collect())
    }

    async fn remove_link(&self, hash: &TokenHash) -> Result<bool, StoreError> {
        Ok(self.state.lock().links.extract_if(.., |link| link.hash == *hash).count() > 0)
    }

    async fn redeem(&self, redemption: Redemption) -> Result<Operator, WriteError> {
        let mut state = self.state.lock();
        let Redemption { link, link_use, session } = redemption;
        let now = session.created_at;
        if !state.links.iter().any(|known| known.hash == link && known.expires_at > now) {
            return Err(WriteError::NoLink);
        }
        let id = match link_use {
            LinkUse::New(operator) => {
                state.check_name_free(&operator.name, operator.id)?;
                let id = operator.id;
                state.operators.push(operator);
                id
            }
            LinkUse::Reset { operator, password } => {
                state.operator_mut(operator)?.credential = Credential::Password(password);
                state.end_access(operator, None);
                operator
            }
            LinkUse::SignIn(operator) => state.operator_mut(operator)?.id,
        };
        state.links.retain(|known| known.hash != link);
        state.sessions.push(session);
        let operator = state.operator_mut(id)?;
        operator.last_seen_at = Some(now);
        Ok(operator.clone())
    }

    async fn sign_in_by_identity(
        &self,
        operator: Operator,
        mut session: OperatorSession,
    ) -> Result<Operator, WriteError> {
        let mut state = self.state.lock();
        let known = match &operator.credential {
            Credential::Identity(identity) => state.with_identity(identity).map(|known| known.id),
            Credential::Password(_) => None,
        };
        let (id, role) = (known.unwrap_or(operator.id), operator.role);
        if known.is_none() {
            state.check_name_free(&operator.name, operator.id)?;
            state.operators.push(operator);
        }
        session.operator = id;
        let operator = state.operator_mut(id)?;
        (operator.role, operator.last_seen_at) = (role, Some(session.seen_at));
        let operator = operator.clone();
        state.sessions.push(session);
        Ok(operator)
    }

    async fn add_pending(&self, pending: PendingSignIn, keep: usize) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        state.pending.push(pending);
        state.pending.sort_by_key(|pending| pending.expires_at);
        let surplus = state.pending.len().saturating_sub(keep);
        state.pending.drain(..surplus);
        Ok(())
    }

    async fn take_pending(&self, hash: &TokenHash) -> Result<Option<PendingSignIn>, StoreError> {
        Ok(self.state.lock().pending.extract_if(.., |pending| pending.hash() == *hash).next())
    }

    async fn add_session(&self, session: OperatorSession) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        state.operator_mut(session.operator)?.last_seen_at = Some(session.seen_at);
        state.sessions.push(session);
        Ok(())
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<(OperatorSession, Operator)>, StoreError> {
        let state = self.state.lock();
        let Some(session) = state.sessions.iter().find(|session| session.hash == *hash) else { return Ok(None) };
        let owner = state.operators.iter().find(|operator| operator.id == session.operator);
        Ok(owner.map(|operator| (session.clone(), operator.clone())))
    }

    async fn touch_session(
        &self,
        hash: &TokenHash,
        seen_at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        let Some(session) = state.sessions.iter_mut().find(|session| session.hash == *hash) else { return Ok(()) };
        (session.seen_at, session.expires_at) = (seen_at, expires_at);
        let id = session.operator;
        if let Ok(operator) = state.operator_mut(id) {
            operator.last_seen_at = operator.last_seen_at.max(Some(seen_at));
        }
        Ok(())
    }

    async fn remove_session(&self, hash: &TokenHash) -> Result<(), StoreError> {
        self.state.lock().sessions.retain(|session| session.hash != *hash);
        Ok(())
    }

    async fn remove_sessions_of(&self, id: OperatorId, except: Option<&TokenHash>) -> Result<(), StoreError> {
        self.state.lock().sessions.retain(|session| session.operator != id || Some(&session.hash) == except);
        Ok(())
    }

    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        let mut state = self.state.lock();
        state.audited += 1;
        let number = state.audited;
        state.audit.push((number, entry));
        Ok(())
    }

    async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<(u64, AuditEntry)>, StoreError> {
        let state = self.state.lock();
        let older = state.audit.iter().rev().filter(|(number, _)| before.is_none_or(|before| *number < before));
        Ok(older.take(limit).cloned().collect())
    }

    async fn forget_expired(
        &self,
        now: Timestamp,
        audited_before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let mut state = self.state.lock();
        let sessions = state.sessions.extract_if(.., |session| session.expires_at <= now).take(limit).count();
        let links = state.links.extract_if(.., |link| link.expires_at <= now).take(limit).count();
        let pending = state.pending.extract_if(.., |pending| pending.expires_at <= now).take(limit).count();
        let entries = state.audit.extract_if(.., |(_, entry)| entry.at < audited_before).take(limit).count();
        Ok(sessions + links + pending + entries)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conformance;

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn keeps_the_promises_of_the_port() {
        conformance::run(|| async { Arc::new(MemoryOperators::new()) }).await;
    }
}
