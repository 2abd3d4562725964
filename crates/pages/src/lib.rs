//! A docs tree as pages: what a site of Markdown and MDX files says, and where in the bytes it says it.
//!
//! [`parse()`] reads one file and never fails: what cannot be read is text plus a [`Problem`]. [`Site`] reads a whole
//! [`Tree`] and knows which path, anchor and navigation entry belongs to which file. Everything a tool may want to
//! change carries the byte range it was read from, so that an edit touches those bytes and no others.
//!
//! This crate is pure. It refuses to know git, search indexes, models and HTTP; files come in through [`Tree`].

mod anchors;
mod check;
mod front_matter;
mod front_matter_yaml;
mod links;
mod navigation;
mod navigation_json;
mod page;
mod parse;
mod parse_blocks;
mod parse_components;
mod parse_destination;
mod parse_html;
mod parse_lines;
mod parse_markdown;
mod parse_mdx;
mod parse_script;
mod parse_tags;
pub mod refactor;
mod sections;
mod site;
mod site_paths;

pub use anchors::{Anchors, slug};
pub use check::{Finding, FindingKind, findings, findings_in, new_findings};
pub use front_matter::{Field, FieldValue, FrontMatter};
pub use links::{Routes, Target, has_page_ending, is_external, is_fragment, respelled};
pub use navigation::{Navigation, NavigationEntry, PageList, Redirect};
pub use page::{CodeBlock, Format, Heading, Link, LinkKind, Page, Problem, Section};
pub use parse::{parse, text_of};
pub use site::{Site, Tree};
pub use site_paths::{is_page, is_partial, site_path};
