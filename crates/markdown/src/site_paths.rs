//! Classifies files by path, and maps them to the paths at which they are served.

/// Names of files at the docs root that instruct coding agents, without extension.
const FOR_AGENTS: [&str; 2] = ["agents", "claude"];

/// Names of files at the docs root for the people who edit the docs, without extension.
const FOR_EDITORS: [&str; 4] = ["contributing", "code_of_conduct", "security", "license"];

/// File extensions of Markdown pages.
const MARKDOWN: [&str; 3] = ["md", "mdx", "markdown"];

/// File extensions of pages in other formats.
const OTHERS: [&str; 4] = ["rst", "adoc", "asciidoc", "ipynb"];

/// Whether a file is a page: in any supported format, without a path component that starts with a dot, and not one of
/// the Markdown files that repositories keep at their root for agents (`AGENTS.md`).
pub fn is_page(path: &str) -> bool {
    is_markup(path) && !is_agents_file(path)
}

/// Whether a file is a page in Markdown, the format of most generators.
pub fn is_markdown_page(path: &str) -> bool {
    is_markdown(path) && is_page(path)
}

/// Whether a file is one of the Markdown files that repositories keep at their root for agents (`AGENTS.md`).
pub fn is_agents_file(path: &str) -> bool {
    is_named(path, &FOR_AGENTS)
}

/// Whether a file is one of the Markdown files that repositories keep at their root for those who edit the docs
/// (`CONTRIBUTING.md`). Generators that find them in their folder of pages serve them as any other page.
pub fn is_for_editors(path: &str) -> bool {
    is_named(path, &FOR_EDITORS)
}

/// Whether a file is in a supported format, whether or not it is a page of the site.
pub fn is_markup(path: &str) -> bool {
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    !hidden && stem(path).is_some()
}

/// Whether a file is in Markdown (or MDX), whether or not it is a page of the site.
pub fn is_markdown(path: &str) -> bool {
    is_markup(path) && has_ending(path, &MARKDOWN)
}

fn has_ending(path: &str, endings: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Whether a file at the root has one of the names. Only as `.md`: MDX is used for sites alone.
fn is_named(path: &str, names: &[&str]) -> bool {
    let Some((name, ending)) = path.rsplit_once('.') else { return false };
    ending.eq_ignore_ascii_case("md") && names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The path a file is served at, without a leading slash: without its extension, and `index` and `README` become their
/// folder (`""` at the root). A `slug` in the front matter is honoured by `docent_site::Site`.
pub fn site_path(file: &str) -> String {
    let stem = stem(file).unwrap_or(file);
    match stem.rsplit_once('/') {
        Some((folder, "index" | "README" | "readme")) => folder.to_owned(),
        None if matches!(stem, "index" | "README" | "readme") => String::new(),
        _ => stem.to_owned(),
    }
}

/// The path a file is served at when its front matter names a `slug`: from the root when the slug has a slash, beside
/// the file when it is one word.
pub fn slugged(file: &str, slug: &str) -> String {
    let slug = slug.trim();
    let name = slug.trim_matches('/');
    match file.rsplit_once('/') {
        Some((folder, _)) if !slug.contains('/') && !name.is_empty() => format!("{folder}/{name}"),
        _ => name.to_owned(),
    }
}

/// Whether a file is only included in other pages: its name or that of a folder above it starts with `_`, or it is in
/// `snippets/`.
pub fn is_partial(path: &str) -> bool {
    path.starts_with("snippets/") || path.split('/').any(|part| part.starts_with('_'))
}

pub fn stem(path: &str) -> Option<&str> {
    let (stem, _) = path.rsplit_once('.')?;
    let known = has_ending(path, &MARKDOWN) || has_ending(path, &OTHERS);
    (known && !stem.is_empty() && !stem.ends_with('/')).then_some(stem)
}

/// The folder of a path, `""` at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last segment of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A path resolved relative to a folder, with a leading `../` for each folder that it leads out of the tree.
pub fn rebased(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A path resolved relative to a folder; `None` if it leads out of the tree.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_served_without_its_ending() {
        for (file, path) in [
            ("guides/retries.mdx", "guides/retries"),
            ("index.md", ""),
            ("guides/index.mdx", "guides"),
            ("README.md", ""),
            ("guides/README.md", "guides"),
            ("a.b.md", "a.b"),
            ("reindex.md", "reindex"),
        ] {
            assert_eq!(site_path(file), path, "{file}");
        }
    }

    #[test]
    fn a_slug_replaces_the_name_or_the_whole_path() {
        for (file, slug, path) in [
            ("guides/a.md", "b", "guides/b"),
            ("guides/a.md", "/b", "b"),
            ("guides/a.md", "x/b/", "x/b"),
            ("guides/a.md", "/", ""),
            ("a.md", "b", "b"),
        ] {
            assert_eq!(slugged(file, slug), path, "{file} {slug}");
        }
    }

    #[test]
    fn pages_and_partials_are_told_by_their_path() {
        for (path, page) in [
            ("a.md", true),
            ("a.MDX", true),
            ("a.markdown", true),
            ("a.rst", true),
            ("a.adoc", true),
            ("contributing.rst", true),
            ("a.txt", false),
            (".md", false),
            (".github/a.md", false),
            ("x/.md", false),
            ("README.md", true),
            ("AGENTS.md", false),
            ("claude.md", false),
            ("Contributing.MD", true),
            ("SECURITY.md", true),
            ("security.mdx", true),
            ("guides/security.md", true),
            ("agents/index.md", true),
        ] {
            assert_eq!(is_page(path), page, "{path}");
        }
        assert!(
            is_for_editors("Contributing.MD") && is_for_editors("LICENSE.md") && is_for_editors("CODE_OF_CONDUCT.md")
        );
        assert!(!is_for_editors("security.mdx") && !is_for_editors("guides/security.md"));
        assert!(is_markdown_page("a.md") && !is_markdown_page("a.rst") && !is_markdown_page("AGENTS.md"));
        assert!(is_partial("snippets/a.mdx") && is_partial("docs/_a.mdx") && is_partial("_inc/a.md"));
        assert!(!is_partial("guides/snippets.mdx"));
    }
}
