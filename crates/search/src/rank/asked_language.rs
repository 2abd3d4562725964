//! The language of a question whose own words do not say it: that of the pages which say its words more often than the same
//! pages do in the default language.
//!
//! `instalación` stands on Spanish pages alone, so it is Spanish; `CSS` stands on as many of them as of their originals, and
//! decides nothing. A page is held against its own original: often only the first chapters are translated, and those say some
//! words more often than all docs do.

use docent_site::Variants;

use crate::rank::lookup::{Found, Lookup};
use crate::rank::question::{MatchReason, Question};
use crate::text::languages::Language;
use crate::text::terms;

/// As many pages more of each language are held to say a word as often as all pages do: few pages prove little.
const USUAL: f32 = 2.0;
/// How much likelier another language than the default one has to be, as a natural logarithm.
const AHEAD: f32 = 1.0;

/// For each language of the variants: how many pages there are in it, and how many originals of pages in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PagesByLanguage {
    own: Vec<f32>,
    originals: Vec<f32>,
}

impl PagesByLanguage {
    /// Those of all pages, which are numbered from 0.
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
                // Those in several versions stand beside each other.
                for language in translations.filter_map(|page| language(*page)) {
                    if counted.replace(language) != Some(language) {
                        self.originals[language] += 1.0;
                    }
                }
            }
        }
    }
}

/// The language a question seems to be in; `None` for the default one, which stands where no other is clearly
/// likelier. `found`: where each word of the question is listed; `pages`: how many there are at all.
pub(crate) fn asked_language(
    lookup: &Lookup<'_>,
    question: &Question,
    found: &[Found],
    variants: &Variants,
    pages: &PagesByLanguage,
) -> tantivy::Result<Option<usize>> {
    let count = variants.languages().len();
    let all_pages = lookup.stats.pages.len();
    let stemming: Vec<Language> =
        variants.languages().iter().map(|tag| Language::of_tag(tag).unwrap_or_default()).collect();
    let mut likelier = vec![0.0_f32; count];
    for (word, found) in question.words.iter().zip(found).filter(|(word, _)| !word.is_extra) {
        let (mut holding, mut holding_at_all) = (PagesByLanguage::new(count), 0_usize);
        for (at, form) in word.forms.iter().enumerate() {
            // What is the stem of a word in one language may be another word's in the next. Pages too short to tell their
            // language are stemmed as English.
            let is_stem = |language| terms::stem(&word.asked, language) == form.stem;
            let is_any = form.because != MatchReason::Asked || is_stem(Language::English);
            let own: Vec<bool> = stemming.iter().map(|language| is_any || is_stem(*language)).collect();
            lookup.each_page_with(found, at, |page| {
                holding_at_all += 1;
                holding.add(variants, page, |language| own.get(language).copied().unwrap_or(is_any));
            })?;
        }
        let more = USUAL * holding_at_all as f32 / all_pages.max(1) as f32;
        for (language, likelier) in likelier.iter_mut().enumerate().filter(|_| holding_at_all > 0) {
            let share = |holding: f32, pages: f32| (holding + more) / (pages + USUAL);
            let own = share(holding.own[language], pages.own[language]);
            *likelier += (own / share(holding.originals[language], pages.originals[language])).ln();
        }
    }
    let best = (0..count).max_by(|a, b| likelier[*a].total_cmp(&likelier[*b]).then(b.cmp(a)));
    Ok(best.filter(|best| likelier[*best] > AHEAD))
}
