//! Selects the lines of an AsciiDoc include: all, or those named by number or by tag.
//!
//! A file is cut into lines and regions once, however often a page includes it, so that an include costs what it
//! inserts.

use std::collections::HashMap;
use std::ops::Range;

use docent_markdown::each_line;

/// Maximum number of tags that are open at once in an included file; further ones are ignored.
const MAX_OPEN_TAGS: usize = 500;

/// Maximum number of line ranges or tags in one include.
const MAX_NAMED: usize = 500;

/// The text of a file, and where its lines and regions are.
pub(super) struct CutFile {
    text: String,
    /// The lines that do not mark tags: their numbers, counted from 1, and their byte ranges.
    lines: Vec<(usize, Range<usize>)>,
    /// The regions of each tag, as ranges of `lines` in order.
    tags: HashMap<String, Vec<Range<usize>>>,
    /// The regions of any tag.
    tagged: Vec<Range<usize>>,
}

impl CutFile {
    pub(super) fn of(text: String) -> Self {
        let (mut lines, mut at) = (Vec::new(), 0);
        let mut open: HashMap<&str, (usize, usize)> = HashMap::new();
        let (mut open_count, mut any_open) = (0, 0);
        let mut tags: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        let mut tagged = Vec::new();
        let mut close = |name: &str, from: usize, to: usize| {
            if from < to {
                tags.entry(name.to_owned()).or_default().push(from..to);
            }
        };
        for (number, line) in each_line(&text).enumerate() {
            let span = at..at + line.len();
            at = span.end;
            match tag(line) {
                Some((true, name)) => {
                    if let Some((from, count)) = open.remove(name) {
                        close(name, from, lines.len());
                        open_count -= count;
                        if open_count == 0 {
                            tagged.push(any_open..lines.len());
                        }
                    }
                }
                Some((false, name)) if open_count < MAX_OPEN_TAGS => {
                    if open_count == 0 {
                        any_open = lines.len();
                    }
                    open.entry(name).or_insert((lines.len(), 0)).1 += 1;
                    open_count += 1;
                }
                Some((false, _)) => {}
                None => lines.push((number + 1, span)),
            }
        }
        for (name, (from, _)) in open {
            close(name, from, lines.len());
        }
        if open_count > 0 {
            tagged.push(any_open..lines.len());
        }
        Self { text, lines, tags, tagged }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The lines that the options of an include select.
    pub(super) fn part(&self, options: &str) -> String {
        let all = 0..self.lines.len();
        let tags = option(options, "tag").or(option(options, "tags"));
        let wanted: Vec<Range<usize>> = match (tags, option(options, "lines")) {
            (Some(tags), _) => {
                let names = tags.split([',', ';']).take(MAX_NAMED).map(str::trim);
                names
                    .flat_map(|name| match name {
                        "*" => self.tagged.as_slice(),
                        "**" => std::slice::from_ref(&all),
                        name => self.tags.get(name).map(Vec::as_slice).unwrap_or_default(),
                    })
                    .cloned()
                    .collect()
            }
            (None, Some(lines)) => ranges(lines).map(|(from, to)| self.numbered(from, to)).collect(),
            (None, None) => vec![all],
        };
        self.copied(wanted)
    }

    /// The lines with these numbers, both ends included.
    fn numbered(&self, from: usize, to: usize) -> Range<usize> {
        let start = self.lines.partition_point(|(number, _)| *number < from);
        let end = self.lines.partition_point(|(number, _)| *number <= to);
        start..end.max(start)
    }

    /// Each line of these ranges once, in order.
    fn copied(&self, mut wanted: Vec<Range<usize>>) -> String {
        wanted.sort_by_key(|range| range.start);
        let (mut out, mut next) = (String::new(), 0);
        for range in wanted {
            let range = range.start.max(next)..range.end;
            if let Some(lines) = self.lines.get(range.clone()) {
                lines.iter().for_each(|(_, span)| out.push_str(&self.text[span.clone()]));
                next = range.end;
            }
        }
        out
    }
}

/// The value of an option, which may be quoted.
pub(super) fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    let start = options.match_indices(name).find(|(at, _)| {
        (*at == 0 || options[..*at].ends_with([',', ' '])) && options[at + name.len()..].starts_with('=')
    });
    let value = &options[start?.0 + name.len() + 1..];
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split(',').next(),
    }
}

/// Parses line ranges such as `1..3;5;7..`.
fn ranges(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let range = move |part: &str| match part.split_once("..") {
        Some((from, to)) => Some((number(from)?, number(to).unwrap_or(usize::MAX))),
        None => number(part).map(|line| (line, line)),
    };
    text.split([';', ',']).take(MAX_NAMED).filter_map(range)
}

/// The name of the tag that begins or ends on a line, and whether it ends there.
fn tag(line: &str) -> Option<(bool, &str)> {
    let (is_end, rest) = match line.split_once("tag::") {
        Some((_, rest)) => (false, rest),
        None => (true, line.split_once("end::")?.1),
    };
    let name = rest.split_once("[]")?.0;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((is_end, name))
}
