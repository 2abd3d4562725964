//! Finds the words of a question in a text.

use std::collections::HashSet;
use std::ops::Range;

use crate::index::snapshot::Snapshot;
use crate::query::asked;
use crate::rank::question::Question;
use crate::text::languages::Language;
use crate::text::lexicon::Lexicon;
use crate::text::terms;

/// The words of one question as one index understands it: with completions, synonyms and corrected typos.
#[derive(Debug)]
pub struct Highlighter {
    stems: HashSet<String>,
    usual: Language,
}

impl Snapshot {
    /// A highlighter for the words of a question. It marks nothing if the index cannot be read.
    pub fn highlighter(&self, question: &str) -> Highlighter {
        let languages = &self.stats.languages;
        let understood = self.searcher().map(|searcher| {
            let lexicon = Lexicon::new(searcher, &self.fields, &self.stats);
            Question::of(&asked(question), None, "", &lexicon, &self.tables.synonyms)
        });
        let words = understood.and_then(Result::ok).map(|question| question.words).unwrap_or_default();
        let stems = words.into_iter().flat_map(|word| word.forms).map(|form| form.stem).collect();
        let usual = languages.first().copied().unwrap_or(Language::English);
        Highlighter { stems, usual }
    }
}

impl Highlighter {
    /// The byte ranges of a text that are words of the question, in order and without overlaps. `language` is the tag
    /// of the page's language, if it has one.
    pub fn marks(&self, text: &str, language: Option<&str>) -> Vec<Range<usize>> {
        let language = language.and_then(Language::of_tag).unwrap_or(self.usual);
        let mut found: Vec<Range<usize>> = Vec::new();
        terms::each_stem(text, language, |stem, at| {
            if self.stems.contains(stem) {
                found.push(at);
            }
        });
        // An identifier may match both as a whole and by its parts.
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match apart.last_mut().filter(|last| range.start < last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => apart.push(range),
            }
        }
        apart
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use docent_types::BoxError;
    use proptest::prelude::*;

    use super::*;
    use crate::index::handle::Index;
    use crate::source::{Source, SourceFile};

    struct OnePage;

    impl Source for OnePage {
        fn commit(&self) -> &str {
            "c1"
        }

        fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
            Ok(vec![SourceFile { path: "index.md".to_owned(), blob: "b1".to_owned() }])
        }

        fn read(&self, _: &SourceFile) -> Result<Vec<u8>, BoxError> {
            Ok(b"# Retries\n\nConfigure `max_retries` for the naive widget.\n".to_vec())
        }
    }

    fn highlighter(question: &str) -> Highlighter {
        let folder = tempfile::tempdir().expect("a folder");
        let index = Index::open(folder.path()).expect("opens");
        index.update(&OnePage, &mut |_| ()).expect("indexed");
        index.snapshot().highlighter(question)
    }

    fn marked<'t>(question: &str, text: &'t str) -> Vec<&'t str> {
        highlighter(question).marks(text, None).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn words_are_marked_in_all_their_forms_and_stop_words_are_not() {
        assert_eq!(marked("how are retries configured", "We are configuring the Retry."), ["configuring", "Retry"]);
        assert_eq!(marked("max_retries", "set maxRetries, or max_retries."), ["maxRetries", "max_retries"]);
        assert_eq!(marked("confgure", "Configure it."), ["Configure"], "a slip");
        assert!(marked("something else", "Configure it.").is_empty());
    }

    #[test]
    fn an_empty_index_marks_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = Index::open(folder.path()).expect("opens").snapshot();
        assert!(snapshot.highlighter("retries").marks("retries", None).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_marked_where_there_are_letters(text in "(\\PC|retries|max_|\u{301}){0,80}") {
            static KNOWN: LazyLock<Highlighter> = LazyLock::new(|| highlighter("max retries"));
            let marks = KNOWN.marks(&text, Some("de"));
            prop_assert!(marks.iter().all(|range| text.get(range.clone()).is_some_and(|word| !word.is_empty())));
            prop_assert!(marks.windows(2).all(|two| two[0].end <= two[1].start));
        }
    }
}
