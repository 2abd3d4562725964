//! The pages.

mod account;
mod analytics;
mod conversations;
mod home;
mod job;
mod jobs;
mod journal;
mod keys;
mod operators;
mod playground;
mod projects;
mod pulls;
mod searches;
mod settings;
pub(crate) mod signing;
mod snippets;

use docent_types::Refusal;
use docent_web::{HttpError, Response};

use crate::dashboard::Visit;
use crate::live;
use crate::route::{PageRoute, ProjectRoute};

/// The response to an authorized request.
pub(crate) async fn serve(visit: &Visit<'_>, route: PageRoute<'_>, is_write: bool) -> Result<Response, HttpError> {
    match route {
        PageRoute::Home => home::home(visit).await,
        PageRoute::Live => live::stream(visit).await,
        PageRoute::Jobs => jobs::all(visit).await,
        PageRoute::Pulls => pulls::all(visit).await,
        PageRoute::Projects => projects::list(visit).await,
        PageRoute::NewProject if is_write => projects::add(visit).await,
        PageRoute::NewProject => projects::new(visit),
        PageRoute::Operators if is_write => operators::invite(visit).await,
        PageRoute::Operators => operators::list(visit).await,
        PageRoute::OperatorRole(id) => operators::set_role(visit, id).await,
        PageRoute::OperatorReset(id) => operators::reset(visit, id).await,
        PageRoute::RemoveOperator(id) => operators::remove(visit, id).await,
        PageRoute::Audit => operators::audit(visit).await,
        PageRoute::Account if is_write => account::change_password(visit).await,
        PageRoute::Account => account::account(visit),
        PageRoute::SignOut => account::sign_out(visit).await,
        PageRoute::SignOutEverywhere => account::sign_out_everywhere(visit).await,
        PageRoute::Settings => settings::settings(visit).await,
        PageRoute::Project(domain, route) => project(visit, domain, route, is_write).await,
        // Served without a session, before this function.
        PageRoute::Asset(_)
        | PageRoute::SignIn
        | PageRoute::SignInElsewhere
        | PageRoute::SignInReturn
        | PageRoute::Join(_) => Err(Refusal::not_found("There is no page here.").into()),
    }
}

async fn project(
    visit: &Visit<'_>,
    domain: &str,
    route: ProjectRoute<'_>,
    is_write: bool,
) -> Result<Response, HttpError> {
    let project = visit.dashboard.project(domain).await?;
    match route {
        ProjectRoute::Home => home::project(visit, &project).await,
        ProjectRoute::Keys if is_write => keys::create(visit, &project).await,
        ProjectRoute::Keys => keys::list(visit, &project).await,
        ProjectRoute::RevokeKey(id) => keys::revoke(visit, &project, id).await,
        ProjectRoute::Jobs => jobs::of_project(visit, &project).await,
        ProjectRoute::NewJob if is_write => jobs::create(visit, &project).await,
        ProjectRoute::NewJob => jobs::new(visit, &project),
        ProjectRoute::Job(id) => job::job(visit, &project, id).await,
        ProjectRoute::JobEvents(id) => job::events(visit, &project, id).await,
        ProjectRoute::JobChanges(id) => pulls::of_job(visit, &project, id).await,
        ProjectRoute::JobMessage(id) => job::message(visit, &project, id).await,
        ProjectRoute::ArchiveJob(id) => job::archive(visit, &project, id).await,
        ProjectRoute::Journal(id) => job::journal(visit, &project, id).await,
        ProjectRoute::Pulls => pulls::of_project(visit, &project).await,
        ProjectRoute::Pull(id) => pulls::pull(visit, &project, id).await,
        ProjectRoute::PullConflicts(id) => pulls::conflicts(visit, &project, id).await,
        ProjectRoute::ActOnPull(id, action) => pulls::act(visit, &project, id, action).await,
        ProjectRoute::Playground if is_write => playground::answered(visit, &project).await,
        ProjectRoute::Playground => playground::playground(visit, &project).await,
        ProjectRoute::Ask => playground::stream(visit, &project).await,
        ProjectRoute::Conversations => conversations::list(visit, &project).await,
        ProjectRoute::Conversation(id) => conversations::conversation(visit, &project, id).await,
        ProjectRoute::Analytics => analytics::analytics(visit, &project).await,
        ProjectRoute::Gaps => analytics::gaps(visit, &project).await,
        ProjectRoute::Searches => searches::searches(visit, &project).await,
        ProjectRoute::Settings if is_write => projects::change(visit, &project).await,
        ProjectRoute::Settings => projects::settings(visit, &project),
        ProjectRoute::Reindex => projects::reindex(visit, &project).await,
        ProjectRoute::Remove => projects::remove(visit, &project).await,
    }
}
