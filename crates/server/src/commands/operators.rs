//! `docent operator`: sign-in links for operators of the dashboard, and the list of operators.

use docent_operators::{AuditEntry, LINK_LIFETIME, LinkToken, Operator, OperatorName, OperatorRole};
use serde_json::json;

use crate::cli::{OperatorCommand, RoleArg};
use crate::config::Config;
use crate::data_folder::{self, Serving};
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::{App, join_url};

pub(crate) async fn run(app: &App, command: &OperatorCommand, json: bool) -> Result<(), Failure> {
    match command {
        OperatorCommand::Link { name, role } => {
            let name = name.as_deref().map(|name| parsed("--name", name)).transpose()?;
            let role = match role {
                Some(role) => role_of(*role),
                // The first operator must be an owner.
                None if app.operators.has_any().await? => OperatorRole::Editor,
                None => OperatorRole::Owner,
            };
            let server = server_url(&app.config)?;
            let token = app.operators.invite(name.clone(), role).await?;
            audit(app, "operator.invite", name.as_ref(), Some(role)).await?;
            let what = format!("It makes an operator, with the role {role}.");
            show(
                app,
                &server,
                &token,
                json!({ "name": name.as_ref().map(OperatorName::as_str), "role": role }),
                &what,
                json,
            )
        }
        OperatorCommand::Reset { name } => {
            let name = parsed("NAME", name)?;
            let found = app.operators.operator_named(&name).await?;
            let operator = found
                .ok_or_else(|| Failure::plain(format!("there is no operator `{name}`; see `docent operator list`")))?;
            let server = server_url(&app.config)?;
            let token = app.operators.reset_link(operator.id).await?;
            audit(app, "operator.reset", Some(&operator.name), None).await?;
            let what = format!("It sets a new password for {} and ends all sessions.", operator.name);
            show(app, &server, &token, json!({ "name": operator.name.as_str(), "role": operator.role }), &what, json)
        }
        OperatorCommand::List => list(&app.operators.operators().await?, json),
    }
}

/// Prints a link. It cannot be printed again, because only its hash is stored.
fn show(
    app: &App,
    server: &ServerUrl,
    token: &LinkToken,
    mut about: serde_json::Value,
    what: &str,
    json: bool,
) -> Result<(), Failure> {
    let url = join_url(&server.url, token);
    let until = app.now().plus(LINK_LIFETIME);
    if json {
        about["link"] = url.into();
        about["expiresAt"] = json!(until);
        return output::json(&about);
    }
    output::line(url)?;
    output::print_note(format_args!(
        "{what} It works once, for {} hours, for anybody who has it.",
        LINK_LIFETIME.as_secs() / 3600
    ));
    if !server.is_running {
        output::print_note("No server is running on this data folder; the link works when one does.");
    }
    Ok(())
}

/// Where links to the server lead.
struct ServerUrl {
    url: String,
    is_running: bool,
}

/// The URL of the server: the configured one, that of the server that runs on the data folder, or the address that one
/// will listen on.
fn server_url(config: &Config) -> Result<ServerUrl, Failure> {
    let (is_running, recorded) = match data_folder::serving(&config.data) {
        Serving::Yes(url) => (true, url),
        Serving::No => (false, None),
    };
    match config.public_url.clone().or(recorded) {
        Some(url) => Ok(ServerUrl { url, is_running }),
        None if config.listen.port() == 0 => Err(Failure::plain(
            "no server is running on this data folder, and `listen` leaves open which port one will have: start it first, or \
             set `public_url`",
        )),
        None => Ok(ServerUrl { url: format!("http://{}", config.listen), is_running }),
    }
}

async fn audit(
    app: &App,
    action: &str,
    subject: Option<&OperatorName>,
    role: Option<OperatorRole>,
) -> Result<(), Failure> {
    let entry = AuditEntry {
        at: app.now(),
        operator: None,
        action: action.to_owned(),
        project: None,
        subject: subject.map(ToString::to_string).unwrap_or_default(),
        detail: role.map(|role| role.to_string()),
        address: None,
    };
    Ok(app.operators.audit(entry).await?)
}

fn parsed(place: &str, name: &str) -> Result<OperatorName, Failure> {
    OperatorName::parse(name).map_err(|error| Failure::usage(format!("{place}: {error}")))
}

const fn role_of(role: RoleArg) -> OperatorRole {
    match role {
        RoleArg::Viewer => OperatorRole::Viewer,
        RoleArg::Editor => OperatorRole::Editor,
        RoleArg::Owner => OperatorRole::Owner,
    }
}

fn list(operators: &[Operator], json: bool) -> Result<(), Failure> {
    if json {
        let shown: Vec<_> = operators.iter().map(shown).collect();
        return output::json(&json!(shown));
    }
    if operators.is_empty() {
        output::line("no operators; make a link for one with `docent operator link`")?;
    }
    for operator in operators {
        let seen = operator.last_seen_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        output::line(format_args!("{:<6}  {:<24}  last seen {seen}", operator.role, operator.name))?;
    }
    Ok(())
}

fn shown(operator: &Operator) -> serde_json::Value {
    json!({
        "id": operator.id,
        "name": operator.name.as_str(),
        "role": operator.role,
        "createdAt": operator.created_at,
        "lastSeenAt": operator.last_seen_at,
    })
}
