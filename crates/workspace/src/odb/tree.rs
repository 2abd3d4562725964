//! Walks a tree, compares two, and writes a changed one.

use std::collections::HashMap;
use std::convert::Infallible;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::{EntryKind, EntryMode};
use gix::objs::{FindExt, Kind, Tree, TreeRefIter, WriteTo};

use super::{NewObject, local_error};
use crate::error::GitError;

/// The mode and the object id of the entry at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) mode: EntryMode,
    pub(crate) id: ObjectId,
}

/// One path at which two trees differ. At least one side is `Some`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: BString,
    pub(crate) old: Option<Leaf>,
    pub(crate) new: Option<Leaf>,
}

fn read(repo: &gix::Repository, id: ObjectId) -> Result<Vec<u8>, GitError> {
    let mut tree = repo.find_tree(id).map_err(|error| local_error("read a folder from the mirror", &error))?;
    Ok(std::mem::take(&mut tree.data))
}

fn entries(data: &[u8]) -> impl Iterator<Item = Result<gix::objs::tree::EntryRef<'_>, GitError>> {
    TreeRefIter::from_bytes(data, gix::hash::Kind::Sha1)
        .map(|entry| entry.map_err(|error| local_error("read a folder from the mirror", &error)))
}

/// The entry at `path`, a file or a folder. `None` when a part of the path is missing or not a folder.
pub(crate) fn at(repo: &gix::Repository, root: ObjectId, path: &str) -> Result<Option<Leaf>, GitError> {
    let mut leaf = Leaf { mode: EntryKind::Tree.into(), id: root };
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if !leaf.mode.is_tree() {
            return Ok(None);
        }
        let data = read(repo, leaf.id)?;
        let mut found = None;
        for entry in entries(&data) {
            let entry = entry?;
            if entry.filename.as_bytes() == part.as_bytes() {
                found = Some(Leaf { mode: entry.mode, id: entry.oid.to_owned() });
                break;
            }
        }
        match found {
            Some(next) => leaf = next,
            None => return Ok(None),
        }
    }
    Ok(Some(leaf))
}

/// The names of the subfolders of a folder.
pub(crate) fn folders(repo: &gix::Repository, tree: ObjectId) -> Result<Vec<String>, GitError> {
    let data = read(repo, tree)?;
    let mut names = Vec::new();
    for entry in entries(&data) {
        let entry = entry?;
        if entry.mode.is_tree() {
            names.push(entry.filename.to_str_lossy().into_owned());
        }
    }
    Ok(names)
}

/// Calls `visit` for everything below `tree` except folders, in the order of the paths' bytes. Every path is prefixed
/// with `prefix`.
pub(crate) fn walk(
    repo: &gix::Repository,
    tree: ObjectId,
    prefix: &mut Vec<u8>,
    visit: &mut impl FnMut(&[u8], Leaf),
) -> Result<(), GitError> {
    let data = read(repo, tree)?;
    let length = prefix.len();
    for entry in entries(&data) {
        let entry = entry?;
        prefix.extend_from_slice(entry.filename);
        if entry.mode.is_tree() {
            prefix.push(b'/');
            walk(repo, entry.oid.to_owned(), prefix, visit)?;
        } else {
            visit(prefix, Leaf { mode: entry.mode, id: entry.oid.to_owned() });
        }
        prefix.truncate(length);
    }
    Ok(())
}

/// Every path at which `old` and `new` differ; equal folders are not opened. A file that became a folder is reported as
/// a deletion and additions.
pub(crate) fn differences(
    repo: &gix::Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<Vec<Difference>, GitError> {
    let mut found = Vec::new();
    compare(repo, old, new, &mut Vec::new(), &mut found)?;
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn compare(
    repo: &gix::Repository,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    prefix: &mut Vec<u8>,
    found: &mut Vec<Difference>,
) -> Result<(), GitError> {
    if old == new {
        return Ok(());
    }
    let old_data = old.map(|id| read(repo, id)).transpose()?.unwrap_or_default();
    let new_data = new.map(|id| read(repo, id)).transpose()?.unwrap_or_default();
    let mut before: HashMap<&[u8], Leaf> = HashMap::new();
    for entry in entries(&old_data) {
        let entry = entry?;
        before.insert(entry.filename, Leaf { mode: entry.mode, id: entry.oid.to_owned() });
    }
    let mut pairs = Vec::new();
    for entry in entries(&new_data) {
        let entry = entry?;
        let new = Leaf { mode: entry.mode, id: entry.oid.to_owned() };
        let old = before.remove(entry.filename.as_bytes());
        if old != Some(new) {
            pairs.push((entry.filename.as_bytes(), old, Some(new)));
        }
    }
    pairs.extend(before.into_iter().map(|(name, old)| (name, Some(old), None)));
    let length = prefix.len();
    for (name, old, new) in pairs {
        prefix.extend_from_slice(name);
        let folder = |leaf: Option<Leaf>| leaf.filter(|leaf| leaf.mode.is_tree()).map(|leaf| leaf.id);
        let file = |leaf: Option<Leaf>| leaf.filter(|leaf| !leaf.mode.is_tree());
        if file(old).is_some() || file(new).is_some() {
            found.push(Difference { path: prefix.as_slice().into(), old: file(old), new: file(new) });
        }
        if folder(old).is_some() || folder(new).is_some() {
            prefix.push(b'/');
            compare(repo, folder(old), folder(new), prefix, found)?;
        }
        prefix.truncate(length);
    }
    Ok(())
}

/// Applies `changes` (path → leaf, or `None` to remove it) to the tree `root`. Only the folders on the way are read and
/// rewritten; they are appended to `new_objects`, the deepest first. Empty folders are removed.
pub(crate) fn apply<'a>(
    repo: &gix::Repository,
    root: ObjectId,
    changes: impl Iterator<Item = (&'a [u8], Option<Leaf>)> + Clone,
    new_objects: &mut Vec<NewObject>,
) -> Result<ObjectId, GitError> {
    let doing = "write the changed folders";
    let mut buffer = Vec::new();
    let tree = repo
        .objects
        .find_tree(&root, &mut buffer)
        .map_err(|error| local_error("read a folder from the mirror", &error))?
        .into_owned();
    let mut editor = gix::objs::tree::Editor::new(tree, &repo.objects, gix::hash::Kind::Sha1);
    let parts = |path: &'a [u8]| path.split_str("/").map(gix::bstr::ByteSlice::as_bstr);
    // Removals first: a file may be replaced by a folder of its name, and the reverse.
    for (path, _) in changes.clone().filter(|(_, leaf)| leaf.is_none()) {
        editor.remove(parts(path)).map_err(|error| local_error(doing, &error))?;
    }
    for (path, leaf) in changes {
        let Some(leaf) = leaf else { continue };
        editor.upsert(parts(path), leaf.mode.kind(), leaf.id).map_err(|error| local_error(doing, &error))?;
    }
    let written = editor.write(|tree: &Tree| {
        let mut data = Vec::new();
        tree.write_to(&mut data).expect("writing to memory does not fail");
        let object = NewObject::new(Kind::Tree, data);
        let id = object.id;
        new_objects.push(object);
        Ok::<_, Infallible>(id)
    });
    let Ok(id) = written;
    Ok(id)
}
