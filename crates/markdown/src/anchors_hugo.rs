//! Collects the text of a heading by Hugo's anchor rules: every space counts, and code is verbatim.
//!
//! Sequences that Hugo's typographer replaces (`--`, `"`) are left out. In emphasis, a link or an image, only the text
//! before the first such sequence or inline markup counts: `it` for `**it's bold**`.

use satteri_pulldown_cmark::{Event, Tag as Start, TagEnd};

use crate::heading_words::code_inside;

/// Sequences that Hugo's typographer replaces.
const REPLACED_SEQUENCES: [&str; 6] = ["'", "\"", "...", "<<", ">>", "--"];

#[derive(Debug)]
pub(crate) struct HugoWords {
    has_typographer: bool,
    words: String,
    /// Nesting depth of open emphasis, links and images.
    depth: usize,
    /// Where the text of the outermost open element begins in `words`.
    start: usize,
    /// Whether the rest of the outermost open element is ignored.
    skips_rest: bool,
}

impl HugoWords {
    pub(crate) fn of(has_typographer: bool) -> Self {
        Self { has_typographer, words: String::new(), depth: 0, start: 0, skips_rest: false }
    }

    /// Takes the text of an event; `raw` is its source.
    pub(crate) fn event(&mut self, event: &Event<'_>, raw: &str) {
        use TagEnd::{Emphasis, Image, Link, Strikethrough, Strong};
        match event {
            Event::Start(
                Start::Emphasis | Start::Strong | Start::Strikethrough | Start::Link { .. } | Start::Image { .. },
            ) => self.open(),
            Event::End(Emphasis | Strong | Strikethrough | Link | Image) => self.close(),
            Event::Text(text) => self.text(text),
            Event::Code(_) => self.code(code_inside(raw)),
            Event::SoftBreak => self.text(" "),
            Event::InlineHtml(_) => self.tag(),
            _ => {}
        }
    }

    fn open(&mut self) {
        if self.depth == 0 {
            self.start = self.words.len();
        }
        self.skips_rest |= self.words.len() > self.start;
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.skips_rest = self.depth > 0;
    }

    fn text(&mut self, text: &str) {
        if self.skips_rest {
            return;
        }
        let end = (self.depth > 0).then(|| self.cutoff(text)).flatten();
        let text = &text[..end.unwrap_or(text.len())];
        self.words.push_str(&if self.has_typographer { without_dashes(text) } else { text.to_owned() });
        self.skips_rest = end.is_some();
    }

    fn code(&mut self, code: &str) {
        self.skips_rest |= self.depth > 0 && self.words.len() > self.start;
        if !self.skips_rest {
            self.words.push_str(code);
        }
        self.skips_rest = self.depth > 0;
    }

    fn tag(&mut self) {
        self.skips_rest = self.depth > 0;
    }

    pub(crate) fn words(self) -> String {
        self.words
    }

    /// Where the first replaced sequence, `_` or `[` cuts a text off.
    fn cutoff(&self, text: &str) -> Option<usize> {
        let signs = REPLACED_SEQUENCES.iter().filter(|_| self.has_typographer).filter_map(|sign| text.find(sign));
        signs.chain(text.find('_').map(|at| at + 1)).chain(text.find('[')).min()
    }
}

/// A text without runs of hyphens: three become a dash, and so do two, and dashes are dropped; a single one left over
/// stays a hyphen.
fn without_dashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let after = rest[at..].trim_start_matches('-');
        let count = rest.len() - at - after.len();
        out.push_str(&rest[..at]);
        out.push_str(if count % 3 == 1 { "-" } else { "" });
        rest = after;
    }
    out + rest
}
