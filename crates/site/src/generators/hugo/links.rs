//! Resolves and writes links in a Hugo site.

use std::ops::Range;
use std::sync::LazyLock;

use docent_markdown::{Link, LinkKind, Page, file_name, folder, is_markdown_page, joined, regex, stem};
use regex::Regex;

use super::address::{language, language_folder};
use super::{Hugo, HugoSettings, LinkHook};
use crate::generators::plain::Plain;
use crate::generators::{LinkRules, Root};
use crate::layout::below;
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, is_external, parts, relative_path, suffix_of, with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::path_in;

/// A page that holds a link.
struct ContentFile<'s> {
    file: &'s str,
    relative_path: &'s str,
    root: &'s Root,
    settings: &'s HugoSettings,
}

impl<'s> ContentFile<'s> {
    fn of(site: &'s Site, file: &'s str) -> Option<Self> {
        let root = site.layout().root(file)?;
        Some(Self { file, relative_path: root.relative_path(file)?, root, settings: root.options.hugo.as_deref()? })
    }

    fn language(&self) -> Option<String> {
        language(self.root, self.relative_path)
    }
}

impl LinkRules for Hugo {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        // The file is not a page of the site, so its links are resolved as on a forge.
        let Some(from) = ContentFile::of(site, link.from).filter(|_| is_markdown_page(link.from)) else {
            return Plain.resolve(site, link);
        };
        match from.settings.hook {
            // Render hooks apply to Markdown links only.
            _ if link.syntax != LinkSyntax::Markdown => by_url(site, &from, &link.path, link.anchor.as_deref()),
            // A hook that makes other links seldom changes one that is a page's address already.
            LinkHook::Unknown if link.path.starts_with('/') => {
                match by_url(site, &from, &link.path, link.anchor.as_deref()) {
                    found @ Target::Page { .. } => found,
                    _ => Target::NotUnderstood,
                }
            }
            LinkHook::Unknown => Target::NotUnderstood,
            LinkHook::None => by_url(site, &from, &link.path, link.anchor.as_deref()),
            LinkHook::Embedded => {
                let path = link.path.strip_prefix("./").unwrap_or(&link.path);
                match page_of(site, &from, path, false) {
                    PageLookup::Page(file) => link.page(file),
                    PageLookup::Several => Target::NotUnderstood,
                    // A Markdown file among a page's resources has no address of its own.
                    PageLookup::Nothing if is_resource_beside(site, &from, path) => Target::NotUnderstood,
                    PageLookup::Nothing => by_url(site, &from, &link.path, link.anchor.as_deref()),
                }
            }
        }
    }

    fn resolve_template(&self, site: &Site, from: &str, target: &str) -> Target {
        let Some(reference) = reference(target) else { return Target::NotUnderstood };
        let Some(from) = ContentFile::of(site, from).filter(|_| site.address(from).is_some()) else {
            return Target::NotUnderstood;
        };
        let (path, anchor) = parts(reference.path);
        if is_external(reference.path) {
            return Target::External;
        }
        if path.is_empty() {
            return Target::page(from.file, anchor.as_deref());
        }
        match page_of(site, &from, path, true) {
            PageLookup::Page(file) => Target::page(file, anchor.as_deref()),
            PageLookup::Several => Target::NotUnderstood,
            PageLookup::Nothing => {
                let content_path =
                    joined(folder(from.relative_path), path).or_else(|| joined("", path)).unwrap_or_default();
                match from.settings.has_external_content
                    || is_generated(site, from.settings, &content_path)
                    || is_generated(site, from.settings, path.trim_matches('/'))
                {
                    true => Target::NotUnderstood,
                    false => Target::Missing { path: Some(content_path), anchor },
                }
            }
        }
    }

    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, syntax } = *wanted;
        let Some(page) = ContentFile::of(site, from) else { return vec![Plain.write(site, wanted)] };
        let suffix = suffix_of(like, anchor);
        let (like_path, _) = parts(like);
        let target = ContentFile::of(site, to).filter(|_| is_markdown_page(to));
        let content = target.as_ref().map(|target| below(&target.root.base_path, target.relative_path));
        let mut candidates = Vec::new();
        if let Some(old) = reference(like) {
            let (old_path, old_anchor) = parts(old.path);
            let anchor = anchor.map(str::to_owned).or(old_anchor).map_or(String::new(), |anchor| format!("#{anchor}"));
            let content = content.clone().unwrap_or_default();
            let target_path =
                if stem(old_path).is_some() { content } else { stem(&content).unwrap_or(&content).to_owned() };
            let relative = relative_path(folder(&below(&page.root.base_path, page.relative_path)), &target_path);
            let relative = (!old_path.starts_with('/')).then(|| relative.clone());
            candidates.extend(relative.into_iter().chain([format!("/{target_path}")]).map(|path| {
                match path.contains('/') && !old.before.ends_with(['"', '`']) {
                    // Without quotes an argument has no slash.
                    true => format!("{}\"{path}{anchor}\"{}", old.before, old.after),
                    false => format!("{}{path}{anchor}{}", old.before, old.after),
                }
            }));
        } else {
            let is_absolute = like_path.starts_with('/') || like_path.is_empty();
            if page.settings.hook == LinkHook::Embedded && syntax == LinkSyntax::Markdown && stem(like_path).is_some() {
                candidates.extend(content.as_ref().map(|content| match is_absolute {
                    true => format!("/{content}{suffix}"),
                    false => format!(
                        "{}{suffix}",
                        relative_path(folder(&below(&page.root.base_path, page.relative_path)), content)
                    ),
                }));
            }
            let address = match target.is_some() {
                true => address_of(site, to),
                false => page
                    .settings
                    .static_folders
                    .iter()
                    .find_map(|folder| to.strip_prefix(folder.as_str()))
                    .map(|path| path.trim_matches('/').to_owned())
                    .or_else(|| resource_address(site, to)),
            };
            if let Some(address) = address {
                let is_folder = target.is_some()
                    && !address.ends_with(".html")
                    && (like_path.ends_with('/') || stem(like_path).is_some() || is_absolute && like_path.is_empty());
                let slash = if is_folder && !address.is_empty() { "/" } else { "" };
                let base = if page.settings.prepends_base { "" } else { page.settings.base.as_str() };
                let absolute = format!("/{}{slash}{suffix}", encoded(&below(base, &address)));
                if !is_absolute && let Some(own_address) = address_of(site, from) {
                    let own_address = if own_address.ends_with(".html") { folder(&own_address) } else { &own_address };
                    let way = with_dot_slash_like(like_path, relative_path(own_address, &address));
                    candidates.push(format!("{}{slash}{suffix}", encoded(&way)));
                }
                candidates.push(absolute);
            }
        }
        let anchor = anchor
            .or(suffix.split_once('#').map(|(_, anchor)| anchor))
            .map_or(String::new(), |anchor| format!("#{anchor}"));
        let fallback = content.map(|content| format!("{{{{< relref \"/{content}{anchor}\" >}}}}"));
        if !(site.has_file(from) && site.has_any(to)) {
            // Where a link to a page that is not there yet will lead is not known.
            candidates.truncate(1);
        }
        let last = candidates.last().cloned();
        candidates.into_iter().chain(fallback).chain(last).collect()
    }
}

fn is_resource_beside(site: &Site, from: &ContentFile<'_>, path: &str) -> bool {
    let file = joined(folder(from.file), path).filter(|_| !path.starts_with('/'));
    is_bundle(from.file) && file.is_some_and(|file| is_markdown_page(&file) && site.has_file(&file))
}

/// Resolves a link as a browser does on the built page.
fn by_url(site: &Site, from: &ContentFile<'_>, path: &str, anchor: Option<&str>) -> Target {
    let settings = from.settings;
    let missing = |path: Option<String>| Target::Missing { path, anchor: anchor.map(str::to_owned) };
    let resolved = if let Some(absolute) = path.strip_prefix('/') {
        let path_in_site = if settings.prepends_base { Some(absolute) } else { path_in(&settings.base, absolute) };
        // The host may serve more than this site.
        let Some(path_in_site) = path_in_site else { return Target::NotUnderstood };
        joined("", path_in_site)
    } else {
        // Links of a page resource start from the pages that show it; a draft is not published.
        let Some(address) = site.address(from.file) else { return Target::NotUnderstood };
        joined(if address.ends_with(".html") { folder(address) } else { address }, path)
    };
    let Some(mut address) = resolved else {
        return if settings.base.is_empty() { missing(None) } else { Target::NotUnderstood };
    };
    if let Some(folder) = address.strip_suffix("index.html").filter(|rest| rest.is_empty() || rest.ends_with('/')) {
        address = folder.trim_end_matches('/').to_owned();
    }
    if let Some(file) = site.file_at(&address) {
        return Target::page(file, anchor);
    }
    // Hosts serve HTML files without their extension, but not all hosts with a trailing slash.
    if let Some(file) = site.file_at(&format!("{}.html", address.trim_end_matches('/'))) {
        return if path.ends_with('/') { Target::NotUnderstood } else { Target::page(file, anchor) };
    }
    if let Some(file) = resource(site, settings, &address) {
        return Target::Asset { file };
    }
    if let Some(destination) = site.redirect(&address) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    match settings.has_external_content || is_generated(site, settings, &address) {
        true => Target::NotUnderstood,
        false => missing(Some(address)),
    }
}

/// A file that is served unchanged: a static file or a resource of a page.
fn resource(site: &Site, settings: &HugoSettings, address: &str) -> Option<String> {
    let mut statics = settings.static_folders.iter().map(|folder| below(folder, address));
    if let Some(file) = statics.find(|file| site.has_any(file) && !address.is_empty()) {
        return Some(file);
    }
    // A resource is beside the file of the nearest page above.
    let mut above = address;
    while let Some((page, _)) = above.rsplit_once('/').or((!above.is_empty()).then_some(("", ""))) {
        if let Some(file) = site.file_at(page).filter(|file| is_bundle(file)) {
            let file = below(folder(file), address[page.len()..].trim_matches('/'));
            return (site.has_any(&file) && !is_markdown_page(&file)).then_some(file);
        }
        above = page;
    }
    let mut roots = site.layout().roots.iter().map(|root| below(&root.folder, address));
    roots.find(|file| site.has_any(file) && !is_markdown_page(file))
}

/// Whether a page is the index of its folder, so that the folder can contain its resources.
fn is_bundle(file: &str) -> bool {
    let name = file_name(file);
    name.starts_with("index.") || name.starts_with("_index.")
}

/// Whether Hugo may generate the page or file at an address.
fn is_generated(site: &Site, settings: &HugoSettings, address: &str) -> bool {
    let mut names: Vec<&str> = address.split('/').collect();
    let prefix = settings.languages.iter().any(|language| names.first() == Some(&language.as_str()));
    if prefix {
        names.remove(0);
    }
    let name = names.last().copied().unwrap_or_default();
    let is_feed =
        [".xml", ".json", ".txt", ".js", ".css", ".webmanifest", ".ics"].iter().any(|ending| name.ends_with(ending));
    let path = names.join("/");
    // A folder of pages has a list page, and files in other formats than Markdown may be pages, too.
    let is_folder_or_page = site.layout().roots.iter().any(|root| {
        let path = below(&root.folder, path.strip_prefix(&root.base_path).unwrap_or(&path).trim_matches('/'));
        let other_extensions = ["html", "adoc", "org", "rst", "pandoc", "asciidoc", "gotmpl"];
        let page = |file: &str| other_extensions.iter().any(|ending| site.has_any(&format!("{path}{file}.{ending}")));
        site.has_folder(&path)
            || page("")
            || page("/index")
            || page("/_index")
            || site.has_any(&format!("{}/_content.gotmpl", folder(&path)))
    });
    is_feed
        || names.first().is_some_and(|first| settings.generated_segments.contains(*first))
        || names.contains(&"page")
        || is_folder_or_page
}

/// The result of looking up a page by Hugo's rules for references.
enum PageLookup {
    Page(String),
    Several,
    Nothing,
}

/// Looks up the page that a reference names. `anywhere` is for `ref` and `relref`, which find a unique name in any
/// folder.
fn page_of(site: &Site, from: &ContentFile<'_>, path: &str, in_any_folder: bool) -> PageLookup {
    let language = from.language();
    let has_ending = path.rsplit('/').next().is_some_and(|name| name.contains('.') && !name.starts_with('.'));
    let own_path = below(&from.root.base_path, from.relative_path);
    let (dir, name) = (folder(&own_path), file_name(&own_path));
    let mut candidates = Vec::new();
    if !path.starts_with('/') {
        let is_leaf = name.starts_with("index.");
        if is_leaf && !(has_ending && path.starts_with("../")) {
            candidates.extend(joined(folder(dir), path));
        }
        candidates.extend(joined(dir, path).filter(|_| !is_leaf || has_ending));
    }
    if !path.starts_with('.') {
        candidates.extend(joined("", path));
    }
    for path in candidates {
        if let Some(file) = at_path(site, language.as_deref(), &path) {
            return PageLookup::Page(file);
        }
    }
    let name = path.trim_matches('/');
    if !in_any_folder || name.contains('/') || name.is_empty() || path.starts_with('.') {
        return PageLookup::Nothing;
    }
    let wanted = logical(name, &from.settings.languages);
    let mut matches = site.files().filter(|file| {
        let Some(other) = ContentFile::of(site, file).filter(|_| site.address(file).is_some()) else { return false };
        let path = logical(&below(&other.root.base_path, other.relative_path), &other.settings.languages);
        path.rsplit('/').next() == Some(wanted.as_str()) && other.language() == language
    });
    match (matches.next(), matches.next()) {
        (Some(file), None) => PageLookup::Page(file.to_owned()),
        (Some(_), Some(_)) => PageLookup::Several,
        _ => PageLookup::Nothing,
    }
}

/// The logical path of a content file: without extension, language and index name, in lower case, spaces as hyphens.
fn logical(path: &str, languages: &[String]) -> String {
    let path = stem(path).unwrap_or(path);
    let path = path
        .rsplit_once('.')
        .filter(|(_, last)| languages.iter().any(|language| language == last))
        .map_or(path, |(path, _)| path);
    let path = match path.rsplit_once('/') {
        Some((folder, "index" | "_index")) => folder,
        None if matches!(path, "index" | "_index") => "",
        _ => path,
    };
    path.to_lowercase().replace(' ', "-")
}

/// The page at a path relative to the content folder.
fn at_path(site: &Site, language: Option<&str>, path: &str) -> Option<String> {
    let is_of = |file: &str| {
        let other = ContentFile::of(site, file)?;
        (site.address(file).is_some() && other.language().as_deref() == language).then_some(())
    };
    let languages = site.layout().roots.first()?.options.hugo.as_deref()?.languages.as_slice();
    let wanted = logical(path.trim_matches('/'), languages);
    let page_stem = stem(path.trim_matches('/')).unwrap_or(path.trim_matches('/'));
    let page_stem = page_stem
        .strip_suffix("_index")
        .or(page_stem.strip_suffix("index"))
        .filter(|rest| rest.is_empty() || rest.ends_with('/'))
        .unwrap_or(page_stem)
        .trim_matches('/');
    let language_suffixes = std::iter::once(String::new()).chain(language.map(|language| format!(".{language}")));
    for language_suffix in language_suffixes {
        for root in &site.layout().roots {
            let Some(relative_path) = page_stem.strip_prefix(root.base_path.as_str()) else { continue };
            let stem = below(&root.folder, relative_path);
            for name in ["", "/_index", "/index"] {
                let file = format!("{stem}{name}{language_suffix}.md");
                let file = file.trim_start_matches('/');
                if site.has_file(file) && is_of(file).is_some() {
                    return Some(file.to_owned());
                }
            }
        }
    }
    let mut files = site.files().filter(|file| is_markdown_page(file));
    let found = files.find(|file| {
        ContentFile::of(site, file).is_some_and(|other| {
            logical(&below(&other.root.base_path, other.relative_path), languages) == wanted && is_of(file).is_some()
        })
    });
    found.map(str::to_owned)
}

/// `{{< ref "path" >}}`, `{{% relref "path" %}}` and their other forms.
struct Reference<'t> {
    before: &'t str,
    path: &'t str,
    after: &'t str,
}

fn reference(target: &str) -> Option<Reference<'_>> {
    static REF: LazyLock<Regex> = LazyLock::new(|| {
        let argument = r#"(?:path\s*=\s*)?(?:"([^"]*)"|`([^`]*)`|([^\s"`=]+))"#;
        Regex::new(&format!(r"^\{{\{{[<%]\s*(?:rel)?ref\s+{argument}\s*/?[>%]\}}\}}$"))
            .expect("the pattern is written out above")
    });
    let found = REF.captures(target)?;
    let path = found.get(1).or(found.get(2)).or(found.get(3))?;
    Some(Reference { before: &target[..path.start()], path: path.as_str(), after: &target[path.end()..] })
}

/// Adds the references of a page that stand in its text or in an attribute, as links whose destination is all of the
/// reference.
pub(super) fn add_references(text: &str, page: &mut Page) {
    regex!(REFERENCE, r"\{\{[<%]\s*(?:rel)?ref\s[^{}\n]{1,300}?[>%]\}\}");
    if !text.contains("ref") || !page.format.is_markdown() {
        return;
    }
    let mut known: Vec<Range<usize>> = page.links.iter().map(|link| link.dest_span.clone()).collect();
    known.extend(page.code.iter().cloned());
    known.sort_by_key(|range| range.start);
    let is_known = |span: &Range<usize>| {
        let before = known.partition_point(|range| range.start <= span.start);
        before > 0 && span.end <= known[before - 1].end
    };
    let found = REFERENCE.find_iter(text).map(|found| found.range());
    let spans: Vec<Range<usize>> = found.filter(|span| !is_known(span)).collect();
    // The quotes of a reference end an attribute for those who do not know it.
    page.links.retain(|link| {
        let next = spans.partition_point(|span| span.end <= link.dest_span.start);
        spans.get(next).is_none_or(|span| link.dest_span.end <= span.start)
    });
    let links = spans.into_iter().map(|span| Link::of(text[span.clone()].to_owned(), span, LinkKind::Inline));
    page.links.extend(links);
    page.links.sort_by_key(|link| (link.span.start, link.dest_span.start));
}

/// The address of a page, or the address it will have: a page that is being moved is not in the tree yet.
fn address_of(site: &Site, file: &str) -> Option<String> {
    match site.address(file) {
        Some(address) => Some(address.to_owned()),
        None => (!site.has_file(file)).then(|| site.layout().place(file).site_path),
    }
}

/// The address of a resource of a page.
fn resource_address(site: &Site, file: &str) -> Option<String> {
    let mut above = folder(file);
    loop {
        let index = ["index.md", "_index.md"].iter().find_map(|name| site.address(&below(above, name)));
        if let Some(address) = index {
            return Some(below(address, file[above.len()..].trim_matches('/')));
        }
        if above.is_empty() {
            let root = site.layout().root(file)?;
            return Some(below(&language_folder(root, ""), root.relative_path(file)?));
        }
        above = folder(above);
    }
}
