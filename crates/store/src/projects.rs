//! Projects.

use std::sync::Arc;

use async_trait::async_trait;
use docent_access::{AddError, Projects};
use docent_types::{BoxError, Domain, JobId, Project, ProjectId, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, ToSql};

use crate::error::Abort;
use crate::sqlite::SqliteStore;
use crate::transaction::{Decides, Durability};
use crate::write_connection::WriteConnection;
use crate::{keys, removed_projects};

#[async_trait]
impl Projects for SqliteStore {
    async fn add(&self, project: Project) -> Result<(), AddError> {
        self.write_access("add the project", move |connection| {
            if find(connection, "id = ?1", project.id.as_str())?.is_some() {
                return Err(Abort::Refused(AddError::IdTaken(project.id)));
            }
            if let Some(other) = find(connection, "domain = ?1", project.domain.as_str())? {
                return Err(Abort::Refused(AddError::DomainTaken { domain: project.domain, project: other.id }));
            }
            connection.prepare_cached("INSERT INTO projects (id, domain, body) VALUES (?1, ?2, ?3)")?.execute((
                project.id.as_str(),
                project.domain.as_str(),
                serde_json::to_string(&project)?,
            ))?;
            Ok(())
        })
        .await
    }

    async fn replace(&self, project: Project) -> Result<Option<Project>, AddError> {
        self.write_access("change the project", move |connection| {
            if let Some(other) = find(connection, "domain = ?1", project.domain.as_str())?
                && other.id != project.id
            {
                return Err(Abort::Refused(AddError::DomainTaken { domain: project.domain, project: other.id }));
            }
            let found = find(connection, "id = ?1", project.id.as_str())?.filter(|found| found.uid == project.uid);
            if let Some(found) = &found {
                removed_projects::move_to_domain(connection, &found.domain, &project.domain)?;
                connection.prepare_cached("UPDATE projects SET domain = ?2, body = ?3 WHERE id = ?1")?.execute((
                    project.id.as_str(),
                    project.domain.as_str(),
                    serde_json::to_string(&project)?,
                ))?;
            }
            Ok(found)
        })
        .await
    }

    async fn remove(&self, id: &ProjectId, now: Timestamp) -> Result<Option<Project>, StoreError> {
        let id = id.clone();
        let remove = move |connection: &WriteConnection| {
            let found = find(connection, "id = ?1", id.as_str())?;
            keys::revoke_all(connection, &id, now)?;
            connection.prepare_cached("DELETE FROM projects WHERE id = ?1")?.execute([id.as_str()])?;
            let jobs = found.as_ref().map(|project| removed_projects::remove(connection, project, now)).transpose()?;
            Ok::<_, Abort<StoreError>>((found, jobs.unwrap_or_default()))
        };
        let changes = Arc::clone(self.changes());
        let on_committed = move |(_, jobs): &(Option<Project>, Vec<JobId>)| {
            changes.count_access_write();
            changes.forget(jobs);
        };
        let mode = (Durability::Flushed, Decides::WhileWriting);
        Ok(self.write_then("remove the project", mode, remove, on_committed).await?.0)
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.read("list the projects", |connection| {
            let mut select = connection.prepare_cached("SELECT body FROM projects ORDER BY id")?;
            let bodies = select.query_map([], |row| row.get::<_, String>(0))?;
            bodies.map(|body| Ok(serde_json::from_str(&body?)?)).collect()
        })
        .await
    }

    async fn by_id(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        let id = id.clone();
        self.read("look up the project", move |connection| find(connection, "id = ?1", id.as_str())).await
    }

    async fn by_domain(&self, domain: &Domain) -> Result<Option<Project>, StoreError> {
        let domain = domain.clone();
        self.read("look up the domain", move |connection| find(connection, "domain = ?1", domain.as_str())).await
    }
}

fn find(connection: &Connection, condition: &str, value: impl ToSql) -> Result<Option<Project>, BoxError> {
    let mut select = connection.prepare_cached(&format!("SELECT body FROM projects WHERE {condition}"))?;
    let body: Option<String> = select.query_row([value], |row| row.get(0)).optional()?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}
