//! Resolves links as a browser does on the built page, for generators that leave such links unchanged.

use docent_markdown::{file_name, folder, is_markdown_page, joined};

use crate::layout::below;
use crate::link_target::{ParsedLink, encoded, has_markdown_ending, relative};
use crate::model::{Site, Target};
use crate::paths::path_in;

/// How the built site is served, as far as a browser needs it to resolve links.
#[derive(Debug)]
pub(crate) struct BuiltSite<'s> {
    pub(crate) site: &'s Site,
    /// Base path of the site on its host, without leading and trailing slash.
    pub(crate) base: &'s str,
    /// Whether pages are served as directories (`/a/b/`) rather than as files (`/a/b.html`).
    pub(crate) directory_urls: bool,
    /// The folder whose non-page files (assets) are served unchanged.
    pub(crate) assets: &'s str,
}

impl BuiltSite<'_> {
    /// Resolves a link against the address of its page. Paths outside of the base path are [`Target::NotUnderstood`],
    /// except relative links to Markdown files, which are missing.
    pub(crate) fn resolve(&self, link: &ParsedLink<'_>) -> Target {
        let path = match link.is_absolute() {
            true => match self.without_base(&link.path) {
                Some(path) => joined("", path),
                None => return Target::NotUnderstood,
            },
            false => match self.folder_of(link.from) {
                Some(folder) => joined(&folder, &link.path),
                None => return Target::NotUnderstood,
            },
        };
        match path {
            Some(path) => match self.find(&path, link.anchor.as_deref()) {
                Some(Target::Page { file, .. }) if self.lacks_ending(&path, &file) => link.missing(Some(path)),
                Some(target) => target,
                None => link.missing(Some(path)),
            },
            // No generator serves a Markdown file; anything else may be another site of the same host.
            None if has_markdown_ending(&link.path) => link.missing(None),
            None => Target::NotUnderstood,
        }
    }

    /// Whether a path lacks the extension of the page's file. Some hosts add it; the servers of generators do not.
    fn lacks_ending(&self, path: &str, file: &str) -> bool {
        !self.directory_urls && !path.ends_with(".html") && !is_index(file)
    }

    /// What is served at a path relative to the base path, on hosts that add the extension of a file, too.
    pub(crate) fn find(&self, path: &str, anchor: Option<&str>) -> Option<Target> {
        let address = match path.strip_suffix("index.html") {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
            _ if self.directory_urls => path,
            _ => path.strip_suffix(".html").unwrap_or(path),
        };
        if let Some(file) = self.site.file_at(address) {
            return Some(Target::page(file, anchor));
        }
        let file = below(self.assets, path);
        if self.site.has_any(&file) && !is_markdown_page(&file) {
            return Some(Target::Asset { file });
        }
        let destination = self.site.redirect(path).or_else(|| self.site.redirect(address))?;
        Some(Target::Redirect { destination: destination.to_owned() })
    }

    /// Strips the base path from a path on the host; `None` outside of the base path.
    pub(crate) fn without_base<'p>(&self, path: &'p str) -> Option<&'p str> {
        path_in(self.base, path.trim_start_matches('/'))
    }

    /// The folder that relative links of a page start from.
    fn folder_of(&self, file: &str) -> Option<String> {
        let address = self.site.address(file)?;
        Some(if self.directory_urls || is_index(file) { address } else { folder(address) }.to_owned())
    }

    /// A page's URL relative to the base path, without leading slash.
    fn url(&self, file: &str) -> Option<String> {
        let address = self.site.address(file)?;
        Some(match (self.directory_urls || is_index(file), address) {
            (true, "") => String::new(),
            (true, address) => format!("{address}/"),
            (false, address) => format!("{address}.html"),
        })
    }

    /// The absolute path on the host of a page or an asset.
    pub(crate) fn absolute(&self, to: &str) -> Option<String> {
        let url = self.url(to).or_else(|| Some(path_in_folder(self.assets, to)?.to_owned()))?;
        Some(match self.base {
            "" => format!("/{}", encoded(&url)),
            base => format!("/{base}/{}", encoded(&url)),
        })
    }

    /// The relative path from a page's address to another page or to an asset.
    pub(crate) fn relative(&self, from: &str, to: &str) -> Option<String> {
        let url = self.url(to).or_else(|| Some(path_in_folder(self.assets, to)?.to_owned()))?;
        let way = relative(&self.folder_of(from)?, url.trim_end_matches('/'));
        let slash = if url.ends_with('/') || url.is_empty() { "/" } else { "" };
        Some(format!("{}{slash}", encoded(&way)))
    }
}

/// A file's path relative to a folder; `None` if the file is not in it.
pub(in crate::generators) fn path_in_folder<'f>(folder: &str, file: &'f str) -> Option<&'f str> {
    match folder {
        "" => Some(file).filter(|file| !file.starts_with("../")),
        folder => file.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// Whether a file is the index of its folder: `index` or `README`.
pub(crate) fn is_index(file: &str) -> bool {
    let name = file_name(file);
    let stem = name.split('.').next().unwrap_or(name);
    stem == "index" || stem.eq_ignore_ascii_case("readme")
}
