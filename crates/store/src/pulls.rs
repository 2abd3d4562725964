//! Pull requests of the local forge.

use async_trait::async_trait;
use docent_forge::{CommitRange, NewPullRecord, PullRecord, PullRequestSpec, PullRequests, State};
use docent_types::{BoxError, ProjectId, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, Params};
use uuid::Uuid;

use crate::error::Abort;
use crate::sqlite::SqliteStore;

#[async_trait]
impl PullRequests for SqliteStore {
    async fn open(&self, new: NewPullRecord) -> Result<PullRecord, StoreError> {
        self.write("open the pull request", move |connection| {
            let NewPullRecord { id, project, request, created_at } = new;
            let same = (project.as_str(), &request.head, &request.base);
            if let Some(found) = find(connection, "project = ?1 AND head = ?2 AND base = ?3 AND state = 'open'", same)?
            {
                return Ok(found);
            }
            let number = connection
                .prepare_cached("SELECT coalesce(max(number), 0) + 1 FROM pulls WHERE project = ?1")?
                .query_row([project.as_str()], |row| row.get(0))?;
            let PullRequestSpec { title, body, head, base, draft, labels } = request;
            let state = State::Open;
            let (ended_at, ended) = (None, None);
            let record = PullRecord {
                id,
                project,
                number,
                title,
                body,
                head,
                base,
                draft,
                labels,
                state,
                created_at,
                ended_at,
                ended,
            };
            connection
                .prepare_cached(
                    "INSERT INTO pulls (id, project, number, head, base, state, body)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute((
                    record.id.to_string(),
                    record.project.as_str(),
                    record.number,
                    &record.head,
                    &record.base,
                    record.state.as_str(),
                    serde_json::to_string(&record)?,
                ))?;
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
        self.write("update the pull request", move |connection| {
            change(connection, &project, id, |record| PullRecord {
                title: request.title,
                body: request.body,
                draft: request.draft,
                ..record
            })
        })
        .await
    }

    async fn end(
        &self,
        project: &ProjectId,
        id: Uuid,
        state: State,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.write("end the pull request", move |connection| {
            change(connection, &project, id, |record| PullRecord { state, ended_at: Some(at), ended: ending, ..record })
        })
        .await
    }

    async fn get(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.read("read the pull request", move |connection| {
            find(connection, "id = ?1 AND project = ?2", (id.to_string(), project.as_str()))
        })
        .await
    }

    async fn by_head(&self, project: &ProjectId, head: &str) -> Result<Option<PullRecord>, StoreError> {
        let (project, head) = (project.clone(), head.to_owned());
        self.read("look for the pull request", move |connection| {
            find(connection, "project = ?1 AND head = ?2 ORDER BY number DESC LIMIT 1", (project.as_str(), head))
        })
        .await
    }

    async fn list(&self, project: &ProjectId, limit: u32) -> Result<Vec<PullRecord>, StoreError> {
        let project = project.clone();
        self.read("list the pull requests", move |connection| {
            let mut select =
                connection.prepare_cached("SELECT body FROM pulls WHERE project = ?1 ORDER BY number DESC LIMIT ?2")?;
            let bodies = select.query_map((project.as_str(), limit), |row| row.get::<_, String>(0))?;
            bodies.map(|body| Ok(serde_json::from_str(&body?)?)).collect()
        })
        .await
    }
}

fn find(connection: &Connection, condition: &str, values: impl Params) -> Result<Option<PullRecord>, BoxError> {
    let mut select = connection.prepare_cached(&format!("SELECT body FROM pulls WHERE {condition}"))?;
    let body: Option<String> = select.query_row(values, |row| row.get(0)).optional()?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}

/// Changes an open pull request, if it is there and open.
fn change(
    connection: &Connection,
    project: &ProjectId,
    id: Uuid,
    change: impl FnOnce(PullRecord) -> PullRecord,
) -> Result<Option<PullRecord>, Abort<StoreError>> {
    let open = "id = ?1 AND project = ?2 AND state = 'open'";
    let Some(record) = find(connection, open, (id.to_string(), project.as_str()))?.map(change) else {
        return Ok(None);
    };
    connection.prepare_cached("UPDATE pulls SET state = ?2, body = ?3 WHERE id = ?1")?.execute((
        id.to_string(),
        record.state.as_str(),
        serde_json::to_string(&record)?,
    ))?;
    Ok(Some(record))
}
