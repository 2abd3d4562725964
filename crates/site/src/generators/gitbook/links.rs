//! Resolves and writes links as GitBook does. The command-line tool replaces a link to the file of a page by the page's
//! address and leaves other links to the browser; gitbook.com resolves them to files and folders instead.

use docent_markdown::{folder, is_markdown, joined};

use super::{GitBook, from_home};
use crate::generators::built_site::BuiltSite;
use crate::generators::fallback_links::resolve_by_name_if_there;
use crate::generators::{LinkRules, Root};
use crate::layout::below;
use crate::link_target::{
    LinkRequest, ParsedLink, encoded, has_markdown_ending, parts, relative, suffix_of, with_dot_slash_like,
};
use crate::model::{Site, Target};

/// The target that gitbook.com writes for a link to a deleted page.
const BROKEN: &str = "broken-reference";

impl LinkRules for GitBook {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let layout = site.layout();
        let Some(root) = layout.root(link.from).filter(|_| site.address(link.from).is_some()) else {
            // An included file, or one that is not part of the book.
            return resolve_by_name_if_there(site, link);
        };
        match layout.options.gitbook.is_hosted {
            true => resolve_hosted(site, root, link),
            false => resolve_built(site, root, link),
        }
    }

    /// In the form of `like`, then by file path, then by the path of the built page.
    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let Some(root) = site.layout().root(from).filter(|_| site.address(from).is_some()) else {
            return Vec::new();
        };
        let (path, suffix) = (parts(like).0, suffix_of(like, anchor));
        let file_path = relative(folder(from), to);
        let mut forms = Vec::new();
        let built_path = |to: &str| match (site.address(to), docent_markdown::stem(to)) {
            (Some(_), Some(stem)) if site.layout().root(to).is_some_and(|root| is_index(root, to)) => {
                below(folder(stem), "index.html")
            }
            (Some(_), Some(stem)) => format!("{stem}.html"),
            _ => to.to_owned(),
        };
        let path_to_folder = || {
            let path = relative(folder(from), folder(to));
            format!("{}/", if path.is_empty() { "." } else { &path })
        };
        if path.starts_with('/') {
            let absolute_link = |file: &str| root.source_path(file).map(|source_path| format!("/{source_path}"));
            forms.extend(absolute_link(&if path.ends_with(".html") { built_path(to) } else { to.to_owned() }));
        } else if path.ends_with(".html") {
            forms.push(with_dot_slash_like(path, relative(folder(from), &built_path(to))));
        } else if path.ends_with('/') && folder(to) != folder(from) {
            forms.push(with_dot_slash_like(path, path_to_folder()));
        }
        forms.push(with_dot_slash_like(path, file_path.clone()));
        forms.push(with_dot_slash_like(path, relative(folder(from), &built_path(to))));
        forms.push(file_path);
        forms.iter().map(|form| format!("{}{suffix}", encoded(form))).collect()
    }
}

/// The file at the path of a link, which may be outside of the docs root.
fn named_file(site: &Site, root: &Root, link: &ParsedLink<'_>, path: &str) -> Option<String> {
    match link.is_absolute() {
        true => joined("", path).map(|path| root.file_of(site.root(), &path)),
        false => joined(folder(link.from), path),
    }
}

/// Resolves a link as the command-line tool does. It looks up the target without decoding it, so a percent-encoded path
/// matches no page.
fn resolve_built(site: &Site, root: &Root, link: &ParsedLink<'_>) -> Target {
    let file = named_file(site, root, link, parts(link.target).0);
    let file = file.filter(|file| root.holds(file) && site.address(file).is_some());
    if let Some(file) = file {
        return link.page(file);
    }
    // The browser resolves other links; built files are in the same folders as their sources.
    let from = root.source_path(link.from).unwrap_or_default();
    let base = if link.is_absolute() { root.base_path.clone() } else { below(&root.base_path, folder(&from)) };
    let Some(path) = joined(&base, &link.path) else {
        return if has_markdown_ending(&link.path) { link.missing(None) } else { Target::NotUnderstood };
    };
    if path.is_empty() && !root.base_path.is_empty() || path == "index.html" && !root.base_path.is_empty() {
        // The list of languages, a page that the tool generates.
        return Target::NotUnderstood;
    }
    if let Some(target) = browser(site).find(&path, link.anchor.as_deref()) {
        return target;
    }
    let options = &site.layout().options.gitbook;
    let file = below(&options.source, &path);
    // Files that are no pages are copied unchanged.
    match site.has_any(&file) && site.address(&file).is_none() && is_copied(site, &file) {
        true => Target::Asset { file },
        false => link.missing(Some(if has_markdown_ending(&link.path) { file } else { path })),
    }
}

fn is_copied(site: &Site, file: &str) -> bool {
    let options = &site.layout().options.gitbook;
    let path_from_home = from_home(site.root(), site.layout().home(), file);
    !options.structure.iter().any(|known| known == file) && !options.ignored.is_match(&path_from_home)
}

/// Resolves a link as gitbook.com does: like a forge, to files and folders of the repository.
fn resolve_hosted(site: &Site, root: &Root, link: &ParsedLink<'_>) -> Target {
    let path = named_file(site, root, link, &link.path);
    let Some(path) = path.filter(|path| path.is_empty() || root.holds(path) || *path == root.folder) else {
        return Target::NotUnderstood;
    };
    if site.has_any(&path) {
        return match (site.address(&path), is_markdown(&path)) {
            (Some(_), _) => link.page(path),
            // The file is in the repository but not in the book.
            (None, true) => Target::NotUnderstood,
            (None, false) => Target::Asset { file: path },
        };
    }
    let address = below(&root.base_path, &root.source_path(&path).unwrap_or_default());
    if let Some(file) = site.file_at(&address) {
        return link.page(file);
    }
    if let Some(destination) = site.redirect(&address) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    let is_surely_gone = has_markdown_ending(&link.path) && !link.is_absolute() || link.path == BROKEN;
    if is_surely_gone { link.missing(Some(path)) } else { Target::NotUnderstood }
}

fn browser(site: &Site) -> BuiltSite<'_> {
    BuiltSite { site, base: "", directory_urls: false, assets: &site.layout().options.gitbook.source }
}

/// Whether a page is the index of its folder.
fn is_index(root: &Root, file: &str) -> bool {
    let Some(source_path) = root.source_path(file) else { return false };
    root.path(file, &docent_markdown::FrontMatter::default()) == below(&root.base_path, folder(&source_path))
}
