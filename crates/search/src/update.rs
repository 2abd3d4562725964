//! Bringing an index up to date.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use docent_pages::{Navigation, is_page, parse, site_path, text_of};
use tantivy::indexer::LogMergePolicy;
use tantivy::{IndexWriter, TantivyDocument, Term};

use crate::documents::{Prepared, prepare};
use crate::error::SearchError;
use crate::generations::{Generation, Generations};
use crate::manifest::{LAYOUT, Manifest, ManifestPage, Place};
use crate::schema::Fields;
use crate::snapshot::{create_index, open_index};
use crate::source::{Progress, Source, SourceFile, Stage, Summary};

/// Memory the engine may gather documents in before it writes them out.
const MEMORY: usize = 64 << 20;

/// A page larger than this is no prose; it is left out.
const LARGEST_PAGE: usize = 8 << 20;

/// Brings the index of a folder to what `source` holds, and publishes it.
pub(crate) fn update(
    generations: &Generations,
    source: &dyn Source,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, SearchError> {
    let started = Instant::now();
    let turn = generations.turn()?;
    generations.tidy(&turn)?;
    let base = usable_base(generations)?;
    let old = base.as_ref().map(|(_, manifest)| manifest.clone()).unwrap_or_default();
    let plan = Plan::make(source, &old)?;
    let mut summary = plan.summary(source.commit(), &old);
    if base.is_some() && plan.is_empty() && old.commit == source.commit() {
        summary.took = started.elapsed();
        return Ok(summary);
    }

    let next = generations.start(&turn, base.as_ref().map(|(generation, _)| generation))?;
    let manifest = build(&next, base.is_some(), source, plan, old, progress)?;
    generations.publish(&turn, &next, &manifest)?;
    summary.pages = manifest.listed().count();
    summary.sections = manifest.listed().map(|page| page.sections).sum();
    summary.published = true;
    summary.took = started.elapsed();
    Ok(summary)
}

/// The current generation with its manifest, if it can be built upon.
fn usable_base(generations: &Generations) -> Result<Option<(Generation, Manifest)>, SearchError> {
    let Some(generation) = generations.current()? else { return Ok(None) };
    let manifest = generations.manifest(&generation);
    let usable = manifest.filter(|_| open_index(&generation, &Fields::new()).is_ok());
    if usable.is_none() {
        tracing::warn!(dir = %generation.dir.display(), "search index cannot be built upon; building it anew");
    }
    Ok(usable.map(|manifest| (generation, manifest)))
}

/// What an update has to do.
#[derive(Debug, Default)]
struct Plan {
    /// Files to read, with what the navigation says of them.
    read: Vec<(SourceFile, Place)>,
    /// Files of the old state whose documents go.
    drop: Vec<String>,
    added: usize,
    removed: usize,
}

impl Plan {
    fn make(source: &dyn Source, old: &Manifest) -> Result<Self, SearchError> {
        let files = source
            .files()
            .map_err(|error| SearchError::Source { what: "the list of files".to_owned(), source: error })?;
        let places = places(source, &files)?;
        let mut plan = Self::default();
        let mut gone: Vec<&String> = old.pages.keys().collect();
        for file in files.into_iter().filter(|file| is_page(&file.path)) {
            if let Ok(at) = gone.binary_search(&&file.path) {
                gone.remove(at);
            }
            let place = places.get(&site_path(&file.path)).cloned().unwrap_or_default();
            match old.pages.get(&file.path) {
                Some(known) if known.blob == file.blob && known.place == place => {}
                Some(_) => {
                    plan.drop.push(file.path.clone());
                    plan.read.push((file, place));
                }
                None => {
                    plan.added += 1;
                    plan.read.push((file, place));
                }
            }
        }
        plan.removed = gone.len();
        plan.drop.extend(gone.into_iter().cloned());
        Ok(plan)
    }

    fn is_empty(&self) -> bool {
        self.read.is_empty() && self.drop.is_empty()
    }

    fn summary(&self, commit: &str, old: &Manifest) -> Summary {
        Summary {
            commit: commit.to_owned(),
            pages: old.listed().count(),
            sections: old.listed().map(|page| page.sections).sum(),
            added: self.added,
            changed: self.read.len() - self.added,
            removed: self.removed,
            published: false,
            took: std::time::Duration::ZERO,
        }
    }
}

/// What the navigation says of each page it names, by the path of its file.
fn places(source: &dyn Source, files: &[SourceFile]) -> Result<HashMap<String, Place>, SearchError> {
    let found = Navigation::FILES.iter().find_map(|name| files.iter().find(|file| file.path == *name));
    let Some(file) = found else { return Ok(HashMap::new()) };
    let navigation = Navigation::parse(&file.path, &read(source, file)?);
    let place =
        |entry: docent_pages::NavigationEntry| (entry.page, Place { version: entry.version, language: entry.language });
    // A page that is named twice counts where a reader meets it first.
    Ok(navigation.entries.into_iter().rev().map(place).collect())
}

fn read(source: &dyn Source, file: &SourceFile) -> Result<Vec<u8>, SearchError> {
    source.read(file).map_err(|error| SearchError::Source { what: file.path.clone(), source: error })
}

/// Makes the next generation's index and manifest. This thread reads, others parse, the engine's own write.
fn build(
    next: &Generation,
    has_base: bool,
    source: &dyn Source,
    plan: Plan,
    mut manifest: Manifest,
    progress: &mut dyn FnMut(Progress),
) -> Result<Manifest, SearchError> {
    let fields = Fields::new();
    let engine = |doing: &'static str| {
        let path = next.dir.clone();
        move |error: tantivy::TantivyError| SearchError::Engine { doing, path, source: error.into() }
    };
    let index =
        if has_base { open_index(next, &fields) } else { create_index(next, &fields) }.map_err(engine("open"))?;
    let mut writer: IndexWriter = index.writer(MEMORY).map_err(engine("open"))?;
    let mut merging = LogMergePolicy::default();
    merging.set_del_docs_ratio_before_merge(0.3);
    writer.set_merge_policy(Box::new(merging));

    manifest.layout = LAYOUT;
    source.commit().clone_into(&mut manifest.commit);
    for file in &plan.drop {
        if let Some(page) = manifest.pages.remove(file) {
            writer.delete_term(Term::from_field_u64(fields.page, page.id));
        }
    }
    let total = plan.read.len();
    let first_id = manifest.next_id;
    manifest.next_id += total as u64;
    let pages = Mutex::new(Vec::with_capacity(total));
    let reading = read_all(
        source,
        plan.read,
        first_id,
        |work| {
            let Prepared { entry, documents } = work.prepare(&fields);
            for document in documents {
                writer.add_document(document)?;
            }
            pages.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((work.file.path, entry));
            Ok(())
        },
        &mut |done| progress(Progress { stage: Stage::Reading, done, total }),
    );
    reading.map_err(|error| match error {
        Failure::Source(error) => error,
        Failure::Engine(error) => engine("write")(error),
    })?;
    manifest.pages.extend(pages.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));

    progress(Progress { stage: Stage::Writing, done: total, total });
    writer.commit().map_err(engine("write"))?;
    writer.wait_merging_threads().map_err(engine("write"))?;
    Ok(manifest)
}

/// A page that was read and is to be parsed.
struct Work {
    file: SourceFile,
    place: Place,
    id: u64,
    bytes: Vec<u8>,
}

impl Work {
    fn prepare(&self, fields: &Fields) -> Prepared {
        if self.bytes.len() > LARGEST_PAGE {
            tracing::warn!(file = self.file.path, bytes = self.bytes.len(), "page too large to index");
            let blob = self.file.blob.clone();
            let entry = ManifestPage { id: self.id, blob, place: self.place.clone(), ..ManifestPage::default() };
            return Prepared { entry, documents: Vec::<TantivyDocument>::new() };
        }
        let page = parse(&self.file.path, &self.bytes);
        prepare(fields, &page, &text_of(&self.bytes), self.id, &self.file.blob, self.place.clone())
    }
}

enum Failure {
    Source(SearchError),
    Engine(tantivy::TantivyError),
}

/// Reads the files one after the other and hands each to `work` on one of several threads.
fn read_all(
    source: &dyn Source,
    files: Vec<(SourceFile, Place)>,
    first_id: u64,
    work: impl Fn(Work) -> tantivy::Result<()> + Sync,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 8);
    let (sender, receiver) = sync_channel::<Work>(threads * 4);
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(files.len())).map(|_| scope.spawn(|| drain(&receiver, &work))).collect();
        let mut outcome = Ok(());
        for (done, (file, place)) in files.into_iter().enumerate() {
            match read(source, &file) {
                Ok(bytes) => {
                    let id = first_id + done as u64;
                    if sender.send(Work { file, place, id, bytes }).is_err() {
                        break;
                    }
                }
                Err(error) => {
                    outcome = Err(Failure::Source(error));
                    break;
                }
            }
            progress(done + 1);
        }
        drop(sender);
        for worker in workers {
            match worker.join() {
                Ok(result) => outcome = outcome.and(result.map_err(Failure::Engine)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcome
    })
}

fn drain(receiver: &Mutex<Receiver<Work>>, work: impl Fn(Work) -> tantivy::Result<()>) -> tantivy::Result<()> {
    let mut outcome = Ok(());
    loop {
        let next = receiver.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        let Ok(next) = next else { return outcome };
        // After an error the rest is taken in without work, so that the reading thread never waits for a dead worker.
        if outcome.is_ok() {
            outcome = work(next);
        }
    }
}
