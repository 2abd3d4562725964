//! Validates `trusted_proxies` and `client_ip_header`: the trusted proxies, and the header that is read from them.

use docent_access::{AddressRange, Proxies};
use http::HeaderName;
use http::header::FORWARDED;

use super::ConfigError;

/// The header that most proxies set.
const USUAL: &str = "x-forwarded-for";

/// Validates the keys. `None` without trusted proxies: the client's address is that of the connection.
pub(super) fn validate(trusted: Vec<String>, header: Option<String>) -> Result<Option<Proxies>, ConfigError> {
    if trusted.is_empty() {
        return match header {
            None => Ok(None),
            Some(_) => Err(ConfigError::wrong(
                "trusted_proxies",
                "is missing beside `client_ip_header`; name the addresses the proxies connect from, such as `10.0.0.0/8`",
            )),
        };
    }
    let range = |text: String| {
        text.parse::<AddressRange>().map_err(|error| ConfigError::wrong("trusted_proxies", error.to_string()))
    };
    let trusted = trusted.into_iter().map(range).collect::<Result<Vec<_>, _>>()?;
    let header = header.unwrap_or_else(|| USUAL.to_owned());
    let wrong = |sentence| Err(ConfigError::wrong("client_ip_header", sentence));
    match HeaderName::try_from(header.as_str()) {
        Ok(FORWARDED) => wrong("`Forwarded` is not read; let the proxy write `X-Forwarded-For` or a header of its own"),
        Ok(name) => Ok(Some(Proxies { trusted, header: name.as_str().to_owned() })),
        Err(_) => wrong("is no name of a header; write one such as `X-Forwarded-For` or `X-Real-IP`"),
    }
}
