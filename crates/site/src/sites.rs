//! The sites of a repository, told by the names of their configurations.

use std::collections::BTreeMap;

use docent_markdown::is_page;

use crate::generator::Generator;
use crate::paths::path_in;

/// Configurations that no other program has, each with its generator. A name that ends in `.` has any ending.
const CONFIGURATIONS: [(&str, Generator); 17] = [
    ("docs.json", Generator::Mintlify),
    ("mint.json", Generator::Mintlify),
    ("docusaurus.config.", Generator::Docusaurus),
    (".vitepress/config.", Generator::VitePress),
    ("mkdocs.yml", Generator::MkDocs),
    ("mkdocs.yaml", Generator::MkDocs),
    ("zensical.toml", Generator::MkDocs),
    ("book.toml", Generator::MdBook),
    ("astro.config.", Generator::Starlight),
    ("source.config.", Generator::Fumadocs),
    ("hugo.toml", Generator::Hugo),
    ("hugo.yaml", Generator::Hugo),
    ("hugo.yml", Generator::Hugo),
    ("hugo.json", Generator::Hugo),
    (".gitbook.yaml", Generator::GitBook),
    ("conf.py", Generator::Sphinx),
    ("docfx.json", Generator::Docfx),
];

/// Beginnings of the names of folders whose sites serve a test or show how something is used.
const NO_SITES: [&str; 7] = ["test", "__test", "example", "fixture", "template", "e2e", "playground"];

/// The folder of the site that a file configures, and its generator, if the file is its main configuration.
pub(crate) fn configured_by(file: &str) -> Option<(&str, Generator)> {
    CONFIGURATIONS.iter().find_map(|(name, generator)| {
        let is_it = |rest: &str| match name.ends_with('.') {
            true => rest.strip_prefix(name).is_some_and(|ending| !ending.contains('/')),
            false => rest == *name,
        };
        let from = file.rmatch_indices('/').nth(name.matches('/').count()).map_or(0, |(at, _)| at + 1);
        is_it(&file[from..]).then(|| (file[..from].trim_end_matches('/'), *generator))
    })
}

/// The folders below which a site with pages is configured, each with its generator; not those of tests and examples.
pub fn sites_in(files: &[String]) -> Vec<(String, Generator)> {
    let is_real = |folder: &str| {
        folder.split('/').all(|part| {
            let part = part.to_ascii_lowercase();
            part != "node_modules" && !NO_SITES.iter().any(|start| part.starts_with(start))
        })
    };
    let mut sites: BTreeMap<&str, Generator> = BTreeMap::new();
    for (folder, generator) in files.iter().filter_map(|file| configured_by(file)).filter(|(folder, _)| is_real(folder))
    {
        sites.entry(folder).or_insert(generator);
    }
    sites.retain(|folder, _| files.iter().any(|file| is_page(file) && path_in(folder, file).is_some()));
    sites.into_iter().map(|(folder, generator)| (folder.to_owned(), generator)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_told_by_their_configurations() {
        let files = [
            "README.md",
            "ark/docs/source.config.ts",
            "ark/docs/content/a.mdx",
            "examples/book/book.toml",
            "examples/book/src/a.md",
            "guide/book.toml",
            "guide/src/SUMMARY.md",
            "tools/conf.py",
            "web/.vitepress/config.mts",
            "web/index.md",
        ];
        let files: Vec<String> = files.into_iter().map(str::to_owned).collect();
        let sites = sites_in(&files);
        let sites: Vec<(&str, Generator)> =
            sites.iter().map(|(folder, generator)| (folder.as_str(), *generator)).collect();
        assert_eq!(
            sites,
            [("ark/docs", Generator::Fumadocs), ("guide", Generator::MdBook), ("web", Generator::VitePress)]
        );
        assert_eq!(configured_by(".vitepress/config.ts"), Some(("", Generator::VitePress)));
        assert_eq!(configured_by("book.toml"), Some(("", Generator::MdBook)));
        assert_eq!(configured_by("a/.vitepress/config.d/x.ts"), None);
    }
}
