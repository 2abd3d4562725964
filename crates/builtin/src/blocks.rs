//! Splits the Markdown of a passage into blocks, from which quotes are built.

use crate::block_marks::{Mark, mark};
use crate::outline::list_mark;

/// A block of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    pub(crate) kind: BlockKind,
    pub(crate) text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Prose,
    /// A few words in bold on a line of their own, or the label of a tab without its mark, which label the block below.
    Label,
    /// Includes indented text and code below an item.
    List,
    Table,
    /// Includes the fences.
    Code,
}

impl<'a> Block<'a> {
    /// Whether the block only introduces the next one.
    pub(crate) fn introduces_next(&self) -> bool {
        self.kind == BlockKind::Label || self.kind == BlockKind::Prose && self.text.trim_end().ends_with([':', '：'])
    }

    /// Whether the block is a numbered list, that is, steps to take.
    pub(crate) fn is_steps(&self) -> bool {
        self.kind == BlockKind::List && self.text.trim_start().starts_with(|c: char| c.is_ascii_digit())
    }

    pub(crate) fn is_code_or_steps(&self) -> bool {
        self.kind == BlockKind::Code || self.is_steps()
    }

    /// The smallest units that can be quoted: sentences, items, rows. The header and delimiter rows of a table are left
    /// out.
    pub(crate) fn units(&self) -> Vec<&'a str> {
        match self.kind {
            BlockKind::Prose => sentences(self.text),
            BlockKind::Label | BlockKind::Code => vec![self.text],
            BlockKind::List => items(self.text),
            BlockKind::Table => self.text.split_inclusive('\n').skip(2).collect(),
        }
    }
}

/// The blocks of a text, without headings.
pub(crate) fn blocks(content: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut run: Option<Run> = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    let ends = |fence: &str, text: &str| match fence {
        DIAGRAM_END => text.contains(fence),
        _ => text.starts_with(fence) && text.trim_start_matches(['`', '~']).is_empty(),
    };
    for line in content.split_inclusive('\n') {
        let text = line.trim();
        let to = at + line.trim_end().len();
        let is_indented = line.starts_with([' ', '\t']);
        let in_list = run.as_ref().is_some_and(|run| run.kind == BlockKind::List);
        if let Some(open) = fence {
            run.as_mut().into_iter().for_each(|run| run.to = to);
            if ends(open, text) {
                fence = None;
                if !in_list {
                    blocks.extend(run.take().map(|run| run.block(content)));
                }
            }
        } else if let Some(mark) = mark(text) {
            blocks.extend(run.take().map(|run| run.block(content)));
            if let Mark::Label(text) = mark {
                blocks.push(Block { kind: BlockKind::Label, text });
            }
        } else if text.is_empty() {
            match &mut run {
                Some(run) if run.kind == BlockKind::List => run.is_after_blank = true,
                run => blocks.extend(run.take().map(|run| run.block(content))),
            }
        } else if let Some(run) = run.as_mut().filter(|run| run.continues(text, is_indented)) {
            // The first row of a table may be without a leading `|`; the line of dashes below it tells.
            if run.kind == BlockKind::Prose && is_below_header(text) && !content[run.from..run.to].contains('\n') {
                run.kind = BlockKind::Table;
            }
            run.to = to;
            run.is_after_blank = false;
            fence = fence_of(text);
        } else {
            blocks.extend(run.take().map(|run| run.block(content)));
            fence = fence_of(text);
            if !text.starts_with('#') {
                run = Some(Run { kind: kind(text), from: at, to, is_after_blank: false });
            }
            if fence.is_none() && kind(text) == BlockKind::Code {
                blocks.extend(run.take().map(|run| run.block(content)));
            }
        }
        at += line.len();
    }
    blocks.extend(run.take().map(|run| run.block(content)));
    blocks.retain(|block| !is_diagram(block.text));
    blocks
}

/// Lines that make up one block.
struct Run {
    kind: BlockKind,
    from: usize,
    to: usize,
    /// Whether its last line was followed by a blank one.
    is_after_blank: bool,
}

impl Run {
    /// Whether a line that is not blank belongs to the same block.
    fn continues(&self, text: &str, is_indented: bool) -> bool {
        match self.kind {
            BlockKind::List => {
                let continues = !self.is_after_blank && kind(text) == BlockKind::Prose && !text.starts_with('#');
                is_indented || list_mark(text).is_some() || continues
            }
            BlockKind::Table => !text.starts_with('#') && text.contains('|'),
            BlockKind::Prose => kind(text) == BlockKind::Prose && !text.starts_with('#'),
            BlockKind::Label | BlockKind::Code => false,
        }
    }

    fn block<'a>(&self, content: &'a str) -> Block<'a> {
        let text = &content[self.from..self.to];
        let label = text.trim().strip_prefix("**").and_then(|text| text.strip_suffix("**"));
        let is_label = self.kind == BlockKind::Prose && label.is_some_and(|text| !text.contains(['\n', '*']));
        Block { kind: if is_label { BlockKind::Label } else { self.kind }, text }
    }
}

const DIAGRAM_END: &str = "/mermaid";

/// Whether a block is a diagram, whose source tells a reader little.
fn is_diagram(text: &str) -> bool {
    ["```mermaid", "~~~mermaid"].iter().any(|open| text.starts_with(open)) || opens_diagram(text)
}

/// Whether a line is `{{< mermaid >}}`.
fn opens_diagram(text: &str) -> bool {
    let shortcode = text.strip_prefix("{{<").or_else(|| text.strip_prefix("{{%"));
    shortcode.is_some_and(|shortcode| shortcode.trim_start().starts_with("mermaid"))
}

/// What ends the code that begins with this line.
fn fence_of(text: &str) -> Option<&'static str> {
    let diagram = opens_diagram(text).then_some(DIAGRAM_END);
    diagram.or_else(|| ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark)))
}

/// The kind of block that begins with this line.
fn kind(text: &str) -> BlockKind {
    if fence_of(text).is_some() {
        BlockKind::Code
    } else if list_mark(text).is_some() {
        BlockKind::List
    } else if text.starts_with('|') {
        BlockKind::Table
    } else {
        BlockKind::Prose
    }
}

/// Whether a line is that below the header of a table: `--- | :-:`.
fn is_below_header(text: &str) -> bool {
    text.contains('|') && text.contains("--") && text.chars().all(|c| "|:- \t".contains(c))
}

/// The items of a list, each with the indented text below it.
fn items(text: &str) -> Vec<&str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let outermost = indent(text);
    let mut starts = Vec::new();
    let (mut at, mut fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        fenced ^= fence_of(line.trim()).is_some();
        if !fenced && indent(line) <= outermost && list_mark(line.trim()).is_some() {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(from, to)| &text[*from..to]).collect()
}

/// Sentences with the white space after them.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut ended = false;
    for (at, c) in text.char_indices() {
        if ended && !c.is_whitespace() {
            sentences.push(&text[start..at]);
            start = at;
        }
        ended = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[at + c.len_utf8()..].starts_with(char::is_whitespace),
            c => ended && c.is_whitespace(),
        };
    }
    sentences.push(&text[start..]);
    sentences
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(content: &str) -> Vec<(BlockKind, &str)> {
        blocks(content).into_iter().map(|block| (block.kind, block.text)).collect()
    }

    #[test]
    fn a_passage_is_cut_to_its_blocks() {
        let content = "# Title\nText,\nmore.\n- one\n- two\n\n**Label**\n\n| a | b |\n|---|---|\n| c | d |\n\n```toml\nx = 1\n\n# no heading\n```\nEnd.";
        assert_eq!(
            kinds(content),
            [
                (BlockKind::Prose, "Text,\nmore."),
                (BlockKind::List, "- one\n- two"),
                (BlockKind::Label, "**Label**"),
                (BlockKind::Table, "| a | b |\n|---|---|\n| c | d |"),
                (BlockKind::Code, "```toml\nx = 1\n\n# no heading\n```"),
                (BlockKind::Prose, "End."),
            ]
        );
        assert_eq!(kinds("a\n```\nb\n\nc"), [(BlockKind::Prose, "a"), (BlockKind::Code, "```\nb\n\nc")]);
        assert_eq!(kinds(""), []);
        let diagrams = "{{< mermaid >}}\ngraph\n\nA --> B\n{{< /mermaid >}}\n\n```mermaid\ngraph\n```\n";
        assert_eq!(kinds(&format!("One.\n{diagrams}\nTwo.")), [(BlockKind::Prose, "One."), (BlockKind::Prose, "Two.")]);
        assert_eq!(
            kinds("{% tabs %}\n{% tab title=\"Go\" %}\n```go\n{% x %}\n```\n{% endtab %}\nText."),
            [(BlockKind::Label, "Go"), (BlockKind::Code, "```go\n{% x %}\n```"), (BlockKind::Prose, "Text.")]
        );
    }

    #[test]
    fn indented_blocks_belong_to_the_list_item() {
        let list = "1. Install it:\n\n   ```sh\n   - run\n\n   ```\n\n2. Start it.\n   More.";
        assert_eq!(kinds(&format!("{list}\n\nAfter.")), [(BlockKind::List, list), (BlockKind::Prose, "After.")]);
        let block = blocks(list)[0];
        assert!(block.is_steps());
        assert_eq!(block.units(), ["1. Install it:\n\n   ```sh\n   - run\n\n   ```\n\n", "2. Start it.\n   More."]);
        assert_eq!(blocks("- a\n  - b\n- c")[0].units(), ["- a\n  - b\n", "- c"]);
    }

    #[test]
    fn rows_and_sentences_are_units() {
        assert_eq!(blocks("| a |\n|---|\n| b |\n| c |")[0].units(), ["| b |\n", "| c |"]);
        assert_eq!(blocks("One. Two!\nThree")[0].units(), ["One. ", "Two!\n", "Three"]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_a_panic(text in "(\\PC|\n|```|:::|- |1\\. |\\| |   |\\*\\*|:){0,80}") {
            for block in blocks(&text) {
                prop_assert!(!block.text.trim().is_empty());
                block.units();
            }
        }
    }
}
