//! Builds the parts of a section: its code blocks, and its Markdown without everything that is not for reading.

use std::borrow::Cow;
use std::ops::Range;

use satteri_pulldown_cmark::decode_html_entities;

use crate::lines_from::{Fence, FenceLine};
use crate::page::CodeBlock;
use crate::parse_html::{Ends, opens_script_or_style};
use crate::parse_lines::{has_three, line_end};
use crate::parse_tags::{Dialect, Tag, TagKind, scan_tag};
use crate::words::on_one_line;

/// The text of a page, the text as parsed, and what was taken out of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceText<'t> {
    /// The text of the file.
    pub(crate) text: &'t str,
    /// The masked text that the parser saw; same length.
    pub(crate) parsed: &'t str,
    /// Where the body begins.
    pub(crate) body: usize,
    /// JSX tags in order; none in plain Markdown, where tags come as events.
    pub(crate) tags: &'t [Tag],
    /// The content of expressions that are a single string literal, in order.
    pub(crate) literals: &'t [Range<usize>],
    /// The blanked ranges, in order.
    pub(crate) blanked: &'t [Range<usize>],
}

/// A code block from the info string of its fence and its text.
pub(crate) fn code_block(info: &str, text: String) -> CodeBlock {
    let info = info.trim();
    // `{ .py title="x" }`: the whole info string is in braces.
    let words = match info.strip_prefix('{') {
        Some(inside) => inside.trim_end_matches('}').trim(),
        None => info,
    };
    let language = words
        .split(|c: char| c.is_whitespace() || matches!(c, '{' | ',' | '['))
        .next()
        .map(|word| word.trim_start_matches('.').split(':').next().unwrap_or_default().to_owned())
        .filter(|word| !word.is_empty() && !word.contains(['=', '"', '\'']));
    CodeBlock { file: file_name(words, language.is_some()), language, text }
}

/// The file name in an info string: `title="a.ts"`, `file=a.ts`, `[a.ts]`, or a bare word that looks like a path.
fn file_name(info: &str, after_language: bool) -> Option<String> {
    for key in ["title=", "filename=", "file=", "name="] {
        let Some((_, rest)) = info.split_once(key) else { continue };
        let rest = rest.trim_start_matches('{');
        let value = match rest.chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => rest[1..].split(quote).next(),
            _ => rest.split_whitespace().next(),
        };
        return value.map(str::to_owned).filter(|value| !value.is_empty());
    }
    let rest = if after_language { info.get(info.find([' ', '\t', '{', '['])?..)? } else { info };
    // Line numbers are in braces.
    let rest = match (rest.find('{'), rest.find('}')) {
        (Some(open), Some(close)) if open < close => format!("{} {}", &rest[..open], &rest[close + 1..]),
        _ => rest.to_owned(),
    };
    if let Some((_, name)) = rest.split_once('[')
        && let Some((name, _)) = name.split_once(']')
    {
        return Some(name.trim().to_owned()).filter(|name| !name.is_empty());
    }
    rest.split_whitespace().find(|word| is_path(word)).map(str::to_owned)
}

/// Whether a word is a path to a file (`src/app.js`) and not a pattern to highlight (`/word/`).
fn is_path(word: &str) -> bool {
    word.contains('.') && !word.starts_with('/') && !word.contains(['{', '=', '"', '['])
}

/// Text that stands in place of a range of the page, for reading a section without the rest of its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instead {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Indented code in a fence; `None` for code that is in one, and for code in a quote.
pub(crate) fn fenced(text: &str, range: Range<usize>, code: &str) -> Option<Instead> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = text[start..].len() - text[start..].trim_start_matches(' ').len();
    let is_indented = start + indent >= range.start && indent >= 4 && !text[start + indent..].starts_with(['`', '~']);
    let outer = is_indented.then(|| &text[start..start + indent - 4])?;
    let fence = if code.contains("```") { "~~~" } else { "```" };
    let lines: String = code.trim_end().lines().map(|line| format!("{outer}{line}\n")).collect();
    let end = start + text[start..range.end].trim_end().len();
    Some(Instead { range: start..end, text: format!("{outer}{fence}\n{lines}{outer}{fence}") })
}

/// A range of the page as Markdown for reading: module statements, comments, expressions and tags removed, component
/// titles kept in bold, and the indentation inside components removed. `instead` is in order.
pub(crate) fn cleaned(
    source: &SourceText<'_>,
    range: Range<usize>,
    code: &[Range<usize>],
    instead: &[Instead],
) -> String {
    if source.blanked.is_empty() {
        return without_html(&with_instead(source.text, range, instead)).trim().to_owned();
    }
    let mut out = String::with_capacity(range.len());
    let mut chunk: Vec<Line<'_>> = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let end = line_end(&source.text[..range.end], at);
        let line = read_line(source, at..end, code, instead);
        at = end;
        if line.remainder == LineRemainder::All {
            chunk.push(line);
        } else {
            flush(&mut chunk, &mut out);
            chunk.push(line);
            flush(&mut chunk, &mut out);
        }
    }
    flush(&mut chunk, &mut out);
    out.trim().to_owned()
}

/// A range of a text with what stands instead of parts of it. A part that is not whole in the range stays.
fn with_instead<'t>(text: &'t str, range: Range<usize>, instead: &[Instead]) -> Cow<'t, str> {
    let first = instead.partition_point(|part| part.range.start < range.start);
    let parts = instead[first..].iter().take_while(|part| part.range.start <= range.end);
    let (mut out, mut at) = (String::new(), range.start);
    for part in parts.filter(|part| part.range.end <= range.end) {
        if part.range.start >= at {
            out.push_str(&text[at..part.range.start]);
            out.push_str(&part.text);
            at = part.range.end;
        }
    }
    match at == range.start && out.is_empty() {
        true => Cow::Borrowed(&text[range]),
        false => Cow::Owned(out + &text[at..range.end]),
    }
}

/// A line for reading, without trailing whitespace. The indentation may change after a line with a construct.
struct Line<'t> {
    text: Cow<'t, str>,
    remainder: LineRemainder,
}

/// What is left of a line without its constructs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRemainder {
    All,
    /// Text, from between which constructs were removed.
    Words,
    /// The line had only constructs; at most their titles are left.
    Titles,
}

fn read_line<'t>(source: &SourceText<'t>, line: Range<usize>, code: &[Range<usize>], instead: &[Instead]) -> Line<'t> {
    let raw = source.text[line.clone()].trim_end_matches(['\n', '\r']);
    let first = source.blanked.partition_point(|span| span.end <= line.start);
    let blanked: Vec<&Range<usize>> = source.blanked[first..].iter().take_while(|span| span.start < line.end).collect();
    let before = code.partition_point(|code| code.start < line.start);
    let in_code = before > 0 && line.start < code[before - 1].end;
    if blanked.is_empty() || in_code {
        let mut text = with_instead(source.text, line.start..line.start + raw.trim_end().len(), instead);
        if let Cow::Owned(text) = &mut text {
            text.truncate(text.trim_end().len());
        }
        return Line { text, remainder: LineRemainder::All };
    }
    let mut text = String::with_capacity(raw.len());
    let mut at = line.start;
    let stop = line.start + raw.len();
    let mut has_words = false;
    let mut push = |text: &mut String, piece: &str| {
        has_words |= !piece.trim().is_empty();
        // A construct removed from between two spaces leaves one space.
        text.push_str(if text.ends_with(' ') { piece.trim_start_matches(' ') } else { piece });
    };
    for range in blanked {
        if range.start > at {
            push(&mut text, &with_instead(source.text, at..range.start.min(stop), instead));
        }
        if range.start >= line.start {
            if let Some(title) = title_of(source, range.start) {
                text.push_str(&title);
            } else if let Some(literal) = literal_in(source, range) {
                push(&mut text, literal);
            }
        }
        at = range.end.max(at);
    }
    if at < stop {
        push(&mut text, &with_instead(source.text, at..stop, instead));
    }
    text.truncate(text.trim_end().len());
    Line { text: text.into(), remainder: if has_words { LineRemainder::Words } else { LineRemainder::Titles } }
}

/// The content of an expression that is a single string literal.
fn literal_in<'t>(source: &SourceText<'t>, expression: &Range<usize>) -> Option<&'t str> {
    let at = source.literals.partition_point(|literal| literal.start < expression.start);
    let literal = source.literals.get(at).filter(|literal| literal.end < expression.end)?;
    Some(&source.text[literal.clone()])
}

/// The bold title of the component that starts at `at`.
fn title_of(source: &SourceText<'_>, at: usize) -> Option<String> {
    let tag: &Tag = source.tags.binary_search_by_key(&at, |tag| tag.span.start).ok().map(|ix| &source.tags[ix])?;
    if tag.kind == TagKind::Close || !tag.is_component() {
        return None;
    }
    bold_title(tag, source.text)
}

fn bold_title(tag: &Tag, text: &str) -> Option<String> {
    let names = ["title", "label", "path", "query", "body", "name", "summary", "header"];
    let title = names.iter().find_map(|name| tag.value(text, name))?;
    let title = on_one_line(title);
    (!title.is_empty()).then(|| format!("**{title}** "))
}

fn flush(chunk: &mut Vec<Line<'_>>, out: &mut String) {
    let indents = chunk.iter().filter(|line| !line.text.is_empty());
    let indent = indents.map(|line| line.text.len() - line.text.trim_start_matches(' ').len()).min().unwrap_or(0);
    for line in chunk.drain(..) {
        let text = line.text.get(indent..).unwrap_or_default();
        let is_set_apart = line.remainder == LineRemainder::Titles;
        if is_set_apart || text.is_empty() {
            blank_line(out);
        }
        if !text.is_empty() {
            out.push_str(text);
            out.push('\n');
        }
        if is_set_apart {
            blank_line(out);
        }
    }
}

fn blank_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

/// HTML elements that are kept because they carry meaning and Markdown has nothing as simple.
const KEPT_ELEMENTS: [&str; 16] =
    ["a", "abbr", "br", "dd", "dl", "dt", "img", "li", "ol", "sub", "sup", "table", "td", "th", "tr", "ul"];

/// HTML elements that Markdown has marks for.
const MARKED_ELEMENTS: [(&str, &str); 4] = [("b", "**"), ("em", "*"), ("i", "*"), ("strong", "**")];

/// HTML elements whose text is code.
const CODE_ELEMENTS: [&str; 4] = ["code", "kbd", "samp", "tt"];

/// After this many `<` of a section that begin no tag, or comments and elements that are never closed, the rest is text
/// and is not scanned.
const MAX_FAILED_SCANS: usize = 100;

/// Markdown without comments and without the HTML tags that only affect layout; component titles are kept in bold, and what
/// Markdown has marks for is written with them. Code is unchanged.
fn without_html(text: &str) -> Cow<'_, str> {
    if !text.contains('<') && !has_three(text, |byte| byte == b'\n') {
        return text.into();
    }
    let out = String::with_capacity(text.len());
    let mut strip =
        Strip { text, out, failed_scans: 0, ends: Ends::default(), no_comment_ends: false, closes: Vec::new() };
    let mut fence = Fence::default();
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        if fence.line(line) == FenceLine::Inside {
            strip.out.push_str(line);
            at = end;
        } else {
            at = strip.line(at, end);
        }
    }
    strip.out.into()
}

struct Strip<'t> {
    text: &'t str,
    out: String,
    failed_scans: usize,
    ends: Ends,
    /// Whether an unclosed comment was found: no later comment is closed either.
    no_comment_ends: bool,
    /// Where tags close that were opened by a mark, the innermost last, with what stands instead of them.
    closes: Vec<(usize, &'static str)>,
}

impl Strip<'_> {
    /// Reads a line, and the lines that a tag or comment which begins on it continues on. Returns the end of the last
    /// one.
    fn line(&mut self, start: usize, end: usize) -> usize {
        let (mut at, mut end) = (start, end);
        let (mut from, mut removed_any) = (start, false);
        while let Some(next) = self.text[at..end].find(['<', '`']).map(|length| at + length) {
            if self.text.as_bytes()[next] == b'`' {
                at = code_span_end(self.text, next, end);
                continue;
            }
            let Some((title, stop)) = self.replacement_for(next) else {
                at = next + 1;
                continue;
            };
            self.out.push_str(&self.text[from..next]);
            self.out.push_str(&title);
            removed_any = true;
            (from, at) = (stop, stop);
            if stop > end {
                end = line_end(self.text, stop);
            }
        }
        self.out.push_str(&self.text[from..end]);
        self.collapse_blank_lines(removed_any);
        end
    }

    /// The replacement for the comment or tag at `at`, and where that ends; `None` for what is kept.
    fn replacement_for(&mut self, at: usize) -> Option<(String, usize)> {
        let rest = &self.text[at..];
        if self.failed_scans >= MAX_FAILED_SCANS {
            return None;
        }
        if rest.starts_with("<!--") {
            let length = if self.no_comment_ends { None } else { rest.find("-->") };
            self.no_comment_ends = length.is_none();
            self.failed_scans += usize::from(length.is_none());
            return Some((String::new(), at + length? + "-->".len()));
        }
        let Some(tag) = scan_tag(self.text, at, Dialect::Html) else {
            self.failed_scans += 1;
            return None;
        };
        if let Some(replacement) = self.marked(&tag) {
            return Some(replacement);
        }
        if KEPT_ELEMENTS.iter().any(|name| tag.name.eq_ignore_ascii_case(name)) {
            return None;
        }
        let element_end = self.ends.of(self.text, &tag);
        self.failed_scans += usize::from(element_end.is_none() && opens_script_or_style(&tag));
        let end = element_end.unwrap_or(tag.span.end);
        let title = if tag.is_component() && tag.kind != TagKind::Close { bold_title(&tag, self.text) } else { None };
        Some((title.unwrap_or_default(), end))
    }

    /// The Markdown for a tag or for its whole element, and where that ends.
    fn marked(&mut self, tag: &Tag) -> Option<(String, usize)> {
        while let Some((_, mark)) = self.closes.pop_if(|(at, _)| *at <= tag.span.start) {
            if self.closes.last().is_none_or(|(at, _)| *at > tag.span.start) {
                return Some((mark.to_owned(), tag.span.end));
            }
        }
        let name = tag.name.to_ascii_lowercase();
        let is_anchor = name == "a" && tag.value(self.text, "href").is_none();
        let mark = MARKED_ELEMENTS.iter().find(|(element, _)| *element == name).map(|(_, mark)| *mark);
        let mark = mark.or(is_anchor.then_some(""));
        let is_code = CODE_ELEMENTS.contains(&name.as_str());
        // Only a `<pre>` that begins a line is searched for its end, so that none of the text is searched twice.
        let indent = if name == "pre" { self.indent(tag.span.start) } else { None };
        if tag.kind != TagKind::Open || mark.is_none() && !is_code && indent.is_none() {
            return None;
        }
        let Some((inside, end)) = self.inside(tag, &name) else {
            self.failed_scans += 1;
            return None;
        };
        if let Some(mark) = mark {
            // Markdown has no emphasis that begins or ends with a blank.
            let mark = if inside.is_empty() || inside.trim() != inside { "" } else { mark };
            self.closes.push((tag.span.end + inside.len(), mark));
            return Some((mark.to_owned(), tag.span.end));
        }
        if let Some(indent) = indent {
            return Some((self.code_block(indent, inside, end), end));
        }
        let is_simple = !inside.contains(['<', '`', '\n']) && !inside.trim().is_empty();
        is_simple.then(|| (format!("`{}`", decode_html_entities(inside)), end))
    }

    /// The content of an element and where the element ends. All but `<pre>` end in the paragraph in which they begin.
    fn inside(&self, tag: &Tag, name: &str) -> Option<(&str, usize)> {
        let rest = &self.text[tag.span.end..];
        let within = match name {
            "pre" => rest,
            _ => {
                let near = &rest[..rest.floor_char_boundary(LONGEST_SPAN)];
                near.find("\n\n").map_or(near, |end| &near[..end])
            }
        };
        let close = format!("</{name}>");
        let (inside, _) = within.split_once(close.as_str())?;
        Some((inside, tag.span.end + inside.len() + close.len()))
    }

    /// The blanks between the beginning of a line and a byte; `None` if there is more.
    fn indent(&self, at: usize) -> Option<&str> {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        (before.is_empty() || before.ends_with('\n')).then(|| &self.text[before.len()..at])
    }

    /// The code block in place of a `<pre>` that ends at `end`.
    fn code_block(&self, indent: &str, inside: &str, end: usize) -> String {
        let code = words_of_html(inside.strip_prefix('\n').unwrap_or(inside));
        let fence = if code.contains("```") { "~~~" } else { "```" };
        let lines: String = code.trim_end().lines().map(|line| format!("\n{indent}{line}")).collect();
        let next = if self.text[end..].starts_with(['\n', '\r']) || end == self.text.len() { "" } else { "\n" };
        format!("{fence}{lines}\n{indent}{fence}{next}")
    }

    /// Collapses emptied lines and several blank lines into one.
    fn collapse_blank_lines(&mut self, removed_any: bool) {
        let trimmed_len = self.out.trim_end_matches('\n').len();
        let line = self.out[..trimmed_len].rfind('\n').map_or(0, |at| at + 1);
        if removed_any && self.out[line..trimmed_len].trim().is_empty() {
            self.out.truncate(line);
            self.out.push('\n');
        }
        while self.out.ends_with("\n\n\n") {
            self.out.pop();
        }
    }
}

/// The text of HTML without its tags, with entities decoded.
fn words_of_html(html: &str) -> String {
    let (mut out, mut at) = (String::with_capacity(html.len()), 0);
    while let Some(next) = html[at..].find('<').map(|length| at + length) {
        out.push_str(&html[at..next]);
        at = next + 1;
        match scan_tag(html, next, Dialect::Html) {
            Some(tag) => at = tag.span.end,
            None => out.push('<'),
        }
    }
    out.push_str(&html[at..]);
    decode_html_entities(&out).into_owned()
}

/// In bytes: how far the end of a code span is searched for.
const LONGEST_SPAN: usize = 10_000;

/// The end of the code span that begins at `at`, or of the backticks there if it is not closed before `end`.
pub fn code_span_end(text: &str, at: usize, end: usize) -> usize {
    let run = text[at..end].bytes().take_while(|byte| *byte == b'`').count();
    let ticks = &text[at..at + run];
    let end = text.floor_char_boundary(end.min(at + run + LONGEST_SPAN));
    let mut from = at + run;
    while let Some(found) = text[from..end].find(ticks).map(|length| from + length) {
        let length = text[found..end].bytes().take_while(|byte| *byte == b'`').count();
        if length == run {
            return found + run;
        }
        from = found + length;
    }
    at + run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_that_only_lays_out_goes() {
        for (text, expected) in [
            ("a <span style='x'>b</span> <sub>c</sub> `<div>` <th>d</th>", "a b <sub>c</sub> `<div>` <th>d</th>"),
            ("<em class='x'>a <b>b</b></em> <i> c </i> <strong></strong>d <b>e", "*a **b***  c  d e"),
            ("press <kbd>A&lt;B</kbd> or <code>x</code>, <code>a`</code>", "press `A<B` or `x`, a`"),
            ("<a name=\"top\"></a>x <a id='y'>z</a>", "x z"),
            (
                "a\n\n<pre><code class=\"sh\">apt &amp;\n\n<b>install</b>\n</code></pre>\n\nb",
                "a\n\n```\napt &\n\ninstall\n```\n\nb",
            ),
            ("- a\n  <pre>x</pre> b <pre>y</pre>", "- a\n  ```\n  x\n  ```\n b y"),
            ("<div\n  class=\"x\">\n\nwords\n\n</div>\n\nmore", "\n\nwords\n\nmore"),
            ("<style>\na {}\n</style>\n\nx <!-- no\nno --> y", "\n\nx  y"),
            ("```html\n<div>\n\n\n</div>\n```\n", "```html\n<div>\n\n\n</div>\n```\n"),
            ("<Card title=\"T\">x</Card> 1 < 2 <a href=\"/y\">z</a>", "**T** x 1 < 2 <a href=\"/y\">z</a>"),
        ] {
            assert_eq!(without_html(text), expected, "{text}");
        }
    }

    #[test]
    fn many_tags_before_one_end_are_read_in_linear_time() {
        let began = std::time::Instant::now();
        for tag in ["<pre>", "a<pre>", "<b>", "<code>"] {
            let text = format!("{}{}", tag.repeat(100_000), tag.trim_start_matches('a').replace('<', "</"));
            without_html(&text);
        }
        assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    }

    #[test]
    fn a_fence_says_language_and_file() {
        for (info, language, file) in [
            ("ts title=\"a b.ts\" {1,3}", Some("ts"), Some("a b.ts")),
            ("bash", Some("bash"), None),
            ("js src/app.js", Some("js"), Some("src/app.js")),
            ("", None, None),
            ("{.python}", Some("python"), None),
            ("json file=x.json", Some("json"), Some("x.json")),
            ("title='x'", None, Some("x")),
            ("ts [src/a.ts]", Some("ts"), Some("src/a.ts")),
            ("ts{1,3} [b.ts]", Some("ts"), Some("b.ts")),
            ("ts:line-numbers {1}", Some("ts"), None),
            ("{ .py .annotate title=\"c.py\" linenums=\"1\" }", Some("py"), Some("c.py")),
            ("js /word.*/ {2}", Some("js"), None),
            ("python main.py icon=\"x\"", Some("python"), Some("main.py")),
        ] {
            let block = code_block(info, String::new());
            assert_eq!((block.language.as_deref(), block.file.as_deref()), (language, file), "{info}");
        }
    }
}
