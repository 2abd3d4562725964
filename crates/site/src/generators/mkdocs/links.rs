//! Resolves and writes links as MkDocs does: a link to a file in the docs folder becomes that file's address, and any
//! other link is left to the browser.

use std::collections::{BTreeMap, HashSet};

use docent_markdown::{Link, LinkKind, Page, folder, is_markdown_page, rebased, regex};

use super::{MkDocs, MkDocsOptions};
use crate::generators::LinkRules;
use crate::generators::built_site::BuiltSite;
use crate::generators::fallback_links::resolve_by_name;
use crate::layout::below;
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, has_markdown_ending, is_fragment, parts, relative, suffix_of,
    with_dot_slash_like,
};
use crate::model::{Site, Target};

/// Files that themes and the generator itself add to a site.
const THEME_FILES: [&str; 5] = ["img/favicon.ico", "sitemap.xml", "sitemap.xml.gz", "404.html", "search.html"];

impl LinkRules for MkDocs {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let options = &site.layout().options.mkdocs;
        if link.syntax == LinkSyntax::Field {
            let path = rebased(&options.docs, &link.path);
            return match file_of(site, link, &path) {
                Some(found) => found,
                None if may_be_generated(options, &path) => Target::NotUnderstood,
                None => link.missing(Some(path)),
            };
        }
        if site.address(link.from).is_none() {
            return resolve_by_name(site, link);
        }
        if is_fragment(link.from) && !link.is_absolute() {
            // The file may be a snippet, whose relative links start from the page that includes it.
            return Target::NotUnderstood;
        }
        let mut file_path = None;
        if link.syntax == LinkSyntax::Markdown && (!link.is_absolute() || options.absolute_from_docs) {
            let base = if link.is_absolute() { options.docs.as_str() } else { folder(link.from) };
            let path = rebased(base, &link.path);
            if let Some(found) = file_of(site, link, &path) {
                return found;
            }
            file_path = Some(path);
        }
        match browser(site, options).resolve(link) {
            Target::Missing { path, .. }
                if path.iter().chain(&file_path).any(|path| may_be_generated(options, path)) =>
            {
                Target::NotUnderstood
            }
            Target::Missing { path: Some(path), .. } if may_be_blog_page(site, link.from, &path) => {
                Target::NotUnderstood
            }
            Target::Missing { path: Some(path), .. } if THEME_FILES.contains(&path.as_str()) => Target::NotUnderstood,
            Target::Missing { .. } if file_path.as_deref().is_some_and(|path| is_theme_file(options, path)) => {
                Target::NotUnderstood
            }
            Target::Missing { anchor, .. } if has_markdown_ending(&link.path) && file_path.is_some() => {
                Target::Missing { path: file_path.filter(|path| !path.starts_with("../")), anchor }
            }
            target => target,
        }
    }

    /// By file path, which MkDocs validates, unless `like` is a URL for the browser.
    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, syntax } = *wanted;
        let options = &site.layout().options.mkdocs;
        if syntax == LinkSyntax::Field {
            let relative_path = to.strip_prefix(options.docs.as_str()).unwrap_or(to).trim_start_matches('/');
            return vec![format!("{relative_path}{}", suffix_of(like, anchor))];
        }
        if site.address(from).is_none() {
            return Vec::new();
        }
        let browser = browser(site, options);
        let (path, _) = parts(like);
        let suffix = suffix_of(like, anchor);
        let mut forms: Vec<String> = Vec::new();
        if path.starts_with('/') {
            if options.absolute_from_docs && syntax == LinkSyntax::Markdown {
                let relative_path = to.strip_prefix(options.docs.as_str()).unwrap_or(to).trim_start_matches('/');
                forms.push(format!("/{}", encoded(relative_path)));
            }
            forms.extend(browser.absolute(to));
        }
        let is_for_browser = match is_markdown_page(to) {
            true => !path.is_empty() && !has_markdown_ending(path),
            // As a file path, `like` leads out of the docs, so it is a URL relative to the address of the page.
            false => rebased(folder(from), path).starts_with("../"),
        };
        if is_for_browser || syntax != LinkSyntax::Markdown {
            forms.extend(browser.relative(from, to));
        }
        let by_file = encoded(&relative(folder(from), to));
        forms.push(with_dot_slash_like(path, by_file.clone()));
        forms.extend(browser.absolute(to));
        forms.push(by_file);
        forms.into_iter().map(|form| form + &suffix).collect()
    }
}

/// Link reference definitions that no link on a page uses. A hook may make links that use them, for example from
/// comments.
pub(super) fn unused_definitions(text: &str, page: &Page) -> Vec<Link> {
    regex!(DEFINITION, r"(?m)^ {0,3}\[([^\[\]^\n][^\[\]\n]*)\]:[ \t]*(\S+)");
    let used: HashSet<usize> = page.links.iter().map(|link| link.dest_span.start).collect();
    let in_code = |at: usize| {
        page.code.get(page.code.partition_point(|code| code.end <= at)).is_some_and(|code| code.start <= at)
    };
    // Of two with the same label, the last one counts.
    let mut last = BTreeMap::new();
    for found in DEFINITION.captures_iter(text) {
        let Some(destination) = found.get(2).filter(|destination| !in_code(destination.start())) else { continue };
        last.insert(found[1].trim().to_lowercase(), destination);
    }
    let unused = last.into_values().filter(|destination| !used.contains(&destination.start()));
    let link = |at: regex::Match<'_>| Link::of(at.as_str().to_owned(), at.range(), LinkKind::Reference);
    unused.map(link).collect()
}

/// Whether a plug-in may make the page at a path or an address.
fn may_be_generated(options: &MkDocsOptions, path: &str) -> bool {
    let relative_path = path.strip_prefix(options.docs.as_str()).filter(|rest| rest.starts_with('/')).unwrap_or(path);
    options.generated.may_include(relative_path)
}

/// Whether a theme may provide a file, which can then be linked to like one in the docs folder.
fn is_theme_file(options: &MkDocsOptions, path: &str) -> bool {
    let relative_path = path.strip_prefix(options.docs.as_str()).unwrap_or(path).trim_start_matches('/');
    THEME_FILES.contains(&relative_path) || (options.lists_tags && relative_path == "tags.md")
}

fn browser<'s>(site: &'s Site, options: &'s MkDocsOptions) -> BuiltSite<'s> {
    BuiltSite { site, base: &options.base, directory_urls: !options.file_urls, assets: &options.docs }
}

/// The target of a path to a file in the docs folder, in the language of the page with the link.
fn file_of(site: &Site, link: &ParsedLink<'_>, path: &str) -> Option<Target> {
    let candidates = in_languages(site, link.from, path);
    let file = candidates.into_iter().find(|file| site.has_any(file) && is_in_docs(site, file))?;
    let is_markdown = is_markdown_page(&file) && !file.to_ascii_lowercase().ends_with(".mdx");
    if !is_markdown {
        return Some(Target::Asset { file });
    }
    Some(match site.address(&file) {
        Some(_) => link.page(file),
        None if is_post(site, &file) => Target::NotUnderstood,
        // The configuration excludes the file, so it is no page.
        None => link.missing(Some(file)),
    })
}

fn may_be_blog_page(site: &Site, from: &str, address: &str) -> bool {
    site.layout().root(from).is_some_and(|root| root.options.blogs.iter().any(|blog| blog.may_generate(address)))
}

/// Whether a file is a post of a blog. A post has no address if it is a draft or if its address is computed.
fn is_post(site: &Site, file: &str) -> bool {
    let root = site.layout().root(file);
    root.is_some_and(|root| {
        root.relative_path(file)
            .is_some_and(|relative_path| root.options.blogs.iter().any(|blog| blog.holds(relative_path)))
    })
}

fn is_in_docs(site: &Site, file: &str) -> bool {
    let docs = site.layout().options.mkdocs.docs.as_str();
    site.layout().root(file).is_some() || file.strip_prefix(docs).is_some_and(|rest| rest.starts_with('/'))
}

/// Candidate paths in lookup order: for a site with languages, first in the language of the page, then in the default
/// one.
fn in_languages(site: &Site, from: &str, path: &str) -> Vec<String> {
    let layout = site.layout();
    let Some(root) = layout.root(from) else { return vec![path.to_owned()] };
    let mut candidates = Vec::new();
    if let Some(default_language) = root.language_suffixes.first() {
        let page_language = root
            .relative_path(from)
            .and_then(|relative_path| root.without_language(relative_path).1)
            .unwrap_or(default_language);
        if let Some((name, ending)) = path.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')) {
            candidates.extend([page_language, default_language].map(|language| format!("{name}.{language}.{ending}")));
        }
        candidates.push(path.to_owned());
    } else if let Some(page_language) = &root.language {
        // With a folder per language, files that one language lacks are taken from the default one.
        let docs = layout.options.mkdocs.docs.as_str();
        let default_root = layout.roots.iter().find(|root| root.language.is_some() && root.base_path.is_empty());
        let default_language = default_root.and_then(|root| root.language.as_ref()).unwrap_or(page_language);
        let relative_path = path.strip_prefix(docs).unwrap_or(path).trim_start_matches('/');
        let split = |language: &str| relative_path.strip_prefix(language).and_then(|rest| rest.strip_prefix('/'));
        let (languages, rest) = match (split(page_language), split(default_language)) {
            (Some(rest), _) => ([page_language, default_language], rest),
            (None, Some(rest)) => ([default_language, page_language], rest),
            (None, None) => ([page_language, default_language], relative_path),
        };
        candidates.extend(languages.map(|language| below(docs, &below(language, rest))));
        candidates.extend([below(docs, rest), path.to_owned()]);
    } else {
        candidates.push(path.to_owned());
    }
    let mut seen = HashSet::new();
    candidates.retain(|path| seen.insert(path.clone()));
    candidates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::{as_docs_root, assert_link_leads, asset, built_site, missing};

    fn page(file: &str, anchor: Option<&str>) -> Target {
        Target::Page { file: file.to_owned(), anchor: anchor.map(str::to_owned) }
    }

    #[test]
    fn links_lead_where_the_built_pages_have_them() {
        let site = Site::read(&built_site("mkdocs"));
        let (index, start) = ("docs/index.md", "docs/guide/start.md");
        for (from, target, expected) in [
            (index, "guide/start.md#custom", page(start, Some("custom"))),
            (index, "guide/start/", page(start, None)),
            (index, "guide/start.md/", page(start, None)),
            (index, "guide/", page("docs/guide/index.md", None)),
            (index, "folder/README.md", page("docs/folder/README.md", None)),
            (index, "/handbook/guide/start/", page(start, None)),
            (index, "/handbook/guide/start.md", missing("guide/start.md")),
            (index, "/guide/start/", Target::NotUnderstood),
            (index, "drafts/later.md", missing("docs/drafts/later.md")),
            (index, "templates/block.md", missing("docs/templates/block.md")),
            (index, "old.mdx", asset("docs/old.mdx")),
            (index, "a%20page.md", page("docs/a page.md", None)),
            (index, "sitemap.xml", Target::NotUnderstood),
            // Relative to the address of the page, which is a folder.
            (start, "../", page("docs/guide/index.md", None)),
            (start, "../../other/", page("docs/other.markdown", None)),
            (start, "index.md", page("docs/guide/index.md", None)),
            (start, "index/", missing("guide/start/index")),
            (start, "../../img/a.png", asset("docs/img/a.png")),
            (start, "b.png", asset("docs/guide/b.png")),
            (start, "../b.png", asset("docs/guide/b.png")),
            (start, "./", page(start, None)),
            // The page of a folder is its `index.md`, and a `README.md` beside it is not built.
            ("docs/folder/README.md", "../twice/README.md", missing("docs/twice/README.md")),
            ("docs/folder/README.md", "../twice/", page("docs/twice/index.md", None)),
            // The index of a folder is also written over a page beside the folder, but a link by file still leads to
            // that page.
            ("docs/folder/README.md", "../twins.md", page("docs/twins.md", None)),
            ("docs/folder/README.md", "../twins/", page("docs/twins/README.md", None)),
            (start, "../../../x.md", Target::Missing { path: None, anchor: None }),
            (start, "../../../x/", Target::NotUnderstood),
        ] {
            assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
        }
        let site = Site::read(&as_docs_root("docs", built_site("mkdocs")));
        assert_eq!(site.resolve("index.md", "guide/start/"), page("guide/start.md", None));
        assert_eq!(site.resolve("guide/start.md", "../index.md"), page("index.md", None));
        assert_eq!(site.resolve("index.md", "/handbook/guide/start/"), page("guide/start.md", None));
    }

    #[test]
    fn what_plugins_make_excuses_no_other_file() {
        let resolved = |config: &str, target: &str| {
            let script = "with mkdocs_gen_files.open(f'reference/{name}.md', 'w') as page:\n    pass\n";
            let files = [("mkdocs.yml", config), ("docs/index.md", ""), ("docs/a.md", ""), ("gen.py", script)];
            Site::read(&crate::sample::site(&files)).resolve("docs/index.md", target)
        };
        let scripts = "plugins:\n  - gen-files:\n      scripts: [gen.py]\n";
        let redirects =
            "use_directory_urls: false\nplugins:\n  - redirects:\n      redirect_maps:\n        old.md: a.md\n";
        for (config, target, expected) in [
            ("plugins: [tags]\n", "gone.md", missing("docs/gone.md")),
            ("plugins: [tags]\n", "tags.md", Target::NotUnderstood),
            ("plugins: [search]\n", "tags.md", missing("docs/tags.md")),
            ("plugins: [gen-files]\n", "gone.md", Target::NotUnderstood),
            (scripts, "gone.md", missing("docs/gone.md")),
            (scripts, "reference/x.md", Target::NotUnderstood),
            (scripts, "reference/x/", Target::NotUnderstood),
            ("plugins: [api-autonav]\n", "reference/x.md", Target::NotUnderstood),
            ("plugins: [api-autonav]\n", "gone.md", missing("docs/gone.md")),
            ("plugins: [{mkdoxy: {projects: {cpp: {src-dirs: src}}}}]\n", "cpp/files.md", Target::NotUnderstood),
            ("plugins: [{mkdoxy: {projects: {cpp: {src-dirs: src}}}}]\n", "gone.md", missing("docs/gone.md")),
            ("plugins: [monorepo]\n", "gone.md", Target::NotUnderstood),
            (redirects, "old.html", Target::Redirect { destination: "/a".to_owned() }),
        ] {
            assert_eq!(resolved(config, target), expected, "{config} {target}");
        }
    }

    #[test]
    fn programs_may_use_definitions_that_no_link_does() {
        let page =
            "[a] <!-- [`x`][b] -->\n\n[a]: a.md\n[b]: one.md\n  [B]: b.md#x\n[^1]: words\n\n```\n[c]: c.md\n```\n";
        let targets = |hooks: &str| {
            let config = format!("site_name: x\n{hooks}");
            let site = Site::read(&crate::sample::site(&[("mkdocs.yml", &config), ("docs/index.md", page)]));
            let links = site.parse("docs/index.md", page.as_bytes()).links;
            links.into_iter().map(|link| page[link.dest_span].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(targets(""), ["a.md"]);
        assert_eq!(targets("hooks: [own.py]\n"), ["a.md", "b.md#x"]);
    }

    #[test]
    fn pages_may_be_files_and_absolute_links_may_name_files() {
        let config =
            "site_name: x\nuse_directory_urls: false\nvalidation: {links: {absolute_links: relative_to_docs}}\n";
        let tree: std::collections::BTreeMap<String, Vec<u8>> =
            [("mkdocs.yml", config), ("docs/a/b.md", ""), ("docs/a/index.md", ""), ("docs/c.md", "")]
                .into_iter()
                .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
                .collect();
        let site = Site::read(&tree);
        for (target, expected) in [
            ("../c.html", page("docs/c.md", None)),
            ("/c.md", page("docs/c.md", None)),
            ("index.html", page("docs/a/index.md", None)),
            ("b", Target::Missing { path: Some("a/b".to_owned()), anchor: None }),
            ("../a", page("docs/a/index.md", None)),
        ] {
            assert_eq!(site.resolve("docs/a/b.md", target), expected, "{target}");
        }
        let link = |like| {
            site.link(&LinkRequest {
                from: "docs/a/b.md",
                to: "docs/c.md",
                anchor: None,
                like,
                syntax: LinkSyntax::Markdown,
            })
        };
        assert_eq!(
            [link("x.md"), link("/x.md#y"), link("x.html"), link("")],
            ["../c.md", "/c.md#y", "../c.html", "../c.md"]
        );
    }

    #[test]
    fn languages_are_looked_through_in_turn() {
        let tree = |structure: &str, files: &[&str]| -> std::collections::BTreeMap<String, Vec<u8>> {
            let config = format!(
                "plugins:\n  - i18n:\n      docs_structure: {structure}\n      languages:\n        - {{locale: en, default: true}}\n        - {{locale: fr}}\n"
            );
            let files = files.iter().map(|file| ((*file).to_owned(), Vec::new()));
            files.chain([("mkdocs.yml".to_owned(), config.into_bytes())]).collect()
        };
        let site =
            Site::read(&tree("suffix", &["docs/a.md", "docs/a.fr.md", "docs/b.md", "docs/b.fr.md", "docs/c.md"]));
        assert_eq!(site.resolve("docs/a.fr.md", "b.md"), page("docs/b.fr.md", None));
        assert_eq!(site.resolve("docs/a.fr.md", "c.md"), page("docs/c.md", None));
        assert_eq!(site.resolve("docs/a.md", "b.md"), page("docs/b.md", None));
        let site = Site::read(&tree("folder", &["docs/en/a.md", "docs/fr/a.md", "docs/en/b.md", "docs/img/x.png"]));
        assert_eq!(site.resolve("docs/en/b.md", "a.md"), page("docs/en/a.md", None));
        assert_eq!(site.resolve("docs/fr/a.md", "b.md"), page("docs/en/b.md", None));
        assert_eq!(site.resolve("docs/fr/a.md", "../img/x.png"), Target::Asset { file: "docs/img/x.png".to_owned() });
    }

    proptest! {
        #[test]
        fn a_link_that_is_written_leads_to_its_page(
            from in 0..6_usize,
            to in 0..7_usize,
            like in prop::sample::select(vec!["", "x.md", "./x.md#y", "../x/", "x", "/x/", "/x.md", "/handbook/x/#y", "../../x.png", "x?q=1"]),
            has_file_urls in any::<bool>(),
            starts_in_source in any::<bool>(),
        ) {
            let files = ["index.md", "guide/index.md", "guide/start.md", "folder/README.md", "a page.md", "other.markdown", "img/a.png"];
            let mut tree = built_site("mkdocs");
            if has_file_urls {
                tree.insert("mkdocs.base.yml".to_owned(), b"use_directory_urls: false\nsite_url: https://x.y/handbook/\n".to_vec());
            }
            let name = |file: &str| if starts_in_source { file.to_owned() } else { format!("docs/{file}") };
            let site = if starts_in_source { Site::read(&as_docs_root("docs", tree)) } else { Site::read(&tree) };
            let (from, to) = (name(files[from]), name(files[to]));
            assert_link_leads(&site, &from, &to, like, LinkSyntax::Markdown);
        }
    }
}
