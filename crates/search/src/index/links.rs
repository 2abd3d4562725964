//! Links from page to page: the link texts used for a page, and which pages link to it.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use docent_markdown::{Link, LinkKind, Page, joined, site_path};
use docent_site::is_external;
use foldhash::fast::RandomState;

/// Maximum length of the link texts for one target, in bytes: more adds nothing new.
const MOST_TEXT: usize = 400;

/// The target cache is cleared when it has this many entries. Targets longer than this, in bytes, are not cached: few
/// links share them.
const MOST_KNOWN: usize = 20_000;
const LONGEST_KNOWN: usize = 200;

/// The links of one page to another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// [`path_key`]s of the paths the links may lead to, the likeliest first.
    pub(crate) targets: Rc<[u64]>,
    /// The distinct link texts, one per line.
    pub(crate) text: String,
}

/// Collects the links of one page after another, and caches targets: most links lead where other links lead as well.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// Path keys by absolute target, which means the same on every page.
    known: HashMap<Box<str>, Rc<[u64]>, RandomState>,
}

impl Mentions {
    /// The links of a page that is served at `path`, one mention per target.
    pub(crate) fn of(&mut self, page: &Page, path: &str) -> Vec<Mention> {
        let mut found: BTreeMap<Rc<[u64]>, (Vec<&str>, usize)> = BTreeMap::new();
        for link in page.links.iter().filter(|link| leads_to_a_page(link)) {
            let targets = self.targets(&page.path, path, &link.target);
            if !targets.is_empty() {
                let (texts, length) = found.entry(targets).or_default();
                if *length < MOST_TEXT && !texts.contains(&link.text.as_str()) {
                    texts.push(&link.text);
                    *length += link.text.len() + 1;
                }
            }
        }
        let mention = |(targets, (texts, _)): (Rc<[u64]>, (Vec<&str>, usize))| {
            let mut text = texts.join("\n");
            text.truncate(text.floor_char_boundary(MOST_TEXT));
            Mention { targets, text }
        };
        found.into_iter().map(mention).collect()
    }

    fn targets(&mut self, file: &str, path: &str, target: &str) -> Rc<[u64]> {
        let target = target.split(['#', '?']).next().unwrap_or_default();
        let keys = || candidates(file, path, target).iter().map(|path| path_key(path)).collect::<Rc<[u64]>>();
        if !target.starts_with('/') || target.len() > LONGEST_KNOWN {
            return keys();
        }
        if let Some(known) = self.known.get(target) {
            return Rc::clone(known);
        }
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        Rc::clone(self.known.entry(target.into()).or_insert_with(keys))
    }
}

fn leads_to_a_page(link: &Link) -> bool {
    let by_kind = match &link.kind {
        LinkKind::Inline | LinkKind::Reference => true,
        LinkKind::Attribute { attribute, .. } => matches!(attribute.as_str(), "href" | "to"),
        LinkKind::Autolink | LinkKind::Image | LinkKind::Field => false,
    };
    by_kind && !link.target.starts_with('#') && !is_external(&link.target)
}

/// The site paths that a target without anchor and query may mean, the likeliest first. A relative target is resolved
/// against the file's folder and then, as browsers do, against the folder of the page's path and the page's path as a
/// folder. An absolute target may begin with the site's base path.
fn candidates(file: &str, path: &str, target: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |candidate: Option<String>| {
        if let Some(candidate) = candidate.filter(|candidate| !found.contains(candidate)) {
            found.push(candidate);
        }
    };
    if let Some(absolute) = target.strip_prefix('/') {
        add(resolved("", absolute));
        if let Some((_, below)) = absolute.split_once('/') {
            add(resolved("", below));
        }
    } else if !target.is_empty() {
        add(resolved(file.rsplit_once('/').map_or("", |(folder, _)| folder), target));
        add(resolved(path.rsplit_once('/').map_or("", |(folder, _)| folder), target));
        add(resolved(path, target));
    }
    found
}

/// The site path of a target resolved against a folder; `None` when it leads out of the site.
fn resolved(folder: &str, target: &str) -> Option<String> {
    let file = joined(folder, target)?;
    Some(site_path(file.strip_suffix(".html").unwrap_or(&file)))
}

/// Hash of a path on the site, the same in every build; ignores case and outer slashes.
pub(crate) fn path_key(path: &str) -> u64 {
    let path = path.trim_matches('/');
    if path.is_ascii() { key_of_letters(path.as_bytes()) } else { key(path.chars().flat_map(char::to_lowercase)) }
}

/// FNV-1a over the bytes of the characters.
pub(crate) fn key(chars: impl Iterator<Item = char>) -> u64 {
    let mut hash = FIRST;
    let mut buffer = [0; 4];
    for c in chars {
        for byte in c.encode_utf8(&mut buffer).bytes() {
            hash = with_byte(hash, byte);
        }
    }
    hash
}

/// The same hash of ASCII bytes, lowercased.
pub(crate) fn key_of_letters(letters: &[u8]) -> u64 {
    letters.iter().fold(FIRST, |hash, letter| with_byte(hash, letter.to_ascii_lowercase()))
}

const FIRST: u64 = 0xcbf2_9ce4_8422_2325;

fn with_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_the_file_and_as_the_browser_would() {
        let mut mentions = Mentions::default();
        for (file, target, expected) in [
            ("a/b.md", "c.md#x", &["a/c", "a/b/c"][..]),
            ("a/b.md", "../d/", &["d", "a/d"]),
            ("a/index.md", "c", &["a/c", "c"]),
            ("a/b.md", "/en/x/y?z", &["en/x/y", "x/y"]),
            ("c.md", "/en/x/y", &["en/x/y", "x/y"]),
            ("a/b.md", "/", &[""]),
            ("a/b.md", "../../../x", &[]),
            ("a/b.md", "x.html", &["a/x", "a/b/x"]),
        ] {
            let expected: Vec<u64> = expected.iter().map(|path| path_key(path)).collect();
            assert_eq!(*mentions.targets(file, &site_path(file), target), expected, "{file} {target}");
        }
    }

    #[test]
    fn the_cache_of_targets_is_bounded() {
        let mut mentions = Mentions::default();
        for number in 0..2 * MOST_KNOWN + 1 {
            mentions.targets("a.md", "a", &format!("/{number}"));
            assert!(mentions.known.len() <= MOST_KNOWN);
        }
        mentions.targets("a.md", "a", &format!("/{}", "x".repeat(LONGEST_KNOWN)));
        assert_eq!(mentions.known.len(), 1);
    }

    #[test]
    fn letters_have_the_key_of_small_ones() {
        assert_eq!(key_of_letters(b"ReTry5"), key("retry5".chars()));
    }

    #[test]
    fn a_page_mentions_each_other_page_once() {
        let text = "[one](b.md) and [two](./b.md#x) and [one](b.md), [out](https://x.y), [here](#z), ![i](b.md)";
        let page = docent_markdown::parse("a.md", text.as_bytes());
        let found = Mentions::default().of(&page, "a");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, "one\ntwo");
        assert_eq!(found[0].targets[0], path_key("/B/"));
    }
}
