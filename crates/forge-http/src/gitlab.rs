//! The forge port on GitLab, where a pull request is a merge request.

use async_trait::async_trait;
use docent_forge::{Forge, ForgeError, PullRequest, PullRequestSpec, PullState};
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::api::ForgeApi;
use crate::call::{ForgeCall, escaped, readable};
use crate::http_forge::HttpForge;
use crate::title::{self, cut, is_marked, marked};
use crate::token::TokenSource;

/// Maximum length of a description, in characters; GitLab accepts 1,048,576.
const BODY: usize = 1_000_000;

/// Maximum number of merge requests that are read: forks may have branches of the same name.
const PAGE: usize = 50;

/// The access level of the role Developer.
const DEVELOPER: u32 = 30;

#[derive(Debug)]
pub(crate) struct Gitlab(pub(crate) ForgeApi);

#[derive(Debug, Deserialize)]
struct MergeRequest {
    iid: u64,
    web_url: String,
    state: String,
    #[serde(default)]
    title: String,
    draft: Option<bool>,
    source_branch: String,
    /// Absent if the fork of the branch was deleted.
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
}

impl MergeRequest {
    /// Whether the merge request is from this branch of the project itself, not of a fork.
    fn is_from(&self, head: &str) -> bool {
        let same = self.source_project_id.is_some() && self.source_project_id == self.target_project_id;
        same && self.source_branch == head
    }

    fn into_pull_request(self) -> PullRequest {
        let state = match self.state.as_str() {
            "merged" => PullState::Merged,
            "closed" => PullState::Closed,
            // Includes `locked`, the state during a merge.
            _ => PullState::Open,
        };
        let draft = self.draft.unwrap_or_else(|| is_marked(&self.title, title::GITLAB));
        PullRequest { number: self.iid, url: self.web_url, state, draft }
    }
}

impl Gitlab {
    fn path(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", escaped(&self.0.address.to_string()))
    }

    async fn newest(&self, head: &str, filter: &str) -> Result<Option<PullRequest>, ForgeError> {
        let query = format!("source_branch={}&{filter}&order_by=created_at&sort=desc&per_page={PAGE}", escaped(head));
        let listed = self.0.fetch(ForgeCall::get(self.path(&format!("/merge_requests?{query}")))).await?;
        let found: Vec<MergeRequest> = readable(listed);
        let newest = found.into_iter().filter(|found| found.is_from(head)).max_by_key(|found| found.iid);
        Ok(newest.map(MergeRequest::into_pull_request))
    }

    /// Updates the open merge request that prevents opening another.
    async fn update_existing(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let filter = format!("state=opened&target_branch={}", escaped(&request.base));
        let Some(found) = self.newest(&request.head, &filter).await? else { return Err(self.0.unlisted()) };
        self.update(&found, request).await
    }

    async fn has_branch(&self, branch: &str) -> Result<bool, ForgeError> {
        self.0.exists(self.path(&format!("/repository/branches/{}", escaped(branch)))).await
    }
}

#[async_trait]
impl Forge for Gitlab {
    async fn find(&self, head: &str) -> Result<Option<PullRequest>, ForgeError> {
        self.newest(head, "state=all").await
    }

    async fn open(&self, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        // GitLab expects the labels as one comma-separated text.
        let labels: Vec<&str> = request.labels.iter().map(String::as_str).filter(|name| !name.contains(',')).collect();
        let body = json!({
            "source_branch": request.head,
            "target_branch": request.base,
            "title": marked(&request.title, title::GITLAB, request.draft),
            "description": cut(&request.body, BODY),
            "labels": labels.join(","),
            "remove_source_branch": false,
        });
        let reply = self.0.send(ForgeCall::new(Method::POST, self.path("/merge_requests"), body)).await?;
        match reply.status {
            StatusCode::CONFLICT => self.update_existing(request).await,
            // The error message differs between releases, so the reason is determined by further requests.
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                if !self.has_branch(&request.head).await? {
                    return Err(ForgeError::HeadMissing { head: request.head.clone() });
                }
                if !self.has_branch(&request.base).await? {
                    return Err(self.0.refused(&format!("has no branch `{}` to open it to", request.base)));
                }
                Err(self.0.error(&reply))
            }
            _ => Ok(self.0.read::<MergeRequest>(&reply)?.into_pull_request()),
        }
    }

    async fn update(&self, found: &PullRequest, request: &PullRequestSpec) -> Result<PullRequest, ForgeError> {
        let title = marked(&request.title, title::GITLAB, found.draft);
        let body = json!({ "title": title, "description": cut(&request.body, BODY) });
        let call = ForgeCall::new(Method::PUT, self.path(&format!("/merge_requests/{}", found.number)), body);
        Ok(self.0.update::<MergeRequest>(found.number, call).await?.into_pull_request())
    }
}

#[derive(Debug, Deserialize)]
struct Project {
    path_with_namespace: String,
    #[serde(default)]
    archived: bool,
    merge_requests_access_level: Option<String>,
    permissions: Option<Permissions>,
}

#[derive(Debug, Deserialize)]
struct Permissions {
    project_access: Option<Access>,
    group_access: Option<Access>,
}

#[derive(Debug, Deserialize)]
struct Access {
    access_level: u32,
}

#[derive(Debug, Deserialize)]
struct OwnToken {
    scopes: Vec<String>,
}

impl Project {
    /// The access level, if GitLab returns it: it does not for groups above the project's own.
    fn level(&self) -> Option<u32> {
        let permissions = self.permissions.as_ref()?;
        let both = [&permissions.project_access, &permissions.group_access];
        both.into_iter().flatten().map(|access| access.access_level).max()
    }
}

#[async_trait]
impl HttpForge for Gitlab {
    async fn check(&self) -> Result<String, ForgeError> {
        let api = self.0.for_check();
        let project: Project = api.fetch(ForgeCall::get(self.path(""))).await?;
        let (name, tokens, forge) = (&project.path_with_namespace, &api.tokens, api.address.authority());
        if project.archived {
            return Err(api.refused("is archived: unarchive it, or remove the project"));
        }
        if project.merge_requests_access_level.as_deref() == Some("disabled") {
            return Err(api.refused("has merge requests turned off: turn them on in its settings"));
        }
        if matches!(tokens, TokenSource::None) {
            return Err(api.refused("may be read by anybody, but nothing is written there without a token"));
        }
        let level = project.level();
        if level.is_some_and(|level| level < DEVELOPER) {
            return Err(api.refused(&format!("lets {tokens} do too little: give it at least the role Developer")));
        }
        // Only access tokens can be introspected.
        let own = api.send(ForgeCall::get("/personal_access_tokens/self")).await?;
        if let Ok(OwnToken { scopes }) = api.read(&own)
            && !scopes.iter().any(|scope| scope == "api")
        {
            return Err(api.refused(&format!("needs the scope `api`, which {tokens} lacks")));
        }
        Ok(match level {
            Some(_) => format!("{tokens} may push and open merge requests in {name} at {forge}"),
            None => {
                format!("{tokens} sees {name} at {forge}; its role there GitLab does not tell (Developer is needed)")
            }
        })
    }
}
