//! Admits a request, and answers its one message.

use docent_access::{Access, Denial, KeyRecord, Origin, Reader, Scope};
use docent_discovery::{Answering, Readers, credentials, preflight};
use docent_jobs::{Jobs, ModelNames};
use docent_types::{AgentJob, CallError, Refusal, RefusalKind};
use docent_web::{ErrorShape, HttpError, Methods, Request, Response, catch_panic, respond};
use http::header::ORIGIN;
use http::{Method, StatusCode};
use serde_json::Value;

use crate::audience::Audience;
use crate::budget::Budget;
use crate::era::{Era, Mirrored};
use crate::message::RpcMessage;
use crate::owner_tools::OwnerTools;
use crate::reader_tools::ReaderTools;
use crate::server;
use crate::tool::ToolSet;

/// Largest body, in bytes: a prompt and what is around it.
const LARGEST_BODY: usize = docent_jobs::LARGEST_REQUEST;
/// What `?max_tokens=` may be.
const LEAST_TOKENS: u32 = 200;
const MOST_TOKENS: u32 = 8_000;

/// The handler of the protocol, with the cores that it calls.
#[derive(Debug)]
pub struct ToolServer {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub answering: Answering,
    /// A job as the API shows it.
    pub job_json: fn(&AgentJob) -> Value,
    /// The URL by which people reach the server, whose pages may call it without a key.
    pub public_url: Option<String>,
}

impl ToolServer {
    /// Refuses a request before its key is checked, as a draining server does.
    pub fn refused(&self, request: &Request, refusal: Refusal) -> Response {
        HttpError::from(refusal).response(request.id(), ErrorShape::Error)
    }

    /// Answers a request.
    pub async fn answer(&self, audience: Audience, mut request: Request) -> Response {
        if request.method() == Method::OPTIONS {
            return match audience {
                Audience::Reader => preflight(&request, Methods::POST),
                Audience::Owner => Methods::POST.options(),
            };
        }
        let mut readers = Readers::any();
        let work = async {
            Methods::POST.check(request.method())?;
            match audience {
                Audience::Reader => self.reader(&mut request, &mut readers).await,
                Audience::Owner => self.owner(&mut request).await,
            }
        };
        let answered = catch_panic(work).await;
        let mut response = answered.unwrap_or_else(|error| error.response(request.id(), ErrorShape::Error));
        respond::not_to_be_stored(&mut response);
        if audience == Audience::Reader {
            readers.share(&request, &mut response);
        }
        response
    }

    async fn reader(&self, request: &mut Request, readers: &mut Readers) -> Result<Response, HttpError> {
        let domain = Audience::Reader.name(request);
        let reader =
            readers.admit_reader(&self.access, &self.answering.assistant, request, domain, Scope::Read).await?;
        if reader.is_anybody() && !self.is_own_origin(request, &reader) {
            *readers = Readers::none();
            let sentence = "this origin may not call the docs without a key: send an assistant key that allows it";
            return Err(Refusal::new(RefusalKind::Forbidden, sentence).into());
        }
        let bounds = LEAST_TOKENS..=MOST_TOKENS;
        let budget =
            request.query_number_if_any("max_tokens", bounds, "leave it out to get as much as there may be")?;
        let tools = ReaderTools {
            answering: &self.answering,
            reader: &reader,
            client: request.client(),
            budget: budget.map(|tokens| Budget::tokens(tokens as usize)),
        };
        one_message(request, &tools).await
    }

    async fn owner(&self, request: &mut Request) -> Result<Response, HttpError> {
        let project = Audience::Owner.name(request);
        let admitted = self.access.agent(&credentials(request), project, Scope::Read).await;
        let principal = admitted.map_err(CallError::from)?;
        let draining = request.draining().clone();
        one_message(request, &OwnerTools { api: self, principal: &principal, draining }).await
    }

    /// Whether a page of this origin may call without a key. Without this a page anywhere could read docs that are public
    /// inside a network, by a name that it points to this server.
    fn is_own_origin(&self, request: &Request, reader: &Reader) -> bool {
        let mut origins = request.header_values(ORIGIN);
        let Some(origin) = origins.next() else { return true };
        let origin = std::str::from_utf8(origin).ok().and_then(|origin| origin.parse::<Origin>().ok());
        let Some(origin) = origin.filter(|_| origins.next().is_none()) else { return false };
        let site = self.answering.assistant.site(reader.project().uid).address;
        let own = [self.public_url.as_deref(), site.as_deref()];
        is_loopback(&origin) || own.into_iter().flatten().filter_map(origin_of).any(|own| own == origin)
    }
}

/// Answers the one message of a body.
async fn one_message(request: &mut Request, tools: &impl ToolSet) -> Result<Response, HttpError> {
    let body = request.json(LARGEST_BODY).await?;
    let mut call = match RpcMessage::read(&body) {
        Ok(RpcMessage::Call(call)) => call,
        Ok(RpcMessage::Notice) => return Ok(respond::empty(StatusCode::ACCEPTED)),
        Err(unreadable) => return Ok(unreadable.error.response(&unreadable.id)),
    };
    match Era::of(&call, Mirrored::of(request)) {
        Ok(era) => server::answer(&mut call, era, tools).await,
        Err(error) => Ok(error.response(&call.id)),
    }
}

/// Refuses a key that may only read.
pub(crate) fn may_write(key: &KeyRecord) -> Result<(), Refusal> {
    if key.grant.scope < Scope::Write { Err(Denial::ReadOnly.into()) } else { Ok(()) }
}

fn origin_of(url: &str) -> Option<Origin> {
    let (scheme, rest) = url.split_once("://")?;
    format!("{scheme}://{}", rest.split('/').next()?).parse().ok()
}

fn is_loopback(origin: &Origin) -> bool {
    let host = origin.as_str().split_once("://").map_or("", |(_, host)| host);
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    docent_types::is_loopback_host(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_on_this_machine_are_told_from_others() {
        for (origin, expected) in [
            ("http://localhost:3000", true),
            ("http://127.0.0.1", true),
            ("http://[::1]:8080", true),
            ("https://localhost.evil.test", false),
            ("https://127.0.0.1.evil.test", false),
        ] {
            assert_eq!(is_loopback(&origin.parse().expect("an origin")), expected, "{origin}");
        }
        assert_eq!(origin_of("https://acme.test/docs"), "https://acme.test".parse().ok());
    }
}
