//! Converts the arguments of `docent project add` and `set` into a project, and refuses invalid ones.

use std::collections::BTreeMap;
use std::path::Path;

use docent_forge_http::{Address, Host};
use docent_http_client::BaseUrl;
use docent_types::{
    BranchName, Domain, ForgeKind, IdError, Project, ProjectId, ProjectSettings, ProjectUid, SignatureError, Timestamp,
};

use crate::cli::{ForgeArg, ProjectAdd, ProjectOptions, ProjectSet, YesOrNo};
use crate::commands::projects::token;
use crate::failure::Failure;

/// The project to be added.
pub(crate) fn added(args: &ProjectAdd, uid: ProjectUid, now: Timestamp) -> Result<Project, Failure> {
    let usage = |error: IdError| Failure::option("ID", error.to_string());
    let project = Project {
        uid,
        id: ProjectId::parse(&args.id).map_err(usage)?,
        domain: Domain::parse(&args.id).map_err(usage)?,
        repository: repository("--repo", &args.repo)?,
        branch: "main".to_owned(),
        docs_root: String::new(),
        forge: ForgeKind::Local,
        token: None,
        base_url: None,
        context: BTreeMap::new(),
        settings: ProjectSettings::default(),
        created_at: now,
    };
    with(project, &args.options)
}

/// The project with the changes of `set` applied.
pub(crate) fn changed(before: &Project, args: &ProjectSet) -> Result<Project, Failure> {
    let mut project = before.clone();
    if let Some(repo) = &args.repo {
        project.repository = repository("--repo", repo)?;
    }
    let project = with(project, &args.options)?;
    token::stays_where_it_was_given(before, &project, &args.options)?;
    Ok(project)
}

/// Applies the options to a project. Properties without an option remain unchanged.
fn with(mut project: Project, options: &ProjectOptions) -> Result<Project, Failure> {
    if let Some(domain) = &options.domain {
        project.domain = Domain::parse(domain).map_err(|error| Failure::option("--domain", error.to_string()))?;
    }
    if let Some(branch) = &options.branch {
        let branch = BranchName::parse(branch).map_err(|error| Failure::option("--ref", error.to_string()))?;
        let branch = String::from(branch);
        project.settings.follows_default = false;
        project.branch = branch;
    }
    if let Some(folder) = &options.docs_root {
        project.docs_root = docs_root(folder)?;
    }
    if let Some(forge) = options.forge {
        project.forge = kind(forge);
    }
    if let Some(token) = token::given(options)? {
        project.token = token;
    }
    if let Some(url) = &options.base_url {
        project.base_url = given(url).map(|url| base_url(url, project.forge)).transpose()?;
    }
    if !options.context.is_empty() {
        project.context = contexts(&options.context)?;
    }
    let settings = &mut project.settings;
    if !options.allow_path.is_empty() {
        settings.allow_paths = allowed("--allow-path", &options.allow_path)?;
    }
    if !options.allow_code.is_empty() {
        settings.allow_code = allowed("--allow-code", &options.allow_code)?;
    }
    if let Some(author) = &options.author {
        let author = given(author).map(str::parse).transpose();
        settings.author = author.map_err(|error: SignatureError| Failure::option("--author", error.to_string()))?;
    }
    if let Some(answer) = options.sign_off {
        settings.sign_off = answer == YesOrNo::Yes;
    }
    fits_together(&project)?;
    Ok(project)
}

/// `None` for an empty value, which removes the current one.
pub(super) fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The globs of an option; an empty glob is dropped.
pub(crate) fn allowed(option: &'static str, globs: &[String]) -> Result<Vec<String>, Failure> {
    globs.iter().filter_map(|glob| given(glob)).map(|glob| allowed_glob(option, glob)).collect()
}

fn allowed_glob(option: &'static str, glob: &str) -> Result<String, Failure> {
    let example = "give one relative to the docs root, for example `scripts/**`";
    // The navigation of a site may stand above its docs root.
    let below = glob.trim_start_matches("../");
    if glob.starts_with('/') || below.is_empty() || below.split('/').any(|part| part == "..") {
        return Err(Failure::option(option, format!("`{glob}` leads out of the docs; {example}")));
    }
    match docent_site::Glob::new(glob) {
        Ok(_) => Ok(glob.to_owned()),
        Err(error) => {
            let message = format!("`{}` is not a glob: {}; {example}", error.pattern(), error.why());
            Err(Failure::option(option, message))
        }
    }
}

/// Checks that the forge can find the repository by its URL, and that the token is not sent unencrypted.
fn fits_together(project: &Project) -> Result<(), Failure> {
    if let Some(host) = Host::of(project.forge) {
        Address::parse(host, &project.repository, project.base_url.as_deref())
            .map_err(|error| Failure::option("--repo", error.to_string()))?;
    }
    token::is_not_sent_in_the_clear(project)
}

const fn kind(forge: ForgeArg) -> ForgeKind {
    match forge {
        ForgeArg::Local => ForgeKind::Local,
        ForgeArg::Github => ForgeKind::Github,
        ForgeArg::Gitlab => ForgeKind::Gitlab,
        ForgeArg::Gitea => ForgeKind::Gitea,
    }
}

/// A folder inside the repository with its parts joined by single slashes; `""` for the whole repository.
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
    let sentence = format!("{given:?} {why}; give a folder inside the repository, for example `docs`");
    Err(Failure::option("--docs-root", sentence))
}

fn base_url(given: &str, forge: ForgeKind) -> Result<String, Failure> {
    let wrong = |sentence| Err(Failure::option("--base-url", sentence));
    match BaseUrl::parse(given) {
        Ok(url) if forge == ForgeKind::Local && url.uri().path() != "/" => wrong(format!(
            "`{}`: the pages of the local forge cannot be reached below a path; give an address without one",
            url.uri().path()
        )),
        Ok(_) => Ok(given.to_owned()),
        Err(why) => wrong(format!("{why}; give one like `https://git.example.com/api/v4`")),
    }
}

/// The context repositories, by name.
fn contexts(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut contexts = BTreeMap::new();
    for pair in given.iter().filter(|pair| !pair.is_empty()) {
        let Some((name, url)) = pair.split_once('=') else {
            return Err(Failure::option(
                "--context",
                "give a name and an address, for example `api=https://example.com/team/api.git`",
            ));
        };
        // Names follow the same rules as project ids.
        ProjectId::parse(name).map_err(|error| Failure::option("--context", error.to_string()))?;
        if contexts.insert(name.to_owned(), repository("--context", url)?).is_some() {
            return Err(Failure::option("--context", format!("the name `{name}` is given twice")));
        }
    }
    Ok(contexts)
}

/// A URL verbatim, which must not contain a secret; or a path made absolute, so that it does not depend on the server's
/// working directory.
fn repository(option: &'static str, given: &str) -> Result<String, Failure> {
    if given.is_empty() {
        return Err(Failure::option(option, "give the URL or the path of a git repository"));
    }
    if let Some((scheme, rest)) = given.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let secret =
            authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || scheme.starts_with("http"));
        if secret {
            let sentence =
                "a URL must not hold credentials; put the token into an environment variable and give its name";
            return Err(Failure::option(option, sentence));
        }
        if !["https", "http", "ssh", "file"].contains(&scheme) {
            return Err(Failure::option(option, "only https, http, ssh and file addresses are known, and paths"));
        }
        return Ok(given.to_owned());
    }
    // `git@host:path`, the scp-like form of an ssh URL.
    if given.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/')) {
        return Ok(given.to_owned());
    }
    let absolute = std::fs::canonicalize(Path::new(given))
        .map_err(|error| Failure::new(format!("cannot open `{given}`"), error).of(option))?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::option(option, "the path of the repository must be valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use docent_types::{FixedIds, Ids};

    use super::*;
    use crate::cli::{Cli, Command, ProjectCommand};

    fn add(more: &[&str]) -> Result<Project, String> {
        let words = ["docent", "project", "add", "acme"].iter().chain(more);
        let cli = Cli::try_parse_from(words).expect("a command");
        let Command::Project(ProjectCommand::Add(args)) = cli.command else { panic!("another command") };
        let uid = ProjectUid::new(FixedIds::default().unguessable());
        added(&args, uid, Timestamp::from_millis(0)).map_err(|failure| failure.to_string())
    }

    fn set(project: &Project, more: &[&str]) -> Result<Project, String> {
        let words = ["docent", "project", "set", "acme"].iter().chain(more);
        let cli = Cli::try_parse_from(words).expect("a command");
        let Command::Project(ProjectCommand::Set(args)) = cli.command else { panic!("another command") };
        changed(project, &args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn only_given_options_change() {
        let everything = [
            "--repo",
            "https://github.com/acme/docs.git",
            "--forge",
            "github",
            "--token-file",
            "/run/secrets/token",
            "--domain",
            "docs",
            "--ref",
            "next",
            "--docs-root",
            "docs",
            "--base-url",
            "https://git.example.com/api/v3",
            "--context",
            "api=https://example.com/api.git",
            "--allow-path",
            "scripts/**",
            "--allow-path",
            "*.config.js",
            "--author",
            "Docs Bot <docs@example.com>",
            "--sign-off",
        ];
        let project = add(&everything).expect("a project");
        assert_eq!(project.settings.allow_paths, ["scripts/**", "*.config.js"]);
        assert!(
            project.settings.sign_off && project.settings.author.as_ref().is_some_and(|one| one.name == "Docs Bot")
        );
        assert_eq!(set(&project, &[]).as_ref(), Ok(&project));
        let moved = set(&project, &["--repo", "https://github.com/acme/web.git"]).expect("changes");
        assert_eq!(moved, Project { repository: "https://github.com/acme/web.git".to_owned(), ..project.clone() });
        let bare =
            ["--token-env", "", "--base-url", "", "--context", "", "--allow-path", "", "--author", "", "--sign-off=no"];
        let bare = set(&project, &bare).expect("changes");
        assert_eq!((&bare.token, &bare.base_url, bare.context.len()), (&None, &None, 0));
        assert_eq!(bare.settings, ProjectSettings::default());
        assert_eq!((bare.uid, bare.branch.as_str(), bare.docs_root.as_str()), (project.uid, "next", "docs"));
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
    fn refusals_name_the_option_and_no_secret() {
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
            (&[&docs[..], &["--allow-path", "/etc/**"]].concat(), "--allow-path: `/etc/**` leads out of the docs"),
            (&[&docs[..], &["--allow-path", "../../"]].concat(), "--allow-path: `../../` leads out of the docs"),
            (&[&docs[..], &["--allow-path", "a/../../b"]].concat(), "--allow-path: `a/../../b` leads out of the docs"),
            (&[&docs[..], &["--allow-path", "a[b"]].concat(), "--allow-path: `a[b` is not a glob: "),
            (&[&docs[..], &["--author", "Ann"]].concat(), "--author: write a name and an e-mail address"),
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
