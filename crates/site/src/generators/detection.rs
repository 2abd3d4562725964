//! Detects the generator of a tree and reads the layout from its configuration.

use std::collections::{BTreeSet, HashSet};

use docent_markdown::is_page;

use super::{
    ALL, antora, current_version, docfx, gitbook, hugo, is_category, is_of_application, jekyll, mdbook, mintlify,
    mkdocs, redirects, rules, sphinx, starlight, without_configuration,
};
use crate::glob::Globs;
use crate::layout::{Generator, Layout};
use crate::paths::{below, path_in};
use crate::tree::Tree;

/// Folders in which the configuration of a site is looked for; `""` is the docs root.
const CONFIG_FOLDERS: [&str; 18] = [
    "", "docs", "website", "site", "doc", "documentation", "www", "web", "docs-site", "docs/website", "docs/site",
    "apps/docs", "apps/website", "apps/www", "packages/docs", "packages/website", "docfx", "docfx_project",
];

impl Layout {
    /// The paths of a tree whose content [`Layout::read`] uses. While their blobs are unchanged and pages are in the
    /// same folders, the layout is unchanged, too.
    pub fn files<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
        paths.filter(|path| is_configuration(path) || hugo::is_section(path)).collect()
    }

    /// Reads the configuration of a tree. Never fails: a tree without a readable configuration is a plain folder of
    /// pages.
    pub fn read(tree: &dyn Tree) -> Self {
        Self::read_paths(tree, &tree.paths())
    }

    /// Like [`Layout::read`], for callers that already have the tree's paths.
    pub(crate) fn read_paths(tree: &dyn Tree, paths: &[String]) -> Self {
        let outside = tree.paths_outside();
        let configurations = Self::files(paths.iter().chain(&outside).map(String::as_str));
        let mut layout = Self::of_configuration(tree, paths, &configurations);
        layout.roots.sort_by_key(|root| std::cmp::Reverse(root.folder.len()));
        layout.folders.sort_by_key(|(folder, _)| std::cmp::Reverse(folder.len()));
        let globs = layout.roots.iter().flat_map(|root| root.included.iter().chain([&root.excluded]));
        let refused: BTreeSet<(String, String)> = globs.flat_map(Globs::problems).collect();
        refused.into_iter().for_each(|(file, message)| layout.problem(&file, message));
        redirects::read(tree, &configurations, &mut layout);
        current_version::read(tree, &configurations, &mut layout);
        layout
    }

    /// The layout of the first configuration that covers pages of the tree: one that covers none belongs to something
    /// else, such as an example, or a tool that the site has left.
    fn of_configuration(tree: &dyn Tree, paths: &[String], configurations: &[&str]) -> Self {
        let known: HashSet<&str> = configurations.iter().copied().collect();
        let has = |name: &str| known.contains(name);
        let enclosing = (1..=depth(tree.root())).map(|levels| vec![".."; levels].join("/"));
        let homes: Vec<String> = CONFIG_FOLDERS.into_iter().map(str::to_owned).chain(enclosing).collect();
        // A site beside the docs root may read it, as `path: '../docs'` in `website` does.
        let beside: Vec<String> = match tree.root() {
            "" => Vec::new(),
            _ => CONFIG_FOLDERS[1..].iter().map(|folder| format!("../{folder}")).collect(),
        };
        let read = |generator: Generator, home: &str| rules(generator).read(tree, home, &has);
        let of_all = |home: &str| {
            ALL.into_iter().filter(|known| *known != Generator::GitBook).find_map(|generator| read(generator, home))
        };
        // A forge may build any repository with Jekyll, and GitBook is a service that leaves its configuration behind, so
        // the configuration of any other generator takes precedence.
        let candidates = homes
            .iter()
            .filter_map(|home| of_all(home))
            .chain(std::iter::once_with(|| without_configuration(tree, configurations)).flatten())
            .chain(beside.iter().filter_map(|home| of_all(home)))
            .chain(homes.iter().filter_map(|home| read(Generator::GitBook, home)))
            .chain(homes.iter().filter_map(|home| gitbook::without_configuration(tree, home, &has)))
            .chain(std::iter::once_with(|| antora::detect_in_any_folder(tree, configurations)).flatten())
            .chain(homes.iter().filter_map(|home| read(Generator::Jekyll, home)))
            .chain(std::iter::once_with(|| hugo::without_configuration(tree, configurations)).flatten());
        let has_pages = paths.iter().any(|path| is_page(path));
        let mut problems = Vec::new();
        for mut layout in candidates {
            for root in &mut layout.roots {
                layout.is_narrowed |= root.narrow_to(tree.root());
            }
            let holds = |path: &&String| is_page(path) && layout.roots.iter().any(|root| root.is_page(path));
            if !has_pages || paths.iter().any(|path| holds(&path)) {
                return layout;
            }
            problems.extend(layout.problems);
        }
        Self { problems, ..Self::plain() }
    }
}

/// How many folders above the docs root are looked at at most: `src/content/docs/en/guides` is five below its site.
const MOST_LEVELS: usize = 8;

/// How many folders above the docs root are looked at for a configuration.
fn depth(root: &str) -> usize {
    root.split('/').filter(|part| !part.is_empty()).count().min(MOST_LEVELS)
}

/// Whether a file may configure the layout of a site, judged by its path.
pub(crate) fn is_configuration(path: &str) -> bool {
    // An enclosing site may be configured above the docs root, in the same folders.
    let path = path.trim_start_matches("../");
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    if mintlify::is_configuration(folder, name)
        || is_category(name)
        || mkdocs::folders::is_file(name)
        || antora::is_file(path)
        || current_version::is_file(folder, name)
        || sphinx::is_of_host(path)
        || path.contains("_markup/render-link.")
    {
        return true;
    }
    CONFIG_FOLDERS.iter().any(|home| {
        path_in(home, folder).is_some_and(|relative_folder| {
            is_script_of_configuration(relative_folder, name)
                || is_of_application(relative_folder, name)
                || mkdocs::is_file(name) && relative_folder.is_empty()
                || mdbook::is_file(relative_folder, name)
                || hugo::config::is_file(relative_folder, name)
                || sphinx::is_file(relative_folder, name)
                || gitbook::is_file(relative_folder, name)
                || docfx::is_file(relative_folder, name)
                || jekyll::config::is_file(relative_folder, name)
                || redirects::is_file(relative_folder, name)
        })
    })
}

/// Whether a script may belong to a configuration; `folder` is relative to the folder of the configuration.
fn is_script_of_configuration(folder: &str, name: &str) -> bool {
    let is_script = name.rsplit_once('.').is_some_and(|(_, ending)| super::SCRIPT_EXTENSIONS.contains(&ending));
    let is_other = ["package.json", "package-lock.json", "tsconfig.json"].contains(&name) || name.contains(".test.");
    let folder_fits = folder.is_empty()
        || ["config", "sidebars", "versioned_sidebars", ".vitepress"].contains(&folder)
        || ["config/", "sidebars/", ".vitepress/config", ".vitepress/sidebar", ".vitepress/nav", ".vitepress/locale"]
            .iter()
            .any(|start| folder.starts_with(start));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_collection = starlight::COLLECTIONS.contains(&below(folder, stem).as_str());
    is_script && !is_other && (folder_fits || is_collection)
}
