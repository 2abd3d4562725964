//! Navigation files in folders of pages (`.nav.yml`, `.pages`): their entries, and where an entry is needed so that the
//! navigation shows a page.

use std::collections::BTreeMap;

use docent_markdown::{folder, text_of};

use super::{Contents, EntryNaming, FileEdit, lines, page_of, quoted, relative_file_path};
use crate::generators::mkdocs::folders::{FolderFile, FolderItem, FolderNavigation, FolderPlugin, Unnamed};
use crate::layout::below;
use crate::model::Site;
use crate::paths::path_in;
use crate::tree::Tree;

const KEYS: &[&str] = &["nav:", "arrange:"];

/// The navigation files of a site that orders its pages by folder.
#[derive(Debug)]
pub(super) struct FolderFiles {
    plugin: FolderPlugin,
    /// The folder that contains all pages.
    docs: String,
    /// Navigation files by folder.
    files: BTreeMap<String, FolderListing>,
}

#[derive(Debug)]
struct FolderListing {
    file: String,
    text: String,
    contents: FolderFile,
    unnamed: Unnamed,
}

/// Whether a page needs an entry to be in the navigation.
pub(super) enum NeededEntry {
    /// No entry is needed.
    None,
    /// The edit that adds the entry.
    Added(FileEdit),
    /// Why no entry is added.
    NotPossible(String),
}

impl FolderFiles {
    pub(super) fn read(tree: &dyn Tree, site: &Site) -> Option<Self> {
        let options = &site.layout().options.mkdocs;
        let navigation = options.folder_navigation.as_ref()?;
        let FolderNavigation { plugin, name } = navigation;
        let is_inside =
            |file: &&str| below(folder(file), name) == **file && path_in(&options.docs, folder(file)).is_some();
        let listing = |file: &str| {
            let bytes = tree.read(file)?;
            let contents = navigation.read(&bytes);
            let unnamed = contents.unnamed();
            let listing =
                FolderListing { file: file.to_owned(), text: text_of(&bytes).into_owned(), contents, unnamed };
            Some((folder(file).to_owned(), listing))
        };
        let files = site.all_files().filter(is_inside).filter_map(listing).collect();
        Some(Self { plugin: *plugin, docs: options.docs.clone(), files })
    }

    /// The entries that can be edited.
    pub(super) fn contents(&self, tree: &dyn Tree, site: &Site) -> Vec<Contents> {
        let page = |base: &str, name: &str| self.page(site, base, name);
        self.files
            .iter()
            .filter_map(|(base, listing)| lines::list(tree, site, &listing.file, base, KEYS, &page))
            .collect()
    }

    /// The page that a name in a folder refers to: a page, or the only page in the folder of that name, because the
    /// name becomes dangling without that page.
    fn page(&self, site: &Site, base: &str, name: &str) -> Option<(String, EntryNaming)> {
        let name = name.trim_end_matches('/');
        let is_child = self.plugin == FolderPlugin::AwesomePages;
        if name.split('/').any(|part| part == ".." || part.is_empty()) || is_child && name.contains('/') {
            return None;
        }
        let naming = if is_child { EntryNaming::Child } else { EntryNaming::Below };
        let path = below(base, name);
        if let Some(page) = page_of(site, Some(path.clone())) {
            return Some((page, naming));
        }
        let inside = format!("{path}/");
        let mut pages = site.files().filter(|file| file.starts_with(&inside) && site.address(file).is_some());
        let only = pages.next().filter(|_| pages.next().is_none())?;
        Some((only.to_owned(), naming))
    }

    /// Messages about files that name a page in a form that is not edited here, a sentence each.
    pub(super) fn unedited(&self, site: &Site, contents: &[Contents], page: &str) -> Vec<String> {
        let mut manual_steps = Vec::new();
        for (base, listing) in &self.files {
            let names = |item: &&&FolderItem| matches!(item, FolderItem::Name { name, .. } if self.page(site, base, name).is_some_and(|(of, _)| of == page));
            let all = listing.contents.all();
            let own = contents.iter().filter(|contents| contents.file == listing.file);
            let edited = own.flat_map(|contents| &contents.entries).filter(|entry| entry.page == page).count();
            if all.iter().filter(names).count() > edited {
                manual_steps.push(format!("{} names it in a form that is not edited here", listing.file));
            }
        }
        manual_steps
    }

    /// Whether a glob of the folder's file matches the new name of an entry and not the old one.
    pub(super) fn is_shown_now(&self, base: &str, before: &str, now: &str) -> bool {
        let shows = |name: &str| self.files.get(base).is_some_and(|listing| listing.unnamed.globs.is_match(name));
        shows(now) && !shows(before)
    }

    /// The entry that makes the navigation show a page, if one is needed. `from` is the path of the page before the
    /// move; `title` is already written as YAML.
    pub(super) fn show(&self, site: &Site, page: &str, from: Option<&str>, title: Option<&str>) -> NeededEntry {
        if path_in(&self.docs, folder(page)).is_none() {
            return NeededEntry::None;
        }
        let Some((at, child, is_clear)) = self.missing(page) else { return NeededEntry::None };
        let Some(listing) = self.files.get(at) else { return NeededEntry::None };
        let not_possible =
            |why: &str| NeededEntry::NotPossible(format!("{} does not name `{child}`{why}", listing.file));
        if !is_clear {
            return not_possible(", and holds patterns that are not understood");
        }
        let inside = format!("{child}/");
        let has_others = site.files().any(|file| file.starts_with(&inside) && Some(file) != from);
        if child != page && has_others {
            return not_possible(", so that the page is not in the navigation");
        }
        match listing.with(relative_file_path(at, &child).as_str(), title) {
            Some(edit) => NeededEntry::Added(edit),
            None => not_possible(", and is yours to edit"),
        }
    }

    /// Whether the navigation shows a page that no entry names.
    pub(super) fn shows(&self, page: &str) -> bool {
        path_in(&self.docs, folder(page)).is_some() && self.missing(page).is_none()
    }

    /// The folder whose navigation file lacks an entry for a page or for a folder around it, the path that the entry
    /// should name, and whether all patterns of the file are understood.
    fn missing<'p>(&self, page: &'p str) -> Option<(&'p str, String, bool)> {
        let mut child = page;
        loop {
            let at = folder(child);
            if let Some(listing) = self.files.get(at) {
                let own = relative_file_path(at, child);
                let names = |path: &str| {
                    let is_name = |item: &&FolderItem| matches!(item, FolderItem::Name { name, .. } if name.trim_end_matches('/') == path);
                    listing.contents.all().iter().any(is_name) || listing.unnamed.globs.is_match(path)
                };
                if self.plugin == FolderPlugin::AwesomeNav && names(&relative_file_path(at, page)) {
                    return None;
                }
                if !listing.unnamed.all && !names(&own) {
                    return Some((at, child.to_owned(), !listing.unnamed.unclear));
                }
            }
            if at == self.docs {
                return None;
            }
            child = at;
        }
    }
}

impl FolderListing {
    /// Appends an entry to the list in the file.
    fn with(&self, name: &str, title: Option<&str>) -> Option<FileEdit> {
        let section = KEYS.iter().find_map(|key| lines::section(&self.text, key))?;
        let (indent, end) = lines::end_of_list(&self.text, section)?;
        let is_plain = |name: &str| {
            name.starts_with(char::is_alphanumeric) && name.chars().all(|c| c.is_alphanumeric() || "/._- ".contains(c))
        };
        let name = if is_plain(name) { name.to_owned() } else { quoted(name) };
        let title = title.map_or(String::new(), |title| format!("{title}: "));
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let line = format!("{}- {title}{name}", " ".repeat(indent));
        let text = match self.text[..end].ends_with('\n') {
            true => format!("{line}{newline}"),
            false => format!("{newline}{line}"),
        };
        Some(FileEdit { file: self.file.clone(), range: end..end, text })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NavigationEdits, NavigationFiles};
    use super::*;
    use crate::sample::{Files, site};

    const NAV: &str = "site_name: T\nplugins:\n  - awesome-nav\n";
    const PAGES: &str = "site_name: T\nplugins:\n  - search\n  - awesome-pages:\n      filename: .order.yml\n";

    /// The changed navigation files after the edits, and the messages to the user.
    fn result_of(tree: &Files, change: impl Fn(&NavigationFiles<'_>) -> NavigationEdits) -> String {
        let site = Site::read(tree);
        let edits = change(&NavigationFiles::of(tree, &site));
        let mut result = String::new();
        for (file, edits) in &edits.files {
            let mut text = String::from_utf8(tree[file].clone()).expect("text");
            for (range, new) in edits.iter().rev() {
                text.replace_range(range.clone(), new);
            }
            result.push_str(&format!("{file}:\n{text}"));
        }
        result.extend(edits.manual_steps.iter().map(|step| format!("manual step: {step}\n")));
        result
    }

    fn awesome_nav() -> Files {
        site(&[
            ("mkdocs.yml", NAV),
            ("docs/.nav.yml", "nav:\n  - Home: index.md\n  - guides\n  - api\n"),
            ("docs/index.md", ""),
            (
                "docs/guides/.nav.yml",
                "title: Guides\nnav:\n- First: a.md # keep\n- Deep:\n  - b.md\n  - sub/c.md\n- d.md\n",
            ),
            ("docs/guides/a.md", ""),
            ("docs/guides/b.md", ""),
            ("docs/guides/d.md", ""),
            ("docs/guides/sub/c.md", ""),
            ("docs/api/.nav.yml", "nav:\n  - x.md\n  - v*.md\n"),
            ("docs/api/x.md", ""),
            ("docs/free/y.md", ""),
            ("docs/free/z.md", ""),
        ])
    }

    #[test]
    fn pages_have_the_titles_and_groups_of_the_files_in_their_folders() {
        let site = Site::read(&awesome_nav());
        let place = |file: &str| site.layout().place(file);
        assert_eq!(place("docs/guides/sub/c.md").groups, ["Guides", "Deep"]);
        assert_eq!(place("docs/guides/a.md").title.as_deref(), Some("First"));
        assert_eq!(place("docs/api/x.md").groups, ["Api"]);
        assert_eq!(place("docs/free/y.md").order, None);
    }

    #[test]
    fn files_of_another_name_have_titles_and_groups_as_well() {
        let plugin = "site_name: T\nplugins:\n  - awesome-nav:\n      filename: .order.yml\n";
        let hidden = "hide: true\nnav:\n  - y.md\n";
        let tree = site(&[
            ("mkdocs.yml", plugin),
            ("docs/.order.yml", "nav:\n  - c\n  - Part:\n    - Y: b/y.md\n  - '*'\n"),
            ("docs/b/y.md", ""),
            ("docs/c/.order.yml", "title: My C\nnav:\n  - Section:\n    - x.md\n"),
            ("docs/c/x.md", ""),
            ("docs/d/.order.yml", hidden),
            ("docs/d/y.md", ""),
            ("docs/.nav.yml", "nav:\n  - Not read: b/y.md\n"),
        ]);
        let read = Site::read(&tree);
        let place = |file: &str| read.layout().place(file);
        assert_eq!(place("docs/c/x.md").groups, ["My C", "Section"]);
        assert_eq!(
            (place("docs/b/y.md").title.as_deref(), place("docs/b/y.md").groups),
            (Some("Y"), vec!["Part".into()])
        );
        // A pattern does not show a folder that hides itself; an entry with its name does.
        assert_eq!(place("docs/d/y.md").order, None);
        let mut tree = tree;
        tree.insert("docs/.order.yml".to_owned(), b"nav:\n  - Named: d\n".to_vec());
        assert_eq!(Site::read(&tree).layout().place("docs/d/y.md").groups, ["Named"]);
    }

    #[test]
    fn an_entry_of_awesome_nav_follows_its_page() {
        let tree = awesome_nav();
        let moved = |from: &str, to: &str| result_of(&tree, |files| files.rename(from, to));
        for (from, to, expected) in [
            (
                "docs/guides/a.md",
                "docs/guides/new/a.md",
                "docs/guides/.nav.yml:\ntitle: Guides\nnav:\n- First: new/a.md # keep\n- Deep:\n  - b.md\n  - sub/c.md\n- d.md\n",
            ),
            // To a new name that no glob of the folder matches, and to one that a glob matches.
            (
                "docs/guides/a.md",
                "docs/api/a.md",
                "docs/api/.nav.yml:\nnav:\n  - x.md\n  - v*.md\n  - First: a.md\n\
                 docs/guides/.nav.yml:\ntitle: Guides\nnav:\n- Deep:\n  - b.md\n  - sub/c.md\n- d.md\n",
            ),
            (
                "docs/guides/d.md",
                "docs/api/v2.md",
                "docs/guides/.nav.yml:\ntitle: Guides\nnav:\n- First: a.md # keep\n- Deep:\n  - b.md\n  - sub/c.md\n",
            ),
            (
                "docs/guides/a.md",
                "docs/api/v3.md",
                "docs/guides/.nav.yml:\ntitle: Guides\nnav:\n- Deep:\n  - b.md\n  - sub/c.md\n- d.md\n\
                 manual step: docs/guides/.nav.yml:3 called it `First`, and it is shown without that title now\n",
            ),
            // A new folder gets an entry; an existing folder without an entry is left alone.
            (
                "docs/guides/d.md",
                "docs/new/d.md",
                "docs/.nav.yml:\nnav:\n  - Home: index.md\n  - guides\n  - api\n  - new\n\
                 docs/guides/.nav.yml:\ntitle: Guides\nnav:\n- First: a.md # keep\n- Deep:\n  - b.md\n  - sub/c.md\n",
            ),
            (
                "docs/guides/d.md",
                "docs/free/d.md",
                "docs/guides/.nav.yml:\ntitle: Guides\nnav:\n- First: a.md # keep\n- Deep:\n  - b.md\n  - sub/c.md\n\
                 manual step: docs/.nav.yml does not name `docs/free`, so that the page is not in the navigation\n",
            ),
            ("docs/free/y.md", "docs/api/y.md", ""),
        ] {
            assert_eq!(moved(from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn an_entry_of_awesome_nav_goes_with_its_page() {
        let tree = awesome_nav();
        let removed = |file: &str| result_of(&tree, |files| files.remove(file));
        assert!(removed("docs/guides/b.md").contains("- Deep:\n  - sub/c.md\n- d.md\n"));
        // Removing the last page of a folder also removes the entry of the folder.
        let gone = removed("docs/api/x.md");
        assert!(
            gone.starts_with(
                "docs/.nav.yml:\nnav:\n  - Home: index.md\n  - guides\ndocs/api/.nav.yml:\nnav:\n  - v*.md\n"
            ),
            "{gone}"
        );
        let flow = site(&[
            ("mkdocs.yml", NAV),
            ("docs/.nav.yml", "nav: [a.md, b.md]\n"),
            ("docs/a.md", ""),
            ("docs/b.md", ""),
        ]);
        for result in [
            result_of(&flow, |files| files.remove("docs/a.md")),
            result_of(&flow, |files| files.rename("docs/a.md", "docs/c.md")),
        ] {
            assert!(
                result.starts_with("manual step: docs/.nav.yml names it in a form that is not edited here\n"),
                "{result}"
            );
        }
    }

    #[test]
    fn a_new_page_is_named_where_nothing_shows_it() {
        let tree = awesome_nav();
        let added = |file: &str| result_of(&tree, |files| files.add(file, "New"));
        assert_eq!(added("docs/api/v9.md"), "");
        assert_eq!(
            added("docs/guides/sub/e.md"),
            "manual step: docs/guides/.nav.yml does not name `docs/guides/sub`, so that the page is not in the navigation\n"
        );
        assert!(added("docs/api/y.md").ends_with("  - v*.md\n  - y.md\n"));
        let files = Site::read(&tree);
        assert!(NavigationFiles::of(&tree, &files).add("docs/api/v9.md", "New").is_shown);
    }

    #[test]
    fn entries_of_awesome_pages_are_names_in_their_folder() {
        let tree = site(&[
            ("mkdocs.yml", PAGES),
            ("docs/.order.yml", "nav:\n  - index.md\n  - ... | glob=g*\n  - api\n"),
            ("docs/index.md", ""),
            ("docs/guides/.order.yml", "arrange:\n  - b.md\n  - a.md\n"),
            ("docs/guides/a.md", ""),
            ("docs/guides/b.md", ""),
            ("docs/api/only.md", ""),
        ]);
        let moved = |from: &str, to: &str| result_of(&tree, |files| files.rename(from, to));
        for (from, to, expected) in [
            ("docs/guides/b.md", "docs/guides/c.md", "docs/guides/.order.yml:\narrange:\n  - c.md\n  - a.md\n"),
            ("docs/guides/b.md", "docs/guides/new/b.md", "docs/guides/.order.yml:\narrange:\n  - new\n  - a.md\n"),
            // `arrange` shows pages without an entry, and so does the glob.
            ("docs/api/only.md", "docs/guides/only.md", "docs/.order.yml:\nnav:\n  - index.md\n  - ... | glob=g*\n"),
            (
                "docs/api/only.md",
                "docs/only.md",
                "docs/.order.yml:\nnav:\n  - index.md\n  - ... | glob=g*\n  - only.md\n",
            ),
            ("docs/index.md", "docs/guides/index.md", "docs/.order.yml:\nnav:\n  - ... | glob=g*\n  - api\n"),
        ] {
            assert_eq!(moved(from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn awesome_pages_does_not_count_where_the_configuration_names_all_pages() {
        let tree = site(&[
            ("mkdocs.yml", "nav:\n  - index.md\nplugins: [awesome-pages]\n"),
            ("docs/index.md", ""),
            ("docs/.pages", "nav:\n  - index.md\n  - ...\n"),
        ]);
        assert_eq!(
            result_of(&tree, |files| files.rename("docs/index.md", "docs/a.md")),
            "mkdocs.yml:\nnav:\n  - a.md\nplugins: [awesome-pages]\n"
        );
        let with_rest = "nav:\n  - index.md\n  - ...\nplugins: [awesome-pages]\n";
        let tree: Files = tree.into_iter().chain([("mkdocs.yml".to_owned(), with_rest.as_bytes().to_vec())]).collect();
        let both = result_of(&tree, |files| files.rename("docs/index.md", "docs/a.md"));
        assert_eq!(both.matches("- a.md\n").count(), 2, "{both}");
    }
}
