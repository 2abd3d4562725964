//! The rules of the grammar, one function each. A rule matches from a verb to the end of its clause, or not at all.

use serde_json::{Value, json};

use crate::chore::{Chore, Scope};
use crate::cursor::Cursor;
use crate::grammar::clause_end;
use crate::outline::outline;
use crate::scope::scope;

/// The result of a rule: the chores, and where parsing continues.
pub(crate) type Parsed<'a> = (Vec<Chore>, Cursor<'a>);

/// The rules in the order they are tried.
pub(crate) const RULES: [fn(Cursor<'_>) -> Option<Parsed<'_>>; 7] =
    [replace, move_page, delete_page, fix_links, add_missing, add_page, set_field];

/// `Replace "A" with "B"`, `Rename "A" to "B"`.
fn replace(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    let connectives: &[&str] = if cursor.word("replace") {
        &["with", "by"]
    } else if cursor.word("rename") {
        &["to", "into", "as"]
    } else {
        return None;
    };
    cursor.any(&["all", "every", "each", "any"]);
    cursor.word("the");
    if cursor.any(&["occurrences", "occurrence", "instances", "instance", "mentions", "mention", "uses"]) {
        cursor.word("of");
        cursor.word("the");
    }
    kind_of_text(&mut cursor);
    cursor.quotations().into_iter().find_map(|(from, mut after)| {
        if from.trim().is_empty() || !after.any(connectives) {
            return None;
        }
        after.word("the");
        kind_of_text(&mut after);
        after.quotations().into_iter().find_map(|(to, mut after)| {
            let scope = scope(&mut after, &[]).unwrap_or(Scope::Everywhere);
            let chore = Chore::ReplaceText { from: from.clone(), to, scope };
            Some((vec![chore], clause_end(after)?))
        })
    })
}

fn kind_of_text(cursor: &mut Cursor<'_>) {
    cursor.any(&["word", "words", "term", "phrase", "text", "string", "name"]);
}

/// `Move page P to Q`, `Rename page P to Q`.
fn move_page(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    let moves = cursor.word("move");
    if !moves && !cursor.word("rename") {
        return None;
    }
    let named = names_page(&mut cursor);
    let from = cursor.path()?;
    let is_clear = named || (moves && is_path(&from));
    if !is_clear {
        return None;
    }
    if !cursor.any(&["to", "into"]) {
        return None;
    }
    let to = cursor.path()?;
    whole_site(&mut cursor);
    Some((vec![Chore::MovePage { from, to }], clause_end(cursor)?))
}

/// `Delete page P`.
fn delete_page(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    if !cursor.any(&["delete", "remove"]) {
        return None;
    }
    let named = names_page(&mut cursor);
    let page = cursor.path()?;
    if !named && !has_page_ending(&page) {
        return None;
    }
    whole_site(&mut cursor);
    Some((vec![Chore::DeletePage { page }], clause_end(cursor)?))
}

/// Skips `everywhere` or `in all pages`: links to the page are updated on all pages anyway.
fn whole_site(cursor: &mut Cursor<'_>) {
    let mut after = *cursor;
    if scope(&mut after, &[]) == Some(Scope::Everywhere) {
        *cursor = after;
    }
}

/// Skips `page` or `file`, with an optional article before it and an optional `at`, `named` or `called` after it.
/// Returns whether `page` or `file` was found.
fn names_page(cursor: &mut Cursor<'_>) -> bool {
    let mut next = *cursor;
    next.any(&["the", "a", "this", "our"]);
    if !next.any(&["page", "file"]) {
        return false;
    }
    next.any(&["at", "named", "called"]);
    *cursor = next;
    true
}

pub(crate) fn is_path(text: &str) -> bool {
    text.contains('/') || has_page_ending(text)
}

pub(crate) fn has_page_ending(text: &str) -> bool {
    [".md", ".mdx", ".markdown", ".rst"].iter().any(|ending| text.to_ascii_lowercase().ends_with(ending))
}

/// `Fix broken links`.
fn fix_links(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    if !cursor.any(&["fix", "repair"]) {
        return None;
    }
    cursor.any(&["all", "any", "every"]);
    cursor.any(&["the", "of the"]);
    if !(cursor.any(&["broken", "dead"]) && cursor.any(&["links", "link"])) {
        return None;
    }
    let scope = scope(&mut cursor, &[]).unwrap_or(Scope::Everywhere);
    Some((vec![Chore::FixLinks { scope }], clause_end(cursor)?))
}

/// `Add missing descriptions`, `Add missing titles`, or both.
fn add_missing(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    if !cursor.any(&["add", "fill in"]) {
        return None;
    }
    cursor.any(&["all", "any"]);
    cursor.any(&["the", "of the"]);
    if !cursor.word("missing") {
        return None;
    }
    let mut fields = vec![field(&mut cursor)?];
    loop {
        let mut next = cursor;
        if !next.mark(',') && !next.any(&["and", "&"]) && !next.mark('&') {
            break;
        }
        next.word("and");
        next.word("missing");
        let Some(another) = field(&mut next) else { break };
        fields.push(another);
        cursor = next;
    }
    let scope = scope(&mut cursor, &["to", "for"]).unwrap_or(Scope::Everywhere);
    let chores = fields.into_iter().map(|field| match field {
        Missing::Titles => Chore::AddTitles { scope: scope.clone() },
        Missing::Descriptions => Chore::AddDescriptions { scope: scope.clone() },
    });
    Some((chores.collect(), clause_end(cursor)?))
}

enum Missing {
    Titles,
    Descriptions,
}

fn field(cursor: &mut Cursor<'_>) -> Option<Missing> {
    cursor.any(&["front matter", "frontmatter", "page"]);
    if cursor.any(&["titles", "title"]) {
        return Some(Missing::Titles);
    }
    cursor.any(&["descriptions", "description"]).then_some(Missing::Descriptions)
}

/// `Add a page P titled "T"` and the outline below it.
fn add_page(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    let start = cursor;
    if !cursor.any(&["add", "create"]) {
        return None;
    }
    cursor.any(&["a", "the", "one"]);
    cursor.word("new");
    if !cursor.any(&["page", "file"]) {
        return None;
    }
    cursor.any(&["at", "named", "called"]);
    let page = cursor.path()?;
    cursor.mark(',');
    if !cursor.any(&["titled", "with the title", "with title", "entitled"]) {
        return None;
    }
    let title = cursor.quoted().map(|title| title.trim().to_owned()).filter(|title| !title.is_empty())?;
    cursor.any(&["to the navigation", "to navigation"]);
    let mut announced = cursor;
    announced.mark(',');
    if announced.any(&["with", "and"]) {
        announced.any(&["the", "this", "an"]);
        announced.word("following");
        if announced.any(&["outline", "sections", "headings"]) {
            cursor = announced;
        }
    }
    cursor.skip_blanks();
    if cursor.peek() == Some(':') {
        cursor.bump();
    }
    let mut after = clause_end(cursor)?;
    let mut line = after;
    if line.peek() == Some('.') {
        line.bump();
        line.skip_blanks();
    }
    let outline = outline(&start, &mut line);
    if !outline.is_empty() {
        after = line;
    }
    Some((vec![Chore::AddPage { page, title, outline }], after))
}

/// `Set FIELD to "V" in PATH-OR-GLOB`. The scope is not optional here: setting a field on all pages is rarely meant.
fn set_field(mut cursor: Cursor<'_>) -> Option<Parsed<'_>> {
    if !cursor.word("set") {
        return None;
    }
    cursor.word("the");
    cursor.any(&["front matter", "frontmatter"]);
    cursor.word("field");
    let field = cursor.path().filter(|field| is_field(field))?;
    cursor.word("field");
    if !cursor.word("to") {
        return None;
    }
    let values = match bare_value(cursor) {
        Some(bare) => vec![bare],
        None => cursor.quotations().into_iter().map(|(text, after)| (Value::String(text), after)).collect(),
    };
    values.into_iter().find_map(|(value, mut after)| {
        let scope = scope(&mut after, &["for"])?;
        Some((vec![Chore::SetFrontMatter { field: field.clone(), value, scope }], clause_end(after)?))
    })
}

fn is_field(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && chars.all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c))
}

/// `true`, `false` or a number without quotes.
fn bare_value(mut cursor: Cursor<'_>) -> Option<(Value, Cursor<'_>)> {
    let word = cursor.path()?;
    let value = match word.to_ascii_lowercase().as_str() {
        "true" => json!(true),
        "false" => json!(false),
        number if number.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            serde_json::from_str::<serde_json::Number>(number).ok().map(Value::Number)?
        }
        _ => return None,
    };
    let is_unquoted = cursor.text[..cursor.at].chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
    is_unquoted.then_some((value, cursor))
}
