//! The anchors of pages as readers see them.
//!
//! A page's own headings answer most questions. For an anchor that they do not have, the page is read as an index reads it:
//! with the text of its includes, and the generator's extensions translated. What is then missing may still come from what
//! only a build knows, such as a component or a documented object.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use docent_markdown::{Format, Heading, Page, has_word, regex, rst_id, slug, text_of};

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
        (shown.is_whole && !shown.may_have_anchor(site, anchor)).then_some(false)
    }
}

impl ShownPage {
    fn read(site: &Site, tree: &dyn Tree, page: &Page) -> Self {
        let bytes = tree.read(&page.path).unwrap_or_default();
        let mut read = read_file(site.layout(), &page.path, &bytes, tree);
        let is_whole = !read.is_in_part;
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
    fn may_have_anchor(&self, site: &Site, anchor: &str) -> bool {
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
        if page.format == Format::Rst && text.lines().any(|line| may_make_anchor(line, anchor)) {
            return true;
        }
        if page.format == Format::Adoc && text.lines().any(|line| may_make_anchors_in_adoc(line, anchor)) {
            return true;
        }
        let wanted = slug(anchor);
        // The build fills in part of the heading.
        let is_open_heading = |heading: &Heading| {
            let is_open = text.get(heading.span.clone()).is_some_and(|words| words.contains("{{"));
            is_open && heading.text.split_once("{{").is_none_or(|(before, _)| may_begin(before, anchor))
        };
        let tokens = site.layout().facts().active_tokens;
        let is_named = |line: &str| {
            names_anchor(line, anchor)
                || tokens.directives && is_label(line, anchor)
                || tokens.python_blocks && is_object(line, anchor)
        };
        // The title of a tag may be one of what it becomes, in code, too.
        let is_of_tag = |line: &str| {
            let has_tag = tokens.templates_in_code && ["{%", "{{<", "{{%"].iter().any(|sign| line.contains(sign));
            has_tag && ATTRIBUTE.captures_iter(line).any(|found| slug(found.extract::<2>().1[1]) == wanted)
        };
        if page.headings.iter().any(is_open_heading) || own_text.lines().any(|line| is_named(line) || is_of_tag(line)) {
            return true;
        }
        // An id is an anchor as it is written, and a title is one as a component makes it.
        let is_component = |at: usize| {
            let tag = text[..at].rfind('<').map_or("", |open| &text[open + 1..at]);
            let name = tag.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
            !has_word(ELEMENTS, name)
        };
        let attributes = ATTRIBUTE.captures_iter(text).filter_map(|found| Some((found.get(0)?.start(), found)));
        let in_text = attributes.filter(|(at, _)| !page.code.iter().any(|code| code.contains(at)));
        let mut in_text = in_text.map(|(at, found)| (at, found.extract::<2>().1));
        in_text.any(|(at, [name, value])| match name {
            "id" | "name" => value == anchor,
            "href" => false,
            // The text of a picture or the tip of a link is no title.
            _ => is_component(at) && slug(value) == wanted,
        })
    }
}

/// Whether an anchor may begin with these words, by whichever rule: it has their letters of ASCII and digits in order.
fn may_begin(words: &str, anchor: &str) -> bool {
    let mut letters = anchor.chars().map(|c| c.to_ascii_lowercase());
    words.chars().filter(char::is_ascii_alphanumeric).all(|c| letters.any(|other| other == c.to_ascii_lowercase()))
}

/// Elements of HTML whose attributes make no anchor but by `id` and `name`.
const ELEMENTS: &str =
    "a abbr area audio button div iframe img input link meta option path source span svg table td th track video";

/// Whether a line is a label: `(name)=`.
fn is_label(line: &str, anchor: &str) -> bool {
    line.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(")=")) == Some(anchor)
}

/// Whether a line documents an object of source code: `::: package.module`.
fn is_object(line: &str, anchor: &str) -> bool {
    let name = line.trim().strip_prefix("::: ");
    name.is_some_and(|name| name.contains('.') && anchor.starts_with(name.trim()))
}

/// Whether a line names the anchor in an attribute list.
fn names_anchor(line: &str, anchor: &str) -> bool {
    let words = line.trim();
    let in_braces = line.match_indices(anchor).any(|(at, _)| {
        let before = &line[..at];
        before.ends_with(['#', '=', '"', '\'']) && before.rfind('{') > before.rfind('}')
    });
    // The ids of headings are read with them.
    in_braces && !words.starts_with('#')
}

/// Whether a line of reStructuredText may make the anchor: it begins a directive that documents, includes or counts
/// something (any but those that only format their content), or names it (`:name: anchor`). Ids such as `id1` are
/// counted by the build.
fn may_make_anchor(line: &str, anchor: &str) -> bool {
    const PLAIN: &str = "admonition attention caution card code code-block container contents csv-table danger deprecated \
        dropdown error figure grid highlight hint image important list-table literalinclude math note \
        parsed-literal rubric seealso sidebar tab-item tab-set table tabs tip toctree topic versionadded \
        versionchanged warning";
    if anchor.strip_prefix("id").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return true;
    }
    if line.trim().strip_prefix(":name:").is_some_and(|name| rst_id(name.trim()) == anchor) {
        return true;
    }
    let directive = line.trim_start().strip_prefix(".. ").and_then(|rest| rest.split_once("::"));
    directive.is_some_and(|(name, _)| !name.contains([' ', '|']) && !has_word(PLAIN, name))
}

/// Whether a line of AsciiDoc includes a file that may have anchors, has an attribute reference in a heading, or names
/// the anchor.
fn may_make_anchors_in_adoc(line: &str, anchor: &str) -> bool {
    let is_heading = line.starts_with(['=', '#']);
    line.starts_with("include::") || is_heading && line.contains('{') || line.starts_with('[') && line.contains(anchor)
}
