//! The `nav` of a `zensical.toml`: the list that MkDocs has in YAML, as an array of TOML.

use docent_markdown::Depth;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::{Contents, EditableEntry, EntryNaming, Shape, page_of};
use crate::generators::mkdocs::{ZENSICAL, zensical_nav};
use crate::model::Site;
use crate::tree::{Tree, from_config_folder, joined_in};

/// Maximum nesting depth of the navigation.
const MAX_DEPTH: usize = 32;

/// Reads the navigation, once for each folder of pages.
pub(super) fn read(tree: &dyn Tree, site: &Site) -> Vec<Contents> {
    let file = from_config_folder(tree, site.layout().home(), ZENSICAL);
    let Some(text) = tree.text(&file) else { return Vec::new() };
    let Ok(table) = DeTable::parse(&text) else { return Vec::new() };
    let Some(nav) = zensical_nav(table.get_ref()) else { return Vec::new() };
    let contents = site.layout().folders().map(|base| {
        let mut entries = Vec::new();
        let page = |path: &str| page_of(site, joined_in(tree.root(), base, path));
        items(&text, nav, None, &page, Depth::of(MAX_DEPTH), &mut entries);
        Contents { file: file.clone(), text: text.clone(), base: base.to_owned(), entries, shape: Shape::Json }
    });
    contents.collect()
}

/// Collects the entries of a value. `of` is the inline table around it, with the key as the title.
fn items(
    text: &str,
    value: &Spanned<DeValue<'_>>,
    of: Option<(std::ops::Range<usize>, &Spanned<DeString<'_>>)>,
    page: &dyn Fn(&str) -> Option<String>,
    depth: Depth,
    entries: &mut Vec<EditableEntry>,
) {
    let Some(depth) = depth.inside() else { return };
    match value.get_ref() {
        DeValue::String(path) => {
            let span = value.span();
            let inner = span.start + 1..span.end - 1;
            // Written without escapes.
            let Some(page) = page(path).filter(|_| text.get(inner.clone()) == Some(&**path)) else { return };
            let title = of.as_ref().map(|(_, key)| key.span());
            let item = Some(of.map_or(span, |(table, _)| table));
            entries.push(EditableEntry { page, value: inner, item, title, naming: EntryNaming::File });
        }
        DeValue::Array(values) => {
            values.iter().for_each(|value| items(text, value, None, page, depth, entries));
        }
        DeValue::Table(members) => {
            let is_only = members.len() == 1;
            for (key, member) in members {
                items(text, member, is_only.then(|| (value.span(), key)), page, depth, entries);
            }
        }
        _ => {}
    }
}
