//! `llms.txt`: the list of a site's pages for programs, in the form of <https://llmstxt.org>.
//!
//! A list that would be too long is a tree: the file of a folder names the pages in it and the files of the folders below.
//! What is still too long continues in `llms-2.txt` and so on. Links lead to the address of the site, which passes these
//! files on; without one they are relative to the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use docent_discovery::{Outlined, outline};
use docent_search::PageEntry;
use docent_types::encoded_path;

/// Maximum length of a file, in characters.
pub(crate) const LONGEST: usize = 50_000;
/// Room for the head of a file and the link to its next part.
const HEAD: usize = 2_000;
const LONGEST_TITLE: usize = 200;
const LONGEST_DESCRIPTION: usize = 300;

/// Which part of a list a file name names, counted from 1: `llms.txt`, `llms-2.txt`. `None` for other files.
pub(crate) fn part(file: &str) -> Option<usize> {
    let middle = file.strip_prefix("llms")?.strip_suffix(".txt")?;
    match middle.strip_prefix('-') {
        None => middle.is_empty().then_some(1),
        Some(number) => {
            let is_number = !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse().ok().filter(|number| is_number && *number >= 2)
        }
    }
}

/// What the links of a list begin with.
#[derive(Clone, Copy)]
struct Base<'b> {
    /// The URL of the site, without a trailing slash, if it is known.
    site: Option<&'b str>,
    folder: &'b str,
}

impl Base<'_> {
    /// The link to a file below the folder of the list. What looks like a scheme gets `./` in front.
    fn link(self, file: &str) -> String {
        let written = encoded_path(file);
        let has_scheme = || written.split('/').next().is_some_and(|head| head.contains(':'));
        match (self.site, self.folder) {
            (Some(site), "") => format!("{site}/{written}"),
            (Some(site), folder) => format!("{site}/{}/{written}", encoded_path(folder)),
            (None, _) if has_scheme() => format!("./{written}"),
            (None, _) => written.into_owned(),
        }
    }
}

/// The list of the pages below a folder, `""` for all. `pages` is in the order to list them; `site` is the URL of the site,
/// if it is known. `None` when there is no such part, or no page below the folder.
pub(crate) fn llms_txt(
    domain: &str,
    site: Option<&str>,
    pages: &[PageEntry],
    folder: &str,
    part: usize,
) -> Option<String> {
    let base = Base { site: site.map(|site| site.trim_end_matches('/')), folder };
    let below: Vec<Listed<'_>> = pages.iter().filter_map(|page| Listed::of(page, base)).collect();
    if below.is_empty() {
        return None;
    }
    let head = head(domain, base, pages);
    let whole = match folder {
        "" => with_variants(&head, base, &below),
        _ => format!("{head}{}", in_groups(below.iter())),
    };
    if whole.chars().count() <= LONGEST {
        return (part == 1).then_some(whole);
    }
    in_parts(&head, base, &tree(base, &below), part)
}

/// A page and its path relative to the folder of the list.
struct Listed<'p> {
    page: &'p PageEntry,
    path: &'p str,
    base: Base<'p>,
}

impl<'p> Listed<'p> {
    fn of(page: &'p PageEntry, base: Base<'p>) -> Option<Self> {
        let path = match base.folder {
            "" => Some(page.path.as_str()),
            folder => page.path.strip_prefix(folder)?.strip_prefix('/'),
        };
        Some(Self { page, path: path?, base })
    }

    fn line(&self) -> String {
        let file = match self.path {
            "" => "index.md".to_owned(),
            path => format!("{path}.md"),
        };
        let title = if self.page.title.trim().is_empty() { self.path } else { &self.page.title };
        let mut line = format!("- [{}]({})", clipped(title, LONGEST_TITLE), self.base.link(&file));
        if let Some(description) = self.page.description.as_deref().filter(|text| !text.trim().is_empty()) {
            let _ = write!(line, ": {}", clipped(description, LONGEST_DESCRIPTION));
        }
        line.push('\n');
        line
    }
}

fn head(domain: &str, base: Base<'_>, pages: &[PageEntry]) -> String {
    let front = pages.iter().find(|page| page.path.is_empty());
    let name = front.map(|page| page.title.trim()).filter(|title| !title.is_empty()).unwrap_or(domain);
    let mut head = format!("# {}", clipped(name, LONGEST_TITLE));
    if !base.folder.is_empty() {
        let _ = write!(head, ": {}", clipped(base.folder, LONGEST_TITLE));
    }
    let description = front.and_then(|page| page.description.as_deref()).filter(|text| !text.trim().is_empty());
    let description =
        description.filter(|_| base.folder.is_empty()).unwrap_or("The pages of this documentation as Markdown.");
    let _ = writeln!(head, "\n\n> {}", clipped(description, LONGEST_DESCRIPTION));
    if base.site.is_none() {
        head.push_str("\nLinks are relative to this file.\n");
    }
    head
}

/// The pages by the groups of the navigation that they are in.
fn in_groups<'a>(pages: impl Iterator<Item = &'a Listed<'a>>) -> String {
    let mut groups: Vec<(&str, String)> = Vec::new();
    for listed in pages {
        let group = listed.page.breadcrumb.first().map_or("Pages", |group| group.trim());
        match groups.iter_mut().find(|(name, _)| *name == group) {
            Some((_, lines)) => lines.push_str(&listed.line()),
            None => groups.push((group, listed.line())),
        }
    }
    groups.iter().fold(String::new(), |text, (group, lines)| text + &section(group, lines))
}

fn section(name: &str, lines: &str) -> String {
    format!("\n## {}\n\n{lines}", clipped(name, LONGEST_TITLE))
}

/// The pages that readers are shown unless they ask for a version or a language, and links to the others.
fn with_variants(head: &str, base: Base<'_>, below: &[Listed<'_>]) -> String {
    let usual = in_groups(below.iter().filter(|listed| listed.page.is_usual));
    let mut others = BTreeMap::<&str, usize>::new();
    let mut lines = String::new();
    for listed in below.iter().filter(|listed| !listed.page.is_usual) {
        match listed.path.split_once('/') {
            Some((folder, _)) => *others.entry(folder).or_default() += 1,
            None => lines.push_str(&listed.line()),
        }
    }
    lines.extend(others.into_iter().map(|(folder, count)| folder_line(base, folder, count)));
    match lines.is_empty() {
        true => format!("{head}{usual}"),
        false => format!("{head}{usual}{}", section("Other versions and languages", &lines)),
    }
}

fn folder_line(base: Base<'_>, folder: &str, count: usize) -> String {
    let pages = if count == 1 { "page" } else { "pages" };
    format!("- [{}/]({}): {count} {pages}\n", clipped(folder, LONGEST_TITLE), base.link(&format!("{folder}/llms.txt")))
}

/// A line for each page that lies in the folder itself or alone in a folder below, and one for each folder with more.
fn tree(base: Base<'_>, below: &[Listed<'_>]) -> Vec<String> {
    let lines = outline(below.iter().map(|listed| (listed.path, listed))).into_iter();
    lines
        .map(|line| match line {
            Outlined::Page(listed) => listed.line(),
            Outlined::Folder(name, count) => folder_line(base, name, count),
        })
        .collect()
}

fn in_parts(head: &str, base: Base<'_>, lines: &[String], part: usize) -> Option<String> {
    let mut parts = vec![String::new()];
    let mut length = 0;
    for line in lines {
        let more = line.chars().count();
        if length + more > LONGEST - HEAD && length > 0 {
            parts.push(String::new());
            length = 0;
        }
        length += more;
        parts.last_mut()?.push_str(line);
    }
    let lines = parts.get(part.checked_sub(1)?)?;
    let next = if part < parts.len() {
        format!("- [More]({})\n", base.link(&format!("llms-{}.txt", part + 1)))
    } else {
        String::new()
    };
    Some(format!("{head}\n## Pages\n\n{lines}{next}"))
}

/// A text on one line, without what would end a link's text, of at most `most` characters.
fn clipped(text: &str, most: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = text.char_indices().nth(most).map(|(end, _)| format!("{}…", text[..end].trim_end()));
    cut.unwrap_or(text).replace('[', "(").replace(']', ")")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use docent_types::decoded_path;
    use proptest::prelude::*;

    use super::*;

    fn page(path: &str) -> PageEntry {
        PageEntry {
            path: path.to_owned(),
            title: format!("Title of {path}"),
            description: None,
            version: None,
            language: None,
            groups: Vec::new(),
            tags: Vec::new(),
            nav_title: None,
            breadcrumb: Vec::new(),
            order: None,
            is_usual: true,
        }
    }

    /// The pages that are found from `llms.txt`, by all links. Each link must lead to a file or a page, each file be short.
    fn found(pages: &[PageEntry]) -> BTreeSet<String> {
        let (mut found, mut read, mut todo) = (BTreeSet::new(), BTreeSet::new(), vec!["llms.txt".to_owned()]);
        while let Some(file) = todo.pop() {
            if !read.insert(file.clone()) {
                continue;
            }
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", &file));
            let text =
                llms_txt("acme", None, pages, folder, part(name).expect("a list")).unwrap_or_else(|| panic!("{file}"));
            assert!(text.chars().count() <= LONGEST, "{file}: {}", text.chars().count());
            for link in text.lines().filter_map(|line| line.split_once("](")?.1.split(')').next()) {
                let link = decoded_path(link.trim_start_matches("./")).into_owned();
                let path = if folder.is_empty() { link } else { format!("{folder}/{link}") };
                match part(path.rsplit('/').next().unwrap_or_default()) {
                    Some(_) => todo.push(path),
                    None => drop(found.insert(path.strip_suffix(".md").expect("a page").to_owned())),
                }
            }
        }
        found
    }

    #[test]
    fn a_file_name_names_a_part_or_none() {
        for (file, expected) in [
            ("llms.txt", Some(1)),
            ("llms-2.txt", Some(2)),
            ("llms-10.txt", Some(10)),
            ("llms-1.txt", None),
            ("llms-02.txt", None),
            ("llms-.txt", None),
            ("llms-+2.txt", None),
            ("llms-full.txt", None),
            ("llms.txt.md", None),
        ] {
            assert_eq!(part(file), expected, "{file}");
        }
    }

    #[test]
    fn a_short_list_shows_the_groups_of_the_navigation() {
        let mut pages = vec![page(""), page("a: b/c d"), page("v1/old"), page("v1/older")];
        pages[0].description = Some("All about\nparcels.".to_owned());
        pages[1].breadcrumb = vec!["Guides [new]".to_owned()];
        pages[2].is_usual = false;
        pages[3].is_usual = false;
        let text = llms_txt("acme", None, &pages, "", 1).expect("a list");
        assert_eq!(
            text,
            "# Title of\n\n> All about parcels.\n\nLinks are relative to this file.\n\n## Pages\n\n\
             - [Title of](index.md): All about parcels.\n\n## Guides (new)\n\n- [Title of a: b/c d](./a:%20b/c%20d.md)\n\n\
             ## Other versions and languages\n\n- [v1/](v1/llms.txt): 2 pages\n"
        );
        assert_eq!(llms_txt("acme", None, &pages, "", 2), None);
        assert_eq!(llms_txt("acme", None, &pages, "v2", 1), None);
        assert!(llms_txt("acme", None, &pages, "v1", 1).is_some_and(|text| text.contains("(old.md)")));
        let there = llms_txt("acme", Some("https://acme.test/docs/"), &pages, "v1", 1).expect("a list");
        assert!(there.contains("(https://acme.test/docs/v1/old.md)") && !there.contains("relative"), "{there}");
    }

    #[test]
    fn a_long_list_is_a_tree_and_a_long_folder_has_parts() {
        let mut pages: Vec<_> =
            (0..40).flat_map(|folder| (0..60).map(move |n| page(&format!("f{folder}/p{n}")))).collect();
        pages.extend((0..3_000).map(|n| page(&format!("flat/{}/{n}", "x".repeat(20)))));
        let expected: BTreeSet<String> = pages.iter().map(|page| page.path.clone()).collect();
        assert_eq!(found(&pages), expected);
        let first = llms_txt("acme", None, &pages, "", 1).expect("a list");
        assert!(first.contains("- [f7/](f7/llms.txt): 60 pages\n"), "{first}");
    }

    proptest! {
        #[test]
        fn every_page_is_found(
            paths in prop::collection::btree_set("[a-c]{1,2}(/[ab:é %]{1,3}){0,3}", 1..30),
            usual in any::<[bool; 30]>(),
            long in any::<bool>(),
        ) {
            let pages: Vec<_> = paths.iter().zip(usual).map(|(path, is_usual)| {
                let title = if long { "t".repeat(5_000) } else { "t".to_owned() };
                PageEntry { title, is_usual, ..page(path) }
            }).collect();
            let expected: BTreeSet<String> = paths.iter().cloned().collect();
            prop_assert_eq!(found(&pages), expected);
        }
    }
}
