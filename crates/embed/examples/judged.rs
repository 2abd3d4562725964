//! How good a ranking is on a docs tree, and on one with several versions or languages: whether the pages that are found are
//! those that a reader wants. All in this process.
//!
//! ```text
//! cargo run --release -p docent-embed --features transformer --example judged -- links DOCS SET [LANGUAGE]
//! cargo run --release -p docent-embed --features transformer --example judged -- ask DOCS SET [NAME=VALUE …]
//! cargo run --release -p docent-embed --features transformer --example judged -- refuse DOCS QUESTIONS [NAME=VALUE …]
//! ```
//!
//! DOCS is a folder, or a file of `{id, title, text}` a line (`corpus.jsonl`); `REPOSITORY:FOLDER` is a docs root in a
//! repository. SET is a folder with `queries.jsonl` and `qrels.tsv`.
//!
//! `links` makes a set of a docs tree: the words with which one page links to another are a question, and the page they lead
//! to is the answer. Of pages in several versions and languages it takes those of the current version and the default language,
//! or of the LANGUAGE.
//! Words that lead to several pages, single words, and titles are no questions. At most 1,000 are taken, and two for a page.
//!
//! `ask` prints nDCG@10, how often the right page comes first and among the first three, and of what comes first, and among
//! the first ten, how much is in another version or another language than the right page. `NAME=VALUE` changes a number of
//! the ranking; `show=NUMBER` prints so many questions whose right page did not come first;
//! `near=PATH` asks all questions from a page, `language=NAME` and `version=NAME` filter. `belowHalf` is the share of the
//! questions whose best score is below 0.5, and `rightFirstArea` how well that score tells whether the first page is right
//! (area under the curve). `elsewhere=FILE` asks questions besides, one a line (or the `queries.jsonl` of a set), that the docs do
//! not answer: how many of them are below 0.5, how well the score tells them from those of the set, below which score most of
//! either kind are told right, and how many are below `oneInTwelveBelow`, the score that one in twelve of the set's stays below. `refuse` prints `belowHalf` of such questions alone. `embedder=FOLDER` has a sentence model count, too; `index=FOLDER` keeps the index, whose sections take long to
//! embed, from one run to the next.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_embed::Transformer;
use docent_markdown::LinkKind;
use docent_search::{Embedder, Index, Query, Settings, Snapshot, Source, SourceFile};
use docent_site::{PageLabels, Site, Target, Tree, Variants};
use docent_types::{BoxError, Passage};
use serde::Deserialize;
use serde_json::json;

/// How many questions are taken, and how many for a page.
const MOST: usize = 1_000;
const MOST_FOR_A_PAGE: usize = 2;
/// How many results a question asks for.
const RESULTS: usize = 50;
/// How many of them are shown of a question whose right page did not come first.
const SHOWN: usize = 4;
/// Endings of what is read: pages, and what configures a site.
const ENDINGS: [&str; 16] = [
    "md", "mdx", "markdown", "rst", "json", "yml", "yaml", "toml", "js", "mjs", "cjs", "ts", "mts", "tsx", "txt", "cfg",
];

fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["links", docs, set] => links(&Docs::read(docs)?, Path::new(set), None),
        ["links", docs, set, language] => links(&Docs::read(docs)?, Path::new(set), Some(language)),
        ["refuse", docs, questions, changes @ ..] => {
            refuse(&Docs::read(docs)?, Path::new(questions), &Changes::read(changes)?)
        }
        ["ask", docs, set, changes @ ..] => ask(&Docs::read(docs)?, Path::new(set), Changes::read(changes)?),
        _ => Err("usage: judged links DOCS SET [LANGUAGE] | judged ask DOCS SET [NAME=VALUE …] | \
                  judged refuse DOCS QUESTIONS [NAME=VALUE …]"
            .into()),
    }
}

/// A docs tree in memory.
#[derive(Default)]
struct Docs {
    root: String,
    files: BTreeMap<String, Vec<u8>>,
    outside: BTreeMap<String, Vec<u8>>,
}

#[derive(Deserialize)]
struct Document {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

impl Docs {
    fn read(place: &str) -> Result<Self, BoxError> {
        let mut docs = Self::default();
        if place.ends_with(".jsonl") {
            for line in fs::read_to_string(place)?.lines() {
                let Document { id, title, text } = serde_json::from_str(line)?;
                let text = format!("---\ntitle: {}\n---\n\n{text}", json!(title));
                docs.files.insert(format!("{}.md", id.trim_matches('/')), text.into_bytes());
            }
            return Ok(docs);
        }
        let (repository, root) = place.split_once(':').unwrap_or((place, ""));
        docs.root = root.trim_matches('/').to_owned();
        let up = "../".repeat(docs.root.split('/').filter(|part| !part.is_empty()).count());
        let mut folders = vec![PathBuf::from(repository)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                if path.is_dir() {
                    if name != ".git" && name != "node_modules" {
                        folders.push(path);
                    }
                    continue;
                }
                let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
                if name != "_redirects" && !ENDINGS.contains(&ending.as_str()) {
                    continue;
                }
                let inside = path.strip_prefix(repository)?.to_string_lossy().into_owned();
                let below = match docs.root.as_str() {
                    "" => Some(inside.as_str()),
                    root => inside.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')),
                };
                match below {
                    Some(below) => docs.files.insert(below.to_owned(), fs::read(&path)?),
                    None => docs.outside.insert(format!("{up}{inside}"), fs::read(&path)?),
                };
            }
        }
        Ok(docs)
    }
}

impl Tree for Docs {
    fn paths(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).or_else(|| self.outside.get(path)).cloned()
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn paths_outside(&self) -> Vec<String> {
        self.outside.keys().cloned().collect()
    }
}

impl Source for Docs {
    fn commit(&self) -> &'static str {
        "as it is"
    }

    fn root(&self) -> &str {
        &self.root
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(listed(&self.files))
    }

    fn files_outside(&self) -> Result<Vec<SourceFile>, BoxError> {
        Ok(listed(&self.outside))
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        Tree::read(self, &file.path).ok_or_else(|| format!("there is no {}", file.path).into())
    }
}

/// Nothing changes here: what a file is called tells it from others.
fn listed(files: &BTreeMap<String, Vec<u8>>) -> Vec<SourceFile> {
    files.keys().map(|path| SourceFile { path: path.clone(), blob: path.clone() }).collect()
}

/// The pages of a site, and which of them are one page.
struct Pages {
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
    variants: Variants,
}

impl Pages {
    /// As the index has them: what the site and front matter say of a page, not what is told from its path.
    fn of(index: &Index, docs: &Docs, site: &Site) -> Self {
        let served = site.served();
        let paths: Vec<String> = index.snapshot().pages().map(|entry| entry.path).collect();
        let place = |path: &String| {
            let file = served.get(path.as_str())?;
            let page = site.parse(file, &Tree::read(docs, file)?);
            Some(site.layout().place_of(file, &page.front_matter))
        };
        let places: Vec<_> = paths.iter().map(|path| place(path).unwrap_or_default()).collect();
        let labels: Vec<PageLabels<'_>> = paths
            .iter()
            .zip(&places)
            .map(|(path, place)| PageLabels {
                path,
                version: place.version.as_deref(),
                language: place.language.as_deref(),
            })
            .collect();
        let variants = Variants::of(&labels, site.layout().declared(), site.layout().redirects());
        let numbers = paths.iter().cloned().zip(0..).collect();
        Self { paths, numbers, variants }
    }

    /// Whether a page is in the current version, and in the language or the default one.
    fn is_usual(&self, page: u32, language: Option<&str>) -> bool {
        let variant = self.variants.page(page);
        let is_in = match language {
            Some(language) => self.variants.language_of(page) == Some(language),
            None => self.variants.language_rank(variant) == 0,
        };
        is_in && self.variants.version_rank(variant) == 0
    }
}

/// What is otherwise than it ships.
struct Changes {
    settings: Settings,
    query: Query,
    show: usize,
    embedder: Option<Arc<dyn Embedder>>,
    index: Option<PathBuf>,
    elsewhere: Option<PathBuf>,
}

impl Changes {
    fn none() -> Self {
        Self {
            settings: Settings::default(),
            query: Query { limit: RESULTS, ..Query::default() },
            show: 0,
            embedder: None,
            index: None,
            elsewhere: None,
        }
    }

    fn read(changes: &[&str]) -> Result<Self, BoxError> {
        let mut read = Self::none();
        for change in changes {
            let (name, value) = change.split_once('=').ok_or("a change is NAME=VALUE")?;
            match name {
                "near" => read.query.near = Some(value.to_owned()),
                "language" => read.query.filter.language = Some(value.to_owned()),
                "version" => read.query.filter.version = Some(value.to_owned()),
                "show" => read.show = value.parse()?,
                "embedder" => read.embedder = Some(Arc::new(Transformer::load(Path::new(value))?)),
                "index" => read.index = Some(value.into()),
                "elsewhere" => read.elsewhere = Some(value.into()),
                _ => read.settings.set(name, value.parse()?)?,
            }
        }
        Ok(read)
    }

    fn find(&self, snapshot: &Snapshot, text: &str) -> Vec<Passage> {
        let query = Query { text: text.to_owned(), ..self.query.clone() };
        futures::executor::block_on(snapshot.find_with(&query, &self.settings))
    }

    fn indexed(&self, docs: &Docs) -> Result<(tempfile::TempDir, Index), BoxError> {
        let folder = tempfile::tempdir()?;
        let index = Index::open_with(self.index.as_deref().unwrap_or(folder.path()), self.embedder.clone())?;
        index.update(docs, &mut |_| ())?;
        if self.embedder.is_some() {
            index.embed(&|| true, &mut |_| ())?;
        }
        Ok((folder, index))
    }
}

fn links(docs: &Docs, set: &Path, language: Option<&str>) -> Result<(), BoxError> {
    let site = Site::read(docs);
    let (_folder, index) = Changes::none().indexed(docs)?;
    let pages = Pages::of(&index, docs, &site);
    let titles: HashMap<String, String> =
        index.snapshot().pages().map(|page| (page.path, plain(&page.title))).collect();
    // Words to the pages they lead to.
    let mut questions: BTreeMap<String, (String, HashSet<u32>, HashSet<u32>)> = BTreeMap::new();
    for (address, file) in site.served() {
        let Some(own) = pages.numbers.get(address).copied().filter(|page| pages.is_usual(*page, language)) else {
            continue;
        };
        let page = site.parse(file, &Tree::read(docs, file).unwrap_or_default());
        for link in page.links.iter().filter(|link| matches!(link.kind, LinkKind::Inline | LinkKind::Reference)) {
            let Target::Page { file: target, .. } = site.resolve_link(file, link) else { continue };
            let number = site.address(&target).and_then(|address| pages.numbers.get(address)).copied();
            let Some(number) = number.filter(|number| *number != own && pages.is_usual(*number, language)) else {
                continue;
            };
            let phrase = plain(&link.text);
            if phrase.split(' ').count() > 1 && titles.get(&pages.paths[number as usize]) != Some(&phrase) {
                let (_, to, from) =
                    questions.entry(phrase).or_insert_with(|| (link.text.clone(), HashSet::new(), HashSet::new()));
                to.insert(number);
                from.insert(own);
            }
        }
    }
    let mut taken: HashMap<u32, usize> = HashMap::new();
    let mut chosen: Vec<_> = questions.into_iter().filter(|(_, (_, to, _))| to.len() == 1).collect();
    // In an order that has nothing to do with the alphabet, and is always the same.
    chosen.sort_by_cached_key(|(phrase, _)| {
        phrase.bytes().fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    });
    let (mut queries, mut qrels, mut asked) = (String::new(), String::new(), 0);
    for (_, (text, to, from)) in chosen {
        let Some(answer) = to.into_iter().next() else { continue };
        let taken = taken.entry(answer).or_default();
        if *taken == MOST_FOR_A_PAGE || asked == MOST {
            continue;
        }
        *taken += 1;
        asked += 1;
        let mut ignore: Vec<&str> = from.iter().map(|page| pages.paths[*page as usize].as_str()).collect();
        ignore.sort_unstable();
        queries.push_str(&format!("{}\n", json!({"id": format!("q{asked}"), "text": text.trim(), "ignore": ignore})));
        qrels.push_str(&format!("q{asked}\t/{}\t1\n", pages.paths[answer as usize]));
    }
    fs::create_dir_all(set)?;
    fs::write(set.join("queries.jsonl"), queries)?;
    fs::write(set.join("qrels.tsv"), qrels)?;
    let versions: Vec<_> =
        pages.variants.versions().iter().map(|version| format!("{} {:?}", version.name, version.stage)).collect();
    println!(
        "{} pages, {asked} questions\nversions: {}\nlanguages: {}",
        pages.paths.len(),
        versions.join(", "),
        pages.variants.languages().join(", ")
    );
    Ok(())
}

/// Words alone, in lower case.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[derive(Deserialize)]
struct Question {
    id: String,
    text: String,
    #[serde(default)]
    ignore: Vec<String>,
}

/// Below this score the docs are taken not to answer.
const LIKELY: f32 = 0.5;

fn refuse(docs: &Docs, questions: &Path, changes: &Changes) -> Result<(), BoxError> {
    let (_folder, index) = changes.indexed(docs)?;
    let scores = best_scores(&index.snapshot(), questions, changes)?;
    println!("{}", json!({"questions": scores.len(), "belowHalf": share_below_half(&scores)}));
    Ok(())
}

/// What the best page scores for each question in a file.
fn best_scores(snapshot: &Snapshot, questions: &Path, changes: &Changes) -> Result<Vec<f32>, BoxError> {
    let read = fs::read_to_string(questions)?;
    let text = |line: &str| serde_json::from_str(line).map_or_else(|_| line.to_owned(), |read: Question| read.text);
    let best = |line: &str| changes.find(snapshot, &text(line)).first().map_or(0.0, |best| best.score);
    Ok(read.lines().map(best).collect())
}

fn share_below_half(scores: &[f32]) -> f64 {
    share(scores.iter().filter(|score| **score < LIKELY).count(), scores.len())
}

/// Of all scores the one below which most are wrong and from which on most are right, each kind counted as a whole.
fn best_threshold(scores: &[(f32, bool)]) -> f32 {
    let of = |wanted: bool| scores.iter().filter(move |(_, is_right)| *is_right == wanted).map(|(score, _)| *score);
    let told = |at: f32| {
        let right = of(true).filter(|score| *score >= at).count() as f64 / of(true).count().max(1) as f64;
        right + of(false).filter(|score| *score < at).count() as f64 / of(false).count().max(1) as f64
    };
    let best = scores.iter().map(|(score, _)| *score).max_by(|a, b| told(*a).total_cmp(&told(*b)));
    best.unwrap_or_default()
}

/// The score that at most one in twelve stays below.
fn one_in_twelve(scores: &[(f32, bool)]) -> f32 {
    let mut scores: Vec<f32> = scores.iter().map(|(score, _)| *score).collect();
    scores.sort_unstable_by(f32::total_cmp);
    scores.get(scores.len() / 12).copied().unwrap_or_default()
}

fn share(count: usize, of: usize) -> f64 {
    (count as f64 / of.max(1) as f64 * 1_000.0).round() / 1_000.0
}

/// How often of two questions the one whose first page is right has the higher score; of equals, half.
fn area(scores: &[(f32, bool)]) -> f64 {
    let of = |wanted: bool| scores.iter().filter(move |(_, is_right)| *is_right == wanted).map(|(score, _)| *score);
    let beats = |right: f32, wrong: f32| if right > wrong { 1.0 } else { 0.5 * f64::from(u8::from(right >= wrong)) };
    let won: f64 = of(true).flat_map(|right| of(false).map(move |wrong| beats(right, wrong))).sum();
    won / ((of(true).count() * of(false).count()) as f64).max(1.0)
}

/// Normalized discounted cumulative gain (nDCG) of the first ten pages: their gain as a share of the gain of the best order.
/// A relevant page counts more the higher it ranks, and a page with grade 2 three times as much as one with grade 1.
fn ndcg_at_10(ranked: &[String], grades: &HashMap<String, u32>) -> f64 {
    let sum = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        let gain =
            |(place, grade): (usize, u32)| (2_f64.powi(grade.min(30) as i32) - 1.0) / (place as f64 + 2.0).log2();
        grades.take(10).enumerate().map(gain).sum()
    };
    let mut best: Vec<u32> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = sum(&mut best.into_iter());
    let found = sum(&mut ranked.iter().map(|id| grades.get(id).copied().unwrap_or(0)));
    if ideal > 0.0 { found / ideal } else { 0.0 }
}

fn ask(docs: &Docs, set: &Path, mut changes: Changes) -> Result<(), BoxError> {
    let began = Instant::now();
    let (_folder, index) = changes.indexed(docs)?;
    let indexing = began.elapsed();
    let site = Site::read(docs);
    let pages = Pages::of(&index, docs, &site);
    let mut grades: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for line in fs::read_to_string(set.join("qrels.tsv"))?.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let &[question, .., page, grade] = parts.as_slice() else { continue };
        grades.entry(question.to_owned()).or_default().insert(page.trim_matches('/').to_owned(), grade.trim().parse()?);
    }
    let (mut asked, mut ndcg, mut first, mut in_three) = (0_usize, 0.0, 0_usize, 0_usize);
    let (mut took, mut scores) = (Vec::<Duration>::new(), Vec::new());
    let (mut first_version, mut first_language, mut version, mut language, mut found_in_all) = (0, 0, 0, 0, 0_usize);
    let (mut variant_first, mut variant_found) = (0_usize, 0_usize);
    for line in fs::read_to_string(set.join("queries.jsonl"))?.lines() {
        let question: Question = serde_json::from_str(line)?;
        let Some(grades) = grades.get(&question.id) else { continue };
        let ignore: HashSet<&str> = question.ignore.iter().map(|page| page.trim_matches('/')).collect();
        let snapshot = index.snapshot();
        let began = Instant::now();
        let found = changes.find(&snapshot, &question.text);
        took.push(began.elapsed());
        let found: Vec<Passage> = found.into_iter().filter(|passage| !ignore.contains(passage.path.as_str())).collect();
        let shown: Vec<&str> = found.iter().take(SHOWN).map(|passage| passage.href.as_str()).collect();
        let best = found.first().map_or(0.0, |passage| passage.score);
        let found: Vec<String> = found.iter().map(|passage| passage.path.clone()).collect();
        scores.push((best, found.first().is_some_and(|path| grades.contains_key(path))));
        asked += 1;
        ndcg += ndcg_at_10(&found, grades);
        first += usize::from(found.first().is_some_and(|path| grades.contains_key(path)));
        in_three += usize::from(found.iter().take(3).any(|path| grades.contains_key(path)));
        let variant = |path: &str| pages.numbers.get(path).map(|page| pages.variants.page(*page)).unwrap_or_default();
        let right = grades.keys().next().map(|path| variant(path)).unwrap_or_default();
        for (place, path) in found.iter().take(10).enumerate() {
            let own = variant(path);
            let rank = |variant| pages.variants.version_rank(variant);
            let other_version = usize::from(rank(own) != rank(right));
            let other_language = usize::from(own.language.is_some() && own.language != right.language);
            version += other_version;
            language += other_language;
            found_in_all += 1;
            if place == 0 {
                first_version += other_version;
                first_language += other_language;
            }
        }
        // Of the right page and its variants, which came first.
        let groups: HashSet<u32> = grades
            .keys()
            .filter_map(|path| pages.numbers.get(path))
            .flat_map(|page| pages.variants.group_of(*page).map_or(vec![*page], |(_, group)| group.to_vec()))
            .collect();
        let of_group =
            found.iter().take(10).find(|path| pages.numbers.get(*path).is_some_and(|page| groups.contains(page)));
        if let Some(path) = of_group {
            variant_found += 1;
            variant_first += usize::from(grades.contains_key(path));
        }
        if changes.show > 0 && !found.first().is_some_and(|path| grades.contains_key(path)) {
            changes.show -= 1;
            println!("{:?} wants {:?}: {shown:?}", question.text, grades.keys().collect::<Vec<_>>(),);
        }
    }
    if let Some(questions) = &changes.elsewhere {
        let elsewhere = best_scores(&index.snapshot(), questions, &changes)?;
        let own = scores.iter().map(|(score, _)| (*score, true));
        let told: Vec<(f32, bool)> = own.chain(elsewhere.iter().map(|score| (*score, false))).collect();
        println!(
            "{}",
            json!({
                "elsewhere": elsewhere.len(),
                "belowHalf": share_below_half(&elsewhere),
                "answeredArea": (area(&told) * 1e3).round() / 1e3,
                "answeredFrom": best_threshold(&told),
                "belowOneInTwelve": share(elsewhere.iter().filter(|score| **score < one_in_twelve(&scores)).count(), elsewhere.len()),
                "rightFirstFrom": best_threshold(&scores),
            })
        );
    }
    let judged: BTreeSet<&String> = grades.values().flat_map(HashMap::keys).collect();
    for path in judged.into_iter().filter(|path| !pages.numbers.contains_key(*path)) {
        println!("the index has no page {path:?}");
    }
    took.sort_unstable();
    let millis =
        |at: f64| took.get(((took.len() as f64 - 1.0) * at) as usize).map_or(0.0, Duration::as_secs_f64) * 1_000.0;
    println!(
        "{}",
        json!({
            "pages": pages.paths.len(),
            "indexed": indexing.as_secs_f64(),
            "questions": asked,
            "ndcg": ((ndcg / asked.max(1) as f64) * 1e4).round() / 1e4,
            "first": share(first, asked),
            "inThree": share(in_three, asked),
            "belowHalf": share_below_half(&scores.iter().map(|(score, _)| *score).collect::<Vec<_>>()),
            "oneInTwelveBelow": one_in_twelve(&scores),
            "rightFirstArea": (area(&scores) * 1e3).round() / 1e3,
            "otherVersionFirst": share(first_version, asked),
            "otherVersionInTen": share(version, found_in_all),
            "otherLanguageFirst": share(first_language, asked),
            "otherLanguageInTen": share(language, found_in_all),
            "rightVariantOfThoseFound": share(variant_first, variant_found),
            "p50": millis(0.5),
            "p99": millis(0.99),
        })
    );
    Ok(())
}
