//! mdBook books, configured in `book.toml`, with a `SUMMARY.md` that lists every page.

use docent_markdown::{
    ActiveTokens, AnchorStyle, Format, FrontMatter, LinkKind, Templates, file_name, folder, is_markdown,
    is_markdown_page, parse_as, regex,
};

use super::built_site::BuiltSite;
use super::yaml::Yaml;
use super::{Facts, LinkRules, Root, Rules};
use crate::generators::fallback_links::resolve_by_name_if_there;
use crate::glob::Globs;
use crate::layout::{Generator, Layout, PageEntries, PageEntry, below};
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, has_page_ending, is_external, parts, relative, suffix_of,
    with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::{index_path, path_of_url};
use crate::settings;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};

const CONFIG_FILE: &str = "book.toml";
const SUMMARY: &str = "SUMMARY.md";

/// Settings that links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct MdBookOptions {
    /// The folder of the pages and assets.
    pub(crate) source: String,
    /// Base path of the book on its host, without leading and trailing slash.
    pub(crate) base: String,
    /// The first page, which is also shown at the address of the book.
    pub(crate) first_page: Option<String>,
}

/// Base path of the book on its host, without leading and trailing slash.
pub(crate) fn base(site: &Site) -> &str {
    &site.layout().options.mdbook.base
}

/// Whether a file configures the layout of a book; `folder` is relative to the folder of the configuration.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    (name == CONFIG_FILE && folder.is_empty()) || name == SUMMARY
}

pub(super) struct MdBook;

impl Rules for MdBook {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| name == CONFIG_FILE),
            active_tokens: ActiveTokens {
                templates: Templates::Commands,
                templates_in_code: true,
                ..ActiveTokens::default()
            },
            program_folders: &["theme"],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = from_config_folder(tree, home, CONFIG_FILE);
        if !has(&file) {
            return None;
        }
        let (config, error) = settings::parse_or_empty(&file, &tree.text(&file)?);
        let value = |path: &[&str]| path.iter().try_fold(&config, |value, name| value.get(name));
        let text = |path: &[&str]| value(path).and_then(Yaml::text);
        let source = joined_in(tree.root(), home, text(&["book", "src"]).unwrap_or("src"))?;
        let mut root = Root { folder: source.clone(), generator: Generator::MdBook, ..Root::default() };
        let chapters = tree.read(&below(&source, SUMMARY)).map(|bytes| chapters(&bytes, true)).unwrap_or_default();
        root.included = (!chapters.is_empty()).then(|| Globs::of_paths(chapters.iter().map(|(path, _)| path)));
        let mut layout = Layout::of(Generator::MdBook, home, vec![root.clone()]);
        let mut entries = PageEntries::default();
        for (path, title) in &chapters {
            let path = root.path(&below(&source, path), &FrontMatter::default());
            entries.add(
                path,
                PageEntry { title: Some(title.clone()).filter(|title| !title.is_empty()), ..PageEntry::default() },
            );
        }
        layout.entries = entries.by_key;
        layout.anchors = AnchorStyle::MdBook;
        layout.summary = Some(below(&source, SUMMARY));
        layout.options.mdbook = MdBookOptions {
            base: path_of_url(text(&["output", "html", "site-url"]).unwrap_or_default()).to_owned(),
            first_page: chapters.first().map(|(path, _)| below(&source, path)),
            source,
        };
        for (from, to) in value(&["output", "html", "redirect"]).map(Yaml::members).unwrap_or_default() {
            // A source with an anchor is a place on a page, which these redirects do not cover.
            if let (Some(to), Some(from)) = (to.text(), docent_markdown::joined("", from.trim_start_matches('/')))
                && !from.contains('#')
            {
                layout.redirects.push((from, to.to_owned()));
            }
        }
        if let Some(message) = error {
            layout.problem(&file, message);
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        let stem = docent_markdown::stem(relative_path).unwrap_or(relative_path);
        let name = file_name(stem);
        let names = if name.eq_ignore_ascii_case("readme") { name } else { "index" };
        below(&root.base_path, &index_path(stem, &[names]))
    }

    fn has_html_urls(&self, _layout: &Layout) -> bool {
        true
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        (relative_path == SUMMARY).then_some(SkipReason::Configuration)
    }
}

/// The pages that a summary links to, in order, with their titles. `decodes` says whether paths are percent-decoded,
/// which GitBook's own tool does not do.
pub(super) fn chapters(bytes: &[u8], decodes: bool) -> Vec<(String, String)> {
    let named = links_of_summary(bytes).into_iter().filter_map(|(target, title)| {
        let path = match decodes {
            true => ParsedLink::read(SUMMARY, &target, LinkSyntax::Markdown)?.path,
            false => target.split('#').next().unwrap_or(&target).to_owned(),
        };
        Some((docent_markdown::joined("", &path)?, title))
    });
    named.filter(|(path, _)| is_markdown(path)).collect()
}

/// The internal links of a summary in order: each target, verbatim, and its text.
pub(super) fn links_of_summary(bytes: &[u8]) -> Vec<(String, String)> {
    let page = parse_as(SUMMARY, bytes, Format::Markdown, AnchorStyle::MdBook);
    page.links
        .into_iter()
        .filter(|link| matches!(link.kind, LinkKind::Inline | LinkKind::Reference) && !is_external(&link.target))
        .map(|link| (link.target, link.text))
        .collect()
}

impl LinkRules for MdBook {
    /// Resolves a link: mdBook replaces the extension of a Markdown file by `.html` and leaves the rest to the browser.
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        regex!(MARKDOWN, r"^(.*)\.md");
        let options = &site.layout().options.mdbook;
        if site.address(link.from).is_none() {
            // An included file, or one that is not part of the book.
            return resolve_by_name_if_there(site, link);
        }
        let path = match MARKDOWN.captures(&link.path) {
            Some(found) => format!("{}.html", &found[1]),
            None => link.path.clone(),
        };
        // What follows the extension is lost, unless it is an anchor.
        let anchor = link.anchor.clone().filter(|_| !link.target.contains(".md?"));
        let built = ParsedLink { from: link.from, target: link.target, path, anchor, syntax: link.syntax };
        match browser(site).resolve(&built) {
            Target::Missing { path: Some(path), .. } if path.is_empty() || path == "index.html" => {
                match &options.first_page {
                    Some(first) => link.page(first.clone()),
                    None => link.missing(Some(path)),
                }
            }
            // Pages that mdBook generates.
            Target::Missing { path: Some(path), .. }
                if ["print.html", "404.html", "toc.html"].contains(&path.as_str()) =>
            {
                Target::NotUnderstood
            }
            Target::Missing { path: Some(_), .. } if has_page_ending(&link.path) && !link.is_absolute() => {
                match docent_markdown::joined(folder(link.from), &link.path) {
                    // A file for agents, such as `AGENTS.md`, is not treated as a page, even if the book has it as one.
                    Some(file) if site.has_file(&file) && !is_markdown_page(&file) => Target::Asset { file },
                    path => link.missing(path),
                }
            }
            // The link leads out of the book; other books may be served beside this one.
            Target::Missing { path: None, .. } => Target::NotUnderstood,
            target => target,
        }
    }

    /// By file path. A `README.md` is served as the index of its folder, so a link has to name `index.md`.
    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, .. } = *wanted;
        if site.address(from).is_none() {
            return Vec::new();
        }
        let (path, _) = parts(like);
        let browser = browser(site);
        let by_file = |name: &str| with_dot_slash_like(path, encoded(&relative(folder(from), name)));
        let mut forms = Vec::new();
        if path.starts_with('/') {
            forms.extend(browser.absolute(to));
        } else if path.ends_with(".html") {
            forms.extend(browser.relative(from, to));
        }
        forms.extend([by_file(to), by_file(&below(folder(to), "index.md"))]);
        forms.extend(browser.relative(from, to));
        forms.push(by_file(to));
        forms.into_iter().map(|form| form + &suffix_of(like, anchor)).collect()
    }
}

fn browser(site: &Site) -> BuiltSite<'_> {
    let options = &site.layout().options.mdbook;
    BuiltSite { site, base: &options.base, directory_urls: false, assets: &options.source }
}

/// The path that a page is built at, whether or not its file exists yet: `guide/start.html`.
pub(crate) fn built_path(site: &Site, file: &str) -> Option<String> {
    let relative_path = super::built_site::path_in_folder(&site.layout().options.mdbook.source, file)?;
    let stem = docent_markdown::stem(relative_path)?;
    let name = file_name(stem);
    let stem = if name.eq_ignore_ascii_case("readme") { below(folder(stem), "index") } else { stem.to_owned() };
    Some(format!("{stem}.html"))
}

/// The page that is built at a path.
pub(crate) fn page_at(site: &Site, path: &str) -> Option<String> {
    match browser(site).find(path, None)? {
        Target::Page { file, .. } => Some(file),
        _ => None,
    }
}

/// Resolves the path of a URL on the page that is built at `page`, as a browser does; the result is relative to the
/// book, `None` outside of it.
pub(crate) fn path_from(site: &Site, page: &str, path: &str) -> Option<String> {
    match path.starts_with('/') {
        true => docent_markdown::joined("", browser(site).without_base(path)?),
        false => docent_markdown::joined(folder(page), path),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::{as_docs_root, assert_link_leads, asset, built_site, missing};

    #[test]
    fn pages_are_what_the_summary_names() {
        let site = Site::read(&built_site("mdbook"));
        let served: Vec<_> = site.served().into_iter().collect();
        assert_eq!(
            served,
            [
                ("a page", "src/a page.md"),
                ("guide", "src/guide/README.md"),
                ("guide/deep", "src/guide/deep/index.md"),
                ("guide/start", "src/guide/start.md"),
                ("other/v1.2", "src/other/v1.2.md"),
                ("preface", "src/preface.md"),
            ]
        );
        let place = site.layout().place("src/guide/start.md");
        assert_eq!((place.title.as_deref(), place.order), (Some("Start"), Some(2)));
    }

    #[test]
    fn links_lead_where_the_built_pages_have_them() {
        let site = Site::read(&built_site("mdbook"));
        let page = |file: &str| Target::Page { file: format!("src/{file}"), anchor: None };
        let (preface, start) = ("src/preface.md", "src/guide/start.md");
        for (from, target, expected) in [
            // A `README.md` becomes `index.html`, but links to the file are not rewritten.
            (preface, "guide/README.md", missing("src/guide/README.md")),
            (preface, "guide/index.md", page("guide/README.md")),
            (preface, "guide/", page("guide/README.md")),
            (preface, "guide/start.html", page("guide/start.md")),
            (preface, "orphan.md", missing("src/orphan.md")),
            (preface, "a%20page.md", page("a page.md")),
            (preface, "other/v1.2.md", page("other/v1.2.md")),
            (preface, "/handbook/guide/start.md", page("guide/start.md")),
            (preface, "/guide/start.md", Target::NotUnderstood),
            (preface, "../std/index.html", Target::NotUnderstood),
            (preface, "old.html", Target::Redirect { destination: "guide/start.html".to_owned() }),
            (preface, "print.html", Target::NotUnderstood),
            (preface, "index.html", page("preface.md")),
            (start, "../img/a.png", asset("src/img/a.png")),
            (start, "deep/index.md", page("guide/deep/index.md")),
            ("src/parts/shared.md", "guide/start.md", Target::NotUnderstood),
        ] {
            assert_eq!(site.resolve(from, target), expected, "{target} in {from}");
        }
    }

    proptest! {
        #[test]
        fn a_link_that_is_written_leads_to_its_page(
            from in 0..6_usize,
            to in 0..7_usize,
            like in prop::sample::select(vec!["", "x.md", "./x.md#y", "../x/", "x.html", "/x.html", "/handbook/x.md", "x?q=1"]),
            starts_in_source in any::<bool>(),
        ) {
            let files = ["preface.md", "guide/README.md", "guide/start.md", "guide/deep/index.md", "a page.md", "other/v1.2.md", "img/a.png"];
            let tree = built_site("mdbook");
            let name = |file: &str| if starts_in_source { file.to_owned() } else { format!("src/{file}") };
            let site = if starts_in_source { Site::read(&as_docs_root("src", tree)) } else { Site::read(&tree) };
            let (from, to) = (name(files[from]), name(files[to]));
            assert_link_leads(&site, &from, &to, like, LinkSyntax::Markdown);
        }
    }
}
