//! Tests of the index as a whole: what is indexed, what is found, and what survives a failure.

use std::collections::BTreeMap;
use std::fs;

use docent_types::BoxError;
use parking_lot::Mutex;
use proptest::prelude::*;

mod finding;
mod killed;
mod kinds;
mod saying_no;
mod site;
mod skipping;
mod updated_like_new;
mod variants;
mod whole;

use crate::{Filter, Index, Query, SearchError, Source, SourceFile, Stage};

/// A docs tree in memory that records which files are read.
#[derive(Debug, Default)]
struct Docs {
    commit: String,
    files: BTreeMap<String, String>,
    read: Mutex<Vec<String>>,
    unreadable: Option<String>,
    beside: BTreeMap<String, String>,
    /// Number of reads after which the update is no longer wanted; no limit when absent.
    patience: Option<usize>,
}

impl Docs {
    fn of(files: &[(&str, &str)]) -> Self {
        let mut docs = Self::default();
        for (path, text) in files {
            docs.write(path, text);
        }
        docs
    }

    fn write(&mut self, path: &str, text: &str) {
        self.files.insert(path.to_owned(), text.to_owned());
        self.commit.push('+');
    }

    fn remove(&mut self, path: &str) {
        self.files.remove(path);
        self.commit.push('-');
    }

    fn were_read(&self) -> Vec<String> {
        let mut read = std::mem::take(&mut *self.read.lock());
        read.sort();
        read
    }
}

impl Source for Docs {
    fn commit(&self) -> &str {
        &self.commit
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        // The text itself is what identifies it.
        Ok(self.files.iter().map(|(path, text)| SourceFile { path: path.clone(), blob: text.clone() }).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        if self.unreadable.as_deref() == Some(file.path.as_str()) {
            return Err("gone".into());
        }
        self.read.lock().push(file.path.clone());
        Ok(self.files[&file.path].clone().into_bytes())
    }

    fn beside(&self, path: &str) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(self.beside.get(path).map(|text| text.clone().into_bytes()))
    }

    fn is_wanted(&self) -> bool {
        self.patience.is_none_or(|patience| self.read.lock().len() < patience)
    }
}

struct Site {
    dir: tempfile::TempDir,
    index: Index,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let index = Index::open(dir.path()).expect("an index");
        Self { dir, index }
    }

    fn of(docs: &Docs) -> Self {
        let site = Self::new();
        site.update(docs);
        site
    }

    fn update(&self, docs: &Docs) -> crate::Summary {
        self.index.update(docs, &mut |_| {}).expect("an update")
    }

    fn paths(&self, text: &str) -> Vec<String> {
        self.paths_with(text, Filter::default())
    }

    fn paths_with(&self, text: &str, filter: Filter) -> Vec<String> {
        let query = Query { text: text.to_owned(), limit: 10, filter, ..Query::default() };
        self.index.snapshot().search(&query).into_iter().map(|passage| passage.path).collect()
    }
}

fn names(dir: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

fn question(text: &str) -> Query {
    Query { text: text.to_owned(), limit: 10, ..Query::default() }
}

const RETRIES: &str = "---\ntitle: Retries\ndescription: What happens when a call fails\n---\n\nCalls are tried again.\n\n\
                       ## Backoff\n\nThe delay doubles, up to `max_delay`.\n\n## Budget\n\nFive attempts.\n";
const AUTH: &str = "# Authentication\n\nSend a bearer token.\n\n## Rotating keys\n\nKeys are rotated monthly.\n";

#[test]
fn a_question_finds_the_section_that_answers_it() {
    let site =
        Site::of(&Docs::of(&[("guides/retries.mdx", RETRIES), ("auth.md", AUTH), ("logo.svg", "<svg>retries</svg>")]));
    let snapshot = site.index.snapshot();
    let passages = snapshot.search(&question("How does the delay of the backoff double?"));
    let best = &passages[0];
    assert_eq!(best.path, "guides/retries");
    assert_eq!(best.href, "/guides/retries#backoff");
    assert_eq!(best.title, "Retries");
    assert_eq!(best.headings, ["Backoff"]);
    assert_eq!(best.content, "The delay doubles, up to `max_delay`.");
    assert!(best.score > 0.3 && best.score <= 1.0, "{}", best.score);
    assert!(passages.is_sorted_by(|a, b| a.score >= b.score));

    assert_eq!(site.paths("rotate a key"), ["auth"]);
    assert_eq!(site.paths("maxDelay"), ["guides/retries"]);
    assert_eq!(site.paths("authentication"), ["auth"]);
    assert_eq!(site.paths("what happens when something fails"), ["guides/retries"]);
    assert_eq!(site.paths("zebra"), Vec::<String>::new());
    assert_eq!(site.paths(""), Vec::<String>::new());
}

#[test]
fn pages_are_listed_and_read_by_their_path() {
    let site = Site::of(&Docs::of(&[
        ("guides/retries.mdx", RETRIES),
        ("index.md", "# Home\n\nWelcome."),
        ("draft.md", "---\ndraft: true\n---\n# Secret"),
    ]));
    let snapshot = site.index.snapshot();
    assert_eq!(snapshot.page_count(), 2);
    assert_eq!(snapshot.pages().map(|page| page.path).collect::<Vec<_>>(), ["guides/retries", ""]);
    for path in ["guides/retries", "/guides/retries/", "guides/retries.mdx", "/guides/retries#backoff"] {
        let page = snapshot.page(path).expect(path);
        assert_eq!(page.title, "Retries");
        assert!(page.content.starts_with("# Retries\n\nCalls are tried again.\n\n## Backoff"), "{}", page.content);
    }
    assert!(snapshot.has_page("/") && !snapshot.has_page("draft") && !snapshot.has_page("guides"));
    assert_eq!(site.paths("secret"), Vec::<String>::new());
}

#[test]
fn only_what_changed_is_read_again() {
    let mut docs =
        Docs::of(&[("a.md", "# Alpha\n\nfirst"), ("b.md", "# Beta\n\nsecond"), ("c.md", "# Gamma\n\nthird")]);
    let site = Site::of(&docs);
    assert_eq!(docs.were_read().len(), 3);
    let before = site.index.snapshot();

    docs.write("b.md", "# Beta\n\nrewritten");
    docs.write("d.md", "# Delta\n\nfourth");
    docs.remove("c.md");
    let summary = site.update(&docs);
    assert_eq!(docs.were_read(), ["b.md", "d.md"]);
    assert_eq!((summary.added, summary.changed, summary.removed, summary.pages), (1, 1, 1, 3));
    assert_eq!(site.paths("rewritten"), ["b"]);
    assert_eq!(site.paths("second"), Vec::<String>::new());
    assert_eq!(site.paths("third"), Vec::<String>::new());

    assert_eq!(before.search(&question("second")).len(), 1, "a snapshot never changes");
    assert_ne!(before.commit(), site.index.snapshot().commit());
    assert!(!site.update(&docs).published);

    docs.commit.push('!');
    assert!(site.update(&docs).published, "a new commit is noted though no page changed");
    assert_eq!(site.index.snapshot().commit(), Some(docs.commit.as_str()));
    assert!(docs.were_read().is_empty());
}

#[test]
fn a_change_of_the_navigation_reaches_the_pages_it_names() {
    let nav = |version: &str| {
        let versions = format!(r#"{{"versions": [{{"version": "{version}", "pages": ["a"]}}]}}"#);
        format!(r#"{{"seo": {{"indexing": "all"}}, "navigation": {versions}}}"#)
    };
    let mut docs = Docs::of(&[("a.md", "# Alpha\n\nsame words"), ("b.md", "# Beta\n\nsame words")]);
    docs.write("docs.json", &nav("v1"));
    let site = Site::of(&docs);
    let version = |version: &str| Filter { version: Some(version.to_owned()), ..Filter::default() };
    assert_eq!(site.paths_with("same words", version("v1")).len(), 2);
    assert_eq!(site.paths_with("same words", version("v2")), ["b"]);
    docs.were_read();
    docs.write("docs.json", &nav("v2"));
    site.update(&docs);
    let pages: Vec<String> = docs.were_read().into_iter().filter(|file| file.ends_with(".md")).collect();
    assert_eq!(pages, ["a.md"]);
    assert_eq!(site.paths_with("same words", version("v2")).len(), 2);
    assert_eq!(
        site.index.snapshot().pages().find(|page| page.path == "a").and_then(|page| page.version).as_deref(),
        Some("v2")
    );
}

#[test]
fn filters_let_through_what_has_no_label_of_its_own() {
    let page = |fields: &str| format!("---\n{fields}\n---\n\ncommon words\n");
    let files = [
        ("plain.md", page("title: Plain")),
        ("v1.md", page("version: v1")),
        ("v2-de.md", page("version: v2\nlanguage: de")),
        ("staff.md", page("groups: [staff]")),
        ("tagged.md", page("tag: NEW")),
    ];
    let mut docs = Docs::default();
    files.iter().for_each(|(path, text)| docs.write(path, text));
    let site = Site::of(&docs);
    let found = |filter: Filter| {
        let mut paths = site.paths_with("common words", filter);
        paths.sort();
        paths
    };
    assert_eq!(found(Filter::default()).len(), 5);
    assert_eq!(found(Filter { version: Some("v1".into()), ..Filter::default() }), ["plain", "staff", "tagged", "v1"]);
    assert_eq!(found(Filter { language: Some("en".into()), ..Filter::default() }), ["plain", "staff", "tagged", "v1"]);
    assert_eq!(found(Filter { groups: vec!["guest".into()], ..Filter::default() }), ["plain", "tagged", "v1", "v2-de"]);
    assert_eq!(found(Filter { groups: vec!["guest".into(), "staff".into()], ..Filter::default() }).len(), 5);
    assert_eq!(found(Filter { tag: Some("NEW".into()), ..Filter::default() }), ["tagged"]);
}

#[test]
fn another_handle_sees_what_was_published_once_it_looks() {
    let site = Site::new();
    let other = Index::open(site.dir.path()).expect("an index");
    assert_eq!(other.snapshot().commit(), None);
    assert!(!other.refresh().expect("refresh"));
    site.update(&Docs::of(&[("a.md", "# Alpha")]));
    assert!(other.refresh().expect("refresh"));
    assert!(!other.refresh().expect("refresh"));
    assert_eq!(other.snapshot().page_count(), 1);
    assert_eq!(Index::open(site.dir.path()).expect("an index").snapshot().page_count(), 1);
}

#[test]
fn writers_take_turns_and_readers_are_never_without_an_index() {
    let site = Site::of(&Docs::of(&[("0.md", "# Page\n\nword")]));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (1..=3)
            .map(|writer| {
                let dir = site.dir.path();
                scope.spawn(move || {
                    let index = Index::open(dir).expect("an index");
                    for round in 0..4 {
                        let mut docs = Docs::of(&[("0.md", "# Page\n\nword")]);
                        docs.write(&format!("{writer}.md"), &format!("# Other\n\nround {round}"));
                        docs.commit = format!("{writer}-{round}");
                        index.update(&docs, &mut |_| {}).expect("an update");
                    }
                })
            })
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            site.index.refresh().expect("refresh");
            assert_eq!(site.paths("word"), ["0"]);
        }
    });
    let left = |ending: &str| names(site.dir.path()).iter().filter(|name| name.ends_with(ending)).count();
    site.index.refresh().expect("refresh");
    assert_eq!(left(".log"), 1);
    assert_eq!(left(".pack"), site.index.snapshot().state().expect("a state").segments.len());
}

#[test]
fn an_update_that_fails_leaves_the_index_as_it_was() {
    let mut docs = Docs::of(&[("a.md", "# Alpha\n\nword")]);
    let site = Site::of(&docs);
    docs.write("b.md", "# Beta\n\nword");
    docs.unreadable = Some("b.md".to_owned());
    let error = site.index.update(&docs, &mut |_| {}).expect_err("b.md cannot be read");
    assert!(matches!(&error, SearchError::Source { what, .. } if what == "b.md"), "{error}");
    assert_eq!(site.paths("word"), ["a"]);
    docs.unreadable = None;
    site.update(&docs);
    assert_eq!(site.paths("word").len(), 2);
}

#[test]
fn a_damaged_index_is_built_anew() {
    let docs = Docs::of(&[("a.md", "# Alpha\n\nword")]);
    let site = Site::of(&docs);
    let damage: [fn(&std::path::Path); 4] = [
        |file| fs::write(file, b"").expect("emptied"),
        |file| fs::write(file, b"{").expect("overwritten"),
        |file| fs::write(file, &fs::read(file).expect("read")[7..]).expect("shifted"),
        |file| fs::remove_file(file).expect("removed"),
    ];
    for ending in [".log", ".pack", "CURRENT"] {
        for (damage, is_searched) in damage.into_iter().flat_map(|damage| [(damage, true), (damage, false)]) {
            for name in names(site.dir.path()).iter().filter(|name| name.ends_with(ending)) {
                damage(&site.dir.path().join(name));
            }
            let again = Index::open(site.dir.path()).expect("an index");
            if is_searched {
                assert_eq!(again.snapshot().page_count(), 0, "{ending}");
            }
            assert_eq!(again.update(&docs, &mut |_| {}).expect("an update").added, 1, "{ending}");
            assert_eq!(again.snapshot().search(&question("word")).len(), 1, "{ending}");
        }
    }
}

#[test]
fn a_large_index_that_cannot_be_opened_is_built_anew() {
    let mut docs = Docs::default();
    for page in 0..300 {
        let words: String = (0..400).map(|n| format!("w{} ", (page * 7919 + n * 104_729) % 50_021)).collect();
        docs.write(&format!("{page}.md"), &format!("# Page {page}\n\nword {words}"));
    }
    for is_searched in [true, false] {
        let site = Site::of(&docs);
        let large = names(site.dir.path()).into_iter().map(|name| site.dir.path().join(name));
        let large: Vec<_> = large.filter(|file| fs::metadata(file).expect("a size").len() > 256 << 10).collect();
        assert!(large.iter().any(|file| file.extension().is_some_and(|ending| ending == "pack")), "{large:?}");
        for file in large.iter().filter(|file| file.extension().is_some_and(|ending| ending == "pack")) {
            // Of the same length, with the table at its end.
            let mut bytes = fs::read(file).expect("read");
            let middle = bytes.len() - 4096;
            bytes[..middle].fill(0);
            fs::write(file, bytes).expect("damaged");
        }
        let again = Index::open(site.dir.path()).expect("an index");
        if is_searched {
            assert_eq!(again.snapshot().page_count(), 0);
        }
        assert_eq!(again.update(&docs, &mut |_| {}).expect("an update").added, 300, "searched before: {is_searched}");
        assert_eq!(again.snapshot().search(&question("word")).len(), 10);
    }
}

#[test]
fn a_folder_that_was_removed_under_an_open_index_is_made_anew() {
    let mut docs = Docs::of(&[("a.md", "# Alpha\n\nword"), ("b.md", "# Beta\n\nword")]);
    let site = Site::of(&docs);
    let other = Index::open(site.dir.path()).expect("an index");
    for name in names(site.dir.path()) {
        fs::remove_file(site.dir.path().join(name)).expect("removed");
    }
    assert_eq!(site.paths("word").len(), 2, "who has it open goes on reading it");
    docs.remove("b.md");
    site.update(&docs);
    assert_eq!(site.paths("word"), ["a"]);
    assert!(other.refresh().expect("refresh"));
    assert_eq!(other.snapshot().search(&question("word")).len(), 1);
}

#[test]
fn progress_counts_up_to_the_pages_to_read() {
    let site = Site::new();
    let mut seen = Vec::new();
    let docs = Docs::of(&[("a.md", "# A"), ("b.md", "# B"), ("c.txt", "C")]);
    site.index
        .update(&docs, &mut |progress| seen.push((progress.stage, progress.done, progress.total)))
        .expect("an update");
    assert_eq!(seen, [(Stage::Reading, 1, 2), (Stage::Reading, 2, 2), (Stage::Writing, 2, 2)]);
}

#[test]
fn an_empty_site_is_an_index_that_finds_nothing() {
    let site = Site::of(&Docs::default());
    assert_eq!(site.index.snapshot().page_count(), 0);
    assert_eq!(site.paths("anything"), Vec::<String>::new());
}

#[test]
fn nearness_breaks_ties() {
    let text = "# Install\n\nRun the installer.\n";
    let site =
        Site::of(&Docs::of(&[("mac/install.md", text), ("linux/install.md", text), ("linux/other.md", "# Other")]));
    let near = |near: &str| {
        let query = Query { near: Some(near.to_owned()), ..question("run the installer") };
        site.index.snapshot().search(&query)[0].path.clone()
    };
    assert_eq!(near("linux/other"), "linux/install");
    assert_eq!(near("/mac/install"), "mac/install");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_question_is_answered(text in prop_oneof!["\\PC{0,200}", "[\\[\\](){}\"'+\\-:*?~^\\\\/ a-c]{0,60}"], limit in 0_usize..20) {
        thread_local! {
            static SITE: Site = Site::of(&Docs::of(&[("a.md", RETRIES), ("b.md", AUTH)]));
        }
        SITE.with(|site| {
            let passages = site.index.snapshot().search(&Query { text, limit, ..Query::default() });
            assert!(passages.len() <= limit);
            assert!(passages.iter().all(|passage| (0.0..=1.0).contains(&passage.score) && !passage.content.is_empty()));
        });
    }
}
