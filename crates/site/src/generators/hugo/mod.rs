//! Hugo sites, configured in `hugo.toml` or a file with one of the other names that Hugo reads.

mod address;
pub(crate) mod config;
mod links;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use docent_markdown::{ActiveTokens, AnchorStyle, FrontMatter, Page, Templates, regex};

use super::yaml::Yaml;
use super::{Facts, Root, RootOptions, Rules, current_version};
use crate::layout::{Generator, Layout};
use crate::model::front_matter;
use crate::paths::{path_in, path_of_url};
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};
use crate::variants::Stage;
use crate::version_names::VersionName;

/// The render hook that turns a Markdown link into a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LinkHook {
    /// No hook: links are URLs, verbatim.
    #[default]
    None,
    /// Hugo's embedded hook, which first looks for a page or a resource.
    Embedded,
    /// A hook of the site or of its theme, whose output is not known.
    Unknown,
}

/// Settings that addresses and links depend on.
#[derive(Debug, Default)]
pub(crate) struct HugoSettings {
    hook: LinkHook,
    /// Path of the base URL, without leading and trailing slash.
    base: String,
    /// Whether Hugo prepends the base URL to absolute links.
    prepends_base: bool,
    ugly_urls: UglyUrls,
    /// Permalink patterns for pages: section and pattern.
    permalinks: Vec<(String, String)>,
    /// Codes of the languages, the default one first.
    languages: Vec<String>,
    /// Whether the default language has a folder in the URL, too.
    default_language_in_folder: bool,
    keeps_case: bool,
    has_aliases: bool,
    /// Whether pages or files may come from outside of this tree, such as from a module.
    has_external_content: bool,
    /// Folders of static files.
    static_folders: Vec<String>,
    /// Leaf bundles: folders that are one page with its resources.
    bundles: BTreeSet<String>,
    /// Sections whose `_index.md` says that no page of theirs is made.
    unrendered: BTreeSet<String>,
    /// First path segments of generated pages, such as those of taxonomies.
    generated_segments: BTreeSet<String>,
}

/// Which pages are served as files rather than as folders (`uglyURLs`).
#[derive(Debug, Default)]
enum UglyUrls {
    #[default]
    None,
    All,
    Sections(Vec<String>),
}

pub(super) struct Hugo;

impl Rules for Hugo {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(config::is_file),
            reads_front_matter: true,
            // `_index.md` is the page of its folder.
            has_no_partials: true,
            inert_fields: "\
                linkTitle linktitle type series expiryDate publishDate isCJKLanguage headless menuTitle menu menus \
                menu.*.weight menu.*.name menu.*.identifier menu.*.parent menus.*.weight menus.*.name menus.*.parent \
                sidebar.open sidebar.hide sidebar.exclude bookCollapseSection bookFlatSection bookHidden bookToc \
                bookComments bookSearchExclude bookHref alwaysopen collapsibleMenu url simple_list no_list toc_hide \
                hide_summary prev next breadcrumbs geekdocHidden geekdocCollapseSection geekdocNav featuredImage \
                params.author params.description translationKey",
            active_tokens: ActiveTokens {
                templates: Templates::Shortcodes,
                templates_in_code: true,
                attribute_lists: true,
                ..ActiveTokens::default()
            },
            template_folders: &["layouts", "archetypes"],
            program_folders: &["themes", "data", "i18n", "config", "_vendor"],
            template_extensions: &["rst", "adoc", "asciidoc", "ad", "org", "html", "htm", "pandoc", "pdc"],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let read = config::read(tree, home, has)?;
        let config = &read.config;
        let text = |name: &str| config.text_of(name);
        let is_enabled = |name: &str| text(name) == Some("true");
        let default = text("defaultcontentlanguage").unwrap_or("en").to_lowercase();
        let languages = languages(config, &default);
        let paths = tree.all_paths();
        let all = || paths.iter().map(String::as_str);
        let folder = |path: &str| joined_in(tree.root(), home, path);

        let content = text("contentdir").unwrap_or("content");
        let mounts = mounts(config);
        let mut folders: Vec<(String, String, Option<String>)> = Vec::new();
        for (source, target, language) in &mounts {
            folders.extend(folder(source).map(|source| (source, target.clone(), language.clone())));
        }
        if mounts.is_empty() {
            for (code, settings) in &languages {
                let content_dir = settings.and_then(|settings| settings.get("contentdir")).and_then(Yaml::text);
                folders.extend(content_dir.and_then(&folder).map(|folder| (folder, String::new(), Some(code.clone()))));
            }
            let has_rest = folders.len() < languages.len().max(1);
            folders.extend(folder(content).filter(|_| has_rest).map(|content| (content, String::new(), None)));
        }

        let is_content = |path: &&str| folders.iter().any(|(folder, ..)| path_in(folder, path).is_some());
        let mut bundles = bundles(all().filter(is_content));
        bundles.retain(|bundle| folders.iter().all(|(folder, ..)| folder != bundle));
        let themes = themes(config);
        let has_theme = |name: &str| {
            let folder = format!(
                "{}/",
                from_config_folder(tree, home, &format!("{}/{name}", text("themesdir").unwrap_or("themes")))
            );
            all().any(|path| path.starts_with(folder.as_str()))
        };
        let imports = config.get("module").and_then(|module| module.get("imports")).is_some();
        let has_external_content = imports || themes.iter().any(|name| !has_theme(name));
        let static_folders = ["static"].into_iter().chain(text("staticdir")).filter_map(&folder);
        let mut generated_segments = BTreeSet::from(["tags".to_owned(), "categories".to_owned(), "page".to_owned()]);
        generated_segments
            .extend(config.members_of("taxonomies").iter().filter_map(|(_, name)| Some(name.text()?.to_lowercase())));

        let is_multihost =
            languages.iter().any(|(_, settings)| settings.is_some_and(|own| own.get("baseurl").is_some()));
        let settings = HugoSettings {
            hook: hook(tree, home, config, all(), has_external_content, !is_multihost),
            base: path_of_url(text("baseurl").unwrap_or_default()).to_owned(),
            prepends_base: is_enabled("canonifyurls") || is_enabled("relativeurls"),
            ugly_urls: ugly_urls(config),
            permalinks: permalinks(config),
            languages: languages.iter().map(|(code, _)| code.clone()).collect(),
            default_language_in_folder: is_enabled("defaultcontentlanguageinsubdir"),
            keeps_case: is_enabled("disablepathtolower"),
            has_aliases: !is_enabled("disablealiases"),
            has_external_content: has_external_content || is_multihost,
            static_folders: static_folders.collect(),
            bundles,
            unrendered: unrendered(tree, all().filter(is_content)),
            generated_segments,
        };
        let language_suffixes = if languages.len() > 1 { settings.languages.clone() } else { Vec::new() };
        let settings = Arc::new(settings);
        let roots = folders.into_iter().map(|(folder, target, language)| Root {
            folder,
            base_path: target,
            generator: Generator::Hugo,
            language: language.or_else(|| Some(default.clone()).filter(|_| languages.len() < 2)),
            language_suffixes: language_suffixes.clone(),
            options: RootOptions { hugo: Some(Arc::clone(&settings)), ..RootOptions::default() },
            ..Root::default()
        });
        let mut layout = Layout::of(Generator::Hugo, home, roots.collect());
        let parser = |name: &str| config.get("markup")?.get("goldmark")?.get("parser")?.get(name)?.text();
        let typographer = typographer(config);
        layout.anchors = match parser("autoheadingidtype").or_else(|| parser("autoidtype")) {
            Some("blackfriday") => AnchorStyle::Blackfriday,
            kind => {
                AnchorStyle::Hugo { ascii: kind == Some("github-ascii"), typographer: typographer != Typographer::Off }
            }
        };
        layout.anchors_computed = typographer == Typographer::Custom;
        for version in current_versions(config) {
            layout.declared.add(version, Stage::Current);
        }
        for (file, message) in read.errors {
            layout.problem(&file, message);
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> String {
        address::of(root, relative_path, front)
    }

    fn skips_path(&self, root: &Root, relative_path: &str) -> Option<SkipReason> {
        address::is_resource(root, relative_path).then_some(SkipReason::Partial)
    }

    fn is_published(
        &self,
        _root: &Root,
        _relative_path: &str,
        front: &FrontMatter,
        _has: &dyn Fn(&str) -> bool,
    ) -> bool {
        let is_unrendered = ["build.render", "_build.render"].iter().any(|name| front.is_unrendered(name));
        !front.flag("draft") && !front.flag("headless") && !is_unrendered
    }

    fn aliases(&self, root: &Root, file: &str, front: &FrontMatter, address: &str) -> Vec<String> {
        address::aliases(root, file, front, address)
    }

    fn alias(&self, root: &Root, file: &str, address: &str) -> Option<(&'static str, String)> {
        Some(("aliases", address::alias(root, file, address)?))
    }

    fn post_process(&self, _layout: &Layout, text: &str, page: &mut Page) {
        links::add_references(text, page);
    }
}

/// The leaf bundles among the folders of these paths: those with an `index` file.
fn bundles<'p>(paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let indexes = paths.filter_map(|path| path.rsplit_once('/')).filter(|(_, name)| {
        name.starts_with("index.") && ["md", "markdown", "html"].iter().any(|ending| name.ends_with(ending))
    });
    indexes.map(|(folder, _)| folder.to_owned()).collect()
}

/// The sections among the folders of these paths whose front matter keeps all their pages from being made.
fn unrendered<'p>(tree: &dyn Tree, paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let is_unrendered = |front: &FrontMatter| {
        let cascades = ["cascade.build.render", "cascade._build.render"];
        let is_for_some = ["cascade.target", "cascade._target"].iter().any(|name| front.value(name).is_some());
        !is_for_some && cascades.iter().any(|name| front.is_unrendered(name))
    };
    paths
        .filter(|path| is_section(path))
        .filter(|path| tree.read(path).is_some_and(|bytes| is_unrendered(&front_matter(&bytes))))
        .filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()))
        .collect()
}

/// The layout of content whose site is configured in another repository, such as the docs of a product that are one
/// section of a larger site. Recognised by the first `_index.md` with front matter, which only Hugo reads as the page
/// of a folder. The settings for links are unknown.
pub(crate) fn without_configuration(tree: &dyn Tree, configurations: &[&str]) -> Option<Layout> {
    const MAX_DEPTH: usize = 3;
    let is_near_the_top = |file: &str| file.matches('/').count() <= MAX_DEPTH;
    let section = configurations.iter().find(|file| is_section(file) && is_near_the_top(file))?;
    tree.read(section).filter(|bytes| bytes.starts_with(b"---") || bytes.starts_with(b"+++"))?;
    let paths = tree.paths();
    let settings = HugoSettings {
        hook: LinkHook::Unknown,
        has_aliases: true,
        has_external_content: true,
        bundles: bundles(paths.iter().map(String::as_str)),
        unrendered: unrendered(tree, paths.iter().map(String::as_str)),
        ..HugoSettings::default()
    };
    let options = RootOptions { hugo: Some(Arc::new(settings)), ..RootOptions::default() };
    let root = Root { generator: Generator::Hugo, options, ..Root::default() };
    let mut layout = Layout::of(Generator::Hugo, "", vec![root]);
    layout.anchors = AnchorStyle::Hugo { ascii: false, typographer: true };
    Some(layout)
}

/// Whether a file is the `_index.md` of a folder that is not too deep in the tree.
pub(crate) fn is_section(path: &str) -> bool {
    const MAX_DEPTH: usize = 5;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    name == "_index.md" && !folder.starts_with("..") && path.matches('/').count() <= MAX_DEPTH
}

/// The versions that a site's own parameters call current: `latest_stable_version: v3.7`, `versions: {current:
/// "20.0"}`.
fn current_versions(config: &Yaml) -> impl Iterator<Item = &str> {
    let parameters = config.members_of("params");
    let is_current = |name: &str| current_version::CURRENT_KEYS.iter().any(|word| name.starts_with(word));
    let versions =
        parameters.iter().filter(|(name, _)| name == "versions").flat_map(|(_, versions)| versions.members());
    parameters.iter().chain(versions).filter(move |(name, _)| is_current(name)).filter_map(|(_, value)| {
        value.text().filter(|text| VersionName::of_folder(text).is_some_and(|version| !version.numbers.is_empty()))
    })
}

/// What the typographer replaces quotes and dashes in text with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Typographer {
    Off,
    /// Punctuation, which anchors drop.
    Punctuation,
    /// Configured text with characters that anchors keep.
    Custom,
}

fn typographer(config: &Yaml) -> Typographer {
    regex!(ENTITY, "&[a-z]+;");
    let goldmark = config.get("markup").and_then(|markup| markup.get("goldmark"));
    let options = goldmark.and_then(|goldmark| goldmark.get("extensions")?.get("typographer"));
    let options = options.map(Yaml::members).unwrap_or_default();
    let is_word =
        |text: &str| ENTITY.replace_all(text, "").contains(|c: char| c.is_alphanumeric() || "-_ ".contains(c));
    let has_words = |(name, value): &(String, Yaml)| name != "disable" && value.text().is_some_and(is_word);
    match options.iter().any(|(name, value)| name == "disable" && value.text() == Some("true")) {
        true => Typographer::Off,
        false if options.iter().any(has_words) => Typographer::Custom,
        false => Typographer::Punctuation,
    }
}

/// The languages that are built, each with its own settings, the default language first.
fn languages<'y>(config: &'y Yaml, default: &str) -> Vec<(String, Option<&'y Yaml>)> {
    let disabled = config.list_of("disablelanguages");
    let configured = config.members_of("languages");
    let is_built = |code: &str, settings: &Yaml| {
        settings.text_of("disabled") != Some("true") && !disabled.iter().any(|disabled| disabled.text() == Some(code))
    };
    let built = configured.iter().filter(|(code, settings)| is_built(code, settings));
    let mut languages: Vec<_> = built.map(|(code, settings)| (code.clone(), Some(settings))).collect();
    if languages.is_empty() {
        languages.push((default.to_owned(), None));
    }
    languages.sort_by_key(|(code, _)| code != default);
    languages
}

/// Folders that are mounted as content: source, path in the content, language.
fn mounts(config: &Yaml) -> Vec<(String, String, Option<String>)> {
    let mounts = config.get("module").and_then(|module| module.get("mounts")).map(Yaml::list).unwrap_or_default();
    let mounted = mounts.iter().filter_map(|mount| {
        let target = mount.get("target")?.text()?.trim_matches('/');
        let content_path = path_in("content", target)?;
        let language = mount.text_of("lang").map(str::to_lowercase);
        Some((mount.get("source")?.text()?.to_owned(), content_path.trim_matches('/').to_owned(), language))
    });
    mounted.collect()
}

fn themes(config: &Yaml) -> Vec<&str> {
    config.get("theme").into_iter().flat_map(Yaml::texts).collect()
}

fn ugly_urls(config: &Yaml) -> UglyUrls {
    match config.get("uglyurls") {
        Some(Yaml::Text(all)) if all == "true" => UglyUrls::All,
        Some(Yaml::Map(sections)) => {
            let enabled = sections.iter().filter(|(_, value)| value.text() == Some("true"));
            UglyUrls::Sections(enabled.map(|(name, _)| name.clone()).collect())
        }
        _ => UglyUrls::None,
    }
}

/// Permalink patterns for pages: those under `page`, and those that are not under a page kind.
fn permalinks(config: &Yaml) -> Vec<(String, String)> {
    let permalinks = config.members_of("permalinks");
    let of_pages = permalinks.iter().find(|(kind, _)| kind == "page").map(|(_, pages)| pages.members());
    let of_pages = of_pages.unwrap_or_default();
    let patterns = permalinks
        .iter()
        .chain(of_pages)
        .filter_map(|(section, pattern)| Some((section.clone(), pattern.text()?.to_owned())));
    patterns.collect()
}

/// The render hook for Markdown links.
fn hook<'p>(
    tree: &dyn Tree,
    home: &str,
    config: &Yaml,
    paths: impl Iterator<Item = &'p str>,
    has_external_content: bool,
    is_single_host: bool,
) -> LinkHook {
    let goldmark = config.get("markup").and_then(|markup| markup.get("goldmark"));
    let setting = |name: &str| goldmark?.get("renderhooks")?.get("link")?.get(name)?.text();
    // With any configured languages, even one, the embedded hook is on unless each language has copies of all
    // resources.
    let has_copies = goldmark.and_then(|goldmark| goldmark.get("duplicateresourcefiles")?.text()) == Some("true");
    let is_multilingual =
        is_single_host && !has_copies && config.get("languages").is_some_and(|all| !all.members().is_empty());
    let embedded = setting("useembedded");
    if embedded == Some("always") {
        return LinkHook::Embedded;
    }
    let layouts = ["layouts/", "themes/"].map(|folder| from_config_folder(tree, home, folder));
    let own_hooks: Vec<&str> = paths
        .filter(|path| {
            path.contains("_markup/render-link.") && layouts.iter().any(|folder| path.starts_with(folder.as_str()))
        })
        .collect();
    // The hook of the site itself, or of its first theme, is the one that is used.
    let first = themes(config).first().map(|theme| from_config_folder(tree, home, &format!("themes/{theme}/")));
    let is_used =
        |path: &&str| path.starts_with(&layouts[0]) || first.as_ref().is_some_and(|first| path.starts_with(first));
    let leaves_links =
        |path: &&str| tree.read(path).is_some_and(|bytes| leaves_destinations(&String::from_utf8_lossy(&bytes)));
    match embedded {
        _ if !own_hooks.iter().all(leaves_links) => LinkHook::Unknown,
        _ if own_hooks.iter().any(is_used) => LinkHook::None,
        // A theme or module outside of this tree may have a hook.
        _ if has_external_content => LinkHook::Unknown,
        _ if !own_hooks.is_empty() => LinkHook::None,
        Some("fallback") => LinkHook::Embedded,
        Some("never") => LinkHook::None,
        _ if setting("enabledefault") == Some("true") || is_multilingual => LinkHook::Embedded,
        _ => LinkHook::None,
    }
}

/// Whether a link render hook writes destinations unchanged.
fn leaves_destinations(template: &str) -> bool {
    // A template that changes the path contains one of these.
    let changes = [
        "GetPage", "ermalink", "ref ", "relref", "URL", "Resource", "resources", "partial", "replace", "trim", "Trim",
        "printf", "path.", "urls.", "strings.", "add ", "site.", "Site", "template", "join", "lower", "index ",
    ];
    let reads = template.replace("safeURL", "").replace("safe.URL", "");
    reads.contains(".Destination") && !changes.iter().any(|word| reads.contains(word))
}
