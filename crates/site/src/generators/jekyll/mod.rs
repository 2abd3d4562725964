//! Jekyll sites, configured in `_config.yml`.
//!
//! Jekyll expands templates and leaves Markdown links as URLs, which the browser resolves on the built page. GitHub
//! Pages adds plug-ins that resolve links by file and make pages of more files; where it is unknown whether these
//! plug-ins are active, links that depend on them are `NotUnderstood`.

mod address;
pub(crate) mod config;
mod dates;
mod links;
mod templates;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use docent_markdown::{
    ActiveTokens, AnchorStyle, FrontMatter, Lines, Syntax, file_name, folder, is_markdown, read_front_matter, text_of,
};

use self::address::{FileKind, ServedPath};
use self::config::{Defaults, Filter, Plugins};
use super::yaml::Yaml;
use super::{Facts, Root, RootOptions, Rules};
use crate::layout::{Generator, Layout, below};
use crate::model::Site;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, joined_in};

/// Maximum number of non-Markdown files whose front matter is read; it may set where they are served.
const MAX_NON_MARKDOWN_PAGES: usize = 2_000;

/// Settings that addresses and links depend on.
#[derive(Debug, Default)]
pub(crate) struct JekyllSettings {
    /// The source folder of the site, relative to the docs root.
    source: String,
    /// Base path of the site, without leading and trailing slash.
    base: String,
    /// The permalink style: a built-in one such as `date`, or a pattern.
    permalink: String,
    /// Permalink pattern for posts, if the configuration sets a separate one.
    post_permalink: Option<String>,
    collections: Vec<Collection>,
    /// The folder of all collections, relative to the source.
    collections_dir: String,
    defaults: Vec<Defaults>,
    filter: Filter,
    /// File extensions of Markdown files.
    markdown_extensions: Vec<String>,
    plugins: Plugins,
    zone: dates::Zone,
    /// Whether pages with `published: false` are built, too.
    builds_unpublished: bool,
    has_theme: bool,
    /// Non-Markdown files with front matter, by the path they are served at.
    non_markdown_pages: BTreeMap<String, String>,
    /// Whether there are more such files than `MAX_NON_MARKDOWN_PAGES`.
    has_more_non_markdown_pages: bool,
}

/// A collection in the configuration, other than `posts`.
#[derive(Debug, PartialEq, Eq)]
struct Collection {
    label: String,
    is_output: bool,
    permalink: Option<String>,
}

impl JekyllSettings {
    fn is_markdown(&self, path: &str) -> bool {
        path.rsplit_once('.').is_some_and(|(_, ending)| self.markdown_extensions.iter().any(|known| known == ending))
    }

    /// Converts a path in the source into one relative to `collections_dir`; `None` if it is not in that folder.
    fn in_collections<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.collections_dir.as_str() {
            "" => Some(path),
            folder => path.strip_prefix(folder)?.strip_prefix('/'),
        }
    }

    /// Whether Jekyll serves a file or what it builds from the file.
    fn serves(&self, path: &str) -> bool {
        match address::kind(self, path) {
            FileKind::Page => !self.filter.excludes(path, |_| true),
            FileKind::Draft => false,
            // Names with a leading `_` are excluded, except that of the collection's own folder.
            FileKind::Item { collection, .. } => {
                let collection_folder = format!("_{}", collection.label);
                let is_own = |part: &str| part.rsplit('/').next() == Some(collection_folder.as_str());
                collection.is_output && !self.filter.excludes(path, |part| !is_own(part))
            }
            FileKind::Post { .. } => {
                let name = file_name(path);
                let is_posts = |part: &str| file_name(part) == "_posts";
                dates::split_date(name).is_some() && !self.filter.excludes(path, |part| !is_posts(part))
            }
        }
    }
}

pub(super) struct Jekyll;

impl Rules for Jekyll {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(config::is_file),
            reads_front_matter: true,
            // A leading underscore marks the folders of collections.
            has_no_partials: true,
            reads_attribute_lists: true,
            inert_fields: "\
                parent grand_parent ancestor has_children has_toc nav_exclude nav_order nav_fold child_nav_order \
                search_exclude last_modified_date redirect_from[] sitemap.exclude sitemap.lastmod sitemap.priority \
                sitemap.changefreq sidebar folder",
            active_tokens: ActiveTokens { attribute_lists: true, templates_in_code: true, ..ActiveTokens::default() },
            template_extensions: &["rst", "adoc", "asciidoc", "textile"],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let read = config::read(tree, home, has)?;
        let config = &read.config;
        let text = |name: &str| config.text_of(name);
        let source = joined_in(tree.root(), home, text("source").unwrap_or_default())?;
        let plugins = Plugins::read(tree, home, has, config);
        let collections = config.get("collections");
        let post_permalink = collections.and_then(|all| all.get("posts")?.get("permalink")?.text()).map(str::to_owned);
        let mut settings = JekyllSettings {
            source: source.clone(),
            base: text("baseurl").unwrap_or_default().trim_matches('/').to_owned(),
            permalink: text("permalink").unwrap_or("date").to_owned(),
            post_permalink,
            collections: self::collections(collections),
            collections_dir: text("collections_dir").unwrap_or_default().trim_matches('/').to_owned(),
            defaults: Defaults::all(config),
            filter: Filter::read(config),
            markdown_extensions: text("markdown_ext")
                .unwrap_or("markdown,mkdown,mkdn,mkd,md")
                .split(',')
                .map(str::trim)
                .map(str::to_owned)
                .collect(),
            plugins,
            zone: dates::Zone::of(text("timezone")),
            builds_unpublished: text("unpublished").is_some_and(is_true),
            has_theme: text("theme").is_some() || text("remote_theme").is_some(),
            ..JekyllSettings::default()
        };
        let roots = folders(tree.root(), &source);
        let (pages, has_more) = non_markdown_pages(tree, &settings, &roots);
        settings.non_markdown_pages = pages;
        settings.has_more_non_markdown_pages = has_more;
        let settings = Arc::new(settings);
        let roots = roots.into_iter().map(|(folder, base_path)| Root {
            folder,
            base_path,
            generator: Generator::Jekyll,
            options: RootOptions { jekyll: Some(Arc::clone(&settings)), ..RootOptions::default() },
            language: text("lang").map(str::to_owned),
            ..Root::default()
        });
        let mut layout = Layout::of(Generator::Jekyll, home, roots.collect());
        // Templates are expanded before Markdown is parsed, in code, too.
        layout.templates_in_code = true;
        (layout.anchors, layout.anchors_computed) = anchors(config);
        if let Some(message) = read.error {
            layout.problem(&read.file, message);
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> String {
        served_path(root, relative_path, front)
            .map_or_else(|| below(&root.base_path, relative_path), |served_path| served_path.path)
    }

    fn skips_path(&self, root: &Root, relative_path: &str) -> Option<SkipReason> {
        let settings = root.options.jekyll.as_deref()?;
        let path = below(&root.base_path, relative_path);
        match address::kind(settings, &path) {
            _ if !settings.is_markdown(&path) => Some(SkipReason::Unsupported),
            _ if settings.serves(&path) => None,
            FileKind::Draft => Some(SkipReason::Hidden),
            _ => Some(SkipReason::Excluded),
        }
    }

    fn is_published(&self, root: &Root, relative_path: &str, front: &FrontMatter, has: &dyn Fn(&str) -> bool) -> bool {
        let Some(settings) = root.options.jekyll.as_deref() else { return true };
        let path = below(&root.base_path, relative_path);
        let kind = address::kind(settings, &path);
        let has_front_matter = front.span.is_some() && front.syntax == Syntax::Yaml;
        let is_built = match kind {
            _ if has_front_matter => true,
            FileKind::Post { .. } => true,
            FileKind::Page if address::is_readme(relative_path) => {
                let above = folder(relative_path);
                let index = |ending: &str| below(&root.folder, &below(above, &format!("index.{ending}")));
                settings.plugins.readme_index && !["md", "html", "markdown"].iter().any(|ending| has(&index(ending)))
            }
            FileKind::Page => settings.plugins.optional_front_matter && !is_repository_document(relative_path),
            _ => false,
        };
        // `defaults` set `published` for posts and collection items only.
        let published_field = match kind {
            FileKind::Page => front.get("published").map(str::to_owned),
            _ => address::with_defaults(settings, &path, front).get("published").map(str::to_owned),
        };
        let is_marked_published = !published_field.is_some_and(|text| ["false", "no", "off"].contains(&text.trim()));
        is_built
            && (is_marked_published || settings.builds_unpublished)
            && served_path(root, relative_path, front).is_some()
    }

    fn is_directory(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> bool {
        served_path(root, relative_path, front).is_some_and(|served_path| served_path.is_folder)
    }

    fn aliases(&self, root: &Root, _file: &str, front: &FrontMatter, _address: &str) -> Vec<String> {
        let reads = root.options.jekyll.as_deref().is_some_and(|settings| settings.plugins.redirect_from);
        let from = if reads { front.list("redirect_from") } else { Vec::new() };
        from.into_iter().map(|from| from.trim().trim_matches('/').to_owned()).collect()
    }
}

/// Where a file is served; `relative_path` is its path relative to the folder of the root.
fn served_path(root: &Root, relative_path: &str, front: &FrontMatter) -> Option<ServedPath> {
    address::of(root.options.jekyll.as_deref()?, &below(&root.base_path, relative_path), front)
}

/// Whether a file is a document about the repository, which is no page even where front matter is optional.
fn is_repository_document(relative_path: &str) -> bool {
    let name = file_name(relative_path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_uppercase();
    let names = [
        "README", "LICENSE", "LICENCE", "COPYING", "CODE_OF_CONDUCT", "CONTRIBUTING", "ISSUE_TEMPLATE",
        "PULL_REQUEST_TEMPLATE",
    ];
    names.contains(&stem.as_str())
}

/// The folders of the site's files, each with its path in the source. If the source encloses the docs root, these are
/// the docs root and each folder above it up to the source.
fn folders(root: &str, source: &str) -> Vec<(String, String)> {
    let up = source.split('/').take_while(|part| *part == "..").count();
    let is_enclosing = source.split('/').all(|part| part.is_empty() || part == "..");
    if !is_enclosing {
        return vec![(source.to_owned(), String::new())];
    }
    let parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
    let first = parts.len().saturating_sub(up);
    (0..=up).map(|above| (vec![".."; above].join("/"), parts[first..parts.len() - above].join("/"))).collect()
}

fn collections(all: Option<&Yaml>) -> Vec<Collection> {
    let collection = |label: &str, options: Option<&Yaml>| {
        let text = |name: &str| options?.get(name)?.text();
        Collection {
            label: label.to_owned(),
            is_output: text("output").is_some_and(is_true),
            permalink: text("permalink").map(str::to_owned),
        }
    };
    let Some(all) = all else { return Vec::new() };
    let from_list = all.list().iter().filter_map(Yaml::text).map(|label| collection(label, None));
    let from_map = all.members().iter().map(|(label, options)| collection(label, Some(options)));
    from_list.chain(from_map).filter(|collection| collection.label != "posts").collect()
}

fn is_true(text: &str) -> bool {
    ["true", "yes", "on"].contains(&text)
}

/// The anchor style of the configured Markdown parser, and whether its options make anchors unpredictable.
fn anchors(config: &Yaml) -> (AnchorStyle, bool) {
    let of_kramdown = |name: &str| config.get("kramdown")?.get(name)?.text();
    let is_kramdown = config.text_of("markdown").is_none_or(|name| name.eq_ignore_ascii_case("kramdown"));
    let changes_anchors = of_kramdown("auto_ids") == Some("false")
        || ["auto_id_prefix", "transliterated_header_ids", "auto_id_stripping", "gfm_quirks"]
            .iter()
            .any(|name| of_kramdown(name).is_some());
    match of_kramdown("input").unwrap_or("GFM").to_lowercase().as_str() {
        _ if !is_kramdown => (AnchorStyle::GitHub, true),
        "gfm" => (AnchorStyle::KramdownGfm, changes_anchors),
        "kramdown" | "markdown" => (AnchorStyle::Kramdown, changes_anchors),
        _ => (AnchorStyle::KramdownGfm, true),
    }
}

/// Non-Markdown files with front matter, by the path they are served at, and whether there are more candidates than
/// `MAX_NON_MARKDOWN_PAGES`.
fn non_markdown_pages(
    tree: &dyn Tree,
    settings: &JekyllSettings,
    roots: &[(String, String)],
) -> (BTreeMap<String, String>, bool) {
    let mut pages = BTreeMap::new();
    let mut count = 0;
    for file in &tree.all_paths() {
        let is_text = file.rsplit_once('.').is_some_and(|(_, ending)| {
            ["html", "htm", "xhtml", "xml", "json", "txt", "js", "css", "scss"].contains(&ending)
        });
        let Some(path) = in_source(roots, file).filter(|path| is_text && !is_markdown(path) && settings.serves(path))
        else {
            continue;
        };
        count += 1;
        if count > MAX_NON_MARKDOWN_PAGES {
            return (pages, true);
        }
        let Some(bytes) = tree.read(file).filter(|bytes| bytes.starts_with(b"---")) else { continue };
        let text = text_of(&bytes);
        let (front, _) = read_front_matter(&text, &Lines::of(&text));
        if let Some(served_path) = address::of(settings, &path, &front).filter(|_| front.span.is_some()) {
            let path =
                served_path.path.strip_suffix(".scss").map_or(served_path.path.clone(), |stem| format!("{stem}.css"));
            pages.entry(path).or_insert_with(|| file.clone());
        }
    }
    (pages, false)
}

/// A file's path in the source.
fn in_source(roots: &[(String, String)], file: &str) -> Option<String> {
    // A file outside of the docs root belongs to the enclosing folder with as many `..` as its path.
    let up = file.split('/').take_while(|part| *part == "..").count();
    roots.iter().find_map(|(folder, base_path)| {
        let is_enclosing = folder.split('/').all(|part| part.is_empty() || part == "..");
        let relative_path = match folder.as_str() {
            "" => file,
            folder => file.strip_prefix(folder)?.strip_prefix('/')?,
        };
        let levels = folder.split('/').filter(|part| *part == "..").count();
        (!is_enclosing || levels == up).then(|| below(base_path, relative_path))
    })
}

/// Converts a path in the source into one relative to the docs root.
fn from_source(site: &Site, settings: &JekyllSettings, path: &str) -> Option<String> {
    joined_in(site.root(), &settings.source, path)
}
