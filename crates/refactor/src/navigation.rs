//! Adds navigation edits to the changes of a refactor.

use docent_site::NavigationEdits;

use super::Refactored;
use super::edit::{Change, TextEdit};

/// Adds the edits of the navigation to a refactor. If a navigation file is a page with links (`SUMMARY.md`), a link
/// that is already edited keeps its edit. A file that is created or deleted keeps its change.
pub(super) fn follow_navigation(refactored: &mut Refactored, navigation: NavigationEdits) {
    for (path, edits) in navigation.files {
        let edits = edits.into_iter().map(|(range, text)| TextEdit::new(range, text));
        match refactored.changes.iter_mut().find(|change| change.path() == path) {
            None => refactored.changes.push(Change::Edit { path, edits: edits.collect() }),
            Some(Change::Edit { edits: existing, .. }) => {
                for edit in edits {
                    let is_apart =
                        |other: &TextEdit| other.range.end < edit.range.start || edit.range.end < other.range.start;
                    if existing.iter().all(is_apart) {
                        existing.push(edit);
                    }
                }
                existing.sort_by_key(|edit| edit.range.start);
            }
            Some(_) => {}
        }
    }
    refactored.left.extend(navigation.manual_steps);
}
