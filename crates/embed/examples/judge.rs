//! How good the ranking is on judged sets, by words alone or with the vectors of a model, and how fast.
//!
//! ```text
//! cargo run --release -p docent-embed --features transformer --example judge -- SETS CACHE MODEL [set,set…] [setting=value…] [latency] [foreign]
//! ```
//!
//! MODEL is the folder of one, or `none`. SETS holds a folder for each set: `corpus.jsonl` or `corpus.jsonl.gz` with
//! `{id, title, text}` a line, `queries.jsonl` with `{id, text, ignore?}`, and `qrels.tsv` with question, page and grade.
//! Indexes are kept in CACHE and built again when it is empty. Settings are those of the ranking, for trying what each part of it brings; without any it is judged
//! as it ships. A question's `ignore` names pages that hold its very words: they are taken out of what was found, and
//! with `own_links=false` links from them do not count either.

use std::collections::HashMap;
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use docent_embed::{StaticModel, Transformer};
use docent_search::eval::{ndcg, recall, reciprocal_rank};
use docent_search::{Embedder, Role};
use docent_search::{Index, Query, Settings, Snapshot, Source, SourceFile};
use parking_lot::Mutex;
use serde::Deserialize;

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Deserialize)]
struct Document {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    text: String,
    #[serde(default)]
    ignore: Vec<String>,
}

/// A judged set with its index open.
struct Set {
    name: String,
    index: Index,
    /// Page ids by site path.
    ids: HashMap<String, String>,
    questions: Vec<Question>,
    grades: HashMap<String, HashMap<String, u32>>,
}

struct Options {
    sets: PathBuf,
    cache: PathBuf,
    /// None for words alone.
    embedder: Option<Arc<dyn Embedder>>,
    only: Vec<String>,
    settings: Settings,
    /// Settings that are judged with several values.
    tried: Vec<(String, Vec<f32>)>,
    own_links: bool,
    latency: bool,
    foreign: bool,
    verbose: bool,
}

fn main() -> Result<(), Failure> {
    let mut options = Options::read(std::env::args().skip(1))?;
    let mut names: Vec<String> = std::fs::read_dir(&options.sets)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| options.sets.join(name).join("qrels.tsv").exists())
        .filter(|name| options.only.is_empty() || options.only.contains(name))
        .collect();
    names.sort();
    let sets = names.iter().map(|name| Set::open(&options, name)).collect::<Result<Vec<_>, _>>()?;
    println!(
        "{:<14} {:>5} {:>8} {:>7} {:>7} {:>7} {:>6} {:>6}",
        "set", "n", "nDCG@10", "MRR@10", "R@5", "R@20", "half A", "half B"
    );
    sets.iter().for_each(|set| set.judge(&options));
    for (name, values) in std::mem::take(&mut options.tried) {
        let before = options.settings.clone();
        for value in values {
            println!("{name} = {value}");
            options.settings.set(&name, value)?;
            sets.iter().for_each(|set| set.judge(&options));
        }
        options.settings = before;
    }
    if options.latency {
        sets.iter().for_each(|set| set.time(&options));
    }
    if options.foreign {
        scores(&sets, &options);
    }
    Ok(())
}

/// Embeds every question once, however often it is judged.
#[derive(Debug)]
struct Remembering {
    model: Arc<dyn Embedder>,
    questions: Mutex<HashMap<String, Vec<f32>>>,
}

impl Remembering {
    fn load(model: &Path) -> Result<Arc<dyn Embedder>, Failure> {
        let model: Arc<dyn Embedder> = if model.join("config.json").exists() {
            Arc::new(Transformer::load(model)?)
        } else {
            Arc::new(StaticModel::load(model)?)
        };
        Ok(Arc::new(Self { model, questions: Mutex::default() }))
    }
}

#[async_trait]
impl Embedder for Remembering {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, Failure> {
        let ([text], Role::Question) = (texts, role) else { return self.model.embed(texts, role).await };
        let known = self.questions.lock().get(*text).cloned();
        let vector = match known {
            Some(known) => known,
            None => self.model.embed(&[text], role).await?.swap_remove(0),
        };
        self.questions.lock().insert((*text).to_owned(), vector.clone());
        Ok(vec![vector])
    }
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let (Some(sets), Some(cache), Some(model)) = (arguments.next(), arguments.next(), arguments.next()) else {
            return Err(
                "usage: judge SETS CACHE MODEL [set,set…] [setting=value…] [latency] [foreign] [verbose]".into()
            );
        };
        let mut options = Self {
            sets: sets.into(),
            cache: cache.into(),
            embedder: if model == "none" { None } else { Some(Remembering::load(Path::new(&model))?) },
            only: Vec::new(),
            settings: Settings::default(),
            tried: Vec::new(),
            own_links: true,
            latency: false,
            foreign: false,
            verbose: false,
        };
        for argument in arguments {
            match argument.split_once('=') {
                Some(("own_links", value)) => options.own_links = value.parse()?,
                Some((name, values)) => {
                    let values = values.split(',').map(str::parse).collect::<Result<Vec<f32>, _>>()?;
                    match values[..] {
                        [value] => options.settings.set(name, value)?,
                        _ => options.tried.push((name.to_owned(), values)),
                    }
                }
                None if argument == "latency" => options.latency = true,
                None if argument == "foreign" => options.foreign = true,
                None if argument == "verbose" => options.verbose = true,
                None => options.only.extend(argument.split(',').map(str::to_owned)),
            }
        }
        Ok(options)
    }
}

impl Set {
    fn open(options: &Options, name: &str) -> Result<Self, Failure> {
        let folder = options.sets.join(name);
        let index = Index::open_with(&options.cache.join(name), options.embedder.clone())?;
        let corpus = Corpus::read(&folder)?;
        if index.snapshot().commit().is_none() {
            let started = Instant::now();
            let summary = index.update(&corpus, &mut |_| {})?;
            let text: usize = corpus.pages.iter().map(|(_, text)| text.len()).sum();
            eprintln!(
                "{name}: {} pages, {} sections in {:?}; text {} KB, index {} KB",
                summary.pages,
                summary.sections,
                started.elapsed(),
                text / 1024,
                size(&options.cache.join(name))? / 1024
            );
        }
        if options.embedder.is_some() {
            let started = Instant::now();
            let embedded = index.embed(&|| true, &mut |progress| {
                if progress.done % 2048 == 0 {
                    eprintln!("{name}: {} of {}", progress.done, progress.total);
                }
            })?;
            eprintln!("{name}: {embedded:?} in {:?}", started.elapsed());
        }
        let questions = lines(&std::fs::read_to_string(folder.join("queries.jsonl"))?)?;
        let mut grades: HashMap<String, HashMap<String, u32>> = HashMap::new();
        for line in std::fs::read_to_string(folder.join("qrels.tsv"))?.lines() {
            let mut columns = line.split('\t');
            if let (Some(question), Some(page), Some(grade)) = (columns.next(), columns.next(), columns.next()) {
                grades.entry(question.to_owned()).or_default().insert(page.to_owned(), grade.trim().parse()?);
            }
        }
        Ok(Self { name: name.to_owned(), index, ids: corpus.ids, questions, grades })
    }

    fn judged(&self) -> impl Iterator<Item = (&Question, &HashMap<String, u32>)> {
        self.questions.iter().filter_map(|question| Some((question, self.grades.get(&question.id)?)))
    }

    fn ranked(&self, snapshot: &Snapshot, question: &Question, options: &Options) -> Vec<String> {
        let mut settings = options.settings.clone();
        if !options.own_links {
            settings.links_not_from = question.ignore.iter().map(|id| file_of(id)).collect();
        }
        let query = Query { text: question.text.clone(), limit: 60, ..Query::default() };
        let found = futures::executor::block_on(snapshot.find_with(&query, &settings));
        let ids = found.iter().filter_map(|passage| self.ids.get(&passage.path));
        ids.filter(|id| !question.ignore.contains(id)).cloned().collect()
    }

    fn judge(&self, options: &Options) {
        let snapshot = self.index.snapshot();
        let mut sums = [0.0; 4];
        let mut halves = [(0.0, 0_u32); 2];
        let mut count = 0_u32;
        for (question, grades) in self.judged() {
            let ranked = self.ranked(&snapshot, question, options);
            let grades_of: HashMap<String, u32> = grades.clone();
            let gain = ndcg(&ranked, &grades_of, 10);
            let values = [
                gain,
                reciprocal_rank(&ranked, &grades_of, 10),
                recall(&ranked, &grades_of, 5),
                recall(&ranked, &grades_of, 20),
            ];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            let half = &mut halves[question.id.bytes().map(usize::from).sum::<usize>() % 2];
            *half = (half.0 + gain, half.1 + 1);
            count += 1;
            if options.verbose {
                println!(
                    "{gain:.3} {} | {:?} | {:?}",
                    question.text,
                    grades.keys().collect::<Vec<_>>(),
                    &ranked[..ranked.len().min(4)]
                );
            }
        }
        let [ndcg, mrr, five, twenty] = sums.map(|sum| sum / f64::from(count.max(1)));
        let [a, b] = halves.map(|(sum, count)| sum / f64::from(count.max(1)));
        println!("{:<14} {count:>5} {ndcg:>8.4} {mrr:>7.4} {five:>7.4} {twenty:>7.4} {a:>6.3} {b:>6.3}", self.name);
    }

    /// The score of the best passage that a set's index has for each of these questions, rising.
    fn best_scores(&self, set: &Set, options: &Options) -> Vec<f32> {
        let snapshot = set.index.snapshot();
        let best_of = |question: &Question| {
            let query = Query { text: question.text.clone(), limit: 8, ..Query::default() };
            let found = futures::executor::block_on(snapshot.find_with(&query, &options.settings));
            let ignored =
                |path: &str| self.name == set.name && set.ids.get(path).is_some_and(|id| question.ignore.contains(id));
            found.iter().find(|passage| !ignored(&passage.path)).map_or(0.0, |passage| passage.score)
        };
        let mut best: Vec<f32> = self.questions.iter().map(best_of).collect();
        best.sort_by(f32::total_cmp);
        best
    }

    fn time(&self, options: &Options) {
        let snapshot = self.index.snapshot();
        let mut all: Vec<Duration> = Vec::new();
        let mut best: Vec<(Duration, &str)> = Vec::new();
        for question in &self.questions {
            let query = Query { text: question.text.clone(), limit: 10, ..Query::default() };
            let rounds: [Duration; ROUNDS] = std::array::from_fn(|_| {
                let started = Instant::now();
                std::hint::black_box(snapshot.search_with(&query, &options.settings));
                started.elapsed()
            });
            all.extend(rounds);
            best.extend(rounds.into_iter().min().map(|least| (least, question.text.as_str())));
        }
        best.sort_unstable();
        told(&self.name, "all rounds", &mut all);
        told(&self.name, "best rounds", &mut best.iter().map(|(took, _)| *took).collect::<Vec<_>>());
        if options.verbose {
            best.iter().rev().take(12).for_each(|(took, text)| println!("{took:?} {text}"));
        }
    }
}

/// How often a question is asked to be timed. The best of the rounds is what it takes when nothing else is at work.
const ROUNDS: usize = 7;

fn told(set: &str, what: &str, took: &mut [Duration]) {
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!("{set:<14} {what:<11} p50 {:?} p90 {:?} p99 {:?}", at(0.5), at(0.9), at(0.99));
}

/// The score of the best passage, for each set's questions in each set's index, and what a threshold would let through.
fn scores(sets: &[Set], options: &Options) {
    println!("best score, 10th 25th 50th 75th 90th percentile");
    let (mut own, mut foreign) = (Vec::new(), Vec::new());
    for asked in sets {
        for set in sets {
            let best = asked.best_scores(set, options);
            let at = |share: f32| best[((best.len() - 1) as f32 * share) as usize];
            let percentiles: Vec<String> =
                [0.1, 0.25, 0.5, 0.75, 0.9].map(|share| format!("{:.2}", at(share))).to_vec();
            let is_own = asked.name == set.name;
            let mark = if is_own { "*" } else { " " };
            println!("{mark} {:<12} in {:<12} {}", asked.name, set.name, percentiles.join(" "));
            if is_own { own.push(best) } else { foreign.push(best) }
        }
    }
    println!("let through by a threshold: of questions about these docs, and about others; each set counts alike");
    for threshold in (1..=14_u8).map(|step| f32::from(step) * 0.05) {
        let let_through = |all: &[Vec<f32>]| {
            let share = |best: &Vec<f32>| {
                best.iter().filter(|score| **score >= threshold).count() as f32 / best.len().max(1) as f32
            };
            all.iter().map(share).sum::<f32>() / all.len().max(1) as f32
        };
        println!("{threshold:.2} {:.3} {:.3}", let_through(&own), let_through(&foreign));
    }
}

/// A set's pages as the files of a docs tree.
struct Corpus {
    pages: Vec<(String, String)>,
    by_file: HashMap<String, usize>,
    ids: HashMap<String, String>,
}

impl Corpus {
    fn read(folder: &Path) -> Result<Self, Failure> {
        let mut corpus = Self { pages: Vec::new(), by_file: HashMap::new(), ids: HashMap::new() };
        for Document { id, title, text } in lines::<Document>(&unpacked(folder)?)? {
            let file = file_of(&id);
            let title = if title.is_empty() {
                String::new()
            } else {
                format!("---\ntitle: {}\n---\n\n", serde_json::to_string(&title)?)
            };
            corpus.ids.insert(docent_markdown::site_path(&file), id);
            corpus.by_file.insert(file.clone(), corpus.pages.len());
            corpus.pages.push((file, format!("{title}{text}\n")));
        }
        Ok(corpus)
    }
}

impl Source for Corpus {
    fn commit(&self) -> &str {
        "judged"
    }

    fn files(&self) -> Result<Vec<SourceFile>, Failure> {
        let file = |(path, text): &(String, String)| SourceFile { path: path.clone(), blob: text.len().to_string() };
        Ok(self.pages.iter().map(file).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, Failure> {
        let at = self.by_file.get(&file.path).ok_or("no such page")?;
        Ok(self.pages[*at].1.clone().into_bytes())
    }
}

fn file_of(id: &str) -> String {
    format!("{}.md", id.trim_matches('/'))
}

fn lines<T: serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, Failure> {
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn unpacked(folder: &Path) -> Result<String, Failure> {
    let plain = folder.join("corpus.jsonl");
    if plain.exists() {
        return Ok(std::fs::read_to_string(plain)?);
    }
    let packed = folder.join("corpus.jsonl.gz");
    let mut child = Command::new("gzip").arg("-dc").arg(&packed).stdout(Stdio::piped()).spawn()?;
    let mut text = String::new();
    child.stdout.take().ok_or("no output")?.read_to_string(&mut text)?;
    if child.wait()?.success() { Ok(text) } else { Err(format!("gzip cannot read {}", packed.display()).into()) }
}

fn size(folder: &Path) -> Result<u64, Failure> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        sum += if meta.is_dir() { size(&entry.path())? } else { meta.len() };
    }
    Ok(sum)
}
