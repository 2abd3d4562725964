//! Listings of trees, each derived from the previous one: subtrees that two commits share are neither opened nor
//! compared again.

use std::iter::Peekable;
use std::sync::Arc;

use gix::ObjectId;
use parking_lot::Mutex;

use crate::error::GitError;
use crate::odb::tree::{self, Difference, Leaf};
use crate::tree_file::{FileMode, TreeFile};

/// A listing: files in the order of their paths' bytes.
pub type Listing = Arc<[TreeFile]>;

/// The last listings, newest last. A job lists the same folder again and again, and the index lists it for each new
/// commit.
#[derive(Debug, Default)]
pub(crate) struct Listings(Mutex<Vec<Listed>>);

#[derive(Debug, Clone)]
struct Listed {
    tree: ObjectId,
    root: String,
    files: Listing,
}

impl Listings {
    const CAPACITY: usize = 8;

    /// Everything below the folder `tree`, whose path is `root`.
    pub(crate) fn list(&self, repo: &gix::Repository, tree: ObjectId, root: &str) -> Result<Listing, GitError> {
        let last = self.last(tree, root);
        if let Some(same) = last.as_ref().filter(|last| last.tree == tree) {
            return Ok(Arc::clone(&same.files));
        }
        // The previous listing may be of a commit that no longer exists.
        let differences = last.and_then(|last| {
            let differences = tree::differences(repo, Some(last.tree), Some(tree)).ok()?;
            Some((last.files, differences))
        });
        let files: Listing = match differences {
            Some((before, differences)) => changed(&before, differences, root).into(),
            None => walked(repo, tree, root)?.into(),
        };
        self.insert(Listed { tree, root: root.to_owned(), files: Arc::clone(&files) });
        Ok(files)
    }

    /// The listing of this tree, otherwise the newest one with the path `root`.
    fn last(&self, tree: ObjectId, root: &str) -> Option<Listed> {
        let listings = self.0.lock();
        let mut same_root = listings.iter().rev().filter(|listed| listed.root == root);
        same_root.clone().find(|listed| listed.tree == tree).or_else(|| same_root.next()).cloned()
    }

    fn insert(&self, listed: Listed) {
        let mut listings = self.0.lock();
        if listings.len() >= Self::CAPACITY {
            listings.remove(0);
        }
        listings.push(listed);
    }
}

/// Paths that are not UTF-8 are not listed.
fn walked(repo: &gix::Repository, tree: ObjectId, root: &str) -> Result<Vec<TreeFile>, GitError> {
    let mut prefix = root.as_bytes().to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    let mut files = Vec::new();
    tree::walk(repo, tree, &mut prefix, &mut |path, leaf| {
        if let Ok(path) = std::str::from_utf8(path) {
            files.push(file(path.to_owned(), leaf));
        }
    })?;
    Ok(files)
}

fn file(path: String, leaf: Leaf) -> TreeFile {
    TreeFile { path, blob: leaf.id.into(), mode: FileMode::from_entry(leaf.mode) }
}

/// The listing with the differences applied, both in the order of their paths' bytes.
fn changed(before: &[TreeFile], differences: Vec<Difference>, root: &str) -> Vec<TreeFile> {
    let changes = differences.into_iter().filter_map(|difference| {
        let below = String::from_utf8(difference.path.into()).ok()?;
        Some((if root.is_empty() { below } else { format!("{root}/{below}") }, difference.new))
    });
    let mut changes = changes.peekable();
    let mut files = Vec::with_capacity(before.len());
    for known in before {
        new_before(&mut changes, &known.path, &mut files);
        match changes.next_if(|(path, _)| *path == known.path) {
            Some((path, leaf)) => files.extend(leaf.map(|leaf| file(path, leaf))),
            None => files.push(known.clone()),
        }
    }
    files.extend(changes.filter_map(|(path, leaf)| Some(file(path, leaf?))));
    files
}

fn new_before(
    changes: &mut Peekable<impl Iterator<Item = (String, Option<Leaf>)>>,
    known: &str,
    files: &mut Vec<TreeFile>,
) {
    while let Some((path, leaf)) = changes.next_if(|(path, _)| path.as_str() < known) {
        files.extend(leaf.map(|leaf| file(path, leaf)));
    }
}
