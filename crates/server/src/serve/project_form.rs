//! The dashboard's form of a project as options of the command line, and what it may not do with secrets.

use std::collections::BTreeSet;

use docent_dashboard::{ProjectError, ProjectForm, SAME_TOKEN};
use docent_forge_http::token_receivers;
use docent_types::{ForgeKind, Project, TokenLocation};

use crate::cli::{ForgeArg, ProjectOptions, YesOrNo};
use crate::failure::Failure;

/// The errors of a form, attributed to the field that corresponds to the option of the command line.
impl From<Failure> for ProjectError {
    fn from(failure: Failure) -> Self {
        let (option, sentence) = failure.parts();
        let field = option.and_then(|option| {
            Some(match option {
                "ID" => "id",
                "--repo" => "repository",
                "--domain" => "domain",
                "--ref" => "branch",
                "--docs-root" => "docs_root",
                "--token-env" | "--token-file" => "token_env",
                "--base-url" => "base_url",
                "--allow-path" => "allow_paths",
                "--allow-code" => "allow_code",
                "--context" => "context",
                "--author" => "author",
                _ => return None,
            })
        });
        Self::Form { field, sentence }
    }
}

/// `offered` are the tokens that may be chosen.
pub(super) fn options(form: &ProjectForm, offered: &[TokenLocation]) -> Result<ProjectOptions, ProjectError> {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let is_new = form.of.is_none();
    // An empty field removes the current value; a new project has none yet.
    let cleared = |text: &str| if is_new { given(text) } else { Some(text.to_owned()) };
    let globs = |text: &str| match text.lines().map(str::to_owned).collect::<Vec<_>>() {
        // One empty glob clears the list.
        lines if lines.is_empty() && !is_new => vec![String::new()],
        lines => lines,
    };
    let forge = match form.forge.as_str() {
        "local" => ForgeArg::Local,
        "github" => ForgeArg::Github,
        "gitlab" => ForgeArg::Gitlab,
        "gitea" => ForgeArg::Gitea,
        _ => return Err(ProjectError::Form { field: Some("forge"), sentence: "choose one of the list".to_owned() }),
    };
    let (token_env, token_file) = match form.token.as_str() {
        _ if keeps_its_token(form, offered) => (None, None),
        path if path.starts_with('/') => (None, Some(path.to_owned())),
        name => (cleared(name), None),
    };
    Ok(ProjectOptions {
        domain: given(&form.domain),
        // A form has the branch that is there.
        branch: given(&form.branch).filter(|branch| form.of.as_ref().is_none_or(|of| of.branch != *branch)),
        docs_root: cleared(&form.docs_root),
        forge: Some(forge),
        token_env,
        token_file,
        base_url: cleared(&form.base_url),
        context: globs(&form.context),
        allow_path: globs(&form.allow_paths),
        allow_code: globs(&form.allow_code),
        author: cleared(&form.author),
        sign_off: Some(if form.sign_off { YesOrNo::Yes } else { YesOrNo::No }),
        no_check: false,
    })
}

/// Whether a form leaves the project's token as it is. A token that is offered and chosen by its name is named again.
fn keeps_its_token(form: &ProjectForm, offered: &[TokenLocation]) -> bool {
    let current = form.of.as_ref().and_then(|project| project.token.as_ref());
    current.is_some_and(|token| form.token == SAME_TOKEN || (form.token == token.name() && !offered.contains(token)))
}

/// Refuses what would send a secret of the server to a server that a person in the dashboard chose: a token that the
/// configuration does not list, and tokens of the GitHub App.
pub(super) fn keeps_secrets(
    form: &ProjectForm,
    project: &Project,
    offered: &[TokenLocation],
    has_github_app: bool,
) -> Result<(), ProjectError> {
    if let Some(token) = &project.token {
        if keeps_its_token(form, offered) || offered.contains(token) {
            return Ok(());
        }
        let sentence = "the configuration does not list this token for projects: whoever runs the server can add it to \
                        `forges.token_env` or `forges.token_file`, or give it with `docent project set`";
        return Err(ProjectError::Form { field: Some("token_env"), sentence: sentence.to_owned() });
    }
    let app_receivers = |project: &Project| {
        let is_by_app = has_github_app && project.token.is_none() && project.forge == ForgeKind::Github;
        let base_url = project.base_url.as_deref();
        if is_by_app { token_receivers(&project.repository, base_url) } else { BTreeSet::new() }
    };
    let known = form.of.as_ref().map(app_receivers).unwrap_or_default();
    let is_foreign = |receiver: &&String| {
        !known.contains(*receiver) && !["https://github.com", "https://api.github.com"].contains(&receiver.as_str())
    };
    match app_receivers(project).iter().find(is_foreign) {
        None => Ok(()),
        Some(receiver) => {
            let sentence = format!(
                "the GitHub App is for github.com alone, and its tokens are not sent to {receiver}: choose a token, or have \
                 whoever runs the server name this address with `docent project set`"
            );
            Err(ProjectError::Form { field: Some("base_url"), sentence })
        }
    }
}

#[cfg(test)]
mod tests {
    use docent_types::{Domain, FixedIds, Ids, ProjectId, ProjectSettings, ProjectUid, Timestamp};

    use super::*;

    fn project(repository: &str, base_url: Option<&str>, token: Option<&str>) -> Project {
        Project {
            uid: ProjectUid::new(FixedIds::default().unguessable()),
            id: ProjectId::parse("acme").expect("an id"),
            domain: Domain::parse("acme").expect("a domain"),
            repository: repository.to_owned(),
            branch: "main".to_owned(),
            docs_root: String::new(),
            forge: ForgeKind::Github,
            token: token.map(variable),
            base_url: base_url.map(str::to_owned),
            context: std::collections::BTreeMap::new(),
            settings: ProjectSettings::default(),
            created_at: Timestamp::from_millis(0),
        }
    }

    fn variable(name: &str) -> TokenLocation {
        TokenLocation::Variable(name.to_owned())
    }

    #[test]
    fn a_form_sends_no_secret_elsewhere() {
        let offered = [variable("LISTED")];
        let on_github = project("https://github.com/acme/docs", None, None);
        let with = |project: &Project, token: &str| Project { token: Some(variable(token)), ..project.clone() };
        let elsewhere = project("https://ghe.example.com/acme/docs", None, None);
        for (chosen, before, after, is_fine) in [
            ("LISTED", None, with(&elsewhere, "LISTED"), true),
            ("OPENAI_API_KEY", None, with(&elsewhere, "OPENAI_API_KEY"), false),
            ("OPENAI_API_KEY", Some(on_github.clone()), with(&on_github, "OPENAI_API_KEY"), false),
            ("OTHER", Some(with(&on_github, "OTHER")), with(&on_github, "OTHER"), true),
            (SAME_TOKEN, Some(with(&on_github, "OTHER")), with(&on_github, "OTHER"), true),
            // Without a token of its own, a project on GitHub uses the App.
            ("", None, on_github.clone(), true),
            ("", None, elsewhere.clone(), false),
            ("", Some(elsewhere.clone()), elsewhere.clone(), true),
            ("", Some(with(&elsewhere, "LISTED")), elsewhere.clone(), false),
            (
                "",
                Some(on_github.clone()),
                project("https://github.com/acme/docs", Some("https://evil.example"), None),
                false,
            ),
            ("", None, project("https://evil.example/acme/docs", Some("https://api.github.com"), None), false),
        ] {
            let form = ProjectForm { token: chosen.to_owned(), of: before.clone(), ..ProjectForm::default() };
            let kept = keeps_secrets(&form, &after, &offered, true);
            assert_eq!(kept.is_ok(), is_fine, "{chosen:?} {before:?} {after:?} {kept:?}");
            if after.token.is_none() {
                assert!(keeps_secrets(&form, &after, &offered, false).is_ok(), "there is no App");
            }
        }
    }

    #[test]
    fn a_token_is_named_again_by_choosing_it_from_the_list() {
        let of = |token: &str| Some(project("https://github.com/acme/docs", None, Some(token)));
        let named = |chosen: &str, of| {
            let form =
                ProjectForm { forge: "github".to_owned(), token: chosen.to_owned(), of, ..ProjectForm::default() };
            let options = options(&form, &[variable("LISTED")]).expect("options");
            (options.token_env, options.token_file)
        };
        assert_eq!(named(SAME_TOKEN, of("LISTED")), (None, None));
        assert_eq!(named("OTHER", of("OTHER")), (None, None));
        assert_eq!(named("LISTED", of("LISTED")), (Some("LISTED".to_owned()), None));
        assert_eq!(named("/run/token", of("OTHER")), (None, Some("/run/token".to_owned())));
        assert_eq!(named("", of("OTHER")), (Some(String::new()), None));
        assert_eq!(named("", None), (None, None));
    }
}
