//! Markdown of people, readers, models and repositories, rendered: the vetted tree that the chat on docs sites shows, as HTML.
//! HTML in it is text, nothing is loaded, and links lead to the web, to a mailbox, or to the page of the docs that they name.

use std::time::{Duration, Instant};

use docent_search::Snapshot;
use docent_types::{Domain, Project, printable};
use docent_ui_stream::{Align, Element, ElementKind, Node, markdown_blocks};
use maud::{Markup, html};

use crate::text::{Untrusted, in_url, shortened};

/// The longest text that is rendered, in bytes. A longer one is shown as it is.
const MAX_RENDERED_BYTES: usize = 256 << 10;

/// Where a text belongs: relative links and names of files lead to the pages of these docs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    pub(crate) domain: &'p Domain,
    /// The folder of the docs in their repository.
    pub(crate) docs_root: &'p str,
    /// The indexed docs, if they were read: names of their files become links.
    pub(crate) docs: Option<&'p Snapshot>,
}

impl<'p> Place<'p> {
    pub(crate) fn of(project: &'p Project, docs: Option<&'p Snapshot>) -> Self {
        Self { domain: &project.domain, docs_root: &project.docs_root, docs }
    }
}

/// A text, rendered.
pub(crate) fn words(text: &str, place: Place<'_>) -> Markup {
    if text.len() > MAX_RENDERED_BYTES {
        return html! { div.words { p.said { (Untrusted(text)) } } };
    }
    shown(&markdown_blocks(text), place)
}

fn shown(blocks: &[Element], place: Place<'_>) -> Markup {
    html! { div.words dir="auto" { @for block in blocks { (element(block, place)) } } }
}

/// A text that is folded after its first lines.
pub(crate) fn folded_words(text: &str, place: Place<'_>, lines: usize) -> Markup {
    if text.len() > MAX_RENDERED_BYTES {
        return words(text, place);
    }
    let (open, rest) = divided(markdown_blocks(text), lines);
    html! {
        (shown(&open, place))
        @if !rest.is_empty() { details.fold { summary { "The rest of it" } (shown(&rest, place)) } }
    }
}

/// The blocks that fit into so many lines, and the rest: divided between blocks and between the items of a list, so that each means
/// the same. A part that is longer stands whole where it is the first.
fn divided(blocks: Vec<Element>, lines: usize) -> (Vec<Element>, Vec<Element>) {
    let (mut open, mut rest) = (Vec::new(), Vec::new());
    let mut left = lines;
    for mut block in blocks {
        let size = lines_of(&block);
        if !rest.is_empty() {
            rest.push(block);
        } else if size <= left {
            open.push(block);
        } else if let ElementKind::List { start } = block.kind {
            let fits = |item: &&Node| {
                let fits = lines_of_node(item) <= left;
                left = left.saturating_sub(lines_of_node(item));
                fits
            };
            let fitting = block.children.iter().take_while(fits).count().max(usize::from(open.is_empty()));
            let below = block.children.split_off(fitting);
            let start = start.zip(u64::try_from(fitting).ok()).map(|(start, before)| start + before);
            let below = Element { kind: ElementKind::List { start }, children: below };
            let has_items = |list: &Element| !list.children.is_empty();
            open.extend(Some(block).filter(has_items));
            rest.extend(Some(below).filter(has_items));
        } else if open.is_empty() {
            open.push(block);
        } else {
            rest.push(block);
        }
        left = left.saturating_sub(size);
    }
    (open, rest)
}

/// A text that is being written, rendered as it grows: all of it each time, so the longer it is, the more seldom.
#[derive(Debug, Default)]
pub(crate) struct GrowingWords {
    text: String,
    shown_at: Option<Instant>,
}

impl GrowingWords {
    /// Adds to the text. Returns all of it, rendered, unless that was done a moment ago.
    pub(crate) fn push(&mut self, text: &str, place: Place<'_>) -> Option<Markup> {
        /// The pause between two renderings for each step of the length, in bytes.
        const PAUSE: Duration = Duration::from_millis(100);
        const STEP: usize = 8 << 10;
        self.text.push_str(text);
        let pause = PAUSE * u32::try_from(1 + self.text.len() / STEP).unwrap_or(u32::MAX);
        let is_due = self.shown_at.is_none_or(|at| at.elapsed() >= pause);
        is_due.then(|| {
            self.shown_at = Some(Instant::now());
            self.all(place)
        })
    }

    pub(crate) fn all(&self, place: Place<'_>) -> Markup {
        words(&self.text, place)
    }
}

/// The lines that a block takes, roughly.
fn lines_of(block: &Element) -> usize {
    /// Characters of a line.
    const WIDTH: usize = 90;
    let below: usize = block.children.iter().map(lines_of_node).sum();
    if below > 0 {
        return below;
    }
    block.plain_text().lines().map(|line| line.chars().count().div_ceil(WIDTH).max(1)).sum::<usize>().max(1)
}

/// The lines that a block in another takes, roughly; none for what stands in a line.
fn lines_of_node(node: &Node) -> usize {
    match node {
        Node::Element(block) => match block.kind {
            ElementKind::Item
            | ElementKind::Row
            | ElementKind::Paragraph
            | ElementKind::List { .. }
            | ElementKind::CodeBlock { .. } => lines_of(block),
            _ => 0,
        },
        Node::Text(_) => 0,
    }
}

/// The first words of a text in one line, without marks of Markdown, for a title or a row.
pub(crate) fn first_words(text: &str, max_chars: usize) -> String {
    let head: String = text.chars().take(max_chars * 4).collect();
    let block = markdown_blocks(&head).into_iter().map(|block| block.plain_text()).find(|text| !text.trim().is_empty());
    let line = block.unwrap_or(head);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    printable(&shortened(&line, max_chars)).to_string()
}

/// The beginning of a text in one line, of all its blocks, without marks of Markdown, for a preview.
pub(crate) fn opening(text: &str, max_chars: usize) -> String {
    let head: String = text.chars().take(max_chars * 4).collect();
    let mut line = String::new();
    markdown_blocks(&head).iter().for_each(|block| append_text(block, &mut line));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    printable(&shortened(&line, max_chars)).to_string()
}

/// Appends the text of an element, apart from that of the block before it.
fn append_text(element: &Element, line: &mut String) {
    let is_inline = matches!(
        element.kind,
        ElementKind::Strong | ElementKind::Emphasis | ElementKind::Code | ElementKind::Link { .. }
    );
    if !is_inline {
        line.push(' ');
    }
    for node in &element.children {
        match node {
            Node::Text(text) => line.push_str(text),
            Node::Element(inner) => append_text(inner, line),
        }
    }
}

/// The page of the dashboard that shows the docs' page of a path.
pub(crate) fn docs_page(domain: &Domain, path: &str) -> String {
    format!("/dashboard/{domain}/docs?page={}", in_url(path))
}

/// The name of a file, relative to the repository or to the docs root; a link if it is a page.
pub(crate) fn file_name(file: &str, place: Place<'_>) -> Markup {
    let code = html! { code { bdi { (printable(file)) } } };
    match page_url(file, place) {
        Some(page) => html! { a href=(page) { (code) } },
        None => code,
    }
}

/// The page of the dashboard that shows the docs' page of a file.
pub(crate) fn page_url(file: &str, place: Place<'_>) -> Option<String> {
    let docs = place.docs.filter(|_| file.contains('.'))?;
    let below = file.strip_prefix(place.docs_root).and_then(|rest| rest.strip_prefix('/'));
    let found = below.and_then(|below| docs.path_of_file(below)).or_else(|| docs.path_of_file(file))?;
    Some(docs_page(place.domain, found))
}

fn nodes(nodes: &[Node], place: Place<'_>) -> Markup {
    html! {
        @for node in nodes {
            @match node { Node::Text(text) => (plain(text, place)), Node::Element(inner) => (element(inner, place)) }
        }
    }
}

/// Text; names of files that are pages of the docs are links.
fn plain(text: &str, place: Place<'_>) -> Markup {
    if place.docs.is_none() || !text.contains('.') {
        return html! { (printable(text)) };
    }
    html! {
        @for word in text.split_inclusive(char::is_whitespace) {
            @let name = word.trim_end().trim_end_matches([':', ',', '.', ';', ')']);
            @match page_url(name, place) {
                Some(page) => { a href=(page) { (printable(name)) } (printable(&word[name.len()..])) },
                None => (printable(word)),
            }
        }
    }
}

fn element(element: &Element, place: Place<'_>) -> Markup {
    let inner = || nodes(&element.children, place);
    html! {
        @match &element.kind {
            ElementKind::Paragraph => p { (inner()) },
            // The page's title and its parts stand above.
            ElementKind::Heading { level: 0 | 1 } => h3 { (inner()) },
            ElementKind::Heading { level: 2 } => h4 { (inner()) },
            ElementKind::Heading { level: 3 } => h5 { (inner()) },
            ElementKind::Heading { .. } => h6 { (inner()) },
            ElementKind::List { start: None } => ul { (inner()) },
            ElementKind::List { start: Some(start) } => ol start=[Some(start).filter(|start| **start != 1)] { (inner()) },
            ElementKind::Item => li { (inner()) },
            ElementKind::Table { align } => (table(&element.children, align, place)),
            // Only in tables, which render their own.
            ElementKind::Row | ElementKind::Cell => (inner()),
            ElementKind::CodeBlock { .. } => div.code {
                pre { code { (inner()) } }
                button.secondary type="button" data-copies hidden { "Copy" }
            },
            ElementKind::Quote => blockquote { (inner()) },
            ElementKind::Rule => hr;,
            ElementKind::Strong => strong { (inner()) },
            ElementKind::Emphasis => em { (inner()) },
            ElementKind::Code => (code(element, place)),
            // No link stands in another.
            ElementKind::Link { href } => (link(href, &nodes(&element.children, Place { docs: None, ..place }), place)),
            ElementKind::Image { alt, .. } => span.soft { "[" @if alt.is_empty() { "picture" } @else { (printable(alt)) } "]" },
            ElementKind::Break => br;,
        }
    }
}

fn code(element: &Element, place: Place<'_>) -> Markup {
    let text = match element.children.as_slice() {
        [Node::Text(text)] => text.as_str(),
        _ => "",
    };
    file_name(text, place)
}

fn link(href: &str, inner: &Markup, place: Place<'_>) -> Markup {
    let is_outside = ["http:", "https:", "mailto:"]
        .iter()
        .any(|scheme| href.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)));
    if is_outside {
        return html! { a href=(href) rel="noopener noreferrer" { (inner) } };
    }
    let path = href.split(['#', '?']).next().unwrap_or_default();
    html! { @if path.is_empty() { (inner) } @else { a href=(docs_page(place.domain, path)) { (inner) } } }
}

fn table(rows: &[Node], align: &[Align], place: Place<'_>) -> Markup {
    let cells = |row: &Node| match row {
        Node::Element(row) => row.children.clone(),
        Node::Text(_) => Vec::new(),
    };
    let class = |at: usize| match align.get(at) {
        Some(Align::Center) => Some("center"),
        Some(Align::Right) => Some("right"),
        Some(Align::Left | Align::Start) | None => None,
    };
    let cell = |cell: &Node| match cell {
        Node::Element(cell) => nodes(&cell.children, place),
        Node::Text(text) => html! { (printable(text)) },
    };
    let (head, body) = rows.split_at(rows.len().min(1));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table" {
            table {
                @for row in head { thead { tr { @for (at, of) in cells(row).iter().enumerate() { th class=[class(at)] { (cell(of)) } } } } }
                tbody { @for row in body { tr { @for (at, of) in cells(row).iter().enumerate() { td class=[class(at)] { (cell(of)) } } } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let domain = Domain::parse("acme").expect("a domain");
        words(text, Place { domain: &domain, docs_root: "", docs: None }).into_string()
    }

    #[test]
    fn markdown_is_rendered_and_html_is_text() {
        let html = shown(
            "# Done\n\n- Changed **one** `a.md`\n- See [retries](/guides/retries#x) or [the site](https://x.example/?a=1&b=2)\n\n<b onclick=x>no</b>",
        );
        for part in [
            "<h3>Done</h3>",
            "<li><p>Changed <strong>one</strong> <code><bdi>a.md</bdi></code></p></li>",
            "<a href=\"/dashboard/acme/docs?page=%2Fguides%2Fretries\">retries</a>",
            "<a href=\"https://x.example/?a=1&amp;b=2\" rel=\"noopener noreferrer\">the site</a>",
            "&lt;b onclick=x&gt;no&lt;/b&gt;",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn nothing_is_loaded_and_no_odd_address_is_a_link() {
        let html = shown(
            "![a](/x.png) ![b](https://evil.example/x.png) ![](data:image/png;base64,AA) [c](javascript:alert(1)) [d](//evil) \
             [e](\u{202e}x) [f](#top)",
        );
        assert!(!html.contains("<img") && !html.contains("javascript") && !html.contains("data:"), "{html}");
        assert_eq!(
            html.matches("<a ").count(),
            2,
            "a relative address, and the picture of another site as a link to it: {html}"
        );
    }

    #[test]
    fn the_opening_of_a_text_has_its_blocks_in_one_line() {
        let text = "# Retries\n\n- a **bold** word\n- `two`\n\n```js\nlet x;\n```\n";
        assert_eq!(opening(text, 100), "Retries a bold word two let x;");
        assert_eq!(opening(text, 9), "Retries a…");
    }

    #[test]
    fn a_growing_text_is_rendered_now_and_then() {
        let domain = Domain::parse("acme").expect("a domain");
        let place = Place { domain: &domain, docs_root: "", docs: None };
        let mut growing = GrowingWords::default();
        let first = growing.push("A **bold", place).expect("the first words at once");
        assert!(first.into_string().contains("A **bold"));
        let shown = (0..1_000).filter(|_| growing.push("x", place).is_some()).count();
        assert!(shown < 100, "{shown}");
        drop(growing.push("** word", place));
        assert!(growing.all(place).into_string().contains("</strong> word"), "nothing is lost");
    }

    #[test]
    fn a_long_text_is_folded_between_blocks() {
        let domain = Domain::parse("acme").expect("a domain");
        let place = Place { domain: &domain, docs_root: "", docs: None };
        let short = "one\n\ntwo";
        assert!(!folded_words(short, place, 10).into_string().contains("<details"));
        let folded = |text: &str| {
            let html = folded_words(text, place, 10).into_string();
            html.split_once("<details").map(|(before, after)| (before.to_owned(), after.to_owned()))
        };
        let (before, after) = folded(&"a\n\n".repeat(12)).expect("the rest is folded");
        assert_eq!((before.matches("<p>a</p>").count(), after.matches("<p>a</p>").count()), (10, 2), "{before}{after}");
        // What belongs together stays together.
        let code = "```\na\n\nb\n```";
        assert_eq!(folded(&format!("one\n\n{code}")), None);
        let (before, after) = folded(&format!("{}{code}\n\n**then**", "a\n\n".repeat(8))).expect("folded");
        assert!(
            !before.contains("<pre>") && after.contains("a\n\nb\n") && after.contains("<strong>then</strong>"),
            "{after}"
        );
        let list = "- a\n".repeat(12);
        let items = |list: &str| list.matches("<li>").count();
        let (before, after) = folded(&list).expect("the rest of the items is folded");
        assert_eq!((items(&before), items(&after)), (10, 2), "{before}{after}");
        let (before, after) = folded(&format!("one\n\n{}\ntwo", "3. a\n".repeat(12))).expect("folded");
        assert_eq!((items(&before), items(&after)), (9, 3), "{before}{after}");
        assert!(before.contains("<ol start=\"3\">") && after.contains("<ol start=\"12\">"), "{before}{after}");
        let long = format!("- {}\n- b\n", "a\n\n  ".repeat(12));
        let (before, after) = folded(&long).expect("folded");
        assert_eq!((items(&before), items(&after)), (1, 1), "an item stays whole: {before}{after}");
    }

    proptest::proptest! {
        /// What leaves the renderer has no element and no address beside those that it writes itself.
        #[test]
        fn any_text_is_safe(text in "[-`*_\\[\\]()<>!#|:\"'&\n a-z/.\\\\=]{0,200}") {
            let html = shown(&text);
            for tag in html.split('<').skip(1) {
                let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
                let known = ["div", "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "pre", "code", "bdi", "button", "blockquote",
                    "hr", "strong", "em", "a", "span", "br", "table", "thead", "tbody", "tr", "th", "td"];
                proptest::prop_assert!(known.contains(&name.as_str()), "{}", html);
            }
            for href in html.split("href=\"").skip(1) {
                let is_known = ["/dashboard/acme/docs?page=", "http:", "https:", "mailto:"].iter().any(|known| href.get(..known.len()).is_some_and(|head| head.eq_ignore_ascii_case(known)));
                proptest::prop_assert!(is_known, "{}", html);
            }
        }
    }
}
