//! Resolves and writes links in Mintlify sites, by the rules of `mint broken-links`.

use docent_markdown::{folder, is_markdown_page, joined, stem};

use super::Mintlify;
use crate::generators::fallback_links::resolve_by_name;
use crate::generators::{LinkRules, Root};
use crate::layout::below;
use crate::link_target::{
    LinkRequest, ParsedLink, encoded_with, has_markdown_ending, is_external, is_fragment, parts, relative_file_path,
    suffix_of, with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::tree::joined_in;

const PAGE_EXTENSIONS: [&str; 2] = ["mdx", "md"];

impl LinkRules for Mintlify {
    /// Resolves a link. A path is relative to the folder of the configuration, with or without a leading slash; one that
    /// begins with a dot is relative to the file. The extension of a file is optional.
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let Some((root, path_in_site)) = root_of(site, link.from) else { return resolve_by_name(site, link) };
        // `mint` compares without punctuation, but browsers look for the id as it is.
        let anchor = link.anchor.clone();
        let written = link.path.replace('\\', "/");
        let is_relative = written.starts_with('.');
        let base = if is_relative { folder(&path_in_site) } else { "" };
        let Some(path) = joined(base, &written) else {
            // Mintlify finds nothing outside of the folder that it publishes.
            return Target::Missing { path: None, anchor };
        };
        let missing = |path: &str| Target::Missing { path: Some(file_at(root, path)), anchor: anchor.clone() };
        match find(site, root, &path, anchor.as_deref()) {
            Some(found) => found,
            // Relative links of a snippet start from the pages that include it.
            None if is_relative && is_fragment(link.from) => Target::NotUnderstood,
            None => missing(&path),
        }
    }

    /// Writes an absolute link without extension, unless `like` is relative or has one.
    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let (Some((_, from_path)), Some((root, to_path))) = (root_of(site, from), root_of(site, to)) else {
            return crate::link_target::retargeted_link(like, from, to, anchor);
        };
        let like_path = parts(like).0;
        let suffix = suffix_of(like, anchor.map(encoded).as_deref());
        let keeps_ending = has_markdown_ending(like_path) || !is_markdown_page(to);
        let name = if keeps_ending { to_path.clone() } else { shortest_path(site, root, to, &to_path) };
        let is_relative = like_path.starts_with('.') && !is_fragment(from);
        let path = if is_relative && !name.is_empty() {
            with_dot_slash_like("./", relative_file_path(folder(&from_path), &name))
        } else if !like_path.is_empty() && !like_path.starts_with(['/', '.']) && !name.is_empty() && !name.contains(':')
        {
            name
        } else {
            format!("/{name}")
        };
        let slash = if like_path.ends_with('/') && !keeps_ending && !path.ends_with('/') { "/" } else { "" };
        format!("{}{slash}{suffix}", encoded(&path))
    }
}

/// The folder of pages that a file is in, and the path of the file relative to the folder of the configuration.
fn root_of<'s>(site: &'s Site, file: &str) -> Option<(&'s Root, String)> {
    let root = site.layout().root(file)?;
    Some((root, below(&root.base_path, root.relative_path(file)?)))
}

/// Converts a path relative to the folder of the configuration into one relative to the docs root. If the docs root is
/// below that folder, paths outside of the docs root begin with `../`.
fn file_at(root: &Root, path: &str) -> String {
    let up = "../".repeat(root.base_path.split('/').filter(|part| !part.is_empty()).count());
    match root.base_path.is_empty() {
        true => below(&root.folder, path),
        false => joined_in(&root.base_path, &up, path).unwrap_or_else(|| path.to_owned()),
    }
}

fn find(site: &Site, root: &Root, path: &str, anchor: Option<&str>) -> Option<Target> {
    let page = |file: String| match file.starts_with("../") {
        true => Target::Asset { file },
        false => Target::Page { file, anchor: anchor.map(str::to_owned) },
    };
    let file = file_at(root, path);
    if !path.is_empty() && site.has_any(&file) {
        return match is_markdown_page(&file) {
            true if !file.starts_with("../") && !root.is_page(&file) => None,
            true => Some(page(file)),
            false => Some(Target::Asset { file }),
        };
    }
    let with_ending = |name: &str| {
        let files = PAGE_EXTENSIONS.iter().map(|ending| format!("{}.{ending}", file_at(root, name)));
        files.into_iter().find(|file| site.has_any(file) && (file.starts_with("../") || root.is_page(file)))
    };
    if let Some(file) = with_ending(path).or_else(|| with_ending(&format!("{path}/index"))) {
        return Some(page(file));
    }
    if path.is_empty() {
        // Without an `index` page, the first page of the navigation is shown.
        return Some(with_ending("index").map_or(Target::NotUnderstood, page));
    }
    // A page is also served as Markdown under its name with either extension. What happens with other extensions is not
    // documented, so such links do not count as broken.
    if let Some(name) = stem_of(path)
        && let Some(file) = with_ending(name)
    {
        return Some(if has_markdown_ending(path) { page(file) } else { Target::NotUnderstood });
    }
    let is_published = |name: &str| name.starts_with("../") || root.is_page(name);
    let names_folder_or_file = |name: &str| {
        let rest = name.strip_prefix(file.as_str()).filter(|_| is_published(name));
        rest.is_some_and(|rest| rest.starts_with('/') || rest.rfind(['.', '/']) == Some(0))
    };
    let redirected = site.redirect(path).map(|destination| redirected(site, root, destination));
    match redirected {
        Some(Some(found)) => return Some(found),
        // A folder, or a file that is no page and named without its ending.
        _ if site.all_files().any(names_folder_or_file) => return Some(Target::NotUnderstood),
        Some(None) => return None,
        None => {}
    }
    may_be_generated(site, path).then_some(Target::NotUnderstood)
}

/// The target of a redirect, if its destination exists.
fn redirected(site: &Site, root: &Root, destination: &str) -> Option<Target> {
    let redirect = || Some(Target::Redirect { destination: destination.to_owned() });
    let (path, _) = parts(destination);
    if is_external(destination) || path.contains([':', '*']) {
        return redirect();
    }
    let path = joined("", path)?;
    let names = ["", ".mdx", ".md", "/index.mdx", "/index.md"].map(|ending| format!("{path}{ending}"));
    let names_page = names.iter().any(|name| site.has_any(&file_at(root, name)));
    let file = file_at(root, &path);
    let is_folder =
        || site.all_files().any(|name| name.strip_prefix(file.as_str()).is_some_and(|r| r.starts_with('/')));
    let leads_further = || site.redirect(&path).is_some() || may_be_generated(site, &path);
    if path.is_empty() || names_page || is_folder() || leads_further() { redirect() } else { None }
}

/// Whether a page at this path may be generated from the description of an API.
fn may_be_generated(site: &Site, path: &str) -> bool {
    let layout = site.layout();
    let below = |folder: &str| {
        let folder = folder.trim_matches('/');
        path.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
    };
    let has_api_description = !layout.descriptions.is_empty()
        || !layout.operations.is_empty()
        || site.all_files().any(|file| file.contains("openapi") || file.contains("asyncapi"));
    let mut folders = layout.operations.iter().filter_map(|operations| operations.directory.as_deref());
    has_api_description && (below("api-reference") || folders.any(below))
}

fn stem_of(path: &str) -> Option<&str> {
    let (stem, ending) = path.rsplit_once('.')?;
    (!stem.is_empty() && !stem.ends_with('/') && !ending.contains('/')).then_some(stem)
}

/// The shortest path without extension that leads to a page.
fn shortest_path(site: &Site, root: &Root, to: &str, path_in_site: &str) -> String {
    let file_stem = stem(path_in_site).unwrap_or(path_in_site);
    let names = [crate::paths::index_path(file_stem, &["index"]), file_stem.to_owned()];
    let leads = |name: &&String| matches!(find(site, root, name, None), Some(Target::Page { file, .. }) if file == to);
    names.iter().find(leads).cloned().unwrap_or_else(|| match site.has_file(to) {
        true => path_in_site.to_owned(),
        // The page does not exist yet.
        false => names[0].clone(),
    })
}

fn encoded(path: &str) -> String {
    encoded_with(path, "#?%$`")
}

#[cfg(test)]
mod tests;
