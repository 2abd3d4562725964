//! The HTML that a generator built.

use std::collections::BTreeSet;
use std::path::Path;

use docent_markdown::{Dialect, TagKind, scan_tag};
use docent_site::{is_external, parts};

/// A page that was built.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) ids: BTreeSet<String>,
    /// Addresses and anchors that it links to, and those its links have as they are written.
    pub(crate) links: BTreeSet<(String, Option<String>)>,
    pub(crate) written: BTreeSet<String>,
}

/// Every file that was built, relative to the folder.
pub(crate) fn files_in(folder: &Path) -> std::io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in std::fs::read_dir(inside)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(path) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                found.insert(path.to_owned());
            }
        }
    }
    Ok(found)
}

/// Whether a browser finds something at a path.
pub(crate) fn path_exists(files: &BTreeSet<String>, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    ["", ".html", "/index.html"].iter().any(|ending| files.contains(format!("{path}{ending}").trim_start_matches('/')))
}

/// A URL path as the model writes addresses.
pub(crate) fn key(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".html").unwrap_or(path);
    let path = if path == "index" { "" } else { path.strip_suffix("/index").unwrap_or(path) };
    path.to_owned()
}

/// A path as a browser reads it on a page.
pub(crate) fn resolved(url: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    if !path.starts_with('/') {
        parts.extend(url.rsplit_once('/').map_or("", |(folder, _)| folder).split('/'));
        if path.is_empty() {
            return url.to_owned();
        }
    }
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Reads a page that was built and that a browser finds at `url`.
pub(crate) fn read_html(folder: &Path, file: &str, url: &str) -> Page {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let mut built = Page::default();
    let mut at = 0;
    while let Some(open) = text[at..].find('<') {
        at += open;
        let Some(tag) = scan_tag(&text, at, Dialect::Html).filter(|tag| tag.kind != TagKind::Close) else {
            at += 1;
            continue;
        };
        for attribute in &tag.attributes {
            let Some(value) = attribute.value.clone().and_then(|value| text.get(value)) else { continue };
            let value = if value.contains('&') { without_entities(value) } else { value.to_owned() };
            match attribute.name.to_ascii_lowercase().as_str() {
                "id" | "name" => drop(built.ids.insert(value)),
                "src" => drop(built.written.insert(value)),
                "href" if !is_external(&value) => {
                    let (path, anchor) = parts(&value);
                    let path = key(&decoded(&resolved(url, path)));
                    // Generators write the page's own path before an anchor, or don't.
                    built.links.insert((path.clone(), anchor));
                    built.links.insert((path, None));
                    built.written.insert(value);
                }
                _ => {}
            }
        }
        at = tag.span.end.max(at + 1);
    }
    built
}

/// The value of an attribute as a browser reads it: by the reader of pages, which knows the names of all entities.
fn without_entities(value: &str) -> String {
    let quoted = format!("<a href=\"{}\">x</a>", value.replace('"', "&quot;"));
    let page = docent_markdown::parse("a.md", quoted.as_bytes());
    page.links.first().map_or_else(|| value.to_owned(), |link| link.target.clone())
}

/// A path without its percent signs.
pub(crate) fn decoded(path: &str) -> String {
    parts(&format!("#{path}")).1.unwrap_or_default()
}
