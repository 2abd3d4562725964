//! Finds the code in a page, as the generator of the site reads that page.

use docent_markdown::{Code, CodeReading, Format};

use crate::layout::{Generator, Layout};

/// The code of a page, or of a picture or page written in markup tags, in no particular order. `file` is relative to
/// the docs root.
pub fn code_of(layout: &Layout, file: &str, bytes: &[u8]) -> Vec<Code> {
    let reading = match Format::of(file) {
        Format::Mdx => CodeReading::Mdx,
        Format::Rst => CodeReading::Rst,
        Format::Adoc => CodeReading::Whole,
        Format::Notebook => CodeReading::Notebook,
        Format::Markdown if layout.reads_markdown_as_mdx() => CodeReading::Mdx,
        Format::Markdown if layout.generator() == Generator::Plain => CodeReading::Unknown,
        Format::Markdown => CodeReading::Markdown { templates_in_code: layout.templates_in_code },
    };
    docent_markdown::code_of(reading, file, bytes)
}

#[cfg(test)]
mod tests;
