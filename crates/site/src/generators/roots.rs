//! By which rules a file's name becomes the path it is served at.

use std::sync::Arc;

use docent_markdown::stem;
use globset::GlobSet;

use super::mkdocs_blog::Blog;
use super::{antora, docfx, docusaurus, hugo, jekyll};
use crate::generator::Generator;
use crate::paths::below;
pub(crate) use crate::paths::index_path;

/// A folder of pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Root {
    /// `""` for the whole tree.
    pub(crate) folder: String,
    /// The site path its pages are below.
    pub(crate) served: String,
    pub(crate) generator: Generator,
    pub(crate) kind: RootKind,
    pub(crate) version: Option<String>,
    pub(crate) language: Option<String>,
    /// Which navigation its pages are named in, where they are named by an id and not by their path.
    pub(crate) navigation: String,
    /// Files that are no pages, relative to the folder.
    pub(crate) excluded: GlobSet,
    /// The only files that are pages, if so.
    pub(crate) included: Option<GlobSet>,
    /// Names of its folders for readers, by their path in the tree.
    pub(crate) labels: std::collections::HashMap<String, String>,
    /// Paths of files that are served elsewhere: from, to, relative to the folder.
    pub(crate) rewrites: Vec<(String, String)>,
    /// Languages of what is served below a path, and that path.
    pub(crate) languages: Vec<(String, String)>,
    /// What Docusaurus knows of the plug-in the folder belongs to.
    pub(crate) docusaurus: docusaurus::Instance,
    /// Languages that file names may end in (`page.fr.md`), the default one first.
    pub(crate) suffixes: Vec<String>,
    /// Blogs of MkDocs in the folder.
    pub(crate) blogs: Vec<Blog>,
    /// What Hugo is told of addresses and links.
    pub(crate) hugo: Option<Arc<hugo::HugoSettings>>,
    /// Which files docfx makes pages of, and where.
    pub(crate) docfx: Option<Arc<docfx::Content>>,
    /// What Jekyll is told of addresses and links.
    pub(crate) jekyll: Option<Arc<jekyll::JekyllSettings>>,
    /// The module of Antora that the folder is of.
    pub(crate) antora: Option<antora::Module>,
}

/// What the pages of a folder are to their generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RootKind {
    #[default]
    Docs,
    /// Posts, whose names begin with a date.
    Blog,
    /// Pages beside the docs: only `index` is its folder.
    Pages,
}

impl Root {
    pub(crate) fn holds(&self, file: &str) -> bool {
        self.inside(file).is_some()
    }

    pub(crate) fn inside<'f>(&self, file: &'f str) -> Option<&'f str> {
        match self.folder.is_empty() {
            true => Some(file),
            false => file.strip_prefix(self.folder.as_str())?.strip_prefix('/'),
        }
    }

    /// The path of something that has no page's ending.
    pub(crate) fn path_of_stem(&self, stem: &str) -> String {
        below(&self.served, self.inside(stem).unwrap_or(stem))
    }

    /// A file's stem without the language it ends in, and that language.
    pub(crate) fn without_language<'f>(&self, inside: &'f str) -> (&'f str, Option<&String>) {
        let stem = stem(inside).unwrap_or(inside);
        let suffix = stem.rsplit_once('.').and_then(|(stem, last)| {
            self.suffixes.iter().find(|language| *language == last).map(|language| (stem, Some(language)))
        });
        suffix.unwrap_or((stem, None))
    }

    pub(crate) fn rewritten(&self, inside: &str) -> String {
        self.rewrites.iter().find_map(|(from, to)| rewrite(inside, from, to)).unwrap_or_else(|| inside.to_owned())
    }
}

/// How an entry is found that the navigation names by an id.
pub(crate) fn id_key(navigation: &str, id: &str) -> String {
    format!("{navigation}\n{id}")
}

/// A path by one rule of `from` and `to`, which may hold `:name` and `:name(.*)`.
fn rewrite(path: &str, from: &str, to: &str) -> Option<String> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut parts = path.split('/');
    for wanted in from.split('/') {
        match wanted.strip_prefix(':') {
            Some(name) if name.ends_with('*') || name.contains("(.*)") => {
                let rest: Vec<&str> = parts.by_ref().collect();
                (!rest.is_empty()).then_some(())?;
                found.push((name.split(['*', '(']).next()?, rest.join("/")));
            }
            Some(name) => {
                let part = parts.next()?;
                let (name, tail) =
                    name.split_once('.').map_or((name, ""), |(name, _)| (name, &wanted[1 + name.len()..]));
                found.push((name, part.strip_suffix(tail)?.to_owned()));
            }
            None => (parts.next()? == wanted).then_some(())?,
        }
    }
    parts.next().is_none().then_some(())?;
    let mut out = to.to_owned();
    for (name, value) in found {
        out = out
            .replace(&format!(":{name}(.*)"), &value)
            .replace(&format!(":{name}*"), &value)
            .replace(&format!(":{name}"), &value);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_follow_their_parameters() {
        assert_eq!(
            rewrite("packages/a/docs/x.md", "packages/:pkg/docs/:page", ":pkg/:page").as_deref(),
            Some("a/x.md")
        );
        assert_eq!(rewrite("en/a/b.md", "en/:rest*", ":rest*").as_deref(), Some("a/b.md"));
        assert_eq!(rewrite("en/a/b.md", "en/:rest(.*)", ":rest(.*)").as_deref(), Some("a/b.md"));
        assert_eq!(rewrite("x/a.md", "x/:page.md", "y/:page.md").as_deref(), Some("y/a.md"));
        assert_eq!(rewrite("en/a.md", "fr/a.md", "b.md"), None);
    }
}
