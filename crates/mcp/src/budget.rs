//! How much of a context a result may take.
//!
//! Tokens are counted as three bytes each: the tokenizers of current models need more bytes for one in prose and code. What
//! a JSON string escapes counts too, so that a result is within its budget as text and as JSON.

/// Maximum length of a result, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget(usize);

const BYTES_PER_TOKEN: usize = 3;

impl Budget {
    pub(crate) const fn tokens(tokens: usize) -> Self {
        Self(tokens * BYTES_PER_TOKEN)
    }

    /// The smaller of two budgets.
    pub(crate) fn at_most(self, other: Option<Self>) -> Self {
        Self(other.map_or(self.0, |other| other.0.min(self.0)))
    }

    /// Takes the cost of a text from the budget, if it has room for it.
    pub(crate) fn pay(&mut self, text: &str) -> bool {
        let left = self.0.checked_sub(cost(text));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Takes the cost of a text from an equal share of the budget, cut to that. `None` when nothing of it fits.
    pub(crate) fn pay_share<'t>(&mut self, text: &'t str, shares: usize) -> Option<&'t str> {
        let cut = cut(text, self.0 / shares.max(1));
        (!cut.is_empty() && self.pay(cut)).then_some(cut)
    }
}

/// The bytes of a text inside a JSON string.
fn cost(text: &str) -> usize {
    text.chars().map(cost_of).sum()
}

fn cost_of(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c.is_ascii_control() => 6,
        c => c.len_utf8(),
    }
}

/// The beginning of a text that costs at most `most`, cut behind a line or a word where one ends in its second half.
fn cut(text: &str, most: usize) -> &str {
    let mut left = most;
    let end = text.char_indices().find(|(_, c)| {
        let fits = left.checked_sub(cost_of(*c));
        left = fits.unwrap_or(0);
        fits.is_none()
    });
    let Some((end, _)) = end else { return text };
    let head = &text[..end];
    let after = |at: usize| at + 1;
    let line = head.rfind('\n').map(after).filter(|at| *at > end / 2);
    let word = || head.rfind(' ').map(after).filter(|at| *at > end / 2);
    &head[..line.or_else(word).unwrap_or(end)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cut_behind_a_line_or_a_word() {
        for (text, most, expected) in [
            ("one two", 7, "one two"),
            ("one two", 6, "one "),
            ("one\ntwo three", 12, "one\ntwo "),
            ("onetwo", 3, "one"),
            ("öö", 3, "ö"),
            ("\"\"", 3, "\""),
            ("a", 0, ""),
        ] {
            assert_eq!(cut(text, most), expected, "{text:?} {most}");
        }
    }

    proptest! {
        #[test]
        fn what_was_paid_for_fits_as_json(text in "(\\PC|[\n\t\"\\\\\u{1}]){0,60}", tokens in 0_usize..60, shares in 1_usize..4) {
            let whole = Budget::tokens(tokens);
            let mut budget = whole;
            let paid = budget.pay_share(&text, shares).unwrap_or_default();
            let json = serde_json::to_string(paid).expect("a string").len() - 2;
            prop_assert!(text.starts_with(paid) && json <= tokens * BYTES_PER_TOKEN / shares);
            prop_assert_eq!(whole.0 - budget.0, json);
        }
    }
}
