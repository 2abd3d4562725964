//! The text of a reply on its way to the reader, and what the model has noted beside it.

use docent_types::StreamEvent;

use crate::link_filter::LinkFilter;
use crate::prompt::{SUGGESTIONS, Step, UNANSWERED};
use crate::targets::Targets;

/// How many questions are suggested, and how long each may be, in characters.
const SUGGESTED: usize = 3;
const LONGEST_SUGGESTION: usize = 200;

/// The text of a reply on its way to the reader.
pub(crate) struct Telling {
    filter: LinkFilter,
    /// The number of the text that is open, and how many there were.
    open: Option<usize>,
    texts: usize,
    /// All that was told.
    answer: String,
    /// Where in it this step's text begins.
    step: usize,
}

impl Default for Telling {
    fn default() -> Self {
        Self { filter: LinkFilter::new(), open: None, texts: 0, answer: String::new(), step: 0 }
    }
}

impl Telling {
    /// What of the model's next words may leave now.
    pub(crate) fn take(&mut self, words: &str, targets: &Targets) -> impl Iterator<Item = StreamEvent> + use<> {
        let text = self.filter.push(words, &|destination| targets.judge(destination));
        self.say(text)
    }

    /// All that was told, as it is kept.
    pub(crate) fn answer(&self) -> &str {
        self.answer.trim_end()
    }

    /// Where the links that were told lead to, in order.
    pub(crate) fn links(&self) -> &[String] {
        self.filter.links()
    }

    /// Whether there was a word yet.
    pub(crate) fn has_spoken(&self) -> bool {
        !self.answer.trim().is_empty()
    }

    /// Words of our own, or words that may leave.
    pub(crate) fn say(&mut self, text: String) -> impl Iterator<Item = StreamEvent> + use<> {
        let mut start = None;
        let mut delta = None;
        if !text.is_empty() {
            if self.open.is_none() {
                self.texts += 1;
                self.open = Some(self.texts);
                start = Some(StreamEvent::TextStart { id: text_id(self.texts) });
                if !self.answer.is_empty() {
                    self.answer.push_str("\n\n");
                    self.step = self.answer.len();
                }
            }
            self.answer.push_str(&text);
            delta = Some(StreamEvent::TextDelta { id: text_id(self.texts), text });
        }
        start.into_iter().chain(delta)
    }

    /// Ends the text that is open, and hands what was said since the last one to the step.
    pub(crate) fn close(&mut self, targets: &Targets, step: &mut Step) -> impl Iterator<Item = StreamEvent> + use<> {
        let rest = self.filter.finish(&|destination| targets.judge(destination));
        let said = self.say(rest);
        let end = self.open.take().map(|number| StreamEvent::TextEnd { id: text_id(number) });
        if end.is_some() {
            step.said.push_str(self.answer[self.step..].trim_end());
        }
        said.chain(end)
    }

    fn notes(&self, name: &'static str) -> impl Iterator<Item = &str> {
        self.filter.notes().iter().filter_map(move |note| note.trim().strip_prefix(name))
    }

    /// Whether the model has noted that the docs hold no answer.
    pub(crate) fn says_unanswered(&self) -> bool {
        self.notes(UNANSWERED).next().is_some()
    }

    /// The questions the model has noted to ask next.
    pub(crate) fn suggestions(&self) -> Option<Vec<String>> {
        let lines = self.notes(SUGGESTIONS).last()?.lines();
        let lines = lines.map(|line| line.trim().trim_start_matches(['-', '*', ' ']).to_owned());
        let lines = lines.filter(|line| (1..=LONGEST_SUGGESTION).contains(&line.chars().count()));
        Some(lines.take(SUGGESTED).collect::<Vec<_>>()).filter(|lines| !lines.is_empty())
    }
}

fn text_id(number: usize) -> String {
    format!("text-{number}")
}
