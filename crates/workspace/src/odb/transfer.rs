//! Copies objects that one repository on this disk has and another lacks, without a child process.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use gix::ObjectId;
use gix::objs::Kind;

use super::pack::{self, Durability};
use super::{NewObject, local_error};
use crate::error::GitError;

const DOING: &str = "copy objects between repositories";
/// Maximum bytes of content buffered before they are written.
const BATCH_BYTES: usize = 32 << 20;
/// Maximum number of commits to walk in search of a known one before the full histories are compared.
const WALK_LIMIT: usize = 32;

/// What happens to a file's content that the source lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A mirror may lack what its remote lacks.
    Skipped,
    /// A push would leave the remote without it.
    Refused,
}

/// Copies the objects reachable from `tips` and not from `known`, from `from` to `to`.
///
/// `to` must contain everything reachable from `known`. Its other objects do not count: an object without a branch may
/// lack what it points to, or be garbage-collected.
pub(crate) fn transfer(
    from: &gix::Repository,
    to: &gix::Repository,
    tips: &[ObjectId],
    known: &HashSet<ObjectId>,
    durability: Durability,
    missing: Missing,
) -> Result<(), GitError> {
    let mut batch = Batch { to, objects: Vec::new(), bytes: 0, durability };
    gather(from, tips, known, missing, &mut |object| batch.push(object))?;
    batch.write()
}

/// The ids of the objects reachable from `tips` and not from `known`, each after the objects it points to.
pub(crate) fn missing(
    from: &gix::Repository,
    tips: &[ObjectId],
    known: &HashSet<ObjectId>,
) -> Result<Vec<ObjectId>, GitError> {
    let mut found = Vec::new();
    gather(from, tips, known, Missing::Refused, &mut |object| {
        found.push(object.id);
        Ok(())
    })?;
    Ok(found)
}

/// The boundary commits of a shallow history.
pub(crate) fn shallow_boundary(repo: &gix::Repository) -> Result<Vec<ObjectId>, GitError> {
    let roots = repo.shallow_commits().map_err(|error| local_error(DOING, &error))?;
    Ok(roots.map(|roots| roots.iter().copied().collect()).unwrap_or_default())
}

type Take<'a> = &'a mut dyn FnMut(NewObject) -> Result<(), GitError>;

fn gather(
    from: &gix::Repository,
    tips: &[ObjectId],
    known: &HashSet<ObjectId>,
    missing: Missing,
    take: Take<'_>,
) -> Result<(), GitError> {
    let roots: HashSet<_> = shallow_boundary(from)?.into_iter().collect();
    let mut gathered = Gather { seen: HashSet::new(), missing, take };
    for commit in new_commits(from, tips, known, &roots)? {
        let object = from.find_object(commit).map_err(|error| local_error(DOING, &error))?;
        let data = object.data.clone();
        let commit = object.try_into_commit().map_err(|error| local_error(DOING, &error))?;
        let new_tree = commit.tree_id().map_err(|error| local_error(DOING, &error))?.detach();
        let old_tree = match commit.parent_ids().next() {
            Some(parent) if !roots.contains(&commit.id) => {
                let parent = from.find_commit(parent).map_err(|error| local_error(DOING, &error))?;
                Some(parent.tree_id().map_err(|error| local_error(DOING, &error))?.detach())
            }
            _ => None,
        };
        gathered.tree(from, old_tree, new_tree)?;
        (gathered.take)(NewObject { id: commit.id, kind: Kind::Commit, data })?;
    }
    Ok(())
}

/// The parents of each commit.
type Parents = HashMap<ObjectId, Vec<ObjectId>>;

/// The commits reachable from `tips` and not from `known`, parents before children.
///
/// For each commit, only the difference between its tree and that of its first parent is collected, and no tree twice.
/// So the parent's tree must be complete before it is compared with: a revert may have the tree of a commit further
/// back.
fn new_commits(
    from: &gix::Repository,
    tips: &[ObjectId],
    known: &HashSet<ObjectId>,
    roots: &HashSet<ObjectId>,
) -> Result<Vec<ObjectId>, GitError> {
    // A job's commit is based on a branch's tip, or on a commit close to one.
    let mut found = Parents::new();
    let mut next: Vec<ObjectId> = tips.to_vec();
    while let Some(id) = next.pop() {
        if known.contains(&id) || found.contains_key(&id) {
            continue;
        }
        if found.len() >= WALK_LIMIT {
            found = all_new_commits(from, tips, known)?;
            break;
        }
        let commit = from.find_commit(id).map_err(|error| local_error(DOING, &error))?;
        let parents: Vec<_> =
            if roots.contains(&id) { Vec::new() } else { commit.parent_ids().map(gix::Id::detach).collect() };
        next.extend(&parents);
        found.insert(id, parents);
    }
    Ok(parents_first(tips, found))
}

fn all_new_commits(from: &gix::Repository, tips: &[ObjectId], known: &HashSet<ObjectId>) -> Result<Parents, GitError> {
    // A commit that `from` lacks cannot be an ancestor of the tips.
    let hidden: Vec<ObjectId> = known.iter().copied().filter(|id| from.has_object(id)).collect();
    let walk =
        from.rev_walk(tips.iter().copied()).with_hidden(hidden).all().map_err(|error| local_error(DOING, &error))?;
    walk.map(|info| {
        let info = info.map_err(|error| local_error(DOING, &error))?;
        Ok((info.id, info.parent_ids.to_vec()))
    })
    .collect()
}

/// Orders the commits, each after its parents. A parent that is not among them is skipped.
fn parents_first(tips: &[ObjectId], mut commits: Parents) -> Vec<ObjectId> {
    let mut order = Vec::with_capacity(commits.len());
    let mut stack: Vec<(ObjectId, bool)> = tips.iter().map(|tip| (*tip, false)).collect();
    while let Some((id, parents_are_ordered)) = stack.pop() {
        if parents_are_ordered {
            order.push(id);
        } else if let Some(parents) = commits.remove(&id) {
            stack.push((id, true));
            stack.extend(parents.into_iter().map(|parent| (parent, false)));
        }
    }
    order
}

struct Gather<'a> {
    seen: HashSet<ObjectId>,
    missing: Missing,
    take: Take<'a>,
}

impl Gather<'_> {
    /// Collects the entries of the tree `new` that `old` lacks: content first, then its folders.
    fn tree(&mut self, from: &gix::Repository, old: Option<ObjectId>, new: ObjectId) -> Result<(), GitError> {
        if old == Some(new) || !self.seen.insert(new) {
            return Ok(());
        }
        let folder = from.find_tree(new).map_err(|error| local_error(DOING, &error))?;
        let before = old.map(|old| from.find_tree(old)).transpose().map_err(|error| local_error(DOING, &error))?;
        let mut known = HashMap::new();
        if let Some(before) = &before {
            for entry in before.iter() {
                let entry = entry.map_err(|error| local_error(DOING, &error))?;
                known.insert(entry.filename().to_owned(), (entry.mode(), entry.object_id()));
            }
        }
        for entry in folder.iter() {
            let entry = entry.map_err(|error| local_error(DOING, &error))?;
            let (mode, id) = (entry.mode(), entry.object_id());
            let old = known.get(entry.filename());
            if old == Some(&(mode, id)) || mode.is_commit() {
                continue;
            }
            if mode.is_tree() {
                let old = old.filter(|(mode, _)| mode.is_tree()).map(|(_, id)| *id);
                self.tree(from, old, id)?;
            } else if self.seen.insert(id) {
                if self.missing == Missing::Skipped && !from.has_object(id) {
                    continue;
                }
                let blob = from.find_object(id).map_err(|error| local_error(DOING, &error))?;
                (self.take)(NewObject { id, kind: blob.kind, data: blob.data.clone() })?;
            }
        }
        (self.take)(NewObject { id: new, kind: Kind::Tree, data: folder.data.clone() })
    }
}

struct Batch<'a> {
    to: &'a gix::Repository,
    objects: Vec<NewObject>,
    bytes: usize,
    durability: Durability,
}

impl Batch<'_> {
    fn push(&mut self, object: NewObject) -> Result<(), GitError> {
        self.bytes += object.data.len();
        self.objects.push(object);
        if self.bytes > BATCH_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), GitError> {
        let folder = self.to.objects.store_ref().path().to_owned();
        pack::store(&folder, &self.objects, self.durability).map_err(GitError::io("write objects to a repository"))?;
        self.objects.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// Whether the object files of `from` can be copied as files: none of its objects are in another repository.
pub(crate) fn is_self_contained(from: &gix::Repository) -> bool {
    !from.objects.store_ref().path().join("info/alternates").exists()
}

/// Hard-links, or else copies, every object file of `from` into the empty folder `to`. On success, `to` has every
/// object that existed when it began, whatever runs in `from` meanwhile. If a file was removed in between, it fails,
/// and `to` must not be used.
pub(crate) fn clone_files(from: &gix::Repository, to: &Path) -> io::Result<()> {
    let source = from.objects.store_ref().path().to_owned();
    // Loose files first: a repack that runs meanwhile moves objects from loose files into packs.
    for entry in fs::read_dir(&source)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.len() == 2 && is_hex(name)) else { continue };
        let folder = to.join(name);
        fs::create_dir_all(&folder)?;
        for file in fs::read_dir(entry.path())? {
            let file = file?;
            if file.file_name().to_str().is_some_and(|name| name.len() == 38 && is_hex(name)) {
                take(&file.path(), &folder.join(file.file_name()))?;
            }
        }
    }
    let (source, to) = (source.join("pack"), to.join("pack"));
    fs::create_dir_all(&to)?;
    // Repeated until nothing new is found: a listing may miss a pack that appears while it is made.
    let mut taken = HashSet::new();
    loop {
        let listed: Vec<String> = index_stems(&source)?.into_iter().filter(|stem| !taken.contains(stem)).collect();
        if listed.is_empty() {
            return Ok(());
        }
        for stem in listed {
            for suffix in ["pack", "idx"] {
                let name = format!("{stem}.{suffix}");
                take(&source.join(&name), &to.join(&name))?;
            }
            taken.insert(stem);
        }
    }
}

/// The file stems of the packs that have an index; the others are not finished.
fn index_stems(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut stems = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        stems.extend(name.to_str().and_then(|name| name.strip_suffix(".idx")).map(str::to_owned));
    }
    Ok(stems)
}

fn is_hex(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn take(source: &Path, target: &Path) -> io::Result<()> {
    // Never through a symbolic link: the repository may be another user's, and the link may lead anywhere.
    if !fs::symlink_metadata(source)?.is_file() {
        return Err(io::Error::other(format!("{} is not a regular file", source.display())));
    }
    fs::hard_link(source, target).or_else(|_| fs::copy(source, target).map(|_| ()))
}

/// Whether the tips can be read: the last check before a copy is accepted.
pub(crate) fn tips_are_readable(repo: &gix::Repository, tips: impl IntoIterator<Item = ObjectId>) -> bool {
    tips.into_iter().all(|tip| {
        let tree = repo.find_commit(tip).and_then(|commit| commit.tree_id().map(gix::Id::detach));
        tree.is_ok_and(|tree| repo.find_tree(tree).is_ok())
    })
}
