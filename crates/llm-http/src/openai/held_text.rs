//! The text of a reply that is withheld because a call may be written in it.
//!
//! A call begins the reply, or stands in tags or in a fence ([`super::text_calls`]). So words go out as they arrive, and so
//! does a fence whose inside begins with neither an object nor a tag. From what may be a call on, the text is held until
//! the fence turns out to have none, or until the reply ends.

use super::text_calls::{FoundCall, KnownTool, OPENINGS, extract, fence_without_calls, is_fence_of_code};

/// What the withheld text is the beginning of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The reply; nothing has gone out.
    Reply,
    Words,
    /// Code without calls, up to the end of its fence.
    Code,
}

/// The withheld end of a text.
#[derive(Debug)]
pub(super) struct HeldText {
    tools: Vec<KnownTool>,
    held: String,
    state: State,
}

const FENCE: &str = "```";

impl HeldText {
    pub(super) fn new(tools: Vec<KnownTool>) -> Self {
        Self { tools, held: String::new(), state: State::Reply }
    }

    /// Adds text. Returns what can be no part of a call, empty when that is nothing.
    pub(super) fn add(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut settled = 0;
        while let Some(length) = self.next_settled(settled, text) {
            settled += length;
        }
        self.held.drain(..settled).collect()
    }

    /// The length of the next piece after `from` that can be no part of a call; `None` when there is no such piece yet.
    fn next_settled(&mut self, from: usize, added: &str) -> Option<usize> {
        let rest = &self.held[from..];
        match self.state {
            State::Reply => {
                let first = rest.trim_start().chars().next()?;
                self.state = if matches!(first, '{' | '[') { return None } else { State::Words };
                Some(0)
            }
            State::Code => {
                let Some(end) = rest.find(FENCE) else { return some(rest.len() - unfinished(rest, &[FENCE])) };
                self.state = State::Words;
                Some(end + FENCE.len())
            }
            State::Words => {
                let opening = OPENINGS.iter().filter_map(|open| rest.find(open)).min();
                // White space before a call is not part of the text.
                let words = &rest[..opening.unwrap_or(rest.len() - unfinished(rest, &OPENINGS))];
                let words = words.trim_end().len();
                if words > 0 {
                    return Some(words);
                }
                let fence = &rest[opening?..];
                let code = fence.strip_prefix(FENCE)?;
                if is_fence_of_code(code) {
                    self.state = State::Code;
                    return Some(rest.len() - code.len());
                }
                // Looking for calls parses the text, so it is done only where a fence may have ended.
                let length = added.contains('`').then(|| fence_without_calls(fence, &self.tools)).flatten()?;
                Some(rest.len() - fence.len() + length)
            }
        }
    }

    /// The rest of the text, and the calls in it.
    pub(super) fn end(self) -> (String, Vec<FoundCall>) {
        let (left, found) = extract(&self.held, &self.tools);
        let is_all = self.state == State::Reply;
        let left = match found.is_empty() {
            true => left,
            false if is_all => left.trim().to_owned(),
            false => left.trim_end().to_owned(),
        };
        (left, found)
    }

    /// The rest of the text, without looking for calls.
    pub(super) fn into_text(self) -> String {
        self.held
    }
}

fn some(length: usize) -> Option<usize> {
    (length > 0).then_some(length)
}

/// The length of the end of a text that may be the beginning of one of these marks.
fn unfinished(text: &str, marks: &[&str]) -> usize {
    let begins = |mark: &&str| (1..mark.len()).rev().find(|length| text.ends_with(&mark[..*length]));
    marks.iter().filter_map(begins).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use docent_llm::ToolSpec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn held() -> HeldText {
        let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
        let tool = ToolSpec { name: "read".to_owned(), description: String::new(), schema };
        HeldText::new(vec![KnownTool::of(&tool)])
    }

    /// The pieces that go out while a text arrives in these pieces, and what is left at the end.
    fn passed(pieces: &[&str]) -> (Vec<String>, String, usize) {
        let mut held = held();
        let out = pieces.iter().map(|piece| held.add(piece)).collect();
        let (left, calls) = held.end();
        (out, left, calls.len())
    }

    #[test]
    fn words_go_out_as_they_arrive() {
        for (pieces, out, left, calls) in [
            (&["The ", "port is", " 80."][..], &["The", " port is", " 80."][..], "", 0),
            (
                &["Run:\n", "```sh\nls", " -a\n`", "``\nDone <", "b"],
                &["Run:", "\n```sh\nls", " -a\n", "```\nDone", " <b"],
                "",
                0,
            ),
            (&["So: ", "<tool", "_call>{\"name\":\"read\"}", "</tool_call>"], &["So:", "", "", ""], "", 1),
            (&["{\"name\":", "\"read\"}"], &["", ""], "", 1),
            (&["\n", "{\"a\":1}"], &["", ""], "\n{\"a\":1}", 0),
            (
                &["A:\n```json\n", "{\"port\": 80}", "\n```", " B"],
                &["A:", "", "\n```json\n{\"port\": 80}\n```", " B"],
                "",
                0,
            ),
            (&["A:\n```json\n", "{\"name\":\"read\",\"path\":\"```\"", "}\n```"], &["A:", "", ""], "", 1),
            (&["A ", "```", "json\n", "{}"], &["A", "", "", ""], " ```json\n{}", 0),
        ] {
            let (said, rest, found) = passed(pieces);
            assert_eq!(
                (said.iter().map(String::as_str).collect::<Vec<_>>(), rest.as_str(), found),
                (out.to_vec(), left, calls),
                "{pieces:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_word_is_lost_however_a_text_is_cut(
            pieces in proptest::collection::vec("(```(json|sh)?\n?|</?tool_call>|<function=|[{}\"a: \n<`]|→){0,4}", 0..12),
        ) {
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let (out, left, calls) = passed(&pieces);
            prop_assert_eq!(calls, 0);
            prop_assert_eq!(out.concat() + &left, pieces.concat());
        }

        #[test]
        fn a_call_is_found_however_its_text_is_cut(size in 1_usize..9, words in "(So: |→ `a` |```sh\nls\n```\n)?") {
            for call in ["<tool_call>{\"name\":\"read\",\"path\":\"a\"}</tool_call>", "```json\n{\"name\":\"read\",\"path\":\"a\"}\n```"] {
                let text: Vec<char> = format!("{words}{call}").chars().collect();
                let pieces: Vec<String> = text.chunks(size).map(|piece| piece.iter().collect()).collect();
                let (out, left, calls) = passed(&pieces.iter().map(String::as_str).collect::<Vec<_>>());
                prop_assert_eq!(calls, 1);
                let said = out.concat() + &left;
                prop_assert_eq!(said.trim_end(), words.trim_end());
            }
        }
    }
}
