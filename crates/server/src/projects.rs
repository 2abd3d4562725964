//! `docent project`: add, list, remove.

use std::collections::BTreeMap;
use std::path::Path;

use docent_types::{BranchName, Domain, ForgeKind, Project, ProjectId, Timestamp};
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::cli::{ForgeArg, ProjectAdd, ProjectCommand};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(app: &App, command: &ProjectCommand, json: bool) -> Result<(), Failure> {
    match command {
        ProjectCommand::Add(args) => {
            let project = project(app, args)?;
            app.add_project(project.clone()).await?;
            if json {
                output::line(json!(Shown::from(&project)))?;
            } else {
                let Project { id, repository, branch, .. } = &project;
                output::line(format_args!("added `{id}` with its docs in {repository} on `{branch}`"))?;
                output::aside(format_args!("Next: docent key create --project {id} --kind admin, and docent serve."));
            }
        }
        ProjectCommand::List => {
            let projects = app.projects().projects().await?;
            if json {
                let shown: Vec<_> = projects.iter().map(Shown::from).collect();
                output::line(json!(shown))?;
            } else if projects.is_empty() {
                output::line("no projects; add one with `docent project add ID --repo URL_OR_PATH`")?;
            }
            for Project { id, domain, branch, repository, .. } in projects.iter().filter(|_| !json) {
                output::line(format_args!("{id:<20}  {domain:<20}  {branch}  {repository}"))?;
            }
        }
        ProjectCommand::Remove { id } => {
            let project = app.known_project(id).await?;
            app.remove_project(&project).await?;
            let shown = json!(Shown::from(&project));
            output::line(if json { shown.to_string() } else { format!("removed `{}`", project.id) })?;
        }
    }
    Ok(())
}

/// A project as `--json` shows it. What is stored has names of its own.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: &'a ProjectId,
    domain: &'a Domain,
    repository: &'a str,
    #[serde(rename = "ref")]
    branch: &'a str,
    docs_root: &'a str,
    forge: ForgeKind,
    token_env: Option<&'a str>,
    base_url: Option<&'a str>,
    context: &'a BTreeMap<String, String>,
    created_at: Timestamp,
}

impl<'a> From<&'a Project> for Shown<'a> {
    fn from(project: &'a Project) -> Self {
        Self {
            id: &project.id,
            domain: &project.domain,
            repository: &project.repository,
            branch: &project.branch,
            docs_root: &project.docs_root,
            forge: project.forge,
            token_env: project.token_env.as_deref(),
            base_url: project.base_url.as_deref(),
            context: &project.context,
            created_at: project.created_at,
        }
    }
}

fn project(app: &App, args: &ProjectAdd) -> Result<Project, Failure> {
    let id = ProjectId::parse(&args.id).map_err(|error| Failure::usage(error.to_string()))?;
    let domain = args.domain.as_deref().unwrap_or(&args.id);
    let domain = Domain::parse(domain).map_err(|error| Failure::usage(format!("--domain: {error}")))?;
    let branch = BranchName::parse(&args.branch).map_err(|error| Failure::usage(format!("--ref: {error}")))?;
    if let Some(variable) = args.token_env.as_deref().filter(|variable| !is_variable(variable)) {
        return Err(Failure::usage(format!(
            "--token-env: `{variable}` is no variable name; give the name, not the token"
        )));
    }
    let ForgeArg::Local = args.forge;
    Ok(Project {
        id,
        domain,
        repository: repository(&args.repo)?,
        branch: branch.into(),
        docs_root: docs_root(&args.docs_root)?,
        forge: ForgeKind::Local,
        token_env: args.token_env.clone(),
        base_url: args.base_url.as_deref().map(base_url).transpose()?,
        context: BTreeMap::new(),
        created_at: app.now(),
    })
}

fn is_variable(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A folder inside the repository, its parts joined by single slashes; `""` for the whole of it.
fn docs_root(given: &str) -> Result<String, Failure> {
    let why = if given.starts_with('/') {
        "must not begin with `/`"
    } else if given.contains('\\') {
        "must be written with `/`, not with a backslash"
    } else if given.split('/').any(|part| part == "..") {
        "must not hold `..`"
    } else if given.contains(char::is_control) {
        "must not hold a control character"
    } else {
        let parts: Vec<&str> = given.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        return Ok(parts.join("/"));
    };
    Err(Failure::usage(format!(
        "--docs-root: {given:?} {why}; give a folder inside the repository, for example `docs`"
    )))
}

fn base_url(given: &str) -> Result<String, Failure> {
    let is_site = given.parse::<http::Uri>().is_ok_and(|url| {
        let host =
            url.authority().filter(|authority| !authority.as_str().contains('@') && !authority.host().is_empty());
        matches!(url.scheme_str(), Some("http" | "https")) && host.is_some() && url.query().is_none()
    });
    if is_site && !given.contains('#') {
        return Ok(given.to_owned());
    }
    Err(Failure::usage(format!(
        "--base-url: {given:?} is not the address of a site; give one like `https://docs.example.com`"
    )))
}

/// A URL as it is, without a secret in it; a path made absolute, so that it means the same wherever the server starts.
fn repository(given: &str) -> Result<String, Failure> {
    if given.is_empty() {
        return Err(Failure::usage("--repo: give the URL or the path of a git repository"));
    }
    if let Some((scheme, rest)) = given.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let secret =
            authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || scheme.starts_with("http"));
        if secret {
            return Err(Failure::usage(
                "--repo: a URL must not hold credentials; put the token into an environment variable and name it with \
                 --token-env",
            ));
        }
        return Ok(given.to_owned());
    }
    // `git@host:path`, the short form of ssh.
    if given.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/')) {
        return Ok(given.to_owned());
    }
    let absolute = std::fs::canonicalize(Path::new(given))
        .map_err(|error| Failure::new(format!("--repo: cannot open `{given}`"), error))?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::usage("--repo: the path of the repository must be valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_docs_root_stays_inside_the_repository() {
        for (given, root) in [("", ""), (".", ""), ("docs", "docs"), ("./docs//en/", "docs/en"), ("a..b", "a..b")] {
            assert_eq!(docs_root(given).ok().as_deref(), Some(root), "{given}");
        }
        for bad in ["..", "docs/../..", "../docs", "/docs", "/", "docs\\en", "docs\0"] {
            assert_eq!(docs_root(bad).map_err(|failure| failure.exit_code()), Err(2), "{bad}");
        }
    }

    #[test]
    fn a_base_url_is_an_address_of_the_web() {
        for good in ["https://docs.example.com", "http://localhost:3000/docs/"] {
            assert_eq!(base_url(good).ok().as_deref(), Some(good));
        }
        for bad in [
            "",
            "docs",
            "docs.example.com",
            "/docs",
            "ftp://example.com",
            "https://",
            "https://a b",
            "javascript:alert(1)",
            "https://user:secret@example.com",
            "https://example.com/?q=1",
            "https://example.com/#x",
        ] {
            assert_eq!(base_url(bad).map_err(|failure| failure.exit_code()), Err(2), "{bad}");
        }
    }

    #[test]
    fn json_is_in_camel_case() {
        let project = Project {
            id: ProjectId::parse("acme").expect("an id"),
            domain: Domain::parse("acme").expect("a domain"),
            repository: "/srv/acme.git".to_owned(),
            branch: "main".to_owned(),
            docs_root: "docs".to_owned(),
            forge: ForgeKind::Local,
            token_env: None,
            base_url: None,
            context: BTreeMap::new(),
            created_at: Timestamp::from_millis(0),
        };
        let shown = json!(Shown::from(&project));
        assert_eq!(
            (&shown["ref"], &shown["docsRoot"], &shown["tokenEnv"]),
            (&json!("main"), &json!("docs"), &json!(null))
        );
        assert!(shown.as_object().is_some_and(|members| members.keys().all(|name| !name.contains('_'))), "{shown}");
    }

    #[test]
    fn a_repository_holds_no_secret() {
        for good in ["https://example.com/docs.git", "ssh://git@example.com/docs.git", "git@example.com:team/docs.git"]
        {
            assert_eq!(repository(good).ok().as_deref(), Some(good));
        }
        for bad in ["https://user:token@example.com/docs.git", "https://token@example.com/docs.git", "/no/such/place"] {
            assert!(repository(bad).is_err(), "{bad}");
        }
    }
}
