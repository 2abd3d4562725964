//! The port to keys.

use async_trait::async_trait;
use docent_access::{Grant, KeyHash, KeyId, KeyRecord, Keys};
use docent_types::{BoxError, ProjectId, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::Abort;
use crate::sqlite::SqliteStore;

const COLUMNS: &str = "id, hash, created_at, revoked_at, body, name, used_at, made_by";

#[async_trait]
impl Keys for SqliteStore {
    async fn insert(&self, record: KeyRecord) -> Result<(), StoreError> {
        self.write_access("add the key", move |connection| {
            let project = &record.grant.project;
            let known =
                connection.prepare_cached("SELECT 1 FROM projects WHERE id = ?1")?.exists([project.as_str()])?;
            if !known {
                return Err(Abort::Failed(format!("there is no project `{project}`").into()));
            }
            connection
                .prepare_cached(
                    "INSERT INTO keys (id, hash, project, created_at, revoked_at, body, name, made_by)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute((
                    record.id.as_str(),
                    record.hash.as_bytes(),
                    project.as_str(),
                    record.created_at.millis(),
                    record.revoked_at.map(Timestamp::millis),
                    serde_json::to_string(&record.grant)?,
                    record.name,
                    record.made_by,
                ))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        let hash = *hash.as_bytes();
        self.read("look up the key", move |connection| {
            let mut select = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM keys WHERE hash = ?1"))?;
            select.query_row([hash], |row| Ok(record(row))).optional()?.transpose()
        })
        .await
    }

    async fn keys(&self, project: Option<&ProjectId>) -> Result<Vec<KeyRecord>, StoreError> {
        let project = project.map(ToString::to_string);
        self.read("list the keys", move |connection| {
            let mut select = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM keys WHERE ?1 IS NULL OR project = ?1 ORDER BY created_at, rowid"
            ))?;
            let rows = select.query_map([project], |row| Ok(record(row)))?;
            rows.map(|record| record?).collect()
        })
        .await
    }

    async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        let id = id.clone();
        self.write_access("revoke the key", move |connection| {
            connection
                .prepare_cached("UPDATE keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL")?
                .execute((id.as_str(), now.millis()))?;
            let mut select = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM keys WHERE id = ?1"))?;
            let found = select.query_row([id.as_str()], |row| Ok(record(row))).optional()?.transpose()?;
            Ok::<_, Abort<StoreError>>(found)
        })
        .await
    }

    async fn used(&self, id: &KeyId, at: Timestamp) -> Result<(), StoreError> {
        let id = id.clone();
        self.write_in_order("keep when the key was used", move |connection| {
            connection
                .prepare_cached("UPDATE keys SET used_at = ?2 WHERE id = ?1 AND coalesce(used_at, ?2 - 1) < ?2")?
                .execute((id.as_str(), at.millis()))?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    fn changes(&self) -> Option<u64> {
        self.access_changes()
    }
}

/// Revokes all keys of a project that are not revoked yet.
pub(crate) fn revoke_all(connection: &Connection, project: &ProjectId, now: Timestamp) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE keys SET revoked_at = ?2 WHERE project = ?1 AND revoked_at IS NULL")?
        .execute((project.as_str(), now.millis()))?;
    Ok(())
}

fn record(row: &Row<'_>) -> Result<KeyRecord, BoxError> {
    let grant: Grant = serde_json::from_str(row.get_ref(4)?.as_str()?)?;
    Ok(KeyRecord {
        id: KeyId::new(row.get::<_, String>(0)?),
        hash: KeyHash::from_bytes(row.get(1)?),
        grant,
        created_at: Timestamp::from_millis(row.get(2)?),
        revoked_at: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
        name: row.get(5)?,
        used_at: row.get::<_, Option<i64>>(6)?.map(Timestamp::from_millis),
        made_by: row.get(7)?,
    })
}
