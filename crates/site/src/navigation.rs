//! The site's table of contents, from `docs.json` or `mint.json`.

use std::ops::Range;
use std::sync::Arc;

use docent_markdown::{Problem, has_word};

use crate::groups;
use crate::navigation_json::{Json, Value};
use crate::navigation_refs::{Resolved, resolved};
use crate::tree::Tree;

/// The navigation file of a site, with the byte ranges a tool needs to edit it in place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Navigation {
    /// The file, for example `docs.json`.
    pub path: String,
    /// All of its files: this one first, and those it refers to (`$ref`).
    pub files: Vec<String>,
    /// Pages in the order a reader meets them.
    pub entries: Vec<NavigationEntry>,
    /// The arrays that list pages, in order of the file: every `pages`, empty ones too, and any other that directly
    /// contains the name of a page. An outer list comes before those inside it.
    pub lists: Vec<PageList>,
    pub redirects: Vec<Redirect>,
    /// The array of redirects, brackets included, if the file has one.
    pub redirects_span: Option<Range<usize>>,
    /// The file of that array, as an index into [`Navigation::files`].
    pub redirects_file: usize,
    /// The outermost object, braces included: where a new `redirects` member can go. `None` when the file is not an
    /// object.
    pub object_span: Option<Range<usize>>,
    pub problems: Vec<Problem>,
}

/// One page named by the navigation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavigationEntry {
    /// The page as named, without leading or trailing slash, for example `guides/retries`.
    pub page: String,
    /// The JSON string, quotes included.
    pub span: Range<usize>,
    /// The file of the entry, as an index into [`Navigation::files`].
    pub file: usize,
    /// The list of the entry, as an index into [`Navigation::lists`]. `None` for an entry outside of a list (a `root`
    /// page).
    pub list: Option<usize>,
    /// Names of the enclosing tabs, anchors and groups, outermost first.
    pub groups: Arc<[String]>,
    pub version: Option<String>,
    pub language: Option<String>,
}

/// An array of pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageList {
    /// The array, brackets included.
    pub span: Range<usize>,
    /// The file of the list, as an index into [`Navigation::files`].
    pub file: usize,
    /// Names of the enclosing tabs, anchors and groups, outermost first.
    pub groups: Arc<[String]>,
    /// The spans of all items in order, nested groups included.
    pub items: Vec<Range<usize>>,
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub source: String,
    pub destination: String,
    /// The JSON string, quotes included.
    pub source_span: Range<usize>,
    /// The JSON string, quotes included.
    pub destination_span: Range<usize>,
    /// The whole object, braces included.
    pub span: Range<usize>,
    /// The file of the redirect, as an index into [`Navigation::files`].
    pub file: usize,
}

impl Navigation {
    /// The files a navigation is looked for in, first one wins.
    pub const FILES: [&'static str; 2] = ["docs.json", "mint.json"];

    /// Keys whose value holds nested navigation.
    const HOLDERS: &str = "pages groups tabs anchors dropdowns products versions languages menu items global \
        navigation";

    /// Keys that hold the displayed name of a node.
    const LABELS: [&'static str; 6] = ["tab", "anchor", "dropdown", "product", "item", "group"];

    /// Whether a member of a node holds nested navigation.
    pub(crate) fn is_holder(member: &str) -> bool {
        has_word(Self::HOLDERS, member)
    }

    /// The group names of a node's pages: those around the node, then its own. All of its pages share one list.
    fn groups(around: &Arc<[String]>, node: &Json) -> Arc<[String]> {
        groups::inside(around, Self::LABELS.iter().filter_map(|name| node.get(name)?.text()))
    }

    /// A name of a node, truncated to the maximum length.
    pub(crate) fn name(node: &Json, member: &str) -> Option<String> {
        node.get(member)?.text().map(groups::label)
    }

    /// Reads the navigation that is configured in the folder `home`, with references to other files resolved; `None` if
    /// there is none.
    pub fn read(tree: &dyn Tree, home: &str) -> Option<Self> {
        let resolved = Self::FILES.iter().find_map(|name| resolved(tree, home, name))?;
        Some(Self::of(&resolved))
    }

    pub(crate) fn of(resolved: &Resolved) -> Self {
        let files: Vec<String> = resolved.files.iter().map(|(file, _)| file.clone()).collect();
        let path = files.first().cloned().unwrap_or_default();
        let own = resolved.problems.iter().filter(|problem| problem.file == path);
        let problems = own.map(|problem| problem.problem.clone()).collect();
        let mut navigation = Self { path, files, problems, ..Self::default() };
        if let Some(root) = &resolved.root {
            navigation.read_root(root);
        }
        navigation
    }

    fn read_root(&mut self, root: &Json) {
        if matches!(root.value, Value::Object(_)) && root.file == 0 {
            self.object_span = Some(root.span.clone());
        }
        if let Some(contents) = root.get("navigation") {
            self.walk(contents, "navigation", &Around::default());
        }
        if let Some(redirects) = root.get("redirects") {
            self.redirects_span = matches!(redirects.value, Value::List(_)).then(|| redirects.span.clone());
            self.redirects_file = redirects.file;
            self.redirects = redirects.list().iter().filter_map(redirect).collect();
        }
    }

    /// Reads one node of the navigation: a list of pages and groups, or an object that holds such lists.
    fn walk(&mut self, node: &Json, member: &str, around: &Around) {
        match &node.value {
            Value::List(items) => {
                let list = self.lists.len();
                if member == "pages" || items.iter().any(|item| item.text().is_some()) {
                    self.lists.push(PageList {
                        span: node.span.clone(),
                        file: node.file,
                        groups: around.groups.clone(),
                        items: items.iter().map(|item| item.span.clone()).collect(),
                    });
                }
                for item in items {
                    match item.text() {
                        Some(page) => self.entry_of(page, item, Some(list), around),
                        None => self.walk(item, member, around),
                    }
                }
            }
            Value::Object(members) => {
                let inside = around.inside(node);
                for (name, value) in members {
                    match name.as_str() {
                        "root" => {
                            if let Some(page) = value.text() {
                                self.entry_of(page, value, None, &inside);
                            }
                        }
                        _ if Self::is_holder(name) => self.walk(value, name, &inside),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn entry_of(&mut self, page: &str, json: &Json, list: Option<usize>, around: &Around) {
        self.entries.push(NavigationEntry {
            page: page.trim_matches('/').to_owned(),
            span: json.span.clone(),
            file: json.file,
            list,
            groups: around.groups.clone(),
            version: around.version.clone(),
            language: around.language.clone(),
        });
    }
}

/// The groups, version and language around a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    pub(crate) groups: Arc<[String]>,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
}

impl Around {
    pub(crate) fn inside(&self, node: &Json) -> Self {
        Self {
            groups: Navigation::groups(&self.groups, node),
            version: Navigation::name(node, "version").or_else(|| self.version.clone()),
            language: Navigation::name(node, "language").or_else(|| self.language.clone()),
        }
    }
}

fn redirect(json: &Json) -> Option<Redirect> {
    let (source, destination) = (json.get("source")?, json.get("destination")?);
    Some(Redirect {
        source: source.text()?.to_owned(),
        destination: destination.text()?.to_owned(),
        source_span: source.span.clone(),
        destination_span: destination.span.clone(),
        span: json.span.clone(),
        file: json.file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::site;

    fn navigation(name: &str, text: &str) -> Navigation {
        Navigation::read(&site(&[(name, text)]), "").expect("a navigation")
    }

    const DOCS: &str = r#"{
  "navigation": {
    "versions": [
      { "version": "v2", "tabs": [
        { "tab": "Guides", "groups": [
          { "group": "Start", "root": "start/index", "pages": ["index", { "group": "Deep", "pages": ["/deep/a"] }] }
        ] }
      ] },
      { "version": "v1", "pages": ["old"] }
    ]
  },
  "redirects": [{ "source": "/a", "destination": "/b" }, { "source": 1 }]
}"#;

    #[test]
    fn pages_are_listed_in_reading_order_with_what_is_around_them() {
        let navigation = navigation("docs.json", DOCS);
        let entries: Vec<_> = navigation
            .entries
            .iter()
            .map(|entry| (entry.page.as_str(), entry.groups.join("/"), entry.version.as_deref()))
            .collect();
        assert_eq!(
            entries,
            [
                ("start/index", "Guides/Start".to_owned(), Some("v2")),
                ("index", "Guides/Start".to_owned(), Some("v2")),
                ("deep/a", "Guides/Start/Deep".to_owned(), Some("v2")),
                ("old", String::new(), Some("v1")),
            ]
        );
        let deep = navigation.entries.iter().find(|entry| entry.page == "deep/a").expect("an entry");
        assert_eq!(&DOCS[deep.span.clone()], "\"/deep/a\"");
        let list = &navigation.lists[deep.list.expect("a list")];
        assert_eq!(&DOCS[list.span.clone()], "[\"/deep/a\"]");
        assert_eq!(navigation.redirects.len(), 1);
        assert_eq!(&DOCS[navigation.redirects[0].destination_span.clone()], "\"/b\"");
        assert!(DOCS[navigation.redirects_span.expect("redirects")].starts_with("[{"));
    }

    #[test]
    fn no_name_around_pages_is_longer_than_a_reader_would_read() {
        let long = "v".repeat(1_000);
        let groups =
            format!(r#"{{"group": "{long}", "version": "{long}", "language": "{long}", "pages": ["#).repeat(12);
        let text = format!(r#"{{"navigation": [{groups}"a"{}]}}"#, "]}".repeat(12));
        let navigation = navigation("docs.json", &text);
        let entry = navigation.entries.iter().find(|entry| entry.page == "a").expect("an entry");
        assert_eq!(entry.groups.len(), groups::MOST_GROUPS);
        let names = entry.groups.iter().chain(&entry.version).chain(&entry.language);
        assert!(names.clone().all(|name| name.len() == groups::LONGEST_LABEL), "{:?}", names.collect::<Vec<_>>());
    }

    #[test]
    fn the_older_form_is_a_list() {
        let text = r#"{"navigation": [{"group": "A", "pages": ["x", "y"]}], "tabs": [{"name": "B", "url": "b"}]}"#;
        let navigation = navigation("mint.json", text);
        let pages: Vec<&str> = navigation.entries.iter().map(|entry| entry.page.as_str()).collect();
        assert_eq!(pages, ["x", "y"]);
    }

    #[test]
    fn a_file_that_is_no_json_is_an_empty_navigation_with_a_problem() {
        let navigation = navigation("docs.json", "{\n\"navigation\": [,]\n}");
        assert_eq!(navigation.entries, []);
        assert_eq!(navigation.problems[0].line, 2);
    }
}
