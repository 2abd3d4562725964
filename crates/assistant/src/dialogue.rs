//! The state of a thread when a reply begins, and the turn that the reply adds.

use docent_types::{Refusal, Role, ThreadId};

use crate::ask::ChatMessage;
use crate::bounds;
use crate::thread::{NewThread, Thread, Turn};

#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) id: ThreadId,
    pub(crate) new_key: Option<String>,
    /// The new thread, if it has to be written.
    pub(crate) begin: Option<Box<NewThread>>,
    pub(crate) before: Vec<Turn>,
    /// The question, cut to the limit of the history. The stored question may be cut further.
    pub(crate) question: String,
    pub(crate) turn: Turn,
    /// The id of the turn that this question replaces.
    pub(crate) instead_of: Option<String>,
}

impl Dialogue {
    pub(crate) fn continued(mut thread: Thread, question: String, turn: Turn) -> Self {
        let again = turn.question_id.as_ref().and_then(|id| {
            // The id alone is not enough: a client that numbers its messages from one would overwrite earlier
            // questions.
            let same = |old: &Turn| old.question_id.as_ref() == Some(id) && old.question == turn.question;
            thread.turns.iter().rposition(same)
        });
        let instead_of = again.map(|index| {
            let gone = thread.turns[index].answer_id.clone();
            thread.turns.truncate(index);
            gone
        });
        Self { id: thread.id, new_key: None, begin: None, before: thread.turns, question, turn, instead_of }
    }

    /// The question as it is stored. Must be called only once.
    pub(crate) fn asked(&mut self) -> NewQuestion {
        NewQuestion {
            thread: self.id,
            begin: self.begin.take(),
            turn: self.turn.clone(),
            instead_of: self.instead_of.take(),
        }
    }
}

/// A question to be stored.
#[derive(Debug)]
pub(crate) struct NewQuestion {
    pub(crate) thread: ThreadId,
    pub(crate) begin: Option<Box<NewThread>>,
    pub(crate) turn: Turn,
    pub(crate) instead_of: Option<String>,
}

/// The question, and the messages before it as turns, for a thread that is not stored yet. The assistant's messages are
/// accepted from the client as history only; its system messages have no authority and are omitted. Each message is cut
/// to the limit of the history.
pub(crate) fn question(said: &[ChatMessage]) -> Result<(ChatMessage, Vec<Turn>), Refusal> {
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
                answered: true,
                ..Turn::default()
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
    let asked =
        ChatMessage { text: bounds::cut_middle(&asked.text, bounds::MAX_HISTORY_BYTES).into_owned(), ..asked.clone() };
    Ok((asked, bounds::newest(&turns, bounds::MAX_HISTORY_BYTES)))
}
