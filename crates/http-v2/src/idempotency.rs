//! The `Idempotency-Key` header: the same key means the same request.

use docent_jobs::Fingerprint;
use docent_types::Refusal;
use docent_web::Request;
use sha2::{Digest, Sha256};

const HEADER: &str = "idempotency-key";
const LONGEST: usize = 255;

/// The caller's key, if one was sent, and the digest of the body it stands for.
pub(crate) fn fingerprint(request: &Request, body: &[u8]) -> Result<Option<Fingerprint>, Refusal> {
    if !request.headers().contains_key(HEADER) {
        return Ok(None);
    }
    let key = request.header(HEADER).map(str::trim).filter(|key| !key.is_empty() && key.len() <= LONGEST);
    let Some(key) = key else {
        return Err(Refusal::invalid(format!(
            "Idempotency-Key: it must come once, with 1 to {LONGEST} visible ASCII characters; send a fresh UUID for \
             each new request"
        )));
    };
    Ok(Some(Fingerprint { key: key.to_owned(), digest: Sha256::digest(body).into() }))
}
