//! Measures search on a corpus against the bare engine on the same sections, in one process and one run.
//!
//! ```text
//! cargo run --release -p docent-search --example plain -- CORPUS QUERIES [SECONDS]
//! ```
//!
//! CORPUS is a file with one `{id, title, text}` per line, QUERIES one with `{id, text}`. The bare engine indexes the
//! title and the body of each section, with its default tokenizer and as much memory for writing as Docent collects for
//! one segment. Both index in turn, a few times, and the median time of each is reported. Prints one JSON value: times
//! in milliseconds, as wall-clock time and (`Cpu`) as CPU time of all threads; sizes in bytes. Questions are asked for
//! SECONDS (10) while the index is updated after each change of one page, again and again; all other measurements of
//! questions take a quarter of that.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use docent_search::{Index, Query, Source, SourceFile};
use docent_types::BoxError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, STORED, Schema, TEXT};
use tantivy::{Searcher, TantivyDocument};

/// Memory budget of the bare engine's writer, in bytes: as much as Docent collects for one segment.
const MEMORY: usize = 64 << 20;
/// Number of times that both index the corpus.
const ROUNDS: usize = 5;
/// How many results a question asks for.
const RESULTS: usize = 10;

#[derive(Deserialize)]
struct Document {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Question {
    text: String,
}

fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let (Some(corpus), Some(queries)) = (arguments.next(), arguments.next()) else {
        return Err("usage: plain CORPUS QUERIES [SECONDS]".into());
    };
    let asking = Duration::from_secs(arguments.next().map_or(Ok(10), |seconds| seconds.parse())?);
    let mut site = Site::read(&corpus)?;
    let questions: Vec<String> = lines::<Question>(&queries)?.into_iter().map(|Question { text }| text).collect();
    let text: usize = site.pages.iter().map(|(_, text)| text.len()).sum();

    let mut times = Times::default();
    let (mut index, mut peer, mut summary) = (None, None, None);
    for _ in 0..ROUNDS {
        let sections = times.reading.of(|| Ok(sections(&site)))?;
        let folder = tempfile::tempdir()?;
        peer = Some((times.plain.of(|| Plain::build(folder.path(), &sections))?, folder));
        drop(sections);
        let folder = tempfile::tempdir()?;
        let began = Moment::now();
        let (ours, said) = times.ours.of(|| {
            let ours = Index::open(folder.path())?;
            let said = ours.update(&site, &mut |_| ())?;
            Ok((ours, said))
        })?;
        summary = Some(said);
        ours.compact_now();
        times.settled.0.push(began.past());
        index = Some((ours, folder));
    }
    let (Some((index, folder)), Some((peer, peer_folder)), Some(summary)) = (index, peer, summary) else {
        return Err("nothing was indexed".into());
    };
    let (size, peer_size) = (size_of(folder.path())?, size_of(peer_folder.path())?);
    let peer_asked = peer.ask(&questions, asking / 4)?;
    let alone = ask(&index, &questions, asking / 4);
    let (busy, updates) = while_updating(&index, &mut site, || ask(&index, &questions, asking))?;
    // What the machine allows: the bare engine, asked while the same updates run.
    let (peer_busy, _) = while_updating(&index, &mut site, || peer.ask(&questions, asking / 4))?;

    println!(
        "{}",
        serde_json::to_string_pretty(&json!({
            "pages": summary.pages,
            "sections": summary.sections,
            "textBytes": text,
            "parsingMillis": times.reading.middle().0,
            "parsingCpuMillis": times.reading.middle().1,
            "docent": {
                "wholeMillis": times.ours.middle().0,
                "wholeCpuMillis": times.ours.middle().1,
                "settledCpuMillis": times.settled.middle().1,
                "bytes": size,
                "query": told(alone),
                "queryWhileUpdating": told(busy),
            },
            "updatesMeanwhile": updates,
            "plain": {
                "indexingMillis": times.plain.middle().0,
                "indexingCpuMillis": times.plain.middle().1,
                "bytes": peer_size,
                "query": told(peer_asked),
                "queryWhileUpdating": told(peer_busy?),
            },
        }))?
    );
    Ok(())
}

/// The times of indexing, by round.
#[derive(Default)]
struct Times {
    reading: Took,
    plain: Took,
    ours: Took,
    settled: Took,
}

/// Wall-clock time and CPU time of all threads, in milliseconds.
#[derive(Default)]
struct Took(Vec<(f64, f64)>);

impl Took {
    fn of<T>(&mut self, work: impl FnOnce() -> Result<T, BoxError>) -> Result<T, BoxError> {
        let began = Moment::now();
        let done = work()?;
        self.0.push(began.past());
        Ok(done)
    }

    fn middle(&self) -> (f64, f64) {
        let of = |mut times: Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        (of(self.0.iter().map(|took| took.0).collect()), of(self.0.iter().map(|took| took.1).collect()))
    }
}

/// The start of a measurement: wall clock and CPU time.
struct Moment(Instant, Duration);

impl Moment {
    fn now() -> Self {
        Self(Instant::now(), cpu())
    }

    fn past(&self) -> (f64, f64) {
        (millis(self.0.elapsed()), millis(cpu() - self.1))
    }
}

/// Asks all questions in turn until the time is over; each at least once.
fn ask(index: &Index, questions: &[String], asking: Duration) -> Vec<Duration> {
    timed(questions, asking, |question| {
        let query = Query { text: question.to_owned(), limit: RESULTS, ..Query::default() };
        std::hint::black_box(index.snapshot().search(&query));
    })
}

/// Runs `work` while another thread changes one page after the other and updates the index. Also returns the number of
/// updates.
fn while_updating<T>(index: &Index, site: &mut Site, work: impl FnOnce() -> T) -> Result<(T, usize), BoxError> {
    let (done, updates) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let updating = scope.spawn(|| -> Result<(), BoxError> {
            while !done.load(Ordering::Relaxed) {
                site.change(updates.fetch_add(1, Ordering::Relaxed));
                index.update(site, &mut |_| ())?;
            }
            Ok(())
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        updating.join().map_err(|_| "the updates stopped short")??;
        Ok((result, updates.load(Ordering::Relaxed)))
    })
}

fn timed(questions: &[String], asking: Duration, mut ask: impl FnMut(&str)) -> Vec<Duration> {
    questions.iter().take(20).for_each(|question| ask(question));
    let until = Instant::now() + asking;
    let mut took = Vec::new();
    loop {
        for question in questions {
            let began = Instant::now();
            ask(question);
            took.push(began.elapsed());
        }
        if questions.is_empty() || Instant::now() >= until {
            return took;
        }
    }
}

/// An index of the bare engine.
struct Plain {
    title: Field,
    body: Field,
    searcher: Searcher,
    parser: QueryParser,
}

impl Plain {
    fn build(folder: &Path, sections: &[(String, String)]) -> Result<Self, BoxError> {
        let mut schema = Schema::builder();
        let title = schema.add_text_field("title", TEXT | STORED);
        let body = schema.add_text_field("body", TEXT | STORED);
        let index = tantivy::Index::create_in_dir(folder, schema.build())?;
        let mut writer = index.writer(MEMORY)?;
        for (heading, text) in sections {
            writer.add_document(tantivy::doc!(title => heading.as_str(), body => text.as_str()))?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let searcher = index.reader()?.searcher();
        let parser = QueryParser::for_index(&index, vec![title, body]);
        Ok(Self { title, body, searcher, parser })
    }

    /// Fetches the stored fields of the results too, as Docent does.
    fn ask(&self, questions: &[String], asking: Duration) -> Result<Vec<Duration>, BoxError> {
        let mut failed = None;
        let took = timed(questions, asking, |question| {
            if let Err(error) = self.results(question) {
                failed = Some(error);
            }
        });
        failed.map_or(Ok(took), |error| Err(error.into()))
    }

    fn results(&self, question: &str) -> tantivy::Result<()> {
        let (query, _) = self.parser.parse_query_lenient(question);
        for (_, address) in self.searcher.search(&query, &TopDocs::with_limit(RESULTS).order_by_score())? {
            let document: TantivyDocument = self.searcher.doc(address)?;
            std::hint::black_box((document.get_first(self.title), document.get_first(self.body)));
        }
        Ok(())
    }
}

/// The sections of all pages as title and body, parsed on as many threads as there are cores.
fn sections(site: &Site) -> Vec<(String, String)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = site.pages.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let read = |pages: &[(String, String)]| pages.iter().flat_map(|(file, text)| sections_of(file, text)).collect();
        let parts: Vec<_> = site
            .pages
            .chunks(share)
            .map(|pages| scope.spawn(move || -> Vec<(String, String)> { read(pages) }))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

fn sections_of(file: &str, text: &str) -> Vec<(String, String)> {
    let page = docent_markdown::parse(file, text.as_bytes());
    let title = page.title.clone().unwrap_or_default();
    let section = |section: docent_markdown::Section| {
        let code = section.code.into_iter().map(|block| block.text);
        let heading = [title.as_str()].into_iter().chain(section.headings.iter().map(AsRef::as_ref));
        (heading.collect::<Vec<_>>().join(" "), [section.text].into_iter().chain(code).collect::<Vec<_>>().join("\n"))
    };
    page.sections.into_iter().map(section).collect()
}

/// A corpus as the files of a docs tree.
struct Site {
    commit: String,
    pages: Vec<(String, String)>,
    blobs: Vec<String>,
}

impl Site {
    fn read(corpus: &str) -> Result<Self, BoxError> {
        let page = |Document { id, title, text }: Document| {
            let file = format!("{}.md", id.trim_matches('/'));
            (file, format!("---\ntitle: {}\n---\n\n{text}\n", Value::String(title)))
        };
        let pages: Vec<(String, String)> = lines(corpus)?.into_iter().map(page).collect();
        let blobs = (0..pages.len()).map(|number| number.to_string()).collect();
        Ok(Self { commit: "first".to_owned(), pages, blobs })
    }

    fn change(&mut self, round: usize) {
        let number = (round * 7919) % self.pages.len().max(1);
        if let Some(((_, text), blob)) = self.pages.get_mut(number).zip(self.blobs.get_mut(number)) {
            text.push_str("\nOnce more.\n");
            *blob = format!("{number}-{round}");
        }
        self.commit = format!("round {round}");
    }
}

impl Source for Site {
    fn commit(&self) -> &str {
        &self.commit
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        let file =
            |((path, _), blob): (&(String, String), &String)| SourceFile { path: path.clone(), blob: blob.clone() };
        Ok(self.pages.iter().zip(&self.blobs).map(file).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        let number: usize = file.blob.split('-').next().unwrap_or_default().parse()?;
        Ok(self.pages[number].1.as_bytes().to_vec())
    }
}

fn lines<T: DeserializeOwned>(file: &str) -> Result<Vec<T>, BoxError> {
    let text = std::fs::read_to_string(file)?;
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn size_of(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        sum += if meta.is_dir() { size_of(&entry.path())? } else { meta.len() };
    }
    Ok(sum)
}

/// The CPU time of all threads of this process, in the kernel too; 0 where the system does not report it. On a shared
/// machine it says more than the wall clock.
fn cpu() -> Duration {
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = told.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    // 100 ticks a second, wherever this file exists.
    Duration::from_millis(10 * ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>())
}

fn told(mut took: Vec<Duration>) -> Value {
    took.sort_unstable();
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).copied().map_or(0.0, millis);
    json!({ "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "count": took.len() })
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}
