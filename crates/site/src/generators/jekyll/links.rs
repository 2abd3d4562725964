//! What links lead to in a site of Jekyll.

use docent_markdown::{FrontMatter, is_markdown_page, joined};

use super::address::{self, FileKind, Served};
use super::{JekyllSettings, from_source, templates};
use crate::follow::{
    LinkSyntax, Wanted, Written, dotted, encoded, has_markdown_ending, parts, relative_path, suffix_of,
};
use crate::generators::plain;
use crate::layout::below;
use crate::model::{Site, Target};
use crate::paths::path_in;

/// A file of the site's.
pub(super) struct SourceFile<'s> {
    pub(super) site: &'s Site,
    file: &'s str,
    /// In the source.
    path: String,
    pub(super) settings: &'s JekyllSettings,
}

impl<'s> SourceFile<'s> {
    pub(super) fn of(site: &'s Site, file: &'s str) -> Option<Self> {
        let root = site.layout().root(file)?;
        let path = below(&root.served, root.inside(file)?);
        Some(Self { site, file, path, settings: root.options.jekyll.as_deref()? })
    }

    /// Where a page is served, or where it would be: a page that is being moved is not there yet.
    fn served(&self) -> Option<Served> {
        match self.site.address(self.file) {
            Some(path) => Some(Served { path: path.to_owned(), is_folder: self.site.is_directory(self.file) }),
            None if self.site.has_file(self.file) => None,
            None => address::of(self.settings, &self.path, &FrontMatter::default())
                .filter(|_| is_markdown_page(self.file) && self.settings.serves(&self.path)),
        }
    }

    /// Whether links to files are made links to pages here.
    fn reads_files(&self) -> bool {
        let plugins = &self.settings.plugins;
        let is_page = address::kind(self.settings, &self.path) == FileKind::Page;
        plugins.relative_links && (is_page || plugins.relative_links_in_collections)
    }
}

pub(super) fn follow(site: &Site, link: &Written<'_>) -> Target {
    // Read on a forge, not on the site.
    let Some(place) = SourceFile::of(site, link.from).filter(|_| is_markdown_page(link.from)) else {
        return plain::follow(site, link);
    };
    let Some(served) = place.served() else {
        return match () {
            // Put into pages, or shown as a draft.
            () if link.is_absolute() => by_url(&place, None, &link.path, link.anchor.as_deref()),
            () if place.path.split('/').any(|part| part.starts_with('_')) => Target::NotUnderstood,
            () => plain::follow(site, link),
        };
    };
    // The plug-in reads links of Markdown alone.
    if link.syntax == LinkSyntax::Markdown
        && place.reads_files()
        && let Some(found) = by_file(&place, &link.path, link.anchor.as_deref())
    {
        return found;
    }
    by_url(&place, Some(&served), &link.path, link.anchor.as_deref())
}

/// A link as the plug-in for relative links reads it: relative to the file, absolute from the source.
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

/// A link as a browser reads it on the page that was built. `own` is where the page is served.
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

/// What is served at a path below the base. `written` is the path as it stands in the link.
pub(super) fn at(place: &SourceFile<'_>, served: &str, written: &str, anchor: Option<&str>) -> Target {
    let SourceFile { site, settings, .. } = *place;
    let folder = served.strip_suffix("index.html").filter(|rest| rest.is_empty() || rest.ends_with('/'));
    let served = folder.unwrap_or(served).trim_matches('/');
    let is_folder = written.ends_with('/') || folder.is_some();
    if let Some(file) = site.file_at(served) {
        // The page may be a file, which has no slash behind it.
        return match is_folder && !site.is_directory(file) && !served.is_empty() {
            true => Target::NotUnderstood,
            false => Target::page(file, anchor),
        };
    }
    // Hosts serve files of HTML without their ending; not all of them as folders.
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
        // A page whose own file is named: GitHub Pages leads there.
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

/// Whether something else than the files we know may be served at a path.
fn is_made(place: &SourceFile<'_>, served: &str) -> bool {
    let SourceFile { site, settings, .. } = *place;
    let plugins = &settings.plugins;
    let name = served.rsplit('/').next().unwrap_or(served);
    let stem = served.strip_suffix(".html").unwrap_or(served);
    let is_any = |path: String| from_source(site, settings, &path).is_some_and(|file| site.has_any(&file));
    // A page elsewhere of the repository, one that is not said to be a page, a folder without an index, and Markdown files
    // that are named as such.
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

/// The first of the ways to write a link that leads where it should.
pub(super) fn write(site: &Site, wanted: &Wanted<'_>) -> String {
    let Wanted { from, to, anchor, like, .. } = *wanted;
    let Some(place) = SourceFile::of(site, from).filter(|_| is_markdown_page(from)) else {
        return plain::write(site, wanted);
    };
    let Some(own) = place.served().filter(|_| !like.starts_with('{')).or_else(|| {
        // What is put into pages has no address that a relative link could start from.
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
                    format!("{}{suffix}", encoded(&dotted(like_path, way)))
                }
            });
        }
        if let Some(url) = &url {
            let slash = if needs_slash(url, like_path) { "/" } else { "" };
            let bare = url.path.strip_suffix(".html").filter(|_| is_bare(like_path) && !url.is_folder);
            for path in bare.into_iter().chain([url.path.as_str()]) {
                if !is_absolute && !like_path.is_empty() {
                    let way = dotted(like_path, relative_path(address::base(&own), path));
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
    found.or(last).unwrap_or_else(|| crate::follow::respelled(like, from, to, wanted.anchor))
}

impl SourceFile<'_> {
    /// How templates name the file: items by their path in the folder of the collections.
    fn named(&self) -> &str {
        match address::kind(self.settings, &self.path) {
            FileKind::Page => &self.path,
            _ => self.settings.in_collections(&self.path).unwrap_or(&self.path),
        }
    }
}

/// Where a file is served that is no page of Markdown.
fn asset(place: &SourceFile<'_>) -> Served {
    let chosen = place.settings.others.iter().find(|(_, file)| *file == place.file);
    Served { path: chosen.map_or(&place.path, |(path, _)| path).clone(), is_folder: false }
}

/// Whether a link to a folder ends in a slash: unless the one before went without.
fn needs_slash(url: &Served, like: &str) -> bool {
    url.is_folder && (like.is_empty() || like.ends_with('/') || !is_bare(like))
}

/// Whether the last name of a path has neither an ending nor a slash behind it.
fn is_bare(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.is_empty() && !name.contains('.')
}
