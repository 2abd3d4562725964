//! The vocabulary that all crates share: jobs, projects, messages, passages and stream events.
//!
//! This crate knows no runtime, no protocol and no storage. The names on the wire belong to the API crates; these are
//! the domain's own types. Time, ids and randomness are passed in through [`Clock`] and [`Ids`], so that tests can
//! control them.

mod address;
mod branch;
mod clock;
mod durations;
mod error;
mod hex;
mod host;
mod id;
mod iso_8601;
mod job;
mod job_event;
mod list_page;
mod lone_surrogate;
mod message;
mod passage;
mod printable;
mod project;
mod quota;
mod repository_url;
mod signature;
mod stream;
mod token_price;

pub use address::{decoded_path, encoded_path};
pub use branch::{BranchError, BranchName};
pub use clock::{Clock, FixedIds, Ids, ManualClock, RandomIds, SystemClock, Timestamp};
pub use durations::{DURATION_BOUNDS_MILLIS, DurationCounts, Durations, WorkDurations};
pub use error::{
    BoxError, CallError, Refusal, RefusalKind, StoreError, error_chain, error_chain_of, is_out_of_files,
    without_os_number,
};
pub use hex::hex;
pub use host::{is_loopback_host, is_private_host};
pub use id::{Domain, IdError, JobId, MessageId, ProjectId, ProjectUid, ThreadId};
pub use job::{AgentJob, Halt, JobStatus, Source, Todo, TodoPriority, TodoStatus};
pub use job_event::JobEvent;
pub use list_page::{ChosenPage, ListPage, PageChoice};
pub use lone_surrogate::{lone_surrogate, replace_lone_surrogates};
pub use message::{ContentPart, Message, Role};
pub use passage::{LONGEST_PASSAGE, Passage};
pub use printable::{is_invisible, is_unprintable, printable};
pub use project::{ForgeKind, Project, ProjectSettings, TokenLocation};
pub use quota::{Quota, QuotaStatus, retry_after_seconds};
pub use repository_url::repository_url;
pub use signature::{Signature, SignatureError};
pub use stream::{FinishReason, StreamEvent, ToolOutput, Usage};
pub use token_price::TokenPrice;
