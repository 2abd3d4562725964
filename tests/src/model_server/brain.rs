//! A model that does one thing well: it reads a page, replaces some words in it, and finishes.
//!
//! Its replies depend on the transcript alone, so any number of jobs can use it at once. It uses the tools that it is
//! offered: Docent's, or the shell that other agents offer. Without tools it writes the edit as text.

use serde_json::json;

use super::asked::{ModelRequest, TranscriptTurn};
use super::reply::Reply;

/// Words to be replaced in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub path: String,
    pub old: String,
    pub new: String,
}

impl Edit {
    pub fn new(path: &str, old: &str, new: &str) -> Self {
        Self { path: path.to_owned(), old: old.to_owned(), new: new.to_owned() }
    }

    /// The instruction that [`read_edit_finish`] understands.
    pub fn prompt(&self) -> String {
        format!("In <{}> write <{}> instead of <{}>, please.", self.path, self.new, self.old)
    }

    /// Parses the edit from an instruction.
    fn asked_for(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("In <")?;
        let (path, rest) = rest.split_once("> write <")?;
        let (new, rest) = rest.split_once("> instead of <")?;
        let (old, _) = rest.split_once(">, please.")?;
        Some(Self::new(path, old, new))
    }
}

/// Reads, edits and finishes, one step per reply.
pub fn read_edit_finish(asked: &ModelRequest) -> Reply {
    let turns = asked.turns();
    let order = turns.iter().enumerate().rev().find_map(|(n, turn)| match turn {
        TranscriptTurn::User(text) => Edit::asked_for(text).map(|edit| (n, edit)),
        _ => None,
    });
    let Some((at, edit)) = order else { return Reply::text("I was asked for nothing that I can do.") };
    let step = turns[at..].iter().filter(|turn| matches!(turn, TranscriptTurn::Assistant { .. })).count();
    if asked.offers("str_replace_based_edit_tool") {
        with_text_editor(&edit, step)
    } else if asked.offers("edit") {
        with_tools(&edit, step)
    } else if asked.offers("bash") {
        Reply::text(WORDS[step.min(2)]).call("bash", &json!({ "command": shell(&edit, step) }))
    } else if let Some(block) = search_and_replace(&edit, asked) {
        Reply::text(block)
    } else {
        Reply::text(format!("{}\n\n```bash\n{}\n```\n", WORDS[step.min(2)], shell(&edit, step)))
    }
}

const WORDS: [&str; 3] = ["I will read the page first.", "Now the change.", "That is all there was to do."];

fn with_text_editor(edit: &Edit, step: usize) -> Reply {
    let reply = Reply::text(WORDS[step.min(2)]);
    let tool = "str_replace_based_edit_tool";
    match step {
        0 => reply.call(tool, &json!({ "command": "view", "path": edit.path })),
        1 => {
            let (old, new) = (&edit.old, &edit.new);
            reply.call(tool, &json!({ "command": "str_replace", "path": edit.path, "old_str": old, "new_str": new }))
        }
        _ => reply.finish(&format!("Write {} in {}", edit.new, edit.path)),
    }
}

fn with_tools(edit: &Edit, step: usize) -> Reply {
    let reply = Reply::text(WORDS[step.min(2)]);
    match step {
        0 => reply.call("read", &json!({ "path": edit.path })),
        1 => reply.call("edit", &json!({ "path": edit.path, "old": edit.old, "new": edit.new })),
        _ => reply.finish(&format!("Write {} in {}", edit.new, edit.path)),
    }
}

/// The edit in the format of agents that parse it from the text: whole lines between SEARCH/REPLACE markers.
fn search_and_replace(edit: &Edit, asked: &ModelRequest) -> Option<String> {
    if !asked.system().contains("SEARCH/REPLACE") {
        return None;
    }
    let said = asked.said().join("\n");
    let line = said.lines().find(|line| line.contains(&edit.old) && Edit::asked_for(line).is_none())?;
    let (path, new) = (&edit.path, line.replace(&edit.old, &edit.new));
    let mark = |sign: &str, word: &str| format!("{} {word}", sign.repeat(7));
    let (search, end, between) = (mark("<", "SEARCH"), mark(">", "REPLACE"), "=".repeat(7));
    Some(format!("{path}\n```\n{search}\n{line}\n{between}\n{new}\n{end}\n```\n"))
}

fn shell(edit: &Edit, step: usize) -> String {
    let Edit { path, old, new } = edit;
    match step {
        0 => format!("cat {path}"),
        1 => format!("sed -i 's/{old}/{new}/' {path}"),
        _ => "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT".to_owned(),
    }
}
