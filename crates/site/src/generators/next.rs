//! What the generators that stand on Next.js do alike: links are URLs, read against the page's own.

use docent_markdown::is_page;

use super::roots::Root;
use crate::follow::{Wanted, Written, encoded, has_page_ending, parts, respelled};
use crate::layout::below;
use crate::model::{Site, Target};
use crate::tree::{Tree, at_home, joined_in};

/// What the configuration of Next.js says of URLs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Whether URLs of pages end in a slash.
    trailing_slash: bool,
    /// Whether addresses may lead to others, or be served by something else.
    redirects: bool,
    /// Whether links to files beginning with `./` are followed.
    pub(super) follows_files: bool,
}

/// The endings that the configuration of Next.js may have.
const ENDINGS: [&str; 5] = ["js", "mjs", "cjs", "ts", "mts"];

/// The text of `next.config.*`, if the folder has one.
pub(super) fn configuration(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<(String, String)> {
    let mut files = ENDINGS.iter().map(|ending| at_home(tree, home, &format!("next.config.{ending}")));
    let file = files.find(|file| has(file))?;
    let text = String::from_utf8_lossy(&tree.read(&file)?).into_owned();
    Some((file, text))
}

/// Reads what the configuration of Next.js says plainly.
pub(super) fn settings(text: &str) -> Settings {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    Settings {
        trailing_slash: squeezed.contains("trailingSlash:true"),
        redirects: ["redirects", "rewrites"].iter().any(|word| text.contains(word)),
        follows_files: false,
    }
}

/// A folder's name in parentheses orders files and is no part of an address.
pub(super) fn is_group(name: &str) -> bool {
    name.len() > 2 && name.starts_with('(') && name.ends_with(')')
}

/// A link as a URL: absolute from the site's base path, relative against the page's own URL.
pub(super) fn by_url(site: &Site, link: &Written<'_>, path: &str) -> Target {
    let Some(root) = site.layout().root(link.from) else { return crate::follow::by_names(site, link) };
    let address = if path.starts_with('/') {
        path.trim_matches('/').to_owned()
    } else {
        let Some(own) = site.address(link.from) else { return Target::NotUnderstood };
        let folder = match site.layout().next.trailing_slash {
            true => own,
            false => docent_markdown::folder(own),
        };
        // A browser stays at the root, and a base path is not known here.
        let Some(address) = docent_markdown::joined(folder, path) else { return Target::NotUnderstood };
        address
    };
    if let Some(file) = site.file_at(&address) {
        return Target::Page { file: file.to_owned(), anchor: link.anchor.clone() };
    }
    if let Some(destination) = site.redirect(&address) {
        return Target::Redirect { destination: destination.to_owned() };
    }
    let public = joined_in(site.root(), site.layout().home(), &format!("public/{address}"));
    if let Some(file) = public.filter(|file| site.has_any(file)) {
        return Target::Asset { file };
    }
    let is_inside = |root: &Root| {
        root.served.is_empty()
            || address == root.served
            || address.strip_prefix(root.served.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    // Beside the pages there may be routes of the application, which only it knows.
    let is_known = !site.layout().next.redirects && is_inside(root) && !root.served.is_empty();
    match is_known && !site.is_served_outside(&address) {
        true => Target::Missing { path: Some(address), anchor: link.anchor.clone() },
        false => Target::NotUnderstood,
    }
}

/// A link as a URL, absolute unless the one before was relative; files that are no pages by their path from `public`.
pub(super) fn write(site: &Site, wanted: &Wanted<'_>) -> String {
    let Wanted { from, to, anchor, like } = *wanted;
    let (written, _) = parts(like);
    let leads_there = |link: &String| match site.resolve(from, link) {
        Target::Page { file, .. } | Target::Asset { file } => file == to,
        _ => false,
    };
    let by_file = [respelled(like, from, to, anchor)].into_iter().filter(|_| has_page_ending(written));
    let address = match is_page(to) {
        true => site.address(to).map(str::to_owned),
        false => to.strip_prefix(&format!("{}/", below(site.layout().home(), "public"))).map(str::to_owned),
    };
    let Some(address) = address else { return respelled(like, from, to, anchor) };
    let slash = if written.ends_with('/') && !address.is_empty() { "/" } else { "" };
    let tail = &like[like.find(['#', '?']).unwrap_or(like.len())..];
    let tail = match anchor {
        Some(anchor) => format!("{}#{}", tail.split('#').next().unwrap_or_default(), encoded(anchor)),
        None => tail.to_owned(),
    };
    let absolute = format!("{}{tail}", encoded(&format!("/{address}{slash}")));
    let is_relative = !written.is_empty() && !written.starts_with('/') && !has_page_ending(written);
    let own = site.address(from).filter(|_| is_relative);
    let relative = own.map(|own| {
        let folder = if site.layout().next.trailing_slash { own } else { docent_markdown::folder(own) };
        format!("{}{tail}", encoded(&format!("{}{slash}", relative(folder, &address, written.starts_with("./")))))
    });
    by_file.chain(relative).find(leads_there).unwrap_or(absolute)
}

fn relative(folder: &str, address: &str, dotted: bool) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = address.split('/').filter(|part| !part.is_empty()).collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut parts = vec![".."; from.len() - shared];
    parts.extend(&to[shared..]);
    match (parts.is_empty(), dotted && from.len() == shared) {
        (true, _) => ".".to_owned(),
        (false, true) => format!("./{}", parts.join("/")),
        (false, false) => parts.join("/"),
    }
}

#[cfg(test)]
#[path = "next_tests.rs"]
mod tests;
