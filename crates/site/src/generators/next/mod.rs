//! Rules that the generators on Next.js share: links are URLs, resolved against that of the page.

pub(super) mod config;

use docent_markdown::is_markdown_page;

use self::config::is_served_by_application;
use super::Root;
use crate::link_target::{
    LinkRequest, ParsedLink, encoded, has_page_ending, parts, relative_path, retargeted_link, suffix_of,
    with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::path_in;
use crate::tree::joined_in;

/// Whether a folder is a route group, `(name)`, which is not part of addresses.
pub(super) fn is_group(name: &str) -> bool {
    name.len() > 2 && name.starts_with('(') && name.ends_with(')')
}

/// Resolves a link as a URL: absolute from the root of the site, relative from the URL of the page.
pub(super) fn by_url(site: &Site, link: &ParsedLink<'_>, path: &str) -> Target {
    if site.layout().root(link.from).is_none() {
        return crate::generators::fallback_links::resolve_by_name(site, link);
    }
    let settings = &site.layout().options.next;
    let address = if path.starts_with('/') {
        path.trim_matches('/').to_owned()
    } else {
        let Some(page_address) = site.address(link.from) else { return Target::NotUnderstood };
        let folder = if settings.trailing_slash { page_address } else { docent_markdown::folder(page_address) };
        // The path leads above the root. A browser stays at the root of the host, but the base path is unknown here.
        let Some(address) = docent_markdown::joined(folder, path) else { return Target::NotUnderstood };
        address
    };
    match page_at(site, link.from, &address) {
        PageLookup::Page(file) => return link.page(file),
        PageLookup::Ambiguous => return Target::NotUnderstood,
        PageLookup::Nothing => {}
    }
    if let Some(destination) = site.redirect(&address) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    let public = joined_in(site.root(), site.layout().home(), &format!("public/{address}"));
    if let Some(file) = public.filter(|file| site.has_any(file)) {
        return Target::Asset { file };
    }
    let relative_file = docent_markdown::joined(docent_markdown::folder(link.from), path);
    if let Some(file) =
        relative_file.filter(|file| !path.starts_with('/') && site.has_any(file) && !is_markdown_page(file))
    {
        // The build includes files that are linked to relative to the page, such as images.
        return Target::Asset { file };
    }
    let rest = settings.languages.split(&address).map_or(address.as_str(), |(_, rest)| rest);
    let is_below_root = |root: &Root| !root.base_path.is_empty() && path_in(&root.base_path, rest).is_some();
    // The application may have routes besides the pages, which are unknown here.
    let is_known = !settings.has_computed_routes && site.layout().roots.iter().any(is_below_root);
    match is_known && !site.is_served_outside(&address) && !is_served_by_application(site, rest) {
        true => link.missing(Some(address)),
        false => Target::NotUnderstood,
    }
}

enum PageLookup {
    Page(String),
    /// The page in the default language or its translation, depending on the application.
    Ambiguous,
    Nothing,
}

/// The page at an address. A missing translation is replaced by the page in the default language, and an address
/// without a language is in that of the page with the link.
fn page_at(site: &Site, from: &str, address: &str) -> PageLookup {
    let languages = &site.layout().options.next.languages;
    let file = |address: &str| site.file_at(address).map(str::to_owned);
    let in_language = |language: &str, rest: &str| {
        let translation = file(&languages.address(language, rest));
        translation
            .or_else(|| file(&languages.address(&languages.default, rest)).filter(|_| languages.falls_back_to_default))
    };
    let found = match languages.split(address) {
        Some((language, rest)) => file(address).or_else(|| in_language(language, rest)),
        None if languages.names.is_empty() => file(address),
        None => {
            let page_language =
                site.address(from).and_then(|address| languages.split(address)).map(|(language, _)| language);
            let page_language = page_language.unwrap_or(&languages.default);
            let (unprefixed, translated) = (file(address), in_language(page_language, address));
            let in_default = file(&languages.address(&languages.default, address));
            // Components may add the language, or not; Next.js and Nextra always do.
            let is_ambiguous = languages.falls_back_to_default && languages.hides_default && unprefixed != translated;
            if is_ambiguous || translated.is_none() && in_default.is_some() {
                return PageLookup::Ambiguous;
            }
            translated.or(unprefixed)
        }
    };
    found.map_or(PageLookup::Nothing, PageLookup::Page)
}

/// By file path if `like` has the extension of a page; else as a URL, absolute unless `like` is relative. Assets are
/// linked to by their path in `public`.
pub(super) fn forms(site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
    let LinkRequest { from, to, anchor, like, .. } = *wanted;
    let (written, _) = parts(like);
    let by_file = [retargeted_link(like, from, to, anchor)].into_iter().filter(|_| has_page_ending(written));
    let address = match is_markdown_page(to) {
        true => site.address(to).map(str::to_owned),
        false => to.strip_prefix(&format!("{}/", site.file_of_home("public"))).map(str::to_owned),
    };
    let Some(address) = address else { return Vec::new() };
    let slash = if written.ends_with('/') && !address.is_empty() { "/" } else { "" };
    let tail = suffix_of(like, anchor);
    let absolute = format!("{}{tail}", encoded(&format!("/{address}{slash}")));
    let languages = &site.layout().options.next.languages;
    let is_unprefixed = written.starts_with('/') && languages.split(written.trim_matches('/')).is_none();
    let unprefixed = languages.split(&address).filter(|_| is_unprefixed);
    let unprefixed = unprefixed.map(|(_, rest)| format!("{}{tail}", encoded(&format!("/{rest}{slash}"))));
    let is_relative = !written.is_empty() && !written.starts_with('/') && !has_page_ending(written);
    let page_address = site.address(from).filter(|_| is_relative);
    let relative = page_address.map(|page_address| {
        let folder = if site.layout().options.next.trailing_slash {
            page_address
        } else {
            docent_markdown::folder(page_address)
        };
        format!(
            "{}{tail}",
            encoded(&format!("{}{slash}", with_dot_slash_like(written, relative_path(folder, &address))))
        )
    });
    by_file.chain(relative).chain(unprefixed).chain([absolute]).collect()
}

#[cfg(test)]
mod tests;
