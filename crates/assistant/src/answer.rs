//! From a question to stream events.

use std::fmt;
use std::sync::Arc;

use async_stream::stream;
use docent_llm::{Event, Model};
use docent_search::Query;
use docent_types::{
    Clock, Domain, FinishReason, Ids, MessageId, Passage, Refusal, Role, StoreError, StreamEvent, ThreadId, ToolOutput,
    Usage,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::json;
use thiserror::Error;
use tracing::{error, warn};

use crate::ask::{Ask, ContextKind, Said};
use crate::prompt::{self, SEARCH_TOOL, Told};
use crate::query;
use crate::thread::{NewThread, Thread, ThreadKey, Threads, Turn};

/// Passages below this score do not hold an answer.
const FITS: f32 = 0.15;
/// When the best passage is below this, it meets so little of the question that it counts as unanswered.
const ANSWERS: f32 = 0.3;
/// A passage is a source when it scores at least this share of the best one.
const LEANS: f32 = 0.6;

/// Answers questions from the docs.
pub struct Assistant {
    model: Arc<dyn Model>,
    threads: Arc<dyn Threads>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl fmt::Debug for Assistant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assistant").field("model", &self.model).finish_non_exhaustive()
    }
}

/// A reply that has begun.
pub struct Reply {
    pub thread: ThreadId,
    /// The secret of a thread that this request began.
    pub new_key: Option<String>,
    /// The events in order. Nothing happens until it is polled; dropping it cancels the model call.
    pub events: BoxStream<'static, StreamEvent>,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// Why no reply was begun.
#[derive(Debug, Error)]
pub enum AnswerError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Assistant {
    pub fn new(model: Arc<dyn Model>, threads: Arc<dyn Threads>, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self { model, threads, clock, ids }
    }

    /// Begins a reply. Errors come before the first event; trouble after it is an event.
    pub async fn answer(&self, ask: Ask) -> Result<Reply, AnswerError> {
        let (asked, history) = question(&ask.said)?;
        let stored = match ask.thread {
            Some(id) => Some(self.continued(&ask.domain, id, ask.thread_key.as_deref()).await?),
            None => None,
        };
        let answer_id = MessageId::new(self.ids.unguessable());
        let turn = Turn {
            question_id: asked.id.clone(),
            question: asked.text.clone(),
            answer_id: answer_id.to_string(),
            answer: None,
            sources: Vec::new(),
            answered: false,
            asked_at: self.clock.now(),
        };
        let conversation = match stored {
            Some(thread) => Conversation::continued(thread, turn),
            None => self.begun(&ask, history, turn),
        };
        let (thread, new_key) = (conversation.id, conversation.new_key.clone());
        let events = events(Arc::clone(&self.model), Arc::clone(&self.threads), ask, conversation, answer_id);
        Ok(Reply { thread, new_key, events })
    }

    async fn continued(&self, domain: &Domain, id: ThreadId, key: Option<&str>) -> Result<Thread, AnswerError> {
        let found = self.threads.thread(domain, id).await?;
        found.filter(|thread| key.is_none_or(|key| thread.key.fits(key))).ok_or_else(|| {
            Refusal::not_found(format!(
                "threadId: this site has no thread `{id}` that the request may continue; leave `threadId` out to start \
                 a new one"
            ))
            .into()
        })
    }

    fn begun(&self, ask: &Ask, history: Vec<Turn>, turn: Turn) -> Conversation {
        let id = ThreadId::new(self.ids.unguessable());
        let (secret, key) = ThreadKey::mint(self.ids.as_ref());
        let begin = NewThread {
            id,
            domain: ask.domain.clone(),
            fp: ask.fp.clone(),
            key,
            created_at: turn.asked_at,
            turns: history.clone(),
        };
        Conversation { id, new_key: Some(secret), begin: Some(begin), before: history, turn, instead_of: None }
    }
}

/// The thread as this reply finds it, and the turn it adds.
struct Conversation {
    id: ThreadId,
    new_key: Option<String>,
    /// The thread still has to be written.
    begin: Option<NewThread>,
    before: Vec<Turn>,
    turn: Turn,
    /// The turn that is asked again.
    instead_of: Option<String>,
}

impl Conversation {
    fn continued(mut thread: Thread, turn: Turn) -> Self {
        let again = turn.question_id.as_ref().and_then(|id| {
            // Not by the id alone: a client that counts its messages from one would lose what it asked before.
            let same = |old: &Turn| old.question_id.as_ref() == Some(id) && old.question == turn.question;
            thread.turns.iter().rposition(same)
        });
        let instead_of = again.map(|index| {
            let gone = thread.turns[index].answer_id.clone();
            thread.turns.truncate(index);
            gone
        });
        Self { id: thread.id, new_key: None, begin: None, before: thread.turns, turn, instead_of }
    }

    async fn write(&mut self, threads: &dyn Threads) -> Result<(), StoreError> {
        if let Some(thread) = self.begin.take() {
            threads.begin(thread).await?;
        }
        threads.put_turn(self.id, self.turn.clone(), self.instead_of.take()).await
    }
}

/// The question, and what was said before it as turns, for a thread we do not know yet. The client's word for what the
/// assistant has said is taken as history and nothing more; its system messages have no authority and are left out.
fn question(said: &[Said]) -> Result<(Said, Vec<Turn>), Refusal> {
    let Some((asked, before)) = said.split_last().filter(|(last, _)| last.role == Role::User) else {
        return Err(Refusal::invalid("messages: the last message must be the user's and must have text"));
    };
    let mut turns: Vec<Turn> = Vec::new();
    for message in before {
        match (message.role, turns.last_mut()) {
            (Role::User, _) => turns.push(Turn {
                question_id: message.id.clone(),
                question: message.text.clone(),
                answer_id: format!("before-{}", turns.len()),
                answer: None,
                sources: Vec::new(),
                answered: true,
                asked_at: docent_types::Timestamp::default(),
            }),
            (Role::Assistant, Some(turn)) => {
                let answer = turn.answer.get_or_insert_default();
                if !answer.is_empty() {
                    answer.push_str("\n\n");
                }
                answer.push_str(&message.text);
            }
            (Role::Assistant, None) | (Role::System, _) => {}
        }
    }
    Ok((asked.clone(), turns))
}

/// The reply itself. Retrieval first, always, and shown as a tool call; then the model.
fn events(
    model: Arc<dyn Model>,
    threads: Arc<dyn Threads>,
    ask: Ask,
    mut conversation: Conversation,
    answer_id: MessageId,
) -> BoxStream<'static, StreamEvent> {
    let thread_id = Some(conversation.id);
    Box::pin(stream! {
        yield StreamEvent::Start { message_id: answer_id, thread_id };
        yield StreamEvent::StepStart;

        let question = conversation.turn.question.clone();
        let selected = ask.context.iter().find(|item| item.kind == ContextKind::TextSelection);
        let before = conversation.before.iter().rev().map(|turn| turn.question.as_str());
        let query = query::query(&question, selected.map(|item| item.value.as_str()), before);
        let call_id = format!("search-{answer_id}");
        let input = json!({ "query": query });
        yield StreamEvent::ToolCall { id: call_id.clone(), name: SEARCH_TOOL.to_owned(), input };
        let passages = search(&ask, &query);
        yield StreamEvent::ToolResult { id: call_id.clone(), output: ToolOutput::Passages(passages.clone()) };
        for passage in sources(&passages) {
            conversation.turn.sources.push(passage.path.clone());
            yield StreamEvent::Source { id: format!("source-{}", conversation.turn.sources.len()), passage };
        }
        conversation.turn.answered = passages.first().is_some_and(|best| best.score >= ANSWERS);

        // The thread must be known before a client can use its id: it is, before any text leaves.
        if let Err(failure) = conversation.write(threads.as_ref()).await {
            error!(thread = %conversation.id, error = &failure as &dyn std::error::Error, "could not keep the question");
            yield StreamEvent::Error { sentence: "The conversation could not be stored. Try again.".to_owned() };
            return;
        }

        let request = prompt::request(&Told {
            turns: &conversation.before,
            question: &question,
            query: &query,
            call_id: &call_id,
            passages: &passages,
            context: &ask.context,
            current_path: ask.current_path.as_deref(),
        });
        let text_id = "text-1";
        let mut text = String::new();
        let mut end = None;
        let mut trouble = None;
        match model.stream(request).await {
            Err(failure) => trouble = Some(failure),
            Ok(mut reply) => {
                while let Some(event) = reply.next().await {
                    match event {
                        Ok(Event::TextDelta(delta)) if delta.is_empty() => {}
                        Ok(Event::TextDelta(delta)) => {
                            if text.is_empty() {
                                yield StreamEvent::TextStart { id: text_id.to_owned() };
                            }
                            text.push_str(&delta);
                            yield StreamEvent::TextDelta { id: text_id.to_owned(), text: delta };
                        }
                        // No tools are offered, so a call is a model's slip: there is nothing to run.
                        Ok(Event::ToolCall { name, .. }) => warn!(name, "the model called a tool it was not given"),
                        Ok(Event::Done { reason, usage }) => end = Some((reason, usage)),
                        Err(failure) => {
                            trouble = Some(failure);
                            break;
                        }
                    }
                }
            }
        }
        if let Some(failure) = trouble {
            error!(thread = %conversation.id, error = &failure as &dyn std::error::Error, "the model did not answer");
            yield StreamEvent::Error { sentence: "The answer could not be finished. Try again in a moment.".to_owned() };
            return;
        }
        if text.is_empty() {
            yield StreamEvent::TextStart { id: text_id.to_owned() };
            text = "The model gave no answer. Ask again, or in other words.".to_owned();
            yield StreamEvent::TextDelta { id: text_id.to_owned(), text: text.clone() };
        }
        yield StreamEvent::TextEnd { id: text_id.to_owned() };
        let (reason, usage) = end.unwrap_or((FinishReason::Other, Usage::default()));
        yield StreamEvent::StepFinish { reason, usage };

        conversation.turn.answer = Some(text);
        if let Err(failure) = conversation.write(threads.as_ref()).await {
            error!(thread = %conversation.id, error = &failure as &dyn std::error::Error, "could not keep the answer");
        }
        yield StreamEvent::Finish { reason, usage, thread_id };
    })
}

fn search(ask: &Ask, query: &str) -> Vec<Passage> {
    let found = ask.docs.search(&Query {
        text: query.to_owned(),
        limit: ask.passages,
        filter: ask.filter.clone(),
        near: ask.current_path.clone(),
    });
    found.into_iter().filter(|passage| passage.score >= FITS).collect()
}

/// The passages an answer leans on: the best, and those that come near it. No page twice.
fn sources(passages: &[Passage]) -> Vec<Passage> {
    let best = passages.first().map_or(0.0, |passage| passage.score);
    let mut pages = std::collections::HashSet::new();
    let near = passages.iter().filter(|passage| passage.score >= best * LEANS);
    near.filter(|passage| pages.insert(passage.path.as_str())).cloned().collect()
}
