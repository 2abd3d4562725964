//! `docent health`: whether the server is ready. For health checks where there is no other program to ask with, as in a
//! container.

use std::time::Duration;

use serde_json::json;

use crate::commands::client::{Client, ClientError};
use crate::config::Config;
use crate::failure::Failure;
use crate::output;
use crate::serve::local_address;

/// How long the server may take; checking that it can store takes it at most 10 seconds.
const PATIENCE: Duration = Duration::from_secs(12);

pub(crate) async fn run(config: &Config, json: bool) -> Result<(), Failure> {
    let address = local_address(config.listen);
    if address.port() == 0 {
        return Err(Failure::usage(
            "health: with port 0 nobody knows where the server listens; name a port with --listen",
        ));
    }
    let client = Client::new(address);
    match tokio::time::timeout(PATIENCE, client.json("GET", "/readyz", "", None)).await {
        Ok(Ok(_)) => output::line(if json { json!({ "ready": true }).to_string() } else { "ready".to_owned() }),
        Ok(Err(ClientError::Status { status: 503, body })) => Err(Failure::plain(format!("not ready: {body}"))),
        Ok(Err(error)) => Err(Failure::new("not ready", error)),
        Err(_) => Err(Failure::plain(format!("{address} did not answer within {} s", PATIENCE.as_secs()))),
    }
}
