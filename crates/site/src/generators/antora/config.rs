//! Reads the component descriptors, `antora.yml`, and the playbook of a site.

use std::collections::BTreeSet;
use std::sync::Arc;

use docent_markdown::{AdocAttributes, file_name, folder, joined};

use super::resources::ResourceId;
use super::{AntoraOptions, Component, ExtensionStyle};
use crate::generators::yaml::{self, Yaml};
use crate::generators::{Root, RootOptions};
use crate::layout::{Generator, Layout, below};
use crate::tree::{Tree, from_root};

const DESCRIPTOR: &str = "antora.yml";

/// Whether a file is a descriptor or a playbook, judged by its path.
pub(crate) fn is_file(path: &str) -> bool {
    let name = file_name(path);
    (name == DESCRIPTOR || is_playbook(name))
        && path.split('/').all(|part| !part.starts_with('.') || part == "..")
        && !path.contains("node_modules/")
}

fn is_playbook(name: &str) -> bool {
    name.contains("playbook") && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// Converts a path relative to the docs root into one relative to the repository.
fn in_repository(root: &str, path: &str) -> String {
    joined(root, path).unwrap_or_default()
}

/// The layout of all components in the repository.
pub(super) fn read(tree: &dyn Tree, home: &str, configurations: &[&str]) -> Option<Layout> {
    let is_descriptor = |path: &&&str| file_name(path) == DESCRIPTOR;
    configurations.iter().find(is_descriptor)?;
    let playbook = playbook(tree, configurations);
    let mut options = AntoraOptions::of_playbook(&playbook);
    let mut problems = Vec::new();
    for file in configurations.iter().filter(is_descriptor) {
        match yaml::read(&tree.text(file).unwrap_or_default()) {
            Ok(descriptor) => options.components.extend(component(tree, file, &descriptor, &playbook)),
            Err(why) => problems.push(((*file).to_owned(), why)),
        }
    }
    options.set_base_paths();
    let options = Arc::new(options);
    let roots = roots(tree, &options);
    let mut layout = Layout::of(Generator::Antora, home, roots);
    layout.anchors = docent_markdown::AnchorStyle::Asciidoctor;
    for component in &options.components {
        let module = |name: &str| below(&component.base_path, if name == "ROOT" { "" } else { name });
        if let Some(start) = component.start_page.as_deref().and_then(ResourceId::read) {
            let destination = format!("/{}", below(&module(start.module.unwrap_or("ROOT")), start.stem()));
            layout.redirects.push((component.base_path.clone(), destination));
        }
    }
    layout.options.antora = options;
    for (file, why) in problems {
        layout.problem(&file, format!("this is not YAML that can be read: {why}"));
    }
    Some(layout)
}

/// The first file that parses as a playbook: `antora-playbook.yml` first, then by length of path.
fn playbook(tree: &dyn Tree, configurations: &[&str]) -> Yaml {
    let mut files: Vec<&&str> = configurations.iter().filter(|path| is_playbook(file_name(path))).collect();
    files.sort_by_key(|path| (!path.ends_with("antora-playbook.yml"), path.len()));
    let read = files.into_iter().filter_map(|file| yaml::read(&tree.text(file)?).ok());
    let mut read =
        read.filter(|playbook| ["content", "site", "urls", "asciidoc"].iter().any(|key| playbook.get(key).is_some()));
    read.next().unwrap_or(Yaml::Empty)
}

impl AntoraOptions {
    fn of_playbook(playbook: &Yaml) -> Self {
        let urls =
            |name: &str| playbook.get("urls").and_then(|urls| urls.get(name)).and_then(Yaml::text).map(str::to_owned);
        let extension_style = match urls("html_extension_style").as_deref() {
            Some("indexify") => ExtensionStyle::Folders,
            Some("drop") => ExtensionStyle::Bare,
            _ => ExtensionStyle::Files,
        };
        let replaces_version =
            urls("latest_version_segment_strategy").is_none_or(|strategy| strategy != "redirect:from");
        // An empty segment is valid, too: the latest version then has no segment in the URL.
        let latest = playbook.get("urls").and_then(|urls| urls.get("latest_version_segment"));
        let latest = latest.filter(|_| replaces_version).map(|segment| segment.text().unwrap_or_default().to_owned());
        Self { extension_style, latest_segment: latest, ..Self::default() }
    }

    /// Sets the base path of each component; it depends on which version is the latest of all.
    fn set_base_paths(&mut self) {
        let base_paths: Vec<String> = self
            .components
            .iter()
            .map(|component| {
                let is_latest = self.latest(&component.name).is_some_and(|latest| latest.version == component.version);
                let version_segment = if component.version == "master" { "" } else { component.version.as_str() };
                let segment = match &self.latest_segment {
                    Some(segment) if is_latest && !version_segment.is_empty() => segment.as_str(),
                    _ => version_segment,
                };
                below(if component.name == "ROOT" { "" } else { &component.name }, segment)
            })
            .collect();
        for (component, base_path) in self.components.iter_mut().zip(base_paths) {
            component.base_path = base_path;
        }
    }
}

fn component(tree: &dyn Tree, file: &str, descriptor: &Yaml, playbook: &Yaml) -> Option<Component> {
    let text = |name: &str| descriptor.text_of(name).map(str::to_owned);
    let name = text("name")?;
    // `version: true` takes the version from the name of a branch, which is unknown here.
    let version = text("version").filter(|version| version != "true").unwrap_or_default();
    let mut attributes = AdocAttributes::default();
    for (name, value) in [
        ("env-site", ""),
        ("env", "site"),
        ("site-gen", "antora"),
        ("site-gen-antora", ""),
        ("backend-html5", ""),
        ("basebackend-html", ""),
        ("partialsdir", "partial$"),
        ("examplesdir", "example$"),
    ] {
        attributes.set(name, Some(value));
    }
    for name in [
        "env-github", "env-browser", "env-vscode", "backend-pdf", "backend-docbook5", "backend-manpage",
        "basebackend-docbook",
    ] {
        attributes.set(name, None);
    }
    for source in [playbook, descriptor] {
        let list = source.get("asciidoc").and_then(|asciidoc| asciidoc.get("attributes"));
        for (name, value) in list.map_or(&[][..], Yaml::members) {
            match value {
                Yaml::Text(value) if value == "false" => attributes.set(&format!("{name}@"), None),
                Yaml::Text(value) if value == "true" => attributes.set(name, Some("")),
                Yaml::Text(value) => attributes.set(name, Some(value)),
                _ => attributes.set(name, None),
            }
        }
    }
    attributes.set("page-component-name", Some(&name));
    attributes.set("page-component-version", Some(&version));
    attributes.set("page-version", Some(&version));
    if let Some(title) = text("title") {
        attributes.set("page-component-title", Some(&title));
    }
    let nav = descriptor.list_of("nav");
    let nav = nav.iter().filter_map(Yaml::text).map(str::to_owned).collect();
    let is_prerelease = descriptor.text_of("prerelease").is_some_and(|text| text != "false");
    let start_path = folder(&in_repository(tree.root(), file)).to_owned();
    Some(Component {
        start_path,
        name,
        version,
        base_path: String::new(),
        is_prerelease,
        start_page: text("start_page"),
        nav,
        attributes,
    })
}

/// A folder of pages for each module.
fn roots(tree: &dyn Tree, options: &Arc<AntoraOptions>) -> Vec<Root> {
    let root = tree.root();
    let files: Vec<String> = tree.all_paths().iter().map(|path| in_repository(root, path)).collect();
    let mut roots = Vec::new();
    for (index, component) in options.components.iter().enumerate() {
        let modules = below(&component.start_path, "modules");
        let module_files = files.iter().filter_map(|file| file.strip_prefix(modules.as_str())?.strip_prefix('/'));
        let names: BTreeSet<&str> = module_files
            .filter_map(|file| file.split_once("/pages/").map(|(name, _)| name))
            .filter(|name| !name.contains('/'))
            .collect();
        for name in names {
            roots.push(Root {
                folder: from_root(root, &format!("{modules}/{name}/pages")),
                base_path: below(&component.base_path, if name == "ROOT" { "" } else { name }),
                generator: Generator::Antora,
                version: Some(component.version.clone()).filter(|version| !version.is_empty()),
                options: RootOptions {
                    antora: Some((Arc::clone(options), index, name.to_owned())),
                    ..RootOptions::default()
                },
                ..Root::default()
            });
        }
    }
    // The docs root may be such a folder or inside of one; a folder above it is kept only if it has files outside of
    // the docs root.
    roots.retain(|root| {
        !root.folder.starts_with("..") || tree.paths_outside().iter().any(|path| path.starts_with(root.folder.as_str()))
    });
    roots
}
