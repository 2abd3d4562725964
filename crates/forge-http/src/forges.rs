//! The forge of a repository, by its kind.

use std::sync::Arc;

use docent_http_client::Client;
use docent_types::Clock;

use crate::address::{Address, Host};
use crate::api::ForgeApi;
use crate::gitea::Gitea;
use crate::github::Github;
use crate::gitlab::Gitlab;
use crate::http_forge::HttpForge;
use crate::token::TokenSource;

/// The forge of the repository at `address`. Makes no request yet. The clock is used for rate limits.
pub fn http_forge(client: Client, address: Address, tokens: TokenSource, clock: Arc<dyn Clock>) -> Arc<dyn HttpForge> {
    let host = address.host;
    let api = ForgeApi { client, address, tokens, clock, is_check: false };
    match host {
        Host::Github => Arc::new(Github(api)),
        Host::Gitlab => Arc::new(Gitlab(api)),
        Host::Gitea => Arc::new(Gitea(api)),
    }
}
