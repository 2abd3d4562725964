//! Finds gaps in the docs: questions that were not answered, or whose answer was rated down, grouped by similarity.
//!
//! Two questions are similar if they share most of their content words, where a word that occurs in few questions has
//! more weight; or if one has all words of the other, which has at least two. Similar questions are in one group, and
//! so are questions that are connected by a chain of similar ones. A question without content words (`And then?`) is in
//! no group.

use std::cmp::Reverse;
use std::collections::HashMap;

use docent_search::{ContentWord, content_words};
use docent_types::{ThreadId, Timestamp};

use crate::export::AskedTurn;
use crate::reader_words::topic_instruction;
use crate::thread::Rating;

/// Maximum number of questions that are grouped: the newest ones.
pub const MOST_GROUPED: u32 = 1_000;
/// Maximum number of examples of a group.
const EXAMPLES: usize = 5;
/// Maximum number of words that are listed for a group.
const WORDS: usize = 5;
/// Two questions are similar if their shared words have at least this share of the weight of all their words.
const ALIKE: f64 = 0.5;
/// A question contains another if their shared words have at least this share of the weight of the other's words.
const CONTAINED: f64 = 0.95;

/// A group of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The questions, newest first; at least one.
    pub questions: Vec<GapQuestion>,
    /// The words that at least half of the questions have, in their most frequent spelling, the most frequent first, at
    /// most 5.
    pub words: Vec<String>,
    /// Words of the examples that the docs never mention.
    pub unknown_words: Vec<String>,
    /// An instruction for an agent to close the gap.
    pub suggestion: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapQuestion {
    pub thread: ThreadId,
    /// [`Turn::answer_id`](crate::Turn::answer_id).
    pub answer_id: String,
    pub question: String,
    pub asked_at: Timestamp,
    /// Whether the answer was rated down.
    pub is_down: bool,
}

impl Gap {
    /// The number of questions whose answer was rated down.
    pub fn down(&self) -> usize {
        self.questions.iter().filter(|question| question.is_down).count()
    }

    /// The question that stands best for all: the one with the most of the [`words`](Self::words), and of those the
    /// shortest. `None` only without questions.
    pub fn typical(&self) -> Option<&GapQuestion> {
        let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        let fits = |question: &GapQuestion| {
            let text = question.question.to_lowercase();
            words.iter().filter(|word| text.contains(word.as_str())).count()
        };
        self.questions.iter().rev().max_by_key(|question| (fits(question), Reverse(question.question.len())))
    }

    /// The newest questions without duplicate texts, at most 5.
    pub fn examples(&self) -> Vec<&GapQuestion> {
        let mut examples: Vec<&GapQuestion> = Vec::new();
        for question in &self.questions {
            if examples.len() < EXAMPLES && examples.iter().all(|known| known.question != question.question) {
                examples.push(question);
            }
        }
        examples
    }
}

/// Groups these questions, which must be sorted newest first; returns the largest groups first. `never_mentioned`
/// returns the words of a text that the docs never mention.
pub fn gaps(asked: &[AskedTurn], limit: usize, never_mentioned: impl Fn(&str) -> Vec<String>) -> Vec<Gap> {
    let words: Vec<Vec<ContentWord>> =
        asked.iter().map(|one| content_words(&one.turn.question, one.turn.language.as_deref())).collect();
    let mut groups = groups(&words);
    groups.sort_by_key(|members| (std::cmp::Reverse(members.len()), members.first().copied()));
    groups.truncate(limit);
    groups.iter().map(|members| gap(asked, &words, members, &never_mentioned)).collect()
}

fn gap(
    asked: &[AskedTurn],
    words: &[Vec<ContentWord>],
    members: &[usize],
    never_mentioned: impl Fn(&str) -> Vec<String>,
) -> Gap {
    let question = |member: &usize| {
        let AskedTurn { thread, turn, .. } = &asked[*member];
        GapQuestion {
            thread: *thread,
            answer_id: turn.answer_id.clone(),
            question: turn.question.clone(),
            asked_at: turn.asked_at,
            is_down: turn.feedback.as_ref().is_some_and(|feedback| feedback.rating == Rating::Down),
        }
    };
    let gap = Gap {
        questions: members.iter().map(question).collect(),
        words: common_words(words, members),
        unknown_words: Vec::new(),
        suggestion: String::new(),
    };
    let texts: Vec<&str> = gap.examples().into_iter().map(|example| example.question.as_str()).collect();
    // Each question has a language, whose function words no docs need to mention.
    let content: Vec<ContentWord> = texts.iter().flat_map(|text| content_words(text, None)).collect();
    let is_content = |word: &String| {
        let word = word.to_lowercase();
        // A name such as `pkg.retry` has one in it.
        content.iter().any(|known| word == known.word || known.word.len() > 2 && word.contains(&known.word))
    };
    let unknown_words = never_mentioned(&texts.join("\n")).into_iter().filter(is_content).collect();
    let suggestion = topic_instruction(&gap.words, texts);
    Gap { unknown_words, suggestion, ..gap }
}

/// The groups of questions, each as sorted indexes into the list. Every question with words is in exactly one group.
fn groups(words: &[Vec<ContentWord>]) -> Vec<Vec<usize>> {
    let (sets, of_question) = distinct_sets(words);
    let mut union = Union((0..sets.len()).collect());
    let holders = holders(&sets);
    let weight: Vec<f64> =
        holders.iter().map(|holders| (1.0 + sets.len() as f64 / holders.len() as f64).ln()).collect();
    let weigh = |set: &[usize]| set.iter().map(|word| weight[*word]).sum::<f64>();
    let weights: Vec<f64> = sets.iter().map(|set| weigh(set)).collect();
    let (mut shared, mut count) = (vec![0.0; sets.len()], vec![0_u32; sets.len()]);
    for (one, set) in sets.iter().enumerate() {
        let mut others = Vec::new();
        for word in set {
            for other in holders[*word].iter().copied().take_while(|other| *other < one) {
                if count[other] == 0 {
                    others.push(other);
                }
                shared[other] += weight[*word];
                count[other] += 1;
            }
        }
        for other in others {
            let (same, words) = (std::mem::take(&mut shared[other]), std::mem::take(&mut count[other]));
            // Floating-point sums depend on the order of the words in their last digits.
            let same = same + 1e-9;
            let is_alike = same >= ALIKE * (weights[one] + weights[other] - same);
            let is_contained = words >= 2 && same >= CONTAINED * weights[one].min(weights[other]);
            if is_alike || is_contained {
                union.join(one, other);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); sets.len()];
    for (question, set) in of_question.iter().enumerate() {
        if let Some(set) = set {
            groups[union.root(*set)].push(question);
        }
    }
    groups.retain(|members| !members.is_empty());
    groups
}

/// The distinct sets of words, each as sorted word numbers; and the index of each question's set, if it has words.
fn distinct_sets(words: &[Vec<ContentWord>]) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let of_question = words.iter().map(|words| {
        let mut set: Vec<usize> = Vec::new();
        for word in words {
            let next = numbers.len();
            set.push(*numbers.entry(&word.stem).or_insert(next));
        }
        set.sort_unstable();
        let is_empty = set.is_empty();
        let place = *known.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            sets.len() - 1
        });
        Some(place).filter(|_| !is_empty)
    });
    let of_question = of_question.collect();
    (sets, of_question)
}

/// The indexes of the sets that contain each word, in order.
fn holders(sets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let words = sets.iter().flatten().max().map_or(0, |last| last + 1);
    let mut holders = vec![Vec::new(); words];
    for (set, words) in sets.iter().enumerate() {
        words.iter().for_each(|word| holders[*word].push(set));
    }
    holders
}

/// Disjoint sets (union-find): each element has the number of another element of its group, and the root its own.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}

fn common_words(words: &[Vec<ContentWord>], members: &[usize]) -> Vec<String> {
    let mut by_stem: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for word in members.iter().flat_map(|member| &words[*member]) {
        *by_stem.entry(&word.stem).or_default().entry(&word.word).or_default() += 1;
    }
    let total = |spelled: &HashMap<&str, usize>| spelled.values().sum::<usize>();
    let mut common: Vec<(usize, &str)> = by_stem
        .values()
        .filter(|spelled| 2 * total(spelled) >= members.len())
        .filter_map(|spelled| {
            let usual = spelled.iter().max_by(|(a, n), (b, m)| n.cmp(m).then_with(|| b.cmp(a)))?;
            Some((total(spelled), *usual.0))
        })
        .collect();
    common.sort_unstable_by(|(n, a), (m, b)| m.cmp(n).then_with(|| a.cmp(b)));
    common.into_iter().take(WORDS).map(|(_, word)| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::thread::{Feedback, Turn};

    /// These questions, newest first; the answer of one that ends in `-` is rated down.
    fn asked(questions: &[&str]) -> Vec<AskedTurn> {
        let asked = |(n, text): (usize, &&str)| {
            let at = Timestamp::from_millis(1_000 - n as i64);
            let down = text.strip_suffix('-').map(|_| Feedback { rating: Rating::Down, comment: None, at });
            let turn = Turn {
                question: text.trim_end_matches('-').to_owned(),
                answer_id: format!("a{n}"),
                asked_at: at,
                answered: down.is_some(),
                feedback: down,
                ..Turn::default()
            };
            AskedTurn { thread: ThreadId::new(Uuid::from_u128(n as u128)), fp: "ann".to_owned(), turn }
        };
        questions.iter().enumerate().map(asked).collect()
    }

    fn places(questions: &[&str]) -> Vec<Vec<usize>> {
        groups(&questions.iter().map(|text| content_words(text, None)).collect::<Vec<_>>())
    }

    #[test]
    fn questions_about_the_same_are_one_gap() {
        for (questions, expected) in [
            (vec![], vec![]),
            (vec!["And then?", "How?"], vec![]),
            (vec!["How do I rotate API keys?", "rotating an api key"], vec![vec![0, 1]]),
            (vec!["How do I configure OAuth?", "How do I configure SAML?"], vec![vec![0], vec![1]]),
            (
                vec!["Configure retries in Acme", "Configure webhooks in Acme", "Configure billing in Acme"],
                vec![vec![0], vec![1], vec![2]],
            ),
            (
                vec!["webhooks", "webhook signature", "webhook", "Is the webhook signature of old webhooks checked?"],
                vec![vec![0, 2], vec![1, 3]],
            ),
        ] {
            assert_eq!(places(&questions), expected, "{questions:?}");
        }
    }

    #[test]
    fn a_gap_tells_what_was_asked_and_what_to_do() {
        let list = asked(&[
            "What do \"parrots\" eat?",
            "How do I rotate keys?-",
            "Rotating keys\nin Frobnitz",
            "How do I rotate keys?",
            "Rotate my keys please-",
        ]);
        let unknown = |text: &str| text.split(' ').filter(|word| *word == "Frobnitz").map(str::to_owned).collect();
        let found = gaps(&list, 10, unknown);
        let keys = &found[0];
        assert_eq!((found.len(), keys.down()), (2, 2));
        let ids = |questions: Vec<&GapQuestion>| -> Vec<String> {
            questions.into_iter().map(|question| question.answer_id.clone()).collect()
        };
        assert_eq!(ids(keys.questions.iter().collect()), ["a1", "a2", "a3", "a4"], "all, newest first");
        assert_eq!(ids(keys.examples()), ["a1", "a2", "a4"], "the newest, each text once");
        assert_eq!(keys.words, ["keys", "rotate"]);
        assert_eq!(
            ids(keys.typical().into_iter().collect()),
            ["a1"],
            "the shortest with all the words, the newest of two"
        );
        let shown = keys.suggestion.contains("ask about: keys, rotate.")
            && keys.suggestion.contains("- \"Rotating keys in Frobnitz\"");
        assert!(shown, "{}", keys.suggestion);
        assert_eq!(found[1].words, ["eat", "parrots"]);
        assert!(found[1].suggestion.contains("- \"What do 'parrots' eat?\""), "{}", found[1].suggestion);
        assert_eq!(gaps(&list, 1, |_| Vec::new()).len(), 1, "no more than asked for");
    }

    #[test]
    fn a_word_that_the_docs_never_mention_is_told() {
        let all = |text: &str| {
            let mut words: Vec<String> = text.split([' ', '?', '\n']).map(str::to_owned).collect();
            words.retain(|word| !word.is_empty());
            words
        };
        let unknown = |questions: &[&str]| gaps(&asked(questions), 1, all)[0].unknown_words.clone();
        assert_eq!(unknown(&["Is there a Frobnitz adapter?"]), ["Frobnitz", "adapter"]);
        assert_eq!(unknown(&["Does it support S3?"]), ["support", "S3"]);
        let french = ["Comment est-ce que je configure Frobnitz pour mon site?"];
        assert_eq!(unknown(&french), ["configure", "Frobnitz", "site"], "without the function words of its language");
    }

    proptest! {
        #[test]
        fn every_question_with_words_is_in_one_group(
            questions in proptest::collection::vec("(keys|hooks|rotate|sign|billing|the|how|x[0-9])( (keys|hooks|rotate|sign|the)){0,4}", 0..40),
        ) {
            let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
            let groups = places(&questions);
            let mut all: Vec<usize> = groups.iter().flatten().copied().collect();
            all.sort_unstable();
            let with_words: Vec<usize> = (0..questions.len()).filter(|at| !content_words(questions[*at], None).is_empty()).collect();
            prop_assert_eq!(all, with_words);
            // The groups do not depend on the order of the questions.
            let last = questions.len().saturating_sub(1);
            let reversed: Vec<&str> = questions.iter().rev().copied().collect();
            let mut back: Vec<Vec<usize>> = places(&reversed).iter().map(|group| group.iter().rev().map(|at| last - at).collect()).collect();
            back.sort();
            let mut groups = groups;
            groups.sort();
            prop_assert_eq!(&back, &groups);
            for (one, text) in questions.iter().enumerate() {
                let same = questions.iter().rposition(|other| other == text).expect("itself");
                let of = |at: usize| groups.iter().position(|group| group.contains(&at));
                prop_assert_eq!(of(one), of(same), "{}", text);
            }
        }
    }
}
