//! Which files of a folder are pages and where each is served, by the rules of the folder's generator.

use docent_markdown::{Format, FrontMatter, stem};

use super::roots::{Root, RootKind, id_key};
use super::{docusaurus, rules};
use crate::layout::Generator;
use crate::paths::{below, index_path};

impl Root {
    /// Whether a file of the folder is a page at all.
    pub(crate) fn keeps(&self, file: &str) -> bool {
        let Some(inside) = self.inside(file) else { return false };
        let rules = rules(self.generator);
        rules.reads(Format::of(inside))
            && !rules.hides(self, inside)
            && !inside.split('/').any(|part| part == "node_modules")
            && !self.excluded.is_match(inside)
            && self.included.as_ref().is_none_or(|included| included.is_match(inside))
    }

    /// Whether readers are meant to find a file of the folder, by its name.
    pub(crate) fn lists(&self, file: &str) -> bool {
        self.keeps(file)
    }

    /// The path a page is served at, its own wishes honoured.
    pub(crate) fn path(&self, file: &str, front: &FrontMatter) -> String {
        let inside = self.inside(file).unwrap_or(file);
        match self.kind {
            RootKind::Pages if self.generator != Generator::Docusaurus => {
                below(&self.served, &index_path(stem(inside).unwrap_or(inside), &["index"]))
            }
            _ => rules(self.generator).address(self, inside, front),
        }
    }

    /// By what the navigation names a page: an id where ids are used, else the path it is served at.
    pub(crate) fn key(&self, file: &str, front: &FrontMatter, path: &str) -> Option<String> {
        match self.navigation.is_empty() {
            true => Some(path.to_owned()),
            false => Some(id_key(&self.navigation, &docusaurus::id(self, self.inside(file)?, front))),
        }
    }

    pub(crate) fn language_of(&self, file: &str) -> Option<String> {
        let suffix = self.inside(file).and_then(|inside| self.without_language(inside).1);
        if !self.languages.is_empty() {
            let path = self.path(file, &FrontMatter::default());
            let below =
                |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some((_, language)) = self.languages.iter().find(|(folder, _)| below(folder)) {
                return Some(language.clone());
            }
        }
        suffix.or(self.language.as_ref()).or(self.suffixes.first()).cloned()
    }

    /// The names of the folders around a page, where folders have names for readers.
    pub(crate) fn categories(&self, file: &str) -> Vec<String> {
        if self.labels.is_empty() {
            return Vec::new();
        }
        let mut names = Vec::new();
        let start = if self.folder.is_empty() { 0 } else { self.folder.len() + 1 };
        for (at, _) in file.match_indices('/').filter(|(at, _)| *at >= start) {
            let folder = &file[..at];
            let own = folder.rsplit('/').next().unwrap_or(folder);
            let label = self.labels.get(folder).cloned();
            names.push(label.unwrap_or_else(|| docusaurus::without_number(own).to_owned()));
        }
        names
    }
}
