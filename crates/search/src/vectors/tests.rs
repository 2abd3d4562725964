//! Tests of an index with vectors. The [`Twin`] embedder replaces a model.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use docent_types::BoxError;
use futures::executor::block_on;

use crate::conformance::Twin;
use crate::{EmbedSummary, Embedder, Filter, Index, Query, Role, SearchError, Settings, Source, SourceFile};

/// A docs tree in memory.
struct Docs {
    commit: String,
    pages: BTreeMap<String, String>,
}

impl Docs {
    fn of(pages: &[(&str, &str)]) -> Self {
        let pages: BTreeMap<_, _> = pages.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { commit: format!("{pages:?}"), pages }
    }
}

impl Source for Docs {
    fn commit(&self) -> &str {
        &self.commit
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(self.pages.iter().map(|(path, text)| SourceFile { path: path.clone(), blob: text.clone() }).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        Ok(self.pages[&file.path].clone().into_bytes())
    }
}

/// A twin that counts the sections it embeds, and can be made to fail.
#[derive(Debug)]
struct Watched {
    twin: Twin,
    sections: AtomicUsize,
    fails: AtomicBool,
}

impl Watched {
    fn named(name: &str) -> Arc<Self> {
        Arc::new(Self { twin: Twin::named(name), sections: AtomicUsize::new(0), fails: AtomicBool::new(false) })
    }
}

#[async_trait]
impl Embedder for Watched {
    fn id(&self) -> &str {
        self.twin.id()
    }

    fn dimensions(&self) -> usize {
        self.twin.dimensions()
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err("out of order".into());
        }
        if role == Role::Passage {
            self.sections.fetch_add(texts.len(), Ordering::Relaxed);
        }
        self.twin.embed(texts, role).await
    }
}

fn open(dir: &tempfile::TempDir, embedder: &Arc<Watched>) -> Index {
    Index::open_with(dir.path(), Some(Arc::clone(embedder) as Arc<dyn Embedder>)).expect("an index")
}

fn update(index: &Index, pages: &[(&str, &str)]) {
    index.update(&Docs::of(pages), &mut |_| ()).expect("indexed");
}

fn embed(index: &Index) -> EmbedSummary {
    index.embed(&|| true, &mut |_| ()).expect("embedded")
}

fn found(index: &Index, text: &str) -> Vec<(String, f32)> {
    let query = Query { text: text.to_owned(), limit: 10, ..Query::default() };
    let found = block_on(index.snapshot().find(&query));
    found.into_iter().map(|passage| (passage.path, passage.score)).collect()
}

fn by_words(index: &Index, text: &str) -> Vec<(String, f32)> {
    let query = Query { text: text.to_owned(), limit: 10, ..Query::default() };
    index.snapshot().search(&query).into_iter().map(|passage| (passage.path, passage.score)).collect()
}

const KEYS: (&str, &str) = ("keys.md", "# Keys\n\nRotate keys often.\n\n## Expiry\n\nKeys expire after ninety days.\n");
const HOOKS: (&str, &str) = ("hooks.md", "# Hooks\n\nHooks tell of deliveries and keys.\n");
const QUESTION: &str = "when do keys expire";

#[test]
fn a_section_is_embedded_once_wherever_its_page_goes() {
    let dir = tempfile::tempdir().expect("a folder");
    let embedder = Watched::named("a");
    let index = open(&dir, &embedder);
    update(&index, &[KEYS, HOOKS]);
    assert_eq!(embed(&index), EmbedSummary { sections: 3, embedded: 3, is_embedding_elsewhere: false });
    assert_eq!(embed(&index).embedded, 0, "nothing is left to do");

    let changed = ("keys.md", "# Keys\n\nRotate keys weekly.\n\n## Expiry\n\nKeys expire after ninety days.\n");
    update(&index, &[changed, HOOKS]);
    assert_eq!(embed(&index), EmbedSummary { sections: 3, embedded: 1, is_embedding_elsewhere: false });
    update(&index, &[("moved/keys.md", changed.1), HOOKS]);
    assert_eq!(embed(&index).embedded, 0, "the same sections on another page");
    update(&index, &[HOOKS]);
    assert_eq!(embed(&index), EmbedSummary { sections: 1, embedded: 0, is_embedding_elsewhere: false });
    assert_eq!(embedder.sections.load(Ordering::Relaxed), 4);
}

#[test]
fn vectors_count_for_every_handle_and_change_what_is_found() {
    let dir = tempfile::tempdir().expect("a folder");
    let embedder = Watched::named("a");
    let index = open(&dir, &embedder);
    update(&index, &[KEYS, HOOKS]);
    let words = by_words(&index, QUESTION);
    assert_eq!(found(&index, QUESTION), words, "there are no vectors yet");
    let other = open(&dir, &embedder);
    assert_eq!(found(&other, QUESTION), words);
    embed(&index);
    let fused = found(&index, QUESTION);
    assert_ne!(fused, words);
    assert_eq!(fused[0].0, "keys");
    assert_eq!(found(&other, QUESTION), words, "another handle has not looked");
    other.refresh().expect("looked");
    assert_eq!(found(&other, QUESTION), fused);
    assert_eq!(found(&open(&dir, &embedder), QUESTION), fused, "and one that is opened later");
}

/// Gives texts with the same meaning the same vector, whatever their words.
#[derive(Debug)]
struct Meaning;

#[async_trait]
impl Embedder for Meaning {
    fn id(&self) -> &'static str {
        "meaning"
    }

    fn dimensions(&self) -> usize {
        3
    }

    async fn embed(&self, texts: &[&str], _: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        let vector = |text: &&str| match text.to_lowercase() {
            text if text.contains("expir") || text.contains("outdated") => vec![1.0, 0.0, 0.0],
            text if text.contains("weather") => vec![0.0, 0.0, 1.0],
            _ => vec![0.0, 1.0, 0.0],
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn a_page_that_shares_no_word_is_found_by_what_it_means() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = Index::open_with(dir.path(), Some(Arc::new(Meaning))).expect("an index");
    update(&index, &[KEYS, HOOKS]);
    embed(&index);
    assert!(by_words(&index, "outdated").is_empty());
    let found_by_meaning = found(&index, "outdated");
    assert_eq!(found_by_meaning.len(), 1, "pages that mean something else stay out: {found_by_meaning:?}");
    assert_eq!(found_by_meaning[0].0, "keys");
    assert!(found_by_meaning[0].1 > 0.0 && found_by_meaning[0].1 < 0.6, "no word of it is met: {found_by_meaning:?}");
    let filter = Filter { tag: Some("none has it".to_owned()), ..Filter::default() };
    let query = Query { text: "outdated".to_owned(), limit: 10, filter, ..Query::default() };
    assert!(block_on(index.snapshot().find(&query)).is_empty(), "a filter holds for it as for others");
    assert!(found(&index, "weather").is_empty(), "some page is always the nearest");
}

#[test]
fn of_pages_that_mean_the_same_one_that_others_link_to_comes_first() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = Index::open_with(dir.path(), Some(Arc::new(Meaning))).expect("an index");
    let (certificates, tokens) = (("a.md", "# Certificates\n\nThey expire.\n"), ("z.md", "# Tokens\n\nAll expire.\n"));
    let first = |hooks: &str| {
        update(&index, &[certificates, tokens, ("hooks.md", hooks)]);
        embed(&index);
        found(&index, "outdated")[0].0.clone()
    };
    assert_eq!(first("# Hooks\n\nSee elsewhere.\n"), "a");
    assert_eq!(first("# Hooks\n\nSee [elsewhere](z.md).\n"), "z");
}

#[test]
fn a_score_means_the_same_with_vectors_and_without() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = open(&dir, &Watched::named("a"));
    let subjects = ["queue", "webhook", "backup", "schedule", "quota", "signature", "replay", "payload"];
    let pages: Vec<(String, String)> = subjects
        .iter()
        .enumerate()
        .map(|(at, subject)| {
            let next = subjects[(at + 1) % subjects.len()];
            let text = format!(
                "# The {subject}\n\nA {subject} is created in the settings and named after its owner.\n\n## Limits\n\n\
                 The {subject} waits for the {next} until its limit is reached.\n"
            );
            (format!("{subject}.md"), text)
        })
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    update(&index, &pages);
    embed(&index);
    let best = |found: Vec<(String, f32)>| found.first().map_or(0.0, |(_, score)| *score);
    for subject in subjects {
        let asked = format!("how is the limit of a {subject} reached");
        let (words, vectors) = (best(by_words(&index, &asked)), best(found(&index, &asked)));
        assert!(words > 0.5 && vectors > 0.5, "{asked}: {words} {vectors}");
    }
    for foreign in ["sourdough bread in the oven", "the limit of zebras in Kenya", "who painted the schedule of trains"]
    {
        let (words, vectors) = (best(by_words(&index, foreign)), best(found(&index, foreign)));
        assert!(words < 0.5 && vectors < 0.5 && (vectors - words).abs() < 0.1, "{foreign}: {words} {vectors}");
    }
}

/// An embedder for pages on three subjects: two related ones, and one that only resembles the question.
#[derive(Debug)]
struct Subjects;

#[async_trait]
impl Embedder for Subjects {
    fn id(&self) -> &'static str {
        "subjects"
    }

    fn dimensions(&self) -> usize {
        4
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, BoxError> {
        let passage = |text: &str| match text {
            text if text.contains("Renewal") => vec![0.6, 0.8, 0.0, 0.0],
            text if text.contains("Crop") => vec![0.65, 0.0, 0.76, 0.0],
            text if text.contains("Rotation") => vec![0.8, 0.6, 0.0, 0.0],
            _ => vec![0.0, 0.0, 0.0, 1.0],
        };
        let vector = |text: &&str| if role == Role::Question { vec![1.0, 0.0, 0.0, 0.0] } else { passage(text) };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn pages_close_to_the_best_answer_rank_above_lookalikes() {
    let dir = tempfile::tempdir().expect("a folder");
    let index = Index::open_with(dir.path(), Some(Arc::new(Subjects))).expect("an index");
    let others: Vec<String> = (0..6).map(|number| format!("other{number}.md")).collect();
    let mut pages = vec![
        ("rotation.md", "# Rotation\n\nTurn them weekly.\n"),
        ("renewal.md", "# Renewal\n\nFresh certificates.\n"),
        ("crop.md", "# Crop\n\nCorn after beans.\n"),
    ];
    pages.extend(others.iter().map(|path| (path.as_str(), "# Weather\n\nRain.\n")));
    update(&index, &pages);
    embed(&index);
    let query = Query { text: "turn weekly".to_owned(), limit: 10, ..Query::default() };
    let found_with = |settings: &Settings| {
        let found = block_on(index.snapshot().find_with(&query, settings));
        found.into_iter().map(|passage| (passage.path, passage.score)).collect::<Vec<_>>()
    };
    let found = found_with(&Settings::default());
    let paths = |found: &[(String, f32)]| found.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&found), ["rotation", "renewal", "crop"]);
    let mut by_question_alone = Settings::default();
    by_question_alone.set("similarity_best", 0.0).expect("there is one");
    let before = found_with(&by_question_alone);
    assert_eq!(paths(&before), ["rotation", "crop", "renewal"]);
    let sum = |found: &[(String, f32)]| found.iter().map(|(_, score)| score).sum::<f32>();
    assert!((sum(&found) - sum(&before)).abs() < 1e-4, "pages meet as much of the question: {found:?} {before:?}");
}

#[test]
fn another_embedder_begins_anew_and_until_then_words_answer() {
    let dir = tempfile::tempdir().expect("a folder");
    update(&open(&dir, &Watched::named("a")), &[KEYS, HOOKS]);
    embed(&open(&dir, &Watched::named("a")));
    let index = open(&dir, &Watched::named("b"));
    assert_eq!(found(&index, QUESTION), by_words(&index, QUESTION));
    assert_eq!(embed(&index).embedded, 3);
    assert_ne!(found(&index, QUESTION), by_words(&index, QUESTION));
    let back = open(&dir, &Watched::named("a"));
    assert_eq!(embed(&back).embedded, 3, "what the first one made was tidied up");
    let without = Index::open(dir.path()).expect("an index");
    assert_eq!(found(&without, QUESTION), by_words(&without, QUESTION));
    assert_eq!(embed(&without), EmbedSummary::default());
}

#[test]
fn an_embedder_that_fails_leaves_words_and_the_next_try_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let embedder = Watched::named("a");
    let index = open(&dir, &embedder);
    update(&index, &[KEYS, HOOKS]);
    embedder.fails.store(true, Ordering::Relaxed);
    let failed = index.embed(&|| true, &mut |_| ());
    assert!(matches!(failed, Err(SearchError::Embedder { .. })), "{failed:?}");
    embedder.fails.store(false, Ordering::Relaxed);
    assert_eq!(embed(&index).embedded, 3);
    embedder.fails.store(true, Ordering::Relaxed);
    assert_eq!(found(&index, QUESTION), by_words(&index, QUESTION), "a question goes on without vectors");
}

#[test]
fn vectors_of_an_index_that_was_built_anew_are_not_taken_for_others() {
    let dir = tempfile::tempdir().expect("a folder");
    let embedder = Watched::named("a");
    update(&open(&dir, &embedder), &[KEYS]);
    embed(&open(&dir, &embedder));
    for entry in std::fs::read_dir(dir.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            std::fs::remove_file(path).expect("removed");
        }
    }
    let index = open(&dir, &embedder);
    update(&index, &[HOOKS]);
    assert_eq!(found(&index, "keys"), by_words(&index, "keys"), "its one page has no vector");
    assert_eq!(embed(&index), EmbedSummary { sections: 1, embedded: 1, is_embedding_elsewhere: false });
}

#[test]
fn a_damaged_file_of_vectors_is_made_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let embedder = Watched::named("a");
    update(&open(&dir, &embedder), &[KEYS, HOOKS]);
    embed(&open(&dir, &embedder));
    std::fs::write(dir.path().join("vectors/1.vec"), b"DOCVEC").expect("written");
    let index = open(&dir, &embedder);
    assert_eq!(found(&index, QUESTION), by_words(&index, QUESTION));
    assert_eq!(embed(&index).embedded, 3);
    assert_ne!(found(&index, QUESTION), by_words(&index, QUESTION));
}

#[test]
fn whoever_does_not_want_it_any_more_gets_what_was_done() {
    let dir = tempfile::tempdir().expect("a folder");
    let embedder = Watched::named("a");
    let index = open(&dir, &embedder);
    update(&index, &[KEYS, HOOKS]);
    assert_eq!(index.embed(&|| false, &mut |_| ()).expect("ended"), EmbedSummary::default());
    assert_eq!(embed(&index).embedded, 3);
}
