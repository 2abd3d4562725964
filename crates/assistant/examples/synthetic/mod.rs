//! A docs site made up of words that follow Zipf's law, as those of real docs do: a few on every page, most on a few pages.

use std::sync::Arc;

use docent_search::{Index, Snapshot, Source, SourceFile};
use docent_types::BoxError;

/// How many words the site knows.
const WORDS: usize = 20_000;

/// So many pages, each with several sections.
pub(crate) struct Site {
    pages: usize,
    words: Vec<String>,
    /// Sums of the words' frequencies, to pick by.
    sums: Vec<f64>,
    /// How long a section is at least, in words.
    section: usize,
}

impl Site {
    pub(crate) fn new(pages: usize, section: usize) -> Self {
        let mut chance = Chance(7);
        let words = (0..WORDS).map(|_| word(&mut chance)).collect();
        let sums = (1..=WORDS).scan(0.0, |sum, rank| {
            *sum += 1.0 / f64::from(u32::try_from(rank).unwrap_or(u32::MAX));
            Some(*sum)
        });
        Self { pages, words, sums: sums.collect(), section }
    }

    /// Indexes it.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        let folder = tempfile::tempdir().expect("a folder");
        let index = Index::open(folder.path()).expect("an index");
        index.update(self, &mut |_| {}).expect("an update");
        let snapshot = index.snapshot();
        // The snapshot reads from the folder, which goes with the process.
        let _ = folder.keep();
        snapshot
    }

    /// A question that some page answers: words of its titles, and some that are everywhere.
    pub(crate) fn question(&self, number: usize) -> String {
        let titles = self.title(number * 31 % self.pages);
        let mut chance = Chance(number as u64 + 99);
        format!("How do I {} the {titles} with {}?", self.pick(&mut chance), self.pick(&mut chance))
    }

    fn title(&self, page: usize) -> String {
        let mut chance = Chance(page as u64 * 2 + 1);
        let words = (0..3).map(|_| self.words[usize::try_from(chance.next() % WORDS as u64).unwrap_or(0)].as_str());
        words.collect::<Vec<_>>().join(" ")
    }

    fn pick(&self, chance: &mut Chance) -> &str {
        let whole = self.sums.last().copied().unwrap_or(1.0);
        let at = self.sums.partition_point(|sum| *sum < chance.share() * whole);
        &self.words[at.min(WORDS - 1)]
    }

    fn page(&self, page: usize) -> String {
        let mut chance = Chance(page as u64 + 12_345);
        let title = self.title(page);
        let mut text = format!("---\ntitle: {title}\ndescription: About {title}.\n---\n");
        for section in 0..4 + chance.next() % 4 {
            text.push_str(&format!("\n## {} {} {section}\n\n", self.pick(&mut chance), self.pick(&mut chance)));
            let length = self.section + usize::try_from(chance.next() % 60).unwrap_or(0);
            for number in 0..length {
                text.push_str(if number % 12 == 3 {
                    title.split(' ').next().unwrap_or("it")
                } else {
                    self.pick(&mut chance)
                });
                text.push_str(if number % 14 == 13 { ". " } else { " " });
            }
            text.push('\n');
        }
        text
    }
}

impl Source for Site {
    fn commit(&self) -> &'static str {
        "synthetic"
    }

    fn files(&self) -> Result<Vec<SourceFile>, BoxError> {
        let files = (0..self.pages)
            .map(|page| SourceFile { path: format!("part-{}/page-{page}.md", page % 40), blob: format!("{page}") });
        Ok(files.collect())
    }

    fn read(&self, file: &SourceFile) -> Result<Vec<u8>, BoxError> {
        Ok(self.page(file.blob.parse()?).into_bytes())
    }
}

/// A row of numbers that is the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}

fn word(chance: &mut Chance) -> String {
    const SYLLABLES: [&str; 24] = [
        "ba", "con", "de", "er", "fa", "gra", "ho", "in", "ju", "ka", "lo", "me", "na", "or", "pro", "qui", "re",
        "sta", "ti", "un", "ver", "wa", "xe", "zo",
    ];
    let length = 2 + chance.next() % 3;
    (0..length).map(|_| SYLLABLES[usize::try_from(chance.next() % 24).unwrap_or(0)]).collect()
}
