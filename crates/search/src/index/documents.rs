//! Writes a page to the index as documents, and reads a whole page back from them.

use std::sync::Arc;

use docent_markdown::{Page, Section};
use tantivy::schema::document::OwnedValue;
use tantivy::schema::{Document, Field, Value};
use tantivy::{Searcher, TantivyDocument};

use crate::index::links::{Mention, Mentions};
use crate::index::manifest::ManifestPage;
use crate::index::schema::{Fields, LINK, PAGE, SECTION};
use crate::index::section_kind::SectionKind;
use crate::index::segment_writer::SegmentWriter;
use crate::rank::lookup::documents_of;
use crate::text::languages::Language;
use crate::text::near_duplicates;
use crate::text::vocabulary::{Number, Vocabulary, Word};

/// Maximum bytes of code indexed per section: code beyond that adds nothing about the section's topic.
const MOST_CODE: usize = 8_000;
/// In bytes: what the headings above all sections of a page may take together, besides four times the page's text. A
/// section beyond it is indexed with its own heading only.
const HEADING_PATHS: usize = 256 << 10;
/// Most words of a title that each section of the page is found by.
const TITLE_WORDS: usize = 100;
/// About how many bytes of a page's text are read to detect its language.
const LANGUAGE_TEXT: usize = 4_000;
/// Placeholder for a section in the stored outline of a page. A private-use character, so that no text contains it.
const SECTION_HERE: char = '\u{f8fe}';

/// Writes the documents of a page: one per section, one for the page and one per link. `source` is the page's text.
pub(crate) fn write(
    fields: &Fields,
    vocabulary: &mut Vocabulary,
    mentions: &mut Mentions,
    writer: &mut SegmentWriter,
    entry: &ManifestPage,
    mut page: Page,
    source: &str,
) -> tantivy::Result<()> {
    let language = language(entry, &page);
    let outline = outline(&page, source);
    let mut title = Vec::new();
    vocabulary.add_words(&entry.title, language, &mut title);
    title.truncate(TITLE_WORDS);
    let (words, numbers, stored) = (Vec::new(), Vec::new(), StoredValues::default());
    let paths_left = HEADING_PATHS + 4 * source.len();
    let mut writing =
        Writing { fields, entry, language, vocabulary, writer, title, paths_left, words, numbers, stored };
    for (at, section) in (0..).zip(std::mem::take(&mut page.sections)) {
        let kind = SectionKind::of(&section, &page.links, source);
        writing.section(section, at, kind)?;
    }
    writing.page(&page, outline)?;
    for mention in mentions.of(&page, &entry.path) {
        writing.link(&mention)?;
    }
    Ok(())
}

/// The language for stemming a page's words: the declared one (English when it is not supported), else the detected
/// one.
fn language(entry: &ManifestPage, page: &Page) -> Language {
    if let Some(tag) = &entry.language {
        return Language::of_tag(tag).unwrap_or(Language::English);
    }
    let text = page.sections.iter().scan(0, |read, section| {
        let before = std::mem::replace(read, *read + section.text.len());
        (before < LANGUAGE_TEXT).then(|| &section.text[..section.text.floor_char_boundary(LANGUAGE_TEXT)])
    });
    Language::of_text(text)
}

/// State shared by the documents of one page.
struct Writing<'w> {
    fields: &'w Fields,
    entry: &'w ManifestPage,
    language: Language,
    vocabulary: &'w mut Vocabulary,
    writer: &'w mut SegmentWriter,
    /// The words of the title.
    title: Vec<Word>,
    /// How many bytes the headings above the sections to come may take.
    paths_left: usize,
    /// The words of the current text.
    words: Vec<Word>,
    /// Word hashes of the current section, for its near-duplicate fingerprint.
    numbers: Vec<u64>,
    /// Stored and fast field values of the current document.
    stored: StoredValues,
}

/// The stored and fast field values of a document. Texts are moved in rather than copied: they are most of the data.
#[derive(Default)]
struct StoredValues(Vec<(Field, OwnedValue)>);

impl Document for StoredValues {
    type Value<'a> = &'a OwnedValue;
    type FieldsValuesIter<'a> = std::iter::Map<
        std::slice::Iter<'a, (Field, OwnedValue)>,
        fn(&'a (Field, OwnedValue)) -> (Field, &'a OwnedValue),
    >;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.0.iter().map(|(field, value)| (*field, value))
    }
}

impl StoredValues {
    fn number(&mut self, field: Field, number: u64) {
        self.0.push((field, OwnedValue::U64(number)));
    }

    fn text(&mut self, field: Field, text: String) {
        self.0.push((field, OwnedValue::Str(text)));
    }
}

impl Writing<'_> {
    /// Writes the page's document. Must follow its sections: only then are all words of the page gathered.
    fn page(&mut self, page: &Page, outline: String) -> tantivy::Result<()> {
        let (fields, entry) = (self.fields, self.entry);
        self.begin(PAGE);
        self.writer.add_exact(fields.stemming, self.language.code().as_bytes());
        let headings: Vec<&str> =
            page.headings.iter().map(|heading| heading.text.as_str()).filter(|text| *text != entry.title).collect();
        let names = [page.front_matter.sidebar_title(), entry.nav_title.as_deref()];
        let mut titles = vec![entry.title.as_str()];
        for name in names.into_iter().flatten() {
            if !titles.contains(&name) {
                titles.push(name);
            }
        }
        self.index_texts(fields.path, &[&entry.path]);
        let keywords = page.front_matter.keywords();
        let description: Vec<&str> = entry.description.as_deref().into_iter().chain(keywords).collect();
        let by_field: [(Field, &[&str]); 3] =
            [(fields.title, &titles), (fields.description, &description), (fields.headings, &headings)];
        for (field, texts) in by_field {
            self.index_texts(field, texts);
            self.writer.add_to_page(&self.words);
        }
        self.writer.write_page_totals();
        self.end(Some((fields.content, outline)))
    }

    fn section(&mut self, section: Section, at: u64, kind: SectionKind) -> tantivy::Result<()> {
        let fields = self.fields;
        self.begin(SECTION);
        let heading_path = self.heading_path(&section);
        self.words.clear();
        self.words.extend_from_slice(&self.title);
        let title = self.words.len();
        heading_path.iter().for_each(|heading| self.vocabulary.add_words(heading, self.language, &mut self.words));
        self.writer.add_tokens(fields.heading, stems(&self.words[title..]));
        let above = self.words.len();
        self.vocabulary.add_words(&section.text, self.language, &mut self.words);
        self.writer.add_to_page(&self.words[above..]);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        self.vocabulary.add_numbers(&self.words[above..], &mut numbers);
        self.writer.add_tokens(fields.body, stems(&self.words));
        self.words.clear();
        code(&section).for_each(|text| self.vocabulary.add_words(text, self.language, &mut self.words));
        if !self.words.is_empty() {
            self.writer.add_to_page(&self.words);
            self.vocabulary.add_numbers(&self.words, &mut numbers);
            self.writer.add_tokens(fields.code, stems(&self.words));
        }
        self.stored.number(fields.section, at);
        self.stored.number(fields.fingerprint, near_duplicates::fingerprint(&numbers, &section.markdown));
        self.numbers = numbers;
        if let Some(mark) = kind.mark() {
            self.stored.number(fields.section_kind, mark);
        }
        self.stored.text(fields.heading_path, heading_path.join("\n"));
        if let Some(anchor) = section.anchor {
            self.stored.text(fields.anchor, anchor);
        }
        self.end(Some((fields.content, section.markdown)))
    }

    /// The headings above a section, without the page title, which adds nothing new.
    fn heading_path<'s>(&mut self, section: &'s Section) -> &'s [Arc<str>] {
        let path = match section.headings.as_slice() {
            [first, others @ ..] if **first == *self.entry.title => others,
            headings => headings,
        };
        let length = path.iter().map(|heading| heading.len()).sum();
        match self.paths_left.checked_sub(length) {
            Some(left) => {
                self.paths_left = left;
                path
            }
            None => &path[path.len().saturating_sub(1)..],
        }
    }

    fn link(&mut self, mention: &Mention) -> tantivy::Result<()> {
        self.begin(LINK);
        self.index_texts(self.fields.link, &[&mention.text]);
        for target in mention.targets.iter() {
            self.stored.number(self.fields.target, *target);
        }
        self.end(None)
    }

    /// Begins a document of the given kind.
    fn begin(&mut self, kind: &str) {
        self.stored.number(self.fields.page, self.entry.id);
        self.writer.add_exact(self.fields.page, &self.entry.id.to_be_bytes());
        self.writer.add_exact(self.fields.kind, kind.as_bytes());
    }

    /// Ends the current document; `text` is a text to store with it.
    fn end(&mut self, text: Option<(Field, String)>) -> tantivy::Result<()> {
        if let Some((field, text)) = text {
            self.stored.text(field, text);
        }
        self.writer.end(&self.stored)?;
        self.stored.0.clear();
        Ok(())
    }

    /// Indexes several texts as one field of the current document.
    fn index_texts(&mut self, field: Field, texts: &[&str]) {
        self.words.clear();
        texts.iter().for_each(|text| self.vocabulary.add_words(text, self.language, &mut self.words));
        self.writer.add_tokens(field, stems(&self.words));
    }
}

fn stems(words: &[Word]) -> impl ExactSizeIterator<Item = Option<Number>> {
    words.iter().map(|word| word.map(|forms| forms.stem))
}

/// The indexed code of a section: file name and text of each block, in order; at most `MOST_CODE` bytes of text.
fn code(section: &Section) -> impl Iterator<Item = &str> {
    let mut room = MOST_CODE;
    section.code.iter().flat_map(move |block| {
        let text = &block.text[..block.text.floor_char_boundary(room)];
        room -= text.len();
        block.file.as_deref().into_iter().chain([text])
    })
}

/// Rebuilds a whole page as readable Markdown from its stored documents. `None` when there is no such page.
pub(crate) fn stored_page(searcher: &Searcher, fields: &Fields, id: u64) -> tantivy::Result<Option<String>> {
    let text = |address, field| -> tantivy::Result<String> {
        let document: TantivyDocument = searcher.doc(address)?;
        Ok(document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default().to_owned())
    };
    let Some(page) = documents_of(searcher, fields, id, PAGE)?.first().copied() else { return Ok(None) };
    let mut content = String::new();
    let mut sections = documents_of(searcher, fields, id, SECTION)?.into_iter();
    for (at, part) in text(page, fields.content)?.split(SECTION_HERE).enumerate() {
        if at > 0
            && let Some(section) = sections.next()
        {
            content.push_str(&text(section, fields.content)?);
        }
        content.push_str(part);
    }
    Ok(Some(content))
}

/// The stored form of a page: readable Markdown with a placeholder for each section, whose text is stored with the
/// section.
fn outline(page: &Page, source: &str) -> String {
    let mut out = String::new();
    let mut sections = page.sections.iter().peekable();
    let mut paragraph = |text: Option<&str>, is_empty: bool| {
        if !is_empty && !out.is_empty() {
            out.push_str("\n\n");
        }
        match text {
            Some(text) => out.extend(text.chars().filter(|c| *c != SECTION_HERE)),
            None => out.push(SECTION_HERE),
        }
    };
    if !page.headings.iter().any(|heading| heading.level == 1)
        && let Some(title) = &page.title
    {
        paragraph(Some(&format!("# {title}")), false);
    }
    while let Some(section) = sections.next_if(|section| section.level == 0) {
        paragraph(None, section.markdown.is_empty());
    }
    for heading in &page.headings {
        paragraph(Some(&format!("{} {}", "#".repeat(usize::from(heading.level)), heading.text)), false);
        while let Some(section) = sections.next_if(|section| section.markdown_span.start <= heading.span.start) {
            paragraph(None, section.markdown.is_empty());
        }
    }
    for section in sections {
        paragraph(None, section.markdown.is_empty());
    }
    let is_empty =
        out.chars().all(|c| c == SECTION_HERE) && page.sections.iter().all(|section| section.markdown.is_empty());
    if is_empty { source.trim().replace(SECTION_HERE, "") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(file: &str, text: &str) -> String {
        let page = docent_markdown::parse(file, text.as_bytes());
        let mut sections = page.sections.iter();
        let outline = outline(&page, text);
        let mut parts = outline.split(SECTION_HERE);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |whole, part| whole + sections.next().map_or("", |section| &section.markdown) + part)
    }

    #[test]
    fn a_whole_page_reads_like_the_page() {
        let text = "---\ntitle: T\n---\nimport A from 'a'\n\nIntro.\n\n## Empty\n\n## Two\n\n<Note>Hi</Note>\n";
        assert_eq!(whole("a.mdx", text), "# T\n\nIntro.\n\n## Empty\n\n## Two\n\nHi");
        assert_eq!(whole("a.md", "# T\n\nx\n\n# U\n\ny"), "# T\n\nx\n\n# U\n\ny");
        assert_eq!(whole("a.md", "<!-- nothing -->"), "<!-- nothing -->");
    }

    #[test]
    fn a_page_is_in_the_language_it_says_or_seems_to_be_in() {
        let page = |text: &str| docent_markdown::parse("a.md", text.as_bytes());
        let declares = |tag: &str| ManifestPage { language: Some(tag.to_owned()), ..ManifestPage::default() };
        let german = page("Der Schlüssel wird vom Server erneuert, und das ist nicht für alle zu ändern.");
        assert_eq!(language(&ManifestPage::default(), &german), Language::German);
        assert_eq!(language(&declares("fr-CA"), &german), Language::French);
        assert_eq!(language(&declares("ja"), &german), Language::English);
    }
}
