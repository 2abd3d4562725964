//! Pull requests of the local forge.

use std::collections::HashMap;

use async_trait::async_trait;
use docent_forge::{
    CommitRange, FoundPulls, MOST_COMMENTS, NewPullRecord, PullChoice, PullComment, PullKey, PullRecord,
    PullRequestSpec, PullRequests, PullSearch, PullState,
};
use docent_types::{BoxError, ProjectId, StoreError, Timestamp};
use uuid::Uuid;

use crate::error::Abort;
use crate::params::{Param, params};
use crate::postgres::PostgresStore;
use crate::transaction::Transaction;

#[async_trait]
impl PullRequests for PostgresStore {
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError> {
        self.write("open the pull request", move |transaction| async move {
            let NewPullRecord { id, project, request, created_at } = new;
            lock(&transaction, &project).await?;
            let is_same = "project = $1 AND head = $2 AND base = $3 AND state = 'open'";
            if let Some(found) =
                find(&transaction, is_same, params![project.as_str(), request.head.as_str(), request.base.as_str()])
                    .await?
            {
                return Ok(found);
            }
            let number = "SELECT coalesce(max(number), 0) + 1 FROM pulls WHERE project = $1";
            let number: i64 = transaction.query_one(number, params![project.as_str()]).await?.try_get(0)?;
            let PullRequestSpec { title, body, head, base, draft, labels } = request;
            let record = PullRecord {
                id,
                project,
                number: u64::try_from(number).map_err(BoxError::from)?,
                title,
                body,
                head,
                base,
                draft,
                labels,
                state: PullState::Open,
                created_at,
                ended_at: None,
                ended: None,
            };
            let insert = "INSERT INTO pulls (id, project, number, head, base, state, body, created_at)
                          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
            transaction
                .execute(
                    insert,
                    params![
                        record.id,
                        record.project.as_str(),
                        number,
                        record.head.as_str(),
                        record.base.as_str(),
                        record.state.as_str(),
                        serde_json::to_string(&record)?,
                        record.created_at.millis(),
                    ],
                )
                .await?;
            Ok::<_, Abort<StoreError>>(record)
        })
        .await
    }

    async fn update(
        &self,
        project: &ProjectId,
        id: Uuid,
        request: &PullRequestSpec,
    ) -> Result<Option<PullRecord>, StoreError> {
        let (project, request) = (project.clone(), request.clone());
        self.write("update the pull request", move |transaction| async move {
            let PullRequestSpec { title, body, draft, .. } = request;
            change(&transaction, (&project, id, PullState::Open), |record| PullRecord { title, body, draft, ..record })
                .await
        })
        .await
    }

    async fn end(
        &self,
        project: &ProjectId,
        id: Uuid,
        state: PullState,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.write("end the pull request", move |transaction| async move {
            change(&transaction, (&project, id, PullState::Open), |record| PullRecord {
                state,
                ended_at: Some(at),
                ended: ending,
                ..record
            })
            .await
        })
        .await
    }

    async fn reopen(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.write("reopen the pull request", move |transaction| async move {
            lock(&transaction, &project).await?;
            let other = "SELECT 1 FROM pulls AS closed JOIN pulls AS other USING (project, head, base)
                         WHERE closed.id = $1 AND other.state = 'open'";
            if transaction.query_opt(other, params![id]).await?.is_some() {
                return Ok(None);
            }
            change(&transaction, (&project, id, PullState::Closed), |record| PullRecord {
                state: PullState::Open,
                ended_at: None,
                ended: None,
                ..record
            })
            .await
        })
        .await
    }

    async fn comment(&self, project: &ProjectId, id: Uuid, comment: PullComment) -> Result<bool, StoreError> {
        let project = project.clone();
        self.write("comment on the pull request", move |transaction| async move {
            // Locked, so that no two count the same comments.
            let known = "SELECT 1 FROM pulls WHERE id = $1 AND project = $2 FOR UPDATE";
            if transaction.query_opt(known, params![id, project.as_str()]).await?.is_none() {
                return Ok(false);
            }
            let insert = "INSERT INTO pull_comments (pull, body) SELECT $1, $2
                          WHERE (SELECT count(*) FROM pull_comments WHERE pull = $1) < $3";
            Ok::<_, Abort<StoreError>>(
                transaction
                    .execute(
                        insert,
                        params![id, serde_json::to_string(&comment)?, i64::try_from(MOST_COMMENTS).unwrap_or(i64::MAX)],
                    )
                    .await?
                    == 1,
            )
        })
        .await
    }

    async fn comments(&self, project: &ProjectId, id: Uuid) -> Result<Vec<PullComment>, StoreError> {
        let project = project.clone();
        self.read("read the comments", move |transaction| async move {
            let select = "SELECT pull_comments.body FROM pull_comments JOIN pulls ON pulls.id = pull
                          WHERE pull = $1 AND project = $2 ORDER BY n";
            let rows = transaction.query(select, params![id, project.as_str()]).await?;
            rows.iter().map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).collect()
        })
        .await
    }

    async fn search(&self, search: PullSearch) -> Result<FoundPulls, StoreError> {
        let find = move |transaction| async move { find_page(&transaction, &search).await };
        self.read("look for pull requests", find).await
    }

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.read("read the pull request", move |transaction| async move {
            find(&transaction, "id = $1 AND project = $2", params![id, project.as_str()]).await
        })
        .await
    }

    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError> {
        let (project, head) = (project.clone(), head.to_owned());
        self.read("look for the pull request", move |transaction| async move {
            let newest = "project = $1 AND head = $2 ORDER BY number DESC LIMIT 1";
            find(&transaction, newest, params![project.as_str(), head]).await
        })
        .await
    }

    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError> {
        let project = project.clone();
        self.read("list the pull requests", move |transaction| async move {
            let select = "SELECT body FROM pulls WHERE project = $1 ORDER BY number DESC LIMIT $2";
            let rows = transaction.query(select, params![project.as_str(), i64::from(limit)]).await?;
            rows.iter().map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).collect()
        })
        .await
    }
}

/// The pull requests of a project are opened one after another, because they are numbered.
async fn lock(transaction: &Transaction, project: &ProjectId) -> Result<(), BoxError> {
    transaction.lock("pulls", project.as_str()).await
}

async fn find(
    transaction: &Transaction,
    condition: &str,
    params: &[Param<'_>],
) -> Result<Option<PullRecord>, BoxError> {
    let row = transaction.query_opt(&format!("SELECT body FROM pulls WHERE {condition}"), params).await?;
    row.map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).transpose()
}

/// A page of a search. Texts are read only when they are searched.
async fn find_page(transaction: &Transaction, search: &PullSearch) -> Result<FoundPulls, BoxError> {
    let mut choice = PullChoice::new(search);
    let body = if choice.reads_texts() { "body" } else { "NULL" };
    let select = format!("SELECT created_at, id, state, {body} FROM pulls WHERE project = ANY($1)");
    let projects: Vec<String> = search.projects.iter().map(ToString::to_string).collect();
    for row in transaction.query(&select, params![projects]).await? {
        let key = PullKey { created_at: Timestamp::from_millis(row.try_get(0)?), id: row.try_get(1)? };
        let state: &str = row.try_get(2)?;
        let state = PullState::ALL.into_iter().find(|known| known.as_str() == state);
        let state = state.ok_or("a pull request is in no state")?;
        let record: Option<&str> = row.try_get(3)?;
        let record: Option<PullRecord> = record.map(serde_json::from_str).transpose()?;
        let texts = record.as_ref().map(|record| [&*record.title, &*record.body, &*record.head]);
        choice.examine(key, state, texts.unwrap_or_default());
    }
    // What is on the page is known only when it is asked for, and then all of it is read at once.
    let mut wanted = Vec::new();
    let found = choice.page(|id| {
        wanted.push(id);
        Ok::<_, BoxError>(None)
    })?;
    let rows = transaction.query("SELECT id, body FROM pulls WHERE id = ANY($1)", params![wanted]).await?;
    let mut read: HashMap<Uuid, PullRecord> = HashMap::new();
    for row in &rows {
        read.insert(row.try_get(0)?, serde_json::from_str(row.try_get(1)?)?);
    }
    Ok(FoundPulls { pulls: wanted.iter().filter_map(|id| read.remove(id)).collect(), ..found })
}

/// Changes a pull request, if it exists in this state.
async fn change(
    transaction: &Transaction,
    (project, id, state): (&ProjectId, Uuid, PullState),
    change: impl FnOnce(PullRecord) -> PullRecord,
) -> Result<Option<PullRecord>, Abort<StoreError>> {
    let Some(record) = find(
        transaction,
        "id = $1 AND project = $2 AND state = $3 FOR UPDATE",
        params![id, project.as_str(), state.as_str()],
    )
    .await?
    else {
        return Ok(None);
    };
    let record = change(record);
    let update = "UPDATE pulls SET state = $2, body = $3 WHERE id = $1";
    let body = serde_json::to_string(&record)?;
    transaction.execute(update, params![id, record.state.as_str(), body]).await?;
    Ok(Some(record))
}
