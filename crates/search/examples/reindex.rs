//! Measures an index: built from scratch, against a plain index of the same sections by the bare engine, and updated
//! after one page changed.
//!
//! ```text
//! cargo run --release -p docent-search --example reindex -- [PAGES] [ROUNDS]
//! ```
//!
//! The pages are generated, with words in a natural frequency distribution, headings, lists, code and links to each
//! other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use docent_search::{Index, Query, Source, SourceFile};
use docent_types::BoxError;
use tantivy::schema::{STORED, Schema, TEXT};

fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (pages, rounds) = (number(10_000)?, number(100)?);
    let mut site = Site::new(pages);
    let text: usize = site.pages.iter().map(|page| page.len()).sum();
    println!("{pages} pages, {:.1} MB of text", megabytes(text as u64));

    let sections = sections(&site);
    let folder = tempfile::tempdir()?;
    let plain = plain_index(folder.path(), &sections)?;
    println!(
        "plain index:  {} sections in {}, {:.1} MB",
        sections.len(),
        shown(plain),
        megabytes(size_of(folder.path())?)
    );

    let folder = tempfile::tempdir()?;
    let index = Index::open(folder.path())?;
    let summary = index.update(&site, &mut |_| ())?;
    println!(
        "whole index:  {} sections in {} (reading pages included), {:.1} MB, {:.2} times the text",
        summary.sections,
        shown(summary.took),
        megabytes(size_of(folder.path())?),
        size_of(folder.path())? as f64 / text as f64
    );
    let began = Instant::now();
    index.compact_now();
    let size = size_of(folder.path())?;
    println!(
        "settled:      {} later, {:.1} MB, {:.2} times the text",
        shown(began.elapsed()),
        megabytes(size),
        size as f64 / text as f64
    );

    let began = Instant::now();
    let again = Index::open(folder.path())?;
    println!("opened:       {} for {} pages", shown(began.elapsed()), again.snapshot().page_count());
    drop(again);

    let mut took = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let word = site.edit(round);
        let began = Instant::now();
        index.update(&site, &mut |_| ())?;
        let snapshot = index.snapshot();
        took.push(began.elapsed());
        let query = Query { text: word.clone(), limit: 3, ..Query::default() };
        assert_eq!(snapshot.search(&query).len(), 1, "the change of round {round} is found");
        assert_eq!(snapshot.commit(), Some(site.commit.as_str()));
    }
    took.sort();
    let at = |percent: usize| shown(took[(took.len() - 1) * percent / 100]);
    println!("one page:     p50 {}, p90 {}, p99 {}, worst {} of {rounds} updates", at(50), at(90), at(99), at(100));
    Ok(())
}

/// The bare engine: titles and bodies, with its default tokenizer.
fn plain_index(folder: &std::path::Path, sections: &[(String, String)]) -> tantivy::Result<Duration> {
    let mut schema = Schema::builder();
    let title = schema.add_text_field("title", TEXT | STORED);
    let body = schema.add_text_field("body", TEXT | STORED);
    let index = tantivy::Index::create_in_dir(folder, schema.build())?;
    let began = Instant::now();
    let mut writer = index.writer(64 << 20)?;
    for (heading, text) in sections {
        let mut document = tantivy::TantivyDocument::default();
        document.add_text(title, heading);
        document.add_text(body, text);
        writer.add_document(document)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(began.elapsed())
}

fn sections(site: &Site) -> Vec<(String, String)> {
    let pages = site.pages.iter().map(|page| docent_markdown::parse("page.md", page.as_bytes()));
    let section = |section: docent_markdown::Section| {
        let code = section.code.into_iter().map(|block| block.text);
        (section.headings.join(" "), [section.text].into_iter().chain(code).collect::<Vec<_>>().join("\n"))
    };
    pages.flat_map(|page| page.sections.into_iter().map(section)).collect()
}

/// Generated docs.
struct Site {
    commit: String,
    pages: Vec<Arc<str>>,
    blobs: Vec<String>,
    words: Words,
}

impl Site {
    fn new(pages: usize) -> Self {
        let mut words = Words::new();
        let pages: Vec<Arc<str>> = (0..pages).map(|number| page(&mut words, number, pages).into()).collect();
        let blobs = (0..pages.len()).map(|number| format!("{number:040x}")).collect();
        Self { commit: "first".to_owned(), pages, blobs, words }
    }

    /// Rewrites a page with a word that occurs nowhere else, and returns the word.
    fn edit(&mut self, round: usize) -> String {
        let number = (round * 7919) % self.pages.len();
        let word = format!("novelty{round}x{number}");
        let text = page(&mut self.words, number, self.pages.len());
        self.pages[number] = format!("{text}\nAnd this is the {word} of it.\n").into();
        self.blobs[number] = format!("{:040x}", (round + 1) * self.pages.len() + number);
        self.commit = format!("{:040x}", round + 1);
        word
    }
}

impl Source for Site {
    fn commit(&self) -> &str {
        &self.commit
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        let file = |number: usize| SourceFile { path: path(number) + ".md", blob: self.blobs[number].clone() };
        Ok((0..self.pages.len()).map(file).collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        let number: usize = file.path[file.path.len() - 8..file.path.len() - 3].parse()?;
        Ok(self.pages[number].as_bytes().to_vec())
    }
}

fn path(number: usize) -> String {
    format!("part{:02}/chapter{:02}/page-{number:05}", number / 1000, number / 100 % 10)
}

fn page(words: &mut Words, number: usize, pages: usize) -> String {
    use std::fmt::Write;
    let mut text =
        format!("---\ntitle: {}\ndescription: {}\n---\n\n{}\n", words.some(3), words.some(9), words.some(40));
    for section in 0..6 {
        let linked = path((number * 31 + section * 977) % pages);
        let _ = write!(
            text,
            "\n## {}\n\n{}.\n\n{}. See [{}](/{linked}).\n",
            words.some(3),
            words.some(45),
            words.some(40),
            words.some(2)
        );
        match section % 3 {
            0 => {
                let _ = write!(text, "\n```sh\n{}_{} --{}={}\n```\n", words.one(), words.one(), words.one(), section);
            }
            1 => {
                let _ =
                    write!(text, "\n- {}\n- {}\n- `{}_{}`\n", words.some(8), words.some(6), words.one(), words.one());
            }
            _ => {}
        }
    }
    text
}

/// Words distributed by Zipf's law, the same in every run.
struct Words {
    seed: u64,
    known: Vec<String>,
}

impl Words {
    fn new() -> Self {
        const SYLLABLES: [&str; 24] = [
            "con", "fig", "re", "try", "ser", "ver", "to", "ken", "au", "th", "log", "in", "de", "ploy", "ment", "que",
            "ry", "data", "base", "ing", "er", "sta", "tus", "al",
        ];
        let mut words = Self { seed: 42, known: Vec::new() };
        for _ in 0..30_000 {
            let word = (0..2 + words.next() % 3).map(|_| SYLLABLES[words.next() as usize % SYLLABLES.len()]).collect();
            words.known.push(word);
        }
        words
    }

    fn next(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed >> 11
    }

    fn one(&mut self) -> String {
        let share = (self.next() % (1 << 24)) as f64 / f64::from(1 << 24);
        let rank = (self.known.len() as f64).powf(share) as usize - 1;
        self.known[rank.min(self.known.len() - 1)].clone()
    }

    fn some(&mut self, many: usize) -> String {
        (0..many).map(|_| self.one()).collect::<Vec<_>>().join(" ")
    }
}

fn size_of(folder: &std::path::Path) -> std::io::Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        size += entry?.metadata()?.len();
    }
    Ok(size)
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn shown(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1e3)
}
