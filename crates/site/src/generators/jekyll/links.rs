//! Resolves and writes links in a Jekyll site.

use docent_markdown::{FrontMatter, file_name, is_markdown_page, joined};

use super::address::{self, FileKind, ServedPath};
use super::{Jekyll, JekyllSettings, from_source, templates};
use crate::generators::LinkRules;
use crate::generators::plain::Plain;
use crate::layout::below;
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, has_markdown_ending, parts, relative_path, suffix_of,
    with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::path_in;

/// A file of the site.
pub(super) struct SourceFile<'s> {
    pub(super) site: &'s Site,
    file: &'s str,
    /// Relative to the source.
    path: String,
    pub(super) settings: &'s JekyllSettings,
}

impl<'s> SourceFile<'s> {
    pub(super) fn of(site: &'s Site, file: &'s str) -> Option<Self> {
        let root = site.layout().root(file)?;
        let path = below(&root.base_path, root.relative_path(file)?);
        Some(Self { site, file, path, settings: root.options.jekyll.as_deref()? })
    }

    /// Where a page is served or, for a page that is being moved and not in the tree yet, will be served.
    fn served_path(&self) -> Option<ServedPath> {
        match self.site.address(self.file) {
            Some(path) => Some(ServedPath { path: path.to_owned(), is_folder: self.site.is_directory(self.file) }),
            None if self.site.has_file(self.file) => None,
            None => address::of(self.settings, &self.path, &FrontMatter::default())
                .filter(|_| is_markdown_page(self.file) && self.settings.serves(&self.path)),
        }
    }

    /// Whether links to files become links to pages in this file.
    fn reads_files(&self) -> bool {
        let plugins = &self.settings.plugins;
        let is_page = address::kind(self.settings, &self.path) == FileKind::Page;
        plugins.relative_links && (is_page || plugins.relative_links_in_collections)
    }
}

impl LinkRules for Jekyll {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        // The file is not a page of the site, so its links are resolved as on a forge.
        let Some(source_file) = SourceFile::of(site, link.from).filter(|_| is_markdown_page(link.from)) else {
            return Plain.resolve(site, link);
        };
        let Some(served_path) = source_file.served_path() else {
            return match () {
                // An include or a draft.
                () if link.is_absolute() => by_url(&source_file, None, &link.path, link.anchor.as_deref()),
                () if source_file.path.split('/').any(|part| part.starts_with('_')) => Target::NotUnderstood,
                () => Plain.resolve(site, link),
            };
        };
        // `jekyll-relative-links` converts Markdown links only.
        if link.syntax == LinkSyntax::Markdown
            && source_file.reads_files()
            && let Some(found) = by_file(&source_file, &link.path, link.anchor.as_deref())
        {
            return found;
        }
        by_url(&source_file, Some(&served_path), &link.path, link.anchor.as_deref())
    }

    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let Some(source_file) = SourceFile::of(site, from).filter(|_| is_markdown_page(from)) else {
            return vec![Plain.write(site, wanted)];
        };
        let Some(own_path) = source_file.served_path().filter(|_| !like.starts_with('{')).or_else(|| {
            // An include has no address that a relative link could start from.
            (like.starts_with(['/', '{']) || source_file.path.split('/').any(|part| part.starts_with('_')))
                .then(ServedPath::default)
        }) else {
            return vec![Plain.write(site, wanted)];
        };
        let target = SourceFile::of(site, to);
        let (like_path, _) = parts(like);
        let suffix = suffix_of(like, anchor);
        let url = target.as_ref().and_then(|target| match is_markdown_page(to) {
            true => target.served_path(),
            false => Some(asset(target)),
        });
        let mut candidates = Vec::new();
        if like.starts_with('{') {
            candidates.extend(templates::rewrite_template(
                like,
                anchor,
                target.as_ref().map(SourceFile::template_path),
                url.as_ref(),
            ));
        } else {
            let is_absolute = like_path.starts_with('/');
            let is_by_file = source_file.reads_files()
                && (has_markdown_ending(like_path) || like_path.is_empty() || !is_markdown_page(to));
            if let Some(target) = target.as_ref().filter(|_| is_by_file) {
                candidates.push(match is_absolute {
                    true => format!("/{}{suffix}", encoded(&target.path)),
                    false => {
                        let way = relative_path(docent_markdown::folder(&source_file.path), &target.path);
                        format!("{}{suffix}", encoded(&with_dot_slash_like(like_path, way)))
                    }
                });
            }
            if let Some(url) = &url {
                let slash = if needs_slash(url, like_path) { "/" } else { "" };
                let bare = url.path.strip_suffix(".html").filter(|_| is_bare(like_path) && !url.is_folder);
                for path in bare.into_iter().chain([url.path.as_str()]) {
                    if !is_absolute && !like_path.is_empty() {
                        let way =
                            with_dot_slash_like(like_path, relative_path(address::relative_link_base(&own_path), path));
                        candidates.push(format!("{}{slash}{suffix}", encoded(&way)));
                    }
                }
                for path in bare.into_iter().chain([url.path.as_str()]) {
                    let path = below(&source_file.settings.base, path);
                    let slash = if path.is_empty() { "" } else { slash };
                    candidates.push(format!("/{}{slash}{suffix}", encoded(&path)));
                }
            }
        }
        let anchor = suffix.split_once('#').map_or(String::new(), |(_, anchor)| format!("#{anchor}"));
        let fallback = target.as_ref().map(|target| format!("{{% link {} %}}{anchor}", target.template_path()));
        let first = candidates.first().cloned();
        candidates.into_iter().chain(fallback).chain(first).collect()
    }

    fn resolve_template(&self, site: &Site, from: &str, target: &str) -> Target {
        templates::resolve(site, from, target)
    }
}

/// Resolves a link as `jekyll-relative-links` does: relative to the file, absolute from the source.
fn by_file(source_file: &SourceFile<'_>, path: &str, anchor: Option<&str>) -> Option<Target> {
    let above = if path.starts_with('/') { "" } else { docent_markdown::folder(&source_file.path) };
    let path = joined(above, path)?;
    let file = from_source(source_file.site, source_file.settings, &path)?;
    if source_file.site.address(&file).is_some() {
        return Some(Target::page(file, anchor));
    }
    (source_file.site.has_any(&file) && source_file.settings.serves(&path)).then(|| {
        if file.starts_with("../") && is_markdown_page(&file) { Target::NotUnderstood } else { Target::Asset { file } }
    })
}

/// Resolves a link as a browser does on the built page. `own` is where the page is served.
fn by_url(source_file: &SourceFile<'_>, page: Option<&ServedPath>, path: &str, anchor: Option<&str>) -> Target {
    let base = source_file.settings.base.as_str();
    let resolved = match (path.strip_prefix('/'), page) {
        (Some(absolute), _) => match path_in(base, absolute) {
            Some(rest) => joined("", rest),
            // The host may serve more than this site.
            None => return Target::NotUnderstood,
        },
        (None, Some(page)) => joined(address::relative_link_base(page), path),
        (None, None) => return Target::NotUnderstood,
    };
    match resolved {
        Some(site_path) => target_at(source_file, &site_path, path, anchor),
        None if base.is_empty() => Target::Missing { path: None, anchor: anchor.map(str::to_owned) },
        None => Target::NotUnderstood,
    }
}

/// What is served at a path relative to the base path. `written` is the path in the link, which may end in a slash.
pub(super) fn target_at(
    source_file: &SourceFile<'_>,
    site_path: &str,
    link_path: &str,
    anchor: Option<&str>,
) -> Target {
    let SourceFile { site, settings, .. } = *source_file;
    let folder = site_path.strip_suffix("index.html").filter(|rest| rest.is_empty() || rest.ends_with('/'));
    let site_path = folder.unwrap_or(site_path).trim_matches('/');
    let is_folder = link_path.ends_with('/') || folder.is_some();
    if let Some(file) = site.file_at(site_path) {
        // A page that is served as a file has no URL with a trailing slash.
        return match is_folder && !site.is_directory(file) && !site_path.is_empty() {
            true => Target::NotUnderstood,
            false => Target::page(file, anchor),
        };
    }
    // Hosts serve HTML files without their extension, but not all hosts with a trailing slash.
    if let Some(file) = site.file_at(&format!("{site_path}.html")) {
        return if is_folder { Target::NotUnderstood } else { Target::page(file, anchor) };
    }
    let without_ending = site_path.strip_suffix(".html").and_then(|stem| site.file_at(stem));
    if let Some(file) = without_ending.filter(|file| !site.is_directory(file)) {
        return Target::page(file, anchor);
    }
    if let Some(file) = settings
        .non_markdown_pages
        .get(site_path)
        .or_else(|| settings.non_markdown_pages.get(&format!("{site_path}.html")))
    {
        return Target::Asset { file: file.clone() };
    }
    let file = from_source(site, settings, site_path);
    if let Some(file) = file.as_ref().filter(|file| site.has_any(file) && settings.serves(site_path)) {
        // A link to the source file of a page; on GitHub Pages, it leads to the page.
        let is_of_page =
            site.address(file).is_some() || is_markdown_page(file.trim_start_matches("../")) && file.starts_with("../");
        return if is_of_page { Target::NotUnderstood } else { Target::Asset { file: file.clone() } };
    }
    if let Some(destination) = site.redirect(site_path) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    match may_be_generated(source_file, site_path) {
        true => Target::NotUnderstood,
        false => Target::Missing { path: Some(site_path.to_owned()), anchor: anchor.map(str::to_owned) },
    }
}

/// Whether something other than the known files may be served at a path.
fn may_be_generated(source_file: &SourceFile<'_>, site_path: &str) -> bool {
    let SourceFile { site, settings, .. } = *source_file;
    let plugins = &settings.plugins;
    let name = file_name(site_path);
    let stem = site_path.strip_suffix(".html").unwrap_or(site_path);
    let has_source_file = |path: String| from_source(site, settings, &path).is_some_and(|file| site.has_any(&file));
    // A page outside of the docs root, a file without front matter, a folder without an index, or a Markdown file that
    // is linked with its extension.
    let may_be_other_file = site.is_served_outside(site_path)
        || site.is_served_outside(&format!("{site_path}.html"))
        || ["md", "markdown", "html"].iter().any(|ending| {
            let at = format!("{stem}.{ending}");
            settings.serves(&at) && has_source_file(at)
        })
        || ["README.md", "readme.md", "index.html"].iter().any(|name| has_source_file(below(site_path, name)))
        || from_source(site, settings, site_path).is_some_and(|folder| site.has_folder(&folder) && !folder.is_empty())
        || has_markdown_ending(site_path) && has_source_file(site_path.to_owned());
    let is_feed = [".xml", ".json", ".txt", ".js", ".css", ".webmanifest"].iter().any(|ending| name.ends_with(ending));
    let is_theme_file =
        settings.has_theme && (site_path.starts_with("assets/") || name.ends_with(".html") && !site_path.contains('/'));
    let is_pagination = plugins.paginate && name.trim_end_matches(|c: char| c.is_ascii_digit()) == "page";
    plugins.has_unknown_plugins
        || settings.has_more_non_markdown_pages
        || is_feed
        || is_theme_file
        || is_pagination
        || may_be_other_file
}

impl SourceFile<'_> {
    /// The path by which templates name the file: relative to the source for pages, to `collections_dir` for all
    /// others.
    fn template_path(&self) -> &str {
        match address::kind(self.settings, &self.path) {
            FileKind::Page => &self.path,
            _ => self.settings.in_collections(&self.path).unwrap_or(&self.path),
        }
    }
}

/// Where a file other than a Markdown page is served.
fn asset(source_file: &SourceFile<'_>) -> ServedPath {
    let chosen = source_file.settings.non_markdown_pages.iter().find(|(_, file)| *file == source_file.file);
    ServedPath { path: chosen.map_or(&source_file.path, |(path, _)| path).clone(), is_folder: false }
}

/// Whether a link to a page that is served as a folder ends in a slash: unless `like` has none.
fn needs_slash(url: &ServedPath, like: &str) -> bool {
    url.is_folder && (like.is_empty() || like.ends_with('/') || !is_bare(like))
}

/// Whether the last segment of a path has neither an extension nor a trailing slash.
fn is_bare(path: &str) -> bool {
    let name = file_name(path);
    !name.is_empty() && !name.contains('.')
}
