//! The files of a docs tree.

use std::collections::BTreeMap;

use docent_markdown::{joined, text_of};

use crate::link_target::relative_path;

/// Read access to a docs tree at one moment. Paths are relative to the docs root, `/`-separated, without a leading
/// slash.
///
/// A docs root limits the pages, not the readable files: a site may be configured above it. Files of the repository
/// outside the docs root have paths that begin with one `../` per level up, and can be read by them.
pub trait Tree {
    /// Every file inside of the docs root, in any order.
    fn paths(&self) -> Vec<String>;

    /// A file's bytes; `None` when there is no such file.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// A file as text; `None` when there is no such file.
    fn text(&self, path: &str) -> Option<String> {
        let bytes = self.read(path)?;
        Some(String::from_utf8(bytes).unwrap_or_else(|error| text_of(error.as_bytes()).into_owned()))
    }

    /// The path of the docs root in its repository, `""` when it is the whole repository.
    fn root(&self) -> &str {
        ""
    }

    /// Every file of the repository outside of the docs root, in any order.
    fn paths_outside(&self) -> Vec<String> {
        Vec::new()
    }

    /// Every file of the repository, in any order.
    fn all_paths(&self) -> Vec<String> {
        self.paths().into_iter().chain(self.paths_outside()).collect()
    }

    /// The symbolic links and submodules of the repository: something is there, and it is not read.
    fn unread(&self) -> Vec<String> {
        Vec::new()
    }

    /// The files of the repository to which symbolic links inside of the docs root lead, by their paths through the links.
    /// A link in a linked folder is one of them, and what it leads to is not.
    fn linked(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Tree for BTreeMap<String, Vec<u8>> {
    fn paths(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.get(path).cloned()
    }
}

/// A tree with changed files on top of it.
#[derive(Clone)]
pub struct ChangedTree<'a> {
    pub below: &'a dyn Tree,
    /// New contents of changed files; `None` for deleted files.
    pub files: BTreeMap<String, Option<Vec<u8>>>,
}

impl<'a> ChangedTree<'a> {
    pub fn new(below: &'a dyn Tree) -> Self {
        Self { below, files: BTreeMap::new() }
    }
}

impl std::fmt::Debug for ChangedTree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChangedTree").field("files", &self.files.keys()).finish_non_exhaustive()
    }
}

impl Tree for ChangedTree<'_> {
    fn paths(&self) -> Vec<String> {
        let unchanged = self.below.paths().into_iter().filter(|path| !self.files.contains_key(path));
        let new = self.files.iter().filter(|(path, bytes)| bytes.is_some() && !path.starts_with("../"));
        unchanged.chain(new.map(|(path, _)| path.clone())).collect()
    }

    fn unread(&self) -> Vec<String> {
        self.below.unread()
    }

    fn linked(&self) -> Vec<String> {
        self.below.linked()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned().unwrap_or_else(|| self.below.read(path))
    }

    fn root(&self) -> &str {
        self.below.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.below.paths_outside()
    }
}

/// Joins a path to a folder; both are relative to the docs root `root` and may be outside of it. `None` when the result
/// leads out of the repository. A result inside the docs root has no `../`.
pub(crate) fn joined_in(root: &str, folder: &str, path: &str) -> Option<String> {
    let inside = relative_path(root, &joined(root, &format!("{folder}/{path}"))?);
    Some(if inside == "." { String::new() } else { inside })
}

/// Converts a path relative to the folder of the site's configuration to one relative to the docs root.
pub(crate) fn from_config_folder(tree: &dyn Tree, home: &str, path: &str) -> String {
    joined_in(tree.root(), home, path).unwrap_or_else(|| path.to_owned())
}

/// Converts a path relative to the repository to one relative to the docs root: with the root `docs`, `docs/a.md`
/// becomes `a.md` and `mkdocs.yml` becomes `../mkdocs.yml`.
pub fn from_root(root: &str, path: &str) -> String {
    let up = "../".repeat(root.split('/').filter(|part| !part.is_empty()).count());
    joined_in(root, &up, path).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_of_the_root_begin_with_dots() {
        for (root, folder, path, expected) in [
            ("", "a", "../b.md", Some("b.md")),
            ("", "a", "../../b.md", None),
            ("docs", "", "../mkdocs.yml", Some("../mkdocs.yml")),
            ("docs", "..", "docs", Some("")),
            ("docs", "..", "docs/a.md", Some("a.md")),
            ("docs", "..", "../x", None),
            ("web/docs", "..", "blog/a.md", Some("../blog/a.md")),
            ("web/docs", "../..", "web", Some("..")),
            ("web/docs", "a/b", "../../../../x.md", Some("../../x.md")),
            ("docs", "", "a/./b//c", Some("a/b/c")),
        ] {
            assert_eq!(joined_in(root, folder, path).as_deref(), expected, "{root} {folder} {path}");
        }
        assert_eq!(from_root("docs", "docs/a.md"), "a.md");
        assert_eq!(from_root("web/docs", "web/x.json"), "../x.json");
        assert_eq!(from_root("", "a.md"), "a.md");
    }
}
