//! Antora sites: components made of modules, described by `antora.yml`, and a playbook that configures the site.
//!
//! | written | means |
//! |---|---|
//! | `xref:` and `<<>>`, `image:` | a resource, by default of the same module: `version@component:module:family$path` |
//! | `include::` | the same if the target contains `$`, `:` or `@`, else a file relative to the including file |
//! | `link:` | a URL, resolved as a browser does |
//!
//! A component may be assembled from several repositories, so a module or version that is missing here may be in
//! another repository.

mod config;
pub(crate) mod navigation;
mod resources;

use std::sync::Arc;

use docent_markdown::{
    AdocAttributes, Format, FrontMatter, adoc_header, folder, is_markdown_page, is_page, joined, text_of,
};
use resources::{ResolvedResource, Resource, ResourceId};

pub(crate) use config::is_file;

use super::built_site::BuiltSite;
use super::{Facts, FileBytes, LinkRules, Root, Rules, excluded};
use crate::layout::Layout;
use crate::link_target::{LinkRequest, LinkSyntax, ParsedLink, encoded, relative, relative_path, suffix_of};
use crate::model::{Site, Target};
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, joined_in};

/// Settings of a site, from its playbook and the descriptors of its components.
#[derive(Debug, Clone, Default)]
pub(crate) struct AntoraOptions {
    pub(crate) components: Vec<Component>,
    extension_style: ExtensionStyle,
    /// URL segment of the latest version, instead of its version number.
    latest_segment: Option<String>,
}

/// How URLs of pages end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ExtensionStyle {
    /// `/a/page.html`
    #[default]
    Files,
    /// `/a/page/`
    Folders,
    /// `/a/page`
    Bare,
}

/// One version of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Component {
    /// The folder of its `antora.yml` in the repository.
    start_path: String,
    name: String,
    version: String,
    /// Base path of its pages.
    base_path: String,
    is_prerelease: bool,
    start_page: Option<String>,
    /// Its navigation files, relative to its folder.
    nav: Vec<String>,
    attributes: AdocAttributes,
}

/// The module of a folder of pages: the settings of the site, the index of the component, and the name of the module.
pub(crate) type Module = (Arc<AntoraOptions>, usize, String);

pub(super) struct Antora;

impl Rules for Antora {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| name == "antora.yml"),
            shows_front_matter: true,
            ids_in_any_case: true,
            program_folders: &["supplemental-ui", "supplemental_ui", "ui-bundle", "ui"],
            formats: &[Format::Adoc],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let paths: Vec<String> = tree.all_paths().into_iter().filter(|path| is_file(path) && has(path)).collect();
        let configurations: Vec<&str> = paths.iter().map(String::as_str).collect();
        let is_here = |path: &&str| path.ends_with("antora.yml") && folder(path) == home;
        configurations.iter().any(is_here).then(|| config::read(tree, home, &configurations))?
    }

    fn read_front_matter(&self, _root: &Root, _relative_path: &str, bytes: &FileBytes<'_>) -> Option<FrontMatter> {
        Some(adoc_header(&text_of(&bytes())))
    }

    /// The AsciiDoc attributes that a page is parsed with.
    fn attributes(&self, layout: &Layout, root: &str, file: &str) -> Option<AdocAttributes> {
        let path = joined(root, file)?;
        let resource = layout.options.antora.resource(&path)?;
        let mut attributes = resource.component.attributes.clone();
        let depth = resource.path.matches('/').count();
        let up = if depth == 0 { "./".to_owned() } else { "../".repeat(depth) };
        attributes.set("page-module", Some(resource.module));
        attributes.set("page-relative-src-path", Some(resource.path));
        attributes.set("docname", Some(resource.path.strip_suffix(".adoc").unwrap_or(resource.path)));
        attributes.set("attachmentsdir", Some(&format!("{up}_attachments")));
        attributes.set("imagesdir", Some(&format!("{up}_images")));
        Some(attributes)
    }

    fn parse_options_key(&self, layout: &Layout) -> String {
        format!("{:?}", layout.options.antora)
    }

    fn skips_path(&self, _root: &Root, relative_path: &str) -> Option<SkipReason> {
        let is_page = relative_path.ends_with(".adoc") && !relative_path.split('/').any(|part| part.starts_with('_'));
        (!is_page).then(|| excluded(relative_path))
    }

    fn has_html_urls(&self, layout: &Layout) -> bool {
        layout.options.antora.extension_style == ExtensionStyle::Files
    }

    fn is_directory(&self, root: &Root, _relative_path: &str, _front: &FrontMatter) -> bool {
        root.options.antora.as_ref().is_some_and(|(options, ..)| options.extension_style == ExtensionStyle::Folders)
    }

    fn aliases(&self, root: &Root, file: &str, front: &FrontMatter, _address: &str) -> Vec<String> {
        let Some((options, index, module)) = &root.options.antora else { return Vec::new() };
        let (Some(component), Some(relative_path)) = (options.components.get(*index), root.relative_path(file)) else {
            return Vec::new();
        };
        let from = Resource { component, module, family: Some("page"), path: relative_path };
        let address = |written: &str| match options.resolve("", &from, &ResourceId::read(written)?, "page") {
            ResolvedResource::Files(_, resource_address) => Some(resource_address.address),
            ResolvedResource::Elsewhere => None,
        };
        front.list("page-aliases").into_iter().filter_map(address).collect()
    }

    /// A `page-aliases` entry that names this page. It includes the module, so it is valid on a page of any module.
    fn alias(&self, root: &Root, file: &str, _address: &str) -> Option<(&'static str, String)> {
        let (_, _, module) = root.options.antora.as_ref()?;
        Some(("page-aliases", format!("{module}:{}", root.relative_path(file)?)))
    }
}

impl LinkRules for Antora {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        let is_link = Format::of(link.from) == Format::Adoc && site.address(link.from).is_some();
        if !is_link {
            return Target::NotUnderstood;
        }
        let directory_urls = site.is_directory(link.from);
        match (BuiltSite { site, base: "", directory_urls, assets: "" }).resolve(link) {
            // Images and other files are served from separate folders, and the base path of absolute links is unknown.
            Target::Missing { .. } | Target::Asset { .. } if !link.path.ends_with(".adoc") => Target::NotUnderstood,
            target => target,
        }
    }

    /// Resolves a resource name in AsciiDoc; `None` where targets are URLs only, in HTML or another format.
    fn resolve_name(&self, site: &Site, from: &str, target: &str, syntax: LinkSyntax) -> Option<Target> {
        if Format::of(from) != Format::Adoc || syntax == LinkSyntax::Html {
            return None;
        }
        if target.contains("://") || ["//", "mailto:", "data:", "tel:"].iter().any(|start| target.starts_with(start)) {
            return Some(Target::External);
        }
        if target.contains(['{', '}', '<', '>', '`']) {
            return Some(Target::NotUnderstood);
        }
        let (written, anchor) = match target.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_owned()).filter(|anchor| !anchor.is_empty())),
            None => (target, None),
        };
        let options = &site.layout().options.antora;
        let path = joined(site.root(), from).unwrap_or_default();
        let Some(resource) = options.resource(&path) else { return Some(Target::NotUnderstood) };
        if written.is_empty() {
            if let Some(file) = page_of_id(site, &resource, anchor.as_deref().unwrap_or_default()) {
                return Some(Target::Missing { path: Some(file), anchor: None });
            }
            // The anchor in a partial is on the page that includes the partial.
            return Some(match site.address(from).is_some() {
                true => Target::Page { file: from.to_owned(), anchor },
                false => Target::NotUnderstood,
            });
        }
        if syntax == LinkSyntax::Component && !written.contains(['$', ':', '@']) {
            return Some(match joined_in(site.root(), folder(from), written) {
                Some(file) if site.has_any(&file) => page_or_asset(site, file, anchor),
                path => Target::Missing { path, anchor },
            });
        }
        let family = if written.ends_with(".adoc") { "page" } else { "image" };
        let Some(id) = ResourceId::read(written) else { return Some(Target::NotUnderstood) };
        let ResolvedResource::Files(files, resource_address) = options.resolve(site.root(), &resource, &id, family)
        else {
            return Some(Target::NotUnderstood);
        };
        if let Some(file) = files.iter().find(|file| site.has_any(file)) {
            // Files whose names begin with an underscore are included in pages and are not pages themselves.
            let is_hidden = resource_address.is_page
                && site.address(file).is_none()
                && syntax != LinkSyntax::Component
                && !file.starts_with("../");
            return Some(match is_hidden {
                true => Target::Missing { path: Some(file.clone()), anchor },
                false => page_or_asset(site, file.clone(), anchor),
            });
        }
        if let Some(destination) = site.redirect(&resource_address.address).filter(|_| resource_address.is_page) {
            return Some(Target::Redirect { destination: destination.to_owned() });
        }
        // A name without module in a partial belongs to the module of the including page.
        let is_relative_to_includer = id.module.is_none() && resource.family == Some("partial");
        // Other repositories may contribute folders that are missing here.
        let target_folder = files.first().map_or("", |file| folder(file));
        Some(match site.has_folder(target_folder) && !is_relative_to_includer {
            true => Target::Missing { path: files.into_iter().next(), anchor },
            false => Target::NotUnderstood,
        })
    }

    /// Writes the resource name of the target, with the parts that `like` has and those that are necessary.
    fn write(&self, site: &Site, wanted: &LinkRequest<'_>) -> String {
        let LinkRequest { from, to, anchor, like, syntax } = *wanted;
        let options = &site.layout().options.antora;
        let paths = [from, to].map(|file| joined(site.root(), file).unwrap_or_default());
        let [source, target] = [&paths[0], &paths[1]].map(|path| options.resource(path));
        let is_name = |id: &str| source.as_ref().is_some_and(|source| page_of_id(site, source, id).is_some());
        let like = if like.strip_prefix('#').is_some_and(is_name) { "" } else { like };
        let suffix = suffix_of(like, anchor);
        if syntax == LinkSyntax::Html {
            let browser = BuiltSite { site, base: "", directory_urls: site.is_directory(from), assets: "" };
            return format!("{}{suffix}", browser.relative(from, to).unwrap_or_else(|| relative(folder(from), to)));
        }
        let path = &like[..like.find('#').unwrap_or(like.len())];
        let is_file_path = syntax == LinkSyntax::Component && !path.contains(['$', ':', '@']);
        let (Some(source), Some(target)) = (source, target) else {
            return format!("{}{suffix}", encoded(&relative_path(folder(&paths[0]), &paths[1])));
        };
        let Some(family) = target.family.filter(|_| !is_file_path) else {
            return format!("{}{suffix}", relative_path(folder(&paths[0]), &paths[1]));
        };
        let like_id = ResourceId::read(path);
        let is_same_version =
            source.component.name == target.component.name && source.component.version == target.component.version;
        let names_component = like_id.is_some_and(|id| id.component.is_some());
        let own_module = if source.module.is_empty() { "ROOT" } else { source.module };
        let mut name = String::new();
        if names_component || !is_same_version {
            let is_latest =
                options.latest(&target.component.name).is_some_and(|latest| latest.version == target.component.version);
            if like_id.is_some_and(|id| id.version.is_some()) || !is_latest {
                let version = target.component.version.as_str();
                name.push_str(if version.is_empty() { "_" } else { version });
                name.push('@');
            }
            let module = if target.module == "ROOT" { "" } else { target.module };
            name.push_str(&format!("{}:{module}:", target.component.name));
        } else if like_id.is_some_and(|id| id.module.is_some()) || own_module != target.module {
            name.push_str(&format!("{}:", target.module));
        }
        let default_family = if target.path.ends_with(".adoc") { "page" } else { "image" };
        if family != default_family || like_id.is_some_and(|id| id.family.is_some()) || syntax == LinkSyntax::Component
        {
            name.push_str(&format!("{family}$"));
        }
        let is_beside = path.starts_with("./") && name.is_empty() && source.family.is_some();
        match is_beside {
            true => format!("./{}{suffix}", relative_path(folder(source.path), target.path)),
            false => format!("{name}{}{suffix}", target.path),
        }
    }
}

/// The layout of a repository with components in folders of any name; `None` if more Markdown pages are in its folders
/// than AsciiDoc pages in its components.
pub(crate) fn detect_in_any_folder(tree: &dyn Tree, configurations: &[&str]) -> Option<Layout> {
    let configurations: Vec<&str> = configurations.iter().copied().filter(|path| is_file(path)).collect();
    let layout = config::read(tree, "", &configurations)?;
    let paths = tree.paths();
    let component_pages =
        paths.iter().filter(|path| Format::of(path) == Format::Adoc && layout.holds_pages(path)).count();
    let markdown_pages = paths.iter().filter(|path| is_markdown_page(path) && path.contains('/')).count();
    (component_pages > 0 && component_pages >= markdown_pages).then_some(layout)
}

/// The candidate files for the target of an `include::` on a page.
pub(crate) fn included(layout: &Layout, root: &str, from: &str, target: &str) -> Vec<String> {
    let target = match Antora.attributes(layout, root, from) {
        Some(attributes) => attributes.replaced(target),
        None => target.to_owned(),
    };
    if target.contains(['{', '}']) {
        return Vec::new();
    }
    if !target.contains(['$', ':', '@']) {
        return joined_in(root, folder(from), &target).into_iter().collect();
    }
    let path = joined(root, from).unwrap_or_default();
    let resource_and_id = layout.options.antora.resource(&path).zip(ResourceId::read(&target));
    match resource_and_id.map(|(from, id)| layout.options.antora.resolve(root, &from, &id, "page")) {
        Some(ResolvedResource::Files(files, _)) => files,
        _ => Vec::new(),
    }
}

fn page_or_asset(site: &Site, file: String, anchor: Option<String>) -> Target {
    if is_page(&file) && site.address(&file).is_some() { Target::Page { file, anchor } } else { Target::Asset { file } }
}

/// The page that `xref:module:page[]` lacks the extension for: Asciidoctor takes the name for an id of the page with the
/// link. A name without a module and without a folder may be such an id.
fn page_of_id(site: &Site, from: &Resource<'_, '_>, id: &str) -> Option<String> {
    let name = format!("{id}.adoc");
    let id = ResourceId::read(&name).filter(|id| id.module.is_some() || name.contains('/'))?;
    match site.layout().options.antora.resolve(site.root(), from, &id, "page") {
        ResolvedResource::Files(files, _) => files.into_iter().find(|file| site.address(file).is_some()),
        ResolvedResource::Elsewhere => None,
    }
}

#[cfg(test)]
mod tests;
