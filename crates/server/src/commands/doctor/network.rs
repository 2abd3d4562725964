//! Checks of other services: models, forges and repositories.

use std::sync::Arc;

use docent_authoring::Docs;
use docent_forge::ForgeError;
use docent_jobs::DeliveryAttempt;
use docent_jobs::search::{FoundJob, JobSearch};
use docent_llm::Model as _;
use docent_quarantine::{SetAsideRecord, SubjectKind};
use docent_search::Skipped;
use docent_types::{Project, error_chain_of, without_os_number};
use futures::future::join_all;
use tokio::time::timeout;

use super::{Finding, Findings, LIMIT};
use crate::commands::index::{blobs, reasons};
use crate::commands::projects::{no_pages, overview};
use crate::commands::quantity::counted;
use crate::config::{HookConfig, ModelConfig, RunsOn};
use crate::failure::Failure;
use crate::wiring::app::App;
use crate::wiring::embedders::{self, EmbedderCheck};
use crate::wiring::forges::secret_source;
use crate::wiring::hooks;
use crate::wiring::models::ConfiguredModel;
use crate::wiring::site_file::{FILE, SiteFile};

/// Number of a project's newest jobs whose messages are looked at.
const MAX_RECENT_JOBS: usize = 20;

/// Minimum number of skipped files that is reported.
const LEAST_SKIPPED: usize = 3;

/// Checks whether a model answers.
pub(super) async fn model(name: &str, model: &ConfiguredModel) -> Finding {
    let who = model.describe();
    if let Err(error) = model.key() {
        return Finding::bad(
            format!("`{name}` is {who}: {}", Failure::from(error)),
            format!("put the key of `{}` there, for the user that runs docent", who.model),
        );
    }
    match timeout(LIMIT, model.check()).await {
        Ok(Ok(said)) => Finding::Good(format!("`{name}`: {said}")),
        Ok(Err(failure)) => Finding::bad(format!("`{name}`: {failure}"), model.remedy()),
        Err(_) => Finding::bad(format!("`{name}` is {who}: no answer within {} s", LIMIT.as_secs()), model.remedy()),
    }
}

/// Checks whether questions can be embedded, if that is configured.
pub(super) async fn embedder(app: &App) -> Option<Finding> {
    let checked = timeout(LIMIT, embedders::check(app.embedder.as_deref()?)).await;
    let fix = "see `[search]` in the configuration; without vectors questions are answered by their words";
    Some(match checked {
        Ok(Ok(EmbedderCheck { said, exceeded_waits })) if exceeded_waits.is_empty() => Finding::Good(said),
        Ok(Ok(EmbedderCheck { said, exceeded_waits })) => Finding::Note(format!(
            "{said}, which is longer than {}: a question that is new there is answered by words alone",
            exceeded_waits.join(" and ")
        )),
        Ok(Err(failure)) => Finding::bad(failure.to_string(), fix),
        Err(_) => Finding::bad(format!("the embedder did not answer within {} s", LIMIT.as_secs()), fix),
    })
}

/// Checks whether events can be signed, whether the receiver answers, and whether it accepted the last event. Sends no
/// event.
pub(super) async fn hook(app: &App, config: &HookConfig) -> Finding {
    let (key, url) = (&config.key, &config.url);
    let unreachable = |why: String| {
        let fix = "see whether its receiver runs and can be reached from here; events are sent again for most of a day";
        Finding::bad(format!("`{key}`: {why}"), fix)
    };
    let hook = match hooks::hook(config) {
        Ok(hook) => hook,
        Err(failure) => return Finding::bad(failure.to_string(), "set the variable for the user that runs docent"),
    };
    match timeout(LIMIT, hooks::hooks(app, Vec::new()).probe(&hook)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => return unreachable(error_chain_of(&error, without_os_number)),
        Err(_) => return unreachable(format!("no answer within {} s", LIMIT.as_secs())),
    }
    let states = app.store.hook_states().await.unwrap_or_default();
    let state = states.into_iter().find(|state| state.hook == hook.key());
    match state.and_then(|state| Some((state.last?, state.queued))) {
        Some((DeliveryAttempt { delivered: false, answer, at }, queued)) => Finding::Note(format!(
            "`{key}`: {url} can be reached, but the last delivery, at {at}, failed: {answer}; events that wait: {queued}"
        )),
        _ => Finding::Good(format!("`{key}`: {url} can be reached")),
    }
}

/// Runs all checks of a project.
pub(super) async fn project(app: Arc<App>, project: Project) -> Findings {
    let (app, project) = (&*app, &project);
    let mut findings = Findings::new();
    if let Some(finding) = no_token(project) {
        findings.push(("repository", finding));
    } else {
        // The forge first: its errors explain best what is wrong with the token, which the repository requires too.
        let forge = forge(app, project).await;
        let is_closed = matches!(forge, Some(Finding::Bad { .. })) && project.token.is_none();
        findings.extend(forge.map(|finding| ("forge", finding)));
        if !is_closed {
            findings.extend(repository(app, project).await);
            let contexts = project.context.iter().map(|(name, url)| context(app, project, name, url));
            findings.extend(join_all(contexts).await.into_iter().map(|finding| ("context", finding)));
        }
    }
    findings.extend(calls_as_text(app, project).await.map(|finding| ("model", finding)));
    findings.push(("index", index(app, project)));
    findings.extend(skipped(app, project).map(|finding| ("index", finding)));
    findings.extend(set_aside(app, project).into_iter().map(|finding| ("quarantine", finding)));
    findings
}

/// Reports the newest jobs whose model wrote its calls as text, while its configuration says not to read them there.
async fn calls_as_text(app: &App, project: &Project) -> Option<Finding> {
    let search = JobSearch { projects: vec![project.id.clone()], limit: MAX_RECENT_JOBS, ..JobSearch::default() };
    let found = app.jobs.search(search).await.ok()?;
    found.jobs.into_iter().find_map(|FoundJob { job, .. }| {
        let name = match app.config.offered.get(&job.model)? {
            RunsOn::Other(name) => name,
            RunsOn::Itself => &job.model,
            RunsOn::Builtin => return None,
        };
        let ModelConfig::OpenAi(_, quirks) = app.config.models.get(name)? else { return None };
        let is_unread = !quirks.text_tool_calls && job.message.as_deref().is_some_and(docent_agent::says_calls_as_text);
        is_unread.then(|| {
            let what = format!("`{name}` wrote its tool calls into its text in the job {} of `{}`", job.id, project.id);
            Finding::bad(what, format!("set `models.{name}.text_tool_calls = true`, and send the instruction again"))
        })
    })
}

/// What ended a process, and is not read or done again.
fn set_aside(app: &App, project: &Project) -> Vec<Finding> {
    let records = app.quarantine.list();
    if records.is_empty() {
        return Vec::new();
    }
    let scope = project.uid.to_string();
    let blobs = blobs(app, project).unwrap_or_default();
    // What has changed since is known no more than by its old blob id.
    let is_there = |key: &str| blobs.contains(key) || key.contains(' ');
    let finding = |SetAsideRecord { subject, ends, at, .. }: SetAsideRecord| match subject.kind {
        SubjectKind::Content if subject.scope == scope && is_there(&subject.key) => Some(Finding::bad(
            format!(
                "`{}`: {} is set aside: a process ended while it read it ({ends} times, last seen at {at})",
                project.domain, subject.name
            ),
            format!("change the file, or try it again with `docent index {} --retry`", project.domain),
        )),
        SubjectKind::Step if subject.scope == project.id.as_str() => Some(Finding::Note(format!(
            "`{}`: {}: the server ended {ends} times, last seen at {at}; this step is not tried again",
            project.id, subject.key
        ))),
        _ => None,
    };
    records.into_iter().filter_map(finding).collect()
}

/// A token that is configured but missing. The other checks are skipped then.
fn no_token(project: &Project) -> Option<Finding> {
    let token = project.token.as_ref()?;
    let error = secret_source(token).read().err()?;
    Some(Finding::bad(
        format!("`{}`: {}", project.id, Failure::from(error)),
        format!("put a token that may read and write {} into {token}", project.repository),
    ))
}

/// Checks whether the repository can be fetched, and finds problems in the assistant's settings in it.
async fn repository(app: &App, project: &Project) -> Findings {
    let id = &project.id;
    let finding = match timeout(LIMIT, app.repositories.docs(project)).await {
        Ok(Ok(docs)) => {
            let found = match overview(app, docs.clone()).await {
                Ok(overview) if overview.pages == 0 => {
                    let fix = format!("`docent project set {id}` with --ref or --docs-root");
                    Finding::bad(format!("`{id}`: {}", no_pages(project)), fix)
                }
                _ => Finding::Good(format!("`{id}`: {} on `{}`", project.repository, project.branch)),
            };
            let odd = site_file(project, &docs).into_iter().map(|finding| ("assistant", finding));
            return std::iter::once(("repository", found)).chain(odd).collect();
        }
        Ok(Err(error)) => Finding::bad(
            format!("`{id}`: {}", Failure::from(error)),
            format!("check the address, the branch and what opens it with `git ls-remote {}`", project.repository),
        ),
        // A first clone may take longer, and that is not an error.
        Err(_) => {
            Finding::Note(format!("`{id}`: {} is still being fetched after {} s", project.repository, LIMIT.as_secs()))
        }
    };
    vec![("repository", finding)]
}

fn site_file(project: &Project, docs: &Docs) -> Vec<Finding> {
    let id = &project.id;
    match docs.file(FILE) {
        Ok(None) => Vec::new(),
        Ok(Some(bytes)) => {
            let problems = SiteFile::read(&bytes).problems;
            problems.iter().map(|problem| Finding::Note(format!("`{id}`: {problem}"))).collect()
        }
        Err(error) => vec![Finding::bad(
            format!("`{id}`: {}", Failure::new(format!("cannot read {FILE}"), error)),
            "stop the server and remove the data folder's `mirrors`; they are made again",
        )],
    }
}

/// Checks a context repository, which the agent may read.
async fn context(app: &App, project: &Project, name: &str, url: &str) -> Finding {
    let id = &project.id;
    match timeout(LIMIT, app.repositories.fetch_context(project, url)).await {
        Ok(Ok(_)) => Finding::Good(format!("`{id}`: `{name}` is {url}")),
        Ok(Err(error)) => Finding::bad(
            format!("`{id}`: `{name}`: {}", Failure::from(error)),
            format!("check the address with `git ls-remote {url}`; the project's token is used on its own host only"),
        ),
        Err(_) => Finding::Note(format!("`{id}`: `{name}` is still being fetched after {} s", LIMIT.as_secs())),
    }
}

/// Checks whether pull requests can be opened, if the forge is another server.
async fn forge(app: &App, project: &Project) -> Option<Finding> {
    let id = &project.id;
    let forge = match app.forges.place(project) {
        Ok(place) => app.forges.at(place?),
        Err(error) => {
            let fix = format!("remove the project and add it again: {error}");
            return Some(Finding::bad(format!("`{id}`: its address is not one of {}", project.forge.as_str()), fix));
        }
    };
    Some(match timeout(LIMIT, forge.check()).await {
        Ok(Ok(said)) => Finding::Good(format!("`{id}`: {said}")),
        Ok(Err(ForgeError::Refused { sentence })) => {
            Finding::bad(format!("`{id}`: {sentence}"), "see docs/CONFIGURATION.md for what a token needs")
        }
        Ok(Err(error)) => {
            let fix = "see whether the forge can be reached from here, and whether --base-url is right";
            Finding::bad(format!("`{id}`: {}", Failure::from(error)), fix)
        }
        Err(_) => {
            let what = format!("`{id}`: the forge did not answer within {} s", LIMIT.as_secs());
            Finding::bad(what, "see whether it can be reached from here, and whether --base-url is right")
        }
    })
}

fn index(app: &App, project: &Project) -> Finding {
    match app.indexes.open(project.uid) {
        Ok(index) => match index.snapshot().page_count() {
            0 if index.snapshot().commit().is_some() => Finding::bad(
                format!("`{}`: no page of it is indexed", project.domain),
                format!("`docent index {}` says where it looked and what it skipped", project.domain),
            ),
            0 => Finding::Note(format!("`{}` is not indexed yet; `docent index {0}` does it", project.domain)),
            pages => Finding::Good(format!("`{}`: {}", project.domain, counted(pages as u64, "page"))),
        },
        Err(error) => Finding::bad(
            format!("`{}`: {}", project.domain, Failure::from(error)),
            format!("remove its folder below {} and index again", app.config.data.join("index").display()),
        ),
    }
}

/// The number of skipped files, if it is large enough to be a mistake.
fn skipped(app: &App, project: &Project) -> Option<Finding> {
    let snapshot = app.indexes.open(project.uid).ok()?.snapshot();
    let skipped: Vec<Skipped> = snapshot.skipped().into_iter().filter(|skipped| !skipped.reason.is_usual()).collect();
    let files: usize = skipped.iter().map(|skipped| skipped.count).sum();
    let pages = snapshot.page_count();
    (files >= LEAST_SKIPPED && files * 2 >= pages).then(|| {
        Finding::Note(format!(
            "`{domain}`: {files} files that look like docs are skipped beside {}: {}; `docent search {domain} \
             --why-not PATH` says why",
            counted(pages as u64, "page"),
            reasons(&skipped).join("; "),
            domain = project.domain
        ))
    })
}

#[cfg(test)]
mod tests {
    use docent_http_client::{Client, ClientOptions};
    use tokio::net::TcpListener;

    use super::*;
    use crate::config::{Endpoint, ModelConfig, OpenAiQuirks};

    #[tokio::test(start_paused = true)]
    async fn a_model_that_says_nothing_is_not_waited_for() {
        // The kernel accepts connections, but the server never reads them.
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let endpoint = Endpoint {
            model: "m".into(),
            base_url: Some(format!("http://{}/v1", listener.local_addr().expect("an address"))),
            key: None,
            context_tokens: None,
            max_reply_tokens: None,
            idle: None,
            price: None,
        };
        let config = ModelConfig::OpenAi(endpoint, OpenAiQuirks::default());
        let client = Client::new(ClientOptions::default());
        let silent = ConfiguredModel::new("sonnet", &config, &client).expect("a model");
        let Finding::Bad { what, fix } = model("sonnet", &silent).await else { panic!("it is well") };
        assert!(what.contains("`sonnet`"), "{what}");
        assert!(fix.contains("http://127.0.0.1:"), "{fix}");
    }
}
