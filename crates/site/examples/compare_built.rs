//! Holds what the model says of a site against what the site's own generator built:
//! `compare_built REPOSITORY BUILT [--root DOCS] [--base PATH] [--bare] [--show N]`.
//!
//! - **Addresses**: each page that the model serves was built where it says.
//! - **Anchors**: each heading's anchor is an id on the page that was built.
//! - **Links**: where the model follows a link to a page, the page that was built links there; where the model says that a
//!   link leads nowhere, the browser finds nothing there either.
//!
//! The exit code is 0 when all three are right for at least 99.5 of a hundred.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use docent_markdown::{Dialect, TagKind, is_page, scan_tag};
use docent_site::{Site, Target, Tree, is_external, parts};

#[path = "folder/mod.rs"]
mod folder;

/// A page that was built.
#[derive(Default)]
struct Built {
    ids: BTreeSet<String>,
    /// Addresses and anchors that it links to, and those its links have as they are written.
    links: BTreeSet<(String, Option<String>)>,
    written: BTreeSet<String>,
}

/// How often the model was right, and where it was not.
#[derive(Default)]
struct Score {
    right: usize,
    wrong: Vec<String>,
    not_understood: BTreeMap<String, usize>,
}

impl Score {
    fn count(&mut self, is_right: bool, what: impl FnOnce() -> String) {
        if is_right { self.right += 1 } else { self.wrong.push(what()) }
    }

    fn told(&self, name: &str, show: usize) -> bool {
        let all = self.right + self.wrong.len();
        let share = if all == 0 { 100.0 } else { self.right as f64 * 100.0 / all as f64 };
        let unknown: usize = self.not_understood.values().sum();
        println!("{name:<10} {:>6} of {all:<6} {share:6.2} %   {unknown} not understood", self.right);
        for line in self.wrong.iter().take(show) {
            println!("    {line}");
        }
        for (line, count) in self.not_understood.iter().take(show) {
            println!("    not understood, {count} times: {line}");
        }
        share >= 99.5
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| -> Option<String> {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.remove(at);
        (at < arguments.len()).then(|| arguments.remove(at))
    };
    let (root, base, show) = (option("--root"), option("--base"), option("--show"));
    // URLs of pages do not end in a slash, wherever their files are.
    let bare = arguments.iter().position(|argument| argument == "--bare").map(|at| arguments.remove(at)).is_some();
    let base = base.unwrap_or_default().trim_matches('/').to_owned();
    let show: usize = show.map_or(Ok(10), |show| show.parse())?;
    let [repository, built] = arguments.as_slice() else { return Err("which repository, and built where?".into()) };
    let tree = folder::Folder::open(PathBuf::from(repository), root.as_deref().unwrap_or_default())?;
    let site = Site::read(&tree);
    let files = html_files(Path::new(built))?;
    println!("{:?}, {} files built", site.generator(), files.len());

    let mut pages: HashMap<String, Built> = HashMap::new();
    let (mut addresses, mut anchors, mut links) = (Score::default(), Score::default(), Score::default());
    for file in site.files().filter(|file| is_page(file)) {
        let Some(address) = site.address(file) else { continue };
        let found = built_at(&files, &base, address, file);
        addresses.count(found.is_some(), || format!("{file} is not built at /{address}"));
        let Some((html, url)) = found else { continue };
        let url = if bare && url.len() > 1 { url.trim_end_matches('/').to_owned() } else { url };
        let page = site.parse(file, &tree.read(file).unwrap_or_default());
        let built_page = pages.entry(html.clone()).or_insert_with(|| read_html(Path::new(built), &html, &url));
        for heading in page.headings.iter().filter(|heading| !heading.anchor.is_empty()) {
            let is_there = built_page.ids.contains(&heading.anchor);
            if !site.layout().knows_anchors() {
                *anchors.not_understood.entry("anchors are made by the site's own program".to_owned()).or_default() +=
                    1;
                continue;
            }
            anchors.count(is_there, || format!("{file}: `{}` is no id for {:?}", heading.anchor, heading.text));
        }
        for link in &page.links {
            let target = link.target.as_str();
            match site.resolve(file, target) {
                Target::External | Target::Redirect { .. } | Target::Asset { .. } => {}
                Target::NotUnderstood => *links.not_understood.entry(target.to_owned()).or_default() += 1,
                Target::Page { file: to, anchor } => match site.address(&to) {
                    None => links.wrong.push(format!("{file}: `{target}` leads to {to}, which is not served")),
                    Some(to) => {
                        // Without a translation, a page is served in another language below that language.
                        let language = address.split('/').next().unwrap_or_default();
                        let untranslated = key(&format!("{base}/{language}/{to}"));
                        let to = key(&format!("{base}/{to}"));
                        let mut is_there = [&to, &untranslated]
                            .into_iter()
                            .any(|to| built_page.links.contains(&(to.clone(), anchor.clone())));
                        // A page may stand in for one that is missing, as for a translation: at a URL that no page has.
                        let own = key(&decoded(&resolved(&url, parts(target).0)));
                        let inside = own.strip_prefix(base.as_str()).unwrap_or(&own);
                        is_there |= site.file_at(inside).is_none()
                            && path_exists(&files, inside.trim_matches('/'))
                            && built_page.links.contains(&(own.clone(), anchor.clone()));
                        links.count(is_there, || format!("{file}: `{target}` does not lead to /{to} {anchor:?}"));
                    }
                },
                Target::Missing { path: read, .. } => {
                    let (path, _) = parts(target);
                    // The generator may write the link differently and still lead it to the same place.
                    let same = read.map(|read| (key(&format!("{base}/{read}")), path_exists(&files, &read)));
                    if same.is_some_and(|(key, exists)| !exists && built_page.links.contains(&(key, None))) {
                        links.right += 1;
                        continue;
                    }
                    let exists = |path: &str| {
                        let path = path.trim_matches('/').strip_prefix(base.as_str());
                        path.is_some_and(|path| path_exists(&files, path.trim_matches('/')))
                    };
                    // Generators may leave the link to the browser, resolve it as one would and add the base path, or make an
                    // address of what they do not serve.
                    let beside = resolved(url.trim_end_matches('/'), path);
                    let as_read = [resolved(&url, path), beside, format!("{base}{path}"), format!("{base}/{path}")];
                    let without_ending = |path: String| match path.rsplit_once('.') {
                        Some((stem, "md" | "mdx")) => vec![stem.to_owned(), path],
                        _ => vec![path],
                    };
                    let as_read: Vec<String> = as_read
                        .into_iter()
                        .map(|path| decoded(path.trim_matches('/')))
                        .flat_map(without_ending)
                        .collect();
                    let linked = |path: &&String| built_page.links.contains(&(key(path), None));
                    let name = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
                    let rewritten = |(to, anchor): &(String, Option<String>)| match anchor {
                        Some(anchor) if anchor == target => !built_page.ids.contains(anchor),
                        _ => to.ends_with(name) && !exists(to),
                    };
                    let stays = built_page.written.contains(target) && !exists(&resolved(&url, path));
                    let leads_nowhere = stays
                        || as_read.iter().filter(linked).any(|path| !exists(path))
                        || (!built_page.written.contains(target) && built_page.links.iter().any(rewritten));
                    // A link that names nothing is the page itself to a browser, and a mistake to its author.
                    links.count(leads_nowhere || target.is_empty(), || {
                        format!("{file}: `{target}` is said to lead nowhere")
                    });
                }
            }
        }
    }
    let told = [addresses.told("addresses", show), anchors.told("anchors", show), links.told("links", show)];
    Ok(if told.iter().all(|good| *good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every file that was built, relative to the folder.
fn html_files(folder: &Path) -> std::io::Result<BTreeSet<String>> {
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

/// The file built for an address, and the URL a browser would have for it.
fn built_at(files: &BTreeSet<String>, base: &str, address: &str, from: &str) -> Option<(String, String)> {
    let name = |ending: &str| format!("{address}{ending}").trim_start_matches('/').to_owned();
    let url = |path: &str| format!("/{base}/{path}").replace("//", "/");
    // Some addresses are those of files.
    if files.contains(address) {
        return Some((address.to_owned(), url(address)));
    }
    let (folder, file) = (name("/index.html"), name(".html"));
    // `a.md` and `a/index.md` may both be there.
    let is_index = from.rsplit('/').next().is_some_and(|name| name.starts_with("index."));
    if files.contains(&folder) && (is_index || !files.contains(&file)) {
        return Some((folder, url(&format!("{address}/"))));
    }
    files.contains(&file).then(|| (file.clone(), url(&file)))
}

fn path_exists(files: &BTreeSet<String>, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    ["", ".html", "/index.html"].iter().any(|ending| files.contains(format!("{path}{ending}").trim_start_matches('/')))
}

/// A URL path as the model writes addresses.
fn key(path: &str) -> String {
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".html").unwrap_or(path);
    let path = if path == "index" { "" } else { path.strip_suffix("/index").unwrap_or(path) };
    path.to_owned()
}

/// A path as a browser reads it on a page.
fn resolved(url: &str, path: &str) -> String {
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

fn read_html(folder: &Path, file: &str, url: &str) -> Built {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let mut built = Built::default();
    let mut at = 0;
    while let Some(open) = text[at..].find('<') {
        at += open;
        let Some(tag) = scan_tag(&text, at, Dialect::Html).filter(|tag| tag.kind != TagKind::Close) else {
            at += 1;
            continue;
        };
        for attribute in &tag.attributes {
            let Some(value) = attribute.value.clone().and_then(|value| text.get(value)) else { continue };
            let value =
                value.replace("&amp;", "&").replace("&#x27;", "'").replace("&quot;", "\"").replace("&#39;", "'");
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

fn decoded(path: &str) -> String {
    parts(&format!("#{path}")).1.unwrap_or_default()
}
