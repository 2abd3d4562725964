//! What the endpoints of this version share.

use docent_access::Access;
use docent_discovery::Answering;
use docent_jobs::{Entry, Jobs, ModelNames};
use docent_types::JobEvent;

/// The first version of the API, over the cores it speaks for.
#[derive(Debug)]
pub struct Api {
    pub access: Access,
    pub jobs: Jobs,
    pub models: ModelNames,
    pub answering: Answering,
    /// The events of a journal entry, in order.
    pub events_of: fn(&Entry) -> Vec<JobEvent>,
}
