//! What the ranking weighs by: one set of numbers for all sites.
//!
//! They were chosen on judged sets that differ in kind, on plateaus where a third more or less changes little. What each
//! brings is told in `docs/SEARCH.md`.

use docent_types::BoxError;

macro_rules! settings {
    ($($(#[$about:meta])* $name:ident = $value:expr,)*) => {
        /// The numbers the ranking weighs by. Not for users: only what judges the ranking changes them.
        #[doc(hidden)]
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $($(#[$about])* pub(crate) $name: f32,)*
            /// Files whose links do not count.
            pub links_not_from: Vec<String>,
        }

        /// As it ships.
        pub(crate) const SHIPPED: Settings = Settings { $($name: $value,)* links_not_from: Vec::new() };

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
    /// What a word counts in the fields of a page. One in a title or a path was chosen to say what the page is about.
    title = 3.5,
    path = 4.0,
    description = 1.5,
    headings = 1.0,
    whole = 1.0,
    /// In the links of other pages to this one.
    link = 0.5,
    /// In the fields of a section. Headings are short, so that one word in them already scores high, and the body holds
    /// them too; and what code mentions is seldom what its section is about.
    heading = 0.2,
    body = 1.0,
    code = 0.1,
    /// How soon more of the same word stops counting.
    k1_section = 1.2,
    k1_page = 1.2,
    /// How much the length of a field counts, 0 to 1.
    b_short = 0.75,
    b_body = 0.65,
    b_whole = 0.75,
    b_link = 0.75,
    /// What the second best section counts against the best, the third against the second, and so on.
    decay = 0.3,
    /// What the page as a whole counts against its sections.
    page_share = 0.22,
    /// What a section gains that holds all of the question.
    coverage = 0.3,
    /// What two words of the question gain that stand beside each other, and how far apart that may be.
    together = 0.5,
    together_gap = 3.0,
    /// For how many of the best sections that is found out.
    together_top = 50.0,
    /// What a page gains whose title is the question.
    titled = 0.3,
    /// What the most linked page gains.
    linked = 0.2,
    /// What reference and lists of changes count for a question that asks for neither.
    reference = 0.875,
    changes = 0.6,
    /// What a page counts that holds the question's words only where it leads to other pages, and one that holds them only
    /// where it tells of what is deprecated, for a question that does not ask for that.
    leads = 0.6,
    outdated = 0.7,
    /// What likeness by vectors counts for a question of five words; the rest is what words count.
    alike = 0.45,
    /// How much more likeness counts the longer a question is.
    alike_slope = 0.1,
    /// What likeness to the best answer so far counts against likeness to the question.
    alike_best = 0.7,
    /// What the most linked page gains where likeness counts, in standard deviations: a page that words have not found has
    /// gained nothing by `linked`.
    alike_linked = 0.08,
    /// Whether copies are shown once.
    copies_once = 1.0,
    /// Whether of a page's variants in several versions and languages only one takes part.
    variants_once = 1.0,
    /// What a page counts that there is in another version or another language alone than those that are asked for.
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
