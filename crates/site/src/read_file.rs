//! Reads a file into the pages it makes.
//!
//! A Markdown page is processed in three steps: its includes are expanded, the generator's Markdown extensions are
//! translated to plain Markdown, and the result is parsed. Line numbers are mapped through all steps, so that problems
//! are reported at lines of the original file.

use docent_markdown::{
    ActiveTokens, AttributeLists, Format, MOST_PROBLEMS, NO_NOTEBOOK, Notebook, Problem, is_binary, is_page,
    is_partial, text_of, translate,
};

use crate::include::{self, Expanded};
use crate::layout::Layout;
use crate::openapi;
use crate::site_page::{FileRead, SitePage, title_from};
use crate::skip_reason::SkipReason;
use crate::tree::Tree;

/// Problem message for a page that its authors may have forgotten to list.
const NOT_NAMED: &str = "no navigation names the page, so readers do not find it: name it in docs.json, or say `hidden: true` here \
                         if that is meant; `\"seo\": {\"indexing\": \"all\"}` in docs.json shows all pages";

/// Reads one file into the pages it makes, with includes expanded. Never fails and never panics. `file` is relative to
/// the docs root.
pub fn read_file(layout: &Layout, file: &str, bytes: &[u8], tree: &dyn Tree) -> FileRead {
    if !layout.holds_pages(file) {
        return FileRead { skipped: layout.skipped(file), ..FileRead::default() };
    }
    match is_page(file) {
        true if is_binary(bytes) => {
            let problem =
                Problem { line: 1, message: "the file is not UTF-8, so it is not read: save it as UTF-8".to_owned() };
            FileRead { problems: vec![problem], skipped: Some(SkipReason::NotUtf8), ..FileRead::default() }
        }
        true => read_page(layout, file, bytes, tree),
        false => {
            let read = openapi::read(layout, file, bytes, tree);
            let is_hidden = !read.pages.is_empty() && read.pages.iter().all(|page| !page.place.listed);
            FileRead { skipped: is_hidden.then_some(SkipReason::Hidden), ..read }
        }
    }
}

fn read_page(layout: &Layout, file: &str, bytes: &[u8], tree: &dyn Tree) -> FileRead {
    let original = text_of(bytes);
    let notebook = (Format::of(file) == Format::Notebook).then(|| Notebook::read(bytes));
    let notebook = match notebook {
        Some(Some(notebook)) => Some((notebook.lines(&original), notebook)),
        Some(None) => return no_notebook(),
        None => None,
    };
    let is_markdown = Format::of(file).is_markdown();
    let mut expanded = match Format::of(file) {
        Format::Adoc => include::adoc::expand(layout, file, &original, tree),
        Format::Rst => include::rst::expand(layout, file, &original, tree),
        Format::Notebook => None,
        Format::Markdown | Format::Mdx => include::markdown::expand(layout, file, &original, tree),
    };
    let text: &str = match (&notebook, &expanded) {
        (Some((_, notebook)), _) => &notebook.text,
        (None, Some(expanded)) => &expanded.composed.text,
        (None, None) => &original,
    };
    let has_markdown = is_markdown || notebook.is_some();
    let body = if has_markdown { docent_markdown::front_matter_end(text) } else { 0 };
    let has_lists = Format::of(file) == Format::Markdown && layout.facts().reads_attribute_lists;
    let attribute_lists = if has_lists { AttributeLists::Enabled } else { AttributeLists::Disabled };
    let origin = |line: usize| match &notebook {
        Some((lines, _)) => lines.get(line.saturating_sub(1)).or(lines.last()).copied().unwrap_or(1),
        None => expanded.as_ref().map_or(line, |expanded| expanded.composed.origin(line)),
    };
    let is_mdx = Format::of(file) == Format::Mdx;
    let tokens = if is_mdx { ActiveTokens::default() } else { layout.facts().active_tokens };
    let translated = if has_markdown { translate(text, body, attribute_lists, tokens, origin) } else { None };
    let line_of = |line: usize| translated.as_ref().map_or_else(|| origin(line), |composed| composed.origin(line));
    let text = translated.as_ref().map_or(text, |composed| composed.text.as_str());

    let format = format_of(layout, file, &text[body.min(text.len())..]);
    let shown = if is_markdown { openapi::shown_by(layout, text, format, tree) } else { None };
    let whole: String = match &shown {
        Some(shown) => format!("{text}\n\n{}", shown.markdown),
        None => text.to_owned(),
    };
    let mut page = layout.parse(tree.root(), file, whole.as_bytes(), format);
    page.format = if notebook.is_some() { Format::Notebook } else { format };
    for problem in &mut page.problems {
        problem.line = line_of(problem.line);
    }
    page.problems.splice(0..0, Problem::of_encoding(bytes));

    let mut included = Vec::new();
    let is_in_part = expanded.as_ref().is_some_and(|expanded| !expanded.problems.is_empty())
        || shown.as_ref().is_some_and(|shown| shown.problem.is_some());
    if let Some(Expanded { included: files, problems, .. }) = &mut expanded {
        included.append(files);
        page.problems.append(problems);
    }
    if let Some(shown) = shown {
        included.extend(shown.file);
        page.problems.extend(shown.problem);
        page.title = page.title.take().or(shown.title);
    }
    let front = layout.front_matter_of(file, &|| bytes.to_vec());
    let place = layout.place_of(file, front.as_ref().unwrap_or(&page.front_matter));
    let skipped = (!place.listed).then(|| {
        layout.skipped(file).unwrap_or(match page.front_matter.is_excluded_from_listings() {
            true => SkipReason::Hidden,
            false => SkipReason::NotInNavigation,
        })
    });
    if !is_partial(file) && !page.front_matter.is_excluded_from_listings() && !layout.is_shown(file, &place.site_path) {
        page.problems.push(Problem { line: 1, message: NOT_NAMED.to_owned() });
    }
    page.problems.sort_by_key(|problem| problem.line);
    page.problems.truncate(MOST_PROBLEMS);

    page.title = page.title.take().or_else(|| place.title.clone()).or_else(|| Some(title_from(&place.site_path)));
    let aliases = page.front_matter.aliases().into_iter().map(str::to_owned).collect();
    let problems = page.problems.clone();
    FileRead { pages: vec![SitePage { place, aliases, page, text: whole }], included, problems, is_in_part, skipped }
}

/// The result for a file with the extension of a notebook that is not a valid notebook.
fn no_notebook() -> FileRead {
    let problem = Problem { line: 1, message: NO_NOTEBOOK.to_owned() };
    FileRead { problems: vec![problem], skipped: Some(SkipReason::Unsupported), ..FileRead::default() }
}

/// Some generators read every page as MDX. A page without MDX syntax is parsed as Markdown, which is more lenient.
fn format_of(layout: &Layout, file: &str, body: &str) -> Format {
    let own = Format::of(file);
    if own == Format::Notebook {
        // The format of the cells.
        return Format::Markdown;
    }
    if own != Format::Markdown || !layout.facts().reads_markdown_as_mdx {
        return own;
    }
    let is_mdx = body.lines().any(|line| {
        let line = line.trim_start();
        (line.starts_with("import ") && line.contains(" from ")) || line.starts_with("export ") || {
            let name = line.trim_start_matches("</").trim_start_matches('<');
            name.len() < line.len() && name.starts_with(|c: char| c.is_ascii_uppercase())
        }
    });
    if is_mdx { Format::Mdx } else { own }
}

#[cfg(test)]
mod tests;
