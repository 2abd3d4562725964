//! Reads files into pages, and writes pages to segments of the index, on up to as many threads as there are cores.
//!
//! Each thread builds its own segments, and takes the next file when it has finished one: so all threads end at about
//! the same time, even if a core has other work. Which files share a segment is therefore not deterministic. Search
//! results do not depend on it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use docent_markdown::is_page;
use docent_site::{FileRead, SitePage, SkipReason, read_file};

use crate::error::SearchError;
use crate::index::documents;
use crate::index::generations::{Generations, Segment};
use crate::index::links::Mentions;
use crate::index::manifest::{ManifestFile, ManifestPage};
use crate::index::page_kind::PageKind;
use crate::index::safeguard::Safeguard;
use crate::index::schema::Fields;
use crate::index::segment_writer::SegmentWriter;
use crate::index::update_plan::{Listing, Plan};
use crate::source::{Oddity, SourceFile};
use crate::text::vocabulary::Vocabulary;

/// Only this many bytes of a larger file are parsed: such a file is not prose.
const LARGEST_FILE: usize = if cfg!(test) { 64 << 10 } else { 8 << 20 };
/// Maximum number of problems listed per file.
const MOST_ODDITIES: usize = 20;
/// A segment under construction is written out when it takes more memory than this, in bytes.
const LARGEST_SEGMENT: usize = 64 << 20;
/// Up to this many files are read on one thread.
const FEW: usize = 16;
/// Maximum number of threads, except for very many files. Each thread builds a segment with its own words, most of
/// which other segments repeat: fewer segments are less to write and less to search.
const THREADS: usize = 2;
/// Approximate maximum of files per segment: segments built at the same time share this many files for each of them.
const MOST_OF_A_SEGMENT: usize = 2_048;
/// Progress is reported in batches of this many files: waking the receiver takes as long as reading a file.
const TOLD_TOGETHER: usize = 64;
/// The low bits of a page id, which distinguish the pages of one file.
const PAGE_BITS: u32 = 24;

/// The result of reading files.
#[derive(Debug, Default)]
pub(crate) struct Indexed {
    /// In order of path, once everything is read.
    pub(crate) files: Vec<ManifestFile>,
    pub(crate) segments: Vec<Segment>,
}

impl Indexed {
    fn and(mut self, other: Self) -> Self {
        self.files.extend(other.files);
        self.segments.extend(other.segments);
        self
    }
}

/// A range of files, shared by the segments that are built at the same time.
struct Share<'p> {
    files: &'p [SourceFile],
    /// The number of the first file.
    first: u64,
    /// Number of files taken so far.
    taken: AtomicUsize,
}

impl<'p> Share<'p> {
    /// The next file that is not taken, with its number.
    fn take(&self) -> Option<(u64, &'p SourceFile)> {
        let at = self.taken.fetch_add(1, Ordering::Relaxed);
        self.files.get(at).map(|file| (self.first + at as u64, file))
    }
}

/// The inputs of reading.
pub(crate) struct Reading<'r> {
    pub(crate) generations: &'r Generations,
    pub(crate) safeguard: &'r Safeguard,
    pub(crate) fields: &'r Fields,
    pub(crate) listing: &'r Listing<'r>,
    pub(crate) plan: &'r Plan,
    /// The number of the first file.
    pub(crate) first: u64,
    /// Number of threads; 0 for one per core.
    pub(crate) threads: usize,
}

impl Reading<'_> {
    /// Reads every file of the plan and writes the resulting segments. `progress` receives the number of files read so
    /// far.
    pub(crate) fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<Indexed, SearchError> {
        let files = self.plan.read.len();
        let segments = if files <= FEW { 1 } else { THREADS * files.div_ceil(THREADS * MOST_OF_A_SEGMENT) };
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        let threads = if self.threads == 0 { cores() } else { self.threads }.min(segments);
        let shares = self.shares(segments.div_ceil(threads));
        let (stop, mut done) = (AtomicBool::new(false), 0);
        let mut more = |read| {
            done += read;
            progress(done);
        };
        let mut indexed = if threads < 2 {
            self.work(&shares, &stop, &mut || more(1))?
        } else {
            self.work_on(threads, &shares, &stop, &mut more)?
        };
        indexed.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(indexed)
    }

    /// Works through all shares on several threads. `more` receives the number of files read since its last call.
    fn work_on(
        &self,
        threads: usize,
        shares: &[Share<'_>],
        stop: &AtomicBool,
        more: &mut dyn FnMut(usize),
    ) -> Result<Indexed, SearchError> {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let work = || {
                let sender = sender.clone();
                scope.spawn(move || {
                    let mut untold = 0;
                    let result = self.work(shares, stop, &mut || {
                        untold += 1;
                        if untold == TOLD_TOGETHER {
                            // The receiver is gone when `progress` panicked: nothing is lost then.
                            let _ = sender.send(std::mem::take(&mut untold));
                        }
                    });
                    let _ = sender.send(untold);
                    stop.fetch_or(result.is_err(), Ordering::Relaxed);
                    result
                })
            };
            let working: Vec<_> = (0..threads).map(|_| work()).collect();
            drop(sender);
            receiver.into_iter().for_each(more);
            let results =
                working.into_iter().map(|working| working.join().unwrap_or_else(|panic| resume_unwind(panic)));
            results.reduce(|one, other| Ok(one?.and(other?))).unwrap_or_else(|| Ok(Indexed::default()))
        })
    }

    /// All files, split into this many shares.
    fn shares(&self, shares: usize) -> Vec<Share<'_>> {
        let files = self.plan.read.as_slice();
        let most = files.len().div_ceil(shares).max(1);
        let share = |(first, files)| Share { files, first, taken: AtomicUsize::new(0) };
        (self.first..).step_by(most).zip(files.chunks(most)).map(share).collect()
    }

    /// Works through the shares until `stop` is set. `read` is called for each file.
    fn work(&self, shares: &[Share<'_>], stop: &AtomicBool, read: &mut dyn FnMut()) -> Result<Indexed, SearchError> {
        let (mut indexed, mut vocabulary) = (Indexed::default(), Vocabulary::default());
        for share in shares {
            self.share(share, stop, &mut vocabulary, &mut indexed, read)?;
        }
        Ok(indexed)
    }

    fn share(
        &self,
        share: &Share<'_>,
        stop: &AtomicBool,
        vocabulary: &mut Vocabulary,
        indexed: &mut Indexed,
        read: &mut dyn FnMut(),
    ) -> Result<(), SearchError> {
        let engine = |error| self.generations.engine("write", error);
        let mut mentions = Mentions::default();
        let mut writer: Option<SegmentWriter> = None;
        let wanted = || !stop.load(Ordering::Relaxed);
        while let Some((number, file)) = share.take().filter(|_| wanted()) {
            let mut read_and_write = || {
                let (file, pages) = self.file(file, number)?;
                for (entry, read) in file.pages.iter().zip(pages).filter(|(entry, _)| entry.listed) {
                    let writer = match &mut writer {
                        Some(writer) => writer,
                        none => {
                            vocabulary.keep_small();
                            none.insert(SegmentWriter::new(self.fields).map_err(engine)?)
                        }
                    };
                    documents::write(self.fields, vocabulary, &mut mentions, writer, entry, read.page, &read.text)
                        .map_err(engine)?;
                }
                Ok::<_, SearchError>(file)
            };
            let file = match self.listing.is_set_aside(file) {
                true => read_and_write()?,
                false => self.safeguard.read_file(file, read_and_write)?,
            };
            indexed.files.push(file);
            read();
            if let Some(full) = writer.take_if(|writer| writer.memory() > LARGEST_SEGMENT) {
                indexed.segments.extend(self.finish(full, vocabulary)?);
            }
        }
        if let Some(writer) = writer.filter(|_| wanted()) {
            indexed.segments.extend(self.finish(writer, vocabulary)?);
        }
        Ok(())
    }

    fn finish(&self, writer: SegmentWriter, vocabulary: &Vocabulary) -> Result<Option<Segment>, SearchError> {
        let made = writer.finish(vocabulary).map_err(|error| self.generations.engine("write", error))?;
        made.map(|made| self.generations.write_segment(&made)).transpose()
    }

    /// Reads one file into its pages, and builds its manifest entry.
    fn file(&self, file: &SourceFile, number: u64) -> Result<(ManifestFile, Vec<SitePage>), SearchError> {
        let path = &file.path;
        if self.listing.is_set_aside(file) {
            let message = format!("the file {}", SkipReason::SetAside.sentence());
            return Ok((self.unread(file, Some(SkipReason::SetAside), message), Vec::new()));
        }
        let Some(SourceBytes { bytes, whole }) = self.bytes(file)? else {
            let reason = if self.listing.is_absent(file) { SkipReason::Absent } else { SkipReason::TooLarge };
            let message = format!("the file {}, and is not searched", reason.sentence());
            // It is unknown whether a data file describes an API.
            return Ok((self.unread(file, is_page(path).then_some(reason), message), Vec::new()));
        };
        let read = || read_file(&self.plan.layout, path, &bytes, self.listing);
        // The panic was reported when it happened.
        let mut read = catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|_| FileRead { skipped: Some(SkipReason::Failed), ..FileRead::default() });
        self.listing.outcome()?;
        if bytes.len() < whole && read.pages.is_empty() && is_page(path) {
            read.skipped.get_or_insert(SkipReason::TooLarge);
        }
        let mut oddities: Vec<Oddity> = Vec::new();
        if read.skipped == Some(SkipReason::Failed) {
            let message = format!("the file {}", SkipReason::Failed.sentence());
            oddities.push(Oddity { file: String::new(), line: 1, message });
        }
        if bytes.len() < whole {
            let message = format!("the file has {whole} bytes; only the first {} are searched", bytes.len());
            oddities.push(Oddity { file: String::new(), line: 1, message });
        }
        let problems = read.problems.into_iter();
        oddities.extend(problems.map(|problem| Oddity {
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
        let place = self.plan.layout.place(path);
        let front_matter_affects_place =
            |read: &SitePage| read.place != place || read.page.front_matter.get("id").is_some();
        let file = ManifestFile {
            path: path.clone(),
            blob: file.blob.clone(),
            // Pages of an API description are never placed where its file is, and what decides their places decides how
            // it is read.
            front_matter_affects_place: is_page(path) && read.pages.iter().any(front_matter_affects_place),
            place,
            included: read.included.into_iter().map(blob).collect(),
            pages: (0..1 << PAGE_BITS).zip(&read.pages).map(|(page, read)| entry(id(page), read, path)).collect(),
            oddities,
            odd,
            skipped: read.skipped,
        };
        Ok((file, read.pages))
    }

    /// The entry of a file that is not read.
    fn unread(&self, file: &SourceFile, skipped: Option<SkipReason>, message: String) -> ManifestFile {
        ManifestFile {
            path: file.path.clone(),
            blob: file.blob.clone(),
            place: self.plan.layout.place(&file.path),
            oddities: vec![Oddity { file: String::new(), line: 1, message }],
            odd: 1,
            skipped,
            ..ManifestFile::default()
        }
    }

    /// At most the first `LARGEST_FILE` bytes; `None` when the file is too large to be read at all.
    fn bytes(&self, file: &SourceFile) -> Result<Option<SourceBytes>, SearchError> {
        let Some(mut bytes) = self.listing.bytes(file)? else { return Ok(None) };
        let whole = bytes.len();
        if whole > LARGEST_FILE {
            // Not inside a UTF-8 sequence.
            let start = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
            let end = (LARGEST_FILE - 3..=LARGEST_FILE).rev().find(start).unwrap_or(LARGEST_FILE);
            bytes.truncate(end);
        }
        Ok(Some(SourceBytes { bytes, whole }))
    }
}

/// The bytes of a file that are parsed, and the length of the whole file.
struct SourceBytes {
    bytes: Vec<u8>,
    whole: usize,
}

/// The manifest entry of a page.
fn entry(id: u64, read: &SitePage, file: &str) -> ManifestPage {
    let SitePage { place, aliases, page, .. } = read;
    let front = &page.front_matter;
    let title = page.title.as_deref().unwrap_or_default();
    let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect::<Vec<_>>();
    ManifestPage {
        id,
        path: place.site_path.clone(),
        has_html_url: place.has_html_url,
        title: title.to_owned(),
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
        // A file that is not a page is an API description.
        kind: if is_page(file) { PageKind::of(front, title, &page.headings) } else { PageKind::Reference },
        sections: page.sections.len(),
    }
}
