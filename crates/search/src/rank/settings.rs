//! The parameters of the ranking: one set of numbers for all sites.
//!
//! They were tuned on judged sets of different kinds, on plateaus where a third more or less changes little.
//! `docs/SEARCH.md` says what each contributes.

use docent_types::BoxError;

macro_rules! settings {
    ($($(#[$about:meta])* $name:ident = $value:expr,)*) => {
        /// The parameters of the ranking. Not for users: only evaluation of the ranking changes them.
        #[doc(hidden)]
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $($(#[$about])* pub(crate) $name: f32,)*
        }

        /// The values that ship.
        pub(crate) const SHIPPED: Settings = Settings { $($name: $value,)* };

        impl Settings {
            /// Changes one number by its name.
            ///
            /// # Errors
            /// When there is none of that name.
            pub fn set(&mut self, name: &str, value: f32) -> Result<(), BoxError> {
                match name {
                    $(stringify!($name) => self.$name = value,)*
                    _ => return Err(format!("no setting is called `{name}`").into()),
                }
                Ok(())
            }
        }
    };
}

settings! {
    /// Weights of a word in the fields of a page. Words in a title or a path were chosen to say what the page is about.
    title = 3.5,
    path = 4.0,
    description = 1.5,
    headings = 1.0,
    whole = 1.0,
    /// Weight of a word in the links of other pages to this one.
    link = 0.5,
    /// Weights of a word in the fields of a section. Headings are short, so that a single word in them already scores
    /// high, and the body contains them too; and what code mentions is seldom what its section is about.
    heading = 0.2,
    body = 1.0,
    code = 0.1,
    /// The parameter k1 of BM25: how soon further occurrences of a word stop adding to the score.
    k1 = 1.2,
    /// The parameter b of BM25: how much the length of a field counts, 0 to 1; of a section's text and code `b_text`.
    b = 0.75,
    b_text = 0.65,
    /// Weight of a page's second best section relative to the best, of the third relative to the second, and so on.
    decay = 0.3,
    /// Weight of the page as a whole relative to its sections.
    page_share = 0.22,
    /// Gain, as a share of its score, of a section that contains all words of the question.
    coverage = 0.3,
    /// Bonus for two consecutive words of the question that are adjacent, as a factor on the lower rarity of the two;
    /// and the maximum distance of the two for any bonus, in positions (adjacent words have a distance of 1).
    together = 0.5,
    together_gap = 3.0,
    /// The number of the best sections for which adjacent words are looked up.
    together_top = 50.0,
    /// Gain, as a share of its score, of a page whose title is the question.
    titled = 0.3,
    /// Gain, as a share of its score, of the page with the most links to it.
    linked = 0.2,
    /// Weights of reference pages and of changelogs, for a question that asks for neither.
    reference = 0.875,
    changes = 0.6,
    /// Weights of a page that contains the question's words only in sections that lead to other pages, and of a page
    /// that is about something deprecated or contains the words only in such sections, for a question that does not ask
    /// for that.
    leads = 0.6,
    outdated = 0.7,
    /// Weight of vector similarity for a question of five words; the rest is the weight of word scores.
    similarity = 0.45,
    /// How much the weight of vector similarity grows with the number of words: a factor on its natural logarithm.
    similarity_slope = 0.1,
    /// Weight of vector similarity to the best answer so far, relative to similarity to the question.
    similarity_best = 0.7,
    /// Gain of the page with the most links to it where vectors are used, in standard deviations: `linked` adds nothing
    /// to a page that was not found by words.
    similarity_linked = 0.08,
    /// Whether copies are shown once.
    copies_once = 1.0,
    /// Whether only one of a page's variants in several versions and languages takes part.
    variants_once = 1.0,
    /// Weight of a page that exists only in a version or a language that is not asked for.
    other_variant = 0.8,
}

impl Default for Settings {
    fn default() -> Self {
        SHIPPED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_changed_by_its_name() {
        let mut settings = Settings::default();
        settings.set("decay", 0.5).expect("there is one");
        assert_eq!(settings, Settings { decay: 0.5, ..SHIPPED });
        assert!(settings.set("no_such", 1.0).is_err());
    }
}
