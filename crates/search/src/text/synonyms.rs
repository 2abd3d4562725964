//! Synonyms defined by a site's authors.
//!
//! ```text
//! # one rule a line
//! k8s, kubernetes
//! pull request, merge request, PR
//! vpc => virtual private cloud, private network
//! ```
//!
//! Terms separated by commas alone are synonyms of each other. With `=>`, a question with a term on the left also finds
//! the terms on the right, but not the other way round. Lines without a rule are ignored.

use std::collections::HashMap;

use crate::text::terms;

/// Maximum number of rules, as every question is checked against them. Further rules are ignored.
const MOST_RULES: usize = 5_000;
/// Maximum number of words in one term. Further words are ignored.
const MOST_WORDS: usize = 6;

/// A term, split into words as a question is.
pub(crate) type Words = Vec<String>;

#[derive(Debug, Default)]
pub(crate) struct Synonyms {
    /// By the first word of a term: the term and its synonyms.
    by_first: HashMap<String, Vec<(Words, Vec<Words>)>>,
}

impl Synonyms {
    pub(crate) fn parse(text: &str) -> Self {
        let mut found = Self::default();
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        for line in lines.filter(|line| !line.trim().is_empty()).take(MOST_RULES) {
            match line.split_once("=>") {
                Some((from, to)) => {
                    let to = terms(to);
                    terms(from).into_iter().for_each(|from| found.add(from, to.clone()));
                }
                None => {
                    let all = terms(line);
                    for (at, from) in all.iter().enumerate() {
                        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
                        found.add(from.clone(), others.map(|(_, term)| term.clone()).collect());
                    }
                }
            }
        }
        found
    }

    fn add(&mut self, from: Words, mut to: Vec<Words>) {
        to.retain(|term| *term != from);
        if let Some(first) = from.first().filter(|_| !to.is_empty()) {
            self.by_first.entry(first.clone()).or_default().push((from, to));
        }
    }

    /// The terms found in a question: index of the first word, number of words, and synonyms.
    pub(crate) fn in_question<'s>(&'s self, words: &[String]) -> Vec<(usize, usize, &'s [Words])> {
        let mut found = Vec::new();
        for (at, word) in words.iter().enumerate() {
            for (term, others) in self.by_first.get(word).into_iter().flatten() {
                if words[at..].starts_with(term) {
                    found.push((at, term.len(), others.as_slice()));
                }
            }
        }
        found
    }
}

fn terms(list: &str) -> Vec<Words> {
    let term = |term: &str| {
        let mut words = terms::asked(term);
        words.truncate(MOST_WORDS);
        words
    };
    list.split(',').map(term).filter(|words| !words.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(rules: &str, question: &str) -> Vec<(usize, usize, Vec<String>)> {
        let synonyms = Synonyms::parse(rules);
        let found = synonyms.in_question(&terms::asked(question));
        found
            .into_iter()
            .map(|(at, length, others)| (at, length, others.iter().map(|term| term.join(" ")).collect()))
            .collect()
    }

    #[test]
    fn with_commas_each_stands_for_all() {
        let rules = "# ours\nk8s, Kubernetes\npull request, merge request # forges\n\n,,\n";
        assert_eq!(found(rules, "kubernetes"), [(0, 1, vec!["k8s".to_owned()])]);
        assert_eq!(found(rules, "open a pull request"), [(2, 2, vec!["merge request".to_owned()])]);
        assert_eq!(found(rules, "a pull"), []);
    }

    #[test]
    fn an_arrow_goes_one_way() {
        let rules = "vpc, vnet => private network";
        assert_eq!(found(rules, "vpc"), [(0, 1, vec!["private network".to_owned()])]);
        assert_eq!(found(rules, "vnet").len(), 1);
        assert_eq!(found(rules, "private network"), []);
        assert_eq!(found("a => a", "a"), []);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|\n|=>|,|#){0,200}") {
            let synonyms = Synonyms::parse(&text);
            synonyms.in_question(&terms::asked(&text));
        }
    }
}
