//! The words of a heading as Hugo makes an anchor of them: each space counts, and code as it is written.
//!
//! What its typographer makes a sign of (`--`, `"`) is left out. In emphasis, a link or a picture only the words before the first
//! such sign or mark count: of `**it's bold**` that is `it`.

use satteri_pulldown_cmark::{Event, Tag as Start, TagEnd};

use crate::heading_words::code_inside;

/// What the typographer makes signs of.
const SIGNS: [&str; 6] = ["'", "\"", "...", "<<", ">>", "--"];

#[derive(Debug)]
pub(crate) struct HugoWords {
    has_typographer: bool,
    words: String,
    /// How many elements of emphasis, links and pictures are open.
    depth: usize,
    /// Where the words of the outermost of them begin.
    start: usize,
    /// Whether no more words of it count.
    is_over: bool,
}

impl HugoWords {
    pub(crate) fn of(has_typographer: bool) -> Self {
        Self { has_typographer, words: String::new(), depth: 0, start: 0, is_over: false }
    }

    /// Takes what an event says; `raw` is how it is written.
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
        self.is_over |= self.words.len() > self.start;
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.is_over = self.depth > 0;
    }

    fn text(&mut self, text: &str) {
        if self.is_over {
            return;
        }
        let end = (self.depth > 0).then(|| self.end_of_first(text)).flatten();
        let text = &text[..end.unwrap_or(text.len())];
        self.words.push_str(&if self.has_typographer { without_dashes(text) } else { text.to_owned() });
        self.is_over = end.is_some();
    }

    fn code(&mut self, code: &str) {
        self.is_over |= self.depth > 0 && self.words.len() > self.start;
        if !self.is_over {
            self.words.push_str(code);
        }
        self.is_over = self.depth > 0;
    }

    fn tag(&mut self) {
        self.is_over = self.depth > 0;
    }

    pub(crate) fn words(self) -> String {
        self.words
    }

    /// Where the first sign or mark parts a text.
    fn end_of_first(&self, text: &str) -> Option<usize> {
        let signs = SIGNS.iter().filter(|_| self.has_typographer).filter_map(|sign| text.find(sign));
        signs.chain(text.find('_').map(|at| at + 1)).chain(text.find('[')).min()
    }
}

/// A text without its hyphens in a row: three make one dash, and two; what is left is one hyphen.
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
