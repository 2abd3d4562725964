//! Projects: add one with live checks, change its settings, index its docs again, remove it.

use docent_types::{Project, repository_url};
use docent_web::{HttpError, Response};
use http::StatusCode;
use maud::{Markup, html};

use crate::dashboard::AuthorizedRequest;
use crate::forge_links::{branch, repository};
use crate::icon::Icon;
use crate::layout::{Section, View, token};
use crate::operations::{CheckFinding, Level, ProjectError, ProjectForm, SAME_TOKEN};
use crate::pages::home::index_line;

use crate::parts::{Column, FormProblem, danger, empty, field, form_problem, notice, table};
use crate::text::{Sentence, Untrusted, relative_time};

/// What the button says that adds a project in spite of what its check found.
const ANYWAY: &str = "anyway";
/// The field of the buttons that put a proposed folder into the form.
const PROPOSED_ROOT: &str = "proposed_root";
const FORGES: [&str; 4] = ["local", "github", "gitlab", "gitea"];

pub(crate) async fn list(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let parts = request.parts();
    let projects = &request.frame.projects;
    let now = parts.clock.now();
    let rows = projects.iter().map(|project| {
        vec![
            html! { a.title href=(format_args!("/dashboard/{}", project.domain)) { (project.id) } @if project.domain.as_str() != project.id.as_str() { span.sub { "asked as " code { (project.domain) } } } },
            repository(project),
            branch(project, &project.branch, None),
            index_line(&parts.operations.index(project), now),
            relative_time(project.created_at, now),
        ]
    });
    let columns = [
        Column::Title("Project"),
        Column::Text("Repository"),
        Column::Text("Branch"),
        Column::Text("Index"),
        Column::Text("Added"),
    ];
    let is_owner = request.is_owner();
    let add = "/dashboard/-/projects/new";
    let body = html! {
        div data-live="jobs" {
            @if projects.is_empty() { (empty(Icon::Projects, "There is no project yet", "A project is a git repository with docs.", is_owner.then_some((add, "Add a project")))) }
            @else { (table("Projects", &columns, rows)) }
        }
    };
    let actions =
        html! { @if is_owner && !projects.is_empty() { a.button href=(add) { (Icon::Add) "Add a project" } } };
    Ok(request.show(View::new("Projects", Section::Projects, None).with(actions), &body))
}

pub(crate) fn new(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let form = ProjectForm { forge: "local".to_owned(), ..ProjectForm::default() };
    Ok(form_page(request, &form, None, &[]))
}

/// Checks the repository, and adds the project unless only the check was requested.
pub(crate) async fn add(request: &AuthorizedRequest<'_>) -> Result<Response, HttpError> {
    let form = filled(request, None);
    let operations = &request.parts().operations;
    let found = match operations.check_project(form.clone()).await {
        Ok(found) => found,
        Err(error) => return refused(request, &form, error),
    };
    let wanted = if request.form.given(PROPOSED_ROOT).is_some() { "check" } else { request.form.text("do") };
    let is_noted = found.checks.iter().any(|check| check.level != Level::Good);
    if wanted == "check" || (is_noted && wanted != ANYWAY) {
        return Ok(form_page(request, &form, None, &found.checks));
    }
    let project = found.project;
    if let Err(error) = operations.add(project.clone()).await {
        return refused(request, &form, error);
    }
    operations.reindex(&project);
    request.audit("project.add", Some(&project.id), repository_url(&project.repository), None).await;
    Ok(request.redirect_done(&format!("/dashboard/{}", project.domain), "project-added"))
}

/// The form with the submitted values and the error.
fn refused(request: &AuthorizedRequest<'_>, form: &ProjectForm, error: ProjectError) -> Result<Response, HttpError> {
    match error {
        ProjectError::Failed(error) => Err(HttpError::Internal(error)),
        ProjectError::Form { field, sentence } => {
            let mut response = form_page(request, form, Some(&FormProblem { field, sentence }), &[]);
            *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(response)
        }
    }
}

fn form_page(
    request: &AuthorizedRequest<'_>,
    form: &ProjectForm,
    problem: Option<&FormProblem>,
    checks: &[CheckFinding],
) -> Response {
    let body = fields(request, form, problem, checks);
    match &form.of {
        None => request.show(
            View::new("Add a project", Section::Projects, None).below("/dashboard/-/projects".to_owned(), "Projects"),
            &body,
        ),
        Some(project) => request.page("Project settings", Section::Settings, Some(project), &body),
    }
}

pub(crate) fn settings(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let body = html! {
        (fields(request, &of(project), None, &[]))
        h2 { "Remove" }
        (danger(request.signed_in, &format!("/dashboard/{}/remove", project.domain), "Remove the project",
            &html! { "The project, its index and its keys go: every page and program that uses one of its keys gets 401 from then on. The repository stays as it is." }))
    };
    Ok(request.page("Project settings", Section::Settings, Some(project), &body))
}

pub(crate) async fn change(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    let form = filled(request, Some(project));
    let operations = &request.parts().operations;
    let changed = async {
        let changed = operations.check_project(form.clone()).await?.project;
        operations.change(changed.clone()).await.map(|()| changed)
    };
    match changed.await {
        Ok(changed) => {
            request.audit("project.change", Some(&project.id), project.id.as_str(), None).await;
            Ok(request.redirect_done(&format!("/dashboard/{}/settings", changed.domain), "saved"))
        }
        Err(error) => refused(request, &form, error),
    }
}

pub(crate) async fn reindex(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    request.parts().operations.reindex(project);
    request.audit("project.reindex", Some(&project.id), project.id.as_str(), None).await;
    Ok(request.redirect_done(&format!("/dashboard/{}", project.domain), "reindex"))
}

pub(crate) async fn remove(request: &AuthorizedRequest<'_>, project: &Project) -> Result<Response, HttpError> {
    request.parts().operations.remove(project).await.map_err(HttpError::Internal)?;
    request.audit("project.remove", Some(&project.id), repository_url(&project.repository), None).await;
    Ok(request.redirect_done("/dashboard/-/projects", "project-removed"))
}

/// The submitted form.
fn filled(request: &AuthorizedRequest<'_>, of: Option<&Project>) -> ProjectForm {
    let text = |name| request.form.text(name).to_owned();
    ProjectForm {
        id: of.map_or_else(|| text("id"), |project| project.id.to_string()),
        domain: text("domain"),
        repository: text("repository"),
        branch: text("branch"),
        docs_root: request.form.given(PROPOSED_ROOT).map_or_else(|| text("docs_root"), str::to_owned),
        forge: text("forge"),
        token: text("token_env"),
        base_url: text("base_url"),
        allow_paths: text("allow_paths"),
        allow_code: text("allow_code"),
        context: text("context"),
        author: text("author"),
        sign_off: request.form.is_ticked("sign_off"),
        of: of.cloned(),
    }
}

/// The form with the settings of a project.
fn of(project: &Project) -> ProjectForm {
    ProjectForm {
        id: project.id.to_string(),
        domain: project.domain.to_string(),
        repository: project.repository.clone(),
        branch: project.branch.clone(),
        docs_root: project.docs_root.clone(),
        forge: project.forge.as_str().to_owned(),
        token: project.token.as_ref().map(|_| SAME_TOKEN.to_owned()).unwrap_or_default(),
        base_url: project.base_url.clone().unwrap_or_default(),
        allow_paths: project.settings.allow_paths.join("\n"),
        allow_code: project.settings.allow_code.join("\n"),
        context: project.context.iter().map(|(name, url)| format!("{name}={url}")).collect::<Vec<_>>().join("\n"),
        author: project.settings.author.as_ref().map(ToString::to_string).unwrap_or_default(),
        sign_off: project.settings.sign_off,
        of: Some(project.clone()),
    }
}

fn fields(
    request: &AuthorizedRequest<'_>,
    form: &ProjectForm,
    problem: Option<&FormProblem>,
    checks: &[CheckFinding],
) -> Markup {
    let is_new = form.of.is_none();
    let is_wrong = |name: &str| problem.is_some_and(|problem| problem.field == Some(name));
    let input = |name: &str, label: &str, hint: &str, value: &str, required: bool| {
        field(name, label, hint, problem, |tie| {
            html! {
                input id=(name) aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name=(name) value=(value) required[required] autocomplete="off" spellcheck="false";
            }
        })
    };
    let lines = |name: &str, label: &str, hint: &str, value: &str| {
        field(name, label, hint, problem, |tie| {
            html! {
                textarea id=(name) aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name=(name) rows="2" spellcheck="false" { (value) }
            }
        })
    };
    let is_more_open = !form.allow_paths.is_empty()
        || !form.allow_code.is_empty()
        || !form.context.is_empty()
        || form.sign_off
        || ["allow_paths", "allow_code", "author", "context"].into_iter().any(is_wrong)
        || !form.author.is_empty();
    let current_token = form.of.as_ref().and_then(|project| project.token.as_ref());
    let tokens = request.parts().operations.offered_tokens();
    let is_offered = tokens.contains(&form.token);
    html! {
        (form_problem(problem))
        @for check in checks {
            (notice(check.level.as_str(), &html! { p { strong { (check.check) } ": " (Sentence(&check.what)) } @if let Some(fix) = &check.fix { p { "What to do: " (Sentence(fix)) } } }))
        }
        form.fields method="post" {
            (token(request.signed_in))
            @if is_new { (input("id", "Project id", "A short name such as acme: lower-case letters, digits, - _ .", &form.id, true)) }
            (input("domain", "Domain", if is_new { "What the assistant's addresses call the site; empty for the project id." } else { "What the assistant's addresses call the site. Widgets that use the old one stop working." }, &form.domain, !is_new))
            (input("repository", "Repository", "A URL as git takes it, or a folder on the server.", &form.repository, true))
            (input("branch", "Branch", "The branch the docs are read from and pull requests go to; empty for the repository's own.", &form.branch, false))
            (input("docs_root", "Folder of the docs", "Empty for the whole repository.", &form.docs_root, false))
            div {
                label for="forge" { "Pull requests are opened on" }
                select #forge name="forge" {
                    @for forge in FORGES { option value=(forge) selected[form.forge == forge] { @match forge { "local" => "this server", "github" => "GitHub", "gitlab" => "GitLab", _ => "Gitea or Forgejo" } } }
                }
            }
            @let hint = if tokens.is_empty() { "The variable or the file of the server that holds the token for git and the forge. None is listed yet: put its name into `token_env` or `token_file` below `[forges]` in the configuration, or add the project on the command line." } else { "The variable or the file of the server that holds the token for git and the forge. Those that the configuration lists may be chosen, and others be given on the command line." };
            (field("token_env", "Token", hint, problem, |tie| html! {
                select #token_env aria-describedby=[tie.described.as_deref()] aria-invalid=[tie.invalid()] autofocus[tie.is_wrong] name="token_env" {
                    option value="" { "none" }
                    @if let Some(token) = current_token { option value=(SAME_TOKEN) selected[form.token == SAME_TOKEN || (form.token == token.name() && !is_offered)] { (token) ", for the servers it was given for" } }
                    @for name in &tokens { option value=(name) selected[form.token == *name] { @if name.starts_with('/') { "file " } (name) } }
                }
            }))
            (input("base_url", "Address of the forge", "Empty where it follows from the repository's.", &form.base_url, false))
            details open[is_more_open] {
                summary { "More" }
                (lines("allow_paths", "Files an agent may change besides documents", "Globs relative to the docs folder, one a line.", &form.allow_paths))
                (lines("allow_code", "Pages to which an agent may add code", "Globs relative to the docs folder, one a line: the build of the site and readers run such code.", &form.allow_code))
                (lines("context", "Repositories that the agent may read besides", "One a line, as a name and a URL: sdk=https://github.com/acme/sdk. It changes nothing in them.", &form.context))
                (input("author", "Author of commits", "Name <mail@example.com>; empty for Docent.", &form.author, false))
                label.tick { input type="checkbox" name="sign_off" checked[form.sign_off]; "Commits carry a Signed-off-by line" }
            }
            div.actions {
                @if is_new {
                    button.secondary type="submit" name="do" value="check" { "Check" }
                    @if checks.iter().any(|check| check.level != Level::Good) { button type="submit" name="do" value=(ANYWAY) { "Add anyway" } }
                    @else { button type="submit" name="do" value="add" { "Add" } }
                    // After the others, since the first button of a form is that of the Enter key.
                    @for folder in checks.iter().flat_map(|check| &check.docs_roots) { button.secondary type="submit" name=(PROPOSED_ROOT) value=(folder) { "Check with " (Untrusted(folder)) } }
                }
                @else { button type="submit" { "Save" } }
            }
        }
    }
}
