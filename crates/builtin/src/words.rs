//! The terms of a question, and how well a text matches them.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Maximum number of terms of a topic: each is one bit of a [`TermSet`].
const MAX_TERMS: usize = 32;

/// The topic of a question, as terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topic {
    terms: Vec<String>,
    /// The number of terms of the question itself. The terms after them come from an earlier question and have less
    /// weight.
    own_count: usize,
    /// The terms that weigh anything.
    known: TermSet,
}

/// The terms of a topic that a text has, one bit each.
pub(crate) type TermSet = u32;

impl Topic {
    /// The terms of a question without common words; and, with less weight, those of an earlier question that it
    /// follows up on. If the question has only common words, the terms of the earlier one are its terms; if that has
    /// none either, the common words are.
    pub(crate) fn following(question: &str, earlier: &str) -> Self {
        let all = unique(terms(question));
        let specific = |all: &[String]| all.iter().filter(|term| !is_common(term)).cloned().collect::<Vec<String>>();
        let (mut own_terms, mut earlier_terms) = (specific(&all), specific(&unique(terms(earlier))));
        if own_terms.is_empty() {
            own_terms = if earlier_terms.is_empty() { all } else { std::mem::take(&mut earlier_terms) };
        }
        earlier_terms.retain(|term| !own_terms.contains(term));
        own_terms.truncate(MAX_TERMS);
        earlier_terms.truncate(MAX_TERMS - own_terms.len());
        let count = own_terms.len();
        own_terms.append(&mut earlier_terms);
        Self { terms: own_terms, own_count: count, known: TermSet::MAX }
    }

    /// Which of the terms a text has.
    pub(crate) fn matched_terms(&self, text: &str) -> TermSet {
        let places = terms(text).into_iter().filter_map(|found| self.terms.iter().position(|term| *term == found));
        places.fold(0, |matched, at| matched | 1 << at)
    }

    /// The share of the question's own terms in a set, 0 to 1.
    pub(crate) fn share(&self, matched: TermSet) -> f32 {
        (matched & self.own()).count_ones() as f32 / (self.own_count as f32).max(1.0)
    }

    /// The topic, in which only the terms that any of the texts has weigh anything.
    pub(crate) fn within(&self, texts: impl Iterator<Item = TermSet>) -> Self {
        Self { known: texts.fold(0, |all, matched| all | matched), ..self.clone() }
    }

    /// The share of these terms by weight, 0 to 1.
    pub(crate) fn weight(&self, matched: TermSet) -> f32 {
        let count = |terms: TermSet| terms.count_ones() as f32;
        let sum = |terms: TermSet| count(terms & self.own()) + EARLIER_TERM_WEIGHT * count(terms & !self.own());
        sum(matched & self.known) / sum(self.known).max(f32::MIN_POSITIVE)
    }

    /// The question's own terms.
    fn own(&self) -> TermSet {
        u32::MAX.checked_shr(u32::BITS - self.own_count as u32).unwrap_or_default()
    }
}

/// Weight of a term of an earlier question; one of the question itself weighs 1.
const EARLIER_TERM_WEIGHT: f32 = 0.4;

/// The terms of a text: words in lower case without their endings, and pairs of characters in scripts that are written
/// without spaces.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut pairs = 0;
    for c in text.chars().chain(std::iter::once(' ')) {
        if is_unspaced(c) {
            if let Some(before) = before {
                pairs += 1;
                terms.push([before, c].iter().collect());
            }
            before = Some(c);
        } else if let Some(last) = before.take() {
            if pairs == 0 {
                terms.push(last.to_string());
            }
            pairs = 0;
        }
        if c.is_alphanumeric() && !is_unspaced(c) {
            word.push(c);
        } else if !word.is_empty() {
            push_word(&std::mem::take(&mut word), &mut terms);
        }
    }
    terms
}

/// Adds a word, and its parts if it is in `camelCase`.
fn push_word(word: &str, terms: &mut Vec<String>) {
    terms.push(stem(&word.to_lowercase()));
    let bytes = word.as_bytes();
    let starts = (1..bytes.len()).filter(|at| {
        bytes[*at].is_ascii_uppercase()
            && (!bytes[at - 1].is_ascii_uppercase() || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase))
    });
    let starts: Vec<usize> = std::iter::once(0).chain(starts).chain([word.len()]).collect();
    if starts.len() > 2 {
        terms.extend(starts.windows(2).map(|part| stem(&word[part[0]..part[1]].to_lowercase())));
    }
}

/// Whether a character belongs to a script that puts no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xf900..=0xfaff | 0x20000..=0x2fa1f)
}

/// Removes the most common endings, so that `retries` matches `retry` and `configured` matches `configure`. Sufficient
/// to compare a question with passages that a search has found.
fn stem(word: &str) -> String {
    let count = word.chars().count();
    if count < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    for (ending, replacement, min_chars) in [
        ("ies", "y", 5),
        ("ied", "y", 6),
        ("ing", "", 6),
        ("ed", "", 5),
        ("es", "", 5),
        ("s", "", 4),
        ("e", "", 4),
        ("y", "y", 4),
    ] {
        if count >= min_chars
            && let Some(stem) = word.strip_suffix(ending)
            && !(ending == "s" && (stem.ends_with('s') || stem.ends_with('u') || stem.ends_with('i')))
        {
            let mut stem = stem.to_owned();
            if matches!(ending, "ing" | "ed") {
                undouble(&mut stem);
            }
            stem.push_str(replacement);
            return stem.strip_suffix('e').map_or(stem.clone(), str::to_owned);
        }
    }
    word.to_owned()
}

/// `stopp` becomes `stop`; `fill` is unchanged.
fn undouble(stem: &mut String) {
    let bytes = stem.as_bytes();
    if let [.., before, last] = bytes
        && before == last
        && !b"aeioulsz".contains(last)
    {
        stem.pop();
    }
}

fn unique(terms: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    terms.into_iter().filter(|term| seen.insert(term.clone())).collect()
}

/// Stop words, in the form that [`terms`] returns, in the languages of [`Phrases`](crate::language::Phrases).
const STOP_WORDS: &str = "\
a an the i me my we our you your it its they them this that these those there here is are was were be been being am \
do does did doing done can could may might must shall should will would have has had having of in on at to from for \
with without by about into over under as if or and not no so than then too very just also only how what when where \
which who whom why whose get use mak us want need like way thing tell show explain work pleas hello hi help give \
let know find set much many doe dont cant im happen possible any some all each every when's what's \
der die das ein eine einen einem einer ist sind war wie was wo wann warum wer welche kann man ich du wir sie es und \
oder mit ohne für von zu im in den dem des auf \
le la les un une des est sont comment quoi où quand pourquoi qui quel quelle peut on je tu nous vous il elle et ou \
avec sans pour de du à au aux \
el los las una unos es son cómo como qué que dónde cuándo por quién cuál puede yo tú y o con sin para del al \
o os as um uma é são como que onde quando por quem qual pode eu e ou com sem para do da no na \
il lo gli uno una è sono come che dove quando perché chi quale può io e con senza per di del della \
de het een is zijn hoe wat waar wanneer waarom wie kan ik jij we en of met zonder voor van naar \
da über dit sur se dic sobr diz cosa si su staat er over что сказано про とは 是什 什么 에 대해 알려 주세요 steht \
";

fn is_common(term: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    term.chars().count() < 2 && term.is_ascii() && !term.starts_with(|c: char| c.is_ascii_digit()) || SET.contains(term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_do_not_matter() {
        for (a, b) in [
            ("retries", "retry"),
            ("retried", "retry"),
            ("configured", "configure"),
            ("configuring", "configure"),
            ("webhooks", "webhook"),
            ("stopping", "stop"),
            ("keys", "key"),
            ("changes", "change"),
            ("status", "status"),
            ("access", "access"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} and {b}");
        }
        assert_ne!(stem("billing"), stem("build"));
    }

    #[test]
    fn a_question_is_met_by_the_words_that_tell() {
        let share = |text: &str| share("How do I configure the retries of a webhook?", text);
        assert!(share("Webhook retry: configure how often") > 0.99);
        assert!(share("How do I bake a cake?") < 0.01);
        assert!((share("A webhook is a call.") - 1.0 / 3.0).abs() < 0.01);
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_pairs() {
        let share = |text: &str| share("請求書の支払い方法", text);
        assert!(share("支払い方法は請求書に記載されています。") > 0.6);
        assert!(share("天気がいいですね。") < 0.1);
    }

    #[test]
    fn a_question_of_common_words_alone_still_has_a_topic() {
        assert!(share("what is it", "it is what") > 0.99);
        assert_eq!(share("?!", "anything"), 0.0);
    }

    #[test]
    fn words_of_an_earlier_question_help_and_are_not_missed() {
        let topic = Topic::following("And retries?", "How do I sign a webhook?");
        assert!(topic.share(topic.matched_terms("Retries")) > 0.99);
        assert_eq!(topic.share(topic.matched_terms("Sign a webhook")), 0.0);
        let within = topic.within(["retries", "signed webhook"].into_iter().map(|text| topic.matched_terms(text)));
        assert!(within.weight(topic.matched_terms("retries")) > within.weight(topic.matched_terms("webhook")));
        assert!(within.weight(topic.matched_terms("webhook")) > 0.0);
        assert_eq!(
            Topic::following("And why?", "How do I sign a webhook?"),
            Topic::following("How do I sign a webhook?", "")
        );
    }

    #[test]
    fn a_topic_of_many_words_is_cut() {
        let words: String = (0..100).map(|n| format!("word{n} ")).collect();
        assert!(share(&words, &words) > 0.99);
    }

    fn share(question: &str, text: &str) -> f32 {
        let topic = Topic::following(question, "");
        topic.share(topic.matched_terms(text))
    }
}
