//! Parses one file of Markdown, MDX, reStructuredText or AsciiDoc, or one notebook, into a page: front matter,
//! headings, links, sections and code, with their byte ranges.
//!
//! [`parse()`] never fails: what cannot be parsed becomes text plus a [`Problem`]. Everything a tool may want to change
//! carries the byte range it was read from, so that an edit touches only those bytes.
//!
//! To check what an agent may write, [`code_of()`] finds the code that a build or a browser would run.
//!
//! This crate does no I/O. It knows neither sites nor URLs: higher crates decide where a link leads and where a page is
//! served. Differences between generators that matter while parsing are passed in, such as [`AnchorStyle`].

mod active_tokens;
mod adoc;
mod anchors;
mod anchors_components;
mod anchors_hugo;
mod anchors_kramdown;
mod anchors_mintlify;
mod code;
mod depth;
mod dialect;
mod dialect_marks;
mod dialect_myst;
mod dialect_templates;
mod front_matter;
mod front_matter_toml;
mod front_matter_yaml;
mod heading_path;
mod heading_words;
mod lines_from;
mod notebook;
mod page;
mod page_builder;
mod parse;
mod parse_blocks;
mod parse_components;
mod parse_destination;
mod parse_html;
mod parse_lines;
mod parse_markdown;
mod parse_marks;
mod parse_mdx;
mod parse_python;
mod parse_script;
mod parse_tags;
mod parse_templates;
mod problem;
#[cfg(test)]
mod processor_time;
mod rst;
pub mod script;
mod sections;
mod site_paths;
mod text;
mod words;
pub mod yaml;

pub use active_tokens::{ActiveTokens, Templates};
pub use adoc::{AdocAttributes, adoc_header, parse as parse_adoc};
pub use anchors::{AnchorStyle, Anchors, slug};
pub use code::{Code, CodeRules, INCLUDE_KEY, code_of, code_spans, runs_script};
pub use depth::Depth;
pub use dialect::{AttributeLists, translate};
pub use front_matter::{Field, FieldValue, FrontMatter, Syntax};
pub use front_matter::{end as front_matter_end, read as read_front_matter};
pub use lines_from::{Composed, Fence, FenceLine};
pub use notebook::{NO_NOTEBOOK, Notebook};
pub use page::{CodeBlock, Format, Heading, Link, LinkKind, Page, Section};
pub use parse::{parse, parse_as};
pub use parse_lines::{Lines, each_line, line_end, line_of, line_start, lines_after};
pub use parse_tags::{Dialect, Tag, TagKind, scan_tag};
pub use problem::{MOST_PROBLEMS, Problem};
pub use rst::{rst_id, rst_labels};
pub use sections::code_span_end;
pub use site_paths::{
    file_name, folder, is_agents_file, is_for_editors, is_markdown, is_markdown_page, is_markup, is_page, is_partial,
    joined, rebased, site_path, slugged, stem,
};
pub use text::{bom_length, is_binary, text_of};
pub use words::{capitalised, has_word, longest_run, on_one_line};
