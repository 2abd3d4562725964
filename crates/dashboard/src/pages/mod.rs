//! The pages.

mod account;
mod analytics;
mod conflicts;
mod conversations;
mod docs;
mod home;
mod job;
mod jobs;
mod journal;
mod journal_sentence;
mod keys;
mod operators;
mod playground;
mod projects;
mod pulls;
mod search;
mod searches;
mod settings;
pub(crate) mod signing;
mod snippets;
mod style;
mod widget;

pub(crate) use playground::KeptAnswers;

use docent_types::Refusal;
use docent_web::{HttpError, Response};

use crate::dashboard::AuthorizedRequest;
use crate::live;
use crate::route::{PageRoute, ProjectRoute};

/// The response to an authorized request.
pub(crate) async fn serve(
    request: &AuthorizedRequest<'_>,
    route: PageRoute<'_>,
    is_write: bool,
) -> Result<Response, HttpError> {
    match route {
        PageRoute::Home => home::home(request).await,
        PageRoute::Live => live::stream(request).await,
        PageRoute::Jobs => jobs::all(request).await,
        PageRoute::Pulls => pulls::all(request).await,
        PageRoute::Projects => projects::list(request).await,
        PageRoute::NewProject if is_write => projects::add(request).await,
        PageRoute::NewProject => projects::new(request),
        PageRoute::Operators if is_write => operators::invite(request).await,
        PageRoute::Operators => operators::list(request).await,
        PageRoute::OperatorRole(id) => operators::set_role(request, id).await,
        PageRoute::OperatorReset(id) => operators::reset(request, id).await,
        PageRoute::RemoveOperator(id) => operators::remove(request, id).await,
        PageRoute::Audit => operators::audit(request).await,
        PageRoute::Account if is_write => account::change_password(request).await,
        PageRoute::Account => Ok(account::account(request)),
        PageRoute::SignOut => account::sign_out(request).await,
        PageRoute::SignOutEverywhere => account::sign_out_everywhere(request).await,
        PageRoute::Settings => settings::settings(request).await,
        PageRoute::Search => search::search(request).await,
        PageRoute::Style => Ok(style::style(request)),
        PageRoute::Project(domain, route) => project(request, domain, route, is_write).await,
        // Served without a session, before this function.
        PageRoute::Asset(_)
        | PageRoute::SignIn
        | PageRoute::SignInElsewhere
        | PageRoute::SignInReturn
        | PageRoute::Join(_) => Err(Refusal::not_found("There is no page here.").into()),
    }
}

async fn project(
    request: &AuthorizedRequest<'_>,
    domain: &str,
    route: ProjectRoute<'_>,
    is_write: bool,
) -> Result<Response, HttpError> {
    let project = request.dashboard.project(domain).await?;
    match route {
        ProjectRoute::Home => home::project(request, &project).await,
        ProjectRoute::Keys if is_write => keys::create(request, &project).await,
        ProjectRoute::Keys => keys::list(request, &project).await,
        ProjectRoute::RevokeKey(id) => keys::revoke(request, &project, id).await,
        ProjectRoute::Jobs => jobs::of_project(request, &project).await,
        ProjectRoute::NewJob if is_write => jobs::create(request, &project).await,
        ProjectRoute::NewJob => Ok(jobs::new(request, &project)),
        ProjectRoute::Job(id) => job::job(request, &project, id).await,
        ProjectRoute::JobEvents(id) => job::events(request, &project, id).await,
        ProjectRoute::JobChanges(id) => pulls::of_job(request, &project, id).await,
        ProjectRoute::JobMessage(id) => job::message(request, &project, id).await,
        ProjectRoute::ArchiveJob(id) => job::archive(request, &project, id).await,
        ProjectRoute::Journal(id) => job::journal(request, &project, id).await,
        ProjectRoute::Pulls => pulls::of_project(request, &project).await,
        ProjectRoute::Pull(id) => pulls::pull(request, &project, id).await,
        ProjectRoute::PullConflicts(id) => conflicts::conflicts(request, &project, id).await,
        ProjectRoute::ActOnPull(id, action) => pulls::act(request, &project, id, action).await,
        ProjectRoute::Playground if is_write => playground::answered(request, &project).await,
        ProjectRoute::Playground => playground::playground(request, &project).await,
        ProjectRoute::Ask => playground::stream(request, &project).await,
        ProjectRoute::Conversations => conversations::list(request, &project).await,
        ProjectRoute::Conversation(id) => conversations::conversation(request, &project, id).await,
        ProjectRoute::Analytics => analytics::analytics(request, &project).await,
        ProjectRoute::Gaps => analytics::gaps(request, &project).await,
        ProjectRoute::Searches => searches::searches(request, &project).await,
        ProjectRoute::Docs => Ok(docs::docs(request, &project)),
        ProjectRoute::Widget => widget::widget(request, &project).await,
        ProjectRoute::Settings if is_write => projects::change(request, &project).await,
        ProjectRoute::Settings => projects::settings(request, &project),
        ProjectRoute::Reindex => projects::reindex(request, &project).await,
        ProjectRoute::Remove => projects::remove(request, &project).await,
    }
}
