//! Restores the original text when a page moves back to its path from before the job.
//!
//! At the temporary path of a page, some links can be written in one form only, and some navigation entries are in
//! another place, so the move back alone does not restore the original text. Therefore the same round trip is made in
//! the base tree: its result differs from the base only by the effects of that trip, and a line-based merge removes
//! these from the files. Edits that the job made meanwhile are in other lines, or else are left as they are.

use docent_markdown::is_page;
use docent_site::{ChangedTree, Site, Tree};
use similar::{MergeResolution, TextMerge};

use super::Refactored;
use super::edit::{Change, TextEdit};
use super::move_page::{Redirects, moved};

/// Removes the effects of the round trip from a move from `from` to `to`, if the base has the page at `to`.
pub(super) fn undo(tree: &dyn Tree, base: &dyn Tree, from: &str, to: &str, back: &mut Refactored) {
    let Some((round_trip, base_messages)) = there_and_back(base, from, to) else { return };
    let mut after = ChangedTree::new(tree);
    back.make(&mut after);
    let (site_before, site) = (Site::read(base), Site::read(&after));
    for (path, bytes) in round_trip.files {
        let texts = [bytes, after.read(&path), base.read(&path)].map(|bytes| String::from_utf8(bytes?).ok());
        let [Some(returned), Some(now), Some(before)] = texts else { continue };
        if returned == before {
            continue;
        }
        let Some(restored) = merged(&path, &returned, &now, &before) else { continue };
        // Each link must lead where it led before the job, or where it would lead without the merge.
        let links = [&restored, &now].map(|text| site.parse(&path, text.as_bytes()).links);
        let is_sound = links[0].len() == links[1].len()
            && links[0].iter().zip(&links[1]).all(|(link, other)| {
                let leads_to = site.resolve_link(&path, link);
                leads_to == site.resolve_link(&path, other) || leads_to == site_before.resolve_link(&path, link)
            });
        if restored == now || is_page(&path) && !is_sound {
            continue;
        }
        back.left.retain(|line| !line.starts_with(&path) || !base_messages.contains(line));
        match back.changes.iter_mut().find(|change| change.path() == path) {
            Some(Change::Create { bytes, .. }) => *bytes = restored.into_bytes(),
            change => {
                let length = tree.read(&path).unwrap_or_default().len();
                let all = Change::Edit { path, edits: vec![TextEdit::new(0..length, restored)] };
                match change {
                    Some(change) => *change = all,
                    None => back.changes.push(all),
                }
            }
        }
    }
}

/// The base after the round trip, without redirects, and the messages to the user about its last move.
fn there_and_back<'b>(base: &'b dyn Tree, from: &str, to: &str) -> Option<(ChangedTree<'b>, Vec<String>)> {
    if base.read(to).is_none() || base.read(from).is_some() {
        return None;
    }
    let mut round_trip = ChangedTree::new(base);
    let mut base_messages = Vec::new();
    for (from, to) in [(to, from), (from, to)] {
        let round_trip_move = moved(&round_trip, &Site::read(&round_trip), from, to, Redirects::None).ok()?;
        round_trip_move.make(&mut round_trip);
        base_messages = round_trip_move.left;
    }
    Some((round_trip, base_messages))
}

/// Undoes the effects of the round trip in a text. If other changes touch the same lines, these are kept, but in pages
/// only: the lines of a navigation file depend on each other.
fn merged(path: &str, returned: &str, now: &str, before: &str) -> Option<String> {
    let merge = TextMerge::from_lines(returned, now, before);
    if merge.is_conflicted() && !is_page(path) {
        return None;
    }
    let lines = merge.regions().iter().flat_map(|region| -> Vec<_> {
        match region.resolution() {
            MergeResolution::Theirs => region.theirs_range().filter_map(|line| merge.theirs_line(line)).collect(),
            _ => region.ours_range().filter_map(|line| merge.ours_line(line)).collect(),
        }
    });
    Some(lines.collect())
}

#[cfg(test)]
mod tests {
    use crate::move_page;
    use crate::sample::{Files, after, site, text};

    const HOME: &str = "a/x.md";
    const AWAY: &str = "x.md";

    /// In the parent folder, the path to `y.md` has one form only.
    fn two_forms() -> Files {
        site(&[(HOME, "# X\n\n[one](../a/y.md)\n\nWords.\n\n[two](y.md)\n"), ("a/y.md", "# Y\n\n[x](../a/x.md)\n")])
    }

    /// The site after moving the page away, editing its text, and moving it back.
    fn there_and_back(base: &Files, edits: &[(&str, &str)]) -> Files {
        let mut away = after(base, &move_page(base, base, HOME, AWAY).expect("moved"));
        let mut page = text(&away, AWAY);
        for (old, new) in edits {
            assert!(page.contains(old), "{old} in {page}");
            page = page.replace(old, new);
        }
        away.insert(AWAY.to_owned(), page.into_bytes());
        after(&away, &move_page(&away, base, AWAY, HOME).expect("moved back"))
    }

    #[test]
    fn a_page_that_comes_back_is_as_before() {
        let base = two_forms();
        assert_eq!(there_and_back(&base, &[]), base);
        // Without the base, the original form is unknown.
        let away = after(&base, &move_page(&base, &base, HOME, AWAY).expect("moved"));
        let back = after(&away, &move_page(&away, &away, AWAY, HOME).expect("moved back"));
        assert_ne!(back, base);
    }

    #[test]
    fn edits_made_meanwhile_stay() {
        let base = two_forms();
        for (edits, expected) in [
            (&[("Words.", "Other words.")][..], "# X\n\n[one](../a/y.md)\n\nOther words.\n\n[two](y.md)\n"),
            (
                &[("[two](a/y.md)\n", "[two](a/y.md)\n\n[new](a/y.md)\n")],
                "# X\n\n[one](../a/y.md)\n\nWords.\n\n[two](y.md)\n\n[new](y.md)\n",
            ),
            (&[("[one]", "[first]")], "# X\n\n[first](y.md)\n\nWords.\n\n[two](y.md)\n"),
            (&[("[one](a/y.md)", "[one](/a/y.md)")], "# X\n\n[one](/a/y.md)\n\nWords.\n\n[two](y.md)\n"),
            (&[("[one](a/y.md)", "[one](a/y.md#y)")], "# X\n\n[one](y.md#y)\n\nWords.\n\n[two](y.md)\n"),
            (&[("[one](a/y.md)\n\n", "")], "# X\n\nWords.\n\n[two](y.md)\n"),
            (&[("[two](a/y.md)", "[two](https://x.y/)")], "# X\n\n[one](../a/y.md)\n\nWords.\n\n[two](https://x.y/)\n"),
        ] {
            assert_eq!(text(&there_and_back(&base, edits), HOME), expected, "{edits:?}");
        }
    }

    #[test]
    fn links_follow_what_else_moved_meanwhile() {
        let base = two_forms();
        let away = after(&base, &move_page(&base, &base, HOME, AWAY).expect("moved"));
        let away = after(&away, &move_page(&away, &base, "a/y.md", "a/z.md").expect("moved"));
        let back = after(&away, &move_page(&away, &base, AWAY, HOME).expect("moved back"));
        assert_eq!(text(&back, HOME), "# X\n\n[one](z.md)\n\nWords.\n\n[two](z.md)\n");
    }

    #[test]
    fn several_pages_that_come_back_are_as_before() {
        let base = two_forms();
        let mut now = base.clone();
        for (from, to) in [(HOME, AWAY), ("a/y.md", "b/y.md"), (AWAY, HOME), ("b/y.md", "a/y.md")] {
            now = after(&now, &move_page(&now, &base, from, to).expect("moved"));
        }
        assert_eq!(now, base);
    }

    #[test]
    fn an_entry_of_a_navigation_comes_back_to_its_place() {
        let base = site(&[
            ("mkdocs.yml", "site_name: T\nplugins: [awesome-pages]\n"),
            ("docs/index.md", ""),
            ("docs/a/.pages", "nav:\n  - First: x.md # keep\n  - y.md\n  - z.md\n"),
            ("docs/a/x.md", ""),
            ("docs/a/y.md", ""),
            ("docs/a/z.md", ""),
        ]);
        let (home, away) = ("docs/a/x.md", "docs/b/x.md");
        let moved = after(&base, &move_page(&base, &base, home, away).expect("moved"));
        assert_eq!(text(&moved, "docs/a/.pages"), "nav:\n  - y.md\n  - z.md\n");
        let back = move_page(&moved, &base, away, home).expect("moved back");
        assert_eq!(back.left, Vec::<String>::new());
        assert_eq!(after(&moved, &back), base);
        // The order that the job gave to the other entries is kept, and so are its edits elsewhere.
        for (edited, expected) in [
            ("nav:\n  - z.md\n  - y.md\n", "nav:\n  - z.md\n  - y.md\n  - x.md\n"),
            ("title: A\nnav:\n  - y.md\n  - z.md\n", "title: A\nnav:\n  - First: x.md # keep\n  - y.md\n  - z.md\n"),
        ] {
            let mut moved = moved.clone();
            moved.insert("docs/a/.pages".to_owned(), edited.as_bytes().to_vec());
            let back = after(&moved, &move_page(&moved, &base, away, home).expect("moved back"));
            assert_eq!(text(&back, "docs/a/.pages"), expected);
        }
    }
}
