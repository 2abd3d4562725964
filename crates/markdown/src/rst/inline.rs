//! Parses the inline markup of reStructuredText: literals, emphasis, references, roles and URLs.

use std::ops::Range;

use crate::words::{has_word, on_one_line};

/// In bytes: how far the end of inline markup is searched for, so that time stays linear.
const LONGEST: usize = 4_000;

/// Parsed inline markup.
#[derive(Debug, Default)]
pub(super) struct Inline {
    /// The displayed text, with whitespace collapsed.
    pub(super) text: String,
    /// The same with code and emphasis marked as in Markdown.
    pub(super) markdown: String,
    pub(super) prose: Vec<Range<usize>>,
    pub(super) code: Vec<Range<usize>>,
    pub(super) references: Vec<Reference>,
}

/// A reference, or an inline target.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) span: Range<usize>,
    pub(super) text: String,
    pub(super) to: Destination,
}

#[derive(Debug)]
pub(super) enum Destination {
    /// `` `text <url>`_ ``, which also makes the text a name for the URL unless it is anonymous.
    Embedded { url: String, dest: Range<usize>, is_named: bool },
    /// `name_` and `` `a name`_ ``.
    Name(String),
    /// `name__`: the next anonymous target.
    Anonymous,
    /// A standalone URL.
    Bare,
    /// A role whose content names a page or a label; the destination is the whole role.
    Role,
    /// `` :download:`text <path>` ``
    File { path: String, dest: Range<usize> },
    /// `[1]_`
    Footnote,
    /// `` _`a name` ``
    Target,
}

/// A reference name, normalized for comparison.
pub(super) fn normal(name: &str) -> String {
    on_one_line(&name.replace('\\', "")).to_lowercase()
}

/// Parses the inline markup of a range.
pub(super) fn read(text: &str, range: Range<usize>) -> Inline {
    let mut parser = InlineParser {
        text,
        known: [Searched::default(); 7],
        at: range.start,
        from: range.start,
        range,
        out: Inline::default(),
        is_spaced: false,
    };
    parser.all();
    parser.out
}

/// Roles whose content is code.
const CODE_ROLES: &str = "attr c class cmd code command confval const data decorator envvar exc file func function kbd literal \
    macro meth method mod obj option program regexp samp setting token type var";

/// The kinds of markup whose end is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Literal,
    /// A reference, or text whose role follows it.
    Interpreted,
    /// Text whose role precedes it.
    Role,
    Emphasis,
    Strong,
    Substitution,
    Target,
}

impl Ending {
    fn mark(self) -> &'static str {
        match self {
            Self::Literal => "``",
            Self::Interpreted | Self::Role | Self::Target => "`",
            Self::Emphasis => "*",
            Self::Strong => "**",
            Self::Substitution => "|",
        }
    }
}

/// Where an end was searched for: there is none before `to`, so that no part of a text is searched twice.
#[derive(Debug, Clone, Copy, Default)]
struct Searched {
    from: usize,
    to: usize,
}

struct InlineParser<'t> {
    text: &'t str,
    known: [Searched; 7],
    range: Range<usize>,
    at: usize,
    /// The start of the plain text that is not written yet.
    from: usize,
    out: Inline,
    /// Whether whitespace precedes the text that is written next.
    is_spaced: bool,
}

impl<'t> InlineParser<'t> {
    fn all(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < self.range.end {
            let is_read = match bytes[self.at] {
                b'\\' => self.escape(),
                b'`' => self.literal() || self.interpreted(self.at, ""),
                b':' => self.role(),
                b'*' => self.emphasis(),
                b'|' => self.substitution(),
                b'[' => self.footnote(),
                b'_' => self.target() || self.name(),
                b'h' => self.address(),
                _ => false,
            };
            if !is_read {
                self.at += 1;
            }
        }
        self.flush(self.range.end);
    }

    /// Writes the plain text up to a byte.
    fn flush(&mut self, to: usize) {
        if self.from < to {
            let words = self.from..to;
            self.push(&self.text[words.clone()]);
            self.out.prose.push(words);
        }
    }

    fn push(&mut self, words: &str) {
        self.push_marked(words, "");
    }

    /// Writes words, in Markdown between two of the mark.
    fn push_marked(&mut self, words: &str, mark: &str) {
        let mark = if words.trim().is_empty() || words.contains(['*', '`']) { "" } else { mark };
        let mut first = mark;
        for (ix, word) in words.split(char::is_whitespace).enumerate() {
            self.is_spaced |= ix > 0;
            if word.is_empty() {
                continue;
            }
            let space = if self.is_spaced && !self.out.text.is_empty() { " " } else { "" };
            self.is_spaced = false;
            self.out.text.extend([space, word]);
            self.out.markdown.extend([space, std::mem::take(&mut first), word]);
        }
        self.out.markdown.push_str(mark);
    }

    fn skip_to(&mut self, at: usize) -> bool {
        self.at = at;
        self.from = at;
        true
    }

    /// Whether markup may begin at a byte.
    fn may_begin(&self, at: usize) -> bool {
        let before = self.text[self.range.start..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "'\"([{<-/:".contains(c) || !(c.is_ascii() || c.is_alphanumeric()))
    }

    /// Whether markup may end before a byte.
    fn may_end(&self, at: usize) -> bool {
        let after = self.text[at..self.range.end].chars().next();
        after.is_none_or(|c| {
            c.is_whitespace() || "'\")]}>-/\\:.,;!?".contains(c) || !(c.is_ascii() || c.is_alphanumeric())
        })
    }

    /// The end mark for markup whose content begins at `from`; it may not follow whitespace.
    fn end_of(&mut self, from: usize, ending: Ending) -> Option<usize> {
        let limit = self.text.floor_char_boundary(self.range.end.min(from + LONGEST));
        let first = self.text[from..limit].chars().next().filter(|first| !first.is_whitespace())?;
        let least = from + first.len_utf8();
        let known = self.known[ending as usize];
        // There is no end between the start and the stop of the last search.
        let mut at = if known.from <= least { least.max(known.to) } else { least };
        let from = if known.from <= least && least <= known.to { known.from } else { least };
        let mark = ending.mark();
        let found = loop {
            let Some(found) = self.text[at.min(limit)..limit].find(mark).map(|length| at + length) else { break None };
            let before = self.text[..found].chars().next_back().unwrap_or(' ');
            let is_escaped = before == '\\' && ending != Ending::Literal;
            if !before.is_whitespace() && !is_escaped && self.ends(found + mark.len(), ending) {
                break Some(found);
            }
            at = found + 1;
        };
        // The search may stop in the middle of a mark.
        let to = found.unwrap_or(self.text.floor_char_boundary(limit.saturating_sub(1))).max(from);
        self.known[ending as usize] = Searched { from, to };
        found
    }

    /// Whether the text after a mark allows it to be an end.
    fn ends(&self, at: usize, ending: Ending) -> bool {
        match ending {
            Ending::Interpreted => self.suffix(at).is_some() || self.role_behind(at).is_some() || self.may_end(at),
            Ending::Role => self.suffix(at).is_some() || self.may_end(at),
            Ending::Substitution => self.text[at..self.range.end].starts_with('_') || self.may_end(at),
            _ => self.may_end(at),
        }
    }

    /// `_` or `__` after a backtick.
    fn suffix(&self, at: usize) -> Option<&'static str> {
        let rest = &self.text[at..self.range.end];
        ["__", "_"].into_iter().find(|mark| rest.starts_with(mark) && self.may_end(at + mark.len()))
    }

    /// `:role:` after a backtick, and where it ends.
    fn role_behind(&self, at: usize) -> Option<(&'t str, usize)> {
        let rest = self.text[at..self.text.floor_char_boundary(self.range.end.min(at + 80))].strip_prefix(':')?;
        let name = &rest[..rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-._+".contains(c)))?];
        let whole = at + name.len() + 2;
        (!name.is_empty() && rest[name.len()..].starts_with(':') && self.may_end(whole)).then_some((name, whole))
    }

    fn escape(&mut self) -> bool {
        self.flush(self.at);
        let next = self.text[self.at + 1..self.range.end].chars().next();
        let length = next.map_or(0, char::len_utf8);
        // Escaped whitespace disappears and joins words.
        self.from = self.at + 1 + if next.is_some_and(char::is_whitespace) { length } else { 0 };
        self.at += 1 + length;
        true
    }

    /// ``` ``x`` ```
    fn literal(&mut self) -> bool {
        let at = self.at;
        if !self.text[at..self.range.end].starts_with("``") || !self.may_begin(at) {
            return false;
        }
        let Some(end) = self.end_of(at + 2, Ending::Literal) else {
            self.at += 2;
            return true;
        };
        self.flush(at);
        self.push_marked(&self.text[at + 2..end], "`");
        self.out.code.push(at..end + 2);
        self.skip_to(end + 2)
    }

    /// `` :role:`x` ``
    fn role(&mut self) -> bool {
        let rest = &self.text[self.at + 1..self.text.floor_char_boundary(self.range.end.min(self.at + 80))];
        let Some((role, _)) = rest.split_once(":`") else { return false };
        let fits = !role.is_empty()
            && role.starts_with(|c: char| c.is_alphanumeric())
            && role.chars().all(|c| c.is_alphanumeric() || "-._+:".contains(c));
        fits && self.may_begin(self.at) && self.interpreted(self.at + role.len() + 2, role)
    }

    /// `` `x` ``, `` `x`_ ``, `` `x`__ `` and `` `x`:role: ``; `role` is the role before it, if any.
    fn interpreted(&mut self, tick: usize, role: &str) -> bool {
        let start = self.at;
        if (role.is_empty() && !self.may_begin(tick)) || self.text[tick + 1..self.range.end].starts_with('`') {
            return false;
        }
        let ending = if role.is_empty() { Ending::Interpreted } else { Ending::Role };
        let Some(end) = self.end_of(tick + 1, ending) else { return false };
        let inner = tick + 1..end;
        let role_behind = self.role_behind(end + 1).filter(|_| role.is_empty());
        let behind = (role_behind, self.suffix(end + 1));
        self.flush(start);
        let (role, whole) = match behind {
            (Some((name, whole)), _) => (name, whole),
            (None, Some(mark)) if role.is_empty() => {
                self.reference(start, inner, mark);
                return self.skip_to(end + 1 + mark.len());
            }
            _ => (role, end + 1),
        };
        self.with_role(role, start..whole, inner);
        self.skip_to(whole)
    }

    /// The text and the URL of `text <url>`.
    fn embedded(&self, inner: &Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
        let content = &self.text[inner.clone()];
        let open = content.strip_suffix('>')?.rfind('<')?;
        let is_apart = open == 0 || content[..open].ends_with(char::is_whitespace);
        let words = inner.start..inner.start + content[..open].trim_end().len();
        is_apart.then_some((words, inner.start + open + 1..inner.end - 1))
    }

    fn reference(&mut self, start: usize, inner: Range<usize>, mark: &str) {
        let span = start..inner.end + 1 + mark.len();
        let text = |range: &Range<usize>| on_one_line(&self.text[range.clone()]);
        if let Some((words, dest)) = self.embedded(&inner) {
            let url: String = self.text[dest.clone()].split_whitespace().collect();
            let shown = if words.is_empty() { url.clone() } else { text(&words).replace('\\', "") };
            self.push(&shown);
            let to = match url.strip_suffix('_').filter(|name| !name.ends_with('\\')) {
                Some(name) => Destination::Name(normal(name)),
                None => Destination::Embedded { url: url.replace('\\', ""), dest, is_named: mark == "_" },
            };
            self.out.prose.push(words);
            self.out.references.push(Reference { span, text: shown, to });
            return;
        }
        let shown = text(&inner).replace('\\', "");
        self.push(&shown);
        let to = if mark == "__" { Destination::Anonymous } else { Destination::Name(normal(&shown)) };
        // The text is the name of a target, so it may not be edited as prose.
        self.out.code.push(inner);
        self.out.references.push(Reference { span, text: shown, to });
    }

    fn with_role(&mut self, role: &str, span: Range<usize>, inner: Range<usize>) {
        let content = self.text[inner.clone()].replace('\\', "");
        let last = role.rsplit(':').next().unwrap_or(role);
        let embedded = self.embedded(&inner).filter(|(words, _)| !words.is_empty());
        let shown = match (&embedded, last) {
            _ if role.is_empty() => on_one_line(&content),
            (Some((words, _)), _) => on_one_line(&self.text[words.clone()]),
            (None, "pep") => format!("PEP {content}"),
            (None, "rfc") => format!("RFC {content}"),
            (None, "abbr" | "abbreviation") => on_one_line(content.split(" (").next().unwrap_or_default()),
            (None, _) => match content.strip_prefix('~') {
                Some(name) => on_one_line(name.rsplit('.').next().unwrap_or(name)),
                None => on_one_line(content.trim_start_matches('!')),
            },
        };
        self.push_marked(&shown, if has_word(CODE_ROLES, last) { "`" } else { "" });
        match &embedded {
            Some((words, _)) => self.out.prose.push(words.clone()),
            None if role.is_empty() || ["emphasis", "strong", "term", "guilabel"].contains(&last) => {
                self.out.prose.push(inner.clone());
            }
            None => self.out.code.push(inner.clone()),
        }
        let to = match role {
            "any" | "doc" | "ref" | "std:doc" | "std:ref" => Destination::Role,
            "download" => {
                let dest = embedded.map_or(inner, |(_, dest)| dest);
                Destination::File { path: self.text[dest.clone()].trim().to_owned(), dest }
            }
            _ => return,
        };
        self.out.references.push(Reference { span, text: shown, to });
    }

    fn emphasis(&mut self) -> bool {
        let at = self.at;
        let rest = &self.text[at..self.range.end];
        let mark = if rest.starts_with("**") { "**" } else { "*" };
        let before = self.text[self.range.start..at].chars().next_back();
        let after = rest[mark.len()..].chars().next();
        let pairs = [('"', '"'), ('\'', '\''), ('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
        let is_quoted = before.zip(after).is_some_and(|pair| pairs.contains(&pair));
        let end = match self.may_begin(at) && !is_quoted {
            true if mark == "**" => self.end_of(at + 2, Ending::Strong),
            true => self.end_of(at + 1, Ending::Emphasis),
            false => None,
        };
        let Some(end) = end else {
            self.at += mark.len();
            return true;
        };
        self.flush(at);
        let inner = at + mark.len()..end;
        self.push_marked(&self.text[inner.clone()].replace('\\', ""), mark);
        self.out.prose.push(inner);
        self.skip_to(end + mark.len())
    }

    /// `|name|`
    fn substitution(&mut self) -> bool {
        let at = self.at;
        let end = match self.may_begin(at) {
            true => self.end_of(at + 1, Ending::Substitution),
            false => None,
        };
        let Some(end) = end.filter(|end| end - at < 100) else { return false };
        self.flush(at);
        self.push(&self.text[at + 1..end]);
        self.out.code.push(at..end + 1);
        self.skip_to(end + 1)
    }

    /// `[1]_`
    fn footnote(&mut self) -> bool {
        let at = self.at;
        let rest = &self.text[at..self.text.floor_char_boundary(self.range.end.min(at + 100))];
        let Some(length) = rest.find(']') else { return false };
        let label = &rest[1..length];
        let fits = !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || "#*-._+:".contains(c));
        let end = at + length + 2;
        if !fits || !self.may_begin(at) || !rest[length + 1..].starts_with('_') || !self.may_end(end) {
            return false;
        }
        self.flush(at);
        self.out.code.push(at..end);
        self.out.references.push(Reference { span: at..end, text: String::new(), to: Destination::Footnote });
        self.skip_to(end)
    }

    /// `` _`a name` ``
    fn target(&mut self) -> bool {
        let at = self.at;
        if !self.text[at..self.range.end].starts_with("_`") || !self.may_begin(at) {
            return false;
        }
        let Some(end) = self.end_of(at + 2, Ending::Target) else { return false };
        self.flush(at);
        let text = self.text[at + 2..end].to_owned();
        self.push(&text);
        self.out.code.push(at + 2..end);
        self.out.references.push(Reference { span: at..end + 1, text, to: Destination::Target });
        self.skip_to(end + 1)
    }

    /// `name_` and `name__`, whose name was already read as plain text.
    fn name(&mut self) -> bool {
        let at = self.at;
        let is_double = self.text[at + 1..self.range.end].starts_with('_');
        let end = at + 1 + usize::from(is_double);
        if at == self.from || !self.may_end(end) {
            return false;
        }
        let least = self.text.ceil_char_boundary(self.from.max(at.saturating_sub(200)));
        let mut start = at;
        let mut is_joint = true;
        for (ix, c) in self.text[least..at].char_indices().rev() {
            let joins = "-._+:".contains(c);
            if !(c.is_alphanumeric() || joins) || (joins && is_joint) {
                break;
            }
            is_joint = joins;
            start = least + ix;
        }
        if is_joint && start < at {
            start += 1;
        }
        if start == at || !self.may_begin(start) {
            return false;
        }
        self.flush(start);
        let text = self.text[start..at].to_owned();
        self.push(&text);
        self.out.code.push(start..at);
        let to = if is_double { Destination::Anonymous } else { Destination::Name(normal(&text)) };
        self.out.references.push(Reference { span: start..end, text, to });
        self.skip_to(end)
    }

    fn address(&mut self) -> bool {
        let at = self.at;
        let rest = &self.text[at..self.range.end];
        if !(rest.starts_with("https://") || rest.starts_with("http://")) || !self.may_begin(at) {
            return false;
        }
        let length = rest.find(|c: char| c.is_whitespace() || "<>\"`|\\".contains(c)).unwrap_or(rest.len());
        let url = rest[..length].trim_end_matches(|c: char| "'.,;:!?)]}*_".contains(c));
        if url.ends_with('/') && url.len() < 9 {
            return false;
        }
        self.flush(at);
        let span = at..at + url.len();
        self.push(url);
        self.out.code.push(span.clone());
        self.out.references.push(Reference { span, text: url.to_owned(), to: Destination::Bare });
        self.skip_to(at + url.len())
    }
}
