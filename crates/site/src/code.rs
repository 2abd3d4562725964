//! Finds the code in a page, as the generator of the site reads that page.

use docent_markdown::{ActiveTokens, Code, CodeRules, Format, has_word, text_of};

use crate::active_fields::active_fields;
use crate::layout::{Generator, Layout};

/// The code of a page, or of a picture or page written in markup tags, in no particular order. `file` is relative to
/// the docs root.
pub fn code_of(layout: &Layout, file: &str, bytes: &[u8]) -> Vec<Code> {
    let rules = match Format::of(file) {
        Format::Mdx => CodeRules::Mdx,
        Format::Rst => CodeRules::Rst,
        Format::Adoc => CodeRules::Adoc,
        // No agent writes one.
        Format::Notebook => return vec![Code::new(1, file, text_of(bytes).into_owned())],
        Format::Markdown if layout.facts().reads_markdown_as_mdx => CodeRules::Mdx,
        Format::Markdown if layout.generator() == Generator::Plain => CodeRules::Unknown,
        Format::Markdown => CodeRules::Markdown(active_tokens(layout)),
    };
    let mut found = docent_markdown::code_of(rules, file, bytes);
    let facts = layout.facts();
    let is_built_in =
        |code: &Code| code.key.strip_prefix("component ").is_some_and(|name| has_word(facts.components, name));
    found.retain(|code| !is_built_in(code));
    if matches!(Format::of(file), Format::Mdx | Format::Markdown) {
        found.extend(active_fields(layout.generator(), &text_of(bytes)));
    }
    found
}

/// What the generator of a site acts on in Markdown.
fn active_tokens(layout: &Layout) -> ActiveTokens {
    let tokens = layout.facts().active_tokens;
    ActiveTokens { templates_in_code: tokens.templates_in_code || layout.templates_in_code, ..tokens }
}

#[cfg(test)]
mod tests;
