//! Reads the redirects that are configured for the hosting service: `_redirects`, `netlify.toml`, `vercel.json`.

use crate::layout::Layout;
use crate::navigation_json;
use crate::tree::Tree;

/// Maximum number of redirects kept.
const MAX_REDIRECTS: usize = 50_000;

/// Whether a file may hold redirects; `folder` is relative to the folder of the site's configuration.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    match name {
        "_redirects" => ["", "public", "static"].contains(&folder),
        "netlify.toml" | "vercel.json" => folder.is_empty(),
        _ => false,
    }
}

/// Adds the redirects in these files to a layout; the files are looked for in the folder of its configuration and in
/// the docs root.
pub(crate) fn read(tree: &dyn Tree, configurations: &[&str], layout: &mut Layout) {
    let mut files: Vec<&str> = configurations
        .iter()
        .copied()
        .filter(|file| {
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
            let relative_folder = match folder.strip_prefix(layout.home.as_str()) {
                Some(rest) if !layout.home.is_empty() => rest.trim_start_matches('/'),
                _ => folder,
            };
            is_file(relative_folder, name)
        })
        .collect();
    files.sort_unstable();
    for file in files {
        let Some(text) = tree.text(file) else { continue };
        let redirects = match file.rsplit('/').next() {
            Some("_redirects") => Ok(plain(&text)),
            Some("netlify.toml") => parse_netlify(&text),
            _ => parse_vercel(&text),
        };
        match redirects {
            Ok(redirects) => layout.redirects.extend(redirects),
            Err(message) => layout.problem(file, message),
        }
    }
    layout.redirects.truncate(MAX_REDIRECTS);
}

/// Parses lines of the form `/from /to 301`. Only lines with a 3xx status or none are redirects: status 200 serves
/// another page at the same address.
pub(crate) fn plain(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let from = words.next()?;
            // Query parameters may come between source and destination.
            let to = words.find(|word| word.starts_with('/') || word.contains("://"))?;
            let moves = words.next().is_none_or(|status| status.starts_with('3'));
            moves.then(|| (from.to_owned(), to.to_owned()))
        })
        .collect()
}

fn parse_netlify(text: &str) -> Result<Vec<(String, String)>, String> {
    let table: toml::Table =
        toml::from_str(text).map_err(|error| format!("this file is not TOML: {}", error.message()))?;
    let redirects = table.get("redirects").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let pairs = redirects.iter().filter_map(|redirect| {
        let status = redirect.get("status").and_then(toml::Value::as_integer).unwrap_or(301);
        let text = |name: &str| redirect.get(name).and_then(toml::Value::as_str).map(str::to_owned);
        (300..400).contains(&status).then_some((text("from")?, text("to")?))
    });
    Ok(pairs.collect())
}

fn parse_vercel(text: &str) -> Result<Vec<(String, String)>, String> {
    let json = navigation_json::read(text).map_err(|_| "this file is not JSON".to_owned())?;
    let redirects = json.get("redirects").map(navigation_json::Json::list).unwrap_or_default();
    let pairs = redirects.iter().filter_map(|redirect| {
        Some((redirect.get("source")?.text()?.to_owned(), redirect.get("destination")?.text()?.to_owned()))
    });
    Ok(pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hosts_say_what_moved() {
        let moved = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(
            plain("# note\n/a /b 301\n/c  id=:id  /d/:id\n/e /f 200\n/g https://x.y/\n"),
            [moved("/a", "/b"), moved("/c", "/d/:id"), moved("/g", "https://x.y/")]
        );
        let toml = "[[redirects]]\nfrom = \"/a\"\nto = \"/b\"\n[[redirects]]\nfrom = '/c'\nto = '/d'\nstatus = 200\n";
        assert_eq!(parse_netlify(toml), Ok(vec![moved("/a", "/b")]));
        assert_eq!(
            parse_vercel(r#"{"redirects": [{"source": "/a", "destination": "/b"}, {}]}"#),
            Ok(vec![moved("/a", "/b")])
        );
        assert!(parse_netlify("[").is_err() && parse_vercel("[").is_err());
    }
}
