//! Opens or updates the pull request of a branch that is already pushed, and prints what it is.
//!
//! ```sh
//! cargo run -p docent-forge-http --example pull_request -- --forge github \
//!     --repo https://github.com/acme/docs --token-env GITHUB_TOKEN --head my-branch --title "Mend the links"
//! ```
//!
//! With `--app ID --app-key FILE` instead of `--token-env` it speaks as a GitHub App; with `--check` it opens nothing and
//! says whether it could.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use docent_forge::{PullRequestSpec, PullState};
use docent_forge_http::{Address, GithubApp, Host, TokenSource, http_forge};
use docent_http_client::{Client, ClientOptions, SecretSource};
use docent_types::SystemClock;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    forge: Kind,
    /// The URL that git uses.
    #[arg(long)]
    repo: String,
    /// Where the forge's API is, when it does not follow from the repository.
    #[arg(long)]
    base_url: Option<String>,
    /// The variable that holds the token.
    #[arg(long, conflicts_with = "app")]
    token_env: Option<String>,
    /// The id of a GitHub App.
    #[arg(long, requires = "app_key")]
    app: Option<String>,
    /// The file with the App's private key.
    #[arg(long)]
    app_key: Option<PathBuf>,
    #[arg(long, default_value = "docent/example")]
    head: String,
    #[arg(long, default_value = "main")]
    base: String,
    #[arg(long, default_value = "An example")]
    title: String,
    #[arg(long, default_value = "Opened by an example.")]
    body: String,
    #[arg(long)]
    draft: bool,
    #[arg(long)]
    label: Vec<String>,
    /// Says whether a pull request could be opened.
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Github,
    Gitlab,
    Gitea,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", docent_types::error_chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

async fn run(asked: Arguments) -> Result<(), Box<dyn Error>> {
    let client = Client::new(ClientOptions::default());
    let clock = Arc::new(SystemClock);
    let host = match asked.forge {
        Kind::Github => Host::Github,
        Kind::Gitlab => Host::Gitlab,
        Kind::Gitea => Host::Gitea,
    };
    let address = Address::parse(host, &asked.repo, asked.base_url.as_deref())?;
    let tokens = match (asked.token_env, asked.app, asked.app_key) {
        (Some(name), ..) => TokenSource::Read(SecretSource::Variable(name)),
        (None, Some(id), Some(key)) => {
            let app = GithubApp::new(client.clone(), id, SecretSource::File(key), Arc::clone(&clock) as _);
            TokenSource::App(Arc::new(app))
        }
        _ => TokenSource::None,
    };
    let forge = http_forge(client, address, tokens, clock);
    if asked.check {
        println!("{}", forge.check().await?);
        return Ok(());
    }
    let Arguments { head, base, title, body, draft, label: labels, .. } = asked;
    let request = PullRequestSpec { title, body, head, base, draft, labels };
    let (what, pull) = match forge.find(&request.head).await? {
        Some(found) if found.state == PullState::Open => ("updated", forge.update(&found, &request).await?),
        _ => ("opened", forge.open(&request).await?),
    };
    let draft = if pull.draft { ", a draft" } else { "" };
    println!("{what} {} ({}{draft}): {}", pull.number, pull.state.as_str(), pull.url);
    Ok(())
}
