//! A docs tree as pages: what a site of Markdown and MDX files says, and where in the bytes it says it.
//!
//! There are two ways in. To change pages, [`parse()`] reads one file as it is: everything a tool may want to change
//! carries the byte range it was read from, so that an edit touches those bytes and no others. To show pages to
//! readers, [`Layout`] reads what the tree's own configuration says (generator, navigation, versions, languages,
//! redirects), and [`read_file()`] reads a file as the pages it makes: snippets put in where they are used, the
//! generator's additions to Markdown said in plain Markdown, descriptions of APIs as a page for each operation.
//!
//! ```text
//! Layout::read(tree) ──▶ place(file): where it is served, in which group
//!        │
//! read_file(layout, file, bytes, tree)
//!    include ──▶ dialect ──▶ openapi ──▶ parse ──▶ SitePage { place, page, text }
//! ```
//!
//! Nothing here fails: what cannot be read is text plus a [`Problem`]. [`Site`] and [`Routes`] know which path, anchor
//! and navigation entry belongs to which file; they ask the same [`Layout`].
//!
//! What an agent may change asks two more things: [`code_of()`] tells what of a page is run by a build or a browser, and
//! [`SiteData`] whether an edit of a configuration is one of navigation and redirects alone.
//!
//! This crate is pure. It refuses to know git, search indexes, models and HTTP; files come in through [`Tree`].

mod anchors;
mod check;
mod code;
mod dialect;
mod dialect_marks;
mod front_matter;
mod front_matter_toml;
mod front_matter_yaml;
mod include;
mod layout;
mod lines_from;
mod links;
mod navigation;
mod navigation_json;
mod navigation_merge;
mod openapi;
mod page;
mod parse;
mod parse_blocks;
mod parse_components;
mod parse_destination;
mod parse_html;
mod parse_lines;
mod parse_markdown;
mod parse_marks;
mod parse_mdx;
mod parse_script;
mod parse_tags;
mod read_file;
pub mod refactor;
mod sections;
mod site;
mod site_data;
mod site_paths;

pub use anchors::{Anchors, slug};
pub use check::{Finding, FindingKind, findings, findings_in, new_findings};
pub use code::{Code, code_of, runs_script};
pub use front_matter::{Field, FieldValue, FrontMatter, Syntax};
pub use layout::{FileProblem, Generator, Layout, Place};
pub use links::{Routes, Target, has_page_ending, is_external, is_fragment, respelled};
pub use navigation::{Navigation, NavigationEntry, PageList, Redirect};
pub use navigation_merge::{NavigationMerge, merge_navigation};
pub use openapi::is_api_description;
pub use page::{CodeBlock, Format, Heading, Link, LinkKind, Page, Problem, Section};
pub use parse::{parse, text_of};
pub use read_file::{FileRead, SitePage, read_file};
pub use site::{Site, Tree};
pub use site_data::SiteData;
pub use site_paths::{is_page, is_partial, site_path};
