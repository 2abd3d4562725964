//! Resolves and writes links in a Jekyll site.

use docent_markdown::{FrontMatter, is_markdown_page, joined};

use super::address::{self, FileKind, Served};
use super::{JekyllSettings, from_source, templates};
use crate::follow::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, has_markdown_ending, parts, relative_path, suffix_of,
    with_dot_slash_like,
};
use crate::generators::plain;
use crate::layout::below;
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
        let path = below(&root.served, root.inside(file)?);
        Some(Self { site, file, path, settings: root.options.jekyll.as_deref()? })
    }

    /// Where a page is served or, for a page that is being moved and not in the tree yet, will be served.
    fn served(&self) -> Option<Served> {
        match self.site.address(self.file) {
            Some(path) => Some(Served { path: path.to_owned(), is_folder: self.site.is_directory(self.file) }),
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

pub(super) fn follow(site: &Site, link: &ParsedLink<'_>) -> Target {
    // The file is not a page of the site, so its links are resolved as on a forge.
    let Some(place) = SourceFile::of(site, link.from).filter(|_| is_markdown_page(link.from)) else {
        return plain::follow(site, link);
    };
    let Some(served) = place.served() else {
        return match () {
            // An include or a draft.
            () if link.is_absolute() => by_url(&place, None, &link.path, link.anchor.as_deref()),
            () if place.path.split('/').any(|part| part.starts_with('_')) => Target::NotUnderstood,
            () => plain::follow(site, link),
        };
    };
    // `jekyll-relative-links` converts Markdown links only.
    if link.syntax == LinkSyntax::Markdown
        && place.reads_files()
        && let Some(found) = by_file(&place, &link.path, link.anchor.as_deref())
    {
        return found;
    }
    by_url(&place, Some(&served), &link.path, link.anchor.as_deref())
}

/// Resolves a link as `jekyll-relative-links` does: relative to the file, absolute from the source.
fn by_file(place: &SourceFile<'_>, path: &str, anchor: Option<&str>) -> Option<Target> {
    let above = if path.starts_with('/') { "" } else { docent_markdown::folder(&place.path) };
    let path = joined(above, path)?;
    let file = from_source(place.site, place.settings, &path)?;
    if place.site.address(&file).is_some() {
        return Some(Target::page(file, anchor));
    }
    (place.site.has_any(&file) && place.settings.serves(&path)).then(|| {
        match file.starts_with("../") && is_markdown_page(&file) {
            true => Target::NotUnderstood,
            false => Target::Asset { file },
        }
    })
}

/// Resolves a link as a browser does on the built page. `own` is where the page is served.
fn by_url(place: &SourceFile<'_>, own: Option<&Served>, path: &str, anchor: Option<&str>) -> Target {
    let base = place.settings.base.as_str();
    let resolved = match (path.strip_prefix('/'), own) {
        (Some(absolute), _) => match path_in(base, absolute) {
            Some(rest) => joined("", rest),
            // The host may serve more than this site.
            None => return Target::NotUnderstood,
        },
        (None, Some(own)) => joined(address::base(own), path),
        (None, None) => return Target::NotUnderstood,
    };
    match resolved {
        Some(served) => at(place, &served, path, anchor),
        None if base.is_empty() => Target::Missing { path: None, anchor: anchor.map(str::to_owned) },
        None => Target::NotUnderstood,
    }
}

/// What is served at a path relative to the base path. `written` is the path in the link, which may end in a slash.
pub(super) fn at(place: &SourceFile<'_>, served: &str, written: &str, anchor: Option<&str>) -> Target {
    let SourceFile { site, settings, .. } = *place;
    let folder = served.strip_suffix("index.html").filter(|rest| rest.is_empty() || rest.ends_with('/'));
    let served = folder.unwrap_or(served).trim_matches('/');
    let is_folder = written.ends_with('/') || folder.is_some();
    if let Some(file) = site.file_at(served) {
        // A page that is served as a file has no URL with a trailing slash.
        return match is_folder && !site.is_directory(file) && !served.is_empty() {
            true => Target::NotUnderstood,
            false => Target::page(file, anchor),
        };
    }
    // Hosts serve HTML files without their extension, but not all hosts with a trailing slash.
    if let Some(file) = site.file_at(&format!("{served}.html")) {
        return if is_folder { Target::NotUnderstood } else { Target::page(file, anchor) };
    }
    let without_ending = served.strip_suffix(".html").and_then(|stem| site.file_at(stem));
    if let Some(file) = without_ending.filter(|file| !site.is_directory(file)) {
        return Target::page(file, anchor);
    }
    if let Some(file) = settings.others.get(served).or_else(|| settings.others.get(&format!("{served}.html"))) {
        return Target::Asset { file: file.clone() };
    }
    let file = from_source(site, settings, served);
    if let Some(file) = file.as_ref().filter(|file| site.has_any(file) && settings.serves(served)) {
        // A link to the source file of a page; on GitHub Pages, it leads to the page.
        let is_of_page =
            site.address(file).is_some() || is_markdown_page(file.trim_start_matches("../")) && file.starts_with("../");
        return if is_of_page { Target::NotUnderstood } else { Target::Asset { file: file.clone() } };
    }
    if let Some(destination) = site.redirect(served) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    match is_made(place, served) {
        true => Target::NotUnderstood,
        false => Target::Missing { path: Some(served.to_owned()), anchor: anchor.map(str::to_owned) },
    }
}

/// Whether something other than the known files may be served at a path.
fn is_made(place: &SourceFile<'_>, served: &str) -> bool {
    let SourceFile { site, settings, .. } = *place;
    let plugins = &settings.plugins;
    let name = served.rsplit('/').next().unwrap_or(served);
    let stem = served.strip_suffix(".html").unwrap_or(served);
    let is_any = |path: String| from_source(site, settings, &path).is_some_and(|file| site.has_any(&file));
    // A page outside of the docs root, a file without front matter, a folder without an index, or a Markdown file that
    // is linked with its extension.
    let is_beside = site.is_served_outside(served)
        || site.is_served_outside(&format!("{served}.html"))
        || ["md", "markdown", "html"].iter().any(|ending| {
            let at = format!("{stem}.{ending}");
            settings.serves(&at) && is_any(at)
        })
        || ["README.md", "readme.md", "index.html"].iter().any(|name| is_any(below(served, name)))
        || from_source(site, settings, served).is_some_and(|folder| site.has_folder(&folder) && !folder.is_empty())
        || has_markdown_ending(served) && is_any(served.to_owned());
    let is_feed = [".xml", ".json", ".txt", ".js", ".css", ".webmanifest"].iter().any(|ending| name.ends_with(ending));
    let is_of_theme =
        settings.has_theme && (served.starts_with("assets/") || name.ends_with(".html") && !served.contains('/'));
    let is_numbered = plugins.paginate && name.trim_end_matches(|c: char| c.is_ascii_digit()) == "page";
    plugins.has_more || settings.has_more_others || is_feed || is_of_theme || is_numbered || is_beside
}

/// Writes the first candidate form of a link that leads to the target.
pub(super) fn write(site: &Site, wanted: &LinkRequest<'_>) -> String {
    let LinkRequest { from, to, anchor, like, .. } = *wanted;
    let Some(place) = SourceFile::of(site, from).filter(|_| is_markdown_page(from)) else {
        return plain::write(site, wanted);
    };
    let Some(own) = place.served().filter(|_| !like.starts_with('{')).or_else(|| {
        // An include has no address that a relative link could start from.
        (like.starts_with(['/', '{']) || place.path.split('/').any(|part| part.starts_with('_'))).then(Served::default)
    }) else {
        return plain::write(site, wanted);
    };
    let target = SourceFile::of(site, to);
    let (like_path, _) = parts(like);
    let suffix = suffix_of(like, anchor);
    let url = target.as_ref().and_then(|target| match is_markdown_page(to) {
        true => target.served(),
        false => Some(asset(target)),
    });
    let mut ways = Vec::new();
    if like.starts_with('{') {
        ways.extend(templates::written(like, anchor, target.as_ref().map(SourceFile::named), url.as_ref()));
    } else {
        let is_absolute = like_path.starts_with('/');
        let is_by_file =
            place.reads_files() && (has_markdown_ending(like_path) || like_path.is_empty() || !is_markdown_page(to));
        if let Some(target) = target.as_ref().filter(|_| is_by_file) {
            ways.push(match is_absolute {
                true => format!("/{}{suffix}", encoded(&target.path)),
                false => {
                    let way = relative_path(docent_markdown::folder(&place.path), &target.path);
                    format!("{}{suffix}", encoded(&with_dot_slash_like(like_path, way)))
                }
            });
        }
        if let Some(url) = &url {
            let slash = if needs_slash(url, like_path) { "/" } else { "" };
            let bare = url.path.strip_suffix(".html").filter(|_| is_bare(like_path) && !url.is_folder);
            for path in bare.into_iter().chain([url.path.as_str()]) {
                if !is_absolute && !like_path.is_empty() {
                    let way = with_dot_slash_like(like_path, relative_path(address::base(&own), path));
                    ways.push(format!("{}{slash}{suffix}", encoded(&way)));
                }
            }
            for path in bare.into_iter().chain([url.path.as_str()]) {
                let path = below(&place.settings.base, path);
                let slash = if path.is_empty() { "" } else { slash };
                ways.push(format!("/{}{slash}{suffix}", encoded(&path)));
            }
        }
    }
    let anchor = suffix.split_once('#').map_or(String::new(), |(_, anchor)| format!("#{anchor}"));
    let last = target.as_ref().map(|target| format!("{{% link {} %}}{anchor}", target.named()));
    let is_known = site.has_file(from) && site.has_any(to);
    let leads = |way: &&String| match site.resolve(from, way) {
        Target::Page { file, .. } | Target::Asset { file } => file == to,
        _ => !is_known,
    };
    let found = ways.iter().chain(&last).find(leads).or(ways.first()).cloned();
    found.or(last).unwrap_or_else(|| crate::follow::retargeted_link(like, from, to, wanted.anchor))
}

impl SourceFile<'_> {
    /// The path by which templates name the file: relative to the source for pages, to `collections_dir` for all
    /// others.
    fn named(&self) -> &str {
        match address::kind(self.settings, &self.path) {
            FileKind::Page => &self.path,
            _ => self.settings.in_collections(&self.path).unwrap_or(&self.path),
        }
    }
}

/// Where a file other than a Markdown page is served.
fn asset(place: &SourceFile<'_>) -> Served {
    let chosen = place.settings.others.iter().find(|(_, file)| *file == place.file);
    Served { path: chosen.map_or(&place.path, |(path, _)| path).clone(), is_folder: false }
}

/// Whether a link to a page that is served as a folder ends in a slash: unless `like` has none.
fn needs_slash(url: &Served, like: &str) -> bool {
    url.is_folder && (like.is_empty() || like.ends_with('/') || !is_bare(like))
}

/// Whether the last segment of a path has neither an extension nor a trailing slash.
fn is_bare(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.is_empty() && !name.contains('.')
}
