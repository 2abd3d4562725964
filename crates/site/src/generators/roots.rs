//! Which files of a folder are pages, and by which rules a file's name becomes the path it is served at.

use docent_markdown::{Format, FrontMatter, file_name, is_partial, joined, stem};

use super::{Root, RootKind, docusaurus, rules};
use crate::generator::Generator;
use crate::paths::{below, index_path, path_in};
use crate::tree::joined_in;

impl Root {
    pub(crate) fn holds(&self, file: &str) -> bool {
        self.relative_path(file).is_some()
    }

    pub(crate) fn relative_path<'f>(&self, file: &'f str) -> Option<&'f str> {
        if self.folder.is_empty() { Some(file) } else { file.strip_prefix(self.folder.as_str())?.strip_prefix('/') }
    }

    /// The path of a file relative to the site's folder of pages, also where the docs root is a folder inside of it.
    pub(crate) fn source_path(&self, file: &str) -> Option<String> {
        joined(&self.narrowed_to, self.relative_path(file)?)
    }

    /// The file with a path relative to the site's folder of pages, which may be outside of the docs root.
    pub(crate) fn file_of(&self, docs_root: &str, source_path: &str) -> String {
        if self.narrowed_to.is_empty() {
            return below(&self.folder, source_path);
        }
        let up = "../".repeat(self.narrowed_to.split('/').count());
        joined_in(docs_root, &up, source_path).unwrap_or_else(|| source_path.to_owned())
    }

    /// A folder of pages that begins above the docs root is taken to begin with it, which leaves the addresses as they are.
    /// Whether it does.
    pub(super) fn narrow_to(&mut self, docs_root: &str) -> bool {
        let is_above = !self.folder.is_empty() && self.folder.split('/').all(|part| part == "..");
        // What these build, and where, is said for each of their folders.
        if !is_above || matches!(self.generator, Generator::Antora | Generator::Docfx | Generator::Jekyll) {
            return false;
        }
        let parts: Vec<&str> = docs_root.split('/').filter(|part| !part.is_empty()).collect();
        let inside = parts[parts.len().saturating_sub(self.folder.split('/').count())..].join("/");
        match self.generator {
            // It names pages by where they are mounted.
            Generator::Hugo => self.base_path = below(&self.base_path, &inside),
            _ => self.narrowed_to = inside,
        }
        // The folder of the original pages is told from those of translations.
        self.options.docusaurus.folders.iter_mut().filter(|folder| **folder == self.folder).for_each(String::clear);
        self.folder.clear();
        true
    }

    /// The site path of a file path without extension.
    pub(crate) fn path_of_stem(&self, stem: &str) -> String {
        below(&self.base_path, &self.source_path(stem).unwrap_or_else(|| stem.to_owned()))
    }

    /// Splits a language suffix off a file's stem: `page.fr.md` gives `page` and `fr`.
    pub(crate) fn without_language<'f>(&self, relative_path: &'f str) -> (&'f str, Option<&String>) {
        let stem = stem(relative_path).unwrap_or(relative_path);
        let suffix = stem.rsplit_once('.').and_then(|(stem, last)| {
            self.language_suffixes.iter().find(|language| *language == last).map(|language| (stem, Some(language)))
        });
        suffix.unwrap_or((stem, None))
    }

    pub(crate) fn rewritten(&self, relative_path: &str) -> String {
        self.rewrites
            .iter()
            .find_map(|(from, to)| rewrite(relative_path, from, to))
            .unwrap_or_else(|| relative_path.to_owned())
    }

    /// Whether a file of the folder is a page at all.
    pub(crate) fn is_page(&self, file: &str) -> bool {
        let Some(relative_path) = self.relative_path(file) else { return false };
        let rules = rules(self.generator);
        let Some(source_path) = self.source_path(file) else { return false };
        rules.facts().reads(Format::of(relative_path))
            && rules.skips_path(self, relative_path).is_none()
            && !relative_path.split('/').any(|part| part == "node_modules")
            && !self.excluded.is_match(&source_path)
            && self.included.as_ref().is_none_or(|included| included.is_match(&source_path))
    }

    /// Whether a file is a partial, which other pages include, judged by its name.
    pub(crate) fn is_partial(&self, file: &str) -> bool {
        !rules(self.generator).facts().has_no_partials && is_partial(file)
    }

    /// The path a page is served at, taking its front matter into account.
    pub(crate) fn path(&self, file: &str, front: &FrontMatter) -> String {
        let source_path = self.source_path(file).unwrap_or_else(|| file.to_owned());
        match self.kind {
            RootKind::Pages if self.generator != Generator::Docusaurus => by_stem(self, &source_path),
            _ => rules(self.generator).address(self, &source_path, front),
        }
    }

    /// The key of a page in the navigation: its document id where the navigation uses ids, else the path it is served
    /// at.
    pub(crate) fn key(&self, file: &str, front: &FrontMatter, path: &str) -> Option<String> {
        match self.navigation.is_empty() {
            true => Some(path.to_owned()),
            false => Some(id_key(&self.navigation, &docusaurus::id(self, &self.source_path(file)?, front))),
        }
    }

    pub(crate) fn language_of(&self, file: &str) -> Option<String> {
        let suffix = self.relative_path(file).and_then(|relative_path| self.without_language(relative_path).1);
        if !self.languages.is_empty() {
            let path = self.path(file, &FrontMatter::default());
            if let Some((_, language)) = self.languages.iter().find(|(folder, _)| path_in(folder, &path).is_some()) {
                return Some(language.clone());
            }
        }
        suffix.or(self.language.as_ref()).or(self.language_suffixes.first()).cloned()
    }

    /// Display names of the folders around a page, outermost first; empty if the root labels no folders.
    pub(crate) fn categories(&self, file: &str) -> Vec<String> {
        if self.labels.is_empty() {
            return Vec::new();
        }
        let mut names = Vec::new();
        let start = if self.folder.is_empty() { 0 } else { self.folder.len() + 1 };
        for (at, _) in file.match_indices('/').filter(|(at, _)| *at >= start) {
            let folder = &file[..at];
            let folder_name = file_name(folder);
            let label = self.labels.get(folder).cloned();
            names.push(label.unwrap_or_else(|| docusaurus::without_number(folder_name).to_owned()));
        }
        names
    }
}

/// The address of a page derived from its file path alone; an `index` file is served at its folder's path.
pub(super) fn by_stem(root: &Root, relative_path: &str) -> String {
    below(&root.base_path, &index_path(stem(relative_path).unwrap_or(relative_path), &["index"]))
}

/// The key of a navigation entry that is named by a document id.
pub(crate) fn id_key(navigation: &str, id: &str) -> String {
    format!("{navigation}\n{id}")
}

/// Applies one rewrite rule to a path. `from` and `to` may contain `:name`, `:name*` and `:name(.*)`; `None` if `from`
/// does not match.
fn rewrite(path: &str, from: &str, to: &str) -> Option<String> {
    let mut captures: Vec<(&str, String)> = Vec::new();
    let mut parts = path.split('/');
    for wanted in from.split('/') {
        match wanted.strip_prefix(':') {
            Some(name) if name.ends_with('*') || name.contains("(.*)") => {
                let rest: Vec<&str> = parts.by_ref().collect();
                (!rest.is_empty()).then_some(())?;
                captures.push((name.split(['*', '(']).next()?, rest.join("/")));
            }
            Some(name) => {
                let part = parts.next()?;
                let (name, tail) =
                    name.split_once('.').map_or((name, ""), |(name, _)| (name, &wanted[1 + name.len()..]));
                captures.push((name, part.strip_suffix(tail)?.to_owned()));
            }
            None => (parts.next()? == wanted).then_some(())?,
        }
    }
    parts.next().is_none().then_some(())?;
    let mut out = to.to_owned();
    for (name, value) in captures {
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
