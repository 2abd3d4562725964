//! The port to projects.

use async_trait::async_trait;
use docent_access::{AddError, Projects};
use docent_types::{BoxError, Domain, Project, ProjectId, StoreError, Timestamp};

use crate::error::Abort;
use crate::params::params;
use crate::postgres::PostgresStore;
use crate::transaction::Transaction;
use crate::{keys, project_data, removed_projects};

#[async_trait]
impl Projects for PostgresStore {
    async fn add(&self, project: Project) -> Result<(), AddError> {
        self.write("add the project", move |transaction| async move {
            lock(&transaction).await?;
            if find(&transaction, "id = $1", project.id.as_str()).await?.is_some() {
                return Err(Abort::Refused(AddError::IdTaken(project.id)));
            }
            check_domain_free(&transaction, &project).await?;
            let insert = "INSERT INTO projects (id, domain, body) VALUES ($1, $2, $3)";
            let body = serde_json::to_string(&project)?;
            transaction.execute(insert, params![project.id.as_str(), project.domain.as_str(), body]).await?;
            transaction.touch_access();
            Ok(())
        })
        .await
    }

    async fn replace(&self, project: Project) -> Result<Option<Project>, AddError> {
        self.write("change the project", move |transaction| async move {
            lock(&transaction).await?;
            check_domain_free(&transaction, &project).await?;
            let found = find(&transaction, "id = $1", project.id.as_str()).await?;
            let found = found.filter(|found| found.uid == project.uid);
            if let Some(found) = &found {
                project_data::move_to_domain(&transaction, &found.domain, &project.domain).await?;
                let update = "UPDATE projects SET domain = $2, body = $3 WHERE id = $1";
                let body = serde_json::to_string(&project)?;
                transaction.execute(update, params![project.id.as_str(), project.domain.as_str(), body]).await?;
            }
            transaction.touch_access();
            Ok(found)
        })
        .await
    }

    async fn remove(&self, id: &ProjectId, now: Timestamp) -> Result<Option<Project>, StoreError> {
        let id = id.clone();
        self.write("remove the project", move |transaction| async move {
            lock(&transaction).await?;
            let found = find(&transaction, "id = $1", id.as_str()).await?;
            // Before its keys are revoked, so that none is added behind that.
            transaction.execute("DELETE FROM projects WHERE id = $1", params![id.as_str()]).await?;
            keys::revoke_all(&transaction, &id, now).await?;
            if let Some(project) = &found {
                removed_projects::remove_jobs(&transaction, project, now).await?;
                project_data::keep_from_later_projects(&transaction, project).await?;
            }
            transaction.touch_access();
            Ok::<_, Abort<StoreError>>(found)
        })
        .await
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.read("list the projects", |transaction| async move {
            let rows = transaction.query("SELECT body FROM projects ORDER BY id", &[]).await?;
            rows.iter().map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).collect()
        })
        .await
    }

    async fn by_id(&self, id: &ProjectId) -> Result<Option<Project>, StoreError> {
        let id = id.clone();
        let find = |transaction| async move { find(&transaction, "id = $1", id.as_str()).await };
        self.read("look up the project", find).await
    }

    async fn by_domain(&self, domain: &Domain) -> Result<Option<Project>, StoreError> {
        let domain = domain.clone();
        let find = |transaction| async move { find(&transaction, "domain = $1", domain.as_str()).await };
        self.read("look up the domain", find).await
    }
}

/// Changes of projects take place one after another.
async fn lock(transaction: &Transaction) -> Result<(), BoxError> {
    transaction.lock("projects", "").await
}

async fn check_domain_free(transaction: &Transaction, project: &Project) -> Result<(), Abort<AddError>> {
    match find(transaction, "domain = $1", project.domain.as_str()).await? {
        Some(other) if other.id != project.id => {
            Err(Abort::Refused(AddError::DomainTaken { domain: project.domain.clone(), project: other.id }))
        }
        _ => Ok(()),
    }
}

async fn find(transaction: &Transaction, condition: &str, value: &str) -> Result<Option<Project>, BoxError> {
    let select = format!("SELECT body FROM projects WHERE {condition}");
    let row = transaction.query_opt(&select, params![value]).await?;
    row.map(|row| Ok(serde_json::from_str(row.try_get(0)?)?)).transpose()
}
