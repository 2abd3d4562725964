//! Reads a folder as a docs site and says what it found: `read_docs FOLDER [PART-OF-A-PATH]`. With the second argument
//! the pages whose file has it in its path are shown.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use docent_site::{Layout, Tree, read_file};

#[path = "folder/mod.rs"]
mod folder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let root = arguments.next().ok_or("which folder?")?;
    let shown = arguments.next();
    let tree = folder::Folder::open(PathBuf::from(root), "")?;

    let started = Instant::now();
    let layout = Layout::read(&tree);
    println!("{:?}, layout in {:?}, {} redirects", layout.generator(), started.elapsed(), layout.redirects().count());
    for problem in layout.problems() {
        println!("layout: {}: {}", problem.file, problem.problem.message);
    }

    let started = Instant::now();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kinds: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut bytes_read = 0;
    let mut slowest = (std::time::Duration::ZERO, String::new());
    for file in tree.paths().iter().filter(|file| layout.holds_pages(file)) {
        let Some(bytes) = tree.read(file) else { continue };
        let before = Instant::now();
        let read = read_file(&layout, file, &bytes, &tree);
        slowest = slowest.max((before.elapsed(), file.clone()));
        if read.pages.is_empty() {
            continue;
        }
        bytes_read += bytes.len();
        *counts.entry("files").or_default() += 1;
        *counts.entry("with others in them").or_default() += usize::from(!read.included.is_empty());
        for problem in &read.problems {
            let kind: String = problem.message.split('`').step_by(2).collect::<Vec<_>>().join("`…`");
            let (count, first) = kinds.entry(kind).or_default();
            *count += 1;
            if *count <= 3 {
                first.push_str(&format!(" {file}:{}", problem.line));
            }
        }
        for page in &read.pages {
            *counts.entry("pages").or_default() += 1;
            *counts.entry("listed").or_default() += usize::from(page.place.listed);
            *counts.entry("named by the navigation").or_default() += usize::from(page.place.order.is_some());
            *counts.entry("sections").or_default() += page.page.sections.len();
            if shown.as_ref().is_some_and(|shown| file.contains(shown.as_str())) {
                println!("{file}: {:?} {:?}", page.page.title, page.place);
                for heading in &page.page.headings {
                    println!("    {} {} #{}", "#".repeat(heading.level.into()), heading.text, heading.anchor);
                }
                if std::env::var_os("TEXT").is_some() {
                    for section in &page.page.sections {
                        println!("---- {:?}\n{}\n--\n{}", section.headings, section.text, section.markdown);
                    }
                }
            }
        }
    }
    println!("{counts:?}, {bytes_read} bytes in {:?}; slowest {slowest:?}", started.elapsed());
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (kind, (count, places)) in kinds.iter().take(25) {
        println!("{count:6}  {kind}  ({places} )");
    }
    Ok(())
}
