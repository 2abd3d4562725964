//! Resumable replies, and how long they are kept without a reader.
//!
//! ```text
//!   asked ──▶ read ──last reader leaves──▶ kept ──a reader returns──▶ read …
//!              │                            │
//!              │ to its end                 │ 500 ms, not polled; or, if the chat has declared
//!              ▼                            │ that it resumes, longer and polled
//!           forgotten ◀─────────────────────┘
//! ```
//!
//! A client that resumes asks for a running reply whenever its page is loaded, even before there is any. That request
//! declares that it will return after a reload, so for it a model call without a reader is kept running for a while.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use docent_types::{StreamEvent, ThreadId};
use docent_web::Draining;
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::chat::{Chat, UsedIds};
use crate::live::Live;
use crate::log::Log;
use crate::resuming_chats::ResumingChats;
use crate::shared_reply::{Absence, Reader, SharedReply, is_last};

/// How long a reply without a reader is kept for a chat that has not declared that it resumes. It is not polled
/// meanwhile, and its model call is cancelled within the promised second.
const GRACE: Duration = Duration::from_millis(500);

/// The replies that run, or wait to be read, by their chats.
#[derive(Debug)]
pub(crate) struct Chats {
    /// How long a reply is kept for a chat that has declared that it resumes. Zero: no longer than for any other chat.
    resume_timeout: Duration,
    /// Most completed replies of each project that wait to be read.
    max_unread: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    replies: HashMap<Arc<Chat>, Arc<SharedReply>>,
    /// Replies that completed without a reader, oldest first.
    unread: Vec<(Arc<Chat>, Arc<SharedReply>)>,
    resuming_chats: ResumingChats,
    used_ids: UsedIds,
}

impl Chats {
    pub(crate) fn new(resume_timeout: Duration, max_unread: usize) -> Self {
        Self { resume_timeout, max_unread, state: Mutex::default() }
    }

    /// Begins a reply of this chat, which replaces the previous one. Returns the reply as `Err` when the chat's id was
    /// used in another thread: then no reply under that id is resumable.
    pub(crate) fn begin(
        self: &Arc<Self>,
        chat: Chat,
        live: Live,
        thread: ThreadId,
        draining: Draining,
    ) -> Result<ChatReader, Live> {
        let mut state = self.state.lock();
        if !state.used_ids.note(&chat, thread) {
            let closed = state.close(&chat);
            drop(state);
            closed.iter().for_each(SharedReply::abandon_if_deserted);
            return Err(live);
        }
        let (reply, reader) = SharedReply::begin(live, thread, Log::default());
        state.resuming_chats.refresh(&chat, Instant::now());
        let chat = Arc::new(chat);
        let previous = state.replies.insert(Arc::clone(&chat), reply);
        if let Some(previous) = &previous {
            state.unread.retain(|(_, reply)| !Arc::ptr_eq(reply, previous));
        }
        drop(state);
        // The previous reply can no longer be resumed.
        previous.iter().for_each(SharedReply::abandon_if_deserted);
        Ok(ChatReader { reader, chat, chats: Arc::clone(self), draining })
    }

    /// The running reply, from its beginning; also records that the chat resumes. `None` when there is nothing to
    /// resume.
    pub(crate) fn resume(self: &Arc<Self>, chat: &Chat, draining: Draining) -> Option<ChatReader> {
        let mut state = self.state.lock();
        state.resuming_chats.declare(chat, Instant::now());
        let (chat, reply) = state.replies.get_key_value(chat)?;
        let (reader, chat) = (reply.join(), Arc::clone(chat));
        drop(state);
        Some(ChatReader { reader, chat, chats: Arc::clone(self), draining })
    }

    /// Ends the reply of this chat, if there is one.
    pub(crate) fn stop(&self, chat: &Chat) {
        let mut state = self.state.lock();
        let Some(reply) = state.replies.get(chat).cloned() else { return };
        state.forget(chat, &reply);
        drop(state);
        reply.abandon();
    }

    /// Makes this reply not resumable.
    fn forget(&self, chat: &Chat, reply: &Arc<SharedReply>) {
        self.state.lock().forget(chat, reply);
    }

    /// Called when the last reader of a reply has left.
    fn on_last_reader_left(
        self: &Arc<Self>,
        chat: &Arc<Chat>,
        reply: &Arc<SharedReply>,
        absence: Absence,
        draining: Draining,
    ) {
        let state = self.state.lock();
        let is_resuming = !self.resume_timeout.is_zero() && state.resuming_chats.knows(chat, Instant::now());
        let is_known = state.knows(chat, reply);
        drop(state);
        // Without a runtime, no client can return.
        let Some(handle) = Handle::try_current().ok().filter(|_| is_known) else {
            self.give_up(chat, reply, absence);
            return;
        };
        let detached =
            DetachedReply { chats: Arc::clone(self), chat: Arc::clone(chat), reply: Arc::clone(reply), absence };
        handle.spawn(detached.keep_until_timeout(is_resuming, draining));
    }

    /// Drops a reply, unless a reader returned.
    fn give_up(&self, chat: &Chat, reply: &Arc<SharedReply>, absence: Absence) {
        let mut state = self.state.lock();
        // No reader can join while the lock is held.
        if !reply.is_current_absence(absence) {
            return;
        }
        state.forget(chat, reply);
        drop(state);
        reply.abandon();
    }

    /// Keeps a reply that completed without a reader. If its project has too many of them, the oldest is dropped.
    fn keep_unread(&self, chat: &Arc<Chat>, reply: &Arc<SharedReply>) {
        let mut state = self.state.lock();
        if !state.knows(chat, reply) {
            return;
        }
        state.unread.push((Arc::clone(chat), Arc::clone(reply)));
        let of_project = |(known, _): &&(Arc<Chat>, Arc<SharedReply>)| known.project == chat.project;
        if state.unread.iter().filter(of_project).count() > self.max_unread
            && let Some((chat, reply)) = state.unread.iter().find(of_project).cloned()
        {
            state.forget(&chat, &reply);
            reply.abandon();
        }
    }
}

impl State {
    fn knows(&self, chat: &Chat, reply: &Arc<SharedReply>) -> bool {
        self.replies.get(chat).is_some_and(|known| Arc::ptr_eq(known, reply))
    }

    fn forget(&mut self, chat: &Chat, reply: &Arc<SharedReply>) {
        self.unread.retain(|(_, unread)| !Arc::ptr_eq(unread, reply));
        if self.knows(chat, reply) {
            self.replies.remove(chat);
        }
    }

    /// Removes the replies under a chat's id, from any address, and returns them.
    fn close(&mut self, chat: &Chat) -> Vec<Arc<SharedReply>> {
        self.unread.retain(|(known, _)| !known.has_same_id(chat));
        self.replies.extract_if(|known, _| known.has_same_id(chat)).map(|(_, reply)| reply).collect()
    }
}

/// A reply without a reader.
struct DetachedReply {
    chats: Arc<Chats>,
    chat: Arc<Chat>,
    reply: Arc<SharedReply>,
    absence: Absence,
}

impl DetachedReply {
    /// Keeps the reply until a reader joins, its time is over, or the server drains.
    async fn keep_until_timeout(self, is_resuming: bool, draining: Draining) {
        let time = if is_resuming { self.chats.resume_timeout } else { GRACE };
        let reader_joined = async {
            if is_resuming && self.reply.poll_without_reader(self.absence).await {
                self.chats.keep_unread(&self.chat, &self.reply);
            }
            self.reply.wait_for_reader(self.absence).await;
        };
        tokio::select! {
            biased;
            () = draining.begun() => {}
            () = reader_joined => return,
            () = sleep(time) => {}
        }
        self.chats.give_up(&self.chat, &self.reply, self.absence);
    }
}

/// A reader of a chat's reply.
pub(crate) struct ChatReader {
    reader: Reader,
    chat: Arc<Chat>,
    chats: Arc<Chats>,
    draining: Draining,
}

impl ChatReader {
    pub(crate) fn thread(&self) -> ThreadId {
        self.reader.reply().thread
    }
}

impl Stream for ChatReader {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let event = ready!(self.reader.poll_next_unpin(cx));
        if event.as_ref().is_none_or(is_last) {
            self.chats.forget(&self.chat, self.reader.reply());
        }
        Poll::Ready(event)
    }
}

impl Drop for ChatReader {
    fn drop(&mut self) {
        if let Some(absence) = self.reader.leave() {
            self.chats.on_last_reader_left(&self.chat, self.reader.reply(), absence, self.draining.clone());
        }
    }
}

#[cfg(test)]
mod tests;
