//! Chores over pages from all parts of the docs.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;

use docent_markdown::{Format, Link, LinkKind, is_page};
use docent_refactor::{Change, RefactorError, Refactored, TextEdit, apply, delete_page, fix_links, move_page};
use docent_site::{ChangedTree, LinkShape, Site, Target, Tree, imports, parts};

use crate::Renames;

/// The folder that pages are moved into. What compares a site before and after takes it out of paths.
const FOLDER: &str = "moved-here";

/// So many pages, evenly from all parts of the docs.
fn some_pages(tree: &dyn Tree, count: usize) -> Vec<String> {
    let site = Site::read(tree);
    let served = |file: &&str| is_page(file) && site.address(file).is_some();
    let mut pages: Vec<&str> = site.files().filter(served).collect();
    // Few sites do without their home.
    let home = pages.iter().copied().min_by_key(|file| site.address(file).map(str::len));
    pages.retain(|file| Some(*file) != home);
    let step = (pages.len() / count.max(1)).max(1);
    pages.into_iter().skip(step / 2).step_by(step).take(count).map(str::to_owned).collect()
}

fn moved_path(file: &str) -> String {
    match file.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/{FOLDER}/{name}"),
        None => format!("{FOLDER}/{file}"),
    }
}

pub(crate) fn move_some(tree: &dyn Tree, count: usize) -> Refactored {
    one_after_the_other(tree, count, |tree, file| move_page(tree, tree, file, &moved_path(file)))
}

/// What the chore leaves to a person is done as a person may: each link that it lists leads elsewhere then.
pub(crate) fn delete_some(tree: &dyn Tree, count: usize) -> Refactored {
    let delete = |tree: &dyn Tree, file: &str| {
        let mut deleted = delete_page(tree, file)?;
        // Among what is left of several, a page has its name.
        deleted.left.iter_mut().for_each(|line| {
            *line =
                line.replace("` to it", &format!("` to `{file}`")).replace(" names it,", &format!(" names `{file}`,"));
        });
        let entries: Vec<Change> = deleted.left.iter().filter_map(|line| without_entry(tree, line)).collect();
        let is_new = |entry: &Change| deleted.changes.iter().all(|change| change.path() != entry.path());
        deleted.changes.extend(entries.into_iter().filter(is_new).collect::<Vec<_>>());
        Ok(deleted)
    };
    let mut deleted = one_after_the_other(tree, count, delete);
    let mut changed = ChangedTree::new(tree);
    deleted.make(&mut changed);
    for line in &deleted.left {
        let Some((place, target)) = line.split_once(" links to ").filter(|(_, rest)| rest.contains(" as `")) else {
            continue;
        };
        let (Some((file, _)), target) = (place.rsplit_once(':'), target.split('`').nth(1).unwrap_or_default()) else {
            continue;
        };
        let Some(bytes) = changed.read(file) else { continue };
        let page = Site::read(&changed).parse(file, &bytes);
        // A cross-reference of AsciiDoc names pages only: all of it is written anew.
        let is_adoc = page.format == Format::Adoc;
        let span = |link: &Link| if is_adoc { link.span.clone() } else { link.dest_span.clone() };
        let mut spans: Vec<_> = page.links.iter().filter(|link| link.target == target).map(span).collect();
        spans.sort_by_key(|span| span.start);
        spans.dedup();
        // The card of a document takes no address.
        spans.retain(|span| !bytes[..span.start].trim_ascii_end().ends_with(b":link:"));
        // A chapter without a link is one that is to be written.
        let elsewhere = match file.ends_with("SUMMARY.md") {
            true => "",
            false if is_adoc => "https://example.com/elsewhere[elsewhere]",
            false => "https://example.com/elsewhere",
        };
        let edits: Vec<TextEdit> = spans.into_iter().map(|span| TextEdit::new(span, elsewhere)).collect();
        changed.files.insert(file.to_owned(), Some(apply(&bytes, &edits)));
    }
    deleted.changes = changes(changed);
    deleted
}

/// What is different from the tree below.
fn changes(changed: ChangedTree<'_>) -> Vec<Change> {
    let change = |(path, bytes)| match bytes {
        Some(bytes) => Change::Create { path, bytes },
        None => Change::Delete { path },
    };
    changed.files.into_iter().map(change).collect()
}

/// Takes out the line of a script that still names a page, as its author may.
fn without_entry(tree: &dyn Tree, left: &str) -> Option<Change> {
    let (path, number) = left.strip_suffix(" still names it")?.rsplit_once(':')?;
    let number: usize = number.parse().ok()?;
    let text = String::from_utf8(tree.read(path)?).ok()?;
    let line = text.split_inclusive('\n').nth(number - 1)?;
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    let entry = line.trim().trim_end_matches(',');
    let is_whole = entry.starts_with(['"', '\'']) || (entry.starts_with('{') && entry.ends_with('}'));
    let edits = vec![TextEdit::new(start..start + line.len(), "")];
    is_whole.then(|| Change::Edit { path: path.to_owned(), edits })
}

fn one_after_the_other(
    tree: &dyn Tree,
    count: usize,
    chore: impl Fn(&dyn Tree, &str) -> Result<Refactored, RefactorError>,
) -> Refactored {
    let mut changed = ChangedTree::new(tree);
    let mut all = Refactored::default();
    let mut done = 0;
    for file in some_pages(tree, count) {
        match chore(&changed, &file) {
            Ok(result) => {
                result.make(&mut changed);
                done += 1;
                all.details.push(result.summary);
                all.details.extend(result.details.into_iter().map(|line| format!("  {line}")));
                all.left.extend(result.left);
            }
            Err(why) => all.left.push(format!("{file}: {why}")),
        }
    }
    all.summary = format!("{done} of {count} pages");
    all.changes = changes(changed);
    all
}

/// Fails when a page is not what it was but for the form of its links, each of which has to lead where it did.
pub(crate) fn there_and_back(tree: &dyn Tree, count: usize) -> ExitCode {
    let site = Site::read(tree);
    let (mut moves, mut identical, mut other) = (0, 0, 0);
    for file in some_pages(tree, count) {
        let (mut changed, mut left) = (ChangedTree::new(tree), Vec::new());
        let to = moved_path(&file);
        for (from, to) in [(&file, &to), (&to, &file)] {
            match move_page(&changed, tree, from, to) {
                Ok(done) => {
                    done.make(&mut changed);
                    left.extend(done.left);
                }
                Err(why) => {
                    println!("{from}: {why}");
                    changed.files.clear();
                    break;
                }
            }
        }
        if changed.files.is_empty() {
            continue;
        }
        moves += 1;
        let mut is_identical = true;
        for (path, bytes) in &changed.files {
            let (before, after) = (tree.read(path).unwrap_or_default(), bytes.clone().unwrap_or_default());
            // A redirect is there to stay, also one in front matter.
            let has_alias = front_matter(&after).is_some_and(|(front, _)| front.contains(FOLDER));
            let (before, after) = if has_alias { (body(&before), body(&after)) } else { (before, after) };
            let is_but_for_redirects = match is_page(path) {
                true => before == without_aliases(&after),
                false => without_redirects(&before) == without_redirects(&after),
            };
            if before == after || is_but_for_redirects {
                continue;
            }
            is_identical = false;
            // What a person is asked to do is not undone either.
            if left.iter().any(|line| line.starts_with(path.as_str())) {
                continue;
            }
            if !is_page(path) || !is_same_page(&site, path, &before, &without_aliases(&after)) {
                other += 1;
                let (before, after) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&after));
                let line = before.lines().zip(after.lines()).find(|(a, b)| a != b);
                println!("{file}: {path}: {line:?}");
            }
        }
        identical += usize::from(is_identical);
    }
    println!(
        "{moves} pages moved there and back: {identical} left all but redirects as it was, {other} files differ in more than the form of links"
    );
    if other == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether two texts of a page are the same but for the form of links, each of which leads where it did if it led anywhere.
fn is_same_page(site: &Site, file: &str, before: &[u8], after: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let page = site.parse(file, bytes);
        let links = page.links.iter().map(|link| link.dest_span.clone());
        let mut spans: Vec<_> =
            links.chain(imports(site, &page, bytes).into_iter().map(|import| import.range)).collect();
        spans.sort_by_key(|span| span.start);
        spans.dedup();
        let edits: Vec<TextEdit> = spans.into_iter().map(|span| TextEdit::new(span, "")).collect();
        let targets: Vec<Target> = page.links.iter().map(|link| site.resolve_link(file, link)).collect();
        (apply(bytes, &edits), targets)
    };
    let ((before, led_to), (after, lead_to)) = (read(before), read(after));
    let mut targets = led_to.iter().zip(&lead_to);
    before == after && targets.all(|(led, leads)| led == leads || matches!(led, Target::Missing { .. }))
}

/// The front matter of a page and what follows it.
fn front_matter(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mark = ["---\n", "+++\n"].into_iter().find(|mark| text.starts_with(mark))?;
    text[mark.len()..].split_once(&format!("\n{mark}"))
}

/// A page without its front matter and the lines between.
fn body(bytes: &[u8]) -> Vec<u8> {
    match front_matter(bytes) {
        Some((_, body)) => body.trim_start_matches('\n').as_bytes().to_vec(),
        None => bytes.to_vec(),
    }
}

/// A page without the names by which its header in AsciiDoc says where it was for a while.
fn without_aliases(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let Some(names) = line.strip_prefix(":page-aliases: ").filter(|names| names.contains(FOLDER)) else {
            out.push_str(line);
            continue;
        };
        let kept: Vec<&str> = names.trim().split(", ").filter(|name| !name.contains(FOLDER)).collect();
        if !kept.is_empty() {
            out.push_str(&format!(":page-aliases: {}\n", kept.join(", ")));
        }
    }
    out.into_bytes()
}

/// The lines of a configuration, without those that lead from where a page was for a while.
fn without_redirects(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    // A redirect of a configuration in JSON stands on several lines: in a member of it, or in a file that is a list of them.
    if let Ok(mut json) = serde_json::from_str::<serde_json::Value>(&text) {
        let redirects = if json.is_array() { Some(&mut json) } else { json.get_mut("redirects") };
        if let Some(redirects) = redirects.and_then(serde_json::Value::as_array_mut) {
            redirects.retain(|redirect| !redirect.to_string().contains(FOLDER));
            return vec![json.to_string()];
        }
    }
    let lines = text.lines().map(|line| line.trim().trim_end_matches(',').to_owned());
    lines.filter(|line| !line.contains(FOLDER)).collect()
}

/// How a link that leads to a page is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// The case of a letter of its path is another.
    Case,
    /// Its path has an ending that it had not, or lacks the one that it had.
    Ending,
    /// The page's file has another folder, and history tells.
    Moved,
}

/// A link that was broken, and where it led.
struct Broken {
    file: String,
    /// How many links of the page come before it: their number stays the same.
    nth: usize,
    led_to: Target,
}

/// Fails when less than 98 of a hundred links that were fixed lead where they did.
pub(crate) fn break_and_fix(tree: &dyn Tree, count: usize) -> Result<ExitCode, Box<dyn Error>> {
    let (mut fixed, mut right) = (0, 0);
    for damage in [Damage::Case, Damage::Ending, Damage::Moved] {
        let mut changed = ChangedTree::new(tree);
        let (broken, moves) = break_links(&mut changed, damage, count);
        let done = fix_links(&changed, &[], &Renames(moves))?;
        let dangling = Site::read(&changed);
        let (broken, sound): (Vec<Broken>, Vec<Broken>) = broken.into_iter().partition(|broken| {
            let now = target(&dangling, &changed, broken).map(|now| dangling.resolve(&broken.file, &now));
            matches!(now, Some(Target::Missing { .. } | Target::NotUnderstood))
        });
        let before: Vec<Option<String>> = broken.iter().map(|broken| target(&dangling, &changed, broken)).collect();
        done.make(&mut changed);
        let mended = Site::read(&changed);
        let (mut same, mut other, mut left) = (0, 0, 0);
        for (broken, before) in broken.iter().zip(before) {
            let now = target(&mended, &changed, broken);
            let leads_to = now.as_deref().map(|now| mended.resolve(&broken.file, now));
            if now == before {
                left += 1;
            } else if leads_to.as_ref().and_then(page_of) == page_of(&broken.led_to) {
                same += 1;
            } else {
                other += 1;
                println!("  {}: `{before:?}` is now `{now:?}`, and led to {:?}", broken.file, broken.led_to);
            }
        }
        println!("{damage:?}: {} broken, {same} fixed rightly, {other} wrongly, {left} left", broken.len());
        if !sound.is_empty() {
            println!("  {} others still lead somewhere, by a redirect or another language", sound.len());
        }
        fixed += same + other;
        right += same;
    }
    println!("{right} of {fixed} links that were fixed lead where they did");
    Ok(if right * 100 >= fixed * 98 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Breaks at most one link a page. For [`Damage::Moved`], which files are where now.
fn break_links(changed: &mut ChangedTree<'_>, damage: Damage, count: usize) -> (Vec<Broken>, BTreeMap<String, String>) {
    let site = Site::read(changed.below);
    let (mut broken, mut moves) = (Vec::new(), BTreeMap::new());
    let (sound, mut by_shape) = (sound_links(changed.below, &site), BTreeMap::<LinkShape, usize>::new());
    let pages: Vec<&str> = site.files().filter(|file| is_page(file) && site.address(file).is_some()).collect();
    for file in pages {
        if broken.len() == count || moves.values().any(|moved| moved == file) || moves.contains_key(file) {
            continue;
        }
        let bytes = changed.below.read(file).unwrap_or_default();
        let page = site.parse(file, &bytes);
        let links = page.links.iter().enumerate().filter(|(_, link)| link.kind == LinkKind::Inline);
        let found = links.filter_map(|(nth, link)| {
            let led_to = site.resolve(file, &link.target);
            let Target::Page { file: to, .. } = &led_to else { return None };
            // What was written is what was read, and names a page of its own.
            let is_plain = bytes.get(link.dest_span.clone()) == Some(link.target.as_bytes());
            if !is_plain || to == file || changed.files.contains_key(to) {
                return None;
            }
            Some((nth, link, led_to))
        });
        for (nth, link, led_to) in found {
            let to = page_of(&led_to).unwrap_or_default().to_owned();
            if damage == Damage::Moved {
                let moved = moved_path(&to);
                if moves.contains_key(&to) || site.files().any(|file| file == moved) {
                    continue;
                }
                // The navigation follows, as some generators serve only what it names; other pages do not.
                let Ok(mut done) = move_page(changed, changed, &to, &moved) else { continue };
                let is_other = |path: &str| path != to && path != moved && site.address(path).is_some();
                done.changes.retain(|change| !is_other(change.path()));
                done.make(changed);
                let led_to = Target::Page { file: moved.clone(), anchor: None };
                moves.insert(to, moved);
                broken.push(Broken { file: file.to_owned(), nth, led_to });
                break;
            }
            let Some(target) = damaged(&link.target, damage) else { continue };
            // Some generators follow it all the same.
            if !matches!(site.resolve(file, &target), Target::Missing { .. }) {
                continue;
            }
            // Where many links of a shape look broken, nothing is mended.
            let shape = LinkShape::of(&target);
            let those = sound.get(&shape).copied().unwrap_or_default();
            let so_far = by_shape.entry(shape).or_default();
            if *so_far == (those * 3 / 100).max(5).min((those / 2).max(2)) {
                continue;
            }
            *so_far += 1;
            let edit = TextEdit::new(link.dest_span.clone(), target);
            changed.files.insert(file.to_owned(), Some(apply(&bytes, &[edit])));
            broken.push(Broken { file: file.to_owned(), nth, led_to });
            break;
        }
    }
    (broken, moves)
}

/// How many links of each shape lead somewhere.
fn sound_links(tree: &dyn Tree, site: &Site) -> BTreeMap<LinkShape, usize> {
    let mut found = BTreeMap::new();
    for file in site.files().filter(|file| is_page(file) && site.address(file).is_some()) {
        let page = site.parse(file, &tree.read(file).unwrap_or_default());
        for link in page.links.iter().filter(|link| link.kind == LinkKind::Inline) {
            if matches!(site.resolve(file, &link.target), Target::Page { .. } | Target::Asset { .. }) {
                *found.entry(LinkShape::of(&link.target)).or_default() += 1;
            }
        }
    }
    found
}

fn damaged(target: &str, damage: Damage) -> Option<String> {
    let (path, anchor) = parts(target);
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    let path = match damage {
        Damage::Case => {
            let at = path.rfind(|c: char| c.is_ascii_lowercase() && !path.ends_with(&format!(".{c}")))?;
            let at = path[..at].rfind(|c: char| c.is_ascii_lowercase()).unwrap_or(at);
            format!("{}{}{}", &path[..at], path[at..=at].to_ascii_uppercase(), &path[at + 1..])
        }
        Damage::Ending => match [".md", ".mdx", ".html"].iter().find_map(|ending| path.strip_suffix(ending)) {
            Some(stem) => stem.to_owned(),
            None if path.ends_with('/') => return None,
            None => format!("{path}.md"),
        },
        Damage::Moved => return None,
    };
    Some(format!("{path}{anchor}"))
}

fn page_of(target: &Target) -> Option<&str> {
    match target {
        Target::Page { file, .. } => Some(file),
        _ => None,
    }
}

/// A link as it stands on its page now.
fn target(site: &Site, tree: &dyn Tree, broken: &Broken) -> Option<String> {
    let page = site.parse(&broken.file, &tree.read(&broken.file)?);
    page.links.get(broken.nth).map(|link| link.target.clone())
}
