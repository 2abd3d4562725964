//! Models a docs tree as a site: which files are its pages, where they are served, where links lead, what the
//! navigation contains, and in which versions and languages pages exist.
//!
//! [`Layout`] reads the configuration of the tree, [`Site`] maps addresses and anchors to files and resolves links, and
//! [`read_file()`] turns a file into pages: includes are expanded, the generator's Markdown extensions are translated
//! to plain Markdown, and an API description makes a page for each operation.
//!
//! ```text
//! Layout::read(tree) ──▶ place(file): where it is served, in which group
//!        │
//! read_file(layout, file, bytes, tree)
//!    include ──▶ translate ──▶ openapi ──▶ parse ──▶ SitePage { place, page, text }
//! ```
//!
//! [`Variants`] finds the pages that are the same page in another version or language, and ranks them for readers.
//!
//! Two checks limit what an agent may change: [`code_of()`] finds the code in a page that a build or a browser runs,
//! and [`SiteData`] decides whether an edit of a configuration file changes only navigation and redirects.
//!
//! This crate is pure: it does not depend on git, search indexes, models or HTTP. Files come in through [`Tree`].

mod active_fields;
mod api_description;
mod backlinks;
mod check;
mod code;
mod finding;
mod generator;
mod generators;
mod glob;
mod groups;
mod imports;
mod include;
mod inert;
mod layout;
mod link_form;
mod link_target;
mod model;
mod navigation;
mod navigation_edit;
mod navigation_json;
mod navigation_labels;
mod navigation_merge;
mod navigation_refs;
mod navigation_script;
mod openapi;
mod paths;
mod programs;
mod read_file;
mod rule_evidence;
#[cfg(test)]
mod sample;
mod script;
mod settings;
mod shown_pages;
mod site_data;
mod site_page;
mod site_profile;
mod sites;
mod skip_reason;
mod skipped;
mod svg;
#[cfg(test)]
mod tests;
mod tree;
mod unwritten;
mod variant_folders;
mod variants;
mod version_names;

pub use backlinks::{Linking, any_of, linking_to, named_in_sources, named_outside, referring_by_name};
pub use check::{Checked, findings, findings_in, new_findings};
pub use code::code_of;
pub use finding::{Finding, FindingKind};
pub use generator::Generator;
pub use generators::Reference;
pub use glob::{Glob, GlobError};
pub use imports::{Import, imports};
pub use layout::{FileProblem, Layout, Place, ReadFingerprint};
pub use link_form::{FileMove, kept_form};
pub use link_target::{
    LinkRequest, LinkSyntax, ParsedLink, has_page_ending, is_external, is_fragment, parts, retargeted_link,
};
pub use model::{Site, Target};
pub use navigation::{Navigation, NavigationEntry, PageList, Redirect};
pub use navigation_edit::{NavigationEdits, NavigationFiles, NavigationPlace};
pub use navigation_json::{Json, Value, read as read_json};
pub use navigation_merge::{NavigationMerge, merge_navigation};
pub use navigation_script::NavigationScript;
pub use openapi::is_api_description;
pub use programs::{active_in_diagram, is_program, is_template};
pub use read_file::read_file;
pub use rule_evidence::{DoubtedFindings, LinkEnding, LinkShape, Rule, RuleEvidence};
pub use shown_pages::ShownPages;
pub use site_data::SiteData;
pub use site_page::{FileRead, SitePage};
pub use site_profile::site_profile;
pub use sites::sites_in;
pub use skip_reason::SkipReason;
pub use skipped::{RuleAt, Skip};
pub use svg::active_in_svg;
pub use tree::{ChangedTree, Tree, from_root};
pub use unwritten::unwritten;
pub use variants::{Declared, PageLabels, Stage, Variant, Variants, Version, is_same_language};
