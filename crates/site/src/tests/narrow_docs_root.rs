//! A docs root that is a folder inside of the site's folder of pages narrows which pages are read. Where they are served, and
//! where their links lead, stays.

use std::collections::BTreeSet;

use docent_markdown::is_page;

use crate::generator::Generator;
use crate::layout::Layout;
use crate::model::{Site, Target};
use crate::read_file::read_file;
use crate::sample::{as_docs_root, built_site, built_sites};

/// What a docs root inside of the folder of pages changes.
fn differences(name: &str) -> Vec<String> {
    let files = built_site(name);
    let whole = Site::read(&files);
    let above = |file: &str| {
        let parts: Vec<usize> = file.match_indices('/').map(|(at, _)| at).collect();
        parts.into_iter().map(|at| file[..at].to_owned()).collect::<Vec<_>>()
    };
    let pages = || files.keys().filter(|file| is_page(file) && whole.address(file).is_some());
    let folders: BTreeSet<String> = pages().flat_map(|file| above(file)).collect();
    let mut found = Vec::new();
    for docs_root in folders {
        let tree = as_docs_root(&docs_root, files.clone());
        let narrow = Site::read(&tree);
        let layout = Layout::read(&tree);
        if narrow.generator() == Generator::Plain {
            found.push(format!("{docs_root}: plain"));
            continue;
        }
        for page in pages().filter(|page| page.starts_with(&format!("{docs_root}/"))) {
            let inside = &page[docs_root.len() + 1..];
            if narrow.address(inside) != whole.address(page) {
                found.push(format!(
                    "{docs_root}: {inside} at {:?}, not {:?}",
                    narrow.address(inside),
                    whole.address(page)
                ));
                continue;
            }
            for read in read_file(&layout, inside, &files[page], &tree).pages {
                for link in &read.page.links {
                    let (before, after) = (whole.resolve_link(page, link), narrow.resolve_link(inside, link));
                    if !is_same(&docs_root, &before, &after) {
                        found.push(format!("{docs_root}: {inside}: `{}` {before:?}, now {after:?}", link.target));
                    }
                }
            }
        }
    }
    found
}

/// Whether a link leads where it led, or, where that is outside of the docs root, is not judged.
fn is_same(docs_root: &str, before: &Target, after: &Target) -> bool {
    let inside = |file: &str| file.strip_prefix(&format!("{docs_root}/")).map(str::to_owned);
    match (before, after) {
        (Target::Page { file, anchor }, Target::Page { file: now, anchor: anchor_now }) => {
            inside(file).as_ref() == Some(now) && anchor == anchor_now
        }
        (Target::Page { file, .. }, Target::NotUnderstood | Target::Asset { .. }) => inside(file).is_none(),
        (Target::Page { .. }, _) => false,
        (Target::Missing { .. }, _) => true,
        (_, after) => !matches!(after, Target::Missing { .. }),
    }
}

#[test]
fn a_narrower_docs_root_leaves_addresses_and_links_as_they_are() {
    let mut found = Vec::new();
    for name in built_sites() {
        found.extend(differences(&name).into_iter().map(|what| format!("{name}: {what}")));
    }
    // Files of Antora and docfx are pages by what is said of their folders, and theirs is above. And `../` is read as a path
    // of the site's content there, and as one of a URL here.
    found.retain(|what| !(what.starts_with("antora: ") || what.starts_with("docfx: ")) || !what.ends_with(": plain"));
    found.retain(|what| !what.starts_with("hugo: content/docs: one.md: `../` "));
    assert_eq!(found.join("\n"), "");
}
