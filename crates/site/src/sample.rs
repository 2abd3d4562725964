//! Small sites for the tests.

use std::collections::BTreeMap;

use crate::layout::Layout;
use crate::link_target::{LinkRequest, LinkSyntax};
use crate::model::{Site, Target};
use crate::read_file::read_file;
use crate::tree::{Tree, from_root};

pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A tree from pairs of path and text.
pub(crate) fn site(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// Site path, groups and navigation title of a parsed page.
fn placed(tree: &Files, file: &str) -> (String, String, Option<String>) {
    let layout = Layout::read(tree);
    let read = read_file(&layout, file, &tree[file], tree);
    let [page] = read.pages.as_slice() else { panic!("{file} makes {} pages", read.pages.len()) };
    (page.place.site_path.clone(), page.place.groups.join("/"), page.place.title.clone())
}

pub(crate) fn page(file: &str) -> Target {
    Target::Page { file: file.to_owned(), anchor: None }
}

pub(crate) fn missing(path: &str) -> Target {
    Target::Missing { path: Some(path.to_owned()), anchor: None }
}

pub(crate) fn asset(file: &str) -> Target {
    Target::Asset { file: file.to_owned() }
}

/// Asserts that a link that is written like another one leads to its file.
#[track_caller]
pub(crate) fn assert_link_leads(site: &Site, from: &str, to: &str, like: &str, syntax: LinkSyntax) {
    let written = site.link(&LinkRequest { from, to, anchor: None, like, syntax });
    let found = match site.resolve_in(from, &written, syntax) {
        Target::Page { file, .. } | Target::Asset { file } => file,
        other => format!("{other:?}"),
    };
    assert_eq!(found, to, "{written} for {like:?} in {from}");
}

/// Asserts the site path, the groups and the navigation title of files.
#[track_caller]
pub(crate) fn assert_places(tree: &Files, table: &[(&str, &str, &str, Option<&str>)]) {
    for (file, path, groups, title) in table {
        let expected = ((*path).to_owned(), (*groups).to_owned(), title.map(str::to_owned));
        assert_eq!(placed(tree, file), expected, "{file}");
    }
}

/// The problems of a configuration.
pub(crate) fn messages(layout: &Layout) -> Vec<&str> {
    layout.problems().iter().map(|problem| problem.problem.message.as_str()).collect()
}

/// The names of the sites under `tests/sites`.
pub(crate) fn built_sites() -> Vec<String> {
    let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sites");
    let entries =
        std::fs::read_dir(home).expect("the folder of sites").map(|entry| entry.expect("an entry of the folder"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    folders.map(|folder| folder.file_name().into_string().expect("a name in UTF-8")).collect()
}

/// A site under `tests/sites`, whose script builds it with its own generator.
pub(crate) fn built_site(name: &str) -> Files {
    let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/sites").join(name);
    let (mut files, mut folders) = (Files::new(), vec![home.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder of a site") {
            let path = entry.expect("an entry of the folder").path();
            if path.is_dir() {
                // Packages installed by npm are not part of the site.
                if !path.ends_with("node_modules") {
                    folders.push(path);
                }
                continue;
            }
            let inside = path.strip_prefix(&home).ok().and_then(std::path::Path::to_str).expect("a path in UTF-8");
            files.insert(inside.to_owned(), std::fs::read(&path).expect("the file can be read"));
        }
    }
    files
}

/// A repository whose docs root is one of its folders.
pub(crate) struct DocsRoot {
    root: String,
    /// The files by their paths relative to the docs root.
    files: Files,
}

pub(crate) fn as_docs_root(root: &str, files: Files) -> DocsRoot {
    let files = files.into_iter().map(|(path, bytes)| (from_root(root, &path), bytes)).collect();
    DocsRoot { root: root.to_owned(), files }
}

impl Tree for DocsRoot {
    fn paths(&self) -> Vec<String> {
        self.files.keys().filter(|path| !path.starts_with("../")).cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned()
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        self.files.keys().filter(|path| path.starts_with("../")).cloned().collect()
    }
}
