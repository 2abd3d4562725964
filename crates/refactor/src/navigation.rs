//! Edits of the navigation as changes of files.

use docent_site::NavigationEdits;

use super::Refactored;
use super::edit::{Change, TextEdit};

/// Adds what becomes of the navigation to a refactor. Where a navigation is a page with links (`SUMMARY.md`), a link that has
/// followed already keeps its edit. A file that is written or gone keeps its change.
pub(super) fn follow_navigation(refactored: &mut Refactored, navigation: NavigationEdits) {
    for (path, edits) in navigation.files {
        let edits = edits.into_iter().map(|(range, text)| TextEdit::new(range, text));
        match refactored.changes.iter_mut().find(|change| change.path() == path) {
            None => refactored.changes.push(Change::Edit { path, edits: edits.collect() }),
            Some(Change::Edit { edits: made, .. }) => {
                for edit in edits {
                    let is_apart =
                        |other: &TextEdit| other.range.end < edit.range.start || edit.range.end < other.range.start;
                    if made.iter().all(is_apart) {
                        made.push(edit);
                    }
                }
                made.sort_by_key(|edit| edit.range.start);
            }
            Some(_) => {}
        }
    }
    refactored.left.extend(navigation.left);
}
