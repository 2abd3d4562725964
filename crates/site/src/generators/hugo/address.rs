//! Where Hugo serves a page.

use docent_markdown::{FrontMatter, folder};

use super::{HugoSettings, Ugly};
use crate::generators::Root;
use crate::layout::below;
use crate::paths::path_in;

/// The address of a page. A page that is served as a file keeps its `.html`, as its relative links start from the
/// folder around it.
pub(super) fn of(root: &Root, inside: &str, front: &FrontMatter) -> String {
    let fallback = HugoSettings::default();
    let settings = root.options.hugo.as_deref().unwrap_or(&fallback);
    let (stem, _) = root.without_language(inside);
    let language = language_folder(root, inside);
    if let Some(url) = front.get("url") {
        let path = served(url.trim());
        // With a leading slash, `url` is the whole address: the folder of the language is not added.
        return if url.trim().starts_with('/') { path } else { below(&language, &path) };
    }
    let stem = below(&root.served, stem);
    let (above, name) = stem.rsplit_once('/').unwrap_or(("", &stem));
    let path = match name {
        "_index" => return below(&language, &sanitized(above, settings.keeps_case)),
        "index" => above.to_owned(),
        _ => stem.clone(),
    };
    let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let section = path.split_once('/').map_or("", |(section, _)| section);
    let pattern = settings.permalinks.iter().find(|(of, _)| of == section || of == "/" && section.is_empty());
    let made = pattern.and_then(|(_, pattern)| expanded(pattern, &path, front));
    let path = made.unwrap_or_else(|| below(above, front.slug().unwrap_or(name).trim_matches('/')));
    let path = below(&language, &sanitized(&path, settings.keeps_case));
    let is_ugly = match &settings.ugly {
        Ugly::None => false,
        Ugly::All => true,
        Ugly::Sections(sections) => sections.iter().any(|of| of == section),
    };
    match is_ugly && !path.is_empty() && !has_ending(&path, "html") {
        true => format!("{path}.html"),
        false => path,
    }
}

/// The address for the path of a URL: without leading and trailing slash and without `index.html`.
fn served(url: &str) -> String {
    let path = url.trim_matches('/');
    let path = if path == "index.html" { "" } else { path.strip_suffix("/index.html").unwrap_or(path) };
    path.to_owned()
}

/// The folder a language is served in, `""` for none.
pub(super) fn language_folder(root: &Root, inside: &str) -> String {
    let Some(settings) = root.options.hugo.as_deref().filter(|settings| settings.languages.len() > 1) else {
        return root
            .options
            .hugo
            .as_deref()
            .filter(|settings| settings.default_in_folder)
            .map_or(String::new(), |settings| settings.languages.join(""));
    };
    let own = root.without_language(inside).1.cloned().or_else(|| root.language.clone());
    match own.as_ref().or(settings.languages.first()) {
        Some(language) if settings.default_in_folder || settings.languages.first() != Some(language) => {
            language.clone()
        }
        _ => String::new(),
    }
}

/// The language of a page.
pub(super) fn language(root: &Root, inside: &str) -> Option<String> {
    let settings = root.options.hugo.as_deref()?;
    root.without_language(inside).1.or(root.language.as_ref()).or(settings.languages.first()).cloned()
}

/// Whether a Markdown file is no page: a resource of another page, or MDX, which Hugo does not read.
pub(super) fn is_resource(root: &Root, inside: &str) -> bool {
    if has_ending(inside, "mdx") {
        return true;
    }
    let Some(settings) = root.options.hugo.as_deref() else { return false };
    let own = folder(inside);
    let name = inside.rsplit('/').next().unwrap_or(inside);
    let mut around = Some(own).filter(|own| !own.is_empty());
    while let Some(one) = around {
        let is_bundle = settings.bundles.contains(&below(&root.folder, one));
        if is_bundle && !(one == own && name.starts_with("index.")) {
            return true;
        }
        around = Some(folder(one)).filter(|above| !above.is_empty());
    }
    false
}

/// Addresses that redirect to a page.
pub(super) fn aliases(root: &Root, file: &str, front: &FrontMatter, address: &str) -> Vec<String> {
    let Some(settings) = root.options.hugo.as_deref().filter(|settings| settings.has_aliases) else {
        return Vec::new();
    };
    let inside = root.inside(file).unwrap_or(file);
    let language = language_folder(root, inside);
    let aliases = front.list("aliases").into_iter().filter_map(|alias| {
        let path = served(alias);
        let path = match alias.starts_with('/') {
            // Aliases are below the folder of their language, even with a leading slash.
            true => below(&language, &path),
            false => docent_markdown::joined(folder(address), &path)?,
        };
        Some(sanitized(&path, settings.keeps_case))
    });
    aliases.collect()
}

/// The address of a page as an alias for another page of the same language.
pub(super) fn alias(root: &Root, file: &str, address: &str) -> Option<String> {
    root.options.hugo.as_deref().filter(|settings| settings.has_aliases)?;
    let language = language_folder(root, root.inside(file).unwrap_or(file));
    let rest = path_in(&language, address)?.trim_matches('/');
    // The home page of a site or of a language is never an alias.
    (!rest.is_empty()).then(|| if has_ending(rest, "html") { format!("/{rest}") } else { format!("/{rest}/") })
}

/// Expands a permalink pattern for a page; `None` if a value or placeholder is unknown.
fn expanded(pattern: &str, path: &str, front: &FrontMatter) -> Option<String> {
    let date = ["date", "publishDate", "pubdate", "published", "lastmod"].iter().find_map(|name| front.get(name));
    let part = |range: std::ops::Range<usize>| date.and_then(|date| date.get(range)).map(str::to_owned);
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let title = || front.title().map(|title| title.replace('/', "-"));
    let own = || front.slug().map(str::to_owned);
    let mut parts = Vec::new();
    for wanted in pattern.trim_matches('/').split('/') {
        let mut out = String::new();
        let mut rest = wanted;
        while let Some((before, after)) = rest.split_once(':') {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            out.push_str(before);
            out.push_str(&match &after[..end] {
                "year" => part(0..4)?,
                "month" => part(5..7)?,
                "day" => part(8..10)?,
                "section" => above.split('/').next().unwrap_or_default().to_owned(),
                "sections" => above.to_owned(),
                "title" => title()?,
                "slug" => own().or_else(title)?,
                "filename" | "contentbasename" => name.to_owned(),
                "slugorfilename" | "slugorcontentbasename" => own().unwrap_or_else(|| name.to_owned()),
                _ => return None,
            });
            rest = &after[end..];
        }
        out.push_str(rest);
        parts.push(out);
    }
    Some(parts.join("/").trim_matches('/').replace("//", "/"))
}

/// A path in the form it has in URLs: whitespace becomes hyphens, most other punctuation is dropped.
pub(super) fn sanitized(path: &str, keeps_case: bool) -> String {
    let kept = path.trim().chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some('-'),
        c if c.is_alphanumeric() || unicode_mark(c) || "._+~-@/".contains(c) => Some(c),
        _ => None,
    });
    if keeps_case { kept.collect() } else { kept.flat_map(char::to_lowercase).collect() }
}

/// Combining marks, and the scripts from Devanagari to Thai, whose vowel signs are combining marks.
fn unicode_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c) || ('\u{900}'..='\u{e4f}').contains(&c)
}

fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, own)| own.eq_ignore_ascii_case(ending))
}
