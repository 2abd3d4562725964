//! The forge port on Gitea and Forgejo.

use async_trait::async_trait;
use docent_forge::{Forge, ForgeError, PullRequest, PullRequestSpec, PullState};
use http::header::LINK;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::ForgeApi;
use crate::call::{ForgeCall, escaped, readable};
use crate::http_forge::HttpForge;
use crate::reply::ForgeReply;
use crate::title::{self, cut, is_marked, marked};

/// Maximum length of a description, in characters. Gitea stores more, but nobody reads more.
const BODY: usize = 1_000_000;

/// The largest page that Gitea returns by default.
const PAGE: usize = 50;

/// Maximum number of pages that are read. An open pull request beyond them is found by another request when the forge
/// refuses to open a second one.
const PAGES: usize = 5;

#[derive(Debug)]
pub(crate) struct Gitea(pub(crate) ForgeApi);

#[derive(Debug, Deserialize)]
struct Pull {
    number: u64,
    html_url: String,
    state: String,
    #[serde(default)]
    merged: bool,
    #[serde(default)]
    title: String,
    draft: Option<bool>,
    head: Side,
    base: Side,
}

#[derive(Debug, Deserialize)]
struct Side {
    /// The name of the branch, kept when the branch is deleted.
    label: Option<String>,
    #[serde(rename = "ref")]
    branch: String,
    #[serde(default)]
    repo_id: i64,
}

impl Pull {
    /// Whether the pull request is from this branch of the repository itself, not of a fork.
    fn is_from(&self, head: &str) -> bool {
        let named = self.head.branch == head || self.head.label.as_deref() == Some(head);
        named && self.head.repo_id == self.base.repo_id
    }

    fn into_pull_request(self) -> PullRequest {
        let state = match self.state.as_str() {
            _ if self.merged => PullState::Merged,
            "open" => PullState::Open,
            _ => PullState::Closed,
        };
        let draft = self.draft.unwrap_or(false) || is_marked(&self.title, title::GITEA);
        PullRequest { number: self.number, url: self.html_url, state, draft }
    }
}

#[derive(Debug, Deserialize)]
struct Label {
    id: i64,
    name: String,
}

/// Whether there is another page. A forge may be configured to return shorter pages than requested.
fn has_next(reply: &ForgeReply) -> bool {
    let links = reply.headers.get(LINK).and_then(|links| links.to_str().ok()).unwrap_or_default();
    links.contains("rel=\"next\"")
}

impl Gitea {
    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{}{rest}", escaped(&self.0.address.owner), escaped(&self.0.address.name))
    }

    /// The newest pull request that matches. Gitea lists them newest first, and cannot filter by branch.
    async fn newest(&self, state: &str, wanted: impl Fn(&Pull) -> bool) -> Result<Option<Pull>, ForgeError> {
        for page in 1..=PAGES {
            let path = self.path(&format!("/pulls?state={state}&limit={PAGE}&page={page}"));
            let reply = self.0.send(ForgeCall::get(path)).await?;
            let listed: Vec<Value> = self.0.read(&reply)?;
            let last = listed.is_empty() || (listed.len() < PAGE && !has_next(&reply));
            let pulls: Vec<Pull> = readable(listed);
            let found = pulls.into_iter().filter(|pull| wanted(pull)).max_by_key(|pull| pull.number);
            if found.is_some() || last {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Updates the open pull request that prevents opening another.
    async fn update_existing(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let same = |pull: &Pull| pull.is_from(&request.head) && pull.base.branch == request.base;
        let mut found = self.newest("open", same).await?;
        if found.is_none() {
            let (base, head) = (escaped(&request.base), escaped(&request.head));
            let reply = self.0.send(ForgeCall::get(self.path(&format!("/pulls/{base}/{head}")))).await?;
            found = self.0.read::<Pull>(&reply).ok().filter(|pull| same(pull) && pull.state == "open");
        }
        let Some(found) = found else { return Err(self.0.unlisted()) };
        self.update(&found.into_pull_request(), request).await
    }

    async fn has_branch(&self, branch: &str) -> Result<bool, ForgeError> {
        self.0.exists(self.path(&format!("/branches/{}", escaped(branch)))).await
    }

    /// The numbers of the labels that exist in the repository. A pull request without labels is still useful, so
    /// nothing here fails the job.
    async fn label_numbers(&self, names: &[String]) -> Vec<i64> {
        let mut numbers = Vec::new();
        for page in 1..=PAGES {
            if numbers.len() == names.len() {
                break;
            }
            let path = self.path(&format!("/labels?limit={PAGE}&page={page}"));
            match self.0.fetch::<Vec<Label>>(ForgeCall::get(path)).await {
                Ok(labels) if labels.is_empty() => break,
                Ok(labels) => {
                    numbers
                        .extend(labels.into_iter().filter(|label| names.contains(&label.name)).map(|label| label.id));
                }
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::warn!(repository = %self.0.address, error, "the labels could not be looked up");
                    break;
                }
            }
        }
        numbers
    }
}

#[async_trait]
impl Forge for Gitea {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        Ok(self.newest("all", |pull| pull.is_from(head)).await?.map(Pull::into_pull_request))
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let body = json!({
            "head": request.head,
            "base": request.base,
            "title": marked(&request.title, title::GITEA, request.draft),
            "body": cut(&request.body, BODY),
            "labels": self.label_numbers(&request.labels).await,
        });
        let reply = self.0.send(ForgeCall::new(Method::POST, self.path("/pulls"), body)).await?;
        match reply.status {
            StatusCode::CONFLICT => self.update_existing(request).await,
            // A missing branch and a missing repository have the same status, so the repository is fetched first.
            StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => {
                let _: Repository = self.0.fetch(ForgeCall::get(self.path(""))).await?;
                if !self.has_branch(&request.head).await? {
                    return Err(ForgeError::HeadMissing { head: request.head.clone() });
                }
                if !self.has_branch(&request.base).await? {
                    return Err(self.0.refused(&format!("has no branch `{}` to open it to", request.base)));
                }
                Err(self.0.error(&reply))
            }
            _ => Ok(self.0.read::<Pull>(&reply)?.into_pull_request()),
        }
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let title = marked(&request.title, title::GITEA, found.draft);
        let body = json!({ "title": title, "body": cut(&request.body, BODY) });
        let call = ForgeCall::new(Method::PATCH, self.path(&format!("/pulls/{}", found.number)), body);
        Ok(self.0.update::<Pull>(found.number, call).await?.into_pull_request())
    }
}

#[derive(Debug, Deserialize)]
struct Repository {
    full_name: String,
    #[serde(default)]
    archived: bool,
    has_pull_requests: Option<bool>,
    permissions: Option<Permissions>,
}

#[derive(Debug, Deserialize)]
struct Permissions {
    #[serde(default)]
    push: bool,
}

#[async_trait]
impl HttpForge for Gitea {
    async fn check(&self) -> Result<String, ForgeError> {
        let api = self.0.for_check();
        let repository: Repository = api.fetch(ForgeCall::get(self.path(""))).await?;
        let (tokens, forge) = (&api.tokens, api.address.authority());
        if repository.archived {
            return Err(api.refused("is archived: unarchive it, or remove the project"));
        }
        if repository.has_pull_requests == Some(false) {
            return Err(api.refused("has pull requests turned off: turn them on in its settings"));
        }
        if !repository.permissions.is_some_and(|permissions| permissions.push) {
            return Err(api.refused(&format!("may not be written to by {tokens}: give its user write access")));
        }
        Ok(format!(
            "the user of {tokens} may push to {} at {forge}; the token's own permissions show at the first job (read and \
             write for repositories is needed)",
            repository.full_name
        ))
    }
}
