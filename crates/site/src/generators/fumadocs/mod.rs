//! Fumadocs sites: `source.config.*` sets the folder of the pages, and the call of `loader` in `lib/source.*` their
//! base path.

use std::collections::{HashMap, HashSet};

use docent_markdown::{AnchorStyle, FrontMatter, file_name, folder, is_markdown_page, regex};

use super::modules::{Modules, SCRIPT_EXTENSIONS, find_script, is_script};
use super::next::config::Languages;
use super::next::{self, config};
use super::script_value::{ScriptValue, value_at};
use super::{Facts, LinkRules, Root, Rules};
use crate::layout::{Generator, Layout, below};
use crate::link_target::{LinkRequest, LinkSyntax, ParsedLink, has_page_ending};
use crate::model::{Site, Target};
use crate::paths::path_in;
use crate::script::Script;
use crate::tree::{Tree, from_config_folder, joined_in};

/// Whether a file of the application configures where pages are served or how their links resolve, judged by its path.
pub(crate) fn is_of_application(folder: &str, name: &str) -> bool {
    let stem =
        name.rsplit_once('.').filter(|(_, ending)| SCRIPT_EXTENSIONS.contains(ending)).map_or("", |(stem, _)| stem);
    let folder = folder.strip_prefix("src/").unwrap_or(folder);
    let is_page = stem == "page" && folder.contains("[...") && folder.starts_with("app/");
    is_page || is_of_loader(folder, stem)
}

/// Whether a script may call `loader` or list the languages, judged by where the templates of Fumadocs and sites made
/// from them have it.
fn is_of_loader(folder: &str, stem: &str) -> bool {
    let is_library = folder == "lib" || folder.starts_with("lib/") || ["", "app", "src"].contains(&folder);
    is_library && (["source", "i18n"].contains(&stem) || stem == "index" && folder.ends_with("/source"))
}

pub(super) struct Fumadocs;

impl Rules for Fumadocs {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| is_script(name, "source.config")),
            has_plain_underscore_folders: true,
            inert_fields: "full index sidebarTitle",
            components: "Accordion Accordions Callout Card Cards Step Steps Tab Tabs",
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let file = find_script(tree, home, "source.config", has)?;
        let mut modules = Modules::new(tree, has);
        let scripts = loader_files(tree, home);
        let mut collections = HashMap::new();
        for script in std::iter::once(&file).chain(&scripts) {
            collections.extend(modules.script(script).iter().flat_map(|script| collections_in(script)));
        }
        let mut loaders: Vec<Loader> = Vec::new();
        for script in &scripts {
            loaders.extend(loaders_in(&mut modules, script, &collections));
        }
        let has_literal_urls =
            !loaders.is_empty() && loaders.iter().all(|loader| loader.base.is_some() && !loader.is_computed);
        if loaders.is_empty() {
            let folder = collections.values().next().filter(|_| collections.len() == 1);
            let folders = vec![folder.cloned().unwrap_or_else(|| "content/docs".to_owned())];
            loaders.push(Loader {
                base: None,
                folders,
                has_unknown_sources: false,
                is_computed: true,
                languages: None,
            });
        }
        let mut layout = Layout::of(Generator::Fumadocs, home, Vec::new());
        layout.anchors = AnchorStyle::Fumadocs;
        if let Some((config, text)) = config::configuration(tree, home, has) {
            config::read(tree, &config, &text, has, &mut layout);
        }
        layout.options.next.resolves_files = resolves_files(tree, home);
        layout.options.next.has_computed_routes |= !has_literal_urls;
        let pages: Vec<String> = tree.all_paths().into_iter().filter(|path| is_markdown_page(path)).collect();
        for loader in loaders {
            let base_path = loader.base.as_deref().unwrap_or("/docs").trim_matches('/').to_owned();
            let mut has_unknown_sources = loader.has_unknown_sources;
            for folder in &loader.folders {
                let Some(folder) = joined_in(tree.root(), home, folder) else { continue };
                let root =
                    Root { folder, base_path: base_path.clone(), generator: Generator::Fumadocs, ..Root::default() };
                let relative_paths: Vec<&str> = pages.iter().filter_map(|page| root.relative_path(page)).collect();
                // The build fills an empty folder, so its pages are unknown.
                has_unknown_sources |= relative_paths.is_empty();
                let roots = match &loader.languages {
                    Some(languages) => {
                        in_languages(root, languages, &relative_paths, &mut layout.options.next.languages)
                    }
                    None => vec![root],
                };
                layout.roots.extend(roots);
            }
            if has_unknown_sources {
                layout.options.next.dynamic_base_paths.push(base_path);
            }
        }
        if !has_literal_urls {
            layout.problem(
                &file,
                "where pages are served is computed in part; they are taken to be as the template of Fumadocs has them",
            );
        }
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        let (stem, language) = root.without_language(relative_path);
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty() && !next::is_group(part)).collect();
        parts.extend(Some(name).filter(|name| *name != "index"));
        let path = below(&root.base_path, &parts.join("/"));
        let language = language.or(root.language_suffixes.first());
        let prefix = root.languages.iter().find(|(_, name)| Some(name) == language).map_or("", |(prefix, _)| prefix);
        below(prefix, &path)
    }
}

impl LinkRules for Fumadocs {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        if !link.is_absolute() && has_page_ending(&link.path) {
            return match by_file(site, link) {
                _ if link.syntax == LinkSyntax::Html => next::by_url(site, link, &link.path),
                Some(file)
                    if site.layout().options.next.resolves_files
                        && link.path.starts_with("./")
                        && link.syntax == LinkSyntax::Markdown =>
                {
                    link.page(file)
                }
                // Releases of Fumadocs differ in which of these links they follow, and so may components.
                _ => Target::NotUnderstood,
            };
        }
        next::by_url(site, link, &link.path)
    }

    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        next::forms(site, wanted)
    }
}

/// The page at a relative file path: in the language of the page with the link, or else in the default one.
fn by_file(site: &Site, link: &ParsedLink<'_>) -> Option<String> {
    let root = site.layout().root(link.from)?;
    let file = docent_markdown::joined(docent_markdown::folder(link.from), &link.path)?;
    let (_, language) = root.without_language(root.relative_path(link.from)?);
    let translated = language.and_then(|language| {
        let (stem, ending) = file.rsplit_once('.')?;
        Some(format!("{stem}.{language}.{ending}"))
    });
    translated.into_iter().chain([file]).find(|file| site.address(file).is_some())
}

/// A call of `loader`.
struct Loader {
    base: Option<String>,
    /// The folders of its pages.
    folders: Vec<String>,
    /// Whether it has pages from other sources, too.
    has_unknown_sources: bool,
    /// Whether addresses are computed by functions of the site.
    is_computed: bool,
    languages: Option<ScriptValue>,
}

/// The scripts of the application that may call `loader`.
fn loader_files(tree: &dyn Tree, home: &str) -> Vec<String> {
    let home = from_config_folder(tree, home, "");
    let mut files = tree.all_paths();
    files.retain(|file| {
        let Some(inside) = path_in(&home, file) else { return false };
        let folder = folder(inside);
        let script = file_name(inside).rsplit_once('.').filter(|(_, ending)| SCRIPT_EXTENSIONS.contains(ending));
        is_of_loader(folder.strip_prefix("src/").unwrap_or(folder), script.map_or("", |(stem, _)| stem))
    });
    files.sort_unstable();
    files
}

/// The collections that a script defines: name and folder.
fn collections_in(script: &Script) -> Vec<(String, String)> {
    let defined = script.definitions().filter_map(|(name, at)| {
        let function = script.tokens.get(at).map(|_| script.words(at))?;
        ["defineDocs", "defineCollections"].contains(&function).then_some(())?;
        let ScriptValue::Call(_, arguments) = value_at(script, at).0 else { return None };
        let folder = arguments.first().and_then(|options| options.text_of("dir").map(str::to_owned));
        let folder = folder.or_else(|| (function == "defineDocs").then(|| "content/docs".to_owned()))?;
        Some((name.to_owned(), folder))
    });
    defined.collect()
}

/// The calls of `loader` in a script.
fn loaders_in(modules: &mut Modules<'_>, file: &str, collections: &HashMap<String, String>) -> Vec<Loader> {
    regex!(SOURCE, r"\b(\w+)\.toFumadocsSource\(|\b(?:toFumadocsSource|createMDXSource)\(\s*(\w+)|\b(\w*[sS]ource)\(");
    let Some(script) = modules.script(file) else { return Vec::new() };
    let mut loaders = Vec::new();
    for at in script.calls("loader") {
        let (call, end) = value_at(&script, at);
        let ScriptValue::Call(_, arguments) = call else { continue };
        let inside = script.tokens[at + 1].range.end..script.tokens[end - 1].range.end;
        let Some(options) = arguments.into_iter().rfind(|argument| matches!(argument, ScriptValue::Object(_))) else {
            continue;
        };
        let mut loader = Loader {
            base: options.text_of("baseUrl").map(str::to_owned),
            folders: Vec::new(),
            has_unknown_sources: false,
            is_computed: ["url", "slugs"].iter().any(|name| options.get(name).is_some()),
            languages: options.get("i18n").map(|languages| modules.resolve_names(languages.clone(), file)),
        };
        for found in SOURCE.captures_iter(&script.text[inside]) {
            let name = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
            match collections.get(name) {
                Some(folder) => loader.folders.push(folder.clone()),
                None => loader.has_unknown_sources = true,
            }
        }
        loaders.push(loader);
    }
    loaders
}

/// The roots of a folder with pages in several languages, which are in the suffix of file names or in the folder.
fn in_languages(root: Root, options: &ScriptValue, pages: &[&str], all_languages: &mut Languages) -> Vec<Root> {
    // `defineI18n` returns its argument.
    let options = match options {
        ScriptValue::Call(_, arguments) => arguments.first().unwrap_or(options),
        options => options,
    };
    let by_folder = options.text_of("parser") == Some("dir");
    let default = options.text_of("defaultLanguage").unwrap_or("en").to_owned();
    let mut names: Vec<String> = vec![default.clone()];
    match options.get("languages") {
        Some(ScriptValue::List(list)) => names.extend(list.iter().filter_map(ScriptValue::text).map(str::to_owned)),
        // If the list is computed, the languages are those found in the files.
        _ => names.extend(pages.iter().filter_map(|page| language_of(page, by_folder))),
    }
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    all_languages.hides_default = options.text_of("hideLocale") == Some("default-locale");
    all_languages.default.clone_from(&default);
    all_languages.falls_back_to_default = !options.get("fallbackLanguage").is_some_and(|language| language.is("null"));
    all_languages
        .names
        .extend(names.iter().filter(|name| !all_languages.names.contains(name)).cloned().collect::<Vec<_>>());
    let prefix =
        |name: &String| if all_languages.hides_default && *name == default { String::new() } else { name.clone() };
    let of = |name: &String| (prefix(name), name.clone());
    if !by_folder {
        let languages = names.iter().map(of).collect();
        return vec![Root { language_suffixes: names, languages, ..root }];
    }
    let roots = names.iter().map(|name| Root {
        folder: below(&root.folder, name),
        base_path: root.base_path.clone(),
        language: Some(name.clone()),
        languages: vec![of(name)],
        language_suffixes: vec![name.clone()],
        ..root.clone()
    });
    roots.collect()
}

/// The language in the file name or in the folder of a page.
fn language_of(page: &str, by_folder: bool) -> Option<String> {
    let language = match by_folder {
        true => page.split_once('/')?.0,
        false => docent_markdown::stem(page)?.rsplit('/').next()?.rsplit_once('.')?.1,
    };
    let is_language =
        (2..=7).contains(&language.len()) && language.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    is_language.then(|| language.to_owned())
}

/// Whether the page component resolves links to files that begin with `./`.
fn resolves_files(tree: &dyn Tree, home: &str) -> bool {
    let paths = tree.all_paths().into_iter();
    let home = from_config_folder(tree, home, "");
    let mut pages = paths.filter(|path| {
        let parts = path_in(&home, path).and_then(|path| path.rsplit_once('/'));
        parts.is_some_and(|(folder, name)| name.starts_with("page.") && is_of_application(folder, name))
    });
    pages.any(|page| {
        tree.read(&page).is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("createRelativeLink"))
    })
}
