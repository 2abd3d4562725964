//! Constructs the configured hooks.

use std::sync::Arc;

use docent_hooks::{Hook, Hooks, SigningSecret};
use docent_types::error_chain;

use crate::config::HookConfig;
use crate::failure::Failure;
use crate::wiring::app::App;

/// A hook with its signing secret.
pub(crate) fn hook(config: &HookConfig) -> Result<Hook, Failure> {
    let HookConfig { key, url, secret } = config;
    let secret = match secret.read() {
        Ok(text) => SigningSecret::parse(text.expose()).map_err(|error| format!("{secret} holds no secret: {error}")),
        Err(error) => Err(error_chain(&error)),
    };
    let secret = secret.map_err(|why| {
        Failure::plain(format!(
            "`{key}.secret_env`: {why}; make one with `echo whsec_$(openssl rand -base64 32)` and give it to the receiver too"
        ))
    })?;
    Ok(Hook { name: key.clone(), url: url.clone(), secret })
}

/// The service that delivers events to these hooks.
pub(crate) fn hooks(app: &App, hooks: Vec<Hook>) -> Hooks {
    Hooks::new(Arc::clone(&app.store) as _, hooks, docent_http_v2::job_json, Arc::clone(&app.clock))
}
