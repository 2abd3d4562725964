//! A thread as one reply finds it, and the turn it adds.

use docent_types::{Refusal, Role, StoreError, ThreadId, Timestamp};

use crate::ask::Said;
use crate::thread::{NewThread, Thread, Threads, Turn};

#[derive(Debug)]
pub(crate) struct Dialogue {
    pub(crate) id: ThreadId,
    pub(crate) new_key: Option<String>,
    /// The thread still has to be written.
    pub(crate) begin: Option<NewThread>,
    pub(crate) before: Vec<Turn>,
    pub(crate) turn: Turn,
    /// The turn that is asked again.
    pub(crate) instead_of: Option<String>,
}

impl Dialogue {
    pub(crate) fn continued(mut thread: Thread, turn: Turn) -> Self {
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

    pub(crate) async fn write(&mut self, threads: &dyn Threads) -> Result<(), StoreError> {
        if let Some(thread) = self.begin.take() {
            threads.begin(thread).await?;
        }
        threads.put_turn(self.id, self.turn.clone(), self.instead_of.take()).await
    }
}

/// The question, and what was said before it as turns, for a thread we do not know yet. The client's word for what the
/// assistant has said is taken as history and nothing more; its system messages have no authority and are left out.
pub(crate) fn question(said: &[Said]) -> Result<(Said, Vec<Turn>), Refusal> {
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
                asked_at: Timestamp::default(),
                feedback: None,
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
