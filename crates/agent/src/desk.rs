//! Where tools work: the files, behind the rules.

use std::collections::BTreeSet;

use docent_pages::refactor::{Change, Refactored};
use docent_pages::{Routes, Tree};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::files::Files;
use crate::next::Limits;
use crate::paths::check_path;

/// What a tool may know besides the files and its input. The same through all of a job, so that a replay gives the
/// same files.
#[derive(Debug, Clone, Default)]
pub struct ToolContext {
    pub limits: Limits,
    /// The folder of the docs inside the repository, `""` for the whole of it. Paths that name it are understood.
    pub docs_root: String,
}

/// Why a tool did not do what it was asked: a sentence for the model.
pub(crate) type Answer = Result<String, String>;

/// The most a tool says, in bytes.
const LONGEST: usize = 30_000;

pub(crate) struct Desk<'a> {
    pub(crate) files: &'a mut dyn Files,
    pub(crate) context: &'a ToolContext,
}

impl Desk<'_> {
    /// A path as the files know it, from one as a model writes it.
    pub(crate) fn path(&self, written: &str) -> String {
        let path = written.trim().trim_start_matches("./").trim_start_matches('/');
        let root = self.context.docs_root.trim_matches('/');
        match path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
            Some(inside) if !root.is_empty() && !self.has(path) => inside.to_owned(),
            _ => path.to_owned(),
        }
    }

    pub(crate) fn paths(&self, written: &[String]) -> Vec<String> {
        written.iter().map(|path| self.path(path)).collect()
    }

    fn has(&self, path: &str) -> bool {
        self.files.read(path).is_some()
    }

    /// A file's bytes, or a sentence that helps to find the right one.
    pub(crate) fn read(&self, written: &str) -> Result<(String, Vec<u8>), String> {
        let path = self.path(written);
        if let Some(bytes) = self.files.read(&path) {
            return Ok((path, bytes));
        }
        let routes = Routes::of(self.tree());
        Err(match routes.page_named(&path) {
            Some(page) => format!("there is no file `{path}`; the page is `{page}`"),
            None => format!("there is no file `{path}`; `list` shows what there is"),
        })
    }

    /// A text file's text.
    pub(crate) fn text(&self, written: &str) -> Result<(String, String), String> {
        let (path, bytes) = self.read(written)?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok((path, text)),
            _ => Err(format!("`{path}` is no text file")),
        }
    }

    pub(crate) fn tree(&self) -> &dyn Tree {
        &*self.files
    }

    pub(crate) fn write(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), String> {
        self.make(&[Change::Create { path: path.to_owned(), bytes }])
    }

    /// Makes all of these changes or, when one of them is against the rules, none.
    pub(crate) fn make(&mut self, changes: &[Change]) -> Result<(), String> {
        for change in changes {
            check_path(change.path()).map_err(|why| format!("`{}`: {why}", change.path()))?;
        }
        let tree = self.tree();
        let written: Vec<(&str, Option<Vec<u8>>)> =
            changes.iter().map(|change| (change.path(), change.bytes_after(tree))).collect();
        self.within_budget(&written)?;
        for (path, bytes) in written {
            match bytes {
                Some(bytes) => self.files.write(path, bytes),
                None => self.files.delete(path),
            }
            .map_err(|refused| format!("`{path}`: {refused}"))?;
        }
        Ok(())
    }

    fn within_budget(&self, written: &[(&str, Option<Vec<u8>>)]) -> Result<(), String> {
        let Limits { files, bytes, .. } = self.context.limits;
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

    /// Makes the changes of a refactor and tells of it.
    pub(crate) fn carry_out(&mut self, refactored: Result<Refactored, impl std::fmt::Display>) -> Answer {
        let refactored = refactored.map_err(|why| why.to_string())?;
        self.make(&refactored.changes)?;
        Ok(told(&refactored))
    }

    /// The patterns of an `in`, as the refactors know paths.
    pub(crate) fn patterns(&self, written: &Patterns) -> Vec<String> {
        self.paths(&written.0)
    }
}

/// One pattern or several.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patterns(pub(crate) Vec<String>);

impl<'de> serde::Deserialize<'de> for Patterns {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged, expecting = "expected a list of paths and globs")]
        enum Written {
            One(String),
            Many(Vec<String>),
            Nothing(()),
        }
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::One(one) if one.trim().is_empty() => Vec::new(),
            Written::One(one) => vec![one],
            Written::Many(many) => many,
            Written::Nothing(()) => Vec::new(),
        }))
    }
}

/// How many lines of details are told.
const DETAILS: usize = 20;

/// A refactor as a tool's answer.
fn told(refactored: &Refactored) -> String {
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

/// A tool's input, or what is wrong with it.
pub(crate) fn input<T: DeserializeOwned>(input: &Value) -> Result<T, String> {
    if let Value::String(text) = input {
        // What a model wrote in the place of JSON.
        let beginning: String = text.chars().take(80).collect();
        return Err(format!("the input is no JSON object: it begins `{beginning}`"));
    }
    T::deserialize(input).map_err(|why| format!("the input is not what this tool takes: {why}"))
}

/// A long text cut at a line.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').unwrap_or(end);
    let left = text[end..].lines().count();
    text.truncate(end);
    text.push_str(&format!("\n… {left} more lines; ask for less at a time"));
    text
}
