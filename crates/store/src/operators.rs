//! Operators, their links and sessions, and the audit list.

use async_trait::async_trait;
use docent_operators::{
    AuditEntry, Credential, Identity, Link, LinkTarget, LinkUse, Operator, OperatorChange, OperatorId, OperatorName,
    OperatorRole, OperatorSession, OperatorStore, PasswordHash, PendingSignIn, Redemption, TokenHash, WriteError,
};
use docent_types::{BoxError, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, ToSql};
use uuid::Uuid;

use crate::error::Abort;
use crate::sqlite::SqliteStore;

/// The columns that [`operator`] reads, from the first.
const OPERATOR: &str = "operators.id, name, role, password, operators.created_at, last_seen_at, issuer, subject";
const LINK: &str = "hash, target, created_at, expires_at";

type Refusal = Abort<WriteError>;

#[async_trait]
impl OperatorStore for SqliteStore {
    async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        self.read("list the operators", |connection| {
            let mut select =
                connection.prepare_cached(&format!("SELECT {OPERATOR} FROM operators ORDER BY created_at, rowid"))?;
            let rows = select.query_map([], |row| Ok(operator(row)))?;
            rows.map(|operator| operator?).collect()
        })
        .await
    }

    async fn by_id(&self, id: OperatorId) -> Result<Option<Operator>, StoreError> {
        self.read("look up the operator", move |connection| find(connection, "id = ?1", id.uuid().into_bytes())).await
    }

    async fn by_name(&self, name: &OperatorName) -> Result<Option<Operator>, StoreError> {
        let folded = name.folded();
        self.read("look up the operator", move |connection| find(connection, "folded = ?1", folded)).await
    }

    async fn by_identity(&self, identity: &Identity) -> Result<Option<Operator>, StoreError> {
        let identity = identity.clone();
        self.read("look up the operator", move |connection| find_identity(connection, &identity)).await
    }

    async fn change(&self, id: OperatorId, change: OperatorChange) -> Result<Operator, WriteError> {
        self.write("change the operator", move |connection| {
            require(connection, id)?;
            match change {
                OperatorChange::Name(name) => {
                    check_name_free(connection, &name, id)?;
                    connection
                        .prepare_cached("UPDATE operators SET name = ?2, folded = ?3 WHERE id = ?1")?
                        .execute((id.uuid().into_bytes(), name.as_str(), name.folded()))?;
                }
                OperatorChange::Role(role) => {
                    if role != OperatorRole::Owner {
                        check_owner_remains(connection, id)?;
                    }
                    connection
                        .prepare_cached("UPDATE operators SET role = ?2 WHERE id = ?1")?
                        .execute((id.uuid().into_bytes(), role.as_str()))?;
                }
                OperatorChange::Password { password, except } => {
                    set_password(connection, id, &password, Some(&except))?;
                }
            }
            require(connection, id)
        })
        .await
    }

    async fn remove(&self, id: OperatorId) -> Result<Operator, WriteError> {
        self.write("remove the operator", move |connection| {
            let removed = require(connection, id)?;
            check_owner_remains(connection, id)?;
            connection.prepare_cached("DELETE FROM operators WHERE id = ?1")?.execute([id.uuid().into_bytes()])?;
            Ok(removed)
        })
        .await
    }

    async fn add_link(&self, link: Link) -> Result<(), WriteError> {
        self.write("add the link", move |connection| {
            let operator = match &link.target {
                LinkTarget::New { .. } => None,
                LinkTarget::Reset(id) | LinkTarget::SignIn(id) => {
                    Some(require(connection, *id)?.id.uuid().into_bytes())
                }
            };
            connection
                .prepare_cached(
                    "INSERT INTO operator_links (hash, operator, target, created_at, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute((
                    link.hash.as_bytes(),
                    operator,
                    serde_json::to_string(&link.target)?,
                    link.created_at.millis(),
                    link.expires_at.millis(),
                ))?;
            Ok(())
        })
        .await
    }

    async fn link(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<Link>, StoreError> {
        let hash = *hash;
        self.read("look up the link", move |connection| {
            let mut select = connection
                .prepare_cached(&format!("SELECT {LINK} FROM operator_links WHERE hash = ?1 AND expires_at > ?2"))?;
            select.query_row((hash.as_bytes(), now.millis()), |row| Ok(link(row))).optional()?.transpose()
        })
        .await
    }

    async fn links(&self, now: Timestamp) -> Result<Vec<Link>, StoreError> {
        self.read("list the links", move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT {LINK} FROM operator_links WHERE expires_at > ?1 ORDER BY created_at, rowid"
            ))?;
            let rows = select.query_map([now.millis()], |row| Ok(link(row)))?;
            rows.map(|link| link?).collect()
        })
        .await
    }

    async fn remove_link(&self, hash: &TokenHash) -> Result<bool, StoreError> {
        let hash = *hash;
        self.write("withdraw the link", move |connection| {
            let removed =
                connection.prepare_cached("DELETE FROM operator_links WHERE hash = ?1")?.execute([hash.as_bytes()])?;
            Ok::<_, Abort<StoreError>>(removed > 0)
        })
        .await
    }

    async fn redeem(&self, redemption: Redemption) -> Result<Operator, WriteError> {
        self.write("use the link", move |connection| {
            let Redemption { link, link_use, session } = redemption;
            let used = connection
                .prepare_cached("DELETE FROM operator_links WHERE hash = ?1 AND expires_at > ?2")?
                .execute((link.as_bytes(), session.created_at.millis()))?;
            if used == 0 {
                return Err(Abort::Refused(WriteError::NoLink));
            }
            let id = match link_use {
                LinkUse::New(operator) => {
                    check_name_free(connection, &operator.name, operator.id)?;
                    insert(connection, &operator)?;
                    operator.id
                }
                LinkUse::Reset { operator, password } => {
                    require(connection, operator)?;
                    set_password(connection, operator, &password, None)?;
                    operator
                }
                LinkUse::SignIn(operator) => operator,
            };
            insert_session(connection, &session)?;
            require(connection, id)
        })
        .await
    }

    async fn sign_in_by_identity(
        &self,
        operator: Operator,
        mut session: OperatorSession,
    ) -> Result<Operator, WriteError> {
        self.write("sign in by an identity", move |connection| {
            let known = match &operator.credential {
                Credential::Identity(identity) => find_identity(connection, identity)?,
                Credential::Password(_) => None,
            };
            session.operator = match known {
                Some(known) => known.id,
                None => {
                    check_name_free(connection, &operator.name, operator.id)?;
                    insert(connection, &operator)?;
                    operator.id
                }
            };
            connection
                .prepare_cached("UPDATE operators SET role = ?2 WHERE id = ?1")?
                .execute((session.operator.uuid().into_bytes(), operator.role.as_str()))?;
            insert_session(connection, &session)?;
            require(connection, session.operator)
        })
        .await
    }

    async fn add_pending(&self, pending: PendingSignIn, keep: usize) -> Result<(), StoreError> {
        self.write_in_order("begin the sign-in", move |connection| {
            connection
                .prepare_cached("INSERT INTO operator_sign_ins (hash, expires_at, body) VALUES (?1, ?2, ?3)")?
                .execute((pending.hash().as_bytes(), pending.expires_at.millis(), serde_json::to_string(&pending)?))?;
            connection
                .prepare_cached(
                    "DELETE FROM operator_sign_ins WHERE hash IN (
                         SELECT hash FROM operator_sign_ins ORDER BY expires_at DESC LIMIT -1 OFFSET ?1
                     )",
                )?
                .execute([keep])?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn take_pending(&self, hash: &TokenHash) -> Result<Option<PendingSignIn>, StoreError> {
        let hash = *hash;
        self.write("take up the sign-in", move |connection| {
            let body: Option<String> = connection
                .prepare_cached("DELETE FROM operator_sign_ins WHERE hash = ?1 RETURNING body")?
                .query_row([hash.as_bytes()], |row| row.get(0))
                .optional()?;
            Ok::<_, Abort<StoreError>>(body.map(|body| serde_json::from_str(&body)).transpose()?)
        })
        .await
    }

    async fn add_session(&self, session: OperatorSession) -> Result<(), WriteError> {
        self.write("begin the session", move |connection| {
            require(connection, session.operator)?;
            insert_session(connection, &session)
        })
        .await
    }

    async fn session(&self, hash: &TokenHash) -> Result<Option<(OperatorSession, Operator)>, StoreError> {
        let hash = *hash;
        self.read("look up the session", move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT {OPERATOR}, operator_sessions.created_at, seen_at, expires_at
                 FROM operator_sessions JOIN operators ON operators.id = operator WHERE hash = ?1"
            ))?;
            let read = |row: &Row<'_>| {
                let at = |column| row.get(column).map(Timestamp::from_millis);
                let times = (at(8)?, at(9)?, at(10)?);
                Ok((times, operator(row)))
            };
            let found = select.query_row([hash.as_bytes()], read).optional()?;
            let Some(((created_at, seen_at, expires_at), operator)) = found else { return Ok(None) };
            let operator = operator?;
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
        self.write_in_order("keep when the session was seen", move |connection| {
            let operator: Option<[u8; 16]> = connection
                .prepare_cached(
                    "UPDATE operator_sessions SET seen_at = ?2, expires_at = ?3 WHERE hash = ?1 RETURNING operator",
                )?
                .query_row((hash.as_bytes(), seen_at.millis(), expires_at.millis()), |row| row.get(0))
                .optional()?;
            if let Some(operator) = operator {
                update_last_seen(connection, operator, seen_at)?;
            }
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn remove_session(&self, hash: &TokenHash) -> Result<(), StoreError> {
        let hash = *hash;
        self.write("end the session", move |connection| {
            connection.prepare_cached("DELETE FROM operator_sessions WHERE hash = ?1")?.execute([hash.as_bytes()])?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn remove_sessions_of(&self, id: OperatorId, except: Option<&TokenHash>) -> Result<(), StoreError> {
        let except = except.copied();
        self.write("end the sessions", move |connection| {
            Ok::<_, Abort<StoreError>>(end_sessions(connection, id, except.as_ref())?)
        })
        .await
    }

    async fn audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.write("add to the audit list", move |connection| {
            connection
                .prepare_cached("INSERT INTO audit (at, body) VALUES (?1, ?2)")?
                .execute((entry.at.millis(), serde_json::to_string(&entry)?))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn audited(&self, before: Option<u64>, limit: usize) -> Result<Vec<(u64, AuditEntry)>, StoreError> {
        self.read("read the audit list", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT n, body FROM audit WHERE n < ?1 ORDER BY n DESC LIMIT ?2")?;
            let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
            let mut rows = select.query((before, i64::try_from(limit).unwrap_or(i64::MAX)))?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                entries.push((row.get(0)?, serde_json::from_str(row.get_ref(1)?.as_str()?)?));
            }
            Ok(entries)
        })
        .await
    }

    async fn forget_expired(
        &self,
        now: Timestamp,
        audited_before: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        self.write_in_order("forget what is over", move |connection| {
            let mut forgotten = 0;
            for (table, condition, before) in [
                ("operator_sessions", "expires_at <= ?1", now),
                ("operator_links", "expires_at <= ?1", now),
                ("operator_sign_ins", "expires_at <= ?1", now),
                ("audit", "at < ?1", audited_before),
            ] {
                let delete = format!(
                    "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE {condition} LIMIT ?2)"
                );
                forgotten += connection.prepare_cached(&delete)?.execute((before.millis(), limit))?;
            }
            Ok::<_, Abort<StoreError>>(forgotten)
        })
        .await
    }
}

fn find(connection: &Connection, condition: &str, value: impl ToSql) -> Result<Option<Operator>, BoxError> {
    let mut select = connection.prepare_cached(&format!("SELECT {OPERATOR} FROM operators WHERE {condition}"))?;
    select.query_row([value], |row| Ok(operator(row))).optional()?.transpose()
}

fn find_identity(connection: &Connection, identity: &Identity) -> Result<Option<Operator>, BoxError> {
    let mut select =
        connection.prepare_cached(&format!("SELECT {OPERATOR} FROM operators WHERE issuer = ?1 AND subject = ?2"))?;
    let Identity { issuer, subject } = identity;
    select.query_row((issuer, subject), |row| Ok(operator(row))).optional()?.transpose()
}

fn require(connection: &Connection, id: OperatorId) -> Result<Operator, Refusal> {
    find(connection, "id = ?1", id.uuid().into_bytes())?.ok_or(Abort::Refused(WriteError::NoOperator))
}

fn check_name_free(connection: &Connection, name: &OperatorName, except: OperatorId) -> Result<(), Refusal> {
    match find(connection, "folded = ?1", name.folded())? {
        Some(other) if other.id != except => Err(Abort::Refused(WriteError::NameTaken(other.name))),
        _ => Ok(()),
    }
}

fn check_owner_remains(connection: &Connection, id: OperatorId) -> Result<(), Refusal> {
    let mut owner = connection.prepare_cached("SELECT 1 FROM operators WHERE role = ?1 AND (id = ?2) = ?3")?;
    let mut is_there = |same: bool| owner.exists((OperatorRole::Owner.as_str(), id.uuid().into_bytes(), same));
    if is_there(true)? && !is_there(false)? {
        return Err(Abort::Refused(WriteError::LastOwner));
    }
    Ok(())
}

fn insert(connection: &Connection, operator: &Operator) -> Result<(), Refusal> {
    let (password, issuer, subject) = match &operator.credential {
        Credential::Password(password) => (password.as_str(), None, None),
        Credential::Identity(Identity { issuer, subject }) => ("", Some(issuer), Some(subject)),
    };
    connection
        .prepare_cached(
            "INSERT INTO operators (id, name, folded, role, password, created_at, last_seen_at, issuer, subject)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            operator.id.uuid().into_bytes(),
            operator.name.as_str(),
            operator.name.folded(),
            operator.role.as_str(),
            password,
            operator.created_at.millis(),
            operator.last_seen_at.map(Timestamp::millis),
            issuer,
            subject,
        ))?;
    Ok(())
}

/// Sets a password instead of any identity at a provider. Withdraws the operator's links, and ends all sessions except
/// `except`.
fn set_password(
    connection: &Connection,
    id: OperatorId,
    password: &PasswordHash,
    except: Option<&TokenHash>,
) -> Result<(), Refusal> {
    let bytes = id.uuid().into_bytes();
    connection
        .prepare_cached("UPDATE operators SET password = ?2, issuer = NULL, subject = NULL WHERE id = ?1")?
        .execute((bytes, password.as_str()))?;
    connection.prepare_cached("DELETE FROM operator_links WHERE operator = ?1")?.execute([bytes])?;
    Ok(end_sessions(connection, id, except)?)
}

fn end_sessions(connection: &Connection, id: OperatorId, except: Option<&TokenHash>) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM operator_sessions WHERE operator = ?1 AND hash IS NOT ?2")?
        .execute((id.uuid().into_bytes(), except.map(TokenHash::as_bytes)))
        .map(drop)
}

fn insert_session(connection: &Connection, session: &OperatorSession) -> Result<(), Refusal> {
    let operator = session.operator.uuid().into_bytes();
    connection
        .prepare_cached(
            "INSERT INTO operator_sessions (hash, operator, created_at, seen_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((
            session.hash.as_bytes(),
            operator,
            session.created_at.millis(),
            session.seen_at.millis(),
            session.expires_at.millis(),
        ))?;
    Ok(update_last_seen(connection, operator, session.seen_at)?)
}

fn update_last_seen(connection: &Connection, operator: [u8; 16], at: Timestamp) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE operators SET last_seen_at = max(coalesce(last_seen_at, ?2), ?2) WHERE id = ?1")?
        .execute((operator, at.millis()))
        .map(drop)
}

fn operator(row: &Row<'_>) -> Result<Operator, BoxError> {
    let role: String = row.get(2)?;
    Ok(Operator {
        id: OperatorId::new(Uuid::from_bytes(row.get(0)?)),
        name: OperatorName::parse(row.get_ref(1)?.as_str()?)?,
        role: OperatorRole::parse(&role).ok_or_else(|| format!("`{role}` is not a role"))?,
        credential: match (row.get(6)?, row.get(7)?) {
            (Some(issuer), Some(subject)) => Credential::Identity(Identity { issuer, subject }),
            _ => Credential::Password(PasswordHash::from_stored(row.get::<_, String>(3)?)),
        },
        created_at: Timestamp::from_millis(row.get(4)?),
        last_seen_at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
    })
}

fn link(row: &Row<'_>) -> Result<Link, BoxError> {
    Ok(Link {
        hash: TokenHash::from_bytes(row.get(0)?),
        target: serde_json::from_str(row.get_ref(1)?.as_str()?)?,
        created_at: Timestamp::from_millis(row.get(2)?),
        expires_at: Timestamp::from_millis(row.get(3)?),
    })
}
