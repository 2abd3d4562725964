//! docfx sites, configured in `docfx.json`, whose globs say which files are pages and where they are served.

mod links;

use std::sync::Arc;

use docent_markdown::{AnchorStyle, FrontMatter, file_name, folder, joined, regex};

use super::built_site::path_in_folder;
use super::script_value::{ScriptValue, value_at};
use super::{Facts, Root, RootOptions, Rules};
use crate::glob::{Globs, Letters};
use crate::layout::{Generator, Layout, below};
use crate::paths::{index_path, path_of_url};
use crate::script::Script;
use crate::skip_reason::SkipReason;
use crate::tree::{Tree, from_config_folder, joined_in};
use crate::version_names::VersionName;

const CONFIG_FILE: &str = "docfx.json";

/// Whether a file is a configuration; `folder` is relative to the folder of the site.
pub(crate) fn is_file(folder: &str, name: &str) -> bool {
    name == CONFIG_FILE && folder.is_empty()
}

/// Settings that links depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct DocfxOptions {
    /// Base path of the site, without leading and trailing slash; `None` if it is unknown.
    pub(crate) base: Option<String>,
    /// Folders of files that docfx generates from source code; `generates_pages` says whether any pages have no file.
    pub(crate) generated_folders: Vec<String>,
    pub(crate) generates_pages: bool,
    /// Whether assets are served at other paths than those of their files.
    pub(crate) moves_assets: bool,
}

/// The files that a configuration names.
#[derive(Debug, Default)]
pub(crate) struct Content {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    /// The folder that its patterns are relative to.
    source: String,
    /// The base path of its files.
    base_path: String,
    files: Globs,
    excluded: Globs,
    /// The group of its files; the files of a group have one version.
    group: Option<String>,
}

impl Content {
    /// The path a file is served at, with the extension of the file.
    pub(super) fn place(&self, file: &str) -> Option<String> {
        self.items.iter().find_map(|item| {
            let relative_path = path_in_folder(&item.source, file)?;
            (item.files.is_match(relative_path) && !item.excluded.is_match(relative_path))
                .then(|| below(&item.base_path, relative_path))
        })
    }
}

pub(super) struct Docfx;

impl Rules for Docfx {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| name == CONFIG_FILE),
            reads_front_matter: true,
            // A leading underscore does not mark a partial.
            has_no_partials: true,
            ids_in_any_case: true,
            inert_fields: "uid ms.date ms.author ms.topic ms.service ms.reviewer ms.custom _disableToc _disableAffix",
            program_folders: &["templates"],
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = from_config_folder(tree, home, CONFIG_FILE);
        let mut layout = read(tree, home, &file, &tree.text(&file).filter(|_| has(&file))?)?;
        if layout.roots.is_empty() {
            layout.problem(&file, "the configuration names no files of the site");
            layout.roots.push(Root { folder: home.to_owned(), generator: Generator::Docfx, ..Root::default() });
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, front: &FrontMatter) -> String {
        let file = below(&root.folder, relative_path);
        let place = root
            .options
            .docfx
            .as_ref()
            .and_then(|content| content.place(&file))
            .unwrap_or_else(|| relative_path.to_owned());
        let place = match front.get("output_file_name").filter(|name| !name.contains('/')) {
            Some(name) => below(folder(&place), name),
            None => place,
        };
        let stem =
            place.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')).map_or(place.as_str(), |(stem, _)| stem);
        index_path(stem, &["index"])
    }

    fn has_html_urls(&self, _layout: &Layout) -> bool {
        true
    }

    fn skips_path(&self, root: &Root, relative_path: &str) -> Option<SkipReason> {
        let name = file_name(relative_path).to_ascii_lowercase();
        let file = below(&root.folder, relative_path);
        match name.as_str() {
            "toc.md" => Some(SkipReason::Configuration),
            _ if !name.ends_with(".md") => Some(SkipReason::Unsupported),
            _ => {
                let content = root.options.docfx.as_ref();
                content.is_some_and(|content| content.place(&file).is_none()).then_some(SkipReason::Excluded)
            }
        }
    }
}

/// Reads the layout from the text of a configuration: JSON that may have comments, trailing commas and a byte order
/// mark.
fn read(tree: &dyn Tree, home: &str, file: &str, text: &str) -> Option<Layout> {
    let text = text.trim_start_matches('\u{feff}');
    let (config, _) = value_at(&Script::of(text), 0);
    let build = config.get("build")?;
    let items = |name: &str| build.get(name).map(|value| items(tree, home, file, value)).unwrap_or_default();
    let content = Arc::new(Content { items: items("content") });
    let mut sources: Vec<&str> = content.items.iter().map(|item| item.source.as_str()).collect();
    sources.sort_unstable();
    sources.dedup();
    let root = |source: &str| Root {
        folder: source.to_owned(),
        generator: Generator::Docfx,
        options: RootOptions { docfx: Some(Arc::clone(&content)), ..RootOptions::default() },
        version: version(build, &content, source),
        ..Root::default()
    };
    let mut layout = Layout::of(Generator::Docfx, home, sources.into_iter().map(root).collect());
    let globs = content.items.iter().flat_map(|item| [&item.files, &item.excluded]);
    globs.flat_map(Globs::problems).for_each(|(file, message)| layout.problem(&file, message));
    let metadata = config.get("metadata");
    let entries = match metadata {
        Some(ScriptValue::List(entries)) => entries.as_slice(),
        Some(entry) => std::slice::from_ref(entry),
        None => &[],
    };
    let outputs = entries.iter().map(|entry| entry.text_of("output").or(entry.text_of("dest")).unwrap_or("api"));
    let resources = items("resource");
    layout.options.docfx = DocfxOptions {
        base: build
            .get("sitemap")
            .and_then(|sitemap| sitemap.text_of("baseUrl"))
            .map(|url| path_of_url(url).to_owned()),
        generated_folders: outputs.filter_map(|folder| joined_in(tree.root(), home, folder)).collect(),
        // Descriptions of APIs become pages, and so do files of metadata.
        generates_pages: metadata.is_some() || text.contains("yml") || text.contains("swagger"),
        moves_assets: resources
            .iter()
            .chain(&content.items)
            .any(|item| item.source != home || !item.base_path.is_empty()),
    };
    layout.anchors = AnchorStyle::Docfx;
    let extensions = build.get("markdownEngineProperties").and_then(|engine| engine.get("markdigExtensions"));
    layout.anchors_computed = extensions.is_some_and(changes_anchors);
    Some(layout)
}

/// The version of the files in a folder, if they are all in one group of a single version: `7.4` for `powershell-7.4`.
fn version(build: &ScriptValue, content: &Content, source: &str) -> Option<String> {
    let mut groups = content.items.iter().filter(|item| item.source == source).map(|item| item.group.as_deref());
    let group = groups.next()??;
    if groups.any(|other| other != Some(group)) {
        return None;
    }
    let moniker = build.get("groups")?.get(group)?.text_of("moniker_range")?;
    let name = moniker.rsplit('-').next().filter(|name| VersionName::of_folder(name).is_some()).unwrap_or(moniker);
    (!moniker.contains(['<', '>', '=', '|', ' '])).then(|| name.to_owned())
}

/// Whether the configuration names Markdown extensions that change the anchors of headings.
fn changes_anchors(extensions: &ScriptValue) -> bool {
    let names = |item: &ScriptValue| match item {
        ScriptValue::Text(name) => vec![name.to_ascii_lowercase()],
        item => item.members().iter().map(|(name, _)| name.to_ascii_lowercase()).collect(),
    };
    let known = ["attributes", "genericattributes", "advanced", "autoidentifiers"];
    extensions.list().iter().flat_map(names).any(|name| known.contains(&name.as_str()))
}

/// Parses a list of files: a pattern, an object, or a list of either.
fn items(tree: &dyn Tree, home: &str, file: &str, value: &ScriptValue) -> Vec<Item> {
    match value {
        ScriptValue::List(list) => list.iter().flat_map(|value| items(tree, home, file, value)).collect(),
        ScriptValue::Text(pattern) => {
            let files = globs(file, [pattern.as_str()].into_iter());
            vec![Item {
                source: home.to_owned(),
                base_path: String::new(),
                files,
                excluded: Globs::default(),
                group: None,
            }]
        }
        ScriptValue::Object(_) => {
            let source = value.text_of("src").or(value.text_of("cwd")).unwrap_or_default();
            let Some(source) = joined_in(tree.root(), home, source) else { return Vec::new() };
            let base_path = value.text_of("dest").unwrap_or_default();
            let patterns = |name: &str| globs(file, strings(value.get(name)).into_iter());
            let base_path = joined("", base_path).unwrap_or_default();
            let group = value.text_of("group").map(str::to_owned);
            vec![Item { source, base_path, files: patterns("files"), excluded: patterns("exclude"), group }]
        }
        _ => Vec::new(),
    }
}

/// One string or several.
fn strings(value: Option<&ScriptValue>) -> Vec<&str> {
    match value {
        Some(ScriptValue::Text(text)) => vec![text.as_str()],
        Some(list) => list.list().iter().filter_map(ScriptValue::text).collect(),
        None => Vec::new(),
    }
}

/// Case-insensitive globs, in which `**.md` is short for `**/*.md`.
fn globs<'g>(file: &str, patterns: impl Iterator<Item = &'g str>) -> Globs {
    regex!(SHORT, r"(^|/)\*{2,}([^/*])");
    let patterns: Vec<_> =
        patterns.map(|pattern| SHORT.replace_all(pattern.trim_start_matches('/'), "$1**/*$2")).collect();
    Globs::with_letters(file, patterns.iter().map(AsRef::as_ref), Letters::InAnyCase)
}

#[cfg(test)]
mod tests;
