//! Detects the language of a question whose stop words do not reveal it: the language whose pages contain the
//! question's words more often than the originals of these pages in the default language do. Where the stop words do, a word
//! that no page in that language contains tells more: `What is instalación?`
//!
//! `instalación` occurs on Spanish pages only, so it is Spanish; `CSS` occurs on as many Spanish pages as originals,
//! and decides nothing. A page is compared with its own original: often only the first chapters are translated, and
//! those contain some words more often than the docs as a whole.

use docent_site::Variants;

use crate::rank::lookup::{Found, Lookup};
use crate::rank::question::{MatchReason, Question};
use crate::text::languages::Language;
use crate::text::terms;

/// Smoothing: to the pages of each language, this many pages are added that contain a word as often as all pages do,
/// since a few pages prove little.
const USUAL: f32 = 2.0;
/// How much likelier another language than the default one has to be, as a natural logarithm.
const AHEAD: f32 = 1.0;

/// By language: the number of pages in it, and the number of pages in the default language that have a translation into
/// it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PagesByLanguage {
    own: Vec<f32>,
    originals: Vec<f32>,
}

impl PagesByLanguage {
    /// The counts over all pages, which are numbered from 0.
    pub(crate) fn of(variants: &Variants, pages: usize) -> Self {
        let mut all = Self::new(variants.languages().len());
        (0..pages as u32).for_each(|page| all.add(variants, page, |_| true));
        all
    }

    fn new(languages: usize) -> Self {
        Self { own: vec![0.0; languages], originals: vec![0.0; languages] }
    }

    fn add(&mut self, variants: &Variants, page: u32, counts: impl Fn(usize) -> bool) {
        let default = variants.default_language();
        let language = |page| variants.page(page).language.filter(|language| Some(*language) != default);
        let own = variants.page(page).language.or(default);
        if !own.is_none_or(counts) {
            return;
        }
        match language(page) {
            Some(own) => self.own[own] += 1.0,
            None => {
                let mut counted = None;
                let translations = variants.group_of(page).map_or(&[][..], |(_, group)| group).iter();
                // Translations into the same language in several versions, adjacent in the group, count once.
                for language in translations.filter_map(|page| language(*page)) {
                    if counted.replace(language) != Some(language) {
                        self.originals[language] += 1.0;
                    }
                }
            }
        }
    }
}

/// The likeliest language of a question; `None` for the default language, which applies unless another is clearly
/// likelier. `found`: the postings of each word of the question; `pages`: the counts over all pages; `is_told`: whether the
/// question's commonest words are in the default language.
pub(crate) fn asked_language(
    lookup: &Lookup<'_>,
    question: &Question,
    found: &[Found],
    variants: &Variants,
    pages: &PagesByLanguage,
    is_told: bool,
) -> tantivy::Result<Option<usize>> {
    let count = variants.languages().len();
    let is_default = |page| variants.page(page).language.is_none_or(|own| Some(own) == variants.default_language());
    let mut has_own_word = vec![!is_told; count];
    let all_pages = lookup.stats.pages.len();
    let stemming: Vec<Language> =
        variants.languages().iter().map(|tag| Language::of_tag(tag).unwrap_or_default()).collect();
    let mut likelier = vec![0.0_f32; count];
    for (word, found) in question.words.iter().zip(found).filter(|(word, _)| !word.is_optional) {
        let (mut holding, mut holding_at_all, mut holding_in_default) = (PagesByLanguage::new(count), 0_usize, false);
        for (at, form) in word.forms.iter().enumerate() {
            // A stem of the word in one language may be the stem of another word in the next, so only pages count in
            // whose language it is the word's stem. Pages too short to detect their language are stemmed as English.
            let is_stem = |language| terms::stem(&word.asked, language) == form.stem;
            let is_any = form.because != MatchReason::Asked || is_stem(Language::English);
            let own: Vec<bool> = stemming.iter().map(|language| is_any || is_stem(*language)).collect();
            lookup.each_page_with(found, at, |page| {
                holding_at_all += 1;
                holding_in_default |= is_default(page);
                holding.add(variants, page, |language| own.get(language).copied().unwrap_or(is_any));
            })?;
        }
        let more = USUAL * holding_at_all as f32 / all_pages.max(1) as f32;
        for (language, likelier) in likelier.iter_mut().enumerate().filter(|_| holding_at_all > 0) {
            let share = |holding: f32, pages: f32| (holding + more) / (pages + USUAL);
            let own = share(holding.own[language], pages.own[language]);
            *likelier += (own / share(holding.originals[language], pages.originals[language])).ln();
            has_own_word[language] |= !holding_in_default && holding.own[language] > 0.0;
        }
    }
    let best = (0..count).max_by(|a, b| likelier[*a].total_cmp(&likelier[*b]).then(b.cmp(a)));
    Ok(best.filter(|best| likelier[*best] > AHEAD && has_own_word[*best]))
}
