//! Replaces a text with another throughout the site.
//!
//! Prose, front matter and prose within code are changed, structure never is. Links and URLs change only if the text is
//! itself an address, names in code only if the text is itself written as code. If a heading changes, its anchor
//! changes with it, and links to that anchor are updated.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use docent_markdown::{
    FieldValue, Format, Page, has_word, is_markdown, line_end, line_of, line_start, lines_after, regex, text_of,
};
use docent_site::{LinkSyntax, Site, SiteData, Target, Tree, any_of, is_external, read_json};
use regex::bytes::Regex;

use super::broken_links::fragment;
use super::edit::{Change, TextEdit, apply, in_order};
use super::field::{self, FieldContent};
use super::occurrences::occurrences;
use super::protected_ranges::{Links, addresses, is_address_itself, is_identifier, overlaps, protected_ranges};
use super::selection::Selection;
use super::{RefactorError, Refactored, counted};

/// Members of a navigation file whose values are displayed to readers.
const LABELS: &str = "group tab anchor dropdown name label title description text content product item";

/// Replaces the occurrences of `find`, as defined by [`super::occurrences()`], with `replace`. `within` limits it to
/// pages, files and globs; empty means every Markdown file and the labels of the navigation. Links and URLs change only
/// if `find` is itself an address. If `find` is in backticks, names in code change, and nothing else.
pub fn replace_text(
    tree: &dyn Tree,
    find: &str,
    replace: &str,
    within: &[String],
) -> Result<Refactored, RefactorError> {
    if find.trim().is_empty() {
        return Err(RefactorError::EmptyText);
    }
    let site = Site::read(tree);
    let selection = Selection::of(&site, within)?;
    let quoted = |text: &'_ str| text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).map(str::to_owned);
    let in_code = quoted(find).filter(|inner| !inner.trim().is_empty() && !inner.contains('`'));
    let is_of_code = in_code.is_some();
    let (find, replace) = match in_code {
        Some(inner) => (inner, quoted(replace).unwrap_or_else(|| replace.to_owned())),
        None => (find.to_owned(), replace.to_owned()),
    };
    let (find, replace) = (find.as_str(), replace.as_str());
    let links = if is_address_itself(find) { Links::Change } else { Links::Leave };
    let work = Work { tree, site: &site, find, replace, links, is_of_code };
    let mut result = Outcome::default();
    let pattern = Regex::new(&regex::escape(find)).map_err(|_| RefactorError::EmptyText)?;
    if find != replace {
        let above = site.files_above(tree).filter(|file| SiteData::of(file).is_some());
        for file in site.files().chain(above) {
            let is_navigation = SiteData::of(file).is_some() && !selection.is_narrowed() && !is_of_code;
            if !(selection.has(file) || is_navigation) || (is_of_code && !is_markdown(file)) {
                continue;
            }
            let Some(bytes) = tree.read(file) else {
                result.left.push(format!("{file} could not be read and stays as it is"));
                continue;
            };
            if !pattern.is_match(&bytes) {
                continue;
            }
            if Format::of(file) == Format::Notebook {
                result.left.push(format!("{file} holds it, and words of notebooks are left to a person"));
                continue;
            }
            if is_navigation && !selection.has(file) && !file.ends_with(".json") {
                work.navigation(file, &bytes, &mut result);
            } else if is_markdown(file) {
                work.page(file, &bytes, &mut result);
            } else if matches!(Format::of(file), Format::Rst | Format::Adoc) {
                work.prose(file, &bytes, &mut result);
            } else if file.ends_with(".json") {
                work.json(file, &bytes, &mut result);
            } else if let Ok(text) = std::str::from_utf8(&bytes)
                && !text.contains('\0')
            {
                let urls: Vec<Range<usize>> =
                    if links == Links::Leave { addresses(text).collect() } else { Vec::new() };
                let matches =
                    occurrences(text, find).into_iter().filter(|range| !urls.iter().any(|url| touches(url, range)));
                result.add(file, matches.map(|range| TextEdit::new(range, replace)).collect());
            }
        }
    }
    work.follow_anchors(&mut result);
    Ok(work.refactored(result))
}

struct Work<'a> {
    tree: &'a dyn Tree,
    site: &'a Site,
    find: &'a str,
    replace: &'a str,
    links: Links,
    /// Whether names in code are replaced, and nothing else.
    is_of_code: bool,
}

#[derive(Default)]
struct Outcome {
    edits: BTreeMap<String, Vec<TextEdit>>,
    counts: BTreeMap<String, usize>,
    /// By file: the old anchors and their new names.
    anchors: HashMap<String, HashMap<String, String>>,
    /// Number of matches in link destinations that were left alone.
    links_left: usize,
    /// Number of matches in code that were left alone as identifiers.
    names_left: usize,
    followed: usize,
    left: Vec<String>,
}

impl Outcome {
    /// Tells of places in a configuration that were not changed.
    fn leave(&mut self, file: &str, places: usize) {
        if places > 0 {
            let places = counted(places, "place", "places");
            self.left.push(format!("`{file}`: {places} that may be more than words, which are yours to change"));
        }
    }

    fn add(&mut self, file: &str, edits: Vec<TextEdit>) {
        if !edits.is_empty() {
            self.counts.insert(file.to_owned(), edits.len());
            self.edits.insert(file.to_owned(), edits);
        }
    }
}

impl Work<'_> {
    fn page(&self, file: &str, bytes: &[u8], result: &mut Outcome) {
        let text = text_of(bytes);
        let page = self.site.parse(file, bytes);
        let mut protected = protected_ranges(&page, &text, self.links);
        if self.links == Links::Change {
            protected.extend(self.links_that_would_break(file, &page, &text));
            protected.sort_by_key(|range| range.start);
        }
        let (protected_matches, matches): (Vec<_>, Vec<_>) =
            occurrences(&text, self.find).into_iter().partition(|range| overlaps(&protected, range));
        if self.links == Links::Leave {
            result.links_left += protected_matches
                .iter()
                .filter(|range| page.links.iter().any(|link| touches(&link.dest_span, range)))
                .count();
        }
        let in_code = |range: &Range<usize>| page.code.iter().find(|code| touches(code, range));
        let (matches, identifiers): (Vec<_>, Vec<_>) = matches.into_iter().partition(|range| match in_code(range) {
            Some(_) if self.is_of_code => true,
            Some(code) => range.start < code.start || range.end > code.end || !is_identifier(&text, code, range),
            None => !self.is_of_code,
        });
        if !self.is_of_code {
            result.names_left += identifiers.len();
        }
        let places = Places::of(&page, &text);
        let mut edits: Vec<TextEdit> = matches
            .into_iter()
            .map(|range| TextEdit::new(range.clone(), places.escaped(&range, self.replace)))
            .collect();
        if edits.is_empty() {
            return;
        }
        let mut after = self.site.parse(file, &apply(bytes, &edits));
        let mut wrong = self.field_read_otherwise(&page, &after);
        if wrong.is_none() && after.problems.len() > page.problems.len() {
            wrong = Some(self.replaced_fields(&page));
        }
        if let Some(wrong) = wrong {
            edits = self.with_fields_set(&page, bytes, edits, &wrong);
            after = self.site.parse(file, &apply(bytes, &edits));
        }
        if after.problems.len() > page.problems.len() || self.field_read_otherwise(&page, &after).is_some() {
            result.left.push(format!("{file}: the page could not be read with “{}” in it, so it stays", self.replace));
            return;
        }
        let anchors = changed_anchors(&page, &after);
        if !anchors.is_empty() {
            result.anchors.insert(file.to_owned(), anchors);
        }
        result.add(file, edits);
    }

    /// Replaces words in the prose of a page in reStructuredText or AsciiDoc, and nothing in its markup.
    fn prose(&self, file: &str, bytes: &[u8], result: &mut Outcome) {
        let text = text_of(bytes);
        let page = self.site.parse(file, bytes);
        let is_prose = |range: &Range<usize>| {
            let at = page.prose.partition_point(|prose| prose.start <= range.start);
            at > 0 && range.end <= page.prose[at - 1].end
        };
        let (matches, others): (Vec<_>, Vec<_>) = occurrences(&text, self.find).into_iter().partition(is_prose);
        result.names_left += others.len();
        let is_rst = page.format == Format::Rst;
        // Asked once for each line, which may have many matches.
        let mut line = (0..0, false);
        let mut is_in_table = |range: &Range<usize>| {
            if !line.0.contains(&range.start) {
                line = in_table(&text, range.start);
            }
            line.1
        };
        let is_as_wide = !is_rst || self.find.chars().count() == self.replace.chars().count();
        let (matches, in_tables): (Vec<_>, Vec<_>) =
            matches.into_iter().partition(|range| is_as_wide || !is_in_table(range));
        for range in in_tables {
            let line = line_of(&text, range.start);
            result.left.push(format!("{file}:{line} is in a table whose columns would no longer fit"));
        }
        let mut edits: Vec<TextEdit> = matches.iter().map(|range| TextEdit::new(range.clone(), self.replace)).collect();
        if is_rst {
            edits.extend(self.title_lines(&page, &text, &matches));
            edits.sort_by_key(|edit| edit.range.start);
        }
        let after = self.site.parse(file, &apply(bytes, &edits));
        let shape = |page: &Page| {
            let levels: Vec<u8> = page.headings.iter().map(|heading| heading.level).collect();
            let targets: Vec<Target> = page.links.iter().map(|link| self.site.resolve_link(file, link)).collect();
            (levels, targets, page.code.len())
        };
        if shape(&after) != shape(&page) || after.problems.len() > page.problems.len() {
            result
                .left
                .push(format!("{file}: the page would be read otherwise with “{}” in it, so it stays", self.replace));
            return;
        }
        for (old, _) in changed_anchors(&page, &after) {
            result
                .left
                .push(format!("{file}: a heading that has a new anchor was `#{old}`; links to it are yours to change"));
        }
        if !matches.is_empty() {
            result.counts.insert(file.to_owned(), matches.len());
            result.edits.insert(file.to_owned(), edits);
        }
    }

    /// The lines above and below titles of reStructuredText whose words change, as long as the new words.
    fn title_lines(&self, page: &Page, text: &str, matches: &[Range<usize>]) -> Vec<TextEdit> {
        let mut edits = Vec::new();
        for heading in &page.headings {
            let start = line_start(text, heading.span.start);
            let before = start.checked_sub(1).map(|end| line_start(text, end)..end);
            let below = lines_after(text, start).take(3).map(|(at, line)| at..at + line.trim_end().len());
            let lines: Vec<Range<usize>> = before.into_iter().chain(below).collect();
            let is_rule = |range: &&Range<usize>| {
                let line = &text[(*range).clone()];
                line.len() > 1
                    && line.starts_with(|c: char| c.is_ascii_punctuation())
                    && line.bytes().all(|byte| byte == line.as_bytes()[0])
            };
            let title = lines
                .iter()
                .find(|range| range.start >= start && !is_rule(range) && !text[(*range).clone()].trim().is_empty());
            let Some(title) = title.cloned() else { continue };
            let first = matches.partition_point(|range| range.start < title.start);
            let count = matches[first..].iter().take_while(|range| range.end <= title.end).count();
            if count == 0 {
                continue;
            }
            let width = |text: &str| text.chars().count();
            let old = width(text[title.clone()].trim_end());
            let new = old + count * width(self.replace) - count * width(self.find);
            for rule in lines.iter().filter(is_rule) {
                let length = if rule.len() == old { new } else { rule.len().max(new) };
                if length != rule.len() {
                    edits.push(TextEdit::new(rule.clone(), text[rule.start..rule.start + 1].repeat(length)));
                }
            }
        }
        edits
    }

    /// Link destinations that resolve within the site now and would not after the replacement; they are left alone.
    fn links_that_would_break(&self, file: &str, page: &Page, text: &str) -> Vec<Range<usize>> {
        let breaks = |target: &str, syntax: LinkSyntax| {
            let after = self.replaced(target);
            let leads = |target: &str| match self.site.resolve_in(file, target, syntax) {
                Target::Page { .. } | Target::Asset { .. } | Target::Redirect { .. } => true,
                Target::External | Target::Missing { .. } | Target::NotUnderstood => false,
            };
            after != target && leads(target) && !leads(&after) && !is_external(&after)
        };
        let spans = page.links.iter().filter(|link| {
            text.get(link.dest_span.clone()).is_some_and(|target| breaks(target, LinkSyntax::of(&link.kind)))
        });
        spans.map(|link| link.dest_span.clone()).collect()
    }

    fn replaced(&self, text: &str) -> String {
        let edits: Vec<TextEdit> =
            occurrences(text, self.find).into_iter().map(|range| TextEdit::new(range, self.replace)).collect();
        String::from_utf8(apply(text.as_bytes(), &edits)).unwrap_or_else(|_| text.to_owned())
    }

    /// The fields whose new value is neither the old value nor that with the words replaced, because the new words have
    /// a meaning in YAML; `None` if there are none and no field was added or lost.
    fn field_read_otherwise(&self, before: &Page, after: &Page) -> Option<Vec<(String, String)>> {
        let (before, after) = (&before.front_matter.fields, &after.front_matter.fields);
        let same_names = before.len() == after.len();
        let wrong: Vec<(String, String)> = before
            .iter()
            .enumerate()
            .filter_map(|(at, field)| {
                let FieldValue::Text(text) = &field.value else { return None };
                let wanted = self.replaced(text);
                // Compared by position, because a name may occur twice.
                let is_right = match after.get(at).map(|field| &field.value) {
                    Some(FieldValue::Text(now)) => *now == wanted || now == text,
                    _ => false,
                };
                (!is_right).then(|| (field.name.clone(), wanted))
            })
            .collect();
        (!wrong.is_empty() || !same_names).then_some(wrong)
    }

    /// The fields whose value has the words, with the new value.
    fn replaced_fields(&self, page: &Page) -> Vec<(String, String)> {
        let fields = page.front_matter.fields.iter().filter_map(|field| match &field.value {
            FieldValue::Text(text) => Some((field.name.clone(), self.replaced(text))).filter(|(_, now)| now != text),
            _ => None,
        });
        fields.collect()
    }

    /// The edits, with these fields rewritten and quoted as needed.
    fn with_fields_set(
        &self,
        page: &Page,
        bytes: &[u8],
        edits: Vec<TextEdit>,
        fields: &[(String, String)],
    ) -> Vec<TextEdit> {
        let mut rewritten: Vec<TextEdit> = fields
            .iter()
            .filter_map(|(name, wanted)| {
                field::set(page, bytes, name, &FieldContent::Text(wanted.clone())).ok().flatten()
            })
            .collect();
        let kept = edits.into_iter().filter(|edit| !rewritten.iter().any(|new| touches(&new.range, &edit.range)));
        let kept: Vec<TextEdit> = kept.collect();
        rewritten.extend(kept);
        in_order(rewritten)
    }

    /// Replaces the words in the labels of a navigation. Other places are left to a person.
    fn navigation(&self, file: &str, bytes: &[u8], result: &mut Outcome) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let is_plain = self.replace.chars().all(|c| c.is_alphanumeric() || " -_.,()/+".contains(c));
        let labels = if is_plain { SiteData::labels(file, text) } else { Vec::new() };
        let is_in_label = |range: &Range<usize>| {
            let at = labels.partition_point(|label| label.start <= range.start);
            at > 0 && range.end <= labels[at - 1].end
        };
        // A key of TOML without quotes is one word.
        let is_word = self.replace.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let is_bare = |range: &Range<usize>| {
            let label = &labels[labels.partition_point(|label| label.start <= range.start) - 1];
            file.ends_with(".toml") && !text[..label.start].ends_with(['"', '\''])
        };
        let is_replaceable = |range: &Range<usize>| is_in_label(range) && (is_word || !is_bare(range));
        let (matches, left): (Vec<_>, Vec<_>) = occurrences(text, self.find).into_iter().partition(is_replaceable);
        result.leave(file, left.len());
        result.add(file, matches.into_iter().map(|range| TextEdit::new(range, self.replace)).collect());
    }

    fn json(&self, file: &str, bytes: &[u8], result: &mut Outcome) {
        let json = std::str::from_utf8(bytes).ok().and_then(|text| read_json(text).ok());
        let Some(json) = json else {
            result.left.push(format!("`{file}` holds it, and is not JSON that can be read"));
            return;
        };
        let (mut edits, mut left) = (Vec::new(), 0);
        for (member, json, string) in json.strings() {
            let after = self.replaced(string);
            let is_url = is_external(string) && !string.contains(char::is_whitespace);
            let is_label = member.is_some_and(|member| has_word(LABELS, member)) && !is_url;
            let is_replaceable =
                is_label || (self.links == Links::Change && !self.breaks_navigation(file, string, &after));
            if after != string && is_replaceable {
                edits.push(TextEdit::new(json.span.clone(), serde_json::Value::from(after).to_string()));
            } else if after != string && !is_url {
                left += 1;
            }
        }
        result.leave(file, left);
        result.add(file, edits);
    }

    /// Whether a navigation entry that names an existing page would name a missing one, or may.
    fn breaks_navigation(&self, file: &str, before: &str, after: &str) -> bool {
        match SiteData::of(file) {
            // How its entries name pages is the generator's: only labels change.
            Some(SiteData::Json) => true,
            Some(_) => {
                self.site.page_named(before).is_some()
                    && self.site.page_named(after).is_none()
                    && !before.trim().is_empty()
            }
            None => false,
        }
    }

    /// Updates links to anchors that changed with their headings.
    fn follow_anchors(&self, result: &mut Outcome) {
        let all: Vec<String> =
            result.anchors.values().flat_map(HashMap::keys).map(|anchor| format!("#{anchor}")).collect();
        if all.is_empty() {
            return;
        }
        let pattern = any_of(all.iter().map(String::as_str));
        for file in self.site.files().filter(|file| is_markdown(file)) {
            let Some(bytes) = self.tree.read(file) else { continue };
            if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(bytes.as_slice())) {
                continue;
            }
            let text = text_of(&bytes);
            let mut follow = Vec::new();
            for link in self.site.parse(file, &bytes).links {
                let Target::Page { file: to, anchor: Some(anchor) } = self.site.resolve_link(file, &link) else {
                    continue;
                };
                let Some(new) = result.anchors.get(&to).and_then(|anchors| anchors.get(&anchor)) else { continue };
                let Some(target) = text.get(link.dest_span.clone()) else { continue };
                let Some(hash) = target.find('#') else { continue };
                // Of a shortcode such as `{{< relref "a.md#b" >}}`, the anchor ends with the argument.
                let end = target[hash..].find(['"', '`', ' ']).filter(|_| target.starts_with("{{"));
                let end = link.dest_span.start + end.map_or(target.len(), |end| hash + end);
                follow.push(TextEdit::new(link.dest_span.start + hash..end, fragment(new)));
            }
            if follow.is_empty() {
                continue;
            }
            result.followed += follow.len();
            let edits = result.edits.entry(file.to_owned()).or_default();
            edits.retain(|edit| !follow.iter().any(|link| touches(&link.range, &edit.range)));
            edits.extend(follow);
            *edits = in_order(std::mem::take(edits));
        }
    }

    fn refactored(&self, result: Outcome) -> Refactored {
        let places: usize = result.counts.values().sum();
        let (find, replace) = (self.find, self.replace);
        let mut summary = match places {
            0 => format!("“{find}” is nowhere it could be replaced with “{replace}”"),
            _ => format!(
                "Replaced “{find}” with “{replace}” in {}, {}",
                counted(places, "place", "places"),
                counted(result.counts.len(), "file", "files")
            ),
        };
        if self.find == self.replace {
            summary = format!("“{find}” and “{replace}” are the same");
        }
        if result.followed > 0 {
            summary.push_str(&format!("; {} to renamed headings followed", counted(result.followed, "link", "links")));
        }
        let mut left = result.left;
        if result.links_left > 0 {
            left.push(format!(
                "{} in links; to change links and URLs, replace a whole address or the beginning of one",
                counted(result.links_left, "place", "places")
            ));
        }
        if result.names_left > 0 {
            left.push(format!(
                "{} in code, as names to a program; to change those, put the text between backquotes",
                counted(result.names_left, "place", "places")
            ));
        }
        Refactored {
            details: result.counts.iter().map(|(file, count)| format!("{file}: {count}")).collect(),
            changes: result.edits.into_iter().map(|(path, edits)| Change::Edit { path, edits }).collect(),
            summary,
            left,
        }
    }
}

/// The places of a page in which some characters have a meaning.
struct Places {
    /// Rows of tables.
    tables: Vec<Range<usize>>,
    /// The texts of links.
    link_texts: Vec<Range<usize>>,
    /// Blocks of code.
    blocks: Vec<Range<usize>>,
}

impl Places {
    fn of(page: &Page, text: &str) -> Self {
        regex!(DELIMITERS, r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?\s*$");
        if !page.format.is_markdown() {
            return Self { tables: Vec::new(), link_texts: Vec::new(), blocks: Vec::new() };
        }
        let mut tables: Vec<Range<usize>> = Vec::new();
        let (mut begun, mut row): (Option<usize>, Option<usize>) = (None, None);
        for (at, line) in lines_after(text, 0) {
            let is_delimiter = line.contains('|') && DELIMITERS.is_match(line);
            match begun {
                Some(start) if line.trim().is_empty() => {
                    tables.push(start..at);
                    begun = None;
                }
                None if is_delimiter => begun = row,
                _ => {}
            }
            row = line.contains('|').then_some(at);
        }
        tables.extend(begun.map(|start| start..text.len()));
        let blocks = page.code.iter().filter(|code| {
            text.get((*code).clone())
                .is_some_and(|code| code.trim_start().starts_with(['`', '~']) && code.contains('\n'))
        });
        Self {
            tables,
            // The destination of a reference stands elsewhere.
            link_texts: page
                .links
                .iter()
                .map(|link| link.span.start..link.dest_span.start.clamp(link.span.start, link.span.end))
                .collect(),
            blocks: blocks.cloned().collect(),
        }
    }

    /// The words as they are written in this place.
    fn escaped(&self, range: &Range<usize>, words: &str) -> String {
        let is_in = |places: &[Range<usize>]| places.iter().any(|place| touches(place, range));
        let mut words = words.to_owned();
        if is_in(&self.blocks) {
            return words;
        }
        if words.contains('|') && is_in(&self.tables) {
            words = words.replace('|', "\\|");
        }
        if words.contains(['[', ']']) && is_in(&self.link_texts) {
            words = words.replace('[', "\\[").replace(']', "\\]");
        }
        words
    }
}

/// The old anchors and their new names. Headings keep their order, so the n-th before is the n-th after.
fn changed_anchors(before: &Page, after: &Page) -> HashMap<String, String> {
    if before.headings.len() != after.headings.len() {
        return HashMap::new();
    }
    let pairs = before.headings.iter().zip(&after.headings);
    pairs
        .filter(|(old, new)| old.anchor != new.anchor && !after.has_anchor(&old.anchor))
        .map(|(old, new)| (old.anchor.clone(), new.anchor.clone()))
        .collect()
}

fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The line of a place, and whether it is in a table of reStructuredText, whose columns are drawn: in a line of a grid, or in
/// a paragraph with a line of rules.
fn in_table(text: &str, at: usize) -> (Range<usize>, bool) {
    let start = line_start(text, at);
    let line = start..line_end(text, at);
    let is_rules =
        |line: &str| line.split_whitespace().count() > 1 && line.trim().chars().all(|c| matches!(c, '=' | '-' | ' '));
    let above = text[..start].lines().rev().take_while(|line| !line.trim().is_empty()).take(MOST_TABLE_LINES);
    let below = text[start..].lines().take_while(|line| !line.trim().is_empty()).take(MOST_TABLE_LINES);
    let is_table = text[start..].trim_start().starts_with(['|', '+']) || above.chain(below).any(is_rules);
    (line, is_table)
}

/// Maximum number of lines of a table that are searched for its rules.
const MOST_TABLE_LINES: usize = 200;

#[cfg(test)]
mod tests;
