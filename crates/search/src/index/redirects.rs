//! The redirects of a site.
//!
//! A source is a path whose segments may be `:name` (any one segment), `:name*` or `*` (all remaining segments); the
//! destination repeats these placeholders. Plain paths, the most common sources, are looked up in a map.

use std::collections::HashMap;

/// Maximum length of a chain of redirects; a longer one is taken for a loop.
const MOST_STEPS: usize = 5;

/// The redirects of a site. Paths are without leading slashes.
#[derive(Debug, Default)]
pub(crate) struct Redirects {
    plain: HashMap<String, String>,
    /// Source patterns and their destinations.
    patterns: Vec<(String, String)>,
}

impl Redirects {
    /// From sources and destinations as written in the configuration. Of several redirects for one path, the first
    /// counts.
    pub(crate) fn of<'r>(written: impl Iterator<Item = (&'r str, &'r str)>) -> Self {
        let mut redirects = Self::default();
        for (source, destination) in written {
            let source = path_of(source).to_owned();
            if source.split('/').any(is_open) {
                redirects.patterns.push((source, destination.to_owned()));
            } else {
                redirects.plain.entry(source).or_insert_with(|| destination.to_owned());
            }
        }
        redirects
    }

    /// The path that a moved path redirects to; `None` when it did not move, or moved to another site.
    pub(crate) fn follow(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        let mut moved = false;
        for _ in 0..MOST_STEPS {
            let Some(next) = self.step(&path) else { break };
            if next.contains("://") {
                return None;
            }
            path = path_of(&next).to_owned();
            moved = true;
        }
        moved.then_some(path)
    }

    /// The sources without placeholders.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        self.plain.keys().map(String::as_str)
    }

    fn step(&self, path: &str) -> Option<String> {
        if let Some(destination) = self.plain.get(path) {
            return Some(destination.clone());
        }
        self.patterns.iter().find_map(|(source, destination)| filled(source, destination, path))
    }
}

/// A path without outer slashes, query and anchor.
fn path_of(written: &str) -> &str {
    written.split(['#', '?']).next().unwrap_or_default().trim().trim_matches('/')
}

fn is_open(part: &str) -> bool {
    part == "*" || part.starts_with(':')
}

/// The destination for a path, placeholders filled in; `None` when the source does not match the path.
fn filled(source: &str, destination: &str, path: &str) -> Option<String> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    let mut rest = Some(path);
    for wanted in source.split('/') {
        if wanted == "*" || wanted.starts_with(':') && wanted.ends_with('*') {
            found.push((wanted, rest.take().unwrap_or_default()));
            break;
        }
        let left = rest?;
        let (part, after) = left.split_once('/').map_or((left, None), |(part, after)| (part, Some(after)));
        if wanted.starts_with(':') && !part.is_empty() {
            found.push((wanted, part));
        } else if wanted != part {
            return None;
        }
        rest = after;
    }
    if rest.is_some() {
        return None;
    }
    let part = |part: &str| {
        let value = found.iter().find(|(name, _)| *name == part).map(|(_, value)| *value);
        value.map_or_else(|| part.to_owned(), str::to_owned)
    };
    if destination.contains("://") {
        return Some(destination.to_owned());
    }
    Some(path_of(destination).split('/').map(part).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_moved_are_followed_to_where_they_are() {
        let redirects = Redirects::of(
            [
                ("/old", "/new#part"),
                ("a", "/b"),
                ("b", "/c/"),
                ("/round", "/round"),
                ("/v1/:page", "/v2/:page"),
                ("/guide/:slug*", "/guides/:slug*"),
                ("/blog/*", "/news"),
                ("/away", "https://example.com/x"),
            ]
            .into_iter(),
        );
        for (path, to) in [
            ("old", Some("new")),
            ("a", Some("c")),
            ("round", Some("round")),
            ("v1/x", Some("v2/x")),
            ("v1/x/y", None),
            ("v1", None),
            ("guide/x/y", Some("guides/x/y")),
            ("blog/2020/x", Some("news")),
            ("away", None),
            ("elsewhere", None),
        ] {
            assert_eq!(redirects.follow(path).as_deref(), to, "{path}");
        }
    }
}
