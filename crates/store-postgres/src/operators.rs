//! Operators, their links and sessions, and the audit list.

use async_trait::async_trait;
use docent_operators::{
    AuditEntry, Credential, Identity, Link, LinkTarget, LinkUse, Operator, OperatorChange, OperatorId, OperatorName,
    OperatorRole, OperatorSession, OperatorStore, PasswordHash, PendingSignIn, Redemption, TokenHash, WriteError,
};
use docent_types::{BoxError, StoreError, Timestamp};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Abort;
use crate::params::{Param, params};
use crate::postgres::PostgresStore;
use crate::text::storable;
use crate::transaction::Transaction;

/// The columns that [`operator`] reads, from the first.
const OPERATOR: &str = "operators.id, name, role, password, operators.created_at, last_seen_at, issuer, subject";
const LINK: &str = "hash, target, created_at, expires_at";

type Refusal = Abort<WriteError>;

#[async_trait]
impl OperatorStore for PostgresStore {
    async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        self.read("list the operators", |transaction| async move {
            let select = format!("SELECT {OPERATOR} FROM operators ORDER BY created_at, n");
            transaction.query(&select, &[]).await?.iter().map(operator).collect()
        })
        .await
    }

    async fn by_id(&self, id: OperatorId) -> Result<Option<Operator>, StoreError> {
        let find = move |transaction| async move { find(&transaction, "id = $1", params![id.uuid()]).await };
        self.read("look up the operator", find).await
    }

    async fn by_name(&self, name: &OperatorName) -> Result<Option<Operator>, StoreError> {
        let folded = name.folded();
        let find = |transaction| async move { find(&transaction, "folded = $1", params![folded]).await };
        self.read("look up the operator", find).await
    }

    async fn by_identity(&self, identity: &Identity) -> Result<Option<Operator>, StoreError> {
        let identity = identity.clone();
        let find = |transaction| async move { find_identity(&transaction, &identity).await };
        self.read("look up the operator", find).await
    }

    async fn change(&self, id: OperatorId, change: OperatorChange) -> Result<Operator, WriteError> {
        self.write("change the operator", move |transaction| async move {
            lock(&transaction).await?;
            require(&transaction, id).await?;
            match change {
                OperatorChange::Name(name) => {
                    check_name_free(&transaction, &name, id).await?;
                    let update = "UPDATE operators SET name = $2, folded = $3 WHERE id = $1";
                    transaction.execute(update, params![id.uuid(), name.as_str(), name.folded()]).await?;
                }
                OperatorChange::Role(role) => {
                    if role != OperatorRole::Owner {
                        check_owner_remains(&transaction, id).await?;
                    }
                    set_role(&transaction, id, role).await?;
                }
                OperatorChange::Password { password, except } => {
                    set_password(&transaction, id, &password, Some(&except)).await?;
                }
            }
            require(&transaction, id).await
        })
        .await
    }

    async fn remove(&self, id: OperatorId) -> Result<Operator, WriteError> {
        self.write("remove the operator", move |transaction| async move {
            lock(&transaction).await?;
            let removed = require(&transaction, id).await?;
            check_owner_remains(&transaction, id).await?;
            transaction.execute("DELETE FROM operators WHERE id = $1", params![id.uuid()]).await?;
            Ok(removed)
        })
        .await
    }

    async fn add_link(&self, link: Link) -> Result<(), WriteError> {
        self.write("add the link", move |transaction| async move {
            let operator = match &link.target {
                LinkTarget::New { .. } => None,
                LinkTarget::Reset(id) | LinkTarget::SignIn(id) => {
                    lock(&transaction).await?;
                    Some(require(&transaction, *id).await?.id.uuid())
                }
            };
            let insert = "INSERT INTO operator_links (hash, operator, target, created_at, expires_at)
                          VALUES ($1, $2, $3, $4, $5)";
            let (target, created_at) = (serde_json::to_string(&link.target)?, link.created_at.millis());
            transaction
                .execute(insert, params![bytes(&link.hash), operator, target, created_at, link.expires_at.millis()])
                .await?;
            Ok(())
        })
        .await
    }

    async fn link(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<Link>, StoreError> {
        let hash = *hash;
        self.read("look up the link", move |transaction| async move {
            let select = format!("SELECT {LINK} FROM operator_links WHERE hash = $1 AND expires_at > $2");
            let found = transaction.query_opt(&select, params![bytes(&hash), now.millis()]).await?;
            found.as_ref().map(link).transpose()
        })
        .await
    }

    async fn links(&self, now: Timestamp) -> Result<Vec<Link>, StoreError> {
        self.read("list the links", move |transaction| async move {
            let select = format!("SELECT {LINK} FROM operator_links WHERE expires_at > $1 ORDER BY created_at, n");
            transaction.query(&select, params![now.millis()]).await?.iter().map(link).collect()
        })
        .await
    }

    async fn remove_link(&self, hash: &TokenHash) -> Result<bool, StoreError> {
        let hash = *hash;
        self.write("withdraw the link", move |transaction| async move {
            let delete = "DELETE FROM operator_links WHERE hash = $1";
            Ok::<_, Abort<StoreError>>(transaction.execute(delete, params![bytes(&hash)]).await? > 0)
        })
        .await
    }

    async fn redeem(&self, redemption: Redemption) -> Result<Operator, WriteError> {
        self.write("use the link", move |transaction| async move {
            let Redemption { link, link_use, session } = redemption;
            lock(&transaction).await?;
            let delete = "DELETE FROM operator_links WHERE hash = $1 AND expires_at > $2";
            let used = transaction.execute(delete, params![bytes(&link), session.created_at.millis()]).await?;
            if used == 0 {
                return Err(Abort::Refused(WriteError::NoLink));
            }
            let id = match link_use {
                LinkUse::New(operator) => {
                    check_name_free(&transaction, &operator.name, operator.id).await?;
                    insert(&transaction, &operator).await?;
                    operator.id
                }
                LinkUse::Reset { operator, password } => {
                    require(&transaction, operator).await?;
                    set_password(&transaction, operator, &password, None).await?;
                    operator
                }
                LinkUse::SignIn(operator) => operator,
            };
            insert_session(&transaction, &session).await?;
            require(&transaction, id).await
        })
        .await
    }

    async fn sign_in_by_identity(
        &self,
        operator: Operator,
        mut session: OperatorSession,
    ) -> Result<Operator, WriteError> {
        self.write("sign in by an identity", move |transaction| async move {
            lock(&transaction).await?;
            let known = match &operator.credential {
                Credential::Identity(identity) => find_identity(&transaction, identity).await?,
                Credential::Password(_) => None,
            };
            session.operator = match known {
                Some(known) => known.id,
                None => {
                    check_name_free(&transaction, &operator.name, operator.id).await?;
                    insert(&transaction, &operator).await?;
                    operator.id
                }
            };
            set_role(&transaction, session.operator, operator.role).await?;
            insert_session(&transaction, &session).await?;
            require(&transaction, session.operator).await
        })
        .await
    }

    async fn add_pending(&self, pending: PendingSignIn, keep: usize) -> Result<(), StoreError> {
        self.write_in_order("begin the sign-in", move |transaction| async move {
            let insert = "INSERT INTO operator_sign_ins (hash, expires_at, body) VALUES ($1, $2, $3)";
            let (hash, body) = (pending.hash(), serde_json::to_string(&pending)?);
            transaction.execute(insert, params![bytes(&hash), pending.expires_at.millis(), body]).await?;
            let delete = "DELETE FROM operator_sign_ins WHERE hash IN (
                              SELECT hash FROM operator_sign_ins ORDER BY expires_at DESC OFFSET $1
                          )";
            let keep = i64::try_from(keep).unwrap_or(i64::MAX);
            transaction.execute(delete, params![keep]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn take_pending(&self, hash: &TokenHash) -> Result<Option<PendingSignIn>, StoreError> {
        let hash = *hash;
        self.write("take up the sign-in", move |transaction| async move {
            let delete = "DELETE FROM operator_sign_ins WHERE hash = $1 RETURNING body";
            let Some(row) = transaction.execute_opt(delete, params![bytes(&hash)]).await? else { return Ok(None) };
            Ok::<_, Abort<StoreError>>(Some(serde_json::from_str(row.try_get(0)?)?))
        })
        .await
    }

    async fn add_session(&self, session: OperatorSession) -> Result<(), WriteError> {
        self.write("begin the session", move |transaction| async move {
            // Locked, so that the operator is not removed meanwhile.
            let known = "SELECT 1 FROM operators WHERE id = $1 FOR UPDATE";
            if transaction.query_opt(known, params![session.operator.uuid()]).await?.is_none() {
                return Err(Abort::Refused(WriteError::NoOperator));
            }
            insert_session(&transaction, &session).await
        })
        .await
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<(OperatorSession, Operator)>, StoreError> {
        let hash = *hash;
        self.read("look up the session", move |transaction| async move {
            let select = format!(
                "SELECT {OPERATOR}, operator_sessions.created_at, seen_at, expires_at
                 FROM operator_sessions JOIN operators ON operators.id = operator WHERE hash = $1"
            );
            let Some(row) = transaction.query_opt(&select, params![bytes(&hash)]).await? else { return Ok(None) };
            let at = |column: usize| row.try_get(column).map(Timestamp::from_millis);
            let (created_at, seen_at, expires_at) = (at(8)?, at(9)?, at(10)?);
            let operator = operator(&row)?;
            Ok(Some((OperatorSession { hash, operator: operator.id, created_at, seen_at, expires_at }, operator)))
        })
        .await
    }

    async fn touch_session(
        &self,
        hash: &TokenHash,
        seen_at: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = *hash;
        self.write_in_order("keep when the session was seen", move |transaction| async move {
            let select = "SELECT operator FROM operator_sessions WHERE hash = $1";
            let Some(row) = transaction.query_opt(select, params![bytes(&hash)]).await? else { return Ok(()) };
            // The operator first, as those do who end sessions.
            update_last_seen(&transaction, row.try_get(0)?, seen_at).await?;
            let update = "UPDATE operator_sessions SET seen_at = $2, expires_at = $3 WHERE hash = $1";
            transaction.execute(update, params![bytes(&hash), seen_at.millis(), expires_at.millis()]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn remove_session(&self, hash: &TokenHash) -> Result<(), StoreError> {
        let hash = *hash;
        self.write("end the session", move |transaction| async move {
            let delete = "DELETE FROM operator_sessions WHERE hash = $1";
            transaction.execute(delete, params![bytes(&hash)]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn remove_sessions_of(&self, id: OperatorId, except: Option<&TokenHash>) -> Result<(), StoreError> {
        let except = except.copied();
        self.write("end the sessions", move |transaction| async move {
            Ok::<_, Abort<StoreError>>(end_sessions(&transaction, id, except.as_ref()).await?)
        })
        .await
    }

    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.write("add to the audit list", move |transaction| async move {
            let body = serde_json::to_string(&entry)?;
            let insert = "INSERT INTO audit (at, body) VALUES ($1, $2)";
            transaction.execute(insert, params![entry.at.millis(), body]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<(u64, AuditEntry)>, StoreError> {
        self.read("read the audit list", move |transaction| async move {
            let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let select = "SELECT n, body FROM audit WHERE n < $1 ORDER BY n DESC LIMIT $2";
            let rows = transaction.query(select, params![before, limit]).await?;
            let entry =
                |row: &Row| Ok((u64::try_from(row.try_get::<_, i64>(0)?)?, serde_json::from_str(row.try_get(1)?)?));
            rows.iter().map(entry).collect()
        })
        .await
    }

    async fn forget_expired(
        &self,
        now: Timestamp,
        audited_before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.write_in_order("forget what is over", move |transaction| async move {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut forgotten = 0;
            for (table, id, condition, before) in [
                ("operator_sessions", "hash", "expires_at <= $1", now),
                ("operator_links", "hash", "expires_at <= $1", now),
                ("operator_sign_ins", "hash", "expires_at <= $1", now),
                ("audit", "n", "at < $1", audited_before),
            ] {
                let delete = format!(
                    "DELETE FROM {table} WHERE {id} IN (
                         SELECT {id} FROM {table} WHERE {condition} LIMIT $2 FOR UPDATE SKIP LOCKED
                     )"
                );
                forgotten += transaction.execute(&delete, params![before.millis(), limit]).await?;
            }
            Ok::<_, Abort<StoreError>>(usize::try_from(forgotten).unwrap_or(usize::MAX))
        })
        .await
    }
}

/// Changes of operators take place one after another.
async fn lock(transaction: &Transaction) -> Result<(), BoxError> {
    transaction.lock("operators", "").await
}

async fn find(transaction: &Transaction, condition: &str, params: &[Param<'_>]) -> Result<Option<Operator>, BoxError> {
    let select = format!("SELECT {OPERATOR} FROM operators WHERE {condition}");
    transaction.query_opt(&select, params).await?.as_ref().map(operator).transpose()
}

async fn find_identity(transaction: &Transaction, identity: &Identity) -> Result<Option<Operator>, BoxError> {
    find(transaction, "issuer = $1 AND subject = $2", params![storable(&identity.issuer), storable(&identity.subject)])
        .await
}

async fn require(transaction: &Transaction, id: OperatorId) -> Result<Operator, Refusal> {
    let found = find(transaction, "id = $1", params![id.uuid()]).await?;
    found.ok_or(Abort::Refused(WriteError::NoOperator))
}

async fn check_name_free(transaction: &Transaction, name: &OperatorName, except: OperatorId) -> Result<(), Refusal> {
    match find(transaction, "folded = $1", params![name.folded()]).await? {
        Some(other) if other.id != except => Err(Abort::Refused(WriteError::NameTaken(other.name))),
        _ => Ok(()),
    }
}

async fn check_owner_remains(transaction: &Transaction, id: OperatorId) -> Result<(), Refusal> {
    let owners = "SELECT id FROM operators WHERE role = $1";
    let owners = transaction.query(owners, params![OperatorRole::Owner.as_str()]).await?;
    let owners = owners.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Uuid>, _>>()?;
    if owners == [id.uuid()] { Err(Abort::Refused(WriteError::LastOwner)) } else { Ok(()) }
}

async fn set_role(transaction: &Transaction, id: OperatorId, role: OperatorRole) -> Result<(), BoxError> {
    let update = "UPDATE operators SET role = $2 WHERE id = $1";
    transaction.execute(update, params![id.uuid(), role.as_str()]).await.map(drop)
}

async fn insert(transaction: &Transaction, operator: &Operator) -> Result<(), Refusal> {
    let (password, issuer, subject) = match &operator.credential {
        Credential::Password(password) => (password.as_str(), None, None),
        Credential::Identity(Identity { issuer, subject }) => ("", Some(storable(issuer)), Some(storable(subject))),
    };
    let insert = "INSERT INTO operators (id, name, folded, role, password, created_at, last_seen_at, issuer, subject)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    transaction
        .execute(
            insert,
            params![
                operator.id.uuid(),
                operator.name.as_str(),
                operator.name.folded(),
                operator.role.as_str(),
                password,
                operator.created_at.millis(),
                operator.last_seen_at.map(Timestamp::millis),
                issuer,
                subject,
            ],
        )
        .await?;
    Ok(())
}

/// Sets a password instead of any identity at a provider. Withdraws the operator's links, and ends all sessions except
/// `except`.
async fn set_password(
    transaction: &Transaction,
    id: OperatorId,
    password: &PasswordHash,
    except: Option<&TokenHash>,
) -> Result<(), Refusal> {
    let update = "UPDATE operators SET password = $2, issuer = NULL, subject = NULL WHERE id = $1";
    transaction.execute(update, params![id.uuid(), password.as_str()]).await?;
    transaction.execute("DELETE FROM operator_links WHERE operator = $1", params![id.uuid()]).await?;
    Ok(end_sessions(transaction, id, except).await?)
}

async fn end_sessions(transaction: &Transaction, id: OperatorId, except: Option<&TokenHash>) -> Result<(), BoxError> {
    let delete = "DELETE FROM operator_sessions WHERE operator = $1 AND hash IS DISTINCT FROM $2";
    transaction.execute(delete, params![id.uuid(), except.map(bytes)]).await.map(drop)
}

async fn insert_session(transaction: &Transaction, session: &OperatorSession) -> Result<(), Refusal> {
    let OperatorSession { hash, operator, created_at, seen_at, expires_at } = session;
    let insert = "INSERT INTO operator_sessions (hash, operator, created_at, seen_at, expires_at)
                  VALUES ($1, $2, $3, $4, $5)";
    transaction
        .execute(
            insert,
            params![bytes(hash), operator.uuid(), created_at.millis(), seen_at.millis(), expires_at.millis()],
        )
        .await?;
    Ok(update_last_seen(transaction, operator.uuid(), *seen_at).await?)
}

async fn update_last_seen(transaction: &Transaction, operator: Uuid, at: Timestamp) -> Result<(), BoxError> {
    let update = "UPDATE operators SET last_seen_at = greatest(last_seen_at, $2) WHERE id = $1";
    transaction.execute(update, params![operator, at.millis()]).await.map(drop)
}

fn bytes(hash: &TokenHash) -> &[u8] {
    hash.as_bytes()
}

fn operator(row: &Row) -> Result<Operator, BoxError> {
    let role: &str = row.try_get(2)?;
    Ok(Operator {
        id: OperatorId::new(row.try_get(0)?),
        name: OperatorName::parse(row.try_get(1)?)?,
        role: OperatorRole::parse(role).ok_or_else(|| format!("`{role}` is not a role"))?,
        credential: match (row.try_get(6)?, row.try_get(7)?) {
            (Some(issuer), Some(subject)) => Credential::Identity(Identity { issuer, subject }),
            _ => Credential::Password(PasswordHash::from_stored(row.try_get::<_, String>(3)?)),
        },
        created_at: Timestamp::from_millis(row.try_get(4)?),
        last_seen_at: row.try_get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
    })
}

fn link(row: &Row) -> Result<Link, BoxError> {
    let hash: &[u8] = row.try_get(0)?;
    Ok(Link {
        hash: TokenHash::from_bytes(hash.try_into()?),
        target: serde_json::from_str(row.try_get(1)?)?,
        created_at: Timestamp::from_millis(row.try_get(2)?),
        expires_at: Timestamp::from_millis(row.try_get(3)?),
    })
}
