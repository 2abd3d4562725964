//! Finds and masks what makes a page MDX: module statements, expressions and JSX tags.
//!
//! A page is parsed in two passes. The first replaces every `{` and `<` with a byte that has no meaning and asks the
//! Markdown parser for the ranges of code, because nothing in code is MDX. This module then finds the constructs
//! outside of code and blanks them, so that the second pass parses pure Markdown with the same byte offsets. Both
//! passes and the search for constructs take time linear in the size of the page, whatever is on it.

use std::ops::Range;

use crate::parse_lines::{Lines, blank, line_end};
use crate::parse_script::{LONGEST_EXPRESSION, expression_end, module_end, paragraph_end};
use crate::parse_tags::{Dialect, LONGEST_TAG, Tag, TagKind, literal, scan_tag};
use crate::problem::{MOST_PROBLEMS, Problem};

/// The byte that masks a `{`, a `<`, a mark, or the first letter of a line that must not be parsed as a module
/// statement.
pub(crate) const MASK_BYTE: u8 = 0x1a;

/// After this many `{` or `<` of a page that begin no construct, the rest are text and are not scanned: each scan may
/// be as long as the longest construct.
const MAX_FAILED_SCANS: usize = 100;

/// Most open tags that are searched for the one that a closing tag closes, innermost first.
const MAX_SEARCHED_OPEN_TAGS: usize = 100;

/// Most bytes that may be scanned for missing ends of constructs.
const MAX_WASTED_BYTES: usize = 8 << 20;

/// Most tags of a page that are read; everything after them is text.
const MOST_TAGS: usize = 50_000;

/// The constructs of a page, in order.
#[derive(Debug, Default)]
pub(crate) struct Constructs {
    pub(crate) tags: Vec<Tag>,
    /// The content of expressions that are a single string literal, without quotes and braces.
    pub(crate) literals: Vec<Range<usize>>,
    /// Everything that is not Markdown: tags, expressions, comments, module statements.
    pub(crate) blanked: Vec<Range<usize>>,
    /// The ranges that were skipped because they are code or front matter.
    pub(crate) code: Vec<Range<usize>>,
    /// Whether there may be more constructs: some of the page is text only because too much would have to be scanned.
    pub(crate) is_incomplete: bool,
    pub(crate) problems: Vec<Problem>,
}

/// Finds the constructs of `text` from `start` on, outside of `code` (sorted by start).
pub(crate) fn constructs(text: &str, start: usize, code: &[Range<usize>], lines: &Lines<'_>) -> Constructs {
    let mut search = Search {
        text,
        lines,
        found: Constructs::default(),
        failed_scans: 0,
        wasted_bytes: 0,
        at: start,
        paragraph_starts: true,
    };
    // The body may begin with blank lines; a paragraph begins after them all the same.
    search.skip_blank_lines();
    let ranges = code;
    let mut code = code.iter().peekable();
    while search.at < text.len() {
        while code.next_if(|range| range.end <= search.at).is_some() {}
        match code.peek() {
            Some(range) if range.contains(&search.at) => {
                search.at = range.end;
                search.paragraph_starts = false;
            }
            _ => search.step(),
        }
    }
    search.found.is_incomplete |= !search.may_scan();
    search.found.code = ranges.to_vec();
    let unclosed = check_balance(&search.found.tags, lines);
    search.found.problems.extend(unclosed);
    search.found.problems.sort_by_key(|problem| problem.line);
    search.found
}

/// `text` with every byte masked that could start a construct, as well as the bytes at `marks`, and with the ranges in
/// `blanked` replaced by spaces. Same length, same lines.
pub(crate) fn masked(text: &str, blanked: &[Range<usize>], marks: &[usize]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for mark in marks {
        bytes[*mark] = MASK_BYTE;
    }
    for range in blanked {
        blank(&mut bytes[range.clone()]);
    }
    let mut line_starts = true;
    let mut escaped = false;
    for ix in 0..bytes.len() {
        match bytes[ix] {
            // For the parser, any other punctuation is an escape as well; the character itself is read from the file.
            b'{' | b'<' if escaped => bytes[ix] = b'$',
            b'<' if is_bracketed_destination(&bytes, ix) => {}
            b'{' | b'<' => bytes[ix] = MASK_BYTE,
            b'i' | b'e' if line_starts && is_module_word(&bytes[ix..]) => bytes[ix] = MASK_BYTE,
            _ => {}
        }
        line_starts = matches!(bytes[ix], b'\n' | b'\r');
        escaped = bytes[ix] == b'\\' && !escaped;
    }
    // Only whole characters were blanked and only ASCII was written.
    String::from_utf8(bytes).unwrap_or_else(|_| text.replace(['{', '<'], " "))
}

fn is_module_word(bytes: &[u8]) -> bool {
    bytes.starts_with(b"import") || bytes.starts_with(b"export")
}

/// Whether the `<` at `at` opens a destination as in `](<guides/a page>)`, on one line and without characters that a
/// tag needs.
fn is_bracketed_destination(bytes: &[u8], at: usize) -> bool {
    at >= 2
        && &bytes[at - 2..at] == b"]("
        && bytes[at + 1..]
            .iter()
            .take(2_000)
            .find(|byte| matches!(byte, b'>' | b'<' | b'\n' | b'"' | b'\'' | b'{' | b'='))
            .is_some_and(|byte| *byte == b'>')
}

struct Search<'t> {
    text: &'t str,
    lines: &'t Lines<'t>,
    found: Constructs,
    failed_scans: usize,
    /// The number of bytes scanned in vain.
    wasted_bytes: usize,
    at: usize,
    /// Whether a module statement may begin here: at the top of the page, and after a blank line.
    paragraph_starts: bool,
}

impl Search<'_> {
    fn step(&mut self) {
        let bytes = self.text.as_bytes();
        match bytes[self.at] {
            b'\n' => {
                self.at += 1;
                let end = line_end(self.text, self.at);
                self.paragraph_starts = self.text[self.at..end].trim().is_empty();
                if self.paragraph_starts {
                    self.at = end;
                    self.skip_blank_lines();
                }
                return;
            }
            b'\\' => self.at += if bytes.get(self.at + 1) == Some(&b'\n') { 1 } else { 2 },
            b'{' => self.brace(),
            b'<' => self.angle(),
            b'i' | b'e' if self.paragraph_starts && is_module_statement(&self.text[self.at..]) => {
                let end = self.module_end();
                self.found.blanked.push(self.at..end);
                self.at = end;
                self.skip_blank_lines();
                return;
            }
            _ => self.at += 1,
        }
        self.paragraph_starts = false;
    }

    fn module_end(&mut self) -> usize {
        if self.may_scan() {
            if let Some(end) = module_end(self.text, self.at) {
                return end;
            }
            self.problem("this module statement opens something it never closes");
            self.failed_scans += 1;
            self.wasted_bytes += self.text.len() - self.at;
        }
        paragraph_end(self.text, self.at)
    }

    fn skip_blank_lines(&mut self) {
        loop {
            let end = line_end(self.text, self.at);
            let line = &self.text[self.at..end];
            if !line.ends_with('\n') || !line.trim().is_empty() {
                break;
            }
            self.at = end;
        }
        self.paragraph_starts = true;
    }

    fn brace(&mut self) {
        let end = if self.may_scan() { expression_end(self.text, self.at) } else { None };
        let Some(end) = end else {
            self.wasted_bytes += LONGEST_EXPRESSION.min(self.text.len() - self.at);
            self.found.is_incomplete |= self.text.len() - self.at > LONGEST_EXPRESSION;
            return self.record_failed_scan("this `{` has no matching `}`: close it, or write `\\{` for a brace");
        };
        self.found.blanked.push(self.at..end);
        self.found.literals.extend(literal(self.text, self.at + 1..end - 1));
        self.at = end;
    }

    fn angle(&mut self) {
        let rest = &self.text[self.at..];
        if rest.starts_with("<!--") {
            let end = rest.find("-->").map_or(self.text.len(), |length| self.at + length + 3);
            self.problem("MDX has no HTML comments: write `{/* … */}`");
            self.found.blanked.push(self.at..end);
            self.at = end;
            return;
        }
        if is_bracketed_destination(self.text.as_bytes(), self.at) {
            self.at += rest.find('>').map_or(1, |length| length + 1);
            return;
        }
        if let Some(length) = autolink_length(rest) {
            self.problem("MDX has no `<address>` links: write `[text](address)`");
            self.found.blanked.extend([self.at..self.at + 1, self.at + length - 1..self.at + length]);
            self.at += length;
            return;
        }
        if self.found.tags.len() == MOST_TAGS && self.may_scan() {
            self.problem(&format!("this is read as text: the page has {MOST_TAGS} tags before it"));
            self.failed_scans = MAX_FAILED_SCANS;
        }
        let tag = if self.may_scan() { scan_tag(self.text, self.at, Dialect::Jsx) } else { None };
        if let Some(tag) = tag {
            self.found.blanked.push(tag.span.clone());
            self.at = tag.span.end;
            self.found.tags.push(tag);
            return;
        }
        match rest[1..].chars().next() {
            None => self.at += 1,
            Some(c) if c.is_whitespace() => self.at += 1,
            Some(_) => {
                self.found.is_incomplete |= rest.len() > LONGEST_TAG;
                self.record_failed_scan("this `<` begins no tag: close the tag, or write `\\<` for the sign");
            }
        }
    }

    fn may_scan(&self) -> bool {
        self.failed_scans < MAX_FAILED_SCANS && self.wasted_bytes < MAX_WASTED_BYTES
    }

    fn record_failed_scan(&mut self, message: &str) {
        if self.failed_scans < MAX_FAILED_SCANS {
            self.problem(message);
        }
        self.failed_scans += 1;
        self.at += 1;
    }

    fn problem(&mut self, message: &str) {
        if self.found.problems.len() >= MOST_PROBLEMS {
            return;
        }
        self.found.problems.push(Problem { line: self.lines.number(self.at), message: message.to_owned() });
    }
}

/// The length of `<https://…>` or `<mailto:…>`.
fn autolink_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('<')?;
    ["https://", "http://", "mailto:"].iter().any(|scheme| inside.starts_with(scheme)).then_some(())?;
    let length = inside.find(|c: char| c == '>' || c == '<' || c.is_whitespace())?;
    inside[length..].starts_with('>').then_some(length + 2)
}

/// Whether a line that starts with `import` or `export` is a module statement and not a sentence.
fn is_module_statement(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let words = |prefix: &str| line.strip_prefix(prefix).map(|after| after.trim_start().to_owned());
    if let Some(after) = words("import ").or_else(|| words("import{").map(|after| format!("{{{after}"))) {
        return after.starts_with(['{', '*', '"', '\'']) || line.contains(" from '") || line.contains(" from \"");
    }
    words("export ").is_some_and(|after| {
        after.starts_with(['{', '*'])
            || ["const ", "let ", "var ", "function", "default", "async ", "class ", "type ", "interface "]
                .iter()
                .any(|word| after.starts_with(word))
    })
}

/// Tags that are never closed, and closing tags that close nothing. Stops once [`MOST_PROBLEMS`] are found; tags still
/// open at the end add at most as many.
fn check_balance(tags: &[Tag], lines: &Lines<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut open: Vec<&Tag> = Vec::new();
    for tag in tags {
        if problems.len() >= MOST_PROBLEMS {
            return problems;
        }
        match tag.kind {
            TagKind::Whole => {}
            TagKind::Open => open.push(tag),
            TagKind::Close => match open.last() {
                Some(last) if last.name == tag.name => {
                    open.pop();
                }
                _ => {
                    // If an outer open tag matches, those inside it were never closed. Only the innermost open tags are
                    // searched, so that a page of nothing but wrong tags takes linear time.
                    let inner_count =
                        open.iter().rev().take(MAX_SEARCHED_OPEN_TAGS).position(|outer| outer.name == tag.name);
                    match inner_count {
                        Some(count) => {
                            for unclosed in open.drain(open.len() - count..) {
                                problems.push(never_closed(unclosed, lines));
                            }
                            open.pop();
                        }
                        None => problems.push(Problem {
                            line: lines.number(tag.span.start),
                            message: format!("`</{}>` closes nothing: remove it, or open `<{0}>` before it", tag.name),
                        }),
                    }
                }
            },
        }
    }
    problems.extend(open.into_iter().take(MOST_PROBLEMS).map(|tag| never_closed(tag, lines)));
    problems
}

fn never_closed(tag: &Tag, lines: &Lines<'_>) -> Problem {
    Problem {
        line: lines.number(tag.span.start),
        message: format!("`<{}>` is never closed: add `</{0}>`, or write `<{0} />`", tag.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(text: &str) -> Vec<&str> {
        let found = constructs(text, 0, &[], &Lines::of(text));
        found.blanked.into_iter().map(|range| &text[range]).collect()
    }

    fn messages(text: &str) -> Vec<(usize, String)> {
        let found = constructs(text, 0, &[], &Lines::of(text));
        found.problems.into_iter().map(|problem| (problem.line, problem.message)).collect()
    }

    #[test]
    fn tags_beyond_the_limit_are_text() {
        let text = "<A/>\n".repeat(MOST_TAGS + 10) + "{1}\n";
        assert_eq!(blanked(&text).len(), MOST_TAGS);
        let expected = format!("this is read as text: the page has {MOST_TAGS} tags before it");
        assert_eq!(messages(&text), [(MOST_TAGS + 1, expected)]);
    }

    #[test]
    fn constructs_are_found_and_sentences_are_not() {
        let table: [(&str, &[&str]); 10] = [
            ("\n \nimport A from 'a'\n\nx", &["import A from 'a'\n"]),
            ("import A from 'a'\n\ntext {1} <A b='c'/> end", &["import A from 'a'\n", "{1}", "<A b='c'/>"]),
            ("import your data first.\n", &[]),
            ("export default function X() { return <p/> }\n\nx", &["export default function X() { return <p/> }\n"]),
            ("text\nimport A from 'a'", &[]),
            (
                "import {\n  A,\n  B\n} from 'a'\nexport const b = 1\n\nx",
                &["import {\n  A,\n  B\n} from 'a'\nexport const b = 1\n"],
            ),
            ("a \\{ b \\< c", &[]),
            ("1 < 2 and [x](<a b>)", &[]),
            ("{/* note */}\n<Note>\ntext\n</Note>", &["{/* note */}", "<Note>", "</Note>"]),
            ("see <https://x.y>", &["<", ">"]),
        ];
        for (text, expected) in table {
            assert_eq!(blanked(text), expected, "{text:?}");
        }
    }

    #[test]
    fn invalid_mdx_is_reported_with_its_line() {
        assert_eq!(messages("<Note>\n{1}\n</Note>\n<br/>"), []);
        for (text, line, word) in [
            ("a\n<Note>\nb", 2, "never closed"),
            ("</Note>", 1, "closes nothing"),
            ("<A>\n<B>\n</A>", 2, "`<B>` is never closed"),
            ("x\n\n{a", 3, "no matching"),
            ("a <5", 1, "begins no tag"),
            ("<!-- x -->", 1, "comments"),
        ] {
            let problems = messages(text);
            assert_eq!(problems.len(), 1, "{text:?} {problems:?}");
            assert_eq!(problems[0].0, line, "{text:?}");
            assert!(problems[0].1.contains(word), "{text:?} {problems:?}");
        }
    }

    #[test]
    fn masking_moves_nothing() {
        let text = "import a\né {b} <c>\n[x](<y z>) `{`";
        let blanked = text.find("{b}").map(|at| at..at + 3);
        let masked = masked(text, blanked.as_slice(), &[]);
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked.lines().count(), text.lines().count());
        assert!(!masked.contains('{') && masked.contains("(<y z>)") && !masked.contains("import"));
    }
}
