//! Paths of a site as text.

/// `a` and `b` with one slash between them, either of which may be empty.
pub(crate) fn below(a: &str, b: &str) -> String {
    match (a.trim_matches('/'), b.trim_matches('/')) {
        ("", path) | (path, "") => path.to_owned(),
        (a, b) => format!("{a}/{b}"),
    }
}

/// The path of a URL, without slashes around it.
pub(crate) fn path_of_url(url: &str) -> &str {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    path.trim_matches('/')
}

/// A path as seen from a folder it is in, `""` for the folder itself; `None` outside of it.
pub(crate) fn path_in<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(folder)? {
        rest if folder.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

/// A stem whose last name stands for its folder.
pub(crate) fn index_path(stem: &str, names: &[&str]) -> String {
    match stem.rsplit_once('/') {
        Some((folder, name)) if names.contains(&name) => folder.to_owned(),
        None if names.contains(&stem) => String::new(),
        _ => stem.to_owned(),
    }
}
