//! The shared state of the endpoints of this version.

use std::sync::Arc;

use docent_access::Access;
use docent_discovery::Answering;
use docent_jobs::{Entry, Jobs, ModelNames};
use docent_types::{Clock, JobEvent};

/// The handler of version 2 of the API, with the cores that it calls.
#[derive(Debug)]
pub struct Api {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub answering: Answering,
    /// The events of a journal entry, in order.
    pub events_of: fn(&Entry) -> Vec<JobEvent>,
    pub clock: Arc<dyn Clock>,
}
