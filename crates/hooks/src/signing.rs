//! The secret that a hook shares with its receiver, and signatures with it.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

const PREFIX: &str = "whsec_";
/// In bytes.
const MIN_BYTES: usize = 24;
const MAX_BYTES: usize = 64;

/// Secrets with and without padding are in use.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A signing secret. Its `Debug` output shows nothing of it.
#[derive(Clone)]
pub struct SigningSecret(Zeroizing<Vec<u8>>);

/// Why a text is not a signing secret. The message repeats nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SigningSecretError {
    #[error("a signing secret is `whsec_` with base64 behind it")]
    Form,
    #[error("a signing secret has {MIN_BYTES} to {MAX_BYTES} bytes, in base64 behind `whsec_`, and this one has {0}")]
    Length(usize),
}

impl SigningSecret {
    /// Parses a secret as Standard Webhooks writes it.
    pub fn parse(text: &str) -> Result<Self, SigningSecretError> {
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(SigningSecretError::Form)?;
        let bytes = Zeroizing::new(BASE64.decode(encoded).map_err(|_| SigningSecretError::Form)?);
        match bytes.len() {
            MIN_BYTES..=MAX_BYTES => Ok(Self(bytes)),
            length => Err(SigningSecretError::Length(length)),
        }
    }

    /// The signature of an attempt to deliver a body, `seconds` after the epoch.
    pub(crate) fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()))
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use proptest::prelude::*;
    use standardwebhooks::Webhook;

    use super::*;

    #[test]
    fn a_secret_is_read_as_it_is_written_elsewhere_and_shown_by_nothing() {
        let secret = |bytes: usize| format!("whsec_{}", BASE64.encode(vec![7; bytes]));
        for good in [secret(24), format!(" {}\n", secret(64)), secret(32).trim_end_matches('=').to_owned()] {
            let read = SigningSecret::parse(&good).expect("a secret");
            assert_eq!(format!("{read:?}"), "…");
        }
        for (bad, error) in [
            (String::new(), SigningSecretError::Form),
            ("hunter2".to_owned(), SigningSecretError::Form),
            ("whsec_not base64".to_owned(), SigningSecretError::Form),
            (secret(32).replace("whsec_", ""), SigningSecretError::Form),
            ("whsec_".to_owned(), SigningSecretError::Length(0)),
            (secret(23), SigningSecretError::Length(23)),
            (secret(65), SigningSecretError::Length(65)),
        ] {
            assert_eq!(SigningSecret::parse(&bad).err(), Some(error), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn receivers_verify_whatever_is_signed_and_nothing_else(
            key in proptest::collection::vec(any::<u8>(), MIN_BYTES..=MAX_BYTES),
            id in "[0-9a-f-]{36}-[0-9]{1,3}",
            body in "\\PC{0,40}",
            other in "\\PC{0,40}",
        ) {
            let text = format!("{PREFIX}{}", BASE64.encode(key));
            let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("after the epoch").as_secs().cast_signed();
            let signature = SigningSecret::parse(&text).expect("a secret").sign(&id, now, body.as_bytes());
            let receiver = Webhook::new(&text).expect("a secret");
            let headers: HeaderMap =
                [("webhook-id", id), ("webhook-timestamp", now.to_string()), ("webhook-signature", signature)]
                    .into_iter()
                    .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
                    .collect::<HeaderMap>();
            prop_assert!(receiver.verify(body.as_bytes(), &headers).is_ok());
            prop_assert_eq!(receiver.verify(other.as_bytes(), &headers).is_ok(), body == other);
        }
    }
}
