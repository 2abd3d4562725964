//! Does one chore in a repository and says what it did:
//! `chore fix-links|move|delete|replace|titles|descriptions REPOSITORY [ARGUMENT…] [--root DOCS] [--in GLOB] [--renames FILE]
//! [--into COPY]`.
//!
//! `move FROM TO`, `delete PAGE`, `replace FIND WITH`, and `there-and-back COUNT`, which moves so many pages into another folder
//! and back, each by itself, and tells which bytes of the repository were not as before. With `--into`, what changes is written
//! there, into a copy of the repository that is there already. `--renames` names a file of lines with an old path, a tab and its
//! present one, both relative to the docs root: the history for `fix-links`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use docent_markdown::is_page;
use docent_refactor::{Refactored, add_descriptions, add_titles, delete_page, fix_links, move_page, replace_text};
use docent_site::{Site, Tree};

#[path = "../../site/examples/folder/mod.rs"]
mod folder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| -> Option<String> {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.drain(at..at + 2).nth(1)
    };
    let (root, into, within) = (option("--root"), option("--into"), option("--in"));
    let renames = option("--renames").map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    let renames: BTreeMap<&str, &str> = renames.lines().filter_map(|line| line.split_once('\t')).collect();
    let history = |old: &str| renames.get(old).map(|now| (*now).to_owned());
    let root = root.unwrap_or_default();
    let within: Vec<String> = within.into_iter().collect();
    let [chore, repository, rest @ ..] = arguments.as_slice() else { return Err("which chore, and where?".into()) };
    let tree = folder::Folder::open(PathBuf::from(repository), &root)?;
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let done = match (chore.as_str(), words.as_slice()) {
        ("fix-links", []) => fix_links(&tree, &within, &history)?,
        ("move", [from, to]) => move_page(&tree, from, to)?,
        ("delete", [page]) => delete_page(&tree, page)?,
        ("replace", [find, replace]) => replace_text(&tree, find, replace, &within)?,
        ("titles", []) => add_titles(&tree, &within)?,
        ("descriptions", []) => add_descriptions(&tree, &within)?,
        ("there-and-back", [count]) => return there_and_back(&tree, count.parse()?),
        _ => return Err("that is no chore, or it wants other arguments".into()),
    };
    println!("{}", done.summary);
    for line in &done.details {
        println!("  {line}");
    }
    for line in &done.left {
        println!("  left: {line}");
    }
    if let Some(into) = into {
        write(&done, &tree, &Path::new(&into).join(root))?;
    }
    Ok(())
}

fn write(done: &Refactored, tree: &dyn Tree, into: &Path) -> std::io::Result<()> {
    for change in &done.changes {
        let path = into.join(change.path());
        match change.bytes_after(tree) {
            Some(bytes) => {
                path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
                std::fs::write(path, bytes)?;
            }
            None => std::fs::remove_file(path)?,
        }
    }
    Ok(())
}

/// A tree with changes on top.
struct Changed<'a> {
    below: &'a dyn Tree,
    files: BTreeMap<String, Option<Vec<u8>>>,
}

impl Changed<'_> {
    fn make(&mut self, done: &Refactored) {
        let bytes: Vec<_> =
            done.changes.iter().map(|change| (change.path().to_owned(), change.bytes_after(self))).collect();
        self.files.extend(bytes);
    }
}

impl Tree for Changed<'_> {
    fn paths(&self) -> Vec<String> {
        let kept = self.below.paths().into_iter().filter(|path| !self.files.contains_key(path));
        let new = self.files.iter().filter(|(_, bytes)| bytes.is_some()).map(|(path, _)| path.clone());
        kept.chain(new).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).cloned().unwrap_or_else(|| self.below.read(path))
    }

    fn root(&self) -> &str {
        self.below.root()
    }

    fn paths_outside(&self) -> Vec<String> {
        self.below.paths_outside()
    }
}

fn there_and_back(tree: &dyn Tree, count: usize) -> Result<(), Box<dyn Error>> {
    let site = Site::read(tree);
    let pages: Vec<&str> = site.files().filter(|file| is_page(file) && site.address(file).is_some()).collect();
    let step = (pages.len() / count.max(1)).max(1);
    let (mut moves, mut same) = (0, 0);
    for file in pages.into_iter().step_by(step).take(count) {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let to = format!("{folder}/some-new-folder/deeper/{name}");
        let mut changed = Changed { below: tree, files: BTreeMap::new() };
        let there = match move_page(&changed, file, to.trim_start_matches('/')) {
            Ok(there) => there,
            Err(why) => {
                println!("{file}: {why}");
                continue;
            }
        };
        changed.make(&there);
        let back = match move_page(&changed, to.trim_start_matches('/'), file) {
            Ok(back) => back,
            Err(why) => {
                println!("{file}: {why}");
                continue;
            }
        };
        changed.make(&back);
        moves += 1;
        let mut differences = Vec::new();
        for (path, bytes) in &changed.files {
            let before = tree.read(path);
            if before != *bytes {
                let (before, after) = (before.unwrap_or_default(), bytes.clone().unwrap_or_default());
                let (before, after) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
                let line = before.lines().zip(after.lines()).find(|(a, b)| a != b);
                differences.push(format!("  {path}: {line:?}"));
            }
        }
        if differences.is_empty() {
            same += 1;
        } else {
            println!("{file}: {}", there.summary);
            differences.iter().take(5).for_each(|line| println!("{line}"));
        }
    }
    println!("{same} of {moves} pages moved there and back left every byte as it was");
    Ok(())
}
