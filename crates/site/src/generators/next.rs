//! Rules that the generators on Next.js share: links are URLs, resolved against that of the page.

use docent_markdown::is_markdown_page;

use super::Root;
use super::next_config::is_served_otherwise;
use crate::follow::{
    LinkRequest, ParsedLink, encoded, has_page_ending, parts, relative_path, retargeted_link, suffix_of,
    with_dot_slash_like,
};
use crate::layout::below;
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
        return crate::generators::by_names::by_names(site, link);
    }
    let settings = &site.layout().options.next;
    let address = if path.starts_with('/') {
        path.trim_matches('/').to_owned()
    } else {
        let Some(own) = site.address(link.from) else { return Target::NotUnderstood };
        let folder = match settings.trailing_slash {
            true => own,
            false => docent_markdown::folder(own),
        };
        // The path leads above the root. A browser stays at the root of the host, but the base path is unknown here.
        let Some(address) = docent_markdown::joined(folder, path) else { return Target::NotUnderstood };
        address
    };
    match page_at(site, link.from, &address) {
        Found::Page(file) => return link.page(file),
        Found::Either => return Target::NotUnderstood,
        Found::Nothing => {}
    }
    if let Some(destination) = site.redirect(&address) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    let public = joined_in(site.root(), site.layout().home(), &format!("public/{address}"));
    if let Some(file) = public.filter(|file| site.has_any(file)) {
        return Target::Asset { file };
    }
    let beside = docent_markdown::joined(docent_markdown::folder(link.from), path);
    if let Some(file) = beside.filter(|file| !path.starts_with('/') && site.has_any(file) && !is_markdown_page(file)) {
        // The build includes files that are linked to relative to the page, such as images.
        return Target::Asset { file };
    }
    let rest = settings.languages.split(&address).map_or(address.as_str(), |(_, rest)| rest);
    let is_inside = |root: &Root| !root.served.is_empty() && path_in(&root.served, rest).is_some();
    // The application may have routes besides the pages, which are unknown here.
    let is_known = !settings.is_open && site.layout().roots.iter().any(is_inside);
    match is_known && !site.is_served_outside(&address) && !is_served_otherwise(site, rest) {
        true => link.missing(Some(address)),
        false => Target::NotUnderstood,
    }
}

enum Found {
    Page(String),
    /// The page in the default language or its translation, depending on the application.
    Either,
    Nothing,
}

/// The page at an address. A missing translation is replaced by the page in the default language, and an address
/// without a language is in that of the page with the link.
fn page_at(site: &Site, from: &str, address: &str) -> Found {
    let languages = &site.layout().options.next.languages;
    let file = |address: &str| site.file_at(address).map(str::to_owned);
    let in_language = |language: &str, rest: &str| {
        let own = file(&languages.address(language, rest));
        own.or_else(|| file(&languages.address(&languages.default, rest)).filter(|_| languages.stands_in))
    };
    let found = match languages.split(address) {
        Some((language, rest)) => file(address).or_else(|| in_language(language, rest)),
        None if languages.names.is_empty() => file(address),
        None => {
            let own = site.address(from).and_then(|own| languages.split(own)).map(|(language, _)| language);
            let own = own.unwrap_or(&languages.default);
            let (plain, translated) = (file(address), in_language(own, address));
            let in_default = file(&languages.address(&languages.default, address));
            // Components may add the language, or not; Next.js and Nextra always do.
            let may_be_either = languages.stands_in && languages.hides_default && plain != translated;
            if may_be_either || translated.is_none() && in_default.is_some() {
                return Found::Either;
            }
            translated.or(plain)
        }
    };
    found.map_or(Found::Nothing, Found::Page)
}

/// Writes a link by file path if `like` has the extension of a page and such a link resolves; else as a URL, absolute
/// unless `like` is relative. Assets are linked to by their path in `public`.
pub(super) fn write(site: &Site, wanted: &LinkRequest<'_>) -> String {
    let LinkRequest { from, to, anchor, like, .. } = *wanted;
    let (written, _) = parts(like);
    let by_file = [retargeted_link(like, from, to, anchor)].into_iter().filter(|_| has_page_ending(written));
    let address = match is_markdown_page(to) {
        true => site.address(to).map(str::to_owned),
        false => to.strip_prefix(&format!("{}/", below(site.layout().home(), "public"))).map(str::to_owned),
    };
    let Some(address) = address else { return retargeted_link(like, from, to, anchor) };
    let slash = if written.ends_with('/') && !address.is_empty() { "/" } else { "" };
    let tail = suffix_of(like, anchor);
    let absolute = format!("{}{tail}", encoded(&format!("/{address}{slash}")));
    let languages = &site.layout().options.next.languages;
    let is_plain = written.starts_with('/') && languages.split(written.trim_matches('/')).is_none();
    let plain = languages.split(&address).filter(|_| is_plain);
    let plain = plain.map(|(_, rest)| format!("{}{tail}", encoded(&format!("/{rest}{slash}"))));
    let is_relative = !written.is_empty() && !written.starts_with('/') && !has_page_ending(written);
    let own = site.address(from).filter(|_| is_relative);
    let relative = own.map(|own| {
        let folder = if site.layout().options.next.trailing_slash { own } else { docent_markdown::folder(own) };
        format!(
            "{}{tail}",
            encoded(&format!("{}{slash}", with_dot_slash_like(written, relative_path(folder, &address))))
        )
    });
    by_file.chain(relative).chain(plain).find(|link| site.leads_there(wanted, link)).unwrap_or(absolute)
}

#[cfg(test)]
mod tests;
