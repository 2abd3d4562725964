//! `docent key`: creates, lists and revokes keys.

use std::time::Duration;

use docent_access::{Grant, Key, KeyId, KeyKind, KeyRecord, Scope, mint, system_randomness};
use docent_types::ProjectId;
use serde_json::json;

use crate::cli::{KeyCommand, KeyCreate, KindArg, ScopeArg};
use crate::failure::Failure;
use crate::output;
use crate::wiring::app::App;

pub(crate) async fn run(app: &App, command: &KeyCommand, json: bool) -> Result<(), Failure> {
    match command {
        KeyCommand::Create(args) => {
            let (key, record) = store(app, grant(app, args).await?, name(args.name.as_deref())?).await?;
            if json {
                output::line(json!({
                    "key": key.expose(),
                    "id": record.id.as_str(),
                    "expiresAt": record.grant.expires_at,
                }))?;
            } else {
                output::line(key.expose())?;
                output::print_note(format_args!("This is the only time the key is shown. Its id is {}.", record.id));
            }
        }
        KeyCommand::List { project } => {
            let project = project.as_deref().map(ProjectId::parse).transpose();
            let project = project.map_err(|error| Failure::usage(format!("--project: {error}")))?;
            if let Some(project) = &project {
                app.known_project(project.as_str()).await?;
            }
            list(&app.keys().keys(project.as_ref()).await?, json)?;
        }
        KeyCommand::Revoke { id } => {
            if !is_key_id(id) {
                let sentence = format!("`{id}` is no key's id, which is `key_` and 16 hexadecimal digits");
                return Err(Failure::usage(format!("{sentence}; see `docent key list`")));
            }
            let revoked = app.keys().revoke(&KeyId::new(id.as_str()), app.now()).await?;
            let record =
                revoked.ok_or_else(|| Failure::plain(format!("there is no key `{id}`; see `docent key list`")))?;
            output::line(if json { show(&record).to_string() } else { format!("revoked {}", record.id) })?;
        }
    }
    Ok(())
}

/// Creates a key with all scopes of a project and returns its secret.
pub(crate) async fn create(app: &App, project: &ProjectId, kind: KeyKind) -> Result<String, Failure> {
    let grant = Grant::new(kind, project.clone(), app.now());
    Ok(store(app, grant, None).await?.0.expose().to_owned())
}

async fn store(app: &App, grant: Grant, name: Option<String>) -> Result<(Key, KeyRecord), Failure> {
    let (key, record) = mint(grant, app.now(), system_randomness)
        .map_err(|error| Failure::new("the operating system gave no randomness for a key", error))?;
    let record = KeyRecord { name, ..record };
    app.keys().insert(record.clone()).await?;
    Ok((key, record))
}

async fn grant(app: &App, args: &KeyCreate) -> Result<Grant, Failure> {
    let project = app.known_project(&args.project).await?;
    let kind = match args.kind {
        KindArg::Admin => KeyKind::Admin,
        KindArg::Assistant => KeyKind::Assistant,
    };
    let mut grant = Grant::new(kind, project.id, app.now());
    grant.expires_at = lifetime(&args.expires)?.map(|lifetime| app.now().plus(lifetime));
    if !args.scope.is_empty() && !args.scope.contains(&ScopeArg::Write) {
        grant.scope = Scope::Read;
    }
    for range in &args.allow_ip {
        grant.allow_ip.push(range.parse().map_err(|error| Failure::usage(format!("--allow-ip: {error}")))?);
    }
    for origin in &args.allow_origin {
        grant.allow_origin.push(origin.parse().map_err(|error| Failure::usage(format!("--allow-origin: {error}")))?);
    }
    Ok(grant)
}

/// Validates the name of a key: one line of printable text.
fn name(given: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(name) = given.map(str::trim).filter(|name| !name.is_empty()) else { return Ok(None) };
    if name.chars().count() > 100 || name.contains(char::is_control) {
        return Err(Failure::usage(
            "--name: give at most 100 characters and no control character, for example `--name \"docs site\"`",
        ));
    }
    Ok(Some(name.to_owned()))
}

fn is_key_id(text: &str) -> bool {
    text.strip_prefix("key_").is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Parses `90d`, `12h`, `30m`, `5s` or `never`.
fn lifetime(text: &str) -> Result<Option<Duration>, Failure> {
    if text == "never" {
        return Ok(None);
    }
    let wrong =
        || Failure::usage(format!("--expires: `{text}` is no lifetime; say for example 90d, 12h, 30m, 5s or never"));
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    let seconds = match unit {
        'd' => 24 * 3600,
        'h' => 3600,
        'm' => 60,
        's' => 1,
        _ => return Err(wrong()),
    };
    let total = number.checked_mul(seconds).filter(|total| (1..=100 * 366 * 24 * 3600).contains(total));
    total.map(|total| Some(Duration::from_secs(total))).ok_or_else(wrong)
}

fn list(records: &[KeyRecord], json: bool) -> Result<(), Failure> {
    if json {
        let shown: Vec<_> = records.iter().map(show).collect();
        return output::line(json!(shown));
    }
    if records.is_empty() {
        output::line("no keys; make one with `docent key create --project ID --kind admin`")?;
    }
    for record in records {
        let state = match (record.revoked_at, record.grant.expires_at) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(at)) => format!("expires {at}"),
            (None, None) => "never expires".to_owned(),
        };
        let grant = &record.grant;
        output::line(format_args!(
            "{}  {:<9}  {:<5}  {:<20}  {state}{}",
            record.id,
            grant.kind.as_str(),
            grant.scope.as_str(),
            grant.project,
            more(record)
        ))?;
    }
    Ok(())
}

/// Further properties of a key, on lines below the first.
fn more(record: &KeyRecord) -> String {
    let mut text = String::new();
    let mut line = |what: &str, value: &str| text.push_str(&format!("\n    {what:<9} {value}"));
    if let Some(name) = &record.name {
        line("name", name);
    }
    if let Some(operator) = &record.made_by {
        line("made by", operator);
    }
    line("last use", &record.used_at.map_or_else(|| "never".to_owned(), |at| at.to_string()));
    let [addresses, origins] = limits(&record.grant).map(|of| of.join("  "));
    if !addresses.is_empty() {
        line("from", &addresses);
    }
    if !origins.is_empty() {
        line("on pages", &origins);
    }
    text
}

/// The addresses and the origins from which a key may be used, as text.
fn limits(grant: &Grant) -> [Vec<String>; 2] {
    let addresses = grant.allow_ip.iter().map(ToString::to_string).collect();
    [addresses, grant.allow_origin.iter().map(ToString::to_string).collect()]
}

fn show(record: &KeyRecord) -> serde_json::Value {
    let [allow_ip, allow_origin] = limits(&record.grant);
    json!({
        "id": record.id.as_str(),
        "name": record.name,
        "kind": record.grant.kind.as_str(),
        "project": record.grant.project,
        "scope": record.grant.scope.as_str(),
        "createdAt": record.created_at,
        "madeBy": record.made_by,
        "expiresAt": record.grant.expires_at,
        "revokedAt": record.revoked_at,
        "lastUsedAt": record.used_at,
        "allowIp": allow_ip,
        "allowOrigin": allow_origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_key_is_told_from_other_words() {
        assert!(is_key_id("key_0123456789abcdef"));
        for bad in ["", "key_", "key_0123456789abcdeg", "0123456789abcdef", "docent_admin_x", "key_0123456789abcdef0"] {
            assert!(!is_key_id(bad), "{bad}");
        }
    }

    #[test]
    fn a_key_is_listed_with_what_it_is_for() {
        let acme = ProjectId::parse("acme").expect("a name");
        let at = docent_types::Timestamp::from_millis(0);
        let mut grant = Grant::new(KeyKind::Assistant, acme, at);
        grant.allow_ip = vec!["10.0.0.0/8".parse().expect("a range")];
        grant.allow_origin = vec!["https://docs.example.com".parse().expect("an origin")];
        let (_, record) = mint(grant, at, system_randomness).expect("randomness");
        assert!(more(&record).starts_with("\n    last use  never\n"), "{}", more(&record));
        let record = KeyRecord {
            name: Some("docs site".to_owned()),
            made_by: Some("ada".to_owned()),
            used_at: Some(at),
            ..record
        };
        let text = more(&record);
        for line in [
            "name      docs site",
            "made by   ada",
            "last use  1970-01-01",
            "from      10.0.0.0/8",
            "on pages  https://docs.ex",
        ] {
            assert!(text.contains(&format!("\n    {line}")), "{line}: {text}");
        }
        let shown = show(&record);
        assert_eq!(shown["allowIp"], json!(["10.0.0.0/8"]), "{shown:#}");
        assert_eq!((&shown["name"], &shown["lastUsedAt"]), (&json!("docs site"), &json!(at)), "{shown:#}");
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(name(Some(" docs site ")).ok().flatten().as_deref(), Some("docs site"));
        assert!(matches!(name(Some("")), Ok(None)));
        assert!(name(Some("a\nb")).is_err() && name(Some(&"x".repeat(101))).is_err());
    }

    #[test]
    fn lifetimes_are_read_or_refused() {
        assert_eq!(lifetime("90d").ok().flatten(), Some(Duration::from_secs(90 * 86_400)));
        assert_eq!(lifetime("12h").ok().flatten(), Some(Duration::from_secs(12 * 3600)));
        assert!(matches!(lifetime("never"), Ok(None)));
        for bad in ["", "d", "90", "-1d", "0d", "1y", "1ü", "99999999999999999999d", "9999999d"] {
            assert!(lifetime(bad).is_err(), "{bad}");
        }
    }
}
