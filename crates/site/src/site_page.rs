//! The pages that a file makes.

use docent_markdown::{Page, Problem, capitalised, file_name};

use crate::layout::Place;
use crate::skip_reason::SkipReason;

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileRead {
    /// A page file makes one page, an API description one for each operation, any other file none.
    pub pages: Vec<SitePage>,
    /// Other files that the result depends on, in order, without duplicates: included files, the API description of the
    /// operation that a page shows, and the pages that show operations of this description. Missing files are listed
    /// too, because the result would change if they were created.
    pub included: Vec<String>,
    /// All problems of the file, including those that its pages report; line numbers refer to the file.
    pub problems: Vec<Problem>,
    /// Whether something that is part of it could not be put in, so that a page may say more.
    pub is_in_part: bool,
    /// Why readers cannot find any of its pages, if so.
    pub skipped: Option<SkipReason>,
}

/// A page as it is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePage {
    /// The final place, with the page's own settings (a `slug`, a label, `draft`) applied.
    pub place: Place,
    /// Former paths that redirect here, verbatim from the page.
    pub aliases: Vec<String>,
    /// The parsed page. Its title is always set: without its own, it is taken from the navigation or the path.
    pub page: Page,
    /// The text that was parsed, with all includes expanded: the spans of `page` are ranges of it.
    pub text: String,
}

/// A title for a page that has none: the last segment of its path, in words.
pub(crate) fn title_from(path: &str) -> String {
    let name = file_name(path).replace(['-', '_'], " ");
    if name.is_empty() { "Home".to_owned() } else { capitalised(&name) }
}
