//! Moves a page and updates links to and from it, the navigation and a redirect.
//!
//! Links are written for the site as it is after the move, and each is resolved there before it is written: one that
//! would not lead to its page is left unchanged and listed.

use docent_markdown::{Link, Page, folder, joined, line_of, on_one_line, text_of};
use docent_site::{
    ChangedTree, FileMove, Import, LinkRequest, LinkSyntax, NavigationEdits, NavigationFiles, Reference, Site, Target,
    Tree, imports, is_external, is_fragment, kept_form, linking_to, named_in_sources, named_outside, parts,
    retargeted_link,
};

use super::alias;
use super::edit::{Change, TextEdit, apply, in_order};
use super::navigation::follow_navigation;
use super::round_trip;
use super::selection::{page_named, page_path};
use super::{RefactorError, Refactored, counted, translations, unserved};

/// Moves a page. `from` is a page name as users write it; `to` may lack the extension, and is a folder if it ends in a
/// slash.
///
/// `base` is the tree before any change: if the page moves back to its path there, links and navigation entries are
/// restored as they are in `base`, except for later edits.
pub fn move_page(tree: &dyn Tree, base: &dyn Tree, from: &str, to: &str) -> Result<Refactored, RefactorError> {
    let site = Site::read(tree);
    let from = page_named(&site, from)?;
    let to = match page_path(&site, to, &from) {
        Err(RefactorError::Occupied(path)) if path == from => {
            return Ok(Refactored { summary: format!("`{from}` is there already"), ..Refactored::default() });
        }
        path => path?,
    };
    let mut moved = moved(tree, &site, &from, &to, Redirects::Added)?;
    round_trip::undo(tree, base, &from, &to, &mut moved);
    Ok(moved)
}

/// Whether a move adds a redirect from the old address to the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirects {
    Added,
    None,
}

/// Moves a page from one path to another.
pub(super) fn moved(
    tree: &dyn Tree,
    site: &Site,
    from: &str,
    to: &str,
    redirects: Redirects,
) -> Result<Refactored, RefactorError> {
    let bytes = tree.read(from).unwrap_or_default();
    let page = site.parse(from, &bytes);
    let files = NavigationFiles::of(tree, site);
    // The navigation is renamed first, because some generators serve only the pages that it names.
    let renamed = files.rename(from, to);
    let mut after_tree = ChangedTree::new(tree);
    after_tree.files.extend([(from.to_owned(), None), (to.to_owned(), Some(bytes.clone()))]);
    for (file, edits) in &renamed.files {
        let edits: Vec<TextEdit> =
            edits.iter().map(|(range, text)| TextEdit::new(range.clone(), text.clone())).collect();
        after_tree
            .files
            .entry(file.clone())
            .or_insert_with(|| Some(apply(&tree.read(file).unwrap_or_default(), &edits)));
    }
    let after = Site::read(&after_tree);
    if site.address(from).is_some() && after.address(to).is_none() {
        return Err(RefactorError::BadPath { path: to.to_owned(), why: "the site serves no pages from there" });
    }
    let orphans: Vec<String> = unserved(site, &after).into_iter().filter(|orphan| orphan != from).collect();
    let moving = Moving { site, after: &after, after_tree: &after_tree, from, to };
    let slug = page.front_matter.slug().map(str::to_owned);
    let mut moved = Refactored::default();
    let mut own = moving.own_edits(&page, &bytes, &mut moved.left);
    own.extend(files.own_entries(from, to).into_iter().map(|(range, text)| TextEdit::new(range, text)));
    let own = in_order(own);
    let mut in_place = apply(&bytes, &own);
    let (redirect, has_alias) = match redirects {
        Redirects::None => (NavigationEdits::default(), false),
        Redirects::Added => {
            let redirect = files.redirect(from, to);
            let has_alias = redirect.is_empty() && moving.alias(&mut in_place, &mut moved.left);
            (redirect, has_alias)
        }
    };
    moved.changes.push(Change::Delete { path: from.to_owned() });
    moved.changes.push(Change::Create { path: to.to_owned(), bytes: in_place });

    let (mut links, mut pages) = (0, 0);
    for linking in linking_to(tree, site, from, slug.as_deref()) {
        let path = linking.page.path.clone();
        let text = text_of(&linking.bytes);
        let at = |link: &Link| format!("{path}:{}", line_of(&text, link.span.start));
        let mut edits: Vec<TextEdit> = Vec::new();
        for link in &linking.links {
            match moving.link(&linking.page, &linking.bytes, link, FileMove { before: from, after: to }) {
                Ok(instead) => edits.extend(instead.map(|text| TextEdit::new(link.dest_span.clone(), text))),
                Err(why) => moved.left.push(format!("{} `{}` leads to it; {why}", at(link), on_one_line(&link.target))),
            }
        }
        for link in &linking.unclear {
            moved.left.push(format!(
                "{} `{}` may lead to it, and is not understood",
                at(link),
                on_one_line(&link.target)
            ));
        }
        for import in imports(site, &linking.page, &linking.bytes) {
            if import.file.as_deref() == Some(from) {
                let written = imported(&import, &path, to);
                edits.push(TextEdit::new(import.range.clone(), escaped_like(&linking.bytes, import.range, written)));
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
    for Reference { file, line, name } in named_in_sources(tree, site, from) {
        // Labels move with the page, so only `:doc:` references break.
        if name.starts_with(":doc:") {
            moved.left.push(format!("{file}:{line} names it as `{name}`, in source code"));
        }
    }
    for (path, line, target) in named_outside(tree, from) {
        moved.left.push(format!("{path}:{line} `{target}` leads to it from outside of the docs"));
    }

    if site.address(from) != after.address(to) {
        let stay = translations(site, from).into_iter().filter(|other| !orphans.iter().any(|orphan| orphan == other));
        moved.left.extend(stay.map(|other| format!("`{other}` is the same page in another language, and stays")));
    }
    moved.left.extend(orphans.iter().map(|orphan| format!("{orphan} is not served unless it moves likewise")));

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
    let changes_path = slug.is_none() && site.address(from) != after.address(to);
    let mut edits = renamed;
    if !edits.is_empty() {
        followers.push("the navigation".to_owned());
    }
    if has_alias {
        followers.push("a redirect".to_owned());
    }
    if changes_path {
        if !redirect.is_empty() {
            followers.push("a redirect".to_owned());
        }
        edits = edits.and(redirect);
        if files.is_empty() && has_alias {
            moved
                .left
                .push("there is no navigation file that can be edited, so the navigation is yours to add".to_owned());
        } else if files.is_empty() {
            moved.left.push(
                "there is no navigation file that can be edited, so the navigation and a redirect are yours to add"
                    .to_owned(),
            );
        }
    }
    follow_navigation(&mut moved, edits);
    moved.summary = match followers.as_slice() {
        [] => format!("Moved `{from}` to `{to}`"),
        [one] => format!("Moved `{from}` to `{to}`; {one} followed"),
        [first @ .., last] => format!("Moved `{from}` to `{to}`; {} and {last} followed", first.join(", ")),
    };
    Ok(moved)
}

struct Moving<'a> {
    site: &'a Site,
    after: &'a Site,
    after_tree: &'a ChangedTree<'a>,
    from: &'a str,
    to: &'a str,
}

impl Moving<'_> {
    /// The new target of a link so that it leads to `file` after the move; `None` if it needs no change. `page` is the
    /// page with the link, at its current path, and `bytes` are its contents.
    fn link(&self, page: &Page, bytes: &[u8], link: &Link, file: FileMove<'_>) -> Result<Option<String>, String> {
        let moves = page.path == self.from;
        let from = if moves { self.to } else { page.path.as_str() };
        let (target, syntax) = (link.target.as_str(), LinkSyntax::of(&link.kind));
        let leads = |target: &str| match self.after.resolve_in(from, target, syntax) {
            Target::Page { file: to, .. } | Target::Asset { file: to } => to == file.after,
            _ => false,
        };
        let (path, _) = parts(target);
        let kept = kept_form(path, FileMove { before: &page.path, after: from }, file);
        let kept = kept.map(|kept| format!("{kept}{}", &target[path.len()..])).filter(|kept| leads(kept));
        let written = || self.after.link(&LinkRequest { from, to: file.after, anchor: None, like: target, syntax });
        let spelled = match kept {
            // The link may still resolve from the new folder, but by a longer path than before; `kept` has the original
            // form.
            Some(kept) if moves || !leads(target) => kept,
            None if moves && leads(target) && ups(target) > 0 => Some(dotted_like(target, written(), leads))
                .filter(|link| ups(link) < ups(target))
                .unwrap_or(target.to_owned()),
            _ if leads(target) => return Ok(None),
            _ => dotted_like(target, written(), leads),
        };
        if spelled == target {
            return Ok(None);
        }
        match leads(&spelled) {
            true => Ok(Some(escaped_like(bytes, link.dest_span.clone(), spelled))),
            false => Err("how such a link is written here is not understood, so it stays".to_owned()),
        }
    }

    /// Adds the page's old address to its front matter if the generator reads redirects there, and returns whether it
    /// did.
    fn alias(&self, bytes: &mut Vec<u8>, left: &mut Vec<String>) -> bool {
        let (Some(old), Some((field, written))) = (self.site.address(self.from), self.site.alias(self.from)) else {
            return false;
        };
        let Some(new) = self.after.address(self.to).filter(|new| *new != old) else { return false };
        if self.after.redirects_to(new, self.to) {
            let page = self.after.parse(self.to, bytes);
            let own = self.after.alias(self.to).and_then(|(field, own)| alias::without(&page, bytes, field, &own));
            match own {
                Some(edit) => *bytes = apply(bytes, &[edit]),
                None => left.push(format!("{}: `{field}` names the page's own address, and is to go", self.to)),
            }
        }
        let page = self.after.parse(self.to, bytes);
        let is_markdown = page.format.is_markdown();
        if is_markdown && page.front_matter.list(field).iter().any(|alias| !alias.starts_with('/')) {
            left.push(format!(
                "{}: what `{field}` has without a leading slash is read from where the page is now",
                self.to
            ));
        }
        let edit = match alias::added(&page, bytes, field, &written) {
            Ok(Some(edit)) => edit,
            Ok(None) => return false,
            Err(why) => {
                left.push(format!("{}: its old address `{written}` belongs into `{field}`; {why}", self.to));
                return false;
            }
        };
        let text = apply(bytes, &[edit]);
        let mut with_alias = self.after_tree.clone();
        with_alias.files.insert(self.to.to_owned(), Some(text.clone()));
        let leads = Site::read(&with_alias).redirects_to(old, self.to);
        if leads {
            *bytes = text;
        } else {
            left.push(format!("{}: a redirect from its old address `{written}` is yours to add", self.to));
        }
        leads
    }

    /// The edits inside the page itself: relative links if its folder changes, and links to itself.
    fn own_edits(&self, page: &Page, bytes: &[u8], left: &mut Vec<String>) -> Vec<TextEdit> {
        let text = text_of(bytes);
        let changes_folder = folder(self.from) != folder(self.to);
        let mut edits = Vec::new();
        for link in &page.links {
            let (path, _) = parts(&link.target);
            if path.is_empty() {
                continue;
            }
            let at = || format!("{}:{} `{}`", self.to, line_of(&text, link.span.start), on_one_line(&link.target));
            let file = match self.site.resolve_link(self.from, link) {
                Target::Page { file, .. } | Target::Asset { file } => file,
                // Links of a fragment are resolved where the fragment is included.
                Target::NotUnderstood
                    if changes_folder && is_relative_path(&link.target) && !is_fragment(self.from) =>
                {
                    left.push(format!("{} is not understood, and the page's folder changes", at()));
                    continue;
                }
                _ => continue,
            };
            let file = FileMove { before: &file, after: if file == self.from { self.to } else { &file } };
            match self.link(page, bytes, link, file) {
                Ok(instead) => edits.extend(instead.map(|text| TextEdit::new(link.dest_span.clone(), text))),
                Err(why) => left.push(format!("{} leads to `{}`; {why}", at(), file.after)),
            }
        }
        let imports = imports(self.site, page, bytes);
        for import in imports.into_iter().filter(|import| changes_folder && import.is_relative()) {
            let written = match joined(folder(self.from), &import.target) {
                Some(file) => imported(&import, self.to, &file),
                None => from_outside(&import.target, folder(self.from), folder(self.to)),
            };
            edits.push(TextEdit::new(import.range.clone(), escaped_like(bytes, import.range, written)));
        }
        in_order(edits)
    }
}

/// The number of folders that a relative path goes up, inside a reStructuredText role or not.
fn ups(target: &str) -> usize {
    let (path, _) = parts(target);
    path.matches("../").count() + usize::from(path.ends_with(".."))
}

/// Adds the `./` that the old link had, if the link still leads to the same file.
fn dotted_like(before: &str, link: String, leads: impl Fn(&str) -> bool) -> String {
    let dotted = format!("./{link}");
    let can_have = before.starts_with("./") && !link.starts_with(['/', '#', '?', '.']) && !link.contains(':');
    if can_have && leads(&dotted) { dotted } else { link }
}

/// Whether a link is relative to the page's folder, as far as its text tells.
fn is_relative_path(target: &str) -> bool {
    !is_external(target) && !target.starts_with(['/', '#', '?', '{', '<', '@', '~'])
}

/// The path of an include, with a leading dot if one is required or was there before.
fn imported(import: &Import, from: &str, file: &str) -> String {
    let path = retargeted_link(&import.target, from, file, None);
    let is_dotted = import.begins_with_dot || import.target.starts_with("./");
    let is_path = ["./", "../", "/"].iter().any(|start| path.starts_with(start));
    if !is_dotted || is_path { path } else { format!("./{path}") }
}

/// A path that leads out of the docs root, as it is from another folder.
fn from_outside(target: &str, before: &str, after: &str) -> String {
    let depth = |folder: &str| folder.split('/').filter(|part| !part.is_empty()).count();
    let path = docent_markdown::rebased(before, target);
    format!("{}{path}", "../".repeat(depth(after)))
}

/// Writes `_` as `\_` in a file's name if the page does so.
fn escaped_like(bytes: &[u8], range: std::ops::Range<usize>, path: String) -> String {
    let before = String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned();
    let is_escaped = before.rsplit('/').next().is_some_and(|name| name.contains("\\_"));
    match path.rsplit_once('/') {
        Some((folder, name)) if is_escaped => format!("{folder}/{}", name.replace('_', "\\_")),
        None if is_escaped => path.replace('_', "\\_"),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{after, move_page, site, text, touched};

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
                "See [other](./other), [home](/), [me](/guides/retries#x) and [there](#x).\n\n![i](../i.png)\n",
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
    fn links_in_restructured_text_follow_a_moved_page() {
        let tree = site(&[
            ("docs/conf.py", "project = 'x'\n"),
            (
                "docs/index.rst",
                "Home\n====\n\n.. toctree::\n\n   a\n   The b <guide/b>\n\n:doc:`guide/b`, :doc:`words\n</guide/b>`, :ref:`label`, `x <guide/b.html#y>`_, ``guide/b``.\n",
            ),
            ("docs/a.rst", "A\n=\n"),
            (
                "docs/guide/b.rst",
                ".. _label:\n\nB\n=\n\n:doc:`../a`, :doc:`/a`, self_\n\n.. image:: ../i.png\n\n.. _self: b.html\n.. toctree::\n\n   c\n",
            ),
            ("docs/guide/c.rst", "C\n=\n\n:doc:`b`\n"),
            ("docs/i.png", ""),
        ]);
        let moved = move_page(&tree, "docs/guide/b", "docs/reference/deep/").expect("moved");
        assert_eq!(
            touched(&moved),
            ["docs/guide/b.rst", "docs/guide/c.rst", "docs/index.rst", "docs/reference/deep/b.rst"]
        );
        let tree = after(&tree, &moved);
        assert_eq!(
            text(&tree, "docs/index.rst"),
            "Home\n====\n\n.. toctree::\n\n   a\n   The b <reference/deep/b>\n\n:doc:`reference/deep/b`, :doc:`words\n</reference/deep/b>`, :ref:`label`, `x <reference/deep/b.html#y>`_, ``guide/b``.\n"
        );
        assert_eq!(
            text(&tree, "docs/reference/deep/b.rst"),
            ".. _label:\n\nB\n=\n\n:doc:`../../a`, :doc:`/a`, self_\n\n.. image:: ../../i.png\n\n.. _self: b.html\n.. toctree::\n\n   ../../guide/c\n"
        );
        assert_eq!(text(&tree, "docs/guide/c.rst"), "C\n=\n\n:doc:`../reference/deep/b`\n");
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
    fn references_of_hugo_in_text_and_attributes_follow() {
        let page = "1 {{< relref \"b\" >}} `{{< relref \"b\" >}}`\n2 [b]({{< relref b >}})\n3 <a href=\"{{< relref \"b\" >}}\">b</a>\n";
        let tree = site(&[
            ("hugo.toml", "baseURL = \"https://x.io/\"\n"),
            ("content/docs/a.md", page),
            ("content/docs/b.md", "# B\n"),
        ]);
        let tree = after(&tree, &move_page(&tree, "content/docs/b.md", "content/docs/c/bb.md").expect("moved"));
        assert_eq!(
            text(&tree, "content/docs/a.md"),
            "1 {{< relref \"c/bb\" >}} `{{< relref \"b\" >}}`\n2 [b]({{< relref \"c/bb\" >}})\n3 <a href=\"{{< relref \"c/bb\" >}}\">b</a>\n"
        );
    }

    #[test]
    fn links_in_front_matter_follow() {
        let tree = site(&[
            (".vitepress/config.ts", "export default {}\n"),
            ("a.md", "# A\n"),
            ("index.md", "---\nhero:\n  actions:\n    - text: A\n      link: /a\nprev:\n  link: './a' \n---\n"),
        ]);
        let tree = after(&tree, &move_page(&tree, "a.md", "g/b.md").expect("moved"));
        let index = text(&tree, "index.md");
        assert!(index.contains("      link: /g/b\n") && index.contains("  link: './g/b' \n"), "{index}");
    }

    #[test]
    fn an_import_from_outside_of_the_docs_root_follows() {
        let tree = site(&[
            ("docusaurus.config.js", "module.exports = {}\n"),
            (
                "docs/a.mdx",
                "import X from '../../x.js';\nimport Y from '!!raw-loader!./y.js';\n\n<img src={require('./z.png').default}/>\n",
            ),
            ("docs/y.js", ""),
            ("docs/z.png", ""),
        ]);
        let tree = after(&tree, &move_page(&tree, "docs/a.mdx", "docs/b/c.mdx").expect("moved"));
        assert_eq!(
            text(&tree, "docs/b/c.mdx"),
            "import X from '../../../x.js';\nimport Y from '!!raw-loader!../y.js';\n\n<img src={require('../z.png').default}/>\n"
        );
    }

    #[test]
    fn an_import_from_a_hidden_folder_stays_a_path() {
        let tree = site(&[
            (".vitepress/config.ts", "export default {}\n"),
            (".vitepress/theme/A.vue", "<template></template>\n"),
            ("deep/b.md", "<script setup>\nimport A from '../.vitepress/theme/A.vue'\n</script>\n\n# B\n"),
        ]);
        let moved = after(&tree, &move_page(&tree, "deep/b.md", "b.md").expect("moved"));
        assert!(text(&moved, "b.md").contains("import A from './.vitepress/theme/A.vue'\n"));
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
    fn the_old_address_is_an_alias_where_the_generator_reads_them() {
        let tree = site(&[
            ("hugo.toml", "defaultContentLanguage = \"en\"\n[languages.en]\n[languages.fr]\n"),
            ("content/docs/a.md", "---\ntitle: A\naliases: [/older/]\n---\nText.\n"),
            ("content/docs/b.fr.md", "---\ntitle: B\n---\n[a](/docs/a/)\n"),
            ("content/docs/c.md", "---\ntitle: C\nurl: /chosen/\n---\n"),
        ]);
        let moved = move_page(&tree, "content/docs/a.md", "content/guide/a.md").expect("moved");
        assert!(moved.summary.ends_with("and a redirect followed"), "{}", moved.summary);
        let tree = after(&tree, &moved);
        assert_eq!(text(&tree, "content/guide/a.md"), "---\ntitle: A\naliases: [/older/, /docs/a/]\n---\nText.\n");
        let moved = move_page(&tree, "content/docs/b.fr.md", "content/guide/b.fr.md").expect("moved");
        let tree = after(&tree, &moved);
        assert!(text(&tree, "content/guide/b.fr.md").starts_with("---\ntitle: B\naliases:\n  - /docs/b/\n---\n"));
        let back = move_page(&tree, "content/guide/b.fr.md", "content/docs/b.fr.md").expect("moved");
        let back = after(&tree, &back);
        assert!(text(&back, "content/docs/b.fr.md").starts_with("---\ntitle: B\naliases:\n  - /guide/b/\n---\n"));
        let bundle = site(&[("hugo.toml", ""), ("content/docs/leaf/index.md", "")]);
        let to = "content/docs/leaf/deep/index.md";
        let moved = move_page(&bundle, "content/docs/leaf/index.md", to).expect("moved");
        assert_eq!(touched(&moved), [to, "content/docs/leaf/index.md"]);
        let deleted = crate::delete_page(&tree, "content/guide/a.md").expect("deleted");
        assert!(deleted.left.iter().any(|left| left.starts_with("`/docs/a/` redirected to it")), "{:?}", deleted.left);
        let moved = move_page(&tree, "content/docs/c.md", "content/guide/c.md").expect("moved");
        let tree = after(&tree, &moved);
        assert_eq!(text(&tree, "content/guide/c.md"), "---\ntitle: C\nurl: /chosen/\n---\n");
    }

    #[test]
    fn redirects_that_a_program_keeps_are_told() {
        let tree = site(&[
            (
                "docusaurus.config.js",
                "export default { plugins: ['@docusaurus/plugin-client-redirects'], presets: [['classic', {}]] };",
            ),
            ("docs/a.md", "x\n"),
        ]);
        let moved = move_page(&tree, "docs/a.md", "docs/b.md").expect("moved");
        assert!(moved.left.iter().any(|left| left.contains("one from `/docs/a` to `/docs/b`")), "{:?}", moved.left);
    }

    #[test]
    fn the_same_page_in_another_language_is_told() {
        let tree = site(&[
            (
                ".vitepress/config.ts",
                "export default { locales: { root: { lang: 'en-US' }, zh: { lang: 'zh-Hans' } } }",
            ),
            ("guide/a.md", ""),
            ("zh/guide/a.md", ""),
            ("zh/guide/b.md", ""),
        ]);
        for (from, to, other) in
            [("guide/a.md", "guide/c.md", "zh/guide/a.md"), ("zh/guide/a.md", "zh/c.md", "guide/a.md")]
        {
            let told = format!("`{other}` is the same page in another language, and stays");
            assert!(move_page(&tree, from, to).expect("moved").left.contains(&told), "{from}");
            assert!(crate::delete_page(&tree, from).expect("deleted").left.contains(&told), "{from}");
        }
        assert!(
            !move_page(&tree, "zh/guide/b.md", "zh/c.md")
                .expect("moved")
                .left
                .iter()
                .any(|left| left.contains("language"))
        );
    }

    #[test]
    fn names_in_asciidoc_follow_with_the_navigation_and_an_alias() {
        let tree = site(&[
            ("antora.yml", "name: tool\nversion: ~\nstart_page: start.adoc\nnav:\n- modules/ROOT/nav.adoc\n"),
            ("modules/ROOT/nav.adoc", "* xref:start.adoc[]\n** xref:b.adoc[Words]\n"),
            ("modules/ROOT/pages/start.adoc", "= Start\n\nxref:b.adoc#x[B], <<b.adoc#,b>>, `xref:./b.adoc[]`.\n"),
            ("modules/ROOT/pages/b.adoc", "= B\n\nxref:./start.adoc[] and image:c.png[]\n"),
            ("modules/ROOT/images/c.png", ""),
            ("modules/m/pages/c.adoc", "= C\n\nxref:ROOT:b.adoc[]\n"),
        ]);
        let moved = move_page(&tree, "modules/ROOT/pages/b.adoc", "modules/m/pages/deep/b.adoc").unwrap();
        assert_eq!(moved.left, Vec::<String>::new());
        let tree = after(&tree, &moved);
        let text = |file: &str| text(&tree, file);
        assert_eq!(text("modules/ROOT/nav.adoc"), "* xref:start.adoc[]\n** xref:m:deep/b.adoc[Words]\n");
        assert_eq!(
            text("modules/ROOT/pages/start.adoc"),
            "= Start\n\nxref:m:deep/b.adoc#x[B], <<m:deep/b.adoc#,b>>, `xref:m:deep/b.adoc[]`.\n"
        );
        assert_eq!(text("modules/m/pages/c.adoc"), "= C\n\nxref:m:deep/b.adoc[]\n");
        assert_eq!(
            text("modules/m/pages/deep/b.adoc"),
            "= B\n:page-aliases: ROOT:b.adoc\n\nxref:ROOT:start.adoc[] and image:ROOT:c.png[]\n"
        );
        let back = move_page(&tree, "modules/m/pages/deep/b.adoc", "modules/ROOT/pages/b.adoc").unwrap();
        assert_eq!(back.left, Vec::<String>::new());
        let written = crate::sample::text(&after(&tree, &back), "modules/ROOT/pages/b.adoc");
        assert!(written.starts_with("= B\n:page-aliases: m:deep/b.adoc\n\n"), "{written}");
        let moved = move_page(&tree, "modules/ROOT/pages/start.adoc", "modules/ROOT/pages/first.adoc").unwrap();
        let tree = after(&tree, &moved);
        assert!(crate::sample::text(&tree, "antora.yml").contains("start_page: first.adoc\n"));
    }

    #[test]
    fn impossible_moves_are_refused_with_the_reason() {
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
