//! A script as tokens with their brackets: enough to find the members of objects and the items of arrays, and to edit
//! them in place.
//!
//! Nothing is executed, and nothing is rejected. Where brackets do not match, fewer entries are found.

use std::ops::Range;
use std::sync::Arc;

use docent_markdown::script::{Token, TokenKind, Tokens};

/// A token of a script that is not a comment.
#[derive(Debug, Clone)]
pub(crate) struct ScriptToken {
    pub(crate) kind: TokenKind,
    pub(crate) range: Range<usize>,
    /// The index of the enclosing bracket.
    pub(crate) within: Option<usize>,
    /// The index of the matching bracket.
    pub(crate) pair: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) text: Arc<str>,
    pub(crate) tokens: Vec<ScriptToken>,
    pub(crate) comments: Vec<Range<usize>>,
}

/// A member of an object: the start of its name, its name without quotes, and its value without surrounding comments.
pub(crate) struct Member {
    pub(crate) start: usize,
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
    /// The index of the first token of the value.
    pub(crate) first: usize,
}

/// A name that a script imports.
pub(crate) struct ScriptImport<'t> {
    pub(crate) local: &'t str,
    /// The name in the other script, `default`, or `*`.
    pub(crate) exported: &'t str,
    /// The path of the other script, as written.
    pub(crate) path: &'t str,
}

/// In tokens: how far the end of a type is looked for.
pub(crate) const LONGEST_TYPE: usize = 60;

impl Script {
    pub(crate) fn of(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let (mut tokens, mut comments) = (Vec::<ScriptToken>::new(), Vec::new());
        // The brackets that are open, and how many of each kind.
        let (mut open, mut counts) = (Vec::<usize>::new(), [0_usize; 3]);
        for Token { kind, range } in Tokens::of(&text) {
            let shape = bracket(text.as_bytes()[range.start]);
            let mut pair = None;
            match kind {
                TokenKind::Comment => {
                    comments.push(range);
                    continue;
                }
                // Brackets of another kind between a pair match nothing.
                TokenKind::Close if counts[shape] > 0 => {
                    while pair.is_none()
                        && let Some(opened) = open.pop()
                    {
                        let other = bracket(text.as_bytes()[tokens[opened].range.start]);
                        counts[other] -= 1;
                        pair = Some(opened).filter(|_| other == shape);
                    }
                    if let Some(opened) = pair {
                        tokens[opened].pair = Some(tokens.len());
                    }
                }
                _ => {}
            }
            let within = open.last().copied();
            if kind == TokenKind::Open {
                open.push(tokens.len());
                counts[shape] += 1;
            }
            tokens.push(ScriptToken { kind, range, within, pair });
        }
        Self { text, tokens, comments }
    }

    pub(crate) fn words(&self, index: usize) -> &str {
        &self.text[self.tokens[index].range.clone()]
    }

    pub(crate) fn kind(&self, index: usize) -> Option<TokenKind> {
        Some(self.tokens.get(index)?.kind)
    }

    /// Whether there is a token that is written so.
    pub(crate) fn is(&self, index: usize, words: &str) -> bool {
        index < self.tokens.len() && self.words(index) == words
    }

    /// Whether a value or a member begins at this token.
    fn begins(&self, index: usize) -> bool {
        index > 0 && matches!(self.kind(index - 1), Some(TokenKind::Open | TokenKind::Comma))
    }

    fn ends(&self, index: usize) -> bool {
        matches!(self.kind(index), Some(TokenKind::Comma | TokenKind::Close))
    }

    /// The index behind a token, or behind the brackets that it opens.
    pub(crate) fn after(&self, index: usize) -> usize {
        1 + self.tokens[index].pair.filter(|pair| *pair > index).unwrap_or(index)
    }

    /// The range between the quotes of a string literal, if it contains no escapes.
    pub(crate) fn inner(&self, index: usize) -> Option<Range<usize>> {
        let ScriptToken { kind, range, .. } = &self.tokens[index];
        let is_plain = *kind == TokenKind::Text && !self.words(index).contains('\\');
        is_plain.then(|| range.start + 1..range.end - 1)
    }

    /// Whether a bracket opens an array literal, and not a member access.
    pub(crate) fn opens_list(&self, open: usize) -> bool {
        if self.words(open) != "[" {
            return false;
        }
        let Some(before) = open.checked_sub(1) else { return true };
        match self.tokens[before].kind {
            TokenKind::Open | TokenKind::Comma | TokenKind::Colon => true,
            TokenKind::Word => ["return", "default"].contains(&self.words(before)),
            TokenKind::Mark => !["?.", "."].contains(&self.words(before)),
            _ => false,
        }
    }

    /// The array in which this token begins an item.
    pub(crate) fn list_around(&self, index: usize) -> Option<usize> {
        self.tokens[index].within.filter(|open| self.begins(index) && self.opens_list(*open))
    }

    /// The tokens that are an item of a list, or begin one.
    pub(crate) fn items(&self, open: usize) -> impl Iterator<Item = usize> {
        (open + 1..self.after(open)).filter(move |at| self.list_around(*at) == Some(open) && self.is_whole(*at))
    }

    /// Whether a token, with what its bracket encloses, is the complete item or value that it begins.
    pub(crate) fn is_whole(&self, index: usize) -> bool {
        self.ends(self.after(index))
    }

    /// The name of the member whose value begins at this token.
    pub(crate) fn member_before(&self, index: usize) -> Option<&str> {
        let colon = index.checked_sub(1).filter(|before| self.tokens[*before].kind == TokenKind::Colon)?;
        // The colon of `a ? b : c` is none of a member.
        let name = colon.checked_sub(1).filter(|name| self.begins(*name))?;
        Some(&self.text[self.name(name)?])
    }

    /// The tokens that are names of members behind which a colon stands.
    pub(crate) fn named(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let is_named = |at: &usize| self.kind(at + 1) == Some(TokenKind::Colon) && self.begins(*at);
        (0..self.tokens.len()).filter(is_named).filter_map(|at| Some((at, self.name(at)?)))
    }

    /// The member name in this token: a string literal or an identifier.
    fn name(&self, index: usize) -> Option<Range<usize>> {
        match self.tokens[index].kind {
            TokenKind::Text => self.inner(index),
            TokenKind::Word if !self.words(index).contains('.') => Some(self.tokens[index].range.clone()),
            _ => None,
        }
    }

    /// Where the value that a script exports begins.
    pub(crate) fn default_export(&self) -> Option<usize> {
        let is_export = |at: &usize| match self.words(*at) {
            "export" => self.is(at + 1, "default") || self.is(at + 1, "="),
            "module.exports" => self.is(at + 1, "="),
            _ => false,
        };
        (0..self.tokens.len()).find(is_export).map(|at| at + 2)
    }

    /// The constants and functions that a script defines, those outside of all brackets first: their names, and the
    /// tokens at which their values start.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (&str, usize)> {
        let tokens =
            |are_nested: bool| (0..self.tokens.len()).filter(move |at| self.tokens[*at].within.is_some() == are_nested);
        tokens(false).chain(tokens(true)).filter_map(|at| self.definition(at))
    }

    fn definition(&self, at: usize) -> Option<(&str, usize)> {
        let name = at + 1;
        (self.kind(name) == Some(TokenKind::Word)).then_some(())?;
        match self.words(at) {
            "function" => Some((self.words(name), at)),
            "const" | "let" | "var" => {
                let longest = if self.is(name + 1, ":") { LONGEST_TYPE } else { 1 };
                let equals = (name + 1..=name + longest).find(|at| self.is(*at, "="))?;
                let between = &self.text[self.tokens[name].range.end..self.tokens[equals].range.start];
                (!between.contains('\n')).then(|| (self.words(name), equals + 1))
            }
            _ => None,
        }
    }

    /// The names that a script imports from others.
    pub(crate) fn imports(&self) -> Vec<ScriptImport<'_>> {
        let is_of_clause = |at: &usize| match self.kind(*at) {
            Some(TokenKind::Word) => self.words(*at) != "import",
            Some(TokenKind::Mark) => self.words(*at) == "*",
            kind => matches!(kind, Some(TokenKind::Comma | TokenKind::Open | TokenKind::Close)),
        };
        let mut found = Vec::new();
        for import in (0..self.tokens.len()).filter(|at| self.is(*at, "import")) {
            let Some(path) = (import + 1..self.tokens.len()).find(|at| !is_of_clause(at)) else { continue };
            let from = path - 1;
            let Some(inner) = self.inner(path).filter(|_| self.is(from, "from")) else { continue };
            for local in (import + 1..from).filter(|at| self.kind(*at) == Some(TokenKind::Word)) {
                let is_default = self.tokens[local].within == self.tokens[import].within;
                let exported = match self.words(local - 1) {
                    _ if local + 1 != from && !self.ends(local + 1) => continue,
                    "as" => self.words(local - 2),
                    _ if is_default => "default",
                    _ => self.words(local),
                };
                found.push(ScriptImport { local: self.words(local), exported, path: &self.text[inner.clone()] });
            }
        }
        found
    }

    /// The calls of a function by its name, as the index of the name.
    pub(crate) fn calls(&self, name: &str) -> impl Iterator<Item = usize> {
        (0..self.tokens.len())
            .filter(move |at| self.is(*at, name) && self.is(at + 1, "(") && (*at == 0 || !self.is(at - 1, ".")))
    }

    /// The opening brace of the object that a script exports.
    pub(crate) fn exported_object(&self) -> Option<usize> {
        (self.default_export()?..self.tokens.len()).find(|at| self.is(*at, "{"))
    }

    /// The members of an object up to the first that is not written as plain `name: value`, and whether those are all
    /// of them.
    pub(crate) fn members(&self, open: usize) -> (Vec<Member>, bool) {
        let mut found = Vec::new();
        let mut named = open + 1;
        while self.kind(named).is_some_and(|kind| kind != TokenKind::Close) {
            let name = self.name(named).filter(|_| self.kind(named + 1) == Some(TokenKind::Colon));
            let first = named + 2;
            let mut end = first;
            while end < self.tokens.len() && !self.ends(end) {
                end = self.after(end);
            }
            let Some(name) = name.filter(|_| first < end && end < self.tokens.len()) else { return (found, false) };
            let value = self.tokens[first].range.start..self.tokens[end - 1].range.end;
            found.push(Member { start: self.tokens[named].range.start, name, value, first });
            named = if self.tokens[end].kind == TokenKind::Comma { end + 1 } else { end };
        }
        (found, self.tokens.get(named).is_some_and(|close| close.pair == Some(open)))
    }
}

/// The kind of a bracket.
fn bracket(byte: u8) -> usize {
    match byte {
        b'(' | b')' => 0,
        b'[' | b']' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests;
