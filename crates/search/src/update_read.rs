//! Reading files to pages, and pages to segments of the index, on as many threads as there are cores.
//!
//! Files are dealt out in batches, one by one in turn, and a batch becomes segments of its own: neighbours are about as long
//! as each other, so the batches have about as much to read. How files are dealt out depends on how many there are and on
//! what is in them, never on threads: the same docs make the same segments.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use docent_pages::{SitePage, read_file};

use crate::documents;
use crate::error::SearchError;
use crate::generations::{Generations, Segment};
use crate::links::Mentions;
use crate::manifest::{ManifestFile, ManifestOddity, ManifestPage};
use crate::schema::Fields;
use crate::segment_writer::SegmentWriter;
use crate::update_plan::{Listing, Plan, Planned};
use crate::vocabulary::Vocabulary;

/// Of a larger file only this much is read, in bytes: it is no prose.
const LARGEST_FILE: usize = if cfg!(test) { 64 << 10 } else { 8 << 20 };
/// How much of what is odd about one file is told.
const MOST_ODDITIES: usize = 20;
/// A segment in the making is written out when it takes this much memory.
const LARGEST_SEGMENT: usize = 64 << 20;
/// This many files are read without further threads.
const FEW: usize = 16;
/// Into how many batches files are dealt, and so how many threads read at most; of very many files, a multiple of it. Each
/// makes a segment with words of its own, which most share: fewer segments are less to write and less to look into.
const BATCHES: usize = 2;
/// No batch has more files.
const LARGEST_BATCH: usize = 2_048;
/// So many files are told of at once: to wake whoever listens takes as long as to read one.
const TOLD_TOGETHER: usize = 64;
/// The bits of a page's number that tell it from the other pages of its file.
const PAGE_BITS: u32 = 24;

/// What became of the files.
#[derive(Debug, Default)]
pub(crate) struct Indexed {
    /// In order of path.
    pub(crate) files: Vec<ManifestFile>,
    pub(crate) segments: Vec<Segment>,
}

/// Files, each with its number.
type Batch<'p> = Vec<(u64, &'p Planned)>;

/// What reading needs.
pub(crate) struct Reading<'r> {
    pub(crate) generations: &'r Generations,
    pub(crate) fields: &'r Fields,
    pub(crate) listing: &'r Listing<'r>,
    pub(crate) plan: &'r Plan,
    /// The number of the first file.
    pub(crate) first: u64,
    /// 0 for as many as there are cores.
    pub(crate) threads: usize,
}

impl Reading<'_> {
    /// Reads every file of the plan and writes what comes of it. `progress` hears how many are read.
    pub(crate) fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<Indexed, SearchError> {
        let batches = self.batches();
        if batches.len() < 2 {
            let mut done = 0;
            let mut count = || {
                done += 1;
                progress(done);
            };
            return batches.first().map_or_else(
                || Ok(Indexed::default()),
                |batch| self.batch(batch, &mut Vocabulary::default(), &mut count),
            );
        }
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        let threads = if self.threads == 0 { cores() } else { self.threads }.min(batches.len());
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let results = Mutex::new(Vec::with_capacity(batches.len()));
        let work = |read: Sender<usize>| {
            let mut vocabulary = Vocabulary::default();
            while let Some((number, batch)) = take(&next, &batches).filter(|_| !stop.load(Ordering::Relaxed)) {
                let mut untold = 0;
                let tell = |untold: &mut usize| {
                    // Nobody listens once this thread is the last: then nothing is lost.
                    let _ = read.send(std::mem::take(untold));
                };
                let mut count = || {
                    untold += 1;
                    if untold == TOLD_TOGETHER {
                        tell(&mut untold);
                    }
                };
                let result = self.batch(batch, &mut vocabulary, &mut count);
                tell(&mut untold);
                stop.fetch_or(result.is_err(), Ordering::Relaxed);
                results.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
            }
        };
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let sender = sender.clone();
                let work = &work;
                scope.spawn(move || work(sender));
            }
            drop(sender);
            let mut done = 0;
            receiver.into_iter().for_each(|read| {
                done += read;
                progress(done);
            });
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(number, _)| *number);
        let mut indexed = Indexed::default();
        for (_, result) in results {
            let Indexed { files, segments } = result?;
            indexed.files.extend(files);
            indexed.segments.extend(segments);
        }
        indexed.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(indexed)
    }

    /// The files dealt out, each with its number.
    fn batches(&self) -> Vec<Batch<'_>> {
        let files = self.plan.read.as_slice();
        let many = if files.len() <= FEW { 1 } else { BATCHES * files.len().div_ceil(BATCHES * LARGEST_BATCH) };
        let mut batches = vec![Batch::new(); many];
        for (at, file) in files.iter().enumerate() {
            batches[at % many].push((self.first + at as u64, file));
        }
        batches.retain(|batch| !batch.is_empty());
        batches
    }

    fn batch(
        &self,
        batch: &Batch<'_>,
        vocabulary: &mut Vocabulary,
        read: &mut dyn FnMut(),
    ) -> Result<Indexed, SearchError> {
        let engine = |error| self.generations.engine("write", error);
        let (mut indexed, mut mentions) = (Indexed::default(), Mentions::default());
        let mut writer: Option<SegmentWriter> = None;
        for (number, planned) in batch {
            let (file, pages) = self.file(planned, *number)?;
            for (entry, read) in file.pages.iter().zip(pages).filter(|(entry, _)| entry.listed) {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => {
                        vocabulary.keep_small();
                        none.insert(SegmentWriter::new(self.fields, self.generations)?)
                    }
                };
                documents::write(self.fields, vocabulary, &mut mentions, writer, entry, read.page, &read.text)
                    .map_err(engine)?;
            }
            indexed.files.push(file);
            read();
            if let Some(full) = writer.take_if(|writer| writer.memory() > LARGEST_SEGMENT) {
                indexed.segments.extend(self.finish(full, vocabulary)?);
            }
        }
        if let Some(writer) = writer {
            indexed.segments.extend(self.finish(writer, vocabulary)?);
        }
        Ok(indexed)
    }

    fn finish(&self, writer: SegmentWriter, vocabulary: &Vocabulary) -> Result<Option<Segment>, SearchError> {
        let made = writer.finish(vocabulary).map_err(|error| self.generations.engine("write", error))?;
        made.map(|(pack, made)| self.generations.finish_segment(pack, &made)).transpose()
    }

    /// Reads one file to its pages, with the entry the manifest has of it.
    fn file(&self, planned: &Planned, number: u64) -> Result<(ManifestFile, Vec<SitePage>), SearchError> {
        let SourceBytes { bytes, whole } = self.bytes(planned)?;
        let path = &planned.file.path;
        let read = read_file(&self.plan.layout, path, &bytes, self.listing);
        self.listing.outcome()?;
        let mut oddities: Vec<ManifestOddity> = Vec::new();
        if bytes.len() < whole {
            let message = format!("the file has {whole} bytes; only the first {} are searched", bytes.len());
            oddities.push(ManifestOddity { file: String::new(), line: 1, message });
        }
        let problems = read.problems.into_iter();
        oddities.extend(problems.map(|problem| ManifestOddity {
            file: String::new(),
            line: problem.line,
            message: problem.message,
        }));
        let odd = oddities.len();
        oddities.truncate(MOST_ODDITIES);
        let id = |page: u64| (number << PAGE_BITS) + page;
        let blob = |path: String| {
            let blob = self.listing.blob(&path).to_owned();
            (path, blob)
        };
        let file = ManifestFile {
            path: path.clone(),
            blob: planned.file.blob.clone(),
            place: planned.place.clone(),
            included: read.included.into_iter().map(blob).collect(),
            pages: (0..1 << PAGE_BITS).zip(&read.pages).map(|(page, read)| entry(id(page), read)).collect(),
            oddities,
            odd,
        };
        Ok((file, read.pages))
    }

    fn bytes(&self, planned: &Planned) -> Result<SourceBytes, SearchError> {
        let mut bytes = self.listing.bytes(&planned.file)?;
        let whole = bytes.len();
        if whole > LARGEST_FILE {
            // Not inside a character.
            let start = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
            let end = (LARGEST_FILE - 3..=LARGEST_FILE).rev().find(start).unwrap_or(LARGEST_FILE);
            bytes.truncate(end);
        }
        Ok(SourceBytes { bytes, whole })
    }
}

/// What of a file is read, and how long it is.
struct SourceBytes {
    bytes: Vec<u8>,
    whole: usize,
}

fn take<'b, T>(next: &AtomicUsize, of: &'b [T]) -> Option<(usize, &'b T)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    of.get(number).map(|batch| (number, batch))
}

/// What the manifest keeps of a page.
fn entry(id: u64, read: &SitePage) -> ManifestPage {
    let SitePage { place, aliases, page, .. } = read;
    let front = &page.front_matter;
    let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect::<Vec<_>>();
    ManifestPage {
        id,
        path: place.site_path.clone(),
        title: page.title.clone().unwrap_or_default(),
        description: front.description().map(|text| text.trim().to_owned()),
        version: place.version.clone(),
        language: place.language.clone(),
        groups: owned(front.groups()),
        tags: owned(front.tags()),
        nav_title: place.title.clone(),
        breadcrumb: place.groups.clone(),
        order: place.order,
        aliases: aliases.iter().map(|path| path.trim_matches('/').to_owned()).collect(),
        listed: place.listed,
        sections: page.sections.len(),
    }
}
