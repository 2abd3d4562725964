//! Describes a site to its authors: how pages are written, linked and listed.

use std::collections::{BTreeMap, BTreeSet};

use docent_markdown::{Link, LinkKind, Page, is_partial};

use crate::layout::Generator;
use crate::link_target::{has_markdown_ending, parts};
use crate::model::{Site, Target};
use crate::navigation::Navigation;
use crate::navigation_edit::NavigationFiles;
use crate::tree::Tree;

/// Maximum number of pages in the sample, evenly spaced.
const SAMPLE_SIZE: usize = 200;
/// Maximum number of names that are listed per kind.
const MAX_LISTED_NAMES: usize = 12;
/// Maximum length of a link that is shown as an example.
const MAX_EXAMPLE_BYTES: usize = 200;

/// A description of the site as a Markdown list of a few items. Every statement is counted on the pages of the tree or
/// read from the configuration.
pub fn site_profile(tree: &dyn Tree) -> String {
    let site = Site::read(tree);
    let pages = sample_pages(&site, tree);
    let mut lines = vec![generator(&site)];
    lines.extend(pages_and_fields(&pages));
    lines.extend(links(&site, &pages));
    lines.push(navigation(&site, tree));
    lines.extend(versions_and_languages(&site));
    lines.iter().map(|line| format!("- {line}\n")).collect()
}

/// A name from the repository, safe to quote: on one line, without backticks, and at most 100 characters.
fn name(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != '`').take(100).collect()
}

/// Pages, each with its text.
fn sample_pages(site: &Site, tree: &dyn Tree) -> Vec<(Page, String)> {
    let files: Vec<&str> = site.files().filter(|file| site.address(file).is_some() && !is_partial(file)).collect();
    let step = files.len().div_ceil(SAMPLE_SIZE).max(1);
    let read = files.iter().step_by(step).filter_map(|file| {
        let bytes = tree.read(file)?;
        Some((site.parse(file, &bytes), String::from_utf8(bytes).unwrap_or_default()))
    });
    read.collect()
}

fn generator(site: &Site) -> String {
    match site.generator() {
        Generator::Plain => {
            "No generator is known to build this site: its pages are read as files, as a forge shows them.".to_owned()
        }
        generator => format!("The site is built by {}. Write what it understands.", generator.name()),
    }
}

fn pages_and_fields(pages: &[(Page, String)]) -> Vec<String> {
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    let mut fields: BTreeMap<&str, usize> = BTreeMap::new();
    for (page, _) in pages {
        *endings.entry(page.path.rsplit('.').next().unwrap_or_default()).or_default() += 1;
        for name in page.front_matter.fields.iter().map(|field| field.name.as_str()).collect::<BTreeSet<_>>() {
            *fields.entry(name).or_default() += 1;
        }
    }
    let mut lines = Vec::new();
    if let Some((ending, _)) = endings.iter().max_by_key(|(_, count)| **count) {
        lines.push(format!("Pages are `.{ending}` files."));
    }
    // A field on at least 5 % of the pages is in use; rarer fields are exceptions.
    let mut used: Vec<(&str, usize)> = fields.into_iter().filter(|(_, count)| count * 20 >= pages.len()).collect();
    used.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let listed_fields: Vec<String> = used
        .iter()
        .take(MAX_LISTED_NAMES)
        .map(|(field, count)| format!("`{}` ({} %)", name(field), count * 100 / pages.len().max(1)))
        .collect();
    lines.push(match listed_fields.is_empty() {
        true => "Pages have no front matter; do not add any.".to_owned(),
        false => {
            format!("Front matter, and on how many of the pages: {}. Use no other fields.", listed_fields.join(", "))
        }
    });
    lines
}

/// The most common form of links between pages, with an example as it stands on its page.
fn links(site: &Site, pages: &[(Page, String)]) -> Option<String> {
    let mut forms: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
    for (page, text) in pages {
        for link in &page.links {
            let leads = matches!(site.resolve_link(&page.path, link), Target::Page { file, .. } if file != page.path);
            let written = text.get(link.span.clone()).unwrap_or_default();
            let (path, _) = parts(&link.target);
            if !leads || path.is_empty() || !is_sample(link, written) {
                continue;
            }
            let form = match (path.starts_with('/'), has_markdown_ending(path)) {
                _ if !written.contains(path) || path.contains(':') || path.contains("{{") => {
                    "in the syntax of the generator"
                }
                (true, true) => "from the root of the site, with the file's ending",
                (true, false) => "from the root of the site, without an ending",
                (false, true) => "relative, with the file's ending",
                (false, false) => "relative, without the file's ending",
            };
            let entry =
                forms.entry(form).or_insert_with(|| (0, format!("{} on `{}`", code(written), name(&page.path))));
            entry.0 += 1;
        }
    }
    let all: usize = forms.values().map(|(count, _)| count).sum();
    let (form, (count, example)) = forms.into_iter().max_by_key(|(_, (count, _))| *count)?;
    Some(format!("Links to other pages are written {form} ({count} of {all} that were looked at), such as {example}."))
}

/// Whether a link of a page is one that a reader follows, and short enough to be an example.
fn is_sample(link: &Link, written: &str) -> bool {
    let is_link = match &link.kind {
        LinkKind::Inline => true,
        LinkKind::Attribute { attribute, .. } => attribute == "href",
        LinkKind::Reference | LinkKind::Field | LinkKind::Autolink | LinkKind::Image => false,
    };
    is_link && !written.contains(char::is_control) && written.len() <= MAX_EXAMPLE_BYTES
}

/// A name or a piece of a page as a code span.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let room = if longest > 0 { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

fn navigation(site: &Site, tree: &dyn Tree) -> String {
    let has = |name: &&str| site.has_any(name);
    match site.generator() {
        Generator::Mintlify => {
            let file = Navigation::FILES.iter().find(|file| has(file)).unwrap_or(&Navigation::FILES[0]);
            format!(
                "The navigation is in `{file}`, which names pages by their path without ending; a page that it does not name is hidden."
            )
        }
        _ => {
            if let Some(navigation) = &site.layout().options.mkdocs.folder_navigation {
                return format!(
                    "The order of pages is in the `{}` of their folders, where there is one; it may name them one by one.",
                    navigation.name
                );
            }
            let navigation = NavigationFiles::of(tree, site);
            match navigation.files().as_slice() {
                [] if site.generator() == Generator::Sphinx => {
                    "A page is in the navigation when the `toctree` of another page names it; a new page belongs in one."
                        .to_owned()
                }
                [] => "No navigation file names pages: it follows from the folders, or from a configuration that is not for you to edit.".to_owned(),
                [file] => format!("The navigation is in `{}`; a new page belongs there too.", name(file)),
                [file, ..] => format!("The navigation is in `{}` and its like; a new page belongs there too.", name(file)),
            }
        }
    }
}

/// The versions and languages, each if there are several.
fn versions_and_languages(site: &Site) -> Vec<String> {
    let (mut versions, mut languages) = (BTreeMap::<String, usize>::new(), BTreeMap::<String, usize>::new());
    for file in site.files().filter(|file| site.is_page(file)) {
        let place = site.layout().place(file);
        place.version.into_iter().for_each(|version| *versions.entry(version).or_default() += 1);
        place.language.into_iter().for_each(|language| *languages.entry(language).or_default() += 1);
    }
    let list_if_several = |what: &str, found: BTreeMap<String, usize>, advice: &str| {
        let names: Vec<String> = found
            .iter()
            .take(MAX_LISTED_NAMES)
            .map(|(found, count)| format!("`{}` (pages: {count})", name(found)))
            .collect();
        (found.len() > 1).then(|| format!("There are several {what}: {}. {advice}", names.join(", ")))
    };
    let versions = list_if_several(
        "versions",
        versions,
        "Change the current one alone unless the instruction names another, and say which you changed.",
    );
    let languages = list_if_several(
        "languages",
        languages,
        "Write in that of the page you change; translations are left to people unless the instruction asks for them.",
    );
    versions.into_iter().chain(languages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::site;

    #[test]
    fn a_mkdocs_site_is_told_as_it_is() {
        let tree = site(&[
            ("mkdocs.yml", "site_name: T\nnav:\n  - index.md\n"),
            ("docs/index.md", "# Home\n\n[Guide](guides/a.md) and [other](guides/b.md)\n"),
            ("docs/guides/a.md", "---\ntags: [x]\n---\n# A\n\n[up](../index.md)\n"),
            ("docs/guides/b.md", "---\ntags: [x]\n---\n# B\n"),
        ]);
        assert_eq!(
            site_profile(&tree),
            "- The site is built by MkDocs. Write what it understands.\n\
             - Pages are `.md` files.\n\
             - Front matter, and on how many of the pages: `tags` (66 %). Use no other fields.\n\
             - Links to other pages are written relative, with the file's ending (3 of 3 that were looked at), such as \
             `[up](../index.md)` on `docs/guides/a.md`.\n\
             - The navigation is in `mkdocs.yml`; a new page belongs there too.\n"
        );
    }

    #[test]
    fn links_are_shown_as_they_are_written() {
        let antora = site(&[
            ("antora.yml", "name: t\nversion: ~\nnav:\n- modules/ROOT/nav.adoc\n"),
            ("modules/ROOT/nav.adoc", "* xref:a.adoc[]\n"),
            ("modules/ROOT/pages/a.adoc", "= A\n\nxref:b.adoc#x[B, really]\n"),
            ("modules/ROOT/pages/b.adoc", "= B\n"),
        ]);
        assert!(site_profile(&antora).contains("such as `xref:b.adoc#x[B, really]` on"), "{}", site_profile(&antora));
        let sphinx = site(&[
            ("conf.py", "extensions = []\n"),
            ("index.rst", "Home\n====\n\n.. toctree::\n\n   a\n\nSee :doc:`the a <a>`.\n"),
            ("a.rst", "A\n=\n"),
        ]);
        let description = site_profile(&sphinx);
        assert!(description.contains("such as `` :doc:`the a <a>` `` on `index.rst`"), "{description}");
        assert!(description.contains("the `toctree` of another page"), "{description}");
    }

    #[test]
    fn folders_of_pages_have_no_front_matter_and_no_navigation() {
        let tree = site(&[("a.md", "# A\n"), ("b.md", "# B\n\n[a](a.md)\n")]);
        let description = site_profile(&tree);
        assert!(description.contains("No generator is known"), "{description}");
        assert!(description.contains("Pages have no front matter"), "{description}");
        assert!(description.contains("No navigation file"), "{description}");
    }

    #[test]
    fn versions_and_languages_are_told() {
        let tree = site(&[
            (
                "docs.json",
                r#"{"navigation": {"versions": [{"version": "v2", "pages": ["v2/a"]}, {"version": "v1", "pages": ["v1/a"]}]}}"#,
            ),
            ("v1/a.mdx", "---\ntitle: A\n---\n"),
            ("v2/a.mdx", "---\ntitle: A\n---\n"),
        ]);
        let description = site_profile(&tree);
        assert!(description.contains("There are several versions: `v1` (pages: 1), `v2` (pages: 1)."), "{description}");
        assert!(description.contains("`docs.json`, which names pages by their path without ending"), "{description}");
    }
}
