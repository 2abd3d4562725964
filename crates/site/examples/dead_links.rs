//! Follows every internal link of the HTML that a generator built as a browser would: `dead_links BUILT [--base PATH] [--bare]`.
//!
//! `--bare` says that URLs of pages do not end in a slash, wherever their files are.
//!
//! Writes one line for each that leads nowhere: the page's URL, the link as it is written, and where that is, by tabs.

use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use built::{decoded, files_in, path_exists, read_html, resolved};
use docent_site::parts;

#[path = "built/mod.rs"]
mod built;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let bare = arguments.iter().position(|argument| argument == "--bare").map(|at| arguments.remove(at)).is_some();
    let base = match arguments.iter().position(|argument| argument == "--base") {
        Some(at) => arguments.drain(at..).nth(1).unwrap_or_default(),
        None => String::new(),
    };
    let base = base.trim_matches('/');
    let [folder] = arguments.as_slice() else { return Err("built where?".into()) };
    let folder = Path::new(folder);
    let files = files_in(folder)?;
    let html: Vec<&String> = files.iter().filter(|file| file.ends_with(".html")).collect();
    let mut pages = HashMap::new();
    for file in &html {
        let path = file.strip_suffix("index.html").filter(|rest| rest.is_empty() || rest.ends_with('/'));
        let url = format!("/{base}/{}", path.unwrap_or(file)).replace("//", "/");
        let url = if bare && url.len() > 1 { url.trim_end_matches('/').to_owned() } else { url };
        let page = read_html(folder, file, &url);
        pages.insert(file.as_str(), (url, page));
    }
    let mut out = std::io::stdout().lock();
    for file in html {
        let (url, page) = &pages[file.as_str()];
        for written in &page.written {
            let (path, anchor) = parts(written);
            let full = decoded(&resolved(url, path));
            let Some(inside) = full.trim_start_matches('/').strip_prefix(base) else { continue };
            let inside = inside.trim_matches('/');
            let named = ["", ".html", "/index.html"].map(|ending| format!("{inside}{ending}"));
            let target = named.iter().find_map(|name| pages.get(name.trim_start_matches('/')));
            let is_dead = match (target, &anchor) {
                (Some((_, page)), Some(anchor)) => !anchor.is_empty() && !page.ids.contains(anchor),
                (Some(_), None) => false,
                (None, _) => !path_exists(&files, inside),
            };
            if is_dead {
                let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
                writeln!(out, "{url}\t{written}\t/{inside}{anchor}")?;
            }
        }
    }
    Ok(())
}
