//! Merges navigation in an indented list with one entry a line: the `nav` of `mkdocs.yml`, and `SUMMARY.md`.

use docent_markdown::lines_after;

use super::Conflict;
use super::sequence::{self, Slot};

/// Maximum nesting of entries; those further in count as being on that level.
const MAX_NESTING: usize = 64;

/// An entry and the entries nested below it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OutlineEntry {
    /// The line without its indentation, which identifies the entry.
    name: String,
    /// The line, with its line break and the blank lines and comments before it.
    text: String,
    below: Vec<OutlineEntry>,
}

impl OutlineEntry {
    /// Whether two entries are the same but for blank lines and comments before them.
    fn says_the_same(&self, other: &Self) -> bool {
        self.name == other.name
            && self.below.len() == other.below.len()
            && self.below.iter().zip(&other.below).all(|(a, b)| a.says_the_same(b))
    }

    fn written(&self, out: &mut String) {
        out.push_str(&self.text);
        self.below.iter().for_each(|entry| entry.written(out));
    }
}

/// A text split into the part before the navigation, its entries and the part after it.
struct Parts<'t> {
    before: &'t str,
    entries: Vec<OutlineEntry>,
    after: &'t str,
}

/// Merges `mkdocs.yml`. `None` if one of the texts has no `nav` list with one entry a line, or if both sides changed
/// other parts of the file.
pub(super) fn merged_nav(base: &str, ours: &str, theirs: &str) -> Option<Result<String, Conflict>> {
    merged([nav(base)?, nav(ours)?, nav(theirs)?])
}

/// Merges `SUMMARY.md`.
pub(super) fn merged_summary(base: &str, ours: &str, theirs: &str) -> Option<Result<String, Conflict>> {
    let is_between = |line: &str| line.trim_matches(['-', '*', '_', ' ', '\r', '\n', '\t']).is_empty();
    fn parts<'t>(text: &'t str, is_between: &dyn Fn(&str) -> bool) -> Parts<'t> {
        let end = text.trim_end().len();
        let end = text[end..].find('\n').map_or(text.len(), |line| end + line + 1);
        match entries(&text[..end], is_between) {
            entries if entries.is_empty() => Parts { before: text, entries, after: "" },
            entries => Parts { before: "", entries, after: &text[end..] },
        }
    }
    let merged = merged([base, ours, theirs].map(|text| parts(text, &is_between)))?;
    Some(merged.map(|text| if ours.ends_with('\n') { text } else { text.trim_end().to_owned() }))
}

fn merged([base, ours, theirs]: [Parts<'_>; 3]) -> Option<Result<String, Conflict>> {
    let before = chosen(base.before, ours.before, theirs.before)?;
    let after = chosen(base.after, ours.after, theirs.after)?;
    let entries = list(&base.entries, &ours.entries, &theirs.entries);
    Some(entries.map(|entries| {
        let mut out = before.to_owned();
        entries.iter().for_each(|entry| entry.written(&mut out));
        out.push_str(after);
        out
    }))
}

/// Merges a text of which at most one side may have changed, or both in the same way.
fn chosen<'t>(base: &'t str, ours: &'t str, theirs: &'t str) -> Option<&'t str> {
    match (ours == base, theirs == base) {
        (_, true) => Some(ours),
        (true, _) => Some(theirs),
        _ => (ours == theirs).then_some(ours),
    }
}

fn list(base: &[OutlineEntry], ours: &[OutlineEntry], theirs: &[OutlineEntry]) -> Result<Vec<OutlineEntry>, Conflict> {
    if ours == theirs || theirs == base {
        return Ok(ours.to_vec());
    }
    if ours == base {
        return Ok(theirs.to_vec());
    }
    let names = [base, ours, theirs].map(|entries| entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>());
    let slots = sequence::merged(
        names.each_ref().map(Vec::as_slice),
        &|base_at, ours_at| base[base_at].says_the_same(&ours[ours_at]),
        &|base_at, theirs_at| base[base_at].says_the_same(&theirs[theirs_at]),
    )?;
    let entry = |slot: Slot| match slot {
        Slot::Kept { base: b, ours: o, theirs: t } => {
            let (b, o, t) = (&base[b], &ours[o], &theirs[t]);
            let text = chosen(&b.text, &o.text, &t.text);
            // If only blank lines differ, ours are kept; differing comments are a conflict.
            let is_bare = |entry: &OutlineEntry| entry.text.trim() == entry.name;
            let text =
                text.or_else(|| [b, o, t].into_iter().all(is_bare).then_some(o.text.as_str())).ok_or(Conflict)?;
            Ok(OutlineEntry { name: o.name.clone(), text: text.to_owned(), below: list(&b.below, &o.below, &t.below)? })
        }
        Slot::Both { ours: o, theirs: t } => {
            let below = list(&[], &ours[o].below, &theirs[t].below)?;
            Ok(OutlineEntry { below, ..ours[o].clone() })
        }
        Slot::Ours(o) => Ok(ours[o].clone()),
        Slot::Theirs(t) => Ok(theirs[t].clone()),
    };
    slots.into_iter().map(entry).collect()
}

/// Splits `mkdocs.yml` around its `nav`.
fn nav(text: &str) -> Option<Parts<'_>> {
    let mut start = None;
    let mut end = text.len();
    for (at, line) in lines_after(text, 0) {
        let bare = line.trim_end();
        if start.is_none() && (bare == "nav:" || bare.starts_with("nav: #")) {
            start = Some(at + line.len());
        } else if start.is_some() {
            let rest = bare.trim_start();
            let is_entry = rest.starts_with("- ") && !rest.contains(" #") && !rest.ends_with(['|', '>', '[', '{']);
            if !(rest.is_empty() || rest.starts_with('#') || is_entry) {
                if line.starts_with([' ', '\t']) {
                    // A value that spans several lines.
                    return None;
                }
                end = at;
                break;
            }
        }
    }
    let block = &text[start?..end];
    // Blank lines and comments after the last entry belong to the part after the navigation.
    let last = lines_after(block, 0).filter(|(_, line)| line.trim_start().starts_with("- ")).last();
    let length = last.map_or(0, |(at, line)| at + line.len());
    let (start, end) = (start?, start? + length);
    let entries = entries(&text[start..end], &|line| line.trim_start().starts_with('#') || line.trim().is_empty());
    Some(Parts { before: &text[..start], entries, after: &text[end..] })
}

/// The entries of a list. Lines for which `is_between` is true are kept with the entry that follows.
fn entries(text: &str, is_between: &dyn Fn(&str) -> bool) -> Vec<OutlineEntry> {
    /// The nesting depth of an entry: headings, by their level, are above all lists.
    fn depth(line: &str) -> usize {
        let hashes = line.len() - line.trim_start_matches('#').len();
        let spaces = line.len() - line.trim_start().len();
        if (1..=6).contains(&hashes) { hashes } else { 10 + spaces }
    }
    let mut open: Vec<(usize, OutlineEntry)> = Vec::new();
    let mut all = Vec::new();
    let close = |open: &mut Vec<(usize, OutlineEntry)>, all: &mut Vec<OutlineEntry>| {
        if let Some((_, entry)) = open.pop() {
            match open.last_mut() {
                Some((_, above)) => above.below.push(entry),
                None => all.push(entry),
            }
        }
    };
    let mut between = String::new();
    for line in text.split_inclusive('\n') {
        if is_between(line) {
            between.push_str(line);
            continue;
        }
        let depth = depth(line);
        while open.len() >= MAX_NESTING || open.last().is_some_and(|(above, _)| *above >= depth) {
            close(&mut open, &mut all);
        }
        let mut text = std::mem::take(&mut between);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push('\n');
        }
        open.push((depth, OutlineEntry { name: line.trim().to_owned(), text, below: Vec::new() }));
    }
    while !open.is_empty() {
        close(&mut open, &mut all);
    }
    // Blank lines at the end belong to the last entry.
    if let Some(last) = all.last_mut() {
        let mut last = last;
        while !last.below.is_empty() {
            let at = last.below.len() - 1;
            last = &mut last.below[at];
        }
        last.text.push_str(&between);
    }
    all
}
