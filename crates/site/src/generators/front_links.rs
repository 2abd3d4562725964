//! Links in front matter that several generators show: the actions of a home page, its features, the next page.

use docent_markdown::{Link, LinkKind, Page, regex};

/// Adds the fields `link` of a page as links.
pub(crate) fn add(text: &str, page: &mut Page) {
    regex!(FIELD, r#"(?m)^[ \t]*(?:-[ \t]+)?link:[ \t]+(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'][^\n#]*?))[ \t]*\r?$"#);
    let Some(body) = page.front_matter.body.clone() else { return };
    let Some(fields) = text.get(body.clone()) else { return };
    let found = FIELD.captures_iter(fields).filter_map(|found| found.get(1).or(found.get(2)).or(found.get(3)));
    let links = found.map(|written| {
        let span = body.start + written.start()..body.start + written.end();
        let (target, text) = (written.as_str().to_owned(), String::new());
        Link { target, dest_span: span.clone(), span, text, kind: LinkKind::Inline }
    });
    page.links.splice(0..0, links);
}
