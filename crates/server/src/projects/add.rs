//! From the arguments of `docent project add` to a project. Everything that will not work later is refused here.

use std::collections::BTreeMap;
use std::path::Path;

use docent_forge_http::{Address, Host};
use docent_types::{BranchName, Domain, ForgeKind, Project, ProjectId, Timestamp};

use crate::address::{Site, is_variable};
use crate::cli::{ForgeArg, ProjectAdd};
use crate::failure::Failure;

/// The project that was asked for.
pub(super) fn project(args: &ProjectAdd, now: Timestamp) -> Result<Project, Failure> {
    let id = ProjectId::parse(&args.id).map_err(|error| Failure::usage(error.to_string()))?;
    let domain = args.domain.as_deref().unwrap_or(&args.id);
    let domain = Domain::parse(domain).map_err(|error| Failure::usage(format!("--domain: {error}")))?;
    let branch = BranchName::parse(&args.branch).map_err(|error| Failure::usage(format!("--ref: {error}")))?;
    if args.token_env.as_deref().is_some_and(|variable| !is_variable(variable)) {
        // It may well be the token, which is not to be shown.
        return Err(Failure::usage(
            "--token-env: this is no name of a variable; give the name of the variable that holds the token, not the token",
        ));
    }
    let forge = kind(args.forge);
    let base_url = args.base_url.as_deref().map(base_url).transpose()?;
    let project = Project {
        id,
        domain,
        repository: repository("--repo", &args.repo)?,
        branch: branch.into(),
        docs_root: docs_root(&args.docs_root)?,
        forge,
        token_env: args.token_env.clone(),
        base_url,
        context: contexts(&args.context)?,
        created_at: now,
    };
    if let Some(host) = Host::of(forge) {
        Address::parse(host, &project.repository, project.base_url.as_deref())
            .map_err(|error| Failure::usage(format!("--repo: {error}")))?;
    }
    keeps_its_token(&project)?;
    Ok(project)
}

const fn kind(forge: ForgeArg) -> ForgeKind {
    match forge {
        ForgeArg::Local => ForgeKind::Local,
        ForgeArg::Github => ForgeKind::Github,
        ForgeArg::Gitlab => ForgeKind::Gitlab,
        ForgeArg::Gitea => ForgeKind::Gitea,
    }
}

/// A token must not travel where others can read it.
fn keeps_its_token(project: &Project) -> Result<(), Failure> {
    if project.token_env.is_none() {
        return Ok(());
    }
    let forge = project.base_url.as_deref().filter(|_| project.forge != ForgeKind::Local);
    for (option, url) in [("--repo", Some(project.repository.as_str())), ("--base-url", forge)] {
        let open = url.and_then(|url| Site::parse(url).ok()).filter(Site::is_in_the_clear);
        if let Some(site) = open {
            let host = site.host();
            return Err(Failure::usage(format!("{option}: a token is not sent to {host} over plain http; use https")));
        }
    }
    Ok(())
}

/// A folder inside the repository, its parts joined by single slashes; `""` for the whole of it.
pub(crate) fn docs_root(given: &str) -> Result<String, Failure> {
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
    match Site::parse(given) {
        Ok(_) => Ok(given.to_owned()),
        Err(why) => Err(Failure::usage(format!("--base-url: {why}; give one like `https://git.example.com/api/v4`"))),
    }
}

/// Repositories to read besides, by name.
fn contexts(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut contexts = BTreeMap::new();
    for pair in given {
        let Some((name, url)) = pair.split_once('=') else {
            return Err(Failure::usage(
                "--context: give a name and an address, for example `--context api=https://example.com/team/api.git`",
            ));
        };
        // The same names as projects have.
        ProjectId::parse(name).map_err(|error| Failure::usage(format!("--context: {error}")))?;
        if contexts.insert(name.to_owned(), repository("--context", url)?).is_some() {
            return Err(Failure::usage(format!("--context: the name `{name}` is given twice")));
        }
    }
    Ok(contexts)
}

/// A URL as it is, without a secret in it; a path made absolute, so that it means the same wherever the server starts.
fn repository(option: &str, given: &str) -> Result<String, Failure> {
    if given.is_empty() {
        return Err(Failure::usage(format!("{option}: give the URL or the path of a git repository")));
    }
    if let Some((scheme, rest)) = given.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let secret =
            authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || scheme.starts_with("http"));
        if secret {
            return Err(Failure::usage(format!(
                "{option}: a URL must not hold credentials; put the token into an environment variable and name it with \
                 --token-env"
            )));
        }
        if !["https", "http", "ssh", "file"].contains(&scheme) {
            return Err(Failure::usage(format!(
                "{option}: only https, http, ssh and file addresses are known, and paths"
            )));
        }
        return Ok(given.to_owned());
    }
    // `git@host:path`, the short form of ssh.
    if given.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/')) {
        return Ok(given.to_owned());
    }
    let absolute = std::fs::canonicalize(Path::new(given))
        .map_err(|error| Failure::new(format!("{option}: cannot open `{given}`"), error))?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::usage(format!("{option}: the path of the repository must be valid UTF-8")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command, ProjectCommand};

    fn add(more: &[&str]) -> Result<Project, String> {
        let words = ["docent", "project", "add", "acme"].iter().chain(more);
        let cli = Cli::try_parse_from(words).expect("a command");
        let Command::Project(ProjectCommand::Add(args)) = cli.command else { panic!("another command") };
        project(&args, Timestamp::from_millis(0)).map_err(|failure| failure.to_string())
    }

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
    fn a_repository_holds_no_secret() {
        for good in ["https://example.com/docs.git", "ssh://git@example.com/docs.git", "git@example.com:team/docs.git"]
        {
            assert_eq!(repository("--repo", good).ok().as_deref(), Some(good));
        }
        for bad in [
            "https://user:token@example.com/docs.git",
            "https://token@example.com/docs.git",
            "ftp://example.com/docs.git",
            "/no/such/place",
        ] {
            assert!(repository("--repo", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_project_may_be_on_any_forge() {
        for (forge, repo) in [
            ("github", "https://github.com/acme/docs.git"),
            ("github", "git@github.com:acme/docs.git"),
            ("gitlab", "https://gitlab.com/acme/web/docs.git"),
            ("gitea", "ssh://git@git.example.com/acme/docs.git"),
            ("local", "https://example.com/docs.git"),
        ] {
            let project = add(&["--repo", repo, "--forge", forge, "--token-env", "TOKEN"]).expect(repo);
            assert_eq!((project.forge.as_str(), project.repository.as_str()), (forge, repo));
        }
        let context = ["--context", "api=https://example.com/api.git", "--context", "web=git@example.com:a/web.git"];
        let project = add(&[&["--repo", "https://example.com/docs.git"][..], &context].concat()).expect("a project");
        assert_eq!(project.context.keys().collect::<Vec<_>>(), ["api", "web"]);
    }

    #[test]
    fn what_will_not_work_is_refused_with_the_option_and_without_secrets() {
        let docs = ["--repo", "https://example.com/a/docs.git"];
        for (more, named) in [
            (&["--repo", "https://github.com/docs", "--forge", "github"][..], "--repo: "),
            (&["--repo", "file:///srv/docs.git", "--forge", "gitlab"], "--repo: "),
            (
                &["--repo", "https://me:s3cret@github.com/a/b", "--forge", "github"],
                "--repo: a URL must not hold credentials",
            ),
            (
                &["--repo", "http://example.com/a/b", "--forge", "gitea", "--token-env", "T"],
                "--repo: a token is not sent",
            ),
            (
                &[&docs[..], &["--forge", "gitea", "--base-url", "http://example.com", "--token-env", "T"]].concat(),
                "--base-url: a token is not sent",
            ),
            (&[&docs[..], &["--base-url", "example.com"]].concat(), "--base-url: the address must begin with"),
            (
                &[&docs[..], &["--base-url", "https://me:s3cret@example.com"]].concat(),
                "--base-url: the address must not",
            ),
            (&[&docs[..], &["--token-env", "ghp-s3cret"]].concat(), "--token-env: "),
            (&[&docs[..], &["--context", "api"]].concat(), "--context: give a name and an address"),
            (&[&docs[..], &["--context", "A/b=https://example.com/x"]].concat(), "--context: `A/b` is not a name"),
            (
                &[&docs[..], &["--context", "api=https://s3cret@example.com/x"]].concat(),
                "--context: a URL must not hold",
            ),
            (
                &[&docs[..], &["--context", "a=https://example.com/x", "--context", "a=https://example.com/y"]]
                    .concat(),
                "--context: the name `a` is given twice",
            ),
        ] {
            let error = add(more).expect_err("refused");
            assert!(error.starts_with(named), "{more:?}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
