//! Holds what the model says of a Mintlify site against what Mintlify's own checker said (`tests/sites/mintlify/judge.mjs`):
//! `compare_mint REPOSITORY JUDGED [--root DOCS] [--show N]`, where the docs root holds `docs.json` and was judged.
//!
//! - **Links**: the model finds broken what the checker finds broken, and nothing else.
//! - **Anchors**: each heading of the first four levels has an anchor that the checker knows.
//!
//! The exit code is 0 when both are right for at least 99.5 of a hundred.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use docent_markdown::is_page;
use docent_site::{Site, Target, Tree};

#[path = "folder/mod.rs"]
mod folder;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| -> Option<String> {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.drain(at..at + 2).nth(1)
    };
    let root = option("--root").unwrap_or_default();
    let show = option("--show").map_or(Ok(10), |show| show.parse())?;
    let [repository, judged] = arguments.as_slice() else { return Err("which repository, and judged where?".into()) };
    let judged: serde_json::Value = serde_json::from_slice(&std::fs::read(judged)?)?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let theirs: BTreeSet<(String, String)> =
        list(&judged["broken"]).iter().map(|broken| (text(&broken["file"]), text(&broken["target"]))).collect();
    let tree = folder::Folder::open(PathBuf::from(repository), &root)?;
    let site = Site::read(&tree);
    println!("{:?}, {} problems", site.generator(), site.layout().problems().len());
    let (mut links, mut ours, mut unknown) = (0, BTreeSet::new(), BTreeMap::<String, usize>::new());
    let (mut anchors, mut strange) = (0, Vec::new());
    for file in site.files().filter(|file| is_page(file)) {
        let Some(known) = judged["anchors"].get(file).and_then(serde_json::Value::as_array) else { continue };
        let known: BTreeSet<&str> = known.iter().filter_map(serde_json::Value::as_str).collect();
        let page = site.parse(file, &tree.read(file).unwrap_or_default());
        for heading in page.headings.iter().filter(|heading| heading.level <= 4) {
            anchors += 1;
            if !known.contains(heading.anchor.as_str()) {
                strange.push(format!("{file}: `{}` for {:?}", heading.anchor, heading.text));
            }
        }
        for link in &page.links {
            links += 1;
            match site.resolve_link(file, link) {
                Target::Missing { .. } => drop(ours.insert((file.to_owned(), link.target.clone()))),
                Target::NotUnderstood => *unknown.entry(link.target.clone()).or_default() += 1,
                _ => {}
            }
        }
    }
    println!("links: {links}, broken to both {}", ours.intersection(&theirs).count());
    for (title, one, other) in [("only to the model", &ours, &theirs), ("only to mint", &theirs, &ours)] {
        println!("  {title}: {}", one.difference(other).count());
        one.difference(other).take(show).for_each(|(file, target)| println!("    {file}: `{target}`"));
    }
    println!("  not understood: {}", unknown.values().sum::<usize>());
    unknown.iter().take(show).for_each(|(target, count)| println!("    {count} times `{target}`"));
    println!("anchors: {} of {anchors}", anchors - strange.len());
    strange.iter().take(show).for_each(|line| println!("    {line}"));
    let differences = ours.symmetric_difference(&theirs).count();
    let is_good = differences * 200 <= links && strange.len() * 200 <= anchors;
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
