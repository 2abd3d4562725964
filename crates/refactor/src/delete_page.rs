//! Deletes a page and its navigation entries, and reports links to it.

use std::collections::BTreeMap;

use docent_markdown::{Link, LinkKind, line_end, line_of, line_start, on_one_line, text_of};
use docent_site::{
    ChangedTree, Linking, NavigationFiles, Reference, Site, Target, Tree, imports, linking_to, named_in_sources,
    named_outside, referring_by_name,
};

use super::edit::{Change, TextEdit, in_order};
use super::navigation::follow_navigation;
use super::selection::page_named;
use super::{RefactorError, Refactored, counted, translations, unserved};

/// Deletes a page. Links to it stay, because only the author knows what they should say instead; each is listed in
/// [`Refactored::left`].
pub fn delete_page(tree: &dyn Tree, name: &str) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let file = page_named(&site, name)?;
    let page = site.parse(&file, &tree.read(&file).unwrap_or_default());
    let slug = page.front_matter.slug().map(str::to_owned);
    let mut deleted = Refactored { changes: vec![Change::Delete { path: file.clone() }], ..Refactored::default() };
    let files = NavigationFiles::of(tree, &site);
    let edits = files.remove(&file);
    let listed = !edits.is_empty();
    let gone = edits.files.clone();
    let mut linking = linking_to(tree, &site, &file, slug.as_deref());
    follow_navigation(&mut deleted, edits);
    for (place, source) in files.redirects_to(&file) {
        deleted.left.push(format!("{}:{} redirects `{source}` to it", place.file, place.line));
    }
    if let Some((field, _)) = site.alias(&file) {
        for alias in page.front_matter.list(field) {
            deleted.left.push(format!("`{alias}` redirected to it by its `{field}`, and leads nowhere now"));
        }
    }
    for page in &mut linking {
        // A navigation file may be a page with links, and the entry that was removed from it is not a link any more.
        let cuts = gone.get(&page.page.path).map(Vec::as_slice).unwrap_or_default();
        page.links.retain(|link| cuts.iter().all(|(cut, _)| !cut.contains(&link.dest_span.start)));
        let text = text_of(&page.bytes);
        let entries: Vec<Link> = page.links.extract_if(.., |link| is_entry(link)).collect();
        if !entries.is_empty() {
            let whole_line =
                |link: &Link| TextEdit::new(line_start(&text, link.span.start)..line_end(&text, link.span.end), "");
            let edits = in_order(entries.iter().map(whole_line).collect());
            deleted.details.push(format!("{}: its entry in the table of contents", page.page.path));
            deleted.changes.push(Change::Edit { path: page.page.path.clone(), edits });
        }
    }
    deleted.left.extend(link_messages(&site, &linking, &file, "it"));
    let mut without = ChangedTree::new(tree);
    without.files.insert(file.clone(), None);
    let after = Site::read(&without);
    for orphan in unserved(&site, &after).into_iter().filter(|orphan| *orphan != file) {
        deleted.left.push(format!("{orphan} is not served without it"));
        deleted.left.extend(link_messages(&site, &linking_to(tree, &site, &orphan, None), &orphan, &orphan));
    }
    for other in translations(&site, &file) {
        deleted.left.push(format!("`{other}` is the same page in another language, and stays"));
    }
    for (path, line, target) in named_outside(tree, &file) {
        deleted.left.push(format!("{path}:{line} links to it as `{target}`, from outside of the docs"));
    }
    let own_entries =
        page.links.iter().filter(|link| is_entry(link)).filter_map(|link| match site.resolve_link(&file, link) {
            Target::Page { file, .. } => Some(file),
            _ => None,
        });
    for listed in own_entries.chain(files.listed_on(&file)) {
        deleted.left.push(format!("`{listed}` was in its table of contents"));
    }
    deleted.left.extend(documented(referring_by_name(tree, &site, &file)));
    for Reference { file, line, name } in named_in_sources(tree, &site, &file) {
        deleted.left.push(format!("{file}:{line} names it as `{name}`, in source code"));
    }
    let from_navigation = if listed { " and its entry in the navigation" } else { "" };
    deleted.summary = match deleted.left.len() {
        0 => format!("Deleted `{file}`{from_navigation}; nothing links to it"),
        count => format!("Deleted `{file}`{from_navigation}; {} to it", counted(count, "place leads", "places lead")),
    };
    Ok(deleted)
}

/// Messages about links to a file, one sentence each.
fn link_messages(site: &Site, pages: &[Linking], file: &str, what: &str) -> Vec<String> {
    let mut found = Vec::new();
    for linking in pages {
        let text = text_of(&linking.bytes);
        for link in &linking.links {
            let line = line_of(&text, link.span.start);
            found.push(format!("{}:{line} links to {what} as `{}`", linking.page.path, on_one_line(&link.target)));
        }
        for link in &linking.unclear {
            let line = line_of(&text, link.span.start);
            let target = on_one_line(&link.target);
            found.push(format!(
                "{}:{line} may lead to {what} as `{target}`, which is not understood",
                linking.page.path
            ));
        }
        for import in imports(site, &linking.page, &linking.bytes) {
            if import.file.as_deref() == Some(file) {
                let line = line_of(&text, import.range.start);
                found.push(format!("{}:{line} imports {what} as `{}`", linking.page.path, import.target));
            }
        }
    }
    found
}

/// Messages about names that a page documents and others refer to, one sentence each with the first places.
fn documented(references: Vec<Reference>) -> Vec<String> {
    const MOST_PLACES: usize = 5;
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Reference { file, line, name } in references {
        places.entry(name).or_default().push(format!("{file}:{line}"));
    }
    let sentence = |(name, places): (String, Vec<String>)| {
        let shown = places.iter().take(MOST_PLACES).cloned().collect::<Vec<_>>().join(", ");
        let rest = match places.len().saturating_sub(MOST_PLACES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("it documents `{name}`, named at {shown}{rest}")
    };
    places.into_iter().map(sentence).collect()
}

/// Whether a link is a toctree entry on a page, which has a line to itself.
fn is_entry(link: &Link) -> bool {
    matches!(&link.kind, LinkKind::Attribute { element, .. } if element == "toctree")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, site, text};

    #[test]
    fn an_entry_of_a_toctree_goes_with_its_page() {
        let index = "Home\n====\n\n.. toctree::\n\n   a\n   Words <b>\n   c\n\nSee :doc:`b`.\n";
        let tree =
            site(&[("conf.py", "project = 'x'\n"), ("index.rst", index), ("a.rst", ""), ("b.rst", ""), ("c.rst", "")]);
        let deleted = delete_page(&tree, "b").expect("deleted");
        assert_eq!(deleted.left, ["index.rst:10 links to it as `:doc:`b``"]);
        let tree = after(&tree, &deleted);
        assert_eq!(text(&tree, "index.rst"), "Home\n====\n\n.. toctree::\n\n   a\n   c\n\nSee :doc:`b`.\n");
    }

    #[test]
    fn a_page_goes_and_links_to_it_are_told() {
        let tree = site(&[
            (
                "docs.json",
                r#"{"navigation": [{"group": "G", "pages": ["a", "b"]}], "redirects": [{"source": "/x", "destination": "/a"}]}"#,
            ),
            ("a.md", "# A\n"),
            ("b.md", "One.\n\n[a](/a) and [b](#b)\n"),
        ]);
        let deleted = delete_page(&tree, "/a").expect("deleted");
        assert_eq!(deleted.left, ["docs.json:1 redirects `/x` to it", "b.md:3 links to it as `/a`"]);
        assert_eq!(deleted.summary, "Deleted `a.md` and its entry in the navigation; 2 places lead to it");
        let tree = after(&tree, &deleted);
        assert!(!tree.contains_key("a.md"));
        assert!(text(&tree, "docs.json").contains(r#""pages": ["b"]"#));
    }

    #[test]
    fn names_that_a_page_documents_are_told() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: x\n"),
            ("docs/a.md", "# A\n\n[`x.y`][] [part][x.y.z] [other][x.yz] [`x.y`](b.md)\n"),
            ("docs/b.md", "# B\n\n### ::: x.y\n\n[own][x.y]\n"),
        ]);
        let deleted = delete_page(&tree, "docs/b.md").expect("deleted");
        assert_eq!(
            deleted.left,
            [
                "docs/a.md:3 links to it as `b.md`",
                "it documents `x.y`, named at docs/a.md:3",
                "it documents `x.y.z`, named at docs/a.md:3",
            ]
        );
    }

    #[test]
    fn names_and_labels_that_source_code_refers_to_are_told() {
        let tree = site(&[
            ("docs/conf.py", "project = 'x'\n"),
            (
                "docs/index.rst",
                "Home\n====\n\n:class:`~x.C` :class:`C` :meth:`x.C.run` :setting:`ONE` :class:`other.C`\n",
            ),
            (
                "docs/b.rst",
                ".. _the label:\n\nB\n=\n\n.. autoclass:: x.C\n   :members:\n\n.. setting:: ONE\n\n.. class:: x.D\n",
            ),
            ("docs/c.rst", "C\n=\n\n.. class:: x.D\n\n:class:`x.D`\n"),
            ("src/x.py", "\"\"\"See :ref:`words <the\n  label>`, :doc:`/b` and :setting:`ONE`.\"\"\"\n"),
        ]);
        let deleted = delete_page(&tree, "docs/b.rst").expect("deleted");
        assert_eq!(
            deleted.left,
            [
                "it documents `C`, named at docs/index.rst:4",
                "it documents `ONE`, named at docs/index.rst:4, src/x.py:2",
                "it documents `x.C`, named at docs/index.rst:4",
                "it documents `x.C.run`, named at docs/index.rst:4",
                "src/x.py:1 names it as `:ref:`the label``, in source code",
                "src/x.py:2 names it as `:doc:`/b``, in source code",
            ]
        );
        let moved = crate::sample::move_page(&tree, "docs/b.rst", "docs/deep/b.rst").expect("moved");
        assert!(
            moved.left.contains(&"src/x.py:2 names it as `:doc:`/b``, in source code".to_owned()),
            "{:?}",
            moved.left
        );
    }

    #[test]
    fn an_entry_of_a_summary_that_goes_leads_nowhere_any_more() {
        let tree = site(&[
            ("book.toml", "[output.html.redirect]\n\"/x.html\" = \"b.html\"\n"),
            ("src/SUMMARY.md", "- [A](a.md)\n- [B](b.md)\n"),
            ("src/a.md", "[b](b.md)\n"),
            ("src/b.md", ""),
        ]);
        let deleted = delete_page(&tree, "src/b.md").expect("deleted");
        assert_eq!(deleted.left, ["book.toml:2 redirects `/x.html` to it", "src/a.md:1 links to it as `b.md`"]);
        assert_eq!(text(&after(&tree, &deleted), "src/SUMMARY.md"), "- [A](a.md)\n");
    }

    #[test]
    fn an_entry_of_a_navigation_in_asciidoc_goes_with_its_page() {
        let tree = site(&[
            ("antora.yml", "name: tool\nversion: ~\nstart_page: a.adoc\nnav:\n- modules/ROOT/nav.adoc\n"),
            ("modules/ROOT/nav.adoc", "* xref:a.adoc[]\n** xref:b.adoc[B]\n* xref:c.adoc[C]\n"),
            ("modules/ROOT/pages/a.adoc", "= A\n\nxref:c.adoc[]\n"),
            ("modules/ROOT/pages/b.adoc", "= B\n"),
            ("modules/ROOT/pages/c.adoc", "= C\n"),
        ]);
        let deleted = delete_page(&tree, "modules/ROOT/pages/b.adoc").unwrap();
        assert_eq!(deleted.left, Vec::<String>::new());
        assert_eq!(text(&after(&tree, &deleted), "modules/ROOT/nav.adoc"), "* xref:a.adoc[]\n* xref:c.adoc[C]\n");
        let deleted = delete_page(&tree, "modules/ROOT/pages/c.adoc").unwrap();
        assert_eq!(deleted.left, ["modules/ROOT/pages/a.adoc:3 links to it as `c.adoc`"]);
        let deleted = delete_page(&tree, "modules/ROOT/pages/a.adoc").unwrap();
        let expected = [
            "modules/ROOT/nav.adoc:1 still names it",
            "antora.yml:3 still names it",
            "modules/ROOT/nav.adoc:1 links to it as `a.adoc`",
        ];
        assert_eq!(deleted.left, expected, "an entry with others below it, and the first page, are left to a person");
    }

    #[test]
    fn a_page_that_is_not_there_cannot_go() {
        assert_eq!(delete_page(&site(&[]), "a"), Err(RefactorError::NoSuchPage("a".into())));
    }
}
