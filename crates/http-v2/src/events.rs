//! `GET /v2/agent/{projectId}/job/{id}/events`: the events of a job, as server-sent events.
//!
//! Journal events are sent from the client's last position on, with live events in between. The id of an event is the
//! sequence number of its entry. Only the last event of an entry carries the id, so a client that is disconnected
//! between two of them gets the whole entry again instead of losing the rest.

use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use docent_access::{KeyWatch, Principal};
use docent_jobs::{Entry, JobUpdate, Jobs, Watch};
use docent_types::{JobEvent, JobStatus, Refusal, StoreError};
use docent_web::{Draining, HttpError, Request, Response, framed, respond, with_keep_alive};
use futures::future::{Either, select};
use futures::stream::{self, Stream, StreamExt};
use http::StatusCode;

use crate::api::Api;
use crate::event_body::{EventBody, write_event};
use crate::route::NamedResource;

/// Interval of keep-alive bytes on a silent stream.
const SILENCE: Duration = Duration::from_secs(15);
const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";
/// Reconnection delay for clients, in milliseconds.
const RETRY: &[u8] = b"retry: 1000\n\n";

pub(crate) async fn events(api: &Api, request: &Request, principal: &Principal) -> Result<Response, HttpError> {
    let project = &principal.project;
    let id = Jobs::id(&project.id, NamedResource::Job.by(request))?;
    let ended = api.jobs.job(&project.id, id).await?.status != JobStatus::Active;
    let mut watch = api.jobs.watch(&project.id, id, last_event_id(request)?).await?;
    let first = if ended { next_batch(&mut watch, api.events_of).await? } else { None };
    if ended && first.is_none() {
        // 204 stops clients that reconnect automatically.
        return Ok(respond::empty(StatusCode::NO_CONTENT));
    }
    let mut begun = false;
    let batches = event_batches(watch, api.events_of, first, request.draining().clone(), principal.key_watch());
    let bytes = framed(batches, move |batch, out| {
        if !std::mem::replace(&mut begun, true) {
            out.extend_from_slice(RETRY);
        }
        if let Some(EventBatch { entry, events }) = batch {
            let last = events.len().saturating_sub(1);
            for (place, event) in events.iter().enumerate() {
                write_event(&EventBody::from(event), entry.as_ref(), place == last, out);
            }
        }
        ControlFlow::Continue(())
    });
    let alive = with_keep_alive(bytes, Bytes::from_static(KEEP_ALIVE), SILENCE);
    Ok(respond::stream("text/event-stream; charset=utf-8", alive))
}

/// The id of the newest event that the client has, 0 for none. Browsers send it as a header when they reconnect; other
/// clients can often only set the query.
fn last_event_id(request: &Request) -> Result<u64, Refusal> {
    let (place, given) = match request.header_values("last-event-id").last() {
        Some(given) => ("Last-Event-ID", String::from_utf8_lossy(given)),
        None => ("lastEventId", request.query("lastEventId").unwrap_or_default()),
    };
    if given.is_empty() {
        return Ok(0);
    }
    let number = given.bytes().all(|byte| byte.is_ascii_digit()).then(|| given.parse().ok()).flatten();
    number.ok_or_else(|| {
        let shown: String = given.chars().take(80).collect();
        Refusal::invalid(format!(
            "{place}: `{shown}` is not the id of an event; send an id as it was received, or none to get all events"
        ))
    })
}

/// Events sent together: those of one entry, or one live event.
struct EventBatch {
    entry: Option<Entry>,
    events: Vec<JobEvent>,
}

type EventsOf = fn(&Entry) -> Vec<JobEvent>;

/// The next group with any events; `None` once the job has ended.
async fn next_batch(watch: &mut Watch, events_of: EventsOf) -> Result<Option<EventBatch>, StoreError> {
    while let Some(news) = watch.next().await? {
        let batch = match news {
            JobUpdate::Entry(entry) => EventBatch { events: events_of(&entry), entry: Some(entry) },
            JobUpdate::Live(event) => EventBatch { entry: None, events: vec![event] },
        };
        if !batch.events.is_empty() {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

/// All events from `first` on. Ends with the job, or early when the server drains, the store fails or the key becomes
/// invalid: then the client reconnects and continues, or gets the error.
fn event_batches(
    watch: Watch,
    events_of: EventsOf,
    first: Option<EventBatch>,
    draining: Draining,
    key_watch: KeyWatch,
) -> impl Stream<Item = EventBatch> + Send {
    let rest = stream::unfold((watch, draining, key_watch), move |(mut watch, draining, mut key_watch)| async move {
        let next = {
            let (drains, ends) = (pin!(draining.begun()), pin!(key_watch.ended()));
            match select(select(drains, ends), pin!(next_batch(&mut watch, events_of))).await {
                Either::Left(_) => None,
                Either::Right((Ok(next), _)) => next,
                Either::Right((Err(error), _)) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "could not read a job's events");
                    None
                }
            }
        };
        next.map(|next| (next, (watch, draining, key_watch)))
    });
    stream::iter(first).chain(rest)
}
