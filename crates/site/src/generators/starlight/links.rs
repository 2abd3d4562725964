//! Resolves and writes links in Starlight sites.

use docent_markdown::{folder, joined};

use super::{Starlight, StarlightOptions, TrailingSlash};
use crate::generators::LinkRules;
use crate::generators::fallback_links::{resolve_by_name, retargeted_link_by_name};
use crate::layout::below;
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, escaped, has_markdown_ending, parts, relative_file_path, relative_path,
    retargeted_link, suffix_of, with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::path_in;

/// Extensions of files in `src/pages` that may be pages.
const SOURCE_EXTENSIONS: [&str; 6] = ["astro", "html", "ts", "js", "md", "mdx"];

/// The pages and link settings of one site.
struct Links<'s> {
    site: &'s Site,
    options: &'s StarlightOptions,
}

impl LinkRules for Starlight {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let links = Links::of(site);
        let Some(address) = site.address(link.from) else {
            let is_inside = link.from.starts_with(&format!("{}/", site.file_of_home("src")));
            return match (is_inside, link.is_absolute()) {
                (false, _) => resolve_by_name(site, link),
                (true, true) => links.resolve_absolute(link),
                // A relative link in an included file starts from the page that includes the file.
                (true, false) => Target::NotUnderstood,
            };
        };
        if link.path.starts_with(['~', '@']) {
            // A path alias, which the TypeScript configuration defines.
            return Target::NotUnderstood;
        }
        if link.is_absolute() {
            return links.resolve_absolute(link);
        }
        let linked_file = joined(folder(link.from), &link.path);
        if has_markdown_ending(&link.path) && links.options.changes_links {
            // Only a plugin turns a link to a Markdown file into one to its page.
            let page = linked_file.filter(|file| site.address(file).is_some());
            return page.map_or(Target::NotUnderstood, |file| link.page(file));
        }
        let is_asset =
            |file: &String| site.has_any(file) && !has_markdown_ending(file) && link.syntax != LinkSyntax::Html;
        if let Some(file) = linked_file.filter(is_asset) {
            return Target::Asset { file };
        }
        match joined(&links.relative_link_base(address), &link.path) {
            Some(name) => links.target_at(link, &name),
            // The link leads above the base path, to another part of the host.
            None if links.options.base.as_deref() != Some("") => Target::NotUnderstood,
            None => links.target_at(link, link.path.trim_start_matches("../")),
        }
    }

    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        let links = Links::of(site);
        let (path, _) = parts(like);
        let suffix = suffix_of(like, anchor);
        let (Some(own_address), Some(base)) = (site.address(from), &links.options.base) else {
            return retargeted_link_by_name(site, wanted);
        };
        let base = if base.is_empty() { String::new() } else { format!("/{base}") };
        let Some(address) = site.address(to) else {
            let public = format!("{}/", site.file_of_home("public"));
            return match to.strip_prefix(&public) {
                Some(served) => format!("{base}/{}{suffix}", escaped(served)),
                None if path.is_empty() || path.starts_with('/') => {
                    format!("{}{suffix}", retargeted_link("x", from, to, None))
                }
                None => retargeted_link(like, from, to, anchor),
            };
        };
        if path.is_empty() && from == to && !like.is_empty() {
            return suffix;
        }
        if has_markdown_ending(path) && links.options.changes_links && !path.starts_with('/') {
            return retargeted_link(like, from, to, anchor);
        }
        // A page that replaces a missing translation is linked to in the language of that translation.
        let like_name =
            path.strip_prefix('/').map(|path| path.strip_prefix(base.trim_start_matches('/')).unwrap_or(path));
        let address = match like_name.and_then(|name| links.language_of(name.trim_matches('/'))) {
            Some(language) if links.is_fallback_in(language, address) => {
                below(language, &links.without_default_language(address))
            }
            _ => address.to_owned(),
        };
        let has_slash = match links.options.trailing_slash {
            TrailingSlash::Always => true,
            TrailingSlash::Never => false,
            TrailingSlash::Either => path.is_empty() || path.ends_with('/'),
        };
        let is_relative = !path.is_empty() && !path.starts_with('/') && !has_markdown_ending(path);
        let written = match is_relative {
            true => {
                let folder = links.relative_link_base(own_address);
                // Without a trailing slash, the link has to contain the last segment of the address.
                match has_slash || address.is_empty() {
                    true => format!("{}/", with_dot_slash_like(path, relative_path(&folder, &address))),
                    false => with_dot_slash_like(path, relative_file_path(&folder, &address)),
                }
            }
            false => {
                let slash = if has_slash && !address.is_empty() { "/" } else { "" };
                let between = if address.is_empty() && !base.is_empty() && !has_slash { "" } else { "/" };
                format!("{base}{between}{address}{slash}")
            }
        };
        format!("{}{suffix}", escaped(&written))
    }
}

impl<'s> Links<'s> {
    fn of(site: &'s Site) -> Self {
        Self { site, options: &site.layout().options.starlight }
    }

    /// The folder that a relative URL on a page starts from.
    fn relative_link_base(&self, address: &str) -> String {
        match self.options.trailing_slash == TrailingSlash::Never || self.options.builds_files {
            true => folder(address).to_owned(),
            false => address.to_owned(),
        }
    }

    fn resolve_absolute(&self, link: &ParsedLink<'_>) -> Target {
        let Some(path) = joined("", &link.path) else { return Target::NotUnderstood };
        let Some(base) = self.options.base.as_deref() else { return Target::NotUnderstood };
        match path_in(base, &path) {
            Some(name) => self.target_at(link, name),
            // The host serves something else there, or nothing, or a plugin adds the base.
            None => Target::NotUnderstood,
        }
    }

    /// What is served at a path relative to the base path.
    fn target_at(&self, link: &ParsedLink<'_>, name: &str) -> Target {
        if self.options.addresses_computed {
            return Target::NotUnderstood;
        }
        let name = name.trim_matches('/');
        let name = name.strip_suffix("/index.html").unwrap_or(if name == "index.html" { "" } else { name });
        let without_ending = name.strip_suffix(".html").filter(|_| self.options.builds_files);
        let exact = |name: &str| self.site.served.get(name).map(String::as_str);
        if let Some(file) = exact(name).or_else(|| exact(without_ending?)) {
            return link.page(file);
        }
        let public = self.site.file_of_home(&below("public", name));
        if self.site.has_any(&public) {
            return Target::Asset { file: public };
        }
        if let Some(file) = self.source_of_page(name) {
            return Target::Asset { file };
        }
        if let Some(destination) = self.site.redirect(name) {
            return Target::Redirect { destination: destination.to_owned() };
        }
        // Where a translation is missing, the page of the default language stands in.
        let language = self.language_of(name);
        let rest = language.map(|language| name[language.len()..].trim_matches('/'));
        let stand_in = rest.map(|rest| below(&self.options.default_language, rest));
        if [Some(name), stand_in.as_deref()].into_iter().flatten().any(|name| self.site.is_served_outside(name)) {
            return Target::NotUnderstood;
        }
        if let Some(file) = stand_in.and_then(|name| exact(&name)) {
            return link.page(file);
        }
        // A name with an extension may be a generated file, such as a feed or a sitemap.
        let may_be_generated = !link.path.ends_with('/')
            && name
                .rsplit('/')
                .next()
                .is_some_and(|last| last.contains('.') && !last.ends_with(".html") && !has_markdown_ending(last));
        let is_of_plugin = self.options.plugin_paths.iter().any(|path| path_in(path, rest.unwrap_or(name)).is_some());
        if may_be_generated
            || self.options.adds_pages
            || is_of_plugin
            || self.may_match_route(name)
            || has_markdown_ending(name) && self.options.changes_links
        {
            return Target::NotUnderstood;
        }
        link.missing(Some(name.to_owned()))
    }

    /// The file in `src/pages` that renders what is served at a path.
    fn source_of_page(&self, name: &str) -> Option<String> {
        let pages = self.site.file_of_home("src/pages");
        let stems = [below(&pages, name), below(&pages, &below(name, "index"))];
        let files =
            stems.iter().flat_map(|stem| SOURCE_EXTENSIONS.iter().map(move |ending| format!("{stem}.{ending}")));
        let with_extension = SOURCE_EXTENSIONS[2..4].iter().map(|ending| format!("{}.{ending}", stems[0]));
        files.chain(with_extension).find(|file| self.site.has_any(file))
    }

    /// Whether a path may be a page of a dynamic route in `src/pages`.
    fn may_match_route(&self, name: &str) -> bool {
        let pages = format!("{}/", self.site.file_of_home("src/pages"));
        let outside = self.site.outside.iter().map(String::as_str);
        let mut routes = self.site.files().chain(outside).filter_map(|file| file.strip_prefix(&pages)?.split_once('['));
        routes.any(|(start, _)| name.starts_with(start))
    }

    /// The language whose folder a path is in.
    fn language_of(&self, name: &str) -> Option<&'s str> {
        let languages = self.options.languages.iter().map(String::as_str);
        languages.into_iter().find(|language| path_in(language, name).is_some())
    }

    fn without_default_language(&self, address: &str) -> String {
        address.strip_prefix(self.options.default_language.as_str()).unwrap_or(address).trim_matches('/').to_owned()
    }

    /// Whether a page of the default language replaces its missing translation into another language.
    fn is_fallback_in(&self, language: &str, address: &str) -> bool {
        let page_language = self.language_of(address).unwrap_or("");
        page_language == self.options.default_language
            && language != page_language
            && !self.site.served.contains_key(&below(language, &self.without_default_language(address)))
            && self.source_of_page(&below(language, &self.without_default_language(address))).is_none()
    }
}

#[cfg(test)]
mod tests;
