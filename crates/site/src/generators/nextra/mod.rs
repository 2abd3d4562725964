//! Nextra: pages in `content` (release 4) or `pages` (releases 2 and 3) of an application on Next.js.

use docent_markdown::{AnchorStyle, FrontMatter, stem};

use super::modules::{Modules, is_script};
use super::next::config::Languages;
use super::next::{self, config};
use super::script_value::{ScriptValue, value_at};
use super::{Facts, LinkRules, Root, Rules};
use crate::glob::Globs;
use crate::layout::{Generator, Layout, below};
use crate::link_target::{LinkRequest, LinkSyntax, ParsedLink, has_page_ending};
use crate::model::{Site, Target};
use crate::paths::{index_path, path_in};
use crate::script::Script;
use crate::tree::{Tree, from_config_folder};

pub(super) struct Nextra;

impl Rules for Nextra {
    fn facts(&self) -> Facts {
        Facts {
            is_main_configuration: Some(|_, name| is_script(name, "next.config")),
            reads_markdown_as_mdx: true,
            has_plain_underscore_folders: true,
            inert_fields: "sidebarTitle searchable asIndexPage",
            components: "Fragment",
            ..Facts::default()
        }
    }

    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        let (file, text) = config::configuration(tree, home, has)?;
        // `withGuildDocs`, from The Guild's components, wraps the plug-in.
        let names = ["'nextra'", "\"nextra\"", "withGuildDocs"];
        if !names.iter().any(|name| text.contains(name)) {
            return None;
        }
        let mut modules = Modules::new(tree, has);
        let options = modules.argument_of(&file, "nextra");
        let base = options.as_ref().and_then(|options| options.text_of("contentDirBasePath")).unwrap_or_default();
        let paths = tree.all_paths();
        let folder = |names: [&str; 2]| {
            let names = names.map(|name| from_config_folder(tree, home, name));
            names.into_iter().find(|name| name.is_empty() || paths.iter().any(|path| path_in(name, path).is_some()))
        };
        let root = |folder: String, base_path: &str, excluded: &[&str]| Root {
            folder,
            base_path: base_path.trim_matches('/').to_owned(),
            generator: Generator::Nextra,
            excluded: Globs::known(excluded),
            ..Root::default()
        };
        let (languages, default) = languages(&text);
        let content = folder(["content", "src/content"]);
        let pages = folder(["pages", "src/pages"]).filter(|_| content.is_none());
        let has_pages_folder = pages.is_some();
        let mut roots: Vec<Root> = content.map(|content| root(content, base, &[])).into_iter().collect();
        if let Some(pages) = pages {
            let prefix = |name: &String| if *name == default { String::new() } else { name.clone() };
            roots.push(Root {
                languages: languages.iter().map(|name| (prefix(name), name.clone())).collect(),
                language_suffixes: languages.clone(),
                ..root(pages, "", &["_*.mdx", "**/_meta.*", "api/**"])
            });
        }
        if let Some(app) = folder(["app", "src/app"]) {
            let mut app = root(app, "", &["**/_*/**", "**/[[]*/**"]);
            app.options.is_app_directory = true;
            app.included = Some(Globs::known(&["page.{md,mdx}", "**/page.{md,mdx}"]));
            roots.push(app);
        }
        let mut layout = Layout::of(Generator::Nextra, home, roots);
        layout.anchors = if has_pages_folder { AnchorStyle::NextraPages } else { AnchorStyle::Nextra };
        config::read(tree, &file, &text, has, &mut layout);
        if text.contains("i18n") && languages.is_empty() {
            layout.options.next.has_computed_routes = true;
            layout.problem(&file, "the languages are computed; pages are taken to be served by their paths");
        }
        // Next.js omits the default language in URLs; in release 4, URLs contain the folder of every language.
        layout.options.next.languages =
            Languages { names: languages, default, hides_default: has_pages_folder, falls_back_to_default: false };
        Some(layout)
    }

    fn address(&self, root: &Root, relative_path: &str, _front: &FrontMatter) -> String {
        let stem = stem(relative_path).unwrap_or(relative_path);
        let path = match root.options.is_app_directory {
            true => {
                let folder = stem.rsplit_once('/').map_or("", |(folder, _)| folder);
                folder.split('/').filter(|part| !next::is_group(part)).collect::<Vec<_>>().join("/")
            }
            false => index_path(root.without_language(relative_path).0, &["index"]),
        };
        let (_, language) = root.without_language(relative_path);
        let prefix = root.languages.iter().find(|(_, name)| Some(name) == language.or(root.language_suffixes.first()));
        below(prefix.map_or("", |(prefix, _)| prefix), &below(&root.base_path, &path))
    }
}

impl LinkRules for Nextra {
    fn resolve(&self, site: &Site, link: &ParsedLink<'_>) -> Target {
        // Nextra strips the extension of a page; what is left is a URL.
        let is_cut = link.syntax == LinkSyntax::Markdown && has_page_ending(&link.path);
        let path = match is_cut && !link.path.to_ascii_lowercase().ends_with(".markdown") {
            true => stem(&link.path).unwrap_or(&link.path),
            false => &link.path,
        };
        next::by_url(site, link, path)
    }

    fn forms(&self, site: &Site, wanted: &LinkRequest<'_>) -> Vec<String> {
        next::forms(site, wanted)
    }
}

/// The configured languages, the default one first, and the default language.
fn languages(text: &str) -> (Vec<String>, String) {
    let script = Script::of(text);
    let options =
        script.named().find(|(_, name)| &text[name.clone()] == "i18n").map(|(at, _)| value_at(&script, at + 2).0);
    let list = options.as_ref().and_then(|options| options.get("locales")).map(ScriptValue::list).unwrap_or_default();
    let names: Vec<&str> = list.iter().filter_map(ScriptValue::text).collect();
    let default = options.as_ref().and_then(|options| options.text_of("defaultLocale"));
    let default = default.or(names.first().copied()).unwrap_or_default();
    let first = Some(default).filter(|name| names.contains(name));
    let names = first.into_iter().chain(names.iter().copied().filter(|name| *name != default));
    (names.map(str::to_owned).collect(), default.to_owned())
}
