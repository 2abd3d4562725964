//! A docs tree as a site: which files are its pages, where they are served, what a link on one of them leads to, what its
//! navigation says, in which versions and languages.
//!
//! [`Layout`] reads what the tree's own configuration says, [`Site`] knows which address, anchor and file belong
//! together and what a link leads to, and [`read_file()`] reads a file as the pages it makes: snippets put in where they are used, the generator's
//! additions to Markdown said in plain Markdown, descriptions of APIs as a page for each operation.
//!
//! ```text
//! Layout::read(tree) ──▶ place(file): where it is served, in which group
//!        │
//! read_file(layout, file, bytes, tree)
//!    include ──▶ translate ──▶ openapi ──▶ parse ──▶ SitePage { place, page, text }
//! ```
//!
//! [`Variants`] tells which pages are the same page in another version or language, and which of them readers want first.
//!
//! What an agent may change asks two more things: [`code_of()`] tells what of a page is run by a build or a browser, and
//! [`SiteData`] whether an edit of a configuration is one of navigation and redirects alone.
//!
//! This crate is pure. It refuses to know git, search indexes, models and HTTP; files come in through [`Tree`].

mod check;
mod code;
mod described;
mod follow;
mod generator;
mod generators;
mod imports;
mod inbound;
mod include;
mod layout;
mod link_form;
mod model;
mod navigation;
mod navigation_edit;
mod navigation_json;
mod navigation_merge;
mod navigation_refs;
mod navigation_script;
mod openapi;
mod paths;
mod read_file;
#[cfg(test)]
mod sample;
mod script_pieces;
mod site_data;
mod skip_reason;
mod skipped;
#[cfg(test)]
mod tests;
mod tree;
mod trust;
mod variant_folders;
mod variants;
mod version_names;

pub use check::{Checked, Finding, FindingKind, findings, findings_in, may_have_anchor, new_findings};
pub use code::code_of;
pub use described::described;
pub use follow::{LinkSyntax, Wanted, Written, has_page_ending, is_external, is_fragment, parts, respelled};
pub use generator::Generator;
pub use generators::Reference;
pub use imports::{Import, imports};
pub use inbound::{Linking, any_of, linking_to, named_in_sources, named_outside, needles, referring_by_name};
pub use layout::{FileProblem, Layout, Place, Reading};
pub use link_form::{FileMove, kept_form};
pub use model::{Site, Target};
pub use navigation::{Navigation, NavigationEntry, PageList, Redirect};
pub use navigation_edit::{NavigationEdits, NavigationFiles, NavigationPlace};
pub use navigation_json::{Json, Value};
pub use navigation_merge::{NavigationMerge, merge_navigation};
pub use navigation_script::NavigationScript;
pub use openapi::is_api_description;
pub use read_file::{FileRead, SitePage, read_file};
pub use site_data::SiteData;
pub use skip_reason::SkipReason;
pub use skipped::{RuleAt, Skip};
pub use tree::{ChangedTree, Tree, from_root};
pub use trust::{Doubt, LinkEnding, LinkShape, Rule, Trust};
pub use variants::{Declared, PageLabels, Stage, Variant, Variants, Version};
