//! Where a project's token is, and which servers it may be sent to.
//!
//! A token is for the servers that the project had when the token was named: git's, and the forge's API. Everybody who
//! may change a project may name other servers, so a change that would send the token to one of them is refused unless
//! the token is named again in the same change.

use docent_forge_http::token_receivers;
use docent_http_client::BaseUrl;
use docent_types::{ForgeKind, Project, TokenLocation};

use super::options::given as not_empty;
use crate::cli::ProjectOptions;
use crate::config::variable::is_variable;
use crate::failure::Failure;

/// The location that the options name. `None` if they name none, and `Some(None)` if they remove it.
pub(super) fn given(options: &ProjectOptions) -> Result<Option<Option<TokenLocation>>, Failure> {
    match (options.token_env.as_deref(), options.token_file.as_deref()) {
        (Some(variable), Some(file)) if not_empty(variable).is_some() && not_empty(file).is_some() => {
            Err(Failure::option(
                "--token-file",
                "stands beside --token-env; a token is in one place, so give one of the two",
            ))
        }
        (Some(variable), _) if not_empty(variable).is_some() => in_variable(variable).map(|token| Some(Some(token))),
        (_, Some(file)) if not_empty(file).is_some() => in_file(file).map(|token| Some(Some(token))),
        (None, None) => Ok(None),
        _ => Ok(Some(None)),
    }
}

fn in_variable(name: &str) -> Result<TokenLocation, Failure> {
    if is_variable(name) {
        return Ok(TokenLocation::Variable(name.to_owned()));
    }
    // The value may be the token itself, so it is not shown.
    Err(Failure::option(
        "--token-env",
        "this is no name of a variable; give the name of the variable that holds the token, not the token",
    ))
}

/// The path is made absolute, so that it does not depend on the server's working directory. The file need not exist
/// yet: it is read at each use.
fn in_file(path: &str) -> Result<TokenLocation, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::new("cannot tell the absolute path of this file", error).of("--token-file"))?;
    let absolute = absolute.into_os_string().into_string();
    let absolute = absolute.map_err(|_| Failure::option("--token-file", "the path must be valid UTF-8"))?;
    Ok(TokenLocation::File(absolute))
}

/// Refuses a change that sends the token to a server that it was not given for.
pub(super) fn stays_where_it_was_given(
    before: &Project,
    after: &Project,
    options: &ProjectOptions,
) -> Result<(), Failure> {
    let Some(token) = &after.token else { return Ok(()) };
    if options.token_env.is_some() || options.token_file.is_some() {
        return Ok(());
    }
    let (known, wanted) = (receivers(before), receivers(after));
    let Some(new) = wanted.iter().find(|receiver| !known.contains(*receiver)) else { return Ok(()) };
    let known = if known.is_empty() { "no server".to_owned() } else { Vec::from_iter(known).join(" and ") };
    let option = match token {
        TokenLocation::Variable(_) => "--token-env",
        TokenLocation::File(_) => "--token-file",
    };
    let sentence = format!(
        "the token in {token} was given for {known}, and is not sent to {new} unless it is named again in the same change; \
         name it, or another one, or none"
    );
    Err(Failure::option(option, sentence))
}

/// The local forge has no server that takes a token: its `base_url` is where people reach its pages.
fn receivers(project: &Project) -> std::collections::BTreeSet<String> {
    token_receivers(&project.repository, project.base_url.as_deref().filter(|_| project.forge != ForgeKind::Local))
}

/// Checks that the token is not sent unencrypted.
pub(super) fn is_not_sent_in_the_clear(project: &Project) -> Result<(), Failure> {
    if project.token.is_none() {
        return Ok(());
    }
    let forge = project.base_url.as_deref().filter(|_| project.forge != ForgeKind::Local);
    for (option, url) in [("--repo", Some(project.repository.as_str())), ("--base-url", forge)] {
        let open = url.and_then(|url| BaseUrl::parse(url).ok()).filter(BaseUrl::is_in_the_clear);
        if let Some(site) = open {
            let host = site.host();
            return Err(Failure::option(option, format!("a token is not sent to {host} over plain http; use https")));
        }
    }
    Ok(())
}
