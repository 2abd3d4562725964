//! The cost of tokens, where prices are configured.

use std::collections::BTreeMap;

use docent_types::{TokenPrice, Usage};

/// The configured prices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    /// The currency as it is shown to people, for example `USD`.
    pub currency: String,
    /// Prices by the model names that jobs use.
    pub models: BTreeMap<String, TokenPrice>,
}

impl Prices {
    /// The cost of a model's tokens, as shown to people; `None` if its price is not configured or nothing was used.
    pub(crate) fn cost(&self, model: &str, usage: Usage) -> Option<String> {
        let cost = self.models.get(model)?.of(usage);
        // Four decimals for amounts below 1, so that small amounts are not rounded to nothing.
        let digits = if cost >= 1.0 { 2 } else { 4 };
        (usage != Usage::default()).then(|| format!("{} {cost:.digits$}", self.currency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_has_its_own_price() {
        let price = TokenPrice { input: 3.0, cached_input: 0.3, output: 15.0 };
        let prices = Prices { currency: "USD".to_owned(), models: [("sonnet".to_owned(), price)].into() };
        let used =
            |input, cached, output| Usage { input_tokens: input, cached_input_tokens: cached, output_tokens: output };
        for (usage, expected) in [
            (used(1_000_000, 0, 0), Some("USD 3.00")),
            (used(1_000_000, 1_000_000, 0), Some("USD 0.3000")),
            (used(1_000_000, 500_000, 100_000), Some("USD 3.15")),
            (used(1_000, 0, 10), Some("USD 0.0032")),
            (used(10, 20, 0), Some("USD 0.0000")),
            (used(0, 0, 0), None),
        ] {
            assert_eq!(prices.cost("sonnet", usage).as_deref(), expected, "{usage:?}");
        }
        assert_eq!(prices.cost("opus", used(1, 0, 1)), None, "nothing is made up");
    }
}
