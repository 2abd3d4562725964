//! A whole docs tree.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use docent_markdown::{Format, Page, is_page, parse_as};

use crate::layout::Layout;
use crate::navigation::Navigation;

/// Read access to a docs tree at one moment. Paths are relative to the docs root, `/`-separated, without a leading
/// slash.
pub trait Tree {
    /// Every file, in any order.
    fn paths(&self) -> Vec<String>;
    /// A file's bytes; `None` when there is no such file.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
}

impl Tree for BTreeMap<String, Vec<u8>> {
    fn paths(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.get(path).cloned()
    }
}

/// A docs tree as a site: which page is served where.
#[derive(Debug, Clone)]
pub struct Site {
    files: BTreeSet<String>,
    pages: BTreeMap<String, Page>,
    served: HashMap<String, String>,
    paths: HashMap<String, String>,
    navigation: Option<Navigation>,
    layout: Layout,
}

impl Site {
    /// Reads every page and the navigation of a tree.
    pub fn read(tree: &dyn Tree) -> Self {
        let paths = tree.paths();
        let layout = Layout::read_paths(tree, &paths);
        let files: BTreeSet<String> = paths.into_iter().collect();
        let mut pages = BTreeMap::new();
        let mut served = HashMap::new();
        let mut paths = HashMap::new();
        for file in files.iter().filter(|file| is_page(file) && layout.holds_pages(file)) {
            let Some(bytes) = tree.read(file) else { continue };
            let page = parse_as(file, &bytes, Format::of(file), layout.anchors());
            let path = layout.place_of(file, &page.front_matter).site_path;
            // Of an index and a README in one folder, the index is what is served.
            match served.entry(path.clone()) {
                Entry::Vacant(free) => {
                    free.insert(file.clone());
                }
                Entry::Occupied(mut taken) if is_readme(taken.get()) && !is_readme(file) => {
                    taken.insert(file.clone());
                }
                Entry::Occupied(_) => {}
            }
            paths.insert(file.clone(), path);
            pages.insert(file.clone(), page);
        }
        let navigation =
            Navigation::FILES.iter().find_map(|file| tree.read(file).map(|bytes| Navigation::parse(file, &bytes)));
        Self { files, pages, served, paths, navigation, layout }
    }

    /// All pages in order of file path.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.values()
    }

    /// The page in a file.
    pub fn page(&self, file: &str) -> Option<&Page> {
        self.pages.get(file)
    }

    /// The page served at a site path; leading and trailing slashes do not matter.
    pub fn page_at(&self, site_path: &str) -> Option<&Page> {
        self.served.get(site_path.trim_matches('/')).and_then(|file| self.pages.get(file))
    }

    /// Where a page's file is served, without a leading slash.
    pub fn path_of(&self, file: &str) -> Option<&str> {
        self.paths.get(file).map(String::as_str)
    }

    /// Whether the tree holds this very file, a page or not.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Every file of the tree in order, pages and not.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// What the configuration of the tree says.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn navigation(&self) -> Option<&Navigation> {
        self.navigation.as_ref()
    }
}

fn is_readme(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.to_ascii_lowercase().starts_with("readme."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_a_site() {
        let tree: BTreeMap<String, Vec<u8>> = [
            ("README.md", "# Read me"),
            ("index.mdx", "# Home"),
            ("guides/a.md", "---\nslug: b\n---\n# A"),
            ("guides/README.md", "# Guides"),
            ("docs.json", r#"{"navigation": ["index", "guides/b"]}"#),
            ("logo.svg", "<svg/>"),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .collect();
        let site = Site::read(&tree);
        let title = |path: &str| site.page_at(path).and_then(|page| page.title.clone());
        assert_eq!(title("/").as_deref(), Some("Home"));
        assert_eq!(title("guides/b/").as_deref(), Some("A"));
        assert_eq!(title("guides/a"), None);
        assert_eq!(title("guides").as_deref(), Some("Guides"));
        assert_eq!(site.path_of("guides/a.md"), Some("guides/b"));
        assert_eq!(site.pages().count(), 4);
        assert!(site.has_file("logo.svg"));
        assert_eq!(site.navigation().map(|navigation| navigation.entries.len()), Some(2));
    }
}
