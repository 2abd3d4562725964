//! Rewrites the path of a link when a file moves and keeps its form: only the parts that changed in the files' paths
//! change in the link.

use docent_markdown::{folder, stem};

/// The path of a file before and after a move; the same twice if it does not move.
#[derive(Debug, Clone, Copy)]
pub struct FileMove<'a> {
    pub before: &'a str,
    pub after: &'a str,
}

impl<'a> FileMove<'a> {
    pub fn none(file: &'a str) -> Self {
        Self { before: file, after: file }
    }
}

/// How the last segment of a link's path names a file.
enum Naming<'t> {
    /// The file's name with this ending instead of its own; it may be the same ending or empty.
    Name(&'t str),
    /// The folder of an index file.
    Folder,
}

/// The path of a link in its new form; `None` when the path does not name the file by segments of the file's own path.
/// The caller must check that the result leads to the file. `path` has neither query nor anchor.
pub fn kept_form(path: &str, holder: FileMove<'_>, file: FileMove<'_>) -> Option<String> {
    // Characters that the old path did not contain may need encoding, so such results are rejected.
    let is_written = |c: char| path.contains(c) || !(c.is_control() || " ()<>\"'\\{}%#?".contains(c));
    let written = written(path, holder, file, own_name).or_else(|| written(path, holder, file, without_language));
    written.filter(|path| path.chars().all(is_written))
}

/// Returns the name by which links refer to a file, without its extension.
type NameOf = fn(&str) -> Option<String>;

fn written(path: &str, holder: FileMove<'_>, file: FileMove<'_>, name: NameOf) -> Option<String> {
    let is_absolute = path.starts_with('/');
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let ups = parts.iter().take_while(|part| **part == "..").count();
    let rest = &parts[ups..];
    if is_absolute && ups > 0 || rest.contains(&"..") || path.contains(['\\', '%']) {
        return None;
    }
    let naming = naming(rest, path, &name(file.before)?)?;
    // Without an extension, the site decides how an index page is linked.
    if matches!(naming, Naming::Name("")) && is_index(&name(file.after)?) && !is_index(&name(file.before)?) {
        return None;
    }
    let before = named(file.before, &name(file.before)?, &naming)?;
    let after = named(file.after, &name(file.after)?, &naming)?;
    let slash = if path.ends_with('/') { "/" } else { "" };
    if is_absolute {
        // The prefix before the segments of the file, such as a base path, stays.
        let shared = rest.iter().rev().zip(before.iter().rev()).take_while(|(a, b)| **a == b.as_str()).count();
        let (base, above) = (&rest[..rest.len() - shared], &before[..before.len() - shared]);
        if shared == 0 || !after.starts_with(above) {
            return None;
        }
        let parts = base.iter().copied().chain(after[above.len()..].iter().map(String::as_str));
        return Some(format!("/{}{slash}", parts.collect::<Vec<_>>().join("/")));
    }
    let above = before.strip_suffix(rest.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>().as_slice())?;
    // Relative links start in the folder of the file or, where pages are served as folders, in a folder with the page's
    // own name.
    let folders = |path: &str| folder(path).split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let (mut start, mut new_start): (Vec<String>, Vec<String>) = (folders(holder.before), folders(holder.after));
    if above.len() + ups == start.len() + 1 {
        start.push(own_name(holder.before)?);
        new_start.push(own_name(holder.after)?);
    }
    if above.len() + ups != start.len() || !start.starts_with(above) {
        return None;
    }
    // A path without a trailing slash has to spell out its last segment.
    let is_named = slash.is_empty() && !rest.is_empty();
    let shared = |start: &[String], file: &[String]| {
        let shared = start.iter().zip(file).take_while(|(a, b)| a == b).count();
        if is_named { shared.min(file.len() - 1) } else { shared }
    };
    // A path that goes up more levels than needed keeps the same number of extra levels.
    let detour = ups.saturating_sub(start.len() - shared(&start, &before));
    let shared = shared(&new_start, &after).saturating_sub(detour);
    let mut written = "../".repeat(new_start.len() - shared);
    written.push_str(&after[shared..].join("/"));
    let written = written.trim_end_matches('/');
    Some(match written {
        "" => format!(".{slash}"),
        written if path.starts_with("./") && !written.starts_with("..") => format!("./{written}{slash}"),
        written => format!("{written}{slash}"),
    })
}

fn naming<'t>(rest: &[&'t str], path: &str, name: &str) -> Option<Naming<'t>> {
    let Some(last) = rest.last().filter(|last| last.starts_with(name)) else {
        return is_index(name).then_some(Naming::Folder);
    };
    let ending = &last[name.len()..];
    // A page with its own extension is not a folder.
    (ending.is_empty() || ending.starts_with('.') && !path.ends_with('/')).then_some(Naming::Name(ending))
}

/// The segments of the path that names a file.
fn named(file: &str, name: &str, naming: &Naming<'_>) -> Option<Vec<String>> {
    let mut parts: Vec<String> = folder(file).split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    match naming {
        Naming::Name(ending) => parts.push(format!("{name}{ending}")),
        Naming::Folder => is_index(name).then_some(())?,
    }
    Some(parts)
}

/// A file's name without the extension of a page.
fn own_name(file: &str) -> Option<String> {
    let name = file.rsplit('/').next()?;
    Some(stem(name).unwrap_or(name).to_owned())
}

/// Like [`own_name`], without a language suffix (`page.fr.md`), which links may leave out.
fn without_language(file: &str) -> Option<String> {
    let name = own_name(file)?;
    let (name, language) = name.rsplit_once('.')?;
    let is_language =
        (2..=7).contains(&language.len()) && language.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    (is_language && !name.is_empty()).then(|| name.to_owned())
}

fn is_index(name: &str) -> bool {
    name == "index" || name == "_index" || name.eq_ignore_ascii_case("readme")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "docs/guide/start.md";
    const DEEPER: &str = "docs/guide/deep/start.md";
    const ELSEWHERE: &str = "docs/other/start.md";

    /// A link in `holder`, which does not move, to `PAGE`, which moves to `after`.
    fn to_moved(path: &str, holder: &str, after: &str) -> Option<String> {
        kept_form(path, FileMove::none(holder), FileMove { before: PAGE, after })
    }

    #[test]
    fn the_path_of_a_link_changes_where_the_file_did() {
        for (path, holder, after, expected) in [
            ("guide/start.md", "docs/index.md", DEEPER, "guide/deep/start.md"),
            ("./guide/start", "docs/index.md", DEEPER, "./guide/deep/start"),
            ("guide/start/", "docs/index.md", ELSEWHERE, "other/start/"),
            ("start.html", "docs/guide/a.md", ELSEWHERE, "../other/start.html"),
            ("./start.md", "docs/guide/a.md", ELSEWHERE, "../other/start.md"),
            // Extra levels up are kept.
            ("../guide/start.md", "docs/guide/a.md", DEEPER, "../guide/deep/start.md"),
            ("/base/guide/start/", "docs/a.md", DEEPER, "/base/guide/deep/start/"),
            ("/docs/guide/start.md", "docs/a.md", ELSEWHERE, "/docs/other/start.md"),
            // From a page that is served as a folder.
            ("../start/", "docs/guide/a.md", ELSEWHERE, "../../other/start/"),
            ("../start/", "docs/guide/a.md", "docs/guide/begin.md", "../begin/"),
        ] {
            assert_eq!(to_moved(path, holder, after).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_way_back_undoes_a_way() {
        for (path, holder) in [
            ("guide/start.md", "docs/index.md"),
            ("start", "docs/guide/a.md"),
            ("./start", "docs/guide/a.md"),
            ("../guide/start", "docs/guide/a.md"),
            ("../../guide/start.html", "docs/other/deep/b.md"),
            ("../start/", "docs/guide/a.md"),
            ("/x/guide/start", "docs/a.md"),
        ] {
            for after in [DEEPER, ELSEWHERE, "docs/guide/begin.md"] {
                let Some(there) = to_moved(path, holder, after) else { continue };
                let stays = FileMove::none(holder);
                let back = kept_form(&there, stays, FileMove { before: after, after: PAGE });
                // A `./` is lost on the way through a folder that goes up.
                let expected = if there.starts_with("..") { path.trim_start_matches("./") } else { path };
                assert_eq!(back.as_deref(), Some(expected), "{path} by {there}");
            }
        }
    }

    #[test]
    fn links_of_a_moved_page_start_from_its_new_folder() {
        let (index, beside) = ("docs/guide/README.md", "docs/guide/b.md");
        let holder = FileMove { before: PAGE, after: DEEPER };
        for (path, file, expected) in [
            ("b.md", beside, "../b.md"),
            ("./", index, "../"),
            ("README.md", index, "../README.md"),
            ("../b", beside, "../../b"),
        ] {
            let file = FileMove::none(file);
            let there = kept_form(path, holder, file);
            assert_eq!(there.as_deref(), Some(expected));
            let back = kept_form(&there.unwrap_or_default(), FileMove { before: DEEPER, after: PAGE }, file);
            assert_eq!(back.as_deref(), Some(path));
        }
    }

    #[test]
    fn other_links_have_no_form_to_keep() {
        for path in ["chosen", "../chosen/start.md", "guide/start.md", "/other", "a%20b.md", "/../guide/start.md"] {
            assert_eq!(to_moved(path, "docs/guide/a.md", DEEPER), None, "{path}");
        }
        // Links omit the language suffix.
        let french = FileMove { before: "a/b.fr.md", after: "c/d.fr.md" };
        for (path, expected) in [("./a/b.md", "./c/d.md"), ("/a/b", "/c/d"), ("a/b.fr.md", "c/d.fr.md")] {
            assert_eq!(kept_form(path, FileMove::none("x.fr.md"), french).as_deref(), Some(expected));
        }
        // The new name is not an index, so the folder cannot name it.
        let holder = FileMove::none("a.md");
        let readme = FileMove { before: "guide/README.md", after: "guide/start.md" };
        assert_eq!(kept_form("guide/", holder, readme), None);
        let file = FileMove { before: "my page.md", after: "a (b)/my page.md" };
        assert_eq!(kept_form("my page.md", holder, file), None);
    }
}
