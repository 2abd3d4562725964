//! Edits of the navigation file in place: its formatting stays.

use docent_markdown::{is_page, site_path, text_of};
use docent_site::{Navigation, PageList, Redirect, Site, Tree};

use super::edit::{TextEdit, in_order};
use super::json::quoted;

/// A navigation file with its text.
pub(super) struct NavigationFile {
    pub(super) navigation: Navigation,
    pub(super) text: String,
}

impl NavigationFile {
    /// The navigation of a tree, if it has one that can be edited.
    pub(super) fn of(tree: &dyn Tree) -> Option<Self> {
        let (path, bytes) = Navigation::FILES.iter().find_map(|path| Some((*path, tree.read(path)?)))?;
        let navigation = Navigation::parse(path, &bytes);
        let text = text_of(&bytes).into_owned();
        let readable = navigation.object_span.is_some() && serde_json::from_str::<serde_json::Value>(&text).is_ok();
        readable.then_some(Self { navigation, text })
    }

    /// The entries that name a file: their indexes.
    fn entries_of<'a>(&'a self, site: &'a Site, file: &'a str) -> impl Iterator<Item = usize> + 'a {
        let entries = self.navigation.entries.iter().enumerate();
        entries.filter(move |(_, entry)| site.page_named(&entry.page) == Some(file)).map(|(index, _)| index)
    }

    /// Names `to` where `from` was named.
    pub(super) fn rename(&self, site: &Site, from: &str, to: &str) -> Vec<TextEdit> {
        let edits = self.entries_of(site, from).map(|index| {
            let span = self.navigation.entries[index].span.clone();
            let written = self.text[span.clone()].trim_matches('"');
            let name = if is_page(written) { to.to_owned() } else { entry_name(to) };
            let slash = if written.starts_with('/') { "/" } else { "" };
            TextEdit::new(span, quoted(&format!("{slash}{name}")))
        });
        edits.collect()
    }

    /// Takes a file out of the lists it is in. The second value counts the entries that are in no list and stay.
    pub(super) fn remove(&self, site: &Site, file: &str) -> (Vec<TextEdit>, usize) {
        let mut edits = Vec::new();
        let mut stay = 0;
        let mut gone: Vec<std::ops::Range<usize>> = Vec::new();
        for index in self.entries_of(site, file) {
            let entry = &self.navigation.entries[index];
            if entry.list.is_some() { gone.push(entry.span.clone()) } else { stay += 1 }
        }
        for list in &self.navigation.lists {
            edits.extend(without(list, &gone));
        }
        (edits, stay)
    }

    /// Adds a page beside its siblings: to the list with most pages of the same folder, after the last of them, else
    /// to the end of the first list. `None` when there is no list of pages.
    pub(super) fn add(&self, file: &str) -> Option<(TextEdit, &PageList)> {
        let name = entry_name(file);
        let near = |page: &str| {
            let shared = page.split('/').zip(name.split('/')).take_while(|(a, b)| a == b).count();
            shared.min(name.split('/').count() - 1)
        };
        let mut best: Option<(usize, usize, usize)> = None;
        for index in 0..self.navigation.lists.len() {
            let closest = self.navigation.entries.iter().filter(|entry| entry.list == Some(index));
            let depth = closest.clone().map(|entry| near(&entry.page)).max();
            let Some(depth) = depth else { continue };
            let count = closest.filter(|entry| near(&entry.page) == depth).count();
            if best.is_none_or(|(best_depth, best_count, _)| {
                (depth, if depth > 0 { count } else { 0 }) > (best_depth, best_count)
            }) {
                best = Some((depth, if depth > 0 { count } else { 0 }, index));
            }
        }
        let index = best.map(|(_, _, index)| index).or_else(|| (!self.navigation.lists.is_empty()).then_some(0))?;
        let depth = best.map_or(0, |(depth, _, _)| depth);
        let list = &self.navigation.lists[index];
        let mut siblings =
            self.navigation.entries.iter().filter(|entry| entry.list == Some(index) && near(&entry.page) == depth);
        let last = siblings.next_back().map(|entry| entry.span.end).filter(|_| depth > 0);
        let slash = if self.navigation.entries.iter().any(|entry| self.text[entry.span.clone()].starts_with("\"/")) {
            "/"
        } else {
            ""
        };
        let item = quoted(&format!("{slash}{name}"));
        let edit = match last.or_else(|| list.items.last().map(|item| item.end)) {
            Some(after) => {
                let first = list.items.first()?.start;
                let gap = &self.text[list.span.start + 1..first];
                let gap = if gap.is_empty() { " " } else { gap };
                TextEdit::insert(after, format!(",{gap}{item}"))
            }
            None => TextEdit::new(list.span.start + 1..list.span.end - 1, item),
        };
        Some((edit, list))
    }

    /// Sends readers of `from` to `to`. Redirects that led to `from` lead to `to`, and one away from `to` is dropped,
    /// so that there are neither chains nor circles.
    pub(super) fn redirect(&self, from: &str, to: &str) -> Vec<TextEdit> {
        let (source, destination) = (format!("/{}", site_path(from)), format!("/{}", site_path(to)));
        let mut edits = Vec::new();
        let mut there = false;
        let mut gone = Vec::new();
        for redirect in &self.navigation.redirects {
            if same(&redirect.source, &source) {
                there = true;
                if !same(&redirect.destination, &destination) {
                    edits.push(TextEdit::new(redirect.destination_span.clone(), quoted(&destination)));
                }
            } else if same(&redirect.source, &destination) {
                gone.push(redirect);
            } else if same(path_of(&redirect.destination), &source) {
                let anchor = &redirect.destination[path_of(&redirect.destination).len()..];
                edits.push(TextEdit::new(redirect.destination_span.clone(), quoted(&format!("{destination}{anchor}"))));
            }
        }
        match gone.as_slice() {
            // The circle's place is the new redirect's.
            [circle, ..] if !there => {
                edits.push(TextEdit::new(circle.source_span.clone(), quoted(&source)));
                edits.push(TextEdit::new(circle.destination_span.clone(), quoted(&destination)));
            }
            _ if !there => edits.extend(self.new_redirect(&source, &destination)),
            _ => {}
        }
        in_order(edits)
    }

    fn new_redirect(&self, source: &str, destination: &str) -> Option<TextEdit> {
        let unit = self.indent();
        let (source, destination) = (quoted(source), quoted(destination));
        let short = format!("{{ \"source\": {source}, \"destination\": {destination} }}");
        let long = |indent: &str| {
            format!("{{\n{indent}{unit}\"source\": {source},\n{indent}{unit}\"destination\": {destination}\n{indent}}}")
        };
        if let Some(last) = self.navigation.redirects.last() {
            let item = if self.text[last.span.clone()].contains('\n') { long(self.indent_at(last)) } else { short };
            let first = &self.navigation.redirects[0].span;
            let open = self.navigation.redirects_span.as_ref()?.start + 1;
            let gap = self.text.get(open..first.start).filter(|gap| !gap.is_empty()).unwrap_or(" ");
            return Some(TextEdit::insert(last.span.end, format!(",{gap}{item}")));
        }
        if let Some(span) = &self.navigation.redirects_span {
            let indent = line_indent(&self.text, span.start);
            let item = if unit.is_empty() {
                short
            } else {
                format!("\n{indent}{unit}{}\n{indent}", long(&format!("{indent}{unit}")))
            };
            return Some(TextEdit::new(span.start + 1..span.end - 1, item));
        }
        let object = self.navigation.object_span.as_ref()?;
        let inside = self.text[object.start + 1..object.end - 1].trim_end();
        let at = object.start + 1 + inside.len();
        let comma = if inside.is_empty() { "" } else { "," };
        Some(if unit.is_empty() {
            let space = if inside.is_empty() { "" } else { " " };
            TextEdit::insert(at, format!("{comma}{space}\"redirects\": [{short}]"))
        } else {
            let item = long(&format!("{unit}{unit}"));
            TextEdit::insert(at, format!("{comma}\n{unit}\"redirects\": [\n{unit}{unit}{item}\n{unit}]"))
        })
    }

    /// One step of indentation; empty when the file is all on one line.
    fn indent(&self) -> &str {
        let Some(object) = &self.navigation.object_span else { return "" };
        let inside = &self.text[object.start + 1..object.end];
        let Some(line) = inside.split_once('\n').map(|(_, rest)| rest) else { return "" };
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn indent_at(&self, redirect: &Redirect) -> &str {
        line_indent(&self.text, redirect.span.start)
    }
}

/// The white space at the beginning of the line of a byte.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// The edits that take items out of a list, commas and all.
fn without(list: &PageList, gone: &[std::ops::Range<usize>]) -> Vec<TextEdit> {
    let items = &list.items;
    let is_gone = |index: usize| gone.contains(&items[index]);
    let mut edits = Vec::new();
    let mut index = 0;
    while index < items.len() {
        if !is_gone(index) {
            index += 1;
            continue;
        }
        let first = index;
        while index < items.len() && is_gone(index) {
            index += 1;
        }
        let range = match (first, index) {
            (0, end) if end == items.len() => list.span.start + 1..list.span.end - 1,
            (first, end) if end < items.len() => items[first].start..items[end].start,
            (first, end) => items[first - 1].end..items[end - 1].end,
        };
        edits.push(TextEdit::new(range, ""));
    }
    edits
}

/// How a navigation names a page: its path without the ending.
fn entry_name(file: &str) -> String {
    file.rsplit_once('.').filter(|_| is_page(file)).map_or(file, |(stem, _)| stem).to_owned()
}

fn path_of(target: &str) -> &str {
    target.split(['#', '?']).next().unwrap_or(target)
}

fn same(a: &str, b: &str) -> bool {
    a.trim_matches('/') == b.trim_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::apply;
    use crate::sample::site;

    fn edited(json: &str, edit: impl Fn(&NavigationFile, &Site) -> Vec<TextEdit>) -> String {
        let tree = site(&[
            ("docs.json", json),
            ("index.mdx", ""),
            ("guides/a.mdx", ""),
            ("guides/b.mdx", ""),
            ("guides/c.mdx", ""),
            ("api/x.mdx", ""),
        ]);
        let file = NavigationFile::of(&tree).expect("a navigation");
        let edits = edit(&file, &Site::read(&tree));
        let after = String::from_utf8(apply(json.as_bytes(), &in_order(edits))).expect("text");
        serde_json::from_str::<serde_json::Value>(&after).unwrap_or_else(|why| panic!("{why} in {after}"));
        after
    }

    const NAVIGATION: &str = r#"{
  "name": "Docs",
  "navigation": [
    {
      "group": "Start",
      "pages": ["index"]
    },
    {
      "group": "Guides",
      "pages": [
        "guides/a",
        "guides/b",
        {
          "group": "Deep",
          "pages": ["api/x"]
        }
      ]
    }
  ]
}
"#;

    #[test]
    fn a_page_is_renamed_where_it_is_named() {
        let after = edited(NAVIGATION, |file, site| file.rename(site, "guides/a.mdx", "guides/start.mdx"));
        assert_eq!(after, NAVIGATION.replace("guides/a", "guides/start"));
    }

    #[test]
    fn a_page_is_taken_out_with_its_comma() {
        let remove = |page: &'static str| edited(NAVIGATION, move |file, site| file.remove(site, page).0);
        assert_eq!(remove("guides/a.mdx"), NAVIGATION.replace("\"guides/a\",\n        ", ""));
        assert_eq!(remove("guides/b.mdx"), NAVIGATION.replace("\"guides/b\",\n        ", ""));
        assert_eq!(remove("api/x.mdx"), NAVIGATION.replace("[\"api/x\"]", "[]"));
        assert_eq!(remove("index.mdx"), NAVIGATION.replace("[\"index\"]", "[]"));
    }

    #[test]
    fn a_page_is_added_beside_its_siblings() {
        let add = |page: &'static str| edited(NAVIGATION, move |file, _| vec![file.add(page).expect("a list").0]);
        assert_eq!(add("guides/z.mdx"), NAVIGATION.replace("\"guides/b\",", "\"guides/b\",\n        \"guides/z\","));
        assert_eq!(add("api/y.mdx"), NAVIGATION.replace("[\"api/x\"]", "[\"api/x\", \"api/y\"]"));
        assert_eq!(add("other.mdx"), NAVIGATION.replace("[\"index\"]", "[\"index\", \"other\"]"));
        let empty = r#"{"navigation": [{"group": "G", "pages": []}]}"#;
        assert_eq!(edited(empty, |file, _| vec![file.add("x.md").expect("a list").0]), empty.replace("[]", "[\"x\"]"));
    }

    #[test]
    fn a_redirect_is_added_in_the_style_of_the_file() {
        let redirect = |json: &str| edited(json, |file, _| file.redirect("guides/a.mdx", "api/a.mdx"));
        let added = redirect(NAVIGATION);
        assert!(
            added.ends_with(
                "  ],\n  \"redirects\": [\n    {\n      \"source\": \"/guides/a\",\n      \"destination\": \"/api/a\"\n    }\n  ]\n}\n"
            ),
            "{added}"
        );
        assert_eq!(
            redirect(r#"{"redirects": []}"#),
            r#"{"redirects": [{ "source": "/guides/a", "destination": "/api/a" }]}"#
        );
        assert_eq!(
            redirect(r#"{"redirects": [{"source": "/x", "destination": "/y"}]}"#),
            r#"{"redirects": [{"source": "/x", "destination": "/y"}, { "source": "/guides/a", "destination": "/api/a" }]}"#
        );
        let long =
            "{\n\t\"redirects\": [\n\t\t{\n\t\t\t\"source\": \"/x\",\n\t\t\t\"destination\": \"/y\"\n\t\t}\n\t]\n}";
        assert_eq!(
            redirect(long),
            long.replace(
                "\t\t}\n\t]",
                "\t\t},\n\t\t{\n\t\t\t\"source\": \"/guides/a\",\n\t\t\t\"destination\": \"/api/a\"\n\t\t}\n\t]"
            )
        );
    }

    #[test]
    fn redirects_make_neither_chains_nor_circles() {
        let redirect = |json: &str| edited(json, |file, _| file.redirect("a.mdx", "b.mdx"));
        assert_eq!(
            redirect(
                r#"{"redirects": [{"source": "/z", "destination": "/a#x"}, {"source": "/b", "destination": "/a"}]}"#
            ),
            r#"{"redirects": [{"source": "/z", "destination": "/b#x"}, {"source": "/a", "destination": "/b"}]}"#
        );
        let there = r#"{"redirects": [{"source": "/a", "destination": "/b"}]}"#;
        assert_eq!(redirect(there), there);
    }
}
