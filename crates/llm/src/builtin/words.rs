//! The words of a question that say what it is about, and how well a text meets them.

use std::collections::HashSet;

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Topic {
    terms: Vec<String>,
}

impl Topic {
    /// The terms of a question, without the words every question has. A question of nothing but those keeps them.
    pub(super) fn of(question: &str) -> Self {
        let all = unique(terms(question));
        let telling: Vec<String> = all.iter().filter(|term| !is_common(term)).cloned().collect();
        Self { terms: if telling.is_empty() { all } else { telling } }
    }

    /// The part of the terms that the text has, 0 to 1.
    pub(super) fn met_by(&self, text: &str) -> f32 {
        let present: HashSet<String> = terms(text).into_iter().collect();
        self.met_by_terms(&present)
    }

    pub(super) fn met_by_terms(&self, present: &HashSet<String>) -> f32 {
        if self.terms.is_empty() {
            return 0.0;
        }
        let met = self.terms.iter().filter(|term| present.contains(*term)).count();
        met as f32 / self.terms.len() as f32
    }
}

/// The terms of a text, as a set to ask repeatedly.
pub(super) fn term_set(text: &str) -> HashSet<String> {
    terms(text).into_iter().collect()
}

/// Words in lower case without their endings; scripts written without spaces give pairs of characters.
fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut word = String::new();
    let mut unspaced: Vec<char> = Vec::new();
    for c in text.chars().chain(std::iter::once(' ')) {
        if is_unspaced(c) {
            unspaced.push(c);
        } else if !unspaced.is_empty() {
            match unspaced.as_slice() {
                [one] => terms.push(one.to_string()),
                many => terms.extend(many.windows(2).map(|pair| pair.iter().collect())),
            }
            unspaced.clear();
        }
        if c.is_alphanumeric() && !is_unspaced(c) {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            terms.push(stem(&std::mem::take(&mut word)));
        }
    }
    terms
}

/// Whether a character belongs to a script that puts no spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff
        | 0xf900..=0xfaff | 0x20000..=0x2fa1f)
}

/// Takes the commonest endings off, so that `retries` meets `retry` and `configured` meets `configure`. Good enough
/// to compare a question with a passage that a search has already found.
fn stem(word: &str) -> String {
    let count = word.chars().count();
    if count < 4 || !word.is_ascii() {
        return word.to_owned();
    }
    for (ending, instead, least) in
        [("ies", "y", 5), ("ing", "", 6), ("ed", "", 5), ("es", "", 5), ("s", "", 4), ("e", "", 4), ("y", "y", 4)]
    {
        if count >= least
            && let Some(stem) = word.strip_suffix(ending)
            && !(ending == "s" && (stem.ends_with('s') || stem.ends_with('u') || stem.ends_with('i')))
        {
            let mut stem = stem.to_owned();
            if matches!(ending, "ing" | "ed") {
                undouble(&mut stem);
            }
            stem.push_str(instead);
            return stem.strip_suffix('e').map_or(stem.clone(), str::to_owned);
        }
    }
    word.to_owned()
}

/// `stopp` is `stop`, but `fill` stays.
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

/// Words that say nothing about the topic, as [`terms`] gives them, in the languages the frame speaks.
const COMMON: &str = "\
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
    thread_local! {
        static SET: HashSet<&'static str> = COMMON.split_whitespace().collect();
    }
    term.chars().count() < 2 && term.is_ascii() && !term.starts_with(|c: char| c.is_ascii_digit())
        || SET.with(|set| set.contains(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_do_not_matter() {
        for (a, b) in [
            ("retries", "retry"),
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
        let topic = Topic::of("How do I configure the retries of a webhook?");
        assert!(topic.met_by("Webhook retry: configure how often") > 0.99);
        assert!(topic.met_by("How do I bake a cake?") < 0.01);
        assert!((topic.met_by("A webhook is a call.") - 1.0 / 3.0).abs() < 0.01);
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_pairs() {
        let topic = Topic::of("請求書の支払い方法");
        assert!(topic.met_by("支払い方法は請求書に記載されています。") > 0.6);
        assert!(topic.met_by("天気がいいですね。") < 0.1);
    }

    #[test]
    fn a_question_of_common_words_alone_still_has_a_topic() {
        assert!(Topic::of("what is it").met_by("it is what") > 0.99);
        assert_eq!(Topic::of("?!").met_by("anything"), 0.0);
    }
}
