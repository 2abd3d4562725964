//! Finds the code in a page, as the generator of the site reads that page.

use docent_markdown::{Code, CodeRules, Format};

use crate::layout::{Generator, Layout};

/// The code of a page, or of a picture or page written in markup tags, in no particular order. `file` is relative to
/// the docs root.
pub fn code_of(layout: &Layout, file: &str, bytes: &[u8]) -> Vec<Code> {
    let rules = match Format::of(file) {
        Format::Mdx => CodeRules::Mdx,
        Format::Rst => CodeRules::Rst,
        Format::Adoc => CodeRules::Unanalyzed,
        Format::Notebook => CodeRules::Notebook,
        Format::Markdown if layout.reads_markdown_as_mdx() => CodeRules::Mdx,
        Format::Markdown if layout.generator() == Generator::Plain => CodeRules::Unknown,
        Format::Markdown => CodeRules::Markdown { templates_in_code: layout.templates_in_code },
    };
    docent_markdown::code_of(rules, file, bytes)
}

#[cfg(test)]
mod tests;
