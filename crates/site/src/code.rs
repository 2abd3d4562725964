//! Finds the code in a page, as the generator of the site reads that page.

use docent_markdown::{ActiveTokens, Code, CodeRules, Format, Templates, has_word, text_of};

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
        Format::Markdown if layout.reads_markdown_as_mdx() => CodeRules::Mdx,
        Format::Markdown if layout.generator() == Generator::Plain => CodeRules::Unknown,
        Format::Markdown => CodeRules::Markdown(active_tokens(layout)),
    };
    let mut found = docent_markdown::code_of(rules, file, bytes);
    let is_built_in = |code: &Code| code.key.strip_prefix("component ").is_some_and(|name| is_built_in(layout, name));
    found.retain(|code| !is_built_in(code));
    if matches!(Format::of(file), Format::Mdx | Format::Markdown) {
        found.extend(active_fields(layout.generator(), &text_of(bytes)));
    }
    found
}

/// Components that every site of the generator has, and that lay out words.
fn is_built_in(layout: &Layout, name: &str) -> bool {
    let names = match layout.generator() {
        Generator::Mintlify => {
            "Accordion AccordionGroup Badge Banner Callout Card CardGroup Check CodeBlock CodeGroup Color \
             Column Columns Danger Expandable Frame Icon Info Latex Note Panel Param ParamField Prompt \
             RequestExample ResponseExample ResponseField Step Steps Tab Tabs Tile Tiles Tip Tooltip Tree \
             Tree.File Tree.Folder Update View Visibility Warning"
        }
        Generator::VitePress => "Badge",
        Generator::Fumadocs => "Accordion Accordions Callout Card Cards Step Steps Tab Tabs",
        Generator::Starlight | Generator::Docusaurus | Generator::Nextra => "Fragment",
        _ => "",
    };
    has_word(names, name)
}

/// What the generator of a site acts on in Markdown.
fn active_tokens(layout: &Layout) -> ActiveTokens {
    let general = ActiveTokens { templates_in_code: layout.templates_in_code, ..ActiveTokens::GENERAL };
    match layout.generator() {
        Generator::VitePress => ActiveTokens { attribute_lists: true, vue: true, ..general },
        Generator::MkDocs => ActiveTokens { attribute_lists: true, python_blocks: true, ..general },
        Generator::Sphinx => ActiveTokens { attribute_lists: true, directives: true, ..general },
        Generator::Jekyll => ActiveTokens { attribute_lists: true, templates_in_code: true, ..general },
        Generator::GitBook => ActiveTokens { templates_in_code: true, ..general },
        Generator::Hugo => {
            let templates = Templates::Shortcodes;
            ActiveTokens { templates, templates_in_code: true, attribute_lists: true, ..general }
        }
        Generator::MdBook => ActiveTokens { templates: Templates::Commands, templates_in_code: true, ..general },
        _ => general,
    }
}

#[cfg(test)]
mod tests;
