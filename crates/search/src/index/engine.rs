//! Adapter to tantivy: segments are read from packs, and written in memory.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, FileSlice, Lock, OwnedBytes, RamDirectory, WatchCallback, WatchHandle,
    WritePtr,
};
use tantivy::fastfield::write_alive_bitset;
use tantivy::index::{IndexSettings, Segment, SegmentComponent, SegmentId, SegmentMeta};
use tantivy::indexer::merge_filtered_segments;
use tantivy::schema::IndexRecordOption;
use tantivy::store::Compressor;
use tantivy::{BitSet, DocSet, Index, ReloadPolicy, Searcher, TantivyError, Term};

use crate::index::generations;
use crate::index::generations_packs::SegmentFiles;
use crate::index::schema::Fields;

/// File name of tantivy's list of segments.
const META: &str = "meta.json";
/// Block size of the document store, in bytes.
const STORE_BLOCK: usize = 6 << 10;

/// Opens several segments as one searcher.
pub(crate) fn searcher(fields: &Fields, segments: &[generations::Segment]) -> tantivy::Result<Searcher> {
    let index = opened(fields, segments)?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    Ok(reader.searcher())
}

fn opened(fields: &Fields, segments: &[generations::Segment]) -> tantivy::Result<Index> {
    let packed = Packed {
        files: segments.iter().map(|segment| Arc::clone(&segment.files)).collect(),
        ram: RamDirectory::default(),
    };
    let ram = packed.ram.clone();
    let index = Index::create(packed, fields.schema.clone(), settings())?;
    let mut meta = index.load_metas()?;
    meta.segments = segments.iter().map(|segment| meta_of(&index, segment)).collect::<tantivy::Result<_>>()?;
    let text = serde_json::to_vec(&meta).map_err(io::Error::from)?;
    ram.atomic_write(Path::new(META), &text)?;
    Ok(index)
}

/// tantivy's metadata of a segment. Deleted documents are written as tantivy's alive bitset file.
fn meta_of(index: &Index, segment: &generations::Segment) -> tantivy::Result<SegmentMeta> {
    let id = SegmentId::from_uuid_string(&segment.id)
        .map_err(|_| TantivyError::SystemError(format!("`{}` is no name of a segment", segment.id)))?;
    let meta = index.new_segment_meta(id, segment.documents);
    if segment.deleted.is_empty() {
        return Ok(meta);
    }
    let deleted = u32::try_from(segment.deleted.len()).unwrap_or(u32::MAX);
    let meta = meta.with_delete_meta(deleted, 1);
    let mut alive = BitSet::with_max_value_and_full(segment.documents);
    for document in segment.deleted.iter() {
        alive.remove(*document);
    }
    let mut file = index.segment(meta.clone()).open_write(SegmentComponent::Delete)?;
    write_alive_bitset(&alive, &mut file)?;
    tantivy::directory::TerminatingWrite::terminate(file)?;
    Ok(meta)
}

pub(crate) fn settings() -> IndexSettings {
    IndexSettings {
        // Indexing runs on several threads already.
        docstore_compress_dedicated_thread: false,
        // A question reads a few sections scattered over the store: small blocks keep surplus reading low. Compression
        // would take a twelfth of the indexing time, and each passage shown would have to be decompressed.
        docstore_compression: Compressor::None,
        docstore_blocksize: STORE_BLOCK,
        ..IndexSettings::default()
    }
}

/// Ids of the documents of these pages, by segment.
pub(crate) fn documents_of(searcher: &Searcher, fields: &Fields, pages: &[u64]) -> tantivy::Result<Vec<Vec<u32>>> {
    let mut found = Vec::with_capacity(searcher.segment_readers().len());
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(fields.page)?;
        let mut documents = Vec::new();
        for page in pages {
            let term = Term::from_field_u64(fields.page, *page);
            let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            while postings.doc() != tantivy::TERMINATED {
                documents.push(postings.doc());
                postings.advance();
            }
        }
        found.push(documents);
    }
    Ok(found)
}

/// A finished segment in memory: its files by name.
pub(crate) struct WrittenSegment {
    pub(crate) id: String,
    pub(crate) documents: u32,
    pub(crate) files: Vec<(String, OwnedBytes)>,
}

/// A segment under construction, in memory.
pub(crate) struct SegmentInMemory {
    pub(crate) inner: Segment,
    ram: RamDirectory,
}

impl SegmentInMemory {
    pub(crate) fn begin(fields: &Fields) -> tantivy::Result<Self> {
        let ram = RamDirectory::default();
        let segment = Index::create(ram.clone(), fields.schema.clone(), settings())?.new_segment();
        Ok(Self { inner: segment, ram })
    }

    /// How much memory its files take so far, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.ram.total_mem_usage()
    }

    /// Finishes the segment with this number of documents, once all its files are written.
    pub(crate) fn end(self, documents: u32) -> tantivy::Result<WrittenSegment> {
        let meta = self.inner.index().new_segment_meta(self.inner.id(), documents);
        files_of(&meta, &self.ram)
    }
}

/// Merges several segments into one, without their deleted documents. `None` when all documents are deleted.
pub(crate) fn merged(fields: &Fields, segments: &[generations::Segment]) -> tantivy::Result<Option<WrittenSegment>> {
    if segments.iter().all(|segment| segment.alive() == 0) {
        return Ok(None);
    }
    let from = opened(fields, segments)?.searchable_segments()?;
    let keep_all = from.iter().map(|_| None).collect();
    let ram = RamDirectory::default();
    let index = merge_filtered_segments(&from, settings(), keep_all, ram.clone())?;
    index.searchable_segment_metas()?.pop().map(|meta| files_of(&meta, &ram)).transpose()
}

/// The files of a segment; optional ones may be missing.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Terms,
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Store,
];

/// Collects the files of a segment.
fn files_of(meta: &SegmentMeta, ram: &RamDirectory) -> tantivy::Result<WrittenSegment> {
    let mut files = Vec::new();
    for component in COMPONENTS {
        let path = meta.relative_path(component);
        match ram.open_read(&path) {
            Ok(file) => files.push((path.to_string_lossy().into_owned(), file.read_bytes()?)),
            Err(OpenReadError::FileDoesNotExist(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(WrittenSegment { id: meta.id().uuid_string(), documents: meta.max_doc(), files })
}

/// The files of several segments as one directory. Everything tantivy writes itself stays in memory.
#[derive(Debug, Clone, Default)]
struct Packed {
    files: Vec<Arc<SegmentFiles>>,
    ram: RamDirectory,
}

impl Packed {
    fn file(&self, path: &Path) -> Option<FileSlice> {
        self.files.iter().find_map(|files| files.get(path)).cloned()
    }
}

impl Directory for Packed {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.file(path) {
            Some(file) => Ok(Arc::new(file)),
            None => self.ram.get_file_handle(path),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.file(path).is_some() || self.ram.exists(path)?)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.ram.delete(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.ram.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.ram.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.ram.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// No other process or handle uses this directory.
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
