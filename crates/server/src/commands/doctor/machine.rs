//! Checks of this machine: the data folder, the database, programs, and key files.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use docent_types::without_os_number;
use tokio::process::Command;
use tokio::time::timeout;

use super::Finding;
use crate::config::{Config, SshKey};
use crate::wiring::app::App;
use crate::wiring::identity_provider::NOT_BUILT;

/// Timeout of a program on this machine.
const LIMIT: Duration = Duration::from_secs(10);

pub(super) fn data(config: &Config) -> Finding {
    let folder = &config.data;
    let probe = folder.join(".doctor");
    match std::fs::write(&probe, b"probe").and_then(|()| std::fs::remove_file(&probe)) {
        Ok(()) => Finding::Good(format!("{} can be written", folder.display())),
        Err(error) => Finding::bad(
            format!("{} cannot be written: {}", folder.display(), without_os_number(&error.to_string())),
            "give the user that runs docent the right to write there, or choose another folder with --data",
        ),
    }
}

/// The parts of the data folder that other users could read, and whether they still can.
pub(super) fn exposed(app: &App) -> impl Iterator<Item = Finding> {
    app.exposed.iter().map(|exposed| match exposed.is_still() {
        true => Finding::bad(exposed.to_string(), "let the user that runs docent own the data folder"),
        false => Finding::Note(exposed.to_string()),
    })
}

pub(super) async fn git() -> Finding {
    match said(Command::new("git").arg("--version")).await {
        Some(said) => Finding::Good(said),
        None => Finding::Note(
            "no `git` program was found; without it a repository on this machine that has hooks or a work tree may not be \
             pushed to, and mirrors are not packed anew"
                .to_owned(),
        ),
    }
}

/// Checks the private key for ssh, if one is configured.
pub(super) async fn ssh_key(config: &Config) -> Option<Finding> {
    let SshKey { key_file, known_hosts_file } = config.git.ssh.as_ref()?;
    let shown = key_file.display();
    if let Err(error) = std::fs::File::open(key_file) {
        return Some(Finding::bad(
            format!("`git.ssh_key_file`: {shown} cannot be read: {}", without_os_number(&error.to_string())),
            "name a private key that the user that runs docent may read",
        ));
    }
    if is_open_to_others(key_file) {
        return Some(Finding::bad(
            format!("`git.ssh_key_file`: others may read {shown}, so ssh will not use it"),
            format!("chmod 600 {shown}"),
        ));
    }
    if let Some(hosts) = known_hosts_file
        && let Err(error) = std::fs::File::open(hosts)
    {
        return Some(Finding::bad(
            format!(
                "`git.ssh_known_hosts_file`: {} cannot be read: {}",
                hosts.display(),
                without_os_number(&error.to_string())
            ),
            format!(
                "make it with `ssh-keyscan HOST >> {}`, and compare it with what the host publishes",
                hosts.display()
            ),
        ));
    }
    if said(Command::new("ssh").arg("-V")).await.is_none() {
        return Some(Finding::bad(
            "no `ssh` program was found",
            "install OpenSSH's client; it is what git over ssh needs",
        ));
    }
    let public = Command::new("ssh-keygen").args(["-y", "-P", "", "-f"]).arg(key_file).stdout(Stdio::null()).status();
    match timeout(LIMIT, public).await {
        Ok(Ok(status)) if !status.success() => Some(Finding::bad(
            format!("`git.ssh_key_file`: {shown} is no private key, or asks for a passphrase"),
            "make a key of docent's own with `ssh-keygen -t ed25519 -N \"\"`, and register its public half at the forge",
        )),
        _ => Some(Finding::Good(format!("{shown} can be used"))),
    }
}

/// Checks the private key of the GitHub App, if one is configured. Whether GitHub accepts it is checked with the first
/// project that uses it.
pub(super) fn github_app(config: &Config) -> Option<Finding> {
    let app = config.github_app.as_ref()?;
    let shown = app.private_key_file.display();
    let fix = "generate a private key on the App's page on GitHub and name the .pem file that is downloaded";
    Some(match std::fs::read_to_string(&app.private_key_file) {
        Err(error) => {
            let why = without_os_number(&error.to_string());
            Finding::bad(format!("`github_app.private_key_file`: {shown} cannot be read: {why}"), fix)
        }
        Ok(text) if !(text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----")) => {
            Finding::bad(format!("`github_app.private_key_file`: {shown} holds no private key in PEM form"), fix)
        }
        Ok(_) => Finding::Good(format!("{}, with its key in {shown}", app.id)),
    })
}

/// Checks whether this build can sign people in at the identity provider, if one is configured. The provider is asked at the
/// first sign-in.
pub(super) fn identity_provider(config: &Config) -> Option<Finding> {
    let sign_in = config.openid.as_ref()?;
    Some(match cfg!(feature = "openid") {
        true => Finding::Good(format!("people may sign in at {}", sign_in.issuer)),
        false => Finding::bad(NOT_BUILT.to_owned(), "the server does not start before that"),
    })
}

/// The first line of a program's output, on stdout or stderr.
async fn said(command: &mut Command) -> Option<String> {
    let output = timeout(LIMIT, command.stdin(Stdio::null()).output()).await.ok()?.ok()?;
    let text = [output.stdout, output.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().trim().to_owned();
    output.status.success().then_some(line)
}

#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false
}
