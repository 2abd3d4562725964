//! Explains why a file in a page format is not a page that readers can find.
//!
//! Skipped files are counted by reason; for each file, the rule that skips it is available with its file and line.

use docent_markdown::{
    Format, Lines, file_name, is_agents_file, is_for_editors, is_markup, is_page, read_front_matter, text_of,
};

use crate::generators::detection::is_configuration;
use crate::generators::rules;
use crate::glob::Globs;
use crate::layout::Layout;
use crate::model::front_matter;
use crate::read_file::read_file;
use crate::skip_reason::SkipReason;
use crate::tree::Tree;

/// Why a file is skipped, and the location of the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    pub reason: SkipReason,
    /// `None` if the rule is built into the generator, or its line is not known.
    pub rule: Option<RuleAt>,
}

/// The location of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleAt {
    /// Relative to the docs root; begins with `../` if it is outside of it.
    pub file: String,
    /// Counted from 1; `None` if the rule is the file as a whole, such as a missing entry.
    pub line: Option<usize>,
}

/// Extensions of documentation formats that are not supported.
const UNREAD: [&str; 13] =
    ["asc", "creole", "dita", "ditamap", "docx", "mediawiki", "org", "pod", "qmd", "rdoc", "rmd", "textile", "typ"];

/// Names of files with one exclusion pattern a line.
const IGNORE_FILES: [&str; 2] = [".mintignore", ".bookignore"];

/// Maximum number of lines that are searched for an exclusion after the key of its list.
const MAX_LIST_LINES: usize = 60;

/// Whether a file is in a documentation format, supported or not. Only such files are counted as skipped.
fn is_written_as_docs(file: &str) -> bool {
    let name = file_name(file);
    let has_stem_and = |endings: &[&str]| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty() && endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
        })
    };
    docent_markdown::stem(file).is_some() || has_stem_and(&UNREAD)
}

impl Layout {
    /// Why a file makes no page that readers can find, as far as its path tells. `None` for a file that may make one,
    /// and for a file in no documentation format.
    pub fn skipped(&self, file: &str) -> Option<SkipReason> {
        if !is_written_as_docs(file) {
            return None;
        }
        if file.split('/').any(|part| part == "node_modules") {
            return Some(SkipReason::Excluded);
        }
        if file.split('/').any(|part| part.starts_with('.')) || is_agents_file(file) {
            return Some(SkipReason::ForEditors);
        }
        let Some((root, inside)) = self.root(file).and_then(|root| Some((root, root.relative_path(file)?))) else {
            return Some(SkipReason::Outside);
        };
        let rules = rules(root.generator);
        if !is_markup(file) || !rules.facts().reads(Format::of(file)) {
            return Some(SkipReason::Unsupported);
        }
        if let Some(reason) = rules.skips_path(root, inside).or_else(|| rules.skips(self, file)) {
            return Some(reason);
        }
        if root.excluded.is_match(inside) {
            return Some(SkipReason::Excluded);
        }
        if root.included.as_ref().is_some_and(|included| !included.is_match(inside)) {
            return Some(match () {
                _ if is_configuration(file) => SkipReason::Configuration,
                _ if self.summary.is_some() => SkipReason::NotInNavigation,
                _ if is_for_editors(file) => SkipReason::ForEditors,
                _ => SkipReason::Excluded,
            });
        }
        root.is_partial(file).then_some(SkipReason::Partial)
    }

    /// Why a file makes no page that readers can find. `None` for a file that makes one, and for a file in no
    /// documentation format.
    pub fn skip(&self, tree: &dyn Tree, file: &str, bytes: &[u8]) -> Option<Skip> {
        let reason = match self.skipped(file) {
            Some(reason) => reason,
            None if is_page(file) => read_file(self, file, bytes, tree).skipped?,
            None => return None,
        };
        Some(Skip { reason, rule: self.rule(tree, file, bytes, reason) })
    }

    /// The number of pages that a file makes and readers can find, or why it makes none. As [`read_file`] has it, but of a page
    /// only the front matter is read. `None` for a file that is not docs.
    pub(crate) fn listed_pages(&self, tree: &dyn Tree, file: &str) -> Option<Result<usize, SkipReason>> {
        if let Some(reason) = self.skipped(file) {
            return Some(Err(reason));
        }
        if !self.holds_pages(file) {
            return None;
        }
        let bytes = || tree.read(file).unwrap_or_default();
        if !is_page(file) {
            let listed = read_file(self, file, &bytes(), tree).pages.iter().filter(|page| page.place.listed).count();
            return (listed > 0).then_some(Ok(listed));
        }
        let front = front_matter(&bytes());
        let place = self.place_of(file, self.front_matter_of(file, &bytes).as_ref().unwrap_or(&front));
        Some(match place.listed {
            true => Ok(1),
            false if front.is_excluded_from_listings() => Err(SkipReason::Hidden),
            false => Err(SkipReason::NotInNavigation),
        })
    }

    /// The location of the rule by which a file is skipped, if known.
    fn rule(&self, tree: &dyn Tree, file: &str, bytes: &[u8], reason: SkipReason) -> Option<RuleAt> {
        match reason {
            SkipReason::Hidden => {
                let text = text_of(bytes);
                let lines = Lines::of(&text);
                let (front, _) = read_front_matter(&text, &lines);
                let name = front.excluding_field()?.rsplit('.').next()?;
                let body = front.body?;
                let mut at = body.start;
                let found = text[body].split_inclusive('\n').find(|line| {
                    let is_it = line.trim_start().trim_start_matches(['"', '\'']).starts_with(name);
                    at += if is_it { 0 } else { line.len() };
                    is_it
                });
                Some(RuleAt { file: file.to_owned(), line: found.map(|_| lines.number(at)) })
            }
            SkipReason::NotInNavigation => self.navigation_file(tree).map(|file| RuleAt { file, line: None }),
            SkipReason::Excluded => self.excluding(tree, file),
            SkipReason::Outside => {
                self.own_configurations(tree).into_iter().next().map(|file| RuleAt { file, line: None })
            }
            _ => None,
        }
    }

    /// The file that lists the pages.
    fn navigation_file(&self, tree: &dyn Tree) -> Option<String> {
        match &self.summary {
            Some(summary) => tree.read(summary).map(|_| summary.clone()),
            None => self.own_configurations(tree).into_iter().next(),
        }
    }

    /// The configuration files of this generator, those nearest the root first, then ignore files.
    fn own_configurations(&self, tree: &dyn Tree) -> Vec<String> {
        let paths = tree.all_paths();
        let of_home = |file: &&str| {
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
            let folder = folder.strip_prefix(self.home.as_str()).unwrap_or(folder).trim_start_matches('/');
            self.facts().is_main_configuration.is_some_and(|is_main| is_main(folder, name))
        };
        let files = Self::files(paths.iter().map(String::as_str));
        let ignoring = paths.iter().map(String::as_str);
        let ignoring = ignoring.filter(|file| IGNORE_FILES.contains(&file_name(file)));
        let mut found: Vec<String> = files.into_iter().filter(of_home).map(str::to_owned).collect();
        found.sort_by_key(|file| file.matches('/').count());
        found.extend(ignoring.map(str::to_owned));
        found.dedup();
        found
    }

    /// The line of a configuration whose pattern excludes a file.
    fn excluding(&self, tree: &dyn Tree, file: &str) -> Option<RuleAt> {
        let inside = self.root(file)?.source_path(file)?;
        let is_meant = |word: &str| {
            // A pattern that consists only of wildcards could belong to any list.
            word.contains(char::is_alphanumeric) && {
                let globs = Globs::ignored("", word);
                globs.is_match(&inside) || globs.is_match(file)
            }
        };
        self.own_configurations(tree).into_iter().find_map(|configuration| {
            let text = tree.text(&configuration)?;
            let is_list = IGNORE_FILES.contains(&file_name(&configuration));
            let mut room = if is_list { usize::MAX } else { 0 };
            let line = text.lines().zip(1..).find_map(|(line, number)| {
                let lower = line.to_ascii_lowercase();
                let names_list = ["exclude", "ignore", "not_in_nav"].iter().any(|word| lower.contains(word));
                room = if names_list && !is_list { MAX_LIST_LINES } else { room.saturating_sub(usize::from(!is_list)) };
                let words = line.split(['"', '\'', '`', ',', '[', ']', ' ', '\t', ':', '=']);
                (room > 0 && words.map(str::trim).any(is_meant)).then_some(number)
            });
            line.map(|line| RuleAt { file: configuration, line: Some(line) })
        })
    }
}

#[cfg(test)]
mod tests;
