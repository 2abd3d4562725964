//! Resolves and writes links in VitePress sites.

use docent_markdown::{AnchorStyle, folder, is_markdown_page, joined, stem};

use super::{VitePress, VitePressOptions};
use crate::generators::fallback_links::{resolve_by_name, retargeted_link_by_name};
use crate::generators::{LinkRules, Root};
use crate::layout::{Layout, below};
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, escaped, has_markdown_ending, parts, relative_file_path, retargeted_link,
    suffix_of, with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::{index_path, path_in};

/// File extensions that VitePress knows as those of assets. A link with any other extension, or none, is one to a page.
const ASSET_EXTENSIONS: &str = "\
    3g2,3gp,aac,ai,apng,au,avif,bin,bmp,cer,class,conf,crl,css,csv,dll,doc,eps,epub,exe,gif,gz,ics,ief,jar,\
    jpe,jpeg,jpg,js,json,jsonld,m4a,man,mid,midi,mjs,mov,mp2,mp3,mp4,mpe,mpeg,mpg,mpp,oga,ogg,ogv,ogx,opus,otf,p10,p7c,p7m,\
    p7s,pdf,png,ps,qt,roff,rtf,rtx,ser,svg,t,tif,tiff,tr,ts,tsv,ttf,txt,vtt,wav,weba,webm,webp,woff,woff2,xhtml,xml,yaml,\
    yml,zip";

/// Extensions of files that builds generate: feeds, sitemaps, archives.
const GENERATED_EXTENSIONS: [&str; 9] = ["css", "gz", "js", "json", "jsonld", "mjs", "txt", "xml", "zip"];

/// The pages and link settings of one site.
struct Links<'s> {
    site: &'s Site,
    root: &'s Root,
    options: &'s VitePressOptions,
}

impl LinkRules for VitePress {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let Some(links) = Links::of(site) else { return resolve_by_name(site, link) };
        let Some(source_path) = links.root.source_path(link.from) else { return resolve_by_name(site, link) };
        if site.address(link.from).is_none() && !link.is_absolute() {
            // A relative link in an included file starts from the page that includes the file.
            return Target::NotUnderstood;
        }
        if asset_ending(&link.path).is_some() {
            return links.asset(link, &source_path);
        }
        if links.options.addresses_computed || matches!(link.path.rsplit('/').next(), Some("." | "..")) {
            return Target::NotUnderstood;
        }
        if has_markdown_ending(&link.path) && link.syntax == LinkSyntax::Component {
            return Target::NotUnderstood;
        }
        let rewritten = links.root.rewritten(&source_path);
        let Some(name) = joined(if link.is_absolute() { "" } else { folder(&rewritten) }, &link.path) else {
            return link.missing(None);
        };
        if link.syntax == LinkSyntax::Html {
            return links.resolve_html(link, &name);
        }
        links.page(link, &name).unwrap_or_else(|| match links.without_base(link, &name) {
            Some(stripped) => links.page(link, stripped).unwrap_or_else(|| links.unresolved_target(link, stripped)),
            None => links.unresolved_target(link, &name),
        })
    }

    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, syntax } = *wanted;
        let Some(links) = Links::of(site).filter(|links| !links.options.addresses_computed) else {
            return retargeted_link_by_name(site, wanted);
        };
        let (Some(source_path), true) = (links.root.source_path(from), site.address(from).is_some()) else {
            return retargeted_link_by_name(site, wanted);
        };
        let (path, _) = parts(like);
        let suffix = suffix_of(like, anchor);
        let base = match (syntax, links.options.base.as_deref()) {
            (LinkSyntax::Html, Some(base)) if !base.is_empty() && path.starts_with('/') => format!("/{base}"),
            _ => links.base_prefix(path),
        };
        if site.address(to).is_none() {
            let public = links.root.file_of(site.root(), "public/x");
            let public_path = to.strip_prefix(public.trim_end_matches('x'));
            let target_path = links.root.source_path(to);
            let path = match (public_path, &target_path) {
                (Some(public_path), _) => public_path,
                (None, Some(target_path)) if path.starts_with('/') => target_path,
                _ if path.is_empty() => return retargeted_link(&format!("x{like}"), from, to, anchor),
                _ => return retargeted_link(like, from, to, anchor),
            };
            return format!("{base}/{}{suffix}", escaped(path));
        }
        if path.is_empty() && from == to && !like.is_empty() {
            return suffix;
        }
        let target = links.stem(to);
        let is_absolute = path.starts_with('/');
        let ending = if syntax != LinkSyntax::Markdown && (has_markdown_ending(path) || path.is_empty()) {
            ".html"
        } else if has_markdown_ending(path) || path.is_empty() {
            ".md"
        } else if path.ends_with(".html") {
            ".html"
        } else if asset_ending(&target).is_some() {
            // Without `.md`, the target would be treated as an asset.
            ".md"
        } else {
            ""
        };
        // A link to the index of a folder is the folder with a trailing slash.
        let is_folder = ending.is_empty() && index_path(&target, &["index"]) != target;
        let target = if is_folder { target.trim_end_matches("index").to_owned() } else { format!("{target}{ending}") };
        let written = match is_absolute {
            true => format!("{base}/{target}"),
            false => {
                let way = relative_file_path(folder(&links.root.rewritten(&source_path)), &target);
                // A name with a colon would be read as a scheme.
                let is_dotted = way.is_empty() || target.rsplit('/').next().is_some_and(|name| name.contains(':'));
                if is_dotted { format!("./{way}") } else { with_dot_slash_like(path, way) }
            }
        };
        format!("{}{suffix}", escaped(&written))
    }

    fn anchor(&self, layout: &Layout, written: String, syntax: LinkSyntax) -> String {
        match layout.options.vitepress.slugs_anchors && syntax == LinkSyntax::Markdown {
            true => AnchorStyle::VitePress.slug(&written),
            false => written,
        }
    }
}

impl<'s> Links<'s> {
    fn of(site: &'s Site) -> Option<Self> {
        let layout = site.layout();
        Some(Self { site, root: layout.roots.first()?, options: &layout.options.vitepress })
    }

    /// The rewritten path of a page without extension, relative to the folder of the root; an index is `folder/index`.
    fn stem(&self, file: &str) -> String {
        let rewritten = self.root.rewritten(&self.root.source_path(file).unwrap_or_else(|| file.to_owned()));
        stem(&rewritten).unwrap_or(&rewritten).to_owned()
    }

    /// The page with such a path, see [`Self::stem`].
    fn page_of(&self, stem: &str) -> Option<&'s str> {
        // `a.md` and `a/index.md` are two pages whose addresses differ only in the trailing slash.
        let file = self.root.file_of(self.site.root(), &format!("{stem}.md"));
        let exact = self.site.address(&file).and_then(|_| self.site.files.get(&file)).map(String::as_str);
        exact.into_iter().chain(self.site.file_at(&index_path(stem, &["index"]))).find(|file| self.stem(file) == stem)
    }

    /// The page or HTML file at a path relative to the base path.
    fn page(&self, link: &ParsedLink<'_>, name: &str) -> Option<Target> {
        let is_folder = link.path.ends_with('/') || name.is_empty();
        let name = name.strip_suffix(".md").or_else(|| name.strip_suffix(".html")).unwrap_or(name);
        let index = below(name, "index");
        let (preferred, alternative) = if is_folder { (index.as_str(), name) } else { (name, index.as_str()) };
        if let Some(file) = self.page_of(preferred) {
            return Some(link.page(file));
        }
        if self.site.outside.contains(&self.root.file_of(self.site.root(), &format!("{preferred}.md"))) {
            return Some(Target::NotUnderstood);
        }
        let html = self.root.file_of(self.site.root(), &format!("public/{preferred}.html"));
        if self.site.has_file(&html) {
            return Some(Target::Asset { file: html });
        }
        // A folder without trailing slash or a page with one is a dead link that fails the build; if the build accepts
        // it, it works for readers.
        let file = self.page_of(alternative).filter(|_| self.options.accepts_dead_links)?;
        Some(link.page(file))
    }

    /// Resolves a path that VitePress leaves to the browser: an absolute one includes the base path. The source file of
    /// a page is not served.
    fn resolve_html(&self, link: &ParsedLink<'_>, name: &str) -> Target {
        let has_base = self.options.base.as_deref().is_some_and(|base| !base.is_empty()) && link.is_absolute();
        let path = if has_base { self.without_base(link, name) } else { Some(name) };
        match path {
            Some(path) if has_markdown_ending(&link.path) => self.unresolved_target(link, path),
            Some(path) => self.page(link, path).unwrap_or_else(|| self.unresolved_target(link, path)),
            // The host may serve something else beside this site.
            None => Target::NotUnderstood,
        }
    }

    /// The target of a path that leads to no page: a redirect, something that only the build knows, or missing.
    fn unresolved_target(&self, link: &ParsedLink<'_>, name: &str) -> Target {
        if let Some(destination) = self.site.redirect(name) {
            return Target::Redirect { destination: destination.to_owned() };
        }
        let name = name.strip_suffix(".md").or_else(|| name.strip_suffix(".html")).unwrap_or(name);
        let file = self.root.file_of(self.site.root(), &format!("{name}.md"));
        let is_excluded = self.site.has_file(&file) && !is_markdown_page(&file);
        if is_excluded || self.may_match_route(name) || (self.options.base.is_none() && link.is_absolute()) {
            return Target::NotUnderstood;
        }
        link.missing(Some(name.to_owned()))
    }

    /// Whether a path may be a page of a dynamic route.
    fn may_match_route(&self, name: &str) -> bool {
        self.site.files().filter(|file| file.contains('[')).filter_map(|file| self.root.source_path(file)).any(
            |source_path| {
                let rewritten = self.root.rewritten(&source_path);
                let Some(route) = stem(&rewritten) else { return false };
                let route = index_path(route, &["index"]);
                let (pattern, segment) = (route.split('/'), name.split('/'));
                pattern.clone().count() == segment.clone().count()
                    && pattern.zip(segment).all(|(pattern, segment)| matches_segment(pattern, segment))
            },
        )
    }

    fn asset(&self, link: &ParsedLink<'_>, source_path: &str) -> Target {
        let source_file = |path: &str| self.root.file_of(self.site.root(), path);
        let rewritten = self.root.rewritten(source_path);
        let exists = |path: &String| self.site.has_any(path);
        let site_path = joined(if link.is_absolute() { "" } else { folder(&rewritten) }, &link.path);
        let mut files = Vec::new();
        if !link.is_absolute() {
            // Images are resolved relative to the source file.
            files.extend(joined(folder(link.from), &link.path));
        }
        for site_path in site_path
            .iter()
            .map(String::as_str)
            .chain(site_path.as_deref().and_then(|name| self.without_base(link, name)))
        {
            files.push(source_file(&below("public", site_path)));
            files.push(source_file(site_path));
        }
        if let Some(file) = files.iter().find(|file| exists(file)) {
            return Target::Asset { file: file.clone() };
        }
        let is_generated =
            asset_ending(&link.path).is_some_and(|ending| GENERATED_EXTENSIONS.contains(&ending.as_str()));
        match site_path {
            Some(path) if !is_generated => link.missing(Some(path)),
            _ => Target::NotUnderstood,
        }
    }

    /// Strips the base path, which absolute links in HTML have to include and which VitePress adds to those in
    /// Markdown.
    fn without_base<'n>(&self, link: &ParsedLink<'_>, name: &'n str) -> Option<&'n str> {
        let base = self.options.base.as_deref().filter(|base| !base.is_empty() && link.is_absolute())?;
        path_in(base, name)
    }

    /// The base path with a leading slash if an absolute link begins with it, else `""`.
    fn base_prefix(&self, path: &str) -> String {
        match self.options.base.as_deref().filter(|base| !base.is_empty()) {
            Some(base) if path.strip_prefix('/').is_some_and(|path| path_in(base, path).is_some()) => {
                format!("/{base}")
            }
            _ => String::new(),
        }
    }
}

/// The extension of a path, in lower case, if it is one of an asset.
fn asset_ending(path: &str) -> Option<String> {
    let (_, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let ending = ending.to_ascii_lowercase();
    ASSET_EXTENSIONS.split(',').any(|known| known == ending).then_some(ending)
}

/// Whether a path segment matches a segment of a route: `v2` matches `v[major]`.
fn matches_segment(pattern: &str, segment: &str) -> bool {
    match (pattern.split_once('['), pattern.rsplit_once(']')) {
        (Some((start, _)), Some((_, end))) => {
            segment.len() >= start.len() + end.len() && segment.starts_with(start) && segment.ends_with(end)
        }
        _ => pattern == segment,
    }
}

#[cfg(test)]
mod tests;
