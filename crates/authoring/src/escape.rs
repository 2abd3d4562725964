//! Escapes text for commits and pull requests, so that it notifies no user and triggers no automation.
//!
//! Text of a model, or of an instruction, becomes part of a pull request and a commit. There `@name` would notify
//! people, `Closes #1` would close an issue, `[skip ci]` would keep checks from running, and on some forges a line that
//! begins with `/` would be executed as a command. [`references`] breaks all of these without a visible difference.
//! Mentions and references in code stay, so that the code can be copied; text counts as code only when that is certain.

mod references;

use docent_types::printable;

use self::references::{break_references, without_directives, without_draft_mark};

/// A title, on one line.
pub(crate) fn title(text: &str) -> String {
    without_draft_mark(&plain(text))
}

/// Text that a forge does not parse as a Markdown document, such as a commit's message or quoted lines.
pub(crate) fn plain(text: &str) -> String {
    without_directives(&break_references(&printable(text)))
}

/// Markdown.
pub(crate) fn markdown(text: &str) -> String {
    without_directives(&without_mentions(&printable(text)))
}

/// Markdown with mentions, references and commands broken, except in code.
fn without_mentions(text: &str) -> String {
    // Inside raw HTML, fences and backticks do not make code.
    let may_hold_code = !text.contains('<');
    let mut fence: Option<&str> = None;
    let mut out = Vec::new();
    for block in blocks(text) {
        let spans = may_hold_code && has_whole_spans(&block);
        for line in block {
            out.push(match (fence, fence_of(line).filter(|_| may_hold_code)) {
                (None, Some(opened)) => {
                    fence = Some(opened);
                    line.to_owned()
                }
                (Some(open), Some(closing)) if closes(line, open, closing) => {
                    fence = None;
                    line.to_owned()
                }
                // Some forges execute commands in code too; a leading space prevents it.
                (Some(_), _) if is_command(line) => format!(" {line}"),
                (Some(_), _) => line.to_owned(),
                (None, None) => {
                    let quiet = if spans { outside_of_spans(line) } else { break_references(line) };
                    if is_command(line) { quiet.replacen('/', "\\/", 1) } else { quiet }
                }
            });
        }
    }
    out.join("\n")
}

/// Lines grouped at blank lines; a blank line belongs to the group before it.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.split('\n') {
        if let Some(block) = blocks.last_mut() {
            block.push(line);
        }
        if line.trim().is_empty() || fence_of(line).is_some() {
            blocks.push(Vec::new());
        }
    }
    blocks
}

/// The fence at the beginning of a line. An indented one is ignored, because it may be inside a list item.
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    let is_fence = length >= 3 && (mark == '~' || !line[length..].contains('`'));
    is_fence.then(|| &line[..length])
}

fn closes(line: &str, open: &str, closing: &str) -> bool {
    closing.starts_with(open) && line[closing.len()..].trim().is_empty()
}

fn is_command(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('/');
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Whether every run of backticks is closed in its own line: then the text between two runs is code, whatever kind of
/// block these lines are.
fn has_whole_spans(block: &[&str]) -> bool {
    let is_whole = |line: &&str| {
        let pieces = pieces(line);
        !line.contains("\\`") && pieces.iter().all(|piece| piece.is_code || !piece.text.contains('`'))
    };
    block.iter().all(is_whole)
}

struct Piece<'a> {
    text: &'a str,
    /// A code span, with its backticks.
    is_code: bool,
}

/// A line split into code spans and the text between them.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = line[at..].find('`').map(|found| at + found) {
        let length = backtick_run(&line[start..]);
        let inside = start + length;
        match closing(&line[inside..], length).map(|end| inside + end) {
            Some(end) => {
                pieces.push(Piece { text: &line[from..start], is_code: false });
                pieces.push(Piece { text: &line[start..end], is_code: true });
                (from, at) = (end, end);
            }
            None => at = inside,
        }
    }
    pieces.push(Piece { text: &line[from..], is_code: false });
    pieces
}

/// The number of backticks at the beginning of a text.
fn backtick_run(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// The end of the next run of exactly this many backticks.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|found| at + found) {
        let found = backtick_run(&text[start..]);
        if found == length {
            return Some(start + found);
        }
        at = start + found;
    }
    None
}

fn outside_of_spans(line: &str) -> String {
    let quiet = |piece: &Piece<'_>| match piece.is_code {
        // A bar ends a table cell even inside code.
        true if !piece.text.contains('|') => piece.text.to_owned(),
        _ => break_references(piece.text),
    };
    pieces(line).iter().map(quiet).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::references::JOINER;
    use super::*;

    /// The text with each joiner shown as `|`.
    fn seen(text: &str) -> String {
        text.replace(JOINER, "|")
    }

    #[test]
    fn mentions_and_keywords_outside_of_code_are_escaped() {
        for (given, quiet) in [
            ("Thanks to @ann.\u{1b}[2J", "Thanks to @|ann.[2J"),
            ("Install `@acme/sdk` or @acme/sdk.", "Install `@acme/sdk` or @|acme/sdk."),
            ("```sh\nnpm i @acme/sdk\n```\n@ann", "```sh\nnpm i @acme/sdk\n```\n@|ann"),
            // Build services parse code too.
            ("Closes #1, not `#1`, [skip ci] and `[skip ci]`.", "Closes #|1, not `#1`, [|skip ci] and `[|skip ci]`."),
            // In a list, backticks in the next item do not close a code span; in a table, a bar ends a cell.
            ("- ` a\n- b ` c ` @ann ` d", "- ` a\n- b ` c ` @|ann ` d"),
            ("| ` | @ann ` |", "| ` | @|ann ` |"),
            (r"a \` @ann ` b", r"a \` @|ann ` b"),
            // Not a fence inside a list or HTML.
            ("- a\n  ```\n@ann", "- a\n  ```\n@|ann"),
            ("<div>\n```\n@ann", "<div>\n```\n@|ann"),
            ("~~~\n```\n@ann\n~~~\n@ann", "~~~\n```\n@ann\n~~~\n@|ann"),
        ] {
            assert_eq!(seen(&markdown(given)), quiet, "{given}");
        }
        assert_eq!(seen(&plain("`@ann` `#1`")), "`@|ann` `#|1`");
        assert_eq!(seen(&title("Draft: ask `@ann` [skip ci]")), "D|raft: ask `@|ann` [|skip ci]");
    }

    #[test]
    fn no_line_is_a_command() {
        assert_eq!(markdown("Done.\n/merge\n /close now"), "Done.\n\\/merge\n \\/close now");
        assert_eq!(markdown("~~~\n/merge\n~~~"), "~~~\n /merge\n~~~");
        assert_eq!(markdown("and/or 1/2\n/ alone"), "and/or 1/2\n/ alone");
    }

    proptest! {
        #[test]
        fn a_text_is_the_same_to_the_eye(text in "[@#&;1a`~\\\\/| <\n-]{0,60}") {
            let quiet = markdown(&text);
            prop_assert_eq!(quiet.split('\n').count(), text.split('\n').count());
            // Without any code, no mention remains; after a letter or a digit it is an e-mail address.
            if !text.contains(['`', '~']) {
                let called = quiet.match_indices("@a").any(|(at, _)| !quiet[..at].ends_with(['a', '1']));
                prop_assert!(!called, "{}", quiet);
                prop_assert!(!quiet.split('\n').any(|line| line.starts_with("/a")), "{}", quiet);
            }
        }
    }
}
