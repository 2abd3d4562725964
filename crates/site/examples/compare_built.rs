//! Holds what the model says of a site against what the site's own generator built:
//! `compare_built REPOSITORY BUILT [--root DOCS] [--base PATH] [--bare] [--show N]`.
//!
//! - **Addresses**: each page that the model serves was built where it says.
//! - **URLs**: where the model says that a page is served, there is a file, or a folder with an index; or else a host is
//!   expected to add `.html`, as no page that was built links to a name with that ending, or one links to this URL.
//! - **Anchors**: each heading's anchor is an id on the page that was built.
//! - **Links**: where the model follows a link to a page, the page that was built links there; where the model says that a
//!   link leads nowhere, the browser finds nothing there either.
//!
//! The exit code is 0 when all four are right for at least 99.5 of a hundred.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use built::{decoded, files_in, key, path_exists, read_html, resolved};
use docent_markdown::{LinkKind, is_page};
use docent_site::{Site, Target, Tree, parts};

#[path = "built/mod.rs"]
mod built;
#[path = "folder/mod.rs"]
mod folder;

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
    let files = files_in(Path::new(built))?;
    println!("{:?}, {} files built", site.generator(), files.len());

    let mut pages: HashMap<String, built::Page> = HashMap::new();
    let (mut addresses, mut anchors, mut links) = (Score::default(), Score::default(), Score::default());
    for file in site.files().filter(|file| is_page(file)) {
        let Some(address) = site.address(file) else { continue };
        let found = built_at(&files, &base, address, file);
        addresses.count(found.is_some(), || format!("{file} is not built at /{address}"));
        // Another page may be written over this one.
        let is_readable = site.file_at(address) == Some(file);
        let Some((html, url)) = found.filter(|_| is_readable) else { continue };
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
            // What is put in place leaves no link.
            if matches!(&link.kind, LinkKind::Attribute { element, .. } if element == "include") {
                continue;
            }
            match site.resolve_link(file, link) {
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
                        // A host may put the reader's language before the path.
                        let without = to.strip_prefix(&format!("{language}/"));
                        is_there |= without.is_some_and(|to| {
                            site.file_at(to).is_none() && built_page.links.contains(&(to.to_owned(), anchor.clone()))
                        });
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
                        let Some(path) = path.trim_matches('/').strip_prefix(base.as_str()) else { return false };
                        let path = path.trim_matches('/');
                        // Where pages are files, some hosts add the extension, and the servers of generators do not.
                        match url.ends_with(".html") && !bare {
                            true => [path, &format!("{path}/index.html")].iter().any(|file| files.contains(*file)),
                            false => path_exists(&files, path),
                        }
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
                    // Some take the link away.
                    let last = path.rsplit('/').next().unwrap_or_default();
                    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
                    let is_named = |to: &str| to.to_lowercase().contains(&stem.to_lowercase());
                    let is_dropped = !["", "index", "README"].contains(&stem)
                        && !built_page.written.iter().any(|written| is_named(&decoded(written)));
                    // A link that names nothing is the page itself to a browser, and a mistake to its author.
                    links.count(leads_nowhere || is_dropped || target.is_empty(), || {
                        format!("{file}: `{target}` is said to lead nowhere")
                    });
                }
            }
        }
    }
    let adds_ending = !pages.values().flat_map(|page| &page.written).any(|link| parts(link).0.ends_with(".html"));
    let mut urls = Score::default();
    for file in site.files().filter(|file| is_page(file)) {
        let (Some(url), Some(address)) = (site.url(file), site.address(file)) else { continue };
        let index = format!("{url}/index.html");
        let is_there = files.contains(&url) || files.contains(index.trim_start_matches('/'));
        // Another page may be written over this one, and what is not built is told above.
        if site.file_at(address) == Some(file) && built_at(&files, &base, address, file).is_some() {
            let written = format!("/{base}/{url}").replace("//", "/");
            let is_linked = || pages.values().any(|page| page.written.contains(&written));
            let is_added = !url.ends_with(".html") && (adds_ending || is_linked());
            urls.count(is_there || is_added, || format!("{file}: nothing is at /{url}"));
        }
    }
    let told = [
        addresses.told("addresses", show),
        urls.told("URLs", show),
        anchors.told("anchors", show),
        links.told("links", show),
    ];
    Ok(if told.iter().all(|good| *good) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
