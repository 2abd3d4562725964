//! What the tokens of a model cost.

use crate::stream::Usage;

/// The price of a model per million tokens, in the currency of the configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenPrice {
    pub input: f64,
    /// Price of input tokens that the provider had cached.
    pub cached_input: f64,
    pub output: f64,
}

impl TokenPrice {
    /// The cost of these tokens.
    pub fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let tokens = |count: u64| count as f64 / 1e6;
        tokens(usage.input_tokens - cached) * self.input
            + tokens(cached) * self.cached_input
            + tokens(usage.output_tokens) * self.output
    }
}
