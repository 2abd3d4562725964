//! Reads delimited blocks, verbatim content, and macros on lines of their own.

use std::ops::Range;

use super::lines::{self, BlockAttributes, Delimiter};
use super::tables::Table;
use super::{PageParser, inline};
use crate::page::{Link, LinkKind};
use crate::page_builder::Line;

/// Maximum nesting depth of blocks.
const DEEPEST: usize = 50;

/// Styles of blocks that display their content verbatim.
const VERBATIM: &str = "source listing literal prompt";

/// Styles of blocks whose source is not displayed: it is passed through, rendered or dropped.
const RAW: &str = "pass stem latexmath asciimath comment plantuml ditaa graphviz mermaid kroki vega vegalite svgbob \
    blockdiag";

/// Whether a block displays its content verbatim, or does not display its source.
pub(super) fn is_shown(styled: &BlockAttributes) -> bool {
    styled.is_style(VERBATIM) || styled.is_style(RAW)
}

impl<'t> PageParser<'t> {
    /// Reads a block between two equal delimiter lines, or the end of one; returns the next line.
    pub(super) fn delimited(&mut self, at: usize, kind: Delimiter) -> usize {
        let line = self.lines[at];
        if let Some(depth) = self.open.iter().rposition(|open| *open == line.text) {
            self.open.truncate(depth);
            self.tables.retain(|table| table.depth <= depth);
            self.pending = BlockAttributes::default();
            return at + 1;
        }
        let styled = std::mem::take(&mut self.pending);
        if let Some(id) = styled.id.clone() {
            self.anchor(id, styled.words.clone());
        }
        let is_shown = is_shown(&styled);
        match kind {
            Delimiter::Open if is_shown => {}
            Delimiter::Open | Delimiter::Blocks if self.open.len() < DEEPEST => {
                self.open.push(line.text);
                return at + 1;
            }
            Delimiter::Open | Delimiter::Blocks => return at + 1,
            Delimiter::Table(_) if self.open.len() >= DEEPEST => return at + 1,
            Delimiter::Table(separator) => {
                self.open.push(line.text);
                self.tables.push(Table::of(&styled, separator, self.open.len()));
                return at + 1;
            }
            Delimiter::Comment | Delimiter::Verbatim | Delimiter::Passthrough => {}
        }
        let (end, next) = self.enclosed(at);
        let span = line.start..self.lines[next - 1].end();
        let styled = match kind {
            Delimiter::Comment => return next,
            Delimiter::Passthrough => BlockAttributes { style: Some("pass".to_owned()), ..BlockAttributes::default() },
            _ if line.text.starts_with("```") => {
                let language =
                    line.text[3..].split([',', ' ']).next().filter(|name| !name.is_empty()).map(str::to_owned);
                BlockAttributes { style: Some("source".to_owned()), second: language, ..styled }
            }
            _ => styled,
        };
        self.shown(&styled, at + 1..end, span, next)
    }

    /// The line that closes the block opened by the line `at`, and the line after the block.
    pub(super) fn enclosed(&self, at: usize) -> (usize, usize) {
        let delimiter = self.lines[at].text;
        let closes = if delimiter.starts_with("```") { "```" } else { delimiter };
        for (ix, line) in self.lines.iter().enumerate().skip(at + 1) {
            if line.text == closes {
                return (ix, ix + 1);
            }
            if !self.open.is_empty() && self.open.contains(&line.text) {
                return (ix, ix);
            }
        }
        (self.lines.len(), self.lines.len())
    }

    /// Records lines as a verbatim block; returns the line after the block.
    pub(super) fn shown(
        &mut self,
        styled: &BlockAttributes,
        lines: Range<usize>,
        span: Range<usize>,
        next: usize,
    ) -> usize {
        let lines = lines.start.min(lines.end)..lines.end;
        for at in lines.clone() {
            self.include(self.lines[at]);
        }
        if styled.is_style(RAW) {
            self.page.code(span);
            return next;
        }
        let subs = styled.named("subs").unwrap_or_default();
        if subs.contains("macros") || subs.contains("normal") {
            for at in lines.clone() {
                let line = self.lines[at];
                let read = inline::read(self.text, line.start..line.end(), &mut self.attributes);
                self.links.extend(read.links);
            }
        }
        let language = styled.second.clone().or_else(|| styled.named("language").map(str::to_owned));
        let language = language.filter(|_| styled.is_style("source"));
        let mut text = String::new();
        for line in &self.lines[lines] {
            text.push_str(line.text);
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        self.page.code_block(language, text, span);
        next
    }

    /// `include::file[]`
    pub(super) fn include(&mut self, line: Line<'t>) -> bool {
        let Some(rest) = line.text.strip_prefix("include::") else { return false };
        let Some(open) = rest.find('[').filter(|open| *open > 0 && rest.ends_with(']')) else { return false };
        let start = line.start + "include::".len();
        let dest = start..start + open;
        self.links.push(Link {
            target: self.attributes.replaced(&rest[..open]),
            span: line.start..line.end(),
            dest_span: dest,
            text: String::new(),
            kind: LinkKind::Attribute { element: "include".to_owned(), attribute: "file".to_owned() },
        });
        true
    }

    /// Reads a macro on a line of its own: an image, a video, or one of an extension.
    pub(super) fn block_macro(&mut self, line: Line<'t>) -> bool {
        let Some((name, target, list)) = lines::block_macro(line.text) else { return false };
        let pending = std::mem::take(&mut self.pending);
        let inside = &line.text[list..line.text.len() - 1];
        let attributes = lines::attribute_list(inside);
        for id in [pending.id, attributes.named("id").map(str::to_owned), attributes.id].into_iter().flatten() {
            self.anchor(id, pending.words.clone());
        }
        let dest = line.start + target..line.start + list - 1;
        if name == "image" && !dest.is_empty() {
            self.links.push(Link {
                target: self.attributes.replaced(&self.text[dest.clone()]),
                span: line.start..line.end(),
                dest_span: dest,
                text: attributes.style.unwrap_or_default(),
                kind: LinkKind::Image,
            });
            let link = inline::attribute_link(inside, line.start + list, &mut self.attributes);
            self.links.extend(link);
        }
        self.page.code(line.start..line.end());
        true
    }
}
