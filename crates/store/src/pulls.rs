//! Pull requests of the local forge.

use async_trait::async_trait;
use docent_forge::{
    CommitRange, FoundPulls, MOST_COMMENTS, NewPullRecord, PullChoice, PullComment, PullKey, PullRecord,
    PullRequestSpec, PullRequests, PullSearch, PullState,
};
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
            let state = PullState::Open;
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
                    "INSERT INTO pulls (id, project, number, head, base, state, body, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute((
                    record.id.to_string(),
                    record.project.as_str(),
                    record.number,
                    &record.head,
                    &record.base,
                    record.state.as_str(),
                    serde_json::to_string(&record)?,
                    record.created_at.millis(),
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
            change(connection, (&project, id, PullState::Open), |record| PullRecord {
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
        state: PullState,
        ending: Option<CommitRange>,
        at: Timestamp,
    ) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.write("end the pull request", move |connection| {
            change(connection, (&project, id, PullState::Open), |record| PullRecord {
                state,
                ended_at: Some(at),
                ended: ending,
                ..record
            })
        })
        .await
    }

    async fn reopen(&self, project: &ProjectId, id: Uuid) -> Result<Option<PullRecord>, StoreError> {
        let project = project.clone();
        self.write("reopen the pull request", move |connection| {
            let other = connection
                .prepare_cached(
                    "SELECT 1 FROM pulls AS closed JOIN pulls AS other USING (project, head, base)
                     WHERE closed.id = ?1 AND other.state = 'open'",
                )?
                .exists([id.to_string()])?;
            if other {
                return Ok(None);
            }
            let (state, ended_at, ended) = (PullState::Open, None, None);
            change(connection, (&project, id, PullState::Closed), |record| PullRecord {
                state,
                ended_at,
                ended,
                ..record
            })
        })
        .await
    }

    async fn comment(&self, project: &ProjectId, id: Uuid, comment: PullComment) -> Result<bool, StoreError> {
        let project = project.clone();
        self.write("comment on the pull request", move |connection| {
            let id = id.to_string();
            let written = connection
                .prepare_cached(
                    "INSERT INTO pull_comments (pull, body) SELECT id, ?3 FROM pulls
                     WHERE id = ?1 AND project = ?2 AND (SELECT count(*) FROM pull_comments WHERE pull = ?1) < ?4",
                )?
                .execute((id, project.as_str(), serde_json::to_string(&comment)?, MOST_COMMENTS))?;
            Ok::<_, Abort<StoreError>>(written == 1)
        })
        .await
    }

    async fn comments(&self, project: &ProjectId, id: Uuid) -> Result<Vec<PullComment>, StoreError> {
        let project = project.clone();
        self.read("read the comments", move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT pull_comments.body FROM pull_comments JOIN pulls ON pulls.id = pull
                 WHERE pull = ?1 AND project = ?2 ORDER BY n",
            )?;
            let bodies = select.query_map((id.to_string(), project.as_str()), |row| row.get::<_, String>(0))?;
            bodies.map(|body| Ok(serde_json::from_str(&body?)?)).collect()
        })
        .await
    }

    async fn search(&self, search: PullSearch) -> Result<FoundPulls, StoreError> {
        self.read("look for pull requests", move |connection| find_page(connection, &search)).await
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

/// A page of a search. An index covers everything that decides whether a pull request matches except its texts.
fn find_page(connection: &Connection, search: &PullSearch) -> Result<FoundPulls, BoxError> {
    let snapshot = connection.unchecked_transaction()?;
    let mut choice = PullChoice::new(search);
    let texts = if choice.reads_texts() { "body ->> '$.title', body ->> '$.body', head" } else { "'', '', ''" };
    let mut select = snapshot.prepare_cached(&format!(
        "SELECT created_at, id, state, {texts} FROM pulls INDEXED BY pulls_listed
         WHERE project IN (SELECT value FROM json_each(?1))"
    ))?;
    let mut rows = select.query([serde_json::to_string(&search.projects)?])?;
    while let Some(row) = rows.next()? {
        let text = |column| row.get_ref(column)?.as_str().map_err(BoxError::from);
        let key = PullKey { created_at: Timestamp::from_millis(row.get(0)?), id: Uuid::try_parse(text(1)?)? };
        let state = PullState::ALL.into_iter().find(|state| text(2).is_ok_and(|text| state.as_str() == text));
        let state = state.ok_or("a pull request is in no state")?;
        choice.examine(key, state, [text(3)?, text(4)?, text(5)?]);
    }
    choice.page(|id| find(&snapshot, "id = ?1", [id.to_string()]))
}

/// Changes a pull request, if it exists in this state.
fn change(
    connection: &Connection,
    (project, id, state): (&ProjectId, Uuid, PullState),
    change: impl FnOnce(PullRecord) -> PullRecord,
) -> Result<Option<PullRecord>, Abort<StoreError>> {
    let known = (id.to_string(), project.as_str(), state.as_str());
    let Some(record) = find(connection, "id = ?1 AND project = ?2 AND state = ?3", known)?.map(change) else {
        return Ok(None);
    };
    connection.prepare_cached("UPDATE pulls SET state = ?2, body = ?3 WHERE id = ?1")?.execute((
        id.to_string(),
        record.state.as_str(),
        serde_json::to_string(&record)?,
    ))?;
    Ok(Some(record))
}
