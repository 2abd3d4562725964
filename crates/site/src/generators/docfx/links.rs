//! Resolves and writes links as docfx does: a link to a file becomes that file's address, and any other link is left to
//! the browser. A file path is relative to the page or, with `~/`, to the folder of the configuration.

use docent_markdown::{Format, file_name, folder, joined, stem};

use super::Docfx;
use crate::generators::LinkRules;
use crate::layout::below;
use crate::link_target::{LinkRequest, ParsedLink, encoded, parts, relative_path, suffix_of, with_dot_slash_like};
use crate::model::{Site, Target};
use crate::paths::{index_path, path_in};
use crate::tree::joined_in;

impl LinkRules for Docfx {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let options = &site.layout().options.docfx;
        if link.path.contains('\\') {
            let slashes = ParsedLink { path: link.path.replace('\\', "/"), anchor: link.anchor.clone(), ..*link };
            return self.resolve(site, &slashes);
        }
        if link.path.starts_with('@') {
            // The unique id of a page or of an object in source code.
            return Target::NotUnderstood;
        }
        if let Some(path) = link.path.strip_prefix('/') {
            // The path may belong to another site on the host.
            let path_in_site = options.base.as_ref().and_then(|base| path_in(base, path));
            return path_in_site
                .and_then(|path_in_site| page_at(site, path_in_site, link))
                .unwrap_or(Target::NotUnderstood);
        }
        let (base, path) = match link.path.strip_prefix("~/") {
            Some(path) => (site.layout().home(), path),
            None => (folder(link.from), link.path.as_str()),
        };
        let Some(file) = joined_in(site.root(), base, path) else { return Target::NotUnderstood };
        let existing = if site.has_any(&file) { Some(file.as_str()) } else { site.in_any_case(&file) };
        if let Some(existing) = existing {
            let file = existing.to_owned();
            return match site.address(existing) {
                Some(_) => link.page(file),
                // An include, a code snippet, or a file that the configuration names.
                None => Target::Asset { file },
            };
        }
        let Some(page_path) = built_path(site, link.from) else { return Target::NotUnderstood };
        if !link.path.starts_with('~')
            && let Some(target) = joined(folder(&page_path), path).and_then(|path| page_at(site, &path, link))
        {
            return target;
        }
        let name = file_name(path);
        let is_below = |folder: &String| path_in(folder, &file).is_some();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_surely_gone = match ending.to_ascii_lowercase().as_str() {
            "md" => !options.generated_folders.iter().any(is_below),
            "html" | "htm" => !options.generates_pages,
            // Such files may be generated from source code or from the description of an API.
            "yml" | "yaml" | "json" | "" => false,
            _ => !options.moves_assets,
        };
        if is_surely_gone { link.missing(Some(file)) } else { Target::NotUnderstood }
    }

    /// By file path, with `~/` if `like` has it, or by address if `like` is one.
    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let (path, suffix) = (parts(like).0, suffix_of(like, anchor));
        let in_repository = |path: &str| joined(site.root(), path).unwrap_or_default();
        let way = |from: &str, to: &str| relative_path(&in_repository(from), &in_repository(to));
        let by_file = way(folder(from), to);
        let address = |to: &str| Some(format!("{}.html", built_path(site, to)?));
        let mut forms = Vec::new();
        if path.starts_with("~/") {
            forms.push(format!("~/{}", way(site.layout().home(), to)));
        } else if path.starts_with('/') {
            let base = site.layout().options.docfx.base.as_deref();
            forms.extend(base.and_then(|base| Some(format!("/{}", below(base, &address(to)?)))));
        } else if path.ends_with(".html") {
            forms.extend(
                built_path(site, from).and_then(|page_path| Some(relative_path(folder(&page_path), &address(to)?))),
            );
        }
        forms.extend([with_dot_slash_like(path, by_file.clone()), by_file]);
        forms.iter().map(|form| format!("{}{suffix}", encoded(form))).collect()
    }

    /// The title of a tab is a heading with a link to the tab's name, `#tab/name`.
    fn is_label(&self, _format: Format, anchor: &str) -> bool {
        anchor.starts_with("tab/")
    }
}

/// The path that a page is built at, without extension; an index is `folder/index`.
fn built_path(site: &Site, file: &str) -> Option<String> {
    let address = site.address(file)?;
    let place = site.layout().root(file)?.options.docfx.as_ref()?.place(file)?;
    // A file name set in front matter does not change the folder.
    Some(if address == folder(&place) { below(address, "index") } else { address.to_owned() })
}

/// What a browser finds at a path.
fn page_at(site: &Site, path: &str, link: &ParsedLink<'_>) -> Option<Target> {
    let path = path.trim_matches('/');
    let address = match path.strip_suffix(".html") {
        Some(stem) => index_path(stem, &["index"]),
        None => path.to_owned(),
    };
    // Without an ending, a path names a folder.
    let is_index = |file: &str| stem(file).is_some_and(|stem| index_path(stem, &["index"]) != stem);
    if let Some(file) = site.file_at(&address).filter(|file| address != path || is_index(file)) {
        return Some(link.page(file));
    }
    Some(Target::Redirect { destination: site.redirect(path)?.to_owned() })
}
