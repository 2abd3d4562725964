//! What the endpoints of this version share.

use docent_access::{Access, Credentials};
use docent_discovery::Answering;
use docent_jobs::{Entry, Jobs, ModelNames};
use docent_types::JobEvent;
use docent_web::Request;
use http::header::{AUTHORIZATION, ORIGIN};

use crate::json_cache::JsonCache;

/// The second version of the API, over the cores it speaks for.
#[derive(Debug)]
pub struct Api {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub answering: Answering,
    /// The events of a journal entry, in order.
    pub events_of: fn(&Entry) -> Vec<JobEvent>,
    pub(crate) cache: JsonCache,
}

impl Api {
    /// `events_of` returns the events of a journal entry, in order.
    pub fn new(
        access: Access,
        jobs: Jobs,
        models: ModelNames,
        answering: Answering,
        events_of: fn(&Entry) -> Vec<JobEvent>,
    ) -> Self {
        Self { access, jobs, models, answering, events_of, cache: JsonCache::default() }
    }
}

pub(crate) fn credentials(request: &Request) -> Credentials<'_> {
    Credentials::from_headers(request.header_values(AUTHORIZATION), request.header_values(ORIGIN), request.client())
}
