//! A streaming filter for a model's Markdown: its output contains no link to a target that is not in the docs.
//!
//! ```text
//!   deltas ──▶ held ──▶ one token of Markdown at a time ──▶ text that can be sent
//!                │        link, image, URL:       in one canonical form, or its text alone
//!                │        code:                   in one canonical form, with its text verbatim
//!                │        bracket, tag, address:  escaped or broken up
//!                ▼        comment:                a note for the caller of the filter
//!       a possible token that is incomplete, at most LONGEST bytes
//! ```
//!
//! Renderers disagree about where code ends, how a table's bar cuts a line and which words are addresses. So the filter
//! does not try to parse the text in the way of one renderer; its output is harmless under every interpretation:
//!
//! - A link is a complete inline link on one line, with a flat label and a destination that was checked. It cannot
//!   contain another destination.
//! - All other prose is inert in any position: no `](` and no `]:`, no `<` but before a space, no `//`, no `@` after a
//!   word, no top-level domain after a dot, no attributes in braces.
//! - Code keeps its text because every renderer recognises it as code: blocks are fenced with backticks, at the beginning
//!   of a line, outside of lists and quotes; spans are on one line, and in tables their bars are escaped.
//!
//! A token is decided when no later text can change it, so the output does not depend on how the text was split.

mod addresses;
mod lines;
mod output_state;
mod parsed;
mod spans;

pub(crate) use addresses::urls;
use addresses::{Address, address, as_code, as_label, label_of_domain};
use lines::{Fence, FenceLine, LineStart};
use output_state::OutputState;
use parsed::{autolink, destination, entity, sets_attributes};
use spans::{Lookahead, Window, code_span, label_end};

/// Maximum length of a link, image, URL, tag or comment that is buffered, in bytes. Anything longer is not treated as
/// one.
pub(crate) const LONGEST: usize = 1_024;

/// Characters as references, which every renderer shows as text.
const LESS: &str = "&lt;";
const AMPERSAND: &str = "&amp;";

/// A zero-width space: text to a parser, invisible to a reader.
const NO_SPACE: char = '\u{200b}';

/// The destination of a link or an image, verbatim but unescaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkTarget<'a> {
    Link(&'a str),
    Image(&'a str),
}

/// Returns the destination to write; `None` if the link must be removed.
pub(crate) type LinkPolicy<'a> = dyn Fn(LinkTarget<'_>) -> Option<String> + Sync + 'a;

/// The filter of one reply, which may be several texts.
#[derive(Debug)]
pub(crate) struct LinkFilter {
    held: String,
    at_line_start: bool,
    /// Whether the next text is the first one of a list item.
    begins_item: bool,
    fence: Option<Fence>,
    /// Indentation removed from lines, in columns, after a block of code that was moved out of a list.
    dedent: usize,
    /// Whether a code span that contains backticks was written.
    has_backticks_in_code: bool,
    written: OutputState,
    links: Vec<String>,
    notes: Vec<String>,
}

/// What to do with the next bytes.
enum Token {
    /// Output them unchanged.
    Same(usize),
    /// Replace them by another text.
    Other(usize, String),
    /// Replace them by another text, and parse that.
    Again(usize, String),
}

impl LinkFilter {
    pub(crate) fn new() -> Self {
        Self {
            held: String::new(),
            at_line_start: true,
            begins_item: false,
            fence: None,
            dedent: 0,
            has_backticks_in_code: false,
            written: OutputState::new(),
            links: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds the next piece; returns the text that can be output now.
    pub(crate) fn push(&mut self, text: String, judge: &LinkPolicy<'_>) -> String {
        let is_prose = self.held.is_empty() && !self.at_line_start && self.fence.is_none();
        if is_prose && self.plain(&text) == text.len() && self.written.between(&text).is_none() {
            self.written.push(&text);
            self.begins_item &= text.is_empty();
            return text;
        }
        let text = if text.contains(is_no_text) { text.replace(is_no_text, "") } else { text };
        self.run(text, false, judge)
    }

    /// Returns the rest at the end of a text. Text pushed afterwards is a new text, which may be displayed after this
    /// one.
    pub(crate) fn finish(&mut self, judge: &LinkPolicy<'_>) -> String {
        let mut rest = self.run(String::new(), true, judge);
        if let Some(fence) = self.fence.take() {
            let newline = if self.written.is_at_line_start() { "" } else { "\n" };
            let end = newline.to_owned() + &fence.end();
            self.written.push(&end);
            rest.push_str(&end);
        }
        (self.at_line_start, self.dedent) = (true, 0);
        self.written.mark_parsed_separately();
        rest
    }

    /// The destinations of the links and images that passed, in order.
    pub(crate) fn links(&self) -> &[String] {
        &self.links
    }

    /// The contents of comments, which are never output.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    fn run(&mut self, more: String, at_end: bool, judge: &LinkPolicy<'_>) -> String {
        let mut text = std::mem::take(&mut self.held);
        if text.is_empty() {
            text = more;
        } else {
            text.push_str(&more);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let in_code = self.fence.is_some();
            let Some(token) = self.next(&text[at..], at_end, judge) else { break };
            let (length, shown) = match &token {
                Token::Same(length) => (*length, &text[at..at + length]),
                Token::Other(length, shown) => (*length, shown.as_str()),
                Token::Again(length, instead) => {
                    // The text before this one was parsed without it.
                    self.written.mark_parsed_separately();
                    text.replace_range(..at + length, instead);
                    at = 0;
                    continue;
                }
            };
            if let Some(apart) = self.written.between(shown).filter(|_| !in_code) {
                self.written.push(apart);
                out.push_str(apart);
            }
            self.written.push(shown);
            out.push_str(shown);
            at += length;
            if in_code && !shown.is_empty() {
                self.fence = self.fence.map(Fence::begun);
            }
        }
        self.held = text.split_off(at);
        out
    }

    /// The token at the beginning of `rest`, which is not empty. `None` if it depends on what follows.
    fn next(&mut self, rest: &str, at_end: bool, judge: &LinkPolicy<'_>) -> Option<Token> {
        let window = Window {
            text: &rest[..rest.floor_char_boundary(LONGEST.min(rest.len()))],
            whole: at_end || rest.len() >= LONGEST,
        };
        if let Some(fence) = self.fence {
            return self.code_line(fence, window);
        }
        if self.at_line_start {
            let start = LineStart::read(window)?;
            if start.fence.is_some() {
                return Some(self.open_fence(&start, window.text));
            }
            (self.at_line_start, self.begins_item) = (false, start.has_item);
            if let Some(token) = self.head(&start, window.text) {
                return Some(token);
            }
        }
        let token = self.inline(window, judge)?;
        self.begins_item &= matches!(token, Token::Again(..));
        Some(token)
    }

    /// The beginning of a code block. It is moved to the beginning of a line, where every renderer recognises it.
    fn open_fence(&mut self, start: &LineStart, text: &str) -> Token {
        let fence = start.fence.expect("there is one");
        let mut shown = String::new();
        if start.has_item {
            shown.push_str(text[..start.length].trim_end());
        }
        if start.has_item || !self.written.is_at_line_start() {
            shown.push_str("\n\n");
        } else if !self.written.is_behind_blank() {
            shown.push('\n');
        }
        let line = text.find('\n').unwrap_or(text.len());
        let info = text[start.length + fence.length..line].trim();
        // Not every renderer knows a language with another character in its name.
        let end = info.find(|c: char| !c.is_ascii_alphanumeric() && !"+-_".contains(c)).unwrap_or(info.len());
        shown.push_str(&fence.marks());
        shown.push_str(match &info[..end] {
            "c" | "C" if info[end..].starts_with('#') => "csharp",
            "f" | "F" if info[end..].starts_with('#') => "fsharp",
            language => language,
        });
        shown.push('\n');
        self.fence = Some(fence);
        Token::Other((line + 1).min(text.len()), shown)
    }

    fn code_line(&mut self, fence: Fence, window: Window<'_>) -> Option<Token> {
        let text = window.text;
        let end = text.find('\n').map_or(text.len(), |end| end + 1);
        if !self.at_line_start {
            let token = fence.code(&text[..end], window.whole)?;
            let (Token::Same(length) | Token::Other(length, _) | Token::Again(length, _)) = &token;
            self.at_line_start = text[..*length].ends_with('\n');
            return Some(token);
        }
        match fence.line(window)? {
            FenceLine::Code { length, shown } => {
                self.at_line_start = false;
                if length == 0 && shown.is_empty() {
                    return self.code_line(fence, window);
                }
                Some(Token::Other(length, shown))
            }
            FenceLine::Close => {
                (self.fence, self.dedent) = (None, fence.indent());
                Some(Token::Other(end, fence.end()))
            }
            FenceLine::Left => {
                self.fence = None;
                Some(Token::Other(0, fence.end()))
            }
        }
    }

    /// The markers of quotes and lists at the start of a line, and its indentation.
    fn head(&mut self, start: &LineStart, text: &str) -> Option<Token> {
        let marks = &text[..start.length];
        if self.dedent == 0 || start.is_blank {
            return (start.length > 0).then_some(Token::Same(start.length));
        }
        let mut shown = String::new();
        // Directly after a paragraph, a continued list would become part of it.
        if start.has_item && start.indent < self.dedent && !self.written.is_behind_blank() {
            shown.push('\n');
        }
        shown.extend(std::iter::repeat_n(' ', start.indent.saturating_sub(self.dedent)));
        shown.push_str(marks.trim_start_matches([' ', '\t']));
        self.dedent = self.dedent.min(start.indent);
        (start.length > 0).then_some(Token::Other(start.length, shown))
    }

    fn inline(&mut self, window: Window<'_>, judge: &LinkPolicy<'_>) -> Option<Token> {
        let text = window.text;
        let next = text.as_bytes().get(1);
        match text.as_bytes().first()? {
            b'\n' => {
                self.at_line_start = true;
                Some(Token::Same(1))
            }
            b'\\' => match next {
                // Some renderers know no such escape.
                Some(b'<') => Some(Token::Other(2, LESS.to_owned())),
                Some(b'&') => Some(Token::Other(2, AMPERSAND.to_owned())),
                Some(next) => Some(Token::Same(if next.is_ascii_punctuation() { 2 } else { 1 })),
                None => window.whole.then_some(Token::Same(1)),
            },
            b'`' => code_span(window).map(|span| match span {
                Lookahead::At((length, code)) => Token::Other(length, self.span(code)),
                Lookahead::Nowhere => {
                    let length = text.bytes().take_while(|byte| *byte == b'`').count();
                    Token::Other(length, "\\`".repeat(length))
                }
            }),
            b'[' => self.bracket(window, 0, judge),
            b'!' => match next {
                Some(b'[') => self.bracket(window, 1, judge),
                Some(_) => Some(Token::Same(1)),
                None => window.whole.then_some(Token::Same(1)),
            },
            b'<' => self.angle(window, judge),
            b'{' => {
                // Behind an underscore it may also be a part of a formula.
                let sets =
                    if self.written.ends_with('_') { sets_attributes(window)? } else { self.written.may_end_element() };
                Some(if sets { Token::Other(1, "\\{".to_owned()) } else { Token::Same(1) })
            }
            b'&' => entity(window).map(|(length, text)| match text {
                Some(text) => Token::Again(length, text),
                None => Token::Same(length),
            }),
            b'h' | b'H' | b'w' | b'W' if self.written.may_begin_word() => match address(window)? {
                Lookahead::At(found) => Some(self.bare(&found, judge)),
                Lookahead::Nowhere => Some(Token::Same(self.plain(text).max(1))),
            },
            _ if self.written.is_behind_dot() && text.starts_with(char::is_alphanumeric) => label_of_domain(window)
                .map(|(length, is_top)| {
                    let apart = if is_top { NO_SPACE.to_string() } else { String::new() };
                    Token::Other(length, apart + &text[..length])
                }),
            _ => Some(Token::Same(self.plain(text).max(text.chars().next().map_or(1, char::len_utf8)))),
        }
    }

    /// The length of plain text at the beginning of `text`.
    fn plain(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        if self.written.is_behind_dot() && text.starts_with(char::is_alphanumeric) {
            return 0;
        }
        let mut at = 0;
        while at < bytes.len() && IS_PLAIN[usize::from(bytes[at])] {
            if matches!(bytes[at], b'h' | b'H' | b'w' | b'W') {
                let may_begin =
                    if at == 0 { self.written.may_begin_word() } else { !bytes[at - 1].is_ascii_alphanumeric() };
                if may_begin && addresses::may_begin(&bytes[at..]) {
                    break;
                }
            }
            at += 1;
        }
        at
    }

    /// A code span on one line. A bar in it is escaped, because a table would split the span there.
    fn span(&mut self, code: &str) -> String {
        let length = (1..).find(|length| code.split(|c| c != '`').all(|run| run.len() != *length)).unwrap_or(1);
        let marks = "`".repeat(length);
        // After a bracket, some renderers end a code span with backticks in it elsewhere, and all later code too.
        self.has_backticks_in_code |= code.contains('`');
        let code =
            &if self.has_backticks_in_code { code.replace("](", &format!("]{NO_SPACE}(")) } else { code.to_owned() };
        if code.contains('|') && self.written.is_in_table() {
            return format!("{marks}{}{marks}", spans::in_a_cell(code));
        }
        if code.contains('|') {
            self.written.has_bar();
        }
        format!("{marks}{code}{marks}")
    }

    /// A link, an image (`bang` is 1), or a bracket that is neither.
    fn bracket(&mut self, window: Window<'_>, bang: usize, judge: &LinkPolicy<'_>) -> Option<Token> {
        let text = window.text;
        // What is no image must not become one with a later link.
        let literal = if bang == 1 { Token::Other(2, format!("!{NO_SPACE}[")) } else { Token::Same(1) };
        let label = match label_end(window.from(bang + 1))? {
            Lookahead::At(end) => &text[bang + 1..bang + 1 + end],
            Lookahead::Nowhere => return Some(literal),
        };
        let after = bang + 1 + label.len() + 1;
        match text.as_bytes().get(after) {
            None if !window.whole => return None,
            Some(b'(') => {}
            _ => return Some(literal),
        }
        let Lookahead::At((found, length)) = destination(window.from(after + 1))? else { return Some(literal) };
        let length = after + 1 + length;
        let (mark, found) = if bang == 1 { ("!", LinkTarget::Image(&found)) } else { ("", LinkTarget::Link(&found)) };
        let Some(href) = judge(found) else { return Some(Token::Again(length, label.to_owned())) };
        let mut label = parsed::flat(label, |code| self.span(code));
        // Not the box of a task.
        if self.begins_item && ["x", "X", " "].contains(&label.as_str()) {
            label.push(NO_SPACE);
        }
        let shown = format!("{mark}[{label}]({href})");
        self.links.push(href);
        Some(Token::Other(length, shown))
    }

    /// A comment, an autolink, a tag, or a less-than sign.
    fn angle(&mut self, window: Window<'_>, judge: &LinkPolicy<'_>) -> Option<Token> {
        const OPEN: &str = "<!--";
        let text = window.text;
        let escaped = || Token::Other(1, LESS.to_owned());
        match text.as_bytes().get(1) {
            None => window.whole.then(escaped),
            // Alone among what may follow, a space cannot be the beginning of an address.
            Some(b' ') => Some(Token::Same(1)),
            Some(b'!') if text.starts_with(OPEN) => match text[OPEN.len()..].find("-->") {
                Some(end) => {
                    self.notes.push(text[OPEN.len()..OPEN.len() + end].to_owned());
                    Some(Token::Again(OPEN.len() + end + 3, String::new()))
                }
                None => window.whole.then(escaped),
            },
            Some(b'!') => (window.whole || !OPEN.starts_with(text)).then(escaped),
            Some(next) if next.is_ascii_alphabetic() => {
                let end = text[1..].find(|c: char| c.is_whitespace() || "<>".contains(c)).map(|end| end + 1);
                let found = match end {
                    Some(end) if text[end..].starts_with('>') => autolink(&text[..=end]),
                    Some(_) => None,
                    None if window.whole => None,
                    None => return None,
                };
                Some(match (found, end) {
                    (Some(found), Some(end)) => {
                        self.bare(&Address { length: end + 1, href: found, written: &text[1..end] }, judge)
                    }
                    _ => escaped(),
                })
            }
            Some(_) => Some(escaped()),
        }
    }

    /// An address that renderers turn into a link automatically.
    fn bare(&mut self, found: &Address<'_>, judge: &LinkPolicy<'_>) -> Token {
        let Some(href) = judge(LinkTarget::Link(&found.href)) else {
            return Token::Other(found.length, as_code(found.written));
        };
        let shown =
            if href.starts_with('/') { format!("[{}]({href})", as_label(&href, true)) } else { format!("<{href}>") };
        self.links.push(href);
        Token::Other(found.length, shown)
    }
}

/// Whether a text on one line contains no link, address or HTML under any interpretation.
pub(crate) fn has_no_links(text: &str) -> bool {
    let mut filter = LinkFilter::new();
    filter.push(text.to_owned(), &|_| None) + &filter.finish(&|_| None) == text
}

/// Bytes that can only be part of a word, or of the whitespace between words.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [true; 256];
    let mut at = 0;
    while at < 0x20 {
        (is_plain[at], at) = (false, at + 1);
    }
    is_plain[0x7F] = false;
    // Lead bytes of characters that are not all plain text.
    (is_plain[0xC2], is_plain[0xE2]) = (false, false);
    let marks = b"[](!<`\\&/@.:~{";
    at = 0;
    while at < marks.len() {
        (is_plain[marks[at] as usize], at) = (false, at + 1);
    }
    is_plain
};

/// Characters that end a line in some renderers only, and invisible characters.
fn is_no_text(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests;
