//! `docent project`: adds, changes, lists and removes projects.

mod inspect;
mod options;
mod token;

pub(crate) use inspect::{
    BARE_CLONE, InspectedProject, inspect, no_pages, overview, proposed_roots, read_as, work_tree,
};
pub(crate) use options::{added, allowed, changed, docs_root};

use std::collections::BTreeMap;

use docent_authoring::DocsOverview;
use docent_types::{Domain, ForgeKind, Project, ProjectId, ProjectSettings, ProjectUid, Timestamp, TokenLocation};
use serde::Serialize;
use serde_json::json;

use crate::cli::ProjectCommand;
use crate::commands::quantity::counted;
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

pub(crate) async fn run(app: &App, command: &ProjectCommand, json: bool) -> Result<(), Failure> {
    match command {
        ProjectCommand::Add(args) => {
            let uid = ProjectUid::new(app.ids.unguessable());
            let project = options::added(args, uid, app.now())?;
            let branch = args.options.branch.as_deref();
            let (project, docs) = if args.options.no_check && !inspect::is_folder(&project) {
                (project, None)
            } else {
                // Checked first, so that a taken id is refused without fetching a repository.
                app.is_free(&project).await?;
                let found = inspect::inspect(app, project, branch).await.map_err(|failure| {
                    failure.then("nothing was added; for a repository that cannot be reached yet there is --no-check")
                })?;
                (found.project, Some(found.docs))
            };
            app.projects().add(project.clone()).await?;
            if json {
                output::line(with_pages(&project, docs.as_ref().map(|docs| docs.pages)))?;
            } else {
                let Project { id, repository, branch, .. } = &project;
                let pages = docs.as_ref().map_or_else(
                    || "not looked at".to_owned(),
                    |docs| format!("{}, read as {}", found(docs), read_as(docs)),
                );
                output::line(format_args!("added `{id}` with its docs in {repository} on `{branch}`: {pages}"))?;
                if project.forge != ForgeKind::Local && project.token.is_none() && app.config.github_app.is_none() {
                    output::print_note(format_args!(
                        "It has no token. Without one a job can neither push nor open a pull request: name a variable or a \
                         file with --token-env or --token-file{}.",
                        if project.forge == ForgeKind::Github { ", or configure a GitHub App" } else { "" }
                    ));
                }
                if let Some(warning) = work_tree(&project) {
                    output::print_note(format_args!("{warning}: {BARE_CLONE}."));
                }
                if let Some(sites) = docs.as_ref().and_then(inspect::other_sites) {
                    output::print_note(format_args!("{sites} (`docent project set {id}` changes it)."));
                }
                output::print_note(format_args!(
                    "Next: docent doctor, docent key create --project {id} --kind admin, and docent serve."
                ));
            }
        }
        ProjectCommand::Set(args) => {
            let before = app.known_project(&args.id).await?;
            let project = options::changed(&before, args)?;
            let looks = is_elsewhere(&before, &project) && (!args.options.no_check || inspect::is_folder(&project));
            let (project, docs) = if looks {
                let branch = project.branch.clone();
                let found = inspect::inspect(app, project, Some(&branch)).await;
                let found = found.map_err(|failure| failure.then("nothing was changed"))?;
                (found.project, Some(found.docs))
            } else {
                (project, None)
            };
            if app.projects().replace(project.clone()).await?.is_none() {
                return Err(Failure::plain(format!("the project `{}` was removed meanwhile", project.id)));
            }
            if json {
                output::line(with_pages(&project, docs.map(|docs| docs.pages)))?;
            } else {
                let pages = docs.map_or_else(String::new, |docs| format!("\n    found     {}", found(&docs)));
                output::line(format_args!("{}{pages}", listed(&project)))?;
            }
        }
        ProjectCommand::List => {
            let projects = app.projects().projects().await?;
            if json {
                let shown: Vec<_> = projects.iter().map(ProjectBody::from).collect();
                output::line(json!(shown))?;
            } else if projects.is_empty() {
                output::line("no projects; add one with `docent project add ID --repo URL_OR_PATH`")?;
            }
            for project in projects.iter().filter(|_| !json) {
                output::line(listed(project))?;
            }
        }
        ProjectCommand::Remove { id } => {
            let project = app.known_project(id).await?;
            app.remove_project(&project).await?;
            let shown = json!(ProjectBody::from(&project));
            output::line(if json { shown.to_string() } else { format!("removed `{}`", project.id) })?;
        }
    }
    Ok(())
}

/// Whether a change requires the repository to be inspected again.
pub(crate) fn is_elsewhere(before: &Project, after: &Project) -> bool {
    let place = |project: &Project| {
        (project.repository.clone(), project.branch.clone(), project.docs_root.clone(), project.token.clone())
    };
    place(before) != place(after)
}

/// “186 pages (skipped: 100 not in the navigation, 1 configuration)”, counted as the index counts them.
pub(crate) fn found(docs: &DocsOverview) -> String {
    let pages = counted(docs.pages as u64, "page");
    inspect::skipped(docs).map_or_else(|| pages.clone(), |skipped| format!("{pages} ({skipped})"))
}

/// The JSON of a project, with the number of pages if it was determined.
fn with_pages(project: &Project, pages: Option<usize>) -> serde_json::Value {
    let mut shown = json!(ProjectBody::from(project));
    if let (Some(shown), Some(pages)) = (shown.as_object_mut(), pages) {
        shown.insert("pages".to_owned(), pages.into());
    }
    shown
}

/// A project on one line, with further properties on lines below.
fn listed(project: &Project) -> String {
    let Project { id, domain, branch, repository, forge, docs_root, .. } = project;
    let mut text = format!("{id:<20}  {domain:<20}  {:<6}  {branch}  {repository}", forge.as_str());
    let mut more = |name: &str, value: &str| text.push_str(&format!("\n    {name:<9} {value}"));
    if !docs_root.is_empty() {
        more("docs in", docs_root);
    }
    if let Some(url) = &project.base_url {
        more("forge at", url);
    }
    if let Some(token) = &project.token {
        more("token in", token.name());
    }
    for (name, url) in &project.context {
        more("context", &format!("{name}={url}"));
    }
    let ProjectSettings { allow_paths, allow_code, author, sign_off, follows_default: _ } = &project.settings;
    if !allow_paths.is_empty() {
        more("may edit", &allow_paths.join("  "));
    }
    if !allow_code.is_empty() {
        more("code in", &allow_code.join("  "));
    }
    if let Some(author) = author {
        more("commits", &format!("by {author}"));
    }
    if *sign_off {
        more("commits", "signed off");
    }
    text
}

/// The JSON of a project. The stored form has different keys.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProjectBody<'a> {
    id: &'a ProjectId,
    domain: &'a Domain,
    repository: &'a str,
    #[serde(rename = "ref")]
    branch: &'a str,
    docs_root: &'a str,
    forge: ForgeKind,
    token_env: Option<&'a str>,
    token_file: Option<&'a str>,
    base_url: Option<&'a str>,
    context: &'a BTreeMap<String, String>,
    allow_paths: &'a [String],
    allow_code: &'a [String],
    author: Option<String>,
    sign_off: bool,
    created_at: Timestamp,
}

impl<'a> From<&'a Project> for ProjectBody<'a> {
    fn from(project: &'a Project) -> Self {
        let (token_env, token_file) = match &project.token {
            Some(TokenLocation::Variable(name)) => (Some(name.as_str()), None),
            Some(TokenLocation::File(path)) => (None, Some(path.as_str())),
            None => (None, None),
        };
        Self {
            id: &project.id,
            domain: &project.domain,
            repository: &project.repository,
            branch: &project.branch,
            docs_root: &project.docs_root,
            forge: project.forge,
            token_env,
            token_file,
            base_url: project.base_url.as_deref(),
            context: &project.context,
            allow_paths: &project.settings.allow_paths,
            allow_code: &project.settings.allow_code,
            author: project.settings.author.as_ref().map(ToString::to_string),
            sign_off: project.settings.sign_off,
            created_at: project.created_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{FixedIds, Ids};

    use super::*;

    #[test]
    fn a_project_is_shown_to_people_and_to_programs() {
        let project = Project {
            uid: ProjectUid::new(FixedIds::default().unguessable()),
            id: ProjectId::parse("acme").expect("an id"),
            domain: Domain::parse("acme").expect("a domain"),
            repository: "/srv/acme.git".to_owned(),
            branch: "main".to_owned(),
            docs_root: "docs".to_owned(),
            forge: ForgeKind::Local,
            token: None,
            base_url: None,
            context: BTreeMap::from([("api".to_owned(), "https://example.com/api.git".to_owned())]),
            settings: ProjectSettings {
                allow_paths: vec!["scripts/**".to_owned(), "*.json".to_owned()],
                allow_code: vec!["guides/*.mdx".to_owned()],
                author: "Docs Bot <docs@example.com>".parse().ok(),
                sign_off: true,
                follows_default: false,
            },
            created_at: Timestamp::from_millis(0),
        };
        assert_eq!(
            listed(&project),
            "acme                  acme                  local   main  /srv/acme.git\n    docs in   docs\n    \
             context   api=https://example.com/api.git\n    may edit  scripts/**  *.json\n    code in   \
             guides/*.mdx\n    commits   by Docs Bot <docs@example.com>\n    commits   signed off"
        );
        let shown = json!(ProjectBody::from(&project));
        assert_eq!(
            (&shown["ref"], &shown["docsRoot"], &shown["tokenEnv"]),
            (&json!("main"), &json!("docs"), &json!(null))
        );
        assert!(shown.as_object().is_some_and(|members| members.keys().all(|name| !name.contains('_'))), "{shown}");
    }
}
