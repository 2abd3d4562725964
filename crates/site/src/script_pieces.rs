//! Splits a script into brackets, string literals and other code: enough to find the entries of arrays and objects.
//!
//! Scripts are not parsed. If quotes are misread, for instance after a regular expression that contains one, fewer
//! entries are found.

use docent_markdown::regex;

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Comment,
    /// A string literal in single or double quotes on one line.
    Text,
    /// A template literal in backticks.
    Template,
    Open,
    Close,
    Comma,
    Colon,
    /// Other code, up to whitespace or one of the pieces above.
    Code,
}

/// A piece (token) of a script. Between pieces there is only whitespace, or nothing.
#[derive(Debug, Clone)]
pub(crate) struct ScriptPiece {
    pub(crate) kind: PieceKind,
    pub(crate) range: Range<usize>,
    /// The enclosing bracket, as an index of its piece.
    pub(crate) within: Option<usize>,
    /// The index of the matching bracket.
    pub(crate) pair: Option<usize>,
}

/// A script split into pieces.
pub(crate) struct Pieces<'t> {
    pub(crate) text: &'t str,
    pub(crate) all: Vec<ScriptPiece>,
}

/// A member of an object: the start of its name, its name without quotes, and its value without surrounding comments.
pub(crate) struct Member {
    pub(crate) start: usize,
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
    /// The index of the first piece of the value.
    pub(crate) first: usize,
}

regex!(pub(crate) QUOTED, r#"(?s)//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"#);

impl<'t> Pieces<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let mut pieces = Self { text, all: Vec::new() };
        let (mut open, mut read) = (Vec::new(), 0);
        for quoted in QUOTED.find_iter(text) {
            pieces.cut(read..quoted.start(), &mut open);
            let kind = match quoted.as_str().as_bytes()[0] {
                b'/' => PieceKind::Comment,
                b'`' => PieceKind::Template,
                _ => PieceKind::Text,
            };
            pieces.push(kind, quoted.range(), &open);
            read = quoted.end();
        }
        pieces.cut(read..text.len(), &mut open);
        pieces
    }

    /// Splits code that contains no quotes.
    fn cut(&mut self, code: Range<usize>, open: &mut Vec<usize>) {
        let text = self.text;
        let mut is_code = false;
        for (at, c) in text[code.clone()].char_indices().map(|(at, c)| (code.start + at, c)) {
            let range = at..at + c.len_utf8();
            let was_code = std::mem::replace(&mut is_code, false);
            match c {
                '[' | '{' | '(' => {
                    self.push(PieceKind::Open, range, open);
                    open.push(self.all.len() - 1);
                }
                ']' | '}' | ')' => {
                    let opened = open.pop();
                    self.push(PieceKind::Close, range, open);
                    let closed = self.all.len() - 1;
                    if let Some(opened) = opened {
                        self.all[opened].pair = Some(closed);
                        self.all[closed].pair = Some(opened);
                    }
                }
                ',' => self.push(PieceKind::Comma, range, open),
                ':' => self.push(PieceKind::Colon, range, open),
                c if c.is_whitespace() => {}
                _ => {
                    is_code = true;
                    match self.all.last_mut() {
                        Some(last) if was_code => last.range.end = range.end,
                        _ => self.push(PieceKind::Code, range, open),
                    }
                }
            }
        }
    }

    fn push(&mut self, kind: PieceKind, range: Range<usize>, open: &[usize]) {
        self.all.push(ScriptPiece { kind, range, within: open.last().copied(), pair: None });
    }

    pub(crate) fn words(&self, index: usize) -> &'t str {
        &self.text[self.all[index].range.clone()]
    }

    fn kind(&self, index: Option<usize>) -> Option<PieceKind> {
        Some(self.all[index?].kind)
    }

    /// The nearest piece before this one that is not a comment.
    pub(crate) fn before(&self, index: usize) -> Option<usize> {
        (0..index).rev().find(|at| self.all[*at].kind != PieceKind::Comment)
    }

    fn after(&self, index: usize) -> Option<usize> {
        (index + 1..self.all.len()).find(|at| self.all[*at].kind != PieceKind::Comment)
    }

    /// The range between the quotes of a string literal, if it contains no escapes.
    pub(crate) fn inner(&self, index: usize) -> Option<Range<usize>> {
        let ScriptPiece { kind, range, .. } = &self.all[index];
        let is_plain = *kind == PieceKind::Text && !self.words(index).contains('\\');
        is_plain.then(|| range.start + 1..range.end - 1)
    }

    /// Whether a bracket opens an array literal, and not a member access.
    pub(crate) fn opens_list(&self, open: usize) -> bool {
        if self.words(open) != "[" {
            return false;
        }
        let Some(before) = self.before(open) else { return true };
        let words = self.words(before);
        match self.all[before].kind {
            PieceKind::Code => {
                let word =
                    words.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
                if word.is_empty() { !words.ends_with('.') } else { ["return", "default"].contains(&word) }
            }
            kind => [PieceKind::Open, PieceKind::Comma, PieceKind::Colon].contains(&kind),
        }
    }

    /// The array in which this piece begins an item.
    pub(crate) fn list_around(&self, index: usize) -> Option<usize> {
        let starts = [PieceKind::Open, PieceKind::Comma].contains(&self.kind(self.before(index))?);
        self.all[index].within.filter(|open| starts && self.opens_list(*open))
    }

    /// Whether a piece is the complete item or value that it begins.
    pub(crate) fn is_whole(&self, index: usize) -> bool {
        let last = self.all[index].pair.unwrap_or(index);
        self.kind(self.after(last)).is_some_and(|kind| [PieceKind::Comma, PieceKind::Close].contains(&kind))
    }

    /// The name of the member whose value begins at this piece.
    pub(crate) fn member_before(&self, index: usize) -> Option<&'t str> {
        let colon = self.before(index).filter(|before| self.all[*before].kind == PieceKind::Colon)?;
        Some(&self.text[self.name(self.before(colon)?)?])
    }

    /// The names of all object members.
    pub(crate) fn names(&self) -> impl Iterator<Item = Range<usize>> {
        let is_named = |at: &usize| self.kind(self.after(*at)) == Some(PieceKind::Colon);
        let starts = |at: &usize| {
            self.kind(self.before(*at)).is_some_and(|kind| [PieceKind::Open, PieceKind::Comma].contains(&kind))
        };
        (0..self.all.len()).filter(move |at| is_named(at) && starts(at)).filter_map(|at| self.name(at))
    }

    /// The member name in this piece: a string literal or an identifier.
    fn name(&self, index: usize) -> Option<Range<usize>> {
        let is_identifier = |words: &str| words.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        match self.all[index].kind {
            PieceKind::Text => self.inner(index),
            PieceKind::Code if is_identifier(self.words(index)) => Some(self.all[index].range.clone()),
            _ => None,
        }
    }

    /// The opening brace of the object that a script exports.
    pub(crate) fn exported_object(&self) -> Option<usize> {
        let is = |at: usize, words: &str| self.all.get(at).is_some_and(|_| self.words(at) == words);
        let default = (0..self.all.len()).find(|at| is(*at, "export") && is(*at + 1, "default"))?;
        (default..self.all.len()).find(|at| self.words(*at) == "{")
    }

    /// The members of an object up to the first that is not written as plain `name: value`, and whether those are all
    /// of them.
    pub(crate) fn members(&self, open: usize) -> (Vec<Member>, bool) {
        let mut found = Vec::new();
        let mut next = self.after(open);
        loop {
            let Some(named) = next else { return (found, false) };
            if self.all[named].kind == PieceKind::Close {
                return (found, true);
            }
            let Some(name) = self.name(named) else { return (found, false) };
            let colon = self.after(named).filter(|at| self.all[*at].kind == PieceKind::Colon);
            let Some(first) = colon.and_then(|colon| self.after(colon)) else { return (found, false) };
            let (mut last, mut at) = (None, Some(first));
            while let Some(piece) = at {
                if [PieceKind::Comma, PieceKind::Close].contains(&self.all[piece].kind) {
                    break;
                }
                last = Some(self.all[piece].pair.unwrap_or(piece));
                at = last.and_then(|last| self.after(last));
            }
            let (Some(last), Some(end)) = (last, at) else { return (found, false) };
            let value = self.all[first].range.start..self.all[last].range.end;
            found.push(Member { start: self.all[named].range.start, name, value, first });
            next = if self.all[end].kind == PieceKind::Comma { self.after(end) } else { Some(end) };
        }
    }
}
