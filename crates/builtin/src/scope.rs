//! The scope of an instruction: all pages, or those it names.

use crate::chore::Scope;
use crate::cursor::{Cursor, closing};
use crate::rules::has_page_ending;

/// `everywhere`, `in all pages`, `in P, Q and R`; `None` when no scope is named. `more` are words that are accepted
/// like `in`.
pub(crate) fn scope(cursor: &mut Cursor<'_>, more: &[&str]) -> Option<Scope> {
    let mut found = None;
    loop {
        let mut next = *cursor;
        if next.word("everywhere") {
            found.get_or_insert(Scope::Everywhere);
        } else if next.any(&["in", "on", "across", "throughout", "under", "within"]) || next.any(more) {
            if whole_site(&mut next) {
                found.get_or_insert(Scope::Everywhere);
            } else {
                found = Some(Scope::In(paths(&mut next)?));
            }
        } else {
            return found;
        }
        *cursor = next;
    }
}

/// `all pages`, `the docs` and similar. `the page` is not the whole site: a path follows.
fn whole_site(cursor: &mut Cursor<'_>) -> bool {
    let mut next = *cursor;
    let every = next.any(&["all", "every", "each", "the whole", "the entire"]);
    next.any(&["of the", "the"]);
    let nouns: &[&str] = if every {
        &["pages", "page", "files", "file", "docs", "documentation", "site"]
    } else {
        &["docs", "documentation", "site"]
    };
    let has_article = cursor.rest()[..next.at - cursor.at].trim_end().to_ascii_lowercase().ends_with("the");
    let is_whole = (every || has_article) && next.any(nouns);
    if is_whole {
        *cursor = next;
    }
    is_whole
}

/// One path or glob, or several.
fn paths(cursor: &mut Cursor<'_>) -> Option<Vec<String>> {
    names_pages(cursor);
    let mut paths = vec![cursor.path()?];
    loop {
        let mut next = *cursor;
        let comma = next.mark(',');
        if !next.word("and") && !comma {
            return Some(paths);
        }
        names_pages(&mut next);
        let quoted = {
            let mut ahead = next;
            ahead.skip_spaces();
            ahead.peek().is_some_and(|c| closing(c).is_some())
        };
        match next.path() {
            Some(path) if quoted || path.contains(['/', '*']) || has_page_ending(&path) => paths.push(path),
            _ => return Some(paths),
        }
        *cursor = next;
    }
}

fn names_pages(cursor: &mut Cursor<'_>) {
    let mut next = *cursor;
    next.word("the");
    if next.any(&["pages", "page", "files", "file", "folder"]) {
        next.any(&["under", "in", "at"]);
        *cursor = next;
    }
}
