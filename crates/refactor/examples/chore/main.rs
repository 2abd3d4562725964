//! Does one chore in a repository and says what it did:
//! `chore fix-links|move|delete|replace|titles|descriptions REPOSITORY [ARGUMENT…] [--root DOCS] [--in GLOB] [--renames FILE]
//! [--into COPY]`.
//!
//! `move FROM TO`, `delete PAGE`, `replace FIND WITH`, and over pages from all parts of the docs:
//!
//! - `move-some COUNT` and `delete-some COUNT` do so with so many pages, one after the other.
//! - `there-and-back COUNT` moves so many pages into another folder and back, each by itself, and tells which bytes of the
//!   repository were not as before.
//! - `break-and-fix COUNT` breaks so many links in ways that can be mended, and tells how many were fixed, and how many rightly.
//!
//! With `--into`, what changes is written there, into a copy of the repository that is there already. `--renames` names a file of
//! lines with an old path, a tab and its present one, both relative to the docs root: the history for `fix-links`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use docent_refactor::{
    History, Refactored, add_descriptions, add_titles, delete_page, fix_links, move_page, replace_text,
};
use docent_site::Tree;
#[path = "../../../site/examples/folder/mod.rs"]
mod folder;
mod many;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| -> Option<String> {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.drain(at..at + 2).nth(1)
    };
    let (root, into, within) = (option("--root"), option("--into"), option("--in"));
    let renames = option("--renames").map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    let renames = renames.lines().filter_map(|line| line.split_once('\t'));
    let history = Renames(renames.map(|(old, now)| (old.to_owned(), now.to_owned())).collect());
    let root = root.unwrap_or_default();
    let within: Vec<String> = within.into_iter().collect();
    let [chore, repository, rest @ ..] = arguments.as_slice() else { return Err("which chore, and where?".into()) };
    let tree = folder::Folder::open(PathBuf::from(repository), &root)?;
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    let done = match (chore.as_str(), words.as_slice()) {
        ("fix-links", []) => fix_links(&tree, &within, &history)?,
        ("move", [from, to]) => move_page(&tree, &tree, from, to)?,
        ("delete", [page]) => delete_page(&tree, page)?,
        ("replace", [find, replace]) => replace_text(&tree, find, replace, &within)?,
        ("titles", []) => add_titles(&tree, &within)?,
        ("descriptions", []) => add_descriptions(&tree, &within)?,
        ("there-and-back", [count]) => return Ok(many::there_and_back(&tree, count.parse()?)),
        ("break-and-fix", [count]) => return many::break_and_fix(&tree, count.parse()?),
        ("move-some", [count]) => many::move_some(&tree, count.parse()?),
        ("delete-some", [count]) => many::delete_some(&tree, count.parse()?),
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
    Ok(ExitCode::SUCCESS)
}

/// The history of files that were moved.
struct Renames(BTreeMap<String, String>);

impl History for Renames {
    fn moved(&self, old: &str) -> Option<String> {
        self.0.get(old).cloned()
    }
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
