//! The headings around a place of a page.

use std::sync::Arc;

use crate::parse_lines::Lines;
use crate::problem::Problem;

/// Most headings of a page; any more are read as text.
pub(crate) const MOST_HEADINGS: usize = 20_000;

/// The problem of a page that has more than [`MOST_HEADINGS`]: the first one beyond is at `at`.
pub(crate) fn excess_heading(lines: &Lines<'_>, at: usize) -> Problem {
    let message = format!("this is read as text: the page has {MOST_HEADINGS} headings before it");
    Problem { line: lines.number(at), message }
}

/// In bytes: an enclosing heading is cut to this length in the heading path of a section.
const MAX_PARENT_HEADING_BYTES: usize = 300;

/// The open headings, outermost first. Their texts are shared with the sections below them.
#[derive(Debug, Default)]
pub(crate) struct HeadingPath(Vec<(u8, Arc<str>)>);

impl HeadingPath {
    /// Opens a heading, and closes those that are not above its level.
    pub(crate) fn enter(&mut self, level: u8, text: &str) {
        self.0.retain(|(outer, _)| *outer < level);
        if let Some((_, outer)) = self.0.last_mut()
            && outer.len() > MAX_PARENT_HEADING_BYTES
        {
            *outer = Arc::from(&outer[..outer.floor_char_boundary(MAX_PARENT_HEADING_BYTES)]);
        }
        self.0.push((level, Arc::from(text)));
    }

    pub(crate) fn texts(&self) -> Vec<Arc<str>> {
        self.0.iter().map(|(_, text)| Arc::clone(text)).collect()
    }
}
