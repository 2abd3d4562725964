//! The forge port on GitHub: github.com and Enterprise Server.

use async_trait::async_trait;
use docent_forge::{Forge, ForgeError, PullRequest, PullRequestSpec, PullState};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::ForgeApi;
use crate::call::{ForgeCall, escaped, readable};
use crate::http_forge::HttpForge;
use crate::reply::ForgeReply;
use crate::reply_context::mentions;
use crate::title::{cut, plain};
use crate::token::TokenSource;

/// Maximum length of a description, in characters; GitHub accepts 65,536.
const BODY: usize = 65_000;

/// Maximum number of pull requests that are read: forks may have branches of the same name.
const PAGE: usize = 50;

#[derive(Debug)]
pub(crate) struct Github(pub(crate) ForgeApi);

#[derive(Debug, Deserialize)]
struct Pull {
    number: u64,
    html_url: String,
    state: String,
    merged_at: Option<String>,
    draft: Option<bool>,
    head: Side,
    base: Side,
}

#[derive(Debug, Deserialize)]
struct Side {
    #[serde(rename = "ref")]
    branch: String,
    /// Absent if the fork of the branch was deleted.
    repo: Option<RepositoryId>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct RepositoryId {
    id: u64,
}

impl Pull {
    /// Whether the pull request is from this branch of the repository itself, not of a fork.
    fn is_from(&self, head: &str) -> bool {
        self.head.branch == head && self.head.repo.is_some() && self.head.repo == self.base.repo
    }

    fn into_pull_request(self) -> PullRequest {
        let state = match (self.state.as_str(), &self.merged_at) {
            (_, Some(_)) => PullState::Merged,
            ("open", None) => PullState::Open,
            _ => PullState::Closed,
        };
        PullRequest { number: self.number, url: self.html_url, state, draft: self.draft.unwrap_or(false) }
    }
}

/// The outcome of a request to open a pull request.
#[derive(Debug, PartialEq, Eq)]
enum OpenAttempt {
    Made,
    /// An open pull request from the same branch exists already.
    There,
    /// This repository's plan has no drafts.
    NoDrafts,
    NoChanges,
    HeadMissing,
    BaseMissing,
    Failed,
}

impl OpenAttempt {
    fn of(reply: &ForgeReply) -> Self {
        match reply.status {
            status if status.is_success() => Self::Made,
            StatusCode::UNPROCESSABLE_ENTITY if names(reply, "head") => Self::HeadMissing,
            StatusCode::UNPROCESSABLE_ENTITY if names(reply, "base") => Self::BaseMissing,
            // For the other reasons, GitHub's message is the only distinction.
            StatusCode::UNPROCESSABLE_ENTITY if mentions(reply, &["pull request already exists"]) => Self::There,
            StatusCode::UNPROCESSABLE_ENTITY if mentions(reply, &["no commits between"]) => Self::NoChanges,
            StatusCode::UNPROCESSABLE_ENTITY
                if mentions(reply, &["draft pull requests are not supported", "draft pull requests not supported"]) =>
            {
                Self::NoDrafts
            }
            _ => Self::Failed,
        }
    }
}

/// Whether an error is about this field's value.
fn names(reply: &ForgeReply, field: &str) -> bool {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let about =
        |error: &Value| error["field"] == field && matches!(error["code"].as_str(), Some("invalid" | "missing"));
    body["errors"].as_array().is_some_and(|errors| errors.iter().any(about))
}

impl Github {
    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{}{rest}", escaped(&self.0.address.owner), escaped(&self.0.address.name))
    }

    /// The pull requests from this branch, newest first.
    async fn of_branch(&self, head: &str, state: &str) -> Result<Vec<Pull>, ForgeError> {
        let list = format!("state={state}&sort=created&direction=desc&per_page={PAGE}");
        let by_head = escaped(&format!("{}:{head}", self.0.address.owner));
        let reply = self.0.send(ForgeCall::get(self.path(&format!("/pulls?head={by_head}&{list}")))).await?;
        let mut pulls: Vec<Pull> = readable(self.0.read(&reply)?);
        if reply.moved && pulls.is_empty() {
            // The filter requires the owner's current name, which may have changed.
            pulls = readable(self.0.fetch(ForgeCall::get(self.path(&format!("/pulls?{list}")))).await?);
        }
        pulls.retain(|pull| pull.is_from(head));
        Ok(pulls)
    }

    async fn create(&self, request: &PullRequestSpec, draft: bool) -> Result<ForgeReply, ForgeError> {
        let body = json!({
            "title": plain(&request.title),
            "body": cut(&request.body, BODY),
            "head": request.head,
            "base": request.base,
            "draft": draft,
        });
        self.0.send(ForgeCall::new(Method::POST, self.path("/pulls"), body)).await
    }

    /// Updates the open pull request that prevents opening another.
    async fn update_existing(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let pulls = self.of_branch(&request.head, "open").await?;
        let same = pulls.into_iter().find(|pull| pull.base.branch == request.base);
        let Some(found) = same else { return Err(self.0.unlisted()) };
        self.update(&found.into_pull_request(), request).await
    }

    /// A pull request without labels is still useful, so nothing here fails the job.
    async fn label(&self, number: u64, labels: &[String]) {
        if labels.is_empty() {
            return;
        }
        let call =
            ForgeCall::new(Method::POST, self.path(&format!("/issues/{number}/labels")), json!({ "labels": labels }));
        if let Err(error) = self.0.fetch::<Value>(call).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(repository = %self.0.address, number, error, "the pull request has no labels");
        }
    }
}

#[async_trait]
impl Forge for Github {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        let newest = self.of_branch(head, "all").await?.into_iter().max_by_key(|pull| pull.number);
        Ok(newest.map(Pull::into_pull_request))
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let mut reply = self.create(request, request.draft).await?;
        if request.draft && OpenAttempt::of(&reply) == OpenAttempt::NoDrafts {
            reply = self.create(request, false).await?;
        }
        let (head, base) = (request.head.clone(), request.base.clone());
        let pull = match OpenAttempt::of(&reply) {
            OpenAttempt::Made => self.0.read::<Pull>(&reply)?.into_pull_request(),
            OpenAttempt::There => self.update_existing(request).await?,
            OpenAttempt::NoChanges => return Err(ForgeError::NoChanges { head, base }),
            OpenAttempt::HeadMissing => return Err(ForgeError::HeadMissing { head }),
            OpenAttempt::BaseMissing => return Err(self.0.refused(&format!("has no branch `{base}` to open it to"))),
            OpenAttempt::NoDrafts | OpenAttempt::Failed => return Err(self.0.error(&reply)),
        };
        self.label(pull.number, &request.labels).await;
        Ok(pull)
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let body = json!({ "title": plain(&request.title), "body": cut(&request.body, BODY) });
        let call = ForgeCall::new(Method::PATCH, self.path(&format!("/pulls/{}", found.number)), body);
        Ok(self.0.update::<Pull>(found.number, call).await?.into_pull_request())
    }
}

#[derive(Debug, Deserialize)]
struct Repository {
    full_name: String,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    private: bool,
    permissions: Option<Permissions>,
}

#[derive(Debug, Deserialize)]
struct Permissions {
    #[serde(default)]
    push: bool,
}

#[async_trait]
impl HttpForge for Github {
    async fn check(&self) -> Result<String, ForgeError> {
        let api = self.0.for_check();
        let reply = api.send(ForgeCall::get(self.path(""))).await?;
        let repository: Repository = api.read(&reply)?;
        let (name, tokens, forge) = (&repository.full_name, &api.tokens, api.address.authority());
        if repository.archived {
            return Err(api.refused("is archived: unarchive it, or remove the project"));
        }
        if matches!(tokens, TokenSource::App(_)) {
            // An App's token is only issued with the needed permissions.
            return Ok(format!("{tokens} may push and open pull requests in {name} at {forge}"));
        }
        if !repository.permissions.as_ref().is_some_and(|permissions| permissions.push) {
            return Err(
                api.refused(&format!("may be read but not written to by {tokens}: give its owner write access"))
            );
        }
        let scopes = reply.headers.get("x-oauth-scopes").and_then(|scopes| scopes.to_str().ok());
        let Some(scopes) = scopes.filter(|scopes| !scopes.trim().is_empty()) else {
            return Ok(format!(
                "the owner of {tokens} may push to {name} at {forge}; whether the token itself has the permissions \
                 Contents and Pull requests: read and write shows at the first job"
            ));
        };
        let enough = |scope: &str| scope == "repo" || (!repository.private && scope == "public_repo");
        if scopes.split(',').map(str::trim).any(enough) {
            return Ok(format!("{tokens} may push and open pull requests in {name} at {forge}"));
        }
        Err(api.refused(&format!("needs the scope `repo`, which {tokens} lacks")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> ForgeReply {
        ForgeReply {
            status: StatusCode::from_u16(status).unwrap(),
            body: body.to_owned().into(),
            ..ForgeReply::default()
        }
    }

    #[test]
    fn answers_of_github_to_an_opening_are_classified() {
        let custom = |message: &str| {
            let error = json!({ "resource": "PullRequest", "code": "custom", "message": message });
            json!({ "message": "Validation Failed", "errors": [error], "status": "422" }).to_string()
        };
        let field = |field: &str| {
            let error = json!({ "resource": "PullRequest", "field": field, "code": "invalid" });
            json!({ "message": "Validation Failed", "errors": [error] }).to_string()
        };
        for (status, body, expected) in [
            (201, "{}".to_owned(), OpenAttempt::Made),
            (422, custom("A pull request already exists for acme:docent/a."), OpenAttempt::There),
            (422, custom("No commits between main and docent/a"), OpenAttempt::NoChanges),
            (422, field("head"), OpenAttempt::HeadMissing),
            (422, field("base"), OpenAttempt::BaseMissing),
            (422, field("title"), OpenAttempt::Failed),
            (
                422,
                r#"{"message":"Draft pull requests are not supported in this repository."}"#.to_owned(),
                OpenAttempt::NoDrafts,
            ),
            (422, r#"{"message":"Validation Failed","errors":["body is too long"]}"#.to_owned(), OpenAttempt::Failed),
            (422, "not JSON".to_owned(), OpenAttempt::Failed),
            (403, custom("No commits between main and docent/a"), OpenAttempt::Failed),
        ] {
            assert_eq!(OpenAttempt::of(&reply(status, &body)), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_fork_with_a_branch_of_the_same_name_is_another_repository() {
        let pull = |head: Value| -> Pull {
            serde_json::from_value(json!({
                "number": 1, "html_url": "https://github.com/acme/docs/pull/1", "state": "closed",
                "head": head, "base": { "ref": "main", "repo": { "id": 7 } },
            }))
            .unwrap()
        };
        assert!(pull(json!({ "ref": "docent/a", "repo": { "id": 7 } })).is_from("docent/a"));
        assert!(!pull(json!({ "ref": "docent/a", "repo": { "id": 8 } })).is_from("docent/a"));
        assert!(!pull(json!({ "ref": "docent/a", "repo": null })).is_from("docent/a"));
        assert!(!pull(json!({ "ref": "docent/ab", "repo": { "id": 7 } })).is_from("docent/a"));
    }
}
