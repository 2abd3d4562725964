//! Measures how soon an index is up to date after one of its pages changed.
//!
//! ```text
//! cargo run --release -p docent-search --example reindex -- [PAGES] [ROUNDS]
//! ```
//!
//! The pages are generated, with words in a natural frequency distribution, headings, lists, code and links to each
//! other. Prints one JSON value: times in milliseconds, until the change is found.

use std::sync::Arc;
use std::time::Instant;

use docent_search::{Index, Query, Source, SourceFile};
use docent_types::BoxError;
use serde_json::json;

fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (pages, rounds) = (number(10_000)?, number(100)?);
    let mut site = Site::new(pages);
    let folder = tempfile::tempdir()?;
    let index = Index::open(folder.path())?;
    index.update(&site, &mut |_| ())?;
    index.compact_now();
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
    let at = |percent: usize| took[(took.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!("{}", json!({ "p50": at(50), "p90": at(90), "p99": at(99), "worst": at(100) }));
    Ok(())
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
