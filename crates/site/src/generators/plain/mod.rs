//! No generator: a folder of pages, as a forge shows it.

use docent_markdown::{Format, FrontMatter, file_name, folder, is_for_editors, is_page, site_path};

use super::{Facts, HasFile, LinkRules, Root, Rules};
use crate::generators::fallback_links::{find, retargeted_link_by_name};
use crate::layout::{Layout, below};
use crate::link_target::{LinkRequest, ParsedLink, encoded, parts, relative_path, suffix_of, with_dot_slash_like};
use crate::model::{Site, Target};
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_root, joined_in};

pub(super) struct Plain;

impl Rules for Plain {
    fn facts(&self) -> Facts {
        Facts {
            shows_front_matter: true,
            ids_in_any_case: true,
            reads_attribute_lists: true,
            formats: &[Format::Markdown, Format::Mdx, Format::Rst, Format::Adoc, Format::Notebook],
            ..Facts::default()
        }
    }

    fn read(&self, _tree: &dyn Tree, _home: &str, _has: &HasFile<'_>) -> Option<Layout> {
        Some(Layout::plain())
    }

    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        // A forge shows a notebook at the path of its file.
        let path = if Format::of(relative_path) == Format::Notebook {
            relative_path.to_owned()
        } else {
            site_path(relative_path)
        };
        below(&root.base_path, &path)
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        is_for_editors(relative_path).then_some(SkipReason::ForEditors)
    }
}

impl LinkRules for Plain {
    /// Resolves a link to a file or folder as a forge does: relative to the file, absolute from the root of the repository.
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let root = site.root();
        let path = match link.path.strip_prefix('/') {
            Some(path) => joined_in("", "", path).map(|path| from_root(root, &path)),
            None => joined_in(root, folder(link.from), &link.path),
        };
        // Links out of the repository lead to other pages of the forge, such as its issues and releases.
        let Some(path) = path else { return Target::NotUnderstood };
        if let Some(found) = file_or_folder(site, &path, link.anchor.as_deref()) {
            return found;
        }
        if !looks_like_file(&link.path) && !path.starts_with("..") {
            // An unknown generator may serve the path, so file names and page addresses are tried, too.
            return find(site, &path, link.anchor.as_deref()).unwrap_or(Target::NotUnderstood);
        }
        // The absolute links of a site with a configuration of its own start from that site, and its build makes HTML.
        let is_of_a_site = || !site.site_folder(link.from).is_empty();
        let may_be_served = (link.is_absolute() || link.path.ends_with(".html")) && is_of_a_site();
        if looks_like_file(&link.path) && !may_be_served { link.missing(Some(path)) } else { Target::NotUnderstood }
    }

    /// Writes a link by file path, unless the link that it is modelled on (`like`) has no file extension.
    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let path = parts(like).0;
        if !path.is_empty() && !looks_like_file(path) && is_page(to) {
            let way = retargeted_link_by_name(site, wanted);
            // A page that is being moved does not exist at its new path yet, so the link cannot be checked.
            if site.leads_there(wanted, &way) || !site.has_file(to) {
                return way;
            }
        }
        let suffix = suffix_of(like, anchor);
        if path.starts_with('/') {
            return format!("/{}{suffix}", encoded(&below(site.root(), to)));
        }
        format!("{}{suffix}", encoded(&with_dot_slash_like(path, relative_path(folder(from), to))))
    }
}

fn file_or_folder(site: &Site, path: &str, anchor: Option<&str>) -> Option<Target> {
    if site.has_file(path) && site.is_page(path) {
        return Some(Target::page(path, anchor));
    }
    if site.has_any(path) {
        return Some(Target::Asset { file: path.to_owned() });
    }
    // A forge shows the README of a folder on the page of the folder.
    let mut readmes =
        ["README.md", "readme.md", "index.md", "README.adoc", "README.rst"].iter().map(|name| below(path, name));
    if let Some(readme) = readmes.find(|file| site.has_file(file)) {
        return Some(Target::page(readme, anchor));
    }
    site.has_folder(path).then(|| Target::Asset { file: path.to_owned() })
}

/// Whether the last segment of a path has a file extension. Digits after a dot are a version, not an extension.
fn looks_like_file(path: &str) -> bool {
    let name = file_name(path);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let is_ending = (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    !stem.is_empty() && is_ending && !ending.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
