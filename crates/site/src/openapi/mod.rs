//! Turns API descriptions (OpenAPI 3, Swagger 2) into pages, one for each operation.
//!
//! An operation is rendered as Markdown and parsed like any page, so that it has sections, tables and anchors. Its path
//! is `…/tag/summary`, both as slugs, below the folder that the navigation names for it, else below `api-reference` if
//! `docs.json` is used, else below the site path of the description file. An operation that a page shows through its
//! front matter (`openapi: GET /users`) gets no page of its own.

mod markdown;
mod schema;

use std::collections::{HashMap, HashSet};

use docent_markdown::{Format, Lines, Problem, is_page, joined, parse_as, slug};

use crate::api_description::{self, Description, Operation};
use crate::layout::{Layout, Operations, Place};
use crate::site_page::{FileRead, SitePage, title_from};
use crate::tree::Tree;
use markdown::RenderedPage;

/// Maximum number of pages made from one description.
const MAX_PAGES: usize = 5_000;

/// Maximum number of files that are searched for an operation if the page that shows it does not name the description.
const MAX_SEARCHED_FILES: usize = 8;

/// Maximum size of a description, in bytes; a larger one is not read.
const MAX_API_DESCRIPTION_BYTES: usize = 32 << 20;

/// Limit on the total size of the pages of one description: this many bytes for each byte of the description, but at
/// least [`MIN_OUTPUT_LIMIT_BYTES`] and at most [`MAX_OUTPUT_LIMIT_BYTES`]. Few descriptions reach four times their
/// size, but one with recursive references could grow without bound.
const OUTPUT_BYTES_PER_INPUT_BYTE: usize = 8;
const MIN_OUTPUT_LIMIT_BYTES: usize = 8 << 20;
const MAX_OUTPUT_LIMIT_BYTES: usize = 64 << 20;

/// Visiting a schema takes as long as writing this many bytes.
const SCHEMA_VISIT_COST_BYTES: usize = 8;

/// Whether a file is an API description in a supported format.
pub fn is_api_description(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_API_DESCRIPTION_BYTES && matches!(Description::read(bytes), Ok(Some(_)))
}

/// The pages of a description; none if the file is not an API description.
pub(crate) fn read(layout: &Layout, file: &str, bytes: &[u8], tree: &dyn Tree) -> FileRead {
    if bytes.len() > MAX_API_DESCRIPTION_BYTES || !api_description::may_be(bytes) {
        return FileRead::default();
    }
    let description = match layout.cache.get(file, bytes) {
        Ok(Some(description)) => description,
        Ok(None) => return FileRead::default(),
        Err(problem) => return FileRead { problems: vec![problem], ..FileRead::default() },
    };
    let mut read = FileRead::default();
    let operations = description.operations();
    let (pages, shown): (Vec<String>, HashSet<String>) = claims(layout, file, tree).into_iter().unzip();
    read.included = pages;
    let listed = Listed::of(layout, file);
    let follows_navigation = !layout.operations.is_empty();
    let mut paths = HashMap::new();
    let output_limit_bytes =
        (OUTPUT_BYTES_PER_INPUT_BYTE * bytes.len()).clamp(MIN_OUTPUT_LIMIT_BYTES, MAX_OUTPUT_LIMIT_BYTES);
    let mut output_bytes = 0;
    for operation in operations.iter().filter(|operation| !shown.contains(&operation.key)) {
        let entry = listed.entry(&operation.key);
        if follows_navigation && entry.is_none() {
            continue;
        }
        if read.pages.len() == MAX_PAGES {
            let message = format!("this describes more than {MAX_PAGES} operations; the rest have no page");
            read.problems.push(Problem { line: 1, message });
            break;
        }
        if output_bytes > output_limit_bytes {
            let message = "the operations of this say too much all in all; the rest have no page";
            read.problems.push(Problem { line: 1, message: message.to_owned() });
            break;
        }
        let rendered = markdown::page(&description, operation);
        output_bytes += rendered.markdown.len() + SCHEMA_VISIT_COST_BYTES * rendered.schemas_visited;
        let place = place(layout, file, &description, operation, entry, &rendered, &mut paths);
        read.pages.push(page(layout, file, place, &rendered));
    }
    read
}

/// The navigation entries of the operations of one description.
struct Listed<'l> {
    /// Entries of single operations, with their position in the navigation.
    named: HashMap<&'l str, (usize, &'l Operations)>,
    /// The entry of all operations, with its position.
    all: Option<(usize, &'l Operations)>,
}

impl<'l> Listed<'l> {
    fn of(layout: &'l Layout, file: &str) -> Self {
        let mut listed = Self { named: HashMap::new(), all: None };
        for (at, entry) in layout.operations.iter().enumerate() {
            if entry.file.as_deref().is_some_and(|named| named != file) {
                continue;
            }
            match &entry.operation {
                Some(operation) => drop(listed.named.entry(operation).or_insert((at, entry))),
                None => drop(listed.all.get_or_insert((at, entry))),
            }
        }
        listed
    }

    /// The first navigation entry that applies to an operation.
    fn entry(&self, key: &str) -> Option<&'l Operations> {
        let found = self.named.get(key).copied().into_iter().chain(self.all).min_by_key(|(at, _)| *at);
        found.map(|(_, entry)| entry)
    }
}

fn place(
    layout: &Layout,
    file: &str,
    description: &Description,
    operation: &Operation<'_>,
    entry: Option<&Operations>,
    rendered: &RenderedPage,
    taken: &mut HashMap<String, usize>,
) -> Place {
    let directory = entry.and_then(|entry| entry.directory.as_deref()).map(|directory| directory.trim_matches('/'));
    let folder = directory.or(layout.facts().api_folder);
    let folder = folder.map_or_else(|| layout.path_below(file), str::to_owned);
    let parts = [folder.as_str(), &slug(operation.tag.unwrap_or_default()), &slug(&rendered.title)];
    let path = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let mut site_path = path.clone();
    while taken.contains_key(&site_path) {
        let count = taken.entry(path.clone()).or_insert(1);
        *count += 1;
        site_path = format!("{path}-{count}");
    }
    taken.insert(site_path.clone(), 1);
    let mut groups = match entry {
        Some(entry) => entry.groups.to_vec(),
        None => description.title().map(str::to_owned).into_iter().collect(),
    };
    groups.extend(operation.tag.map(str::to_owned));
    let (version, language) = layout.version_and_language(file);
    Place {
        site_path,
        has_html_url: false,
        title: None,
        groups,
        order: None,
        version: entry.and_then(|entry| entry.version.clone()).or(version),
        language: entry.and_then(|entry| entry.language.clone()).or(language),
        listed: !operation.is_hidden(),
    }
}

fn page(layout: &Layout, file: &str, place: Place, rendered: &RenderedPage) -> SitePage {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = format!("---\ntitle: {}\n", quoted(&rendered.title));
    if let Some(summary) = &rendered.summary {
        text.push_str(&format!("description: {}\n", quoted(summary)));
    }
    text.push_str("---\n\n");
    text.push_str(&rendered.markdown);
    let mut page = parse_as(file, text.as_bytes(), Format::Markdown, layout.anchors);
    page.title = page.title.take().or_else(|| Some(title_from(&place.site_path)));
    page.problems.clear();
    SitePage { place, aliases: Vec::new(), page, text }
}

/// The pages that show operations of this description, or of an unnamed one, through their front matter: each with the
/// operation.
fn claims(layout: &Layout, file: &str, tree: &dyn Tree) -> Vec<(String, String)> {
    let mut pages: Vec<String> =
        tree.paths().into_iter().filter(|path| is_page(path) && layout.holds_pages(path)).collect();
    pages.sort_unstable();
    let claims = pages.into_iter().filter_map(|page| {
        let text = tree.text(&page)?;
        let OperationReference { file: named, operation } = operation_reference(&text)?;
        named.is_none_or(|named| named == file).then_some((page, operation))
    });
    claims.collect()
}

/// An operation as named in front matter.
struct OperationReference {
    file: Option<String>,
    /// `GET /users`, or `WEBHOOK name`.
    operation: String,
}

/// The operation that the front matter of a page names, if any.
fn operation_reference(text: &str) -> Option<OperationReference> {
    text[..docent_markdown::front_matter_end(text)].contains("openapi").then_some(())?;
    let (front, _) = docent_markdown::read_front_matter(text, &Lines::of(text));
    let words: Vec<&str> = front.get("openapi")?.split_whitespace().collect();
    let (file, method, path) = match words.as_slice() {
        [method, path] => (None, method, path),
        [file, method, path] => (joined("", file), method, path),
        _ => return None,
    };
    let operation = format!("{} {path}", method.to_uppercase());
    Some(OperationReference { file, operation })
}

/// An operation rendered into the page that shows it.
pub(crate) struct Shown {
    pub(crate) markdown: String,
    pub(crate) title: Option<String>,
    /// The description that contains the operation.
    pub(crate) file: Option<String>,
    pub(crate) problem: Option<Problem>,
}

/// The operation that a page shows through its front matter.
pub(crate) fn shown_by(layout: &Layout, text: &str, format: Format, tree: &dyn Tree) -> Option<Shown> {
    let OperationReference { file, operation } = operation_reference(text)?;
    let mut files: Vec<String> = match &file {
        Some(file) => vec![file.clone()],
        None => layout.descriptions.clone(),
    };
    if files.is_empty() && file.is_none() {
        let named = |file: &String| ["openapi", "swagger", "api"].iter().any(|name| file.to_lowercase().contains(name));
        files =
            tree.paths().into_iter().filter(|file| !is_page(file) && named(file) && layout.holds_pages(file)).collect();
        files.sort_unstable();
        files.truncate(MAX_SEARCHED_FILES);
    }
    for file in &files {
        let Some(bytes) = tree.read(file).filter(|bytes| bytes.len() <= MAX_API_DESCRIPTION_BYTES) else { continue };
        let Ok(Some(description)) = layout.cache.get(file, &bytes) else { continue };
        let Some(found) = description.operation(&operation) else { continue };
        let rendered = markdown::page(&description, &found);
        let markdown = match format {
            Format::Mdx => markdown::escaped(&rendered.markdown),
            Format::Markdown | Format::Rst | Format::Adoc | Format::Notebook => rendered.markdown,
        };
        return Some(Shown { markdown, title: Some(rendered.title), file: Some(file.clone()), problem: None });
    }
    let message = format!("the front matter shows `{operation}`, and no description of an API has that");
    let problem = (!files.is_empty()).then_some(Problem { line: 1, message });
    // The result depends on the first file, which may be created or gain the operation, so it is listed.
    Some(Shown { markdown: String::new(), title: None, file: files.into_iter().next(), problem })
}

#[cfg(test)]
mod tests;
