//! What a request shows of its sender.

use docent_access::Credentials;
use docent_web::Request;
use http::header::{AUTHORIZATION, ORIGIN};

/// The credentials of a request. A header that came twice is no credential at all: proxies disagree on which one counts.
pub(crate) fn credentials(request: &Request) -> Credentials<'_> {
    Credentials {
        authorization: once(request, AUTHORIZATION),
        ip: Some(request.peer().ip()),
        origin: once(request, ORIGIN),
    }
}

fn once(request: &Request, name: http::HeaderName) -> Option<&[u8]> {
    let mut values = request.headers().get_all(name).iter();
    let value = values.next()?;
    Some(if values.next().is_some() { b"twice".as_slice() } else { value.as_bytes() })
}
