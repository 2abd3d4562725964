//! Streams the events of a job until it ends.

use std::pin::pin;

use docent_access::KeyWatch;
use docent_jobs::{Entry, JobUpdate, Watch};
use docent_types::{AgentJob, JobEvent, StreamEvent};
use docent_web::Draining;
use futures::future::{Either, select};
use futures::stream::{self, Stream};

use crate::job_chat::JobChat;

type EventsOf = fn(&Entry) -> Vec<JobEvent>;

struct JobStream {
    watch: Watch,
    job_chat: JobChat,
    events_of: EventsOf,
    draining: Draining,
    key_watch: KeyWatch,
    /// Advice for the case that the stream ends before the job; completes the sentence of that error.
    advice: String,
    state: StreamState,
}

#[derive(Clone, Copy)]
enum StreamState {
    Beginning,
    Middle,
    End,
}

/// The job from its beginning, in groups of events that belong together. The journal is read only on demand, so a slow
/// client costs no memory, and the job is independent of its listeners.
///
/// Ends with `Finish` when the job ends. If the server drains, its store fails or the key becomes invalid, it ends with
/// `Error`: the job continues, so the stream must not look complete.
pub(crate) fn job_events(
    watch: Watch,
    job: &AgentJob,
    events_of: EventsOf,
    draining: Draining,
    key_watch: KeyWatch,
) -> impl Stream<Item = Vec<StreamEvent>> + Send + use<> {
    let advice =
        format!("The job continues: poll GET /v1/agent/{}/job/{} until `haulted` is true.", job.project, job.id);
    let job_chat = JobChat::new(job);
    let stream = JobStream { watch, job_chat, events_of, draining, key_watch, advice, state: StreamState::Beginning };
    stream::unfold(stream, |mut stream| async { Some((stream.next().await?, stream)) })
}

impl JobStream {
    async fn next(&mut self) -> Option<Vec<StreamEvent>> {
        match self.state {
            StreamState::Beginning => {
                self.state = StreamState::Middle;
                Some(vec![self.job_chat.begin()])
            }
            StreamState::Middle => Some(self.next_events().await),
            StreamState::End => None,
        }
    }

    async fn next_events(&mut self) -> Vec<StreamEvent> {
        let update = {
            let (drains, ends) = (pin!(self.draining.begun()), pin!(self.key_watch.ended()));
            match select(select(drains, ends), pin!(self.watch.next())).await {
                Either::Left((Either::Left(_), _)) => Err("The server is shutting down."),
                Either::Left((Either::Right(_), _)) => Err("The API key is no longer valid."),
                Either::Right((update, _)) => Ok(update),
            }
        };
        let update = match update {
            Ok(update) => update,
            Err(why) => return self.end_early(why),
        };
        match update {
            Ok(Some(JobUpdate::Entry(entry))) => {
                (self.events_of)(&entry).into_iter().flat_map(|event| self.job_chat.events_of(event)).collect()
            }
            Ok(Some(JobUpdate::Live(event))) => self.job_chat.events_of(event),
            Ok(None) => {
                self.state = StreamState::End;
                self.job_chat.end()
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "could not read a job's journal");
                self.end_early("The stream was interrupted.")
            }
        }
    }

    fn end_early(&mut self, why: &str) -> Vec<StreamEvent> {
        self.state = StreamState::End;
        vec![StreamEvent::Error { sentence: format!("{why} {}", self.advice) }]
    }
}
