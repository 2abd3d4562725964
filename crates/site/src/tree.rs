//! The files of a docs tree.

use std::collections::BTreeMap;

use docent_markdown::text_of;

/// Read access to a docs tree at one moment. Paths are relative to the docs root, `/`-separated, without a leading
/// slash.
///
/// A docs root narrows the pages, not the sight: a site may be configured above it. What the repository holds outside of the
/// docs root has paths that begin with `../`, as many as lead out of it, and can be read by them.
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

    /// The docs root's own path in its repository, `""` when it is all of it.
    fn root(&self) -> &str {
        ""
    }

    /// Every file of the repository outside of the docs root, in any order.
    fn paths_outside(&self) -> Vec<String> {
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

/// A tree with other files on top of it.
#[derive(Clone)]
pub struct ChangedTree<'a> {
    pub below: &'a dyn Tree,
    /// Files that were written, and those that are gone.
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
        let kept = self.below.paths().into_iter().filter(|path| !self.files.contains_key(path));
        let new = self.files.iter().filter(|(path, bytes)| bytes.is_some() && !path.starts_with("../"));
        kept.chain(new.map(|(path, _)| path.clone())).collect()
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

/// A path as seen from a folder, both relative to the docs root `root` and perhaps outside of it; `None` when it leads out
/// of the repository. What is inside comes out without `../`.
pub(crate) fn joined_in(root: &str, folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
    let above = parts.len();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let shared = parts.iter().zip(root.split('/')).take_while(|(a, b)| **a == *b).count().min(above);
    let mut out = vec![".."; above - shared];
    out.extend(&parts[shared..]);
    Some(out.join("/"))
}

/// A path of the folder a site is configured in, as seen from the docs root.
pub(crate) fn at_home(tree: &dyn Tree, home: &str, path: &str) -> String {
    joined_in(tree.root(), home, path).unwrap_or_else(|| path.to_owned())
}

/// A path relative to the repository as one relative to the docs root: `docs/a.md` is `a.md` in `docs`, and `../mkdocs.yml` is
/// what `mkdocs.yml` is called there.
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
