//! What a model writes, on its way out: links that lead nowhere are taken out while the text streams.
//!
//! ```text
//!   deltas ──▶ held ──▶ one token of Markdown at a time ──▶ text that may leave
//!                │        link, image, URL, tag:  as it is, respelled, or its words alone
//!                │        code span, fenced code: as it is
//!                ▼        comment:                a note for whoever runs the filter
//!       what may still become one, at most LONGEST bytes
//! ```
//!
//! A token is decided only when nothing that may follow could change it, so the same text comes out however it was cut.
//! Where our reading of Markdown could differ from a client's, what comes out is made unambiguous: a backtick without its
//! counterpart, or brackets that are no link, get a backslash.

mod lines;
mod spans;

use lines::{Fence, FenceLine, LineStart, Lists};
pub(crate) use spans::urls;
use spans::{Found, Span, Window, code_span, ends_url, is_address, label_end, target, trimmed_url};

/// The longest link, image, URL, tag or comment that is waited for, in bytes. What is longer is none.
pub(crate) const LONGEST: usize = 1_024;

/// A character without width: text to a parser, nothing to a reader.
const NO_SPACE: char = '\u{200b}';

/// Where a link or an image points to, as it was written, without escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    Link(&'a str),
    Image(&'a str),
}

/// Says how a destination is to be written; `None` when it must not leave.
pub(crate) type Judge<'a> = dyn Fn(Destination<'_>) -> Option<String> + Sync + 'a;

/// The filter of one text.
#[derive(Debug)]
pub(crate) struct LinkFilter {
    held: String,
    place: Place,
    fence: Option<Fence>,
    lists: Lists,
    /// The last character that came out: what follows it may read differently.
    before: char,
    /// Something fell away at the head of a line: what follows stood inside and must not read as a mark.
    bared: bool,
    links: Vec<String>,
    notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    /// After the marks of quotes and lists at the start of a line.
    Head,
    Inside,
}

/// What becomes of the next few bytes.
enum Token {
    /// They come out as they are.
    Same(usize),
    /// Something else comes out.
    Other(usize, String),
    /// Something else comes out that joins with nothing.
    Escaped(usize, String),
}

impl LinkFilter {
    pub(crate) fn new() -> Self {
        Self {
            held: String::new(),
            place: Place::LineStart,
            fence: None,
            lists: Lists::default(),
            before: '\n',
            bared: false,
            links: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Takes the next piece; gives what may leave now.
    pub(crate) fn push(&mut self, text: String, judge: &Judge<'_>) -> String {
        // A carriage return is the end of a line to some readers and nothing to others.
        let text = if text.contains('\r') { text.replace('\r', "") } else { text };
        self.run(text, false, judge)
    }

    /// The rest, once the text is over. What is pushed after that is another text.
    pub(crate) fn finish(&mut self, judge: &Judge<'_>) -> String {
        let rest = self.run(String::new(), true, judge);
        let links = std::mem::take(&mut self.links);
        let notes = std::mem::take(&mut self.notes);
        *self = Self { links, notes, ..Self::new() };
        rest
    }

    /// Where the links and images that were let through point to, in order.
    pub(crate) fn links(&self) -> &[String] {
        &self.links
    }

    /// What was said in comments, which never leave.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    fn run(&mut self, more: String, at_end: bool, judge: &Judge<'_>) -> String {
        let mut text = more;
        if !self.held.is_empty() {
            let mut held = std::mem::take(&mut self.held);
            held.push_str(&text);
            text = held;
        }
        // What comes out, once that is not the text as it stands. Most of what is written is.
        let mut other: Option<String> = None;
        let mut at = 0;
        while at < text.len() {
            let in_code = self.fence.is_some();
            let Some(token) = self.next(&text[at..], at_end, judge) else { break };
            let (length, shown, joins) = match &token {
                Token::Same(length) => (*length, &text[at..at + length], true),
                Token::Other(length, shown) => (*length, shown.as_str(), true),
                Token::Escaped(length, shown) => (*length, shown.as_str(), false),
            };
            let is_mark = !shown.is_empty() && std::mem::take(&mut self.bared) && shown.starts_with(may_be_a_mark);
            let apart = [is_mark.then_some(NO_SPACE), between(self.before, shown).filter(|_| !in_code && joins)];
            let is_same = matches!(token, Token::Same(_)) && apart == [None, None];
            if other.is_some() || !is_same {
                let out = other.get_or_insert_with(|| text[..at].to_owned());
                out.extend(apart.into_iter().flatten());
                out.push_str(shown);
            }
            if let Some(last) = shown.chars().next_back() {
                self.before = if joins { last } else { ' ' };
            }
            at += length;
        }
        if at < text.len() {
            self.held = text.split_off(at);
        }
        other.unwrap_or(text)
    }

    /// The token at the beginning of `rest`, which is not empty. `None`: that depends on what follows.
    fn next(&mut self, rest: &str, at_end: bool, judge: &Judge<'_>) -> Option<Token> {
        let window = Window {
            text: &rest[..rest.floor_char_boundary(LONGEST.min(rest.len()))],
            whole: at_end || rest.len() >= LONGEST,
        };
        if let Some(fence) = self.fence {
            if self.place != Place::LineStart {
                return Some(self.code_line(window.text));
            }
            match fence.line(window)? {
                FenceLine::Code => return Some(self.code_line(window.text)),
                FenceLine::Close => {
                    let token = self.code_line(window.text);
                    self.fence = None;
                    return Some(token);
                }
                FenceLine::Left => self.fence = None,
            }
        }
        if self.place == Place::LineStart {
            let start = LineStart::read(window)?;
            if let Some(fence) = self.lists.enter(&start) {
                let token = self.code_line(window.text);
                self.fence = Some(fence);
                return Some(token);
            }
            self.place = Place::Head;
            if start.length > 0 {
                return Some(Token::Same(start.length));
            }
        }
        let token = self.inline(window, judge)?;
        if self.place == Place::Head {
            self.bared = matches!(&token, Token::Other(_, shown) if shown.is_empty());
            self.place = Place::Inside;
        }
        Some(token)
    }

    /// To the end of the line, whatever it says.
    fn code_line(&mut self, text: &str) -> Token {
        let end = text.find('\n');
        self.place = if end.is_some() { Place::LineStart } else { Place::Inside };
        Token::Same(end.map_or(text.len(), |end| end + 1))
    }

    fn inline(&mut self, window: Window<'_>, judge: &Judge<'_>) -> Option<Token> {
        let text = window.text;
        match text.as_bytes().first()? {
            b'\n' => {
                self.place = Place::LineStart;
                Some(Token::Same(1))
            }
            b'\\' => match text.as_bytes().get(1) {
                Some(next) => Some(Token::Same(if next.is_ascii_punctuation() { 2 } else { 1 })),
                None => window.whole.then_some(Token::Same(1)),
            },
            b'`' => code_span(window).map(|span| match span {
                Span::Closed(length) => Token::Same(length),
                Span::Open(length) => Token::Escaped(length, "\\`".repeat(length)),
            }),
            b'[' => self.bracket(window, 0, judge),
            b'!' => match text.as_bytes().get(1) {
                Some(b'[') => self.bracket(window, 1, judge),
                Some(_) => Some(Token::Same(1)),
                None => window.whole.then_some(Token::Same(1)),
            },
            b']' => Some(Token::Same(1)),
            b'<' => self.angle(window, judge),
            b'h' | b'H' | b'w' | b'W' if !self.before.is_alphanumeric() => self.bare(window, judge),
            _ => Some(Token::Same(plain(text))),
        }
    }

    /// A link, an image (`bang` is 1), a definition, or a bracket that is none of these.
    fn bracket(&mut self, window: Window<'_>, bang: usize, judge: &Judge<'_>) -> Option<Token> {
        let text = window.text;
        let literal = Token::Same(bang + 1);
        let label = match label_end(window.from(bang + 1))? {
            Found::At(end) => &text[bang + 1..bang + 1 + end],
            Found::Nowhere => return Some(literal),
        };
        let after = bang + 1 + label.len() + 1;
        match text.as_bytes().get(after) {
            None if !window.whole => None,
            Some(b'(') => Some(match target(window.from(after + 1))? {
                Found::At((destination, length)) => {
                    let (length, label) = (after + 1 + length, self.inner(label, judge));
                    Token::Other(length, self.linked(bang == 1, label, &destination, judge))
                }
                Found::Nowhere => literal,
            }),
            Some(b':') if bang == 0 && self.place == Place::Head && !label.starts_with('^') => {
                self.definition(window, after + 1, label, judge)
            }
            _ => Some(literal),
        }
    }

    fn linked(&mut self, image: bool, label: String, destination: &str, judge: &Judge<'_>) -> String {
        let (bang, destination) =
            if image { ("!", Destination::Image(destination)) } else { ("", Destination::Link(destination)) };
        match judge(destination) {
            Some(href) => {
                let shown = format!("{bang}[{label}]({href})");
                self.links.push(href);
                shown
            }
            None => label,
        }
    }

    /// `[label]: destination` at the head of a line gives `[label]` elsewhere a target.
    fn definition(&mut self, window: Window<'_>, at: usize, label: &str, judge: &Judge<'_>) -> Option<Token> {
        let rest = &window.text[at..];
        let start = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let end = rest[start..].find(char::is_whitespace).map(|end| start + end);
        if end.is_none() && !window.whole {
            return None;
        }
        let written = &rest[start..end.unwrap_or(rest.len())];
        let bare = written.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(written);
        Some(match judge(Destination::Link(bare)) {
            Some(href) => {
                let shown = format!("[{label}]: {href}");
                self.links.push(href);
                Token::Other(at + start + written.len(), shown)
            }
            None => Token::Escaped(1, "\\[".to_owned()),
        })
    }

    /// What stands between brackets, on its own.
    fn inner(&mut self, label: &str, judge: &Judge<'_>) -> String {
        let mut filter = Self { place: Place::Inside, before: ' ', ..Self::new() };
        let mut text = filter.push(label.to_owned(), judge);
        text.push_str(&filter.finish(judge));
        self.links.append(&mut filter.links);
        self.notes.append(&mut filter.notes);
        text
    }

    /// A comment, an autolink, a tag, or a less-than sign.
    fn angle(&mut self, window: Window<'_>, judge: &Judge<'_>) -> Option<Token> {
        let text = window.text;
        let escaped = || Token::Escaped(1, "\\<".to_owned());
        match text.as_bytes().get(1) {
            None => window.whole.then_some(Token::Same(1)),
            Some(b'!') => {
                const OPEN: &str = "<!--";
                if !text.starts_with(OPEN) {
                    return (window.whole || !OPEN.starts_with(text)).then(escaped);
                }
                match text[OPEN.len()..].find("-->") {
                    Some(end) => {
                        self.notes.push(text[OPEN.len()..OPEN.len() + end].to_owned());
                        Some(Token::Other(OPEN.len() + end + 3, String::new()))
                    }
                    None => window.whole.then(escaped),
                }
            }
            Some(next) if next.is_ascii_alphabetic() || *next == b'/' => match text.find(['>', '\n']) {
                Some(end) if text.as_bytes()[end] == b'>' => Some(self.tag(text, end, judge)),
                Some(_) => Some(escaped()),
                None => window.whole.then(escaped),
            },
            Some(b'?') => Some(escaped()),
            Some(_) => Some(Token::Same(1)),
        }
    }

    fn tag(&mut self, text: &str, end: usize, judge: &Judge<'_>) -> Token {
        let (inner, length) = (&text[1..end], end + 1);
        if is_address(inner) {
            return self.address(inner, length, judge);
        }
        if inner.contains('@') && !inner.contains(|c: char| c.is_whitespace() || "\"'=/`".contains(c)) {
            return self.address(&format!("mailto:{inner}"), length, judge);
        }
        // To a client this may be no tag, and the link in it a link.
        if inner.contains(['[', ']', '`', '<', '\\']) {
            return Token::Escaped(1, "\\<".to_owned());
        }
        let lower = inner.to_ascii_lowercase();
        let name = lower.trim_start_matches('/').split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let points = ["href", "src", "://", "action"].iter().any(|word| lower.contains(word));
        if points || ["a", "img"].contains(&name) { Token::Other(length, String::new()) } else { Token::Same(length) }
    }

    /// A URL that is a link by itself.
    fn address(&mut self, url: &str, length: usize, judge: &Judge<'_>) -> Token {
        match judge(Destination::Link(url)) {
            Some(href) => {
                let shown = if href == url { format!("<{url}>") } else { format!("[{href}]({href})") };
                self.links.push(href);
                Token::Other(length, shown)
            }
            None => Token::Other(length, as_code(url)),
        }
    }

    /// A URL in running text, which many clients make a link of.
    fn bare(&mut self, window: Window<'_>, judge: &Judge<'_>) -> Option<Token> {
        let text = window.text;
        let begins = |whole: &str, part: &str| {
            whole.len() >= part.len() && whole.as_bytes()[..part.len()].eq_ignore_ascii_case(part.as_bytes())
        };
        let beginnings = ["http://", "https://", "www."];
        let Some(beginning) = beginnings.iter().find(|beginning| begins(text, beginning)) else {
            let may_become_one = beginnings.iter().any(|beginning| begins(beginning, text));
            return (window.whole || !may_become_one).then(|| Token::Same(plain(text)));
        };
        let run = text.find(ends_url);
        if run.is_none() && !window.whole {
            return None;
        }
        let url = trimmed_url(&text[..run.unwrap_or(text.len())]);
        if url.len() <= beginning.len() {
            return Some(Token::Same(beginning.len().min(text.len())));
        }
        let full = if *beginning == "www." { format!("https://{url}") } else { url.to_owned() };
        Some(match judge(Destination::Link(&full)) {
            Some(href) if href == full => {
                self.links.push(href);
                Token::Same(url.len())
            }
            Some(href) => {
                let shown = format!("[{href}]({href})");
                self.links.push(href);
                Token::Other(url.len(), shown)
            }
            None => Token::Other(url.len(), as_code(url)),
        })
    }
}

/// How much of the text is no more than letters.
fn plain(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b'[' | b']' | b'!' | b'<' | b'`' | b'\\' => break,
            b'h' | b'H' | b'w' | b'W' if !bytes[at - 1].is_ascii_alphanumeric() => break,
            _ => at += 1,
        }
    }
    // All of these are ASCII, so only the first character may be longer than its byte.
    at.max(text.chars().next().map_or(1, char::len_utf8))
}

/// Whether a block of some kind may begin with this.
fn may_be_a_mark(c: char) -> bool {
    c.is_ascii_digit() || " \t[`~>-*+#=|:<_".contains(c)
}

/// What keeps two pieces apart that are harmless alone and a link, a tag or other code together.
fn between(before: char, next: &str) -> Option<char> {
    match before {
        ']' if next.starts_with('(') => Some('\\'),
        '<' if next.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)) => Some('\\'),
        '`' if next.starts_with('`') => Some(' '),
        '\\' if next.starts_with(|c: char| c.is_ascii_punctuation()) => Some(' '),
        _ => None,
    }
}

/// A text that nothing is made of: code, without backticks in it.
fn as_code(text: &str) -> String {
    format!("`{}`", text.replace('`', ""))
}

#[cfg(test)]
#[path = "link_filter_tests.rs"]
mod tests;
