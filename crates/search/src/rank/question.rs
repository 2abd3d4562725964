//! Turns a question into the words that are looked up for it.
//!
//! ```text
//! question     how do I confgure "max retries" k8s
//! content      confgure · max · retries · k8s          stop words are dropped
//! looked up    confgure → configure (a typo) · max · retries · k8s, kubernetes (a synonym)
//! required     “max retries”, word for word
//! ```
//!
//! A word that the index does not contain is not dropped: it may be a prefix (the last word, while it is being typed),
//! two words written as one, one word written as two, or a typo. A known word gets no such guesses.

use crate::rank::score_accumulator;
use crate::text::languages::Language;
use crate::text::lexicon::Lexicon;
use crate::text::spelling;
use crate::text::synonyms::Synonyms;
use crate::text::terms::{self, StemPrefixes};
use crate::text::tokenizer::is_unspaced;

/// Words of a question beyond this many are left out: a pasted page is no better a question than its first lines.
const MOST_WORDS: usize = 32;
/// Only this many bytes of a question are read.
const LONGEST_QUESTION: usize = 8_000;
/// How many quoted phrases count, and how many words of each.
const MOST_PHRASES: usize = 4;
const LONGEST_PHRASE: usize = 12;
/// Maximum number of corrected words, and of completions, that are looked up for one unknown word.
const MOST_GUESSES: usize = 3;
const MOST_ENDINGS: usize = 8;
/// The longest word, in bytes, that is split in two or joined from two.
const LONGEST_COMPOUND: usize = 40;

/// The weights of other forms relative to the word as asked: synonym, completion, split or joined word, and correction
/// of one or two typos.
const SYNONYM: f32 = 0.8;
const ENDING: f32 = 0.7;
const PARTED: f32 = 0.8;
const SLIP: [f32; 2] = [0.7, 0.5];
/// The certainty of a word that was split into two or joined from two.
const SURELY_PARTED: f32 = 0.9;
/// The certainty lost by one typo, times the number of characters in the word; and the minimum certainty of a
/// correction.
const CERTAINTY_LOSS_PER_TYPO: f32 = 3.0;
const LEAST_SURE: f32 = 0.2;
/// Words that are no more certain than this are reported as never mentioned in the docs.
const SURE: f32 = 0.5;
const APOSTROPHES: [char; 2] = ['\'', '\u{2019}'];
/// The weight of words of an earlier question, and of what is said beside the question.
const EARLIER: f32 = 0.4;
pub(crate) const BESIDE: f32 = 0.2;
/// The weight of a part of an identifier that is known as a whole, and of a name without its signs.
const PART: f32 = 0.6;
const WITHOUT_SIGNS: f32 = 0.3;
/// Weights are rounded to multiples of 1/256, so that their sums are exact, and the same in whatever order.
const SHARES: f32 = 256.0;

/// The words of a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Question {
    pub(crate) words: Vec<Word>,
    /// Quoted phrases, whose words must be adjacent: the stems by phrase, language and word.
    pub(crate) phrases: Vec<Vec<Vec<String>>>,
    /// The distinct stems of all words, stop words included.
    stems: Vec<String>,
    begins: StemPrefixes,
    language: Language,
    /// The question as it would be written as a title, in lower case.
    whole: String,
}

/// A word of a question, and what is looked up for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Word {
    /// The word in lower case, unstemmed.
    pub(crate) asked: String,
    pub(crate) forms: Vec<Form>,
    /// Whether the word adds to scores but is not missed where absent: a word that was not asked for, or an unknown one
    /// that any question may contain.
    pub(crate) is_optional: bool,
    /// Whether the word was only said beside the question.
    pub(crate) is_beside: bool,
    /// Whether the word is the whole of an identifier that the docs have.
    pub(crate) is_identifier: bool,
    /// How certain it is that the forms are what was meant: 1 for a known word, less for a guess, 0 when there is no
    /// guess.
    pub(crate) certainty: f32,
}

/// One way a word may be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form {
    pub(crate) stem: String,
    /// Its weight relative to the word as asked, up to 1.
    pub(crate) share: f32,
    pub(crate) because: MatchReason,
}

/// Why a form is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchReason {
    Asked,
    Synonym,
    Ending,
    Parted,
    Slip,
}

impl Word {
    fn new(asked: &str) -> Self {
        Self { asked: asked.to_owned(), certainty: 1.0, ..Self::default() }
    }

    /// Adds the stems of another word, one for each language.
    fn add(&mut self, other: &str, share: f32, because: MatchReason, languages: &[Language]) {
        for language in languages {
            let stem = terms::stem(other, *language);
            if !stem.is_empty() && self.forms.iter().all(|form| form.stem != stem) {
                self.forms.push(Form { stem, share: rounded(share), because });
            }
        }
    }
}

fn rounded(share: f32) -> f32 {
    (share * SHARES).round() / SHARES
}

impl Question {
    /// Splits a question into its words. Fillers are dropped, unless there is nothing else. The words of an earlier
    /// question are added, and replace a question that consists of stop words.
    pub(crate) fn of(
        text: &str,
        after: Option<&str>,
        beside: &str,
        lexicon: &Lexicon<'_>,
        synonyms: &Synonyms,
    ) -> tantivy::Result<Self> {
        let text = &text[..text.floor_char_boundary(LONGEST_QUESTION)];
        let all = terms::asked(text);
        let Some(content_words) =
            content_words(&all, lexicon.languages()).or_else(|| after.is_none().then(|| vec![true; all.len()]))
        else {
            return Self::of(after.unwrap_or_default(), None, beside, lexicon, synonyms);
        };
        let mut building = Building { lexicon, words: Vec::new() };
        let ends_open = text.chars().next_back().is_some_and(char::is_alphanumeric);
        let last = all.len().saturating_sub(1);
        for (at, word) in all.iter().enumerate().filter(|(at, _)| content_words[*at]) {
            if building.words.len() == MOST_WORDS {
                break;
            }
            if building.words.iter().all(|known| known.asked != *word) {
                let open = ends_open && at == last;
                building.add(word, open)?;
            }
        }
        for (whole, parts) in terms::identifiers(text) {
            building.prefer_whole(&whole, &parts)?;
        }
        building.settle_versions(text)?;
        building.join_neighbours(&all)?;
        building.add_synonyms(&all, synonyms);
        if let Some(after) = after {
            building.add_others(&after[..after.floor_char_boundary(LONGEST_QUESTION)], EARLIER);
        }
        building.add_others(&beside[..beside.floor_char_boundary(LONGEST_QUESTION)], BESIDE);
        let phrases = phrases(text, lexicon.languages());
        let language = lexicon.languages()[0];
        let mut stems: Vec<String> = all.iter().take(MOST_WORDS).map(|word| terms::stem(word, language)).collect();
        stems.sort_unstable();
        stems.dedup();
        building.words.truncate(score_accumulator::MOST_WORDS);
        let begins = StemPrefixes::of(stems.iter().map(String::as_str));
        let whole = terms::lower(text.trim().trim_end_matches(['?', '.', '!']));
        Ok(Self { words: building.words, phrases, stems, begins, language, whole })
    }

    /// Whether a title is the question to the letter, but for case.
    pub(crate) fn is_exact_title(&self, title: &str) -> bool {
        // Most titles are ruled out by their length; other cases of a letter are at most a few bytes longer.
        let title = title.trim().trim_end_matches(['?', '.', '!']);
        title.len().abs_diff(self.whole.len()) <= 4 && terms::lower(title) == self.whole
    }

    /// Whether a title is the question: the same words, stop words included, in any order.
    pub(crate) fn is_title(&self, title: &str) -> bool {
        let mut shared = vec![false; self.stems.len()];
        let mut others = self.stems.is_empty();
        terms::each_word(title, |word| {
            // One word that is not in the question is enough. It is ruled out without stemming where possible, as
            // stemming is expensive.
            others |= word.is_some_and(|word| !self.begins.may_begin(word));
            if let Some(word) = word.filter(|_| !others) {
                let stem = terms::stem(&terms::lower(word), self.language);
                match self.stems.iter().position(|known| *known == stem) {
                    Some(at) => shared[at] = true,
                    None => others = true,
                }
            }
        });
        !others && !shared.contains(&false)
    }

    /// The words of a question that the docs never mention, and that are unlikely to be typos of words they do: as
    /// spelled in `text`, in order.
    pub(crate) fn never_mentioned(&self, text: &str) -> Vec<String> {
        let is_unknown = |word: &&Word| !word.is_optional && word.certainty <= SURE;
        let unknown: Vec<&str> = self.words.iter().filter(is_unknown).map(|word| word.asked.as_str()).collect();
        let mut spelled: Vec<String> = Vec::new();
        terms::each_word(text, |word| {
            let Some(word) = word.filter(|_| !unknown.is_empty()) else { return };
            let is_name = word.chars().any(char::is_alphabetic) && !word.chars().any(is_unspaced);
            // `doesn't` is split into two words for search, and neither is a word to a reader.
            let is_cut = APOSTROPHES.iter().any(|sign| text.contains(&format!("{word}{sign}")));
            // The whole of an identifier comes without its joiners, a spelling that is not in the text.
            let is_told = spelled.iter().any(|told| told.eq_ignore_ascii_case(word)) || !text.contains(word);
            if is_name && !is_cut && word.len() > 1 && !is_told && unknown.contains(&terms::lower(word).as_str()) {
                spelled.push(word.to_owned());
            }
        });
        let parts = spelled.clone();
        let is_part =
            |word: &String| parts.iter().any(|whole| whole.len() > word.len() && whole.contains(word.as_str()));
        spelled.retain(|word| !is_part(word));
        spelled
    }
}

/// Which of the words are content words, not stop words; `None` when all are stop words.
fn content_words(words: &[String], languages: &[Language]) -> Option<Vec<bool>> {
    let mut content_words: Vec<bool> = words.iter().map(|word| !terms::is_stop_word(word)).collect();
    let stop_words_of =
        |language: &Language| words.iter().map(|word| language.is_stop_word(word)).collect::<Vec<bool>>();
    let count = |stop_words: &[bool]| stop_words.iter().filter(|is_stop_word| **is_stop_word).count();
    let english = content_words.iter().filter(|is_content| !**is_content).count();
    let others = languages.iter().filter(|language| **language != Language::English).map(stop_words_of);
    // A question is in another language when it has at least two of its stop words, and more than English stop words.
    if let Some(stop_words) =
        others.max_by_key(|stop_words| count(stop_words)).filter(|stop_words| count(stop_words) > english.max(1))
    {
        content_words.iter_mut().zip(stop_words).for_each(|(is_content, is_stop_word)| *is_content &= !is_stop_word);
    }
    content_words.contains(&true).then_some(content_words)
}

/// Whether a word looks like the number of a version: `2`, `1.15`.
fn is_version_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

struct Building<'b> {
    lexicon: &'b Lexicon<'b>,
    words: Vec<Word>,
}

impl Building<'_> {
    fn add(&mut self, asked: &str, open: bool) -> tantivy::Result<()> {
        let languages = self.lexicon.languages();
        let mut word = Word::new(asked);
        word.add(asked, 1.0, MatchReason::Asked, languages);
        let is_known = self.is_known(&word)?;
        for language in languages {
            if let Some(other) = terms::other_spelling(asked, *language)
                && (!is_known || self.lexicon.holds(&other)?)
            {
                word.add(&other, 1.0, MatchReason::Synonym, &[*language]);
            }
        }
        if !is_known && !self.is_known(&word)? {
            // The name without its signs says the same, unless it is a single letter.
            if terms::has_signs(asked) && asked.chars().filter(|c| c.is_alphanumeric()).count() > 1 {
                return Ok(());
            }
            word.certainty = 0.0;
            word.is_optional = terms::is_small_talk(asked);
            if !word.is_optional {
                self.guess(&mut word, open)?;
            }
        }
        self.words.push(word);
        Ok(())
    }

    fn is_known(&self, word: &Word) -> tantivy::Result<bool> {
        for form in &word.forms {
            if self.lexicon.holds_stem(&form.stem)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds the forms that an unknown word may have meant, from the first kind of guess with a result: completion,
    /// split in two, typo.
    fn guess(&mut self, word: &mut Word, open: bool) -> tantivy::Result<()> {
        let (asked, languages) = (word.asked.clone(), self.lexicon.languages());
        if open {
            let endings = self.lexicon.beginning_with(&asked, MOST_ENDINGS)?;
            endings.iter().for_each(|known| word.add(known, ENDING, MatchReason::Ending, languages));
            if !endings.is_empty() {
                word.certainty = ENDING;
                return Ok(());
            }
        }
        if let Some((left, right)) = self.parts(&asked)? {
            word.add(&left, PARTED, MatchReason::Parted, languages);
            word.certainty = SURELY_PARTED;
            let mut second = Word { is_optional: true, certainty: SURELY_PARTED, ..Word::new(&right) };
            second.add(&right, PARTED, MatchReason::Parted, languages);
            self.words.push(second);
            return Ok(());
        }
        let Some(most) = spelling::max_edits(&asked) else { return Ok(()) };
        for (known, max_edits) in self.lexicon.similar(&asked, most, MOST_GUESSES)? {
            word.add(&known, SLIP[max_edits.clamp(1, SLIP.len()) - 1], MatchReason::Slip, languages);
            word.certainty =
                (1.0 - CERTAINTY_LOSS_PER_TYPO * max_edits as f32 / asked.chars().count() as f32).max(LEAST_SURE);
        }
        Ok(())
    }

    /// Splits an unknown word into two known ones, if these are adjacent in any section: `web server` for `webserver`,
    /// and not any two words that happen to fit.
    fn parts(&self, word: &str) -> tantivy::Result<Option<(String, String)>> {
        if word.len() > LONGEST_COMPOUND || !word.chars().all(char::is_alphabetic) {
            return Ok(None);
        }
        for (at, _) in word.char_indices().skip(3) {
            let (left, right) = word.split_at(at);
            let is_long = right.chars().count() >= 3;
            if is_long
                && self.lexicon.holds(left)?
                && self.lexicon.holds(right)?
                && self.lexicon.holds_beside(left, right)?
            {
                return Ok(Some((left.to_owned(), right.to_owned())));
            }
        }
        Ok(None)
    }

    /// Lets the parts of an identifier that the docs have help only: what is asked for is the whole.
    fn prefer_whole(&mut self, whole: &str, parts: &[String]) -> tantivy::Result<()> {
        let Some(at) = self.words.iter().position(|word| word.asked == whole) else { return Ok(()) };
        if self.words[at].certainty < 1.0 || !self.is_known(&self.words[at])? {
            return Ok(());
        }
        self.words[at].is_identifier = true;
        // A letter is not what a name with signs is about: `C` is no part of `C++`.
        self.words.retain(|word| !terms::has_signs(whole) || word.asked.len() > 1 || !parts.contains(&word.asked));
        let part = if terms::has_signs(whole) { WITHOUT_SIGNS } else { PART };
        for word in self.words.iter_mut().filter(|word| parts.contains(&word.asked)) {
            word.is_optional = true;
            word.forms.iter_mut().for_each(|form| form.share = rounded(form.share * part));
        }
        Ok(())
    }

    /// Takes a version as the docs spell it, `1.15` for `v1.15`. One that they never mention is dropped with its numbers, which they have
    /// for something else; unless it is all that is asked.
    fn settle_versions(&mut self, text: &str) -> tantivy::Result<()> {
        let pieces: Vec<&str> =
            text.split_whitespace().map(|piece| piece.trim_matches(|c: char| !c.is_alphanumeric())).collect();
        let (mut unknown, mut others, mut spelled) = (Vec::new(), Vec::new(), Vec::new());
        for (at, piece) in pieces.iter().enumerate() {
            let number = piece.strip_prefix(['v', 'V']).unwrap_or(piece);
            let is_named = number.len() < piece.len() || at > 0 && pieces[at - 1].eq_ignore_ascii_case("version");
            let words = terms::asked(piece);
            if !is_named || !is_version_number(number) {
                others.extend(words);
                continue;
            }
            let mut known = None;
            for form in [(*piece).to_owned(), number.to_owned(), format!("v{number}")] {
                let whole = terms::asked(&form).pop().unwrap_or_default();
                if known.is_none() && self.lexicon.holds(&whole)? {
                    known = Some(whole);
                }
            }
            if known.is_some() && known.as_ref() == words.last() {
                others.extend(words);
            } else {
                unknown.extend(words);
                spelled.extend(known);
            }
        }
        // A word that is being typed may become a version that they have.
        let is_kept = |word: &Word| {
            let is_typed = word.forms.iter().any(|form| form.because == MatchReason::Ending);
            !unknown.contains(&word.asked) || others.contains(&word.asked) || is_typed
        };
        if !spelled.is_empty() || self.words.iter().any(is_kept) {
            self.words.retain(is_kept);
        }
        for word in spelled {
            self.add(&word, false)?;
        }
        Ok(())
    }

    /// Joins two neighbouring words into a known one if either is unknown: `work space` to `workspace`.
    fn join_neighbours(&mut self, all: &[String]) -> tantivy::Result<()> {
        for pair in all.windows(2) {
            let [left, right] = pair else { continue };
            let at = |asked: &String| self.words.iter().position(|word| word.asked == *asked);
            let (Some(first), Some(second)) = (at(left), at(right)) else { continue };
            let asked_alone = |word: &Word| {
                word.forms.iter().take_while(|form| form.because == MatchReason::Asked).cloned().collect()
            };
            let is_known = |at: usize| -> tantivy::Result<bool> {
                let word = &self.words[at];
                self.is_known(&Word { forms: asked_alone(word), ..word.clone() })
            };
            if is_known(first)? && is_known(second)? {
                continue;
            }
            let joined = format!("{left}{right}");
            if joined.len() <= LONGEST_COMPOUND && self.lexicon.holds(&joined)? {
                for at in [first, second] {
                    let word = &mut self.words[at];
                    word.add(&joined, PARTED, MatchReason::Parted, self.lexicon.languages());
                    word.certainty = word.certainty.max(SURELY_PARTED);
                }
            }
        }
        Ok(())
    }

    fn add_synonyms(&mut self, all: &[String], synonyms: &Synonyms) {
        for (at, length, others) in synonyms.in_question(all) {
            for other in others {
                let same = self.words.iter().position(|word| length == 1 && word.asked == all[at]);
                match (same, other.as_slice()) {
                    (Some(same), [single]) => {
                        let word = &mut self.words[same];
                        word.add(single, SYNONYM, MatchReason::Synonym, self.lexicon.languages());
                        word.certainty = 1.0;
                    }
                    _ => other.iter().for_each(|word| {
                        self.add_extra(word, SYNONYM * (1.0 / other.len() as f32).max(0.5), MatchReason::Synonym);
                    }),
                }
            }
        }
    }

    /// Adds the words of another text, which are not missed where they are absent.
    fn add_others(&mut self, text: &str, share: f32) {
        let all = terms::asked(text);
        let content_words = content_words(&all, self.lexicon.languages()).unwrap_or_default();
        for (word, _) in all.iter().zip(content_words).filter(|(_, is_content)| *is_content) {
            self.add_extra(word, share, MatchReason::Asked);
        }
    }

    fn add_extra(&mut self, asked: &str, share: f32, because: MatchReason) {
        if self.words.len() < MOST_WORDS && self.words.iter().all(|word| word.asked != asked) {
            let mut word = Word { is_optional: true, is_beside: share <= BESIDE, ..Word::new(asked) };
            word.add(asked, share, because, self.lexicon.languages());
            self.words.push(word);
        }
    }
}

/// The phrases in double quotes, straight or curly.
fn phrases(text: &str, languages: &[Language]) -> Vec<Vec<Vec<String>>> {
    let mut quotes = text.char_indices().filter(|(_, c)| matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}'));
    let mut found = Vec::new();
    while let (Some((from, open)), Some((to, _))) = (quotes.next(), quotes.next()) {
        let mut words = terms::asked(&text[from + open.len_utf8()..to]);
        words.truncate(LONGEST_PHRASE);
        if !words.is_empty() && found.len() < MOST_PHRASES {
            let stems = |language: &Language| words.iter().map(|word| terms::stem(word, *language)).collect();
            let mut in_each: Vec<Vec<String>> = languages.iter().map(stems).collect();
            in_each.dedup();
            found.push(in_each);
        }
    }
    found
}
