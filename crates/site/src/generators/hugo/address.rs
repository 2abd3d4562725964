//! Where Hugo serves a page.

use docent_markdown::{FrontMatter, file_name, folder};

use super::{HugoSettings, UglyUrls};
use crate::generators::Root;
use crate::layout::below;
use crate::paths::path_in;

/// The address of a page. A page that is served as a file keeps its `.html`, as its relative links start from the
/// folder around it.
pub(super) fn of(root: &Root, relative_path: &str, front: &FrontMatter) -> String {
    let fallback = HugoSettings::default();
    let settings = root.options.hugo.as_deref().unwrap_or(&fallback);
    let (stem, _) = root.without_language(relative_path);
    let language = language_folder(root, relative_path);
    if let Some(url) = front.get("url") {
        let path = address_of_url(url.trim());
        // With a leading slash, `url` is the whole address: the folder of the language is not added.
        return if url.trim().starts_with('/') { path } else { below(&language, &path) };
    }
    let stem = below(&root.base_path, stem);
    let (above, name) = stem.rsplit_once('/').unwrap_or(("", &stem));
    let path = match name {
        "_index" => return below(&language, &sanitized(above, settings.keeps_case)),
        "index" => above.to_owned(),
        _ => stem.clone(),
    };
    let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let section = path.split_once('/').map_or("", |(section, _)| section);
    let pattern = settings.permalinks.iter().find(|(of, _)| of == section || of == "/" && section.is_empty());
    let expanded_path = pattern.and_then(|(_, pattern)| expand_permalink(pattern, &path, front));
    let path = expanded_path.unwrap_or_else(|| below(above, front.slug().unwrap_or(name).trim_matches('/')));
    let path = below(&language, &sanitized(&path, settings.keeps_case));
    let is_ugly = match &settings.ugly_urls {
        UglyUrls::None => false,
        UglyUrls::All => true,
        UglyUrls::Sections(sections) => sections.iter().any(|of| of == section),
    };
    if is_ugly && !path.is_empty() && !has_ending(&path, "html") { format!("{path}.html") } else { path }
}

/// The address for the path of a URL: without leading and trailing slash and without `index.html`.
fn address_of_url(url: &str) -> String {
    let path = url.trim_matches('/');
    let path = if path == "index.html" { "" } else { path.strip_suffix("/index.html").unwrap_or(path) };
    path.to_owned()
}

/// The folder a language is served in, `""` for none.
pub(super) fn language_folder(root: &Root, relative_path: &str) -> String {
    let Some(settings) = root.options.hugo.as_deref().filter(|settings| settings.languages.len() > 1) else {
        return root
            .options
            .hugo
            .as_deref()
            .filter(|settings| settings.default_language_in_folder)
            .map_or(String::new(), |settings| settings.languages.join(""));
    };
    let page_language = root.without_language(relative_path).1.cloned().or_else(|| root.language.clone());
    match page_language.as_ref().or(settings.languages.first()) {
        Some(language) if settings.default_language_in_folder || settings.languages.first() != Some(language) => {
            language.clone()
        }
        _ => String::new(),
    }
}

/// The language of a page.
pub(super) fn language(root: &Root, relative_path: &str) -> Option<String> {
    let settings = root.options.hugo.as_deref()?;
    root.without_language(relative_path).1.or(root.language.as_ref()).or(settings.languages.first()).cloned()
}

/// Whether a Markdown file is no page: a resource of another page, or MDX, which Hugo does not read.
pub(super) fn is_resource(root: &Root, relative_path: &str) -> bool {
    if has_ending(relative_path, "mdx") {
        return true;
    }
    let Some(settings) = root.options.hugo.as_deref() else { return false };
    let own_folder = folder(relative_path);
    let name = file_name(relative_path);
    let mut enclosing_folder = Some(own_folder).filter(|own_folder| !own_folder.is_empty());
    while let Some(enclosing) = enclosing_folder {
        let enclosing_path = below(&root.folder, enclosing);
        let is_bundle = settings.bundles.contains(&enclosing_path);
        if is_bundle && !(enclosing == own_folder && name.starts_with("index."))
            || settings.unrendered.contains(&enclosing_path)
        {
            return true;
        }
        enclosing_folder = Some(folder(enclosing)).filter(|above| !above.is_empty());
    }
    false
}

/// Addresses that redirect to a page.
pub(super) fn aliases(root: &Root, file: &str, front: &FrontMatter, address: &str) -> Vec<String> {
    let Some(settings) = root.options.hugo.as_deref().filter(|settings| settings.has_aliases) else {
        return Vec::new();
    };
    let relative_path = root.relative_path(file).unwrap_or(file);
    let language = language_folder(root, relative_path);
    let aliases = front.list("aliases").into_iter().filter_map(|alias| {
        let path = address_of_url(alias);
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
    let language = language_folder(root, root.relative_path(file).unwrap_or(file));
    let rest = path_in(&language, address)?.trim_matches('/');
    // The home page of a site or of a language is never an alias.
    (!rest.is_empty()).then(|| if has_ending(rest, "html") { format!("/{rest}") } else { format!("/{rest}/") })
}

/// Expands a permalink pattern for a page; `None` if a value or placeholder is unknown.
fn expand_permalink(pattern: &str, path: &str, front: &FrontMatter) -> Option<String> {
    let date = ["date", "publishDate", "pubdate", "published", "lastmod"].iter().find_map(|name| front.get(name));
    let part = |range: std::ops::Range<usize>| date.and_then(|date| date.get(range)).map(str::to_owned);
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let title = || front.title().map(|title| title.replace('/', "-"));
    let slug = || front.slug().map(str::to_owned);
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
                "slug" => slug().or_else(title)?,
                "filename" | "contentbasename" => name.to_owned(),
                "slugorfilename" | "slugorcontentbasename" => slug().unwrap_or_else(|| name.to_owned()),
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
    let chars = path.trim().chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some('-'),
        c if c.is_alphanumeric() || is_combining_mark(c) || "._+~-@/".contains(c) => Some(c),
        _ => None,
    });
    if keeps_case { chars.collect() } else { chars.flat_map(char::to_lowercase).collect() }
}

/// Combining marks, and the scripts from Devanagari to Thai, whose vowel signs are combining marks.
fn is_combining_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c) || ('\u{900}'..='\u{e4f}').contains(&c)
}

fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, file_ending)| file_ending.eq_ignore_ascii_case(ending))
}
