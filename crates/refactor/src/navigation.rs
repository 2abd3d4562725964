//! Edits of the navigation as changes of files.

use docent_site::NavigationEdits;

use super::Refactored;
use super::edit::{Change, TextEdit};

/// Adds what becomes of the navigation to a refactor. A file that changes already keeps its change: where a navigation is a
/// page with links (`SUMMARY.md`), its links have followed.
pub(super) fn follow_navigation(refactored: &mut Refactored, navigation: NavigationEdits) {
    for (path, edits) in navigation.files {
        if refactored.changes.iter().any(|change| change.path() == path) {
            continue;
        }
        let edits = edits.into_iter().map(|(range, text)| TextEdit::new(range, text)).collect();
        refactored.changes.push(Change::Edit { path, edits });
    }
    refactored.left.extend(navigation.left);
}
