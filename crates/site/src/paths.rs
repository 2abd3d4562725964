//! Operations on site paths as strings.

/// Joins `a` and `b` with one slash; either may be empty.
pub(crate) fn below(a: &str, b: &str) -> String {
    match (a.trim_matches('/'), b.trim_matches('/')) {
        ("", path) | (path, "") => path.to_owned(),
        (a, b) => format!("{a}/{b}"),
    }
}

/// The path of a URL, without leading and trailing slashes.
pub(crate) fn path_of_url(url: &str) -> &str {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    path.trim_matches('/')
}

/// A path relative to a folder it is in, `""` for the folder itself; `None` if it is outside.
pub(crate) fn path_in<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    match path.strip_prefix(folder)? {
        rest if folder.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

/// Removes the last segment of a stem if it is one of `names`, the stems of index files.
pub(crate) fn index_path(stem: &str, names: &[&str]) -> String {
    match stem.rsplit_once('/') {
        Some((folder, name)) if names.contains(&name) => folder.to_owned(),
        None if names.contains(&stem) => String::new(),
        _ => stem.to_owned(),
    }
}
