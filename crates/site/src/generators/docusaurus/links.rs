//! Resolves and writes links as Docusaurus does.
//!
//! A link to a file with the extension `.md` or `.mdx` is looked up among the files of the same plug-in and becomes
//! that page's URL. Every other link is a URL: absolute ones get the base path, and relative ones are resolved against
//! the page's own URL, which ends in a slash or not.

use docent_markdown::{file_name, is_markdown_page};

use super::{Docusaurus, DocusaurusSettings, PluginInstance};
use crate::generators::built_site::path_in_folder;
use crate::generators::fallback_links::retargeted_link_by_name;
use crate::generators::{LinkRules, Root, RootKind};
use crate::layout::below;
use crate::link_target::{
    LinkRequest, LinkSyntax, ParsedLink, encoded, has_markdown_ending, parts, relative_path, retargeted_link,
    suffix_of, with_dot_slash_like,
};
use crate::model::{Site, Target};
use crate::paths::path_in;
use crate::tree::joined_in;

impl LinkRules for Docusaurus {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let Some(root) = site.layout().root(link.from) else {
            // The file is in no folder of pages, so it is read in the repository.
            return crate::generators::fallback_links::resolve_by_name(site, link);
        };
        let path = link.path.to_ascii_lowercase();
        let names_file = (path.ends_with(".md") || path.ends_with(".mdx")) && link.syntax != LinkSyntax::Html;
        if names_file && let Some(found) = by_file(site, root, link) {
            // How a component resolves the name of a file is unknown.
            return if link.syntax == LinkSyntax::Component { Target::NotUnderstood } else { found };
        }
        if let Some(file) = asset(site, link).filter(|_| link.syntax != LinkSyntax::Html) {
            return Target::Asset { file };
        }
        if link.path.starts_with("@site/") {
            return link.missing(None);
        }
        by_url(site, root, link, names_file)
    }

    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        let LinkRequest { from, to, anchor, like, syntax } = *wanted;
        if site.layout().root(from).is_none() {
            return vec![retargeted_link_by_name(site, wanted)];
        }
        let (written, _) = parts(like);
        let by_file = retargeted_link(&format!("./x.md{}", suffix_of(like, None)), from, to, anchor);
        let candidates =
            candidate_forms(site, wanted, written).into_iter().chain([by_file.clone()]).chain(by_address(site, wanted));
        // A link that resolves to the source file of a page would serve that source.
        let serves_source = |form: &String| {
            site.address(to).is_some() && matches!(site.resolve_in(from, form, syntax), Target::Asset { .. })
        };
        candidates.filter(|form| !serves_source(form)).chain([by_file.clone()]).collect()
    }
}

/// Candidate files for a link with the extension of a page, in lookup order.
fn candidate_files(site: &Site, root: &Root, link: &ParsedLink<'_>) -> Vec<String> {
    let home = site.layout().home();
    let joined = |folder: &str, path: &str| joined_in(site.root(), folder, path);
    if let Some(path) = link.path.strip_prefix("@site/") {
        return joined(home, path).into_iter().collect();
    }
    let own_folder = docent_markdown::folder(link.from);
    if link.path.starts_with("./") || link.path.starts_with("../") {
        return joined(own_folder, &link.path).into_iter().collect();
    }
    let relative_base = (!link.is_absolute()).then_some(own_folder);
    let folders = root.options.docusaurus.folders.iter().map(String::as_str);
    relative_base.into_iter().chain(folders).chain([home]).filter_map(|folder| joined(folder, &link.path)).collect()
}

/// The page of the same plug-in that a link names by its file; `None` when there is no such page and the link stays a
/// URL.
fn by_file(site: &Site, root: &Root, link: &ParsedLink<'_>) -> Option<Target> {
    for file in candidate_files(site, root, link) {
        if !site.has_any(&file) {
            continue;
        }
        let Some(other) = site.layout().root(&file).filter(|other| other.is_page(&file)) else { continue };
        let is_same_plugin = other.options.docusaurus.name == root.options.docusaurus.name && other.kind == root.kind;
        if !is_same_plugin || !is_in_language_of(site, other, root, &file) {
            continue;
        }
        if site.address(&file).is_some() {
            return Some(link.page(file));
        }
        // A draft, which exists in development but is not published, or a page outside of the docs root.
        return Some(Target::NotUnderstood);
    }
    None
}

/// Whether a file in `root` is a page in the language of `other`: the languages are the same, or the file has no
/// translation.
fn is_in_language_of(site: &Site, root: &Root, other: &Root, file: &str) -> bool {
    if root.language == other.language {
        return true;
    }
    let Some(translations) = other.options.docusaurus.translations_of(root) else { return false };
    let relative_path = root.relative_path(file).unwrap_or(file);
    !site.has_any(&below(translations, relative_path))
}

/// The non-page file that a link leads to: relative to the page, or in a static folder.
fn asset(site: &Site, link: &ParsedLink<'_>) -> Option<String> {
    let name = file_name(&link.path);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty());
    if let Some(path) = link.path.strip_prefix("@site/") {
        return joined_in(site.root(), site.layout().home(), path).filter(|file| site.has_any(file));
    }
    if link.is_absolute() {
        return static_file(site, &link.path);
    }
    let is_page = has_markdown_ending(name) || name.ends_with(".html");
    (has_ending && !is_page)
        .then(|| joined_in(site.root(), docent_markdown::folder(link.from), &link.path))
        .flatten()
        .filter(|file| site.has_any(file))
}

fn static_file(site: &Site, path: &str) -> Option<String> {
    let path = path.trim_matches('/');
    let settings = &site.layout().options.docusaurus;
    settings.static_folders.iter().find_map(|folder| {
        let with_ending = |ending: &str| below(folder, &format!("{path}{ending}"));
        ["", "/index.html", ".html"].iter().map(|ending| with_ending(ending)).find(|file| site.has_any(file))
    })
}

fn by_url(site: &Site, root: &Root, link: &ParsedLink<'_>, names_file: bool) -> Target {
    let settings = &site.layout().options.docusaurus;
    let language = language_prefix(settings, root);
    let address = if link.is_absolute() {
        let base = format!("/{}", below(settings.base.as_deref().unwrap_or_default(), language));
        let below_base = link.path.strip_prefix(base.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (link.syntax, below_base) {
            _ if base == "/" => link.path.clone(),
            // Without the base path, the link leads to another site on the host, or to the default language.
            (LinkSyntax::Html, None) => return Target::NotUnderstood,
            (_, below_base) => below(language, below_base.unwrap_or(&link.path)),
        }
        .trim_matches('/')
        .to_owned()
    } else {
        let Some(url) = relative_link_base(site, link.from) else {
            // A relative link in a partial starts from the URL of the page that includes the partial.
            return Target::NotUnderstood;
        };
        match join_url(&url, &link.path, settings.base.as_deref().unwrap_or_default()) {
            Some(address) => address,
            None => return Target::NotUnderstood,
        }
    };
    if let Some(found) = at_address(site, &address, language, link) {
        return found;
    }
    // No redirect makes a file, and the plug-ins that are known make none.
    let is_missing_file = names_file && !settings.has_other_plugins && !site.is_served_outside(&address);
    if !is_missing_file && may_be_generated(site, &address, language) {
        return Target::NotUnderstood;
    }
    // A broken link by file is reported with the missing file, any other with its address.
    let file = names_file.then(|| candidate_files(site, root, link).into_iter().next()).flatten();
    link.missing(file.or(Some(address)))
}

/// The URL that the relative links of a page start from, relative to the base path.
fn relative_link_base(site: &Site, from: &str) -> Option<String> {
    let address = site.address(from)?;
    let is_directory = site.layout().options.docusaurus.trailing_slash.unwrap_or_else(|| site.is_directory(from));
    Some(if is_directory || address.is_empty() {
        address.to_owned()
    } else {
        docent_markdown::folder(address).to_owned()
    })
}

/// Resolves a relative path as a browser does; the result is relative to the base path, `None` outside of it.
fn join_url(folder: &str, path: &str, base: &str) -> Option<String> {
    let mut parts: Vec<&str> = base.split('/').chain(folder.split('/')).filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // A browser stays at the root.
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    path_in(base, &parts.join("/")).map(str::to_owned)
}

fn at_address(site: &Site, address: &str, language: &str, link: &ParsedLink<'_>) -> Option<Target> {
    if let Some(file) = site.file_at(address) {
        return Some(link.page(file));
    }
    let unprefixed = without_language(address, language);
    // Without a translation, the page of the default language is served.
    if !language.is_empty()
        && let Some(file) = site.file_at(unprefixed)
    {
        return Some(link.page(file));
    }
    if let Some(destination) = site.redirect(address).or_else(|| site.redirect(unprefixed)) {
        return Some(Target::Redirect { destination: destination.to_owned() });
    }
    let file = static_file(site, unprefixed).or_else(|| page_script(site, unprefixed))?;
    Some(Target::Asset { file })
}

/// The script that renders the page at an address, beside the docs.
fn page_script(site: &Site, address: &str) -> Option<String> {
    let mut roots = site.layout().roots.iter().filter(|root| root.kind == RootKind::Pages);
    roots.find_map(|root| {
        let path_in_root = path_in(&root.base_path, address)?;
        let names =
            [path_in_root.to_owned(), below(path_in_root, "index")].map(|name| root.file_of(site.root(), &name));
        let endings = ["js", "jsx", "ts", "tsx"];
        names.iter().flat_map(|name| endings.map(|ending| format!("{name}.{ending}"))).find(|file| site.has_any(file))
    })
}

/// Whether an address may be served without a file in the tree: lists of posts and tags, index pages of categories, and
/// pages of other plug-ins.
fn may_be_generated(site: &Site, address: &str, language: &str) -> bool {
    let settings = &site.layout().options.docusaurus;
    let unprefixed = without_language(address, language);
    let is_generated_by_plugin = |root: &Root| {
        let base_path = without_language(&root.base_path, language_prefix(settings, root));
        let Some(rest) = path_in(base_path, unprefixed) else { return false };
        let first = rest.split('/').next().unwrap_or_default();
        match root.kind {
            RootKind::Docs => ["category", "tags"].contains(&first),
            RootKind::Blog => !base_path.is_empty() || ["", "archive", "tags", "authors", "page"].contains(&first),
            RootKind::Pages => false,
        }
    };
    let holds_address = |root: &Root| {
        root.kind != RootKind::Pages && !root.base_path.is_empty() && path_in(&root.base_path, unprefixed).is_some()
    };
    settings.base.is_none()
        || settings.redirects_are_computed
        || site.is_served_outside(address)
        || site.is_served_outside(unprefixed)
        || settings.generated_index_pages.contains(unprefixed)
        || unprefixed == "search"
        || unprefixed.ends_with(".html")
        || site.layout().roots.iter().any(is_generated_by_plugin)
        || (settings.has_other_plugins && !site.layout().roots.iter().any(holds_address))
}

/// The first segment of addresses in the language of a root, `""` for the default one.
fn language_prefix<'r>(settings: &DocusaurusSettings, root: &'r Root) -> &'r str {
    root.language
        .as_deref()
        .filter(|language| settings.languages.iter().any(|known| known == language))
        .unwrap_or_default()
}

fn without_language<'a>(address: &'a str, language: &str) -> &'a str {
    path_in(language, address).unwrap_or(address)
}

/// Candidate forms in the style of `like`, the closest first.
fn candidate_forms(site: &Site, wanted: &LinkRequest<'_>, written: &str) -> Vec<String> {
    let LinkRequest { from, to, anchor, like, .. } = *wanted;
    let home = site.layout().home();
    let below_folder = |folder: &str| path_in_folder(folder, to);
    let with_suffix = |path: String| format!("{}{}", encoded(&path), suffix_of(like, anchor));
    if written.starts_with("@site/") {
        return below_folder(home).map(|path| with_suffix(format!("@site/{path}"))).into_iter().collect();
    }
    let is_absolute = written.starts_with('/');
    if !is_markdown_page(to) {
        let statics = site.layout().options.docusaurus.static_folders.iter();
        let from_root = statics.filter_map(|folder| below_folder(folder)).map(|path| with_suffix(format!("/{path}")));
        return if is_absolute { from_root.collect() } else { Vec::new() };
    }
    if has_markdown_ending(written) {
        if !is_absolute {
            return vec![retargeted_link(like, from, to, anchor)];
        }
        let root = site.layout().root(from);
        let folders = root.map(|root| root.options.docusaurus.folders.clone()).unwrap_or_default();
        let of_content = folders.iter().filter_map(|folder| below_folder(folder));
        return of_content.chain(below_folder(home)).map(|path| with_suffix(format!("/{path}"))).collect();
    }
    match (written.is_empty(), is_absolute) {
        (true, _) => Vec::new(),
        (false, true) => by_address(site, wanted).into_iter().collect(),
        (false, false) => by_relative_url(site, wanted, written).into_iter().collect(),
    }
}

/// The page's address as an absolute link, with the base path if `like` has it or the link is in HTML.
fn by_address(site: &Site, wanted: &LinkRequest<'_>) -> Option<String> {
    let settings = &site.layout().options.docusaurus;
    let address = site.address(wanted.to)?;
    let language = site.layout().root(wanted.from).map_or("", |root| language_prefix(settings, root));
    let (written, _) = parts(wanted.like);
    let base = format!("/{}", below(settings.base.as_deref().unwrap_or_default(), language));
    let has_base = base != "/"
        && (written == base || written.starts_with(&format!("{base}/")) || wanted.syntax == LinkSyntax::Html);
    let unprefixed = without_language(address, language);
    let path = if has_base { below(&base, unprefixed) } else { unprefixed.to_owned() };
    let slash = if written.ends_with('/') && !path.is_empty() { "/" } else { "" };
    Some(format!("{}{}", encoded(&format!("/{path}{slash}")), suffix_of(wanted.like, wanted.anchor)))
}

fn by_relative_url(site: &Site, wanted: &LinkRequest<'_>, written: &str) -> Option<String> {
    let (folder, address) = (relative_link_base(site, wanted.from)?, site.address(wanted.to)?);
    let mut path = with_dot_slash_like(written, relative_path(&folder, address));
    if written.ends_with('/') || path == "." && written.starts_with("./") {
        path.push('/');
    }
    Some(format!("{}{}", encoded(&path), suffix_of(wanted.like, wanted.anchor)))
}

impl PluginInstance {
    /// The folder with the translations of the pages in another root of this plug-in.
    fn translations_of(&self, root: &Root) -> Option<&str> {
        let [translations, .., original] = self.folders.as_slice() else { return None };
        (*original == root.folder).then_some(translations.as_str())
    }
}
