//! Suggests the instruction that was probably meant by a text that the grammar does not match. A suggestion is never
//! carried out.
//!
//! The text must have the verb of a form, or a similar word, and the parts that the form needs, and nothing else.
//! Quotes or words of the form may be missing, and its parts may be in another order. If other words are left, nothing
//! is suggested.

use serde_json::Value;

use crate::chore::{Chore, Scope};
use crate::cursor::{Cursor, closing, is_space};
use crate::grammar::{CONDITIONS, Instruction, read};
use crate::rules::is_path;
use crate::scope::scope;

/// The longest text that is examined, in characters.
const MAX_CHARS: usize = 1_000;
/// Maximum number of words of a text without quotes.
const MAX_UNQUOTED_WORDS: usize = 4;

const VERBS: [(Verb, &[&str]); 8] = [
    (Verb::Set, &["set"]),
    (Verb::Change, &["change", "update", "make"]),
    (Verb::Replace, &["replace", "substitute", "swap", "exchange", "change", "switch"]),
    (Verb::Rename, &["rename"]),
    (Verb::Move, &["move", "relocate"]),
    (Verb::Delete, &["delete", "remove", "erase", "drop"]),
    (Verb::Fix, &["fix", "repair", "mend", "correct", "resolve"]),
    (Verb::Add, &["add", "create", "make", "write", "generate", "fill"]),
];

/// Front matter fields: `change` with one of these sets the field instead of replacing the word.
const FIELDS: &[&str] =
    &["title", "description", "sidebarTitle", "sidebar_label", "slug", "icon", "tag", "hidden", "draft"];

/// Words without meaning: before an instruction, around the name of a page, and around a text.
const LEAD_IN_WORDS: &[&str] =
    &["please", "kindly", "also", "and", "then", "now", "can", "could", "would", "you", "i", "want", "to", "let's"];
const PAGE_WORDS: &[&str] =
    &["the", "a", "an", "this", "our", "new", "page", "file", "doc", "document", "at", "named", "called"];
const TEXT_WORDS: &[&str] = &[
    "all",
    "every",
    "each",
    "the",
    "of",
    "occurrences",
    "instances",
    "mentions",
    "word",
    "term",
    "phrase",
    "text",
    "string",
];
const LINK_WORDS: &[&str] = &["link", "links", "url", "urls", "anchor", "anchors"];
const LINK_QUALIFIERS: &[&str] =
    &["the", "all", "any", "every", "our", "my", "broken", "dead", "bad", "invalid", "wrong", "internal", "of"];
const MISSING_FIELD_QUALIFIERS: &[&str] =
    &["the", "all", "any", "missing", "empty", "page", "front", "matter", "frontmatter", "meta", "seo", "in", "and"];
const FIELD_QUALIFIERS: &[&str] = &["the", "front", "matter", "frontmatter", "field"];
const CONNECTIVES: &[&str] = &["with", "by", "to", "into", "for", "as", "->", "=>", "→"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Replace,
    Rename,
    Move,
    Delete,
    Fix,
    Add,
    Set,
    /// Sets a field or replaces a text.
    Change,
}

/// A word or a text in quotes, and where it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    is_quoted: bool,
    end: usize,
}

impl Token {
    fn is(&self, words: &[&str]) -> bool {
        !self.is_quoted && words.iter().any(|word| self.text.eq_ignore_ascii_case(word))
    }

    fn is_path(&self) -> bool {
        is_path(&self.text) && !self.text.contains("://") && !self.text.contains(is_space)
    }
}

/// The instructions that were probably meant, in their canonical form and as code.
pub(crate) fn suggested_instruction(text: &str) -> Option<String> {
    if text.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    let tokens = tokens(text);
    if tokens.iter().any(|token| token.is(&CONDITIONS)) {
        return None;
    }
    let start = tokens.iter().position(|token| !token.is(LEAD_IN_WORDS))?;
    let (verb, rest) = (&tokens[start], &tokens[start + 1..]);
    let verbs = VERBS.iter().filter(|(_, words)| !verb.is_quoted && words.iter().any(|word| is_like(&verb.text, word)));
    verbs.filter_map(|(verb, _)| chores(*verb, rest, text)).find_map(|chores| {
        let canonical: Vec<String> = chores.iter().map(Chore::to_string).collect();
        let (code, canonical) = (format!("`{}`", canonical.join("`, `")), canonical.join("\n"));
        // A suggestion must parse to the chores it was made from.
        let expected: Vec<Instruction> = chores.into_iter().map(Instruction::Chore).collect();
        (read(&canonical) == expected && chores_are_allowed(&expected)).then_some(code)
    })
}

/// Whether none of the chores would be refused.
fn chores_are_allowed(chores: &[Instruction]) -> bool {
    chores.iter().all(|chore| matches!(chore, Instruction::Chore(chore) if chore.refusal().is_none()))
}

/// Whether this is the word, or the word with a typing error.
fn is_like(written: &str, word: &str) -> bool {
    let written = written.to_lowercase();
    let most_errors = match word.len() {
        0..=3 => 0,
        4..=6 => 1,
        _ => 2,
    };
    // Typing errors are rare in the first letter.
    written.chars().next() == word.chars().next() && strsim::osa_distance(&written, word) <= most_errors
}

fn tokens(text: &str) -> Vec<Token> {
    let mut cursor = Cursor::new(text);
    let mut tokens = Vec::new();
    loop {
        while cursor.peek().is_some_and(|c| is_space(c) || ",;:!?".contains(c)) {
            cursor.bump();
        }
        let Some(c) = cursor.peek() else { return tokens };
        if closing(c).is_some()
            && let Some(text) = cursor.quoted()
        {
            tokens.push(Token { text, is_quoted: true, end: cursor.at });
            continue;
        }
        let start = cursor.at;
        cursor.bump();
        while cursor.peek().is_some_and(|c| !is_space(c) && !",;!?\"“”„«»`".contains(c)) {
            cursor.bump();
        }
        let word = text[start..cursor.at].trim_end_matches(['.', ':']);
        if !word.is_empty() {
            tokens.push(Token { text: word.to_owned(), is_quoted: false, end: start + word.len() });
        }
    }
}

fn chores(verb: Verb, rest: &[Token], text: &str) -> Option<Vec<Chore>> {
    match verb {
        Verb::Replace => move_page(rest, false).or_else(|| replace_text(rest, text)),
        Verb::Rename => move_page(rest, true).or_else(|| replace_text(rest, text)),
        Verb::Move => move_page(rest, true),
        Verb::Delete => {
            let page = only(rest, PAGE_WORDS).filter(|page| page.is_path() || names_page(rest))?;
            Some(vec![Chore::DeletePage { page: page.text.clone() }])
        }
        Verb::Fix => {
            let at = rest.iter().position(|token| token.is(LINK_WORDS))?;
            let scope =
                named_scope(rest, at + 1, text).filter(|_| rest[..at].iter().all(|token| token.is(LINK_QUALIFIERS)))?;
            Some(vec![Chore::FixLinks { scope }])
        }
        Verb::Add => add_missing(rest, text).or_else(|| add_page(rest)),
        Verb::Set => set_field(rest, text),
        Verb::Change => set_field(rest, text).filter(|_| first_field(rest).is_some_and(|field| field.is(FIELDS))),
    }
}

/// `page P to Q`.
fn move_page(rest: &[Token], may_lack_ending: bool) -> Option<Vec<Chore>> {
    let at = position_of_only(rest, CONNECTIVES)?;
    let (from, to) = (only(&rest[..at], PAGE_WORDS)?, only(&rest[at + 1..], PAGE_WORDS)?);
    let is_page = names_page(&rest[..at]) || (may_lack_ending && from.is_path() && to.is_path());
    let fits = is_page && !to.text.contains(is_space) && !from.text.contains(is_space);
    fits.then(|| vec![Chore::MovePage { from: from.text.clone(), to: to.text.clone() }])
}

/// `A with B`, with or without quotes.
fn replace_text(rest: &[Token], text: &str) -> Option<Vec<Chore>> {
    let connective = rest.iter().position(|token| token.is(CONNECTIVES))?;
    let (after, scope) = (connective + 2..=rest.len()).find_map(|end| Some((end, named_scope(rest, end, text)?)))?;
    let operands = [&rest[..connective], &rest[connective + 1..after]];
    let is_quoted = operands.iter().any(|operand| operand.iter().any(|token| token.is_quoted));
    // Without quotes, only a few words are taken as texts: `Change the intro to be shorter` is another kind of
    // instruction.
    if !is_quoted && (rest[0].is(&["the", "a", "an", "our"]) || position_of_only(&rest[..after], CONNECTIVES).is_none())
    {
        return None;
    }
    let [from, to] = operands.map(operand);
    Some(vec![Chore::ReplaceText { from: from?, to: to?, scope }])
}

/// A text to be replaced, or its replacement.
fn operand(tokens: &[Token]) -> Option<String> {
    let plain = tokens.iter().position(|token| !token.is(TEXT_WORDS))?;
    match &tokens[plain..] {
        [quoted] if quoted.is_quoted => Some(quoted.text.clone()),
        words if words.len() <= MAX_UNQUOTED_WORDS && words.iter().all(|word| !word.is_quoted) => {
            Some(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// `descriptions`, `titles`, or both.
fn add_missing(rest: &[Token], text: &str) -> Option<Vec<Chore>> {
    let is_field = |token: &Token| token.is(&["title", "titles", "description", "descriptions"]);
    let last = rest.iter().rposition(is_field)?;
    let fits = rest[..last].iter().all(|token| is_field(token) || token.is(MISSING_FIELD_QUALIFIERS));
    let scope = named_scope(rest, last + 1, text).filter(|_| fits)?;
    let fields = rest[..=last].iter().filter(|token| is_field(token)).map(|field| {
        let scope = scope.clone();
        if field.is(&["title", "titles"]) { Chore::AddTitles { scope } } else { Chore::AddDescriptions { scope } }
    });
    Some(fields.collect())
}

/// `a page P`, with or without a title of any kind.
fn add_page(rest: &[Token]) -> Option<Vec<Chore>> {
    const TITLE_WORDS: &[&str] = &["titled", "entitled", "title", "with", "the", "called", "named", "and"];
    let at = rest.iter().position(|token| !token.is(PAGE_WORDS))?;
    let page = rest.get(at).filter(|page| names_page(&rest[..at]) && !page.text.contains(is_space))?;
    let named = &rest[at + 1..];
    let title = &named[named.iter().position(|token| !token.is(TITLE_WORDS)).unwrap_or(named.len())..];
    let title = match title {
        [] if named.is_empty() => title_of(&page.text),
        [quoted] if quoted.is_quoted => quoted.text.clone(),
        words if named[0].is(TITLE_WORDS) => operand(words)?,
        _ => return None,
    };
    Some(vec![Chore::AddPage { page: page.text.clone(), title, outline: Vec::new() }])
}

/// A title from a path: `First steps` for `guides/first-steps.md`.
fn title_of(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default().replace(['-', '_'], " ");
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The name of the field, which comes first.
fn first_field(rest: &[Token]) -> Option<&Token> {
    rest.iter().find(|token| !token.is(FIELD_QUALIFIERS))
}

/// `FIELD in P to V`, `FIELD = V in P`.
fn set_field(rest: &[Token], text: &str) -> Option<Vec<Chore>> {
    const TO: &[&str] = &["to", "=", "as", ":"];
    let field = rest.iter().position(|token| !token.is(FIELD_QUALIFIERS))?;
    let to = rest.iter().position(|token| token.is(TO))?;
    let (scope, value) = match rest.get(field + 1)? {
        // The scope comes first, and ends before `to`.
        next if next.is(&["in", "of", "for", "on"]) && to > field + 2 => {
            (named_scope(rest, field + 1, &text[..rest[to - 1].end])?, operand(&rest[to + 1..])?)
        }
        next if next.is(TO) => {
            (to + 2..rest.len()).find_map(|end| Some((named_scope(rest, end, text)?, operand(&rest[to + 1..end])?)))?
        }
        _ => return None,
    };
    let value = match value.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::String(value),
    };
    Some(vec![Chore::SetFrontMatter { field: rest[field].text.clone(), value, scope }])
}

/// The only token that is not one of these words.
fn only<'t>(tokens: &'t [Token], but: &[&str]) -> Option<&'t Token> {
    let mut rest = tokens.iter().filter(|token| !token.is(but));
    rest.next().filter(|_| rest.next().is_none())
}

/// The position of the only token that is one of these words.
fn position_of_only(tokens: &[Token], words: &[&str]) -> Option<usize> {
    let mut found = (0..tokens.len()).filter(|at| tokens[*at].is(words));
    found.next().filter(|_| found.next().is_none())
}

fn names_page(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.is(&["page", "file", "doc", "document"]))
}

/// The scope after the first `count` tokens: everywhere if no scope follows them, `None` if other text follows.
fn named_scope(tokens: &[Token], count: usize, text: &str) -> Option<Scope> {
    let mut cursor = Cursor { text, at: tokens.get(count.checked_sub(1)?)?.end };
    let found = scope(&mut cursor, &["of", "for", "to", "from"]);
    let is_end = cursor.rest().chars().all(|c| is_space(c) || ".,;:!?".contains(c));
    is_end.then(|| found.unwrap_or(Scope::Everywhere))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_near_miss_is_told_what_was_meant() {
        for (written, form) in [
            ("Replace Acme with Zenith", "Replace \"Acme\" with \"Zenith\""),
            ("Replace Acme by Zenith in guides/**", "Replace \"Acme\" with \"Zenith\" in guides/**"),
            ("Repalce \"Acme\" with \"Zenith\"", "Replace \"Acme\" with \"Zenith\""),
            ("Please relpace the word \"Acme\" with \"Zenith\" everywhere.", "Replace \"Acme\" with \"Zenith\""),
            ("Change \"Acme Inc\" to \"Zenith\"", "Replace \"Acme Inc\" with \"Zenith\""),
            ("Change all mentions of 'Acme' to 'Zenith' in all pages", "Replace \"Acme\" with \"Zenith\""),
            ("Substitute `Acme` for `Zenith`", "Replace \"Acme\" with \"Zenith\""),
            ("Replace \"Acme\" → \"Zenith\"", "Replace \"Acme\" with \"Zenith\""),
            ("Replace \"Acme\" with Zenith", "Replace \"Acme\" with \"Zenith\""),
            ("Rename Acme Cloud to Zenith", "Replace \"Acme Cloud\" with \"Zenith\""),
            ("Rename guides/a.md to guides/b.md", "Move page guides/a.md to guides/b.md"),
            ("Renmae page guides/a to guides/b", "Move page guides/a to guides/b"),
            ("Rename the guides/a page to guides/b", "Move page guides/a to guides/b"),
            ("Relocate guides/a.md into guides/b.md", "Move page guides/a.md to guides/b.md"),
            ("Delete guides/x", "Delete page guides/x"),
            ("delte page x", "Delete page x"),
            ("Remove the x page", "Delete page x"),
            ("Erase guides/x.md", "Delete page guides/x.md"),
            ("Fix links", "Fix broken links"),
            ("Fix all the dead urls in guides/**", "Fix broken links in guides/**"),
            ("Correct invalid links", "Fix broken links"),
            ("fx broken links", ""),
            ("Add descriptions", "Add missing descriptions"),
            ("Generate missing meta descriptions for all pages", "Add missing descriptions"),
            (
                "Add titles and descriptions to guides/**",
                "Add missing titles in guides/**`, `Add missing descriptions in guides/**",
            ),
            ("Add page guides/first-steps.md", "Add a page guides/first-steps.md titled \"First steps\""),
            ("Create a page guides/x called \"X\"", "Add a page guides/x titled \"X\""),
            ("Add a page guides/x titled Getting started", "Add a page guides/x titled \"Getting started\""),
            ("Set title to Home in index.md", "Set title to \"Home\" in index.md"),
            ("Set the title of index.md to \"Home\"", "Set title to \"Home\" in index.md"),
            ("Change title in index.md to Home", "Set title to \"Home\" in index.md"),
            ("Set hidden = true in drafts/**", "Set hidden to true in drafts/**"),
        ] {
            let meant = suggested_instruction(written).unwrap_or_default();
            assert_eq!(meant.trim_matches('`'), form, "{written:?}");
            assert!(!read(written).iter().all(|read| matches!(read, Instruction::Chore(_))), "{written:?} can be read");
        }
    }

    #[test]
    fn where_there_is_doubt_nothing_is_suggested() {
        for written in [
            "",
            "Make the docs better",
            "Change the intro to be shorter",
            "Replace the old logo with the new one",
            "Replace \"Acme\" with",
            "Do not replace Acme with Zenith",
            "Replace Acme with Zenith except in code",
            "Delete the section about billing",
            "Delete everything",
            "Fix the typo in the links section",
            "Fix the build",
            "Add a page about webhooks",
            "Add a section on webhooks to guides/x.md",
            "Move the table up",
            "Love guides/a.md to guides/b.md",
            "Update the screenshots in guides/x.md to the new design",
            "Set title to \"X\"",
        ] {
            assert_eq!(suggested_instruction(written), None, "{written:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at_without_a_panic(text in "\\PC{0,120}") {
            suggested_instruction(&text);
        }

        #[test]
        fn any_heap_of_words_is_looked_at_without_a_panic(
            words in proptest::collection::vec(
                prop::sample::select(vec![
                    "replace", "repalce", "Acme", "\"a\"", "“b”", "'", "with", "to", "in", "page", "x.md", "fix", "links",
                    "add", "titled", "\n", ".", "and", "set", "titles", "everywhere", "move", "delete", "not", "{", "=",
                    "title", "of", "→", "é",
                ]),
                0..12,
            )
        ) {
            suggested_instruction(&words.join(" "));
            suggested_instruction(&words.concat());
        }
    }
}
