//! Scripted servers on this machine that follow the published REST API of each forge.

mod addresses;
mod app;
mod checks;
mod conformance;
mod imitation;
mod opening;
mod refusals;
mod server;

use std::sync::Arc;

use docent_forge::{ForgeError, PullRequestSpec};
use docent_http_client::{Client, ClientOptions, Secret};
use docent_types::{ManualClock, Timestamp};

use self::server::Server;
use crate::{Address, Host, HttpForge, TokenSource, http_forge};

/// The fixed time of all tests: 2026-11-21T12:00:00Z.
const NOON: i64 = 1_795_262_400_000;

const TOKEN: &str = "s3cret-t0ken";

fn client() -> Client {
    Client::new(ClientOptions::default())
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(Timestamp::from_millis(NOON)))
}

fn token() -> TokenSource {
    TokenSource::Fixed(Secret::parse(TOKEN).expect("a token"))
}

/// `acme/docs` on the server, which is the API's base.
fn address(host: Host, server: &Server) -> Address {
    let repository = match host {
        Host::Github => "https://github.com/acme/docs.git",
        Host::Gitlab => "https://gitlab.com/acme/docs.git",
        Host::Gitea => "https://codeberg.org/acme/docs.git",
    };
    Address::parse(host, repository, Some(&server.url())).expect("an address")
}

fn forge(host: Host, server: &Server) -> Arc<dyn HttpForge> {
    http_forge(client(), address(host, server), token(), clock())
}

fn request() -> PullRequestSpec {
    PullRequestSpec {
        title: "Rename it".to_owned(),
        body: "Why.".to_owned(),
        head: "docent/a".to_owned(),
        base: "main".to_owned(),
        draft: false,
        labels: Vec::new(),
    }
}

/// An error as callers and users see it.
fn told(error: &ForgeError) -> String {
    let kind = match error {
        ForgeError::Refused { .. } => "refused".to_owned(),
        ForgeError::NoChanges { .. } => "no changes".to_owned(),
        ForgeError::HeadMissing { .. } => "head missing".to_owned(),
        ForgeError::Unavailable { retry_after: Some(wait), .. } => format!("unavailable for {}s", wait.as_secs()),
        ForgeError::Unavailable { retry_after: None, .. } => "unavailable".to_owned(),
        ForgeError::Store(_) => "store".to_owned(),
    };
    let text = format!("{kind}: {}", docent_types::error_chain(error));
    assert!(!text.contains(TOKEN) && !format!("{error:?}").contains(TOKEN), "the token is told: {text}");
    text
}
