//! Navigation files whose entries are string literals: `meta.json`, sidebars in JSON, JavaScript and TypeScript.

use docent_markdown::{FrontMatter, file_name, folder, front_matter_end, is_markdown_page, line_of, regex, stem};

use super::{Contents, EditableEntry, EntryNaming, Shape};
use crate::generators::{docusaurus, starlight};
use crate::layout::{Generator, below};
use crate::link_form::{FileMove, kept_form};
use crate::link_target::{LinkRequest, LinkSyntax, is_external, parts};
use crate::model::{Site, Target, front_matter};
use crate::navigation_script::{ENDINGS, Literal, META, NavigationScript, PlainEntry, VITEPRESS, literals};
use crate::script::Script;
use crate::site_data::is_data_navigation;
use crate::tree::{ChangedTree, Tree, from_config_folder};

/// Reads the navigation files of this kind that a site has.
pub(super) fn read(tree: &dyn Tree, site: &Site) -> Vec<Contents> {
    let mut found = Vec::new();
    let text = |file: &str| tree.text(file);
    for file in site.files() {
        let name = file_name(file);
        let is_meta =
            matches!(name, "_meta.json" | "meta.json") || NavigationScript::of(file) == Some(NavigationScript::Members);
        found.extend(text(file).filter(|_| is_meta).and_then(|text| meta(site, file, text)));
    }
    if site.generator() == Generator::Docusaurus {
        let sidebars = site.layout().options.docusaurus.sidebars.iter();
        found.extend(sidebars.filter_map(|(file, navigation)| {
            let text = text(file)?;
            let entries = named_by_id(tree, site, navigation, &text);
            let shape = if file.ends_with(".json") { Shape::Json } else { Shape::Script };
            Some(Contents { base: folder(file).to_owned(), file: file.to_owned(), text, entries, shape })
        }));
        found.extend(named_in_fields(tree, site));
        return found;
    }
    let names = NavigationScript::files_of(site.generator());
    let home = site.layout().home();
    let folders = [home.to_owned()].into_iter().chain(site.layout().roots.iter().map(|root| root.folder.clone()));
    let mut files: Vec<String> =
        folders.flat_map(|folder| names.iter().map(move |name| from_config_folder(tree, &folder, name))).collect();
    if site.generator() == Generator::VitePress {
        let folder = from_config_folder(tree, home, VITEPRESS) + "/";
        let is_in = |path: &String| path.strip_prefix(&folder).is_some_and(|name| !name.contains('/'));
        let is_script = |path: &String| is_in(path) && NavigationScript::of(path).is_some();
        files.extend(tree.all_paths().into_iter().filter(is_script));
    }
    files.sort();
    files.dedup();
    for file in files {
        let Some(text) = text(&file) else { continue };
        let entries = linked(site, &file, &text);
        found.push(Contents { base: folder(&file).to_owned(), file, text, entries, shape: Shape::Script });
    }
    found
}

/// The page that a name in the folder of a file refers to: a page, or the only page in the folder of that name, because
/// the name becomes dangling without that page.
fn sibling(site: &Site, base: &str, name: &str) -> Option<(String, EntryNaming)> {
    let files = ["mdx", "md"].map(|ending| below(base, &format!("{name}.{ending}")));
    if let Some(file) = files.into_iter().find(|file| site.has_file(file)) {
        return Some((file, EntryNaming::Sibling));
    }
    let inside = format!("{}/", below(base, name));
    let is_meta = |file: &str| file[inside.len()..].rsplit('/').next().is_some_and(|name| name.starts_with("_meta."));
    let mut files = site.files().filter(|file| !name.is_empty() && file.starts_with(&inside) && !is_meta(file));
    let only = files.next().filter(|file| site.address(file).is_some() && files.next().is_none())?;
    Some((only.to_owned(), EntryNaming::Folder))
}

/// The entries of a `meta.json` or a `_meta` script: the items of `pages` in JSON, or else the member names. They are
/// pages in the folder of the file.
fn meta(site: &Site, file: &str, text: String) -> Option<Contents> {
    let base = folder(file).to_owned();
    let script = Script::of(&*text);
    let shape = if file.ends_with(".json") { Shape::Json } else { Shape::Script };
    let open = if shape == Shape::Json { 0 } else { script.exported_object()? };
    let members = script.members(open).0;
    let pages = members.iter().find(|member| shape == Shape::Json && &text[member.name.clone()] == "pages");
    let named = match pages {
        Some(pages) => {
            let items = script.items(pages.first).filter_map(|item| script.inner(item));
            items.map(|name| (name.clone(), name.start - 1..name.end + 1, None)).collect()
        }
        None => members
            .into_iter()
            .map(|member| {
                let title = text[member.value.clone()].starts_with(['"', '\'']).then_some(member.value.clone());
                (member.name, member.start..member.value.end, title)
            })
            .collect::<Vec<_>>(),
    };
    let entries = named.into_iter().filter_map(|(value, item, title)| {
        let (page, naming) = sibling(site, &base, &text[value.clone()])?;
        Some(EditableEntry { page, value, item: Some(item), title, naming })
    });
    let entries = entries.collect();
    Some(Contents { file: file.to_owned(), text, base, entries, shape })
}

/// The entries that name pages by id: array items and `id` values.
fn named_by_id(tree: &dyn Tree, site: &Site, navigation: &str, text: &str) -> Vec<EditableEntry> {
    let is_of = |file: &str| site.layout().root(file).is_some_and(|root| root.navigation == navigation);
    let pages: Vec<(String, &str)> = site
        .files()
        .filter(|file| is_of(file) && site.address(file).is_some())
        .filter_map(|file| Some((id(tree, site, file, file)?, file)))
        .collect();
    entries(NavigationScript::Sidebars, text, EntryNaming::Id, |_, literal| {
        let is_name = literal.member.is_none_or(|member| member == "id");
        let (_, page) = pages.iter().find(|(id, _)| is_name && *id == text[literal.value.clone()])?;
        Some((*page).to_owned())
    })
}

/// The pages that fields name by id: the page of a category, and the next and previous page of a page.
fn named_in_fields(tree: &dyn Tree, site: &Site) -> Vec<Contents> {
    regex!(NEIGHBOUR, r#"(?m)^pagination_(?:next|prev):[ \t]*["']?([^\s"'#]+)"#);
    regex!(CATEGORY, r#"(?m)^[ \t]+["']?id["']?[ \t]*:[ \t]*["']?([^\s"',#}]+)"#);
    regex!(CATEGORY_JSON, r#""link"\s*:\s*\{[^{}]*"id"\s*:\s*"([^"\n]+)""#);
    let mut ids: Option<Vec<(String, &str)>> = None;
    let mut found = Vec::new();
    for file in site.files() {
        let name = file_name(file);
        let (pattern, shape) = match name {
            "_category_.json" => (&*CATEGORY_JSON, Shape::Json),
            "_category_.yml" | "_category_.yaml" => (&*CATEGORY, Shape::Yaml),
            _ if is_markdown_page(file) => (&*NEIGHBOUR, Shape::Yaml),
            _ => continue,
        };
        let (Some(text), Some(root)) = (tree.text(file), site.layout().root(file)) else { continue };
        let fields = if is_markdown_page(file) { front_matter_end(&text) } else { text.len() };
        let named: Vec<_> = pattern.captures_iter(&text[..fields]).filter_map(|found| found.get(1)).collect();
        if named.is_empty() {
            continue;
        }
        let ids = ids.get_or_insert_with(|| {
            let served = site.files().filter(|file| site.address(file).is_some());
            served.filter_map(|file| Some((id(tree, site, file, file)?, file))).collect()
        });
        let is_of = |file: &str| site.layout().root(file).is_some_and(|other| other.navigation == root.navigation);
        let entry = |value: regex::Match<'_>| {
            let (_, page) = ids.iter().find(|(id, page)| id == value.as_str() && is_of(page))?;
            let page = (*page).to_owned();
            Some(EditableEntry { page, value: value.range(), item: None, title: None, naming: EntryNaming::Id })
        };
        let entries: Vec<EditableEntry> = named.into_iter().filter_map(entry).collect();
        if !entries.is_empty() {
            found.push(Contents { base: folder(file).to_owned(), file: file.to_owned(), text, entries, shape });
        }
    }
    found
}

/// The entries that name pages by link: `link` and `slug` values, and array items.
fn linked(site: &Site, file: &str, text: &str) -> Vec<EditableEntry> {
    entries(NavigationScript::Configuration, text, EntryNaming::Link, |script, literal| {
        let Literal { value, member, list, .. } = literal;
        let written = &text[value.clone()];
        // A slug or an array item is an address without a leading slash. A single word may have another meaning, except
        // where Starlight expects slugs.
        let is_starlight = site.generator() == Generator::Starlight;
        let is_named = member.is_some() || list.is_some_and(|list| ["items", "sidebar"].contains(&list));
        match member {
            Some(member) if !["link", "slug"].contains(member) => None,
            _ if is_starlight && is_named => starlight::page_of_entry(site, written).map(str::to_owned),
            Some("link") => {
                let link = based(group_base(script, literal), written);
                match site.resolve(file, &link) {
                    Target::Page { file, anchor: None } if link.starts_with('/') => Some(file),
                    _ => None,
                }
            }
            _ => site.file_at(written).filter(|_| written.contains('/')).map(str::to_owned),
        }
    })
}

/// The `base` of the innermost group of a VitePress sidebar that contains a link, or of the item itself.
fn group_base<'t>(script: &'t Script, literal: &Literal<'_>) -> &'t str {
    let mut around = literal.within;
    while let Some(open) = around {
        let members = script.members(open).0;
        let named = |name: &str| members.iter().find(|member| &script.text[member.name.clone()] == name);
        // The site configuration has a `base` as well, which is not meant here.
        let is_item = named("items").or(named("link")).is_some();
        if let Some(base) = named("base").filter(|_| is_item).and_then(|base| script.inner(base.first)) {
            return &script.text[base];
        }
        around = script.tokens[open].within;
    }
    ""
}

/// Joins a link to a base as VitePress does.
fn based(base: &str, link: &str) -> String {
    match base {
        "" => link.to_owned(),
        base => format!("{}/{}", base.trim_end_matches('/'), link.strip_prefix('/').unwrap_or(link)),
    }
}

/// The string literals that name a page. The `item` of an entry is the array item: the literal, or an object of only
/// the literal and its label.
fn entries(
    kind: NavigationScript,
    text: &str,
    naming: EntryNaming,
    page: impl Fn(&Script, &Literal<'_>) -> Option<String>,
) -> Vec<EditableEntry> {
    let script = Script::of(text);
    let named = literals(&script).into_iter().filter_map(|literal| Some((page(&script, &literal)?, literal)));
    let entry = |(page, literal): (String, Literal<'_>)| {
        let around = literal.within.and_then(|open| PlainEntry::at(&script, open));
        let own = (literal.member.is_none() && kind.names(&literal))
            .then_some(literal.value.start - 1..literal.value.end + 1);
        let item = around.as_ref().map(|entry| entry.range.clone()).or(own);
        EditableEntry { page, value: literal.value, item, title: around.and_then(|entry| entry.label(text)), naming }
    };
    named.map(entry).collect()
}

/// Places in scripts that are not edited here and that name, or may name, a page: a sentence each.
pub(super) fn named_elsewhere(tree: &dyn Tree, site: &Site, page: &str) -> Vec<String> {
    let read = |file: &str| tree.text(file);
    match site.generator() {
        Generator::Docusaurus => {
            let names = ENDINGS
                .map(|ending| from_config_folder(tree, site.layout().home(), &format!("docusaurus.config.{ending}")));
            let texts = names.into_iter().filter_map(|file| Some((read(&file)?, file)));
            texts.flat_map(|(text, file)| named_by_configuration(tree, site, page, &file, &text)).collect()
        }
        Generator::Nextra => {
            let folders = site.layout().roots.iter().map(|root| root.folder.as_str());
            let files = folders.flat_map(|folder| META.map(|ending| below(folder, &format!("_meta.global.{ending}"))));
            let texts = files.filter_map(|file| Some((read(&file)?, file)));
            texts.flat_map(|(text, file)| named_by_all_metas(site, page, &file, &text)).collect()
        }
        Generator::Jekyll => {
            let address = site.address(page).unwrap_or_default().trim_matches('/');
            let is_other =
                |file: &&str| folder(file).split('/').any(|part| part == "_data") && !is_data_navigation(file);
            let texts = site.all_files().filter(is_other).filter_map(|file| Some((read(file)?, file)));
            // A word alone is no address.
            let is_named = |word: &str| {
                let path = word.trim_matches('/');
                let is_address = !address.is_empty() && path.strip_suffix(".html").unwrap_or(path) == address;
                path == page || is_address && word != address
            };
            let names = |line: &str| line.split([' ', '"', '\'', ',', '{', '}', '[', ']']).any(is_named);
            let places = texts.flat_map(|(text, file)| {
                let lines = text.lines().enumerate().filter(|(_, line)| names(line)).map(|(at, _)| at + 1);
                lines.map(|line| format!("{file}:{line} names it, and is yours to change")).collect::<Vec<_>>()
            });
            places.collect()
        }
        _ => Vec::new(),
    }
}

/// Places in the Docusaurus configuration that name a page, such as the navbar.
fn named_by_configuration(tree: &dyn Tree, site: &Site, page: &str, file: &str, text: &str) -> Vec<String> {
    let page_id = id(tree, site, page, page);
    let names = |written: &str, member: &str| match member {
        "docId" => page_id.as_deref() == Some(written),
        "to" | "href" if !is_external(written) => {
            let path = parts(written).0.trim_matches('/').to_owned();
            !path.is_empty() && site.file_at(&path) == Some(page)
        }
        _ => false,
    };
    let script = Script::of(text);
    let naming = literals(&script)
        .into_iter()
        .filter(|literal| literal.member.is_some_and(|member| names(&text[literal.value.clone()], member)));
    let message = |at: usize| format!("{file}:{} names it, and is yours to change", line_of(text, at));
    naming.map(|literal| message(literal.value.start)).collect()
}

/// Places in the `_meta.global` script, which describes all folders of a Nextra site, that may name a page: by the last
/// segment of its address.
fn named_by_all_metas(site: &Site, page: &str, file: &str, text: &str) -> Vec<String> {
    let last = site.address(page).and_then(|address| address.rsplit('/').next()).unwrap_or_default();
    let is_index = stem(page).is_some_and(|stem| file_name(stem) == "index");
    let script = Script::of(text);
    let names = script.named().map(|(_, name)| name).filter(|name| {
        let written = &text[name.clone()];
        (written == last && !last.is_empty()) || (is_index && written == "index")
    });
    let message = |name: std::ops::Range<usize>| {
        let line = line_of(text, name.start);
        format!("{file}:{line} may name it as `{}`, and is yours to change", &text[name])
    };
    names.map(message).collect()
}

/// The Docusaurus id of a page after a move to the path `to`.
pub(super) fn id(tree: &dyn Tree, site: &Site, file: &str, to: &str) -> Option<String> {
    id_with(site, to, &front_matter(&tree.read(file)?))
}

/// The id of a page at `path` with this front matter.
pub(super) fn id_with(site: &Site, path: &str, front: &FrontMatter) -> Option<String> {
    let root = site.layout().root(path)?;
    stem(path)?;
    Some(docusaurus::id(root, &root.source_path(path)?, front))
}

/// The link of a script entry after its page moves to `to`; the link may be relative to a base.
pub(super) fn link_of_entry(
    tree: &dyn Tree,
    site: &Site,
    contents: &Contents,
    entry: &EditableEntry,
    to: &str,
) -> Option<String> {
    let script = Script::of(&*contents.text);
    let literal = literals(&script).into_iter().find(|literal| literal.value == entry.value)?;
    let base = if literal.member == Some("link") { group_base(&script, &literal) } else { "" };
    let written = &contents.text[entry.value.clone()];
    let link = link(tree, site, &contents.file, &entry.page, to, &based(base, written))?;
    if base.is_empty() {
        return Some(link);
    }
    let slash = if written.starts_with('/') { "/" } else { "" };
    let inside = link.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/')?;
    Some(format!("{slash}{inside}"))
}

/// A link to a page at its new path, in the form of the old link; `None` if it would not resolve to the page.
fn link(tree: &dyn Tree, site: &Site, holder: &str, from: &str, to: &str, written: &str) -> Option<String> {
    let mut moved = ChangedTree::new(tree);
    moved.files.extend([(from.to_owned(), None), (to.to_owned(), tree.read(from))]);
    let after = Site::read(&moved);
    if site.generator() == Generator::Starlight {
        return starlight::entry_of_page(&after, to, written);
    }
    let is_address = !written.starts_with(['/', '.']) && site.file_at(written) == Some(from);
    let leads = |name: &String| match is_address {
        true => after.file_at(name) == Some(to),
        false => matches!(after.resolve(holder, name), Target::Page { file, .. } if file == to),
    };
    let (path, _) = parts(written);
    let kept = kept_form(path, FileMove::none(holder), FileMove { before: from, after: to });
    let kept = kept.map(|kept| format!("{kept}{}", &written[path.len()..])).filter(|_| !is_address).filter(leads);
    let spelled = || match is_address {
        true => after.address(to).map(str::to_owned),
        false => Some(after.link(&LinkRequest {
            from: holder,
            to,
            anchor: None,
            like: written,
            syntax: LinkSyntax::Markdown,
        })),
    };
    kept.or_else(spelled).filter(leads).filter(|name| !name.contains(['"', '\'', '\\', '\n']))
}
