//! A page moves; links to it and from it, the navigation and a redirect follow.

use docent_markdown::{Page, parse, site_path};
use docent_site::{Site, Target, Tree, Wanted, imports, linking_to, parts, respelled};

use super::edit::{Change, TextEdit, apply, in_order};
use super::navigation::NavigationFile;
use super::selection::{page_named, page_path};
use super::{RefactorError, Refactored, counted};

/// Moves a page. `from` names it as people do; `to` may lack the ending, and may be a folder when it ends in a slash.
pub fn move_page(tree: &dyn Tree, from: &str, to: &str) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let from = page_named(&site, from)?;
    let bytes = tree.read(&from).unwrap_or_default();
    let page = parse(&from, &bytes);
    let to = match page_path(&site, to, &from) {
        Err(RefactorError::Occupied(path)) if path == from => {
            return Ok(Refactored { summary: format!("`{from}` is there already"), ..Refactored::default() });
        }
        path => path?,
    };
    let slug = page.front_matter.slug().map(str::to_owned);
    let mut moved = Refactored::default();
    let own = moved_edits(&page, &bytes, &site, &to);
    moved.changes.push(Change::Delete { path: from.clone() });
    moved.changes.push(Change::Create { path: to.clone(), bytes: apply(&bytes, &own) });

    let (mut links, mut pages) = (0, 0);
    for linking in linking_to(tree, &site, &from, slug.as_deref()) {
        let path = linking.page.path.clone();
        let mut edits: Vec<TextEdit> = linking
            .links
            .iter()
            .filter(|link| !names_slug(&link.target, slug.as_deref()))
            .map(|link| {
                TextEdit::new(
                    link.dest_span.clone(),
                    site.link(&Wanted { from: &path, to: &to, anchor: None, like: &link.target }),
                )
            })
            .collect();
        for import in imports(&linking.page, &linking.bytes) {
            if matches!(site.resolve(&path, &import.target), Target::Page { file, .. } if file == from) {
                edits.push(TextEdit::new(import.range, respelled(&import.target, &path, &to, None)));
            }
        }
        let edits = in_order(edits);
        if edits.is_empty() {
            continue;
        }
        links += edits.len();
        pages += 1;
        moved.details.push(format!("{path}: {}", counted(edits.len(), "link", "links")));
        moved.changes.push(Change::Edit { path, edits });
    }

    let mut followers = Vec::new();
    if links > 0 {
        followers.push(format!(
            "{} in {}",
            counted(links, "link", "links"),
            counted(pages, "other page", "other pages")
        ));
    }
    if !own.is_empty() {
        followers.push(format!("{} of its own", counted(own.len(), "link", "links")));
    }
    let changes_path = slug.is_none() && site_path(&from) != site_path(&to);
    match NavigationFile::of(tree) {
        Some(file) => {
            let mut edits = file.rename(&site, &from, &to);
            if !edits.is_empty() {
                followers.push("the navigation".to_owned());
            }
            if changes_path {
                edits.extend(file.redirect(&from, &to));
                followers.push("a redirect".to_owned());
            }
            let edits = in_order(edits);
            if !edits.is_empty() {
                moved.changes.push(Change::Edit { path: file.navigation.path, edits });
            }
        }
        None if changes_path => moved.left.push(
            "there is no `docs.json` or `mint.json` that can be read, so the navigation and a redirect are yours to add"
                .to_owned(),
        ),
        None => {}
    }
    moved.summary = match followers.as_slice() {
        [] => format!("Moved `{from}` to `{to}`"),
        [one] => format!("Moved `{from}` to `{to}`; {one} followed"),
        [first @ .., last] => format!("Moved `{from}` to `{to}`; {} and {last} followed", first.join(", ")),
    };
    Ok(moved)
}

/// What changes inside the page itself: relative links when its folder changes, and links to itself.
fn moved_edits(page: &Page, bytes: &[u8], site: &Site, to: &str) -> Vec<TextEdit> {
    let from = page.path.as_str();
    let slug = page.front_matter.slug();
    let follow = |target: &str| {
        let (path, _) = parts(target);
        if path.is_empty() || names_slug(target, slug) {
            return None;
        }
        let file = match site.resolve(from, target) {
            Target::Page { file, .. } | Target::Asset { file } => file,
            _ => return None,
        };
        let file = if file == from { to } else { file.as_str() };
        if path.starts_with('/') && file != to {
            return None;
        }
        let spelled = site.link(&Wanted { from: to, to: file, anchor: None, like: target });
        (spelled != target).then_some(spelled)
    };
    let mut edits = Vec::new();
    for link in &page.links {
        edits.extend(follow(&link.target).map(|text| TextEdit::new(link.dest_span.clone(), text)));
    }
    for import in imports(page, bytes) {
        edits.extend(follow(&import.target).map(|text| TextEdit::new(import.range, text)));
    }
    in_order(edits)
}

/// Whether a target names the path that a page chose for itself, which moves with it.
fn names_slug(target: &str, slug: Option<&str>) -> bool {
    let (path, _) = parts(target);
    slug.is_some_and(|slug| path.starts_with('/') && path.trim_matches('/') == slug.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, site, text, touched};

    #[test]
    fn everything_follows_a_moved_page() {
        let tree = site(&[
            (
                "docs.json",
                "{\n  \"navigation\": [\n    { \"group\": \"G\", \"pages\": [\"index\", \"guides/retries\"] }\n  ]\n}\n",
            ),
            (
                "index.mdx",
                "[a](/guides/retries#backoff) [b](guides/retries.mdx) [c](/guides/other)\n\n<Card href=\"/guides/retries\">x</Card>\n",
            ),
            (
                "guides/retries.mdx",
                "See [other](other), [home](/), [me](/guides/retries#x) and [there](#x).\n\n![i](../i.png)\n",
            ),
            ("guides/other.mdx", "[r](./retries) `[r](./retries)`\n"),
            ("guides/unrelated.mdx", "retries are [elsewhere](https://example.com/guides/retries)\n"),
            ("i.png", ""),
        ]);
        let moved = move_page(&tree, "/guides/retries", "reference/delivery/").expect("moved");
        assert_eq!(
            moved.summary,
            "Moved `guides/retries.mdx` to `reference/delivery/retries.mdx`; 4 links in 2 other pages, 3 links of its own, the navigation and a redirect followed"
        );
        assert_eq!(
            touched(&moved),
            ["docs.json", "guides/other.mdx", "guides/retries.mdx", "index.mdx", "reference/delivery/retries.mdx"]
        );
        let tree = after(&tree, &moved);
        assert_eq!(
            text(&tree, "index.mdx"),
            "[a](/reference/delivery/retries#backoff) [b](reference/delivery/retries.mdx) [c](/guides/other)\n\n<Card href=\"/reference/delivery/retries\">x</Card>\n"
        );
        assert_eq!(
            text(&tree, "reference/delivery/retries.mdx"),
            "See [other](../../guides/other), [home](/), [me](/reference/delivery/retries#x) and [there](#x).\n\n![i](../../i.png)\n"
        );
        assert_eq!(text(&tree, "guides/other.mdx"), "[r](../reference/delivery/retries) `[r](./retries)`\n");
        let navigation = text(&tree, "docs.json");
        assert!(navigation.contains("[\"index\", \"reference/delivery/retries\"]"), "{navigation}");
        assert!(navigation.contains("\"source\": \"/guides/retries\""), "{navigation}");
    }

    #[test]
    fn imports_follow_a_moved_snippet() {
        let tree = site(&[
            ("a.mdx", "import Note from '/snippets/note.mdx';\nimport { x } from \"react\";\n\n<Note />\n"),
            ("deep/b.mdx", "import Note from \"../snippets/note.mdx\"\n\n<Note />\n"),
            ("snippets/note.mdx", "Words.\n"),
        ]);
        let moved = move_page(&tree, "snippets/note.mdx", "snippets/notes/note.mdx").expect("moved");
        let tree = after(&tree, &moved);
        assert!(text(&tree, "a.mdx").starts_with("import Note from '/snippets/notes/note.mdx';\nimport { x }"));
        assert!(text(&tree, "deep/b.mdx").starts_with("import Note from \"../snippets/notes/note.mdx\"\n"));
    }

    #[test]
    fn a_page_with_a_path_of_its_own_keeps_it() {
        let tree = site(&[
            ("docs.json", "{}"),
            ("a.md", "---\nslug: /chosen\n---\nx\n"),
            ("b.md", "[x](/chosen) [y](a.md)\n"),
        ]);
        let moved = move_page(&tree, "a", "deep/a").expect("moved");
        let tree = after(&tree, &moved);
        assert_eq!(text(&tree, "b.md"), "[x](/chosen) [y](deep/a.md)\n");
        assert_eq!(text(&tree, "docs.json"), "{}");
    }

    #[test]
    fn what_cannot_be_moved_is_told() {
        let tree = site(&[("a.md", "x"), ("deep/b.md", "x")]);
        assert_eq!(move_page(&tree, "c", "d"), Err(RefactorError::NoSuchPage("c".into())));
        assert_eq!(
            move_page(&tree, "b", "d").expect_err("no such page").to_string(),
            "there is no page `b`; did you mean `deep/b.md`?"
        );
        assert_eq!(move_page(&tree, "a", "deep/b"), Err(RefactorError::Occupied("deep/b.md".into())));
        assert_eq!(move_page(&tree, "a", "a.md").expect("nothing to do").changes, []);
        let moved = move_page(&tree, "a", "c").expect("moved");
        assert_eq!(moved.left.len(), 1);
    }
}
