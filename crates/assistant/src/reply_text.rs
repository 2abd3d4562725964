//! The text of a reply in the form that is sent, and the model's notes in comments.

use std::sync::Arc;

use docent_types::StreamEvent;

use crate::link_filter::{LinkFilter, has_no_links};
use crate::prompt::{SUGGESTIONS, Step, UNANSWERED};
use crate::targets::Targets;

/// Maximum number of suggested questions, and their maximum length in characters.
const SUGGESTED: usize = 3;
const LONGEST_SUGGESTION: usize = 200;

/// What is said where the docs have no answer, and what small models say without the note.
pub(crate) const NO_ANSWER: &str = "The docs do not answer this.";

/// The text of a reply in the form that is sent.
pub(crate) struct ReplyText {
    filter: LinkFilter,
    /// The id of the open text, and the number of texts so far.
    open: Option<Arc<str>>,
    texts: usize,
    /// All text that was sent.
    answer: String,
    /// The offset in `answer` at which this step's text begins.
    step: usize,
}

impl Default for ReplyText {
    fn default() -> Self {
        Self { filter: LinkFilter::new(), open: None, texts: 0, answer: String::new(), step: 0 }
    }
}

impl ReplyText {
    /// Adds text of the model, and returns the part that can be sent now.
    pub(crate) fn take(&mut self, words: String, targets: &Targets) -> Vec<StreamEvent> {
        let text = self.filter.push(words, &|destination| targets.judge(destination));
        self.say(text)
    }

    /// All text that was sent, in the form that is stored.
    pub(crate) fn answer(&self) -> String {
        self.answer.trim_end().to_owned()
    }

    /// The destinations of the links that were sent, in order.
    pub(crate) fn links(&self) -> &[String] {
        self.filter.links()
    }

    /// Whether any text was sent.
    pub(crate) fn has_spoken(&self) -> bool {
        !self.answer.trim().is_empty()
    }

    /// Sends text of Docent, or text that passed the filter.
    pub(crate) fn say(&mut self, text: String) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        if !text.is_empty() {
            let id = match &self.open {
                Some(open) => Arc::clone(open),
                None => {
                    let id = self.open();
                    events.push(StreamEvent::TextStart { id: Arc::clone(&id) });
                    id
                }
            };
            self.answer.push_str(&text);
            events.push(StreamEvent::TextDelta { id, text });
        }
        events
    }

    fn open(&mut self) -> Arc<str> {
        if !self.answer.is_empty() {
            self.answer.push_str("\n\n");
            self.step = self.answer.len();
        }
        self.texts += 1;
        let id: Arc<str> = format!("text-{}", self.texts).into();
        self.open = Some(Arc::clone(&id));
        id
    }

    /// Ends the open text, and adds the text of this step to `step`.
    pub(crate) fn close(&mut self, targets: &Targets, step: &mut Step) -> Vec<StreamEvent> {
        let rest = self.filter.finish(&|destination| targets.judge(destination));
        let mut events = self.say(rest);
        if let Some(id) = self.open.take() {
            step.said.push_str(self.answer[self.step..].trim_end());
            events.push(StreamEvent::TextEnd { id });
        }
        events
    }

    fn notes(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.filter.notes().iter().filter_map(move |note| note.trim().strip_prefix(name))
    }

    /// Whether the model has noted that the docs do not contain the answer, or says that and no more.
    pub(crate) fn says_unanswered(&self) -> bool {
        self.answer[self.step..].trim() == NO_ANSWER || self.notes(UNANSWERED).next().is_some()
    }

    /// The questions that the model suggests to ask next.
    pub(crate) fn suggestions(&self) -> Option<Vec<String>> {
        let lines = self.notes(SUGGESTIONS).last()?.lines();
        let lines = lines.map(|line| line.trim().trim_start_matches(['-', '*', ' ']).to_owned());
        let lines = lines.filter(|line| (1..=LONGEST_SUGGESTION).contains(&line.chars().count()) && has_no_links(line));
        Some(lines.take(SUGGESTED).collect::<Vec<_>>()).filter(|lines| !lines.is_empty())
    }
}
