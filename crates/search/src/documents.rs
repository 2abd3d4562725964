//! A page to the documents the index holds of it.

use docent_pages::{Page, Section};
use tantivy::TantivyDocument;

use crate::manifest::{ManifestPage, Place};
use crate::schema::{Fields, NONE, PAGE, SECTION, Text};

/// Code beyond this much of a section says nothing more of what it is about.
const MOST_CODE: usize = 8_000;

/// A page, ready for the index.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) entry: ManifestPage,
    /// The page's own, and one for each section. None for a page that is left out.
    pub(crate) documents: Vec<TantivyDocument>,
}

/// Makes the documents of a page. `source` is the page's text.
pub(crate) fn prepare(fields: &Fields, page: &Page, source: &str, id: u64, blob: &str, place: Place) -> Prepared {
    let front = &page.front_matter;
    let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let path = page.site_path();
    let entry = ManifestPage {
        id,
        blob: blob.to_owned(),
        title: page.title.clone().unwrap_or_else(|| title_from(&path)),
        description: front.description().map(|text| text.trim().to_owned()),
        version: front.version().map(str::to_owned).or_else(|| place.version.clone()),
        language: front.language().map(str::to_owned).or_else(|| place.language.clone()),
        groups: owned(front.groups()),
        tags: owned(front.tags()),
        listed: page.is_listed(),
        sections: page.sections.len(),
        path,
        place,
    };
    if !entry.listed {
        return Prepared { entry, documents: Vec::new() };
    }
    let mut documents = vec![page_document(fields, &entry, page, source)];
    documents.extend(page.sections.iter().map(|section| section_document(fields, &entry, section)));
    Prepared { entry, documents }
}

fn page_document(fields: &Fields, entry: &ManifestPage, page: &Page, source: &str) -> TantivyDocument {
    let mut document = labelled(fields, entry, PAGE);
    add(&mut document, fields.title, &entry.title);
    if let Some(title) = page.front_matter.sidebar_title().filter(|title| *title != entry.title) {
        add(&mut document, fields.title, title);
    }
    add(&mut document, fields.path, &entry.path);
    if let Some(description) = &entry.description {
        add(&mut document, fields.description, description);
    }
    for heading in page.headings.iter().filter(|heading| heading.text != entry.title) {
        add(&mut document, fields.headings, &heading.text);
    }
    for section in &page.sections {
        add(&mut document, fields.whole, &section.text);
        add_code(&mut document, fields.whole, section);
    }
    document.add_text(fields.content, whole(page, source));
    document
}

fn section_document(fields: &Fields, entry: &ManifestPage, section: &Section) -> TantivyDocument {
    let mut document = labelled(fields, entry, SECTION);
    let trail = trail(entry, section);
    for heading in &trail {
        add(&mut document, fields.heading, heading);
    }
    add(&mut document, fields.body, &section.text);
    add_code(&mut document, fields.code, section);
    document.add_text(fields.content, &section.markdown);
    document.add_text(fields.trail, trail.join("\n"));
    if let Some(anchor) = &section.anchor {
        document.add_text(fields.anchor, anchor);
    }
    document
}

fn add_code(document: &mut TantivyDocument, field: Text, section: &Section) {
    let mut room = MOST_CODE;
    for block in &section.code {
        if let Some(file) = &block.file {
            add(document, field, file);
        }
        let text = &block.text[..block.text.floor_char_boundary(room)];
        room -= text.len();
        add(document, field, text);
    }
}

/// The headings above a section; the page's own title says nothing new.
fn trail(entry: &ManifestPage, section: &Section) -> Vec<String> {
    let mut headings = section.headings.as_slice();
    if headings.first() == Some(&entry.title) {
        headings = &headings[1..];
    }
    headings.to_vec()
}

fn labelled(fields: &Fields, entry: &ManifestPage, kind: &str) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_u64(fields.page, entry.id);
    document.add_text(fields.kind, kind);
    document.add_text(fields.version, entry.version.as_deref().unwrap_or(NONE));
    document.add_text(fields.language, entry.language.as_deref().unwrap_or(NONE));
    if entry.groups.is_empty() {
        document.add_text(fields.group, NONE);
    }
    for group in &entry.groups {
        document.add_text(fields.group, group);
    }
    for tag in &entry.tags {
        document.add_text(fields.tag, tag);
    }
    document
}

fn add(document: &mut TantivyDocument, field: Text, text: &str) {
    document.add_text(field.stemmed, text);
    document.add_text(field.exact, text);
}

/// The whole page as Markdown for reading: every heading, and the cleaned text under it.
fn whole(page: &Page, source: &str) -> String {
    let mut out = String::new();
    let mut sections = page.sections.iter().peekable();
    let mut paragraph = |text: &str| {
        if !text.is_empty() {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(text);
        }
    };
    if !page.headings.iter().any(|heading| heading.level == 1)
        && let Some(title) = &page.title
    {
        paragraph(&format!("# {title}"));
    }
    while let Some(section) = sections.next_if(|section| section.level == 0) {
        paragraph(&section.markdown);
    }
    for heading in &page.headings {
        paragraph(&format!("{} {}", "#".repeat(usize::from(heading.level)), heading.text));
        while let Some(section) = sections.next_if(|section| section.markdown_span.start <= heading.span.start) {
            paragraph(&section.markdown);
        }
    }
    for section in sections {
        paragraph(&section.markdown);
    }
    if out.is_empty() { source.trim().to_owned() } else { out }
}

/// A title for a page that has none: the last part of its path, in words.
fn title_from(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default().replace(['-', '_'], " ");
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => "Home".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_page_reads_like_the_page() {
        let text = "---\ntitle: T\n---\nimport A from 'a'\n\nIntro.\n\n## Empty\n\n## Two\n\n<Note>Hi</Note>\n";
        let page = docent_pages::parse("a.mdx", text.as_bytes());
        assert_eq!(whole(&page, text), "# T\n\nIntro.\n\n## Empty\n\n## Two\n\nHi");
        let page = docent_pages::parse("a.md", b"# T\n\nx\n\n# U\n\ny");
        assert_eq!(whole(&page, ""), "# T\n\nx\n\n# U\n\ny");
    }

    #[test]
    fn a_page_without_a_title_is_called_by_its_path() {
        assert_eq!(title_from("guides/rate-limits"), "Rate limits");
        assert_eq!(title_from(""), "Home");
    }
}
