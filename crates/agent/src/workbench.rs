//! The files as tools access them, with all rules applied.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use docent_markdown::line_of;
use docent_refactor::{Change, History, Refactored, TextEdit, apply};
use docent_site::{Site, SiteData, Tree};

use crate::allowed::Allowances;
use crate::docs_search::DocsSearch;
use crate::files::EditableTree;
use crate::parsed_call::{CallResult, Patterns};
use crate::turn_settings::TurnLimits;
use crate::writable::{Refusal, Writable, refused};

/// What a tool may depend on besides the files and its input. Constant during a job, so that a replay gives the same
/// files.
#[derive(Clone, Default)]
pub struct ToolContext {
    pub limits: TurnLimits,
    /// The folder of the docs inside the repository, `""` for all of it. Paths that include it are accepted.
    pub docs_root: String,
    /// Read-only repositories by name: `@name/path` is a file in one.
    pub context: BTreeMap<String, Arc<dyn Tree + Send + Sync>>,
    pub allowances: Allowances,
    /// The search over the published docs, if there is one.
    pub search: Option<Arc<dyn DocsSearch>>,
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("limits", &self.limits)
            .field("docs_root", &self.docs_root)
            .field("context", &self.context.keys())
            .field("allowances", &self.allowances)
            .field("search", &self.search.is_some())
            .finish()
    }
}

/// Maximum size of a tool's output, in bytes.
const LONGEST: usize = 30_000;

pub(crate) struct Workbench<'a> {
    pub(crate) files: &'a mut dyn EditableTree,
    pub(crate) context: &'a ToolContext,
}

/// A tree to read, and the patterns that select a part of it.
pub(crate) struct TreeView<'a> {
    pub(crate) tree: &'a (dyn Tree + Sync),
    /// The prefix of its paths in outputs: `@name/`, or empty for the docs.
    pub(crate) prefix: String,
    /// The patterns in the form that refactors expect. Empty for everything.
    pub(crate) patterns: Vec<String>,
}

/// A file of a context repository.
struct ContextFile<'a> {
    name: &'a str,
    tree: &'a (dyn Tree + Send + Sync),
    path: String,
}

impl Workbench<'_> {
    /// Parses a path of the docs to be edited, from a spelling of the model.
    pub(crate) fn path(&self, written: &str) -> Result<String, String> {
        match self.context_file(written) {
            Some(ContextFile { name, path, .. }) => Err(format!(
                "`@{name}/{path}` belongs to the repository `{name}`, which can be read and not changed; only files of \
                 the docs can"
            )),
            None => Ok(self.inside(written)),
        }
    }

    /// A path relative to the docs root, from one that may include the root.
    fn inside(&self, written: &str) -> String {
        let path = plain(written);
        let root = self.context.docs_root.trim_matches('/');
        if path == "." || (path.trim_end_matches('/') == root && !self.has_below(root)) {
            return String::new();
        }
        match path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
            Some(inside) if !root.is_empty() && !self.has(path) => inside.to_owned(),
            _ => path.to_owned(),
        }
    }

    fn context_file(&self, written: &str) -> Option<ContextFile<'_>> {
        let rest = plain(written).strip_prefix('@')?;
        let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (name, tree) = self.context.context.get_key_value(name)?;
        Some(ContextFile { name, tree: tree.as_ref(), path: plain(path).to_owned() })
    }

    /// The tree that patterns select from: the docs, or one context repository.
    pub(crate) fn select(&self, written: &Patterns) -> Result<TreeView<'_>, String> {
        let context_files: Vec<ContextFile<'_>> =
            written.0.iter().filter_map(|pattern| self.context_file(pattern)).collect();
        let Some(first) = context_files.first() else {
            let patterns = written.0.iter().map(|pattern| self.inside(pattern)).collect();
            return Ok(TreeView { tree: &*self.files, prefix: String::new(), patterns });
        };
        if context_files.len() < written.0.len() || context_files.iter().any(|file| file.name != first.name) {
            return Err("look into one repository at a time".to_owned());
        }
        let (tree, prefix) = (first.tree, format!("@{}/", first.name));
        // A repository's name alone selects all of it.
        let whole = context_files.iter().any(|file| file.path.is_empty());
        let patterns = if whole { Vec::new() } else { context_files.into_iter().map(|file| file.path).collect() };
        Ok(TreeView { tree, prefix, patterns })
    }

    /// The patterns of an `in` argument, in the form that refactors expect.
    pub(crate) fn patterns(&self, written: &Patterns) -> Result<Vec<String>, String> {
        written.0.iter().map(|pattern| self.path(pattern)).collect()
    }

    pub(crate) fn search(&self) -> Option<&dyn DocsSearch> {
        self.context.search.as_deref()
    }

    fn has(&self, path: &str) -> bool {
        self.files.read(path).is_some()
    }

    /// The bytes of a file of the docs. Outside of the docs root, a model can only read the site's navigation.
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let is_seen = !path.starts_with("../") || SiteData::of(path).is_some();
        is_seen.then(|| self.files.read(path)).flatten()
    }

    fn has_below(&self, folder: &str) -> bool {
        holds(self.tree(), folder)
    }

    /// Whether a path is the docs root.
    pub(crate) fn is_root(&self, written: &str) -> bool {
        self.context_file(written).is_none() && self.inside(written).is_empty()
    }

    /// Whether a path is a folder, not a file.
    pub(crate) fn is_folder(&self, written: &str) -> bool {
        match self.context_file(written) {
            Some(ContextFile { tree, path, .. }) => path.is_empty() || holds(tree, path.trim_end_matches('/')),
            None => self.is_root(written) || self.has_below(self.inside(written).trim_end_matches('/')),
        }
    }

    /// A file's bytes, or an error that suggests the right path. The argument is a spelling of the model, and may be in
    /// a context repository; the returned path is for display.
    pub(crate) fn open(&self, written: &str) -> Result<(String, Vec<u8>), String> {
        match self.context_file(written) {
            Some(ContextFile { name, tree, path }) => match tree.read(&path) {
                Some(bytes) => Ok((format!("@{name}/{path}"), bytes)),
                None => Err(self.no_such_file(&format!("@{name}/{path}"))),
            },
            None => {
                let path = self.inside(written);
                match self.read(&path) {
                    Some(bytes) => Ok((path, bytes)),
                    None => Err(self.no_such_file(&path)),
                }
            }
        }
    }

    fn no_such_file(&self, path: &str) -> String {
        if self.is_folder(path) {
            return format!("`{path}` is a folder; `list` shows what is in it");
        }
        if path.starts_with('@') && self.context_file(path).is_none() {
            let names: Vec<String> = self.context.context.keys().map(|name| format!("`@{name}`")).collect();
            let there = if names.is_empty() {
                "there is none beside the docs".to_owned()
            } else {
                format!("there is {}", names.join(", "))
            };
            return format!("there is no file `{path}`, and no repository of that name: {there}");
        }
        match Site::read(self.tree()).page_named(path) {
            Some(page) => format!("there is no file `{path}`; the page is `{page}`"),
            None => format!("there is no file `{path}`; `list` shows what there is"),
        }
    }

    /// A file of the docs to be edited: its path and its bytes.
    pub(crate) fn bytes(&self, written: &str) -> Result<(String, Vec<u8>), String> {
        let path = self.path(written)?;
        match self.read(&path) {
            Some(bytes) => Ok((path, bytes)),
            None => Err(self.no_such_file(&path)),
        }
    }

    /// A text file of the docs to be edited: its path and its text.
    pub(crate) fn text(&self, written: &str) -> Result<(String, String), String> {
        let (path, bytes) = self.bytes(written)?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok((path, text)),
            _ => Err(format!("`{path}` is not a text file")),
        }
    }

    pub(crate) fn tree(&self) -> &dyn Tree {
        &*self.files
    }

    pub(crate) fn history(&self) -> &dyn History {
        &*self.files
    }

    pub(crate) fn write(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), String> {
        self.make(&[Change::Create { path: path.to_owned(), bytes }])
    }

    /// Makes all of these changes, or none if one is refused.
    pub(crate) fn make(&mut self, changes: &[Change]) -> Result<(), String> {
        let tree = self.tree();
        let written: Vec<(&str, Option<Vec<u8>>)> =
            changes.iter().map(|change| (change.path(), change.bytes_after(tree))).collect();
        check_letter_case(tree, &written)?;
        let writable = Writable::new(self.files.base(), &self.context.allowances);
        let refusals: Vec<Refusal> =
            written.iter().filter_map(|(path, bytes)| writable.check(path, bytes.as_deref()).err()).collect();
        if !refusals.is_empty() {
            return Err(refused(&refusals, &self.context.allowances));
        }
        self.within_budget(&written)?;
        let written = written.into_iter().map(|(path, bytes)| (path.to_owned(), bytes)).collect();
        self.files.change(written).map_err(|refused| refused.to_string())
    }

    fn within_budget(&self, written: &[(&str, Option<Vec<u8>>)]) -> Result<(), String> {
        let TurnLimits { files, bytes, .. } = self.context.limits;
        let changed = self.files.changed();
        let mut all: BTreeSet<&str> = changed.iter().map(String::as_str).collect();
        all.extend(written.iter().map(|(path, _)| *path));
        if all.len() > files {
            let count = all.len();
            return Err(format!(
                "this would bring the changed files to {count}, and a job may change {files}; narrow it to some pages"
            ));
        }
        let others = changed.iter().filter(|path| !written.iter().any(|(other, _)| other == path));
        let size: usize = others.filter_map(|path| self.files.read(path)).map(|bytes| bytes.len()).sum::<usize>()
            + written.iter().filter_map(|(_, bytes)| bytes.as_ref()).map(Vec::len).sum::<usize>();
        if size > bytes {
            return Err(format!(
                "this would bring the changed files to {size} bytes, and a job may change {bytes}; narrow it to some pages"
            ));
        }
        Ok(())
    }

    /// Makes the changes of a refactor and reports it. A place that an agent may not write is left and listed. Files that
    /// are made and removed belong together: if one of them is refused, nothing is done.
    pub(crate) fn carry_out(&mut self, refactored: Result<Refactored, impl std::fmt::Display>) -> CallResult {
        let mut refactored = refactored.map_err(|why| why.to_string())?;
        let is_edit = |change: &Change| matches!(change, Change::Edit { .. });
        let writable = Writable::new(self.files.base(), &self.context.allowances);
        let mut refusals = Vec::new();
        for change in refactored.changes.iter().filter(|change| !is_edit(change)) {
            refusals.extend(writable.check(change.path(), change.bytes_after(self.tree()).as_deref()).err());
        }
        if !refusals.is_empty() {
            return Err(refused(&refusals, &self.context.allowances));
        }
        for change in &mut refactored.changes {
            if let Change::Edit { path, edits } = change {
                let bytes = self.files.read(path).unwrap_or_default();
                let permitted = permitted(&writable, path, &bytes, edits, &mut refusals);
                if permitted.is_empty() && !edits.is_empty() {
                    refactored.details.retain(|line| !line.starts_with(&format!("{path}:")));
                }
                *edits = permitted;
            }
        }
        refactored.changes.retain(|change| !matches!(change, Change::Edit { edits, .. } if edits.is_empty()));
        if refusals.is_empty() {
            self.make(&refactored.changes)?;
            return Ok(report(&refactored));
        }
        let refused = refused(&refusals, &self.context.allowances);
        if refactored.changes.is_empty() {
            return Err(format!("Nothing was changed. {refused}"));
        }
        self.make(&refactored.changes)?;
        refactored.summary.push_str(", but for what is not allowed");
        Ok(format!("{}\n\n{refused}", report(&refactored)))
    }
}

/// The edits of a file that an agent may make, together. The places of the others are added to `refusals`.
fn permitted(
    writable: &Writable<'_>,
    path: &str,
    bytes: &[u8],
    edits: &[TextEdit],
    refusals: &mut Vec<Refusal>,
) -> Vec<TextEdit> {
    let Err(refusal) = writable.check(path, Some(&apply(bytes, edits))) else { return edits.to_vec() };
    if let [edit] = edits {
        let text = String::from_utf8_lossy(bytes);
        let start = text.floor_char_boundary(edit.range.start);
        let begin = text[..start].rfind('\n').map_or(0, |end| end + 1);
        let line: String = text[begin..].lines().next().unwrap_or_default().trim().chars().take(80).collect();
        let place = format!("line {}, `{}`: ", line_of(&text, start), line.replace('`', "'"));
        refusals.push(Refusal { why: place + &refusal.why, ..refusal });
        return Vec::new();
    }
    let (first, second) = edits.split_at(edits.len() / 2);
    let mut kept = permitted(writable, path, bytes, first, refusals);
    let is_first_alone = kept.len();
    kept.extend(permitted(writable, path, bytes, second, refusals));
    if let Err(refusal) = writable.check(path, Some(&apply(bytes, &kept))) {
        kept.truncate(is_first_alone);
        refusals.push(refusal);
    }
    kept
}

/// A path without the redundant parts of a model's spelling.
fn plain(written: &str) -> &str {
    written.trim().trim_start_matches("./").trim_start_matches('/')
}

fn holds(tree: &dyn Tree, folder: &str) -> bool {
    let folder = format!("{folder}/");
    tree.paths().iter().any(|path| path.starts_with(&folder))
}

/// Maximum number of detail lines in a report.
const DETAILS: usize = 20;

/// The report of a refactor, as a tool's result.
fn report(refactored: &Refactored) -> String {
    let list = |lines: &[String]| {
        let mut list: Vec<String> = lines.iter().take(DETAILS).map(|line| format!("- {line}")).collect();
        if lines.len() > DETAILS {
            list.push(format!("- … and {} more", lines.len() - DETAILS));
        }
        list.join("\n")
    };
    let mut text = refactored.summary.clone();
    match refactored.details.is_empty() {
        true => text.push('.'),
        false => text.push_str(&format!(":\n\n{}", list(&refactored.details))),
    }
    if !refactored.left.is_empty() {
        text.push_str(&format!("\n\nLeft:\n\n{}", list(&refactored.left)));
    }
    text
}

/// Cuts a long text at the end of a line.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let end = text.floor_char_boundary(LONGEST);
    let end = text[..end].rfind('\n').unwrap_or(end);
    let left = text[end..].lines().count();
    text.truncate(end);
    text.push_str(&format!("\n… {left} more lines; ask for less at a time"));
    text
}

/// Refuses new files whose path differs from another's in letter case alone: some systems cannot hold both.
fn check_letter_case(tree: &dyn Tree, written: &[(&str, Option<Vec<u8>>)]) -> Result<(), String> {
    let is_new = |path: &&str| tree.read(path).is_none();
    let made = written.iter().filter(|(_, bytes)| bytes.is_some()).map(|(path, _)| *path).filter(is_new);
    let made: HashMap<String, &str> = made.map(|path| (path.to_lowercase(), path)).collect();
    if made.is_empty() {
        return Ok(());
    }
    let is_removed = |path: &str| written.iter().any(|(removed, bytes)| *removed == path && bytes.is_none());
    let clash = tree.paths().into_iter().find_map(|path| {
        let new = made.get(&path.to_lowercase()).filter(|new| **new != path && !is_removed(&path))?;
        Some(format!(
            "`{new}` differs from `{path}` in letter case alone, and some systems cannot hold both; choose another"
        ))
    });
    clash.map_or(Ok(()), Err)
}
