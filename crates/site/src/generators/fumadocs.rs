//! Fumadocs: `source.config.*` names the folder of pages, and the call of `loader` in `lib/source.*` their address.

use docent_markdown::{AnchorStyle, FrontMatter, stem};

use super::Rules;
use super::modules::{ENDINGS, Modules};
use super::next;
use super::roots::Root;
use super::script::Script;
use crate::follow::{Wanted, Written, has_page_ending};
use crate::layout::{Generator, Layout, below, is_configuration};
use crate::model::{Site, Target};
use crate::tree::{Tree, at_home, joined_in};

/// Where a site makes its pages out of the files, by its template.
const LOADERS: [&str; 6] = ["lib/source", "src/lib/source", "app/source", "src/app/source", "source", "src/source"];

/// Whether a file of the application says where pages are served or how their links are read, by its folder and name.
pub(crate) fn is_of_application(folder: &str, name: &str) -> bool {
    let stem = name.rsplit_once('.').filter(|(_, ending)| ENDINGS.contains(ending)).map_or("", |(stem, _)| stem);
    let path = below(folder, stem);
    LOADERS.contains(&path.as_str())
        || (stem == "page" && folder.contains("[...") && ["app/", "src/app/"].iter().any(|app| folder.starts_with(app)))
}

#[derive(Debug)]
pub(crate) struct Fumadocs;

impl Rules for Fumadocs {
    fn read(&self, tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
        read(tree, home, has)
    }

    fn address(&self, root: &Root, inside: &str, _front: &FrontMatter) -> String {
        let stem = stem(inside).unwrap_or(inside);
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty() && !next::is_group(part)).collect();
        parts.extend(Some(name).filter(|name| *name != "index"));
        below(&root.served, &parts.join("/"))
    }

    fn follow(&self, site: &Site, link: &Written<'_>) -> Target {
        if !link.is_absolute() && has_page_ending(&link.path) {
            let file = docent_markdown::joined(docent_markdown::folder(link.from), &link.path);
            let file = file.filter(|file| site.address(file).is_some());
            return match file {
                Some(file) if site.layout().next.follows_files && link.path.starts_with("./") => {
                    Target::Page { file, anchor: link.anchor.clone() }
                }
                // Releases differ in which of these they follow, and components may.
                _ => Target::NotUnderstood,
            };
        }
        next::by_url(site, link, &link.path)
    }

    fn write(&self, site: &Site, wanted: &Wanted<'_>) -> String {
        next::write(site, wanted)
    }
}

/// Reads the layout, if the folder has such a configuration.
fn read(tree: &dyn Tree, home: &str, has: &dyn Fn(&str) -> bool) -> Option<Layout> {
    let script = |name: &str| {
        ENDINGS.iter().map(|ending| at_home(tree, home, &format!("{name}.{ending}"))).find(|file| has(file))
    };
    let file = script("source.config")?;
    let mut modules = Modules::new(tree, is_configuration);
    let docs = modules.argument_of(&file, "defineDocs");
    let folder = docs.as_ref().and_then(|docs| docs.text_of("dir")).unwrap_or("content/docs").to_owned();
    let loader = LOADERS.iter().find_map(|name| script(name));
    let options = loader.as_ref().and_then(|file| modules.argument_of(file, "loader"));
    let base = options.as_ref().and_then(|options| options.text_of("baseUrl"));
    let is_plain = |options: &Script| ["url", "slugs", "i18n"].iter().all(|name| options.get(name).is_none());
    let root = Root {
        folder: joined_in(tree.root(), home, &folder)?,
        served: base.unwrap_or("/docs").trim_matches('/').to_owned(),
        generator: Generator::Fumadocs,
        ..Root::default()
    };
    let mut layout = Layout::of(Generator::Fumadocs, home, vec![root]);
    layout.anchors = AnchorStyle::Fumadocs;
    layout.next = next::configuration(tree, home, has).map(|(_, text)| next::settings(&text)).unwrap_or_default();
    layout.next.follows_files = follows_files(tree, home);
    let text = tree.read(&file).unwrap_or_default();
    let collections = String::from_utf8_lossy(&text).matches("define").count();
    if docs.is_none() || base.is_none() || !options.as_ref().is_some_and(is_plain) || collections > 6 {
        layout.problem(
            &file,
            "where pages are served is computed in part; they are taken to be as the template of Fumadocs has them",
        );
    }
    Some(layout)
}

/// Whether the page component follows links to files that begin with `./`.
fn follows_files(tree: &dyn Tree, home: &str) -> bool {
    let paths = tree.paths().into_iter().chain(tree.paths_outside());
    let home = at_home(tree, home, "");
    let mut pages = paths.filter(|path| {
        let inside = if home.is_empty() { Some(path.as_str()) } else { path.strip_prefix(&format!("{home}/")) };
        let parts = inside.and_then(|inside| inside.rsplit_once('/'));
        parts.is_some_and(|(folder, name)| name.starts_with("page.") && is_of_application(folder, name))
    });
    pages.any(|page| {
        tree.read(&page).is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("createRelativeLink"))
    })
}
