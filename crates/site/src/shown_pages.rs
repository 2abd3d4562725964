//! The anchors of pages as readers see them.
//!
//! A page's own headings answer most questions. For an anchor that they do not have, the page is read as an index reads it:
//! with the text of its includes, and the generator's extensions translated. What is then missing may still come from what
//! only a build knows, such as a component or a documented object.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use docent_markdown::{Format, Page, has_word, regex, slug, text_of};

use crate::model::Site;
use crate::read_file::read_file;
use crate::site_page::SitePage;
use crate::tree::Tree;

/// Pages of one tree as readers see them, each read once and only when it is asked for.
#[derive(Debug, Default)]
pub struct ShownPages {
    pages: RefCell<HashMap<String, Rc<ShownPage>>>,
}

/// A page with its includes expanded.
#[derive(Debug)]
struct ShownPage {
    page: Page,
    /// The spans of `page` are ranges of it.
    text: String,
    /// The file as it is, whose attribute lists and labels are not in `text`.
    own_text: String,
    /// Whether all includes were found and put in.
    is_whole: bool,
}

impl ShownPages {
    /// Whether a page has an anchor; `None` if that cannot be known. `page` is the file as it is, without includes.
    pub fn has_anchor(&self, site: &Site, tree: &dyn Tree, page: &Page, anchor: &str) -> Option<bool> {
        let found = self.finds_anchor(site, tree, page, anchor);
        found.filter(|is_there| *is_there || site.layout().knows_anchors())
    }

    /// Like [`has_anchor`](Self::has_anchor), as if the site's build made no anchors by rules of its own.
    pub fn finds_anchor(&self, site: &Site, tree: &dyn Tree, page: &Page, anchor: &str) -> Option<bool> {
        if site.layout().has_anchor(page, anchor) {
            return Some(true);
        }
        let known = self.pages.borrow().get(&page.path).cloned();
        let shown = match known {
            Some(shown) => shown,
            None => {
                let shown = Rc::new(ShownPage::read(site, tree, page));
                self.pages.borrow_mut().insert(page.path.clone(), Rc::clone(&shown));
                shown
            }
        };
        if site.layout().has_anchor(&shown.page, anchor) {
            return Some(true);
        }
        (shown.is_whole && !shown.may_have_anchor(anchor)).then_some(false)
    }
}

impl ShownPage {
    fn read(site: &Site, tree: &dyn Tree, page: &Page) -> Self {
        let bytes = tree.read(&page.path).unwrap_or_default();
        let mut read = read_file(site.layout(), &page.path, &bytes, tree);
        let is_whole = read.included.is_empty() || read.problems.is_empty();
        let own_text = text_of(&bytes).into_owned();
        match read.pages.pop() {
            Some(SitePage { page, text, .. }) => Self { page, text, own_text, is_whole },
            // A file that is no page by itself, such as one that is only part of others.
            None => {
                let is_whole = page.format != Format::Notebook;
                Self { page: page.clone(), text: own_text.clone(), own_text, is_whole }
            }
        }
    }

    /// Whether a build may make an anchor that is not among those of the page's headings: from a component's title, an
    /// API description or a documented object.
    fn may_have_anchor(&self, anchor: &str) -> bool {
        regex!(ATTRIBUTE, r#"([\w:.-]*)\s*=\s*"([^"\n]{1,200})""#);
        let Self { page, text, own_text, .. } = self;
        // The content before the first heading of AsciiDoc has an id of its own.
        let is_of_no_element = anchor == "top" || anchor.starts_with(":~:");
        if is_of_no_element || (page.format == Format::Adoc && anchor == "preamble") {
            return true;
        }
        if ["openapi", "api", "asyncapi"].iter().any(|field| page.front_matter.get(field).is_some()) {
            return true;
        }
        if page.format == Format::Rst && text.lines().any(may_make_anchors) {
            return true;
        }
        if page.format == Format::Adoc && text.lines().any(|line| may_make_anchors_in_adoc(line, anchor)) {
            return true;
        }
        // The build fills in part of the heading.
        let is_open_heading = |line: &str| line.trim_start().starts_with('#') && line.contains("{{");
        if text.lines().any(is_open_heading) || own_text.lines().any(|line| names_anchor(line, anchor)) {
            return true;
        }
        // An id is an anchor as it is written, and a title is one as a component makes it.
        let is_id = |name: &str| ["id", "name", "href"].contains(&name);
        let wanted = slug(anchor);
        let may_be = |name: &str, value: &str| value == anchor || (!is_id(name) && slug(value) == wanted);
        ATTRIBUTE.captures_iter(text).any(|found| may_be(&found[1], &found[2]))
    }
}

/// Whether a line names the anchor in an attribute list, a label (`(name)=`) or a directive that documents an object of the
/// source code.
fn names_anchor(line: &str, anchor: &str) -> bool {
    let words = line.trim();
    let in_braces = line.match_indices(anchor).any(|(at, _)| {
        let before = &line[..at];
        before.ends_with(['#', '=', '"', '\'']) && before.rfind('{') > before.rfind('}')
    });
    let is_label = words.strip_prefix('(').and_then(|rest| rest.strip_suffix(")=")) == Some(anchor);
    let is_object =
        words.strip_prefix("::: ").is_some_and(|name| name.contains('.') && anchor.starts_with(name.trim()));
    // The ids of headings are read with them.
    (in_braces && !words.starts_with('#')) || is_label || is_object
}

/// Whether a line begins a reStructuredText directive that may make anchors from what it documents, includes or counts:
/// any directive except those that only format their content.
fn may_make_anchors(line: &str) -> bool {
    const PLAIN: &str = "admonition attention caution code code-block contents danger deprecated error hint image \
        important math note parsed-literal rubric seealso tip toctree versionadded versionchanged warning";
    let directive = line.trim_start().strip_prefix(".. ").and_then(|rest| rest.split_once("::"));
    directive.is_some_and(|(name, _)| !name.contains([' ', '|']) && !has_word(PLAIN, name))
}

/// Whether a line of AsciiDoc includes a file that may have anchors, has an attribute reference in a heading, or names
/// the anchor.
fn may_make_anchors_in_adoc(line: &str, anchor: &str) -> bool {
    let is_heading = line.starts_with(['=', '#']);
    line.starts_with("include::") || is_heading && line.contains('{') || line.starts_with('[') && line.contains(anchor)
}
