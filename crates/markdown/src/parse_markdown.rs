//! Runs the Markdown parser; no other module calls it.
//!
//! Two settings matter. In MDX mode the parser reads neither HTML nor indented code, as MDX requires. The text it is
//! given has no `{`, `<` (except in `](<…>)`) or module statement left in it, since [`crate::parse_mdx`] masks them, so
//! its scanners for those, which take quadratic time on a hostile page, never start. Autolinks of bare URLs stay off
//! for the same reason: such URLs lead off the site, and nothing here follows them.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use satteri_pulldown_cmark::{Event, Options, Parser};

use crate::page::Format;

/// A link reference definition: its label, its target and its byte range.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) label: String,
    pub(crate) target: String,
    pub(crate) span: Range<usize>,
}

/// The events of the parser, in order. Ranges refer to the text as given.
pub(crate) type Events<'e, 'a> = &'e mut dyn Iterator<Item = (Event<'a>, Range<usize>)>;

/// Parses a text and passes the events to `consume` one by one, since a page may have a million. `None` if the parser
/// panicked, which no known text causes.
pub(crate) fn read<R>(
    text: &str,
    format: Format,
    consume: impl FnOnce(Vec<Definition>, Events<'_, '_>) -> R,
) -> Option<R> {
    let mut options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GITHUB_ALERTS;
    if format == Format::Mdx {
        options |= Options::ENABLE_MDX;
    }
    // The parser is third-party code and its input is untrusted: a panic in it must cost one page, not the site.
    catch_unwind(AssertUnwindSafe(|| {
        let iterator = Parser::new_ext(text, options).into_offset_iter();
        let definitions = iterator
            .reference_definitions()
            .iter()
            .map(|(label, definition)| Definition {
                label: label.to_owned(),
                target: definition.dest.to_string(),
                span: on_boundaries(text, definition.span.clone()),
            })
            .collect();
        let mut events = iterator.map(|(event, range)| (event, on_boundaries(text, range)));
        consume(definitions, &mut events)
    }))
    .ok()
}

fn on_boundaries(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    let end = text.floor_char_boundary(range.end);
    start..end.max(start)
}
