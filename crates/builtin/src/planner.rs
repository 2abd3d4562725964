//! The agent: derives the next tool calls from a transcript.
//!
//! The chores of a turn are parsed from its user messages, in order. Each step makes the call of the next chore and
//! updates the todos; when all calls are answered, the turn is finished with a report made of the answers.

use docent_types::{Message, Role};
use serde_json::{Value, json};

use crate::Draft;
use crate::chore::{Chore, TOOLS};
use crate::grammar::{FORMS, Instruction, read};
use crate::transcript::{AnsweredCall, answered, newest_turn, texts_of};

/// The tool that ends a turn. A request that offers it comes from the agent.
pub(crate) const FINISH: &str = "finish";
const TODO_WRITE: &str = "todo_write";

/// The longest title, in characters: the usual limit of the first line of a commit message.
const MAX_TITLE_CHARS: usize = 72;
/// Maximum number of chores in the todo list.
const MAX_TODOS: usize = 100;
/// Maximum number of words before a verb, as in `Could you please`.
const MAX_WORDS_BEFORE_VERB: usize = 3;
/// Maximum number of unreadable instructions that are listed one by one.
const MAX_LISTED_UNREADABLE: usize = 10;

/// The next step of the newest turn.
pub(crate) fn next(messages: &[Message]) -> Draft {
    let turn = NewestTurn::read(messages);
    if turn.chores.is_empty() {
        return cannot(&turn.nothing_to_do());
    }
    match turn.chores.get(turn.done.len()) {
        Some(chore) => Draft { text: format!("{chore}."), calls: vec![turn.todos(), chore.call()] },
        None => turn.finish(),
    }
}

/// The report when the turn is stopped before its end. The last message requests the report and is not part of the
/// turn.
pub(crate) fn early_report(messages: &[Message]) -> Draft {
    let before = messages.split_last().map_or(messages, |(_, before)| before);
    let turn = NewestTurn::read(before);
    if turn.chores.is_empty() {
        return Draft { text: turn.nothing_to_do(), calls: Vec::new() };
    }
    let waiting: Vec<String> = turn.chores.iter().skip(turn.done.len()).map(|chore| format!("- `{chore}`")).collect();
    Draft { text: paragraphs([turn.report(), list("Not done:", &waiting)]), calls: Vec::new() }
}

/// The newest turn: its instructions, and what was done.
struct NewestTurn<'a> {
    chores: Vec<Chore>,
    /// Chores that must not be carried out, and why.
    refused: Vec<(Chore, String)>,
    unreadable: Vec<String>,
    answers: Vec<AnsweredCall<'a>>,
    /// The answers to chores, in order.
    done: Vec<AnsweredCall<'a>>,
}

impl<'a> NewestTurn<'a> {
    fn read(messages: &'a [Message]) -> Self {
        let turn = newest_turn(messages, FINISH);
        let mut texts = texts_of(turn, Role::User);
        if texts.is_empty() && turn.len() == messages.len() {
            // A job may have only system messages; then they are the instruction.
            texts = texts_of(turn, Role::System);
        }
        let (mut chores, mut refused, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        for instruction in texts.iter().flat_map(|text| read(text)) {
            match instruction {
                Instruction::Chore(chore) => match chore.refusal() {
                    Some(reason) => refused.push((chore, reason)),
                    None => chores.push(chore),
                },
                Instruction::Unreadable(text) => unreadable.push(text),
            }
        }
        let answers = answered(turn);
        let done = answers.iter().filter(|answer| TOOLS.contains(&answer.name)).copied().collect();
        Self { chores, refused, unreadable, answers, done }
    }

    /// The `todo_write` call with the state of every chore before the next one is carried out.
    fn todos(&self) -> (&'static str, Value) {
        let chores = self.chores.iter().enumerate().take(MAX_TODOS).map(|(index, chore)| {
            let status = match self.done.get(index) {
                Some(answer) if answer.is_error => "cancelled",
                Some(_) => "completed",
                None if index == self.done.len() => "in_progress",
                None => "pending",
            };
            json!({ "content": chore.to_string(), "status": status, "priority": "medium" })
        });
        let refused = self.refused.iter().map(|(chore, _)| chore.to_string());
        let not_done = refused
            .chain(self.unreadable.iter().cloned())
            .take(MAX_LISTED_UNREADABLE)
            .map(|text| json!({ "content": shortened(&text, 200), "status": "cancelled", "priority": "low" }));
        (TODO_WRITE, json!({ "todos": chores.chain(not_done).collect::<Vec<_>>() }))
    }

    fn finish(&self) -> Draft {
        let refusals: Vec<&AnsweredCall<'_>> = self.answers.iter().filter(|answer| answer.name == FINISH).collect();
        let summary = self.report();
        let mut input = json!({ "outcome": "done", "title": self.title(), "tells_failures": true });
        match refusals.as_slice() {
            [] => {
                input["summary"] = Value::String(summary);
                Draft { text: String::new(), calls: vec![self.todos(), (FINISH, input)] }
            }
            // The tool that ran the check adds its findings to the summary.
            [_] => {
                input["summary"] = Value::String(summary);
                input["known_problems"] = Value::Bool(true);
                Draft { text: String::new(), calls: vec![(FINISH, input)] }
            }
            // Refused although known problems were declared, so for another reason: give up.
            [.., last] => cannot(&format!("{summary}\n\nThis cannot become a pull request:\n\n{}", last.output.trim())),
        }
    }

    fn title(&self) -> String {
        let successful: Vec<&Chore> =
            self.chores.iter().zip(&self.done).filter(|(_, answer)| !answer.is_error).map(|(chore, _)| chore).collect();
        let first = successful.first().copied().unwrap_or(&self.chores[0]).to_string();
        let more = match successful.len() {
            0 | 1 => String::new(),
            2 => " and one more".to_owned(),
            count => format!(" and {} more", count - 1),
        };
        format!("{}{more}", shortened(&first, MAX_TITLE_CHARS - more.chars().count()))
    }

    /// What was done, and what was not and why.
    fn report(&self) -> String {
        let mut done = Vec::new();
        let mut not_done = Vec::new();
        for (chore, answer) in self.chores.iter().zip(&self.done) {
            if answer.is_error {
                // The command that would allow it is told once, at the end of the job.
                let why = answer.output.split("\n\nThe owner can allow it: ").next().unwrap_or_default();
                not_done.push(format!("- `{chore}`: {}", item(why)));
            } else {
                done.push(format!("- {}", item(answer.output)));
            }
        }
        not_done.extend(self.refusals());
        not_done.extend(unread(&self.unreadable, ": not one of the chores I carry out without a language model."));
        let forms = if self.unreadable.is_empty() { String::new() } else { forms() };
        paragraphs([done.join("\n"), list("Left:", &not_done), forms])
    }

    fn refusals(&self) -> impl Iterator<Item = String> {
        self.refused.iter().map(|(chore, reason)| format!("- `{chore}`: {reason}"))
    }

    /// The message when there is no chore to carry out.
    fn nothing_to_do(&self) -> String {
        let refused: Vec<String> = self.refusals().collect();
        let is_all = !refused.is_empty() && self.unreadable.is_empty();
        let unreadable = if is_all { String::new() } else { unreadable_report(&self.unreadable) };
        paragraphs([list("Left:", &refused), unreadable])
    }
}

/// The parts that are not empty, with blank lines between them.
fn paragraphs<const N: usize>(parts: [String; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Items below a line that announces them; empty without items.
fn list(announced: &str, items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("{announced}\n\n{}", items.join("\n")) }
}

fn cannot(summary: &str) -> Draft {
    let input = json!({ "outcome": "cannot", "title": "Nothing done", "summary": summary });
    Draft { text: String::new(), calls: vec![(FINISH, input)] }
}

/// A tool's answer as a list item: the lines after the first are indented.
fn item(output: &str) -> String {
    output.trim().replace('\n', "\n  ").replace("\n  \n", "\n\n")
}

fn unreadable_report(unreadable: &[String]) -> String {
    let report = match unreadable {
        [] => "There is no instruction in this prompt.".to_owned(),
        [one] => format!("I could not read “{}” as an instruction.{}", shortened(one, 300), form_of(one)),
        many => list("I could not read these as instructions:", &unread(many, "")),
    };
    paragraphs([report, forms()])
}

/// Instructions that could not be read as items, with a reason.
fn unread(texts: &[String], reason: &str) -> Vec<String> {
    let item = |text: &String| format!("- “{}”{reason}{}", shortened(text, 300), form_of(text));
    let more = texts.len().checked_sub(MAX_LISTED_UNREADABLE).filter(|more| *more > 0);
    texts.iter().take(MAX_LISTED_UNREADABLE).map(item).chain(more.map(|more| format!("- and {more} more"))).collect()
}

/// The forms that begin with one of the first words of a text, or with a similar word, as a sentence.
fn form_of(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().take(MAX_WORDS_BEFORE_VERB + 1).map(str::to_lowercase).collect();
    let is_written = |form: &&str| {
        let verb = form.split(' ').next().unwrap_or_default().to_lowercase();
        words.iter().any(|word| strsim::osa_distance(word, &verb) <= verb.len() / 4)
    };
    let forms: Vec<&str> = FORMS.iter().copied().filter(is_written).map(|form| without_remark(form).0).collect();
    if forms.is_empty() { String::new() } else { format!(" Write it as `{}`.", forms.join("` or `")) }
}

/// A form, and what is said of it behind a comma.
fn without_remark(form: &str) -> (&str, &str) {
    form.split_at(form.find(", with").unwrap_or(form.len()))
}

/// The forms of instructions, and how to get a model for all other instructions.
fn forms() -> String {
    let forms = FORMS.map(without_remark).map(|(form, remark)| format!("- `{form}`{remark}"));
    format!(
        "The builtin agent carries out instructions of these forms, one or more to a prompt:\n\n{}\n\nFor instructions in \
         your own words configure a language model: in `docent.toml`, a table `[models.sonnet]` with `provider` \
         (`anthropic`, or `openai` for every compatible server), `model` and `api_key_env`. docs/CONFIGURATION.md has \
         examples.",
        forms.join("\n")
    )
}

/// At most `limit` characters on one line.
fn shortened(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "\u{fffd}");
    if line.chars().count() <= limit {
        return line;
    }
    let mut short: String = line.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}
