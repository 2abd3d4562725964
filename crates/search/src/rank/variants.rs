//! Selects the variant of a page that a reader wants: the page in the version and the language that are asked for, else
//! in the current version and the default language.
//!
//! The site model defines what the variants of a page are ([`docent_site::Variants`]). This module finds out which
//! version and language are asked for. Of each page only one variant takes part in a search, so that older versions and
//! translations do not crowd out other pages. A page that exists only in another version or language takes part at a
//! lower weight.

use std::ops::Range;

use docent_site::{PageLabels, Stage, Variant, Variants, is_same_language};

use crate::index::manifest::Manifest;
use crate::query::Query;
use crate::text::languages::{QuestionLanguage, codes_of_script, question_language};

/// Only this many bytes of a question are examined.
const LONGEST_QUESTION: usize = 2_000;
/// Words next to which a name is that of a version, as in `next version`. A plain number is one only after them, as in
/// `version 7`.
const VERSION_WORDS: [&str; 6] = ["version", "versions", "release", "docs", "documentation", "v"];

/// The variants of the pages in a manifest, by page number.
pub(crate) fn of_manifest(manifest: &Manifest) -> Variants {
    let label =
        |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let labels: Vec<_> = manifest.listed().map(|page| (label(&page.version), label(&page.language))).collect();
    let pages: Vec<PageLabels<'_>> = manifest
        .listed()
        .zip(&labels)
        .map(|(page, (version, language))| PageLabels {
            path: &page.path,
            version: version.as_deref(),
            language: language.as_deref(),
        })
        .collect();
    let redirects = manifest.site.redirects.iter().map(|(source, destination)| (source.as_str(), destination.as_str()));
    Variants::of(&pages, &manifest.site.declared, redirects)
}

/// The version and the language that a question asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WantedVariant {
    /// The versions asked for; empty for the current one.
    versions: Vec<usize>,
    /// `None` for the default one.
    language: Option<usize>,
    /// Whether neither the question nor the page the asker is on settles the language. It is then detected from the
    /// pages that contain the question's words ([`crate::rank::asked_language`]).
    pub(crate) is_untold: bool,
    /// Whether it is only by its commonest words (`What is …`) that the question is in the default language, or in none of
    /// the site's.
    pub(crate) is_told_by_words: bool,
}

impl WantedVariant {
    /// Taken from the filter, else from the question, else from the page the asker is on, whose number is `near`.
    pub(crate) fn of(variants: &Variants, query: &Query, near: Option<u32>) -> Self {
        if variants.is_empty() {
            return Self::default();
        }
        let here = near.map(|near| variants.page(near)).unwrap_or_default();
        let text = &query.text[..query.text.floor_char_boundary(LONGEST_QUESTION)];
        let versions = wanted_versions(variants, query, text, here);
        let told = match &query.filter.language {
            Some(name) => {
                let named = variants.languages().iter().position(|language| is_same_language(language, name));
                named.map_or(QuestionLanguage::Another, QuestionLanguage::One)
            }
            None => question_language(text, variants.languages(), here.language),
        };
        let is_untold = match told {
            QuestionLanguage::Nothing => near.is_none() && !variants.languages().is_empty(),
            told => matches!(told, QuestionLanguage::Likely(_)),
        };
        let is_default = match told {
            QuestionLanguage::One(language) => Some(language) == variants.default_language(),
            told => told == QuestionLanguage::Another,
        };
        let is_told_by_words = is_default && query.filter.language.is_none() && codes_of_script(text).is_empty();
        let language = match told {
            QuestionLanguage::One(language) | QuestionLanguage::Likely(language) => Some(language),
            QuestionLanguage::Another => None,
            QuestionLanguage::Nothing => here.language,
        };
        Self { versions, is_untold, is_told_by_words, ..Self::default() }.with_language(variants, language)
    }

    /// Replaces the language.
    pub(crate) fn with_language(self, variants: &Variants, language: Option<usize>) -> Self {
        Self { language: language.filter(|language| Some(*language) != variants.default_language()), ..self }
    }

    /// Replaces the language by the one detected from the pages found, if there is one.
    pub(crate) fn in_language(self, variants: &Variants, language: Option<usize>) -> Self {
        let language = language.or(self.language);
        Self { is_untold: false, is_told_by_words: false, ..self }.with_language(variants, language)
    }

    /// Whether the current version in the default language is wanted.
    pub(crate) fn is_usual(&self) -> bool {
        self.versions.is_empty() && self.language.is_none()
    }

    /// A sort key for how well a variant fits: the smallest fits best.
    pub(crate) fn rank(&self, variants: &Variants, variant: Variant) -> (usize, usize, usize) {
        let language = match variant.language {
            Some(language) if self.language == Some(language) => 0,
            _ => 1 + variants.language_rank(variant),
        };
        let is_asked = variant.version.is_some_and(|version| self.versions.contains(&version));
        (language, usize::from(!is_asked), variants.version_rank(variant))
    }

    /// Whether a page is in an older version or a preview that is not asked for.
    pub(crate) fn is_other_version(&self, variants: &Variants, variant: Variant) -> bool {
        variant.version.is_some_and(|version| {
            variants.versions()[version].stage != Stage::Current && !self.versions.contains(&version)
        })
    }

    /// Whether a page is in neither the language that is asked for nor the default one.
    pub(crate) fn is_other_language(&self, variants: &Variants, variant: Variant) -> bool {
        self.rank(variants, variant).0 > 1
    }
}

/// The versions that pass the filter, else those that the question names, else that of the page the asker is on, unless
/// it is the only current version.
fn wanted_versions(variants: &Variants, query: &Query, text: &str, here: Variant) -> Vec<usize> {
    let all = variants.versions();
    if let Some(name) = &query.filter.version {
        return (0..all.len()).filter(|at| all[*at].name == *name).collect();
    }
    let mut versions = named_versions(text, variants);
    if versions.is_empty() {
        versions.extend(here.version.filter(|at| all[*at].stage != Stage::Current || has_several_current(variants)));
    }
    versions
}

/// Whether several versions are current: they are then unrelated, or belong to different parts of a site.
fn has_several_current(variants: &Variants) -> bool {
    variants.versions().iter().filter(|version| version.stage == Stage::Current).nth(1).is_some()
}

/// For each page: whether it is the variant for readers who ask for no version and no language.
pub(crate) fn usual(variants: &Variants, pages: usize) -> Vec<bool> {
    let wanted = WantedVariant::default();
    let mut best = std::collections::HashMap::new();
    let mut is_best = |page: u32| match variants.group_of(page) {
        None => true,
        Some((number, group)) => {
            let best = best.entry(number).or_insert_with(|| best_of(variants, &wanted, group.iter().copied()));
            is_same(*best, variants.page(page))
        }
    };
    (0..pages as u32).map(&mut is_best).collect()
}

/// The variant that fits best among those of some pages.
pub(crate) fn best_of(variants: &Variants, wanted: &WantedVariant, pages: impl Iterator<Item = u32>) -> Variant {
    let best = pages.map(|page| variants.page(page)).min_by_key(|variant| wanted.rank(variants, *variant));
    best.unwrap_or_default()
}

/// Whether two pages of one group are in the same version and language: they are then two distinct pages, and neither
/// replaces the other.
pub(crate) fn is_same(one: Variant, other: Variant) -> bool {
    (one.version, one.language) == (other.version, other.language)
}

/// The versions of the site that a question names as a word: `v2`, `7.4`, `version 7`, `next version`.
fn named_versions(text: &str, variants: &Variants) -> Vec<usize> {
    version_words(text, variants).into_iter().flat_map(|(_, versions)| versions).collect()
}

/// A text without the words that name a version of the site, and these words: they choose a page's variant, and do not
/// make a page about upgrading answer. A text of nothing else stays as it is.
pub(crate) fn without_versions(text: &str, variants: &Variants) -> (String, String) {
    let (mut rest, mut named, mut from) = (String::new(), String::new(), 0);
    for (range, _) in version_words(&text[..text.floor_char_boundary(LONGEST_QUESTION)], variants) {
        rest.push_str(&text[from..range.start]);
        named.push_str(&text[range.clone()]);
        named.push(' ');
        from = range.end;
    }
    rest.push_str(&text[from..]);
    match rest.contains(char::is_alphanumeric) {
        true => (rest, named),
        false => (text.to_owned(), String::new()),
    }
}

/// The words of a text that name versions of the site, and which.
fn version_words(text: &str, variants: &Variants) -> Vec<(Range<usize>, Vec<usize>)> {
    if variants.versions().is_empty() {
        return Vec::new();
    }
    let pieces = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_'));
    let words: Vec<(Range<usize>, String)> = pieces
        .map(|piece| piece.trim_matches(['.', '-', '_']))
        .filter(|word| !word.is_empty())
        .map(|word| {
            let start = word.as_ptr().addr() - text.as_ptr().addr();
            (start..start + word.len(), word.to_lowercase())
        })
        .collect();
    let mut found = Vec::new();
    for (at, (range, word)) in words.iter().enumerate() {
        let is_beside = |at: Option<usize>| {
            at.and_then(|at| words.get(at)).is_some_and(|(_, word)| VERSION_WORDS.contains(&word.as_str()))
        };
        let digits = word.strip_prefix('v').unwrap_or(word);
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit());
        let is_clear = is_number && (digits.len() < word.len() || digits.contains('.'));
        if is_clear || is_beside(at.checked_sub(1)) || !is_number && is_beside(Some(at + 1)) {
            let versions: Vec<usize> = variants.named(word).into_iter().collect();
            if !versions.is_empty() {
                found.push((range.clone(), versions));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use docent_site::Declared;

    use super::*;

    fn variants() -> Variants {
        let paths: Vec<String> = ["v7.4", "v7.5", "v8", "next"]
            .iter()
            .flat_map(|version| ["a", "b", "c"].map(|page| format!("{version}/{page}")))
            .collect();
        let pages: Vec<PageLabels<'_>> =
            paths.iter().map(|path| PageLabels { path, ..PageLabels::default() }).collect();
        Variants::of(&pages, &Declared::default(), std::iter::empty())
    }

    #[test]
    fn a_question_names_a_version_as_a_word() {
        let variants = variants();
        let named = |text: &str| -> Vec<String> {
            let mut named: Vec<String> =
                named_versions(text, &variants).into_iter().map(|at| variants.versions()[at].name.clone()).collect();
            named.dedup();
            named
        };
        for (text, expected) in [
            ("keys in 7.4", &["v7.4"][..]),
            ("keys in v7.5?", &["v7.5"]),
            ("does 7.4.2 have keys", &["v7.4"]),
            ("keys in version 8", &["v8"]),
            ("what comes in the next version", &["next"]),
            ("upgrade from 7.4 to v8", &["v7.4", "v8"]),
            ("what comes next", &[]),
            ("8 keys", &[]),
            ("keys of 17.4", &[]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
        assert_eq!(without_versions("keys in v7.5?", &variants), ("keys in ?".to_owned(), "v7.5 ".to_owned()));
        assert_eq!(without_versions("8 keys", &variants), ("8 keys".to_owned(), String::new()));
        assert_eq!(without_versions("v7.5", &variants), ("v7.5".to_owned(), String::new()));
    }
}
