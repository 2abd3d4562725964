//! The port to keys.

use async_trait::async_trait;
use docent_access::{Grant, KeyHash, KeyId, KeyRecord, Keys};
use docent_types::{BoxError, ProjectId, StoreError, Timestamp};
use tokio_postgres::Row;

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::text::storable;
use crate::transaction::Transaction;

const COLUMNS: &str = "id, hash, created_at, revoked_at, body, name, used_at, made_by";

#[async_trait]
impl Keys for PostgresStore {
    async fn insert(&self, record: KeyRecord) -> Result<(), StoreError> {
        self.write("add the key", move |transaction| async move {
            let project = record.grant.project.as_str();
            // Locked, so that the removal of the project revokes this key too.
            let known = "SELECT 1 FROM projects WHERE id = $1 FOR SHARE";
            if transaction.query_opt(known, params![project]).await?.is_none() {
                return Err(Abort::Failed(format!("there is no project `{project}`").into()));
            }
            let insert = "INSERT INTO keys (id, hash, project, created_at, revoked_at, body, name, made_by)
                          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
            transaction
                .execute(
                    insert,
                    params![
                        record.id.as_str(),
                        &record.hash.as_bytes()[..],
                        project,
                        record.created_at.millis(),
                        record.revoked_at.map(Timestamp::millis),
                        serde_json::to_string(&record.grant)?,
                        record.name.as_deref().map(storable),
                        record.made_by.as_deref().map(storable),
                    ],
                )
                .await?;
            transaction.touch_access();
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn by_hash(&self, hash: &KeyHash) -> Result<Option<KeyRecord>, StoreError> {
        let hash = *hash;
        self.read("look up the key", move |transaction| async move {
            let select = format!("SELECT {COLUMNS} FROM keys WHERE hash = $1");
            let found = transaction.query_opt(&select, params![&hash.as_bytes()[..]]).await?;
            found.as_ref().map(record).transpose()
        })
        .await
    }

    async fn keys(&self, project: Option<&ProjectId>) -> Result<Vec<KeyRecord>, StoreError> {
        let project = project.map(ToString::to_string);
        self.read("list the keys", move |transaction| async move {
            let select = format!("SELECT {COLUMNS} FROM keys WHERE $1 IS NULL OR project = $1 ORDER BY created_at, n");
            transaction.query(&select, params![project]).await?.iter().map(record).collect()
        })
        .await
    }

    async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<Option<KeyRecord>, StoreError> {
        let id = id.clone();
        self.write("revoke the key", move |transaction| async move {
            let revoke =
                format!("UPDATE keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING {COLUMNS}");
            let found = transaction.execute_opt(&revoke, params![id.as_str(), now.millis()]).await?;
            transaction.touch_access();
            Ok::<_, Abort<StoreError>>(found.as_ref().map(record).transpose()?)
        })
        .await
    }

    async fn used(&self, id: &KeyId, at: Timestamp) -> Result<(), StoreError> {
        let id = id.clone();
        self.write_in_order("keep when the key was used", move |transaction| async move {
            let update = "UPDATE keys SET used_at = $2 WHERE id = $1 AND coalesce(used_at, $2 - 1) < $2";
            transaction.execute(update, params![id.as_str(), at.millis()]).await?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    fn changes(&self) -> Option<u64> {
        self.access_changes()
    }
}

/// Revokes all keys of a project that are not revoked yet.
pub(crate) async fn revoke_all(transaction: &Transaction, project: &ProjectId, now: Timestamp) -> Result<(), BoxError> {
    let revoke = "UPDATE keys SET revoked_at = $2 WHERE project = $1 AND revoked_at IS NULL";
    transaction.execute(revoke, params![project.as_str(), now.millis()]).await.map(drop)
}

fn record(row: &Row) -> Result<KeyRecord, BoxError> {
    let hash: &[u8] = row.try_get(1)?;
    let grant: Grant = serde_json::from_str(row.try_get(4)?)?;
    Ok(KeyRecord {
        id: KeyId::new(row.try_get::<_, String>(0)?),
        hash: KeyHash::from_bytes(hash.try_into()?),
        grant,
        created_at: Timestamp::from_millis(row.try_get(2)?),
        revoked_at: row.try_get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
        name: row.try_get(5)?,
        used_at: row.try_get::<_, Option<i64>>(6)?.map(Timestamp::from_millis),
        made_by: row.try_get(7)?,
    })
}
